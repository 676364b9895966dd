//! The world: bodies, time, and the steps that advance them.
//!
//! Input: [`WorldSettings`] and bodies.
//! Output: their states after every step, energies, contacts, depths.
//! Cost: that of finding contacts and of the response; no allocation once the buffers have grown.
//! Not for: files, see `scene`.

mod penalties;
mod sleep;

use glam::DVec3;
use touchfield::broad::BroadError;

use crate::body::{Body, BodySettings, Moves, State};
use crate::contacts::{Candidates, ContactFinder, Lane, Search, Slot, Slots};
use crate::integrate::{IntegrateScratch, Integrator, Push, integrate};
use crate::response::impulse::{self, ImpulseScratch, Substep};
use crate::response::{PenaltySettings, Response, Solver};
use sleep::Islands;

/// Settings of a world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorldSettings {
    /// Acceleration of free bodies \[m/s²\].
    pub gravity: DVec3,
    /// Length of a step \[s\].
    pub step: f64,
    /// Integrator; `None` takes the one that suits the response.
    pub integrator: Option<Integrator>,
    /// What contacts do.
    pub response: Response,
    /// How contacts are found.
    pub contacts: ContactFinder,
    /// Substeps of a step with impulses. More make stacks stiffer and cost as much more.
    pub substeps: u32,
    /// How impulses are solved for.
    pub solver: Solver,
    /// Settings of the penalty responses.
    pub penalty: PenaltySettings,
    /// Whether bodies that lie still are left out until something wakes them.
    pub sleeping: bool,
}

impl Default for WorldSettings {
    fn default() -> WorldSettings {
        WorldSettings {
            gravity: DVec3::new(0.0, 0.0, -9.81),
            step: 1e-3,
            integrator: None,
            response: Response::Impulse,
            contacts: ContactFinder::Auto,
            substeps: 4,
            solver: Solver::Sequential,
            penalty: PenaltySettings::default(),
            sleeping: true,
        }
    }
}

impl WorldSettings {
    /// Returns the integrator that the steps use.
    pub fn integrator(&self) -> Integrator {
        self.integrator.unwrap_or(match self.response {
            Response::Impulse => Integrator::Midpoint,
            Response::Penalty | Response::ContinuousPenalty => Integrator::SymplecticEuler,
        })
    }
}

/// Why a world or a body is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WorldError {
    /// A setting of the world is out of range.
    #[error("{setting} is {value}; it must be {wanted}")]
    BadSetting {
        /// Name of the setting.
        setting: &'static str,
        /// Value given.
        value: f64,
        /// What it must be.
        wanted: &'static str,
    },
    /// The continuous penalty has an integrator of its own.
    #[error(
        "the response continuous-penalty takes the integrator symplectic-euler and no other, not {integrator}"
    )]
    IntegratorNotForResponse {
        /// Name of the integrator given.
        integrator: &'static str,
    },
    /// The pose of a body is not finite, or its rotation is not a unit quaternion.
    #[error("the pose is not rigid: its numbers must be finite and its quaternion of length 1")]
    BadPose,
    /// The mass or inertia of a body that forces move is not that of any body.
    #[error("a mass of {mass} kg with this inertia; both must be positive and finite")]
    BadMass {
        /// Mass given \[kg\].
        mass: f64,
    },
    /// A body that forces move has no end.
    #[error("an unbounded body cannot move by forces; make it fixed")]
    Unbounded,
    /// Nothing is in the body's field.
    #[error("the body has no solid: its field is positive everywhere")]
    Empty,
    /// The broad phase refuses the body's box.
    #[error(transparent)]
    Broad(#[from] BroadError),
}

/// Why a step fails.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StepError {
    /// A state is not finite any more.
    #[error("at {time} s the state of body {body} is not finite; take a smaller step")]
    NotFinite {
        /// Index of the body.
        body: usize,
        /// Simulated time \[s\].
        time: f64,
    },
    /// The broad phase refuses a box.
    #[error(transparent)]
    Broad(#[from] BroadError),
}

