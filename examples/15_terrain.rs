//! Many concave bodies on a ten-metre terrain: knots, bowls, mugs and rings of half a metre roll,
//! tumble and come to rest in its valleys.
//!
//! Output: time per step, greatest and final penetration depth, bodies sunk, a picture and a chart.
//!
//! `cargo run -p touchfield-rapier --example 15_terrain [-- --out FOLDER]`
#![allow(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;

use touchfield::mesh::TriangleMesh;
use touchfield::mesh::generate::{
    Bowl, Mug, Terrain, Torus, TorusKnot, bowl, mug, terrain, torus, torus_knot,
};
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{FieldShape, Settings};

mod scene;

/// Scale factor from the generated models to half a metre.
const SCALE: f32 = 5.0;

fn main() -> Result<(), Box<dyn Error>> {
    // Bake the terrain, and one shape per kind of body; each is shared by all its bodies.
    let ground_mesh = terrain(Terrain::default())?;
    let ground_settings = Settings {
        resolution: 128,
        points: 20_000,
        ..Default::default()
    };
    let ground = FieldShape::from_mesh(&ground_mesh, ground_settings)?;
    let settings = Settings {
        resolution: 64,
        ..Default::default()
    };
    let thing = |name: &'static str, mesh: TriangleMesh| -> Result<_, Box<dyn Error>> {
        let shape = FieldShape::from_mesh(&mesh, settings)?.scaled(SCALE)?;
        Ok((name, shape))
    };
    let things = [
        thing("knot", torus_knot(TorusKnot::default())?)?,
        thing(
            "bowl",
            bowl(Bowl {
                wall: 0.008,
                ..Default::default()
            })?,
        )?,
        thing(
            "mug",
            mug(Mug {
                wall: 0.006,
                ..Default::default()
            })?,
        )?,
        thing("ring", torus(Torus::default())?)?,
    ];

    let (mut world, fields) = scene::world(0.5);
    // Every body is thicker than the distance it falls in a step, so CCD is off.
    world.integration_parameters.max_ccd_substeps = 0;
    let mut picture = scene::Picture::new("15_terrain").seen_from(-60, 40);
    let (ground_body, _) = world.insert(
        RigidBodyBuilder::fixed(),
        ColliderBuilder::new(ground.shared()),
    );
    picture.add("ground", &ground, ground_body);
    // Walls at the edges of the terrain.
    for normal in [Vector::X, -Vector::X, Vector::Y, -Vector::Y] {
        let wall = ColliderBuilder::new(SharedShape::halfspace(normal));
        world.insert(RigidBodyBuilder::fixed().translation(-5.0 * normal), wall);
    }
    // Drop 36 bodies from a grid above the terrain, each in a different attitude.
    let mut bodies = Vec::new();
    for i in 0..36 {
        let (name, shape) = &things[i % 4];
        let turn = i as Real;
        let at = Vector::new((i % 6) as Real - 2.5, (i / 6) as Real - 2.5, 0.0) * 1.4;
        let body = RigidBodyBuilder::dynamic()
            .soft_ccd_prediction(0.2)
            .translation(at + Vector::Z * 2.2)
            .rotation(Vector::new((1.7 * turn).sin(), (2.3 * turn).cos(), turn.sin()) * 1.5);
        let (body, _) = world.insert(body, ColliderBuilder::new(shape.shared()).density(500.0));
        picture.add(name, shape, body);
        bodies.push((body, shape));
    }

    let (begin, mut record) = (std::time::Instant::now(), scene::Record::default());
    let steps = scene::steps(&world, 6.0);
    for _ in 0..steps {
        world.step();
        record.note(&world);
    }
    // A centre of mass must not be below the ground. For a ring or a bowl it may lie in a hilltop
    // that reaches into the body, by up to half the thickness.
    let ground_field = ground.shape().field();
    let sunk = bodies.iter().filter(|(body, shape)| {
        let at = world.bodies[*body].center_of_mass();
        let depth = -ground_field.distance(glam::Vec3::from_array(at.to_array()));
        depth > 0.5 * shape.thickness()
    });
    let sunk = sunk.count();
    let fastest = bodies
        .iter()
        .map(|(body, _)| world.bodies[*body].linvel().length())
        .fold(0.0, Real::max);
    println!(
        "{} things, {steps} steps, {:.1} ms each: at most {:.1} mm deep, {:.1} mm at the end, {sunk} sunk, the fastest moves at {:.2} m/s",
        bodies.len(),
        1e3 * begin.elapsed().as_secs_f64() / steps as f64,
        1e3 * record.deepest(),
        1e3 * scene::deepest(&world),
        fastest
    );
    record.write("15_terrain", Vec::new())?;
    picture.write(&world)?;
    assert!(sunk == 0);
    assert!(scene::deepest(&world) < 0.02);
    assert!(fields.take_counts().is_clean());
    Ok(())
}
