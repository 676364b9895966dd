//! Fields in a world: partners, compounds, sensors, rays, energy, bitwise repeatability, and counts
//! of what cannot be handled.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::sync::Mutex;

use touchfield::field::primitive;
use touchfield::shape::Convex;
use touchfield_rapier::rapier::parry::query::{
    PersistentQueryDispatcher, QueryDispatcher, ShapeDistance,
};
use touchfield_rapier::rapier::parry::shape::Polyline;
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{FieldDispatcher, FieldShape, Settings, install};

fn settings() -> Settings {
    Settings {
        resolution: 48,
        points: 2_000,
        ..Default::default()
    }
}

fn ball(radius: f32) -> FieldShape {
    FieldShape::from_field(primitive::Sphere::new(radius).unwrap(), settings()).unwrap()
}

fn ring() -> FieldShape {
    FieldShape::from_field(primitive::Torus::new(0.4, 0.12).unwrap(), settings()).unwrap()
}

/// The distance between each of Rapier's solids and a ball backed by a field matches parry's
/// distance from the ball's middle.
#[test]
fn partners_are_where_rapier_has_them() {
    let fields = FieldDispatcher::default();
    let small = ball(0.05);
    let hull = SharedShape::convex_hull(&[
        Vector::new(0.5, 0.1, 0.0),
        Vector::new(-0.4, 0.2, 0.1),
        Vector::new(0.0, -0.5, 0.3),
        Vector::new(0.1, 0.3, -0.5),
        Vector::new(0.2, 0.4, 0.5),
    ])
    .unwrap();
    let shapes = [
        ("ball", SharedShape::ball(0.4)),
        ("cuboid", SharedShape::cuboid(0.3, 0.4, 0.5)),
        (
            "capsule",
            SharedShape::capsule(Vector::new(-0.1, 0.2, 0.0), Vector::new(0.3, 0.1, 0.4), 0.2),
        ),
        ("cylinder", SharedShape::cylinder(0.4, 0.2)),
        ("cone", SharedShape::cone(0.4, 0.3)),
        ("hull", hull),
        (
            "round cuboid",
            SharedShape::round_cuboid(0.2, 0.3, 0.4, 0.1),
        ),
        (
            "round cylinder",
            SharedShape::round_cylinder(0.4, 0.2, 0.05),
        ),
        ("round cone", SharedShape::round_cone(0.4, 0.3, 0.05)),
        (
            "half-space",
            SharedShape::halfspace(Vector::new(0.6, 0.8, 0.0)),
        ),
        (
            "triangle",
            SharedShape::triangle(
                Vector::new(-0.5, 0.0, 0.1),
                Vector::new(0.5, 0.1, 0.0),
                Vector::new(0.0, 0.6, 0.0),
            ),
        ),
    ];
    for (name, shape) in &shapes {
        for (x, y, z) in [
            (1.0, 0.3, 0.2),
            (-0.7, 0.9, 0.1),
            (0.2, 1.1, -0.8),
            (0.3, -0.9, 0.9),
        ] {
            let point = Vector::new(x, y, z);
            let expected = shape.distance_to_local_point(point, true) - 0.05;
            if expected <= 0.01 {
                continue;
            }
            let pose = Pose::from_translation(point);
            let ShapeDistance { distance, .. } = fields.distance(&pose, &**shape, &small).unwrap();
            assert!(
                (distance - expected).abs() < 2e-3,
                "{name} at {point}: {distance}, parry {expected}"
            );
            let back = fields
                .distance(&pose.inverse(), &small, &**shape)
                .unwrap()
                .distance;
            assert!(
                (back - expected).abs() < 2e-3,
                "{name} exchanged: {back}, parry {expected}"
            );
        }
    }
    assert!(fields.take_counts().is_clean());
}

/// A compound of a field and a cuboid rests on either of them, whichever collider comes first.
#[test]
fn a_field_inside_a_compound_touches() {
    for field_is_below in [true, false] {
        for is_swapped in [true, false] {
            let mut world = PhysicsWorld::new();
            let fields = install(&mut world, 1.0);
            let height = if field_is_below { -0.5 } else { 0.5 };
            let compound = SharedShape::compound(vec![
                (
                    Pose::from_translation(Vector::Y * height),
                    ball(0.3).shared(),
                ),
                (
                    Pose::from_translation(-Vector::Y * height),
                    SharedShape::cuboid(0.3, 0.3, 0.3),
                ),
            ]);
            let floor = (
                RigidBodyBuilder::fixed(),
                ColliderBuilder::new(SharedShape::halfspace(Vector::Y)),
            );
            if !is_swapped {
                world.insert(floor.0.clone(), floor.1.clone());
            }
            let (body, _) = world.insert(
                RigidBodyBuilder::dynamic()
                    .translation(Vector::Y * 0.9)
                    .lock_rotations(),
                ColliderBuilder::new(compound),
            );
            if is_swapped {
                world.insert(floor.0, floor.1);
            }
            for _ in 0..180 {
                world.step();
            }
            let at = world.bodies[body].translation().y;
            assert!(
                (at - 0.8).abs() < 0.01,
                "field below: {field_is_below}, swapped: {is_swapped}: rests at {at}"
            );
            assert!(fields.take_counts().is_clean());
        }
    }
}

