//! `touchfield sample`: distance and gradient at given points.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use glam::Vec3;
use rayon::prelude::*;
use serde_json::json;
use touchfield::field::{Field, Sample, StoredField};
use touchfield::shape::Shape;

use crate::args::Common;
use crate::device::{DeviceChoice, Ran};
use crate::failure::Failure;
use crate::files::{output, points};
use crate::input::load;
use crate::report::{self, Answer, Facts};

/// Points per batch of a thread: enough to hide the cost of switching.
const BATCH: usize = 4096;

/// Columns of the output.
const HEADING: [&str; 4] = ["distance", "gx", "gy", "gz"];

/// Sample distance and gradient at given points
#[derive(Args)]
#[command(after_help = "\
Examples:
  touchfield sample mug.tfs --points p.npy -o d.npy      (N, 3) in, (N, 4) out: distance, gx, gy, gz
  echo 0,0,0.05 > p.csv; touchfield sample mug.tfs --points p.csv
  touchfield sample mug.tfs --points p.npy --device gpu -o d.npy

Distances are metres, negative inside; the gradient points outward. Outside the grid the distance is a proven lower bound.")]
pub(crate) struct Arguments {
    /// A baked field (.tfs), or a mesh, which is baked in memory first
    file: PathBuf,
    /// Points [m]: .npy of shape (N, 3), f4 or f8, or .csv with three columns and an optional
    /// heading
    #[arg(long, value_name = "P")]
    points: PathBuf,
    /// Output file for distance,gx,gy,gz: .npy of shape (N, 4), f4, or .csv [default: .csv to
    /// stdout]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceChoice,
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Answer, Failure> {
    if let Some(output) = &arguments.output {
        output::check(output, &points::EXTENSIONS)?;
        output::check_apart(output, &arguments.points)?;
        output::check_apart(output, &arguments.file)?;
    }
    let points = points::read(&arguments.points, common.max_memory.0)?;
    let body = load::field(&arguments.file, common.max_memory.0)?;
    let origin = body.provenance.origin;
    // Moved in `f64`, and rounded after that.
    let points: Vec<Vec3> = (points.into_iter())
        .map(|point| (point - origin).as_vec3())
        .collect();
    let start = Instant::now();
    let shape = Shape::stored(body.field.clone());
    let ran = (arguments.device).run(|gpu| gpu.sample(&shape, &points))?;
    let (rows, device) = match ran {
        Ran::OnGpu(samples, name) => (samples.into_iter().map(row).collect(), Some(name)),
        Ran::LeftToCpu(why) => {
            if let Some(why) = why {
                load::note(&format!("computed on the CPU: {why}"));
            }
            (sample(&body.field, &points), None)
        }
    };
    let seconds = start.elapsed().as_secs_f64();

    let text = match &arguments.output {
        Some(path) => {
            points::write_rows(path, HEADING, &rows)?;
            None
        }
        None if common.json => None,
        None => Some(csv_text(&rows)?),
    };
    let inside = rows.iter().filter(|row| row[0] < 0.0).count();
    let bounds = body.field.bounds();
    let outside_grid = points
        .iter()
        .filter(|&&point| !bounds.contains(point))
        .count();
    let least = rows.iter().map(|row| row[0]).reduce(f32::min);
    let most = rows.iter().map(|row| row[0]).reduce(f32::max);
    let rate = rows.len() as f64 / seconds.max(1e-9);
    let summary = || {
        let mut facts = Facts::default();
        facts.add("points", report::count_of(rows.len()));
        facts.add("inside", report::count_of(inside));
        facts.add(
            "outside the grid",
            format!("{} (lower bounds there)", report::count_of(outside_grid)),
        );
        if let (Some(least), Some(most)) = (least, most) {
            facts.add(
                "distances",
                format!("{} to {}", report::length(least), report::length(most)),
            );
        }
        if let Some(device) = &device {
            facts.add("device", device.clone());
        }
        facts.add("error bound", report::length(body.field.error_bound()));
        facts.add(
            "time",
            format!(
                "{}, {} points/s",
                report::seconds(seconds),
                report::rounded(rate)
            ),
        );
        facts.text()
    };
    Ok(Answer {
        text: text.unwrap_or_else(summary),
        json: json!({
            "points": rows.len(),
            "inside": inside,
            "outside_grid": outside_grid,
            "min_distance": least.map(report::number),
            "max_distance": most.map(report::number),
            "error_bound": report::number(body.field.error_bound()),
            "origin": origin.to_array(),
            "seconds": seconds,
            "points_per_second": rate,
            "device": device.as_deref().unwrap_or("cpu"),
            "output": arguments.output.as_ref().map(|path| path.to_string_lossy()),
        }),
    })
}

fn sample(grid: &StoredField, points: &[Vec3]) -> Vec<[f32; 4]> {
    let batch = |points: &[Vec3]| {
        let mut samples = Vec::with_capacity(points.len());
        grid.sample_many(points, &mut samples);
        samples.into_iter().map(row).collect::<Vec<_>>()
    };
    // Order is preserved: row i belongs to point i.
    points.par_chunks(BATCH).flat_map_iter(batch).collect()
}

fn row(sample: Sample) -> [f32; 4] {
    let Sample {
        distance,
        gradient: g,
    } = sample;
    [distance, g.x, g.y, g.z]
}

fn csv_text(rows: &[[f32; 4]]) -> Result<String, Failure> {
    let mut text = Vec::new();
    let cannot = |error: &dyn std::fmt::Display| {
        Failure::BadInput(format!("the samples cannot be written: {error}"))
    };
    points::write_csv(&mut text, HEADING, rows).map_err(|error| cannot(&error))?;
    String::from_utf8(text).map_err(|error| cannot(&error))
}
