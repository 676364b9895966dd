//! Unit vectors spread evenly over the sphere.

use glam::{DVec3, Vec3};

/// Returns unit vectors spread evenly over the sphere: a Fibonacci spiral.
pub fn fibonacci_directions(count: usize) -> impl Iterator<Item = Vec3> {
    let golden = std::f64::consts::PI * (3.0 - 5.0f64.sqrt());
    (0..count).map(move |index| {
        let z = 1.0 - (2.0 * index as f64 + 1.0) / count as f64;
        let radius = (1.0 - z * z).sqrt();
        let angle = golden * index as f64;
        DVec3::new(radius * angle.cos(), radius * angle.sin(), z).as_vec3()
    })
}
