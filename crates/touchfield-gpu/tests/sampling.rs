//! Samples on the device beside those of the CPU, and beside independent interpolation in `f64`.
#![allow(
    clippy::panic,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a panic is a failed test; figures are printed for people"
)]

mod common;

use std::sync::Arc;

use glam::{Quat, Vec3};
use touchfield::Pose;
use touchfield::field::primitive::{
    Capsule, Cone, Cuboid, Cylinder, Ellipsoid, HalfSpace, RoundedCuboid, Sphere, Torus,
};
use touchfield::field::{Difference, Field, Intersection, Offset, Transformed, Union, Wall};
use touchfield::shape::Shape;
use touchfield_conformance::meshes;
use touchfield_conformance::random::Random;
use touchfield_conformance::representations::{ALL, Representation};
use touchfield_gpu::{GpuError, GpuSettings, NoGpuForm, Shapes};

/// Points in a box one and a half times the size of the bounds, and some far away.
fn points(bounds: touchfield::geom::Aabb, count: usize, seed: u64) -> Vec<Vec3> {
    let mut random = Random::new(seed);
    let (middle, half) = (bounds.center(), bounds.half_extents());
    let mut unit = || 2.0 * random.unit() as f32 - 1.0;
    (0..count)
        .map(|index| {
            let reach = match index % 16 {
                0 => 40.0,
                1..4 => 1.5,
                _ => 1.0,
            };
            middle + reach * half * Vec3::new(unit(), unit(), unit())
        })
        .collect()
}

/// What a comparison found.
#[derive(Debug, Default)]
struct Found {
    worst: f32,
    worst_gradient: f32,
    at_borders: usize,
    signs: usize,
}

/// Compares device and CPU. A point within rounding of a border between cells may lie on either
/// side: it is compared with both, and counted.
fn compare(shape: &Shape, on_device: &[touchfield::Sample], points: &[Vec3], slope: f32) -> Found {
    let field = shape.field();
    let bounds = shape.solid();
    let size = if bounds.is_finite() {
        bounds.diagonal()
    } else {
        20.0
    };
    let mut found = Found::default();
    for (&point, on_device) in points.iter().zip(on_device) {
        // Far away everything rounds by its own last place.
        let scale = size.max(point.distance(bounds.closest_point(point)));
        let off = |on_cpu: &touchfield::Sample| {
            let distance = (on_cpu.distance - on_device.distance).abs() / scale;
            let gradient = on_cpu.gradient.distance(on_device.gradient);
            (distance, gradient)
        };
        let on_cpu = field.sample(point);
        let mut best = off(&on_cpu);
        if best.0 > 1e-6 || best.1 > slope {
            found.at_borders += 1;
            let nudge = 4.0 * f32::EPSILON * (point.abs().max_element() + size);
            for corner in 0..8 {
                let sign = |bit: u32| {
                    if corner >> bit & 1 == 1 {
                        nudge
                    } else {
                        -nudge
                    }
                };
                let beside = point + Vec3::new(sign(0), sign(1), sign(2));
                let other = off(&field.sample(beside));
                if other.0.max(other.1 / slope * 1e-6) < best.0.max(best.1 / slope * 1e-6) {
                    best = other;
                }
            }
        }
        if on_cpu.distance.signum() != on_device.distance.signum()
            && on_cpu.distance.abs() > 1e-6 * scale
        {
            found.signs += 1;
        }
        found.worst = found.worst.max(best.0);
        found.worst_gradient = found.worst_gradient.max(best.1);
    }
    found
}

