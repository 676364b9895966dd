//! A bunny dropped onto a plane, after \[Sagardia2014\] §4.2: 1 kg, from 0.5 m, in ten attitudes.
//! It comes to rest on the plane, not inside it.
//!
//! Output: time until sleep, time per step, greatest depth and final height, a picture and a chart.
//!
//! `TOUCHFIELD_MESHES` names a folder that contains `classic/glmark2_bunny.obj`. Without it, a
//! generated torus knot, also concave, is dropped instead.
//!
//! `cargo run -p touchfield-rapier --example 09_bunny_on_plane [-- --out FOLDER]`
#![allow(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use touchfield::mesh::TriangleMesh;
use touchfield::mesh::generate::{TorusKnot, torus_knot};
use touchfield::mesh::read::{Limits, read_file};
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{FieldShape, Settings, activation};

mod scene;

/// Returns the bunny scaled to 0.2 m, or a torus knot if there is no file.
fn model() -> Result<(&'static str, TriangleMesh), Box<dyn Error>> {
    let Some(folder) = std::env::var_os("TOUCHFIELD_MESHES") else {
        return Ok(("knot", torus_knot(TorusKnot::default())?));
    };
    let path = Path::new(&folder).join("classic/glmark2_bunny.obj");
    let mut mesh = read_file(&path, &Limits::default())?;
    let (bounds, size) = (mesh.bounds(), 0.2);
    let middle = (bounds.min + bounds.max) / 2.0;
    let scale = size / (bounds.max - bounds.min).max_element();
    for position in &mut mesh.vertices {
        *position = (*position - middle) * scale;
    }
    Ok(("bunny", mesh))
}

fn main() -> Result<(), Box<dyn Error>> {
    let (name, mesh) = model()?;
    let begin = Instant::now();
    let shape = FieldShape::from_mesh(&mesh, Settings::default())?;
    let faces = mesh.faces.len();
    println!(
        "{name}: {faces} triangles, a collider in {:.2} s",
        begin.elapsed().as_secs_f64()
    );

    let size = 0.2;
    for turn in 0..10_u8 {
        let (mut world, fields) = scene::world(size);
        let floor = SharedShape::halfspace(Vector::Z);
        world.insert(RigidBodyBuilder::fixed(), ColliderBuilder::new(floor));
        // A different initial attitude for each run.
        let angle = Real::from(turn);
        let turned = Vector::new((1.3 * angle).sin(), (2.1 * angle).cos(), angle.sin()) * 2.0;
        // A little angular drag, as from air: nothing else stops a round body from rocking.
        let body = RigidBodyBuilder::dynamic()
            .translation(Vector::new(0.0, 0.0, 0.5))
            .angular_damping(1.0);
        let (body, collider) = world.insert(
            body.rotation(turned),
            ColliderBuilder::new(shape.shared()).mass(1.0),
        );
        *world.bodies[body].activation_mut() = activation(size);
        let (mut record, mut busy) = (scene::Record::default(), 0.0);
        let steps = scene::steps(&world, 6.0);
        let mut slept = None;
        for step in 0..steps {
            let begin = Instant::now();
            world.step();
            if slept.is_none() {
                busy += begin.elapsed().as_secs_f64();
            }
            record.note(&world);
            if slept.is_none() && world.bodies[body].is_sleeping() {
                slept = Some(step + 1);
            }
        }
        // The lowest vertex of the mesh itself: a check that is independent of the fields.
        let pose = *world.colliders[collider].position();
        let corners = mesh
            .vertices
            .iter()
            .map(|corner| pose.transform_point(corner.as_vec3()).z);
        let lowest = corners.fold(Real::INFINITY, Real::min);
        let awake = slept.unwrap_or(steps);
        println!(
            "attitude {turn}: awake for {:.2} s, {:.0} µs a step, at most {:.2} mm deep, rests {:+.2} mm over the plane",
            awake as Real * world.integration_parameters.dt,
            1e6 * busy / awake as f64,
            1e3 * record.deepest(),
            1e3 * lowest
        );
        assert!(slept.is_some(), "it comes to rest");
        assert!(lowest.abs() < 0.001, "on the plane, to a millimetre");
        assert!(fields.take_counts().is_clean());
        if turn == 9 {
            let mut picture = scene::Picture::new("09_bunny_on_plane");
            picture.add(name, &shape, body);
            record.write("09_bunny_on_plane", Vec::new())?;
            picture.write(&world)?;
        }
    }
    Ok(())
}
