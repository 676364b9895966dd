//! Fast bodies do not pass through thin ones, whatever they are made of, however they spin, and
//! whichever of them moves.
//!
//! `TOUCHFIELD_LONG=1` runs twelve thousand cases instead of some hundreds; `TOUCHFIELD_PIECE=3/20`
//! restricts it to the third of twenty pieces.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use touchfield::field::{Difference, Intersection, primitive};
use touchfield::shape::Convex;
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{FieldDispatcher, FieldShape, Settings, install, step};

/// Random numbers that are the same on every run.
struct Random(touchfield::geom::Random);

impl Random {
    fn unit(&mut self) -> f32 {
        (self.0.bits() >> 40) as f32 / (1u64 << 24) as f32
    }

    fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    fn vector(&mut self) -> Vector {
        Vector::new(
            self.between(-1.0, 1.0),
            self.between(-1.0, 1.0),
            self.between(-1.0, 1.0),
        )
    }
}

fn cases() -> usize {
    match std::env::var_os("TOUCHFIELD_LONG") {
        Some(_) => 2_500 / piece().1,
        None => 48,
    }
}

/// Returns the piece of the long run to execute, and the number of pieces.
fn piece() -> (usize, usize) {
    let piece = std::env::var("TOUCHFIELD_PIECE").ok();
    let piece = piece.as_deref().and_then(|piece| piece.split_once('/'));
    let numbers = piece.and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
    numbers.unwrap_or((0, 1))
}

/// Returns the random numbers of a test, which differ between pieces.
fn random(test: u64) -> Random {
    Random(touchfield::geom::Random::new(
        test + 1_000 * piece().0 as u64,
    ))
}

fn settings() -> Settings {
    Settings {
        resolution: 48,
        points: 1_500,
        ..Default::default()
    }
}

fn ring() -> FieldShape {
    FieldShape::from_field(primitive::Torus::new(0.1, 0.03).unwrap(), settings()).unwrap()
}

/// Returns a bowl, open along +z.
fn bowl() -> FieldShape {
    let outer = primitive::Sphere::new(0.15).unwrap();
    let inner = primitive::Sphere::new(0.13).unwrap();
    let below = primitive::HalfSpace::new(glam::Vec3::Z, 0.0).unwrap();
    let shell = Difference {
        first: outer,
        second: inner,
    };
    FieldShape::from_field(
        Intersection {
            first: shell,
            second: below,
        },
        settings(),
    )
    .unwrap()
}

fn slab() -> FieldShape {
    let half = glam::Vec3::new(0.3, 0.015, 0.2);
    FieldShape::from_field(primitive::Cuboid::new(half).unwrap(), settings()).unwrap()
}

/// Returns plates across x with this half thickness.
fn plates(half: f32) -> Vec<(&'static str, SharedShape)> {
    let extents = glam::Vec3::new(half, 2.0, 2.0);
    let field = FieldShape::from_convex(Convex::cuboid(extents).unwrap()).unwrap();
    let corner = |y: f32, z: f32| Vector::new(0.0, y, z);
    let corners = vec![
        corner(-2.0, -2.0),
        corner(-2.0, 2.0),
        corner(2.0, 2.0),
        corner(2.0, -2.0),
    ];
    vec![
        ("field", field.shared()),
        ("cuboid", SharedShape::cuboid(half, 2.0, 2.0)),
        (
            "mesh",
            SharedShape::trimesh(corners, vec![[0, 1, 2], [0, 2, 3]]).unwrap(),
        ),
    ]
}

fn world() -> (PhysicsWorld, FieldDispatcher) {
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::ZERO;
    let fields = install(&mut world, 0.3);
    (world, fields)
}

