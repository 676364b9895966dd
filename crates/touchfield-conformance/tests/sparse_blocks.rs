//! Sparse fields: the suite of all fields, every block's proven error against brute force,
//! tolerances kept, and inputs that cannot be baked.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a failed unwrap is a failed test, and the rows are for the reader"
)]

use std::ops::ControlFlow;

use glam::{DVec3, Vec3};
use touchfield::bake::{
    BakeError, BakeSettings, Baked, Bits, Resolution, SparseBakeError, SparseGoal, SparseSettings,
    bake_sparse,
};
use touchfield::field::{Field, SparseBlocks};
use touchfield::mesh::{TriangleMesh, generate};
use touchfield_conformance::closed_forms;
use touchfield_conformance::field_suite::check_field;
use touchfield_conformance::mesh_truth::{MeshTruth, in_parallel};
use touchfield_conformance::meshes::*;
use touchfield_conformance::random::Random;

const BITS: [Bits; 3] = [Bits::Eight, Bits::Sixteen, Bits::ThirtyTwo];

fn baked(
    mesh: &TriangleMesh,
    nodes: u32,
    sparse: SparseSettings,
) -> Result<Baked<SparseBlocks>, SparseBakeError> {
    let settings = BakeSettings {
        resolution: Resolution::Nodes(nodes),
        ..BakeSettings::default()
    };
    bake_sparse(mesh, &settings, &sparse, &|_| ControlFlow::Continue(()))
}

fn band(bits: Bits) -> SparseSettings {
    SparseSettings {
        goal: SparseGoal::Band(3.0),
        bits,
        conservative: false,
    }
}

fn within(tolerance: f64, bits: Bits) -> SparseSettings {
    SparseSettings {
        goal: SparseGoal::Tolerance(tolerance),
        ..band(bits)
    }
}

/// Returns closed meshes with flat faces, edges, thin walls, tips, smooth parts, and some in a
/// random pose.
fn closed_meshes() -> Vec<(String, TriangleMesh)> {
    let mut meshes: Vec<(String, TriangleMesh)> = vec![
        ("box".into(), squeezed(cube(2), DVec3::new(1.0, 0.4, 0.7))),
        ("ball".into(), icosphere(1.0, 3)),
    ];
    for name in ["torus", "gear", "mug", "thin_plate", "chain_link"] {
        let model = generate::catalogue()
            .into_iter()
            .find(|model| model.name == name);
        let model = model.unwrap_or_else(|| panic!("no model called {name}"));
        meshes.push((name.into(), model.mesh().unwrap()));
    }
    let mut random = Random::new(11);
    for (name, mesh) in meshes.clone().into_iter().take(4) {
        let rotation = random.quaternion();
        let offset =
            random.in_box(DVec3::splat(-3.0), DVec3::splat(3.0)) * mesh.bounds().diagonal();
        let mut moved = mesh;
        for vertex in &mut moved.vertices {
            *vertex = rotation * *vertex + offset;
        }
        meshes.push((format!("{name}, moved"), moved));
    }
    meshes.extend(crossing_meshes());
    meshes
}

/// Returns bodies that overlap each other, so that the nearest face does not determine the side of
/// many nodes.
fn crossing_meshes() -> Vec<(String, TriangleMesh)> {
    let ball = icosphere(1.0, 2);
    let aside = moved(ball.clone(), DVec3::new(0.7, 0.1, 0.05));
    let beams = [
        DVec3::new(1.0, 0.1, 0.1),
        DVec3::new(0.1, 1.0, 0.1),
        DVec3::new(0.1, 0.1, 1.0),
    ]
    .map(|half| moved(squeezed(cube(6), half), 0.01 * half));
    let [x, y, z] = &beams;
    vec![
        ("two balls".into(), joined(ball, &aside)),
        ("three beams".into(), joined(joined(x.clone(), y), z)),
        ("spindle torus".into(), spindle_torus()),
    ]
}

