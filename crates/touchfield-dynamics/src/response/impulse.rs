//! Impulses: bodies do not enter each other, and their velocities follow Coulomb and Newton.
//!
//! Input: bodies, the places where they touch, the step.
//! Output: states a step later.
//! Cost: linear in the contacts, times the rounds of the solver.
//! Not for: deformation; how hard bodies press is known only as impulses.
//!
//! Every substep solves two small complementarity problems over the same contacts, both by
//! projected Gauss–Seidel with the impulses of the last substep to start from:
//!
//! 1. *Moving.* Impulses that let the bodies move, by the mean velocity of the substep, to where no
//!    contact is closed further. They move the bodies and are then dropped, so that pushing bodies
//!    apart adds no energy.
//! 2. *Resting.* Impulses on the velocities themselves, at contacts that are closed after the
//!    motion: they end the approach, or reverse it by the restitution.
//!
//! An impact within a substep is taken to its moment: a contact that closes after the time t at the
//! speed v leaves with e·v for the rest of the substep, gravity included. So a ball bounces to the
//! height that its restitution says, whatever the step.

use glam::{DMat3, DQuat, DVec3};

use crate::body::{Body, Material};
use crate::contacts::{Place, Slot};
use crate::integrate::{Integrator, spun};
use crate::response::pivoting::{Complementarity, SIDES};

/// How the two problems are solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Solver {
    /// Contact by contact, in rounds that start from the impulses of the last substep.
    #[default]
    Sequential,
    /// All contacts at once, by pivoting: for a few contacts, and to check the other. Worlds with
    /// more than [`Solver::MOST_PIVOTED`] contacts at a time are solved sequentially.
    Pivoting,
}

impl Solver {
    /// Most contacts that are solved by pivoting.
    pub const MOST_PIVOTED: usize = 48;

    /// Returns the name used in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Solver::Sequential => "sequential",
            Solver::Pivoting => "pivoting",
        }
    }
}

/// Rounds of the solver at most, per problem and substep.
const MOST_ROUNDS: u32 = 60;

/// Rounds at most beyond these, along conjugate directions.
const MOST_ACCELERATED: u32 = 120;

/// Change of relative speed in a round, as a share of the greatest speed at which a contact closes
/// or slides, below which no more than [`MOST_ROUNDS`] are made.
const CLOSE_ENOUGH: f64 = 1e-5;

/// Change of relative speed in a round, as a share of the speed that gravity adds in a substep,
/// below which the solver stops.
const CONVERGED: f64 = 1e-4;

/// Share of an overlap that is taken back in a substep.
const PUSH_OUT: f64 = 0.2;

/// Gap up to which bodies count as touching, as a share of the smaller one's diagonal: some ten
/// times what contact queries in `f32` resolve.
const RESOLVED_SHARE: f64 = 2e-6;

/// Approach speeds below this multiple of what a substep's acceleration adds do not bounce: they
/// are those of bodies at rest.
const BOUNCE_FROM: f64 = 1.5;

/// A contact between two bodies as the solver sees it.
#[derive(Clone, Copy, Debug)]
struct Joint {
    bodies: [usize; 2],
    /// Normal from A to B and two tangents.
    axes: [DVec3; 3],
    /// Offsets of the contact from the centres of mass.
    arms: [DVec3; 2],
    /// The same at the start of the substep.
    arms_at_start: [DVec3; 2],
    /// For each axis the change of angular velocity of each body per impulse.
    turns: [[DVec3; 2]; 3],
    /// Impulse per relative speed along each axis.
    masses: [f64; 3],
    friction: f64,
    restitution: f64,
    gap: f64,
    /// Relative speed along the normal that the first problem demands.
    moving_target: f64,
    /// Relative speed along the normal that the second problem demands.
    resting_target: f64,
    is_closed: bool,
    /// Gap up to which bodies count as touching \[m\].
    resolved: f64,
    /// Approach speed from which the contact bounces \[m/s\].
    bounce_from: f64,
    impulses: [f64; 3],
    /// Impulses before a round, and the way in which rounds have moved them, see [`accelerate`].
    before: [f64; 3],
    way: [f64; 3],
    /// Slot and place that the contact comes from.
    source: [usize; 2],
}

