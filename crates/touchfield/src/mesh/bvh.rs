//! Bounding volume hierarchy over triangles: the nearest point of a mesh, exactly and fast.
//!
//! Input: a mesh whose faces are valid ([`TriangleMesh::first_invalid_face`] is `None`).
//! Output: for any point the nearest face, feature and distance: bit for bit what testing every triangle in
//! `f64` gives, because `f32` only *rejects*, with a proven margin, and `f64` decides.
//! Cost: about a dozen node tests a query, eight boxes or eight triangles at a time; ~120 bytes a triangle.
//! Not for: rays (see [`crate::mesh::Parity`]), or meshes that change.
//!
//! Two things make it fast. A node carries, beside its box, a *slab* along its mean normal: surface patches are
//! flat, so the slab is thinner than the box by an order of magnitude, and far from the surface, where boxes of a
//! whole cap overlap the search sphere, it is what prunes. And a block of grid nodes can collect its candidates
//! once ([`Bvh::gather`]), with a bound on how fast two distances can drift apart that is far below Lipschitz's 2.

use glam::{DVec3, Vec3};

use super::TriangleMesh;
use super::bvh_build;
use crate::geom::lanes::{
    self, Aligned, LANES, Lanes, Stored, Stored3, Work, cross3, dot3, load3, set_lanes, splat3,
    sub3,
};
use crate::geom::{ClosestPoint, Feature, Triangle};

/// Upper bound of every rounding error of an `f32` distance, as a share of `1 + |p|`, with the mesh scaled into
/// the unit ball: coordinates, unit vectors and offsets are each off by half an ulp (6e-8), and no chain below
/// adds up more than a dozen of them.
const ROUNDING: f32 = 2e-6;

/// A child index with this bit set is a leaf.
pub(super) const LEAF_FLAG: u32 = 1 << 31;
/// Of a lane without a child; its bounds are never near.
pub(super) const NO_CHILD: u32 = u32::MAX;
/// Entries of a traversal stack: each level adds at most [`LANES`] − 1, and [`bvh_build`] keeps below that depth.
const STACK: usize = (LANES - 1) * bvh_build::MAX_DEPTH + LANES;

/// A hierarchy over the faces of one mesh.
pub struct Bvh {
    triangles: Vec<Triangle>,
    nodes: Vec<Node>,
    leaves: Vec<Leaf>,
    /// The leaf of each face.
    leaf_of: Vec<u32>,
    /// Local coordinates, in which the mesh fills the unit ball: `local = (p − center) · scale`.
    center: DVec3,
    /// A power of two, so that scaling is exact \[1/m\].
    scale: f64,
}

/// The nearest point of a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// Square of the distance \[m²\].
    pub distance_squared: f64,
    /// The face it lies on.
    pub face: u32,
    /// Where, and on which feature of that face.
    pub closest: ClosestPoint,
}

/// Bounds of [`LANES`] children: boxes along their own axes, in local coordinates.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// Unit and orthogonal; the last is the mean normal.
    axes: [Stored3; 3],
    /// Of the centre, along each axis.
    offset: Stored3,
    /// Half the sides, along each axis.
    half: Stored3,
}

pub(super) struct Node {
    pub(super) bounds: Bounds,
    pub(super) children: [u32; LANES],
}

/// [`LANES`] triangles in local coordinates.
pub(super) struct Leaf {
    pub(super) corners: [Stored3; 3],
    pub(super) normal: Stored3,
    /// 1 / |edge|², 0 for an edge without length.
    pub(super) inverse_length_squared: Stored3,
    pub(super) faces: [u32; LANES],
}

/// The leaves that matter to one block of grid nodes, see [`Bvh::gather`]. Reused from block to block.
#[derive(Default)]
pub struct Candidates {
    groups: Vec<Group>,
    /// Distance² from the ball's centre as bits (their order is that of the numbers), node and lane.
    found: Vec<(u32, u32, u32)>,
}

/// [`LANES`] leaves with their bounds.
struct Group {
    bounds: Bounds,
    leaves: [u32; LANES],
    /// Lower bound of the distance from the ball's centre to any of these leaves and all that follow, local units.
    from_center: f32,
}

/// One lane of [`Bounds`].
#[derive(Clone, Copy)]
pub(super) struct BoundsLane {
    pub(super) axes: [Vec3; 3],
    pub(super) offset: Vec3,
    pub(super) half: Vec3,
}

/// How many triangles a search keeps for the `f64` decision before it takes one in between.
const POSTPONED: usize = 32;

