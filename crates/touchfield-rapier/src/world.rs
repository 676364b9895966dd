//! A world made ready for fields.
//!
//! Input: a world, and how large its bodies are. Output: the dispatcher that it now asks, to read its counts.
//! Cost: none. Not for: worlds with bodies of very different sizes: take the size of the smallest that must be right.

use rapier::dynamics::{IntegrationParameters, RigidBodyActivation};
use rapier::math::Real;
use rapier::pipeline::PhysicsWorld;

use crate::dispatcher::FieldDispatcher;

/// Makes a world ask a [`FieldDispatcher`], and sets its lengths for bodies of about `size` \[m\]. Returns the dispatcher.
pub fn install(world: &mut PhysicsWorld, size: Real) -> FieldDispatcher {
    let dispatcher = FieldDispatcher::default();
    world.narrow_phase.set_query_dispatcher(dispatcher.clone());
    configure(&mut world.integration_parameters, size);
    dispatcher
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

/// A pair that moved by less than this share of its size keeps its contacts. Tuned on a heap of 100 tori: without, a step at rest takes 1.7 times as long; at 0.005 half, and at 0.01
/// bodies are 3.2 mm deep in each other rather than 1.3. At 0.05, Rapier's own, concave bodies sink into each other's bumps.
const RECYCLE_SHARE: Real = 0.002;

/// Sets the lengths of a world for bodies of about `size` \[m\]: what [`install`] does for those who hold the parts of a world themselves.
///
/// Rapier's lengths (how far contacts are foreseen, how deep bodies may rest in each other) are for bodies of a metre. Its recycling of contacts keeps
/// old ones while a pair moves by less than 5 % of that: over the flat faces of boxes it may, over the bumps of concave bodies they would be wrong, and a fifth of a percent is
/// left. Its contacts are springs of 30 Hz, in which
/// a body sinks by 0.3 mm whatever its size: of those of small parts the frequency is raised, as that of the steps should be ([`steps_per_second`]).
pub fn configure(parameters: &mut IntegrationParameters, size: Real) {
    parameters.length_unit = size;
    parameters.contact_recycling = true;
    parameters.normalized_contact_recycle_distance = RECYCLE_SHARE;
    let stiffer = 1.0 / size.min(1.0).sqrt();
    let defaults = IntegrationParameters::default();
    parameters.contact_softness.natural_frequency =
        stiffer * defaults.contact_softness.natural_frequency;
    parameters.static_contact_softness.natural_frequency =
        stiffer * defaults.static_contact_softness.natural_frequency;
}
