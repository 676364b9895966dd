//! Penetration depth of two convex sets that overlapped in the previous pose: a warm start for
//! `epa`.
//!
//! Input: the polytope that `epa` ended with, or the surface that this search left the last time;
//! two sets as support functions, B posed in frame A.
//! Output: the result of `epa`, to the same width; or nothing, and then `epa` has to start from
//! scratch.
//! Cost: a comparison per facet, some dozen operations for each that may be nearest by now, and one
//! support point per set for every new corner of the difference near the point nearest the origin;
//! no allocation once the buffers have grown.
//! Not for: the first query of a pair, which has nothing to start with.
//!
//! A vertex of the polytope is a point of A minus a point of B. Moved with their bodies these are
//! points of the difference again, so the triangles between them lie in it in every pose. The
//! surface is then no longer convex, and need not be: it is closed, and as long as it *goes around
//! the origin*, a ball about the origin that no triangle intersects lies in the hull of the
//! surface, and so in the difference (docs/METHODS.md, section 28). That is the lower bound that
//! `epa` has from its convex polytope, and it needs no exact predicates: rounding may decide which
//! triangles a new point replaces, because the new triangles have the same border as the removed
//! ones.
//!
//! The distance of every triangle from the origin is stored, with the path length of B at that
//! time: a triangle that was far enough is not evaluated again. As long as none was as near as B
//! moves from one pose to the next, none passes the origin on the way, and the surface still goes
//! around it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::DVec3;

use crate::narrow::convex::gjk::Difference;
use crate::narrow::convex::penetration::{EpaSettings, Penetration, Waiting};
use crate::narrow::convex::simplex::Vertex;
use crate::shape::convex::growing_hull::GrowingHull;
use crate::shape::convex::{Posed, Support};

/// A closed surface of triangles in the difference of two sets, around the origin, kept from pose
/// to pose.
#[derive(Debug, Default)]
pub(super) struct Enclosure {
    vertices: Vec<Vertex>,
    facets: Vec<Facet>,
    /// Distance of every facet when it was last evaluated.
    known: Vec<Known>,
    /// Free slots in the list of facets.
    free: Vec<u32>,
    /// Maximum number of facets for which the surface is worth keeping; 0 if there is none.
    most: usize,
    /// Bound of the distance of all vertices from the origin \[m\].
    extent: f64,
    /// Pose of B in the last call.
    before: Option<Posed<()>>,
    /// Path length of B \[m\]. No vertex is farther from its place in an earlier pose than `way`
    /// has grown since.
    way: f64,
    /// Lower bound of the distance of all facets in the last pose \[m\].
    near: f64,
    /// Reference point of B \[m\].
    pivot: DVec3,
    /// Maximum distance from the reference point for the points of B that make vertices \[m\].
    reach: f64,
    /// Facet that holds the last result.
    last: u32,
    /// Scratch buffers, held here only during a call.
    lent: EnclosureScratch,
}

/// Scratch buffers of a search, shared by all pairs.
#[derive(Debug, Default)]
pub(super) struct EnclosureScratch {
    /// Planes of the facets evaluated in this pose.
    planes: Vec<Plane>,
    /// Whether each facet was evaluated in this pose.
    is_fresh: Vec<bool>,
    /// Whether all facets were evaluated, with the origin behind each of them.
    are_all_behind: bool,
    /// Facets that may be nearer than the least height found, the nearest first. An entry is void
    /// if the facet's `near` has changed since.
    waiting: BinaryHeap<Waiting>,
    gone: Vec<u32>,
    border: Vec<BorderEdge>,
    /// For each vertex, the new facet over the border edge that begins there, while the surface is
    /// being closed; else [`NONE`].
    begins: Vec<u32>,
    numbers: Vec<u32>,
}

/// A triangle of the surface.
#[derive(Clone, Copy, Debug)]
struct Facet {
    /// Corners, counter-clockwise seen from outside.
    corners: [u32; 3],
    /// Facets across the edges from each corner to the next.
    neighbours: [u32; 3],
    /// Whether its slot is free.
    is_gone: bool,
}

