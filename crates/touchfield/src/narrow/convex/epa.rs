//! How deep two convex sets overlap: the shortest move that parts them, by an expanding polytope.
//!
//! Input: two overlapping sets as support functions, B posed in frame A, and any simplex of their difference that holds the origin. Output: depth
//! with bounds, the direction in which B leaves A soonest, the points that part last.
//! Cost: a support point of each and a few facets a step; some dozen steps for polytopes; no allocation once the buffers have grown.
//! Not for: sets that are apart (see `gjk`).
//!
//! Proximity EPA of document 004 \[VanDenBergen2001\]: the polytope in the difference grows where its surface is nearest the origin. We keep
//! it convex by exact predicates (`shape::convex::growing_hull`), so no rounding tears it; and start from what GJK ended with, were it a single point: a point is
//! widened to a segment, a segment to a triangle, a triangle to a tetrahedron, and if the difference itself is flat the depth is 0, straight across.
//!
//! Every direction tried bounds the depth from above by the support along it; the facet nearest the origin bounds it from below.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use glam::DVec3;

use super::gjk::{Difference, GjkCache};
use super::simplex::Vertex;
use crate::geom::predicates::{are_in_line, side_of_plane};
use crate::shape::convex::growing_hull::GrowingHull;
use crate::shape::convex::{Posed, Support};

/// How well the depth is to be known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EpaSettings {
    /// Width of the bracket, as a share of the depth.
    pub relative: f64,
    /// Width of the bracket that is enough anyway \[m\].
    pub absolute: f64,
    /// Support points after which the search ends with the bracket it has.
    pub max_steps: u32,
}

impl Default for EpaSettings {
    fn default() -> EpaSettings {
        EpaSettings {
            relative: 1e-6,
            absolute: 0.0,
            max_steps: 1024,
        }
    }
}

/// How deep two sets overlap. Everything is in frame A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penetration {
    /// Moving B by this along `normal` parts the sets \[m\].
    pub depth: f64,
    /// Proven, but for rounding that is told in it: no shorter move parts them \[m\].
    pub lower_bound: f64,
    /// Unit, from A to B: the direction in which B leaves soonest.
    pub normal: DVec3,
    /// The point of A that is deepest in B along the normal \[m\].
    pub point_on_a: DVec3,
    /// The point of B that is deepest in A along the normal \[m\].
    pub point_on_b: DVec3,
    /// Support points of each set that were asked for.
    pub steps: u32,
}

/// A facet that waits to be looked at.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    distance: f64,
    facet: u32,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Waiting) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    /// The nearest is the greatest; of equals the oldest.
    fn cmp(&self, other: &Waiting) -> Ordering {
        (other.distance.total_cmp(&self.distance)).then(other.facet.cmp(&self.facet))
    }
}

/// Buffers that are reused from call to call.
#[derive(Debug, Default)]
pub struct EpaScratch {
    vertices: Vec<Vertex>,
    points: Vec<DVec3>,
    hull: GrowingHull,
    /// Unit, outward, of every facet that ever was.
    normals: Vec<DVec3>,
    heap: BinaryHeap<Waiting>,
}

/// Finds how deep two overlapping sets overlap; `cache` is what [`distance`](super::distance) left when it said so.
pub fn penetration<A: Support, B: Support>(
    a: &A,
    b: &Posed<B>,
    settings: &EpaSettings,
    cache: &mut GjkCache<A::Hint, B::Hint>,
    scratch: &mut EpaScratch,
) -> Penetration {
    let sets = Difference { a, b };
    scratch.vertices.clear();
    scratch.vertices.extend(cache.simplex.vertices());
    // A tetrahedron with the origin in it has no nearest point.
    let is_nearest = cache.simplex.vertices().len() < 4;
    let witnesses = is_nearest.then(|| cache.simplex.witnesses());
    let mut search = Search {
        sets,
        hints: &mut cache.hints,
        scratch,
        steps: 0,
        rounding: 0.0,
    };
    match search.widened() {
        Some(across) => search.flat(across, witnesses),
        None => search.run(settings, witnesses),
    }
}

