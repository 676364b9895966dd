//! A saved and restored world with fields continues to the same bits. What cannot be saved or read
//! is reported.
#![cfg(feature = "serde")]
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use glam::Vec3;
use touchfield::field::primitive::{Cuboid, Cylinder, Sphere, Torus};
use touchfield::field::{Closure, Declared, Difference, Meaning};
use touchfield::geom::Aabb;
use touchfield::mesh::generate;
use touchfield::shape::{Convex, ConvexHull};
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{
    DispatcherSettings, FieldDispatcher, FieldShape, RestoreError, SaveError, Settings, configure,
    install, restore, restore_with, save,
};

fn settings() -> Settings {
    Settings {
        resolution: 32,
        points: 600,
        ..Default::default()
    }
}

fn bowl() -> FieldShape {
    let mesh = generate::bowl(generate::Bowl {
        wall: 0.01,
        ..Default::default()
    });
    FieldShape::from_mesh(&mesh.unwrap(), settings()).unwrap()
}

/// Returns a ball whose field is a closure.
fn closure(radius: f32) -> FieldShape {
    let declared = Declared {
        bounds: Aabb::from_center(Vec3::ZERO, Vec3::splat(radius)),
        lipschitz: 1.0,
        meaning: Meaning::Distance,
        error_bound: 1e-6,
    };
    let field = Closure::new(move |point: Vec3| point.length() - radius, declared).unwrap();
    FieldShape::from_field(field, settings()).unwrap()
}

/// Returns one shape for every construction that can be saved as numbers.
fn shapes() -> Vec<SharedShape> {
    let bowl = bowl();
    let ring = FieldShape::from_field(Torus::new(0.06, 0.015).unwrap(), settings()).unwrap();
    let nut = Difference {
        first: Cuboid::new(Vec3::new(0.05, 0.05, 0.02)).unwrap(),
        second: Cylinder::new(0.1, 0.03).unwrap(),
    };
    let nut = FieldShape::from_field(nut, settings()).unwrap();
    let corners: Vec<Vec3> = (0..12u8)
        .map(|i| {
            let angle = f32::from(i);
            Vec3::new(
                0.05 * angle.cos(),
                0.05 * angle.sin(),
                0.03 * (2.0 * angle).sin(),
            )
        })
        .collect();
    let hull = Convex::hull(ConvexHull::new(&corners).unwrap().into());
    let hull = FieldShape::from_convex(hull.rounded(0.005).unwrap()).unwrap();
    let barrel = FieldShape::from_convex(Convex::cylinder(0.04, 0.03).unwrap()).unwrap();
    let compound = SharedShape::compound(vec![
        (Pose::from_translation(Vector::Z * 0.05), ring.shared()),
        (Pose::IDENTITY, SharedShape::cuboid(0.02, 0.02, 0.05)),
    ]);
    vec![
        bowl.shared(),
        ring.shared(),
        nut.shared(),
        hull.shared(),
        barrel.with_thickness(0.002).shared(),
        bowl.scaled(0.7).unwrap().shared(),
        compound,
        SharedShape::cuboid(0.04, 0.03, 0.05),
        SharedShape::ball(0.04),
    ]
}

