//! The Taylor grid as a field: the suite of all fields, its own gradient, its order of accuracy,
//! conversions, and refusals.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a failed unwrap is a failed test, and the rows are for the reader"
)]

use std::ops::ControlFlow;

use glam::{DVec3, UVec3, Vec3};
use touchfield::bake::{BakeSettings, DistanceMethod, Resolution, bake_taylor, bake_with};
use touchfield::field::{DenseGrid, Field, GridError, GridLayout, Sample, TaylorError, TaylorGrid};
use touchfield::geom::Aabb;
use touchfield::mesh::TriangleMesh;
use touchfield_conformance::closed_forms;
use touchfield_conformance::field_suite::{check_field, worst_slope_in_cells};
use touchfield_conformance::mesh_truth::MeshTruth;
use touchfield_conformance::meshes::*;
use touchfield_conformance::random::Random;

fn settings(nodes: u32) -> BakeSettings {
    BakeSettings {
        resolution: Resolution::Nodes(nodes),
        ..BakeSettings::default()
    }
}

fn baked(mesh: &TriangleMesh, nodes: u32) -> TaylorGrid {
    let quiet = |_| ControlFlow::Continue(());
    bake_taylor(mesh, &settings(nodes), &quiet).unwrap().field
}

fn baked_dense(mesh: &TriangleMesh, nodes: u32) -> DenseGrid {
    let quiet = |_| ControlFlow::Continue(());
    bake_with(mesh, &settings(nodes), &quiet).unwrap().field
}

/// Returns the grid with a bound that also covers the deviation of the mesh from the shape it
/// represents.
fn for_shape(grid: &TaylorGrid, deviation: f32) -> TaylorGrid {
    let (coarse, nodes) = (grid.coarse().to_vec(), grid.nodes().collect());
    let solid = grid.solid().grown(deviation);
    let bound = grid.error_bound() + deviation;
    TaylorGrid::new(*grid.layout(), coarse, nodes, solid, bound).unwrap()
}

#[track_caller]
fn passes(field: &dyn Field, truth: &dyn Fn(DVec3) -> f64, name: &str) {
    for seed in 1..=2 {
        match check_field(field, Some(truth), name, seed, 2000) {
            Ok(report) => println!("{report}"),
            Err(broken) => panic!("{broken}"),
        }
    }
}

fn torus(p: DVec3) -> f64 {
    (p.truncate().length() - 1.0).hypot(p.z) - 0.4
}

fn ball(p: DVec3) -> f64 {
    p.length() - 1.0
}

fn torus_gradient(p: DVec3) -> DVec3 {
    let ring = p.with_z(0.0).normalize_or(DVec3::X);
    (p - ring).normalize_or(DVec3::Z)
}

/// Returns a cube of nodes around the shapes above, with this many per side.
fn layout(nodes: u32) -> GridLayout {
    GridLayout {
        origin: Vec3::splat(-1.6),
        cell_size: 3.2 / (nodes - 1) as f32,
        nodes: UVec3::splat(nodes),
    }
}

fn taylor(nodes: u32, truth: fn(DVec3) -> f64, gradient: fn(DVec3) -> DVec3) -> TaylorGrid {
    taylor_at(Vec3::ZERO, nodes, truth, gradient)
}

fn taylor_at(
    shift: Vec3,
    nodes: u32,
    truth: fn(DVec3) -> f64,
    gradient: fn(DVec3) -> DVec3,
) -> TaylorGrid {
    let mut layout = layout(nodes);
    layout.origin += shift;
    let sample = |node: UVec3| {
        let point = layout.node_position(node);
        Sample {
            distance: truth(point) as f32,
            gradient: gradient(point).as_vec3(),
        }
    };
    TaylorGrid::from_nodes(layout, sample, Aabb::EMPTY, 0.87 * layout.cell_size).unwrap()
}

fn ball_gradient(p: DVec3) -> DVec3 {
    p.normalize_or(DVec3::X)
}

fn dense(nodes: u32, truth: fn(DVec3) -> f64) -> DenseGrid {
    dense_at(Vec3::ZERO, nodes, truth)
}

