//! Nearest triangles of many points that lie close together: gathers candidates once per ball, then
//! searches for eight points at a time.

use glam::{DVec3, Vec3};

use super::nearest::Best;
use crate::geom::lanes::{
    self, Aligned, LANES, Lanes, Stored, Stored3, Work, set_lanes, splat_lane, splat_lane3, splat3,
};
use crate::mesh::bvh::answer::Nearest;
use crate::mesh::bvh::node::{
    Bounds, Fused, LEAF_FLAG, Leaf, NO_CHILD, Off, ROUNDING, STACK, Same,
};
use crate::mesh::bvh::{Bvh, fans};

/// The leaves that can hold the nearest triangle of some point of a ball. Scratch buffer, reused
/// from ball to ball.
#[derive(Default)]
pub(crate) struct Candidates {
    groups: Vec<Group>,
    /// Gathered leaves, as node and lane.
    found: Vec<(u32, u32)>,
    /// Triangles that may be nearest to some of the eight points, with their `f32` distance² to
    /// each.
    postponed: Vec<(Stored, u32)>,
}

/// Result of a search for eight points.
#[expect(
    clippy::large_enum_variant,
    reason = "it is looked at where it was made and goes nowhere"
)]
pub(crate) enum Among {
    /// Nearest point of the mesh to each.
    Near([Nearest; LANES]),
    /// Distances from the mesh, in error by at most [`Bvh::far_error`] \[m\].
    Far([f64; LANES]),
}

/// [`LANES`] leaves with their bounds.
struct Group {
    bounds: Bounds,
    leaves: [u32; LANES],
    /// Lower bounds of their distances² to the centre of the current eight points.
    lower_squared: Stored,
}

impl Bvh {
    /// Collects every leaf that can hold the nearest triangle of some point within `radius` of
    /// `center`, given the nearest triangle of `center` itself.
    ///
    /// A box B at distance l from the centre loses to the nearest triangle T at distance t
    /// everywhere in the ball if l − t exceeds the most that the two distances can approach each
    /// other on the way: radius · |u_B − u_T|, with the unit directions to the nearest points. |u_B
    /// − u_T| is at most 2, and at most 2 D / (l + t − 2 radius), with D the largest distance
    /// between a point of B and one of T. Far away, where both lie in nearly the same direction,
    /// that is small, and the candidates are a patch the size of the ball, however far it is.
    #[inline(always)]
    pub(crate) fn gather<L: Lanes>(
        &self,
        center: DVec3,
        radius: f64,
        nearest: &Nearest,
        out: &mut Candidates,
    ) {
        self.gather_leaves::<L>(center, radius, nearest, &mut out.found);
        out.groups.clear();
        for chunk in out.found.chunks(LANES) {
            let mut group = Group {
                bounds: Bounds::NOWHERE,
                leaves: [NO_CHILD; LANES],
                lower_squared: Aligned([0.0; LANES]),
            };
            for (lane, &(node, from)) in chunk.iter().enumerate() {
                let node = &self.nodes[node as usize];
                group.bounds.copy_lane(lane, &node.bounds, from as usize);
                group.leaves[lane] = node.children[from as usize] & !LEAF_FLAG;
            }
            out.groups.push(group);
        }
    }

