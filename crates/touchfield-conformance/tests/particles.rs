//! Projection particles compared with closed forms in `f64`, in random poses.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a failed unwrap is a failed test, and the rows are for the reader"
)]

use glam::{DVec3, Quat, Vec3};
use touchfield::field::primitive::{Cuboid, HalfSpace, Sphere};
use touchfield::geom::Pose;
use touchfield::narrow::{
    CollideError, CollideSettings, ContactMethod, Contacts, Pair, Particles, Scratch, Starts,
    collide,
};
use touchfield::shape::Shape;
use touchfield_conformance::contact_truth::{Place, SOLIDS, Solid, ball_contact};
use touchfield_conformance::random::Random;

const STARTS: [Starts; 3] = [Starts::Uniform, Starts::QuasiRandom, Starts::Seeded];

fn settings(particles: Particles) -> CollideSettings {
    CollideSettings {
        method: ContactMethod::ProjectionParticles(particles),
        ..Default::default()
    }
}

fn found(a: &Shape, b: &Shape, a_from_b: Pose, settings: &CollideSettings) -> Contacts {
    let mut out = Contacts::default();
    let pair = Pair { a, b, a_from_b };
    collide(&pair, settings, &mut Scratch::default(), &mut out).unwrap();
    out
}

/// Ten thousand poses for each kind of start, balls against all solids: the deepest particle is the
/// textbook contact, up to the distance between particles.
#[test]
fn the_deepest_particle_of_a_ball_is_the_textbook_contact() {
    let radius = 0.25;
    let ball = Solid::Ball { radius };
    let margin = 0.05;
    for starts in STARTS {
        let settings = CollideSettings {
            max_separation: margin as f32,
            ..settings(Particles {
                starts,
                resolution: 10,
                ..Default::default()
            })
        };
        let mut scratch = Scratch::default();
        let mut out = Contacts::default();
        for solid in SOLIDS {
            let (a, b) = (ball.shape(), solid.shape());
            let mut random = Random::new(21);
            let (mut compared, mut lost, mut astray) = (0, 0, 0);
            let (mut separation, mut normal, mut point) = (0.0f64, 0.0f64, 0.0f64);
            for _ in 0..2000 {
                let place = Place::random(ball, solid, &mut random);
                let Some(truth) = ball_contact(radius, solid, place) else {
                    continue;
                };
                // In deeper overlap the far end of the ball is nearer to another side, and
                // particles report that side.
                let pole = -radius * -truth.normal;
                let textbook = (solid.distance(place.to_b(pole)) - truth.separation).abs() < 1e-9;
                if !textbook || truth.separation < -0.8 * radius {
                    continue;
                }
                let pair = Pair {
                    a: &a,
                    b: &b,
                    a_from_b: place.pose(),
                };
                collide(&pair, &settings, &mut scratch, &mut out).unwrap();
                let residual = 1e-4;
                if truth.separation > margin {
                    // The projection leaves a residual, by which a body farther away may seem to
                    // touch.
                    let near = truth.separation < margin + residual;
                    assert!(near || out.contacts.is_empty(), "{truth:?}");
                    continue;
                }
                for contact in &out.contacts {
                    let deepest = f64::from(contact.separation);
                    assert!(deepest > truth.separation - residual, "{deepest} {truth:?}");
                    assert!(deepest <= margin + residual);
                }
                let Some(contact) = out.contacts.first() else {
                    // Very close to the limit the region is thinner than rounding.
                    lost += u32::from(truth.separation < margin - residual);
                    continue;
                };
                if starts == Starts::Seeded {
                    assert!(f64::from(out.region.lower_bound) <= truth.separation + 1e-6);
                }
                compared += 1;
                let off = f64::from(contact.separation) - truth.separation;
                separation = separation.max(off);
                let turned = contact.normal.as_dvec3().angle_between(truth.normal);
                normal = normal.max(turned);
                let apart = contact.point.as_dvec3().distance(truth.point);
                point = point.max(apart);
                astray += u32::from(turned > 0.35);
            }
            println!(
                "{starts:?}, {solid:?}: separation {separation:.4}, normal {normal:.4}, point {point:.4}; \
                 {compared} compared, {astray} normals astray, {lost} lost"
            );
            assert!(compared > 200);
            if starts == Starts::Seeded {
                assert_eq!(lost, 0);
                // A fifth of a cell of a box as large as the ball.
                assert!(separation < 0.01 && point < 0.15);
                // Near the middle between two sides of a body, both ways out are equally short.
                assert!(20 * astray < compared, "{astray} of {compared}");
            }
        }
    }
}

