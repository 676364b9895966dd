//! The convex hull of a mesh, for the run time.
//!
//! Input: a mesh, whatever its faces. Output: a [`ConvexHull`] of its vertices in `f32`. Cost: O(n log n). Not for: concave bodies, whose hollows it fills.

use crate::mesh::TriangleMesh;
use crate::shape::convex::{ConvexHull, HullError};

/// The convex hull of all vertices of a mesh.
///
/// Vertices are rounded to `f32`: they are off by at most 6·10⁻⁸ of their coordinates.
pub fn hull_of_mesh(mesh: &TriangleMesh) -> Result<ConvexHull, HullError> {
    let vertices: Vec<_> = mesh
        .vertices
        .iter()
        .map(|vertex| vertex.as_vec3())
        .collect();
    ConvexHull::new(&vertices)
}