/// Shoots a body at a plate at x = 0. Returns its depth when it should long have passed, and a
/// description of the case.
fn shot(body: &FieldShape, plate: &SharedShape, random: &mut Random) -> (f32, String) {
    let (mut world, _fields) = world();
    world.insert(
        RigidBodyBuilder::fixed(),
        ColliderBuilder::new(plate.clone()),
    );
    let speed = (random.between(0.0, 300f32.ln())).exp();
    let start = Vector::new(
        random.between(-1.0, -0.4),
        random.between(-0.5, 0.5),
        random.between(-0.5, 0.5),
    );
    let spin = random.between(0.0, 60.0) * random.vector();
    let sideways = 0.3 * speed * random.vector();
    let velocity = Vector::new(speed, sideways.y, sideways.z);
    let (handle, _) = world.insert(
        RigidBodyBuilder::dynamic()
            .translation(start)
            .rotation(3.0 * random.vector())
            .linvel(velocity)
            .angvel(spin),
        ColliderBuilder::new(body.shared()).density(500.0),
    );
    let steps = (2.0 / speed * 60.0) as usize + 10;
    for _ in 0..steps.min(300) {
        world.step();
    }
    let at = world.bodies[handle].center_of_mass();
    // The body may pass beside the plate.
    let missed = at.y.abs() > 1.7 || at.z.abs() > 1.7;
    let depth = if missed { -1.0 } else { at.x };
    (
        depth,
        format!("{start} at {velocity} spinning {spin}: ends at {at}"),
    )
}

#[test]
fn nothing_passes_through_a_plate() {
    let mut random = random(1);
    let mut failures = Vec::new();
    let bodies = [("ring", ring()), ("bowl", bowl()), ("slab", slab())];
    let mut count = 0;
    for half in [0.005, 0.0005] {
        for (plate_name, plate) in plates(half) {
            for case in 0..cases() / 6 {
                let (name, body) = &bodies[case % bodies.len()];
                // The plate may be thinner than the body itself.
                let body = body.with_thickness(half);
                let (at, line) = shot(&body, &plate, &mut random);
                count += 1;
                if at > 0.0 {
                    failures.push(format!("{name} through {plate_name} of {half}: {line}"));
                }
            }
        }
    }
    eprintln!("{} of {count} passed through", failures.len());
    assert!(
        failures.is_empty(),
        "{} of {count}: {failures:#?}",
        failures.len()
    );
}

/// Plain Rapier loses 11 of 705 slabs through a trimesh floor.
#[test]
fn a_spinning_slab_stays_on_the_floor() {
    let mut random = random(2);
    let mut failures = Vec::new();
    let corner = |x: f32, z: f32| Vector::new(x, 0.0, z);
    let corners = vec![
        corner(-20.0, -20.0),
        corner(-20.0, 20.0),
        corner(20.0, 20.0),
        corner(20.0, -20.0),
    ];
    let floor = SharedShape::trimesh(corners, vec![[0, 1, 2], [0, 2, 3]]).unwrap();
    let slab = slab();
    for case in 0..cases() {
        let (mut world, _fields) = world();
        world.gravity = Vector::Y * -9.81;
        world.insert(
            RigidBodyBuilder::fixed(),
            ColliderBuilder::new(floor.clone()),
        );
        let (handle, _) = world.insert(
            RigidBodyBuilder::dynamic()
                .translation(Vector::new(0.0, random.between(0.5, 3.0), 0.0))
                .rotation(3.0 * random.vector())
                .linvel(Vector::new(0.0, -random.between(0.0, 20.0), 0.0))
                .angvel(random.between(0.0, 60.0) * random.vector()),
            ColliderBuilder::new(slab.shared()).density(500.0),
        );
        for _ in 0..150 {
            world.step();
        }
        let at = world.bodies[handle].translation();
        if at.y < 0.0 {
            failures.push(format!("case {case}: {at}"));
        }
    }
    eprintln!("{} of {} fell through", failures.len(), cases());
    assert!(
        failures.is_empty(),
        "{} of {}: {failures:#?}",
        failures.len(),
        cases()
    );
}