/// The search state of one point.
struct Search<'a> {
    triangles: &'a [Triangle],
    point: DVec3,
    local: Vec3,
    best: Nearest,
    /// `f32` distance² above which nothing can be nearer than what was seen.
    threshold: f32,
    /// Twice the rounding margin at this point, local units.
    margin: f32,
    scale: f64,
    /// Triangles that may be the nearest, with their `f32` distance²; `f64` decides at the end.
    postponed: [(f32, u32); POSTPONED],
    count: usize,
}

impl Search<'_> {
    #[inline(always)]
    fn tighten(&mut self, distance: f32) {
        let reach = distance + self.margin;
        self.threshold = (reach * reach * (1.0 + ROUNDING)).min(self.threshold);
    }

    #[inline(always)]
    fn postpone(&mut self, estimate: f32, face: u32) {
        if self.count == POSTPONED {
            self.decide();
        }
        self.postponed[self.count] = (estimate, face);
        self.count += 1;
    }

    /// Measures all postponed triangles that can still be nearest.
    #[inline(always)]
    fn decide(&mut self) {
        for i in 0..self.count {
            let (estimate, face) = self.postponed[i];
            if estimate <= self.threshold {
                self.measure(face);
            }
        }
        self.count = 0;
    }

    /// The corner of `triangle` that is the best point so far, if it is also the triangle's own nearest point.
    ///
    /// Outside a convex part the nearest point is mostly a vertex, and all the faces around it tie.
    #[inline(always)]
    fn same_corner(&self, triangle: &Triangle) -> Option<u8> {
        let Feature::Vertex(_) = self.best.closest.feature else {
            return None;
        };
        let vertex = self.best.closest.point;
        let Triangle { a, b, c } = *triangle;
        let (corner, next, last) = if a == vertex {
            (0, b, c)
        } else if b == vertex {
            (1, c, a)
        } else if c == vertex {
            (2, a, b)
        } else {
            return None;
        };
        let off = self.point - vertex;
        (off.dot(next - vertex) <= 0.0 && off.dot(last - vertex) <= 0.0).then_some(corner)
    }

    #[inline(always)]
    fn measure(&mut self, face: u32) {
        let triangle = &self.triangles[face as usize];
        if let Some(corner) = self.same_corner(triangle) {
            if face < self.best.face {
                self.best.face = face;
                self.best.closest.feature = Feature::Vertex(corner);
            }
            return;
        }
        let closest = triangle.closest_point(self.point);
        let distance_squared = closest.point.distance_squared(self.point);
        // Equal distances go to the smaller face index, so that the answer does not depend on the visiting order.
        let nearer = distance_squared < self.best.distance_squared
            || (distance_squared == self.best.distance_squared && face < self.best.face);
        if nearer {
            self.best = Nearest {
                distance_squared,
                face,
                closest,
            };
            self.tighten((distance_squared.sqrt() * self.scale) as f32);
        }
    }
}

impl Bvh {
    /// Builds the hierarchy. Panics when a face is invalid: check [`TriangleMesh::first_invalid_face`] first.
    pub fn build(mesh: &TriangleMesh) -> Bvh {
        let bounds = mesh.bounds();
        let center = if bounds.is_empty() {
            DVec3::ZERO
        } else {
            bounds.center()
        };
        let radius = bounds.half_extents().length();
        let scale = if radius.is_normal() && radius > 0.0 {
            (-radius.log2().ceil()).exp2()
        } else {
            1.0
        };
        let triangles: Vec<Triangle> = mesh.triangles().collect();
        let local = triangles.iter().map(|t| {
            t.corners()
                .map(|corner| ((corner - center) * scale).as_vec3())
        });
        let (nodes, leaves, leaf_of) = bvh_build::build(local.collect());
        Bvh {
            triangles,
            nodes,
            leaves,
            leaf_of,
            center,
            scale,
        }
    }

    /// Triangles in the order of the mesh's faces.
    pub fn triangles(&self) -> &[Triangle] {
        &self.triangles
    }

    pub(super) fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// [`NO_CHILD`], a node, or with [`LEAF_FLAG`] a leaf.
    pub(super) fn child(&self, node: usize, lane: usize) -> u32 {
        self.nodes[node].children[lane]
    }

