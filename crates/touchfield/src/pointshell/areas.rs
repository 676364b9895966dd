//! Areas of shell points: how much of the surface each point represents.
//!
//! Input: points in the order of their sphere tree, and the triangles of the surface.
//! Output: one area per point \[m²\]; their sum is the area of the triangles, up to rounding.
//! Cost: about ten nearest-point searches per point; all cores.
//! Not for: surfaces without triangles.
//!
//! A point represents what is nearer to it than to any other point: its Voronoi cell on the
//! surface. Triangles are halved until they are small beside the spacing of the points or have the
//! same nearest point at all three corners. Cells are convex, so such a triangle lies in one cell.
//! What remains is cut along the bisecting planes of the nearest points of its corners, so that
//! every piece of surface counts once.

use glam::{DVec3, Vec3};

use super::SphereTree;
use crate::geom::Triangle;
use crate::threads;

/// Longest edge of a triangle that is cut by bisecting planes, as a share of the mean spacing of
/// the points. Tuned: at twice this, cells that reach into a triangle without owning a corner of it
/// lose several per cent of their area; at half, the searches take three times as long.
const SMALL: f64 = 0.5;
/// Longest edge of a part that one step of a thread handles, as a share of the mean spacing.
const PART: f64 = 32.0;
/// Maximum number of parts along an edge of a triangle.
const MOST_PARTS: f64 = 64.0;
/// Triangles with less area than this share of a squared spacing are not halved: they are needles,
/// and would be cut along their whole length for nothing.
const NEEDLE: f64 = 1e-6;
/// Number of parts that one thread takes at a time.
const RUN: usize = 64;
/// Number of runs whose results are in memory at the same time.
const BLOCK: usize = 128;
/// Cosine between normals below which a point and a face are on different sides of something thin,
/// so that the point does not represent the face.
const OTHER_SIDE: f32 = -0.5;
/// Distance up to which a point on the same side is preferred to the nearest one, in spacings.
/// Beyond, the triangle is more likely to be oriented inside out.
const SAME_SIDE_REACH: f64 = 3.0;

/// A search for the nearest point in a sphere tree.
pub(super) struct Cells<'a> {
    pub(super) points: &'a [Vec3],
    pub(super) normals: &'a [Vec3],
    pub(super) tree: &'a SphereTree,
}

/// Buffers of one thread.
#[derive(Default)]
struct Buffers {
    /// Spheres that remain to be opened, with lower bounds of the distance to their points.
    open: Vec<(f64, u32)>,
    pieces: Vec<Piece>,
    polygon: Vec<DVec3>,
    clipped: Vec<DVec3>,
    /// Areas found, with their points.
    found: Vec<(u32, f64)>,
}

/// Part of a triangle, with the nearest point of each corner.
#[derive(Clone, Copy)]
struct Piece {
    corners: [DVec3; 3],
    nearest: [u32; 3],
    area: f64,
}