/// A small ball shot into a bowl does not come out of its bottom.
#[test]
fn nothing_passes_through_a_bowl() {
    let mut random = random(3);
    let mut failures = Vec::new();
    let bowl = bowl();
    let ball = FieldShape::from_field(primitive::Sphere::new(0.02).unwrap(), settings()).unwrap();
    for case in 0..cases() {
        let (mut world, _fields) = world();
        world.insert(
            RigidBodyBuilder::fixed(),
            ColliderBuilder::new(bowl.shared()),
        );
        let speed = (random.between(0.0, 300f32.ln())).exp();
        let start = Vector::new(
            random.between(-0.08, 0.08),
            random.between(-0.08, 0.08),
            0.3,
        );
        let (handle, _) = world.insert(
            RigidBodyBuilder::dynamic()
                .translation(start)
                .linvel(Vector::new(0.0, 0.0, -speed)),
            ColliderBuilder::new(ball.shared()).density(500.0),
        );
        for _ in 0..((0.6 / speed * 60.0) as usize).clamp(10, 200) {
            world.step();
        }
        let at = world.bodies[handle].translation();
        // Below the bowl, within its rim.
        if at.length() > 0.15 && at.z < 0.0 && at.truncate().length() < 0.15 {
            failures.push(format!("case {case}: {start} at {speed} m/s ends at {at}"));
        }
    }
    eprintln!("{} of {} passed through", failures.len(), cases());
    assert!(
        failures.is_empty(),
        "{} of {}: {failures:#?}",
        failures.len(),
        cases()
    );
}

/// Plain Rapier loses 142 to 200 of 200, with CCD enabled for both bodies.
#[test]
fn two_moving_bodies_do_not_pass_through_each_other() {
    let mut random = random(4);
    let mut failures = Vec::new();
    let half = glam::Vec3::new(0.01, 0.3, 0.3);
    let plate = FieldShape::from_field(primitive::Cuboid::new(half).unwrap(), settings()).unwrap();
    let (ring, bowl) = (ring(), bowl());
    for case in 0..cases() {
        let (mut world, fields) = world();
        let speed = |random: &mut Random| (random.between(0.0, 300f32.ln())).exp();
        let (left, right) = (speed(&mut random), speed(&mut random));
        let body = [&ring, &bowl][case % 2];
        let (first, _) = world.insert(
            RigidBodyBuilder::dynamic()
                .translation(Vector::new(-0.5, 0.0, 0.0))
                .rotation(3.0 * random.vector())
                .linvel(Vector::new(left, 0.0, 0.0))
                .angvel(20.0 * random.vector()),
            ColliderBuilder::new(body.shared()).density(500.0),
        );
        let (second, _) = world.insert(
            RigidBodyBuilder::dynamic()
                .translation(Vector::new(0.5, 0.0, 0.0))
                .linvel(Vector::new(-right, 0.0, 0.0)),
            ColliderBuilder::new(plate.shared()).density(500.0),
        );
        // In the frame of the plate, whose normal is x: through it, or around it.
        let seen = |world: &PhysicsWorld| {
            let plate = world.bodies[second].position();
            plate.inverse_transform_point(world.bodies[first].center_of_mass())
        };
        let mut before = seen(&world);
        for _ in 0..((1.5 / (left + right) * 60.0) as usize).clamp(5, 60) {
            step(&mut world, &fields);
            let after = seen(&world);
            if before.x < 0.0 && after.x >= 0.0 {
                let crossing = before.lerp(after, before.x / (before.x - after.x));
                if crossing.y.abs() < 0.25 && crossing.z.abs() < 0.25 {
                    failures.push(format!(
                        "case {case}: {left} and {right} m/s, from {before} to {after} of the plate"
                    ));
                }
            }
            before = after;
        }
    }
    eprintln!("{} of {} passed through", failures.len(), cases());
    assert!(
        failures.is_empty(),
        "{} of {}: {failures:#?}",
        failures.len(),
        cases()
    );
}

/// Returns whether the centre lines of two rings are linked: one passes through the disc of the
/// other an odd number of times.
fn are_linked(first: &Pose, second: &Pose, radius: Real) -> bool {
    let relative = first.inverse() * *second;
    let (u, v) = (
        relative.rotation * (radius * Vector::X),
        relative.rotation * (radius * Vector::Y),
    );
    // Find where the centre line of the second ring crosses the plane of the first.
    let most = u.z.hypot(v.z);
    let height = relative.translation.z;
    if height.abs() >= most {
        return false;
    }
    let (highest, aside) = (v.z.atan2(u.z), (-height / most).acos());
    let crossings = [highest + aside, highest - aside]
        .into_iter()
        .filter(|angle| {
            let at = relative.translation + angle.cos() * u + angle.sin() * v;
            at.x.hypot(at.y) < radius
        });
    crossings.count() == 1
}

