//! Bounding volume hierarchy over triangles: the nearest point of a mesh, exactly and fast.
//!
//! Input: a mesh whose faces are valid ([`TriangleMesh::first_invalid_face`] is `None`).
//! Output: for any point the nearest face, feature and distance: what testing every triangle in `f64` gives,
//! because `f32` only *rejects*, with a proven margin, and `f64` decides.
//! Cost: about a dozen node tests a query, eight boxes or eight triangles at a time; ~300 bytes a triangle.
//! Not for: rays (see [`crate::mesh::Parity`]), or meshes that change.
//!
//! Two things make it fast. A node bounds its children by boxes along their own axes: a patch of surface is flat, so such
//! a box is thin, and far from the surface, where axis-aligned boxes of a whole cap would overlap the search sphere, thin
//! ones do not. And a block of grid nodes collects its candidates once (`Bvh::gather`), with a bound on how fast two
//! distances can drift apart that is far below Lipschitz's 2.

mod answer;
mod block;
mod build;
mod fans;
mod nearest;
pub(crate) mod node;
mod way;

pub use answer::Nearest;
pub(crate) use block::{Among, Candidates};

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

/// A hierarchy over the faces of one mesh.
pub struct Bvh {
    triangles: Vec<Triangle>,
    nodes: Vec<Node>,
    leaves: Vec<Leaf>,
    /// The leaf of each face.
    leaf_of: Vec<u32>,
    fans: Fans,
    /// Local coordinates, in which the mesh fills the unit ball: `local = (p − center) · scale`.
    center: DVec3,
    /// A power of two, so that scaling is exact \[1/m\].
    scale: f64,
}

impl Bvh {
    /// Builds the hierarchy. Panics when a face is invalid: check [`TriangleMesh::first_invalid_face`] first.
    pub fn build(mesh: &TriangleMesh) -> Bvh {
        Bvh::build_in(mesh, mesh.bounds())
    }

    /// [`Self::build`] of a mesh within a box, rounding aside, that `f32` is to be exact for: faces that stay where they are have the same bits while the box does, whatever
    /// becomes of the others.
    pub(crate) fn build_in(mesh: &TriangleMesh, bounds: DAabb) -> Bvh {
        let center = if bounds.is_empty() {
            DVec3::ZERO
        } else {
            bounds.center()
        };
        // The power of two that takes the box into the unit ball, with room for what rounding leaves outside of it. Squares of large sides would overflow.
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

    pub(super) fn leaf_count(&self) -> usize {
        self.leaves.len()
    }

    pub(super) fn leaf_faces(&self, leaf: u32) -> impl Iterator<Item = u32> + '_ {
        let faces = self.leaves[leaf as usize].faces.iter().copied();
        faces.take_while(|&face| face != NO_CHILD)
    }

    /// All faces, neighbours in space near each other.
    pub(crate) fn face_order(&self) -> Vec<u32> {
        (0..self.leaves.len() as u32)
            .flat_map(|leaf| self.leaf_faces(leaf))
            .collect()
    }

    /// In the coordinates of [`BoundsLane`].
    #[inline(always)]
    pub(super) fn to_local(&self, point: DVec3) -> Vec3 {
        ((point - self.center) * self.scale).as_vec3()
    }
}