struct Search<'a, A: Support, B: Support> {
    sets: Difference<'a, A, B>,
    hints: &'a mut (A::Hint, B::Hint),
    scratch: &'a mut EpaScratch,
    steps: u32,
    /// Of points of the difference \[m\].
    rounding: f64,
}

impl<A: Support, B: Support> Search<'_, A, B> {
    fn support(&mut self, direction: DVec3) -> Vertex {
        self.steps += 1;
        let vertex = self.sets.support(direction, self.hints);
        self.rounding = self.rounding.max(self.sets.rounding(&vertex));
        vertex
    }

    /// Adds support points until four do not lie in a plane, and starts the polytope with them. A direction across the difference if it is flat.
    fn widened(&mut self) -> Option<DVec3> {
        if self.scratch.vertices.is_empty() {
            let vertex = self.support(DVec3::X);
            self.scratch.vertices.push(vertex);
        }
        for index in 0..self.scratch.vertices.len() {
            let rounding = self.sets.rounding(&self.scratch.vertices[index]);
            self.rounding = self.rounding.max(rounding);
        }
        self.drop_dependent();
        loop {
            let at = |k: usize| self.scratch.vertices[k].difference;
            let (directions, across) = match self.scratch.vertices.len() {
                1 => ([DVec3::X, DVec3::Y, DVec3::Z], DVec3::Z),
                2 => {
                    let (u, v) = (at(1) - at(0))
                        .normalize_or(DVec3::Z)
                        .any_orthonormal_pair();
                    ([u, v, u], u)
                }
                3 => {
                    let normal = best_normal([at(0), at(1), at(2)]);
                    ([normal; 3], normal)
                }
                _ => {
                    self.begin();
                    return None;
                }
            };
            let is_wider = directions
                .into_iter()
                .flat_map(|direction| [direction, -direction])
                .any(|direction| {
                    let vertex = self.support(direction);
                    let is_free = self.is_independent(vertex.difference);
                    if is_free {
                        self.scratch.vertices.push(vertex);
                    }
                    is_free
                });
            if !is_wider {
                return Some(across);
            }
        }
    }

    /// Whether a point lies in none of the points, lines and planes of those there are; exactly.
    fn is_independent(&self, point: DVec3) -> bool {
        let at = |k: usize| self.scratch.vertices[k].difference;
        match self.scratch.vertices.len() {
            0 => true,
            1 => at(0) != point,
            2 => !are_in_line(at(0), at(1), point),
            _ => side_of_plane(at(0), at(1), at(2), point) != 0,
        }
    }

    /// Of the simplex that was given, only what is independent.
    fn drop_dependent(&mut self) {
        let given = self.scratch.vertices.len().min(4);
        let mut all = [Vertex::default(); 4];
        all[..given].copy_from_slice(&self.scratch.vertices[..given]);
        self.scratch.vertices.clear();
        for vertex in &all[..given] {
            if self.is_independent(vertex.difference) {
                self.scratch.vertices.push(*vertex);
            }
        }
    }

    fn begin(&mut self) {
        let EpaScratch {
            vertices,
            points,
            hull,
            normals,
            heap,
        } = self.scratch;
        points.clear();
        points.extend(vertices.iter().map(|vertex| vertex.difference));
        heap.clear();
        normals.clear();
        // Four independent points always start it.
        if hull.start(points, [0, 1, 2, 3]).is_some() {
            self.wait(0);
        }
    }

    /// Puts all facets from one on in line.
    fn wait(&mut self, first: u32) {
        let EpaScratch {
            points,
            hull,
            normals,
            heap,
            ..
        } = &mut *self.scratch;
        for (facet, own) in (first..).zip(&hull.facets()[first as usize..]) {
            let corners = own.corners.map(|corner| points[corner as usize]);
            let normal = best_normal(corners);
            normals.push(normal);
            // Rounding may put the origin a little outside.
            let distance = normal.dot(corners[0]).max(0.0);
            heap.push(Waiting { distance, facet });
        }
    }

    fn run(mut self, settings: &EpaSettings, witnesses: Option<(DVec3, DVec3)>) -> Penetration {
        // Least support of all directions tried, the direction, and the point there.
        let mut best: Option<(f64, DVec3, Vertex)> = None;
        let mut lower_bound = 0f64;
        while let Some(nearest) = self.nearest() {
            // The surface grows: what is nearest now bounds the depth from below.
            lower_bound = lower_bound.max(nearest.distance);
            let is_last = self.steps >= settings.max_steps;
            let normal = self.scratch.normals[nearest.facet as usize];
            let vertex = self.support(normal);
            let height = normal.dot(vertex.difference);
            if best.is_none_or(|(upper, ..)| height < upper) {
                best = Some((height, normal, vertex));
            }
            let width = f64::max(settings.relative * height, settings.absolute);
            if is_last || height - nearest.distance <= width.max(4.0 * self.rounding) {
                // The facet is part of the surface of the difference, as far as is asked: no nearer one is left. Or as far as steps went.
                let facet = self.with_foot(nearest);
                let [mut on_a, mut on_b] = self.foot(facet);
                // Sets that only touch have facets about the place that are too thin to tell it; the search for the distance told it.
                if let Some((a, b)) = witnesses {
                    let b = self.sets.b.to_a(b);
                    let aside = |p: DVec3| p.reject_from_normalized(normal);
                    if aside(a - b).length_squared() < aside(on_a - on_b).length_squared() {
                        (on_a, on_b) = (a, b);
                    }
                }
                // From the facet out to the surface.
                let out = 0.5 * (height - normal.dot(on_a - on_b)) * normal;
                let points = [on_a + out, on_b - out];
                return self.answer([lower_bound, height], normal, points);
            }
            let EpaScratch {
                vertices,
                points,
                hull,
                ..
            } = &mut *self.scratch;
            if !hull.is_above(points, nearest.facet, vertex.difference) {
                // Too thin for its normal to be told: its neighbours are as near, but for its own width.
                continue;
            }
            vertices.push(vertex);
            points.push(vertex.difference);
            let first = hull.add(points, points.len() as u32 - 1, nearest.facet);
            self.wait(first);
        }
        match best {
            // Facets are still on their way there: the points that part last along the normal are what is known of it.
            Some((upper, normal, vertex)) => {
                let points = [vertex.on_a, self.sets.b.to_a(vertex.on_b)];
                self.answer([lower_bound, upper], normal, points)
            }
            None => self.flat(DVec3::Z, witnesses),
        }
    }

    /// The facet nearest the origin.
    fn nearest(&mut self) -> Option<Waiting> {
        let EpaScratch { hull, heap, .. } = &mut *self.scratch;
        std::iter::from_fn(|| heap.pop()).find(|w| !hull.facets()[w.facet as usize].is_gone)
    }

    /// Of the facets as near as the nearest, the one over which the origin is: coplanar ones share a face of the difference.
    fn with_foot(&mut self, nearest: Waiting) -> u32 {
        /// Facets that are looked at: a face of the difference has few.
        const MOST: usize = 32;
        /// Cosine of the angle, a millionth, up to which facets are coplanar: others are as near where the sets hardly overlap, and lead elsewhere.
        const COPLANAR: f64 = 1.0 - 1e-12;
        let inside = |search: &Self, facet: u32| {
            let weights = weights_of_foot(search.corners(facet));
            weights.into_iter().fold(f64::INFINITY, f64::min)
        };
        let mut best = (inside(self, nearest.facet), nearest);
        for _ in 0..MOST {
            if best.0 >= 0.0 {
                break;
            }
            let Some(next) = self.nearest() else { break };
            if next.distance - nearest.distance > 1e-6 * nearest.distance + 4.0 * self.rounding {
                break;
            }
            let normal = |waiting: Waiting| self.scratch.normals[waiting.facet as usize];
            if normal(next).dot(normal(nearest)) < COPLANAR {
                continue;
            }
            let own = inside(self, next.facet);
            if own > best.0 {
                best = (own, next);
            }
        }
        best.1.facet
    }

    fn corners(&self, facet: u32) -> [DVec3; 3] {
        let corners = self.scratch.hull.facets()[facet as usize].corners;
        corners.map(|corner| self.scratch.points[corner as usize])
    }

    /// The points of A and B that make the point of a facet nearest the origin.
    fn foot(&self, facet: u32) -> [DVec3; 2] {
        let corners = self.scratch.hull.facets()[facet as usize].corners;
        let vertices = corners.map(|corner| self.scratch.vertices[corner as usize]);
        // Kept inside: the foot of a facet that only touches the nearest place may lie beyond it.
        let weights = weights_of_foot(self.corners(facet)).map(|weight| weight.max(0.0));
        let sum: f64 = weights.iter().sum();
        let mut on = [DVec3::ZERO; 2];
        for (vertex, weight) in vertices.iter().zip(weights) {
            on[0] += weight / sum * vertex.on_a;
            on[1] += weight / sum * self.sets.b.to_a(vertex.on_b);
        }
        on
    }

    fn answer(
        &self,
        [lower_bound, depth]: [f64; 2],
        normal: DVec3,
        [point_on_a, point_on_b]: [DVec3; 2],
    ) -> Penetration {
        let depth = depth.max(0.0);
        Penetration {
            depth: depth + self.rounding,
            lower_bound: (lower_bound - self.rounding).clamp(0.0, depth),
            normal,
            point_on_a,
            point_on_b,
            steps: self.steps,
        }
    }

    /// The difference has no inside: the sets part by no move at all, across it.
    fn flat(&self, across: DVec3, witnesses: Option<(DVec3, DVec3)>) -> Penetration {
        let first = self.scratch.vertices[0];
        let (on_a, on_b) = witnesses.unwrap_or((first.on_a, first.on_b));
        Penetration {
            depth: self.rounding,
            lower_bound: 0.0,
            normal: across.try_normalize().unwrap_or(DVec3::Z),
            point_on_a: on_a,
            point_on_b: self.sets.b.to_a(on_b),
            steps: self.steps,
        }
    }
}