/// Returns a heap in a pit, one distant body that soon sleeps, and one that hangs on a joint.
fn heap() -> (PhysicsWorld, FieldDispatcher) {
    let mut world = PhysicsWorld::new();
    let fields = FieldDispatcher::new(DispatcherSettings {
        max_contacts: 9,
        ..Default::default()
    });
    world.narrow_phase.set_query_dispatcher(fields.clone());
    configure(&mut world.integration_parameters, 0.1);
    world.gravity = Vector::new(0.0, 0.0, -9.81);
    world.integration_parameters.dt = 1.0 / 190.0;
    let floor = ColliderBuilder::new(SharedShape::halfspace(Vector::Z));
    world.insert(RigidBodyBuilder::fixed(), floor);
    let dish = generate::bowl(generate::Bowl {
        radius: 0.4,
        wall: 0.02,
        ..Default::default()
    });
    let dish = FieldShape::from_mesh(&dish.unwrap(), settings()).unwrap();
    let dish = ColliderBuilder::new(dish.shared());
    world.insert(RigidBodyBuilder::fixed().translation(Vector::Z * 0.4), dish);
    let shapes = shapes();
    for i in 0..2 * shapes.len() {
        let turn = i as Real;
        let at = Vector::new((1.3 * turn).sin(), (1.7 * turn).cos(), 0.0) * 0.12;
        let body = RigidBodyBuilder::dynamic()
            .translation(at + Vector::Z * (0.25 + 0.05 * turn))
            .rotation(Vector::new((1.7 * turn).sin(), (2.3 * turn).cos(), turn.sin()) * 1.5);
        let shape = shapes[i % shapes.len()].clone();
        world.insert(body, ColliderBuilder::new(shape).density(800.0));
    }
    let alone = RigidBodyBuilder::dynamic().translation(Vector::new(2.0, 0.0, 0.0402));
    let barrel = ColliderBuilder::new(shapes[4].clone()).density(800.0);
    world.insert(alone, barrel);
    let (post, _) = world.insert(
        RigidBodyBuilder::fixed().translation(Vector::new(-2.0, 0.0, 0.6)),
        ColliderBuilder::ball(0.01),
    );
    let (bob, _) = world.insert(
        RigidBodyBuilder::dynamic().translation(Vector::new(-1.6, 0.0, 0.6)),
        ColliderBuilder::new(shapes[1].clone()).density(800.0),
    );
    let rod = SphericalJointBuilder::new().local_anchor1(Vector::X * 0.4);
    world.impulse_joints.insert(post, bob, rod, true);
    (world, fields)
}

/// Returns the state of everything that moves, bit by bit.
fn state(world: &PhysicsWorld) -> Vec<String> {
    let bodies = world.bodies.iter();
    bodies
        .map(|(handle, body)| {
            format!(
                "{handle:?} {:?} {:?} {:?} {}",
                body.position(),
                body.linvel(),
                body.angvel(),
                body.is_sleeping()
            )
        })
        .collect()
}

/// Steps both worlds and compares them: positions at every step, and now and then the saved bytes,
/// which hold everything.
fn go_on_alike(
    mut one: (PhysicsWorld, FieldDispatcher),
    mut other: (PhysicsWorld, FieldDispatcher),
    steps: usize,
) {
    one.1.take_counts();
    for step in 0..steps {
        one.0.step();
        other.0.step();
        let (a, b) = (state(&one.0), state(&other.0));
        for (a, b) in a.iter().zip(&b) {
            assert_eq!(a, b, "{step} steps after it was restored");
        }
        if step % 25 == 0 {
            let bytes = [&one, &other].map(|(world, fields)| save(world, fields).unwrap());
            assert!(bytes[0] == bytes[1], "bytes differ after {step} steps");
        }
    }
    let counts = one.1.take_counts();
    assert_eq!(counts, other.1.take_counts());
    // Sweeps in a heap may give up; everything else is handled.
    assert!(counts.unsupported == 0 && counts.refused == 0, "{counts:?}");
}

#[test]
fn a_heap_goes_on_to_the_same_bits() {
    for steps in [0, 40, 230] {
        let (mut world, fields) = heap();
        for _ in 0..steps {
            world.step();
        }
        let bytes = save(&world, &fields).unwrap();
        let again = restore(&bytes).unwrap();
        assert_eq!(again.1.settings().max_contacts, 9);
        assert!(save(&again.0, &again.1).unwrap() == bytes, "saved again");
        let asleep = world.bodies.iter().filter(|(_, body)| body.is_sleeping());
        assert_eq!(
            asleep.count() > 0,
            steps == 230,
            "the one alone sleeps by then"
        );
        go_on_alike((world, fields), again, 120);
    }
}

/// Bodies that were moved, added and removed since the last step: Rapier sees these changes only
/// after restoring.
#[test]
fn changes_that_no_step_has_seen_are_kept() {
    let (mut world, fields) = heap();
    for _ in 0..100 {
        world.step();
    }
    let handles: Vec<_> = world.bodies.iter().map(|(handle, _)| handle).collect();
    let moved = world.bodies.get_mut(handles[3]).unwrap();
    moved.set_translation(Vector::new(0.0, 0.1, 0.9), true);
    world.remove_body(handles[4]);
    let body = RigidBodyBuilder::dynamic().translation(Vector::new(0.05, 0.0, 1.1));
    world.insert(
        body,
        ColliderBuilder::new(shapes()[0].clone()).density(800.0),
    );
    let again = restore(&save(&world, &fields).unwrap()).unwrap();
    go_on_alike((world, fields), again, 150);
}

