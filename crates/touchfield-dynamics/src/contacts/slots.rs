//! What a pair keeps from step to step: its contacts with their impulses, and warm starts.
//!
//! Input: the sorted pairs of a step.
//! Output: a [`Slot`] for each, the same one as long as the pair stays near.
//! Cost: linear in the pairs; no allocation once the lists have grown.
//! Not for: finding contacts, see `finder`.

use glam::{DVec3, Vec3};
use touchfield::contact::ContactId;
use touchfield::manifold::Manifold;
use touchfield::narrow::PairMemory;

use crate::contacts::ground::GroundBox;
use crate::frame::Frame;
use crate::response::friction::Rub;
use crate::response::penalty::PairPush;

/// One place where two bodies touch or may soon touch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Point on the surface of A, in A's frame \[m\].
    pub(crate) on_a: DVec3,
    /// Point on the surface of B, in B's frame \[m\].
    pub(crate) on_b: DVec3,
    /// Unit normal from A to B, in the world.
    pub(crate) normal: DVec3,
    /// Id of the contact in the search and its place on the body whose shell made it, in that
    /// body's frame; `None` for contacts made otherwise.
    pub(crate) of_shell: Option<(ContactId, Vec3)>,
    /// Impulses of the last solve that moved the bodies, along the normal and two tangents \[N·s\].
    pub(crate) moving: [f64; 3],
    /// Impulses of the last solve for velocities \[N·s\].
    pub(crate) resting: [f64; 3],
}

impl Place {
    /// Returns the gap along the normal for these poses of the bodies; negative if closed \[m\].
    pub(crate) fn gap(&self, [a, b]: &[Frame; 2]) -> f64 {
        (b.point(self.on_b) - a.point(self.on_a)).dot(self.normal)
    }
}

/// A pair of bodies that are near each other.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    /// Indices of the bodies, the smaller one first.
    pub(crate) bodies: [u32; 2],
    pub(crate) places: Vec<Place>,
    /// Whether the pair is searched anew in every substep, because that is cheap.
    pub(crate) is_cheap: bool,
    /// Penalty of the pair in the last evaluation.
    pub(crate) penalty: PairPush,
    /// Places where friction acts besides the penalty.
    pub(crate) rubs: Vec<Rub>,
    /// Whether the last search failed, and why.
    pub(crate) fault: Option<String>,
    pub(super) old: Vec<Place>,
    pub(super) manifold: Manifold,
    pub(super) memory: PairMemory,
    pub(super) ground: Option<GroundBox>,
}

impl Slot {
    fn reset(&mut self, bodies: [u32; 2]) {
        self.bodies = bodies;
        self.places.clear();
        self.old.clear();
        self.fault = None;
        self.penalty = PairPush::default();
        self.rubs.clear();
        self.manifold.reset();
        self.memory.clear();
        self.ground = None;
    }
}

/// All pairs that are near each other, sorted by their bodies.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    slots: Vec<Slot>,
    next: Vec<Slot>,
    spare: Vec<Slot>,
}

impl Slots {
    /// Carries slots over to the sorted `pairs`, and puts those of pairs that parted aside.
    pub(crate) fn carry(&mut self, pairs: &[[u32; 2]]) {
        let Slots { slots, next, spare } = self;
        next.clear();
        let mut old = slots.drain(..).peekable();
        for &bodies in pairs {
            while let Some(gone) = old.next_if(|slot| slot.bodies < bodies) {
                spare.push(gone);
            }
            let same = old.next_if(|slot| slot.bodies == bodies);
            next.push(same.unwrap_or_else(|| {
                let mut slot = spare.pop().unwrap_or_default();
                slot.reset(bodies);
                slot
            }));
        }
        spare.extend(old);
        std::mem::swap(slots, next);
    }

    pub(crate) fn all(&self) -> &[Slot] {
        &self.slots
    }

    pub(crate) fn all_mut(&mut self) -> &mut [Slot] {
        &mut self.slots
    }
}
