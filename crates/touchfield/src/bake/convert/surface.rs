//! The triangles of a mesh, for the run time.
//!
//! Input: a mesh. Output: a [`Surface`] in `f32`. Cost: O(n log n). Not for: repair; what a mesh lacks, its surface lacks.

use crate::mesh::{TriangleMesh, without_copies};
use crate::shape::{Surface, SurfaceError};

/// The triangles of a mesh, for the run time; of a field, those of its [`isosurface`](crate::bake::convert::isosurface).
///
/// Vertices are rounded to `f32`: they are off by at most 6·10⁻⁸ of their coordinates.
///
/// Of a face that is there many times one is kept: they are one place. A field that was baked in a frame of its own
/// ([`Provenance::origin`](crate::field::Provenance::origin)) goes with a mesh that was moved there.
pub fn surface_of_mesh(mesh: &TriangleMesh) -> Result<Surface, SurfaceError> {
    let few = without_copies(mesh);
    let mesh = few.as_ref().map_or(mesh, |(few, _)| few);
    let vertices = mesh.vertices.iter().map(|vertex| vertex.as_vec3());
    Surface::new(vertices.collect(), &mesh.faces)
}
