//! Random points, the same on every machine.

use glam::{DVec3, Vec3};
use touchfield::geom::DAabb;
use touchfield_conformance::random::Random;

/// Returns uniform random points in a box. Every coordinate is representable in `f32`, so that
/// libraries that compute in `f32` get exactly the same points.
pub fn in_box(bounds: DAabb, count: usize, seed: u64) -> Vec<DVec3> {
    let mut random = Random::new(seed);
    (0..count)
        .map(|_| random.in_box(bounds.min, bounds.max).as_vec3().as_dvec3())
        .collect()
}

/// Returns the points of [`in_box`] as `f32`, for fields.
pub fn in_box_f32(bounds: DAabb, count: usize, seed: u64) -> Vec<Vec3> {
    in_box(bounds, count, seed)
        .into_iter()
        .map(|point| point.as_vec3())
        .collect()
}