/// Returns points all over the box of a field, every second one near the surface.
fn points(field: &SparseBlocks, mesh: &TriangleMesh, count: usize, seed: u64) -> Vec<Vec3> {
    let mut random = Random::new(seed);
    let bounds = field.bounds();
    let reach = 3.0 * f64::from(field.finest_cell_size());
    (0..count)
        .map(|i| {
            if i % 2 == 0 {
                let box_ = bounds.as_daabb();
                random.in_box(box_.min, box_.max).as_vec3()
            } else {
                let triangle = mesh.triangle(random.below(mesh.faces.len()));
                let mut weights = random.in_box(DVec3::ZERO, DVec3::ONE);
                weights /= weights.element_sum();
                let on = weights.x * triangle.a + weights.y * triangle.b + weights.z * triangle.c;
                (on + random.in_box(DVec3::splat(-reach), DVec3::splat(reach))).as_vec3()
            }
        })
        .filter(|&point| bounds.contains(point))
        .collect()
}

/// Returns the largest error, as a share of the bound proven where it occurs; panics if one exceeds
/// it.
fn check_errors(name: &str, baked: &Baked<SparseBlocks>, mesh: &TriangleMesh, count: usize) -> f64 {
    let truth = MeshTruth::of(mesh);
    let field = &baked.field;
    let points = points(field, mesh, count, 7);
    assert!(points.len() > count / 2);
    let shares = in_parallel(&points, |&point| {
        let exact = truth.signed_distance(point.as_dvec3());
        let error = (f64::from(field.distance(point)) - exact).abs();
        let proven = f64::from(field.error_near(point));
        assert!(
            error <= proven,
            "{name}: {error:e} at {point} where {proven:e} is proven"
        );
        error / proven
    });
    shares.into_iter().fold(0.0, f64::max)
}

#[test]
fn bands_pass_the_suite_with_all_bits() {
    let half = DVec3::new(1.0, 0.4, 0.7);
    let cuboid = squeezed(cube(2), half);
    for bits in BITS {
        let baked = baked(&cuboid, 40, band(bits)).unwrap();
        let truth = closed_forms::cuboid(half);
        for seed in 1..=2 {
            match check_field(&baked.field, Some(&truth), "box", seed, 2000) {
                Ok(report) => println!("{report}"),
                Err(broken) => panic!("{bits:?}: {broken}"),
            }
        }
    }
}

#[test]
fn tolerances_pass_the_suite_with_all_bits() {
    let half = DVec3::new(1.0, 0.4, 0.7);
    let cuboid = squeezed(cube(2), half);
    for bits in BITS {
        let baked = baked(&cuboid, 40, within(0.02, bits)).unwrap();
        let truth = closed_forms::cuboid(half);
        match check_field(&baked.field, Some(&truth), "box", 3, 4000) {
            Ok(report) => println!("{report}"),
            Err(broken) => panic!("{bits:?}: {broken}"),
        }
    }
}

#[test]
fn every_block_keeps_its_error_in_a_band() {
    for (i, (name, mesh)) in closed_meshes().into_iter().enumerate() {
        let baked = baked(&mesh, 64, band(BITS[i % 3])).unwrap();
        let worst = check_errors(&name, &baked, &mesh, 4000);
        println!(
            "{name}: {} blocks, worst share {worst:.2}",
            baked.field.parts().blocks.len()
        );
    }
}

#[test]
fn tolerances_are_kept_and_used() {
    for (i, (name, mesh)) in closed_meshes().into_iter().enumerate() {
        let diagonal = mesh.bounds().diagonal();
        for share in [3e-2, 1e-2, 4e-3] {
            let tolerance = share * diagonal;
            let baked = baked(&mesh, 16, within(tolerance, BITS[i % 3])).unwrap();
            let bound = f64::from(baked.field.error_bound());
            assert!(bound <= tolerance, "{name}: {bound:e} > {tolerance:e}");
            let worst = check_errors(&name, &baked, &mesh, 4000);
            // A bound that no error comes near would waste memory.
            assert!(worst > 0.2, "{name} at {share}: {worst}");
            println!(
                "{name} at {share}: {} values, {} levels, worst share {worst:.2}",
                baked.field.parts().values.len(),
                baked.field.levels()
            );
        }
    }
}

