//! Cost per pair over the number of pairs: the paper's observation that it falls, measured.
//!
//! Input: a scene; a device, if there is one.
//! Output: CSV and a chart.
//! Cost: a few runs for each number of pairs.
//! Not for: times of whole scenes, which Table 1 has.

use std::time::Instant;

use rayon::prelude::*;
use touchfield::narrow::{CollideError, Contacts, Particles, Scratch, collide};
use touchfield_picture::{Chart, Curve, chart_svg};

use super::device::Device;
use super::scenes::Scene;
use super::table1::settings;
use crate::host::Stop;

/// Times of one number of pairs.
struct Row {
    way: &'static str,
    device: &'static str,
    pairs: usize,
    collisions: u64,
    milliseconds: f64,
    device_milliseconds: Option<f64>,
}

/// Runs of each number of pairs; the fastest counts.
const RUNS: usize = 3;

/// Measures 1, 2, 4 … pairs of a scene, and returns CSV and an SVG chart.
pub(crate) fn by_pairs(
    scene: &Scene,
    resolution: u32,
    device: Option<&mut Device>,
) -> Result<(String, String), Stop> {
    let ours = Particles {
        resolution,
        ..Default::default()
    };
    let ways = [
        ("literal", Particles::literal(resolution)),
        ("seeded", ours),
    ];
    let mut counts = Vec::new();
    let mut count = 1;
    while count < scene.pairs.len() {
        counts.push(count);
        count *= 2;
    }
    counts.push(scene.pairs.len());
    let mut rows = Vec::new();
    for (way, particles) in ways {
        for &count in &counts {
            rows.push(on_cpu(&scene.with_pairs(count), way, particles)?);
        }
    }
    if let Some(device) = device {
        device.load(scene)?;
        for (way, particles) in ways {
            // Kernels are compiled at first use.
            device.run(&scene.with_pairs(1), particles)?;
            for &count in &counts {
                rows.push(on_device(device, &scene.with_pairs(count), way, particles)?);
            }
        }
    }
    Ok((csv(&rows, resolution), svg(&rows, resolution)))
}

fn on_cpu(scene: &Scene, way: &'static str, particles: Particles) -> Result<Row, Stop> {
    let settings = settings(particles);
    let (mut collisions, mut fastest) = (0, f64::INFINITY);
    for _ in 0..RUNS {
        let start = Instant::now();
        let work = scene.pairs.par_iter().map_init(
            || (Scratch::default(), Contacts::default()),
            |(scratch, out), &pair| {
                collide(&scene.pair(pair), &settings, scratch, out)?;
                Ok(out.contacts.len() as u64)
            },
        );
        let counts: Result<Vec<u64>, CollideError> = work.collect();
        let counts = counts.map_err(|error| Stop::BadInput(error.to_string()))?;
        fastest = fastest.min(start.elapsed().as_secs_f64());
        collisions = counts.iter().sum();
    }
    Ok(Row {
        way,
        device: "cpu",
        pairs: scene.pairs.len(),
        collisions,
        milliseconds: 1e3 * fastest,
        device_milliseconds: None,
    })
}

fn on_device(
    device: &mut Device,
    scene: &Scene,
    way: &'static str,
    particles: Particles,
) -> Result<Row, Stop> {
    let mut best = device.run(scene, particles)?;
    for _ in 1..RUNS {
        let again = device.run(scene, particles)?;
        if again.milliseconds < best.milliseconds {
            best = again;
        }
    }
    Ok(Row {
        way,
        device: "gpu",
        pairs: scene.pairs.len(),
        collisions: best.counts.iter().sum(),
        milliseconds: best.milliseconds,
        device_milliseconds: best.device_milliseconds,
    })
}

fn csv(rows: &[Row], resolution: u32) -> String {
    let mut text = String::from("N,by,device,pairs,collisions,ms,ms per pair,device ms\n");
    for row in rows {
        text += &format!(
            "{resolution},{},{},{},{},{:.4},{:.6},{}\n",
            row.way,
            row.device,
            row.pairs,
            row.collisions,
            row.milliseconds,
            row.milliseconds / row.pairs as f64,
            (row.device_milliseconds).map_or_else(String::new, |time| format!("{time:.4}")),
        );
    }
    text
}

fn svg(rows: &[Row], resolution: u32) -> String {
    let mut curves: Vec<Curve> = Vec::new();
    for row in rows {
        let name = format!("{}, {}", row.way, row.device);
        let per_pair = row.milliseconds / row.pairs as f64;
        let point = [(row.pairs as f64).log2(), per_pair.log10()];
        match curves.iter_mut().find(|curve| curve.name == name) {
            Some(curve) => curve.points.push(point),
            None => curves.push(Curve {
                name,
                points: vec![point],
            }),
        }
    }
    chart_svg(&[Chart {
        title: format!("time per pair, N = {resolution} [log10 of ms]"),
        x: "pairs [log2]".to_owned(),
        curves,
    }])
}
