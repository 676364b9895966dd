//! Angle-weighted pseudonormals: the sign of the distance from the nearest feature alone.
//!
//! Input: a closed, consistently oriented mesh whose vertices are shared, and a [`Nearest`] point
//! on it.
//! Output: whether the query point is inside or outside, or that the sign is unclear.
//! Cost: one dot product per query; 24 bytes per vertex, 108 per face.
//! Not for: open, self-intersecting or soup meshes (see [`super::WindingNumber`]).
//!
//! After \[Baerentzen2005\] (docs/BIBLIOGRAPHY.md): vertex normals are weighted by the angle of
//! each face at the vertex, and an edge normal is the sum of both faces' normals. Then the sign of
//! (p − nearest) · normal is right for every p, also when the nearest point is a vertex or lies on
//! an edge, where any single face normal can be wrong.

use glam::DVec3;

use super::{Nearest, Topology, TriangleMesh};
use crate::geom::Feature;

/// One pseudonormal for every face, edge and vertex of a mesh.
pub struct Pseudonormals {
    faces: Vec<FaceNormals>,
    vertices: Vec<DVec3>,
    corners: Vec<[u32; 3]>,
}

struct FaceNormals {
    face: DVec3,
    edges: [DVec3; 3],
}

impl Pseudonormals {
    /// Computes the pseudonormals of a mesh whose faces are valid and share their vertices, given
    /// its topology.
    pub fn of(mesh: &TriangleMesh, topology: &Topology) -> Pseudonormals {
        let normals: Vec<DVec3> = mesh
            .triangles()
            .map(|triangle| triangle.normal().unwrap_or(DVec3::ZERO))
            .collect();
        let mut vertices = vec![DVec3::ZERO; mesh.vertices.len()];
        for (face, triangle) in mesh.triangles().enumerate() {
            let corners = triangle.corners();
            for i in 0..3 {
                let to_next = corners[(i + 1) % 3] - corners[i];
                let to_last = corners[(i + 2) % 3] - corners[i];
                // `atan2` stays accurate for the tiny angles of slivers, where `acos` does not.
                let angle = to_next.cross(to_last).length().atan2(to_next.dot(to_last));
                vertices[mesh.faces[face][i] as usize] += angle * normals[face];
            }
        }
        let mut faces: Vec<FaceNormals> = normals
            .iter()
            .map(|&face| FaceNormals {
                face,
                edges: [DVec3::ZERO; 3],
            })
            .collect();
        for edge in topology.edges() {
            let sum: DVec3 = (edge.uses.iter())
                .map(|side| normals[side.face as usize])
                .sum();
            for side in edge.uses {
                faces[side.face as usize].edges[side.corner as usize] = sum;
            }
        }
        Pseudonormals {
            faces,
            vertices,
            corners: mesh.faces.clone(),
        }
    }

    /// Returns the pseudonormal at a point of the mesh; its length is arbitrary.
    #[inline]
    pub fn at(&self, nearest: &Nearest) -> DVec3 {
        let normals = &self.faces[nearest.face as usize];
        match nearest.closest.feature {
            Feature::Face => normals.face,
            Feature::Edge(edge) => normals.edges[edge as usize],
            Feature::Vertex(corner) => {
                let vertex = self.corners[nearest.face as usize][corner as usize];
                self.vertices[vertex as usize]
            }
        }
    }

    /// Returns the unit normal of a face; zero for a face without area.
    pub(crate) fn of_face(&self, face: u32) -> DVec3 {
        self.faces[face as usize].face
    }

    /// Returns whether `point` is on the inner side of its nearest point. `None` when the cosine
    /// between the offset and the pseudonormal is too near 0 to be trusted. A point on the surface
    /// counts as outside.
    #[inline]
    pub fn is_inside(&self, point: DVec3, nearest: &Nearest) -> Option<bool> {
        /// Squared cosine below which the side is considered unclear. On a closed mesh only knife
        /// edges come near it: rounding makes a cosine wrong by about 1e-15 divided by the sine of
        /// half the edge's angle.
        const CLEAR: f64 = 1e-12;
        let normal = self.at(nearest);
        let off = point - nearest.closest.point;
        let dot = normal.dot(off);
        let off_squared = off.length_squared();
        let clear = dot * dot > CLEAR * normal.length_squared() * off_squared;
        (clear || off_squared == 0.0).then_some(dot < 0.0)
    }
}