/// Two rings on their way to each other, the second of which may be fixed.
#[derive(Clone, Copy, Debug)]
struct Rings {
    speeds: [Real; 2],
    is_fixed: bool,
    at: Vector,
    turns: [Vector; 2],
    spin: Vector,
}

impl Rings {
    fn random(case: usize, random: &mut Random) -> Rings {
        let speed = |random: &mut Random| (random.between(0.0, 300f32.ln())).exp();
        let speeds = [speed(random), speed(random)];
        let at = Vector::new(0.3, 0.0, 0.0) + 0.05 * random.vector();
        let second = 3.0 * random.vector();
        let first = 3.0 * random.vector();
        Rings {
            speeds,
            is_fixed: case.is_multiple_of(2),
            at,
            turns: [first, second],
            spin: 30.0 * random.vector(),
        }
    }

    /// Returns the step after which the rings are linked, if they ever are.
    fn linked_after(&self, ring: &FieldShape) -> Option<usize> {
        let (mut world, fields) = world();
        let [left, right] = self.speeds;
        let second = if self.is_fixed {
            RigidBodyBuilder::fixed()
        } else {
            RigidBodyBuilder::dynamic().linvel(Vector::new(-right, 0.0, 0.0))
        };
        let (second, _) = world.insert(
            second.translation(self.at).rotation(self.turns[1]),
            ColliderBuilder::new(ring.shared()).density(500.0),
        );
        let (first, _) = world.insert(
            RigidBodyBuilder::dynamic()
                .translation(Vector::new(-0.3, 0.0, 0.0))
                .rotation(self.turns[0])
                .linvel(Vector::new(left, 0.0, 0.0))
                .angvel(self.spin),
            ColliderBuilder::new(ring.shared()).density(500.0),
        );
        let closing = if self.is_fixed { left } else { left + right };
        let steps = ((1.2 / closing * 60.0) as usize).clamp(5, 60);
        (0..steps).find(|_| {
            step(&mut world, &fields);
            let poses = [first, second].map(|body| *world.bodies[body].position());
            are_linked(&poses[0], &poses[1], 0.1)
        })
    }
}

/// Two rings that are not linked do not become so, whether one is fixed or both move.
#[test]
fn rings_do_not_pass_through_rings() {
    let mut random = random(5);
    let mut failures = Vec::new();
    let ring = ring();
    for case in 0..cases() {
        let rings = Rings::random(case, &mut random);
        if let Some(time) = rings.linked_after(&ring) {
            failures.push(format!("case {case}: {rings:?}, linked after step {time}"));
        }
    }
    eprintln!("{} of {} passed through", failures.len(), cases());
    assert!(
        failures.is_empty(),
        "{} of {}: {failures:#?}",
        failures.len(),
        cases()
    );
}

/// In two cases of the long series, both with moving rings, they were linked.
#[test]
fn rings_that_what_they_hit_throws_into_each_other_are_not_linked() {
    let ring = ring();
    for (piece, case) in [(1, 39), (4, 43)] {
        let mut random = Random(touchfield::geom::Random::new(5 + 1_000 * piece));
        let cases = (0..=case).map(|case| Rings::random(case, &mut random));
        let rings = cases.last().unwrap();
        assert_eq!(rings.linked_after(&ring), None, "piece {piece}: {rings:?}");
    }
}

#[test]
fn links_are_told_from_rings_apart() {
    let at = |x: Real, turn: Vector| Pose::new(Vector::new(x, 0.0, 0.0), turn);
    let upright = Vector::X * 1.5;
    assert!(are_linked(&at(0.0, Vector::ZERO), &at(0.1, upright), 0.1));
    assert!(!are_linked(&at(0.0, Vector::ZERO), &at(0.25, upright), 0.1));
    assert!(!are_linked(
        &at(0.0, Vector::ZERO),
        &at(0.05, Vector::ZERO),
        0.1
    ));
}
