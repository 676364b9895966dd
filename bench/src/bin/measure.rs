//! Measures the figures that Touchfield promises, as CSV on stdout: `figure,parameter,value,unit`.
//!
//! Input: nothing, or a mesh file.
//! Output: baking from 64 to 512 nodes per side, in seconds, CPU seconds and bytes; a million
//! random points; sampling; and the growth of time with voxels.
//! Cost: a few minutes.
//! Not for: comparison with other libraries (see `bench/peers`).
//!
//! Every bake runs in a process of its own (this program again), because peak memory and thread
//! count are per process.

#![expect(clippy::print_stdout, reason = "a program: its result goes there")]

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;

use touchfield::bake::{BakeSettings, ExactDistance, Resolution, SignChoice, bake};
use touchfield::field::Field;
use touchfield_bench::{clock, models, points};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["--bake", nodes] => bake_here(nodes.parse()?, None),
        ["--bake", nodes, mesh] => bake_here(nodes.parse()?, Some(Path::new(mesh))),
        ["--structures"] => structures_here(None),
        ["--structures", mesh] => structures_here(Some(Path::new(mesh))),
        [] => measure(None),
        [mesh] if !mesh.starts_with('-') => measure(Some(mesh)),
        _ => Err("measure [MESH]".into()),
    }
}

/// Measures and prints all figures.
fn measure(mesh: Option<&str>) -> Result<(), Box<dyn Error>> {
    println!("figure,parameter,value,unit");
    let reference = models::reference(mesh.map(Path::new))?;
    println!(
        "mesh,{},{},faces",
        reference.name,
        reference.mesh.faces.len()
    );
    let structures = again("--structures", None, mesh, 1)?[0];
    println!("mesh structures,,{structures},bytes");
    measure_baking(mesh, structures)?;
    measure_points(&reference)?;
    measure_sampling()
}

fn measure_baking(mesh: Option<&str>, structures: f64) -> Result<(), Box<dyn Error>> {
    let threads = std::thread::available_parallelism()?.get();
    let mut coarser: Option<(u32, f64, f64)> = None;
    for nodes in [64, 128, 256, 512] {
        let one = again("--bake", Some(nodes), mesh, 1)?;
        let [wall, cpu, count, peak, output] = one[..] else {
            return Err(format!("a bake reported {one:?}").into());
        };
        println!("bake voxels,{nodes},{count},nodes");
        println!("bake on one thread,{nodes},{wall:.3},s");
        println!("bake CPU,{nodes},{cpu:.3},s");
        println!("bake speed,{nodes},{:.0},nodes/CPU s", count / cpu);
        let all = again("--bake", Some(nodes), mesh, threads)?;
        println!("bake on {threads} threads,{nodes},{:.3},s", all[0]);
        println!(
            "bake speed-up by {threads} threads,{nodes},{:.2},",
            wall / all[0]
        );
        println!("bake output,{nodes},{output},bytes");
        println!(
            "bake peak above the mesh,{nodes},{},bytes",
            all[3].max(peak)
        );
        let ratio = all[3].max(peak) / (output + structures);
        println!("bake peak over output and structures,{nodes},{ratio:.3},");
        if let Some((before, cpu_before, count_before)) = coarser {
            let exponent = (cpu / cpu_before).ln() / (count / count_before).ln();
            println!("bake growth exponent of CPU over voxels,{before}-{nodes},{exponent:.3},");
        }
        coarser = Some((nodes, cpu, count));
    }
    Ok(())
}

fn measure_points(reference: &models::Reference) -> Result<(), Box<dyn Error>> {
    /// Number of random points in the box of the mesh.
    const POINTS: usize = 1_000_000;
    let points = points::in_box(reference.mesh.bounds(), POINTS, 3);
    let (exact, prepare) = clock::timed(|| ExactDistance::new(&reference.mesh, SignChoice::Auto));
    let exact = exact?;
    println!("exact distance prepare,,{:.3},CPU s", prepare.cpu);
    let (_, batch) = clock::least(|| exact.distance_many(&points));
    let (_, single) = clock::least(|| points.iter().map(|&p| exact.distance(p)).sum::<f64>());
    for (how, spent) in [("batch", batch), ("one by one", single)] {
        println!(
            "exact distance,{how},{:.0},points/CPU s",
            POINTS as f64 / spent.cpu
        );
    }
    println!(
        "exact distance speed-up by threads,,{:.2},",
        batch.cpu / batch.wall
    );
    Ok(())
}