/// Velocities of a body while the solver works.
#[derive(Clone, Copy, Debug, Default)]
struct Velocity {
    linear: DVec3,
    angular: DVec3,
    inverse_mass: DVec3,
    inverse_inertia: DMat3,
}

/// Buffers of the solver.
#[derive(Debug, Default)]
pub(crate) struct ImpulseScratch {
    joints: Vec<Joint>,
    velocities: Vec<Velocity>,
    /// Change of momentum and angular momentum of each body by the first problem.
    start: Vec<Velocity>,
    in_contact: Vec<bool>,
    pivoting: Complementarity,
}

/// Settings of a substep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Substep {
    pub(crate) step: f64,
    pub(crate) gravity: DVec3,
    pub(crate) integrator: Integrator,
    pub(crate) solver: Solver,
}

impl Substep {
    /// Returns the acceleration of a free body's centre.
    fn acceleration(&self, body: &Body) -> DVec3 {
        let push = body.push(self.gravity);
        body.inertia.inverse_mass * push.force
    }
}

/// Moves all bodies that are in contact by a substep, and writes the impulses into the slots.
/// `in_contact()` tells afterwards which bodies were moved.
pub(crate) fn substep(
    bodies: &mut [Body],
    slots: &mut [Slot],
    settings: &Substep,
    scratch: &mut ImpulseScratch,
) {
    let ImpulseScratch {
        joints,
        velocities,
        start,
        in_contact,
        pivoting,
    } = scratch;
    collect(bodies, slots, joints, in_contact);
    if joints.is_empty() {
        return;
    }
    let step = settings.step;
    let share = settings.integrator.drift_share();
    let gravity_speed = settings.gravity.length() * step;
    // First problem: the mean velocity of the substep.
    let set = |velocities: &mut Vec<Velocity>, share: f64| {
        velocities.clear();
        velocities.extend(bodies.iter().map(|body| {
            let push = body.push(settings.gravity);
            let state = body.state();
            let inverse_inertia = body.inertia.world_inverse(state.orientation);
            let momentum = state.momentum + share * step * push.force;
            let angular = state.angular_momentum + share * step * push.torque;
            Velocity {
                linear: body.drive_velocity + body.inertia.inverse_mass * momentum,
                angular: body.drive_spin + inverse_inertia * angular,
                inverse_mass: body.inertia.inverse_mass,
                inverse_inertia,
            }
        }));
    };
    set(velocities, share);
    for joint in joints.iter_mut() {
        joint.turn_arms(bodies, 0.5 * step);
        aim(joint, bodies, velocities, settings);
        joint.impulses = slots[joint.source[0]].places[joint.source[1]].moving;
    }
    let enough = CONVERGED * gravity_speed;
    let mut solve_for = |joints: &mut [Joint], velocities: &mut [Velocity], target: Target| {
        let is_few = joints.len() <= Solver::MOST_PIVOTED;
        let at_once = settings.solver == Solver::Pivoting && is_few;
        // Where pivoting ends on a ray the other solver goes on from what it found last.
        if !(at_once && solve_at_once(joints, velocities, target, pivoting)) {
            solve(joints, velocities, enough, target);
        }
    };
    solve_for(joints, velocities, |joint| joint.moving_target);
    start.clear();
    start.extend_from_slice(velocities);
    // Second problem: the velocities at the end of the substep.
    set(velocities, 1.0);
    for joint in joints.iter_mut() {
        let speed = relative(joint, start, 0);
        joint.turn_arms(bodies, step);
        let left = joint.gap + step * speed;
        let place = &mut slots[joint.source[0]].places[joint.source[1]];
        place.moving = joint.impulses;
        // Closed: the first problem held it, or it ends where bodies touch, to within what contact
        // queries resolve. One that is about to bounce waits for its moment.
        let will_bounce = joint.restitution > 0.0 && speed < -joint.bounce_from;
        joint.is_closed = joint.impulses[0] > 0.0 || (left <= joint.resolved && !will_bounce);
        joint.impulses = if joint.is_closed {
            place.resting
        } else {
            [0.0; 3]
        };
    }
    solve_for(joints, velocities, |joint| joint.resting_target);
    for joint in joints.iter() {
        slots[joint.source[0]].places[joint.source[1]].resting = joint.impulses;
    }
    // Move by the velocities of the first problem, and keep those of the second.
    for (index, body) in bodies.iter_mut().enumerate() {
        if !in_contact[index] {
            continue;
        }
        let (mean, end) = (start[index], velocities[index]);
        let mass = body.settings.mass.mass;
        let orientation = body.state.orientation;
        let mean_momentum = body.inertia.angular_momentum(orientation, mean.angular);
        body.state.position += step * mean.linear;
        body.state.orientation = spun(settings.integrator, body, orientation, mean_momentum, step);
        body.state.momentum = mass * end.linear;
        body.state.angular_momentum = body.inertia.angular_momentum(orientation, end.angular);
    }
}

