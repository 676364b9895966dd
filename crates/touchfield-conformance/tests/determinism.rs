//! The same bits on every run, on every number of threads, and for every order of faces and
//! vertices.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests: a failed unwrap is a failed test"
)]

use touchfield::bake::{BakeSettings, Baked, ExactDistance, Resolution, SignChoice};
use touchfield::field::Field;
use touchfield::mesh::TriangleMesh;
use touchfield_conformance::bake_suite::bake_quietly;
use touchfield_conformance::meshes::{self, *};
use touchfield_conformance::random::Random;

fn settings() -> BakeSettings {
    BakeSettings {
        resolution: Resolution::Nodes(30),
        ..BakeSettings::default()
    }
}

fn on_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
        .install(work)
}

fn bits(baked: &Baked) -> (Vec<u32>, u32, u32, String) {
    let values = baked.field.values().iter().map(|v| v.to_bits()).collect();
    let provenance = format!("{:?} {:?}", baked.provenance, baked.field.layout());
    (
        values,
        baked.field.error_bound().to_bits(),
        baked.provenance.measured_error.to_bits(),
        provenance,
    )
}

fn various() -> Vec<(&'static str, TriangleMesh)> {
    let star = random_star(1);
    vec![
        ("mug", model("mug")),
        ("cube", cube(4)),
        ("star", star.clone()),
        ("star, 0.2 missing", with_holes(&star, 0.2, 2)),
        (
            "star, cracks, 0.3 flipped",
            with_flips(&cracked(&star, 1e-3, 3), 0.3, 4),
        ),
        ("spindle torus", spindle_torus()),
        ("soup", random_soup(300, 5)),
    ]
}

#[test]
fn bakes_do_not_depend_on_threads_or_runs() {
    for (name, mesh) in various() {
        let expected = bits(&on_threads(1, || bake_quietly(&mesh, &settings())).unwrap());
        for threads in [1, 2, 3, 8] {
            let found = bits(&on_threads(threads, || bake_quietly(&mesh, &settings())).unwrap());
            assert!(found == expected, "{name} on {threads} threads");
        }
    }
}

#[test]
fn queries_do_not_depend_on_threads() {
    let mesh = random_star(6);
    let mut random = Random::new(7);
    let points: Vec<_> = (0..20_000)
        .map(|_| random.in_box(-1.5 * glam::DVec3::ONE, 1.5 * glam::DVec3::ONE))
        .collect();
    let run = |threads| {
        on_threads(threads, || {
            ExactDistance::new(&mesh, SignChoice::Auto)
                .unwrap()
                .distance_many(&points)
        })
        .iter()
        .map(|d| d.to_bits())
        .collect::<Vec<_>>()
    };
    let expected = run(1);
    for threads in [2, 3, 8] {
        assert!(run(threads) == expected, "{threads} threads");
    }
}

#[test]
fn the_order_of_faces_and_vertices_changes_no_node_of_a_closed_mesh() {
    let mut differing = Vec::new();
    let mut closed = meshes::degenerate();
    closed.push(Named {
        name: "mug".into(),
        mesh: model("mug"),
    });
    for Named { name, mesh } in closed {
        let expected = bake_quietly(&mesh, &settings()).unwrap();
        let found = bake_quietly(&shuffled(&mesh, 8), &settings()).unwrap();
        let different = expected
            .field
            .values()
            .iter()
            .zip(found.field.values())
            .filter(|(a, b)| a.to_bits() != b.to_bits());
        let count = different.clone().count();
        if count > 0 {
            differing.push(format!(
                "{name}: {count} nodes, the first {:?}",
                different.clone().next()
            ));
        }
        if expected.field.error_bound() != found.field.error_bound() {
            differing.push(format!("{name}: another bound"));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// Sums of winding numbers round, so signs where the number is one half may differ; distances may
/// not.
#[test]
fn the_order_of_faces_and_vertices_changes_no_distance_of_a_broken_mesh() {
    for (name, mesh) in various() {
        let expected = bake_quietly(&mesh, &settings()).unwrap();
        let found = bake_quietly(&shuffled(&mesh, 9), &settings()).unwrap();
        let mut signs = 0;
        for (a, b) in expected.field.values().iter().zip(found.field.values()) {
            assert_eq!(a.abs().to_bits(), b.abs().to_bits(), "{name}");
            signs += usize::from(a != b);
        }
        assert!(
            signs * 1000 <= found.field.values().len(),
            "{name}: {signs} signs differ"
        );
    }
}