fn dense_at(shift: Vec3, nodes: u32, truth: fn(DVec3) -> f64) -> DenseGrid {
    let mut layout = layout(nodes);
    layout.origin += shift;
    let value = |i: u32| {
        let node = UVec3::new(i % nodes, i / nodes % nodes, i / nodes / nodes);
        truth(layout.node_position(node)) as f32
    };
    let values = (0..nodes.pow(3)).map(value).collect();
    DenseGrid::new(layout, values, Aabb::EMPTY, 0.87 * layout.cell_size).unwrap()
}

/// Returns the largest and the mean error at points where `smooth` holds.
fn errors(
    field: &dyn Field,
    truth: &dyn Fn(DVec3) -> f64,
    smooth: &dyn Fn(DVec3) -> bool,
) -> [f64; 2] {
    let mut random = Random::new(5);
    let bounds = field.bounds().as_daabb();
    let (mut worst, mut sum, mut count) = (0.0f64, 0.0, 0.0);
    while count < 20_000.0 {
        let point = random.in_box(bounds.min, bounds.max).as_vec3();
        if smooth(point.as_dvec3()) && field.bounds().contains(point) {
            let error = (f64::from(field.distance(point)) - truth(point.as_dvec3())).abs();
            worst = worst.max(error);
            sum += error;
            count += 1.0;
        }
    }
    [worst, sum / count]
}

#[test]
fn baked_models_pass_the_suite() {
    for scale in [1e-6, 0.01, 1.0, 300.0] {
        let half = scale * DVec3::new(1.0, 0.4, 0.7);
        let mesh = squeezed(cube(2), half);
        passes(&baked(&mesh, 24), &closed_forms::cuboid(half), "box");
    }
    let mesh = icosphere(1.0, 4);
    let deviation = (mesh.triangles())
        .map(|t| ball(t.centroid()).abs())
        .fold(0.0, f64::max);
    let grid = for_shape(&baked(&mesh, 30), deviation as f32 + 1e-6);
    passes(&grid, &ball, "ball");
    for (name, mesh) in [
        ("star", random_star(1)),
        ("knife", knife(0.2)),
        ("plus", plus()),
    ] {
        let truth = MeshTruth::of(&mesh);
        passes(&baked(&mesh, 21), &|p| truth.signed_distance(p), name);
    }
}

#[test]
fn baked_far_from_the_origin_passes_the_suite() {
    let half = DVec3::new(1.0, 0.4, 0.7);
    let off = DVec3::new(1000.0, -300.0, 50.0);
    let mesh = moved(squeezed(cube(2), half), off);
    let truth = closed_forms::cuboid(half);
    passes(&baked(&mesh, 24), &|p| truth(p - off), "box far away");
}

#[test]
fn both_methods_give_the_same_grid() {
    let mesh = random_star(3);
    let brute = BakeSettings {
        method: DistanceMethod::BruteForce,
        ..settings(14)
    };
    let brute = bake_taylor(&mesh, &brute, &|_| ControlFlow::Continue(())).unwrap();
    let exact = baked(&mesh, 14);
    let layout = *exact.layout();
    let dense = baked_dense(&mesh, 14);
    for i in 0..layout.node_count() as usize {
        let [nx, ny, _] = layout.nodes.to_array().map(|n| n as usize);
        let node = UVec3::new((i % nx) as u32, (i / nx % ny) as u32, (i / nx / ny) as u32);
        let (a, b) = (exact.node(node), brute.field.node(node));
        assert!((a.distance - b.distance).abs() < 1e-3 * layout.cell_size);
        assert!((a.distance - dense.values()[i]).abs() < 2e-3 * layout.cell_size);
        assert!((a.gradient.length() - 1.0).abs() < 2e-3, "{a:?}");
        // Ties may point either way.
        let probe = layout.node_position(node) - f64::from(a.distance) * a.gradient.as_dvec3();
        let surface = MeshTruth::of(&mesh).distance(probe);
        assert!(
            surface < 3e-3 * f64::from(a.distance.abs() + layout.cell_size),
            "{a:?}"
        );
    }
}