fn check(name: &str, shape: &Shape, seed: u64, settings: &GpuSettings) {
    let Some(gpu) = common::gpu_with(settings) else {
        return;
    };
    let shapes = Shapes::upload(&gpu, &[shape]).unwrap_or_else(|error| panic!("{name}: {error}"));
    let bounds = if shape.field().bounds().is_finite() {
        shape.field().bounds()
    } else {
        touchfield::geom::Aabb::from_center(Vec3::ZERO, Vec3::splat(5.0))
    };
    let points = points(bounds, 20_000, seed);
    let on_device = shapes
        .sample(0, &points)
        .unwrap_or_else(|e| panic!("{name}: {e}"));
    // A slope is a difference of two values over a cell, so it rounds by that much more.
    let cells = match shape.cell_size() {
        0.0 => 30.0,
        cell => bounds.diagonal() / cell,
    };
    let slope = 1e-6 * cells;
    let found = compare(shape, &on_device, &points, slope);
    println!("{name}: {found:?}, slope allowed {slope:e}");
    assert!(found.worst <= 1e-6, "{name}: {found:?}");
    assert!(found.worst_gradient <= slope, "{name}: {found:?}");
    assert_eq!(found.signs, 0, "{name}: {found:?}");
    assert!(found.at_borders * 200 <= points.len(), "{name}: {found:?}");
}

fn baked(representation: Representation, name: &str, nodes: u32) -> Shape {
    let field = representation.bake(&meshes::model(name), nodes);
    Shape::stored(Arc::new(
        field.unwrap_or_else(|error| panic!("{name}: {error}")),
    ))
}

#[test]
fn grids_of_every_kind_agree_with_the_cpu() {
    for representation in ALL {
        if matches!(representation, Representation::Voxmap(..)) {
            continue;
        }
        for model in ["gear", "mug", "torus"] {
            let shape = baked(representation, model, 40);
            let name = format!("{model}, {}", representation.name());
            check(&name, &shape, 7, &GpuSettings::default());
        }
    }
}

#[test]
fn real_models_agree_with_the_cpu() {
    for real in meshes::real().into_iter().take(12) {
        let field = Representation::Dense.bake(&real.mesh, 32);
        let field = field.unwrap_or_else(|error| panic!("{}: {error}", real.name));
        let shape = Shape::stored(Arc::new(field));
        check(&real.name, &shape, 3, &GpuSettings::default());
    }
}

#[test]
fn fields_split_into_chunks_agree_with_the_cpu() {
    let settings = GpuSettings {
        max_binding_bytes: Some(80_000),
        ..Default::default()
    };
    for representation in [Representation::Dense, Representation::Taylor, ALL[3]] {
        let shape = baked(representation, "gear", 40);
        let bytes = shape.as_stored().map_or(0, |field| field.bytes());
        assert!(
            bytes > 65_536,
            "a single chunk of {bytes} bytes proves nothing"
        );
        check(&representation.name(), &shape, 5, &settings);
    }
}

