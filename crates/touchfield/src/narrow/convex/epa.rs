//! Penetration depth of two convex sets: the shortest separating move, by an expanding polytope.
//!
//! Input: two overlapping sets as support functions, B posed in frame A, and any simplex of their
//! difference that holds the origin.
//! Output: depth with bounds, the direction in which B leaves A soonest, and the points that
//! separate last.
//! Cost: one support point per set and a few facets per step; some dozen steps for polytopes; no
//! allocation once the buffers have grown.
//! Not for: sets that are apart (see `gjk`).
//!
//! Proximity EPA of \[Lecture06\] and \[VanDenBergen2001\]: the polytope in the difference grows
//! where its surface is nearest the origin. We keep it convex by exact predicates
//! (`shape::convex::growing_hull`), so that rounding cannot tear it. It starts from the simplex of
//! GJK, even a single point: a point is widened to a segment, a segment to a triangle, a triangle
//! to a tetrahedron. If the difference itself is flat, the depth is 0, perpendicular to it.
//!
//! Every direction tried bounds the depth from above by the support along it; the facet nearest the
//! origin bounds it from below.

use crate::narrow::convex::penetration::EpaSettings;
use crate::narrow::convex::penetration::Penetration;
use crate::narrow::convex::penetration::Waiting;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::DVec3;

use crate::geom::predicates::{are_in_line, side_of_plane};
use crate::narrow::convex::coaxial::CoaxialScratch;
use crate::narrow::convex::enclosure::{Enclosure, EnclosureScratch};
use crate::narrow::convex::gjk::{Difference, GjkCache};
use crate::narrow::convex::simplex::{Origin, Simplex, Vertex};
use crate::shape::convex::growing_hull::GrowingHull;
use crate::shape::convex::{Posed, Support};

/// The plane of a facet.
#[derive(Clone, Copy, Debug)]
struct FacetPlane {
    /// Outward normal, of any length but 0.
    normal: DVec3,
    /// Squared length of the normal.
    squared: f64,
    /// Offset of the plane `normal · x = offset`.
    offset: f64,
    /// Error bound of `normal · x − offset`, per metre of `|x|`.
    blur: f64,
}

/// A facet whose normal was evaluated.
#[derive(Clone, Copy)]
struct Tried {
    facet: u32,
    /// Unit normal.
    normal: DVec3,
    /// Support height of the difference along the normal: an upper bound of the depth \[m\].
    height: f64,
}

/// Scratch buffers of [`penetration`], reused from call to call.
#[derive(Debug, Default)]
pub struct EpaScratch {
    vertices: Vec<Vertex>,
    points: Vec<DVec3>,
    hull: GrowingHull,
    /// Planes of all facets ever created, removed ones included.
    planes: Vec<FacetPlane>,
    heap: BinaryHeap<Waiting>,
    /// Facets for which no point above was found although their planes do not support the
    /// difference, with their distances from the origin \[m\].
    given_up: Vec<(u32, f64)>,
    /// Facet that holds the result of the last search, in the polytope that it ended with. `None`
    /// if the polytope belongs to another pair, or was handed on.
    ended_on: Option<u32>,
    pub(super) enclosure: EnclosureScratch,
    pub(super) coaxial: CoaxialScratch,
}

impl EpaScratch {
    /// Discards the state of the pair and keeps the buffers.
    pub(super) fn clear(&mut self) {
        self.ended_on = None;
    }

    /// Hands the polytope of the last search on to `enclosure`, for the poses to come.
    pub(super) fn hand_on(&mut self, enclosure: &mut Enclosure) {
        if let Some(last) = self.ended_on.take() {
            enclosure.take_over(&self.vertices, &self.hull, last, &mut self.enclosure);
        }
    }
}

