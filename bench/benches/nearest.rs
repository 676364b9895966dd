//! Benchmarks the exact signed distance at random points: one by one, in a batch on one thread, and
//! in a batch on all threads.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use touchfield::bake::{ExactDistance, SignChoice};
use touchfield::mesh::TriangleMesh;
use touchfield_bench::{models, points};

/// Random points per batch.
const POINTS: usize = 20_000;

fn at_random_points(criterion: &mut Criterion) {
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let one_thread = one_thread.expect("a thread can be started");
    let mut group = criterion.benchmark_group("nearest");
    group
        .sample_size(10)
        .throughput(Throughput::Elements(POINTS as u64));
    let mut measure = |name: &str, mesh: TriangleMesh| {
        let exact = ExactDistance::new(&mesh, SignChoice::Auto).expect("a clean model");
        let points = points::in_box(mesh.bounds(), POINTS, 1);
        let id = |how: &str| BenchmarkId::new(format!("{name}/{how}"), mesh.faces.len());
        group.bench_function(id("one by one"), |b| {
            b.iter(|| {
                points
                    .iter()
                    .map(|&point| exact.distance(point))
                    .sum::<f64>()
            });
        });
        group.bench_function(id("batch, one thread"), |b| {
            b.iter(|| one_thread.install(|| black_box(exact.distance_many(&points))));
        });
        group.bench_function(id("batch"), |b| {
            b.iter(|| black_box(exact.distance_many(&points)));
        });
    };
    for faces in [1_000, 69_666, 1_000_000] {
        measure(
            "knot",
            models::knot(faces).expect("a knot that can be made"),
        );
    }
    measure("sphere", models::sphere(6).expect("a small level"));
    measure("slivers", models::slivers(10_000));
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1));
    targets = at_random_points
}
criterion_main!(benches);
