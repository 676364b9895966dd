//! The literal setting of projection particles beside a plain transcription of the paper.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a failed unwrap is a failed test, and the rows are for the reader"
)]

use glam::Vec3;
use touchfield::field::primitive::Sphere;
use touchfield::geom::Pose;
use touchfield::narrow::{
    CollideError, CollideSettings, ContactMethod, Contacts, Pair, ParticleRegion, Particles,
    Scratch, Starts, collide,
};
use touchfield::shape::Shape;
use touchfield_conformance::krayer_scenes::krayer_scenes;
use touchfield_conformance::krayer_truth::collide_all;

fn settings(particles: Particles) -> CollideSettings {
    CollideSettings {
        method: ContactMethod::ProjectionParticles(particles),
        ..Default::default()
    }
}

#[test]
fn literal_particles_are_those_of_a_plain_transcription() {
    let (mut scratch, mut out) = (Scratch::default(), Contacts::default());
    for scene in krayer_scenes() {
        let shapes: Vec<&Shape> = scene.shapes.iter().collect();
        // What the library leaves out, because boxes that seem to meet in the world do not in A.
        let pairs: Vec<_> = scene.plain_pairs();
        let regions: Vec<_> = (pairs.iter())
            .map(|&pair| ParticleRegion::literal(&scene.pair(pair), 1).unwrap())
            .collect();
        let epsilon: Vec<f32> = (regions.iter())
            .map(|region| region.map_or(0.0, |region| region.residual))
            .collect();
        assert!(pairs.len() > 2, "{}: {} pairs", scene.name, pairs.len());
        for resolution in [5, 10, 15, 20] {
            let particles = Particles::literal(resolution);
            let plain = collide_all(&shapes, &pairs, &epsilon, resolution, particles.max_steps);
            let mut next = 0;
            for (index, &pair) in pairs.iter().enumerate() {
                collide(
                    &scene.pair(pair),
                    &settings(particles),
                    &mut scratch,
                    &mut out,
                )
                .unwrap();
                let count = plain.counts[index] as usize;
                assert_eq!(
                    out.contacts.len(),
                    count,
                    "{}, N = {resolution}, pair {index} {pair:?}",
                    scene.name
                );
                let expected = &plain.result[next..next + count];
                next += count;
                out.contacts.sort_by_key(|contact| contact.id);
                for (contact, expected) in out.contacts.iter().zip(expected) {
                    assert_eq!(contact.id.0, expected.particle);
                    assert_eq!(contact.point, expected.point);
                    assert_eq!(contact.separation, expected.min);
                    let normal = -expected.normal.normalize();
                    assert!(contact.normal.distance(normal) < 1e-5);
                }
            }
            println!(
                "{}, N = {resolution}: {} pairs, {} particles, {} collisions",
                scene.name,
                pairs.len(),
                plain.particles,
                plain.result.len()
            );
            assert!(!plain.result.is_empty(), "{}", scene.name);
        }
    }
}

#[test]
fn literal_particles_inside_both_bodies_stay_where_they_start() {
    let ball = Shape::new(Sphere::new(0.5).unwrap());
    let pair = Pair {
        a: &ball,
        b: &ball,
        a_from_b: Pose::from_translation(Vec3::new(0.5, 0.0, 0.0)),
    };
    let mut out = Contacts::default();
    let particles = Particles {
        epsilon: Some(1e-4),
        ..Particles::literal(10)
    };
    collide(
        &pair,
        &settings(particles),
        &mut Scratch::default(),
        &mut out,
    )
    .unwrap();
    assert!(!out.contacts.is_empty());
    let region = ParticleRegion::literal(&pair, 10).unwrap().unwrap();
    let cell = region.bounds.extents() / region.counts.as_vec3();
    let mut inside = 0;
    for (contact, place) in out.contacts.iter().map(|contact| (contact, contact.point)) {
        let of_a = place.length() - 0.5;
        let of_b = place.distance(pair.a_from_b.translation) - 0.5;
        assert!(of_a.max(of_b) < 1e-4);
        // The normal leads from A to B, against the gradient of B.
        let outward = (place - pair.a_from_b.translation).normalize();
        assert!(contact.normal.distance(-outward) < 1e-5);
        let scaled = (place - region.bounds.min) / cell - 0.5;
        inside += u32::from(scaled.distance(scaled.round()) < 1e-4);
    }
    assert!(inside > 100, "{inside}");
}

#[test]
fn additions_to_the_literal_setting_are_refused() {
    let ball = Shape::new(Sphere::new(0.5).unwrap());
    let plain = Particles::literal(5);
    let attempt = |particles: Particles, max_separation: f32| {
        let pair = Pair {
            a: &ball,
            b: &ball,
            a_from_b: Pose::IDENTITY,
        };
        let settings = CollideSettings {
            max_separation,
            ..settings(particles)
        };
        collide(
            &pair,
            &settings,
            &mut Scratch::default(),
            &mut Contacts::default(),
        )
    };
    assert!(attempt(plain, 0.0).is_ok());
    let changed = [
        Particles {
            starts: Starts::Seeded,
            ..plain
        },
        Particles {
            relaxation: 1.5,
            ..plain
        },
        Particles {
            both_at_once: true,
            ..plain
        },
        Particles {
            one_per_cell: true,
            ..plain
        },
        Particles {
            deepest: Some(3),
            ..plain
        },
        Particles {
            epsilon: Some(f32::NAN),
            ..plain
        },
        Particles {
            resolution: 0,
            ..plain
        },
    ];
    for particles in changed {
        let refused = attempt(particles, 0.0);
        assert!(
            matches!(refused, Err(CollideError::BadSetting { .. })),
            "{particles:?}: {refused:?}"
        );
    }
    let refused = attempt(plain, 0.1).unwrap_err().to_string();
    assert!(refused.contains("epsilon"), "{refused}");
}
