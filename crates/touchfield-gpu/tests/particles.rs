//! Particles on the device beside those of the CPU, which equal a plain transcription of the paper
//! (`touchfield-conformance/tests/literal_particles.rs`).
#![allow(
    clippy::panic,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a panic is a failed test; figures are printed for people"
)]

mod common;

use std::collections::BTreeSet;
use std::sync::OnceLock;

use glam::{Quat, Vec3};
use touchfield::field::primitive::{HalfSpace, Sphere};
use touchfield::narrow::{
    CollideError, CollideSettings, ContactMethod, Contacts, Pair, ParticleRegion, Particles,
    Scratch, SeparationScratch, SeparationSettings, Starts, collide, separation,
};
use touchfield::shape::Shape;
use touchfield::{Contact, Pose};
use touchfield_conformance::krayer_scenes::{KrayerScene, krayer_scenes};
use touchfield_conformance::random::Random;
use touchfield_gpu::{
    DevicePair, FoundParticles, Gpu, GpuError, GpuSettings, ParticleFinder, ParticleSettings,
    Shapes,
};

fn scenes() -> &'static [KrayerScene] {
    static SCENES: OnceLock<Vec<KrayerScene>> = OnceLock::new();
    SCENES.get_or_init(krayer_scenes)
}

fn device_pairs(scene: &KrayerScene) -> Vec<DevicePair> {
    let pairs = scene.plain_pairs().into_iter();
    pairs
        .map(|pair| DevicePair {
            a: pair.a,
            b: pair.b,
            a_from_b: pair.a_from_b,
        })
        .collect()
}

fn on_device(
    gpu: &Gpu,
    shapes: &[&Shape],
    pairs: &[DevicePair],
    settings: &ParticleSettings,
) -> FoundParticles {
    let uploaded = Shapes::upload(gpu, shapes).unwrap_or_else(|error| panic!("{error}"));
    let found = ParticleFinder::new(gpu).find(&uploaded, shapes, pairs, settings);
    found.unwrap_or_else(|error| panic!("{error}"))
}

fn on_cpu(shapes: &[&Shape], pair: &DevicePair, settings: &ParticleSettings) -> Contacts {
    let mut out = Contacts::default();
    let settings = CollideSettings {
        method: ContactMethod::ProjectionParticles(settings.particles),
        max_separation: settings.max_separation,
        ..Default::default()
    };
    let pair = Pair {
        a: shapes[pair.a],
        b: shapes[pair.b],
        a_from_b: pair.a_from_b,
    };
    let found = collide(&pair, &settings, &mut Scratch::default(), &mut out);
    found.unwrap_or_else(|error| panic!("{error}"));
    out.contacts.sort_by_key(|contact| contact.id);
    out
}

/// What a comparison with the CPU found, over all pairs.
#[derive(Debug, Default)]
struct Compared {
    particles: u64,
    on_cpu: usize,
    on_device: usize,
    in_band: u64,
    differ: usize,
    /// Most by which contacts of the same particle are apart, in diagonals of the common box; only
    /// in pairs without particles in the band.
    apart: f32,
}

/// Compares contacts pair by pair. Particles that arrive on one side only must have been counted as
/// in the band.
fn compare(
    name: &str,
    shapes: &[&Shape],
    pairs: &[DevicePair],
    found: &FoundParticles,
    settings: &ParticleSettings,
) -> Compared {
    let mut all = Compared {
        particles: found.all_started(),
        ..Default::default()
    };
    for (index, pair) in pairs.iter().enumerate() {
        let on_cpu = on_cpu(shapes, pair, settings).contacts;
        let on_device = found.found.of(index);
        assert_eq!(on_device.len(), found.arrived[index] as usize, "{name}");
        assert!(on_device.is_sorted_by_key(|contact| contact.id), "{name}");
        let ids = |contacts: &[Contact]| -> BTreeSet<u32> {
            contacts.iter().map(|contact| contact.id.0).collect()
        };
        let differ = ids(&on_cpu).symmetric_difference(&ids(on_device)).count();
        let in_band = found.in_band[index] as usize;
        assert!(
            differ <= in_band,
            "{name}, pair {index} {pair:?}: {differ} of {} particles differ, {in_band} in the band",
            found.started[index]
        );
        all.on_cpu += on_cpu.len();
        all.on_device += on_device.len();
        all.in_band += in_band as u64;
        all.differ += differ;
        if in_band == 0 {
            let size = shapes[pair.b].solid().diagonal().min(1.0);
            for (cpu, device) in on_cpu.iter().zip(on_device) {
                assert_eq!(cpu.id, device.id);
                all.apart = all.apart.max(cpu.point.distance(device.point) / size);
                let off = (cpu.separation - device.separation).abs() / size;
                assert!(off < 1e-4, "{name}, pair {index}: {cpu:?} {device:?}");
            }
        }
    }
    all
}

