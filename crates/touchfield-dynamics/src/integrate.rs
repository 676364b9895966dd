//! Integrators of the equations of motion.
//!
//! Input: the states of all bodies, and the wrench on each in any state.
//! Output: the states a step later.
//! Cost: one, one, two and four evaluations of the wrenches.
//! Not for: impulses, which change momenta at once, see `response`.

use glam::{DQuat, DVec3};

use crate::body::{Body, State};

/// How states go from one step to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Integrator {
    /// All quantities by their rates at the start: first order, gains energy.
    ExplicitEuler,
    /// Momenta first, then positions by the new momenta: first order, no drift of energy.
    SymplecticEuler,
    /// By the rates at half the step: second order.
    #[default]
    Midpoint,
    /// The classical Runge–Kutta method: fourth order.
    Rk4,
}

impl Integrator {
    /// All integrators, simplest first.
    pub const ALL: [Integrator; 4] = [
        Integrator::ExplicitEuler,
        Integrator::SymplecticEuler,
        Integrator::Midpoint,
        Integrator::Rk4,
    ];

    /// Returns the name used in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Integrator::ExplicitEuler => "explicit-euler",
            Integrator::SymplecticEuler => "symplectic-euler",
            Integrator::Midpoint => "midpoint",
            Integrator::Rk4 => "rk4",
        }
    }

    /// Returns the share of a step's constant acceleration with which the mean velocity of the step
    /// is off its initial velocity: how far a body moves under a constant force.
    pub(crate) fn drift_share(self) -> f64 {
        match self {
            Integrator::ExplicitEuler => 0.0,
            Integrator::SymplecticEuler => 1.0,
            Integrator::Midpoint | Integrator::Rk4 => 0.5,
        }
    }
}

/// A force, and a torque about the centre of mass, in the world.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Push {
    /// Force \[N\].
    pub force: DVec3,
    /// Torque about the centre of mass \[N·m\].
    pub torque: DVec3,
}

impl Push {
    /// Adds a force that acts at an offset from the centre of mass.
    pub fn add_at(&mut self, offset: DVec3, force: DVec3) {
        self.force += force;
        self.torque += offset.cross(force);
    }
}

/// Rates of change of a state.
#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    velocity: DVec3,
    spin: DVec3,
    push: Push,
    /// Derivative of the quaternion, for the classical method only.
    turning: DQuat,
}

/// Returns a state moved along its rates for `step`; the orientation turns by the rotation vector
/// `spin · step`, so it stays a rotation.
fn moved(from: &State, rate: &Rate, step: f64) -> State {
    State {
        position: from.position + step * rate.velocity,
        orientation: turned_by(from.orientation, step * rate.spin),
        momentum: from.momentum + step * rate.push.force,
        angular_momentum: from.angular_momentum + step * rate.push.torque,
    }
}

fn turned_by(orientation: DQuat, turn: DVec3) -> DQuat {
    (crate::frame::rotation_by(turn) * orientation).normalize()
}

/// Buffers of the integrators, reused from step to step.
#[derive(Clone, Debug, Default)]
pub(crate) struct IntegrateScratch {
    pushes: Vec<Push>,
    stage: Vec<State>,
    rates: Vec<[Rate; 4]>,
}