#[test]
fn closed_forms_and_their_compositions_agree_with_the_cpu() {
    let fine = |error: touchfield::field::ParameterError| -> ! { panic!("{error}") };
    let sphere = Sphere::new(0.7).unwrap_or_else(|e| fine(e));
    let cuboid = Cuboid::new(Vec3::new(0.5, 0.3, 0.9)).unwrap_or_else(|e| fine(e));
    let pose = Pose {
        rotation: Quat::from_scaled_axis(Vec3::new(0.3, -1.1, 0.4)),
        translation: Vec3::new(0.2, -0.1, 0.35),
    };
    let placed = Transformed::new(cuboid, pose, 1.3).unwrap_or_else(|e| fine(e));
    let nested = Transformed::new(placed, pose.inverse(), 0.8).unwrap_or_else(|e| fine(e));
    let shapes: Vec<(&str, Shape)> = vec![
        ("sphere", Shape::new(sphere)),
        ("cuboid", Shape::new(cuboid)),
        (
            "rounded cuboid",
            Shape::new(
                RoundedCuboid::new(Vec3::new(0.5, 0.4, 0.8), 0.1).unwrap_or_else(|e| fine(e)),
            ),
        ),
        (
            "capsule",
            Shape::new(Capsule::new(0.6, 0.2).unwrap_or_else(|e| fine(e))),
        ),
        (
            "cylinder",
            Shape::new(Cylinder::new(0.6, 0.4).unwrap_or_else(|e| fine(e))),
        ),
        (
            "cone",
            Shape::new(Cone::new(0.6, 0.5).unwrap_or_else(|e| fine(e))),
        ),
        (
            "frustum",
            Shape::new(Cone::frustum(0.2, 0.1, 0.7).unwrap_or_else(|e| fine(e))),
        ),
        (
            "disc",
            Shape::new(Cone::frustum(0.0, 0.5, 0.5).unwrap_or_else(|e| fine(e))),
        ),
        (
            "torus",
            Shape::new(Torus::new(0.7, 0.2).unwrap_or_else(|e| fine(e))),
        ),
        (
            "ellipsoid",
            Shape::new(Ellipsoid::new(Vec3::new(0.9, 0.5, 0.3)).unwrap_or_else(|e| fine(e))),
        ),
        (
            "flat ellipsoid",
            Shape::new(Ellipsoid::new(Vec3::new(0.9, 0.5, 0.05)).unwrap_or_else(|e| fine(e))),
        ),
        (
            "half-space",
            Shape::new(HalfSpace::new(Vec3::new(0.2, -0.5, 1.0), 0.3).unwrap_or_else(|e| fine(e))),
        ),
        (
            "union",
            Shape::new(Union {
                first: sphere,
                second: placed,
            }),
        ),
        (
            "intersection",
            Shape::new(Intersection {
                first: sphere,
                second: placed,
            }),
        ),
        (
            "difference",
            Shape::new(Difference {
                first: placed,
                second: sphere,
            }),
        ),
        (
            "grown",
            Shape::new(Offset::new(placed, 0.2).unwrap_or_else(|e| fine(e))),
        ),
        (
            "shrunk",
            Shape::new(Offset::new(nested, -0.1).unwrap_or_else(|e| fine(e))),
        ),
        (
            "wall of a difference",
            Shape::new(
                Wall::new(
                    Difference {
                        first: nested,
                        second: sphere,
                    },
                    0.05,
                )
                .unwrap_or_else(|e| fine(e)),
            ),
        ),
    ];
    for (index, (name, shape)) in shapes.iter().enumerate() {
        // On a medial plane the nearest side is a matter of rounding, which is counted as a border.
        check(name, shape, index as u64, &GpuSettings::default());
    }
}

#[test]
fn many_shapes_share_one_upload() {
    let Some(gpu) = common::gpu() else { return };
    let shapes = [
        baked(Representation::Dense, "gear", 24),
        Shape::new(Sphere::new(0.3).unwrap_or_else(|error| panic!("{error}"))),
        baked(Representation::Taylor, "torus", 24),
        baked(ALL[2], "mug", 24),
    ];
    let all: Vec<&Shape> = shapes.iter().collect();
    let uploaded = Shapes::upload(&gpu, &all).unwrap_or_else(|error| panic!("{error}"));
    for (index, shape) in shapes.iter().enumerate() {
        let points = points(shape.field().bounds(), 2000, index as u64);
        let together = uploaded.sample(index, &points);
        let alone = Shapes::upload(&gpu, &[shape]).and_then(|alone| alone.sample(0, &points));
        assert_eq!(together, alone, "shape {index}");
    }
}

#[test]
fn the_same_points_give_the_same_bits() {
    let Some(gpu) = common::gpu() else { return };
    let shape = baked(Representation::Dense, "gear", 32);
    let shapes = Shapes::upload(&gpu, &[&shape]).unwrap_or_else(|error| panic!("{error}"));
    let points = points(shape.field().bounds(), 50_000, 1);
    let first = shapes.sample(0, &points);
    for _ in 0..5 {
        assert_eq!(shapes.sample(0, &points), first);
    }
}

#[test]
fn what_has_no_form_on_a_device_says_so() {
    let Some(gpu) = common::gpu() else { return };
    let voxmap = baked(ALL[10], "torus", 16);
    let found = Shapes::upload(&gpu, &[&voxmap]).map(|_| ());
    let expected = GpuError::NoForm {
        shape: 0,
        why: NoGpuForm::Voxmap,
    };
    assert_eq!(found, Err(expected));
    let sphere = Sphere::new(1.0).unwrap_or_else(|error| panic!("{error}"));
    let mut nested: Box<dyn Field> = Box::new(sphere);
    for _ in 0..20 {
        nested = Box::new(Offset::new(nested, 0.01).unwrap_or_else(|error| panic!("{error}")));
    }
    let found = Shapes::upload(&gpu, &[&Shape::new(nested)]).map(|_| ());
    let why = NoGpuForm::TooDeep {
        depth: 21,
        most: 16,
    };
    assert_eq!(found, Err(GpuError::NoForm { shape: 0, why }));
}