#[test]
fn literal_particles_arrive_where_the_cpus_do_but_for_those_in_the_band() {
    let Some(gpu) = common::gpu() else { return };
    let (mut particles, mut in_band, mut differ) = (0, 0, 0);
    for scene in scenes() {
        let shapes: Vec<&Shape> = scene.shapes.iter().collect();
        let pairs = device_pairs(scene);
        for resolution in [5, 10, 15, 20] {
            let settings = ParticleSettings {
                particles: Particles::literal(resolution),
                count_band: true,
                ..Default::default()
            };
            let found = on_device(&gpu, &shapes, &pairs, &settings);
            let name = format!("{}, N = {resolution}", scene.name);
            let all = compare(&name, &shapes, &pairs, &found, &settings);
            println!("{name}: {} pairs, {all:?}", pairs.len());
            assert!(all.on_device > 0, "{name}");
            assert!(all.apart < 1e-4, "{name}: {all:?}");
            in_band += all.in_band;
            particles += all.particles;
            differ += all.differ;
        }
    }
    println!("{differ} of {particles} particles differ, {in_band} are in the band");
    // A band that holds everything would prove nothing. In the heap many particles never arrive,
    // and wander over borders of cells until their steps are used up.
    assert!(2 * in_band < particles, "{in_band} of {particles}");
    assert!(200 * differ < particles as usize, "{differ} of {particles}");
}

#[test]
fn our_particles_arrive_where_the_cpus_do_but_for_those_in_the_band() {
    let Some(gpu) = common::gpu() else { return };
    let scene = &scenes()[1];
    let shapes: Vec<&Shape> = scene.shapes.iter().collect();
    let pairs = device_pairs(scene);
    let plain = Particles {
        starts: Starts::Uniform,
        resolution: 8,
        both_at_once: false,
        ..Default::default()
    };
    let quasi_random = Particles {
        starts: Starts::QuasiRandom,
        ..plain
    };
    let at_once = Particles {
        both_at_once: true,
        ..plain
    };
    for (name, particles) in [
        ("uniform", plain),
        ("quasi-random", quasi_random),
        ("both at once", at_once),
        ("seeded", Particles::default()),
    ] {
        let settings = ParticleSettings {
            particles,
            count_band: true,
            max_separation: 0.002,
            ..Default::default()
        };
        let found = on_device(&gpu, &shapes, &pairs, &settings);
        if particles.starts == Starts::Seeded {
            // A cell at the edge of the test may be kept on one side only, which renumbers those
            // behind it: the numbers are compared.
            let mut on_both = [0, 0];
            for (index, pair) in pairs.iter().enumerate() {
                on_both[0] += on_cpu(&shapes, pair, &settings).contacts.len();
                on_both[1] += found.found.of(index).len();
            }
            println!(
                "{name}: {on_both:?}, {} in the band",
                found.in_band.iter().sum::<u32>()
            );
            let off = on_both[0].abs_diff(on_both[1]) as u32;
            assert!(off <= found.in_band.iter().sum(), "{on_both:?}");
            continue;
        }
        let all = compare(name, &shapes, &pairs, &found, &settings);
        println!("{name}: {all:?}");
        assert!(all.on_device > 0, "{name}");
    }
}