/// Sharp features and speckles: the bound is proven from node data alone, so it must hold there
/// too.
#[test]
fn the_bound_holds_on_every_closed_model() {
    for Named { name, mesh, .. } in models() {
        if mesh.faces.len() > 6000 {
            continue;
        }
        let quiet = |_| ControlFlow::Continue(());
        let baked = bake_taylor(&mesh, &settings(18), &quiet).unwrap();
        let truth = MeshTruth::of(&mesh);
        let bounds = baked.field.bounds().as_daabb();
        let mut random = Random::new(9);
        for _ in 0..300 {
            let point = random.in_box(bounds.min, bounds.max).as_vec3();
            let error = (f64::from(baked.field.distance(point))
                - truth.signed_distance(point.as_dvec3()))
            .abs();
            assert!(
                error <= f64::from(baked.field.error_bound()),
                "{name} {point}"
            );
        }
        assert!(
            baked.provenance.measured_error <= baked.field.error_bound(),
            "{name}"
        );
    }
}

/// A function of second degree is reproduced, up to the rounding of half floats.
#[test]
fn quadratics_are_exact() {
    let layout = layout(9);
    let f = |p: DVec3| 0.1 * p.x * p.x - 0.2 * p.x * p.y + 0.05 * p.z * p.z + 0.3 * p.y - 0.1;
    let slope = |p: DVec3| DVec3::new(0.2 * p.x - 0.2 * p.y, 0.3 - 0.2 * p.x, 0.1 * p.z);
    let sample = |node: UVec3| {
        let point = layout.node_position(node);
        Sample {
            distance: f(point) as f32,
            gradient: slope(point).as_vec3(),
        }
    };
    let grid = TaylorGrid::from_nodes(layout, sample, Aabb::EMPTY, 1.0).unwrap();
    let mut random = Random::new(1);
    for _ in 0..2000 {
        let point = random
            .in_box(DVec3::splat(-1.59), DVec3::splat(1.59))
            .as_vec3();
        let found = grid.sample(point);
        let (value, gradient) = (f(point.as_dvec3()), slope(point.as_dvec3()));
        assert!((f64::from(found.distance) - value).abs() < 1e-4, "{point}");
        assert!(
            found.gradient.as_dvec3().distance(gradient) < 1e-3,
            "{point}"
        );
    }
}

/// In one cell, along one axis, the interpolant is of second degree: central differences are exact
/// up to rounding.
#[test]
fn the_gradient_is_that_of_the_interpolant_in_its_cell() {
    let grid = baked(&random_star(1), 20);
    let worst = worst_slope_in_cells(&grid, grid.layout(), 2);
    assert!(worst < 3e-4, "{worst}");
}

type Shape = (
    &'static str,
    fn(DVec3) -> f64,
    fn(DVec3) -> DVec3,
    fn(DVec3) -> bool,
);

/// Shapes with the region away from their medial axis.
const SHAPES: [Shape; 2] = [
    ("sphere", ball, ball_gradient, |p| p.length() > 0.4),
    ("torus", torus, torus_gradient, |p| {
        let ring = p.truncate().length();
        ring > 0.4 && (ring - 1.0).hypot(p.z) > 0.2
    }),
];

#[test]
fn errors_fall_with_the_square_of_the_cell_or_faster() {
    for (name, truth, gradient, smooth) in SHAPES {
        let at = |nodes| errors(&taylor(nodes, truth, gradient), &truth, &smooth);
        let found = [17, 33, 65, 129].map(at);
        println!("{name}: largest and mean error at 17, 33, 65, 129 nodes {found:?}");
        for pair in found.windows(2) {
            for (coarse, fine) in pair[0].iter().zip(pair[1]) {
                let slope = (coarse / fine).log2();
                println!("slope {slope:.2}");
                assert!(slope > 1.9, "{name}: slope {slope}");
            }
        }
    }
}

/// Returns a point of the medial axis.
fn kink(name: &str, random: &mut Random) -> DVec3 {
    let angle = random.uniform(0.0, std::f64::consts::TAU);
    match name {
        "sphere" => DVec3::ZERO,
        _ if random.below(2) == 0 => DVec3::new(angle.cos(), angle.sin(), 0.0),
        _ => random.uniform(-1.0, 1.0) * DVec3::Z,
    }
}

