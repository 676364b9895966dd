//! The hierarchy as plain records, for searches that run elsewhere.

use glam::{DVec3, Vec3};

use crate::geom::lanes::LANES;
use crate::mesh::bvh::Bvh;
use crate::mesh::bvh::node::{LEAF_FLAG, NO_CHILD, ROUNDING};

/// A hierarchy over triangles as plain records, in local coordinates: the mesh fills the unit ball,
/// `local = (p − center) · scale`.
#[derive(Clone, Debug, PartialEq)]
pub struct FlatBvh {
    /// Origin of the local coordinates \[m\].
    pub center: DVec3,
    /// Scale of the local coordinates, a power of two \[1/m\].
    pub scale: f64,
    /// Boxes of all nodes; those of one node follow each other.
    pub boxes: Vec<FlatBox>,
    /// Faces of all leaves; those of one leaf follow each other.
    pub faces: Vec<u32>,
    /// Number of boxes of the root, which are the first.
    pub root: u32,
    /// Largest number of boxes on the way from the root to a leaf.
    pub depth: u32,
}

/// An oriented box and what is in it. Local units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlatBox {
    /// Orthonormal axes.
    pub axes: [Vec3; 3],
    /// Coordinates of the centre along the axes.
    pub offset: Vec3,
    /// Half extents along the axes.
    pub half: Vec3,
    /// Index of the first box of a node, or of the first face of a leaf.
    pub first: u32,
    /// Number of boxes or faces, at most [`FlatBvh::MOST`].
    pub count: u32,
    /// Whether the content is a leaf.
    pub is_leaf: bool,
}

impl FlatBvh {
    /// Most boxes of a node, and most faces of a leaf.
    pub const MOST: usize = LANES;
    /// Largest rounding error of a distance to a box that is computed in `f32`, each operation
    /// correctly rounded, as a fraction of `1 + |p|` \[local units\].
    pub const ROUNDING: f32 = ROUNDING;
}

impl Bvh {
    /// Returns the hierarchy as plain records.
    pub fn flat(&self) -> FlatBvh {
        let mut flat = FlatBvh {
            center: self.center,
            scale: self.scale,
            boxes: Vec::new(),
            faces: Vec::with_capacity(self.triangles.len()),
            root: self.children(0).count() as u32,
            depth: 0,
        };
        // Indices of the first face of each leaf, and of the first box of each node.
        let mut leaves = Vec::with_capacity(self.leaf_count());
        for leaf in 0..self.leaf_count() as u32 {
            leaves.push(flat.faces.len() as u32);
            flat.faces.extend(self.leaf_faces(leaf));
        }
        let mut nodes = Vec::with_capacity(self.node_count());
        let mut count = 0;
        for node in 0..self.node_count() {
            nodes.push(count);
            count += self.children(node).count() as u32;
        }
        nodes.push(count);
        leaves.push(flat.faces.len() as u32);
        // Depth of each node: a child comes after its parent.
        let mut depths = vec![1; self.node_count()];
        for (node, lane) in
            (0..self.node_count()).flat_map(|node| (0..LANES).map(move |lane| (node, lane)))
        {
            let child = self.child(node, lane);
            if child == NO_CHILD {
                continue;
            }
            let is_leaf = child & LEAF_FLAG != 0;
            let (starts, index) = if is_leaf {
                (&leaves, (child & !LEAF_FLAG) as usize)
            } else {
                depths[child as usize] = depths[node] + 1;
                (&nodes, child as usize)
            };
            let bounds = self.nodes[node].bounds.lane(lane);
            flat.boxes.push(FlatBox {
                axes: bounds.axes,
                offset: bounds.offset,
                half: bounds.half,
                first: starts[index],
                count: starts[index + 1] - starts[index],
                is_leaf,
            });
        }
        flat.depth = depths.into_iter().max().unwrap_or(0);
        flat
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::test_meshes::icosphere;

    #[test]
    fn every_face_is_in_the_boxes_above_it() {
        let mesh = icosphere(3, 1.0);
        let bvh = Bvh::build(&mesh);
        let flat = bvh.flat();
        let mut seen = vec![0; mesh.faces.len()];
        let mut open = vec![(0, flat.root, Vec::<FlatBox>::new())];
        while let Some((first, end, above)) = open.pop() {
            for part in &flat.boxes[first as usize..end as usize] {
                let mut above = above.clone();
                above.push(*part);
                assert!(above.len() as u32 <= flat.depth);
                if !part.is_leaf {
                    open.push((part.first, part.first + part.count, above));
                    continue;
                }
                for &face in &flat.faces[part.first as usize..][..part.count as usize] {
                    seen[face as usize] += 1;
                    for corner in mesh.triangle(face as usize).corners() {
                        let local = ((corner - flat.center) * flat.scale).as_vec3();
                        for part in &above {
                            for axis in 0..3 {
                                let off = part.axes[axis].dot(local) - part.offset[axis];
                                assert!(off.abs() <= part.half[axis] + FlatBvh::ROUNDING);
                            }
                        }
                    }
                }
            }
        }
        assert!(seen.iter().all(|&count| count == 1), "{seen:?}");
    }
}