/// What `separation` proves to be deeper than a cell has a particle, and one nearly as deep.
#[test]
fn seeded_particles_find_every_contact_that_is_deeper_than_a_cell() {
    let Some(gpu) = common::gpu() else { return };
    let mut random = Random::new(5);
    for scene in scenes() {
        let shapes: Vec<&Shape> = scene.shapes.iter().collect();
        let mut pairs = Vec::new();
        for pair in device_pairs(scene) {
            pairs.push(pair);
            // Moved a little: deeper, shallower, turned.
            for _ in 0..6 {
                let size = shapes[pair.b].solid().diagonal();
                let mut part = || random.unit() as f32 - 0.5;
                let shift = 0.2 * size * Vec3::new(part(), part(), part());
                let turn = Quat::from_scaled_axis(Vec3::new(part(), part(), part()));
                pairs.push(DevicePair {
                    a_from_b: Pose {
                        rotation: (pair.a_from_b.rotation * turn).normalize(),
                        translation: pair.a_from_b.translation + shift,
                    },
                    ..pair
                });
            }
        }
        for resolution in [5, 10, 20] {
            let settings = ParticleSettings {
                particles: Particles {
                    resolution,
                    ..Default::default()
                },
                ..Default::default()
            };
            let found = on_device(&gpu, &shapes, &pairs, &settings);
            let (mut deep, mut scratch) = (0, SeparationScratch::default());
            for (index, pair) in pairs.iter().enumerate() {
                let bodies = Pair {
                    a: shapes[pair.a],
                    b: shapes[pair.b],
                    a_from_b: pair.a_from_b,
                };
                let region = ParticleRegion::new(&bodies, resolution, 0.0);
                let region = region.unwrap_or_else(|error| panic!("{error}"));
                let Some(region) = region else {
                    assert!(found.found.of(index).is_empty());
                    continue;
                };
                let cell = (region.bounds.extents() / region.counts.as_vec3()).max_element();
                let size = shapes[pair.b].solid().diagonal();
                let known = separation(
                    &bodies,
                    &SeparationSettings::to_within(1e-3 * size),
                    &mut scratch,
                );
                let known = known.unwrap_or_else(|error| panic!("{error}"));
                if known.upper_bound > -cell {
                    continue;
                }
                deep += 1;
                let contacts = found.found.of(index);
                let deepest = contacts.iter().map(|contact| contact.separation);
                let deepest = deepest.fold(f32::INFINITY, f32::min);
                assert!(
                    deepest <= known.upper_bound + cell,
                    "{}, N = {resolution}, pair {index}: {} contacts, the deepest {deepest}, known {}",
                    scene.name,
                    contacts.len(),
                    known.upper_bound
                );
            }
            println!(
                "{}, N = {resolution}: {deep} of {} pairs deeper than a cell",
                scene.name,
                pairs.len()
            );
        }
    }
}

#[test]
fn the_same_pairs_give_the_same_bits_in_any_launches() {
    let Some(gpu) = common::gpu() else { return };
    let scene = &scenes()[1];
    let shapes: Vec<&Shape> = scene.shapes.iter().collect();
    let pairs = device_pairs(scene);
    let uploaded = Shapes::upload(&gpu, &shapes).unwrap_or_else(|error| panic!("{error}"));
    for particles in [Particles::literal(12), Particles::default()] {
        let settings = ParticleSettings {
            particles,
            ..Default::default()
        };
        let mut finder = ParticleFinder::new(&gpu);
        let mut find = |pairs: &[DevicePair]| {
            let found = finder.find(&uploaded, &shapes, pairs, &settings);
            found.unwrap_or_else(|error| panic!("{error}"))
        };
        let all = find(&pairs);
        // The first call has room for 4096 contacts.
        let is_too_small = all.found.contacts.len() > 4096;
        assert_eq!(all.repeated > 0, is_too_small);
        assert!(is_too_small || !particles.literal);
        for _ in 0..3 {
            let again = find(&pairs);
            assert_eq!(again.repeated, 0);
            assert_eq!(again.found, all.found);
        }
        for index in 0..pairs.len() {
            let alone = find(&pairs[index..=index]);
            assert_eq!(alone.found.contacts, all.found.of(index), "pair {index}");
        }
    }
}