/// The worst error is at the medial axis, and depends on its position within a cell: so test grids
/// of many positions, and points there.
#[test]
fn it_beats_a_dense_grid_of_the_same_memory() {
    for (name, truth, gradient, smooth) in SHAPES {
        for nodes in [33, 65] {
            let (mut ours, mut theirs) = ([0.0f64; 3], [0.0f64; 3]);
            let mut random = Random::new(7);
            for _ in 0..6 {
                let shift = random
                    .in_box(DVec3::splat(-0.05), DVec3::splat(0.05))
                    .as_vec3();
                let grid = taylor_at(shift, nodes, truth, gradient);
                let dense_nodes = (grid.bytes() as f64 / 4.0).cbrt().ceil() as u32;
                let dense = dense_at(shift, dense_nodes, truth);
                assert!(dense.bytes() >= grid.bytes());
                for (found, field) in [(&mut ours, &grid as &dyn Field), (&mut theirs, &dense)] {
                    let [_, mean] = errors(field, &truth, &|_| true);
                    let [worst_smooth, _] = errors(field, &truth, &smooth);
                    let cell = 3.2 / f64::from(nodes);
                    let mut random = Random::new(8);
                    let worst = (0..20_000)
                        .map(|_| {
                            let off = random.uniform(0.0, cell) * random.unit_vector();
                            let point = (kink(name, &mut random) + off).as_vec3();
                            (f64::from(field.distance(point)) - truth(point.as_dvec3())).abs()
                        })
                        .fold(worst_smooth, f64::max);
                    found[0] = found[0].max(worst);
                    found[1] = found[1].max(worst_smooth);
                    found[2] = found[2].max(mean);
                }
            }
            println!(
                "{name} {nodes}: worst, worst away from the medial axis, mean: {ours:?} against {theirs:?}"
            );
            assert!((0..3).all(|i| ours[i] < theirs[i]), "{name} {nodes}");
        }
    }
}

/// The nearest point of the bunny's facets changes from node to node: kinks everywhere, yet the
/// mean error is lower.
#[test]
fn it_beats_a_dense_grid_of_the_same_memory_on_the_bunny() {
    let bunny = real()
        .into_iter()
        .find(|named| named.name.contains("glmark2_bunny"));
    let Some(Named { name, mesh, .. }) = bunny else {
        println!("no bunny: set TOUCHFIELD_MESHES to the folder of models to try it");
        return;
    };
    let exact = touchfield::bake::ExactDistance::new(&mesh, touchfield::bake::SignChoice::Auto);
    let exact = exact.unwrap();
    let grid = baked(&mesh, 64);
    let mut nodes = 79;
    let dense = loop {
        nodes += 1;
        let dense = baked_dense(&mesh, nodes);
        if dense.bytes() >= grid.bytes() {
            break dense;
        }
    };
    let truth = |p| exact.distance(p);
    let everywhere = |_: DVec3| true;
    let (ours, theirs) = (
        errors(&grid, &truth, &everywhere),
        errors(&dense, &truth, &everywhere),
    );
    println!("{name} 64 against {nodes}: {ours:?} against {theirs:?}");
    assert!(ours[0] < theirs[0] && ours[1] < theirs[1]);
}

#[test]
fn a_node_on_the_surface_has_the_normal_of_the_surface() {
    // A cube from -1 to 1, and nodes at every quarter: many lie on faces, edges and corners.
    let settings = BakeSettings {
        resolution: Resolution::CellSize(0.25),
        ..BakeSettings::default()
    };
    let quiet = |_| ControlFlow::Continue(());
    let grid = bake_taylor(&cube(1), &settings, &quiet).unwrap().field;
    let layout = *grid.layout();
    let mut on_surface = 0;
    for i in 0..layout.node_count() as u32 {
        let [nx, ny, _] = layout.nodes.to_array();
        let node = UVec3::new(i % nx, i / nx % ny, i / nx / ny);
        let point = layout.node_position(node).as_vec3();
        if point.abs().max_element() != 1.0 {
            continue;
        }
        on_surface += 1;
        let axes = Vec3::select(point.abs().cmpeq(Vec3::ONE), point.signum(), Vec3::ZERO);
        let stored = grid.node(node);
        assert!(
            stored.distance.abs() < 1e-3 * layout.cell_size,
            "{stored:?} at {point}"
        );
        assert!(
            stored.gradient.distance(axes.normalize()) < 1e-3,
            "{stored:?} at {point}"
        );
    }
    assert_eq!(on_surface, 9 * 9 * 9 - 7 * 7 * 7);
}

