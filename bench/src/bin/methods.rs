//! Compares all distance methods on the same grids: cost, error and promised bound. CSV to stdout.
//!
//! `methods [NODES …]`, by default 32 64 128 256. Errors are those of nodes against the exact
//! method, in cells. Brute force is left out above [`BRUTE_FORCE`], because it takes nodes times
//! triangles.

#![expect(clippy::print_stdout, reason = "a program: its result goes there")]

use std::error::Error;

use touchfield::bake::{BakeSettings, Baked, DistanceMethod, Resolution, bake};
use touchfield::field::Field;
use touchfield::mesh::TriangleMesh;
use touchfield_bench::{clock, models};

/// Pairs of node and triangle that brute force may take.
const BRUTE_FORCE: u64 = 500_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let asked: Vec<u32> = std::env::args()
        .skip(1)
        .map(|nodes| nodes.parse())
        .collect::<Result<_, _>>()?;
    let resolutions = if asked.is_empty() {
        vec![32, 64, 128, 256]
    } else {
        asked
    };
    println!(
        "model,faces,nodes,method,CPU s,wall s,max error [cells],mean error [cells],promised [cells]"
    );
    let coarse = ("coarse knot", models::knot(2_000)?);
    let fine = ("fine knot", models::knot(69_666)?);
    for (name, mesh) in [coarse, fine] {
        for &nodes in &resolutions {
            compare(name, &mesh, nodes)?;
        }
    }
    Ok(())
}

fn compare(name: &str, mesh: &TriangleMesh, nodes: u32) -> Result<(), Box<dyn Error>> {
    let run = |method| {
        let settings = BakeSettings {
            method,
            resolution: Resolution::Nodes(nodes),
            ..Default::default()
        };
        clock::least(|| bake(mesh, &settings))
    };
    let exact = run(DistanceMethod::Exact).0?;
    for method in DistanceMethod::ALL {
        let pairs = exact.field.values().len() as u64 * mesh.faces.len() as u64;
        if method == DistanceMethod::BruteForce && pairs > BRUTE_FORCE {
            continue;
        }
        let (baked, spent) = run(method);
        let baked = baked?;
        let cell = baked.field.layout().cell_size;
        let (worst, mean) = errors(&baked, &exact);
        println!(
            "{name},{},{nodes},{},{:.3},{:.3},{worst:.4},{mean:.5},{:.3}",
            mesh.faces.len(),
            method.name(),
            spent.cpu,
            spent.wall,
            baked.field.error_bound() / cell,
        );
    }
    Ok(())
}

/// Returns the largest and the mean difference of nodes, in cells.
fn errors(baked: &Baked, exact: &Baked) -> (f64, f64) {
    let cell = f64::from(exact.field.layout().cell_size);
    let pairs = baked.field.values().iter().zip(exact.field.values());
    let errors = pairs.map(|(&a, &b)| (f64::from(a) - f64::from(b)).abs() / cell);
    let (worst, sum) = errors.fold((0.0, 0.0), |(worst, sum), error| {
        (f64::max(worst, error), sum + error)
    });
    (worst, sum / exact.field.values().len() as f64)
}
