//! A nut on its bolt at 240 steps per second: under gravity alone it turns down the whole thread;
//! with friction above the tangent of the lead angle it locks.
//!
//! Output: turns, pitches descended and the deviation from the thread, a picture and a chart. With
//! `--push` the nut is also pushed with fifty times its weight and must not pass through the
//! thread; the CCD sweeps of that run take minutes.
//!
//! `cargo run --release -p touchfield-rapier --example 10_nut_on_bolt`
//!
//! Options, after `--`: `--size M8|M16`, `--push`, `--out FOLDER`.
#![allow(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;
use std::f32::consts::{PI, TAU};

use touchfield::mesh::generate::{Bolt, MetricSize, Nut, bolt, nut};
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{FieldShape, Settings, install};

mod scene;

/// Simulation rate \[steps/s\]. Users of another engine needed about two thousand.
const RATE: f32 = 240.0;

/// Number of steps after which the nut has settled on its thread and is pushed.
const SETTLED: u32 = 24;

/// Both shapes, the pitch, and the heights at which the nut starts and ends \[m\].
struct Thread {
    bolt: FieldShape,
    nut: FieldShape,
    pitch: f32,
    start: f32,
    end: f32,
}

fn thread(size: MetricSize) -> Result<Thread, Box<dyn Error>> {
    // Real threads are round; the facets of a coarser mesh would brake the nut.
    let segments = 384;
    let bolt_model = Bolt {
        segments,
        ..Bolt::of_size(size)
    };
    let nut_model = Nut {
        segments,
        ..Nut::of_size(size)
    };
    // Cells of a twelfth of a pitch, which is about the play of the thread.
    let settings = |length: f64| Settings {
        resolution: (12.0 * length / size.pitch()) as u32,
        points: 20_000,
        ..Default::default()
    };
    let (pitch, height) = (size.pitch() as f32, size.nut_height() as f32);
    let length = bolt_model.length as f32;
    Ok(Thread {
        bolt: FieldShape::from_mesh(
            &bolt(bolt_model)?,
            settings(bolt_model.length + size.head_height()),
        )?,
        nut: FieldShape::from_mesh(&nut(nut_model)?, settings(1.16 * size.across_flats()))?,
        pitch,
        // The nut fits at multiples of the pitch.
        start: ((length - 0.75 * height) / pitch).floor() * pitch,
        end: length - bolt_model.thread_length as f32 + 0.5 * height,
    })
}

/// Outcome of a run: turns, greatest deviation of the height from the thread \[pitches\], descent
/// \[pitches\], and whether the nut reached the end.
struct Run {
    turned: f32,
    off: f32,
    down: f32,
    is_down: bool,
}