/// Distance of a facet when it was last evaluated.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Squared lower bound of its distance from the origin \[m²\]; infinite for a removed facet.
    near: f64,
    /// Value of `way` at that time \[m\].
    way: f64,
}

impl Known {
    const GONE: Known = Known {
        near: f64::INFINITY,
        way: 0.0,
    };
}

/// The plane of a facet.
#[derive(Clone, Copy, Debug, Default)]
struct Plane {
    /// Outward normal, of any length but 0.
    normal: DVec3,
    /// Squared length of the normal \[m⁴\].
    squared: f64,
    /// Offset of the plane `normal · x = offset`.
    offset: f64,
    /// Error bound of `normal · x − offset`.
    blur: f64,
    /// Squared lower bound of the triangle's distance from the origin \[m²\].
    near: f64,
    /// Whether the origin is proven to be behind the plane.
    is_behind: bool,
    /// Whether `near` was measured to the triangle, which may be farther than its plane.
    is_measured: bool,
}

impl Plane {
    /// Computes the plane of a triangle. `extent` bounds the distance of all points from the origin
    /// \[m\].
    #[inline(always)]
    fn new([a, b, c]: [DVec3; 3], extent: f64) -> Plane {
        let (e1, e2) = (b - a, c - a);
        let normal = e1.cross(e2);
        let squared = normal.length_squared();
        let offset = normal.dot(a);
        let blur = BLUR * (e1.length_squared() + e2.length_squared()) * extent;
        // Along *any* unit direction no point of a triangle is nearer than the least of its
        // corners: an inexact normal makes the bound lower, not wrong.
        let least = (offset + normal.dot(e1).min(normal.dot(e2)).min(0.0)).max(0.0);
        Plane {
            normal,
            squared,
            offset,
            blur,
            near: least * least / squared,
            is_behind: least > blur,
            is_measured: false,
        }
    }

    /// Returns whether a point is above the plane by more than rounding.
    #[inline]
    fn is_below(&self, point: DVec3) -> bool {
        self.normal.dot(point) > self.offset + self.blur
    }
}

/// An edge of the border of the removed part, the remaining facet beyond it, and the plane of the
/// new facet over it.
#[derive(Clone, Copy, Debug)]
struct BorderEdge {
    from: u32,
    to: u32,
    outer: u32,
    plane: Plane,
}

/// A direction that was evaluated.
#[derive(Clone, Copy)]
struct Tried {
    /// Unit normal.
    normal: DVec3,
    /// Support height of the difference along the normal: an upper bound of the depth \[m\].
    height: f64,
}

/// Marks a missing slot or number.
const NONE: u32 = u32::MAX;
/// Minimum capacity in facets: bodies that overlap a little have 20 to 60, some 20 kB with this
/// capacity.
const ROOM: usize = 256;
/// Relative error of a product of two edges and a point: every term has a few roundings.
const BLUR: f64 = 32.0 * f64::EPSILON;
/// Combined error of distances and path lengths, in roundings of a point of the difference.
const SLACK: f64 = 32.0;
/// Path length after which all facets are evaluated again, as a multiple of the largest coordinate:
/// sums of path lengths lose digits.
const LONG_WAY: f64 = 16.0;

impl Enclosure {
    /// Discards the surface and keeps the buffers.
    pub(super) fn clear(&mut self) {
        self.most = 0;
    }

    /// Takes over the polytope that a search of the same pair ended with; `last` is the facet that
    /// holds the result.
    pub(super) fn take_over(
        &mut self,
        vertices: &[Vertex],
        hull: &GrowingHull,
        last: u32,
        scratch: &mut EnclosureScratch,
    ) {
        std::mem::swap(&mut self.lent, scratch);
        self.copy(vertices, hull, last);
        std::mem::swap(&mut self.lent, scratch);
    }

