//! Benchmarks contact reduction over the number of contacts found and kept, and contact matching
//! from step to step.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use touchfield::contact::Contact;
use touchfield::geom::Pose;
use touchfield::manifold::{
    Manifold, ManifoldScratch, ManifoldSettings, ReduceScratch, ReduceSettings, Reduced, reduce,
};
use touchfield_conformance::patches::{Kind, patch};
use touchfield_conformance::random::Random;

/// Returns `count` contacts, from one random patch after another.
fn contacts(kind: Kind, count: usize) -> Vec<Contact> {
    let mut random = Random::new(1);
    let mut contacts = patch(kind, &mut random);
    while contacts.len() < count {
        contacts.extend(patch(kind, &mut random));
    }
    contacts.truncate(count);
    contacts
}

fn over_contacts(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("manifold");
    for kind in Kind::ALL {
        for count in [10, 50, 200, 1000, 10_000] {
            let contacts = contacts(kind, count);
            for kept in [4, 8] {
                let settings = ReduceSettings {
                    max_contacts: kept,
                    ..Default::default()
                };
                let (mut scratch, mut out) = (ReduceScratch::default(), Reduced::default());
                let name = format!("reduce to {kept}, {}", kind.name());
                group.bench_function(BenchmarkId::new(name, count), |b| {
                    b.iter(|| {
                        let contacts = black_box(&contacts);
                        let done = reduce(contacts, &[], &settings, &mut scratch, &mut out);
                        done.expect("finite contacts");
                    });
                });
            }
            let (mut manifold, mut scratch) = (Manifold::default(), ManifoldScratch::default());
            let settings = ManifoldSettings::default();
            let name = format!("update, {}", kind.name());
            group.bench_function(BenchmarkId::new(name, count), |b| {
                b.iter(|| {
                    let contacts = black_box(&contacts);
                    let done = manifold.update(contacts, Pose::IDENTITY, &settings, &mut scratch);
                    done.expect("finite contacts");
                });
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(400))
        .sample_size(20);
    targets = over_contacts
}
criterion_main!(benches);
