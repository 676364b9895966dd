//! Benchmarks baking over the parameters that set its cost: resolution, faces, and how much the
//! boxes of faces overlap.

use std::hint::black_box;
use std::time::Duration;

use criterion::{
    BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use touchfield::bake::{BakeSettings, Resolution, bake};
use touchfield::mesh::TriangleMesh;
use touchfield_bench::models;

fn bake_once(mesh: &TriangleMesh, nodes: u32) {
    let settings = BakeSettings {
        resolution: Resolution::Nodes(nodes),
        ..Default::default()
    };
    let baked = bake(mesh, &settings);
    black_box(baked.expect("a clean model within the memory limit"));
}

fn node_count(mesh: &TriangleMesh, nodes: u32) -> u64 {
    let settings = BakeSettings {
        resolution: Resolution::Nodes(nodes),
        ..Default::default()
    };
    let layout = settings.layout(mesh.bounds());
    layout.expect("a model of finite size").node_count()
}

fn over_resolution(criterion: &mut Criterion) {
    let mesh = models::knot(69_666).expect("a knot that can be made");
    let mut group = criterion.benchmark_group("bake/resolution");
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    for nodes in [32, 64, 128, 256] {
        group.throughput(Throughput::Elements(node_count(&mesh, nodes)));
        group.bench_with_input(BenchmarkId::from_parameter(nodes), &nodes, |b, &nodes| {
            b.iter(|| bake_once(&mesh, nodes));
        });
    }
}

fn over_faces(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("bake/faces");
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    let mut measure = |name: &str, mesh: TriangleMesh| {
        group.throughput(Throughput::Elements(node_count(&mesh, 64)));
        let id = BenchmarkId::new(name, mesh.faces.len());
        group.bench_with_input(id, &mesh, |b, mesh| b.iter(|| bake_once(mesh, 64)));
    };
    for faces in [1_000, 10_000, 100_000, 1_000_000] {
        measure(
            "torus",
            models::ring(faces).expect("a torus that can be made"),
        );
    }
    // Degenerate on purpose: a point equally far from all faces, and boxes that all overlap.
    for level in [3, 6] {
        measure("sphere", models::sphere(level).expect("a small level"));
    }
    for faces in [1_000, 10_000] {
        measure("slivers", models::slivers(faces));
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(2));
    targets = over_resolution, over_faces
}
criterion_main!(benches);
