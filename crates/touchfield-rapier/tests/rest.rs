//! Bodies backed by fields come to rest where Rapier's own do, on every kind of floor, at every
//! scale, and stay there.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use touchfield::field::primitive;
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{FieldShape, Settings, activation, install, steps_per_second};

/// A body as a field and as Rapier's own shape; `height` replaces the latter where Rapier has none.
struct Kind {
    name: &'static str,
    field: FieldShape,
    own: Option<SharedShape>,
    /// Height of the body's middle when it lies \[units\].
    height: Real,
}

fn kinds(scale: f32) -> Vec<Kind> {
    let settings = Settings::default();
    let s = scale;
    // Fields stand along z, Rapier's shapes along y. Both are dropped lying down.
    vec![
        Kind {
            name: "sphere",
            field: FieldShape::from_field(primitive::Sphere::new(0.5 * scale).unwrap(), settings)
                .unwrap(),
            own: Some(SharedShape::ball(0.5 * s)),
            height: 0.5,
        },
        Kind {
            name: "box",
            field: FieldShape::from_field(
                primitive::Cuboid::new(glam::Vec3::new(0.5, 0.3, 0.4) * scale).unwrap(),
                settings,
            )
            .unwrap(),
            own: Some(SharedShape::cuboid(0.5 * s, 0.3 * s, 0.4 * s)),
            height: 0.3,
        },
        Kind {
            name: "capsule",
            field: FieldShape::from_field(
                primitive::Capsule::new(0.4 * scale, 0.25 * scale).unwrap(),
                settings,
            )
            .unwrap(),
            own: Some(SharedShape::capsule_z(0.4 * s, 0.25 * s)),
            height: 0.25,
        },
        Kind {
            name: "cylinder",
            field: FieldShape::from_field(
                primitive::Cylinder::new(0.4 * scale, 0.3 * scale).unwrap(),
                settings,
            )
            .unwrap(),
            own: Some(cylinder_z(0.4 * s, 0.3 * s)),
            height: 0.3,
        },
        Kind {
            name: "torus",
            field: FieldShape::from_field(
                primitive::Torus::new(0.4 * scale, 0.12 * scale).unwrap(),
                settings,
            )
            .unwrap(),
            own: None,
            height: 0.12,
        },
    ]
}

/// Returns Rapier's cylinder, which stands along y, turned to stand along z.
fn cylinder_z(half_height: Real, radius: Real) -> SharedShape {
    let turned = Pose::new(Vector::ZERO, Vector::X * std::f32::consts::FRAC_PI_2);
    SharedShape::compound(vec![(turned, SharedShape::cylinder(half_height, radius))])
}

fn floors(scale: f32) -> Vec<(&'static str, SharedShape, Vector)> {
    let s = scale;
    let slab = primitive::Cuboid::new(glam::Vec3::new(4.0, 0.5, 4.0) * scale).unwrap();
    let slab = FieldShape::from_field(slab, Settings::default()).unwrap();
    let corner = |x: Real, z: Real| Vector::new(x * s, 0.0, z * s);
    let vertices = vec![
        corner(-4.0, -4.0),
        corner(-4.0, 4.0),
        corner(4.0, 4.0),
        corner(4.0, -4.0),
    ];
    let mesh = SharedShape::trimesh(vertices, vec![[0, 1, 2], [0, 2, 3]]).unwrap();
    let heights = rapier_heights(9);
    vec![
        ("field", slab.shared(), Vector::new(0.0, -0.5 * s, 0.0)),
        (
            "half-space",
            SharedShape::halfspace(Vector::Y),
            Vector::ZERO,
        ),
        (
            "cuboid",
            SharedShape::cuboid(4.0 * s, 0.5 * s, 4.0 * s),
            Vector::new(0.0, -0.5 * s, 0.0),
        ),
        ("trimesh", mesh, Vector::ZERO),
        (
            "height field",
            SharedShape::heightfield(heights, Vector::new(8.0 * s, 1.0, 8.0 * s)),
            Vector::ZERO,
        ),
    ]
}

fn rapier_heights(count: usize) -> touchfield_rapier::rapier::parry::utils::Array2<Real> {
    touchfield_rapier::rapier::parry::utils::Array2::new(count, count, vec![0.0; count * count])
}

