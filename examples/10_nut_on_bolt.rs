//! A nut on its bolt: by gravity alone it turns down the whole thread; with friction above the tangent of the lead it locks. 240 steps a second.
//! With `--push` it is also pushed with fifty times its weight, and must not pass through a thread: its sweeps take minutes.
//!
//! `cargo run --release -p touchfield-rapier --example 10_nut_on_bolt [-- --size M8|M16 --push --out FOLDER]`
#![allow(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;
use std::f32::consts::{PI, TAU};

use touchfield::mesh::generate::{Bolt, MetricSize, Nut, bolt, nut};
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{FieldShape, Settings, install};

mod scene;

/// Steps a second; users of another engine needed some two thousand.
const RATE: f32 = 240.0;

/// Steps until it sits on its thread and is pushed.
const SETTLED: u32 = 24;

/// Both shapes, and where the nut starts and ends \[m\].
struct Thread {
    bolt: FieldShape,
    nut: FieldShape,
    pitch: f32,
    start: f32,
    end: f32,
}

fn thread(size: MetricSize) -> Result<Thread, Box<dyn Error>> {
    // Real threads are round: the facets of a coarser mesh are a brake.
    let segments = 384;
    let bolt_model = Bolt {
        segments,
        ..Bolt::of_size(size)
    };
    let nut_model = Nut {
        segments,
        ..Nut::of_size(size)
    };
    // Cells of a twelfth of a pitch: the play is as much.
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
        // The nut fits at whole pitches.
        start: ((length - 0.75 * height) / pitch).floor() * pitch,
        end: length - bolt_model.thread_length as f32 + 0.5 * height,
    })
}

/// How a run went: turns, how far the height was from the thread's law at most \[pitches\], how far down it came \[pitches\], whether to the end.
struct Run {
    turned: f32,
    off: f32,
    down: f32,
    is_down: bool,
}

/// Drops the nut, and pushes it with so many times its weight once it sits; draws the last state if it has a name.
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
        // By itself it never moves farther than its contacts are foreseen, and a sweep of two threads costs a hundred times those.
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
        // Where it points, not how fast it spins: less than half a turn a step.
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
    // Fifty weights are 2 m/s a step, seven pitches: without sweeps it passes through.
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