    fn copy(&mut self, vertices: &[Vertex], hull: &GrowingHull, last: u32) {
        self.lent.numbers.clear();
        let mut count = 0;
        for facet in hull.facets() {
            self.lent
                .numbers
                .push(if facet.is_gone { NONE } else { count });
            count += u32::from(!facet.is_gone);
        }
        self.facets.clear();
        self.free.clear();
        for facet in hull.facets().iter().filter(|facet| !facet.is_gone) {
            self.facets.push(Facet {
                corners: facet.corners,
                neighbours: facet
                    .neighbours
                    .map(|other| self.lent.numbers[other as usize]),
                is_gone: false,
            });
        }
        self.vertices.clear();
        self.vertices.extend(vertices);
        self.known.clear();
        self.known.resize(
            self.facets.len(),
            Known {
                near: 0.0,
                way: 0.0,
            },
        );
        self.before = None;
        // If that facet was removed, no facet replaces it; any will do.
        self.last = self.lent.numbers[last as usize].min(self.facets.len() as u32 - 1);
        self.drop_unused();
        self.most = 2 * self.facets.len() + 16;
        let sum: DVec3 = self.vertices.iter().map(|vertex| vertex.on_b).sum();
        self.pivot = sum / self.vertices.len() as f64;
        self.reach = (self.vertices.iter()).fold(0.0, |reach, vertex| {
            f64::max(reach, vertex.on_b.distance(self.pivot))
        });
        // Allocated once for all poses to come, and nearly always the same size, so that a pair
        // that replaces another finds enough room.
        let room = (self.most + 32).next_power_of_two().max(ROOM);
        reserve(&mut self.facets, room);
        reserve(&mut self.known, room);
        reserve(&mut self.free, room);
        reserve(&mut self.vertices, most_vertices(room) + 32);
    }

    /// Removes vertices that no facet uses.
    fn drop_unused(&mut self) {
        let Enclosure {
            vertices,
            facets,
            last,
            lent: EnclosureScratch { numbers, .. },
            ..
        } = self;
        numbers.clear();
        numbers.resize(vertices.len(), NONE);
        let any = facets[*last as usize].corners;
        for facet in facets.iter_mut().filter(|facet| facet.is_gone) {
            facet.corners = any;
        }
        for &corner in facets.iter().flat_map(|facet| &facet.corners) {
            numbers[corner as usize] = 0;
        }
        let mut count = 0;
        for (old, number) in numbers
            .iter_mut()
            .enumerate()
            .filter(|(_, number)| **number == 0)
        {
            *number = count;
            vertices[count as usize] = vertices[old];
            count += 1;
        }
        vertices.truncate(count as usize);
        for corner in facets.iter_mut().flat_map(|facet| &mut facet.corners) {
            *corner = numbers[*corner as usize];
        }
    }

    /// Computes the penetration of two sets, if the surface can still be used.
    pub(super) fn penetration<A: Support, B: Support>(
        &mut self,
        sets: &Difference<'_, A, B>,
        settings: &EpaSettings,
        hints: &mut (A::Hint, B::Hint),
        scratch: &mut EnclosureScratch,
    ) -> Option<Penetration> {
        if self.most == 0 {
            return None;
        }
        std::mem::swap(&mut self.lent, scratch);
        let found = self.search(sets, settings, hints);
        std::mem::swap(&mut self.lent, scratch);
        if found.is_none() || self.facets.len() - self.free.len() > self.most {
            self.most = 0;
        }
        found
    }

