//! Pairs of bodies whose boxes come near each other.
//!
//! Input: bodies, and how far each may travel.
//! Output: pairs of indices, sorted.
//! Cost: that of [`AabbTree`]; no allocation once the buffers have grown.
//! Not for: contacts.

use glam::DVec3;
use touchfield::broad::{AabbTree, BoxId, BroadError, BroadPhase};
use touchfield::geom::Aabb;

use crate::body::Body;
use crate::frame::Frame;

/// The broad phase of a world.
#[derive(Debug)]
pub(crate) struct Candidates {
    tree: AabbTree,
    found: Vec<[BoxId; 2]>,
}

impl Candidates {
    pub(crate) fn new() -> Result<Candidates, BroadError> {
        Ok(Candidates {
            tree: AabbTree::new(0.0)?,
            found: Vec::new(),
        })
    }

    /// Adds a body. Bodies have the ids of their boxes, because none is ever removed.
    pub(crate) fn add(&mut self, body: &Body) -> Result<(), BroadError> {
        self.tree.insert(world_box(body, 0.0)).map(|_| ())
    }

    /// Replaces `pairs` by the pairs that may come within the sum of their `margins` \[m\], of
    /// which at least one body moves freely.
    pub(crate) fn update(
        &mut self,
        bodies: &[Body],
        margins: &[f64],
        pairs: &mut Vec<[u32; 2]>,
    ) -> Result<(), BroadError> {
        for ((id, body), &margin) in (0..).zip(bodies).zip(margins) {
            self.tree.update(BoxId(id), world_box(body, margin))?;
        }
        self.pairs(bodies, pairs);
        Ok(())
    }

    /// Replaces `pairs` by the pairs whose boxes meet and of which at least one body moves freely,
    /// sorted.
    pub(crate) fn pairs(&mut self, bodies: &[Body], pairs: &mut Vec<[u32; 2]>) {
        self.tree.pairs(&mut self.found);
        let free = |id: u32| bodies[id as usize].is_free();
        pairs.clear();
        pairs.extend(
            (self.found.iter())
                .map(|&[BoxId(a), BoxId(b)]| [a, b])
                .filter(|&[a, b]| free(a) || free(b)),
        );
    }
}

/// Returns a box around a body in the world, grown by `margin` \[m\].
fn world_box(body: &Body, margin: f64) -> Aabb {
    let solid = body.geometry().shape().solid();
    turned_box(&body.pose(), solid, margin)
}

/// Returns a box around a box in another frame, grown by `margin` \[m\] and rounded outwards.
pub(crate) fn turned_box(pose: &Frame, inner: Aabb, margin: f64) -> Aabb {
    let rotation = glam::DMat3::from_quat(pose.rotation);
    let (mut min, mut max) = (pose.translation, pose.translation);
    for axis in 0..3 {
        let ends = [f64::from(inner.min[axis]), f64::from(inner.max[axis])];
        for row in 0..3 {
            let factor = rotation.col(axis)[row];
            // An axis at right angles adds nothing, even if the box is endless along it.
            if factor != 0.0 {
                let [a, b] = ends.map(|end| factor * end);
                min[row] += a.min(b);
                max[row] += a.max(b);
            }
        }
    }
    let grow = DVec3::splat(margin);
    let (min, max) = ((min - grow).as_vec3(), (max + grow).as_vec3());
    Aabb::new(
        min.to_array().map(f32::next_down).into(),
        max.to_array().map(f32::next_up).into(),
    )
}