impl ImpulseScratch {
    /// Returns which bodies the last substep moved.
    pub(crate) fn in_contact(&self) -> &[bool] {
        &self.in_contact
    }
}

/// Fills the list of contacts between bodies that are awake, and marks the bodies in contact.
fn collect(bodies: &[Body], slots: &[Slot], joints: &mut Vec<Joint>, in_contact: &mut Vec<bool>) {
    joints.clear();
    in_contact.clear();
    in_contact.resize(bodies.len(), false);
    for (number, slot) in slots.iter().enumerate() {
        let pair = slot.bodies.map(|body| body as usize);
        let [a, b] = pair.map(|body| &bodies[body]);
        let can_move = |body: &Body| body.is_free() && !body.is_asleep;
        if slot.places.is_empty() || !(can_move(a) || can_move(b)) {
            continue;
        }
        let material = Material::between(&a.settings.material, &b.settings.material);
        for (index, place) in slot.places.iter().enumerate() {
            let mut joint = Joint::new(pair, [a, b], place, &material);
            joint.source = [number, index];
            joints.push(joint);
        }
        for body in pair {
            in_contact[body] = can_move(&bodies[body]);
        }
    }
}

impl Joint {
    fn new(pair: [usize; 2], bodies: [&Body; 2], place: &Place, material: &Material) -> Joint {
        let [on_a, on_b] = [
            bodies[0].pose().point(place.on_a),
            bodies[1].pose().point(place.on_b),
        ];
        let middle = 0.5 * (on_a + on_b);
        let arms = bodies.map(|body| middle - body.state.position);
        let normal = place.normal;
        let (first, second) = normal.any_orthonormal_pair();
        Joint {
            bodies: pair,
            axes: [normal, first, second],
            arms,
            arms_at_start: arms,
            turns: [[DVec3::ZERO; 2]; 3],
            masses: [0.0; 3],
            friction: material.friction,
            restitution: material.restitution,
            gap: (on_b - on_a).dot(normal),
            moving_target: 0.0,
            resting_target: 0.0,
            is_closed: true,
            resolved: RESOLVED_SHARE * bodies[0].size().min(bodies[1].size()),
            bounce_from: 0.0,
            impulses: [0.0; 3],
            before: [0.0; 3],
            way: [0.0; 3],
            source: [0; 2],
        }
    }