    fn search<A: Support, B: Support>(
        &mut self,
        sets: &Difference<'_, A, B>,
        settings: &EpaSettings,
        hints: &mut (A::Hint, B::Hint),
    ) -> Option<Penetration> {
        let rounding = sets.rounding();
        let width = |height: f64| {
            f64::max(settings.relative * height, settings.absolute).max(4.0 * rounding)
        };
        // Move the surface to the current pose; if it may have passed the origin, evaluate all
        // facets.
        let is_around = self.carry(sets, rounding);
        if !is_around {
            self.lent.are_all_behind = self.look_at_nearer(f64::INFINITY);
            if !self.lent.are_all_behind {
                return None;
            }
        }
        // The facet of the last result is a good guess: the support along its normal gives a first
        // upper bound.
        let plane = *self.look_at(self.last);
        let normal = plane.normal / plane.squared.sqrt();
        let mut first = Some((self.last, sets.support(normal, hints)));
        let mut steps = 1;
        let height = first.map_or(0.0, |(_, vertex)| normal.dot(vertex.difference));
        let mut best = Tried { normal, height };
        self.lent.waiting.clear();
        if is_around && !self.look_at_nearer(height + SLACK * rounding) {
            return None;
        }
        // Queue the facets that may be nearer than that bound.
        let EnclosureScratch {
            planes,
            numbers,
            waiting,
            ..
        } = &mut self.lent;
        let nearer = (numbers.iter())
            .map(|&place| (planes[place as usize].near, place))
            .filter(|(near, _)| *near < height * height);
        waiting.extend(nearer.map(|(near, place)| Reverse((near.to_bits(), place))));
        // Expand the surface at the facet nearest the origin, until the bracket is narrow enough.
        loop {
            let (nearest, near) = self.nearest();
            if best.height - near <= width(best.height) {
                self.near = near.min(best.height);
                // Where sets hardly touch, GJK decides whether they do.
                let is_deep = best.height > 64.0 * rounding;
                return is_deep
                    .then(|| self.answer(sets, best, near, rounding, steps))
                    .flatten();
            }
            if steps >= settings.max_steps {
                return None;
            }
            let plane = self.lent.planes[nearest as usize];
            if !plane.is_measured {
                self.measure(nearest);
                continue;
            }
            let normal = plane.normal / plane.squared.sqrt();
            let vertex = match first.take_if(|(place, _)| *place == nearest) {
                Some((_, vertex)) => vertex,
                None => {
                    steps += 1;
                    sets.support(normal, hints)
                }
            };
            let height = normal.dot(vertex.difference);
            if height < best.height {
                best = Tried { normal, height };
                self.last = nearest;
                if height - near <= width(height) {
                    continue;
                }
            }
            if !plane.is_below(vertex.difference) || !self.add(vertex, nearest, normal, best.height)
            {
                return None;
            }
            // Another facet may occupy its slot now.
            first = None;
        }
    }

    /// Moves the surface to the current pose. Returns whether it is proven to go around the origin.
    fn carry<A: Support, B: Support>(
        &mut self,
        sets: &Difference<'_, A, B>,
        rounding: f64,
    ) -> bool {
        if self.vertices.len() > most_vertices(self.facets.len()) {
            self.drop_unused();
        }
        for vertex in &mut self.vertices {
            vertex.difference = vertex.on_a - sets.b.to_a(vertex.on_b);
        }
        self.lent.are_all_behind = false;
        let facets = self.facets.len();
        self.lent.planes.resize(facets, Plane::default());
        self.lent.is_fresh.clear();
        self.lent.is_fresh.resize(facets, false);
        self.extent = 3f64.sqrt() * (sets.a.extent() + sets.b.extent());
        let before = self.before.replace(sets.b.place());
        let moved = before.map_or(f64::INFINITY, |before| {
            sets.b.way_from(&before, self.pivot, self.reach) + rounding
        });
        self.way += moved;
        // If no facet passed the origin on the way here, the surface goes around it as before.
        let is_around = moved < self.near - SLACK * rounding && self.way < LONG_WAY * self.extent;
        if !is_around {
            self.way = 0.0;
        }
        is_around
    }

    /// Returns whether the origin is proven to be behind every facet, so that the surface goes
    /// around it. Facets that were not evaluated yet are evaluated.
    fn are_all_behind(&mut self) -> bool {
        self.lent.are_all_behind = self.lent.are_all_behind
            || (0..self.facets.len() as u32)
                .all(|place| self.facets[place as usize].is_gone || self.look_at(place).is_behind);
        self.lent.are_all_behind
    }