/// Advances the bodies that are `included` by `step`. `pushes(states, out)` writes the push on each
/// body in the given states, which `out` has one entry for.
pub(crate) fn integrate(
    integrator: Integrator,
    bodies: &[Body],
    included: &[bool],
    states: &mut [State],
    step: f64,
    scratch: &mut IntegrateScratch,
    mut pushes: impl FnMut(&[State], &mut [Push]),
) {
    let IntegrateScratch {
        pushes: buffer,
        stage,
        rates,
    } = scratch;
    buffer.clear();
    buffer.resize(bodies.len(), Push::default());
    rates.clear();
    rates.resize(bodies.len(), [Rate::default(); 4]);
    stage.clear();
    stage.extend_from_slice(states);
    let mut rate_at = |stage: &[State], place: usize, rates: &mut [[Rate; 4]]| {
        buffer.fill(Push::default());
        pushes(stage, buffer);
        for (((body, state), push), rates) in bodies.iter().zip(stage).zip(buffer.iter()).zip(rates)
        {
            rates[place] = Rate {
                velocity: body.velocity_of(state),
                spin: body.spin_of(state),
                push: body.allowed(*push),
                turning: DQuat::IDENTITY,
            };
        }
    };
    rate_at(stage, 0, rates);
    let places = || (0..bodies.len()).filter(|&place| included[place]);
    match integrator {
        Integrator::ExplicitEuler => {
            for place in places() {
                states[place] = moved(&states[place], &rates[place][0], step);
            }
        }
        Integrator::SymplecticEuler => {
            for place in places() {
                let (body, state, push) =
                    (&bodies[place], &mut states[place], rates[place][0].push);
                state.momentum += step * push.force;
                state.angular_momentum += step * push.torque;
                state.position += step * body.velocity_of(state);
                state.orientation = turned_by(state.orientation, step * body.spin_of(state));
            }
        }
        Integrator::Midpoint => {
            for place in places() {
                stage[place] = moved(&states[place], &rates[place][0], 0.5 * step);
            }
            rate_at(stage, 1, rates);
            for place in places() {
                states[place] = moved(&states[place], &rates[place][1], step);
            }
        }
        Integrator::Rk4 => {
            for (number, share) in [(1, 0.5), (2, 0.5), (3, 1.0)] {
                for place in places() {
                    let (state, rates) = (&states[place], &mut rates[place]);
                    rates[number - 1].turning = turning(state, rates, number - 1, step);
                    stage[place] = moved(state, &rates[number - 1], share * step);
                    let raw = state.orientation + rates[number - 1].turning * (share * step);
                    stage[place].orientation = raw.normalize();
                }
                rate_at(stage, number, rates);
            }
            for place in places() {
                let (state, rates) = (&mut states[place], &mut rates[place]);
                rates[3].turning = turning(state, rates, 3, step);
                *state = runge_kutta(state, rates, step);
            }
        }
    }
}

/// Returns the orientation after `step` of a body whose angular momentum stays the same.
pub(crate) fn spun(
    integrator: Integrator,
    body: &Body,
    orientation: DQuat,
    angular_momentum: DVec3,
    step: f64,
) -> DQuat {
    let spin = |q: DQuat| body.drive_spin + body.inertia.world_inverse(q) * angular_momentum;
    let slope = |raw: DQuat| derivative(spin(raw.normalize()), raw);
    match integrator {
        Integrator::ExplicitEuler | Integrator::SymplecticEuler => {
            turned_by(orientation, step * spin(orientation))
        }
        Integrator::Midpoint => {
            let middle = turned_by(orientation, 0.5 * step * spin(orientation));
            turned_by(orientation, step * spin(middle))
        }
        Integrator::Rk4 => {
            let first = slope(orientation);
            let second = slope(orientation + first * (0.5 * step));
            let third = slope(orientation + second * (0.5 * step));
            let fourth = slope(orientation + third * step);
            let mean = (first + fourth) * (1.0 / 6.0) + (second + third) * (1.0 / 3.0);
            (orientation + mean * step).normalize()
        }
    }
}

/// Returns the derivative `½ ω q` of the quaternion at a stage. The quaternion is that of the stage
/// before it is made a unit one, which keeps the method's order.
fn turning(start: &State, rates: &[Rate; 4], place: usize, step: f64) -> DQuat {
    let raw = match place {
        0 => start.orientation,
        3 => start.orientation + rates[2].turning * step,
        _ => start.orientation + rates[place - 1].turning * (0.5 * step),
    };
    derivative(rates[place].spin, raw)
}

/// Returns the derivative `½ ω q` of a quaternion that turns at the angular velocity `spin`.
fn derivative(spin: DVec3, raw: DQuat) -> DQuat {
    DQuat::from_xyzw(spin.x, spin.y, spin.z, 0.0) * raw * 0.5
}

fn runge_kutta(from: &State, rates: &[Rate; 4], step: f64) -> State {
    const SHARES: [f64; 4] = [1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0];
    let mut to = *from;
    for (rate, share) in rates.iter().zip(SHARES) {
        to.position += share * step * rate.velocity;
        to.momentum += share * step * rate.push.force;
        to.angular_momentum += share * step * rate.push.torque;
        to.orientation += rate.turning * (share * step);
    }
    to.orientation = to.orientation.normalize();
    to
}

impl Body {
    /// Returns the part of a push along free directions.
    pub(crate) fn allowed(&self, push: Push) -> Push {
        Push {
            force: self.settings.locked.free_translation() * push.force,
            torque: self.settings.locked.free_rotation() * push.torque,
        }
    }
}