    /// Turns the arms about the normal as far as the bodies turn in `time` \[s\], and computes how
    /// the bodies respond to impulses there.
    ///
    /// What lies on a turntable goes round with it: half a substep on, the point below it moves
    /// along the chord of its way; a substep on, along the tangent at the end. With the arms of the
    /// start everything would creep outwards.
    fn turn_arms(&mut self, bodies: &[Body], time: f64) {
        let both = self.bodies.map(|body| &bodies[body]);
        let normal = self.axes[0];
        for (side, body) in both.iter().enumerate() {
            let angle = body.angular_velocity().dot(normal) * time;
            let arm = self.arms_at_start[side];
            self.arms[side] = match angle == 0.0 {
                true => arm,
                false => DQuat::from_axis_angle(normal, angle) * arm,
            };
        }
        let inverses = both.map(|body| body.inertia.world_inverse(body.state.orientation));
        for (number, axis) in self.axes.into_iter().enumerate() {
            let mut give = 0.0;
            for side in [0, 1] {
                let turn = inverses[side] * self.arms[side].cross(axis);
                self.turns[number][side] = turn;
                give += (both[side].inertia.inverse_mass * axis).dot(axis);
                give += turn.cross(self.arms[side]).dot(axis);
            }
            self.masses[number] = if give > 0.0 { 1.0 / give } else { 0.0 };
        }
    }
}

/// Returns the speed of B relative to A at a contact along one of its axes.
fn relative(joint: &Joint, velocities: &[Velocity], axis: usize) -> f64 {
    speed_along(joint, joint.axes[axis], velocities)
}

/// Sets what the two problems demand of a contact.
fn aim(joint: &mut Joint, bodies: &[Body], velocities: &[Velocity], settings: &Substep) {
    let step = settings.step;
    joint.resting_target = 0.0;
    joint.moving_target = if joint.gap >= 0.0 {
        -joint.gap / step
    } else {
        PUSH_OUT * -joint.gap / step
    };
    if joint.restitution == 0.0 {
        return;
    }
    // The approach as if nothing were in the way.
    let [a, b] = joint.bodies.map(|body| &bodies[body]);
    let pull = (settings.acceleration(b) - settings.acceleration(a)).dot(joint.axes[0]);
    let share = settings.integrator.drift_share();
    let at_start = relative(joint, velocities, 0) - share * step * pull;
    joint.bounce_from = BOUNCE_FROM * pull.abs() * step;
    let gap = joint.gap.max(0.0);
    let Some(time) = time_to_close(gap, at_start, pull).filter(|&time| time <= step) else {
        return;
    };
    let approach = -(at_start + pull * time);
    if approach <= joint.bounce_from {
        return;
    }
    let rest = step - time;
    let leaving = joint.restitution * approach;
    let end_gap = (leaving * rest + 0.5 * pull * rest * rest).max(0.0);
    joint.moving_target = joint.moving_target.max((end_gap - gap) / step);
    joint.resting_target = (leaving + pull * rest).max(0.0);
}

/// Returns when a gap closes that changes at this speed and acceleration.
fn time_to_close(gap: f64, speed: f64, acceleration: f64) -> Option<f64> {
    if gap <= 0.0 {
        return (speed < 0.0).then_some(0.0);
    }
    // The smaller positive root of gap + speed t + ½ acceleration t², in the form without
    // cancellation.
    let discriminant = speed * speed - 2.0 * acceleration * gap;
    if discriminant < 0.0 {
        return None;
    }
    let root = discriminant.sqrt();
    let below = -speed + root;
    if below > 0.0 {
        Some(2.0 * gap / below)
    } else {
        None
    }
}

/// What a problem demands of a contact.
type Target = fn(&Joint) -> f64;

