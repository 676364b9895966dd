//! The nearest triangles of many points that lie close together: candidates once for a ball, then eight points at a time.

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

/// The leaves that can matter to the points of one ball. Reused from ball to ball.
#[derive(Default)]
pub(crate) struct Candidates {
    groups: Vec<Group>,
    /// As node and lane.
    found: Vec<(u32, u32)>,
    /// Triangles that may be nearest to some of the eight points, with their `f32` distance² to each.
    postponed: Vec<(Stored, u32)>,
}

/// What is found for eight points.
#[expect(
    clippy::large_enum_variant,
    reason = "it is looked at where it was made and goes nowhere"
)]
pub(crate) enum Among {
    /// The nearest point of the mesh for each.
    Near([Nearest; LANES]),
    /// Distances from the mesh, off by at most [`Bvh::far_error`] \[m\].
    Far([f64; LANES]),
}

/// [`LANES`] leaves with their bounds.
struct Group {
    bounds: Bounds,
    leaves: [u32; LANES],
    /// Lower bounds of their distances² to the middle of the eight points at hand.
    lower_squared: Stored,
}

impl Bvh {
    /// Collects every leaf that can hold the nearest triangle of some point within `radius` of `center`, given the
    /// nearest triangle of `center` itself.
    ///
    /// A box B at distance l from the centre loses to the nearest triangle T at distance t everywhere in the ball
    /// if l − t exceeds what the two distances can gain on each other on the way: radius · |u_B − u_T|, with the unit
    /// directions to the nearest points. |u_B − u_T| is at most 2, and at most 2 D / (l + t − 2 radius) with D the
    /// largest distance between a point of B and one of T: far away, where both lie in nearly the same direction,
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

    /// The leaves that [`Self::gather`] finds, as node and lane.
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

    /// Adds every face that can be nearest to some point within `radius` of `center`, and others beside them; `false` when they are more than
    /// `most`, or not all can be told. `hint` is a face, best one that is near.
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

    /// The nearest points of the mesh to eight points, all in the ball that `candidates` were gathered for and best close to
    /// each other; or only how far it is, if that is more than `far` for all of them.
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
        // The leaf that looks nearest first: what it holds rules out most others.
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
        let hint = self.leaf_of[hint as usize];
        packet.challenge(&self.leaves[hint as usize]);
        let first = first.1;
        if first != hint && first != NO_CHILD {
            packet.challenge(&self.leaves[first as usize]);
        }
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
        match packet.far(self, far * self.scale) {
            Some(local) => Among::Far(local.0.map(|distance| f64::from(distance) / self.scale)),
            None => Among::Near(packet.decide(self, points)),
        }
    }

    /// How much the distances of [`Among::Far`] can be off, for points within `radius` of the middle of the mesh \[m\].
    pub(crate) fn far_error(&self, radius: f64) -> f64 {
        4.0 * f64::from(ROUNDING) * (1.0 / self.scale + radius)
    }

    #[inline(always)]
    fn rival<L: Lanes>(&self, nearest: &Nearest) -> Rival<L> {
        let (leaf, lane) = self.place_of(nearest.face);
        let distance = (nearest.distance_squared.sqrt() * self.scale) as f32;
        Rival::new(leaf.ball(lane), distance)
    }

    /// The leaf of a face, and its lane there.
    #[inline(always)]
    fn place_of(&self, face: u32) -> (&Leaf, usize) {
        let leaf = &self.leaves[self.leaf_of[face as usize] as usize];
        let lane = leaf.faces.iter().position(|&other| other == face);
        (leaf, lane.unwrap_or(0))
    }
}

/// [`Bvh::gather_leaves`] with the instructions that the CPU has.
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

/// A triangle that others have to beat, by a ball around it. Local units.
#[derive(Clone, Copy)]
struct Rival<L> {
    center: [L; 3],
    radius: f32,
    /// From the centre of the points to this triangle.
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

/// A ball of points and a triangle near it. Local units.
struct Ball<L> {
    center: [L; 3],
    radius: f32,
    rival: Rival<L>,
    margin: f32,
}

impl<L: Lanes> Ball<L> {
    /// Which children can hold the nearest triangle of some point of the ball.
    #[inline(always)]
    fn matters(&self, bounds: &Bounds) -> u32 {
        let lower = bounds.distance_squared(self.center).sqrt();
        if self.is_near(lower) == 0 {
            return 0;
        }
        self.can_win(lower, bounds.farthest_squared(self.rival.center).sqrt())
    }

    /// Which things are near enough to win if they could gain on the rival at full speed: a cheap first look.
    #[inline(always)]
    fn is_near(&self, lower: L) -> u32 {
        lower.mask_at_most(L::splat(self.reach()))
    }

    /// How near a thing must be for that.
    #[inline(always)]
    fn reach(&self) -> f32 {
        self.rival.distance + 2.0 * self.margin + 2.0 * self.radius * (1.0 + 8.0 * ROUNDING)
    }

    /// Which things can be nearer than the rival somewhere in the ball, given their distances from its centre, or less, and the
    /// farthest distances of any part of them from the rival's centre, or more. See [`Bvh::gather`].
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

/// The search state of eight points, one a lane.
struct Packet<'a, L> {
    points: [L; 3],
    /// From the middle to each of them.
    ways: Stored3,
    /// Around the points.
    ball: Ball<L>,
    /// Distance² above which nothing can be nearer than what was seen.
    threshold: L,
    /// Twice the rounding margin of any of the points, local units.
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

    /// Takes the triangle of `leaf` that is nearest to the middle of the points as the one to beat, if it beats the last, and measures
    /// the leaf.
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
            // What it measures makes the others easy to leave out.
            self.measure_lane(leaf, best);
            self.measure(leaf, &off, !(1 << best));
        } else {
            self.measure(leaf, &off, u32::MAX);
        }
    }

    /// Whether one leaf is near enough to some of the points.
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

    /// [`Self::visit_leaf`], of some `lanes` only, given how the middle of the points is off the triangles.
    #[inline(always)]
    fn measure(&mut self, leaf: &Leaf, off: &Off<L>, lanes: u32) {
        for lane in set_lanes(self.may_win(off) & lanes) {
            self.measure_lane(leaf, lane);
        }
    }

    /// Which triangles may be nearest to some of the points.
    ///
    /// Distance d to a triangle is convex, so it is no less than its tangent at the centre c: d(c + v) ≥ d + w·v / d, with w the way to c from the nearest point; or
    /// d² + 2 w·v + (w·v)² / d² when squared, the last term left out where d is below the radius r of the points. With w off by e and d by as much, that is off by less
    /// than 2 d e + e² + 6 r e.
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

    /// The distances as they are known in `f32`, if all are more than `limit`. Local units. They are kept, so that the least is looked
    /// for once more, among what may be it, with the same bits on every CPU.
    #[inline(always)]
    fn far(&self, bvh: &Bvh, limit: f64) -> Option<Stored> {
        if !limit.is_finite() {
            return None;
        }
        let limit = limit as f32;
        // The threshold is that much above the smallest distance that was measured.
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

    /// Measures in `f64` what is within rounding of the nearest.
    #[inline(always)]
    fn decide(self, bvh: &Bvh, points: &[DVec3; LANES]) -> [Nearest; LANES] {
        let mut best = [Best::new(DVec3::ZERO); LANES];
        for (best, &point) in best.iter_mut().zip(points) {
            *best = Best::new(point);
        }
        // The vertex that is nearest, where all faces around it are known to be no nearer.
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