/// With seeded starts, every point of the intersection surface has a particle near it.
#[test]
fn seeded_particles_cover_the_whole_surface_of_the_intersection() {
    let mut random = Random::new(77);
    let resolution = 12;
    let mut checked = 0;
    for _ in 0..60 {
        let first = SOLIDS[random.below(4)];
        let second = SOLIDS[random.below(5)];
        let place = Place::random(first, second, &mut random);
        let (a, b) = (first.shape(), second.shape());
        let out = found(
            &a,
            &b,
            place.pose(),
            &settings(Particles {
                resolution,
                max_steps: 64,
                ..Default::default()
            }),
        );
        // A cell has about the volume of N⁻³ of the box, and sides that differ by less than a
        // factor of four.
        let smaller = a.solid().diagonal().min(b.solid().diagonal());
        let reach = 2.5 * f64::from(smaller) / f64::from(resolution);
        // Truth: random points of both surfaces that lie in the other body, in f64.
        for _ in 0..3000 {
            let near = random.in_box(DVec3::splat(-1.0), DVec3::splat(1.0));
            let in_a = near - first.distance(near) * first.outward(near);
            let on_both =
                first.distance(in_a).abs() < 1e-6 && second.distance(place.to_b(in_a)) < -1e-3;
            if !on_both {
                continue;
            }
            checked += 1;
            let nearest = (out.region.points.iter())
                .map(|point| point.as_dvec3().distance(in_a))
                .fold(f64::INFINITY, f64::min);
            assert!(
                nearest < reach,
                "{first:?} {second:?} {place:?}: {in_a} is {nearest} away"
            );
        }
    }
    assert!(checked > 10_000, "{checked}");
}

/// A ball that touches with its smallest part: uniform starts may miss it, seeded ones may not.
#[test]
fn seeded_starts_miss_nothing_that_is_larger_than_a_cell() {
    let plate = Shape::new(Cuboid::new(Vec3::new(1.0, 1.0, 0.1)).unwrap());
    let ball = Shape::new(Sphere::new(0.5).unwrap());
    let mut random = Random::new(3);
    for _ in 0..200 {
        let depth = random.log_uniform(1e-4, 0.1);
        let corner = random.uniform(-0.5, 0.5);
        let pose = Pose::from_translation(Vec3::new(corner as f32, 0.3, (0.6 - depth) as f32));
        for resolution in [2, 5, 10, 20] {
            let out = found(
                &plate,
                &ball,
                pose,
                &settings(Particles {
                    resolution,
                    ..Default::default()
                }),
            );
            let contact = out.contacts[0];
            let off = f64::from(contact.separation) + depth;
            assert!(
                (-1e-4..0.5 * depth + 1e-4).contains(&off),
                "{resolution}: {contact:?} {depth}"
            );
        }
    }
}

#[test]
fn particles_lie_on_the_surface_and_contacts_midway() {
    let cube = Solid::Box {
        half: DVec3::new(0.5, 0.375, 0.25),
    };
    let ring = Solid::Ring {
        major: 0.5,
        minor: 0.1875,
    };
    let mut random = Random::new(9);
    let mut seen = 0;
    for starts in STARTS {
        for _ in 0..40 {
            let place = Place::random(cube, ring, &mut random);
            let out = found(
                &cube.shape(),
                &ring.shape(),
                place.pose(),
                &settings(Particles {
                    starts,
                    ..Default::default()
                }),
            );
            for point in &out.region.points {
                let point = point.as_dvec3();
                let value = cube.distance(point).max(ring.distance(place.to_b(point)));
                assert!(value.abs() < 1e-4, "{value}");
            }
            for contact in &out.contacts {
                seen += 1;
                assert!((contact.normal.length() - 1.0).abs() < 1e-4);
                // One end of the normal lies on a surface, inside the other body by the reported
                // depth.
                let ends = [contact.point_on_a(), contact.point_on_b()].map(|p| p.as_dvec3());
                let matches = |end: DVec3| {
                    let values = [cube.distance(end), ring.distance(place.to_b(end))];
                    let [low, high] = [values[0].min(values[1]), values[0].max(values[1])];
                    high.abs() < 1e-3 && (low - f64::from(contact.separation)).abs() < 1e-3
                };
                assert!(ends.into_iter().any(matches), "{contact:?}");
            }
        }
    }
    assert!(seen > 5000, "{seen}");
}