    /// Collects the leaves for [`Self::gather`], as node and lane.
    #[inline(always)]
    fn gather_leaves<L: Lanes>(
        &self,
        center: DVec3,
        radius: f64,
        nearest: &Nearest,
        found: &mut Vec<(u32, u32)>,
    ) {
        let local = self.to_local(center);
        let margin = ROUNDING * (1.0 + local.length());
        let query = Ball::<L> {
            center: splat3(local),
            radius: (radius * self.scale) as f32 + margin,
            rival: self.rival(nearest),
            margin,
        };
        found.clear();
        let mut stack = [0u32; STACK];
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let index = stack[top];
            let node = &self.nodes[index as usize];
            for lane in set_lanes(query.matters(&node.bounds)) {
                let child = node.children[lane];
                if child & LEAF_FLAG != 0 {
                    found.push((index, lane as u32));
                } else {
                    stack[top] = child;
                    top += 1;
                }
            }
        }
    }

    /// Appends every face that can be nearest to some point within `radius` of `center`, and some
    /// faces near them. Returns `false`, with an incomplete list, when there are more than `most`
    /// or when the ball is beyond the range of `f32`. `hint` is any face, preferably a near one.
    pub(crate) fn faces_that_win(
        &self,
        center: DVec3,
        radius: f64,
        hint: u32,
        most: usize,
        out: &mut Vec<u32>,
    ) -> bool {
        if self.nodes.is_empty() || !self.is_within_reach(center, radius) {
            return false;
        }
        let found = lanes::run(LeavesOfBall {
            bvh: self,
            center,
            radius,
            hint,
        });
        for (node, lane) in found {
            let leaf = self.nodes[node as usize].children[lane as usize] & !LEAF_FLAG;
            for face in self.leaf_faces(leaf) {
                if out.len() == most {
                    return false;
                }
                out.push(face);
            }
        }
        true
    }

    /// Returns the nearest points of the mesh to eight points, or only their distances if all are
    /// more than `far`. The points must lie in the ball that `candidates` were gathered for and
    /// should be close to each other.
    #[inline(always)]
    pub(crate) fn nearest_among<L: Lanes>(
        &self,
        candidates: &mut Candidates,
        points: &[DVec3; LANES],
        hint: u32,
        far: f64,
    ) -> Among {
        let Candidates {
            groups, postponed, ..
        } = candidates;
        let mut packet = Packet::<L>::new(self, points, postponed);
        // Search the leaf with the smallest lower bound first: its triangles rule out most other
        // leaves.
        let mut first = (f32::INFINITY, NO_CHILD);
        for group in groups.iter_mut() {
            let lower_squared = group.bounds.distance_squared(packet.ball.center);
            group.lower_squared = lower_squared.store();
            for lane in set_lanes(lower_squared.mask_at_most(L::splat(first.0))) {
                if group.lower_squared.0[lane] < first.0 {
                    first = (group.lower_squared.0[lane], group.leaves[lane]);
                }
            }
        }
        // Measure the leaf of the hint, then that first leaf, to get a rival and a threshold.
        let hint = self.leaf_of[hint as usize];
        packet.challenge(&self.leaves[hint as usize]);
        let first = first.1;
        if first != hint && first != NO_CHILD {
            packet.challenge(&self.leaves[first as usize]);
        }
        // Visit the other leaves that can still win.
        let reach = packet.ball.reach();
        let reach_squared = L::splat(reach * reach * (1.0 + ROUNDING));
        for group in groups.iter() {
            let lower_squared = L::load(&group.lower_squared);
            if lower_squared.mask_at_most(reach_squared) == 0 {
                continue;
            }
            let lower = lower_squared.sqrt();
            let spread = (group.bounds)
                .farthest_squared(packet.ball.rival.center)
                .sqrt();
            for lane in set_lanes(packet.ball.can_win(lower, spread)) {
                let leaf = group.leaves[lane];
                if leaf != hint && leaf != first && packet.matters(&group.bounds, lane) {
                    packet.visit_leaf(&self.leaves[leaf as usize]);
                }
            }
        }
        // Return distances alone if all are far; else decide in `f64`.
        match packet.far(self, far * self.scale) {
            Some(local) => Among::Far(local.0.map(|distance| f64::from(distance) / self.scale)),
            None => Among::Near(packet.decide(self, points)),
        }
    }

    /// Returns the largest error of the distances in [`Among::Far`], for points within `radius` of
    /// the centre of the mesh \[m\].
    pub(crate) fn far_error(&self, radius: f64) -> f64 {
        4.0 * f64::from(ROUNDING) * (1.0 / self.scale + radius)
    }

    #[inline(always)]
    fn rival<L: Lanes>(&self, nearest: &Nearest) -> Rival<L> {
        let (leaf, lane) = self.place_of(nearest.face);
        let distance = (nearest.distance_squared.sqrt() * self.scale) as f32;
        Rival::new(leaf.ball(lane), distance)
    }

    /// Returns the leaf of a face, and its lane there.
    #[inline(always)]
    fn place_of(&self, face: u32) -> (&Leaf, usize) {
        let leaf = &self.leaves[self.leaf_of[face as usize] as usize];
        let lane = leaf.faces.iter().position(|&other| other == face);
        (leaf, lane.unwrap_or(0))
    }
}

