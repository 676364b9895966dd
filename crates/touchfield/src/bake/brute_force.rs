//! The oracle: every triangle for every node, in `f64`, with nothing shared with the fast path but the triangle itself.
//!
//! Cost: nodes × triangles, some tens of nanoseconds each. For tests, and for those who trust nothing else.

use super::blocks::for_each_layer;
use super::exact_bvh::on_surface;
use super::node_data::NodeData;
use super::settings::{Progress, Stage};
use super::sign::SignPlan;
use crate::field::GridLayout;
use crate::mesh::{TriangleMesh, winding_number_brute_force};

/// Distances of all nodes to `mesh`, negative where the exact winding number over the faces that count for the sign exceeds one half;
/// `None` when cancelled.
pub(super) fn fill<T: NodeData>(
    mesh: &TriangleMesh,
    plan: &SignPlan,
    layout: &GridLayout,
    values: &mut [T],
    progress: Progress<'_>,
) -> Option<()> {
    let on_surface = on_surface(layout);
    for_each_layer(layout, values, Stage::Distances, progress, |layer| {
        for block in layer.blocks() {
            for node in block.nodes() {
                let point = layout.node_position(node);
                let (mut squared, mut nearest, mut face) = (f64::INFINITY, point, 0);
                for (index, triangle) in mesh.triangles().enumerate() {
                    let closest = triangle.closest_point(point).point;
                    let candidate = closest.distance_squared(point);
                    if candidate < squared {
                        (squared, nearest, face) = (candidate, closest, index);
                    }
                }
                let sign_faces = plan.sign_faces.bvh.triangles().iter().copied();
                let inside = plan.bounds.contains(point)
                    && winding_number_brute_force(sign_faces, point) > 0.5;
                let normal = || mesh.triangle(face).area_vector();
                layer.values[layer.slot(node)] =
                    T::of(point - nearest, squared.sqrt(), inside, on_surface, normal);
            }
        }
    })?;
    Some(())
}