#[test]
fn flat_parts_take_no_blocks() {
    // In most cells of a large box only one face is nearest.
    let cuboid = squeezed(cube(2), DVec3::splat(1.0));
    let coarse = baked(&cuboid, 16, within(0.02, Bits::Sixteen)).unwrap();
    let fine = baked(&cuboid, 16, within(0.005, Bits::Sixteen)).unwrap();
    let [coarse, fine] = [coarse, fine].map(|baked| baked.field.parts().values.len());
    // A dense grid would take 64 times as many values; edges and the planes between the faces take
    // 16 times.
    assert!(fine < 24 * coarse, "{coarse} grow to {fine}");
}

#[test]
fn conservative_solids_enclose_the_mesh() {
    for (name, mesh) in closed_meshes() {
        for goal in [
            SparseGoal::Band(2.0),
            SparseGoal::Tolerance(1e-2 * mesh.bounds().diagonal()),
        ] {
            let settings = SparseSettings {
                goal,
                bits: Bits::Eight,
                conservative: true,
            };
            let baked = baked(&mesh, 48, settings).unwrap();
            check_errors(&name, &baked, &mesh, 1000);
            if let SparseGoal::Tolerance(tolerance) = goal {
                let bound = f64::from(baked.field.error_bound());
                assert!(bound <= tolerance, "{name}: {bound}, not {tolerance}");
            }
            let mut random = Random::new(5);
            for _ in 0..20_000 {
                let triangle = mesh.triangle(random.below(mesh.faces.len()));
                let mut weights = random.in_box(DVec3::ZERO, DVec3::ONE);
                weights /= weights.element_sum();
                let on = weights.x * triangle.a + weights.y * triangle.b + weights.z * triangle.c;
                let distance = baked.field.distance(on.as_vec3());
                assert!(
                    distance <= 0.0,
                    "{name}: {distance:e} at {on}, a point of the mesh"
                );
            }
        }
    }
}

#[test]
fn the_same_bits_over_thread_counts() {
    let mesh = closed_meshes().remove(3).1;
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| {
            let tolerance = 5e-3 * mesh.bounds().diagonal();
            let band = baked(&mesh, 64, band(Bits::Sixteen)).unwrap();
            let within = baked(&mesh, 16, within(tolerance, Bits::Sixteen)).unwrap();
            (band.field, within.field, within.provenance)
        })
    };
    let one = with(1);
    for threads in [2, 3, 8] {
        assert!(with(threads) == one, "{threads} threads");
    }
}

#[test]
fn what_cannot_be_done_is_refused_with_a_reason() {
    let mut open = squeezed(cube(2), DVec3::ONE);
    open.faces.truncate(open.faces.len() - 2);
    assert_eq!(
        baked(&open, 32, band(Bits::Sixteen)).unwrap_err(),
        SparseBakeError::NeedsClosed
    );
    let cuboid = squeezed(cube(2), DVec3::ONE);
    for width in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let settings = SparseSettings {
            goal: SparseGoal::Band(width),
            ..band(Bits::Eight)
        };
        assert!(matches!(
            baked(&cuboid, 32, settings),
            Err(SparseBakeError::BadBand { .. })
        ));
        let settings = within(width, Bits::Eight);
        assert!(matches!(
            baked(&cuboid, 32, settings),
            Err(SparseBakeError::BadTolerance { .. })
        ));
    }
    let settings = BakeSettings {
        max_memory: 4 << 20,
        ..BakeSettings::default()
    };
    let go_on = |_| ControlFlow::Continue(());
    let fine = within(1e-3, Bits::Sixteen);
    let error = bake_sparse(&cuboid, &settings, &fine, &go_on).unwrap_err();
    assert!(error.is_limit(), "{error}");
    let stop = |_| ControlFlow::Break(());
    let stopped = bake_sparse(&cuboid, &settings, &band(Bits::Eight), &stop);
    assert_eq!(
        stopped.unwrap_err(),
        SparseBakeError::from(BakeError::Cancelled)
    );
    let below = within(1e-12, Bits::ThirtyTwo);
    assert!(baked(&cuboid, 16, below).is_err());
}