#[test]
fn what_colliders_share_is_stored_once() {
    let bytes_of = |count: usize, is_shared: bool| {
        let mut world = PhysicsWorld::new();
        let fields = install(&mut world, 0.1);
        let (shared, thinner) = (bowl(), bowl().with_thickness(0.001));
        for i in 0..count {
            let shape = match is_shared {
                true if i % 2 == 0 => shared.clone(),
                true => thinner.clone(),
                false => bowl(),
            };
            let body = RigidBodyBuilder::dynamic().translation(Vector::X * i as Real);
            world.insert(body, ColliderBuilder::new(shape.shared()));
        }
        save(&world, &fields).unwrap().len()
    };
    let (two, twenty, own) = (bytes_of(2, true), bytes_of(20, true), bytes_of(20, false));
    let each = (own - twenty) / 18;
    assert!(each > 50_000, "a field takes {each} bytes");
    // The rest is Rapier's state of a body.
    assert!((twenty - two) / 18 < 10_000, "{two} and {twenty} bytes");
}

#[test]
fn code_has_a_name_or_is_refused() {
    let world_of = |shape: FieldShape| {
        let mut world = PhysicsWorld::new();
        let fields = install(&mut world, 0.1);
        let floor = ColliderBuilder::new(SharedShape::halfspace(Vector::Y));
        world.insert(RigidBodyBuilder::fixed(), floor);
        let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 0.06);
        world.insert(body, ColliderBuilder::new(shape.shared()));
        for _ in 0..20 {
            world.step();
        }
        (world, fields)
    };
    let (world, fields) = world_of(closure(0.05));
    let error = save(&world, &fields).err().unwrap();
    assert!(
        matches!(error, SaveError::Nameless { collider: 1, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("FieldShape::named"), "{error}");

    let (world, fields) = world_of(closure(0.05).named("pearl"));
    let bytes = save(&world, &fields).unwrap();
    let unknown = restore(&bytes).err().unwrap();
    assert!(matches!(unknown, RestoreError::UnknownName(ref name) if name == "pearl"));
    let other = restore_with(&bytes, |_| Some(closure(0.04))).err().unwrap();
    assert!(matches!(other, RestoreError::OtherShape(_)), "{other}");
    let again = restore_with(&bytes, |name| (name == "pearl").then(|| closure(0.05)));
    go_on_alike((world, fields), again.unwrap(), 60);

    let mut world = PhysicsWorld::new();
    let fields = install(&mut world, 0.1);
    for radius in [0.04, 0.05] {
        let shape = closure(radius).named("pearl");
        world.insert(
            RigidBodyBuilder::dynamic(),
            ColliderBuilder::new(shape.shared()),
        );
    }
    let taken = save(&world, &fields).err().unwrap();
    assert!(matches!(taken, SaveError::NameTaken(_)), "{taken}");
}

#[test]
fn damaged_bytes_are_errors() {
    let mut world = PhysicsWorld::new();
    let fields = install(&mut world, 0.1);
    let ball = FieldShape::from_field(Sphere::new(0.05).unwrap(), settings()).unwrap();
    world.insert(
        RigidBodyBuilder::dynamic(),
        ColliderBuilder::new(ball.shared()),
    );
    world.step();
    let bytes = save(&world, &fields).unwrap();
    assert!(restore(&bytes).is_ok());
    for length in (0..bytes.len()).step_by(bytes.len() / 500) {
        let cut = restore(&bytes[..length]).err().unwrap();
        let is_told = match length {
            0..7 => matches!(cut, RestoreError::NotAWorld(_)),
            _ => matches!(cut, RestoreError::Length { .. }),
        };
        assert!(is_told, "{length} bytes: {cut}");
    }
    for place in (0..bytes.len()).step_by(bytes.len() / 500) {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x10;
        // Three bytes of the header are unused.
        assert_eq!(restore(&damaged).is_err(), !(9..12).contains(&place));
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(matches!(restore(&longer), Err(RestoreError::Length { .. })));
    let mut other = bytes.clone();
    other[8] = 12 - other[8];
    assert!(matches!(
        restore(&other),
        Err(RestoreError::Precision { .. })
    ));
    let mut later = bytes;
    later[7] = 2;
    assert!(matches!(restore(&later), Err(RestoreError::Version(2))));
}
