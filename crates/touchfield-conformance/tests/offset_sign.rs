//! Signs by an offset surface: compared with the definition by brute force, with closed forms, and
//! on meshes broken on purpose.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a failed unwrap is a failed test, and the rows are for the reader"
)]

use std::ops::ControlFlow;

use glam::{DVec3, UVec3, Vec3};
use touchfield::bake::{
    BakeError, BakeSettings, Baked, DistanceMethod, ExactDistance, LayoutError, OffsetWidth,
    Resolution, SignChoice, SignError, SparseBakeError, SparseGoal, SparseSettings, Stage,
    bake_sparse, bake_taylor, bake_with,
};
use touchfield::field::{Field, GridLayout, SignMethod};
use touchfield::geom::DAabb;
use touchfield::mesh::{TriangleMesh, generate};
use touchfield_conformance::bake_suite::{
    SignReport, bake_quietly, check_bound, compare_signs, node_of_index,
};
use touchfield_conformance::mesh_truth::{MeshTruth, in_parallel};
use touchfield_conformance::meshes::*;
use touchfield_conformance::random::Random;

/// How far values may be below the definition \[cells\]: the slack of the search, as in
/// docs/METHODS.md, and rounding.
const SLACK: f64 = 1.0 / 256.0 + 1e-4;

/// How much wider than twice the width a gap must be, on either side, to be certainly open
/// \[cells\]; from docs/METHODS.md.
const UNSURE: f64 = 2.0732;

fn settings(nodes: u32, width: OffsetWidth) -> BakeSettings {
    BakeSettings {
        resolution: Resolution::Nodes(nodes),
        sign: SignChoice::Offset(width),
        ..BakeSettings::default()
    }
}

/// The definition by brute force: which nodes are outside, and the deepest point below all balls
/// about them.
struct Definition {
    bounds: DAabb,
    /// Positions and distances of the nodes outside.
    sites: Vec<(DVec3, f64)>,
    distances: Vec<f64>,
    outside: Vec<bool>,
}

