//! Proven error bounds and measured errors of a baked grid.

use glam::{DVec3, UVec3, Vec3};

use crate::bake::blocks::{block_index, node_bit};
use crate::field::{Field, GridLayout};
use crate::geom::{DAabb, Random, corner, place_at};
use crate::mesh::TriangleMesh;

/// Returns the indices of all cells that a node is a corner of.
pub(crate) fn cells_of_node(layout: &GridLayout, node: UVec3) -> impl Iterator<Item = u32> + '_ {
    (0..8).filter_map(move |index| {
        let back = corner(UVec3::ZERO, index);
        node.cmpge(back)
            .all()
            .then(|| layout.cell_index(node - back))
            .flatten()
    })
}

/// Returns the position of a cell from its index.
fn cell_place(layout: &GridLayout, cell: u32) -> UVec3 {
    place_at(layout.cells(), cell as usize)
}

/// Returns whether corners of a cell differ in sign.
pub(crate) fn has_both_signs(layout: &GridLayout, values: &[f32], cell: u32) -> bool {
    let first = cell_place(layout, cell);
    let inside = (0..8).filter(|&index| values[layout.node_index(corner(first, index))] < 0.0);
    (1..8).contains(&inside.count())
}

/// Region in which the sign is proven to change at the surface only.
pub(crate) enum Certainty {
    /// Everywhere: the surface is closed.
    Everywhere,
    /// In the cells at these nodes: one mask per block, with one bit per node; blocks x fastest.
    AtNodes(Vec<u64>),
    /// Nowhere.
    Nowhere,
}

impl Certainty {
    /// Returns whether the sign is proven to change in a cell only across the surface.
    fn holds_in(&self, layout: &GridLayout, cell: UVec3) -> bool {
        match self {
            Certainty::Everywhere => true,
            Certainty::Nowhere => false,
            Certainty::AtNodes(certain) => (0..8).any(|index| {
                let node = corner(cell, index);
                certain[block_index(layout, node)] & node_bit(node) != 0
            }),
        }
    }
}

/// Returns a proven bound of |interpolated − true| inside the grid \[m\].
///
/// The interpolant is a mean of the corner values with weights wᵢ. A true distance changes by at
/// most |x − xᵢ| on the way to corner i, so the error is at most half a cell's diagonal:
///
/// ```text
/// Σ wᵢ |x − xᵢ| ≤ √(Σ wᵢ |x − xᵢ|²) = h √(Σ t(1−t)) ≤ h √3/2
/// ```
///
/// Where the sign can change without a surface, beside a hole, the field is not a distance; there
/// the error is at most |interpolated| + |true|. Node values that are off by up to `node_error` add
/// as much.
pub(crate) fn error_bound(
    layout: &GridLayout,
    values: &[f32],
    torn: &[u32],
    certainty: &Certainty,
    node_error: f64,
) -> f32 {
    let half_diagonal = half_diagonal(layout);
    let cells = layout.cells();
    let uncertain_error = |cell: UVec3| {
        let magnitudes = (0..8).map(|index| values[layout.node_index(corner(cell, index))].abs());
        2.0 * f64::from(magnitudes.fold(0.0, f32::max)) + half_diagonal
    };
    let place = |cell| cell_place(layout, cell);
    let mut bound = (torn.iter())
        .map(|&cell| uncertain_error(place(cell)))
        .fold(half_diagonal, f64::max);
    if !matches!(certainty, Certainty::Everywhere) {
        for cell in (0..cells.element_product()).map(place) {
            if !certainty.holds_in(layout, cell) {
                bound = bound.max(uncertain_error(cell));
            }
        }
    }
    ((bound + node_error + rounding(layout, largest_of(values))) as f32).next_up()
}

/// Returns the distance from the middle of a cell to a corner \[m\], which bounds the error of
/// interpolating exact distances.
pub(crate) fn half_diagonal(layout: &GridLayout) -> f64 {
    0.5 * 3f64.sqrt() * f64::from(layout.cell_size)
}

/// Returns the largest magnitude of a value \[m\].
pub(crate) fn largest_of(values: &[f32]) -> f64 {
    let largest = values.iter().fold(0.0f32, |most, v| most.max(v.abs()));
    largest.into()
}

/// Returns the rounding error of `f32` \[m\]: node values up to `largest` and their interpolation
/// are rounded to it, and so is the position of a point in the grid.
pub(crate) fn rounding(layout: &GridLayout, largest: f64) -> f64 {
    let bounds = layout.bounds();
    let extent = bounds.as_daabb().diagonal();
    let far = bounds.min.abs().max(bounds.max.abs()).max_element();
    f64::from(f32::EPSILON) * (16.0 * (largest + extent) + 2.0 * f64::from(far))
}

/// Returns the largest |interpolated − exact| over random points of the grid, half of them near the
/// surface \[m\]. `exact` returns the exact distances at many points.
pub(crate) fn measured_error(
    field: &impl Field,
    cell_size: f32,
    exact: impl Fn(&[DVec3]) -> Vec<f64>,
    mesh: &TriangleMesh,
) -> f32 {
    /// Number of points in each half. Few enough to cost little beside a bake.
    const SAMPLES: usize = 2048;
    let bounds = field.bounds();
    let mut random = Random::new(0x7075_6d70_6b69_6e21);
    let mut points = Vec::with_capacity(2 * SAMPLES);
    for _ in 0..SAMPLES {
        points
            .push(bounds.min + bounds.extents() * random.in_box(DVec3::ZERO, DVec3::ONE).as_vec3());
        let triangle = mesh.triangle(random.below(mesh.faces.len()));
        let mut weights = random.in_box(DVec3::ZERO, DVec3::ONE);
        weights /= weights.element_sum();
        let on_surface = weights.x * triangle.a + weights.y * triangle.b + weights.z * triangle.c;
        let off = (2.0 * random.in_box(DVec3::ZERO, DVec3::ONE) - DVec3::ONE)
            * f64::from(2.0 * cell_size);
        points.push((on_surface + off).as_vec3());
    }
    points.retain(|&point| bounds.contains(point));
    let exact = exact(&points.iter().map(|p| p.as_dvec3()).collect::<Vec<_>>());
    let error = |(&point, &exact): (&Vec3, &f64)| (f64::from(field.distance(point)) - exact).abs();
    let worst = points.iter().zip(&exact).map(error).fold(0.0, f64::max);
    (worst as f32).next_up()
}

/// Returns the largest |a − b| over random points that are within the bounds of both fields \[m\].
pub(crate) fn largest_difference(a: &impl Field, b: &impl Field) -> f32 {
    const SAMPLES: usize = 4096;
    let (bounds, other) = (a.bounds(), b.bounds());
    let mut random = Random::new(0x636f_6e76_6572_7421);
    (0..SAMPLES)
        .map(|_| bounds.min + bounds.extents() * random.in_box(DVec3::ZERO, DVec3::ONE).as_vec3())
        .filter(|&point| bounds.contains(point) && other.contains(point))
        .map(|point| (a.distance(point) - b.distance(point)).abs())
        .fold(0.0, f32::max)
}

/// Returns the box that holds the surface, rounded outward.
pub(crate) fn solid(bounds: DAabb) -> crate::geom::Aabb {
    let low = bounds.min.to_array().map(|v| (v as f32).next_down());
    let high = bounds.max.to_array().map(|v| (v as f32).next_up());
    crate::geom::Aabb::new(low.into(), high.into())
}