/// Energies of all bodies that forces move.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// Kinetic energy \[J\].
    pub kinetic: f64,
    /// Gravitational energy, zero at the world's origin \[J\].
    pub gravitational: f64,
}

impl Energy {
    /// Returns the sum \[J\].
    pub fn total(&self) -> f64 {
        self.kinetic + self.gravitational
    }
}

/// Share of the smaller body's diagonal that contacts are searched beyond how far bodies travel.
const SLACK_SHARE: f64 = 1e-3;

/// Share of a body's least extent that two bodies may approach between searches.
const LEAST_TRAVEL_SHARE: f64 = 0.25;

/// Most searches in a step.
const MOST_SEARCHES: u32 = 64;

/// Bodies, and the steps that advance them.
#[derive(Debug)]
pub struct World {
    settings: WorldSettings,
    bodies: Vec<Body>,
    time: f64,
    steps: u64,
    candidates: Candidates,
    slots: Slots,
    buffers: Buffers,
    deepest: f64,
    /// For each body, the mean push of the last step's contacts, which the continuous penalty
    /// applies in the next one.
    late: Vec<Push>,
}

/// Buffers that are reused from step to step.
#[derive(Debug, Default)]
struct Buffers {
    pairs: Vec<[u32; 2]>,
    margins: Vec<f64>,
    lanes: Vec<Lane>,
    impulse: ImpulseScratch,
    integrate: IntegrateScratch,
    states: Vec<State>,
    before: Vec<State>,
    included: Vec<bool>,
    /// For each body the number of pairs in which it rubs under penalties.
    rubbing: Vec<u32>,
    pushes: Vec<Push>,
    islands: Islands,
}

impl World {
    /// Creates a world without bodies.
    pub fn new(settings: WorldSettings) -> Result<World, WorldError> {
        let bad = |setting, value, wanted| WorldError::BadSetting {
            setting,
            value,
            wanted,
        };
        if !(settings.step > 0.0 && settings.step.is_finite()) {
            return Err(bad("step", settings.step, "finite and more than 0"));
        }
        if !settings.gravity.is_finite() {
            return Err(bad("gravity", settings.gravity.length(), "finite"));
        }
        if settings.substeps == 0 || settings.substeps > 1024 {
            let value = f64::from(settings.substeps);
            return Err(bad("substeps", value, "from 1 to 1024"));
        }
        if settings.penalty.midpoints == 0 || settings.penalty.midpoints > 10_000 {
            let value = f64::from(settings.penalty.midpoints);
            return Err(bad("midpoints", value, "from 1 to 10000"));
        }
        if settings.response == Response::ContinuousPenalty
            && settings.integrator() != Integrator::SymplecticEuler
        {
            return Err(WorldError::IntegratorNotForResponse {
                integrator: settings.integrator().name(),
            });
        }
        Ok(World {
            settings,
            bodies: Vec::new(),
            time: 0.0,
            steps: 0,
            candidates: Candidates::new()?,
            slots: Slots::default(),
            buffers: Buffers::default(),
            deepest: 0.0,
            late: Vec::new(),
        })
    }

    /// Adds a body and returns its index.
    pub fn add(&mut self, settings: BodySettings) -> Result<usize, WorldError> {
        let solid = settings.geometry.shape().solid();
        if solid.is_empty() {
            return Err(WorldError::Empty);
        }
        if !settings.pose.is_rigid() {
            return Err(WorldError::BadPose);
        }
        if settings.moves == Moves::Freely {
            if !solid.is_finite() {
                return Err(WorldError::Unbounded);
            }
            if !settings.mass.is_possible() {
                let mass = settings.mass.mass;
                return Err(WorldError::BadMass { mass });
            }
        }
        if let Some((setting, value, wanted)) = settings.material.fault() {
            return Err(WorldError::BadSetting {
                setting,
                value,
                wanted,
            });
        }
        let vectors = [
            ("velocity", settings.velocity),
            ("angular_velocity", settings.angular_velocity),
            ("force", settings.force),
            ("torque", settings.torque),
        ];
        if let Some((setting, vector)) = vectors.into_iter().find(|(_, v)| !v.is_finite()) {
            return Err(WorldError::BadSetting {
                setting,
                value: vector.length(),
                wanted: "finite",
            });
        }
        let body = Body::new(settings);
        self.candidates.add(&body)?;
        self.bodies.push(body);
        self.late.push(Push::default());
        Ok(self.bodies.len() - 1)
    }

