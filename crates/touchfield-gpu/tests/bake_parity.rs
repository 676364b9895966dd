//! Bakes on the device beside distances in `f64` straight from the mesh.
#![allow(
    clippy::panic,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a panic is a failed test; figures are printed for people"
)]
#![cfg(feature = "bake")]

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
use touchfield_gpu::{Gpu, GpuBakeError, GpuBakeReport, GpuError, GpuSettings, bake, ray_maps};

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

fn compare(mesh: &TriangleMesh, field: &StoredField, origin: DVec3) -> Worst {
    let exact = ExactDistance::new(mesh, SignChoice::Auto);
    let exact = exact.unwrap_or_else(|error| panic!("{error}"));
    let all = nodes(field);
    let points: Vec<DVec3> = all.iter().map(|&(point, _)| point + origin).collect();
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
    let (baked, report) = bake(gpu, mesh, &settings(nodes), &FieldKind::Dense, &go)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let total = start.elapsed().as_secs_f64();
    // A mesh far from the origin is baked in a frame of its own.
    let worst = compare(mesh, &baked.field, baked.provenance.origin);
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

#[test]
fn other_kinds_are_those_of_the_cpu_within_their_bounds() {
    let Some(gpu) = common::gpu() else { return };
    let mesh = meshes::model("gear");
    let kinds = [
        FieldKind::Taylor,
        FieldKind::Sparse(SparseSettings {
            bits: Bits::ThirtyTwo,
            ..Default::default()
        }),
        FieldKind::Sparse(SparseSettings {
            goal: SparseGoal::Band(2.0),
            conservative: true,
            ..Default::default()
        }),
    ];
    let diagonal = mesh.bounds().diagonal() as f32;
    for kind in &kinds {
        let (ours, report) = baked(&gpu, &mesh, &settings(48), kind);
        let theirs = bake_field(&mesh, &settings(48), kind, &go);
        let theirs = theirs.unwrap_or_else(|error| panic!("{error}")).field;
        assert!(report.nodes.nodes > 10_000 && report.nodes.refuted == 0);
        // The bound is the CPU's and the margin of the device.
        let (own, other) = (ours.error_bound(), theirs.error_bound());
        assert!(
            own <= other + 1e-4 * diagonal && own >= other,
            "{own} {other}"
        );
        let bounds = theirs.bounds();
        let mut random = touchfield_conformance::random::Random::new(9);
        let mut worst = 0.0f32;
        let mut signs = 0;
        for _ in 0..50_000 {
            let unit = glam::Vec3::from_array([(); 3].map(|()| random.unit() as f32));
            let point = bounds.min + bounds.extents() * unit;
            let (a, b) = (ours.distance(point), theirs.distance(point));
            worst = worst.max((a - b).abs() / diagonal);
            signs += usize::from(a * b < 0.0 && b.abs() > 1e-6 * diagonal);
        }
        println!(
            "{kind:?}: off by {worst:.1e} of the diagonal, {signs} signs; {:?}",
            report.nodes
        );
        // A value that differs in its last place may become the next half float, a two-thousandth
        // of it away, or the next step of 16 bits. Lowered values differ by their errors.
        let allowed = match kind {
            FieldKind::Taylor => 1e-5,
            FieldKind::Sparse(sparse) if sparse.conservative => 1e-4,
            _ => 1e-6,
        };
        assert!(worst <= allowed, "{kind:?}: {worst}");
        assert!(signs == 0 || allowed > 1e-6, "{kind:?}: {signs}");
        if let (StoredField::Taylor(ours), StoredField::Taylor(theirs)) = (&ours, &theirs) {
            let mut steps = 0;
            for (a, b) in ours.nodes().zip(theirs.nodes()) {
                for (a, b) in a.into_iter().zip(b) {
                    let [a, b] = [a, b].map(|bits| half::f16::from_bits(bits).to_f32());
                    // Ways that differ by less than that are not ties.
                    let step = a.abs().max(b.abs()) / 1024.0 + 1e-4;
                    assert!((a - b).abs() <= step, "{a} {b}");
                    steps += usize::from(a != b);
                }
            }
            println!(
                "{steps} half floats of {} differ by a step",
                4 * report.nodes.nodes
            );
        }
    }
}

#[test]
fn meshes_with_holes_and_crossings_get_the_signs_of_the_cpu() {
    let Some(gpu) = common::gpu() else { return };
    let whole = meshes::model("mug");
    let cases = [
        ("holes", meshes::with_holes(&whole, 0.05, 3)),
        ("flips", meshes::with_flips(&whole, 0.1, 3)),
        ("soup", meshes::random_soup(300, 5)),
        ("crossing", meshes::spindle_torus()),
    ];
    for (name, mesh) in cases {
        let (ours, report) = baked(&gpu, &mesh, &settings(32), &FieldKind::Dense);
        let theirs = bake_field(&mesh, &settings(32), &FieldKind::Dense, &go);
        let theirs = theirs
            .unwrap_or_else(|error| panic!("{name}: {error}"))
            .field;
        let diagonal = mesh.bounds().diagonal();
        let (mut worst, mut signs) = (0.0f64, 0);
        for ((_, a), (_, b)) in nodes(&ours).into_iter().zip(nodes(&theirs)) {
            worst = worst.max((a.abs() - b.abs()).abs() / diagonal);
            signs += usize::from(a * b < 0.0 && b.abs() > 1e-6 * diagonal);
        }
        println!(
            "{name}: off by {worst:.1e} of the diagonal, {signs} signs; {:?}",
            report.nodes
        );
        assert!(worst <= 1e-6 && signs == 0, "{name}: {worst} {signs}");
    }
}

#[test]
fn ray_maps_are_near_exact_distances() {
    let Some(gpu) = common::gpu() else { return };
    for name in ["gear", "mug", "box", "torus"] {
        let mesh = meshes::model(name);
        let settings = settings(if meshes::is_long() { 64 } else { 40 });
        let maps = ray_maps(&gpu, &mesh, &settings);
        let maps = maps.unwrap_or_else(|error| panic!("{name}: {error}"));
        let exact = ExactDistance::new(&mesh, SignChoice::Auto);
        let exact = exact.unwrap_or_else(|error| panic!("{name}: {error}"));
        let [nx, ny, _] = maps.layout.nodes.to_array();
        let points: Vec<DVec3> = (0..maps.values.len() as u32)
            .map(|i| glam::UVec3::new(i % nx, i / nx % ny, i / nx / ny))
            .map(|place| maps.layout.node_position(place))
            .collect();
        let diagonal = mesh.bounds().diagonal();
        let (mut worst, mut off, mut signs, mut short) = (0.0f64, 0, 0, 0.0f64);
        for (&found, truth) in maps.values.iter().zip(exact.distance_many(&points)) {
            let more = (f64::from(found.abs()) - truth.abs()) / diagonal;
            worst = worst.max(more);
            short = short.max(-more);
            off += usize::from(more > 1e-6);
            signs += usize::from((found < 0.0) != (truth < 0.0) && truth.abs() > 1e-6 * diagonal);
        }
        let start = std::time::Instant::now();
        let (_, report) = baked(&gpu, &mesh, &settings, &FieldKind::Dense);
        println!(
            "{name}: {} faces, {} nodes, {} crossings, {} split votes: {off} values off, by {worst:.1e} of the diagonal \
             at most; {signs} wrong signs; {:.2} s, exact search {:.2} s on the device, {:.2} s in all",
            mesh.faces.len(),
            points.len(),
            maps.crossings,
            maps.split_votes,
            maps.time.as_secs_f64(),
            report.device_time.as_secs_f64(),
            start.elapsed().as_secs_f64(),
        );
        // Never too small; within a cell, because rows miss triangles that are smaller than that.
        let cell = f64::from(maps.layout.cell_size) / diagonal;
        assert!(short <= 1e-6, "{name}: {short}");
        assert!(worst <= cell, "{name}: {off} {worst}");
        assert_eq!(signs, 0, "{name}");
    }
}

#[test]
fn what_only_the_cpu_bakes_says_so() {
    let Some(gpu) = common::gpu() else { return };
    let mesh = meshes::model("box");
    let exact = settings(16);
    let approximate = BakeSettings {
        method: DistanceMethod::Chamfer,
        ..exact
    };
    let offset = BakeSettings {
        sign: SignChoice::Offset(OffsetWidth::default()),
        ..exact
    };
    let given = BakeSettings {
        sign: SignChoice::Always(SignMethod::Offset),
        ..exact
    };
    let tolerance = SparseSettings {
        goal: SparseGoal::Tolerance(0.01),
        ..Default::default()
    };
    for (settings, kind) in [
        (approximate, FieldKind::Dense),
        (offset, FieldKind::Dense),
        (given, FieldKind::Dense),
        (exact, FieldKind::Voxmap(VoxmapSettings::default())),
        (exact, FieldKind::Sparse(tolerance)),
    ] {
        let found = bake(&gpu, &mesh, &settings, &kind, &go).map(|_| ());
        assert_eq!(found, Err(GpuBakeError::OnlyOnCpu), "{kind:?}");
    }
    let empty = bake(
        &gpu,
        &TriangleMesh::default(),
        &exact,
        &FieldKind::Dense,
        &go,
    )
    .map(|_| ());
    assert!(matches!(empty, Err(GpuBakeError::Bake(_))), "{empty:?}");
    let stop = |_: Step| ControlFlow::Break(());
    let stopped = bake(&gpu, &mesh, &exact, &FieldKind::Dense, &stop).map(|_| ());
    assert!(matches!(stopped, Err(GpuBakeError::Bake(_))), "{stopped:?}");
}

#[test]
fn a_device_that_is_lost_or_too_small_says_so() {
    let small = GpuSettings {
        max_binding_bytes: Some(4096),
        ..Default::default()
    };
    let Some(gpu) = common::gpu_with(&small) else {
        return;
    };
    let gear = meshes::model("gear");
    let found = bake(&gpu, &gear, &settings(24), &FieldKind::Dense, &go).map(|_| ());
    let is_large = matches!(found, Err(GpuBakeError::Gpu(GpuError::TooLarge { .. })));
    assert!(is_large, "{found:?}");
    // Twelve faces fit, and their nodes in many dispatches.
    let (field, report) = baked(
        &gpu,
        &meshes::model("box"),
        &settings(24),
        &FieldKind::Dense,
    );
    assert!(report.passes > 10, "{report:?}");
    let worst = compare(&meshes::model("box"), &field, DVec3::ZERO);
    assert!(worst.value <= 1e-6 && worst.wrong_signs == 0, "{worst:?}");
    gpu.destroy();
    let lost = bake(&gpu, &gear, &settings(24), &FieldKind::Dense, &go).map(|_| ());
    assert!(
        matches!(lost, Err(GpuBakeError::Gpu(GpuError::Lost(_)))),
        "{lost:?}"
    );
}

#[test]
fn the_same_mesh_gives_the_same_bits() {
    let Some(gpu) = common::gpu() else { return };
    let mesh = meshes::model("gear");
    let (first, report) = baked(&gpu, &mesh, &settings(32), &FieldKind::Dense);
    for _ in 0..3 {
        let (again, other) = baked(&gpu, &mesh, &settings(32), &FieldKind::Dense);
        assert_eq!(again, first);
        assert_eq!(other.nodes, report.nodes);
    }
}