#[test]
fn small_bindings_split_the_work_and_lose_nothing() {
    let Some(gpu) = common::gpu() else { return };
    let ball = Shape::new(Sphere::new(0.5).unwrap_or_else(|error| panic!("{error}")));
    let shapes = [&ball];
    let mut random = Random::new(2);
    let pairs: Vec<DevicePair> = (0..40)
        .map(|_| DevicePair {
            a: 0,
            b: 0,
            a_from_b: Pose::from_translation(Vec3::new(0.9 * random.unit() as f32, 0.2, 0.1)),
        })
        .collect();
    let tight = GpuSettings {
        max_binding_bytes: Some(65_536),
        ..Default::default()
    };
    let Some(small) = common::gpu_with(&tight) else {
        return;
    };
    for particles in [
        Particles::literal(10),
        Particles::default(),
        Particles {
            deepest: Some(5),
            ..Particles::default()
        },
        Particles {
            starts: Starts::QuasiRandom,
            deepest: Some(5),
            ..Particles::default()
        },
    ] {
        let settings = ParticleSettings {
            particles,
            ..Default::default()
        };
        let whole = on_device(&gpu, &shapes, &pairs, &settings);
        let split = on_device(&small, &shapes, &pairs, &settings);
        assert!(split.launches > whole.launches, "{particles:?}");
        assert_eq!(split.found, whole.found, "{particles:?}");
        assert_eq!(split.arrived, whole.arrived);
    }
}

#[test]
fn the_deepest_stay_and_one_per_cell() {
    let Some(gpu) = common::gpu() else { return };
    let scene = &scenes()[1];
    let shapes: Vec<&Shape> = scene.shapes.iter().collect();
    let pairs = device_pairs(scene);
    let with = |one_per_cell, deepest| {
        let settings = ParticleSettings {
            particles: Particles {
                starts: Starts::Uniform,
                one_per_cell,
                deepest,
                ..Default::default()
            },
            ..Default::default()
        };
        on_device(&gpu, &shapes, &pairs, &settings).found
    };
    let all = with(false, None);
    let deepest_of = |contacts: &[Contact], count: usize| {
        let mut contacts = contacts.to_vec();
        contacts.sort_by(|a, b| (a.separation.total_cmp(&b.separation)).then(a.id.cmp(&b.id)));
        contacts.truncate(count);
        contacts.sort_by_key(|contact| contact.id);
        contacts
    };
    for count in [0, 1, 7, 100_000] {
        let few = with(false, Some(count));
        for index in 0..pairs.len() {
            let expected = deepest_of(all.of(index), count as usize);
            assert_eq!(few.of(index), expected, "{count} of pair {index}");
        }
    }
    let thinned = with(true, None);
    let both = with(true, Some(3));
    let settings = ParticleSettings {
        particles: Particles {
            starts: Starts::Uniform,
            one_per_cell: true,
            ..Default::default()
        },
        ..Default::default()
    };
    let (mut kept, mut on_the_cpu) = (0, 0);
    for (index, pair) in pairs.iter().enumerate() {
        let of_pair = thinned.of(index);
        assert_eq!(deepest_of(of_pair, 1), deepest_of(all.of(index), 1));
        assert_eq!(both.of(index), deepest_of(of_pair, 3));
        kept += of_pair.len();
        on_the_cpu += on_cpu(&shapes, pair, &settings).contacts.len();
    }
    println!(
        "{} contacts, {kept} in cells of their own, {on_the_cpu} on the CPU",
        all.contacts.len()
    );
    assert!(kept < all.contacts.len());
    // A place next to a border may be in either cell.
    assert!(kept.abs_diff(on_the_cpu) * 50 < kept, "{kept} {on_the_cpu}");
}

