//! A world made ready for fields.
//!
//! Input: a world, and how large its bodies are. Output: the dispatcher that it now asks, to read its counts.
//! Cost: none. Not for: worlds with bodies of very different sizes: take the size of the smallest that must be right.

use rapier::dynamics::IntegrationParameters;
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

/// Sets the lengths of a world for bodies of about `size` \[m\]: what [`install`] does for those who hold the parts of a world themselves.
///
/// Rapier's lengths (how far contacts are foreseen, how deep bodies may rest in each other) are for bodies of a metre. Its recycling of contacts keeps
/// old ones while a pair moves by less than 5 % of that: over the flat faces of boxes it may, over the bumps of concave bodies they would be wrong.
pub fn configure(parameters: &mut IntegrationParameters, size: Real) {
    parameters.length_unit = size;
    parameters.contact_recycling = false;
}
