//! Exchanges the shapes of colliders without marking them as changed in Rapier.
//!
//! Input: a set of colliders, and shapes for some of them. Output: the same set with those shapes,
//! and the same change flags as before.
//! Cost: a broad phase over the exchanged colliders. Not for: changes that Rapier shall see, which
//! `Collider::set_shape` makes.
//!
//! `set_shape` marks a collider as changed, and at the next step its contacts are forgotten and its
//! body is woken. Only a pass of Rapier's pipeline clears these flags. Therefore a copy of the set
//! goes through such a pass, together with copies of everything the pass would change, and
//! colliders without flags are taken from that copy.

use rapier::dynamics::{IslandManager, RigidBodySet};
use rapier::geometry::{
    BroadPhaseBvh, Collider, ColliderHandle, ColliderSet, NarrowPhase, SharedShape,
};
use rapier::pipeline::CollisionPipeline;

/// Returns the set with other shapes. A collider that was changed since the last step is also
/// marked as having a new shape.
pub(super) fn with_shapes(
    colliders: &ColliderSet,
    bodies: &RigidBodySet,
    shapes: impl IntoIterator<Item = (ColliderHandle, SharedShape)>,
) -> ColliderSet {
    let mut result = colliders.clone();
    // Exchange the shapes in a copy.
    let changed = colliders.clone().take_modified();
    let mut unmarked = colliders.clone();
    let mut exchanged = Vec::new();
    for (handle, shape) in shapes {
        if let Some(collider) = unmarked.get_mut(handle) {
            collider.set_shape(shape);
            exchanged.push(handle);
        }
    }
    // Colliders that were changed before, with all their flags.
    let mut marked: Vec<(ColliderHandle, Collider)> = Vec::new();
    for &handle in changed.iter() {
        if let (Some(before), Some(after)) = (colliders.get(handle), unmarked.get(handle)) {
            let is_exchanged = exchanged.contains(&handle);
            marked.push((handle, if is_exchanged { after } else { before }.clone()));
        }
    }
    // Take the colliders over with their flags cleared.
    clear_marks(&mut unmarked, bodies);
    let quiet = exchanged
        .iter()
        .chain(marked.iter().map(|(handle, _)| handle));
    for &handle in quiet {
        put(&mut result, handle, unmarked.get(handle).cloned());
    }
    // The assignments above added entries to the list of modified colliders. Clear it, then restore
    // the earlier entries in their order.
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

/// Clears the change flags of all colliders by passes of Rapier's pipeline that have no other
/// lasting effect.
fn clear_marks(colliders: &mut ColliderSet, bodies: &RigidBodySet) {
    let mut bodies = bodies.clone();
    // The first pass, on a copy, is for bodies that were moved: otherwise they would move their
    // colliders too early.
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