    /// The children that a node has, with their bounds.
    pub(super) fn children(&self, node: usize) -> impl Iterator<Item = (u32, BoundsLane)> + '_ {
        let node = &self.nodes[node];
        (0..LANES)
            .filter(|&lane| node.children[lane] != NO_CHILD)
            .map(|lane| (node.children[lane], node.bounds.lane(lane)))
    }

    pub(super) fn leaf_faces(&self, leaf: u32) -> impl Iterator<Item = u32> + '_ {
        let faces = self.leaves[leaf as usize].faces.iter().copied();
        faces.take_while(|&face| face != NO_CHILD)
    }

    /// In the coordinates of [`BoundsLane`].
    pub(super) fn to_local(&self, point: DVec3) -> Vec3 {
        ((point - self.center) * self.scale).as_vec3()
    }

    /// Bytes taken.
    pub fn bytes(&self) -> usize {
        self.triangles.len() * size_of::<Triangle>()
            + self.nodes.len() * size_of::<Node>()
            + self.leaves.len() * size_of::<Leaf>()
            + self.leaf_of.len() * size_of::<u32>()
    }

    /// The nearest point of the mesh; `None` when it has no faces. `hint` is any face, best one that is near.
    pub fn nearest(&self, point: DVec3, hint: u32) -> Option<Nearest> {
        if self.triangles.is_empty() {
            return None;
        }
        Some(lanes::run(NearestWork {
            bvh: self,
            point,
            hint,
        }))
    }

    /// [`Self::nearest`] inside a [`Work`]; the mesh has faces.
    #[inline(always)]
    pub(crate) fn nearest_here<L: Lanes>(&self, point: DVec3, hint: u32) -> Nearest {
        let mut search = self.search(point);
        let hint = (hint as usize).min(self.leaf_of.len() - 1);
        self.descend::<L>(self.leaf_of[hint], &mut search);
        search.decide();
        search.best
    }

    #[inline(always)]
    fn search(&self, point: DVec3) -> Search<'_> {
        let local = ((point - self.center) * self.scale).as_vec3();
        Search {
            triangles: &self.triangles,
            point,
            local,
            best: Nearest {
                distance_squared: f64::INFINITY,
                face: u32::MAX,
                closest: ClosestPoint {
                    point: DVec3::ZERO,
                    feature: Feature::Face,
                },
            },
            threshold: f32::INFINITY,
            margin: 2.0 * ROUNDING * (1.0 + local.length()),
            scale: self.scale,
            postponed: [(0.0, 0); POSTPONED],
            count: 0,
        }
    }

    /// Depth first, nearest child first.
    #[inline(always)]
    fn descend<L: Lanes>(&self, first: u32, search: &mut Search) {
        let point = splat3::<L>(search.local);
        self.visit_leaf(first, point, search);
        let mut stack = [(0.0f32, 0u32); STACK];
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let (lower, child) = stack[top];
            if lower > search.threshold {
                continue;
            }
            if child & LEAF_FLAG != 0 {
                if child & !LEAF_FLAG != first {
                    self.visit_leaf(child & !LEAF_FLAG, point, search);
                }
                continue;
            }
            let node = &self.nodes[child as usize];
            let lower = node.bounds.distance_squared(point);
            let mask = lower.mask_at_most(L::splat(search.threshold));
            let lower = lower.store();
            let base = top;
            for lane in set_lanes(mask) {
                // Insertion keeps the new entries sorted, the nearest on top.
                let entry = (lower.0[lane], node.children[lane]);
                let mut slot = top;
                while slot > base && stack[slot - 1].0 < entry.0 {
                    stack[slot] = stack[slot - 1];
                    slot -= 1;
                }
                stack[slot] = entry;
                top += 1;
            }
        }
    }

    #[inline(always)]
    fn visit_leaf<L: Lanes>(&self, leaf: u32, point: [L; 3], search: &mut Search) {
        let leaf = &self.leaves[leaf as usize];
        let estimate = leaf.distance_squared(point);
        let mask = estimate.mask_at_most(L::splat(search.threshold));
        if mask == 0 {
            return;
        }
        let estimate = estimate.store();
        for lane in set_lanes(mask) {
            let (estimate, face) = (estimate.0[lane], leaf.faces[lane]);
            if estimate <= search.threshold {
                search.tighten(estimate.sqrt());
                search.postpone(estimate, face);
            }
        }
    }

    /// Collects every leaf that can hold the nearest triangle of some point within `radius` of `center`, given the
    /// nearest triangle of `center` itself.
    ///
    /// A leaf L at distance l from the centre loses to the nearest triangle T at distance t everywhere in the ball
    /// if l − t exceeds what the two distances can gain on each other on the way: radius · |u_L − u_T|, with the unit
    /// directions to the nearest points. |u_L − u_T| is at most 2, and at most 2 D / (l + t − 2 radius) with D the
    /// largest distance between a point of L and one of T: far away, where both lie in nearly the same direction,
    /// that is small, and the candidates are a patch the size of the ball, however far it is.
    #[inline(always)]
    pub(crate) fn gather<L: Lanes>(
        &self,
        center: DVec3,
        radius: f64,
        nearest: &Nearest,
        out: &mut Candidates,
    ) {
        out.found.clear();
        let local = ((center - self.center) * self.scale).as_vec3();
        let margin = ROUNDING * (1.0 + local.length());
        let query = GatherQuery::<L> {
            point: splat3(local),
            radius: (radius * self.scale) as f32 + margin,
            distance: (nearest.distance_squared.sqrt() * self.scale) as f32,
            rival: {
                let Triangle { a, b, c } = self.triangles[nearest.face as usize];
                let middle = (a + b + c) / 3.0;
                let reach = (a.distance(middle))
                    .max(b.distance(middle))
                    .max(c.distance(middle));
                let middle = ((middle - self.center) * self.scale).as_vec3();
                (splat3(middle), (reach * self.scale) as f32 + margin)
            },
            margin,
        };
        let mut stack = [0u32; STACK];
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let index = stack[top];
            let node = &self.nodes[index as usize];
            let (mask, lower) = query.matters(&node.bounds);
            for lane in set_lanes(mask) {
                let child = node.children[lane];
                if child & LEAF_FLAG != 0 {
                    out.found
                        .push((lower.0[lane].to_bits(), index, lane as u32));
                } else {
                    stack[top] = child;
                    top += 1;
                }
            }
        }
        self.pack(out);
    }

    /// Nearest first, [`LANES`] to a group.
    #[inline(always)]
    fn pack(&self, out: &mut Candidates) {
        out.found.sort_unstable();
        out.groups.clear();
        for chunk in out.found.chunks(LANES) {
            let mut group = Group {
                bounds: Bounds::NOWHERE,
                leaves: [NO_CHILD; LANES],
                from_center: f32::from_bits(chunk[0].0).sqrt(),
            };
            for (lane, &(_, node, from)) in chunk.iter().enumerate() {
                let node = &self.nodes[node as usize];
                group.bounds.copy_lane(lane, &node.bounds, from as usize);
                group.leaves[lane] = node.children[from as usize] & !LEAF_FLAG;
            }
            out.groups.push(group);
        }
    }

    /// The nearest point of the mesh to `point`, which lies in the ball that `candidates` were gathered for, at
    /// `from_center` \[m\] from its middle.
    #[inline(always)]
    pub(crate) fn nearest_among<L: Lanes>(
        &self,
        candidates: &Candidates,
        point: DVec3,
        from_center: f64,
        hint: u32,
    ) -> Nearest {
        let mut search = self.search(point);
        let point = splat3::<L>(search.local);
        let first = self.leaf_of[hint as usize];
        self.visit_leaf(first, point, &mut search);
        let from_center = (from_center * self.scale) as f32 + search.margin;
        for group in &candidates.groups {
            let nearest_possible = (group.from_center - from_center).max(0.0);
            if nearest_possible * nearest_possible > search.threshold {
                break;
            }
            let lower = group.bounds.distance_squared(point);
            let mask = lower.mask_at_most(L::splat(search.threshold));
            if mask == 0 {
                continue;
            }
            let lower = lower.store();
            for lane in set_lanes(mask) {
                if lower.0[lane] <= search.threshold && group.leaves[lane] != first {
                    self.visit_leaf(group.leaves[lane], point, &mut search);
                }
            }
        }
        search.decide();
        search.best
    }
}

