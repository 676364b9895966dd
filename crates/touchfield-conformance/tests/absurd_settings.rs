//! Settings and meshes that make no sense give a typed error that names the cause and a way out,
//! never a panic or a long wait.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests: a failed unwrap is a failed test"
)]

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use glam::DVec3;
use touchfield::bake::{
    BakeError, BakeSettings, DistanceMethod, MemoryError, MeshError, Resolution, SignChoice, Stage,
    bake_with,
};
use touchfield::field::{Field, SignMethod};
use touchfield::mesh::TriangleMesh;
use touchfield_conformance::bake_suite::bake_quietly;
use touchfield_conformance::meshes::*;

/// Returns settings with a small memory limit, so that a size that is not refused does not exhaust
/// the machine.
fn settings(resolution: Resolution, padding: u32) -> BakeSettings {
    BakeSettings {
        resolution,
        padding,
        max_memory: 64 << 20,
        ..BakeSettings::default()
    }
}

fn soup_of(vertices: Vec<DVec3>) -> TriangleMesh {
    let faces = (0..vertices.len() as u32 / 3)
        .map(|i| [3 * i, 3 * i + 1, 3 * i + 2])
        .collect();
    TriangleMesh { vertices, faces }
}

/// Bakes, and checks that the result is an error with a message or a field with finite values.
#[track_caller]
fn answers(mesh: &TriangleMesh, settings: &BakeSettings) -> Option<BakeError> {
    match bake_quietly(mesh, settings) {
        Ok(baked) => {
            assert!(baked.field.values().iter().all(|v| v.is_finite()));
            assert!(baked.field.error_bound() > 0.0 && baked.field.error_bound().is_finite());
            assert!(
                baked.provenance.measured_error <= baked.field.error_bound(),
                "{settings:?}"
            );
            None
        }
        Err(error) => {
            assert!(error.to_string().len() > 20, "{error}");
            Some(error)
        }
    }
}

#[test]
fn absurd_resolutions() {
    let mesh = cube(1);
    for padding in [0, 2, 1000] {
        for nodes in [0, 1, 2, 3, 4, 5, 6, 1 << 16, 1 << 24, u32::MAX] {
            let error = answers(&mesh, &settings(Resolution::Nodes(nodes), padding));
            assert_eq!(
                error.is_some(),
                nodes < 2 * padding + 2 || nodes > 1000,
                "{nodes} nodes, padding {padding}: {error:?}"
            );
        }
        for size in [
            0.0,
            -0.0,
            -1.0,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            1e-30,
            1e-60,
            1e-320,
            1e300,
        ] {
            let error = answers(&mesh, &settings(Resolution::CellSize(size), padding.min(2)));
            assert!(error.is_some(), "cells of {size}");
        }
        for size in [1e3, 1e10] {
            assert_eq!(
                answers(&mesh, &settings(Resolution::CellSize(size), padding.min(2))),
                None,
                "cells of {size}"
            );
        }
    }
}

#[test]
fn cells_so_large_that_f32_squares_overflow() {
    for size in [1e20, 1e30, 1e37, 1e38] {
        answers(&cube(1), &settings(Resolution::CellSize(size), 2));
    }
}

#[test]
fn absurd_padding_with_cells_of_a_size() {
    for padding in [u32::MAX, u32::MAX / 2, 1 << 30] {
        assert!(answers(&cube(1), &settings(Resolution::CellSize(0.1), padding)).is_some());
    }
}

#[test]
fn absurd_padding_with_a_number_of_nodes() {
    for padding in [u32::MAX, u32::MAX / 2, 1 << 31] {
        assert!(answers(&cube(1), &settings(Resolution::Nodes(64), padding)).is_some());
    }
}

#[test]
fn meshes_without_surface_size_or_numbers() {
    let of = |vertices: Vec<DVec3>| {
        bake_quietly(&soup_of(vertices), &settings(Resolution::Nodes(12), 2))
    };
    assert!(matches!(
        of(vec![]),
        Err(BakeError::Mesh(MeshError::NoFaces))
    ));
    assert!(matches!(
        of(vec![DVec3::ONE; 3]),
        Err(BakeError::Mesh(MeshError::NoExtent { .. }))
    ));
    assert!(matches!(
        of(vec![DVec3::X, DVec3::NAN, DVec3::Y]),
        Err(BakeError::Mesh(MeshError::NonFiniteVertex {
            face: 0,
            vertex: 1,
            ..
        }))
    ));
    assert!(matches!(
        of(vec![DVec3::X, DVec3::Y, DVec3::INFINITY]),
        Err(BakeError::Mesh(MeshError::NonFiniteVertex {
            face: 0,
            vertex: 2,
            ..
        }))
    ));
    let missing = TriangleMesh {
        vertices: vec![DVec3::ZERO; 3],
        faces: vec![[0, 1, 2], [0, 1, 3]],
    };
    assert!(matches!(
        bake_quietly(&missing, &BakeSettings::default()),
        Err(BakeError::Mesh(MeshError::MissingVertex {
            face: 1,
            vertex: 3,
            vertices: 3
        }))
    ));
    // A vertex with NaN that belongs to no face does no harm.
    let mut stray = cube(1);
    stray.vertices.push(DVec3::NAN);
    assert_eq!(answers(&stray, &settings(Resolution::Nodes(12), 2)), None);
}