/// Drops a body from a little above the floor. Returns its position after four seconds and at the
/// end, and whether it sleeps.
fn settle(
    shape: SharedShape,
    floor: (SharedShape, Vector),
    height: Real,
    scale: f32,
    turn: Vector,
    seconds: u32,
) -> ([Vector; 2], bool) {
    let s = scale;
    let mut world = PhysicsWorld::new();
    let fields = install(&mut world, s);
    // A smaller body falls a larger part of its own size in a step, so the step rate follows
    // docs/RAPIER.md.
    let rate = steps_per_second(s);
    world.integration_parameters.dt = 1.0 / rate;
    world.insert(
        RigidBodyBuilder::fixed().translation(floor.1),
        ColliderBuilder::new(floor.0),
    );
    let (body, _) = world.insert(
        RigidBodyBuilder::dynamic()
            .translation(Vector::new(0.11 * s, (height + 0.05) * s, 0.07 * s))
            .rotation(turn),
        ColliderBuilder::new(shape).density(1000.0),
    );
    *world.bodies[body].activation_mut() = activation(s);
    for _ in 0..rate as u32 * 4 {
        world.step();
    }
    let first = world.bodies[body].translation();
    for _ in 0..rate as u32 * (seconds - 4) {
        world.step();
    }
    let last = world.bodies[body].translation();
    let counts = fields.take_counts();
    assert!(counts.is_clean(), "{counts:?}");
    ([first, last], world.bodies[body].is_sleeping())
}

