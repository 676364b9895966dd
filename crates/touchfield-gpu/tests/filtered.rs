//! Taylor fields in filtered textures beside the CPU's samples.
#![allow(
    clippy::panic,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a panic is a failed test; figures are printed for people"
)]

mod common;

use glam::Vec3;
use touchfield::bake::{BakeSettings, FieldKind, Resolution, bake_field};
use touchfield::field::{Field, StoredField, TaylorGrid};
use touchfield_conformance::meshes;
use touchfield_conformance::random::Random;
use touchfield_gpu::{FilteredTaylor, GpuError};

fn taylor(name: &str, nodes: u32) -> TaylorGrid {
    let settings = BakeSettings {
        resolution: Resolution::Nodes(nodes),
        ..Default::default()
    };
    let go = |_| std::ops::ControlFlow::Continue(());
    match bake_field(&meshes::model(name), &settings, &FieldKind::Taylor, &go) {
        Ok(baked) => match baked.field {
            StoredField::Taylor(grid) => grid,
            other => panic!("{other:?}"),
        },
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn filtered_samples_are_near_those_of_the_cpu() {
    let Some(gpu) = common::gpu() else { return };
    for (name, nodes) in [("gear", 40), ("mug", 64), ("torus", 33), ("box", 50)] {
        let grid = taylor(name, nodes);
        let filtered = FilteredTaylor::upload(&gpu, &grid);
        let filtered = filtered.unwrap_or_else(|error| panic!("{name}: {error}"));
        let bounds = grid.bounds();
        let mut random = Random::new(3);
        let mut unit = || random.unit() as f32;
        let points: Vec<Vec3> = (0..20_000)
            .map(|_| bounds.min + bounds.extents() * Vec3::new(unit(), unit(), unit()))
            .collect();
        let found = filtered.sample(&points);
        let found = found.unwrap_or_else(|error| panic!("{name}: {error}"));
        let cell = grid.layout().cell_size;
        let (mut near, mut far, mut slope) = (0.0f32, 0.0f32, 0.0f32);
        for (&point, found) in points.iter().zip(&found) {
            let truth = grid.sample(point);
            let off = (truth.distance - found.distance).abs() / cell;
            // A half float is off by a share of the value itself.
            far = far.max(off / (1.0 + truth.distance.abs() / cell));
            if truth.distance.abs() < cell {
                near = near.max(off);
                slope = slope.max(truth.gradient.distance(found.gradient));
            }
        }
        println!(
            "{name} at {nodes}: off by {near:.1e} cells within a cell of the surface, by {far:.1e} of (1 + cells) \
             anywhere; gradients near the surface by {slope:.2}; {} bytes",
            filtered.bytes(),
        );
        // Weights of 8 bits add 1/512 of the change across a cell.
        assert!(near <= 8e-3, "{name}: {near}");
        assert!(far <= 8e-3, "{name}: {far}");
    }
}

#[test]
fn points_outside_sample_the_border_and_bad_ones_are_errors() {
    let Some(gpu) = common::gpu() else { return };
    let grid = taylor("torus", 20);
    let filtered = FilteredTaylor::upload(&gpu, &grid).unwrap_or_else(|error| panic!("{error}"));
    let corner = grid.bounds().max;
    let both = filtered.sample(&[corner, corner + 100.0]);
    let both = both.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(both[0], both[1]);
    let bad = filtered.sample(&[Vec3::NAN]);
    assert!(
        matches!(bad, Err(GpuError::NotFinite { index: 0, .. })),
        "{bad:?}"
    );
}
