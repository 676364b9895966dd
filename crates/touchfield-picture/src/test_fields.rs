//! Small analytic fields for the tests of this crate.

use glam::{Vec2, Vec3};
use touchfield::{
    field::{Field, Sample},
    geom::{Aabb, Interval},
};

/// A field from a closure and a box; its gradient comes from finite differences.
pub(super) struct TestField<F> {
    pub(super) bounds: Aabb,
    pub(super) distance: F,
}

impl<F: Fn(Vec3) -> f32 + Send + Sync> Field for TestField<F> {
    fn bounds(&self) -> Aabb {
        self.bounds
    }
    fn error_bound(&self) -> f32 {
        0.0
    }
    fn distance(&self, point: Vec3) -> f32 {
        (self.distance)(point)
    }
    fn sample(&self, point: Vec3) -> Sample {
        let h = 1e-3 * self.bounds.diagonal();
        let slope = |axis: Vec3| {
            (self.distance(point + h * axis) - self.distance(point - h * axis)) / (2.0 * h)
        };
        Sample {
            distance: self.distance(point),
            gradient: Vec3::new(slope(Vec3::X), slope(Vec3::Y), slope(Vec3::Z)),
        }
    }
    fn interval(&self, cell: Aabb) -> Interval {
        Interval::around(self.distance(cell.center()), 0.5 * cell.diagonal())
    }
}

/// Returns a sphere in a box with `padding` of its radius on each side.
pub(super) fn sphere(
    center: Vec3,
    radius: f32,
    padding: f32,
) -> TestField<impl Fn(Vec3) -> f32 + Send + Sync> {
    TestField {
        bounds: Aabb::from_center(center, Vec3::splat(radius * (1.0 + padding))),
        distance: move |p: Vec3| (p - center).length() - radius,
    }
}

/// Returns the distance to a box with rounded edges.
pub(super) fn box_distance(p: Vec3, half: Vec3, rounding: f32) -> f32 {
    let q = p.abs() - (half - Vec3::splat(rounding));
    q.max(Vec3::ZERO).length() + q.max_element().min(0.0) - rounding
}

/// Returns the distance to a torus about z.
pub(super) fn torus_distance(p: Vec3, major: f32, minor: f32) -> f32 {
    Vec2::new(p.truncate().length() - major, p.z).length() - minor
}

/// Returns a trilinear grid of `distance` with `cells` cells along the longest side of `bounds`.
pub(super) fn grid_of(
    bounds: Aabb,
    cells: usize,
    distance: impl Fn(Vec3) -> f32,
) -> TestField<impl Fn(Vec3) -> f32 + Send + Sync> {
    let cell = bounds.extents().max_element() / cells as f32;
    let [nx, ny, nz] = (bounds.extents() / cell)
        .ceil()
        .to_array()
        .map(|n| n as usize + 1);
    let mut nodes = Vec::with_capacity(nx * ny * nz);
    for i in 0..nx * ny * nz {
        let node = Vec3::new((i % nx) as f32, (i / nx % ny) as f32, (i / nx / ny) as f32);
        nodes.push(distance(bounds.min + cell * node));
    }
    let interpolate = move |p: Vec3| {
        let last = Vec3::new(nx as f32 - 1.0, ny as f32 - 1.0, nz as f32 - 1.0);
        let at = ((p - bounds.min) / cell).clamp(Vec3::ZERO, last - 1e-3);
        let (low, part) = (at.floor(), at - at.floor());
        let first = low.x as usize + nx * (low.y as usize + ny * low.z as usize);
        let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
        let row = |i: usize| mix(nodes[i], nodes[i + 1], part.x);
        let layer = |i: usize| mix(row(i), row(i + nx), part.y);
        mix(layer(first), layer(first + nx * ny), part.z)
    };
    TestField {
        bounds,
        distance: interpolate,
    }
}