#[test]
fn thin_meshes_bake_as_sheets() {
    let triangle = soup_of(vec![DVec3::X, DVec3::Y, DVec3::Z]);
    let line = soup_of(vec![DVec3::ZERO, DVec3::X, 2.0 * DVec3::X]);
    let flat = soup_of(vec![
        DVec3::ZERO,
        DVec3::X,
        DVec3::Y,
        DVec3::X,
        DVec3::X + DVec3::Y,
        DVec3::Y,
    ]);
    let mut doubled = flat.clone();
    doubled.append(&flipped(flat.clone()));
    for (name, mesh) in [
        ("triangle", triangle),
        ("line", line),
        ("flat", flat),
        ("flat, both sides", doubled),
    ] {
        for padding in [0, 1, 3] {
            let baked = bake_quietly(&mesh, &settings(Resolution::Nodes(12), padding)).unwrap();
            assert!(baked.field.values().iter().all(|&v| v >= 0.0), "{name}");
            assert!(!baked.provenance.notes.is_empty(), "{name}: nothing said");
        }
    }
}

/// Checks that a cube of this size bakes, or that the error names a way out.
fn check_size(size: f64) {
    let error = answers(
        &squeezed(cube(1), DVec3::splat(size)),
        &settings(Resolution::Nodes(12), 2),
    );
    assert!(
        error.is_none() || !(1e-30..=1e30).contains(&size),
        "{size:e}: {error:?}"
    );
}

#[test]
fn small_and_large_meshes() {
    for size in [1e-44, 1e-38, 1e-30, 1e-20, 1e17, 1e37, 1e39] {
        check_size(size);
    }
}

#[test]
fn meshes_too_large_for_squares_in_f32() {
    for size in [1e20, 1e25, 1e30] {
        check_size(size);
    }
}

#[test]
fn meshes_too_small_for_squares() {
    for size in [1e-150, 1e-160, 1e-300] {
        check_size(size);
    }
}

#[test]
fn meshes_too_large_for_squares() {
    for size in [1e150, 1e160, 1e300] {
        check_size(size);
    }
}

#[test]
fn meshes_far_away() {
    for offset in [1e3, 1e6, 1e9, 1e20, 1e40, 1e300] {
        answers(
            &moved(cube(1), DVec3::splat(offset)),
            &settings(Resolution::Nodes(12), 2),
        );
    }
}

#[test]
fn the_hint_of_a_limit_of_memory_works() {
    let mesh = cube(4);
    for allowed in [200_000u64, 1 << 20, 10 << 20] {
        let limited = |nodes| BakeSettings {
            max_memory: allowed,
            ..settings(Resolution::Nodes(nodes), 2)
        };
        let Err(error) = bake_quietly(&mesh, &limited(500)) else {
            panic!("{allowed} bytes were enough")
        };
        assert!(error.is_limit());
        let BakeError::Memory(MemoryError::TooMuchMemory {
            needed, fitting, ..
        }) = error
        else {
            panic!("{error}")
        };
        assert!(needed > allowed);
        let hint = bake_quietly(&mesh, &limited(fitting));
        assert!(
            hint.is_ok(),
            "{allowed} bytes: told to use {fitting} nodes, but {:?}",
            hint.err()
        );
    }
}

#[test]
fn no_resolution_is_hinted_at_when_the_mesh_alone_is_too_large() {
    let mesh = icosphere(1.0, 4);
    let limited = BakeSettings {
        max_memory: 1000,
        ..BakeSettings::default()
    };
    let Err(error) = bake_quietly(&mesh, &limited) else {
        panic!("1000 bytes were enough")
    };
    assert!(
        !error.to_string().contains("lower the resolution"),
        "{error}"
    );
}

#[test]
fn a_bake_stops_when_told_to_at_every_stage() {
    let mesh = with_holes(&icosphere(1.0, 3), 0.2, 1);
    for method in DistanceMethod::ALL {
        for stage in [
            Stage::Preparing,
            Stage::Distances,
            Stage::Signs,
            Stage::Checking,
        ] {
            let settings = BakeSettings {
                method,
                ..settings(Resolution::Nodes(20), 2)
            };
            let after = AtomicUsize::new(0);
            let result = bake_with(&mesh, &settings, &|step| {
                if step.stage == stage {
                    after.fetch_add(1, Ordering::Relaxed);
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            });
            let reached = after.load(Ordering::Relaxed) > 0;
            assert_eq!(
                matches!(result, Err(BakeError::Cancelled)),
                reached,
                "{method:?} {stage:?}"
            );
            assert!(
                reached || method == DistanceMethod::BruteForce,
                "{stage:?} was never reached"
            );
        }
    }
}

#[test]
fn progress_counts_up_to_its_total() {
    let (done, bad) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let baked = bake_with(
        &icosphere(1.0, 3),
        &settings(Resolution::Nodes(33), 2),
        &|step| {
            bad.fetch_add(usize::from(step.done > step.total), Ordering::Relaxed);
            done.fetch_add(usize::from(step.done == step.total), Ordering::Relaxed);
            ControlFlow::Continue(())
        },
    );
    assert!(baked.is_ok());
    assert_eq!(bad.into_inner(), 0);
    assert!(done.into_inner() >= 1);
}

#[test]
fn a_sign_method_that_cannot_work_is_refused_with_another_to_try() {
    let open = with_holes(&icosphere(1.0, 2), 0.1, 2);
    let always = |method| BakeSettings {
        sign: SignChoice::Always(method),
        ..settings(Resolution::Nodes(12), 2)
    };
    let Err(error) = bake_quietly(&open, &always(SignMethod::Pseudonormal)) else {
        panic!("baked")
    };
    assert!(error.to_string().contains("winding"), "{error}");
    for method in [SignMethod::Winding, SignMethod::Parity] {
        assert_eq!(
            bake_quietly(&open, &always(method))
                .unwrap()
                .provenance
                .sign_method,
            method
        );
    }
}
