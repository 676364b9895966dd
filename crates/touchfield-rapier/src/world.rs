//! Setup and stepping of a world with fields.
//!
//! Input: a world, and the size of its bodies. Output: the dispatcher that the world now uses,
//! whose counts can be read.
//! Cost: none. Not for: worlds with bodies of very different sizes: choose the size of the smallest
//! body that must be right.

use rapier::dynamics::{IntegrationParameters, RigidBody, RigidBodyActivation, RigidBodyHandle};
use rapier::geometry::Collider;
use rapier::math::{Pose, Real};
use rapier::parry::bounding_volume::{Aabb, BoundingVolume};
use rapier::parry::query::NonlinearRigidMotion;
use rapier::pipeline::{EventHandler, PhysicsHooks, PhysicsWorld};

use crate::dispatcher::FieldDispatcher;
use crate::partner::holds_field;
use crate::sweep::{self, Asker};
use crate::tuning::world::{LEAST_SHARE, MOST_CUTS, MOST_ROUNDS, RECYCLE_SHARE};

/// Installs a [`FieldDispatcher`] in a world and sets the world's lengths for bodies of about
/// `size` \[m\]. Returns the dispatcher.
pub fn install(world: &mut PhysicsWorld, size: Real) -> FieldDispatcher {
    let dispatcher = FieldDispatcher::default();
    world.narrow_phase.set_query_dispatcher(dispatcher.clone());
    configure(&mut world.integration_parameters, size);
    dispatcher
}

/// Advances a world by one step in which two moving bodies do not pass through each other either.
///
/// Rapier sweeps fast bodies against fixed ones. It sweeps bodies with CCD enabled against moving
/// ones as if those had already moved, but never two such bodies against each other. This function
/// cuts the step where two dynamic bodies, at least one of them a field, would first touch, up to
/// [`MOST_CUTS`] times; from there on the solver has their contact. The solver may send them
/// elsewhere than they were going. If that led them through each other, both are held back at the
/// moment at which they met, as Rapier holds a fast body back before a fixed one.
pub fn step(world: &mut PhysicsWorld, fields: &FieldDispatcher) {
    step_with_events(world, fields, &(), &());
}

/// Advances a world like [`step`], with hooks and events.
pub fn step_with_events(
    world: &mut PhysicsWorld,
    fields: &FieldDispatcher,
    hooks: &dyn PhysicsHooks,
    events: &dyn EventHandler,
) {
    let whole = world.integration_parameters.dt;
    let mut left = whole;
    for _ in 0..MOST_CUTS {
        let Some(time) = first_touch_of_movers(world, fields, left) else {
            break;
        };
        part_of_step(world, fields, time, hooks, events);
        left -= time;
        if left <= LEAST_SHARE * whole {
            break;
        }
    }
    if left > LEAST_SHARE * whole {
        part_of_step(world, fields, left, hooks, events);
    }
    world.integration_parameters.dt = whole;
}

/// Runs a substep, after which no two bodies have passed through each other.
fn part_of_step(
    world: &mut PhysicsWorld,
    fields: &FieldDispatcher,
    duration: Real,
    hooks: &dyn PhysicsHooks,
    events: &dyn EventHandler,
) {
    let before: Vec<(RigidBodyHandle, Pose)> = (dynamic_bodies(world))
        .map(|(handle, body)| (handle, *body.position()))
        .collect();
    world.integration_parameters.dt = duration;
    world.step_with_events(hooks, events);
    hold_back(world, fields, &before);
}

