//! Simplices of the difference A ⊖ B: the part of one that is nearest the origin, by its Voronoi
//! regions.
//!
//! Input: up to four points of the difference, with the points of A and B that they come from.
//! Output: the smallest part that holds the point nearest the origin, and that point.
//! Cost: a few dozen operations.
//! Not for: more than four points (see `epa`).
//!
//! BestSimplex and ClosestPoint of \[Lecture06\]. The lecture tests only the regions that touch the
//! newest point, because the others cannot hold the origin in a search without rounding and without
//! warm starts. Our search has both, so all regions are tested; flat triangles are replaced by
//! their edges, and flat tetrahedra by their faces.

use glam::DVec3;

/// A point of the difference.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Vertex {
    /// Difference `on_a − on_b`, in frame A \[m\].
    pub(super) difference: DVec3,
    /// Point of A, in frame A \[m\].
    pub(super) on_a: DVec3,
    /// Point of B, in frame B \[m\].
    pub(super) on_b: DVec3,
}

/// Up to four points of the difference, and the weights of the point nearest the origin.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Simplex {
    vertices: [Vertex; 4],
    weights: [f64; 4],
    count: usize,
}

/// Position of the origin relative to a simplex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Origin {
    /// The origin is outside; this is the point of the simplex nearest to it \[m\].
    Outside(DVec3),
    /// The origin is inside the tetrahedron.
    Inside,
}

/// Squared sine of the angle below which a triangle counts as flat, because its normal would be
/// rounding.
const FLAT: f64 = 1e-18;

/// A part of a simplex, its point nearest the origin, and the squared distance of that point.
///
/// The point is computed from the normal, not from the weights, so that its *direction* is as exact
/// as possible. Rounding of the weights would tilt a plane between sets that almost touch until it
/// no longer separates them.
#[derive(Clone, Copy)]
struct Part {
    nearest: DVec3,
    squared: f64,
    weights: [f64; 4],
}

impl Part {
    const NONE: Part = Part {
        nearest: DVec3::ZERO,
        squared: f64::INFINITY,
        weights: [0.0; 4],
    };

    fn new(nearest: DVec3, weights: [f64; 4]) -> Part {
        Part {
            nearest,
            squared: nearest.length_squared(),
            weights,
        }
    }

    fn nearer(self, other: Part) -> Part {
        if other.squared < self.squared {
            other
        } else {
            self
        }
    }
}

impl Simplex {
    pub(super) fn vertices(&self) -> &[Vertex] {
        &self.vertices[..self.count]
    }

    pub(super) fn vertices_mut(&mut self) -> &mut [Vertex] {
        &mut self.vertices[..self.count]
    }

    /// Removes all points.
    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds a point. There is room after every [`Self::refine`] that found the origin outside.
    pub(super) fn push(&mut self, vertex: Vertex) {
        if self.count < 4 {
            self.vertices[self.count] = vertex;
            self.count += 1;
        }
    }

    /// Returns whether a point of the difference is already part of the simplex.
    pub(super) fn holds(&self, difference: DVec3) -> bool {
        (self.vertices().iter()).any(|vertex| vertex.difference == difference)
    }

    /// Returns the point of A and the point of B, each in its frame, whose difference is the point
    /// nearest the origin.
    pub(super) fn witnesses(&self) -> (DVec3, DVec3) {
        let weighted = |of: fn(&Vertex) -> DVec3| -> DVec3 {
            (self.vertices().iter().zip(self.weights))
                .map(|(vertex, weight)| weight * of(vertex))
                .sum()
        };
        (weighted(|v| v.on_a), weighted(|v| v.on_b))
    }

    /// Keeps only the smallest part that holds the point nearest the origin. There must be at least
    /// one point.
    pub(super) fn refine(&mut self) -> Origin {
        match self.nearest() {
            None => self.inside(),
            Some(part) => {
                self.keep(&part);
                Origin::Outside(part.nearest)
            }
        }
    }

    /// Adds a point and refines. Returns `None`, and leaves the simplex unchanged, if the result is
    /// no nearer to the origin than `v`.
    #[inline]
    pub(super) fn advance(&mut self, vertex: Vertex, v: DVec3) -> Option<Origin> {
        self.push(vertex);
        if let Some((left, part)) = self.over_a_new_face()
            && part.squared < v.length_squared()
        {
            // The newest point replaces the one that is dropped.
            self.vertices[left] = vertex;
            self.weights = part.weights;
            self.count = 3;
            return Some(Origin::Outside(part.nearest));
        }
        match self.nearest() {
            None => Some(self.inside()),
            Some(part) if part.squared < v.length_squared() => {
                self.keep(&part);
                Some(Origin::Outside(part.nearest))
            }
            Some(_) => {
                self.count -= 1;
                None
            }
        }
    }

