//! Bakes on the device beside distances in `f64` straight from the mesh.
#![cfg(feature = "bake")]
#![allow(clippy::print_stdout, reason = "the worst figures of a long run")]

mod common;

use std::ops::ControlFlow;

use glam::DVec3;
use touchfield::TriangleMesh;
use touchfield::bake::{
    BakeSettings, Bits, DistanceMethod, ExactDistance, FieldKind, OffsetWidth, Resolution,
    SignChoice, SparseGoal, SparseSettings, Step, VoxmapSettings, bake_field,
};
use touchfield::field::{Field, SignMethod, StoredField};
use touchfield_conformance::meshes;
use touchfield_gpu::{Gpu, GpuBakeError, GpuBakeReport, GpuError, GpuSettings, bake};

fn go(_: Step) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn settings(nodes: u32) -> BakeSettings {
    BakeSettings {
        resolution: Resolution::Nodes(nodes),
        ..Default::default()
    }
}

/// Positions and values of all nodes of a dense field, those of a sparse field's blocks, or of a
/// Taylor grid.
fn nodes(field: &StoredField) -> Vec<(DVec3, f64)> {
    match field {
        StoredField::Dense(grid) => {
            let layout = grid.layout();
            let [nx, ny, _] = layout.nodes.to_array();
            let place = |i: u32| glam::UVec3::new(i % nx, i / nx % ny, i / nx / ny);
            (0u32..)
                .zip(grid.values())
                .map(|(i, &value)| (layout.node_position(place(i)), value.into()))
                .collect()
        }
        other => panic!("no nodes of {other:?}"),
    }
}

/// What a comparison found, in shares of the diagonal.
#[derive(Debug, Default)]
struct Worst {
    value: f64,
    wrong_signs: usize,
    nodes: usize,
}

fn compare(mesh: &TriangleMesh, field: &StoredField) -> Worst {
    let exact = ExactDistance::new(mesh, SignChoice::Auto);
    let exact = exact.unwrap_or_else(|error| panic!("{error}"));
    let all = nodes(field);
    let points: Vec<DVec3> = all.iter().map(|&(point, _)| point).collect();
    let diagonal = mesh.bounds().diagonal();
    let mut worst = Worst {
        nodes: all.len(),
        ..Default::default()
    };
    for (&(_, found), truth) in all.iter().zip(exact.distance_many(&points)) {
        worst.value = worst
            .value
            .max((found.abs() - truth.abs()).abs() / diagonal);
        let is_wrong = (found < 0.0) != (truth < 0.0) && truth.abs() > 1e-6 * diagonal;
        worst.wrong_signs += usize::from(is_wrong);
    }
    worst
}

fn baked(
    gpu: &Gpu,
    mesh: &TriangleMesh,
    settings: &BakeSettings,
    kind: &FieldKind,
) -> (StoredField, GpuBakeReport) {
    let (baked, report) =
        bake(gpu, mesh, settings, kind, &go).unwrap_or_else(|error| panic!("{error}"));
    (baked.field, report)
}

fn check(gpu: &Gpu, name: &str, mesh: &TriangleMesh, nodes: u32) -> Worst {
    let start = std::time::Instant::now();
    let (field, report) = baked(gpu, mesh, &settings(nodes), &FieldKind::Dense);
    let total = start.elapsed().as_secs_f64();
    let worst = compare(mesh, &field);
    let found = report.nodes;
    println!(
        "{name}: {} faces, {} nodes, off by {:.1e} of the diagonal, {} wrong signs; unsure {}, corrected {}, \
         sampled {}, refuted {}; {:.2} s on the device, {total:.2} s in all",
        mesh.faces.len(),
        worst.nodes,
        worst.value,
        worst.wrong_signs,
        found.unsure,
        found.corrected,
        found.sampled,
        found.refuted,
        report.device_time.as_secs_f64(),
    );
    assert!(worst.value <= 1e-6, "{name}: {worst:?}");
    assert_eq!(worst.wrong_signs, 0, "{name}: {worst:?}");
    assert_eq!(found.refuted, 0, "{name}: {report:?}");
    assert_eq!(found.nodes, worst.nodes as u64, "{name}: {report:?}");
    worst
}

#[test]
fn closed_models_agree_with_exact_distances() {
    let Some(gpu) = common::gpu() else { return };
    let is_long = meshes::is_long();
    let mut worst = 0.0f64;
    let mut count = 0;
    let mut models = meshes::models();
    models.extend(meshes::degenerate());
    models.extend(meshes::real());
    models.retain(|model| meshes::is_closed(&model.mesh));
    for (index, model) in models.iter().enumerate() {
        let is_chosen = index % 7 == 0 && model.mesh.faces.len() < 30_000;
        if is_long || is_chosen {
            let nodes = if is_long { 64 } else { 32 };
            worst = worst.max(check(&gpu, &model.name, &model.mesh, nodes).value);
            count += 1;
        }
    }
    println!("{count} models, off by {worst:.2e} of the diagonal at most");
    assert!(count >= 5, "only {count} closed models");
}