    /// Returns the settings.
    pub fn settings(&self) -> &WorldSettings {
        &self.settings
    }

    /// Returns the simulated time \[s\].
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Returns the number of steps made.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns all bodies in the order in which they were added.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// Returns all bodies, for a state that is restored.
    pub(crate) fn bodies_mut(&mut self) -> &mut [Body] {
        &mut self.bodies
    }

    /// Returns the pushes that the last step left for the next one.
    pub(crate) fn late(&self) -> &[Push] {
        &self.late
    }

    /// Returns the pushes that the last step left for the next one, for a state that is restored.
    pub(crate) fn late_mut(&mut self) -> &mut [Push] {
        &mut self.late
    }

    /// Sets the number of steps made, and the time with it, for a state that is restored.
    pub(crate) fn set_steps(&mut self, steps: u64) {
        self.steps = steps;
        self.time = steps as f64 * self.settings.step;
    }

    /// Returns the energies.
    pub fn energy(&self) -> Energy {
        let free = self.bodies.iter().filter(|body| body.is_free());
        let mut energy = Energy::default();
        for body in free {
            energy.kinetic += body.kinetic_energy();
            let weight = body.settings.mass.mass * self.settings.gravity;
            energy.gravitational -= weight.dot(body.state.position);
        }
        energy
    }

    /// Returns the mean push of contacts on a body over the last step of the continuous penalty,
    /// which acts in the next one: F* and τ* of \[XuCcd2014\]. Zero with other responses.
    pub fn late_push(&self, body: usize) -> Push {
        self.late.get(body).copied().unwrap_or_default()
    }

    /// Returns the energy stored in overlaps by discrete penalties when they were last evaluated
    /// \[J\].
    pub fn stored_energy(&self) -> f64 {
        self.slots
            .all()
            .iter()
            .map(|slot| slot.penalty.energy)
            .sum()
    }

    /// Returns the number of contacts that the last search found closed or about to close.
    pub fn contact_count(&self) -> usize {
        let of = |slot: &Slot| slot.places.len() + slot.penalty.points as usize;
        self.slots.all().iter().map(of).sum()
    }

    /// Returns the greatest depth of any contact since the last call \[m\].
    pub fn take_deepest(&mut self) -> f64 {
        std::mem::take(&mut self.deepest)
    }

    /// Returns why the last search failed for a pair, with the indices of its bodies.
    pub fn faults(&self) -> impl Iterator<Item = ([usize; 2], &str)> {
        self.slots.all().iter().filter_map(|slot| {
            let fault = slot.fault.as_deref()?;
            Some((slot.bodies.map(|body| body as usize), fault))
        })
    }

    /// Advances all bodies by a step.
    pub fn step(&mut self) -> Result<(), StepError> {
        match self.settings.response {
            Response::Impulse => self.step_by_impulses()?,
            Response::Penalty => self.step_by_penalties()?,
            Response::ContinuousPenalty => self.step_by_late_penalties()?,
        }
        self.steps += 1;
        // A product, so that a million steps end where they should.
        self.time = self.steps as f64 * self.settings.step;
        let is_lost = |body: &Body| {
            let state = &body.state;
            !(state.position.is_finite()
                && state.orientation.is_finite()
                && state.momentum.is_finite()
                && state.angular_momentum.is_finite())
        };
        match self.bodies.iter().position(is_lost) {
            Some(body) => Err(StepError::NotFinite {
                body,
                time: self.time,
            }),
            None => Ok(()),
        }
    }