/// Solves one of the two problems by pivoting. Returns whether that succeeded.
fn solve_at_once(
    joints: &mut [Joint],
    velocities: &mut [Velocity],
    target: Target,
    problem: &mut Complementarity,
) -> bool {
    // Unknowns of a contact: the normal impulse, those along the sides of the pyramid, and the
    // speed at which it slides.
    const EACH: usize = SIDES + 2;
    let directions = |joint: &Joint| -> [DVec3; SIDES + 1] {
        let mut axes = [joint.axes[0]; SIDES + 1];
        for (side, axis) in axes[1..].iter_mut().enumerate() {
            let angle = std::f64::consts::TAU * side as f64 / SIDES as f64;
            *axis = angle.cos() * joint.axes[1] + angle.sin() * joint.axes[2];
        }
        axes
    };
    problem.reset(EACH * joints.len());
    for (row, of) in joints.iter().enumerate() {
        let first = EACH * row;
        if !of.is_closed {
            // Held at zero: its speed is never below zero.
            for unknown in 0..EACH {
                problem.add(first + unknown, first + unknown, 1.0);
            }
            continue;
        }
        let axes = directions(of);
        for (number, &axis) in axes.iter().enumerate() {
            let speed = speed_along(of, axis, velocities);
            let wanted = if number == 0 { target(of) } else { 0.0 };
            problem.set_offset(first + number, speed - wanted);
            if number > 0 {
                problem.add(first + number, first + SIDES + 1, 1.0);
                problem.add(first + SIDES + 1, first + number, -1.0);
            }
        }
        problem.add(first + SIDES + 1, first, of.friction);
        for (column, by) in joints.iter().enumerate().filter(|(_, by)| by.is_closed) {
            for (from, &push) in directions(by).iter().enumerate() {
                for (to, &axis) in axes.iter().enumerate() {
                    let response = response(of, axis, by, push, velocities);
                    problem.add(first + to, EACH * column + from, response);
                }
            }
        }
    }
    let Some(solution) = problem.solve() else {
        return false;
    };
    for (number, joint) in joints.iter_mut().enumerate() {
        let found = &solution[EACH * number..][..EACH];
        let mut impulses = [found[0], 0.0, 0.0];
        for side in 0..SIDES {
            let angle = std::f64::consts::TAU * side as f64 / SIDES as f64;
            impulses[1] += found[1 + side] * angle.cos();
            impulses[2] += found[1 + side] * angle.sin();
        }
        joint.impulses = if joint.is_closed { impulses } else { [0.0; 3] };
    }
    for joint in joints.iter() {
        for axis in 0..3 {
            push(joint, axis, joint.impulses[axis], velocities);
        }
    }
    true
}

/// Returns the speed of B relative to A at a contact along a direction.
fn speed_along(joint: &Joint, axis: DVec3, velocities: &[Velocity]) -> f64 {
    let at = |side: usize| {
        let velocity = &velocities[joint.bodies[side]];
        velocity.linear + velocity.angular.cross(joint.arms[side])
    };
    (at(1) - at(0)).dot(axis)
}

/// Returns how much the speed at one contact along `axis` grows for an impulse at another along
/// `push`.
fn response(of: &Joint, axis: DVec3, by: &Joint, push: DVec3, velocities: &[Velocity]) -> f64 {
    let mut total = 0.0;
    for (side, sign) in [(0, -1.0), (1, 1.0)] {
        for (other, other_sign) in [(0, -1.0), (1, 1.0)] {
            if of.bodies[side] != by.bodies[other] {
                continue;
            }
            let body = &velocities[of.bodies[side]];
            let linear = body.inverse_mass * push;
            let angular = body.inverse_inertia * by.arms[other].cross(push);
            let moved = linear + angular.cross(of.arms[side]);
            total += sign * other_sign * moved.dot(axis);
        }
    }
    total
}

/// Solves one of the two problems for all contacts.
fn solve(joints: &mut [Joint], velocities: &mut [Velocity], enough: f64, target: Target) {
    for joint in joints.iter() {
        for axis in 0..3 {
            push(joint, axis, joint.impulses[axis], velocities);
        }
    }
    let mut change = f64::INFINITY;
    for round in 0..MOST_ROUNDS {
        change = 0.0;
        let count = joints.len();
        for turn in 0..count {
            // There and back, so that what lies under a stack is heard above as soon as below.
            let index = if round % 2 == 0 {
                turn
            } else {
                count - 1 - turn
            };
            let joint = &mut joints[index];
            if joint.is_closed {
                change = change.max(relax(joint, velocities, target(joint)));
            }
        }
        if change <= enough {
            return;
        }
    }
    let fastest = joints.iter().map(|joint| {
        let speeds = [0, 1, 2].map(|axis| relative(joint, velocities, axis).abs());
        speeds.into_iter().fold(target(joint).abs(), f64::max)
    });
    let enough = enough.max(CLOSE_ENOUGH * fastest.fold(0.0, f64::max));
    if change > enough {
        accelerate(joints, velocities, enough, target);
    }
}

