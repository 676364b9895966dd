//! Bounding volume hierarchy (BVH) over triangles: exact nearest-point queries on a mesh.
//!
//! Input: a mesh whose faces are valid ([`TriangleMesh::first_invalid_face`] is `None`).
//! Output: for any point the nearest face, feature and distance. The result equals that of testing
//! every triangle in `f64`, because `f32` only *rejects*, with a proven margin, and `f64` decides.
//! Cost: about a dozen node tests per query, eight boxes or eight triangles at a time; ~300 bytes
//! per triangle.
//! Not for: rays (see [`crate::mesh::Parity`]), or meshes that change.
//!
//! Two things make it fast. First, a node bounds its children by oriented boxes: a patch of surface
//! is flat, so such a box is thin. Far from the surface, where the axis-aligned boxes of a whole
//! cap would overlap the search sphere, thin boxes do not. Second, a block of grid nodes collects
//! its candidates once (`Bvh::gather`), with a bound on how fast two distances can drift apart that
//! is far below Lipschitz's 2.

mod answer;
mod block;
mod build;
mod fans;
mod flat;
mod nearest;
pub(crate) mod node;
mod way;

pub use answer::Nearest;
pub(crate) use block::{Among, Candidates};
pub use flat::{FlatBox, FlatBvh};

use crate::mesh::bvh::node::BoundsLane;
use crate::mesh::bvh::node::Leaf;
use crate::mesh::bvh::node::NO_CHILD;
use crate::mesh::bvh::node::Node;
use glam::{DVec3, Vec3};

use self::fans::Fans;
use super::TriangleMesh;
use crate::geom::lanes::LANES;
use crate::geom::{DAabb, Triangle};
use crate::threads;

/// Bounding volume hierarchy over the faces of one mesh.
pub struct Bvh {
    triangles: Vec<Triangle>,
    nodes: Vec<Node>,
    leaves: Vec<Leaf>,
    /// Leaf of each face.
    leaf_of: Vec<u32>,
    fans: Fans,
    /// Origin of the local coordinates, in which the mesh fills the unit ball:
    /// `local = (p − center) · scale`.
    center: DVec3,
    /// Scale of the local coordinates, a power of two so that scaling is exact \[1/m\].
    scale: f64,
}

impl Bvh {
    /// Builds the hierarchy. Panics when a face is invalid: check
    /// [`TriangleMesh::first_invalid_face`] first.
    pub fn build(mesh: &TriangleMesh) -> Bvh {
        Bvh::build_in(mesh, mesh.bounds())
    }

    /// Builds the hierarchy with local coordinates fixed by `bounds`, which holds the mesh up to
    /// rounding. As long as the box is the same, unchanged faces get the same bits, even if other
    /// faces change.
    pub(crate) fn build_in(mesh: &TriangleMesh, bounds: DAabb) -> Bvh {
        let center = if bounds.is_empty() {
            DVec3::ZERO
        } else {
            bounds.center()
        };
        // The power of two that maps the box into the unit ball, with a margin for points that
        // rounding leaves outside. The side lengths are divided by the largest first, because their
        // squares could overflow.
        let half = bounds.half_extents();
        let largest = half.max_element();
        let radius = (1.0 + 1e-5) * largest * (half / largest).length();
        let scale = if largest.is_normal() && radius.is_finite() && largest > 0.0 {
            (-radius.log2().ceil()).exp2()
        } else {
            1.0
        };
        let triangles: Vec<Triangle> = mesh.triangles().collect();
        let local = triangles.iter().map(|t| {
            t.corners()
                .map(|corner| ((corner - center) * scale).as_vec3())
        });
        let local = local.collect();
        let ((nodes, leaves, leaf_of), fans) =
            threads::both(|| build::build(local), || Fans::of(mesh));
        Bvh {
            triangles,
            nodes,
            leaves,
            leaf_of,
            fans,
            center,
            scale,
        }
    }

    /// Returns the triangles in the order of the mesh's faces.
    pub fn triangles(&self) -> &[Triangle] {
        &self.triangles
    }

    /// Returns the point of one face nearest to a point.
    pub(crate) fn measured(&self, face: u32, point: DVec3) -> Nearest {
        let closest = self.triangles[face as usize].closest_point(point);
        Nearest {
            distance_squared: closest.point.distance_squared(point),
            face,
            closest,
        }
    }

    pub(super) fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Returns [`NO_CHILD`], a node, or a leaf with [`LEAF_FLAG`](node::LEAF_FLAG) set.
    pub(super) fn child(&self, node: usize, lane: usize) -> u32 {
        self.nodes[node].children[lane]
    }

    /// Returns the children of a node with their bounds, empty lanes left out.
    pub(super) fn children(&self, node: usize) -> impl Iterator<Item = (u32, BoundsLane)> + '_ {
        let node = &self.nodes[node];
        (0..LANES)
            .filter(|&lane| node.children[lane] != NO_CHILD)
            .map(|lane| (node.children[lane], node.bounds.lane(lane)))
    }

    pub(super) fn leaf_count(&self) -> usize {
        self.leaves.len()
    }

    pub(super) fn leaf_faces(&self, leaf: u32) -> impl Iterator<Item = u32> + '_ {
        let faces = self.leaves[leaf as usize].faces.iter().copied();
        faces.take_while(|&face| face != NO_CHILD)
    }

    /// Returns all faces in leaf order, so that faces near each other in space are near each other
    /// in the list.
    pub(crate) fn face_order(&self) -> Vec<u32> {
        (0..self.leaves.len() as u32)
            .flat_map(|leaf| self.leaf_faces(leaf))
            .collect()
    }

    /// Converts a point to the local coordinates of [`BoundsLane`].
    #[inline(always)]
    pub(super) fn to_local(&self, point: DVec3) -> Vec3 {
        ((point - self.center) * self.scale).as_vec3()
    }
}