/// Unit normal from the two edges that enclose the angle nearest a right one: the least cancellation.
fn best_normal([a, b, c]: [DVec3; 3]) -> DVec3 {
    let edges = [b - a, c - b, a - c];
    let squares = edges.map(|edge| edge.length_squared());
    // The two shortest edges meet opposite the longest.
    let longest = if squares[0] >= squares[1] && squares[0] >= squares[2] {
        0
    } else if squares[1] >= squares[2] {
        1
    } else {
        2
    };
    let normal = edges[(longest + 1) % 3].cross(edges[(longest + 2) % 3]);
    let across = || {
        edges[longest]
            .any_orthogonal_vector()
            .normalize_or(DVec3::Z)
    };
    normal.try_normalize().unwrap_or_else(across)
}

/// Barycentric coordinates of the origin's foot in the plane of a triangle.
fn weights_of_foot([a, b, c]: [DVec3; 3]) -> [f64; 3] {
    let normal = (b - a).cross(c - a);
    let of = |p: DVec3, q: DVec3| p.cross(q).dot(normal) / normal.length_squared();
    let weights = [of(b, c), of(c, a), of(a, b)];
    if weights.iter().all(|weight| weight.is_finite()) {
        weights
    } else {
        [1.0, 0.0, 0.0]
    }
}