impl Definition {
    /// Evaluates the definition. `width` is in cells.
    fn of(mesh: &TriangleMesh, layout: GridLayout, width: f64) -> Definition {
        let truth = MeshTruth::of(mesh);
        let count = layout.node_count() as usize;
        let indices: Vec<usize> = (0..count).collect();
        let position = |index: usize| layout.node_position(node_of_index(&layout, index));
        let distances = in_parallel(&indices, |&index| truth.distance(position(index)));
        let (bounds, cell) = (mesh.bounds(), f64::from(layout.cell_size));
        // Rounding to f32 decides a few steps differently, but for none of the meshes here.
        let mut outside: Vec<bool> = indices
            .iter()
            .map(|&index| {
                let node = node_of_index(&layout, index);
                let border =
                    node.cmpeq(UVec3::ZERO).any() || node.cmpeq(layout.nodes - UVec3::ONE).any();
                (border || !bounds.contains(position(index))) && distances[index] > width * cell
            })
            .collect();
        // Repeat until nothing changes: slow, and evidently right.
        loop {
            let mut changed = false;
            for index in 0..count {
                let node = node_of_index(&layout, index);
                for axis in UVec3::AXES {
                    let next = node + axis;
                    if !next.cmplt(layout.nodes).all() {
                        continue;
                    }
                    let other = layout.node_index(next);
                    let passes = distances[index] + distances[other] > (2.0 * width + 1.0) * cell;
                    if passes && outside[index] != outside[other] {
                        (outside[index], outside[other]) = (true, true);
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        let sites = (0..count)
            .filter(|&index| outside[index])
            .map(|index| (position(index), distances[index]))
            .collect();
        Definition {
            bounds,
            sites,
            distances,
            outside,
        }
    }

    fn at(&self, point: DVec3) -> f64 {
        let half_spaces = (self.bounds.min - point).max(point - self.bounds.max);
        self.sites
            .iter()
            .map(|(site, radius)| radius - site.distance(point))
            .fold(half_spaces.max_element(), f64::max)
    }
}

fn various() -> Vec<(&'static str, TriangleMesh)> {
    let ball = icosphere(1.0, 3);
    vec![
        ("cube", cube(3)),
        ("cross", plus()),
        ("ball, 0.2 missing", with_holes(&ball, 0.2, 1)),
        ("mug", model("mug")),
        (
            "star, 0.5 flipped, cracks",
            cracked(&with_flips(&random_star(2), 0.5, 3), 1e-3, 4),
        ),
        ("soup", random_soup(60, 5)),
        ("needle", squeezed(cube(2), DVec3::new(1.0, 1e-3, 1e-3))),
        ("tiny", squeezed(random_star(8), DVec3::splat(1e-15))),
        ("huge", squeezed(random_star(8), DVec3::splat(1e12))),
        ("far", moved(icosphere(10.0, 2), DVec3::splat(1e5))),
    ]
}

#[test]
fn nodes_are_what_the_definition_says() {
    for (name, mesh) in various() {
        for width in [0.23, 1.07, 2.6] {
            let baked = bake_quietly(&mesh, &settings(20, OffsetWidth::Cells(width))).unwrap();
            let layout = *baked.field.layout();
            let cell = f64::from(layout.cell_size);
            let definition = Definition::of(&mesh, layout, width);
            let points: Vec<usize> = (0..baked.field.values().len()).collect();
            let truth = in_parallel(&points, |&index| {
                definition.at(layout.node_position(node_of_index(&layout, index)))
            });
            let mut worst: f64 = 0.0;
            for (index, (&value, truth)) in baked.field.values().iter().zip(truth).enumerate() {
                let below = (truth - f64::from(value)) / cell;
                worst = worst.max(below);
                assert!(
                    (-1e-4..=SLACK).contains(&below),
                    "{name}, {width}: {value} at node {index}, {below} cells below {truth}"
                );
                if definition.outside[index] {
                    let off = (f64::from(value) - definition.distances[index]).abs() / cell;
                    assert!(off < 1e-4, "{name}, {width}: {off} cells off outside");
                }
            }
            println!(
                "{name:<28} {width:>5}: {} outside, {worst:.4} cells below",
                definition.sites.len()
            );
        }
    }
}

#[test]
fn the_bound_holds_for_what_is_defined_however_open_the_mesh_is() {
    for (name, mesh) in various() {
        let baked = bake_quietly(&mesh, &settings(20, OffsetWidth::default())).unwrap();
        let layout = *baked.field.layout();
        let definition = Definition::of(&mesh, layout, 1.0);
        let distance = MeshTruth::of(&mesh);
        let bounds = layout.bounds();
        // Beyond the grid the truth is the distance to the mesh, which no lower bound may exceed.
        let truth = |points: &[DVec3]| {
            in_parallel(points, |&point| match bounds.contains(point.as_vec3()) {
                true => definition.at(point),
                false => distance.distance(point),
            })
        };
        let report = check_bound(&baked.field, &truth, 4000, 11);
        let report = report.unwrap_or_else(|fault| panic!("{name}: {fault}"));
        println!("{name:<28} worst {:.2} of what is promised", report.worst);
        let promised = baked.field.error_bound() / layout.cell_size;
        assert!(promised < 1.0 || name == "far", "{name}: {promised} cells");
        assert!(
            baked.provenance.measured_error <= baked.field.error_bound(),
            "{name}"
        );
    }
}

/// The triangles of a ball in any order, half of them flipped, none sharing a vertex, give the ball
/// again.
#[test]
fn a_soup_of_a_ball_is_the_ball() {
    let ball = icosphere(1.0, 5);
    let soup = shuffled(&cracked(&with_flips(&ball, 0.5, 21), 0.0, 22), 23);
    // Deviation of the mesh from a ball: the sagitta of its edges.
    let lack = 1.0
        - ball
            .triangles()
            .map(|t| t.centroid().length())
            .fold(f64::INFINITY, f64::min);
    for (nodes, width) in [(24, 1.0), (48, 1.0), (48, 3.0), (48, 0.1)] {
        let baked = bake_quietly(&soup, &settings(nodes, OffsetWidth::Cells(width))).unwrap();
        let layout = baked.field.layout();
        let cell = f64::from(layout.cell_size);
        let mut worst: f64 = 0.0;
        for (index, &value) in baked.field.values().iter().enumerate() {
            let point = layout.node_position(node_of_index(layout, index));
            let error = f64::from(value) - (point.length() - 1.0);
            worst = worst.max(error.abs());
        }
        println!(
            "{nodes} nodes, {width}: {:.3} cells off, lack {:.3}",
            worst / cell,
            lack / cell
        );
        assert!(
            worst <= lack + 0.06 * cell,
            "{nodes}, {width}: {} cells",
            worst / cell
        );
        assert!(baked.provenance.doubtful_cells.is_empty());
    }
}

#[test]
fn shells_within_the_outermost_one_change_nothing() {
    let ball = icosphere(1.0, 3);
    let settings = settings(32, OffsetWidth::Cells(0.5));
    let alone = bake_quietly(&ball, &settings).unwrap();
    for (name, inner) in [
        ("a ball", icosphere(0.6, 2)),
        ("a cavity", flipped(icosphere(0.6, 2))),
        (
            "rubbish",
            squeezed(random_soup(200, 31), DVec3::splat(0.25)),
        ),
    ] {
        let both = bake_quietly(&joined(ball.clone(), &inner), &settings).unwrap();
        let same = alone.field.values().iter().zip(both.field.values());
        let differing = same.filter(|(a, b)| a.to_bits() != b.to_bits()).count();
        assert_eq!(differing, 0, "{name}");
        assert_eq!(
            alone.field.error_bound(),
            both.field.error_bound(),
            "{name}"
        );
    }
}

/// Returns a ball without its cap above `height`.
fn bowl(height: f64) -> TriangleMesh {
    let mut mesh = icosphere(1.0, 4);
    let vertices = mesh.vertices.clone();
    mesh.faces
        .retain(|face| face.iter().all(|&v| vertices[v as usize].z < height));
    mesh
}

fn at(baked: &Baked, point: DVec3) -> f32 {
    baked.field.distance(point.as_vec3())
}

#[test]
fn a_hole_is_closed_up_to_twice_the_width_and_open_beyond() {
    let mesh = bowl(0.8);
    // The rim is a circle of radius about 0.6.
    let says = |baked: &Baked, word: &str| {
        baked
            .provenance
            .notes
            .iter()
            .any(|note| note.contains(word))
    };
    let baked_with =
        |width: f64| bake_quietly(&mesh, &settings(40, OffsetWidth::Length(width))).unwrap();
    let closed = baked_with(0.7);
    let middle = at(&closed, DVec3::ZERO);
    // A ball of radius 0.7 on that rim sinks in by 0.34; one that is two cells wider, less.
    assert!((-0.65..=-0.4).contains(&middle), "{middle}");
    assert!(
        says(&closed, "a ball of radius 7.000e-1 m"),
        "{:?}",
        closed.provenance.notes
    );
    assert!(
        !says(&closed, "no node is deeper"),
        "{:?}",
        closed.provenance.notes
    );
    // A ball half as wide would enter. So it is ambiguous whether this is inside, and the
    // provenance reports it.
    assert!(!closed.provenance.doubtful_cells.is_empty());
    let open = baked_with(0.3);
    let cell = open.field.layout().cell_size;
    assert!(
        says(&open, "no node is deeper"),
        "{:?}",
        open.provenance.notes
    );
    let middle = at(&open, DVec3::ZERO);
    // The field has a ridge there, which interpolation cuts off.
    assert!((0.9..=1.0).contains(&middle), "{middle}");
    let least = open
        .field
        .values()
        .iter()
        .copied()
        .fold(f32::INFINITY, f32::min);
    assert!(least > -0.1 * cell, "{least}, cells of {cell}");
}

#[test]
fn the_solid_encloses_every_mesh() {
    let mut random = Random::new(41);
    for (name, mesh) in various() {
        let baked = bake_quietly(&mesh, &settings(24, OffsetWidth::default())).unwrap();
        for _ in 0..4000 {
            let triangle = mesh.triangle(random.below(mesh.faces.len()));
            let weights = random.in_box(DVec3::ZERO, DVec3::ONE);
            let weights = weights / weights.element_sum();
            let point = weights.x * triangle.a + weights.y * triangle.b + weights.z * triangle.c;
            let value = at(&baked, point);
            assert!(
                value <= baked.field.error_bound(),
                "{name}: {value} at {point}"
            );
        }
    }
}

fn bases() -> Vec<(String, TriangleMesh)> {
    let knot = generate::torus_knot(generate::TorusKnot {
        segments: 120,
        sides: 12,
        ..Default::default()
    })
    .unwrap();
    let mut bases = vec![
        ("ball".to_owned(), icosphere(1.0, 3)),
        ("cube".to_owned(), cube(16)),
        ("torus".to_owned(), model("torus")),
        ("torus knot".to_owned(), knot),
        ("mug".to_owned(), model("mug")),
        ("gear".to_owned(), model("gear")),
    ];
    let wanted = ["bunny_777.obj", "spot.obj", "pybullet_duck.obj"];
    bases.extend(
        real()
            .into_iter()
            .filter(|model| wanted.contains(&model.name.as_str()))
            .map(|model| (model.name, model.mesh)),
    );
    bases
}

/// Checks that nodes whose side differs between the mesh and the bake are near the surface or in a
/// groove.
fn check_broken(what: &str, width: f64, break_mesh: impl Fn(&TriangleMesh) -> TriangleMesh) {
    check_made(what, width, |mesh| (break_mesh(mesh), mesh.clone()));
}

/// Returns the share of the nodes truly inside that the bake puts outside.
fn lost_share(
    broken: &TriangleMesh,
    settings: &BakeSettings,
    truth: &dyn Fn(&[DVec3]) -> Vec<f64>,
) -> f64 {
    let baked = bake_quietly(broken, settings).unwrap();
    let (layout, values) = (baked.field.layout(), baked.field.values());
    let points: Vec<DVec3> = (0..values.len())
        .map(|index| layout.node_position(node_of_index(layout, index)))
        .collect();
    let inside: Vec<f32> = truth(&points)
        .into_iter()
        .zip(values)
        .filter(|(truth, _)| *truth < 0.0)
        .map(|(_, &value)| value)
        .collect();
    inside.iter().filter(|&&value| value >= 0.0).count() as f64 / inside.len() as f64
}

/// Checks like [`check_broken`], for meshes made of each base together with the truth about them.
fn check_made(
    what: &str,
    width: f64,
    make: impl Fn(&TriangleMesh) -> (TriangleMesh, TriangleMesh),
) {
    let mut failures = Vec::new();
    for (base, mesh) in bases() {
        let (broken, mesh) = make(&mesh);
        let exact = ExactDistance::new(&mesh, SignChoice::Auto).unwrap();
        let extent = mesh.bounds().extents().max_element();
        let settings = settings(40, OffsetWidth::Length(width * extent));
        let truth = |points: &[DVec3]| exact.distance_many(points);
        let report = compare_signs(&broken, &settings, &truth);
        let report = report.unwrap_or_else(|fault| panic!("{base}, {what}: {fault}"));
        println!("{base:<20} {what:<28} {report}");
        assert_eq!(report.provenance.sign_method, SignMethod::Offset);
        // A filled groove is nowhere deeper than the ball that just does not pass.
        let cell = f64::from(settings.layout(broken.bounds()).unwrap().cell_size) / extent;
        let allowed = match width > SignReport::TOLERATED {
            true => width + UNSURE * cell,
            false => SignReport::TOLERATED,
        };
        // Thin parts are never that deep, so the check above misses them; few of the nodes inside
        // may be lost.
        let lost = lost_share(&broken, &settings, &truth);
        if report.farthest > allowed || lost > 0.1 {
            failures.push(format!("{base}, {what}: {lost:.2} lost, {report}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn closed_models() {
    check_broken("as it is", 0.02, TriangleMesh::clone);
}

#[test]
fn faces_missing_at_random() {
    check_broken("0.05 missing", 0.05, |mesh| with_holes(mesh, 0.05, 1));
}

#[test]
fn many_faces_missing_at_random() {
    check_broken("0.2 missing", 0.08, |mesh| with_holes(mesh, 0.2, 1));
}

/// Two shells that overlap, all faces flipped at random; the truth is the winding number of both.
#[test]
fn shells_through_each_other() {
    check_made("two that overlap", 0.02, |mesh| {
        let other = moved(mesh.clone(), 0.21 * mesh.bounds().extents());
        let both = joined(mesh.clone(), &other);
        (with_flips(&both, 0.5, 7), both)
    });
}

#[test]
fn faces_flipped_at_random() {
    check_broken("0.3 flipped", 0.02, |mesh| with_flips(mesh, 0.3, 2));
}

#[test]
fn faces_there_twice() {
    check_broken("all twice", 0.02, |mesh| with_copies(mesh, 1.0, true, 3));
}

#[test]
fn cracks_and_flips() {
    check_broken("cracks of 1e-3, 0.5 flipped", 0.02, |mesh| {
        cracked(&with_flips(mesh, 0.5, 4), 1e-3, 5)
    });
}

#[test]
fn bakes_do_not_depend_on_threads() {
    let mesh = with_holes(&random_star(1), 0.2, 2);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build()
            .unwrap()
            .install(|| bake_quietly(&mesh, &settings(30, OffsetWidth::Cells(1.5))).unwrap())
    };
    let expected = run(1);
    for threads in [2, 3, 8] {
        let found = run(threads);
        assert!(found.field == expected.field, "{threads} threads");
        assert!(found.provenance == expected.provenance, "{threads} threads");
    }
}

#[test]
fn every_way_to_find_distances_will_do_but_brute_force() {
    let mesh = with_holes(&icosphere(1.0, 3), 0.05, 6);
    let exact = bake_quietly(&mesh, &settings(28, OffsetWidth::Cells(1.5))).unwrap();
    for method in DistanceMethod::ALL {
        let settings = BakeSettings {
            method,
            ..settings(28, OffsetWidth::Cells(1.5))
        };
        let baked = bake_quietly(&mesh, &settings);
        if method == DistanceMethod::BruteForce {
            assert_eq!(
                baked,
                Err(BakeError::Sign(SignError::BruteForceSign("offset")))
            );
            continue;
        }
        let baked = baked.unwrap();
        let promised = baked.field.error_bound() + exact.field.error_bound();
        for (a, b) in baked.field.values().iter().zip(exact.field.values()) {
            assert!((a - b).abs() <= promised, "{}: {a} and {b}", method.name());
        }
    }
}

#[test]
fn a_sparse_field_of_a_soup_is_the_dense_one_folded() {
    let mut mesh = icosphere(1.0, 3);
    // Slits, which only an offset closes.
    mesh.faces.retain(|face| face[0] % 17 != 3);
    let settings = settings(48, OffsetWidth::Cells(4.0));
    let dense = bake_quietly(&mesh, &settings).unwrap();
    let go = |_| ControlFlow::Continue(());
    for conservative in [false, true] {
        let sparse = SparseSettings {
            conservative,
            ..SparseSettings::default()
        };
        let baked = bake_sparse(&mesh, &settings, &sparse, &go).unwrap();
        assert_eq!(baked.provenance.sign_method, SignMethod::Offset);
        assert_eq!(baked.provenance.conservative, conservative);
        let (field, grid) = (&baked.field, &dense.field);
        assert!(!field.parts().blocks.is_empty());
        let bounds = grid.bounds().as_daabb();
        let mut random = Random::new(4);
        for _ in 0..20_000 {
            let point = random.in_box(bounds.min, bounds.max).as_vec3();
            let off = field.distance(point) - grid.distance(point);
            let allowed = field.error_near(point);
            assert!(off.abs() <= allowed, "{off} > {allowed} at {point}");
            if conservative {
                // The dense field is off by up to its bound, so this is slightly weaker than
                // requiring values below the truth.
                assert!(off <= grid.error_bound(), "{off} at {point}");
            }
        }
        assert!(field.distance(Vec3::ZERO) < -0.5, "hollow");
    }
}

#[test]
fn what_cannot_be_is_refused_with_a_reason() {
    let mesh = icosphere(1.0, 2);
    let go = |_| ControlFlow::Continue(());
    for width in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        for width in [OffsetWidth::Cells(width), OffsetWidth::Length(width)] {
            let refused = bake_quietly(&mesh, &settings(16, width));
            assert!(
                matches!(
                    refused,
                    Err(BakeError::Layout(LayoutError::BadOffsetWidth { .. }))
                ),
                "{width:?}: {refused:?}"
            );
        }
    }
    let default = BakeSettings {
        sign: SignChoice::Always(SignMethod::Offset),
        ..settings(16, OffsetWidth::default())
    };
    assert!(bake_quietly(&mesh, &default).is_ok());
    let refused = BakeError::Sign(SignError::OffsetNeedsDense);
    assert_eq!(
        bake_taylor(&mesh, &default, &go).err(),
        Some(refused.clone().into())
    );
    let sparse = SparseSettings {
        goal: SparseGoal::Tolerance(0.1),
        ..SparseSettings::default()
    };
    assert_eq!(
        bake_sparse(&mesh, &default, &sparse, &go).err(),
        Some(SparseBakeError::OffsetHasNoTolerance)
    );
    let exact = ExactDistance::new(&mesh, SignChoice::Offset(OffsetWidth::default()));
    assert_eq!(exact.err(), Some(refused));
    // Ten bytes per node more than other signs need.
    let limited = BakeSettings {
        max_memory: 700_000,
        ..settings(40, OffsetWidth::default())
    };
    let auto = BakeSettings {
        sign: SignChoice::Auto,
        ..limited
    };
    assert!(bake_quietly(&mesh, &auto).is_ok());
    assert!(bake_quietly(&mesh, &limited).is_err_and(|error| error.is_limit()));
    let stop = |step: touchfield::bake::Step| match step.stage {
        Stage::Signs => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    assert_eq!(
        bake_with(&mesh, &default, &stop).err(),
        Some(BakeError::Cancelled)
    );
}

/// The grid grows with the ball, so that it can roll all around; a grid with no room left for the
/// mesh is refused.
#[test]
fn wide_offsets_get_their_padding_or_are_refused() {
    let mesh = icosphere(1.0, 2);
    for width in [0.5, 1.0, 3.0] {
        let baked = bake_quietly(&mesh, &settings(64, OffsetWidth::Length(width))).unwrap();
        assert_eq!(baked.field.layout().nodes.max_element(), 64);
        let border = baked.field.bounds().as_daabb();
        let beside = mesh.bounds().min - border.min;
        assert!(beside.min_element() >= width, "{width}: {beside}");
        let middle = at(&baked, DVec3::ZERO);
        let allowed = baked.field.error_bound() + 0.05;
        assert!((middle + 1.0).abs() <= allowed, "{width}: {middle}");
    }
    for width in [1e3, 1e30, f64::MAX] {
        let refused = bake_quietly(&mesh, &settings(16, OffsetWidth::Length(width)));
        assert!(
            matches!(
                refused,
                Err(BakeError::Layout(LayoutError::OffsetTooWide {
                    nodes: 16,
                    ..
                }))
            ),
            "{width}: {refused:?}"
        );
        let cells = BakeSettings {
            resolution: Resolution::CellSize(0.1),
            ..settings(16, OffsetWidth::Length(width))
        };
        let refused = bake_quietly(&mesh, &cells);
        assert!(
            refused.as_ref().is_err_and(BakeError::is_limit),
            "{width}: {refused:?}"
        );
    }
}
