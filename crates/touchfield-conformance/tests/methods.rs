//! The distance methods other than the exact one, compared with closed forms, brute force and their
//! promises.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a failed unwrap is a failed test, and the rows are for the reader"
)]

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use glam::DVec3;
use touchfield::bake::{
    BakeError, BakeSettings, Baked, DistanceMethod, ExactDistance, MemoryError, Resolution,
    SignChoice, Stage, bake_with,
};
use touchfield::field::Field;
use touchfield::mesh::TriangleMesh;
use touchfield::mesh::generate::{Bowl, Cuboid, Icosphere, Torus, bowl, cuboid, icosphere, torus};
use touchfield_conformance::bake_suite::{bake_quietly, check_bound, check_exact, node_of_index};
use touchfield_conformance::closed_forms;
use touchfield_conformance::meshes::{self, Named};
use touchfield_conformance::random::Random;

/// All methods under test.
const METHODS: [DistanceMethod; 6] = [
    DistanceMethod::Exact,
    DistanceMethod::BoundTree,
    DistanceMethod::ScanConversion,
    DistanceMethod::Chamfer,
    DistanceMethod::VectorDistance,
    DistanceMethod::FastMarching,
];
const APPROXIMATE: [DistanceMethod; 4] = [
    DistanceMethod::ScanConversion,
    DistanceMethod::Chamfer,
    DistanceMethod::VectorDistance,
    DistanceMethod::FastMarching,
];
/// Cells from the surface within which every method is exact.
const BAND: f64 = 3.0;

fn settings(method: DistanceMethod, nodes: u32) -> BakeSettings {
    BakeSettings {
        method,
        resolution: Resolution::Nodes(nodes),
        ..BakeSettings::default()
    }
}

fn named(name: &str, mesh: TriangleMesh) -> Named {
    Named {
        name: name.to_owned(),
        mesh,
    }
}

fn posed(mut mesh: TriangleMesh, random: &mut Random) -> TriangleMesh {
    let (rotation, size) = (random.quaternion(), mesh.bounds().diagonal());
    let offset = size * random.unit_vector();
    for vertex in &mut mesh.vertices {
        *vertex = rotation * *vertex + offset;
    }
    mesh
}

/// Returns clean and closed meshes, one of them rough, in random poses.
fn closed() -> Vec<Named> {
    let mut random = Random::new(1);
    ["gear", "torus_knot", "bolt_m8", "torus"]
        .map(|name| named(name, posed(meshes::model(name), &mut random)))
        .into_iter()
        .chain([
            named("cube", meshes::cube(2)),
            named("star", meshes::random_star(1)),
            named("spike", meshes::spike(50.0)),
            named("knife", meshes::knife(0.01)),
            named("slivers", meshes::slivers(40)),
            named("fan", meshes::fan(60, 0.3)),
            named(
                "squeezed",
                meshes::squeezed(meshes::random_star(2), DVec3::new(1.0, 0.1, 4.0)),
            ),
            named("spindle torus", meshes::spindle_torus()),
        ])
        .collect()
}

/// Returns meshes with holes, with crossings, and without a volume.
fn broken() -> Vec<Named> {
    let star = meshes::random_star(3);
    let bowl = bowl(Bowl::default()).unwrap();
    let triangle = TriangleMesh {
        vertices: vec![DVec3::ZERO, DVec3::X, DVec3::new(0.2, 0.7, 0.0)],
        faces: vec![[0, 1, 2]],
    };
    let needle = TriangleMesh {
        vertices: vec![DVec3::ZERO, DVec3::ONE, 0.3 * DVec3::ONE],
        faces: vec![[0, 1, 2], [0, 0, 1]],
    };
    vec![
        named("open bowl", meshes::with_holes(&bowl, 0.1, 1)),
        named("star with holes", meshes::with_holes(&star, 0.2, 2)),
        named("star with flips", meshes::with_flips(&star, 0.3, 3)),
        named("star with copies", meshes::with_copies(&star, 0.3, true, 4)),
        named("cracked star", meshes::cracked(&star, 1e-3, 5)),
        named("soup", meshes::random_soup(100, 6)),
        named("one triangle", triangle),
        named("faces without area", needle),
    ]
}