#[test]
fn conversions_carry_their_error() {
    let mesh = squeezed(cube(2), DVec3::new(1.0, 0.4, 0.7));
    let truth = closed_forms::cuboid(DVec3::new(1.0, 0.4, 0.7));
    let dense = baked_dense(&mesh, 24);
    let taylor = TaylorGrid::from_dense(&dense).unwrap();
    assert!(taylor.error_bound() > dense.error_bound());
    passes(&taylor, &truth, "box, dense to Taylor");
    let back = taylor.to_dense().unwrap();
    assert!(back.error_bound() > taylor.error_bound());
    passes(&back, &truth, "box, and back");
    for (a, b) in back.values().iter().zip(dense.values()) {
        assert!((a - b).abs() < 2e-3 * dense.layout().cell_size, "{a} {b}");
    }
    // Differences are second order too.
    let found = [33, 65].map(|nodes| {
        let taylor = TaylorGrid::from_dense(&self::dense(nodes, ball)).unwrap();
        let inner = |p: DVec3| p.length() > 0.4 && p.abs().max_element() < 1.4;
        errors(&taylor, &ball, &inner)
    });
    assert!(found[0][0] > 3.8 * found[1][0], "{found:?}");
}

/// Where the sign changes without a surface, only the magnitude is continuous.
#[test]
fn open_surfaces_pass_without_truth() {
    let mesh = with_holes(&icosphere(1.0, 2), 0.1, 3);
    let grid = baked(&mesh, 20);
    check_field(&grid, None, "open ball", 1, 1000).unwrap();
}

#[test]
fn what_would_lie_is_refused() {
    let grid = taylor(9, ball, ball_gradient);
    let (layout, solid) = (*grid.layout(), Aabb::EMPTY);
    let (coarse, nodes): (Vec<_>, Vec<_>) = (grid.coarse().to_vec(), grid.nodes().collect());
    let new = |coarse: &[[f32; 4]], nodes: &[[u16; 4]], bound: f32| {
        TaylorGrid::new(layout, coarse.to_vec(), nodes.to_vec(), solid, bound)
    };
    assert!(new(&coarse, &nodes, 0.1).is_ok());
    let error = new(&coarse, &nodes, f32::NAN).unwrap_err();
    assert!(
        matches!(error, TaylorError::Grid(GridError::BadErrorBound(_))),
        "{error}"
    );
    let error = new(&coarse[1..], &nodes, 0.1).unwrap_err();
    assert!(matches!(
        error,
        TaylorError::WrongCoarseCount {
            expected: 27,
            found: 26,
            ..
        }
    ));
    let error = new(&coarse, &nodes[1..], 0.1).unwrap_err();
    assert!(
        matches!(error, TaylorError::Grid(GridError::WrongCount { .. })),
        "{error}"
    );
    for bits in [0x7c00, 0xfc00, 0x7e01] {
        let mut bad = nodes.clone();
        bad[5][2] = bits;
        assert_eq!(
            new(&coarse, &bad, 0.1),
            Err(TaylorError::BadNode { node: 5 })
        );
    }
    for value in [f32::NAN, f32::INFINITY, 1e37, 1.0, 0.1] {
        let mut bad = coarse.clone();
        bad[3][1] = value;
        let error = new(&bad, &nodes, 0.1).unwrap_err();
        assert!(
            matches!(error, TaylorError::BadCoarse { node: 3, .. }),
            "{error}"
        );
    }
    // Extreme but finite half floats give finite values.
    let wild = vec![[0x7bff, 0xfbff, 0x7bff, 0xfbff]; nodes.len()];
    let grid = new(&coarse, &wild, 1e6).unwrap();
    check_field(&grid, None, "wild", 1, 300)
        .map(|_| ())
        .unwrap_or_else(|broken| {
            assert!(!broken.contains("finite"), "{broken}");
        });
    let steep = |node: UVec3| Sample {
        distance: if node == UVec3::ONE { 1e6 } else { 0.0 },
        gradient: Vec3::X,
    };
    let error = TaylorGrid::from_nodes(layout, steep, solid, 0.1).unwrap_err();
    assert!(matches!(error, TaylorError::OutOfRange { .. }), "{error}");
}