fn rests_like_rapier(scale: f32, seconds: u32) {
    let s = scale;
    let mut failures = Vec::new();
    for kind in kinds(scale) {
        let turn = match kind.name {
            // Axes along z lie down as they are; a torus lies flat about y.
            "torus" => Vector::X * std::f32::consts::FRAC_PI_2,
            _ => Vector::ZERO,
        };
        let expected = kind.own.clone().map(|own| {
            let floor = (
                SharedShape::cuboid(4.0 * s, 0.5 * s, 4.0 * s),
                Vector::new(0.0, -0.5 * s, 0.0),
            );
            settle(own, floor, kind.height, scale, turn, seconds).0[1].y
        });
        // Rapier's own capsule of one millimetre rolls off the floor.
        let expected = expected.filter(|rest| (rest / s - kind.height).abs() < 0.02);
        for (floor_name, floor, at) in floors(scale) {
            let ([first, last], sleeps) = settle(
                kind.field.shared(),
                (floor, at),
                kind.height,
                scale,
                turn,
                seconds,
            );
            let rest = expected.unwrap_or(kind.height * s);
            let (off, drift) = ((last.y - rest) / s, (last - first).length() / s);
            let line = format!(
                "{:10} on {floor_name:12} at {scale}: rests {:+.2} mm off, drifts {:.2} mm, sleeps {sleeps} (per metre)",
                kind.name,
                1e3 * off,
                1e3 * drift
            );
            eprintln!("{line}");
            // Rapier's own shapes may rest as deep as its allowed error; fields without a
            // counterpart are compared with the ideal.
            let slack = if expected.is_some() { 0.001 } else { 0.006 };
            if !(off.abs() <= slack && drift <= 0.001 && sleeps) {
                failures.push(line);
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn at_a_metre() {
    rests_like_rapier(1.0, 60);
}

#[test]
fn at_a_centimetre() {
    rests_like_rapier(0.01, 60);
}

#[test]
fn at_a_millimetre() {
    rests_like_rapier(0.001, 60);
}

/// Returns the heights of a stack's bodies after six seconds, how far they move in the next
/// fifty-four, and how many sleep.
fn stack(shape: &SharedShape, turn: Vector, first: Real, apart: Real) -> (Vec<Real>, Real, usize) {
    stack_of(shape, turn, [first, apart], 1.0)
}

/// Simulates a stack with contact springs `stiffer` times as stiff, and as many more steps.
fn stack_of(
    shape: &SharedShape,
    turn: Vector,
    [first, apart]: [Real; 2],
    stiffer: Real,
) -> (Vec<Real>, Real, usize) {
    let mut world = PhysicsWorld::new();
    let fields = install(&mut world, 1.0);
    let parameters = &mut world.integration_parameters;
    parameters.dt /= stiffer;
    parameters.contact_softness.natural_frequency *= stiffer;
    parameters.static_contact_softness.natural_frequency *= stiffer;
    let rate = (1.0 / parameters.dt).round() as u32;
    let floor = ColliderBuilder::cuboid(4.0, 0.5, 4.0);
    world.insert(
        RigidBodyBuilder::fixed().translation(Vector::new(0.0, -0.5, 0.0)),
        floor,
    );
    let bodies: Vec<RigidBodyHandle> = (0..10)
        .map(|index| {
            let at = Vector::new(0.0, first + apart * index as Real, 0.0);
            let body = RigidBodyBuilder::dynamic().translation(at).rotation(turn);
            let collider = ColliderBuilder::new(shape.clone()).density(1000.0);
            world.insert(body, collider).0
        })
        .collect();
    let places = |world: &PhysicsWorld| -> Vec<Vector> {
        let places = bodies.iter().map(|&body| world.bodies[body].translation());
        places.collect()
    };
    for _ in 0..rate * 6 {
        world.step();
    }
    let before = places(&world);
    for _ in 0..rate * 54 {
        world.step();
    }
    let after = places(&world);
    let counts = fields.take_counts();
    assert!(counts.is_clean(), "{counts:?}");
    let drift = before.iter().zip(&after).map(|(a, b)| (b - a).length());
    let asleep = bodies
        .iter()
        .filter(|&&body| world.bodies[body].is_sleeping());
    (
        after.iter().map(|at| at.y).collect(),
        drift.fold(0.0, Real::max),
        asleep.count(),
    )
}

#[test]
fn ten_boxes_stand_as_high_as_rapiers_own() {
    let cuboid = primitive::Cuboid::new(glam::Vec3::new(0.5, 0.3, 0.4)).unwrap();
    let field = FieldShape::from_field(cuboid, Settings::default()).unwrap();
    let (ours, drift, asleep) = stack(&field.shared(), Vector::ZERO, 0.32, 0.61);
    let own = SharedShape::cuboid(0.5, 0.3, 0.4);
    let (own, own_drift, _) = stack(&own, Vector::ZERO, 0.32, 0.61);
    let off = ours.iter().zip(&own).map(|(ours, own)| ours - own);
    let off: Vec<Real> = off.collect();
    eprintln!("off by {off:?}, drift {drift} (own {own_drift}), {asleep} sleep");
    assert!(off.iter().all(|off| off.abs() < 0.001), "{off:?}");
    assert!(drift < 0.001 && asleep == 10, "{drift}, {asleep} sleep");
}

/// Returns a bowl that stands on its rim, its turn, and the height of its rim.
fn bowls() -> (FieldShape, Vector, Real) {
    let mesh = touchfield::mesh::generate::bowl(touchfield::mesh::generate::Bowl {
        radius: 0.5,
        wall: 0.05,
        ..Default::default()
    })
    .unwrap();
    let bowl = FieldShape::from_mesh(&mesh, Settings::default()).unwrap();
    // Open along +z, which points down here: bowls stacked like hats.
    let turn = Vector::X * std::f32::consts::FRAC_PI_2;
    let rim = bowl.shape().solid().max.z;
    (bowl, turn, rim)
}

/// Returns by how much the bowls' spacing exceeds the ideal: the inner edge of a rim, 0.45 m wide,
/// lies on the ball of 0.5 m below.
fn off_spacing(heights: &[Real]) -> Vec<Real> {
    let expected = (0.5f32 * 0.5 - 0.45 * 0.45).sqrt();
    let pairs = heights.windows(2);
    pairs.map(|pair| pair[1] - pair[0] - expected).collect()
}

/// Lower bodies carry more and sink deeper, as in Rapier's own stacks: in a stack of ten of its
/// boxes, the lowest sinks by 6.3 mm.
#[test]
fn ten_bowls_stay_in_each_other() {
    let (bowl, turn, rim) = bowls();
    let (heights, drift, asleep) = stack(&bowl.shared(), turn, rim + 0.01, 0.23);
    let own = SharedShape::cuboid(0.5, 0.3, 0.4);
    let (own, ..) = stack(&own, Vector::ZERO, 0.32, 0.61);
    let own_sinks = own.windows(2).map(|pair| 0.6 - (pair[1] - pair[0]));
    let own_sinks = own_sinks.fold(0.0, Real::max);
    let off = off_spacing(&heights);
    eprintln!("off by {off:?}, own boxes {own_sinks}, drift {drift}, {asleep} sleep");
    assert!(
        off.iter().all(|off| off.abs() < own_sinks),
        "{off:?}, {own_sinks}"
    );
    // The highest carries only itself.
    assert!(off[8].abs() < 0.001, "{off:?}");
    assert!(drift < 0.001 && asleep == 10, "{drift}, {asleep} sleep");
}

/// With stiff springs the spacing is the geometric one: with normal springs, the sinking is due to
/// the solver.
#[test]
fn ten_bowls_with_stiff_contacts_are_as_far_apart_as_bowls_are() {
    let (bowl, turn, rim) = bowls();
    let (heights, drift, asleep) = stack_of(&bowl.shared(), turn, [rim + 0.01, 0.23], 4.0);
    let off = off_spacing(&heights);
    eprintln!("off by {off:?}, drift {drift}, {asleep} sleep");
    assert!(off.iter().all(|off| off.abs() < 0.001), "{off:?}");
    assert!(drift < 0.001 && asleep == 10, "{drift}, {asleep} sleep");
}
