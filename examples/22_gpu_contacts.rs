//! Many nuts on many bolts in one launch of the GPU: where they touch, and how far the others are
//! from it. Without an adapter it says so.
//!
//! Output: counts and times, beside the CPU's for a part of the worlds.
//!
//! `cargo run --release -p touchfield-gpu --example 22_gpu_contacts`
//!
//! Option, after `--`: the number of worlds.
#![allow(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;
use std::f32::consts::TAU;
use std::time::Instant;

use touchfield::glam::{Quat, Vec3};
use touchfield::mesh::generate::{Bolt, MetricSize, Nut, bolt, nut};
use touchfield::narrow::{CollideSettings, ContactMethod, Contacts, Pair, Scratch, collide};
use touchfield::pipeline::relative_pose;
use touchfield::{Pose, Shape, ShapeSettings};
use touchfield_gpu::{Gpu, GpuError, GpuSettings, ShellSettings, Worlds};

/// Number of worlds whose contacts the CPU finds too.
const ON_CPU: usize = 50;

/// Returns evenly spread numbers between −1 and 1 from an additive recurrence.
fn spread(index: usize, axis: usize) -> f32 {
    let ratio = [0.8566749, 0.7338918, 0.6287067, 0.5385973][axis % 4];
    (2.0 * (ratio * (index + 1) as f64).fract() - 1.0) as f32
}

/// Returns the pose of the nut of a world on its bolt: on the thread, a little off its axis.
fn bolt_from_nut(world: usize, pitch: f32) -> Pose {
    let turn = 0.5 * TAU * spread(world, 0);
    let off = Vec3::new(spread(world, 1), spread(world, 2), spread(world, 3));
    Pose {
        rotation: Quat::from_rotation_z(turn),
        translation: Vec3::Z * (0.02 + pitch * turn / TAU) + 1.5e-4 * off,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let gpu = match Gpu::open(&GpuSettings::default()) {
        Err(none @ GpuError::NoAdapter) => {
            println!("{none}");
            return Ok(());
        }
        opened => opened?,
    };
    let adapter = gpu.adapter();
    println!(
        "{} ({}, {})",
        adapter.name,
        adapter.backend,
        adapter.kind.name()
    );
    let worlds: usize = match std::env::args().nth(1) {
        Some(count) => count.parse()?,
        None => 2000,
    };
    // Both shapes, from their meshes.
    let size = MetricSize::M8;
    let bolt = Shape::from_mesh(&bolt(Bolt::of_size(size))?, &ShapeSettings::with_nodes(160))?;
    let nut = Shape::from_mesh(&nut(Nut::of_size(size))?, &ShapeSettings::with_nodes(80))?;
    // Body 0 of every world is the bolt, body 1 the nut, and they may meet.
    let mut batch = Worlds::new(&gpu, &[&bolt, &nut], &[0, 1], &[[0, 1]])?;
    let poses: Vec<Pose> = (0..worlds)
        .flat_map(|world| [Pose::IDENTITY, bolt_from_nut(world, size.pitch() as f32)])
        .collect();
    // The first step compiles the kernels and makes the buffers; the second has both.
    let settings = ShellSettings::default();
    for step in ["first", "second"] {
        let start = Instant::now();
        let answers = batch.step(&poses, &settings)?;
        let touching = answers.gaps.iter().filter(|gap| gap.is_touching()).count();
        println!(
            "{step} step: {worlds} worlds, {} contacts, {touching} touch, {} points within \
             rounding, {} submissions, {:.1} ms",
            answers.contacts.total,
            answers.contacts.in_band.iter().sum::<u32>(),
            answers.contacts.submissions,
            1e3 * start.elapsed().as_secs_f64(),
        );
    }
    // The same by the CPU, for some of the worlds.
    let answers = batch.step(&poses, &settings)?;
    let (mut scratch, mut found) = (Scratch::default(), Contacts::default());
    let on_cpu = CollideSettings {
        method: ContactMethod::PointSamples,
        ..Default::default()
    };
    let (start, mut differ) = (Instant::now(), 0);
    for (world, poses) in poses.chunks(2).enumerate().take(ON_CPU) {
        let pair = Pair {
            a: &bolt,
            b: &nut,
            a_from_b: relative_pose(poses[0], poses[1]),
        };
        collide(&pair, &on_cpu, &mut scratch, &mut found)?;
        let on_device = answers.contacts_of(world, 0).len();
        let within = answers.contacts.in_band[world] as usize;
        differ += usize::from(found.contacts.len().abs_diff(on_device) > within);
    }
    println!(
        "CPU, {} of them: {:.1} ms; {differ} worlds differ by more than rounding explains",
        ON_CPU.min(worlds),
        1e3 * start.elapsed().as_secs_f64(),
    );
    Ok(())
}
