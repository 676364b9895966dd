//! Every field representation converted into every other: the error bound of the result against
//! closed forms and brute force, memory limits checked before allocation, and what must not be
//! lost.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a failed unwrap is a failed test, and the rows are for the reader"
)]

use std::ops::ControlFlow;

use glam::{DVec3, UVec3, Vec3};
use touchfield::bake::{
    BakeSettings, Bits, ConvertError, ConvertSettings, Keep, Resolution, SparseGoal,
    SparseSettings, Step, Target, VoxmapSettings, bake_sparse, bake_taylor, bake_voxmap, convert,
    converted_provenance,
};
use touchfield::field::{
    DenseGrid, Encoding, Field, GridLayout, PLAIN, Provenance, Sampling, SignMethod, SparseBlock,
    SparseBlocks, SparseError, SparseParts, SparseValues, StoredField, file,
};
use touchfield::geom::Aabb;
use touchfield::mesh::TriangleMesh;
use touchfield_conformance::bake_suite::bake_quietly;
use touchfield_conformance::closed_forms;
use touchfield_conformance::field_suite::check_field;
use touchfield_conformance::mesh_truth::MeshTruth;
use touchfield_conformance::meshes::*;
use touchfield_conformance::random::Random;

type Truth<'a> = &'a dyn Fn(DVec3) -> f64;

const TARGETS: [Target; 9] = [
    Target::Dense,
    Target::Taylor,
    sparse(Keep::All, Bits::ThirtyTwo),
    sparse(Keep::Band(2.0), Bits::Sixteen),
    sparse(Keep::Band(1.0), Bits::Eight),
    sparse(Keep::Tolerance(0.02), Bits::Sixteen),
    voxmap(Encoding::Support, Sampling::Interpolated),
    voxmap(Encoding::Scaled { precision: 4 }, Sampling::LocalAndGlobal),
    voxmap(Encoding::Layers, Sampling::Interpolated),
];

const fn sparse(keep: Keep, bits: Bits) -> Target {
    Target::Sparse { keep, bits }
}

const fn voxmap(encoding: Encoding, sampling: Sampling) -> Target {
    Target::Voxmap { encoding, sampling }
}

fn go_on(_: Step) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn to(field: &StoredField, target: Target) -> StoredField {
    with_cells(field, target, None).unwrap()
}

fn with_cells(
    field: &StoredField,
    target: Target,
    cell_size: Option<f64>,
) -> Result<StoredField, ConvertError> {
    let settings = ConvertSettings {
        target,
        cell_size,
        ..ConvertSettings::default()
    };
    convert(field, &settings, &go_on)
}

fn turned_at_random(mut mesh: TriangleMesh, seed: u64) -> TriangleMesh {
    let mut random = Random::new(seed);
    let rotation = random.quaternion();
    let shift = random.in_box(-DVec3::ONE, DVec3::ONE);
    for vertex in &mut mesh.vertices {
        *vertex = rotation * *vertex + shift;
    }
    mesh
}

/// Returns a mesh baked to every representation. The numbers of nodes are not multiples of blocks.
fn every_kind(mesh: &TriangleMesh) -> Vec<(&'static str, StoredField)> {
    let settings = BakeSettings {
        resolution: Resolution::Nodes(23),
        ..BakeSettings::default()
    };
    let voxmap = VoxmapSettings {
        resolution: settings.resolution,
        ..VoxmapSettings::default()
    };
    let blocks = |goal, bits| {
        let sparse = SparseSettings {
            goal,
            bits,
            conservative: false,
        };
        bake_sparse(mesh, &settings, &sparse, &go_on).unwrap().field
    };
    vec![
        ("dense", bake_quietly(mesh, &settings).unwrap().field.into()),
        (
            "taylor",
            bake_taylor(mesh, &settings, &go_on).unwrap().field.into(),
        ),
        ("band", blocks(SparseGoal::Band(2.0), Bits::Sixteen).into()),
        (
            "tolerance",
            blocks(SparseGoal::Tolerance(0.05), Bits::Eight).into(),
        ),
        (
            "voxmap",
            bake_voxmap(mesh, &voxmap, &go_on).unwrap().field.into(),
        ),
    ]
}