/// Runs [`Bvh::gather_leaves`] with the widest instructions of the CPU.
struct LeavesOfBall<'a> {
    bvh: &'a Bvh,
    center: DVec3,
    radius: f64,
    hint: u32,
}

impl Work for LeavesOfBall<'_> {
    type Output = Vec<(u32, u32)>;

    #[inline(always)]
    fn run<L: Lanes>(self) -> Self::Output {
        let mut found = Vec::new();
        let nearest = self.bvh.nearest_here::<L>(self.center, self.hint);
        (self.bvh).gather_leaves::<L>(self.center, self.radius, &nearest, &mut found);
        found
    }
}

/// The triangle to beat, with a ball around it. Local units.
#[derive(Clone, Copy)]
struct Rival<L> {
    center: [L; 3],
    radius: f32,
    /// Distance of this triangle from the centre of the points.
    distance: f32,
}

impl<L: Lanes> Rival<L> {
    #[inline(always)]
    fn new((center, radius): (Vec3, f32), distance: f32) -> Rival<L> {
        Rival {
            center: splat3(center),
            radius,
            distance,
        }
    }
}

/// A ball of points and the triangle to beat. Local units.
struct Ball<L> {
    center: [L; 3],
    radius: f32,
    rival: Rival<L>,
    margin: f32,
}

impl<L: Lanes> Ball<L> {
    /// Returns the mask of children that can hold the nearest triangle of some point of the ball.
    #[inline(always)]
    fn matters(&self, bounds: &Bounds) -> u32 {
        let lower = bounds.distance_squared(self.center).sqrt();
        if self.is_near(lower) == 0 {
            return 0;
        }
        self.can_win(lower, bounds.farthest_squared(self.rival.center).sqrt())
    }

    /// Returns the mask of boxes near enough to win if they could gain on the rival at the largest
    /// possible rate: a cheap early-out.
    #[inline(always)]
    fn is_near(&self, lower: L) -> u32 {
        lower.mask_at_most(L::splat(self.reach()))
    }

    /// Returns the distance up to which a box can win at that rate.
    #[inline(always)]
    fn reach(&self) -> f32 {
        self.rival.distance + 2.0 * self.margin + 2.0 * self.radius * (1.0 + 8.0 * ROUNDING)
    }

    /// Returns the mask of boxes that can be nearer than the rival somewhere in the ball. `lower`
    /// holds lower bounds of their distances from its centre, `spread` upper bounds of their
    /// farthest distances from the rival's centre. See [`Bvh::gather`].
    #[inline(always)]
    fn can_win(&self, lower: L, spread: L) -> u32 {
        let spread = spread.add(L::splat(self.rival.radius + self.margin));
        let sum = lower.add(L::splat(
            self.rival.distance - 2.0 * self.radius - 2.0 * self.margin,
        ));
        // A sum that is not positive proves nothing; a tiny positive one gives a drift above 2.
        let sum = sum.max(L::splat(f32::MIN_POSITIVE));
        let two = L::splat(2.0);
        let drift = two.mul(spread).div(sum).min(two);
        let gain = L::splat(self.radius * (1.0 + 8.0 * ROUNDING)).mul(drift);
        let excess = lower.sub(L::splat(self.rival.distance + 2.0 * self.margin));
        excess.mask_at_most(gain)
    }
}

/// Search state of eight points, one per lane.
struct Packet<'a, L> {
    points: [L; 3],
    /// Offsets of the points from their centre.
    ways: Stored3,
    /// Ball around the points.
    ball: Ball<L>,
    /// Distance² above which nothing can be nearer than the triangles measured so far.
    threshold: L,
    /// Twice the largest rounding margin of the points, local units.
    margin: f32,
    postponed: &'a mut Vec<(Stored, u32)>,
}

