//! Small point shells for tests, with one sphere over all points.
//!
//! Input: points with normals.
//! Output: a [`PointShell`].
//! Not for: real use; see `bake::pointshell`.

use glam::{DVec3, Vec3};
use touchfield::pointshell::{PointShell, SphereNode, SphereTree};

/// Returns a shell whose tree is only its root.
pub fn of_points(points: Vec<Vec3>, normals: Vec<Vec3>, covering_radius: f32) -> PointShell {
    let radius = points.iter().map(|point| point.as_dvec3().length());
    let radius = radius.fold(0.0, f64::max) as f32;
    let root = SphereNode {
        center: Vec3::ZERO,
        radius: radius.next_up(),
        first_point: 0,
        point_count: points.len() as u32,
        first_child: 0,
        child_count: 0,
        representative: 0,
    };
    let tree = SphereTree::new(vec![root], vec![0, 1]);
    PointShell::new(points, normals, covering_radius, tree).expect("finite points in one sphere")
}

/// Returns a box about the origin: `per_side` points along every edge, corners included.
pub fn cuboid(half_extents: Vec3, per_side: usize) -> PointShell {
    let last = per_side - 1;
    let along = |i: usize| 2.0 * i as f32 / last as f32 - 1.0;
    let (mut points, mut normals) = (Vec::new(), Vec::new());
    for i in 0..per_side {
        for j in 0..per_side {
            for k in 0..per_side {
                let at = Vec3::new(along(i), along(j), along(k));
                let outward = at.abs().cmpge(Vec3::ONE);
                if outward.any() {
                    points.push(at * half_extents);
                    let normal = Vec3::select(outward, at, Vec3::ZERO);
                    normals.push(normal.normalize());
                }
            }
        }
    }
    // Half the diagonal of a square of the grid.
    let radius = half_extents.max_element() / last as f32 * std::f32::consts::SQRT_2;
    of_points(points, normals, radius)
}

/// Returns a sphere about the origin, with points along a spiral.
pub fn sphere(radius: f32, count: usize) -> PointShell {
    let golden = std::f64::consts::PI * (3.0 - 5f64.sqrt());
    let normals: Vec<Vec3> = (0..count)
        .map(|i| {
            let z = 1.0 - (2.0 * i as f64 + 1.0) / count as f64;
            let (sin, cos) = (golden * i as f64).sin_cos();
            let across = (1.0 - z * z).sqrt();
            DVec3::new(across * cos, across * sin, z).as_vec3()
        })
        .collect();
    let points = normals.iter().map(|&normal| radius * normal).collect();
    // Each point has an area of 4π r² / n; twice the radius of that disc covers the gaps of the
    // spiral.
    of_points(points, normals, 4.0 * radius / (count as f32).sqrt())
}
