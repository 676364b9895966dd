//! A mug falls at an angle into a pipe just wider than the reach of its handle, and comes to rest
//! on the ground inside the pipe.
//!
//! Output: greatest penetration depth, final height, distance to the wall and speed, a picture and
//! a chart.
//!
//! `cargo run -p touchfield-rapier --example 16_mug_in_pipe [-- --out FOLDER]`
#![allow(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;

use touchfield::mesh::generate::{Mug, WindingPipe, mug, winding_pipe};
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{FieldShape, Settings};

mod scene;

/// Inner radius of the pipe \[m\].
const INNER: Real = 0.08;

fn main() -> Result<(), Box<dyn Error>> {
    // A straight pipe with room for the mug and its handle.
    let pipe = WindingPipe {
        length: 0.3,
        amplitude: 0.0,
        radius: f64::from(INNER) + 0.006,
        wall: 0.006,
        ..Default::default()
    };
    let mut pipe_mesh = winding_pipe(pipe)?;
    // Stand the pipe upright on the ground.
    for vertex in &mut pipe_mesh.vertices {
        *vertex = glam::DVec3::new(-vertex.z, vertex.y, vertex.x + 0.15);
    }
    let mug_mesh = mug(Mug::default())?;
    let settings = Settings {
        resolution: 128,
        points: 6_000,
        ..Default::default()
    };
    let pipe_shape = FieldShape::from_mesh(&pipe_mesh, settings)?;
    let mug_shape = FieldShape::from_mesh(&mug_mesh, settings)?;

    // A world with floor, fixed pipe and the mug above it.
    let (mut world, fields) = scene::world(0.1);
    let floor = SharedShape::halfspace(Vector::Z);
    world.insert(RigidBodyBuilder::fixed(), ColliderBuilder::new(floor));
    let (pipe, _) = world.insert(
        RigidBodyBuilder::fixed(),
        ColliderBuilder::new(pipe_shape.shared()),
    );
    let falling = RigidBodyBuilder::dynamic()
        .translation(Vector::new(-0.01, 0.005, 0.32))
        .rotation(Vector::new(0.5, 0.3, 0.0));
    let (mug, collider) = world.insert(
        falling,
        ColliderBuilder::new(mug_shape.shared()).density(2400.0),
    );
    let (begin, mut record) = (std::time::Instant::now(), scene::Record::default());
    let steps = scene::steps(&world, 4.0);
    for _ in 0..steps {
        world.step();
        record.note(&world);
    }
    // Measured from the vertices of the mesh itself.
    let pose = *world.colliders[collider].position();
    let corners = || {
        mug_mesh
            .vertices
            .iter()
            .map(|vertex| pose.transform_point(vertex.as_vec3()))
    };
    let lowest = corners()
        .map(|corner| corner.z)
        .fold(Real::INFINITY, Real::min);
    let outermost = corners()
        .map(|corner| corner.x.hypot(corner.y))
        .fold(0.0, Real::max);
    println!(
        "{steps} steps, {:.2} ms each: at most {:.2} mm deep; lies {:+.2} mm over the ground, {:.2} mm from the wall, moves at {:.1} mm/s",
        1e3 * begin.elapsed().as_secs_f64() / steps as f64,
        1e3 * record.deepest(),
        1e3 * lowest,
        1e3 * (INNER - outermost),
        1e3 * world.bodies[mug].linvel().length()
    );
    let mut picture = scene::Picture::new("16_mug_in_pipe").seen_from(-60, 60);
    picture.add("pipe", &pipe_shape, pipe);
    picture.add("mug", &mug_shape, mug);
    record.write("16_mug_in_pipe", Vec::new())?;
    picture.write(&world)?;
    assert!(lowest.abs() < 0.001, "on the ground");
    assert!(outermost < INNER + 0.0005, "within the pipe");
    assert!(fields.take_counts().is_clean());
    Ok(())
}