impl<'a, L: Lanes> Packet<'a, L> {
    #[inline(always)]
    fn new(bvh: &Bvh, points: &[DVec3; LANES], postponed: &'a mut Vec<(Stored, u32)>) -> Self {
        postponed.clear();
        let center = bvh.to_local(0.5 * (points[0] + points[LANES - 1]));
        let (mut x, mut y, mut z) = (
            Aligned([0.0; LANES]),
            Aligned([0.0; LANES]),
            Aligned([0.0; LANES]),
        );
        let mut ways = [x, y, z];
        let mut radius_squared = 0.0f32;
        for (i, &point) in points.iter().enumerate() {
            let local = bvh.to_local(point);
            let way = local - center;
            radius_squared = radius_squared.max(way.length_squared());
            (x.0[i], y.0[i], z.0[i]) = (local.x, local.y, local.z);
            (ways[0].0[i], ways[1].0[i], ways[2].0[i]) = (way.x, way.y, way.z);
        }
        let radius = radius_squared.sqrt();
        let margin = ROUNDING * (1.0 + center.length() + radius);
        let nothing = Rival::new((Vec3::ZERO, 0.0), f32::INFINITY);
        Packet {
            points: [L::load(&x), L::load(&y), L::load(&z)],
            ways,
            ball: Ball {
                center: splat3(center),
                radius: radius + margin,
                rival: nothing,
                margin,
            },
            threshold: L::splat(f32::INFINITY),
            margin: 2.0 * margin,
            postponed,
        }
    }

    /// Makes the triangle of `leaf` that is nearest to the centre of the points the new rival, if
    /// it is nearer than the old one, and measures the leaf.
    #[inline(always)]
    fn challenge(&mut self, leaf: &Leaf) {
        let off = leaf.off(self.ball.center);
        let distance_squared = off.distance_squared.store().0;
        let mut best = 0;
        for lane in 1..LANES {
            if distance_squared[lane] < distance_squared[best] {
                best = lane;
            }
        }
        let distance = distance_squared[best].sqrt();
        if distance < self.ball.rival.distance {
            self.ball.rival = Rival::new(leaf.ball(best), distance);
            // Measure it first: the tighter threshold rejects most of the others.
            self.measure_lane(leaf, best);
            self.measure(leaf, &off, !(1 << best));
        } else {
            self.measure(leaf, &off, u32::MAX);
        }
    }

    /// Returns whether a leaf is near enough to some of the points.
    #[inline(always)]
    fn matters(&self, bounds: &Bounds, lane: usize) -> bool {
        let lower = bounds.lane_distance_squared(lane, self.points);
        lower.mask_at_most(self.threshold) != 0
    }

    /// Measures in `f32` the triangles of a leaf that can be nearest to some of the points.
    #[inline(always)]
    fn visit_leaf(&mut self, leaf: &Leaf) {
        self.measure(leaf, &leaf.off(self.ball.center), u32::MAX);
    }

    /// Measures the given `lanes` of a leaf, as [`Self::visit_leaf`] does for all; `off` holds the
    /// offsets of the centre of the points from the triangles.
    #[inline(always)]
    fn measure(&mut self, leaf: &Leaf, off: &Off<L>, lanes: u32) {
        for lane in set_lanes(self.may_win(off) & lanes) {
            self.measure_lane(leaf, lane);
        }
    }

