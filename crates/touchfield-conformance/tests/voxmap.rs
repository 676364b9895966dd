//! Voxelisation, layers, closest points and the voxmap as a field, compared with clipping and brute
//! force, and run through the suite of all fields.
#![allow(
    clippy::neg_cmp_op_on_partial_ord,
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a failed unwrap is a failed test, and the rows are for the reader"
)]

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Mutex;

use glam::{DVec3, UVec3, Vec3};
use touchfield::bake::{
    self, BakeError, BakeSettings, ClosestPoints, MemoryError, MeshError, Resolution, Stage, Step,
    VoxmapBakeError, VoxmapSettings, surface_voxels,
};
use touchfield::field::{
    Encoding, Field, GridError, GridLayout, LayeredVoxmap, Sampling, VoxelValues, VoxmapError,
    turned,
};
use touchfield::geom::{Aabb, DAabb};
use touchfield::mesh::TriangleMesh;
use touchfield_conformance::bake_suite::bake_quietly;
use touchfield_conformance::closed_forms;
use touchfield_conformance::field_suite::check_field;
use touchfield_conformance::mesh_truth::MeshTruth;
use touchfield_conformance::meshes::*;
use touchfield_conformance::random::Random;

const SAMPLINGS: [Sampling; 2] = [Sampling::LocalAndGlobal, Sampling::Interpolated];
const ENCODINGS: [Encoding; 3] = [
    Encoding::Layers,
    Encoding::Scaled { precision: 3 },
    Encoding::Support,
];
const CLOSEST: [ClosestPoints; 2] = [ClosestPoints::Exact, ClosestPoints::AlongLayers];

type Truth<'a> = &'a dyn Fn(DVec3) -> f64;

fn settings(nodes: u32) -> VoxmapSettings {
    VoxmapSettings {
        resolution: Resolution::Nodes(nodes),
        ..VoxmapSettings::default()
    }
}

fn bake_voxmap(
    mesh: &TriangleMesh,
    settings: &VoxmapSettings,
) -> Result<LayeredVoxmap, VoxmapBakeError> {
    let baked = bake::bake_voxmap(mesh, settings, &|_| ControlFlow::Continue(()))?;
    Ok(baked.field)
}

fn voxels(layout: &GridLayout) -> Vec<UVec3> {
    let n = layout.cells();
    let place = |i: u32| UVec3::new(i % n.x, i / n.x % n.y, i / n.x / n.y);
    (0..n.element_product()).map(place).collect()
}

fn center(layout: &GridLayout, voxel: UVec3) -> DVec3 {
    layout.node_position(voxel) + 0.5 * f64::from(layout.cell_size)
}