/// Reference method: decides in `f64` everywhere, and is therefore no faster.
const TRUTH: DistanceMethod = DistanceMethod::BoundTree;

/// Cells from the surface up to which the exact method decides in `f64`.
const EXACT_CELLS: f64 = 2.0;

/// Compares nodes with those of the reference: equal within the band of the method, with the same
/// sign everywhere, and nowhere farther off than promised.
fn compare(name: &str, found: &Baked, exact: &Baked, band: f64) -> Result<f64, String> {
    let layout = exact.field.layout();
    let cell = f64::from(layout.cell_size);
    if found.field.layout() != layout {
        return Err(format!("{name}: another grid"));
    }
    let interpolation = f64::from(exact.field.error_bound());
    let promised = f64::from(found.field.error_bound());
    // Beside holes the bound follows from the values themselves, and its parts cannot be separated.
    let node_error = if interpolation < cell {
        promised - interpolation
    } else {
        promised
    };
    let mut worst = 0.0f64;
    for (index, (&value, &truth)) in
        (found.field.values().iter().zip(exact.field.values())).enumerate()
    {
        let node = node_of_index(layout, index);
        let error = f64::from(value - truth).abs();
        let near = f64::from(truth.abs()) <= band * cell * (1.0 - 1e-6);
        if near && error > 2e-7 * f64::from(truth.abs()) {
            return Err(format!(
                "{name}: {value:e} for {truth:e} near the surface, {node}"
            ));
        }
        if (value < 0.0) != (truth < 0.0) {
            return Err(format!("{name}: {value:e} for {truth:e}, {node}"));
        }
        // Allows for the rounding of values and of both bounds.
        if error > node_error + 1e-5 * (cell + f64::from(truth.abs())) {
            return Err(format!(
                "{name}: {value:e} for {truth:e}, {node}: more than {node_error:e}"
            ));
        }
        worst = worst.max(error / cell);
    }
    Ok(worst)
}