    /// Evaluates all facets that may be nearer than `distance` \[m\], and stores their indices in
    /// `numbers`. Returns whether the origin is proven to be behind each of them.
    fn look_at_nearer(&mut self, distance: f64) -> bool {
        let Enclosure {
            vertices,
            facets,
            known,
            extent,
            way,
            lent:
                EnclosureScratch {
                    planes,
                    is_fresh,
                    numbers,
                    ..
                },
            ..
        } = self;
        // One loop selects and one computes, neither with a data-dependent branch.
        numbers.clear();
        numbers.resize(known.len(), 0);
        let (mut count, most) = (0, *way + distance);
        for (place, then) in (0..).zip(&*known) {
            // Since then the facet has come nearer by no more than `way` has grown.
            let reach = most - then.way;
            numbers[count] = place;
            count += usize::from(then.near < reach * reach);
        }
        numbers.truncate(count);
        let mut are_behind = true;
        for place in numbers.iter().map(|&place| place as usize) {
            let corners = facets[place].corners;
            let plane = Plane::new(
                corners.map(|corner| vertices[corner as usize].difference),
                *extent,
            );
            are_behind &= plane.is_behind;
            known[place] = Known {
                near: plane.near,
                way: *way,
            };
            is_fresh[place] = true;
            planes[place] = plane;
        }
        are_behind
    }

    /// Returns the plane of a facet in the current pose, evaluated at first use.
    #[inline(always)]
    fn look_at(&mut self, place: u32) -> &Plane {
        let place = place as usize;
        if !self.lent.is_fresh[place] {
            let corners = self.facets[place].corners;
            let plane = Plane::new(corners.map(|corner| self.at(corner)), self.extent);
            self.lent.is_fresh[place] = true;
            self.lent.planes[place] = plane;
            self.known[place] = Known {
                near: plane.near,
                way: self.way,
            };
        }
        &self.lent.planes[place]
    }

    fn at(&self, corner: u32) -> DVec3 {
        self.vertices[corner as usize].difference
    }

    /// Queues a facet by its distance.
    fn wait(&mut self, place: u32) {
        let near = self.lent.planes[place as usize].near;
        self.lent.waiting.push(Reverse((near.to_bits(), place)));
    }

    /// Returns the queued facet nearest the origin, and its distance.
    fn nearest(&mut self) -> (u32, f64) {
        while let Some(&Reverse((bits, place))) = self.lent.waiting.peek() {
            let near = self.lent.planes[place as usize].near;
            if near.to_bits() == bits && !self.facets[place as usize].is_gone {
                return (place, near.sqrt());
            }
            self.lent.waiting.pop();
        }
        (0, f64::INFINITY)
    }

    /// Replaces the distance of a facet's plane by that of its triangle, if the nearest point is on
    /// the triangle's border.
    fn measure(&mut self, place: u32) {
        let [a, b, c] = (self.facets[place as usize].corners).map(|corner| self.at(corner));
        let plane = &mut self.lent.planes[place as usize];
        plane.is_measured = true;
        // The nearest point of the edges that the origin's foot is beyond.
        let mut nearest: Option<(f64, DVec3)> = None;
        for (p, q) in [(b, c), (c, a), (a, b)] {
            if p.cross(q).dot(plane.normal) < 0.0 {
                let along = q - p;
                let share = -p.dot(along) / along.length_squared();
                let v = p + share.clamp(0.0, 1.0) * along;
                let squared = v.length_squared();
                if nearest.is_none_or(|(least, _)| squared < least) {
                    nearest = Some((squared, v));
                }
            }
        }
        if let Some((squared, v)) = nearest {
            // As for planes: the least of the corners, along the direction to the nearest point.
            let least = v.dot(a).min(v.dot(b)).min(v.dot(c)).max(0.0);
            plane.near = plane.near.max(least * least / squared);
            self.known[place as usize] = Known {
                near: plane.near,
                way: self.way,
            };
            self.wait(place);
        }
    }