/// Collects collision events.
#[derive(Default)]
struct Events(Mutex<Vec<CollisionEvent>>);

impl EventHandler for Events {
    fn handle_collision_event(
        &self,
        _bodies: &RigidBodySet,
        _colliders: &ColliderSet,
        event: CollisionEvent,
        _pair: Option<&ContactPair>,
    ) {
        self.0.lock().unwrap().push(event);
    }

    fn handle_soft_body_tear_event(&self, _bodies: &SoftBodySet, _event: &SoftBodyTearEvent) {}

    fn handle_contact_force_event(
        &self,
        _dt: Real,
        _bodies: &RigidBodySet,
        _colliders: &ColliderSet,
        _pair: &ContactPair,
        _force: Real,
    ) {
    }
}

#[test]
fn a_ring_senses_what_passes_through_its_tube_and_not_through_its_hole() {
    for (x, expected) in [(0.4, true), (0.0, false)] {
        let mut world = PhysicsWorld::new();
        install(&mut world, 1.0);
        world.gravity = Vector::ZERO;
        // The ring's axis is z.
        world.insert(
            RigidBodyBuilder::fixed(),
            ColliderBuilder::new(ring().shared())
                .sensor(true)
                .active_events(ActiveEvents::COLLISION_EVENTS),
        );
        world.insert(
            RigidBodyBuilder::dynamic()
                .translation(Vector::new(x, 0.0, -1.0))
                .linvel(Vector::Z * 2.0),
            ColliderBuilder::ball(0.05),
        );
        let events = Events::default();
        for _ in 0..60 {
            world.step_with_events(&(), &events);
        }
        let started = events.0.lock().unwrap().iter().any(|event| event.started());
        assert_eq!(started, expected, "at {x}");
    }
}

#[test]
fn rays_and_points_meet_the_surface() {
    let ring = ring();
    let down = Ray::new(Vector::new(0.4, 0.0, 2.0), Vector::new(0.0, 0.0, -0.5));
    let hit = ring
        .cast_local_ray_and_get_normal(&down, 10.0, true)
        .unwrap();
    assert!(
        (hit.time_of_impact - 2.0 * 1.88).abs() < 1e-3,
        "{}",
        hit.time_of_impact
    );
    assert!(hit.normal.distance(Vector::Z) < 1e-2);
    let through = Ray::new(Vector::new(0.0, 0.0, 2.0), Vector::new(0.0, 0.0, -1.0));
    assert!(
        ring.cast_local_ray(&through, 10.0, true).is_none(),
        "the hole is open"
    );
    assert!(
        ring.cast_local_ray(&down, 1.0, true).is_none(),
        "not within reach"
    );
    let inside = Ray::new(Vector::new(0.4, 0.0, 0.0), Vector::Z);
    assert_eq!(ring.cast_local_ray(&inside, 10.0, true), Some(0.0));
    let out = ring.cast_local_ray(&inside, 10.0, false).unwrap();
    assert!((out - 0.12).abs() < 1e-3, "{out}");
    let projection = ring.project_local_point(Vector::new(0.0, 0.9, 0.0), true);
    assert!(projection.point.distance(Vector::new(0.0, 0.52, 0.0)) < 1e-3);
    assert!(!projection.is_inside && ring.contains_local_point(Vector::new(0.4, 0.05, 0.0)));
}

/// A ball that bounces without loss for ten thousand steps gains no more energy than rounding
/// explains.
#[test]
fn an_elastic_drop_gains_no_energy() {
    let mut world = PhysicsWorld::new();
    install(&mut world, 1.0);
    let material = |builder: ColliderBuilder| builder.friction(0.0).restitution(1.0);
    world.insert(
        RigidBodyBuilder::fixed(),
        material(ColliderBuilder::new(SharedShape::halfspace(Vector::Y))),
    );
    let (body, _) = world.insert(
        RigidBodyBuilder::dynamic()
            .translation(Vector::Y * 1.5)
            .can_sleep(false),
        material(ColliderBuilder::new(ball(0.5).shared())),
    );
    let energy = |world: &PhysicsWorld| {
        let body = &world.bodies[body];
        0.5 * body.linvel().length_squared() + 9.81 * body.translation().y
    };
    let start = energy(&world);
    let mut most = start;
    for _ in 0..10_000 {
        world.step();
        most = most.max(energy(&world));
    }
    eprintln!(
        "gains {:.4} % at most, ends with {:.4} %",
        100.0 * (most / start - 1.0),
        100.0 * energy(&world) / start
    );
    assert!(most <= 1.001 * start, "{most} from {start}");
}