fn voxel_box(layout: &GridLayout, voxel: UVec3) -> DAabb {
    DAabb::new(
        layout.node_position(voxel),
        layout.node_position(voxel + UVec3::ONE),
    )
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

/// Returns whether any part of a triangle remains after clipping it against the six planes of a
/// box.
fn is_left_after_clipping(triangle: [DVec3; 3], region: DAabb) -> bool {
    let mut polygon = triangle.to_vec();
    for axis in 0..3 {
        for (side, plane) in [(1.0, region.max[axis]), (-1.0, -region.min[axis])] {
            let beyond = |p: DVec3| side * p[axis] - plane;
            let mut kept = Vec::new();
            for (i, &a) in polygon.iter().enumerate() {
                let b = polygon[(i + 1) % polygon.len()];
                let (da, db) = (beyond(a), beyond(b));
                if da <= 0.0 {
                    kept.push(a);
                }
                if (da < 0.0 && db > 0.0) || (da > 0.0 && db < 0.0) {
                    kept.push(a + (b - a) * (da / (da - db)));
                }
            }
            polygon = kept;
        }
    }
    !polygon.is_empty()
}

#[test]
fn surface_voxels_are_those_that_clipping_leaves_something_in() {
    let mut random = Random::new(1);
    for round in 0..300 {
        let shift: f32 = if round % 3 == 0 { 1000.0 } else { 0.0 };
        let scale = random.log_uniform(0.01, 2.0);
        let layout = GridLayout {
            origin: Vec3::splat(shift - 1.0),
            cell_size: 0.25,
            nodes: UVec3::new(9, 10, 8),
        };
        let mut vertices: Vec<_> = (0..3)
            .map(|_| {
                DVec3::splat(f64::from(shift)) + scale * random.in_box(-DVec3::ONE, DVec3::ONE)
            })
            .collect();
        if round % 10 == 1 {
            // A triangle without area, or without length.
            vertices[2] = vertices[round / 10 % 2];
        }
        let corners = [vertices[0], vertices[1], vertices[2]];
        let mesh = TriangleMesh {
            vertices,
            faces: vec![[0, 1, 2]],
        };
        let found: BTreeSet<_> = surface_voxels(&mesh, &layout)
            .unwrap()
            .into_iter()
            .collect();
        for (index, voxel) in voxels(&layout).into_iter().enumerate() {
            let region = voxel_box(&layout, voxel);
            let marked = found.contains(&index);
            if is_left_after_clipping(corners, region.grown(-1e-9)) {
                assert!(marked, "{corners:?} passes through {region:?}");
            }
            if !is_left_after_clipping(corners, region.grown(1e-9)) {
                assert!(!marked, "{corners:?} is off {region:?}");
            }
        }
        for _ in 0..200 {
            let mut w = random.in_box(DVec3::ZERO, DVec3::ONE);
            w /= w.element_sum();
            let point = w.x * corners[0] + w.y * corners[1] + w.z * corners[2];
            for (index, voxel) in voxels(&layout).into_iter().enumerate() {
                if voxel_box(&layout, voxel).grown(-1e-9).contains(point) {
                    assert!(found.contains(&index), "{point} of {corners:?}");
                }
            }
        }
    }
}

#[test]
fn touching_a_face_an_edge_or_a_corner_counts_and_nothing_beyond() {
    let layout = GridLayout {
        origin: Vec3::ZERO,
        cell_size: 1.0,
        nodes: UVec3::splat(5),
    };
    let found = |corners: [[f64; 3]; 3]| {
        let mesh = TriangleMesh {
            vertices: corners.map(DVec3::from).to_vec(),
            faces: vec![[0, 1, 2]],
        };
        let found = surface_voxels(&mesh, &layout).unwrap();
        found
            .into_iter()
            .map(|i| [i % 4, i / 4 % 4, i / 16])
            .collect::<Vec<_>>()
    };
    // In the plane x = 2: the voxels on both sides.
    let plane = found([[2.0, 1.2, 1.2], [2.0, 1.8, 1.2], [2.0, 1.2, 1.8]]);
    assert_eq!(plane, [[1, 1, 1], [2, 1, 1]]);
    // A point at a node: all eight around it.
    assert_eq!(found([[2.0; 3]; 3]).len(), 8);
    // Along the edge between four voxels, with ends at nodes: also the voxels before and behind.
    let edge = found([[1.0, 2.0, 2.0], [1.5, 2.0, 2.0], [2.0, 2.0, 2.0]]);
    assert_eq!(edge.len(), 12);
    assert!(found([[9.0; 3]; 3]).is_empty());
}

#[test]
fn layers_are_steps_to_the_nearest_surface_voxel_with_the_sign_of_the_mesh() {
    let meshes = [
        turned_at_random(cube(1), 1),
        random_star(2),
        squeezed(icosphere(1.0, 2), DVec3::new(1.0, 0.2, 0.5)),
        plus(),
        joined(moved(cube(1), DVec3::X * 4.0), &icosphere(1.0, 2)),
        joined(cube(1), &flipped(squeezed(cube(1), DVec3::splat(0.6)))),
        spindle_torus(),
    ];
    for mesh in meshes {
        let map = bake_voxmap(
            &mesh,
            &VoxmapSettings {
                encoding: Encoding::Layers,
                ..settings(18)
            },
        )
        .unwrap();
        let layout = *map.layout();
        let all = voxels(&layout);
        let surface = surface_voxels(&mesh, &layout).unwrap();
        let VoxelValues::Layers(layers) = map.values() else {
            panic!("{:?}", map.values())
        };
        let truth = MeshTruth::of(&mesh);
        for (index, &voxel) in all.iter().enumerate() {
            let steps = |&other: &usize| {
                (voxel.as_ivec3() - all[other].as_ivec3())
                    .abs()
                    .max_element()
            };
            let expected = surface.iter().map(steps).min().unwrap();
            assert_eq!(i32::from(layers[index].abs()), expected, "{voxel}");
            if expected > 0 {
                let inside = truth.winding(center(&layout, voxel)) > 0.5;
                assert_eq!(layers[index] > 0, inside, "{voxel}");
            }
        }
    }
}

#[test]
fn distances_at_centres_are_exact_or_too_far_by_no_more_than_the_layers_allow() {
    for mesh in [random_star(3), turned_at_random(cube(1), 4), plus()] {
        let truth = MeshTruth::of(&mesh);
        for closest in CLOSEST {
            let map = bake_voxmap(
                &mesh,
                &VoxmapSettings {
                    closest,
                    ..settings(16)
                },
            )
            .unwrap();
            let layout = *map.layout();
            let surface = surface_voxels(&mesh, &layout).unwrap();
            let all = voxels(&layout);
            let VoxelValues::Support(values) = map.values() else {
                panic!("{:?}", map.values())
            };
            let size = f64::from(layout.cell_size);
            let mut worst = 0.0f64;
            for (index, &voxel) in all.iter().enumerate() {
                let expected = truth.signed_distance(center(&layout, voxel));
                let found = turned(values[index]);
                assert!(expected * found >= 0.0, "{expected} {found} at {voxel}");
                let too_far = found.abs() - expected.abs();
                let steps = |&other: &usize| {
                    (voxel.as_ivec3() - all[other].as_ivec3())
                        .abs()
                        .max_element()
                };
                let layer = f64::from(surface.iter().map(steps).min().unwrap());
                let allowed = if closest == ClosestPoints::Exact || layer == 0.0 {
                    0.0
                } else {
                    ((3f64.sqrt() - 1.0) * layer + (3f64.sqrt() + 1.0) / 2.0) * size
                };
                assert!(
                    (-1e-9..=allowed + 1e-9).contains(&too_far),
                    "{found} for {expected} in layer {layer}"
                );
                worst = worst.max(too_far / size);
            }
            println!("{closest:?}: too far by at most {worst:.3} voxels");
            assert!(closest == ClosestPoints::AlongLayers || worst < 1e-6);
        }
    }
}

#[test]
fn every_encoding_and_both_samplings_pass_the_suite() {
    let half = DVec3::new(1.0, 0.4, 0.7);
    let cuboid = squeezed(cube(2), half);
    let box_truth = closed_forms::cuboid(half);
    let star = turned_at_random(random_star(5), 6);
    let star_truth = MeshTruth::of(&star);
    let star_truth = |p: DVec3| star_truth.signed_distance(p);
    let cases: [(&str, &TriangleMesh, Truth<'_>); 2] =
        [("box", &cuboid, &box_truth), ("star", &star, &star_truth)];
    for (shape, mesh, truth) in cases {
        for encoding in ENCODINGS {
            for sampling in SAMPLINGS {
                for closest in CLOSEST {
                    if encoding == Encoding::Layers && closest == ClosestPoints::AlongLayers {
                        // Layers need no closest points.
                        continue;
                    }
                    let wanted = VoxmapSettings {
                        encoding,
                        sampling,
                        closest,
                        ..settings(24)
                    };
                    let map = bake_voxmap(mesh, &wanted).unwrap();
                    let name = format!("{shape}, {encoding:?}, {sampling:?}, {closest:?}");
                    match check_field(&map, Some(truth), &name, 1, 400) {
                        Ok(report) => println!("{report}"),
                        Err(broken) => panic!("{broken}"),
                    }
                }
            }
        }
    }
}

#[test]
fn tiny_and_huge_boxes_pass_the_suite() {
    for (scale, precision) in [(1e-6, 12), (300.0, 2)] {
        let half = scale * DVec3::new(1.0, 0.4, 0.7);
        for encoding in [Encoding::Scaled { precision }, Encoding::Support] {
            let wanted = VoxmapSettings {
                encoding,
                ..settings(20)
            };
            let map = bake_voxmap(&squeezed(cube(2), half), &wanted).unwrap();
            let truth = closed_forms::cuboid(half);
            check_field(&map, Some(&truth), "box", 2, 2000).unwrap();
        }
    }
}

#[test]
fn scaled_integers_come_back_within_lambda() {
    let mesh = random_star(7);
    let bake = |encoding| {
        bake_voxmap(
            &mesh,
            &VoxmapSettings {
                encoding,
                ..settings(16)
            },
        )
        .unwrap()
    };
    let VoxelValues::Support(support) = bake(Encoding::Support).values().clone() else {
        panic!()
    };
    for precision in [0, 1, 3, 6, 9] {
        let map = bake(Encoding::Scaled { precision });
        let VoxelValues::Scaled { values, .. } = map.values() else {
            panic!()
        };
        let lambda = 10f64.powi(-i32::from(precision));
        for (&v, &d) in values.iter().zip(&support) {
            let back = f64::from(v) * lambda;
            assert!((back - d).abs() < lambda * (1.0 + 1e-9), "{v} for {d}");
            assert!(back.abs() <= d.abs() + 1e-12, "cut off towards zero");
        }
    }
}

/// d = 1.61803 and p = 3 give v = 1618 (Eq. 1 of \[Sagardia2014\]).
#[test]
fn the_example_of_the_paper_and_its_sign() {
    let layout = GridLayout {
        origin: Vec3::ZERO,
        cell_size: 1.0,
        nodes: UVec3::splat(2),
    };
    let values = VoxelValues::Scaled {
        precision: 3,
        values: vec![1618],
    };
    let map = LayeredVoxmap::new(layout, values, Sampling::Interpolated, Aabb::EMPTY, 2.0).unwrap();
    assert_eq!(map.distance(Vec3::splat(0.5)), -1.618);
    // Eq. 4: half a voxel deeper along the normal, and half a voxel higher.
    let at = |z| map.penetration(Vec3::new(0.5, 0.5, z), Vec3::Z);
    assert!((at(0.0) - 2.118).abs() < 1e-12 && (at(1.0) - 1.118).abs() < 1e-12);
}

#[test]
fn conversions_keep_their_promise() {
    let mesh = turned_at_random(random_star(8), 9);
    let truth = MeshTruth::of(&mesh);
    let truth = |p: DVec3| truth.signed_distance(p);
    let settings = BakeSettings {
        resolution: Resolution::Nodes(24),
        ..BakeSettings::default()
    };
    let dense = bake_quietly(&mesh, &settings).unwrap().field;
    for encoding in ENCODINGS {
        for sampling in SAMPLINGS {
            let map = LayeredVoxmap::from_dense(&dense, encoding, sampling).unwrap();
            check_field(&map, Some(&truth), "from dense", 1, 250).unwrap();
            let back = map.to_dense().unwrap();
            check_field(&back, Some(&truth), "and back", 1, 250).unwrap();
            assert!(back.error_bound() > map.error_bound());
        }
    }
    let open = with_holes(&mesh, 0.2, 1);
    let dense = bake_quietly(&open, &settings).unwrap().field;
    let refused = LayeredVoxmap::from_dense(&dense, Encoding::Support, Sampling::Interpolated);
    assert!(matches!(refused, Err(VoxmapError::TornGrid { .. })));
}

#[test]
fn a_bake_tells_how_far_it_is_what_it_measured_and_stops_when_told() {
    let mesh = random_star(4);
    for closest in CLOSEST {
        let wanted = VoxmapSettings {
            closest,
            ..settings(24)
        };
        let steps = Mutex::new(Vec::new());
        let baked = bake::bake_voxmap(&mesh, &wanted, &|step| {
            steps.lock().unwrap().push(step);
            ControlFlow::Continue(())
        })
        .unwrap();
        let measured = baked.provenance.measured_error;
        assert!(measured > 0.0 && measured <= baked.field.error_bound());
        let steps = steps.into_inner().unwrap();
        let rows = 23u64.pow(2);
        let distances = |step: &&Step| step.stage == Stage::Distances;
        let found = steps.iter().filter(distances);
        assert!(found.clone().count() as u64 <= rows);
        assert!(found.clone().any(|step| step.done == step.total));
        assert!(steps.iter().any(|step| step.stage == Stage::Checking));
        for stop_at in [Stage::Preparing, Stage::Signs, Stage::Distances] {
            let stopped = bake::bake_voxmap(&mesh, &wanted, &|step| {
                if step.stage == stop_at {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            });
            let expected = VoxmapBakeError::Bake(BakeError::Cancelled);
            assert_eq!(stopped.unwrap_err(), expected, "{stop_at:?}");
        }
    }
}

#[test]
fn open_meshes_and_absurd_settings_are_refused_with_a_way_out() {
    let star = random_star(1);
    let refused = |mesh: &TriangleMesh, settings: VoxmapSettings| {
        let error = bake_voxmap(mesh, &settings).unwrap_err();
        (error.to_string(), error)
    };
    let (text, error) = refused(&with_holes(&star, 0.2, 2), settings(12));
    assert_eq!(error, VoxmapBakeError::OpenSurface);
    assert!(text.contains("fill its holes"), "{text}");
    let no_padding = VoxmapSettings {
        padding: 0,
        ..settings(12)
    };
    assert_eq!(refused(&star, no_padding).1, VoxmapBakeError::NoPadding);
    let tight = VoxmapSettings {
        max_memory: 1000,
        ..settings(1000)
    };
    let (_, error) = refused(&star, tight);
    assert!(matches!(
        error,
        VoxmapBakeError::Bake(BakeError::Memory(MemoryError::TooMuchMemory { .. }))
    ));
    let (_, error) = refused(&TriangleMesh::default(), settings(12));
    assert_eq!(
        error,
        VoxmapBakeError::Bake(BakeError::Mesh(MeshError::NoFaces))
    );
    for (precision, expected) in [(10, "does not fit"), (99, "too fine")] {
        let (text, _) = refused(
            &star,
            VoxmapSettings {
                encoding: Encoding::Scaled { precision },
                ..settings(12)
            },
        );
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn crafted_values_are_refused_or_give_finite_answers() {
    let layout = GridLayout {
        origin: Vec3::ZERO,
        cell_size: 0.5,
        nodes: UVec3::new(2, 3, 4),
    };
    let make = |layout, values, error| {
        LayeredVoxmap::new(layout, values, Sampling::LocalAndGlobal, Aabb::EMPTY, error)
    };
    for bad in [f64::NAN, f64::INFINITY, -1e38, f64::MAX] {
        let mut values = vec![0.0; 6];
        values[4] = bad;
        let refused = make(layout, VoxelValues::Support(values), 1.0).unwrap_err();
        assert!(matches!(refused, VoxmapError::BadValue { voxel: 4, .. }));
    }
    let few = make(layout, VoxelValues::Layers(vec![0; 5]), 1.0).unwrap_err();
    assert!(matches!(few, VoxmapError::WrongCount { expected: 6, .. }));
    for precision in [16, 255] {
        let values = vec![0; 6];
        let scaled = VoxelValues::Scaled { precision, values };
        assert_eq!(
            make(layout, scaled, 1.0).unwrap_err(),
            VoxmapError::BadPrecision(precision)
        );
    }
    for error in [f32::NAN, -1.0, f32::INFINITY] {
        let refused = make(layout, VoxelValues::Layers(vec![0; 6]), error).unwrap_err();
        assert!(matches!(
            refused,
            VoxmapError::Grid(GridError::BadErrorBound(_))
        ));
    }
    let huge = GridLayout {
        nodes: UVec3::splat(u32::MAX),
        cell_size: 1e-3,
        ..layout
    };
    assert!(make(huge, VoxelValues::Layers(vec![0; 6]), 1.0).is_err());
    let extremes = [
        VoxelValues::Layers(vec![i16::MIN, i16::MAX, 0, -1, 1, i16::MIN]),
        VoxelValues::Scaled {
            precision: 0,
            values: vec![i32::MIN, i32::MAX, 0, 1, -1, i32::MIN],
        },
        VoxelValues::Support(vec![4e36, -4e36, 1e-300, 0.0, -0.0, 4e36]),
    ];
    for values in extremes {
        let map = make(layout, values, 9e36).unwrap();
        let mut random = Random::new(1);
        for i in 0..2000 {
            let size = [1e-30, 0.3, 2.0, 1e19, 1e38][i % 5];
            let point = random
                .in_box(DVec3::splat(-size), DVec3::splat(size))
                .as_vec3();
            let sample = map.sample(point);
            let finite = sample.distance.is_finite() && sample.gradient.is_finite();
            assert!(finite, "{sample:?} at {point}");
            assert!(
                sample.gradient.length() < 1.0 + 1e-5,
                "{sample:?} at {point}"
            );
            let interval = map.interval(Aabb::new(point, point));
            assert!(interval.lower <= interval.upper, "{interval:?} at {point}");
        }
        assert!(map.to_dense().is_ok());
        let nan = map.sample(Vec3::NAN).distance;
        assert!(!(nan <= 0.0), "{nan}");
    }
}

#[test]
fn voxmaps_do_not_depend_on_threads() {
    let mesh = model("mug");
    let on_threads = |threads: usize, settings: &VoxmapSettings| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap()
            .install(|| bake_voxmap(&mesh, settings))
            .unwrap()
    };
    for closest in CLOSEST {
        for encoding in ENCODINGS {
            let wanted = VoxmapSettings {
                encoding,
                closest,
                ..settings(24)
            };
            let expected = on_threads(1, &wanted);
            for threads in [2, 3, 8] {
                assert!(
                    on_threads(threads, &wanted) == expected,
                    "{threads} threads"
                );
            }
        }
    }
}