fn check(field: &StoredField, truth: Truth<'_>, name: &str, points: usize) {
    match check_field(field, Some(truth), name, 3, points) {
        Ok(report) => println!("{report}"),
        Err(broken) => panic!("{broken}"),
    }
}

#[test]
fn every_kind_into_every_kind_keeps_its_promise() {
    let half = DVec3::new(1.0, 0.4, 0.7);
    let cuboid = squeezed(cube(2), half);
    let box_truth = closed_forms::cuboid(half);
    let star = turned_at_random(random_star(5), 6);
    let star_truth = MeshTruth::of(&star);
    let star_truth = |p: DVec3| star_truth.signed_distance(p);
    let cases: [(&TriangleMesh, Truth<'_>, usize); 2] =
        [(&cuboid, &box_truth, 1000), (&star, &star_truth, 100)];
    for (mesh, truth, points) in cases {
        for (name, field) in every_kind(mesh) {
            let own = f64::from(field.finest_cell_size());
            for target in TARGETS {
                for cell_size in [None, Some(1.7 * own), Some(0.6 * own)] {
                    if cell_size == Some(0.6 * own) && name == "tolerance" {
                        // Too fine for a test.
                        continue;
                    }
                    let name = format!("{name} to {target:?}, cells {cell_size:?}");
                    let converted = with_cells(&field, target, cell_size)
                        .unwrap_or_else(|error| panic!("{name}: {error}"));
                    assert_eq!(converted.kind(), target.kind());
                    check(&converted, truth, &name, points);
                }
            }
        }
    }
}

/// Returns node values of a closed form, off by up to `noise` metres, with the bound that follows.
fn sampled_form(truth: Truth<'_>, solid: Aabb, noise: f64) -> StoredField {
    let layout = GridLayout {
        origin: solid.min - Vec3::splat(0.21),
        cell_size: 0.1,
        nodes: UVec3::from(
            solid
                .extents()
                .to_array()
                .map(|e| (e / 0.1).ceil() as u32 + 5),
        ),
    };
    let mut random = Random::new(9);
    let n = layout.nodes;
    let values = (0..n.element_product())
        .map(|i| UVec3::new(i % n.x, i / n.x % n.y, i / n.x / n.y))
        .map(|node| {
            let off = random.in_box(DVec3::splat(-noise), DVec3::splat(noise)).x;
            (truth(layout.node_position(node)) + off) as f32
        })
        .collect();
    let error = 0.5 * 3f64.sqrt() * f64::from(layout.cell_size) + noise + 1e-5;
    DenseGrid::new(layout, values, solid, error as f32)
        .unwrap()
        .into()
}

#[test]
fn chains_of_conversions_of_closed_forms_keep_their_promise() {
    let sphere = |p: DVec3| p.length() - 0.7;
    let torus = |p: DVec3| {
        let around = (p.x * p.x + p.y * p.y).sqrt() - 0.8;
        (around * around + p.z * p.z).sqrt() - 0.3
    };
    let cuboid = closed_forms::cuboid(DVec3::new(0.9, 0.5, 0.3));
    let shapes: [(Truth<'_>, Vec3); 3] = [
        (&sphere, Vec3::splat(0.7)),
        (&torus, Vec3::new(1.1, 1.1, 0.3)),
        (&cuboid, Vec3::new(0.9, 0.5, 0.3)),
    ];
    let mut random = Random::new(11);
    for (truth, half) in shapes {
        for noise in [0.0, 0.01] {
            let solid = Aabb::from_center(Vec3::ZERO, half + 1e-5);
            let first = sampled_form(truth, solid, noise);
            for _ in 0..12 {
                let mut field = first.clone();
                let mut way = String::from("dense");
                for _ in 0..4 {
                    let target = TARGETS[random.below(TARGETS.len())];
                    match with_cells(&field, target, None) {
                        Ok(next) => field = next,
                        // The voxmap of a dense grid is discontinuous, and can only stay a grid.
                        Err(ConvertError::Torn { .. }) => continue,
                        Err(error) => panic!("{way} to {target:?}: {error}"),
                    }
                    way += &format!(" → {target:?}");
                    check(&field, truth, &way, 600);
                }
            }
        }
    }
}

#[test]
fn blocks_and_back_lose_only_rounding_and_dropped_blocks_are_those_that_cost_little() {
    let mesh = turned_at_random(random_star(8), 9);
    let settings = BakeSettings {
        resolution: Resolution::Nodes(60),
        ..BakeSettings::default()
    };
    let dense: StoredField = bake_quietly(&mesh, &settings).unwrap().field.into();
    let grid = dense.as_dense().unwrap();
    let all = to(&dense, sparse(Keep::All, Bits::ThirtyTwo));
    let back = to(&all, Target::Dense);
    let wide = back.as_dense().unwrap();
    let before = (grid.layout().origin - wide.layout().origin) / grid.layout().cell_size;
    let before = before.round().as_uvec3();
    let n = grid.layout().nodes;
    for i in 0..n.element_product() {
        let node = UVec3::new(i % n.x, i / n.x % n.y, i / n.x / n.y);
        let found = wide.values()[wide.layout().node_index(node + before)];
        let expected = grid.values()[grid.layout().node_index(node)];
        assert!((found - expected).abs() < 1e-6, "{found} {expected} {node}");
    }
    // A tolerance saves memory, and is kept where the grid is known.
    let mut last = all.bytes();
    for tolerance in [0.0, 0.001, 0.01, 0.1] {
        let kept = to(&dense, sparse(Keep::Tolerance(tolerance), Bits::ThirtyTwo));
        assert!(kept.bytes() <= last, "{tolerance}");
        last = kept.bytes();
        let mut random = Random::new(1);
        for _ in 0..20_000 {
            let bounds = dense.bounds().as_daabb();
            let point = random.in_box(bounds.min, bounds.max).as_vec3();
            let off = (kept.distance(point) - dense.distance(point)).abs();
            assert!(f64::from(off) <= tolerance + 1e-5, "{off} at {point}");
        }
    }
    assert!(2 * last < all.bytes(), "{last} of {}", all.bytes());
    // Fewer bits take less memory and give no smaller an error; the blocks stay.
    let mut error = 0.0;
    for (bits, count) in [(Bits::ThirtyTwo, 32), (Bits::Sixteen, 16), (Bits::Eight, 8)] {
        let StoredField::Sparse(stored) = to(&all, sparse(Keep::All, bits)) else {
            panic!()
        };
        assert_eq!(stored.parts().values.bits(), count);
        assert!(stored.error_bound() >= error);
        error = stored.error_bound();
    }
    // A conversion to the same representation changes nothing.
    assert_eq!(to(&dense, Target::Dense), dense);
    assert_eq!(to(&all, sparse(Keep::All, Bits::ThirtyTwo)), all);
}

/// Returns a sparse field with few values but the resolution of 2048 cells: one block in a block.
fn fine_and_small() -> StoredField {
    let layout = GridLayout {
        origin: Vec3::splat(-1.0),
        cell_size: 2.0 / 32.0,
        nodes: UVec3::splat(33),
    };
    let block = |first_value, children| SparseBlock {
        cells_log2: 3,
        children,
        first_value,
        lowest: 0.5,
        step: 0.0,
        error: 0.1,
    };
    let mut cells = vec![PLAIN; 32usize.pow(3)];
    cells[7] = 0;
    let mut children = vec![PLAIN; 512];
    children[3] = 1;
    let parts = SparseParts {
        nodes: vec![0.5; 33usize.pow(3)],
        cells,
        plain_error: 1.0,
        blocks: vec![block(0, 0), block(729, PLAIN)],
        children,
        values: SparseValues::Bits8(vec![0; 2 * 729]),
        solid: layout.bounds(),
    };
    SparseBlocks::new(layout, parts).unwrap().into()
}

#[test]
fn memory_is_refused_before_it_is_taken_with_a_way_out_that_works() {
    let field = fine_and_small();
    assert_eq!(field.finest_cell_size(), 2.0 / 2048.0);
    for target in TARGETS {
        if target == sparse(Keep::All, Bits::ThirtyTwo) {
            // Its blocks stay as they are.
            continue;
        }
        let error = with_cells(&field, target, None).unwrap_err();
        assert!(error.is_limit(), "{error}");
        let ConvertError::TooMuchMemory {
            needed,
            nodes,
            fitting,
            ..
        } = error
        else {
            panic!("{error}")
        };
        assert_eq!(nodes, UVec3::splat(2049));
        assert!(
            needed > 34_000_000_000 && fitting > 0.0009,
            "{needed} {fitting}"
        );
        let text = error.to_string();
        assert!(
            text.contains("2049 × 2049 × 2049") && text.contains("larger"),
            "{text}"
        );
    }
    let settings = |cell_size| ConvertSettings {
        cell_size,
        max_memory: 4 << 20,
        ..ConvertSettings::default()
    };
    let Err(ConvertError::TooMuchMemory { fitting, .. }) = convert(&field, &settings(None), &go_on)
    else {
        panic!()
    };
    let fits = convert(&field, &settings(Some(fitting)), &go_on).unwrap();
    assert!(fits.bytes() > 1 << 20, "{} for {fitting}", fits.bytes());
    // Blocks are counted as they are made.
    let solid = Aabb::from_center(Vec3::ZERO, Vec3::splat(0.7));
    let dense = sampled_form(&|p| p.length() - 0.7, solid, 0.0);
    let tight = ConvertSettings {
        target: sparse(Keep::All, Bits::ThirtyTwo),
        conservative: false,
        max_memory: 2 * dense.bytes() as u64 + dense.bytes() as u64 / 2,
        cell_size: None,
    };
    let error = convert(&dense, &tight, &go_on).unwrap_err();
    assert!(
        matches!(error, ConvertError::TooManyBlocks { .. }),
        "{error}"
    );
}

#[test]
fn torn_fields_stay_grids_and_absurd_settings_are_refused() {
    let open = with_holes(&turned_at_random(random_star(8), 9), 0.2, 1);
    let settings = BakeSettings {
        resolution: Resolution::Nodes(24),
        ..BakeSettings::default()
    };
    let dense: StoredField = bake_quietly(&open, &settings).unwrap().field.into();
    let taylor = to(&dense, Target::Taylor);
    for target in TARGETS {
        for field in [&dense, &taylor] {
            let result = with_cells(field, target, None);
            if matches!(target, Target::Dense | Target::Taylor) {
                assert!(result.is_ok(), "{target:?}");
                continue;
            }
            let error = result.unwrap_err();
            assert!(matches!(error, ConvertError::Torn { .. }), "{error}");
            assert!(error.to_string().contains("closed mesh"), "{error}");
        }
    }
    let field = fine_and_small();
    for size in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = with_cells(&field, Target::Dense, Some(size)).unwrap_err();
        assert!(matches!(error, ConvertError::BadCellSize(_)), "{error}");
    }
    for size in [1e-30, 1e-12] {
        let error = with_cells(&field, Target::Dense, Some(size)).unwrap_err();
        assert!(error.is_limit(), "{error}");
    }
    assert!(with_cells(&field, Target::Dense, Some(1e39)).is_err());
    for keep in [Keep::Band(0.0), Keep::Band(f64::NAN), Keep::Tolerance(-1.0)] {
        let error = with_cells(&field, sparse(keep, Bits::Eight), None).unwrap_err();
        assert!(!error.is_limit(), "{error}");
    }
    for target in [Target::Dense, sparse(Keep::All, Bits::Eight)] {
        let settings = ConvertSettings {
            target,
            cell_size: Some(0.1),
            ..ConvertSettings::default()
        };
        let stopped = convert(&field, &settings, &|_| ControlFlow::Break(()));
        assert_eq!(stopped, Err(ConvertError::Cancelled));
    }
}

#[test]
fn doubts_move_with_their_places() {
    let layout = GridLayout {
        origin: Vec3::new(0.5, -1.0, 2.0),
        cell_size: 0.25,
        nodes: UVec3::new(21, 18, 12),
    };
    let values = vec![0.125; layout.node_count() as usize];
    let dense: StoredField = DenseGrid::new(layout, values, Aabb::EMPTY, 0.2)
        .unwrap()
        .into();
    let provenance = Provenance {
        sign_method: SignMethod::Winding,
        measured_error: 0.01,
        conservative: false,
        origin: glam::DVec3::ZERO,
        doubtful_cells: vec![0, 17, 399, 1200, 20 * 17 * 11 - 1],
        notes: vec!["old".to_owned()],
    };
    let place = |layout: &GridLayout, cell: u32| {
        let n = layout.cells();
        let first = UVec3::new(cell % n.x, cell / n.x % n.y, cell / n.x / n.y);
        let low = layout.node_position(first).as_vec3();
        Aabb::new(low, low + layout.cell_size)
    };
    for (target, cell_size) in [
        (Target::Taylor, None),
        (sparse(Keep::All, Bits::Sixteen), None),
        (Target::Dense, Some(0.1)),
        (Target::Dense, Some(0.6)),
    ] {
        let converted = with_cells(&dense, target, cell_size).unwrap();
        let found =
            converted_provenance(&dense, &provenance, &converted, &ConvertSettings::default());
        assert_eq!(found.sign_method, SignMethod::Winding);
        assert!(found.measured_error >= 0.01);
        assert!(found.measured_error <= converted.error_bound());
        assert!(found.notes.len() == 2 && found.notes[1].contains("converted from dense"));
        assert!(found.doubtful_cells.is_sorted());
        // The centre of every doubtful cell lies in a converted one, and every converted one
        // overlaps some doubtful cell.
        let boxes: Vec<Aabb> = (found.doubtful_cells.iter())
            .map(|&cell| place(converted.layout(), cell))
            .collect();
        for &cell in &provenance.doubtful_cells {
            let middle = place(&layout, cell).center();
            assert!(
                boxes.iter().any(|b| b.contains(middle)),
                "{cell} {target:?}"
            );
        }
        for found in &boxes {
            let overlaps = |&cell: &u32| {
                let old = place(&layout, cell);
                found.min.cmplt(old.max).all() && old.min.cmplt(found.max).all()
            };
            assert!(provenance.doubtful_cells.iter().any(overlaps));
        }
    }
    let same = converted_provenance(&dense, &provenance, &dense, &ConvertSettings::default());
    assert_eq!(same, provenance);
}

/// Returns two coarse cells that disagree by 0.3 m at their common side, the first of them a block.
/// Both are valid: each may be off by half a metre.
fn disagreeing() -> SparseBlocks {
    let layout = GridLayout {
        origin: Vec3::ZERO,
        cell_size: 1.0,
        nodes: UVec3::new(3, 2, 2),
    };
    let block = SparseBlock {
        cells_log2: 1,
        children: PLAIN,
        first_value: 0,
        lowest: 0.0,
        step: 1.0,
        error: 0.5,
    };
    let parts = SparseParts {
        nodes: vec![0.3; 12],
        cells: vec![0, PLAIN],
        plain_error: 0.5,
        blocks: vec![block],
        children: Vec::new(),
        values: SparseValues::Bits32(vec![0.0; 27]),
        solid: layout.bounds(),
    };
    SparseBlocks::new(layout, parts).unwrap()
}

#[test]
fn a_value_taken_from_a_neighbour_counts_as_an_error() {
    let sparse = disagreeing();
    let dense = to(&sparse.clone().into(), Target::Dense);
    let bound = dense.error_bound();
    let mut random = Random::new(2);
    let mut worst = 0.0f32;
    for _ in 0..5000 {
        let point = random
            .in_box(DVec3::ZERO, DVec3::new(2.0, 1.0, 1.0))
            .as_vec3();
        // The truth may lie that far on the other side.
        let off = (dense.distance(point) - sparse.distance(point)).abs();
        worst = worst.max(off + sparse.error_near(point));
    }
    assert!(worst > 0.75 && worst <= bound, "{worst} of {bound}");
    assert!(bound < 0.81, "{bound}");
}

#[test]
fn what_lies_beyond_the_border_counts_as_an_error_or_is_not_promised() {
    // A continuous field has no such disagreement: a plane is interpolated exactly.
    let layout = GridLayout {
        origin: Vec3::ZERO,
        cell_size: 0.125,
        nodes: UVec3::new(9, 10, 12),
    };
    let n = layout.nodes;
    let normal = DVec3::new(2.0, -1.0, 2.0) / 3.0;
    let truth = |p: DVec3| normal.dot(p) + 1.5;
    let values = (0..n.element_product())
        .map(|i| UVec3::new(i % n.x, i / n.x % n.y, i / n.x / n.y))
        .map(|node| truth(layout.node_position(node)) as f32)
        .collect();
    let plane: StoredField = DenseGrid::new(layout, values, Aabb::EMPTY, 1e-5)
        .unwrap()
        .into();
    let size = 0.3;
    let wide = with_cells(&plane, Target::Dense, Some(size)).unwrap();
    let excess = wide.bounds().extents() - plane.bounds().extents();
    let beyond = 0.5 * f64::from(excess.length());
    assert!(beyond > 0.1, "{beyond}");
    let least = beyond + 0.5 * 3f64.sqrt() * size;
    let bound = f64::from(wide.error_bound());
    assert!(
        (least..least + 1e-3).contains(&bound),
        "{bound} for {least}"
    );

    // Blocks reach beyond the border, but their field does not, and so is off by no more than the
    // grid.
    let sphere = |p: DVec3| (p - DVec3::new(0.1, -0.2, 0.05)).length() - 0.7;
    let solid = Aabb::from_center(Vec3::new(0.1, -0.2, 0.05), Vec3::splat(0.70001));
    let dense = sampled_form(&sphere, solid, 0.0);
    let StoredField::Sparse(blocks) = to(&dense, sparse(Keep::All, Bits::ThirtyTwo)) else {
        panic!()
    };
    assert_ne!(blocks.layout().bounds(), blocks.bounds());
    assert_eq!(blocks.bounds(), dense.bounds());
    assert!(blocks.error_bound() <= 1.001 * dense.error_bound());
    let around = dense.bounds().as_daabb().grown(0.3);
    let mut random = Random::new(3);
    let mut beyond = 0;
    for _ in 0..50_000 {
        let point = random.in_box(around.min, around.max);
        let off = f64::from(blocks.distance(point.as_vec3())) - sphere(point);
        if blocks.bounds().contains(point.as_vec3()) {
            let allowed = f64::from(blocks.error_near(point.as_vec3()));
            assert!(off.abs() <= allowed, "{off} > {allowed} at {point}");
        } else {
            assert!(off <= 0.0, "no lower bound: {off} at {point}");
            beyond += 1;
        }
    }
    assert!(beyond > 10_000, "{beyond}");
    // The grid comes back as it was, and the file keeps the border.
    let blocks = StoredField::from(blocks);
    let back = to(&blocks, Target::Dense);
    assert_eq!(back.layout().nodes, dense.layout().nodes);
    assert!(back.error_bound() <= 1.002 * dense.error_bound());
    let provenance = Provenance {
        sign_method: SignMethod::Given,
        measured_error: 0.0,
        conservative: false,
        origin: glam::DVec3::ZERO,
        doubtful_cells: Vec::new(),
        notes: Vec::new(),
    };
    let bytes = file::to_bytes(&blocks, &provenance);
    let read = file::from_bytes(&bytes, u64::MAX).unwrap();
    assert_eq!(read.field, blocks);
    // Boxes that are invalid, or reach out of the grid.
    let StoredField::Sparse(blocks) = blocks else {
        panic!()
    };
    for bad in [Aabb::EMPTY, blocks.layout().bounds().grown(1.0)] {
        let refused = blocks.clone().within(bad);
        assert_eq!(refused.err(), Some(SparseError::BadBounds(bad)));
    }
}

#[test]
fn what_encloses_its_mesh_still_does_when_it_is_stored_another_way() {
    let mesh = turned_at_random(random_star(5), 6);
    let baked = bake_sparse(
        &mesh,
        &BakeSettings::default(),
        &SparseSettings {
            goal: SparseGoal::Tolerance(0.02),
            bits: Bits::Sixteen,
            conservative: true,
        },
        &go_on,
    )
    .unwrap();
    assert!(baked.provenance.conservative);
    let field = StoredField::from(baked.field);
    let mut random = Random::new(11);
    let on_surface: Vec<Vec3> = (0..20_000)
        .map(|_| {
            let [a, b, c] = mesh.triangle(random.below(mesh.faces.len())).corners();
            let weights = random.in_box(DVec3::ZERO, DVec3::ONE);
            let point = weights.x * a + weights.y * b + weights.z * c;
            (point / weights.element_sum()).as_vec3()
        })
        .collect();
    let outside = |field: &StoredField| {
        on_surface
            .iter()
            .filter(|&&p| field.distance(p) > 0.0)
            .count()
    };
    assert_eq!(outside(&field), 0);
    let truth = MeshTruth::of(&mesh);
    for (target, cell_size) in [
        (Target::Dense, None),
        (Target::Dense, Some(0.15)),
        (Target::Taylor, Some(0.1)),
        (sparse(Keep::All, Bits::Eight), None),
        (sparse(Keep::Band(2.0), Bits::Sixteen), Some(0.1)),
    ] {
        let plain = with_cells(&field, target, cell_size).unwrap();
        let settings = ConvertSettings {
            target,
            cell_size,
            conservative: true,
            ..ConvertSettings::default()
        };
        let enclosing = convert(&field, &settings, &go_on).unwrap();
        println!("{target:?}: {} outside without care", outside(&plain));
        assert_eq!(outside(&enclosing), 0, "{target:?}");
        let told = converted_provenance(&field, &baked.provenance, &enclosing, &settings);
        assert!(told.conservative);
        // Its error bound holds too.
        check(&enclosing, &|p| truth.signed_distance(p), "enclosing", 300);
        let careless = ConvertSettings {
            conservative: false,
            ..settings
        };
        let told = converted_provenance(&field, &baked.provenance, &plain, &careless);
        assert!(!told.conservative);
        assert!(told.notes.iter().any(|note| note.contains("conservative")));
    }
    let voxels = ConvertSettings {
        target: TARGETS[6],
        conservative: true,
        ..ConvertSettings::default()
    };
    let refused = convert(&field, &voxels, &go_on);
    assert_eq!(refused.err(), Some(ConvertError::ConservativeVoxmap));
}