impl Cells<'_> {
    /// Computes the area that each point represents of `count` triangles. Triangles without area do
    /// not count.
    pub(super) fn areas(
        &self,
        count: usize,
        triangle: impl Fn(usize) -> Triangle + Sync + Send,
    ) -> Vec<f32> {
        let mut areas = vec![0.0; self.points.len()];
        let total: f64 = (0..count).map(|face| triangle(face).area()).sum();
        let spacing = (total / self.points.len() as f64).sqrt();
        if !(spacing > 0.0 && spacing.is_finite()) {
            return vec![0.0; self.points.len()];
        }
        // Large triangles are handled in parts, so that all threads have work.
        let parts_along = |face: usize| {
            let (_, longest) = longest_edge(triangle(face).corners());
            (longest / (PART * spacing)).ceil().clamp(1.0, MOST_PARTS) as usize
        };
        let mut parts_before = Vec::with_capacity(count + 1);
        parts_before.push(0);
        for face in 0..count {
            let along = parts_along(face);
            parts_before.push(parts_before[face] + along * along);
        }
        let parts = parts_before[count];
        let runs = parts.div_ceil(RUN);
        for first in (0..runs).step_by(BLOCK) {
            let found = threads::map((runs - first).min(BLOCK), |run| {
                let mut buffers = Buffers::default();
                let start = (first + run) * RUN;
                for part in start..(start + RUN).min(parts) {
                    let face = parts_before.partition_point(|&before| before <= part) - 1;
                    let whole = triangle(face);
                    let number = part - parts_before[face];
                    self.share(whole, parts_along(face), number, spacing, &mut buffers);
                }
                buffers.found
            });
            for (point, area) in found.into_iter().flatten() {
                areas[point as usize] += area;
            }
        }
        areas.into_iter().map(|area: f64| area as f32).collect()
    }

    /// Shares out one of the `along`² equal parts of a triangle.
    fn share(
        &self,
        whole: Triangle,
        along: usize,
        number: usize,
        spacing: f64,
        buffers: &mut Buffers,
    ) {
        let area = whole.area() / (along * along) as f64;
        let Some(normal) = whole.normal() else { return };
        let normal = normal.as_vec3();
        let corners = part(whole, along, number);
        let first = self.nearest(corners[0], normal, &[], spacing, &mut buffers.open);
        let nearest = corners
            .map(|corner| self.nearest(corner, normal, &[first], spacing, &mut buffers.open));
        buffers.pieces.push(Piece {
            corners,
            nearest,
            area,
        });
        while let Some(piece) = buffers.pieces.pop() {
            let [a, b, c] = piece.nearest;
            if a == b && b == c {
                add(&mut buffers.found, a, piece.area);
                continue;
            }
            let (edge, longest) = longest_edge(piece.corners);
            if longest <= SMALL * spacing || piece.area < NEEDLE * spacing * spacing {
                self.cut(&piece, buffers);
                continue;
            }
            // Halve it at its longest edge.
            let [i, j, k] = [edge, (edge + 1) % 3, (edge + 2) % 3];
            let middle = 0.5 * (piece.corners[i] + piece.corners[j]);
            let at_middle =
                self.nearest(middle, normal, &piece.nearest, spacing, &mut buffers.open);
            for (kept, moved) in [(i, j), (j, i)] {
                let mut half = Piece {
                    area: 0.5 * piece.area,
                    ..piece
                };
                debug_assert!(kept != moved && moved != k, "the third corner stays");
                half.corners[moved] = middle;
                half.nearest[moved] = at_middle;
                buffers.pieces.push(half);
            }
        }
    }

    /// Cuts a piece along the planes between the nearest points of its corners.
    fn cut(&self, piece: &Piece, buffers: &mut Buffers) {
        let [a, b, c] = piece.nearest;
        let mut owners = [a, b, c];
        let count = if a == b || b == c || a == c {
            owners = [a, if b == a { c } else { b }, c];
            2
        } else {
            3
        };
        let owners = &owners[..count];
        let mut shares = [0.0; 3];
        for (&owner, share) in owners.iter().zip(&mut shares) {
            buffers.polygon.clear();
            buffers.polygon.extend(piece.corners);
            let own = self.points[owner as usize].as_dvec3();
            for &other in owners {
                if other != owner {
                    let other = self.points[other as usize].as_dvec3();
                    let (normal, middle) = (other - own, 0.5 * (own + other));
                    clip(&buffers.polygon, normal, middle, &mut buffers.clipped);
                    std::mem::swap(&mut buffers.polygon, &mut buffers.clipped);
                }
            }
            *share = polygon_area(&buffers.polygon);
        }
        let sum: f64 = shares[..count].iter().sum();
        for (&owner, share) in owners.iter().zip(shares) {
            // Needles whose area is lost in rounding are divided equally.
            let share = if sum > 0.0 {
                share / sum
            } else {
                1.0 / count as f64
            };
            add(&mut buffers.found, owner, share * piece.area);
        }
    }

    /// Returns the nearest point on the side of the surface that `normal` points to, or the nearest
    /// one of all if there is none near on that side.
    fn nearest(
        &self,
        place: DVec3,
        normal: Vec3,
        guesses: &[u32],
        spacing: f64,
        open: &mut Vec<(f64, u32)>,
    ) -> u32 {
        let is_same_side = |point: u32| self.normals[point as usize].dot(normal) >= OTHER_SIDE;
        let distance = |point: u32| self.points[point as usize].as_dvec3().distance(place);
        let mut best = (f64::INFINITY, 0);
        for &guess in guesses {
            let found = (distance(guess), guess);
            best = if found.0 < best.0 { found } else { best };
        }
        let nearest = self.search(place, best, &|_| true, open).1;
        if is_same_side(nearest) {
            return nearest;
        }
        let limit = (SAME_SIDE_REACH * spacing, nearest);
        self.search(place, limit, &is_same_side, open).1
    }

    /// Returns the nearest allowed point, and its distance, if it is nearer than `best`.
    fn search(
        &self,
        place: DVec3,
        mut best: (f64, u32),
        is_allowed: &impl Fn(u32) -> bool,
        open: &mut Vec<(f64, u32)>,
    ) -> (f64, u32) {
        let nodes = self.tree.nodes();
        open.clear();
        open.push((0.0, 0));
        while let Some((bound, index)) = open.pop() {
            if bound >= best.0 {
                continue;
            }
            let node = &nodes[index as usize];
            if node.child_count == 0 {
                for point in node.points() {
                    let distance = self.points[point as usize].as_dvec3().distance(place);
                    if distance < best.0 && is_allowed(point) {
                        best = (distance, point);
                    }
                }
                continue;
            }
            let first = open.len();
            for child in node.children() {
                let sphere = &nodes[child as usize];
                let bound = sphere.center.as_dvec3().distance(place) - f64::from(sphere.radius);
                if bound < best.0 {
                    open.push((bound, child));
                }
            }
            // The nearest is opened first.
            open[first..].sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        }
        best
    }
}