/// Two nearly parallel sides, between which a projection goes back and forth (figure 4 of
/// \[Krayer2020\]).
#[test]
fn longer_strides_help_between_nearly_parallel_sides() {
    let plate = Shape::new(HalfSpace::new(Vec3::Z, 0.0).unwrap());
    let block = Shape::new(Cuboid::new(Vec3::new(2.0, 1.0, 0.2)).unwrap());
    let pose = Pose {
        rotation: Quat::from_rotation_y(0.25),
        translation: Vec3::new(0.0, 0.0, 0.55),
    };
    let arrived = |relaxation: f32| {
        let particles = Particles {
            starts: Starts::Uniform,
            resolution: 12,
            max_steps: 16,
            relaxation,
            both_at_once: false,
            ..Default::default()
        };
        found(&plate, &block, pose, &settings(particles))
            .contacts
            .len()
    };
    let counts = [1.0, 1.3, 1.6, 1.8].map(arrived);
    println!("arrived after 16 steps by relaxation: {counts:?}");
    assert!(counts[2] > counts[0] && counts[0] > 0, "{counts:?}");
    let together = found(
        &plate,
        &block,
        pose,
        &settings(Particles {
            starts: Starts::Uniform,
            resolution: 12,
            ..Default::default()
        }),
    );
    println!("both at once: {}", together.contacts.len());
    assert!(together.contacts.len() > 1600);
}

#[test]
fn exchanging_the_bodies_only_turns_the_normals() {
    let mut random = Random::new(8);
    let mut compared = 0;
    for starts in STARTS {
        for _ in 0..100 {
            let first = SOLIDS[random.below(4)];
            let second = SOLIDS[random.below(5)];
            let mut pose = Place::random(first, second, &mut random).pose();
            // Find a pose that its double inverse reproduces bit by bit.
            for _ in 0..20 {
                pose = pose.inverse().inverse();
            }
            if pose != pose.inverse().inverse() {
                continue;
            }
            let (a, b) = (first.shape(), second.shape());
            let settings = settings(Particles {
                starts,
                resolution: 6,
                ..Default::default()
            });
            let mut one = found(&a, &b, pose, &settings).contacts;
            let mut other = found(&b, &a, pose.inverse(), &settings).contacts;
            assert_eq!(one.len(), other.len());
            one.sort_by_key(|contact| contact.id);
            other.sort_by_key(|contact| contact.id);
            for (one, other) in one.iter().zip(&other) {
                compared += 1;
                assert_eq!(one.id, other.id);
                assert_eq!(one.separation, other.separation);
                assert!((one.normal + pose.transform_vector(other.normal)).length() < 1e-5);
                assert!((one.point - pose.transform_point(other.point)).length() < 1e-5);
            }
        }
    }
    assert!(compared > 2000, "{compared}");
}

#[test]
fn thinning_keeps_the_deepest_of_each_cell_and_k_the_deepest_of_all() {
    let ball = Shape::new(Sphere::new(0.5).unwrap());
    let pose = Pose::from_translation(Vec3::new(0.5, 0.2, 0.1));
    let with = |one_per_cell, deepest| {
        let particles = Particles {
            starts: Starts::Uniform,
            resolution: 10,
            one_per_cell,
            deepest,
            ..Default::default()
        };
        found(&ball, &ball, pose, &settings(particles))
    };
    let all = with(false, None);
    let thinned = with(true, None);
    assert!(thinned.contacts.len() < all.contacts.len());
    assert_eq!(thinned.contacts.len(), thinned.region.points.len());
    assert_eq!(thinned.contacts[0], all.contacts[0]);
    // No two particles are nearer to each other than that, except across a side of a cell; every
    // particle has a kept one within a cell.
    let cell = 1.8 / 10.0;
    for point in &all.region.points {
        let near = |kept: &&Vec3| kept.distance(*point) < cell;
        assert!(thinned.region.points.iter().find(near).is_some());
    }
    let few = with(false, Some(7));
    assert_eq!(few.contacts, all.contacts[..7]);
    assert!(with(false, Some(0)).contacts.is_empty());
    assert_eq!(with(true, Some(1)).contacts, all.contacts[..1]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let ball = Shape::new(Sphere::new(0.5).unwrap());
    let attempt = |particles: Particles| {
        let pair = Pair {
            a: &ball,
            b: &ball,
            a_from_b: Pose::IDENTITY,
        };
        collide(
            &pair,
            &settings(particles),
            &mut Scratch::default(),
            &mut Contacts::default(),
        )
    };
    let refused = [
        (0, 1.0, "resolution"),
        (257, 1.0, "resolution"),
        (10, 2.0, "relaxation"),
        (10, 0.5, "relaxation"),
        (10, f32::NAN, "relaxation"),
    ];
    for (resolution, relaxation, word) in refused {
        let error = attempt(Particles {
            resolution,
            relaxation,
            ..Default::default()
        })
        .unwrap_err();
        assert!(matches!(error, CollideError::BadSetting { .. }));
        assert!(error.to_string().contains(word), "{error}");
    }
    // The same ball twice: its whole surface is the intersection surface.
    assert!(attempt(Particles::default()).is_ok());
}
