//! Computes the exact signed distance to a mesh, without a grid, and measures the error of baked
//! grids against it.
//!
//! Output: for each grid resolution, the worst error over a lattice of points and the proven bound.
//!
//! `cargo run -p touchfield --example 03_exact_distance`
#![allow(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;

use glam::DVec3;
use touchfield::bake::{BakeSettings, ExactDistance, Resolution, SignChoice, bake};
use touchfield::field::Field;
use touchfield::mesh::generate::{Torus, torus};

fn main() -> Result<(), Box<dyn Error>> {
    let mut mesh = torus(Torus::default())?;
    // Flip a third of the faces, as faulty exporters do. The flips are reported and do not change
    // the distances.
    let clean = ExactDistance::new(&mesh, SignChoice::Auto)?;
    for face in mesh.faces.iter_mut().step_by(3) {
        face.swap(1, 2);
    }
    let exact = ExactDistance::new(&mesh, SignChoice::Auto)?;
    for note in exact.notes() {
        println!("note: {note}");
    }

    // Points on a lattice through the model, in one batch: faster than single queries, results in
    // order.
    let bounds = mesh.bounds();
    let points: Vec<DVec3> = (0..20 * 20 * 20)
        .map(|i| DVec3::new((i % 20) as f64, (i / 20 % 20) as f64, (i / 400) as f64))
        .map(|step| bounds.min + step / 19.0 * bounds.extents())
        .collect();
    let distances = exact.distance_many(&points);
    assert_eq!(distances, clean.distance_many(&points));
    println!("signs by {}", exact.sign_method().name());

    // The worst error shrinks with the cell size and never exceeds the proven bound.
    for nodes in [16, 32, 64] {
        let settings = BakeSettings {
            resolution: Resolution::Nodes(nodes),
            ..BakeSettings::default()
        };
        let grid = bake(&mesh, &settings)?.field;
        let worst = (points.iter().zip(&distances))
            .map(|(point, exact)| (f64::from(grid.distance(point.as_vec3())) - exact).abs())
            .fold(0.0, f64::max);
        println!(
            "{nodes} nodes: worst {worst:.1e} m, proven {:.1e} m",
            grid.error_bound()
        );
        assert!(worst <= f64::from(grid.error_bound()));
    }
    Ok(())
}
