//! Benchmarks `Query` beside the functions below it: what the memory of pairs and the front door
//! cost.
//!
//! Both loops of a task visit the same poses with buffers that have grown. The difference is the
//! cost of the front door.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use touchfield::geom::Random;
use touchfield::mesh::generate::{Gear, Mug, gear, mug};
use touchfield::narrow::{
    self, CollideSettings, Contacts, Pair, Scratch, SeparationScratch, SeparationSettings,
};
use touchfield::query::default_tolerance;
use touchfield::shape::Convex;
use touchfield::{Pose, Query, Shape, ShapeSettings, TriangleMesh};

/// Returns poses of B around A, most of them touching.
fn poses(reach: f64) -> Vec<Pose> {
    let mut random = Random::new(3);
    let mut pose = || Pose {
        rotation: random.quaternion().as_quat(),
        translation: (reach * random.unit_vector()).as_vec3(),
    };
    (0..64).map(|_| pose()).collect()
}

fn beside_the_functions_below(criterion: &mut Criterion) {
    let baked = |mesh: &TriangleMesh| {
        Shape::from_mesh(mesh, &ShapeSettings::default()).expect("a built-in model")
    };
    let gear = baked(&gear(Gear::default()).expect("defaults"));
    let mug = baked(&mug(Mug::default()).expect("defaults"));
    let cuboid = Convex::cuboid(glam::Vec3::splat(0.02)).expect("a size");
    let cuboid = Shape::convex(cuboid).expect("a convex body");
    for (name, shape, reach) in [
        ("gear", &gear, 0.045),
        ("mug", &mug, 0.07),
        ("cuboid", &cuboid, 0.03),
    ] {
        let mut group = criterion.benchmark_group(name);
        let poses = poses(reach);
        let at = |a_from_b| Pair {
            a: shape,
            b: shape,
            a_from_b,
        };
        let settings = CollideSettings::default();
        let (mut scratch, mut found) = (Scratch::default(), Contacts::default());
        group.bench_function("contacts, function", |b| {
            b.iter(|| {
                for &pose in &poses {
                    let done = narrow::collide(&at(pose), &settings, &mut scratch, &mut found);
                    done.expect("finite poses");
                    black_box(&found);
                }
            });
        });
        let mut query = Query::default();
        group.bench_function("contacts, Query", |b| {
            b.iter(|| {
                for &pose in &poses {
                    black_box(query.contacts(shape, shape, pose).expect("finite poses"));
                }
            });
        });
        let settings = SeparationSettings::to_within(default_tolerance(shape, shape));
        let mut scratch = SeparationScratch::default();
        group.bench_function("separation, function", |b| {
            b.iter(|| {
                for &pose in &poses {
                    let found = narrow::separation(&at(pose), &settings, &mut scratch);
                    black_box(found.expect("finite poses"));
                }
            });
        });
        group.bench_function("separation, Query", |b| {
            b.iter(|| {
                for &pose in &poses {
                    black_box(query.separation(shape, shape, pose).expect("finite poses"));
                }
            });
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2))
        .sample_size(20);
    targets = beside_the_functions_below
}
criterion_main!(benches);