    /// Returns the face at the newest corner of a tetrahedron that the origin lies over, with the
    /// index of the corner that is dropped. The weight of the newest corner is stored in the place
    /// of the dropped one.
    ///
    /// Returns `None` if there is no such face, or if rounding could change the result. By
    /// convexity no other point is as near. Most steps end here, at a third of the cost of testing
    /// all parts.
    #[inline]
    fn over_a_new_face(&self) -> Option<(usize, Part)> {
        if self.count < 4 {
            return None;
        }
        let w = self.at(3);
        let edges = [self.at(0) - w, self.at(1) - w, self.at(2) - w];
        let squares = edges.map(|edge| edge.length_squared());
        let about = edges.map(|edge| w.cross(edge));
        let normals = [
            edges[1].cross(edges[2]),
            edges[2].cross(edges[0]),
            edges[0].cross(edges[1]),
        ];
        let volume = normals[0].dot(edges[0]);
        for (k, i, j) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
            // The sign of `volume` gives the side of corner `k`, which is not on this face. The
            // origin must be on the other side.
            let normal = normals[k];
            let height = normal.dot(w);
            let squared = normal.length_squared();
            let along_i = -about[j].dot(normal);
            let along_j = about[i].dot(normal);
            let rest = squared - along_i - along_j;
            let is_over = height * volume > 0.0 && along_i.min(along_j).min(rest) > 0.0;
            if !is_over {
                continue;
            }
            // The same error bounds as for all faces in `tetrahedron`.
            let noise = face_noise(squares[i], squares[j]);
            let is_clear = height * height > noise * w.length_squared()
                && volume * volume > flat_noise(noise, squared) * squares[k]
                && squared > FLAT * squares[i] * squares[j];
            if !is_clear {
                return None;
            }
            let mut weights = [0.0; 4];
            (weights[i], weights[j], weights[k]) =
                (along_i / squared, along_j / squared, rest / squared);
            return Some((k, self.foot([i, j, 3], normal, squared, weights)));
        }
        None
    }

    /// Returns the part whose nearest point is the foot of the origin in the plane of a face.
    #[inline]
    fn foot(&self, [i, j, k]: [usize; 3], normal: DVec3, squared: f64, weights: [f64; 4]) -> Part {
        // Computed from the corner nearest the origin, which loses the fewest digits.
        let nearer = |p: DVec3, q: DVec3| match q.length_squared() < p.length_squared() {
            true => q,
            false => p,
        };
        let corner = nearer(nearer(self.at(i), self.at(j)), self.at(k));
        Part::new(corner.dot(normal) / squared * normal, weights)
    }

    /// Returns the part that holds the point nearest the origin; `None` if the origin is inside.
    #[inline]
    fn nearest(&self) -> Option<Part> {
        match self.count {
            0 | 1 => Some(self.corner()),
            2 => Some(self.edge(0, 1)),
            3 => Some(self.triangle([0, 1, 2])),
            _ => self.tetrahedron(),
        }
    }

    fn keep(&mut self, part: &Part) {
        let mut kept = 0;
        for (index, weight) in part.weights.into_iter().enumerate().take(self.count) {
            if weight > 0.0 {
                self.vertices[kept] = self.vertices[index];
                self.weights[kept] = weight;
                kept += 1;
            }
        }
        self.count = kept;
    }

    /// Sets the weights of the origin in the tetrahedron: each corner's is the fraction of the
    /// volume opposite it.
    fn inside(&mut self) -> Origin {
        let volume =
            |i: usize, j: usize, k: usize| (self.at(i).dot(self.at(j).cross(self.at(k)))).abs();
        let volumes = [
            volume(1, 2, 3),
            volume(0, 2, 3),
            volume(0, 1, 3),
            volume(0, 1, 2),
        ];
        let all: f64 = volumes.iter().sum();
        self.weights = volumes.map(|volume| volume / all);
        Origin::Inside
    }

    fn at(&self, index: usize) -> DVec3 {
        self.vertices[index].difference
    }

    fn corner(&self) -> Part {
        Part::new(self.at(0), [1.0, 0.0, 0.0, 0.0])
    }

    fn edge(&self, i: usize, j: usize) -> Part {
        /// Ratio of the squares of foot and edge below which the edge counts as long.
        const LONG: f64 = 1e-4;
        let (from, to) = (self.at(i), self.at(j));
        let along = to - from;
        let squared = along.length_squared();
        let share = -from.dot(along) / squared;
        // NaN for an edge of length 0.
        let share = if share > 0.0 { share.min(1.0) } else { 0.0 };
        let mut weights = [0.0; 4];
        weights[i] = 1.0 - share;
        weights[j] = share;
        let mut foot = if share < 1.0 {
            from + share * along
        } else {
            to
        };
        if foot.length_squared() < LONG * squared && share > 0.0 && share < 1.0 {
            // Orthogonalise once more: rounding left along a long edge would turn a short foot.
            foot -= foot.dot(along) / squared * along;
        }
        Part::new(foot, weights)
    }

    /// Returns the nearest part of a triangle by the signs of the barycentric coordinates of the
    /// origin's foot. Beyond an edge, the edge decides.
    fn triangle(&self, [i, j, k]: [usize; 3]) -> Part {
        let (w, e1, e2) = (self.at(i), self.at(j) - self.at(i), self.at(k) - self.at(i));
        let normal = e1.cross(e2);
        let squared = normal.length_squared();
        if squared <= FLAT * e1.length_squared() * e2.length_squared() {
            return (self.edge(i, j))
                .nearer(self.edge(j, k))
                .nearer(self.edge(k, i));
        }
        // Barycentric coordinates, times `squared`.
        let along_1 = e2.cross(w).dot(normal);
        let along_2 = w.cross(e1).dot(normal);
        let rest = squared - along_1 - along_2;
        if along_1 > 0.0 && along_2 > 0.0 && rest > 0.0 {
            let mut weights = [0.0; 4];
            (weights[i], weights[j], weights[k]) =
                (rest / squared, along_1 / squared, along_2 / squared);
            return self.foot([i, j, k], normal, squared, weights);
        }
        let mut best = Part::NONE;
        if rest <= 0.0 {
            best = best.nearer(self.edge(j, k));
        }
        if along_1 <= 0.0 {
            best = best.nearer(self.edge(k, i));
        }
        if along_2 <= 0.0 {
            best = best.nearer(self.edge(i, j));
        }
        best
    }

    /// Returns the nearest of the faces that the origin is beyond; `None` if it is beyond none.
    fn tetrahedron(&self) -> Option<Part> {
        const FACES: [([usize; 3], usize); 4] = [
            ([0, 1, 2], 3),
            ([0, 1, 3], 2),
            ([0, 2, 3], 1),
            ([1, 2, 3], 0),
        ];
        let mut best = None;
        for (face, apex) in FACES {
            let [a, b, c] = face.map(|index| self.at(index));
            let (e1, e2, to) = (b - a, c - a, self.at(apex) - a);
            let normal = e1.cross(e2);
            let to_apex = normal.dot(to);
            let to_origin = -normal.dot(a);
            // If rounding decides the side, the face is tested as if the origin were beyond it.
            let noise = face_noise(e1.length_squared(), e2.length_squared());
            let flat = flat_noise(noise, normal.length_squared());
            let is_flat = to_apex * to_apex <= flat * to.length_squared();
            let is_near = to_origin * to_origin <= noise * a.length_squared();
            if is_flat || is_near || (to_origin < 0.0) != (to_apex < 0.0) {
                let part = self.triangle(face);
                best = Some(best.map_or(part, |best: Part| best.nearer(part)));
            }
        }
        best
    }
}