/// Adds an area to a point. Pieces that follow one another often have the same point.
fn add(found: &mut Vec<(u32, f64)>, point: u32, area: f64) {
    match found.last_mut() {
        Some(last) if last.0 == point => last.1 += area,
        _ => found.push((point, area)),
    }
}

/// Returns one of the `along`² equal parts of a triangle, in rows from its first corner.
fn part(whole: Triangle, along: usize, number: usize) -> [DVec3; 3] {
    if along == 1 {
        return whole.corners();
    }
    let row = number.isqrt();
    let (column, is_upright) = (
        (number - row * row) / 2,
        (number - row * row).is_multiple_of(2),
    );
    let at = |row: usize, column: usize| {
        let share = |count: usize| count as f64 / along as f64;
        whole.a + share(row - column) * (whole.b - whole.a) + share(column) * (whole.c - whole.a)
    };
    let (top, right) = (at(row, column), at(row + 1, column + 1));
    match is_upright {
        true => [top, at(row + 1, column), right],
        false => [top, right, at(row, column + 1)],
    }
}

/// Returns the longest edge, from corner `i` to the next, and its length.
fn longest_edge(corners: [DVec3; 3]) -> (usize, f64) {
    let length = |edge: usize| corners[edge].distance_squared(corners[(edge + 1) % 3]);
    let longest = (1..3).fold(0, |best, edge| {
        if length(edge) > length(best) {
            edge
        } else {
            best
        }
    });
    (longest, length(longest).sqrt())
}

/// Cuts off the part of a convex polygon that lies beyond a plane, on the side of its normal.
fn clip(polygon: &[DVec3], normal: DVec3, on_plane: DVec3, clipped: &mut Vec<DVec3>) {
    clipped.clear();
    for (index, &from) in polygon.iter().enumerate() {
        let to = polygon[(index + 1) % polygon.len()];
        let (before, after) = ((from - on_plane).dot(normal), (to - on_plane).dot(normal));
        if before <= 0.0 {
            clipped.push(from);
        }
        if (before < 0.0 && after > 0.0) || (before > 0.0 && after < 0.0) {
            clipped.push(from + before / (before - after) * (to - from));
        }
    }
}

/// Returns the area of a convex polygon.
fn polygon_area(polygon: &[DVec3]) -> f64 {
    let Some((&first, rest)) = polygon.split_first() else {
        return 0.0;
    };
    let vectors = rest
        .windows(2)
        .map(|ends| (ends[0] - first).cross(ends[1] - first));
    0.5 * vectors.sum::<DVec3>().length()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_triangle_make_up_the_triangle() {
        let whole = Triangle {
            a: DVec3::new(0.0, 0.0, 1.0),
            b: DVec3::new(3.0, 0.0, 0.0),
            c: DVec3::new(0.0, 2.0, 0.5),
        };
        for along in [1, 2, 3, 7] {
            let parts: Vec<_> = (0..along * along)
                .map(|number| part(whole, along, number))
                .collect();
            let vector = |[a, b, c]: [DVec3; 3]| (b - a).cross(c - a);
            for &corners in &parts {
                let share = vector(corners) * (along * along) as f64;
                assert!(share.distance(whole.area_vector()) < 1e-12, "{corners:?}");
            }
            let centers = parts
                .iter()
                .map(|corners| corners.iter().sum::<DVec3>() / 3.0);
            let mean = centers.sum::<DVec3>() / parts.len() as f64;
            assert!(mean.distance(whole.centroid()) < 1e-12, "{along}: {mean}");
        }
    }

    #[test]
    fn a_clipped_square_has_the_area_that_is_left() {
        let square = [DVec3::ZERO, DVec3::X, DVec3::X + DVec3::Y, DVec3::Y];
        let mut left = Vec::new();
        clip(&square, DVec3::X, 0.25 * DVec3::X, &mut left);
        assert!((polygon_area(&left) - 0.25).abs() < 1e-15);
        let before = left.clone();
        clip(&before, DVec3::Y, -DVec3::Y, &mut left);
        assert!(left.is_empty() && polygon_area(&left) == 0.0);
    }
}