    fn step_by_impulses(&mut self) -> Result<(), StepError> {
        let step = self.settings.step;
        let substeps = self.settings.substeps;
        self.find_pairs(step)?;
        let searches = self.searches(step);
        // Each search is followed by equal substeps.
        let per_search = substeps.div_ceil(searches);
        let (piece, substep) = (
            step / f64::from(searches),
            step / f64::from(searches * per_search),
        );
        for search in 0..searches {
            let since = self.time + f64::from(search) * piece;
            if search > 0 {
                self.find_pairs(piece)?;
            }
            for number in 0..per_search {
                let time = since + f64::from(number) * substep;
                for body in &mut self.bodies {
                    body.drive_to(time, substep);
                }
                if number == 0 {
                    self.find_contacts(piece, substep, |_| true);
                    self.note_depths();
                    self.wake_and_sleep(piece);
                } else {
                    self.find_contacts(substep, substep, |slot| slot.is_cheap);
                }
                self.impulse_substep(time, substep);
            }
        }
        Ok(())
    }

    fn impulse_substep(&mut self, time: f64, step: f64) {
        let Buffers {
            impulse,
            integrate: scratch,
            states,
            included,
            ..
        } = &mut self.buffers;
        let settings = Substep {
            step,
            gravity: self.settings.gravity,
            integrator: self.settings.integrator(),
            solver: self.settings.solver,
        };
        impulse::substep(&mut self.bodies, self.slots.all_mut(), &settings, impulse);
        // Bodies in free flight.
        included.clear();
        let in_contact = impulse.in_contact().iter();
        included.extend(
            (self.bodies.iter().zip(in_contact))
                .map(|(body, &touched)| body.is_free() && !body.is_asleep && !touched),
        );
        if included.contains(&true) {
            states.clear();
            states.extend(self.bodies.iter().map(|body| body.state));
            let (bodies, gravity) = (&self.bodies, settings.gravity);
            integrate(
                settings.integrator,
                bodies,
                included,
                states,
                step,
                scratch,
                |_, out| {
                    for (body, out) in bodies.iter().zip(out) {
                        *out = body.push(gravity);
                    }
                },
            );
            for (body, state) in self.bodies.iter_mut().zip(states) {
                body.state = *state;
            }
        }
        for body in &mut self.bodies {
            body.place_driven(time + step);
        }
    }

    /// Finds the pairs that may meet within `step`.
    fn find_pairs(&mut self, step: f64) -> Result<(), BroadError> {
        let Buffers { pairs, margins, .. } = &mut self.buffers;
        let gravity = self.settings.gravity;
        margins.clear();
        margins.extend(self.bodies.iter().map(|body| body.travel(gravity, step)));
        for (body, margin) in self.bodies.iter().zip(margins.iter_mut()) {
            *margin += SLACK_SHARE * body.size();
        }
        self.candidates.update(&self.bodies, margins, pairs)?;
        self.slots.carry(pairs);
        Ok(())
    }

    /// Returns how many searches a step needs, so that no pair approaches by more than a share of
    /// its smaller body between two.
    fn searches(&self, step: f64) -> u32 {
        let needed = self.slots.all().iter().map(|slot| {
            let [a, b] = slot.bodies.map(|body| &self.bodies[body as usize]);
            let least = a.least_extent().min(b.least_extent());
            approach(a, b, self.settings.gravity, step) / (LEAST_TRAVEL_SHARE * least)
        });
        let needed = needed.fold(0.0, f64::max);
        (needed.ceil() as u32).clamp(1, MOST_SEARCHES)
    }

    /// Searches the contacts of pairs for which `anew` says so; those of other pairs are revisited.
    ///
    /// `step` is the time until pairs that are not cheap are searched again, `substep` that of the
    /// others.
    fn find_contacts(&mut self, step: f64, substep: f64, anew: impl Fn(&Slot) -> bool + Sync) {
        let (bodies, settings) = (&self.bodies, &self.settings);
        let work = |slot: &mut Slot, lane: &mut Lane| {
            let [a, b] = slot.bodies.map(|body| &bodies[body as usize]);
            let moves = |body: &Body| body.is_free() && !body.is_asleep;
            if !(moves(a) || moves(b) || a.is_driven() || b.is_driven()) {
                return;
            }
            let ahead = if slot.is_cheap { substep } else { step };
            let search = Search {
                a,
                b,
                ahead,
                reach: approach(a, b, settings.gravity, ahead)
                    + SLACK_SHARE * a.size().min(b.size()),
                method: settings.contacts,
            };
            if anew(slot) {
                search.run(slot, lane);
            } else {
                search.revisit(slot);
            }
        };
        in_lanes(self.slots.all_mut(), &mut self.buffers.lanes, work);
    }

