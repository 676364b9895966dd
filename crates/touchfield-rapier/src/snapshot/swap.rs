//! Shapes of colliders exchanged without Rapier taking note.
//!
//! Input: a set of colliders, shapes for some of them. Output: the same set with those shapes, and the same marks of what changed since the last step.
//! Cost: a broad phase over the exchanged ones. Not for: changes that Rapier shall see, which `Collider::set_shape` makes.
//!
//! `set_shape` marks a collider as changed, and at the next step its contacts are forgotten and its body is woken. Marks are cleared by a pass of Rapier's
//! pipeline only: so a copy of the set goes through one, with copies of everything that it would change, and colliders that had no marks before are taken from there.

use rapier::dynamics::{IslandManager, RigidBodySet};
use rapier::geometry::{
    BroadPhaseBvh, Collider, ColliderHandle, ColliderSet, NarrowPhase, SharedShape,
};
use rapier::pipeline::CollisionPipeline;

/// The set with other shapes. A collider that was changed since the last step is also marked as one of a new shape.
pub(super) fn with_shapes(
    colliders: &ColliderSet,
    bodies: &RigidBodySet,
    shapes: impl IntoIterator<Item = (ColliderHandle, SharedShape)>,
) -> ColliderSet {
    let mut result = colliders.clone();
    let changed = colliders.clone().take_modified();
    let mut unmarked = colliders.clone();
    let mut exchanged = Vec::new();
    for (handle, shape) in shapes {
        if let Some(collider) = unmarked.get_mut(handle) {
            collider.set_shape(shape);
            exchanged.push(handle);
        }
    }
    // Those that were changed, with all their marks.
    let mut marked: Vec<(ColliderHandle, Collider)> = Vec::new();
    for &handle in changed.iter() {
        if let (Some(before), Some(after)) = (colliders.get(handle), unmarked.get(handle)) {
            let is_exchanged = exchanged.contains(&handle);
            marked.push((handle, if is_exchanged { after } else { before }.clone()));
        }
    }
    clear_marks(&mut unmarked, bodies);
    let quiet = exchanged
        .iter()
        .chain(marked.iter().map(|(handle, _)| handle));
    for &handle in quiet {
        put(&mut result, handle, unmarked.get(handle).cloned());
    }
    // Whatever these assignments have noted down is forgotten; what was there before is noted again, in its order.
    result.take_modified();
    for (handle, collider) in marked {
        put(&mut result, handle, Some(collider));
    }
    result
}

fn put(colliders: &mut ColliderSet, handle: ColliderHandle, value: Option<Collider>) {
    if let (Some(place), Some(value)) = (colliders.get_mut(handle), value) {
        *place = value;
    }
}

/// Passes of Rapier's pipeline, of which nothing but cleared marks is left.
fn clear_marks(colliders: &mut ColliderSet, bodies: &RigidBodySet) {
    let mut bodies = bodies.clone();
    // The first for bodies that were moved: they would take colliders along before their time.
    for colliders in [&mut colliders.clone(), colliders] {
        CollisionPipeline::new().step(
            0.0,
            &mut IslandManager::new(),
            &mut BroadPhaseBvh::default(),
            &mut NarrowPhase::new(),
            &mut bodies,
            colliders,
            &(),
            &(),
        );
    }
}
