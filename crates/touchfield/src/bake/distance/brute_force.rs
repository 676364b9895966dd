//! Brute-force reference: every triangle for every node, in `f64`. Shares nothing with the fast
//! path but the triangle itself.
//!
//! Cost: nodes × triangles, some tens of nanoseconds each. For tests, and for checking other
//! methods.

use crate::bake::blocks::for_each_layer;
use crate::bake::progress::{Progress, Stage};
use crate::bake::sign::plan::SignPlan;
use crate::field::GridLayout;
use crate::mesh::{TriangleMesh, winding_number_brute_force};

/// Computes the distances of all nodes to `mesh`, negative where the exact winding number over the
/// faces that count for the sign exceeds one half. Returns `None` when cancelled.
pub(crate) fn fill(
    mesh: &TriangleMesh,
    plan: &SignPlan,
    layout: &GridLayout,
    values: &mut [f32],
    progress: Progress<'_>,
) -> Option<()> {
    for_each_layer(layout, values, Stage::Distances, progress, |layer| {
        for block in layer.blocks() {
            for node in block.nodes() {
                let point = layout.node_position(node);
                let distance = mesh
                    .triangles()
                    .map(|triangle| triangle.closest_point(point).point.distance_squared(point))
                    .fold(f64::INFINITY, f64::min)
                    .sqrt();
                let sign_faces = plan.sign_faces.bvh.triangles().iter().copied();
                let inside = plan.bounds.contains(point)
                    && winding_number_brute_force(sign_faces, point) > 0.5;
                // Zero stays positive on the surface itself: there are two zeros.
                let sign = if inside && distance > 0.0 { -1.0 } else { 1.0 };
                layer.values[layer.slot(node)] = (sign * distance) as f32;
            }
        }
    })?;
    Some(())
}
