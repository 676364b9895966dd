//! Steps under penalty forces, discrete and continuous.
//!
//! Input: bodies, and the pairs that may meet.
//! Output: states a step later.
//! Cost: that of the penalties of all pairs, once for each evaluation of the integrator.
//! Not for: the forces of a pair, see `response`.
//!
//! Pressures first, for all pairs side by side. Then friction, which needs to know how the bodies
//! would move under all pressures.

use super::{Buffers, StepError, World, in_lanes};
use crate::body::{Body, Material, State};
use crate::contacts::{ContactFinder, Lane, Slot};
use crate::integrate::{Push, integrate};
use crate::response::continuous::{self, Swept};
use crate::response::friction::{Rubbing, friction};
use crate::response::penalty::{self, PairPush};

impl World {
    /// Makes a step under discrete penalty forces, evaluated wherever the integrator asks.
    pub(super) fn step_by_penalties(&mut self) -> Result<(), StepError> {
        let (step, time) = (self.settings.step, self.time);
        for body in &mut self.bodies {
            body.drive_to(time, step);
        }
        self.find_pairs(step)?;
        let World {
            settings,
            bodies,
            slots,
            buffers,
            ..
        } = self;
        let Buffers {
            lanes,
            integrate: scratch,
            states,
            included,
            rubbing,
            ..
        } = buffers;
        included.clear();
        included.extend(bodies.iter().map(Body::is_free));
        states.clear();
        states.extend(bodies.iter().map(|body| body.state));
        let (gravity, penalty) = (settings.gravity, settings.penalty);
        let all = &*bodies;
        integrate(
            settings.integrator(),
            all,
            included,
            states,
            step,
            scratch,
            |states, out| {
                in_lanes(slots.all_mut(), lanes, |slot, lane| {
                    let pair = slot.bodies.map(|body| body as usize);
                    let found = penalty::push(
                        pair.map(|body| &all[body]),
                        pair.map(|body| &states[body]),
                        &penalty,
                        &mut lane.scratch,
                        &mut slot.rubs,
                    );
                    slot.note(found);
                });
                let external = |out: &mut [Push]| {
                    for (body, out) in all.iter().zip(out) {
                        *out = body.push(gravity);
                    }
                };
                external(out);
                add_penalties(slots.all(), out);
                if rub(slots.all_mut(), lanes, rubbing, (all, states), out, step) {
                    external(out);
                    add_penalties(slots.all(), out);
                }
            },
        );
        for (body, state) in bodies.iter_mut().zip(states) {
            body.state = *state;
            body.place_driven(time + step);
        }
        self.note_penalty_depths();
        Ok(())
    }

    /// Makes a step of the continuous penalty: the mean force of the last step's contacts acts in
    /// this one, and this one's is computed for the next.
    pub(super) fn step_by_late_penalties(&mut self) -> Result<(), StepError> {
        let (step, time) = (self.settings.step, self.time);
        for body in &mut self.bodies {
            body.drive_to(time, step);
        }
        self.find_pairs(step)?;
        let World {
            settings,
            bodies,
            slots,
            buffers,
            late,
            ..
        } = self;
        let Buffers {
            lanes,
            integrate: scratch,
            states,
            before,
            included,
            rubbing,
            pushes,
            ..
        } = buffers;
        included.clear();
        included.extend(bodies.iter().map(Body::is_free));
        before.clear();
        before.extend(bodies.iter().map(|body| body.state));
        states.clone_from(before);
        let (gravity, penalty) = (settings.gravity, settings.penalty);
        let total = |body: &Body, late: &Push| {
            let push = body.push(gravity);
            Push {
                force: push.force + late.force,
                torque: push.torque + late.torque,
            }
        };
        integrate(
            settings.integrator(),
            bodies,
            included,
            states,
            step,
            scratch,
            |_, out| {
                for ((body, late), out) in bodies.iter().zip(late.iter()).zip(out) {
                    *out = total(body, late);
                }
            },
        );
        for (body, state) in bodies.iter_mut().zip(states.iter_mut()) {
            body.state = *state;
            body.place_driven(time + step);
            *state = body.state;
        }
        let by_spheres = settings.contacts != ContactFinder::SweptLinear;
        let all = &*bodies;
        in_lanes(slots.all_mut(), lanes, |slot, lane| {
            let pair = slot.bodies.map(|body| {
                let body = body as usize;
                Swept {
                    body: &all[body],
                    from: &before[body],
                    to: &states[body],
                    push: total(&all[body], &late[body]),
                }
            });
            let (swept, rubs) = (&mut lane.swept, &mut slot.rubs);
            let found = continuous::push(pair, step, by_spheres, &penalty, swept, rubs);
            slot.note(found);
        });
        // What will push the bodies in the next step.
        pushes.clear();
        pushes.extend(bodies.iter().map(|body| body.push(gravity)));
        add_penalties(slots.all(), pushes);
        rub(slots.all_mut(), lanes, rubbing, (all, states), pushes, step);
        late.fill(Push::default());
        add_penalties(slots.all(), late);
        self.note_penalty_depths();
        Ok(())
    }

    fn note_penalty_depths(&mut self) {
        let depths = self.slots.all().iter().map(|slot| slot.penalty.depth);
        self.deepest = depths.fold(self.deepest, f64::max);
    }
}

/// Adds friction to the penalties of all pairs, for bodies in these states under these pushes.
/// Returns whether there is any.
fn rub(
    slots: &mut [Slot],
    lanes: &mut Vec<Lane>,
    pairs: &mut Vec<u32>,
    (bodies, states): (&[Body], &[State]),
    pushes: &[Push],
    step: f64,
) -> bool {
    // In how many pairs each body rubs.
    pairs.clear();
    pairs.resize(bodies.len(), 0);
    for slot in slots.iter().filter(|slot| !slot.rubs.is_empty()) {
        for body in slot.bodies {
            pairs[body as usize] += 1;
        }
    }
    let pairs = &*pairs;
    in_lanes(slots, lanes, |slot, _| {
        if slot.rubs.is_empty() {
            return;
        }
        let [a, b] = slot.bodies.map(|body| {
            let body = body as usize;
            Rubbing::new(
                &bodies[body],
                &states[body],
                pushes[body],
                step,
                pairs[body],
            )
        });
        let materials = slot
            .bodies
            .map(|body| &bodies[body as usize].settings.material);
        let slip = Material::between(materials[0], materials[1]).slip;
        slot.penalty
            .rubbed(friction([&a, &b], &slot.rubs, slip, step));
    });
    pairs.iter().any(|&count| count > 0)
}

/// Adds the penalties of all pairs to the pushes on their bodies, in the order of the pairs.
fn add_penalties(slots: &[Slot], out: &mut [Push]) {
    for slot in slots {
        for (body, push) in slot.bodies.into_iter().zip(slot.penalty.pushes) {
            let out = &mut out[body as usize];
            out.force += push.force;
            out.torque += push.torque;
        }
    }
}

impl Slot {
    /// Keeps the penalty of the pair, or why there is none.
    fn note(&mut self, found: Result<PairPush, String>) {
        self.fault = None;
        match found {
            Ok(penalty) => self.penalty = penalty,
            Err(error) => {
                self.penalty = PairPush::default();
                self.fault = Some(error);
            }
        }
    }
}