/// Holds back bodies that passed through each other on their way from their earlier poses, each
/// where it first met another.
fn hold_back(
    world: &mut PhysicsWorld,
    fields: &FieldDispatcher,
    before: &[(RigidBodyHandle, Pose)],
) {
    let mut changed: Option<Vec<RigidBodyHandle>> = None;
    for _ in 0..MOST_ROUNDS {
        // The motions of this substep.
        let movers: Vec<Mover<'_>> = (before.iter())
            .filter_map(|(handle, start)| Some((*handle, start, world.bodies.get(*handle)?)))
            .flat_map(|(handle, start, body)| {
                let gone = motion_between(start, body);
                Mover::all(world, handle, body, gone, 1.0)
            })
            .collect();
        // A body that was held back may be in the way of another now; all other pairs have been
        // checked.
        let is_new = |body: &RigidBodyHandle| {
            let changed = changed.as_ref();
            changed.is_none_or(|changed| changed.contains(body))
        };
        // The earliest touch of each body that met another.
        let mut held: Vec<(RigidBodyHandle, Real)> = Vec::new();
        for (index, a) in movers.iter().enumerate() {
            for b in &movers[index + 1..] {
                if !(is_new(&a.body) || is_new(&b.body)) {
                    continue;
                }
                let Some(time) = a.touch(b, fields, 1.0) else {
                    continue;
                };
                for body in [a.body, b.body] {
                    match held.iter_mut().find(|(other, _)| *other == body) {
                        Some((_, earliest)) => *earliest = earliest.min(time),
                        None => held.push((body, time)),
                    }
                }
            }
        }
        if held.is_empty() {
            return;
        }
        // Move these bodies back to where they first met another.
        for &(handle, time) in &held {
            let start = before.iter().find(|(other, _)| *other == handle);
            if let (Some((_, start)), Some(body)) = (start, world.bodies.get_mut(handle)) {
                let held_at = motion_between(start, body).position_at_time(time);
                body.set_position(held_at, true);
            }
        }
        world
            .bodies
            .propagate_modified_body_positions_to_colliders(&mut world.colliders);
        changed = Some(held.into_iter().map(|(body, _)| body).collect());
    }
    fields.tally().sweep_given_up();
}

/// Returns the motion of a body from an earlier pose to its current one, over a time of 1.
fn motion_between(start: &Pose, body: &RigidBody) -> NonlinearRigidMotion {
    let center = body.mass_properties().local_mprops.local_com;
    let end = body.position();
    let turn = end.rotation * start.rotation.inverse();
    NonlinearRigidMotion::new(
        *start,
        center,
        *end * center - *start * center,
        turn.to_scaled_axis(),
    )
}

fn dynamic_bodies(world: &PhysicsWorld) -> impl Iterator<Item = (RigidBodyHandle, &RigidBody)> {
    let bodies = world.bodies.iter();
    bodies.filter(|(_, body)| body.is_dynamic() && body.is_enabled())
}

/// Returns when, within a duration, two dynamic bodies first touch. At least one of them must move
/// by more than half of its thickness.
fn first_touch_of_movers(
    world: &PhysicsWorld,
    fields: &FieldDispatcher,
    duration: Real,
) -> Option<Real> {
    let movers: Vec<Mover<'_>> = dynamic_bodies(world)
        .flat_map(|(handle, body)| {
            let center = body.mass_properties().local_mprops.local_com;
            let fall = world.gravity * body.gravity_scale() * duration;
            let going = body.linvel() + fall;
            let whole = NonlinearRigidMotion::new(*body.position(), center, going, body.angvel());
            Mover::all(world, handle, body, whole, duration)
        })
        .collect();
    let mut first: Option<Real> = None;
    for (index, a) in movers.iter().enumerate() {
        for b in &movers[index + 1..] {
            if let Some(time) = a.touch(b, fields, first.unwrap_or(duration)) {
                // Where the bodies are too deep already, the solver gets a moment to push them
                // apart.
                first = Some(time.max(2.0 * LEAST_SHARE * duration));
            }
        }
    }
    first
}

/// A collider of a moving body.
struct Mover<'a> {
    body: RigidBodyHandle,
    collider: &'a Collider,
    motion: NonlinearRigidMotion,
    swept: Aabb,
    is_fast: bool,
}