#[test]
fn longer_strides_fall_back_where_they_would_pass_something() {
    let Some(gpu) = common::gpu() else { return };
    let scene = &scenes()[1];
    let shapes: Vec<&Shape> = scene.shapes.iter().collect();
    let pairs = device_pairs(scene);
    let arrived = |relaxation| {
        let settings = ParticleSettings {
            particles: Particles {
                starts: Starts::Uniform,
                both_at_once: false,
                relaxation,
                max_steps: 8,
                ..Default::default()
            },
            ..Default::default()
        };
        on_device(&gpu, &shapes, &pairs, &settings)
            .found
            .contacts
            .len()
    };
    let counts = [1.0, 1.2, 1.5, 1.8].map(arrived);
    println!("arrived after 8 steps by relaxation: {counts:?}");
    assert!(counts.iter().all(|&count| count > 0));
}

#[test]
fn particles_that_arrived_seed_the_next_step() {
    let Some(gpu) = common::gpu() else { return };
    let scene = &scenes()[1];
    let shapes: Vec<&Shape> = scene.shapes.iter().collect();
    let mut pairs = device_pairs(scene);
    let keys: Vec<u64> = (0..pairs.len() as u64).collect();
    let uploaded = Shapes::upload(&gpu, &shapes).unwrap_or_else(|error| panic!("{error}"));
    let settings = ParticleSettings {
        count_steps: true,
        ..Default::default()
    };
    let mut finder = ParticleFinder::new(&gpu);
    let mut fresh = ParticleFinder::new(&gpu);
    let (mut of_seeded, mut of_cached) = (0, 0);
    for step in 0..5 {
        let cached = finder.find_again(&uploaded, &shapes, &pairs, &keys, &settings);
        let cached = cached.unwrap_or_else(|error| panic!("{error}"));
        let seeded = fresh.find(&uploaded, &shapes, &pairs, &settings);
        let seeded = seeded.unwrap_or_else(|error| panic!("{error}"));
        let touching = |found: &FoundParticles| -> Vec<bool> {
            (0..pairs.len())
                .map(|pair| !found.found.of(pair).is_empty())
                .collect()
        };
        if step == 0 {
            assert_eq!(cached.found, seeded.found);
        } else {
            of_seeded += seeded.all_steps();
            of_cached += cached.all_steps();
        }
        assert_eq!(touching(&cached), touching(&seeded), "step {step}");
        for pair in &mut pairs {
            pair.a_from_b.translation += Vec3::new(1e-4, -5e-5, 5e-5);
        }
    }
    println!("steps of particles: seeded {of_seeded}, from earlier arrivals {of_cached}");
    assert!(of_cached < of_seeded);
}

#[test]
fn ten_thousand_pairs_and_a_million_contacts() {
    let Some(gpu) = common::gpu() else { return };
    let ball = Shape::new(Sphere::new(0.5).unwrap_or_else(|error| panic!("{error}")));
    let shapes = [&ball];
    let mut random = Random::new(4);
    let pairs: Vec<DevicePair> = (0..10_000)
        .map(|_| {
            let mut part = || random.unit() as f32 - 0.5;
            let away = Vec3::new(part(), part(), part());
            DevicePair {
                a: 0,
                b: 0,
                a_from_b: Pose::from_translation(away),
            }
        })
        .collect();
    let settings = ParticleSettings {
        particles: Particles::literal(6),
        ..Default::default()
    };
    let found = on_device(&gpu, &shapes, &pairs, &settings);
    println!(
        "{} contacts of {} particles",
        found.found.contacts.len(),
        found.all_started()
    );
    assert!(found.found.contacts.len() > 1_000_000);
    let arrived: usize = found.arrived.iter().map(|&count| count as usize).sum();
    assert_eq!(arrived, found.found.contacts.len());
    let (mut differ, mut compared) = (0, 0);
    for index in (0..pairs.len()).step_by(97) {
        let on_cpu = on_cpu(&shapes, &pairs[index], &settings).contacts.len();
        differ += on_cpu.abs_diff(found.found.of(index).len());
        compared += on_cpu;
    }
    println!("{differ} of {compared} differ");
    // Without a count of the band: particles for which rounding decides.
    assert!(1000 * differ < compared, "{differ} of {compared}");
}

