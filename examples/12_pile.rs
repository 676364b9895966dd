//! A pile of bowls and rings in a pit: they nest, hook and lean, and none is lost through another
//! or through the floor.
//!
//! Output: time per step, greatest and final penetration depth, bodies lost, a picture and a chart.
//!
//! `cargo run -p touchfield-rapier --example 12_pile [-- --bodies 200 --out FOLDER]`
#![allow(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;
use std::time::Instant;

use touchfield::mesh::generate::{Bowl, Torus, bowl, torus};
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{FieldShape, Settings};

mod scene;

/// Half the width of the pit \[m\].
const PIT: Real = 0.3;

fn main() -> Result<(), Box<dyn Error>> {
    // Walls of 8 mm, which cells of 3 mm resolve.
    let settings = Settings {
        resolution: 48,
        points: 2_000,
        ..Default::default()
    };
    let bowl = bowl(Bowl {
        wall: 0.008,
        ..Default::default()
    })?;
    let ring = torus(Torus {
        major_radius: 0.06,
        minor_radius: 0.012,
        ..Default::default()
    })?;
    let kinds = [
        ("bowl", FieldShape::from_mesh(&bowl, settings)?),
        ("ring", FieldShape::from_mesh(&ring, settings)?),
    ];
    let (mut world, fields) = scene::world(0.1);
    // Half-spaces have no far side to come out of. Sweeping fast bodies would cost five times the
    // rest and change nothing, so CCD is off.
    world.integration_parameters.max_ccd_substeps = 0;
    // The floor and four walls.
    for (normal, at) in [
        (Vector::Z, Vector::ZERO),
        (Vector::X, Vector::X * -PIT),
        (-Vector::X, Vector::X * PIT),
        (Vector::Y, Vector::Y * -PIT),
        (-Vector::Y, Vector::Y * PIT),
    ] {
        let wall = ColliderBuilder::new(SharedShape::halfspace(normal));
        world.insert(RigidBodyBuilder::fixed().translation(at), wall);
    }
    // Nine columns, each body in a different attitude.
    let mut picture = scene::Picture::new("12_pile").seen_from(-60, 35);
    let mut pile = Vec::new();
    for i in 0..scene::argument("--bodies", 30) {
        let (name, shape) = &kinds[i % 2];
        let (column, row) = (i % 9, i / 9);
        let at = Vector::new((column % 3) as Real - 1.0, (column / 3) as Real - 1.0, 0.0) * 0.19;
        let turn = i as Real;
        // Thin walls meet in flight: predict contacts as far ahead as bodies move in a step.
        let body = RigidBodyBuilder::dynamic()
            .soft_ccd_prediction(0.05)
            .translation(at + Vector::Z * (0.12 + 0.18 * row as Real))
            .rotation(Vector::new((1.7 * turn).sin(), (2.3 * turn).cos(), turn.sin()) * 1.5);
        let (body, _) = world.insert(body, ColliderBuilder::new(shape.shared()).density(1000.0));
        picture.add(name, shape, body);
        pile.push(body);
    }

    // Let the pile settle.
    let steps = scene::steps(&world, 3.0);
    let (begin, mut record) = (Instant::now(), scene::Record::default());
    for _ in 0..steps {
        world.step();
        record.note(&world);
    }
    let places = || pile.iter().map(|&body| world.bodies[body].translation());
    let lost = places()
        .filter(|at| at.z < 0.0 || at.x.abs() > PIT || at.y.abs() > PIT)
        .count();
    let fastest = pile
        .iter()
        .map(|&body| world.bodies[body].linvel().length())
        .fold(0.0, Real::max);
    println!(
        "{} bodies, {steps} steps, {:.1} ms each: at most {:.1} mm deep, {:.2} mm at the end, {lost} lost, the fastest moves at {:.0} mm/s",
        pile.len(),
        1e3 * begin.elapsed().as_secs_f64() / steps as f64,
        1e3 * record.deepest(),
        1e3 * scene::deepest(&world),
        1e3 * fastest
    );
    record.write("12_pile", Vec::new())?;
    picture.write(&world)?;
    assert!(lost == 0);
    assert!(places().all(|at| at.is_finite()));
    assert!(
        scene::deepest(&world) < 0.004,
        "at rest none is halfway through a wall"
    );
    let counts = fields.take_counts();
    assert!(counts.is_clean(), "{counts:?}");
    Ok(())
}