#[track_caller]
fn none(failures: Vec<String>) {
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_exact_method_gives_the_bits_of_the_bound_tree_near_the_surface_and_nearly_those_beyond() {
    let mut beyond = 0;
    for Named { name, mesh } in closed().into_iter().chain(broken()) {
        for nodes in [6, 29] {
            let found = bake_quietly(&mesh, &settings(DistanceMethod::Exact, nodes)).unwrap();
            let truth = bake_quietly(&mesh, &settings(TRUTH, nodes)).unwrap();
            compare(
                &format!("{name}, {nodes} nodes"),
                &found,
                &truth,
                EXACT_CELLS,
            )
            .unwrap();
            let layout = truth.field.layout();
            let (cell, diagonal) = (layout.cell_size, layout.bounds().diagonal());
            for (&value, &truth) in found.field.values().iter().zip(truth.field.values()) {
                if truth.abs() < 1.999 * cell {
                    assert!(
                        value.to_bits() == truth.to_bits(),
                        "{name}: {value:e} {truth:e}"
                    );
                    continue;
                }
                let error = (value - truth).abs();
                assert!(error <= 5e-7 * diagonal, "{name}: {value:e} {truth:e}");
                beyond += usize::from(error > 0.0);
            }
            assert_eq!(found.provenance.sign_method, truth.provenance.sign_method);
            assert_eq!(
                found.provenance.doubtful_cells,
                truth.provenance.doubtful_cells
            );
            assert_eq!(found.provenance.notes, truth.provenance.notes);
        }
    }
    // Otherwise nothing was decided in `f32`.
    assert!(beyond > 1000, "{beyond}");
}

#[test]
fn brute_force_agrees_with_the_bound_tree() {
    for Named { name, mesh } in closed() {
        let settings = settings(DistanceMethod::BoundTree, 30);
        if let Err(broken) = check_exact(&mesh, &settings, 1_000_000, 1) {
            panic!("{name}: {broken}");
        }
    }
}

#[test]
fn nodes_are_exact_near_the_surface_and_as_promised_beyond() {
    let mut failures = Vec::new();
    for Named { name, mesh } in closed().into_iter().chain(broken()) {
        for nodes in [14, 40] {
            let exact = bake_quietly(&mesh, &settings(TRUTH, nodes)).unwrap();
            for method in APPROXIMATE {
                let found = bake_quietly(&mesh, &settings(method, nodes)).unwrap();
                let name = format!("{name}, {}, {nodes} nodes", method.name());
                match compare(&name, &found, &exact, BAND) {
                    Ok(worst) => println!(
                        "{name}: {worst:.3} cells off, {:.3} promised",
                        found.field.error_bound() / found.field.layout().cell_size
                    ),
                    Err(broken) => failures.push(broken),
                }
            }
        }
    }
    none(failures);
}

/// The whole field, at random points inside and out, and its intervals, compared with brute force
/// or with what brute force has verified.
#[test]
fn the_error_bound_holds_everywhere() {
    let mut failures = Vec::new();
    for Named { name, mesh } in closed().into_iter().chain(broken()) {
        let exact = ExactDistance::new(&mesh, SignChoice::Auto).unwrap();
        for (method, nodes, padding) in METHODS.map(|method| (method, 33, 2)).into_iter().chain([
            (DistanceMethod::Chamfer, 40, 8),
            (DistanceMethod::VectorDistance, 40, 12),
            (DistanceMethod::FastMarching, 40, 8),
            (DistanceMethod::ScanConversion, 17, 0),
        ]) {
            let settings = BakeSettings {
                padding,
                ..settings(method, nodes)
            };
            let baked = bake_quietly(&mesh, &settings).unwrap();
            assert!(
                baked.provenance.measured_error <= baked.field.error_bound(),
                "{name}"
            );
            let truth = |points: &[DVec3]| exact.distance_many(points);
            if let Err(broken) = check_bound(&baked.field, &truth, 4000, 7) {
                failures.push(format!("{name}, {}: {broken}", method.name()));
            }
        }
    }
    none(failures);
}

/// Closed forms are not faceted; the deviation of the facets is allowed for.
#[test]
fn closed_forms_in_random_poses_are_met() {
    let mut random = Random::new(9);
    let half = DVec3::new(0.3, 0.5, 0.2);
    let (major, minor, radius) = (0.5, 0.15, 0.4);
    let box_mesh = cuboid(Cuboid {
        half_extents: half,
        ..Default::default()
    })
    .unwrap();
    let ball = icosphere(Icosphere { radius, level: 4 }).unwrap();
    let ring = torus(Torus {
        major_radius: major,
        minor_radius: minor,
        major_segments: 160,
        minor_segments: 64,
    })
    .unwrap();
    type Truth = Box<dyn Fn(DVec3) -> f64>;
    let on_ring = move |p: DVec3| DVec3::new(p.x.hypot(p.y) - major, p.z, 0.0).length() - minor;
    let sphere = move |p: DVec3| p.length() - radius;
    // Deviation of the facets: none for a box, r (1 − cos) for arcs.
    let cases: [(&str, TriangleMesh, Truth, f64); 3] = [
        ("box", box_mesh, Box::new(closed_forms::cuboid(half)), 1e-6),
        ("ball", ball, Box::new(sphere), 2e-3),
        ("torus", ring, Box::new(on_ring), 2e-3),
    ];
    for (name, mesh, truth, facets) in cases {
        for method in METHODS {
            let (rotation, offset) = (random.quaternion(), random.unit_vector());
            let mut turned = mesh.clone();
            for vertex in &mut turned.vertices {
                *vertex = rotation * *vertex + offset;
            }
            let baked = bake_quietly(&turned, &settings(method, 40)).unwrap();
            let bounds = baked.field.bounds().as_daabb();
            for _ in 0..4000 {
                let point = random.in_box(bounds.min, bounds.max).as_vec3();
                let truth = truth(rotation.inverse() * (point.as_dvec3() - offset));
                let error = (f64::from(baked.field.distance(point)) - truth).abs();
                let promised = f64::from(baked.field.error_bound()) + facets;
                assert!(
                    error <= promised,
                    "{name}, {}: {error} of {promised} at {point}",
                    method.name()
                );
            }
        }
    }
}

#[test]
fn the_smallest_grids_and_the_thinnest_meshes_are_baked() {
    let flat = meshes::squeezed(meshes::random_star(4), DVec3::new(1.0, 1.0, 0.0));
    let long = meshes::squeezed(meshes::cube(2), DVec3::new(40.0, 1.0, 0.02));
    for (name, mesh) in [
        ("flat", flat),
        ("long", long),
        ("cube", meshes::cube(1)),
        (
            "far away",
            meshes::moved(meshes::cube(1), DVec3::splat(1e5)),
        ),
    ] {
        for method in METHODS {
            for (nodes, padding) in [(2, 0), (3, 0), (4, 1), (9, 0), (40, 0)] {
                let with = |method| BakeSettings {
                    padding,
                    ..settings(method, nodes)
                };
                let found = bake_quietly(&mesh, &with(method)).unwrap();
                let exact = bake_quietly(&mesh, &with(TRUTH)).unwrap();
                let name = format!("{name}, {}, {nodes} nodes", method.name());
                let band = if method == DistanceMethod::Exact {
                    EXACT_CELLS
                } else {
                    BAND
                };
                compare(&name, &found, &exact, band).unwrap();
            }
        }
    }
}

/// Rougher methods must be measurably worse than finer ones, or the figures mean nothing.
#[test]
fn chamfer_is_off_where_the_others_are_nearly_right() {
    let mesh = meshes::model("torus_knot");
    let exact = bake_quietly(&mesh, &settings(TRUTH, 64)).unwrap();
    let worst = |method| {
        let found = bake_quietly(&mesh, &settings(method, 64)).unwrap();
        compare(method.name(), &found, &exact, BAND).unwrap()
    };
    let (chamfer, vector) = (
        worst(DistanceMethod::Chamfer),
        worst(DistanceMethod::VectorDistance),
    );
    assert!(chamfer > 0.1, "{chamfer} cells");
    assert!(vector < 0.5 * chamfer, "{vector} and {chamfer} cells");
}

#[test]
fn bits_do_not_depend_on_threads() {
    for Named { name, mesh } in [
        named("star", meshes::random_star(2)),
        named("soup", meshes::random_soup(100, 6)),
    ] {
        for method in METHODS {
            let run = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                let baked = pool
                    .unwrap()
                    .install(|| bake_quietly(&mesh, &settings(method, 30)))
                    .unwrap();
                (baked.field, baked.provenance)
            };
            let expected = run(1);
            for threads in [2, 3, 8] {
                assert!(
                    run(threads) == expected,
                    "{name}, {} on {threads} threads",
                    method.name()
                );
            }
        }
    }
}

