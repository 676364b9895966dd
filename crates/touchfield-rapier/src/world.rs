//! A world made ready for fields.
//!
//! Input: a world, and how large its bodies are. Output: the dispatcher that it now asks, to read its counts.
//! Cost: none. Not for: worlds with bodies of very different sizes: take the size of the smallest that must be right.

use rapier::dynamics::{IntegrationParameters, RigidBody, RigidBodyActivation, RigidBodyHandle};
use rapier::geometry::Collider;
use rapier::math::{Pose, Real};
use rapier::parry::bounding_volume::{Aabb, BoundingVolume};
use rapier::parry::query::NonlinearRigidMotion;
use rapier::pipeline::{EventHandler, PhysicsHooks, PhysicsWorld};

use crate::dispatcher::FieldDispatcher;
use crate::partner::holds_field;
use crate::sweep::{self, Asker};
use crate::tuning::world::{LEAST_SHARE, MOST_ROUNDS, RECYCLE_SHARE};

/// Makes a world ask a [`FieldDispatcher`], and sets its lengths for bodies of about `size` \[m\]. Returns the dispatcher.
pub fn install(world: &mut PhysicsWorld, size: Real) -> FieldDispatcher {
    let dispatcher = FieldDispatcher::default();
    world.narrow_phase.set_query_dispatcher(dispatcher.clone());
    configure(&mut world.integration_parameters, size);
    dispatcher
}

/// One step of a world in which two bodies that both move do not pass through each other either.
///
/// Rapier sweeps fast bodies against what stands still, and those with CCD enabled against what moves, as if that had already moved; two of these not against
/// each other. Here the step is cut where two of them, one a field, would first touch, up to [`MOST_CUTS`] times; from there on their contact is seen.
/// The solver may throw them elsewhere than they were going: where that led them through each other, both are held back at the moment at which they met, as Rapier
/// holds a fast body back before what stands still.
pub fn step(world: &mut PhysicsWorld, fields: &FieldDispatcher) {
    step_with_events(world, fields, &(), &());
}

/// The same with hooks and events.
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

/// Cuts of a step, at most; what is left of it then is made at once.
pub const MOST_CUTS: u32 = 16;

/// A part of a step, after which no two bodies have passed through each other.
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

/// Holds bodies back that passed through each other on their way from where they were, each where it first met another.
fn hold_back(
    world: &mut PhysicsWorld,
    fields: &FieldDispatcher,
    before: &[(RigidBodyHandle, Pose)],
) {
    let mut changed: Option<Vec<RigidBodyHandle>> = None;
    for _ in 0..MOST_ROUNDS {
        let movers: Vec<Mover<'_>> = (before.iter())
            .filter_map(|(handle, start)| Some((*handle, start, world.bodies.get(*handle)?)))
            .flat_map(|(handle, start, body)| {
                let gone = motion_between(start, body);
                Mover::all(world, handle, body, gone, 1.0)
            })
            .collect();
        // What was held back may be in the way of another now; all others have been looked at.
        let is_new = |body: &RigidBodyHandle| {
            let changed = changed.as_ref();
            changed.is_none_or(|changed| changed.contains(body))
        };
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

/// How a body came from a pose to where it is, within a time of 1.
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

/// When, within a time, two dynamic bodies first touch, of which one at least moves by more than half of its thickness.
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
                // Where they are too deep already, the solver gets a moment to push them apart.
                first = Some(time.max(2.0 * LEAST_SHARE * duration));
            }
        }
    }
    first
}

/// A collider of a body that moves.
struct Mover<'a> {
    body: RigidBodyHandle,
    collider: &'a Collider,
    motion: NonlinearRigidMotion,
    swept: Aabb,
    is_fast: bool,
}

impl<'a> Mover<'a> {
    /// When, within a time, two of them first touch, of which one at least moves by more than half of its thickness.
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

    /// The colliders of a body that moves so for a time.
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

/// Steps a second that suit bodies of about `size` \[m\], counting Rapier's default of 60 as right for a metre: what is a hundred times smaller falls
/// its own height ten times sooner.
pub fn steps_per_second(size: Real) -> Real {
    60.0 / size.sqrt()
}

/// When a body of about `size` \[m\] may sleep: as slow, for its size, as Rapier's defaults are for a metre, and after as many steps. To be set with
/// `RigidBody::activation_mut`.
pub fn activation(size: Real) -> RigidBodyActivation {
    let time = size.sqrt();
    let mut activation = RigidBodyActivation::active();
    // Times the length unit that [`configure`] sets.
    activation.normalized_linear_threshold /= time;
    activation.angular_threshold /= time;
    activation.time_until_sleep *= time;
    activation
}

/// Sets the lengths of a world for bodies of about `size` \[m\]: what [`install`] does for those who hold the parts of a world themselves.
///
/// Rapier's lengths (how far contacts are foreseen, how deep bodies may rest in each other) are for bodies of a metre. Its recycling of contacts keeps
/// old ones while a pair moves by less than 5 % of that: over the flat faces of boxes it may, over the bumps of concave bodies they would be wrong, and a fifth of a percent is
/// left. Its clustering of manifolds takes normals that differ by five degrees for one, which stops a nut on its thread. Its contacts are springs of 30 Hz, in which
/// a body sinks by 0.3 mm whatever its size: of those of small parts the frequency is raised, as that of the steps should be ([`steps_per_second`]).
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