#[test]
fn bad_input_is_an_error_and_no_pairs_are_none() {
    let Some(gpu) = common::gpu() else { return };
    let ball = Shape::new(Sphere::new(0.5).unwrap_or_else(|error| panic!("{error}")));
    let plane = HalfSpace::new(Vec3::Z, 0.0).unwrap_or_else(|error| panic!("{error}"));
    let plane = Shape::new(plane);
    let shapes = [&ball, &plane];
    let uploaded = Shapes::upload(&gpu, &shapes).unwrap_or_else(|error| panic!("{error}"));
    let mut finder = ParticleFinder::new(&gpu);
    let pair = |a, b, a_from_b| DevicePair { a, b, a_from_b };
    for particles in [Particles::literal(5), Particles::default()] {
        let settings = ParticleSettings {
            particles,
            ..Default::default()
        };
        let mut find = |pairs: &[DevicePair]| finder.find(&uploaded, &shapes, pairs, &settings);
        let none = find(&[]).unwrap_or_else(|error| panic!("{error}"));
        assert!(none.found.contacts.is_empty() && none.found.first == [0]);
        let far = pair(0, 0, Pose::from_translation(Vec3::X * 9.0));
        let none = find(&[far, far]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(none.found.first, [0, 0, 0]);
        let nan = pair(0, 0, Pose::from_translation(Vec3::X * f32::NAN));
        assert_eq!(find(&[far, nan]), Err(GpuError::BadPose { pair: 1 }));
        let unbounded = find(&[pair(1, 1, Pose::IDENTITY)]);
        let why = CollideError::Unbounded;
        assert_eq!(unbounded, Err(GpuError::Pair { pair: 0, why }));
        let unknown = find(&[pair(0, 2, Pose::IDENTITY)]);
        assert_eq!(unknown, Err(GpuError::NoSuchShape { index: 2, count: 2 }));
        // A plane on either side.
        let lowered = Pose::from_translation(Vec3::Z * 0.4);
        let found = find(&[pair(0, 1, lowered.inverse()), pair(1, 0, lowered)]);
        let found = found.unwrap_or_else(|error| panic!("{error}"));
        for index in 0..2 {
            let deepest = found.found.of(index).iter();
            let deepest = deepest
                .map(|contact| contact.separation)
                .fold(0.0, f32::min);
            assert!((-0.11..-0.05).contains(&deepest), "{deepest}");
        }
    }
    let settings = ParticleSettings {
        particles: Particles {
            resolution: 0,
            ..Default::default()
        },
        ..Default::default()
    };
    let refused = finder.find(&uploaded, &shapes, &[], &settings);
    assert!(
        matches!(refused, Err(GpuError::BadSetting { .. })),
        "{refused:?}"
    );
    let other = finder.find(&uploaded, &[&ball], &[], &ParticleSettings::default());
    assert_eq!(
        other,
        Err(GpuError::OtherShapes {
            given: 1,
            uploaded: 2
        })
    );
    gpu.destroy();
    let lost = finder.find(&uploaded, &shapes, &[], &ParticleSettings::default());
    assert!(matches!(lost, Err(GpuError::Lost(_))), "{lost:?}");
}

#[test]
fn times_are_measured_where_the_device_can() {
    let Some(gpu) = common::gpu() else { return };
    let scene = &scenes()[0];
    let shapes: Vec<&Shape> = scene.shapes.iter().collect();
    let settings = ParticleSettings {
        timed: true,
        ..Default::default()
    };
    let found = on_device(&gpu, &shapes, &device_pairs(scene), &settings);
    assert_eq!(found.found.times.is_empty(), !gpu.adapter().timestamps);
    let without = GpuSettings {
        no_timestamps: true,
        ..Default::default()
    };
    let Some(gpu) = common::gpu_with(&without) else {
        return;
    };
    let untimed = on_device(&gpu, &shapes, &device_pairs(scene), &settings);
    assert!(untimed.found.times.is_empty());
    assert_eq!(untimed.found.contacts, found.found.contacts);
}
