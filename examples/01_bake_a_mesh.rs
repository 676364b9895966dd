//! Bakes a mesh to a signed distance field: reads or generates the mesh, lists its defects, bakes
//! it, and samples the field.
//!
//! Input: a mesh file \[m\], or a generated mug when no file is given.
//! Output: the defects found, the error of the field (proven and measured), and sampled distances.
//!
//! `cargo run -p touchfield --example 01_bake_a_mesh [MESH]`
#![allow(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;
use std::path::Path;

use glam::Vec3;
use touchfield::bake::{BakeSettings, Resolution, bake};
use touchfield::field::Field;
use touchfield::mesh::generate::{Mug, mug};
use touchfield::mesh::read::{Limits, read_file};
use touchfield::mesh::validate;

fn main() -> Result<(), Box<dyn Error>> {
    // The given file, or a generated mug. Lengths are in metres.
    let mesh = match std::env::args_os().nth(1) {
        Some(path) => read_file(Path::new(&path), &Limits::default())?,
        None => mug(Mug::default())?,
    };

    // Every defect is a typed value with its location. Only missing and non-finite vertices prevent
    // baking.
    let validation = validate(&mesh);
    println!(
        "{} faces, watertight: {}",
        validation.faces, validation.watertight
    );
    for (kind, count, first) in validation.by_kind() {
        println!("  {kind} × {count}, the first: {first}");
    }

    // The callback can show progress, and cancels by returning `Break`.
    let settings = BakeSettings {
        resolution: Resolution::Nodes(64),
        ..BakeSettings::default()
    };
    let baked = bake(&mesh, &settings)?;
    let grid = &baked.field;
    println!(
        "{} nodes, cells of {:.2e} m, signs by {}, {} doubtful cells",
        grid.layout().nodes,
        grid.layout().cell_size,
        baked.provenance.sign_method.name(),
        baked.provenance.doubtful_cells.len(),
    );
    println!(
        "error: proven at most {:.2e} m, measured {:.2e} m",
        grid.error_bound(),
        baked.provenance.measured_error
    );

    // Sample distance and gradient inside the grid, at its corner and far outside it.
    let bounds = grid.bounds();
    for point in [bounds.center(), bounds.max, bounds.max + Vec3::ONE] {
        let sample = grid.sample(point);
        println!(
            "at {point}: {:+.4} m, gradient {}",
            sample.distance, sample.gradient
        );
    }
    Ok(())
}
