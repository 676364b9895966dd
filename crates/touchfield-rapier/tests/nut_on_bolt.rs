//! A nut on a bolt: it turns down by itself, locks with friction, and never passes through a
//! thread.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::f32::consts::TAU;

use touchfield::mesh::generate::{Bolt, MetricSize, Nut, bolt, nut};
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{FieldDispatcher, FieldShape, Settings, install};

/// Steps per second; users of another engine needed about two thousand.
const RATE: f32 = 240.0;

struct Scene {
    world: PhysicsWorld,
    fields: FieldDispatcher,
    nut: RigidBodyHandle,
    pitch: f32,
    /// Height of the nut's middle at the start.
    start: f32,
    /// Height of the nut's middle where the thread ends.
    end: f32,
}

/// Builds the scene, with sweeps or without. A nut that turns by itself never moves farther than
/// its contacts are predicted, and a sweep of two threads costs a hundred times as much as its
/// contacts.
fn scene(size: MetricSize, friction: f32, sweeps: bool) -> Scene {
    // Real threads are round: the facets of a coarser mesh act as a brake.
    let segments = 384;
    let bolt_model = Bolt {
        segments,
        ..Bolt::of_size(size)
    };
    let nut_model = Nut {
        segments,
        ..Nut::of_size(size)
    };
    let pitch = size.pitch() as f32;
    // The cell size is a twelfth of a pitch, the same as the play.
    let nodes = |length: f64| (12.0 * length / size.pitch()) as u32;
    let settings = |length: f64| Settings {
        resolution: nodes(length),
        points: 20_000,
        ..Default::default()
    };
    let bolt_shape = FieldShape::from_mesh(
        &bolt(bolt_model).unwrap(),
        settings(bolt_model.length + size.head_height()),
    );
    let nut_shape = FieldShape::from_mesh(
        &nut(nut_model).unwrap(),
        settings(1.16 * size.across_flats()),
    );
    let mut world = PhysicsWorld::new();
    let fields = install(&mut world, 2.0 * pitch);
    world.gravity = Vector::Z * -9.81;
    world.integration_parameters.dt = 1.0 / RATE;
    if !sweeps {
        world.integration_parameters.max_ccd_substeps = 0;
    }
    let height = size.nut_height() as f32;
    let length = bolt_model.length as f32;
    // The nut fits at whole pitches.
    let start = ((length - 0.75 * height) / pitch).floor() * pitch;
    let end = length - bolt_model.thread_length as f32 + 0.5 * height;
    let material = |shape: &FieldShape| {
        ColliderBuilder::new(shape.shared())
            .friction(friction)
            .density(7850.0)
    };
    world.insert(RigidBodyBuilder::fixed(), material(&bolt_shape.unwrap()));
    let (nut, _) = world.insert(
        RigidBodyBuilder::dynamic()
            .translation(Vector::new(0.0, 0.0, start))
            .can_sleep(false),
        material(&nut_shape.unwrap()),
    );
    Scene {
        world,
        fields,
        nut,
        pitch,
        start,
        end,
    }
}

impl Scene {
    /// Simulates some seconds. Returns the turn about the axis, and the largest deviation of height
    /// and turn from the thread's law \[pitches\].
    fn run(&mut self, seconds: f32) -> (f32, f32) {
        let (mut turned, mut off) = (0.0f32, 0.0f32);
        let heading = |world: &PhysicsWorld, nut: RigidBodyHandle| {
            let x = world.bodies[nut].rotation() * Vector::X;
            x.y.atan2(x.x)
        };
        let mut before = heading(&self.world, self.nut);
        let from = self.height();
        for _ in 0..(seconds * RATE) as u32 {
            self.world.step();
            let body = &self.world.bodies[self.nut];
            // Uses the orientation, not the angular velocity; the nut turns by less than half a
            // turn per step.
            let now = heading(&self.world, self.nut);
            turned += (now - before + 1.5 * TAU).rem_euclid(TAU) - 0.5 * TAU;
            before = now;
            let fallen = body.translation().z - from;
            off = off.max((fallen / self.pitch - turned / TAU).abs());
            if body.translation().z <= self.end {
                break;
            }
        }
        (turned / TAU, off)
    }

    fn height(&self) -> f32 {
        self.world.bodies[self.nut].translation().z
    }
}

/// Gravity alone, over the whole thread.
fn turns_down_by_itself(size: MetricSize) {
    let mut scene = scene(size, 0.02, false);
    let (turned, off) = scene.run(6.0);
    eprintln!(
        "turned {turned} times, {off} pitches off the thread, from {:.2} to {:.2} mm",
        1e3 * scene.start,
        1e3 * scene.height()
    );
    assert!(
        scene.height() <= scene.end,
        "stopped at {} of {}",
        scene.height(),
        scene.end
    );
    assert!(off < 0.2, "{off} pitches off its thread");
    assert_eq!(scene.fields.take_counts().unsupported, 0);
}

#[test]
fn an_m8_nut_turns_down_by_itself() {
    turns_down_by_itself(MetricSize::M8);
}

/// Takes a minute, so it runs only with `TOUCHFIELD_LONG`.
#[test]
fn an_m16_nut_turns_down_by_itself() {
    if std::env::var_os("TOUCHFIELD_LONG").is_some() {
        turns_down_by_itself(MetricSize::M16);
    }
}

/// The tangent of an M8's lead angle is 0.055.
#[test]
fn friction_above_the_lead_locks_it_even_when_pushed() {
    let mut scene = scene(MetricSize::M8, 0.3, true);
    let (turned, _) = scene.run(0.5);
    assert!(turned.abs() < 0.1, "turned {turned} times");
    let rested = scene.height();
    let body = &mut scene.world.bodies[scene.nut];
    let push = -50.0 * 9.81 * body.mass() * Vector::Z;
    body.add_force(push, true);
    let (turned, _) = scene.run(0.25);
    let sunk = (rested - scene.height()) / scene.pitch;
    eprintln!("pushed by 50 times its weight: turned {turned} times, sank {sunk} pitches");
    assert!(
        sunk < 0.3 && turned.abs() < 0.3,
        "sank {sunk} pitches, turned {turned} times"
    );
}

/// With little friction and pushed by 50 times its weight, the nut may go down, but only by
/// turning. Sweeps of two threads take minutes, so this runs only with `TOUCHFIELD_LONG`.
#[test]
fn pushed_hard_it_never_passes_through_a_thread() {
    if std::env::var_os("TOUCHFIELD_LONG").is_none() {
        return;
    }
    let mut scene = scene(MetricSize::M8, 0.02, true);
    let body = &mut scene.world.bodies[scene.nut];
    let push = -50.0 * 9.81 * body.mass() * Vector::Z;
    body.add_force(push, true);
    let (turned, off) = scene.run(0.5);
    eprintln!("turned {turned} times, {off} pitches off the thread");
    assert!(
        off < 0.3,
        "{off} pitches off its thread after {turned} turns"
    );
}
