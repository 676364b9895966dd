//! Benchmarks sampling on one core: a dense grid, a Taylor grid of the same nodes and a sparse
//! field of the same cells.
//!
//! Values and gradients, one by one and in batches, at random points, at random points near the
//! surface and along a line; on a grid that fits the cache and on one that does not.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use glam::Vec3;
use touchfield::field::{Field, TaylorGrid};
use touchfield_bench::{models, points};

/// Points per batch: as many as a point shell has; the batch itself stays in the cache.
const POINTS: usize = 4096;

fn over_grid_size(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sample");
    group.throughput(Throughput::Elements(POINTS as u64));
    for nodes in [64, 512] {
        let grid = models::sphere_grid(nodes).expect("a grid of distinct nodes");
        let taylor = TaylorGrid::from_dense(&grid).expect("a sphere fits half floats");
        let bounds = grid.bounds();
        let random = points::in_box_f32(bounds.as_daabb(), POINTS, 2);
        let step = (bounds.max - bounds.min) / POINTS as f32;
        let line: Vec<Vec3> = (0..POINTS)
            .map(|i| bounds.min + (i as f32 + 0.5) * step)
            .collect();
        let sparse = models::sphere_blocks(&grid).expect("a sphere fits sixteen bits");
        // Points within the narrow band, so all of them lie in blocks.
        let near: Vec<Vec3> = points::in_box_f32(bounds.as_daabb(), 200 * POINTS, 4)
            .into_iter()
            .filter(|&point| grid.distance(point).abs() < 3.0 * grid.layout().cell_size)
            .take(POINTS)
            .collect();
        assert_eq!(near.len(), POINTS, "too few points near the surface");
        for (order, points) in [("random", &random), ("near", &near), ("line", &line)] {
            measure(&mut group, &grid, nodes, order, points);
            measure(
                &mut group,
                &sparse,
                nodes,
                &format!("{order}, sparse"),
                points,
            );
            measure(
                &mut group,
                &taylor,
                nodes,
                &format!("{order}, Taylor"),
                points,
            );
        }
    }
}

fn measure(
    group: &mut criterion::BenchmarkGroup<'_, criterion::measurement::WallTime>,
    grid: &impl Field,
    nodes: u32,
    order: &str,
    points: &[Vec3],
) {
    let id = |how: &str| BenchmarkId::new(format!("{how}/{order}"), nodes);
    let (mut distances, mut samples) = (Vec::new(), Vec::new());
    group.bench_function(id("value, one by one"), |b| {
        b.iter(|| {
            points
                .iter()
                .map(|&point| grid.distance(point))
                .sum::<f32>()
        });
    });
    group.bench_function(id("value, batch"), |b| {
        b.iter(|| {
            grid.distance_many(points, &mut distances);
            black_box(&distances);
        });
    });
    group.bench_function(id("gradient, one by one"), |b| {
        b.iter(|| {
            points
                .iter()
                .map(|&point| grid.sample(point).gradient)
                .sum::<Vec3>()
        });
    });
    group.bench_function(id("gradient, batch"), |b| {
        b.iter(|| {
            grid.sample_many(points, &mut samples);
            black_box(&samples);
        });
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800));
    targets = over_grid_size
}
criterion_main!(benches);