fn measure_sampling() -> Result<(), Box<dyn Error>> {
    /// Points per batch, which stays in the cache beside a small grid.
    const BATCH: usize = 4096;
    const BATCHES: usize = 2000;
    for nodes in [64, 512] {
        let grid = models::sphere_grid(nodes)?;
        // Eight batches in turn, so that caches and branch predictors do not learn one by heart.
        let points = points::in_box_f32(grid.bounds().as_daabb(), 8 * BATCH, 2);
        let (mut distances, mut samples) = (Vec::new(), Vec::new());
        let all = |per_batch: &mut dyn FnMut(&[glam::Vec3])| {
            let ((), spent) = clock::least(|| {
                points
                    .chunks(BATCH)
                    .cycle()
                    .take(BATCHES)
                    .for_each(&mut *per_batch);
            });
            (BATCH * BATCHES) as f64 / spent.cpu
        };
        let values = all(&mut |batch| {
            grid.distance_many(batch, &mut distances);
            black_box(&distances);
        });
        let gradients = all(&mut |batch| {
            grid.sample_many(batch, &mut samples);
            black_box(&samples);
        });
        let singles = all(&mut |batch| {
            black_box(batch.iter().map(|&point| grid.distance(point)).sum::<f32>());
        });
        println!("sample values in batches,{nodes},{values:.0},values/CPU s");
        println!("sample gradients in batches,{nodes},{gradients:.0},gradients/CPU s");
        println!("sample values one by one,{nodes},{singles:.0},values/CPU s");
    }
    Ok(())
}

/// Starts this program again with a number of threads, and returns the numbers it prints.
fn again(
    task: &str,
    nodes: Option<u32>,
    mesh: Option<&str>,
    threads: usize,
) -> Result<Vec<f64>, Box<dyn Error>> {
    let output = Command::new(std::env::current_exe()?)
        .arg(task)
        .args(nodes.map(|nodes| nodes.to_string()))
        .args(mesh)
        .env("RAYON_NUM_THREADS", threads.to_string())
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let text = String::from_utf8(output.stdout)?;
    Ok(text
        .split_whitespace()
        .map(str::parse)
        .collect::<Result<_, _>>()?)
}

/// Bakes once and prints wall and CPU seconds, voxels, additional bytes at the peak, and bytes of
/// the output.
fn bake_here(nodes: u32, mesh: Option<&Path>) -> Result<(), Box<dyn Error>> {
    let models::Reference { mesh, .. } = models::reference(mesh)?;
    let settings = BakeSettings {
        resolution: Resolution::Nodes(nodes),
        ..Default::default()
    };
    let before = memory()?.now;
    let (baked, spent) = clock::timed(|| bake(&mesh, &settings));
    let grid = baked?.field;
    let above = memory()?.peak - before;
    let count = grid.layout().node_count();
    println!(
        "{} {} {count} {above} {}",
        spent.wall,
        spent.cpu,
        grid.bytes()
    );
    Ok(())
}

/// Prints the bytes that the search structures of the mesh occupy while a bake runs.
fn structures_here(mesh: Option<&Path>) -> Result<(), Box<dyn Error>> {
    let models::Reference { mesh, .. } = models::reference(mesh)?;
    let before = memory()?.now;
    let exact = ExactDistance::new(&mesh, SignChoice::Auto)?;
    println!("{}", memory()?.now - before);
    black_box(exact);
    Ok(())
}

fn memory() -> Result<clock::Memory, Box<dyn Error>> {
    clock::memory().ok_or_else(|| "memory is measured on Linux only: no /proc/self/status".into())
}
