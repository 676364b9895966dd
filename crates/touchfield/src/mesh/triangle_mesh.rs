//! The mesh everything offline works on: vertices in `f64`, triangles as three indices.

use glam::DVec3;

use crate::geom::{DAabb, Triangle};

/// Triangles over shared vertices; counter-clockwise seen from outside.
///
/// May hold anything a file can say, also NaN and indices that are out of range: `validate` names such
/// defects. What computes with a mesh asks for one whose [`Self::first_invalid_face`] is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriangleMesh {
    /// Positions \[m\].
    pub vertices: Vec<DVec3>,
    /// Three vertex indices a face.
    pub faces: Vec<[u32; 3]>,
}

impl TriangleMesh {
    /// The corners of a face. Panics when an index is out of range.
    pub fn triangle(&self, face: usize) -> Triangle {
        let [a, b, c] = self.faces[face].map(|v| self.vertices[v as usize]);
        Triangle { a, b, c }
    }

    /// All faces as triangles, in order. Panics when an index is out of range.
    pub fn triangles(&self) -> impl ExactSizeIterator<Item = Triangle> + '_ {
        (0..self.faces.len()).map(|face| self.triangle(face))
    }

    /// The first face that names a missing vertex or one that is NaN or infinite.
    pub fn first_invalid_face(&self) -> Option<usize> {
        self.faces.iter().position(|face| {
            face.iter().any(|&v| {
                self.vertices
                    .get(v as usize)
                    .is_none_or(|vertex| !vertex.is_finite())
            })
        })
    }

    /// The box around all vertices that faces use; empty when there is none.
    pub fn bounds(&self) -> DAabb {
        DAabb::of_points(
            self.faces
                .iter()
                .flatten()
                .filter_map(|&v| self.vertices.get(v as usize).copied()),
        )
    }

    /// Area of all faces \[m²\].
    pub fn area(&self) -> f64 {
        self.triangles().map(Triangle::area).sum()
    }

    /// Volume enclosed \[m³\], by the divergence theorem; negative when the mesh is inside out.
    /// Depends on the origin when the mesh is open.
    pub fn signed_volume(&self) -> f64 {
        // About the middle of the box, so that a mesh far from the origin does not cancel.
        let center = self.bounds().center();
        self.triangles()
            .map(|t| (t.a - center).dot((t.b - center).cross(t.c - center)) / 6.0)
            .sum()
    }

    /// Adds another mesh's vertices and faces behind this one's.
    pub fn append(&mut self, other: &TriangleMesh) {
        let offset = self.vertices.len() as u32;
        self.vertices.extend_from_slice(&other.vertices);
        self.faces
            .extend(other.faces.iter().map(|face| face.map(|v| v + offset)));
    }

    /// Writes all vertices in the frame whose origin is at `origin`: subtracts it from each.
    pub fn move_to_frame_at(&mut self, origin: DVec3) {
        for vertex in &mut self.vertices {
            *vertex -= origin;
        }
    }

    /// Reverses the orientation of every face.
    pub fn flip(&mut self) {
        for face in &mut self.faces {
            face.swap(1, 2);
        }
    }
}