impl<'a> Mover<'a> {
    /// Returns when, within a duration, two movers first touch. At least one of them must move by
    /// more than half of its thickness.
    fn touch(&self, other: &Mover<'_>, fields: &FieldDispatcher, duration: Real) -> Option<Real> {
        let (a, b) = (self, other);
        let is_needed = (a.is_fast || b.is_fast)
            && a.body != b.body
            && a.swept.intersects(&b.swept)
            && (holds_field(a.collider.shape()) || holds_field(b.collider.shape()))
            && (a.collider.collision_groups()).test(b.collider.collision_groups())
            && !a.collider.is_sensor()
            && !b.collider.is_sensor();
        if !is_needed {
            return None;
        }
        let hit = sweep::turning(
            fields,
            [&a.motion, &b.motion],
            [a.collider.shape(), b.collider.shape()],
            [0.0, duration],
            false,
            Asker::Step,
        );
        Some(hit.ok()??.time_of_impact)
    }

    /// Returns a mover for each collider of a body with this motion.
    fn all(
        world: &'a PhysicsWorld,
        handle: RigidBodyHandle,
        body: &'a RigidBody,
        whole: NonlinearRigidMotion,
        duration: Real,
    ) -> impl Iterator<Item = Mover<'a>> {
        let colliders = body.colliders().iter();
        colliders.filter_map(move |&collider| {
            let collider = world.colliders.get(collider)?;
            let motion = match collider.position_wrt_parent() {
                Some(pose) => whole.prepend(*pose),
                None => whole,
            };
            let shape = collider.shape();
            let radius = shape.compute_local_bounding_sphere().radius();
            let going = (motion.linvel.length() + motion.angvel.length() * radius) * duration;
            let swept = shape.compute_aabb(&motion.start).loosened(going);
            Some(Mover {
                body: handle,
                collider,
                motion,
                swept,
                is_fast: going > 0.5 * shape.ccd_thickness(),
            })
        })
    }
}

/// Returns the number of steps per second that suits bodies of about `size` \[m\], given that
/// Rapier's default of 60 suits a metre. A body a hundred times smaller falls its own height in a
/// tenth of the time.
pub fn steps_per_second(size: Real) -> Real {
    60.0 / size.sqrt()
}

/// Returns the sleep thresholds for a body of about `size` \[m\]: as slow, relative to its size, as
/// Rapier's defaults are for a metre, and after as many steps. Set it with
/// `RigidBody::activation_mut`.
pub fn activation(size: Real) -> RigidBodyActivation {
    let time = size.sqrt();
    let mut activation = RigidBodyActivation::active();
    // Relative to the length unit that [`configure`] sets.
    activation.normalized_linear_threshold /= time;
    activation.angular_threshold /= time;
    activation.time_until_sleep *= time;
    activation
}

/// Sets the lengths of a world for bodies of about `size` \[m\]. [`install`] calls it; call it
/// yourself if you hold the parts of a world separately.
///
/// - Rapier's lengths (the prediction distance of contacts, how deep bodies may rest in each other)
///   are for bodies of one metre. They are scaled to `size`.
/// - Rapier's contact recycling keeps old contacts while a pair moves by less than 5 % of that
///   length. This works over the flat faces of boxes, but the contacts would be wrong over the
///   bumps of concave bodies. The limit is therefore a fifth of a percent.
/// - Rapier's manifold clustering merges normals that differ by five degrees, which stops a nut on
///   its thread. It is switched off.
/// - Rapier's contacts are springs of 30 Hz, in which a body sinks by 0.3 mm whatever its size. For
///   small parts the frequency is raised, as the step rate should be ([`steps_per_second`]).
pub fn configure(parameters: &mut IntegrationParameters, size: Real) {
    parameters.length_unit = size;
    parameters.contact_recycling = true;
    parameters.normalized_contact_recycle_distance = RECYCLE_SHARE;
    parameters.contact_clustering = false;
    let stiffer = 1.0 / size.min(1.0).sqrt();
    let defaults = IntegrationParameters::default();
    parameters.contact_softness.natural_frequency =
        stiffer * defaults.contact_softness.natural_frequency;
    parameters.static_contact_softness.natural_frequency =
        stiffer * defaults.static_contact_softness.natural_frequency;
}
