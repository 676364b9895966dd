//! Energy of bodies that bounce on several points at once: a field gains no more than Rapier's own
//! shape does.
//!
//! A restitution of 1 is the hardest case. Rapier gives each contact of a manifold its speed back
//! in turn, and with few iterations an edge or a face that lands askew may leave faster than it
//! came. Rapier's own boxes gain at most a third; fields must not gain more than those.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use touchfield::field::primitive;
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{FieldShape, Settings, install};

const STEPS: usize = 6_000;
const DROP: Real = 2.0;

/// Returns the maximum energy, relative to the initial one, of a body that falls without friction
/// on a floor with full restitution.
fn most_energy(shape: SharedShape, turn: Vector) -> Real {
    let mut world = PhysicsWorld::new();
    install(&mut world, 1.0);
    let floor = ColliderBuilder::new(SharedShape::halfspace(Vector::Y));
    world.insert(
        RigidBodyBuilder::fixed(),
        floor.restitution(1.0).friction(0.0),
    );
    let body = RigidBodyBuilder::dynamic()
        .translation(Vector::new(0.0, DROP, 0.0))
        .rotation(turn)
        .can_sleep(false);
    let collider = ColliderBuilder::new(shape).density(1000.0);
    let (body, _) = world.insert(body, collider.restitution(1.0).friction(0.0));
    let mut most: Real = 0.0;
    for _ in 0..STEPS {
        world.step();
        let body = &world.bodies[body];
        let height = body.center_of_mass().y;
        most = most.max(body.kinetic_energy() / (body.mass() * 9.81) + height);
    }
    most / DROP
}

#[test]
fn a_box_gains_no_more_energy_than_rapiers_own() {
    let field = primitive::Cuboid::new(glam::Vec3::new(0.5, 0.3, 0.4)).unwrap();
    let field = FieldShape::from_field(field, Settings::default()).unwrap();
    let own = SharedShape::cuboid(0.5, 0.3, 0.4);
    let worst = |shape: &SharedShape| {
        (0..6u8)
            .map(|k| Real::from(k) * Vector::new(0.17, 0.31, -0.23))
            .map(|turn| most_energy(shape.clone(), turn))
            .fold(0.0, Real::max)
    };
    let (ours, own) = (worst(&field.shared()), worst(&own));
    eprintln!("at most {ours}, own {own} of what they began with");
    // After a few bounces the tumbling of a box is chaotic. Two faults showed here. While contacts
    // between two others were kept, the ratio was 42 against 1.3. While edges were reported that
    // would close only after a corner had thrown the box back, it was up to 9 against 1.5.
    assert!(
        ours <= 1.1 * own,
        "{ours} for {own} of what they began with"
    );
}
