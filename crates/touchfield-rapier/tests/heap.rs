//! Thin bodies that fall on each other do not end up inside each other: a body that is hit hard may
//! sink into a thick body, but not into another thin one.
//!
//! Only the bowl that is swept against the floor is stopped; the one that follows it is not. If it
//! were stopped as soon as it is a quarter of its wall deep, the next bowl would end up in its
//! wall, from where there is no way out.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use glam::Vec3;
use touchfield::geom::Pose;
use touchfield::mesh::generate;
use touchfield::narrow::{Pair, SeparationScratch, SeparationSettings, separation};
use touchfield_rapier::rapier::math::Pose as RapierPose;
use touchfield_rapier::rapier::parry::query::{NonlinearRigidMotion, QueryDispatcher};
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{FieldDispatcher, FieldShape, Settings, install};

const WALL: f32 = 0.025;

/// Returns a bowl of radius 0.5 m, open upwards (z).
fn bowl() -> FieldShape {
    let mesh = generate::bowl(generate::Bowl {
        radius: 0.5,
        wall: f64::from(WALL),
        ..Default::default()
    });
    FieldShape::from_mesh(&mesh.unwrap(), Settings::default()).unwrap()
}

/// Returns when a bowl is stopped that starts 1 mm deep in what is below it and sinks by `sinks`
/// within a second.
fn stopped(floor: &dyn Shape, sinks: Real) -> Option<Real> {
    let bowl = bowl();
    let half = floor.compute_local_aabb().half_extents().z;
    let place = Vector::new(0.0, 0.0, 0.499 + half);
    let sinking = NonlinearRigidMotion::new(
        RapierPose::from_translation(place),
        Vector::ZERO,
        Vector::new(0.0, 0.0, -sinks),
        Vector::ZERO,
    );
    let still = NonlinearRigidMotion::constant_position(RapierPose::IDENTITY);
    let fields = FieldDispatcher::default();
    let hit = fields.cast_shapes_nonlinear(&sinking, &bowl, &still, floor, 0.0, 1.0, false);
    hit.unwrap().map(|hit| hit.time_of_impact)
}

#[test]
fn a_bowl_is_stopped_in_a_plate_and_let_into_a_thick_floor_as_a_solid_body_would_be() {
    let floor = Cuboid::new(Vector::new(2.0, 2.0, 1.0));
    assert_eq!(stopped(&floor, 0.05), None, "5 cm into 2 m");
    let deep = stopped(&floor, 0.25).map(|time| 0.25 * time + 0.001);
    // A quarter of its height of half a metre.
    assert!(
        deep.is_some_and(|deep| (0.09..0.126).contains(&deep)),
        "stopped {deep:?} m deep"
    );
    let plate = Cuboid::new(Vector::new(2.0, 2.0, 0.005));
    let deep = stopped(&plate, 0.05).map(|time| 0.05 * time + 0.001);
    assert!(
        deep.is_some_and(|deep| deep < 0.004),
        "stopped {deep:?} m deep in a plate of 1 cm"
    );
}

/// Returns the depths of all pairs of bowls that overlap by more than a fifth of a wall after two
/// seconds in a pit.
fn stuck(bowl: &FieldShape, seed: u64) -> Vec<f32> {
    const BOWLS: usize = 70;
    let half = 0.45 * (BOWLS as Real).sqrt();
    let mut world = PhysicsWorld::new();
    install(&mut world, 1.0);
    world.insert(
        RigidBodyBuilder::fixed().translation(-Vector::Y),
        ColliderBuilder::cuboid(half + 1.0, 1.0, half + 1.0),
    );
    for (along, out) in [(Vector::X, Vector::Z), (Vector::Z, Vector::X)] {
        for side in [-1.0, 1.0] {
            let wall = half * (along + Vector::Y * 8.0) + 0.5 * out + along;
            world.insert(
                RigidBodyBuilder::fixed().translation(side * (half + 0.5) * out),
                ColliderBuilder::cuboid(wall.x, wall.y, wall.z),
            );
        }
    }
    let mut state = seed;
    let mut random = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as Real / (1u64 << 23) as Real - 1.0
    };
    let spacing = 1.5;
    let row = ((2.0 * half - 1.4) / spacing) as usize + 1;
    let bodies: Vec<RigidBodyHandle> = (0..BOWLS)
        .map(|index| {
            let (layer, place) = (index / (row * row), index % (row * row));
            let at = |number: usize| spacing * (number as Real - 0.5 * (row - 1) as Real);
            let place = Vector::new(
                at(place / row),
                1.0 + spacing * layer as Real,
                at(place % row),
            );
            let body = RigidBodyBuilder::dynamic().translation(place);
            let body = body.rotation(1.7 * Vector::new(random(), random(), random()));
            let collider = ColliderBuilder::new(bowl.shared()).density(1000.0);
            world.insert(body.can_sleep(false), collider).0
        })
        .collect();
    for _ in 0..120 {
        world.step();
    }
    let poses: Vec<Pose> = (bodies.iter())
        .map(|&body| {
            let place = world.bodies[body].position();
            Pose {
                rotation: glam::Quat::from_array(place.rotation.to_array()),
                translation: Vec3::from_array(place.translation.to_array()),
            }
        })
        .collect();
    let mut depths = Vec::new();
    let settings = SeparationSettings {
        threshold: Some(-0.2 * WALL),
        ..SeparationSettings::to_within(1e-3)
    };
    for (index, first) in poses.iter().enumerate() {
        assert!(first.translation.y > -0.1, "{index} is lost");
        for second in &poses[index + 1..] {
            let pair = Pair {
                a: bowl.shape(),
                b: bowl.shape(),
                a_from_b: first.inverse() * *second,
            };
            let found = separation(&pair, &settings, &mut SeparationScratch::default()).unwrap();
            if found.separation < -0.2 * WALL {
                depths.push(-found.separation);
            }
        }
    }
    depths
}

/// Bowls stuck in each other. Which pairs end so is chance: while bowls were stopped at a quarter
/// of their wall in the floor, 17 pairs of these heaps were stuck; 5 are now.
#[test]
fn bowls_that_fall_on_each_other_are_not_left_in_each_other() {
    let bowl = bowl();
    let stuck: Vec<Vec<f32>> = (1..=6).map(|seed| stuck(&bowl, seed)).collect();
    let count = stuck.iter().flatten().count();
    eprintln!("{stuck:?}");
    assert!(count <= 8, "{count} pairs are stuck: {stuck:?}");
}