    /// Returns the mask of triangles that may be nearest to some of the points.
    ///
    /// Distance d to a triangle is convex, so it is at least its tangent at the centre c: d(c + v)
    /// ≥ d + w·v / d, with w the offset of c from the nearest point. Squared, that is d² + 2 w·v +
    /// (w·v)² / d², where the last term is left out if d is below the radius r of the points. If w
    /// is off by e and d by as much, the result is off by less than 2 d e + e² + 6 r e.
    #[inline(always)]
    fn may_win(&self, off: &Off<L>) -> u32 {
        let Off {
            way: [x, y, z],
            distance_squared,
        } = *off;
        let (zero, two, radius) = (L::splat(0.0), L::splat(2.0), L::splat(self.ball.radius));
        let slack = L::splat(8.0 * self.ball.margin).mul(distance_squared.sqrt().add(radius));
        let from = distance_squared.sub(slack);
        let beyond = distance_squared.sub(radius.mul(radius));
        let inverse = beyond.select_positive(L::splat(1.0).div(distance_squared), zero);
        let least = zero.sub(distance_squared);
        let threshold = self.threshold.store();
        let mut mask = 0;
        for point in 0..LANES {
            let [px, py, pz] = splat_lane3::<L>(&self.ways, point);
            let along = x.fused(px, y.fused(py, z.mul(pz))).max(least);
            let lower = along.fused(along.fused(inverse, two), from);
            mask |= lower.mask_at_most(splat_lane(&threshold, point));
        }
        mask
    }

    /// Measures one triangle, and keeps it if it may be nearest to some of the points.
    #[inline(always)]
    fn measure_lane(&mut self, leaf: &Leaf, lane: usize) {
        let height_squared = leaf.lane_height_squared::<L, Fused>(lane, self.points);
        let in_plane = leaf.lane_plane_distance_squared::<L, Fused>(lane, self.points);
        let estimate = height_squared.add(in_plane);
        if estimate.mask_at_most(self.threshold) == 0 {
            return;
        }
        let reach = estimate.sqrt().add(L::splat(self.margin));
        let limit = reach.mul(reach).mul(L::splat(1.0 + ROUNDING));
        self.threshold = self.threshold.min(limit);
        self.postponed.push((estimate.store(), leaf.faces[lane]));
    }

    /// Returns the distances in `f32` if all are more than `limit`; local units. Because these are
    /// returned to the caller, the minimum over the remaining candidates is computed again, with
    /// arithmetic that gives the same bits on every CPU.
    #[inline(always)]
    fn far(&self, bvh: &Bvh, limit: f64) -> Option<Stored> {
        if !limit.is_finite() {
            return None;
        }
        let limit = limit as f32;
        // The threshold exceeds the smallest measured distance by that margin.
        let about = self.threshold.sqrt().sub(L::splat(self.margin));
        if about.mask_at_most(L::splat(limit - self.margin)) != 0 {
            return None;
        }
        let mut least = L::splat(f32::INFINITY);
        for &(ref estimate, face) in self.postponed.iter() {
            if L::load(estimate).mask_at_most(self.threshold) == 0 {
                continue;
            }
            let (leaf, lane) = bvh.place_of(face);
            let height_squared = leaf.lane_height_squared::<L, Same>(lane, self.points);
            let in_plane = leaf.lane_plane_distance_squared::<L, Same>(lane, self.points);
            least = least.min(height_squared.add(in_plane));
        }
        let distances = least.sqrt();
        (distances.mask_at_most(L::splat(limit)) == 0).then(|| distances.store())
    }

    /// Measures in `f64` the candidates that are within rounding of the nearest.
    #[inline(always)]
    fn decide(self, bvh: &Bvh, points: &[DVec3; LANES]) -> [Nearest; LANES] {
        let mut best = [Best::new(DVec3::ZERO); LANES];
        for (best, &point) in best.iter_mut().zip(points) {
            *best = Best::new(point);
        }
        // The nearest vertex, once no face around it can be nearer.
        let mut settled = [fans::NONE; LANES];
        for &(ref estimate, face) in self.postponed.iter() {
            let corners = bvh.fans.corners[face as usize];
            for lane in set_lanes(L::load(estimate).mask_at_most(self.threshold)) {
                let (best, settled) = (&mut best[lane], &mut settled[lane]);
                if corners.contains(settled) {
                    continue;
                }
                if best.measure(&bvh.triangles, face) {
                    *settled = bvh.fans.settle::<L>(best.point, &mut best.nearest);
                }
            }
        }
        let mut nearest = [best[0].nearest; LANES];
        for (nearest, best) in nearest.iter_mut().zip(&best) {
            *nearest = best.nearest;
        }
        nearest
    }
}
