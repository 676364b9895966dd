//! Benchmarks the mesh readers, in bytes of file per second, over formats and sizes.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use touchfield::mesh::TriangleMesh;
use touchfield::mesh::read::{Format, Limits, read_bytes};
use touchfield::mesh::write::{write_obj, write_ply, write_stl};
use touchfield_bench::models;

fn files(mesh: &TriangleMesh) -> Vec<(&'static str, Format, Vec<u8>)> {
    let file = |write: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = Vec::new();
        write(&mut bytes);
        bytes
    };
    let wrote = "memory takes every byte";
    vec![
        (
            "obj",
            Format::Obj,
            file(&|out| write_obj(out, mesh).expect(wrote)),
        ),
        (
            "stl binary",
            Format::Stl,
            file(&|out| write_stl(out, mesh).expect(wrote)),
        ),
        (
            "ply binary",
            Format::Ply,
            file(&|out| write_ply(out, mesh).expect(wrote)),
        ),
        ("off", Format::Off, off(mesh).into_bytes()),
    ]
}

/// Returns the mesh as OFF text, which the library does not write.
fn off(mesh: &TriangleMesh) -> String {
    use std::fmt::Write;
    let mut text = format!("OFF\n{} {} 0\n", mesh.vertices.len(), mesh.faces.len());
    for vertex in &mesh.vertices {
        writeln!(text, "{} {} {}", vertex.x, vertex.y, vertex.z).expect("memory takes every byte");
    }
    for [a, b, c] in &mesh.faces {
        writeln!(text, "3 {a} {b} {c}").expect("memory takes every byte");
    }
    text
}

fn over_size(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("read");
    for faces in [1_000, 69_666, 500_000] {
        let mesh = models::knot(faces).expect("a knot that can be made");
        for (name, format, bytes) in files(&mesh) {
            group.throughput(Throughput::Bytes(bytes.len() as u64));
            group.bench_function(BenchmarkId::new(name, mesh.faces.len()), |b| {
                b.iter(|| black_box(read_bytes(&bytes, format, &Limits::default())));
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1));
    targets = over_size
}
criterion_main!(benches);
