//! A heap that never rests. It must reach the same bits on every run and with any number of
//! threads, produce no NaN, lose no body, and not grow in memory.
//!
//! It runs a thousand steps, or a hundred thousand with `TOUCHFIELD_LONG`. `TOUCHFIELD_HASH` names
//! a file to which the heap's bits are written: builds with other features must write the same.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::sync::{Mutex, PoisonError};

use touchfield::mesh::generate::{self, Bowl, Torus};
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{FieldDispatcher, FieldShape, Settings, install, steps_per_second};

/// Memory is measured per process, so only one test runs at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// Half of the pit's width \[m\].
const PIT: Real = 0.15;
const BODIES: usize = 12;

/// Builds a heap of bowls and rings above a pit.
fn heap() -> (PhysicsWorld, FieldDispatcher, Vec<RigidBodyHandle>) {
    let settings = Settings {
        resolution: 40,
        points: 1_000,
        ..Default::default()
    };
    let bowl = generate::bowl(Bowl {
        wall: 0.01,
        ..Default::default()
    });
    let ring = generate::torus(Torus {
        major_radius: 0.06,
        minor_radius: 0.015,
        ..Default::default()
    });
    let shapes = [bowl, ring].map(|mesh| FieldShape::from_mesh(&mesh.unwrap(), settings).unwrap());
    let mut world = PhysicsWorld::new();
    let fields = install(&mut world, 0.1);
    world.gravity = Vector::new(0.0, 0.0, -9.81);
    world.integration_parameters.dt = 1.0 / steps_per_second(0.1);
    // Half-spaces have no other side to come out on, so no CCD is needed.
    world.integration_parameters.max_ccd_substeps = 0;
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
    let bodies = (0..BODIES).map(|index| {
        let turn = index as Real;
        let at = Vector::new(
            0.06 * turn.sin(),
            0.06 * (1.7 * turn).cos(),
            0.12 + 0.14 * turn,
        );
        let body = RigidBodyBuilder::dynamic()
            .translation(at)
            .rotation(Vector::new((1.7 * turn).sin(), (2.3 * turn).cos(), turn.sin()) * 1.5)
            .soft_ccd_prediction(0.05)
            .can_sleep(false);
        let shape = shapes[index % 2].shared();
        world
            .insert(body, ColliderBuilder::new(shape).density(1000.0))
            .0
    });
    let bodies = bodies.collect();
    (world, fields, bodies)
}

/// Runs a step; now and then one of the bodies is thrown up, so that the heap never settles.
fn step(world: &mut PhysicsWorld, bodies: &[RigidBodyHandle], index: usize) {
    if index % 97 == 96 {
        let body = &mut world.bodies[bodies[index / 97 % bodies.len()]];
        let up = Vector::new(0.2, -0.1, 2.0) * body.mass();
        body.apply_impulse(up, true);
    }
    world.step();
}

/// Returns positions, orientations and velocities of all bodies as bits.
fn bits(world: &PhysicsWorld) -> Vec<u32> {
    let numbers = world.bodies.iter().flat_map(|(_, body)| {
        let places = body.translation().to_array().into_iter();
        let turns = body.rotation().to_array().into_iter();
        let speeds = body.linvel().to_array().into_iter();
        places
            .chain(turns)
            .chain(speeds)
            .chain(body.angvel().to_array())
    });
    numbers.map(Real::to_bits).collect()
}

#[test]
fn the_heap_has_the_same_bits_on_every_run_and_number_of_threads() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let (mut world, _, bodies) = heap();
            for index in 0..300 {
                step(&mut world, &bodies, index);
            }
            bits(&world)
        })
    };
    let once = run(1);
    for threads in [1, 2, 3, 8] {
        assert!(run(threads) == once, "other bits on {threads} threads");
    }
    if let Some(path) = std::env::var_os("TOUCHFIELD_HASH") {
        std::fs::write(path, format!("{once:08x?}\n")).unwrap();
    }
}

/// Returns the memory of this process \[bytes\], where the system reports it.
fn memory() -> Option<usize> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    pages
        .split(' ')
        .nth(1)?
        .parse()
        .ok()
        .map(|pages: usize| 4096 * pages)
}

#[test]
fn the_heap_goes_on_for_long() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    // Buffers grow a little with the deepest heap so far. In the long run, a leak of thirteen bytes
    // per step would be a mebibyte.
    let (steps, growth) = match std::env::var_os("TOUCHFIELD_LONG") {
        Some(_) => (100_000, 1 << 20),
        None => (1_000, 4 << 20),
    };
    let (mut world, fields, bodies) = heap();
    let (mut early, mut deepest) = (None, 0.0);
    for index in 0..steps {
        step(&mut world, &bodies, index);
        if index == steps / 5 {
            early = memory();
        }
        let contacts = world
            .contact_pairs()
            .filter_map(|pair| pair.find_deepest_contact());
        deepest = contacts
            .map(|(_, contact)| -contact.dist)
            .fold(deepest, Real::max);
        for &body in &bodies {
            let body = &world.bodies[body];
            let at = body.center_of_mass();
            let is_inside = at.x.abs() < PIT && at.y.abs() < PIT && at.z > 0.0 && at.z < 10.0;
            assert!(is_inside, "step {index}: a body is at {at}");
            assert!(body.linvel().is_finite() && body.angvel().is_finite());
        }
    }
    let counts = fields.take_counts();
    eprintln!(
        "{steps} steps: at most {:.2} mm deep, {counts:?}",
        1e3 * deepest
    );
    assert!(counts.is_clean(), "{counts:?}");
    if let (Some(early), Some(late)) = (early, memory()) {
        eprintln!("memory: {early} bytes after a fifth, {late} at the end");
        assert!(late < early + growth, "{early} bytes, then {late}");
    }
}