/// A freely tumbling body backed by a field behaves as Rapier's own: through Rapier's integrator,
/// it loses as much energy and its angular momentum turns as far.
#[test]
fn a_free_tumbling_body_keeps_what_rapier_keeps() {
    let half = glam::Vec3::new(0.5, 0.3, 0.2);
    let convex = FieldShape::from_convex(Convex::cuboid(half).unwrap()).unwrap();
    let field = primitive::Cuboid::new(half).unwrap();
    let field = FieldShape::from_field(field, Settings::default()).unwrap();
    // Returns the mass, and the relative errors of energy and angular momentum after ten thousand
    // steps.
    let kept = |shape: SharedShape| {
        let mut world = PhysicsWorld::new();
        install(&mut world, 1.0);
        world.gravity = Vector::ZERO;
        let (body, _) = world.insert(
            RigidBodyBuilder::dynamic()
                .angvel(Vector::new(1.0, 2.0, 0.5))
                .linvel(Vector::X)
                .can_sleep(false),
            ColliderBuilder::new(shape).density(10.0),
        );
        world.step();
        let state = |world: &PhysicsWorld| {
            let body = &world.bodies[body];
            let mass = &body.mass_properties().local_mprops;
            let axes = body.rotation() * mass.principal_inertia_local_frame;
            let turning = axes * ((axes.inverse() * body.angvel()) * mass.principal_inertia());
            (body.kinetic_energy(), turning)
        };
        let (energy, turning) = state(&world);
        for _ in 0..10_000 {
            world.step();
        }
        let after = state(&world);
        [
            world.bodies[body].mass(),
            after.0 / energy - 1.0,
            (after.1 - turning).length() / turning.length(),
        ]
    };
    let own = kept(SharedShape::cuboid(0.5, 0.3, 0.2));
    for (name, shape) in [("convex", convex), ("field", field)] {
        let ours = kept(shape.shared());
        eprintln!("{name}: mass, energy and momentum {ours:?}, own {own:?}");
        assert!((ours[0] / own[0] - 1.0).abs() < 1e-5, "{ours:?}, {own:?}");
        assert!((ours[1] - own[1]).abs() < 1e-3, "{ours:?}, {own:?}");
        assert!((ours[2] - own[2]).abs() < 1e-3, "{ours:?}, {own:?}");
    }
}

/// Returns the state of a small heap as bits.
fn heap(threads: usize) -> Vec<u32> {
    let run = || {
        let mut world = PhysicsWorld::new();
        install(&mut world, 1.0);
        world.insert(
            RigidBodyBuilder::fixed(),
            ColliderBuilder::new(SharedShape::halfspace(Vector::Y)),
        );
        let ring = ring();
        for index in 0..8 {
            let at = Vector::new(
                0.1 * (index % 3) as f32,
                0.4 + 0.5 * index as f32,
                0.05 * index as f32,
            );
            world.insert(
                RigidBodyBuilder::dynamic()
                    .translation(at)
                    .rotation(Vector::new(0.3 * index as f32, 0.1, 0.0)),
                ColliderBuilder::new(ring.shared()),
            );
        }
        for _ in 0..200 {
            world.step();
        }
        let bodies = world.bodies.iter().flat_map(|(_, body)| {
            let (at, turn) = (body.translation(), body.rotation().to_array());
            at.to_array().into_iter().chain(turn)
        });
        bodies.map(f32::to_bits).collect()
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    pool.install(run)
}

#[test]
fn the_same_heap_has_the_same_bits() {
    let once = heap(1);
    assert_eq!(once, heap(1));
    assert_eq!(once, heap(4));
    assert!(once.iter().all(|bits| f32::from_bits(*bits).is_finite()));
}

#[test]
fn what_nobody_can_handle_is_counted() {
    let fields = FieldDispatcher::default();
    let line = Polyline::new(vec![Vector::ZERO, Vector::X], None);
    let mut manifolds: Vec<ContactManifold> = Vec::new();
    let pose = Pose::IDENTITY;
    fields
        .contact_manifolds(&pose, &ball(0.5), &line, 0.1, &mut manifolds, &mut None)
        .unwrap();
    assert_eq!(fields.take_counts().unsupported, 1);
    assert!(fields.take_counts().is_clean(), "counts are taken");
    let nowhere = Pose::from_translation(Vector::splat(Real::NAN));
    fields
        .contact_manifolds(
            &nowhere,
            &ball(0.5),
            &ball(0.5),
            0.1,
            &mut manifolds,
            &mut None,
        )
        .unwrap();
    assert_eq!(fields.take_counts().refused, 1);
}

#[test]
fn scale_keeps_the_shape() {
    let ring = ring().scaled(0.5).unwrap();
    let inside = ring.contains_local_point(Vector::new(0.2, 0.0, 0.05));
    assert!(inside && !ring.contains_local_point(Vector::new(0.2, 0.0, 0.07)));
    let volume = 2.0 * std::f64::consts::PI.powi(2) * 0.2 * 0.06 * 0.06;
    assert!((ring.mass().volume / volume - 1.0).abs() < 1e-2);
    assert!(
        Shape::scale_dyn(&ring, Vector::new(1.0, 2.0, 1.0), 8).is_none(),
        "fields scale evenly only"
    );
}
