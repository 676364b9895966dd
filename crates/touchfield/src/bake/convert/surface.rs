//! Converts a mesh to the triangles that the run time uses.
//!
//! Input: a mesh.
//! Output: a [`Surface`] in `f32`.
//! Cost: O(n log n).
//! Not for: repair; defects of the mesh stay in its surface.

use crate::mesh::{TriangleMesh, without_copies};
use crate::shape::{Surface, SurfaceError};

/// Converts a mesh to a surface for the run time; for a field, use the mesh of its
/// [`isosurface`](crate::bake::convert::isosurface).
///
/// Vertices are rounded to `f32`: they are off by at most 6·10⁻⁸ of their coordinates.
///
/// Of faces that repeat each other many times, one is kept. A field that was baked in a frame of
/// its own ([`Provenance::origin`](crate::field::Provenance::origin)) belongs with a mesh that was
/// moved there.
pub fn surface_of_mesh(mesh: &TriangleMesh) -> Result<Surface, SurfaceError> {
    let few = without_copies(mesh);
    let mesh = few.as_ref().map_or(mesh, |(few, _)| few);
    let vertices = mesh.vertices.iter().map(|vertex| vertex.as_vec3());
    Surface::new(vertices.collect(), &mesh.faces)
}