/// Drops the nut and, once it has settled, pushes it with `weights` times its weight. Writes a
/// picture and a chart if a name is given.
fn run(
    thread: &Thread,
    friction: f32,
    weights: f32,
    seconds: f32,
    name: Option<&'static str>,
) -> Result<Run, Box<dyn Error>> {
    let mut world = PhysicsWorld::new();
    let fields = install(&mut world, 2.0 * thread.pitch);
    world.gravity = Vector::Z * -9.81;
    world.integration_parameters.dt = 1.0 / RATE;
    if weights == 0.0 {
        // Unpushed, the nut never moves farther per step than contacts are predicted, and sweeping
        // two threads costs a hundred times more than their contacts. So CCD is off.
        world.integration_parameters.max_ccd_substeps = 0;
    }
    let of = |shape: &FieldShape| {
        let collider = ColliderBuilder::new(shape.shared());
        collider.friction(friction).density(7850.0)
    };
    let (bolt, _) = world.insert(RigidBodyBuilder::fixed(), of(&thread.bolt));
    let at = Vector::Z * thread.start;
    let body = RigidBodyBuilder::dynamic().translation(at).can_sleep(false);
    let (nut, _) = world.insert(body, of(&thread.nut));
    let heading = |world: &PhysicsWorld| {
        let x = world.bodies[nut].rotation() * Vector::X;
        x.y.atan2(x.x)
    };
    let (mut before, mut record) = (heading(&world), scene::Record::default());
    let mut run = Run {
        turned: 0.0,
        off: 0.0,
        down: 0.0,
        is_down: false,
    };
    let mut curves = [Vec::new(), Vec::new()];
    for step in 0..(seconds * RATE) as u32 {
        if step == SETTLED {
            let body = &mut world.bodies[nut];
            let push = -9.81 * weights * body.mass() * Vector::Z;
            body.add_force(push, true);
        }
        world.step();
        record.note(&world);
        // Count turns from the orientation, not the angular velocity: it turns less than half a
        // turn per step.
        let now = heading(&world);
        run.turned += ((now - before + 3.0 * PI).rem_euclid(TAU) - PI) / TAU;
        before = now;
        let height = world.bodies[nut].translation().z;
        run.down = (thread.start - height) / thread.pitch;
        run.off = run.off.max((run.down + run.turned).abs());
        let seconds = f64::from((step + 1) as f32 / RATE);
        curves[0].push([seconds, f64::from(run.down)]);
        curves[1].push([seconds, f64::from(-run.turned)]);
        run.is_down = height <= thread.end;
        if run.is_down {
            break;
        }
    }
    assert_eq!(fields.take_counts().unsupported, 0);
    if let Some(name) = name {
        let mut picture = scene::Picture::new(name).seen_from(-60, 20);
        picture.add("bolt", &thread.bolt, bolt);
        picture.add("nut", &thread.nut, nut);
        picture.write(&world)?;
        let [down, turned] = curves;
        let curves = vec![("pitches down".into(), down), ("turns".into(), turned)];
        let way = scene::over_time("the way of the nut: pitches down, and turns", curves);
        record.write(name, vec![way])?;
    }
    Ok(run)
}

fn main() -> Result<(), Box<dyn Error>> {
    let (size, name) = match scene::argument("--size", "M8".to_owned()).as_str() {
        "M16" => (MetricSize::M16, "10_nut_on_bolt_m16"),
        _ => (MetricSize::M8, "10_nut_on_bolt_m8"),
    };
    let thread = thread(size)?;
    let lead = (size.pitch() / (std::f64::consts::PI * size.diameter())) as f32;
    println!(
        "{size:?}: a pitch of {:.2} mm, a lead of tangent {lead:.3}",
        1e3 * thread.pitch
    );

    let free = run(&thread, 0.02, 0.0, 8.0, Some(name))?;
    println!(
        "friction 0.02, gravity alone: {:.2} pitches down in {:.2} turns, at most {:.3} pitches off the thread",
        free.down, -free.turned, free.off
    );
    assert!(free.is_down, "it turns down the whole thread by itself");
    assert!(free.off < 0.2, "and stays on it");

    let locked = run(&thread, 4.0 * lead, 0.0, 0.5, None)?;
    println!(
        "friction {:.2}: {:.3} turns in half a second",
        4.0 * lead,
        -locked.turned
    );
    assert!(locked.turned.abs() < 0.1, "it locks");

    if !std::env::args().any(|argument| argument == "--push") {
        return Ok(());
    }
    // Fifty weights accelerate the nut by 2 m/s per step, seven pitches of travel: without sweeps
    // it would pass through the thread.
    for friction in [0.02, 4.0 * lead] {
        let pushed = run(&thread, friction, 50.0, 0.5, None)?;
        println!(
            "friction {friction:.2}, pushed with 50 times its weight: {:.2} pitches down in {:.2} turns, at most {:.3} pitches off the thread",
            pushed.down, -pushed.turned, pushed.off
        );
        assert!(pushed.off < 0.3, "it passes through no thread");
    }
    Ok(())
}
