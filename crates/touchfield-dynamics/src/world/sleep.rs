//! Islands of bodies that touch, and their sleep.
//!
//! Input: bodies, and their contacts.
//! Output: which bodies are left out of the steps until something wakes them.
//! Cost: linear in bodies and contacts; no allocation once the buffers have grown.
//! Not for: penalty responses, under which nothing sleeps.

use glam::DVec3;

use super::{World, approach};

/// Time for which all bodies of an island must lie still before it is left out \[s\].
const STILL_FOR: f64 = 0.5;

/// Speed below which a body lies still, as a share of the speed of a fall by its radius.
const STILL_SHARE: f64 = 5e-4;

impl World {
    /// Puts islands to sleep whose bodies all lie still, and wakes those that something moves.
    pub(super) fn wake_and_sleep(&mut self, step: f64) {
        if !self.settings.sleeping {
            return;
        }
        let World {
            bodies,
            slots,
            settings,
            buffers,
            ..
        } = self;
        let Islands {
            roots,
            is_held,
            stillest,
        } = &mut buffers.islands;
        let gravity = settings.gravity;
        roots.clear();
        roots.extend(0..bodies.len() as u32);
        is_held.clear();
        is_held.resize(bodies.len(), Held::Not);
        // Bodies that touch, or may touch within the step, share an island.
        for slot in slots.all() {
            let [a, b] = slot.bodies.map(|body| &bodies[body as usize]);
            let frames = [a.pose(), b.pose()];
            let near = approach(a, b, gravity, step);
            if !slot.places.iter().any(|place| place.gap(&frames) <= near) {
                continue;
            }
            if a.is_free() && b.is_free() {
                let [a, b] = slot.bodies.map(|body| root(roots, body));
                // The smaller index is the root, so that the result does not depend on the order.
                roots[a.max(b) as usize] = a.min(b);
            }
            for (this, other) in [(0, b), (1, a)] {
                let held = &mut is_held[slot.bodies[this] as usize];
                *held = if other.is_driven() {
                    Held::Moved
                } else {
                    (*held).max(Held::Still)
                };
            }
        }
        // A body's clock runs while it is slow and something at rest holds it.
        stillest.clear();
        stillest.resize(bodies.len(), f64::INFINITY);
        for (index, body) in bodies.iter_mut().enumerate() {
            if !body.is_free() {
                continue;
            }
            let limit = STILL_SHARE * (gravity.length() * body.radius).sqrt();
            let turning = body.angular_velocity().length() * body.radius;
            let is_slow = body.velocity().length() + turning <= limit;
            body.still_for = match is_slow && is_held[index] == Held::Still {
                true => body.still_for + step,
                false => 0.0,
            };
            let island = root(roots, index as u32) as usize;
            stillest[island] = stillest[island].min(body.still_for);
        }
        for (index, body) in bodies.iter_mut().enumerate() {
            if !body.is_free() {
                continue;
            }
            let island = root(roots, index as u32) as usize;
            body.is_asleep = stillest[island] >= STILL_FOR;
            if body.is_asleep {
                body.state.momentum = DVec3::ZERO;
                body.state.angular_momentum = DVec3::ZERO;
            }
        }
    }
}

/// What holds a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Held {
    /// Nothing.
    Not,
    /// Bodies that are not driven.
    Still,
    /// A driven body that moves.
    Moved,
}

/// Buffers for the islands of bodies that touch.
#[derive(Debug, Default)]
pub(super) struct Islands {
    /// For each body one of its island with a smaller index, or itself.
    roots: Vec<u32>,
    is_held: Vec<Held>,
    /// For each root the shortest time that one of its island has been still \[s\].
    stillest: Vec<f64>,
}

/// Returns the root of a body's island, and shortens the way to it.
fn root(islands: &mut [u32], body: u32) -> u32 {
    let mut at = body;
    while islands[at as usize] != at {
        let up = islands[islands[at as usize] as usize];
        islands[at as usize] = up;
        at = up;
    }
    at
}
