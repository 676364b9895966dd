//! Computes the convex hull of a mesh for the run time.
//!
//! Input: a mesh, whatever its faces.
//! Output: a [`ConvexHull`] of their corners in `f32`.
//! Cost: O(n log n).
//! Not for: concave bodies, whose hollows it fills.

use crate::mesh::TriangleMesh;
use crate::shape::convex::{ConvexHull, HullError};

/// Computes the convex hull of the faces of a mesh. Vertices without a face are ignored, as in
/// [`bake`](crate::bake::bake()).
///
/// Corners are rounded to `f32`: they are off by at most 6·10⁻⁸ of their coordinates.
pub fn hull_of_mesh(mesh: &TriangleMesh) -> Result<ConvexHull, HullError> {
    let mut is_corner = vec![false; mesh.vertices.len()];
    for &corner in mesh.faces.iter().flatten() {
        if let Some(is_corner) = is_corner.get_mut(corner as usize) {
            *is_corner = true;
        }
    }
    let numbers: Vec<usize> = (0..mesh.vertices.len()).filter(|&n| is_corner[n]).collect();
    let corners: Vec<_> = (numbers.iter())
        .map(|&n| mesh.vertices[n].as_vec3())
        .collect();
    ConvexHull::new(&corners).map_err(|error| match error {
        HullError::BadPoint { point, value } => HullError::BadPoint {
            point: numbers[point],
            value,
        },
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    #[test]
    fn a_vertex_of_no_face_stretched_the_hull() {
        let vertices = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z, 1e3 * DVec3::ONE];
        let faces = vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
        let mesh = TriangleMesh { vertices, faces };
        let hull = hull_of_mesh(&mesh).unwrap();
        assert_eq!(hull.vertices().len(), 4);
        assert_eq!(hull.bounds().max, glam::Vec3::ONE);
        let mut bad = mesh.clone();
        bad.vertices.insert(0, DVec3::ZERO);
        bad.faces
            .iter_mut()
            .flatten()
            .for_each(|corner| *corner += 1);
        bad.vertices[3] = DVec3::NAN;
        let found = hull_of_mesh(&bad);
        assert!(matches!(found, Err(HullError::BadPoint { point: 3, .. })));
        let faces = Vec::new();
        let points = TriangleMesh { faces, ..mesh };
        assert_eq!(hull_of_mesh(&points), Err(HullError::Empty));
    }
}