#[test]
fn every_method_stops_at_once_when_told_to() {
    let mesh = meshes::random_star(1);
    for method in METHODS {
        // At every single step of the distances, from the first to the last.
        let steps = AtomicUsize::new(0);
        let count = |step: touchfield::bake::Step| {
            assert!(step.done <= step.total, "{step:?}");
            steps.fetch_add(
                usize::from(step.stage == Stage::Distances),
                Ordering::Relaxed,
            );
            ControlFlow::Continue(())
        };
        bake_with(&mesh, &settings(method, 24), &count).unwrap();
        let steps = steps.into_inner();
        assert!(steps > 3, "{}: {steps} steps", method.name());
        for stop in 0..steps {
            let seen = AtomicUsize::new(0);
            let result = bake_with(&mesh, &settings(method, 24), &|step| {
                let counts = step.stage == Stage::Distances;
                if counts && seen.fetch_add(1, Ordering::Relaxed) == stop {
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            });
            assert!(
                matches!(result, Err(BakeError::Cancelled)),
                "{}, step {stop}",
                method.name()
            );
        }
    }
}

#[test]
fn memory_beside_the_values_counts() {
    let mesh = meshes::cube(2);
    let nodes = 60u64.pow(3);
    for method in APPROXIMATE {
        let limited = BakeSettings {
            max_memory: 4 * nodes + 600 * 64,
            ..settings(method, 60)
        };
        let refused = bake_quietly(&mesh, &limited);
        assert!(
            matches!(
                refused,
                Err(BakeError::Memory(MemoryError::TooMuchMemory { .. }))
            ),
            "{}: {refused:?}",
            method.name()
        );
    }
}

#[test]
fn names_are_one_to_one() {
    let mut names = DistanceMethod::ALL.map(DistanceMethod::name).to_vec();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), DistanceMethod::ALL.len());
}
