//! Node values and queries of closed meshes compared with brute force by other formulas, and with
//! parry.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a failed unwrap is a failed test, and the rows are for the reader"
)]

use glam::DVec3;
use parry3d_f64::query::PointQuery;
use parry3d_f64::shape::{TriMesh, TriMeshFlags};
use touchfield::bake::{BakeSettings, DistanceMethod, ExactDistance, Resolution, SignChoice};
use touchfield::mesh::{SelfIntersectionCheck, ValidateSettings, validate_with};
use touchfield_conformance::bake_suite::{bake_quietly, check_exact, check_queries, node_of_index};
use touchfield_conformance::mesh_truth::MeshTruth;
use touchfield_conformance::meshes::{self, Named};
use touchfield_conformance::random::Random;

/// Pairs of point and face that brute force may take per mesh.
const PAIRS: usize = 2_000_000;

fn nodes(nodes: u32) -> BakeSettings {
    BakeSettings {
        resolution: Resolution::Nodes(nodes),
        ..BakeSettings::default()
    }
}

/// Returns settings with a cell size that is used unchanged; the library rounds up to the next
/// `f32`.
fn exactly(cell_size: f32) -> BakeSettings {
    BakeSettings {
        resolution: Resolution::CellSize(cell_size.into()),
        ..BakeSettings::default()
    }
}

