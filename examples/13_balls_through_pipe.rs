//! Balls roll through a winding pipe into a bowl. Pipe and bowl are one field each; the balls are
//! plain Rapier colliders.
//!
//! Output: balls that end in the bowl, greatest penetration depth, a picture and a chart.
//!
//! `cargo run -p touchfield-rapier --example 13_balls_through_pipe [-- --out FOLDER]`
#![allow(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;

use touchfield::field::primitive::Sphere;
use touchfield::mesh::generate::{Bowl, WindingPipe, bowl, winding_pipe};
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{FieldShape, Settings};

mod scene;

const BALLS: usize = 20;
const RADIUS: Real = 0.015;

fn main() -> Result<(), Box<dyn Error>> {
    // The pipe winds sideways with slopes of up to 0.63; tilted by 60° it descends everywhere.
    let parameters = WindingPipe {
        windings: 1.0,
        ..Default::default()
    };
    // Bake pipe and bowl, one field each.
    let pipe_mesh = winding_pipe(parameters)?;
    let settings = Settings {
        resolution: 200,
        points: 8_000,
        ..Default::default()
    };
    let pipe_shape = FieldShape::from_mesh(&pipe_mesh, settings)?;
    let bowl_mesh = bowl(Bowl {
        radius: 0.12,
        wall: 0.006,
        ..Default::default()
    })?;
    let bowl_shape = FieldShape::from_mesh(&bowl_mesh, Settings::default())?;

    let (mut world, fields) = scene::world(0.03);
    let mut picture = scene::Picture::new("13_balls_through_pipe").seen_from(-70, 15);
    // Rotated about y: the end at +x goes down.
    let tilted = RigidBodyBuilder::fixed().rotation(Vector::Y * 60_f32.to_radians());
    let tilted = tilted.translation(Vector::new(0.0, 0.0, 0.6));
    let (pipe, _) = world.insert(
        tilted,
        ColliderBuilder::new(pipe_shape.shared()).friction(0.2),
    );
    picture.add("pipe", &pipe_shape, pipe);
    // The bowl stands below the lower mouth.
    let pose = *world.bodies[pipe].position();
    let half = 0.5 * parameters.length as Real;
    let (top, bottom) = (
        pose.transform_point(Vector::X * -half),
        pose.transform_point(Vector::X * half),
    );
    let bowl = {
        let at = RigidBodyBuilder::fixed().translation(bottom + Vector::new(0.04, 0.0, -0.08));
        world
            .insert(at, ColliderBuilder::new(bowl_shape.shared()))
            .0
    };
    picture.add("bowl", &bowl_shape, bowl);

    // One ball every tenth of a second, into the upper mouth.
    let every = scene::steps(&world, 0.1);
    let mut balls = Vec::new();
    let into = (bottom - top).normalize();
    let (begin, mut record) = (std::time::Instant::now(), scene::Record::default());
    let steps = scene::steps(&world, 5.0);
    for step in 0..steps {
        if step % every == 0 && balls.len() < BALLS {
            let ball = RigidBodyBuilder::dynamic()
                .translation(top - 0.01 * into)
                .linvel(0.3 * into);
            let (ball, _) = world.insert(
                ball,
                ColliderBuilder::ball(RADIUS).density(2500.0).friction(0.2),
            );
            picture.add_field("ball", Sphere::new(RADIUS)?, ball);
            balls.push(ball);
        }
        world.step();
        record.note(&world);
    }
    // Count the balls that lie in the bowl.
    let middle = world.bodies[bowl].translation();
    let in_bowl = (balls
        .iter()
        .map(|&ball| world.bodies[ball].translation() - middle))
    .filter(|at| at.length() < 0.114 && at.z < 0.03)
    .count();
    println!(
        "{steps} steps, {:.2} ms each: {in_bowl} of {BALLS} balls lie in the bowl; at most {:.2} mm deep",
        1e3 * begin.elapsed().as_secs_f64() / steps as f64,
        1e3 * record.deepest()
    );
    record.write("13_balls_through_pipe", Vec::new())?;
    picture.write(&world)?;
    assert!(in_bowl == BALLS);
    let counts = fields.take_counts();
    assert!(counts.is_clean(), "{counts:?}");
    Ok(())
}