/// Goes on where the rounds were too few: heavy bodies on light ones, long chains of contacts.
///
/// A round moves the impulses like a step down a slope; conjugate directions take the turns out of
/// the way that many such steps make \[Silcowitz2010\].
fn accelerate(joints: &mut [Joint], velocities: &mut [Velocity], enough: f64, target: Target) {
    let mut last = 0.0;
    for round in 0..MOST_ACCELERATED {
        let mut change = 0.0_f64;
        for joint in joints.iter_mut() {
            joint.before = joint.impulses;
            if joint.is_closed {
                change = change.max(relax(joint, velocities, target(joint)));
            }
        }
        // The last round is one that holds the impulses within their bounds.
        if change <= enough || round + 1 == MOST_ACCELERATED {
            return;
        }
        let slope = |joint: &Joint, axis: usize| joint.before[axis] - joint.impulses[axis];
        let squares = joints
            .iter()
            .flat_map(|joint| [0, 1, 2].map(|axis| slope(joint, axis)));
        let length: f64 = squares.map(|slope| slope * slope).sum();
        let share = length / last;
        let goes_on = last > 0.0 && share <= 1.0;
        last = length;
        for joint in joints.iter_mut() {
            for axis in 0..3 {
                let slope = slope(joint, axis);
                if !goes_on {
                    joint.way[axis] = -slope;
                    continue;
                }
                let along = share * joint.way[axis];
                joint.impulses[axis] += along;
                push(joint, axis, along, velocities);
                joint.way[axis] = along - slope;
            }
        }
    }
}

/// Solves one contact with all others held. Returns the largest change of a relative speed.
fn relax(joint: &mut Joint, velocities: &mut [Velocity], target: f64) -> f64 {
    let speed = relative(joint, velocities, 0);
    let before = joint.impulses[0];
    let wanted = before + joint.masses[0] * (target - speed);
    joint.impulses[0] = wanted.max(0.0);
    let normal = joint.impulses[0] - before;
    push(joint, 0, normal, velocities);
    let mut change = if joint.masses[0] > 0.0 {
        (normal / joint.masses[0]).abs()
    } else {
        0.0
    };
    // Friction: both tangents at once, held within the disc.
    let most = joint.friction * joint.impulses[0];
    let old = [joint.impulses[1], joint.impulses[2]];
    let mut new = [1, 2]
        .map(|axis| joint.impulses[axis] - joint.masses[axis] * relative(joint, velocities, axis));
    let length = new[0].hypot(new[1]);
    if length > most {
        let scale = if length > 0.0 { most / length } else { 0.0 };
        new = new.map(|impulse| impulse * scale);
    }
    for (axis, (new, old)) in (1..).zip(new.into_iter().zip(old)) {
        joint.impulses[axis] = new;
        push(joint, axis, new - old, velocities);
        if joint.masses[axis] > 0.0 {
            change = change.max(((new - old) / joint.masses[axis]).abs());
        }
    }
    change
}

/// Applies an impulse along one of the axes of a contact.
fn push(joint: &Joint, axis: usize, impulse: f64, velocities: &mut [Velocity]) {
    if impulse == 0.0 {
        return;
    }
    for (side, sign) in [(0, -1.0), (1, 1.0)] {
        let velocity = &mut velocities[joint.bodies[side]];
        velocity.linear += velocity.inverse_mass * (sign * impulse * joint.axes[axis]);
        velocity.angular += sign * impulse * joint.turns[axis][side];
    }
}