/// See [`Bvh::gather`]. Local units.
struct GatherQuery<L> {
    point: [L; 3],
    radius: f32,
    /// To the nearest triangle.
    distance: f32,
    /// A ball around the nearest triangle.
    rival: ([L; 3], f32),
    margin: f32,
}

impl<L: Lanes> GatherQuery<L> {
    /// Which children can hold the nearest triangle of some point of the ball, and their distance² to its centre.
    #[inline(always)]
    fn matters(&self, bounds: &Bounds) -> (u32, Stored) {
        let lower_squared = bounds.distance_squared(self.point);
        let widest = self.distance + 2.0 * self.radius + self.margin;
        let mut mask = lower_squared.mask_at_most(L::splat(widest * widest * (1.0 + ROUNDING)));
        let lower_squared = lower_squared.store();
        if mask == 0 {
            return (0, lower_squared);
        }
        let spread_squared = bounds.farthest_squared(self.rival.0).store();
        for lane in set_lanes(mask) {
            let lower = lower_squared.0[lane].sqrt();
            let spread = spread_squared.0[lane].sqrt() + self.rival.1;
            let sum = lower + self.distance - 2.0 * self.radius - self.margin;
            let drift = if spread < sum {
                2.0 * spread / sum
            } else {
                2.0
            };
            let excess = lower - self.distance - self.margin;
            if excess > self.radius * drift * (1.0 + 8.0 * ROUNDING) {
                mask &= !(1 << lane);
            }
        }
        (mask, lower_squared)
    }
}