#[test]
fn bad_input_is_an_error() {
    let Some(gpu) = common::gpu() else { return };
    let sphere = Shape::new(Sphere::new(1.0).unwrap_or_else(|error| panic!("{error}")));
    let shapes = Shapes::upload(&gpu, &[&sphere]).unwrap_or_else(|error| panic!("{error}"));
    let nan = shapes.sample(0, &[Vec3::ZERO, Vec3::new(0.0, f32::NAN, 0.0)]);
    assert!(
        matches!(nan, Err(GpuError::NotFinite { index: 1, .. })),
        "{nan:?}"
    );
    let far = shapes.sample(0, &[Vec3::splat(1e30)]);
    assert!(
        matches!(far, Err(GpuError::NotFinite { index: 0, .. })),
        "{far:?}"
    );
    let unknown = shapes.sample(1, &[Vec3::ZERO]);
    assert!(
        matches!(unknown, Err(GpuError::NoSuchShape { index: 1, count: 1 })),
        "{unknown:?}"
    );
    assert_eq!(shapes.sample(0, &[]), Ok(Vec::new()));
    let none = Shapes::upload(&gpu, &[]).unwrap_or_else(|error| panic!("{error}"));
    assert!(none.is_empty());
}

#[test]
fn a_field_too_large_for_the_device_is_refused_with_its_size() {
    let settings = GpuSettings {
        max_binding_bytes: Some(4096),
        ..Default::default()
    };
    let Some(gpu) = common::gpu_with(&settings) else {
        return;
    };
    let shape = baked(Representation::Dense, "torus", 40);
    let found = Shapes::upload(&gpu, &[&shape]).map(|_| ());
    assert!(
        matches!(found, Err(GpuError::TooLarge { limit: 16_384, .. })),
        "{found:?}"
    );
}

#[test]
fn a_lost_device_says_so_and_a_new_one_works() {
    let Some(gpu) = common::gpu() else { return };
    let shape = baked(Representation::Dense, "torus", 24);
    let shapes = Shapes::upload(&gpu, &[&shape]).unwrap_or_else(|error| panic!("{error}"));
    let points = points(shape.field().bounds(), 100, 1);
    let before = shapes.sample(0, &points);
    gpu.destroy();
    assert!(gpu.is_lost());
    let lost = shapes.sample(0, &points);
    assert!(matches!(lost, Err(GpuError::Lost(_))), "{lost:?}");
    let Some(again) = common::gpu() else { return };
    let shapes = Shapes::upload(&again, &[&shape]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(shapes.sample(0, &points), before);
}

#[test]
fn adapters_are_chosen_by_name() {
    let Some(gpu) = common::gpu() else { return };
    let name = gpu.adapter().name.clone();
    let by_name = GpuSettings {
        adapter: Some(name.to_uppercase()),
        ..Default::default()
    };
    assert_eq!(
        common::gpu_with(&by_name).map(|gpu| gpu.adapter().name.clone()),
        Some(name)
    );
    let unknown = GpuSettings {
        adapter: Some("no such card".to_owned()),
        ..Default::default()
    };
    let refused = touchfield_gpu::Gpu::open(&unknown).map(|_| ());
    assert!(
        matches!(refused, Err(GpuError::NoSuchAdapter { .. })),
        "{refused:?}"
    );
    let tiny = GpuSettings {
        max_binding_bytes: Some(64),
        ..Default::default()
    };
    assert!(matches!(
        touchfield_gpu::Gpu::open(&tiny).map(|_| ()),
        Err(GpuError::BadSetting { .. })
    ));
}