    /// Replaces the facets that a new vertex is above by facets around it. The search begins at
    /// `seen`, whose normal is given; new facets nearer than `enough` \[m\] are queued. Returns
    /// whether the surface is still closed, and around the origin.
    fn add(&mut self, vertex: Vertex, seen: u32, normal: DVec3, enough: f64) -> bool {
        let point = vertex.difference;
        let top = self.vertices.len() as u32;
        self.vertices.push(vertex);
        self.reach = self.reach.max(vertex.on_b.distance(self.pivot));
        self.lent.border.clear();
        self.lent.gone.clear();
        self.cut(seen);
        let mut lowest = normal.dot(point);
        let mut looked_at = 0;
        while let Some(&own) = self.lent.gone.get(looked_at) {
            looked_at += 1;
            let Facet {
                corners,
                neighbours,
                ..
            } = self.facets[own as usize];
            let places = corners.map(|corner| self.at(corner));
            for edge in 0..3 {
                lowest = lowest.min(normal.dot(places[edge]));
                let outer = neighbours[edge];
                if self.facets[outer as usize].is_gone {
                    continue;
                }
                if self.look_at(outer).is_below(point) {
                    self.cut(outer);
                    continue;
                }
                let next = (edge + 1) % 3;
                let plane = Plane::new([places[edge], places[next], point], self.extent);
                // A facet that is not visible is removed, too, if the new facet over its edge would
                // face the origin with its back.
                if plane.is_behind {
                    self.lent.border.push(BorderEdge {
                        from: corners[edge],
                        to: corners[next],
                        outer,
                        plane,
                    });
                } else {
                    self.cut(outer);
                }
            }
        }
        let EnclosureScratch { border, .. } = &mut self.lent;
        border.retain(|edge| !self.facets[edge.outer as usize].is_gone);
        // If all removed and new facets lie on one side of a plane through the origin, the
        // difference between the two surfaces does not enclose it.
        let is_aside = lowest > BLUR * self.extent;
        if !self.close(top) {
            return false;
        }
        self.fill(enough * enough);
        is_aside || self.are_all_behind()
    }

    /// Marks a facet as removed.
    fn cut(&mut self, place: u32) {
        self.facets[place as usize].is_gone = true;
        self.known[place as usize] = Known::GONE;
        self.lent.gone.push(place);
    }

    /// Builds a facet over every edge of the border, in the slots listed in `gone`. Returns whether
    /// they close the surface.
    fn close(&mut self, top: u32) -> bool {
        self.free.append(&mut self.lent.gone);
        for _ in 0..self.lent.border.len() {
            if self.free.is_empty() {
                self.free.push(self.facets.len() as u32);
                self.known.push(Known::GONE);
                self.lent.planes.push(Plane::default());
                self.lent.is_fresh.push(false);
                self.facets.push(Facet {
                    corners: [0; 3],
                    neighbours: [0; 3],
                    is_gone: true,
                });
            }
            self.lent.gone.extend(self.free.pop());
        }
        let Enclosure {
            facets,
            vertices,
            lent:
                EnclosureScratch {
                    border,
                    begins,
                    gone: places,
                    ..
                },
            ..
        } = self;
        begins.resize(vertices.len(), NONE);
        // If the border is a loop without repeated vertices, exactly one edge begins where each one
        // ends.
        let mut is_loop = !border.is_empty();
        for (edge, &own) in border.iter().zip(&*places) {
            let before = std::mem::replace(&mut begins[edge.from as usize], own);
            is_loop &= before == NONE;
        }
        for (edge, &own) in border.iter().zip(&*places) {
            let Facet {
                corners,
                neighbours,
                ..
            } = &mut facets[edge.outer as usize];
            let side = (0..3).find(|&k| corners[k] == edge.to && corners[(k + 1) % 3] == edge.from);
            let next = begins[edge.to as usize];
            let (Some(side), true) = (side, next != NONE) else {
                is_loop = false;
                break;
            };
            neighbours[side] = own;
            facets[own as usize].corners = [edge.from, edge.to, top];
            facets[own as usize].is_gone = false;
            facets[own as usize].neighbours[0] = edge.outer;
            facets[own as usize].neighbours[1] = next;
            facets[next as usize].neighbours[2] = own;
        }
        for edge in border {
            begins[edge.from as usize] = NONE;
        }
        is_loop
    }

