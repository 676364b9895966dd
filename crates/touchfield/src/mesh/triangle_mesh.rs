//! The mesh that all offline code works on: vertices in `f64`, triangles as three indices.

use glam::DVec3;

use crate::geom::{DAabb, Triangle};

/// A triangle mesh with shared vertices; faces are counter-clockwise seen from outside.
///
/// It may hold anything a file can contain, including NaN and indices that are out of range:
/// `validate` reports such defects. Algorithms on meshes require that [`Self::first_invalid_face`]
/// is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriangleMesh {
    /// Vertex positions \[m\].
    pub vertices: Vec<DVec3>,
    /// Three vertex indices per face.
    pub faces: Vec<[u32; 3]>,
}

impl TriangleMesh {
    /// Returns the corners of a face. Panics when an index is out of range.
    pub fn triangle(&self, face: usize) -> Triangle {
        let [a, b, c] = self.faces[face].map(|v| self.vertices[v as usize]);
        Triangle { a, b, c }
    }

    /// Returns all faces as triangles, in order. Panics when an index is out of range.
    pub fn triangles(&self) -> impl ExactSizeIterator<Item = Triangle> + '_ {
        (0..self.faces.len()).map(|face| self.triangle(face))
    }

    /// Returns the first face with an index out of range, or with a vertex that is NaN or infinite.
    pub fn first_invalid_face(&self) -> Option<usize> {
        self.faces.iter().position(|face| {
            face.iter().any(|&v| {
                self.vertices
                    .get(v as usize)
                    .is_none_or(|vertex| !vertex.is_finite())
            })
        })
    }

    /// Returns the AABB of all vertices that faces use; empty when there are none.
    pub fn bounds(&self) -> DAabb {
        DAabb::of_points(
            self.faces
                .iter()
                .flatten()
                .filter_map(|&v| self.vertices.get(v as usize).copied()),
        )
    }

    /// Returns the total area of all faces \[m²\].
    pub fn area(&self) -> f64 {
        self.triangles().map(Triangle::area).sum()
    }

    /// Returns the enclosed volume \[m³\], by the divergence theorem; negative when the mesh is
    /// inside out. Depends on the origin when the mesh is open.
    pub fn signed_volume(&self) -> f64 {
        // Relative to the centre of the box, to avoid cancellation in a mesh far from the origin.
        let center = self.bounds().center();
        self.triangles()
            .map(|t| (t.a - center).dot((t.b - center).cross(t.c - center)) / 6.0)
            .sum()
    }

    /// Appends another mesh's vertices and faces.
    pub fn append(&mut self, other: &TriangleMesh) {
        let offset = self.vertices.len() as u32;
        self.vertices.extend_from_slice(&other.vertices);
        self.faces
            .extend(other.faces.iter().map(|face| face.map(|v| v + offset)));
    }

    /// Expresses all vertices in the frame whose origin is at `origin`: subtracts it from each.
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