#[track_caller]
fn all_pass(check: impl Fn(&Named) -> Result<String, String>, meshes: &[Named]) {
    let mut failures = Vec::new();
    for named in meshes {
        match check(named) {
            Ok(line) => println!("{:<40} {line}", named.name),
            Err(broken) => failures.push(format!("{}: {broken}", named.name)),
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {}:\n{}",
        failures.len(),
        meshes.len(),
        failures.join("\n")
    );
}

#[test]
fn nodes_of_closed_meshes_are_exact_and_their_signs_right() {
    all_pass(
        |named| {
            let coarse = check_exact(&named.mesh, &nodes(24), PAIRS, 1)?;
            let fine = check_exact(&named.mesh, &nodes(70), PAIRS, 2)?;
            Ok(format!("{coarse:?} {fine:?}"))
        },
        &meshes::closed(),
    );
}

#[test]
fn nodes_on_faces_edges_and_corners_of_cubes_are_right() {
    let cubes = [
        ("cube", meshes::cube(1)),
        ("cut cube", meshes::cube(8)),
        ("jack", meshes::plus()),
    ];
    for (name, mesh) in cubes {
        for padding in [0, 1, 3] {
            for cell_size in [1.0f32, 0.5, 0.25, 0.125] {
                let settings = BakeSettings {
                    padding,
                    ..exactly(cell_size)
                };
                let baked = bake_quietly(&mesh, &settings).unwrap();
                assert_eq!(baked.field.layout().cell_size, cell_size);
                let on_surface = baked.field.values().iter().filter(|&&v| v == 0.0).count();
                assert!(
                    on_surface > 20,
                    "{name}: {on_surface} nodes of {cell_size} on the surface"
                );
                if let Err(broken) = check_exact(&mesh, &settings, PAIRS, 3) {
                    panic!("{name}, cells of {cell_size}, padding {padding}: {broken}");
                }
            }
        }
    }
}

#[test]
fn queries_of_closed_meshes_are_exact_one_by_one_and_in_batches() {
    all_pass(
        |named| check_queries(&named.mesh, PAIRS, 4).map(|r| format!("{r:?}")),
        &meshes::closed(),
    );
}

/// In random poses, so that nothing is aligned with the axes by design.
#[test]
fn turned_and_moved_meshes_are_as_exact() {
    let mut random = Random::new(5);
    let turned: Vec<Named> = meshes::degenerate()
        .into_iter()
        .map(|mut named| {
            let (rotation, size) = (random.quaternion(), named.mesh.bounds().diagonal());
            let offset = 3.0 * size * random.unit_vector();
            for vertex in &mut named.mesh.vertices {
                *vertex = rotation * *vertex + offset;
            }
            named
        })
        .filter(|named| !named.name.contains("1e5"))
        .collect();
    all_pass(
        |named| check_exact(&named.mesh, &nodes(28), PAIRS / 2, 6).map(|r| format!("{r:?}")),
        &turned,
    );
}

#[test]
fn the_librarys_brute_force_agrees_with_ours() {
    for named in [
        ("spike", meshes::spike(50.0)),
        ("star", meshes::random_star(1)),
        ("crown", meshes::crown(60)),
    ] {
        let settings = BakeSettings {
            method: DistanceMethod::BruteForce,
            ..nodes(16)
        };
        if let Err(broken) = check_exact(&named.1, &settings, PAIRS, 7) {
            panic!("{}: {broken}", named.0);
        }
    }
}

fn oriented(mesh: &touchfield::mesh::TriangleMesh) -> TriMesh {
    TriMesh::with_flags(
        mesh.vertices.clone(),
        mesh.faces.clone(),
        TriMeshFlags::ORIENTED,
    )
    .unwrap()
}

#[test]
fn parry_agrees_on_distances_and_signs() {
    let mut compared = 0;
    for name in ["torus", "mug", "gear", "winding_pipe", "chain_link"] {
        let mesh = meshes::model(name);
        let baked = bake_quietly(&mesh, &nodes(40)).unwrap();
        let parry = oriented(&mesh);
        let truth = MeshTruth::of(&mesh);
        let layout = baked.field.layout();
        let tolerance = 1e-6 * mesh.bounds().diagonal();
        for index in (0..baked.field.values().len()).step_by(7) {
            let point = layout.node_position(node_of_index(layout, index));
            let value = f64::from(baked.field.values()[index]);
            let projection = parry.project_local_point(point, false);
            let distance = projection.point.distance(point);
            assert!(
                (value.abs() - distance).abs() <= tolerance,
                "{name}: {value} and {distance} at {point}"
            );
            // Where parry and we disagree about the side, the winding number decides.
            if distance > tolerance && projection.is_inside != (value < 0.0) {
                assert_eq!(
                    truth.winding(point) > 0.5,
                    value < 0.0,
                    "{name}: {value} at {point}"
                );
            }
            compared += 1;
        }
    }
    println!("{compared} nodes compared");
}

fn check_far(far: f64) {
    for named in meshes::closed() {
        let exact = ExactDistance::new(&named.mesh, SignChoice::Auto).unwrap();
        let size = named.mesh.bounds().diagonal();
        let center = named.mesh.bounds().center();
        let mut random = Random::new(8);
        for _ in 0..20 {
            let point = center + far * size * random.unit_vector();
            let found = exact.distance(point);
            let truth = point.distance(center);
            assert!(
                (found - truth).abs() <= size + 1e-9 * truth,
                "{}: {found:e} instead of {truth:e} at {point:?}",
                named.name
            );
        }
    }
}

#[test]
fn queries_far_away_are_outside_and_about_as_far_as_the_middle() {
    for far in [1e3, 1e5, 1e7] {
        check_far(far);
    }
}

#[test]
fn queries_so_far_away_that_both_sides_of_a_plate_tie_are_outside() {
    for far in [1e9, 1e12, 1e18] {
        check_far(far);
    }
}

#[test]
fn queries_so_far_away_that_f32_squares_overflow_do_not_panic() {
    for far in [1e20, 1e30, 1e100] {
        check_far(far);
    }
}

#[test]
fn queries_at_no_number_do_not_panic() {
    let exact = ExactDistance::new(&meshes::cube(1), SignChoice::Auto).unwrap();
    for point in [
        DVec3::NAN,
        DVec3::INFINITY,
        DVec3::new(0.0, f64::NAN, f64::NEG_INFINITY),
        DVec3::splat(1e300),
    ] {
        assert!(!exact.distance(point).is_finite() || exact.distance(point) > 1e299);
        let found = exact.distance_many(&[point, DVec3::ZERO, point]);
        assert_eq!(found[1], -1.0);
    }
}

/// Points above corners, where several faces tie: the order in which they are visited must not
/// change the last bits.
#[test]
fn batches_give_the_very_bits_of_single_queries() {
    for named in meshes::closed() {
        let exact = ExactDistance::new(&named.mesh, SignChoice::Auto).unwrap();
        let off = 0.01 * named.mesh.bounds().diagonal();
        let points: Vec<DVec3> = named
            .mesh
            .triangles()
            .take(5000)
            .map(|t| t.a + off * t.normal().unwrap_or(DVec3::Z))
            .collect();
        for (&point, &found) in points.iter().zip(&exact.distance_many(&points)) {
            assert_eq!(exact.distance(point), found, "{} at {point:?}", named.name);
        }
    }
}

#[test]
fn real_closed_models_are_exact() {
    let models: Vec<Named> = meshes::real()
        .into_iter()
        .filter(|named| {
            let checks = ValidateSettings {
                self_intersections: SelfIntersectionCheck::Skip,
                ..ValidateSettings::default()
            };
            validate_with(&named.mesh, &checks).watertight || meshes::is_closed(&named.mesh)
        })
        .collect();
    let pairs = if meshes::is_long() {
        400_000_000
    } else {
        20_000_000
    };
    all_pass(
        |named| {
            let mut mesh = named.mesh.clone();
            // The truth is the winding number, which is negative for inside-out meshes.
            if mesh.signed_volume() < 0.0 {
                mesh.flip();
            }
            let nodes = check_exact(&mesh, &nodes(48), pairs, 1)?;
            let queries = check_queries(&mesh, pairs / 4, 2)?;
            Ok(format!("{nodes:?} {queries:?}"))
        },
        &models,
    );
    println!("{} real models", models.len());
}