/// Returns the squared error of the normal of a thin face, from the squares of two of its edges.
/// Using squares saves sixteen square roots.
#[inline(always)]
fn face_noise(squared_1: f64, squared_2: f64) -> f64 {
    64.0 * f64::EPSILON * f64::EPSILON * squared_1 * squared_2
}

/// Returns the squared error of the height of a corner above a face, per squared metre of its
/// distance.
#[inline(always)]
fn flat_noise(noise: f64, squared: f64) -> f64 {
    2.0 * (noise + 1e-26 * squared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn simplex(points: &[DVec3]) -> Simplex {
        let mut simplex = Simplex::default();
        for &difference in points {
            simplex.push(Vertex {
                difference,
                on_a: difference,
                on_b: DVec3::ZERO,
            });
        }
        simplex
    }

    /// Returns the least distance from the origin over all points, by Frank–Wolfe from every
    /// corner.
    fn by_search(points: &[DVec3]) -> f64 {
        let at = |weights: &[f64; 4]| -> DVec3 {
            let sum: f64 = weights[..points.len()].iter().sum();
            (points.iter().zip(weights))
                .map(|(p, w)| *p * (w / sum))
                .sum()
        };
        let mut best = ([1.0, 0.0, 0.0, 0.0], f64::INFINITY);
        for start in 0..points.len() {
            let mut weights = [1e-9; 4];
            weights[start] = 1.0;
            // Frank–Wolfe with exact steps, towards the corner farthest in the direction opposite
            // to the point.
            let mut point = at(&weights);
            for _ in 0..20_000 {
                let to = (points.iter())
                    .copied()
                    .min_by(|p, q| p.dot(point).total_cmp(&q.dot(point)))
                    .unwrap();
                let along = to - point;
                let share = (-point.dot(along) / along.length_squared()).clamp(0.0, 1.0);
                if share.is_nan() {
                    break;
                }
                point += share * along;
            }
            if point.length() < best.1 {
                best = (weights, point.length());
            }
        }
        best.1
    }

    proptest! {
        #[test]
        fn the_nearest_part_is_the_nearest(
            seeds in prop::collection::vec(prop::array::uniform3(-1.0f64..1.0), 1..5), shift in prop::array::uniform3(-1.5f64..1.5),
            squash in prop::sample::select(vec![0.0, 1e-9, 1e-3, 1.0]),
        ) {
            let points: Vec<DVec3> = seeds.iter()
                .map(|&p| DVec3::from(p) * DVec3::new(1.0, 1.0, squash) + DVec3::from(shift)).collect();
            let mut own = simplex(&points);
            let found = match own.refine() {
                Origin::Inside => 0.0,
                Origin::Outside(point) => {
                    let (on_a, _) = own.witnesses();
                    prop_assert!((on_a - point).length() < 1e-12);
                    point.length()
                }
            };
            let expected = by_search(&points);
            prop_assert!(found <= expected + 1e-9 && expected <= found + 2e-3, "{found} {expected}");
        }
    }

    proptest! {
        #[test]
        fn a_point_more_leads_to_the_nearest_part_of_all_four(
            seeds in prop::collection::vec(prop::array::uniform3(-1.0f64..1.0), 4..5), shift in prop::array::uniform3(-1.5f64..1.5),
            squash in prop::sample::select(vec![1e-9, 1e-3, 1.0]), size in prop::sample::select(vec![1e-6, 1.0, 1e5]),
        ) {
            let points: Vec<DVec3> = seeds.iter()
                .map(|&p| size * (DVec3::from(p) * DVec3::new(1.0, 1.0, squash) + DVec3::from(shift))).collect();
            let mut own = simplex(&points[..3]);
            let Origin::Outside(v) = own.refine() else { panic!("a triangle holds nothing") };
            let mut all = simplex(&points);
            let kept = own.vertices().len();
            let last = all.vertices()[3];
            let found = match own.advance(last, v) {
                Some(origin) => origin,
                None => {
                    prop_assert_eq!(own.vertices().len(), kept);
                    Origin::Outside(v)
                }
            };
            // If the refined triangle has fewer than three points, the new point is not added to
            // the whole triangle, and the results may differ.
            if kept == 3 {
                match (found, all.refine()) {
                    (Origin::Outside(found), Origin::Outside(expected)) => {
                        prop_assert!((found - expected).length() < 1e-9 * size, "{found} {expected}");
                        let (on_a, _) = own.witnesses();
                        prop_assert!((on_a - found).length() < 1e-9 * size);
                        prop_assert!(own.vertices().len() <= 3);
                    }
                    (found, expected) => prop_assert_eq!(found, expected),
                }
            }
        }
    }

    #[test]
    fn copies_of_a_point_and_points_in_line_are_no_trouble() {
        let point = DVec3::new(1.0, 2.0, 3.0);
        for count in 1..5 {
            assert_eq!(
                simplex(&vec![point; count]).refine(),
                Origin::Outside(point)
            );
            let line: Vec<DVec3> = (0..count)
                .map(|k| DVec3::new(k as f64 - 1.0, 0.5, 0.0))
                .collect();
            let Origin::Outside(nearest) = simplex(&line).refine() else {
                panic!("a line holds nothing");
            };
            let expected = if count == 1 {
                DVec3::new(-1.0, 0.5, 0.0)
            } else {
                DVec3::new(0.0, 0.5, 0.0)
            };
            assert!((nearest - expected).length() < 1e-12, "{count}: {nearest}");
        }
    }
}
