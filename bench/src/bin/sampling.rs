//! Compares stored fields in batched queries with the dense grid of the same cells, in one run on
//! one core: `sampling [NODES...]`.
//!
//! Input: nodes along a side of a grid around a sphere.
//! Output: Markdown on stdout: million samples per CPU second, and the ratio to the speed of the
//! dense grid.
//! Cost: a few seconds per size.
//! Not for: single look-ups and lines, which `benches/sample.rs` measures too.
//!
//! Kinds take turns, so that other load on the machine affects all of them alike; the best of
//! several turns counts.

#![expect(clippy::print_stdout, reason = "a program: its result goes there")]

use std::error::Error;
use std::hint::black_box;

use cpu_time::ThreadTime;
use glam::Vec3;
use touchfield::field::{Field, TaylorGrid};
use touchfield_bench::{models, points};

/// Points per batch: as many as a point shell has; the batch itself stays in the cache.
const POINTS: usize = 4096;
/// Turns per kind, and batches per turn.
const TURNS: usize = 40;
const BATCHES: usize = 40;

fn main() -> Result<(), Box<dyn Error>> {
    let mut sizes: Vec<u32> = Vec::new();
    for word in std::env::args().skip(1) {
        sizes.push(word.parse()?);
    }
    if sizes.is_empty() {
        sizes = vec![64, 256];
    }
    println!(
        "| nodes | points | answer | dense [M/s] | Taylor [M/s] | of dense | sparse, 16 bits [M/s] | of dense |\n|--:|---|---|--:|--:|--:|--:|--:|"
    );
    for nodes in sizes {
        let sphere = models::sphere_grid(nodes)?;
        let taylor = TaylorGrid::from_dense(&sphere)?;
        // In huge pages if it is large, like baked fields.
        let grid = taylor.to_dense()?;
        let sparse = models::sphere_blocks(&sphere)?;
        let bounds = grid.bounds().as_daabb();
        let random = points::in_box_f32(bounds, POINTS, 2);
        // Points within the narrow band, so all of them lie in blocks.
        let width = 3.0 * grid.layout().cell_size;
        let near: Vec<Vec3> = points::in_box_f32(bounds, 400 * POINTS, 4)
            .into_iter()
            .filter(|&point| grid.distance(point).abs() < width)
            .take(POINTS)
            .collect();
        for (place, points) in [("anywhere", &random), ("near the surface", &near)] {
            let fields: [&dyn Field; 3] = [&grid, &taylor, &sparse];
            for answer in ["value", "value and gradient"] {
                let with_gradient = answer != "value";
                let [dense, taylor, sparse] = speeds(fields, points, with_gradient);
                println!(
                    "| {nodes} | {place} | {answer} | {dense:.1} | {taylor:.1} | {:.2} | {sparse:.1} | {:.2} |",
                    taylor / dense,
                    sparse / dense
                );
            }
        }
    }
    Ok(())
}

/// Returns million samples per CPU second.
fn speeds<const N: usize>(
    fields: [&dyn Field; N],
    points: &[Vec3],
    with_gradient: bool,
) -> [f64; N] {
    let (mut distances, mut samples) = (Vec::new(), Vec::new());
    let mut least = [f64::INFINITY; N];
    for _ in 0..TURNS {
        for (field, least) in fields.iter().zip(&mut least) {
            let start = ThreadTime::now();
            for _ in 0..BATCHES {
                if with_gradient {
                    field.sample_many(black_box(points), &mut samples);
                    black_box(&samples);
                } else {
                    field.distance_many(black_box(points), &mut distances);
                    black_box(&distances);
                }
            }
            *least = least.min(start.elapsed().as_secs_f64());
        }
    }
    least.map(|seconds| 1e-6 * (BATCHES * points.len()) as f64 / seconds)
}