/// Computes the penetration of two overlapping sets; `cache` holds the simplex with which
/// [`distance`](crate::narrow::convex::gjk::distance) found the overlap.
pub fn penetration<A: Support, B: Support>(
    a: &A,
    b: &Posed<B>,
    settings: &EpaSettings,
    cache: &mut GjkCache<A::Hint, B::Hint>,
    scratch: &mut EpaScratch,
) -> Penetration {
    let sets = Difference { a, b };
    scratch.ended_on = None;
    scratch.vertices.clear();
    scratch.vertices.extend(cache.simplex.vertices());
    // A tetrahedron around the origin has no nearest point.
    let is_nearest = cache.simplex.vertices().len() < 4;
    let witnesses = is_nearest.then(|| cache.simplex.witnesses());
    let mut search = Search {
        rounding: sets.rounding(),
        sets,
        hints: &mut cache.hints,
        scratch,
        steps: 0,
        extent: 0.0,
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
    /// Rounding error of points of the difference \[m\].
    rounding: f64,
    /// Bound of the distance of all polytope points from the origin \[m\].
    extent: f64,
}

impl<A: Support, B: Support> Search<'_, A, B> {
    fn support(&mut self, direction: DVec3) -> Vertex {
        self.steps += 1;
        self.sets.support(direction, self.hints)
    }

    /// Adds support points until four do not lie in a plane, and starts the polytope with them. If
    /// the difference is flat, returns a direction perpendicular to it.
    fn widened(&mut self) -> Option<DVec3> {
        if self.scratch.vertices.is_empty() {
            let vertex = self.support(DVec3::X);
            self.scratch.vertices.push(vertex);
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

    /// Returns whether a point lies outside the affine hull of the points so far, by exact
    /// predicates.
    fn is_independent(&self, point: DVec3) -> bool {
        let at = |k: usize| self.scratch.vertices[k].difference;
        match self.scratch.vertices.len() {
            0 => true,
            1 => at(0) != point,
            2 => !are_in_line(at(0), at(1), point),
            _ => side_of_plane(at(0), at(1), at(2), point) != 0,
        }
    }

    /// Keeps only the affinely independent points of the given simplex.
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
            planes,
            heap,
            given_up,
            ..
        } = &mut *self.scratch;
        given_up.clear();
        points.clear();
        points.extend(vertices.iter().map(|vertex| vertex.difference));
        heap.clear();
        planes.clear();
        let extent = |most: f64, point: &DVec3| most.max(point.abs().element_sum());
        self.extent = points.iter().fold(0.0, extent);
        // Four independent points always form a hull.
        if hull.start(points, [0, 1, 2, 3]).is_some() {
            self.wait(0, f64::INFINITY);
        }
    }

    /// Queues all facets from `first` on. Facets farther from the origin than `enough` \[m\] are
    /// skipped.
    fn wait(&mut self, first: u32, enough: f64) {
        let EpaScratch {
            points,
            hull,
            planes,
            heap,
            ..
        } = &mut *self.scratch;
        let enough = enough * enough;
        for (facet, own) in (first..).zip(&hull.facets()[first as usize..]) {
            let plane = FacetPlane::new(own.corners.map(|corner| points[corner as usize]));
            planes.push(plane);
            // Rounding may put the origin slightly outside.
            let offset = plane.offset.max(0.0);
            let distance = offset * offset / plane.squared;
            if distance <= enough {
                heap.push(Reverse((distance.to_bits(), facet)));
            }
        }
    }

    fn run(mut self, settings: &EpaSettings, witnesses: Option<(DVec3, DVec3)>) -> Penetration {
        // The tried facet of least height.
        let mut best: Option<Tried> = None;
        let mut lower_bound = 0f64;
        let width = |height: f64, rounding: f64| {
            f64::max(settings.relative * height, settings.absolute).max(4.0 * rounding)
        };
        // Expand the polytope at the facet nearest the origin.
        while let Some(nearest) = self.nearest() {
            let plane = self.scratch.planes[nearest as usize];
            let length = plane.squared.sqrt();
            let normal = plane.normal / length;
            let distance = (plane.offset / length).max(0.0);
            // The polytope only grows, so the facet that is nearest now bounds the depth from
            // below.
            lower_bound = lower_bound.max(self.proven(distance));
            if best.is_some_and(|best| distance > best.height + width(best.height, self.rounding)) {
                // All facets left are farther than the best height; the facet of that height was
                // given up.
                break;
            }
            let is_last = self.steps >= settings.max_steps;
            let vertex = self.support(normal);
            let tried = Tried {
                facet: nearest,
                normal,
                height: normal.dot(vertex.difference),
            };
            if best.is_none_or(|best| tried.height < best.height) {
                best = Some(tried);
            }
            if tried.height - distance <= width(tried.height, self.rounding) {
                // The facet lies on the surface of the difference, to within the settings: no
                // nearer one is left.
                let facet = self.with_foot(nearest, distance, normal);
                return self.answer(Tried { facet, ..tried }, lower_bound, witnesses);
            }
            if is_last {
                break;
            }
            if !self.is_above(nearest, vertex.difference) {
                // Too thin for an accurate normal: what was found along it is the best possible
                // there.
                let near = match self.as_simplex(nearest).refine() {
                    Origin::Outside(point) => point.length(),
                    Origin::Inside => 0.0,
                };
                self.scratch.given_up.push((nearest, near));
                continue;
            }
            // Add the point to the hull, and queue the new facets.
            let point = vertex.difference;
            self.extent = self.extent.max(point.abs().element_sum());
            let EpaScratch {
                vertices,
                points,
                hull,
                planes,
                ..
            } = &mut *self.scratch;
            vertices.push(vertex);
            points.push(point);
            let extent = self.extent;
            let first = hull.add(points.len() as u32 - 1, nearest, |corners, facet| {
                planes[facet as usize].is_below(corners, points, point, extent)
            });
            // Facets farther than the depth are never needed; coplanar ones slightly farther are.
            let enough = best.map_or(f64::INFINITY, |best| {
                best.height + 2.0 * width(best.height, self.rounding)
            });
            self.wait(first, enough);
        }
        match best {
            Some(best) => self.answer(best, lower_bound, witnesses),
            None => self.flat(DVec3::Z, witnesses),
        }
    }

    /// Returns a proven lower bound of the depth, given that no queued facet is nearer than
    /// `distance` \[m\]. Facets that were given up count with the distance of their triangles.
    fn proven(&self, distance: f64) -> f64 {
        let EpaScratch { hull, given_up, .. } = &*self.scratch;
        let alive = |facet: u32| !hull.facets()[facet as usize].is_gone;
        (given_up.iter().filter(|(facet, _)| alive(*facet)))
            .fold(distance, |least, &(_, near)| least.min(near))
    }

    /// Returns whether a point of the difference is strictly above a facet.
    fn is_above(&self, facet: u32, point: DVec3) -> bool {
        let extent = self.extent.max(point.abs().element_sum());
        let EpaScratch {
            points,
            hull,
            planes,
            ..
        } = &*self.scratch;
        let corners = hull.facets()[facet as usize].corners;
        planes[facet as usize].is_below(corners, points, point, extent)
    }

    /// Removes and returns the queued facet nearest the origin.
    fn nearest(&mut self) -> Option<u32> {
        let EpaScratch { hull, heap, .. } = &mut *self.scratch;
        std::iter::from_fn(|| heap.pop())
            .map(|Reverse((_, facet))| facet)
            .find(|&facet| !hull.facets()[facet as usize].is_gone)
    }

    /// Returns the facet over which the origin lies, among those as near as the nearest: coplanar
    /// facets share a face of the difference.
    fn with_foot(&mut self, nearest: u32, distance: f64, normal: DVec3) -> u32 {
        /// Maximum number of facets tested: a face of the difference has few.
        const MOST: usize = 32;
        /// Cosine of the angle, a millionth, up to which facets count as coplanar. Where the sets
        /// hardly overlap, other facets are equally near, and lead elsewhere.
        const COPLANAR: f64 = 1.0 - 1e-12;
        let inside = |search: &Self, facet: u32| {
            let weights = weights_of_foot(search.corners(facet));
            weights.into_iter().fold(f64::INFINITY, f64::min)
        };
        let mut best = (inside(self, nearest), nearest);
        for _ in 0..MOST {
            if best.0 >= 0.0 {
                break;
            }
            let Some(next) = self.nearest() else { break };
            let plane = self.scratch.planes[next as usize];
            let length = plane.squared.sqrt();
            if plane.offset / length - distance > 1e-6 * distance + 4.0 * self.rounding {
                break;
            }
            if plane.normal.dot(normal) < COPLANAR * length {
                continue;
            }
            let own = inside(self, next);
            if own > best.0 {
                best = (own, next);
            }
        }
        best.1
    }

    fn corners(&self, facet: u32) -> [DVec3; 3] {
        let corners = self.scratch.hull.facets()[facet as usize].corners;
        corners.map(|corner| self.scratch.points[corner as usize])
    }

    /// Returns a facet as a simplex.
    fn as_simplex(&self, facet: u32) -> Simplex {
        let mut simplex = Simplex::default();
        for corner in self.scratch.hull.facets()[facet as usize].corners {
            simplex.push(self.scratch.vertices[corner as usize]);
        }
        simplex
    }

    /// Returns the points of A and B whose difference is the point of a facet nearest the origin;
    /// also for thin facets.
    fn foot(&self, facet: u32) -> [DVec3; 2] {
        let mut simplex = self.as_simplex(facet);
        simplex.refine();
        let (on_a, on_b) = simplex.witnesses();
        [on_a, self.sets.b.to_a(on_b)]
    }

    fn answer(
        &mut self,
        tried: Tried,
        lower_bound: f64,
        witnesses: Option<(DVec3, DVec3)>,
    ) -> Penetration {
        let Tried {
            facet,
            normal,
            height,
        } = tried;
        self.scratch.ended_on = Some(facet);
        let [mut on_a, mut on_b] = self.foot(facet);
        // Where sets only touch, the facets near that place are too thin to locate it; the distance
        // search located it.
        if let Some((a, b)) = witnesses {
            let b = self.sets.b.to_a(b);
            let aside = |p: DVec3| p.reject_from_normalized(normal);
            if aside(a - b).length_squared() < aside(on_a - on_b).length_squared() {
                (on_a, on_b) = (a, b);
            }
        }
        // Move from the facet out to the surface.
        let out = 0.5 * (height - normal.dot(on_a - on_b)) * normal;
        let depth = height.max(0.0);
        Penetration {
            depth: depth + self.rounding,
            lower_bound: (lower_bound - self.rounding).clamp(0.0, depth),
            normal,
            point_on_a: on_a + out,
            point_on_b: on_b - out,
            steps: self.steps,
        }
    }

    /// Returns the result for a flat difference: a move of length 0 perpendicular to it separates
    /// the sets.
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

impl FacetPlane {
    fn new([a, b, c]: [DVec3; 3]) -> FacetPlane {
        /// Squared sine of an angle, a twelfth of a right one, above which any two edges give an
        /// accurate normal.
        const WIDE: f64 = 0.02;
        let (e1, e2) = (b - a, c - a);
        let (squared_1, squared_2) = (e1.length_squared(), e2.length_squared());
        let mut normal = e1.cross(e2);
        let mut squared = normal.length_squared();
        // NaN, from facets without any size, does not count as wide.
        let is_wide = squared > WIDE * squared_1 * squared_2;
        if !is_wide {
            normal = best_normal([a, b, c]);
            squared = normal.length_squared();
        }
        // Every product of the normal has a few roundings, and the two with the point a few more.
        let blur = 32.0 * f64::EPSILON * (squared_1 + squared_2);
        FacetPlane {
            normal,
            squared,
            offset: normal.dot(a),
            blur: if is_wide { blur } else { f64::INFINITY },
        }
    }

    /// Returns whether a point is strictly above the plane: by the normal where rounding cannot
    /// matter, else exactly. `extent` bounds the distance of all points from the origin \[m\].
    #[inline]
    fn is_below(&self, corners: [u32; 3], points: &[DVec3], point: DVec3, extent: f64) -> bool {
        /// Products this small may have lost digits to underflow.
        const TINY: f64 = 1e-290;
        let height = self.normal.dot(point) - self.offset;
        if height.abs() > self.blur * extent + TINY {
            return height > 0.0;
        }
        let [a, b, c] = corners.map(|corner| points[corner as usize]);
        side_of_plane(a, b, c, point) > 0
    }
}

/// Returns the unit normal from the two edges whose angle is nearest to a right one, which has the
/// least cancellation.
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

/// Returns the barycentric coordinates of the origin's foot in the plane of a triangle.
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
