//! Benchmarks broad phases over the number of bodies: one step in which all of them move a little,
//! beside testing all pairs.

use std::hint::black_box;
use std::time::Duration;

use criterion::{
    BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use glam::{DVec3, Vec3};
use touchfield::broad::{AabbTree, BoxId, BroadPhase, SweepAndPrune};
use touchfield::geom::Aabb;
use touchfield_conformance::random::Random;

/// Volume per body \[m³\], for bodies of half a metre in a cube: 1 would be a heap, 8 a crowd.
const ROOM: f64 = 8.0;

/// Distance a body moves per step \[m\]: 0.6 m/s at 60 Hz.
const STEP: f64 = 0.01;

struct Crowd {
    places: Vec<DVec3>,
    speeds: Vec<DVec3>,
    boxes: Vec<Aabb>,
}

impl Crowd {
    fn new(count: usize) -> Crowd {
        let mut random = Random::new(1);
        let side = (ROOM * count as f64).cbrt();
        let places: Vec<DVec3> = (0..count)
            .map(|_| random.in_box(DVec3::ZERO, DVec3::splat(side)))
            .collect();
        let speeds = (0..count).map(|_| STEP * random.unit_vector()).collect();
        let mut crowd = Crowd {
            places,
            speeds,
            boxes: Vec::new(),
        };
        crowd.step(0);
        crowd
    }

    /// Moves all bodies by one step, to and fro, so that the density of the crowd stays constant.
    fn step(&mut self, step: u32) {
        let sign = if (step / 100).is_multiple_of(2) {
            1.0
        } else {
            -1.0
        };
        self.boxes.clear();
        for (place, speed) in self.places.iter_mut().zip(&self.speeds) {
            *place += sign * *speed;
            self.boxes
                .push(Aabb::from_center(place.as_vec3(), Vec3::splat(0.5)));
        }
    }
}

fn all_pairs(boxes: &[Aabb], out: &mut Vec<[BoxId; 2]>) {
    out.clear();
    for (first, a) in boxes.iter().enumerate() {
        for (second, b) in boxes.iter().enumerate().skip(first + 1) {
            if a.min.cmple(b.max).all() && b.min.cmple(a.max).all() {
                out.push([BoxId(first as u32), BoxId(second as u32)]);
            }
        }
    }
}

fn over_bodies(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("broad");
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    for count in [100, 1000, 10_000, 100_000] {
        group.throughput(Throughput::Elements(count as u64));
        let mut measure = |name: &str, mut broad: Box<dyn BroadPhase>| {
            let mut crowd = Crowd::new(count);
            for &bounds in &crowd.boxes {
                broad.insert(bounds).expect("finite boxes");
            }
            let (mut step, mut out) = (0, Vec::new());
            broad.pairs(&mut out);
            group.bench_function(BenchmarkId::new(name, count), |b| {
                b.iter(|| {
                    step += 1;
                    crowd.step(step);
                    for (id, &bounds) in crowd.boxes.iter().enumerate() {
                        let moved = broad.update(BoxId(id as u32), bounds);
                        moved.expect("finite boxes");
                    }
                    broad.pairs(&mut out);
                    black_box(out.len())
                });
            });
        };
        measure("sweep_and_prune", Box::new(SweepAndPrune::new()));
        let tree = AabbTree::new(0.1).expect("a sound margin");
        measure("aabb_tree", Box::new(tree));
        // With 100,000 bodies, testing all pairs would take minutes per step.
        if count <= 10_000 {
            let mut crowd = Crowd::new(count);
            let (mut step, mut out) = (0, Vec::new());
            group.bench_function(BenchmarkId::new("all pairs", count), |b| {
                b.iter(|| {
                    step += 1;
                    crowd.step(step);
                    all_pairs(&crowd.boxes, &mut out);
                    black_box(out.len())
                });
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1));
    targets = over_bodies
}
criterion_main!(benches);
