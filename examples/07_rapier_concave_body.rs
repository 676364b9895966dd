//! A concave body in Rapier in ten lines: a bowl stands on a floor, and a ball falls into it and
//! stays.
//!
//! Output: resting positions compared with the closed form, a picture and a chart.
//!
//! `cargo run -p touchfield-rapier --example 07_rapier_concave_body`
#![allow(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;

use touchfield::field::primitive::Sphere;
use touchfield::mesh::generate::{Bowl, bowl};
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{FieldShape, Settings, install, steps_per_second};

mod scene;

fn main() -> Result<(), Box<dyn Error>> {
    // The ten lines: a world that handles fields, a mesh, a shape made from it, and a body with
    // that shape.
    let mut world = PhysicsWorld::new();
    let fields = install(&mut world, 0.1); // typical body size [m]
    world.integration_parameters.dt = 1.0 / steps_per_second(0.1);
    world.gravity = Vector::new(0.0, 0.0, -9.81); // the models open towards +z
    let mesh = bowl(Bowl::default())?;
    let settings = Settings {
        resolution: 64,
        ..Default::default()
    };
    let shape = FieldShape::from_mesh(&mesh, settings)?;
    let body = RigidBodyBuilder::dynamic().translation(Vector::new(0.0, 0.0, 0.1));
    let (bowl, _) = world.insert(body, ColliderBuilder::new(shape.shared()).density(2400.0));

    // The rest is plain Rapier.
    let floor = SharedShape::halfspace(Vector::Z);
    world.insert(RigidBodyBuilder::fixed(), ColliderBuilder::new(floor));
    let above = RigidBodyBuilder::dynamic().translation(Vector::new(0.03, 0.01, 0.25));
    let (ball, _) = world.insert(above, ColliderBuilder::ball(0.02).density(1000.0));
    let mut record = scene::Record::default();
    for _ in 0..scene::steps(&world, 4.0) {
        world.step();
        record.note(&world);
    }

    // The inner wall is a sphere of radius 76 mm around the centre of the bowl. The ball (radius 20
    // mm) rests on it, so its centre is 56 mm away.
    let (bowl_at, ball_at) = (
        world.bodies[bowl].translation(),
        world.bodies[ball].translation(),
    );
    let apart = (ball_at - bowl_at).length();
    println!(
        "the bowl stands {:.2} mm high (80), the ball lies {:.2} mm from its middle (56)",
        1e3 * bowl_at.z,
        1e3 * apart
    );
    assert!(
        (apart - 0.056).abs() < 0.001,
        "the ball lies on the inner wall"
    );
    assert!(ball_at.z < bowl_at.z, "and near its bottom");
    assert!(
        (bowl_at.z - 0.08).abs() < 0.001,
        "the bowl stands on the floor"
    );
    // The counts are clean: no pair was unsupported and no contact was deeper than a field can
    // report.
    let counts = fields.take_counts();
    assert!(counts.is_clean(), "{counts:?}");

    let mut picture = scene::Picture::new("07_rapier_concave_body").seen_from(-60, 40);
    picture.add("bowl", &shape, bowl);
    picture.add_field("ball", Sphere::new(0.02)?, ball);
    record.write("07_rapier_concave_body", Vec::new())?;
    picture.write(&world)
}
