//! Two statues on a terrain, after \[Krayer2020\]: both are thrown onto the hills, tumble down and
//! come to rest. All three bodies are fields.
//!
//! Output: bake time, time per step, penetration depth, final height over the ground and speed, a
//! picture and a chart.
//!
//! `TOUCHFIELD_MESHES` names a folder that contains `classic/cgal_armadillo.off` and
//! `classic/photon_buddha.obj`. Without it, a generated knot and a mug, scaled to the same size,
//! are thrown instead.
//!
//! `cargo run --release -p touchfield-rapier --example 18_statues [-- --out FOLDER]`
#![allow(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;
use std::path::Path;

use touchfield::mesh::TriangleMesh;
use touchfield::mesh::generate::{Mug, Terrain, TorusKnot, mug, terrain, torus_knot};
use touchfield::mesh::read::{Limits, read_file};
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{FieldShape, Settings};

mod scene;

/// Longest side of each statue \[m\].
const SIZE: f64 = 1.2;

/// Returns the statues read from files, or generated models without them.
fn statues() -> Result<[(&'static str, TriangleMesh); 2], Box<dyn Error>> {
    let folder = std::env::var_os("TOUCHFIELD_MESHES");
    let file = |name: &str| {
        let path = Path::new(folder.as_ref()?).join("classic").join(name);
        read_file(&path, &Limits::default()).ok()
    };
    let mut pair = match (file("cgal_armadillo.off"), file("photon_buddha.obj")) {
        (Some(armadillo), Some(buddha)) => [("armadillo", armadillo), ("buddha", buddha)],
        _ => [
            ("knot", torus_knot(TorusKnot::default())?),
            (
                "mug",
                mug(Mug {
                    wall: 0.008,
                    ..Default::default()
                })?,
            ),
        ],
    };
    for (_, mesh) in &mut pair {
        let bounds = mesh.bounds();
        let middle = (bounds.min + bounds.max) / 2.0;
        let scale = SIZE / (bounds.max - bounds.min).max_element();
        for vertex in &mut mesh.vertices {
            *vertex = (*vertex - middle) * scale;
        }
    }
    Ok(pair)
}

fn main() -> Result<(), Box<dyn Error>> {
    // Bake the terrain. CCD is off; instead, contacts are predicted 0.2 m ahead (soft CCD).
    let ground_settings = Settings {
        resolution: 128,
        points: 20_000,
        ..Default::default()
    };
    let ground = FieldShape::from_mesh(&terrain(Terrain::default())?, ground_settings)?;
    let (mut world, fields) = scene::world(1.0);
    world.integration_parameters.max_ccd_substeps = 0;
    let mut picture = scene::Picture::new("18_statues").seen_from(-60, 35);
    let fixed = RigidBodyBuilder::fixed();
    let (ground_body, _) = world.insert(fixed, ColliderBuilder::new(ground.shared()));
    picture.add("ground", &ground, ground_body);
    let mut bodies = Vec::new();
    // Bake each statue and throw both towards each other.
    for (index, (name, mesh)) in statues()?.into_iter().enumerate() {
        let begin = std::time::Instant::now();
        let shape = FieldShape::from_mesh(&mesh, Settings::default())?;
        println!(
            "{name}: {} triangles, a collider in {:.1} s",
            mesh.faces.len(),
            begin.elapsed().as_secs_f64()
        );
        let side = index as Real - 0.5;
        let body = RigidBodyBuilder::dynamic()
            .translation(Vector::new(2.0 * side, 0.3 * side, 2.4))
            .rotation(Vector::new(0.4, 1.0, 0.3) * side)
            .linvel(Vector::new(-1.5 * side, 0.0, 0.0))
            .soft_ccd_prediction(0.2);
        let (body, collider) =
            world.insert(body, ColliderBuilder::new(shape.shared()).density(500.0));
        picture.add(name, &shape, body);
        bodies.push((name, mesh, body, collider));
    }

    // Simulate until they lie still.
    let steps = scene::steps(&world, 8.0);
    let (begin, mut record) = (std::time::Instant::now(), scene::Record::default());
    for _ in 0..steps {
        world.step();
        record.note(&world);
    }
    println!(
        "{steps} steps, {:.2} ms each: at most {:.1} mm deep, {:.2} mm at the end",
        1e3 * begin.elapsed().as_secs_f64() / steps as f64,
        1e3 * record.deepest(),
        1e3 * scene::deepest(&world)
    );
    record.write("18_statues", Vec::new())?;
    picture.write(&world)?;
    // Measured from the vertices of the meshes: a check that is independent of shells and
    // manifolds.
    for (name, mesh, body, collider) in &bodies {
        let pose = *world.colliders[*collider].position();
        let corners = mesh.vertices.iter().map(|corner| {
            let at = pose.transform_point(corner.as_vec3());
            ground.shape().field().distance(at)
        });
        let lowest = corners.fold(Real::INFINITY, Real::min);
        let speed = world.bodies[*body].linvel().length();
        println!(
            "{name}: lies {:+.1} mm over the ground, moves at {:.1} mm/s",
            1e3 * lowest,
            1e3 * speed
        );
        assert!(lowest > -0.02 && lowest < 0.05, "{name} lies on the ground");
        assert!(speed < 0.2, "{name} comes to rest");
    }
    assert!(fields.take_counts().is_clean());
    Ok(())
}