    /// Stores the planes of the new facets, and queues those whose squared distance is below
    /// `enough` \[m²\].
    fn fill(&mut self, enough: f64) {
        for index in 0..self.lent.gone.len() {
            let (place, plane) = (self.lent.gone[index], self.lent.border[index].plane);
            self.lent.planes[place as usize] = plane;
            self.lent.is_fresh[place as usize] = true;
            self.known[place as usize] = Known {
                near: plane.near,
                way: self.way,
            };
            if plane.near < enough {
                self.wait(place);
            }
        }
    }

    /// Returns the facet through which a ray from the origin leaves the surface, and the
    /// unnormalised weights of its corners there.
    fn left_through(&self, direction: DVec3) -> Option<(u32, [f64; 3])> {
        /// Maximum number of facets in a walk before all are tested: on a surface that is not
        /// convex a walk may cycle.
        const MOST: usize = 32;
        let weights = |place: u32| {
            let [a, b, c] = self.facets[place as usize].corners;
            let [a, b, c] = [self.at(a), self.at(b), self.at(c)];
            [(b, c), (c, a), (a, b)].map(|(p, q)| p.cross(q).dot(direction))
        };
        let mut place = self.last;
        for _ in 0..MOST {
            let Facet {
                neighbours,
                is_gone,
                ..
            } = self.facets[place as usize];
            let own = weights(place);
            let least = (0..3).fold(0, |least, k| if own[k] < own[least] { k } else { least });
            if is_gone {
                break;
            }
            if own[least] >= 0.0 {
                return Some((place, own));
            }
            // Continue across the edge opposite that corner.
            place = neighbours[(least + 1) % 3];
        }
        (0..self.facets.len() as u32)
            .filter(|&place| !self.facets[place as usize].is_gone)
            .map(|place| (place, weights(place)))
            .find(|(_, weights)| weights.iter().all(|&weight| weight >= 0.0))
    }

    fn answer<A: Support, B: Support>(
        &mut self,
        sets: &Difference<'_, A, B>,
        tried: Tried,
        near: f64,
        rounding: f64,
        steps: u32,
    ) -> Option<Penetration> {
        let Tried { normal, height } = tried;
        // The way out crosses the surface between the ball and the supporting plane of the
        // difference.
        let (place, weights) = self.left_through(normal)?;
        self.last = place;
        let sum: f64 = weights.iter().sum();
        let corners = self.facets[place as usize].corners;
        let (mut on_a, mut on_b) = (DVec3::ZERO, DVec3::ZERO);
        for (corner, weight) in corners.into_iter().zip(weights) {
            on_a += weight / sum * self.vertices[corner as usize].on_a;
            on_b += weight / sum * self.vertices[corner as usize].on_b;
        }
        let on_b = sets.b.to_a(on_b);
        // Move from the facet out to the surface.
        let out = 0.5 * (height - normal.dot(on_a - on_b)) * normal;
        Some(Penetration {
            depth: height + rounding,
            lower_bound: near.min(height) - rounding,
            normal,
            point_on_a: on_a + out,
            point_on_b: on_b - out,
            steps,
        })
    }
}

/// Returns the maximum number of vertices kept for a surface of `facets` facets, some unused ones
/// included.
fn most_vertices(facets: usize) -> usize {
    facets / 2 + 32
}

/// Reserves capacity for `room` elements in total.
fn reserve<T>(list: &mut Vec<T>, room: usize) {
    list.reserve(room.saturating_sub(list.len()));
}
