//! Bodies of a decimetre dropped in Rapier gain no energy, and come to lie on the floor.
//!
//! By default a few models in some attitudes. With `TOUCHFIELD_LONG=1`: all models of the library
//! and every closed mesh of the folder `TOUCHFIELD_MESHES`, in ten attitudes.
//! `bench/src/bin/rapier_drops.rs` measures the same.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use glam::{Quat, Vec3};
use touchfield::geom::Random;
use touchfield::mesh::TriangleMesh;
use touchfield::mesh::generate::catalogue;
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{FieldShape, Settings, activation, install, steps_per_second};

/// Longest side of a body \[m\].
const SIZE: f32 = 0.1;
/// Height of the body's lowest point at the start \[m\].
const HEIGHT: f32 = 0.2;
const GRAVITY: f32 = 9.81;

/// Maximum energy gain over the start, as a share of the initial energy.
const GAIN: f32 = 1e-3;

/// Maximum later rise of the energy, as a share of the initial energy, as far as sweeps are to
/// blame. A contact that pushes a body out lifts it: without sweeps by up to 3 % for thin sheets
/// that land flat.
const RISE: f32 = 5e-3;

/// Maximum depth of a resting body in the floor, as a share of its size.
const DEEP: f32 = 0.01;

/// Maximum depth in the floor at the end of a drop, also of a body that still moves, as a share of
/// its size.
const DEEPEST: f32 = 0.02;

fn is_long() -> bool {
    std::env::var_os("TOUCHFIELD_LONG").is_some_and(|value| value != "0")
}

/// Result of a drop.
///
/// `gain` is the energy gain over the start and `rise` the rise over the least energy so far, both
/// as shares of the initial energy. `depth` is the depth at the end \[m\].
struct Drop {
    gain: Real,
    rise: Real,
    depth: Real,
    rests: bool,
}

fn dropped(shape: &FieldShape, mesh: &TriangleMesh, attitude: u64, sweeps: usize) -> Drop {
    let mut world = PhysicsWorld::new();
    install(&mut world, SIZE);
    world.integration_parameters.dt = 1.0 / steps_per_second(SIZE);
    world.integration_parameters.max_ccd_substeps = sweeps;
    world.gravity = -GRAVITY * Vector::Z;
    let floor = ColliderBuilder::new(SharedShape::halfspace(Vector::Z));
    world.insert(RigidBodyBuilder::fixed(), floor);
    let rotation = Random::new(attitude).quaternion().as_quat();
    let start = HEIGHT - lowest(mesh, rotation);
    let body = RigidBodyBuilder::dynamic()
        .translation(start * Vector::Z)
        .rotation(rotation.to_scaled_axis());
    let collider = ColliderBuilder::new(shape.shared()).density(1000.0);
    let (body, _) = world.insert(body, collider);
    *world.bodies[body].activation_mut() = activation(SIZE);
    let energy = |world: &PhysicsWorld| {
        let body = &world.bodies[body];
        body.kinetic_energy() + body.mass() * GRAVITY * body.center_of_mass().z
    };
    let first = energy(&world);
    let (mut least, mut gain, mut rise): (Real, Real, Real) = (first, 0.0, 0.0);
    for _ in 0..(3.0 / world.integration_parameters.dt) as usize {
        world.step();
        let now = energy(&world);
        gain = gain.max((now - first) / first);
        rise = rise.max((now - least) / first);
        least = least.min(now);
    }
    let body = &world.bodies[body];
    Drop {
        gain,
        rise,
        depth: -(body.translation().z + lowest(mesh, *body.rotation())),
        rests: body.linvel().length() + SIZE * body.angvel().length() < 0.01,
    }
}

/// Returns the height of the lowest vertex of a turned mesh, relative to its origin \[m\].
fn lowest(mesh: &TriangleMesh, rotation: Quat) -> f32 {
    let down = (rotation.inverse() * Vec3::Z).as_dvec3();
    // Use only vertices of faces: some files contain stray ones.
    let corners = mesh.faces.iter().flatten();
    let heights = corners.map(|&vertex| mesh.vertices[vertex as usize].dot(down));
    heights.fold(f64::INFINITY, f64::min) as f32
}

fn models() -> Vec<(String, TriangleMesh)> {
    let models = catalogue().into_iter().map(|model| {
        let mesh = model.mesh().unwrap();
        (model.name.to_owned(), mesh)
    });
    if !is_long() {
        let few = ["bowl", "bolt_m8", "nut_m16", "thin_plate", "winding_pipe"];
        return models.filter(|(name, _)| few.contains(&&**name)).collect();
    }
    let real = touchfield_conformance::meshes::real();
    let closed = real.into_iter().filter(|model| {
        let mesh = &model.mesh;
        touchfield_conformance::meshes::is_closed(mesh) && mesh.signed_volume() > 0.0
    });
    models
        .chain(closed.map(|model| (model.name, model.mesh)))
        .collect()
}

fn scaled(mut mesh: TriangleMesh) -> TriangleMesh {
    let bounds = mesh.bounds();
    let factor = f64::from(SIZE) / bounds.extents().max_element();
    for vertex in &mut mesh.vertices {
        *vertex = factor * (*vertex - bounds.center());
    }
    mesh
}

/// A bolt was stopped at every step. Its thickness was taken as 0.2 mm, so it was stopped at every
/// step in which it touched, kept its speed, and hung in the air while its spin grew from 17 to 60
/// rad/s.
#[test]
fn what_is_dropped_gains_no_energy() {
    let attitudes = if is_long() { 10 } else { 3 };
    let mut failures = Vec::new();
    for (name, mesh) in models() {
        let mesh = scaled(mesh);
        let Ok(shape) = FieldShape::from_mesh(&mesh, Settings::default()) else {
            eprintln!("{name} cannot be baked");
            continue;
        };
        for attitude in 0..attitudes {
            let drop = dropped(&shape, &mesh, attitude, 1);
            let without = dropped(&shape, &mesh, attitude, 0);
            let sinks = drop.rests && drop.depth > DEEP * SIZE && drop.depth > 1.5 * without.depth;
            let is_stuck = drop.depth.max(without.depth) > DEEPEST * SIZE;
            if drop.gain > GAIN || drop.rise > without.rise + RISE || sinks || is_stuck {
                failures.push(format!(
                    "{name} {attitude}: gain {}, rise {} ({} without sweeps), depth {} ({})",
                    drop.gain, drop.rise, without.rise, drop.depth, without.depth
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// A gear that landed nearly flat rocked for ever, 5.5 mm deep in the floor, at 2 rad/s: contacts
/// were kept on its deepest side only, and in the next step that was the other side.
#[test]
fn a_gear_that_lands_flat_does_not_rock_inside_the_floor() {
    let model = catalogue().into_iter().find(|model| model.name == "gear");
    let mesh = scaled(model.unwrap().mesh().unwrap());
    let shape = FieldShape::from_mesh(&mesh, Settings::default()).unwrap();
    for sweeps in [0, 1] {
        let drop = dropped(&shape, &mesh, 4, sweeps);
        println!(
            "sweeps {sweeps}: depth {} m, rests {}",
            drop.depth, drop.rests
        );
        assert!(drop.rests, "sweeps {sweeps}");
        assert!(
            drop.depth < DEEP * SIZE,
            "sweeps {sweeps}: {} m deep",
            drop.depth
        );
    }
}
