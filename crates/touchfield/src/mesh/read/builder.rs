//! Mesh under construction while a file is read: counts are checked against the limits before
//! memory is allocated.

use glam::{DAffine3, DVec3};

use super::polygon::Triangulator;
use crate::mesh::TriangleMesh;
use crate::mesh::read::error::{Cause, LimitKind};
use crate::mesh::read::limits::Limits;

/// Collects vertices and polygons up to the limits.
pub(super) struct MeshBuilder {
    mesh: TriangleMesh,
    max_vertices: usize,
    max_faces: usize,
    triangulator: Triangulator,
}

impl MeshBuilder {
    pub(super) fn new(limits: &Limits) -> MeshBuilder {
        MeshBuilder {
            mesh: TriangleMesh::default(),
            // Faces store vertex indices as `u32`.
            max_vertices: limits.vertices.min(u32::MAX as usize),
            max_faces: limits.faces,
            triangulator: Triangulator::default(),
        }
    }

    pub(super) fn vertices(&self) -> &[DVec3] {
        &self.mesh.vertices
    }

    pub(super) fn face_count(&self) -> usize {
        self.mesh.faces.len()
    }

    /// Reserves memory for vertices. The caller must have checked their number against the bytes
    /// that exist.
    pub(super) fn reserve_vertices(&mut self, additional: usize) -> Result<(), Cause> {
        let total = self.mesh.vertices.len().saturating_add(additional);
        check(LimitKind::Vertices, total, self.max_vertices)?;
        self.mesh.vertices.reserve(additional);
        Ok(())
    }

    /// Reserves memory for triangles. The caller must have checked their number against the bytes
    /// that exist.
    pub(super) fn reserve_faces(&mut self, additional: usize) -> Result<(), Cause> {
        let total = self.mesh.faces.len().saturating_add(additional);
        check(LimitKind::Faces, total, self.max_faces)?;
        self.mesh.faces.reserve(additional);
        Ok(())
    }

    pub(super) fn push_vertex(&mut self, vertex: DVec3) -> Result<(), Cause> {
        if self.mesh.vertices.len() >= self.max_vertices {
            return check(
                LimitKind::Vertices,
                self.mesh.vertices.len() + 1,
                self.max_vertices,
            );
        }
        self.mesh.vertices.push(vertex);
        Ok(())
    }

    /// Adds a polygon as `corners.len() − 2` triangles. Its indices must be in range.
    pub(super) fn push_polygon(&mut self, corners: &[u32]) -> Result<(), Cause> {
        if corners.len() < 3 {
            return Err(Cause::TooFewCorners {
                corners: corners.len(),
            });
        }
        let total = self.mesh.faces.len() + (corners.len() - 2);
        check(LimitKind::Faces, total, self.max_faces)?;
        match *corners {
            [a, b, c] => self.mesh.faces.push([a, b, c]),
            _ => {
                let TriangleMesh { vertices, faces } = &mut self.mesh;
                self.triangulator.triangulate(vertices, corners, faces)?;
            }
        }
        Ok(())
    }

    /// Adds the triangles of a strip: every second one is reversed.
    pub(super) fn push_strip(&mut self, corners: &[u32]) -> Result<(), Cause> {
        for (i, window) in corners.windows(3).enumerate() {
            let [a, b, c] = [window[0], window[1], window[2]];
            self.push_polygon(&if i % 2 == 0 { [a, b, c] } else { [b, a, c] })?;
        }
        Ok(())
    }

    /// Transforms the vertices from `first_vertex` on; reverses the faces from `first_face` on if
    /// the transform mirrors.
    pub(super) fn transform(
        &mut self,
        first_vertex: usize,
        first_face: usize,
        world_from_mesh: DAffine3,
    ) {
        for vertex in &mut self.mesh.vertices[first_vertex..] {
            *vertex = world_from_mesh.transform_point3(*vertex);
        }
        if world_from_mesh.matrix3.determinant() < 0.0 {
            for face in &mut self.mesh.faces[first_face..] {
                face.swap(1, 2);
            }
        }
    }

    pub(super) fn finish(self) -> TriangleMesh {
        self.mesh
    }
}

fn check(kind: LimitKind, found: usize, limit: usize) -> Result<(), Cause> {
    if found <= limit {
        return Ok(());
    }
    Err(Cause::Limit {
        kind,
        found: found as u64,
        limit: limit as u64,
    })
}