    /// Notes the greatest depth of the contacts at hand.
    fn note_depths(&mut self) {
        for slot in self.slots.all() {
            let [a, b] = slot.bodies.map(|body| self.bodies[body as usize].pose());
            for place in &slot.places {
                self.deepest = self.deepest.max(-place.gap(&[a, b]));
            }
        }
    }
}

/// Returns how far two bodies may approach within `step` \[m\].
fn approach(a: &Body, b: &Body, gravity: DVec3, step: f64) -> f64 {
    let relative = (a.velocity() - b.velocity()).length() * step;
    let pull = |body: &Body| body.pulled(gravity, step);
    relative + pull(a) + pull(b) + a.swung(step) + b.swung(step)
}

/// Calls `work` for every slot, each lane for a piece of them.
fn in_lanes(slots: &mut [Slot], lanes: &mut Vec<Lane>, work: impl Fn(&mut Slot, &mut Lane) + Sync) {
    #[cfg(feature = "parallel")]
    {
        use rayon::prelude::*;
        /// Fewest pairs for which threads are worth waking.
        const WORTH_SHARING: usize = 4;
        let count = rayon::current_num_threads().min(slots.len());
        if lanes.len() < count.max(1) {
            lanes.resize_with(count.max(1), Lane::default);
        }
        if slots.len() >= WORTH_SHARING && count > 1 {
            // One lane for each run of consecutive slots: which thread takes it changes no result.
            let size = slots.len().div_ceil(count);
            (slots.par_chunks_mut(size).zip(lanes.par_iter_mut())).for_each(|(slots, lane)| {
                for slot in slots {
                    work(slot, lane);
                }
            });
            return;
        }
    }
    if lanes.is_empty() {
        lanes.push(Lane::default());
    }
    for slot in slots {
        work(slot, &mut lanes[0]);
    }
}

impl Body {
    /// Returns whether a prescribed motion moves the body at present.
    fn is_driven(&self) -> bool {
        self.drive_velocity != DVec3::ZERO || self.drive_spin != DVec3::ZERO
    }

    /// Returns the external push on a body: its weight and the forces of its settings.
    pub(crate) fn push(&self, gravity: DVec3) -> Push {
        if !self.is_free() {
            return Push::default();
        }
        self.allowed(Push {
            force: self.settings.mass.mass * gravity + self.settings.force,
            torque: self.settings.torque,
        })
    }

    /// Returns the diagonal of the body's box \[m\]; infinite if it has no end.
    pub(crate) fn size(&self) -> f64 {
        f64::from(self.geometry().shape().solid().diagonal())
    }

    /// Returns the least extent of the body's box \[m\].
    pub(crate) fn least_extent(&self) -> f64 {
        f64::from(self.geometry().shape().solid().extents().min_element())
    }

    /// Returns how far any point of the body may travel within `step` \[m\].
    pub(crate) fn travel(&self, gravity: DVec3, step: f64) -> f64 {
        self.velocity().length() * step + self.pulled(gravity, step) + self.swung(step)
    }

    /// Returns how far external forces may take the body within `step` \[m\].
    fn pulled(&self, gravity: DVec3, step: f64) -> f64 {
        let push = self.push(gravity);
        (self.inertia.inverse_mass * push.force).length() * step * step
    }

    /// Returns how far the body's rotation may take its points within `step` \[m\].
    fn swung(&self, step: f64) -> f64 {
        (self.angular_velocity().length() * step).min(2.0) * self.radius
    }
}