impl Bounds {
    /// Farther than any threshold, so that an empty lane is never visited.
    pub(super) const NOWHERE: Bounds = {
        let zero = Aligned([0.0; LANES]);
        let never = Aligned([f32::NEG_INFINITY; LANES]);
        Bounds {
            axes: [[zero; 3]; 3],
            offset: [zero; 3],
            half: [never; 3],
        }
    };

    /// Lower bound of the distance² to whatever lies in each child.
    #[inline(always)]
    fn distance_squared<L: Lanes>(&self, point: [L; 3]) -> L {
        let zero = L::splat(0.0);
        let mut sum = zero;
        for axis in 0..3 {
            let off = dot3(load3(&self.axes[axis]), point).sub(L::load(&self.offset[axis]));
            let outside = off.abs().sub(L::load(&self.half[axis])).max(zero);
            sum = sum.add(outside.mul(outside));
        }
        sum
    }

    /// Upper bound of the distance² to whatever lies in each child.
    #[inline(always)]
    fn farthest_squared<L: Lanes>(&self, point: [L; 3]) -> L {
        let mut sum = L::splat(0.0);
        for axis in 0..3 {
            let off = dot3(load3(&self.axes[axis]), point).sub(L::load(&self.offset[axis]));
            let farthest = off.abs().add(L::load(&self.half[axis]));
            sum = sum.add(farthest.mul(farthest));
        }
        sum
    }

    fn lane(&self, i: usize) -> BoundsLane {
        let at = |v: &Stored3| Vec3::new(v[0].0[i], v[1].0[i], v[2].0[i]);
        BoundsLane {
            axes: [at(&self.axes[0]), at(&self.axes[1]), at(&self.axes[2])],
            offset: at(&self.offset),
            half: at(&self.half),
        }
    }

    #[inline(always)]
    fn copy_lane(&mut self, lane: usize, other: &Bounds, from: usize) {
        for i in 0..3 {
            for j in 0..3 {
                self.axes[i][j].0[lane] = other.axes[i][j].0[from];
            }
            self.offset[i].0[lane] = other.offset[i].0[from];
            self.half[i].0[lane] = other.half[i].0[from];
        }
    }

    #[inline(always)]
    pub(super) fn set_lane(&mut self, i: usize, lane: BoundsLane) {
        let put = |v: &mut Stored3, value: Vec3| {
            v[0].0[i] = value.x;
            v[1].0[i] = value.y;
            v[2].0[i] = value.z;
        };
        put(&mut self.axes[0], lane.axes[0]);
        put(&mut self.axes[1], lane.axes[1]);
        put(&mut self.axes[2], lane.axes[2]);
        put(&mut self.offset, lane.offset);
        put(&mut self.half, lane.half);
    }
}

impl Leaf {
    /// Distance² to each triangle, within [`ROUNDING`] of the truth.
    ///
    /// The foot of the perpendicular is inside when it lies inward of all three edges; else the nearest edge counts.
    #[inline(always)]
    fn distance_squared<L: Lanes>(&self, point: [L; 3]) -> L {
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let mut inside = L::splat(f32::INFINITY);
        let mut nearest_edge = L::splat(f32::INFINITY);
        let corners = [
            load3(&self.corners[0]),
            load3(&self.corners[1]),
            load3(&self.corners[2]),
        ];
        let normal = load3(&self.normal);
        let height = dot3(normal, sub3(point, corners[0]));
        for i in 0..3 {
            let from_start = sub3(point, corners[i]);
            let along = sub3(corners[(i + 1) % 3], corners[i]);
            inside = inside.min(dot3(cross3(normal, along), from_start));
            let share = dot3(along, from_start).mul(L::load(&self.inverse_length_squared[i]));
            let share = share.max(zero).min(one);
            let off = sub3(
                from_start,
                [
                    along[0].mul(share),
                    along[1].mul(share),
                    along[2].mul(share),
                ],
            );
            nearest_edge = nearest_edge.min(dot3(off, off));
        }
        inside.select_positive(height.mul(height), nearest_edge)
    }
}

/// [`Bvh::nearest`] as a piece of work.
struct NearestWork<'a> {
    bvh: &'a Bvh,
    point: DVec3,
    hint: u32,
}

impl Work for NearestWork<'_> {
    type Output = Nearest;

    #[inline(always)]
    fn run<L: Lanes>(self) -> Nearest {
        self.bvh.nearest_here::<L>(self.point, self.hint)
    }
}
