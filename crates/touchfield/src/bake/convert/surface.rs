//! The triangles of a mesh, for the run time.
//!
//! Input: a mesh. Output: a [`Surface`] in `f32`. Cost: O(n log n). Not for: repair; what a mesh lacks, its surface lacks.

use crate::mesh::TriangleMesh;
use crate::shape::{Surface, SurfaceError};

/// The triangles of a mesh, for the run time; of a field, those of its [`isosurface`](crate::bake::convert::isosurface).
///
/// Vertices are rounded to `f32`: they are off by at most 6·10⁻⁸ of their coordinates.
pub fn surface_of_mesh(mesh: &TriangleMesh) -> Result<Surface, SurfaceError> {
    let vertices = mesh.vertices.iter().map(|vertex| vertex.as_vec3());
    Surface::new(vertices.collect(), &mesh.faces)
}
