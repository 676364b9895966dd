//! The pipeline compared with the narrow phase on all pairs, one by one; threads, far places,
//! errors.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests: a failed unwrap is a failed test"
)]

use std::sync::Arc;

use glam::{DQuat, DVec3, Quat, Vec3};
use touchfield::contact::{Contact, ContactId};
use touchfield::field::primitive::{Cuboid, HalfSpace, Sphere};
use touchfield::geom::Pose;
use touchfield::narrow::{
    CollideError, CollideSettings, ContactMethod, Contacts, Pair, Scratch, collide,
};
use touchfield::pipeline::*;
use touchfield::shape::Shape;
use touchfield::shape::convex::{Convex, ConvexHull};
use touchfield_conformance::random::Random;
use touchfield_conformance::shells;

fn floor() -> Shape {
    Shape::new(HalfSpace::new(Vec3::Z, 0.0).unwrap())
}

fn ball(radius: f32) -> Shape {
    let shell = Arc::new(shells::sphere(radius, 600));
    Shape::new(Sphere::new(radius).unwrap()).with_shell(shell)
}

fn block(half_extents: Vec3) -> Shape {
    let shell = Arc::new(shells::cuboid(half_extents, 8));
    Shape::new(Cuboid::new(half_extents).unwrap()).with_shell(shell)
}

fn settings(max_separation: f32) -> PipelineSettings {
    PipelineSettings {
        collide: CollideSettings {
            method: ContactMethod::PointSamples,
            max_separation,
            ..Default::default()
        },
        ..Default::default()
    }
}

fn body(shape: Shape, world_from_body: Pose) -> Body {
    Body {
        shape,
        world_from_body,
        fixed: false,
    }
}

/// Returns a floor and a heap above it.
fn heap(count: usize, size: f64, random: &mut Random) -> Vec<Body> {
    let mut bodies = vec![Body {
        fixed: true,
        ..body(floor(), Pose::IDENTITY)
    }];
    for index in 0..count {
        let shape = match index % 2 {
            0 => ball(random.uniform(0.1, 0.4) as f32),
            _ => block(
                random
                    .in_box(DVec3::splat(0.1), DVec3::splat(0.4))
                    .as_vec3(),
            ),
        };
        let place = random.in_box(DVec3::ZERO, DVec3::splat(size));
        let pose = Pose {
            rotation: random.quaternion().as_quat().normalize(),
            translation: place.as_vec3(),
        };
        bodies.push(body(shape, pose));
    }
    bodies
}

fn world(bodies: &[Body], settings: PipelineSettings) -> Pipeline {
    let mut pipeline = Pipeline::new(settings).unwrap();
    for (index, body) in bodies.iter().enumerate() {
        let id = pipeline.insert(body.clone()).unwrap();
        assert_eq!(id, BodyId(index as u32));
    }
    pipeline
}

type Found = Vec<([BodyId; 2], Vec<Contact>)>;

/// Queries every pair by itself and returns those with contacts.
fn one_by_one(bodies: &[Body], settings: &CollideSettings) -> Found {
    let mut found = Vec::new();
    let (mut scratch, mut out) = (Scratch::default(), Contacts::default());
    for (b, second) in bodies.iter().enumerate() {
        for (a, first) in bodies[..b].iter().enumerate() {
            let pair = Pair {
                a: &first.shape,
                b: &second.shape,
                a_from_b: relative_pose(first.world_from_body, second.world_from_body),
            };
            collide(&pair, settings, &mut scratch, &mut out).unwrap();
            if !out.contacts.is_empty() {
                found.push(([BodyId(a as u32), BodyId(b as u32)], out.contacts.clone()));
            }
        }
    }
    found.sort_by_key(|(ids, _)| *ids);
    found
}

fn touching(pipeline: &Pipeline) -> Found {
    let pairs = pipeline.pairs().filter(|pair| !pair.found.is_empty());
    pairs
        .map(|pair| ([pair.a, pair.b], pair.found.to_vec()))
        .collect()
}

#[test]
fn nothing_is_lost_and_nothing_added() {
    let mut random = Random::new(71);
    let mut told_apart = 0;
    for max_separation in [0.0, 0.05, 0.7] {
        let mut settings = settings(max_separation);
        for round in 0..4 {
            settings.collide.method = [ContactMethod::PointSamples, ContactMethod::Auto][round % 2];
            let mut bodies = heap(60, 3.0, &mut random);
            let mut pipeline = world(&bodies, settings);
            for step in 0..5 {
                pipeline.step();
                let expected = one_by_one(&bodies, &settings.collide);
                assert!(expected.len() > 10, "the heap is a heap");
                assert_eq!(touching(&pipeline), expected, "step {step}");
                let total: usize = expected.iter().map(|(_, contacts)| contacts.len()).sum();
                assert_eq!(pipeline.contacts().len(), total);
                assert_eq!(pipeline.timings().contacts, total);
                told_apart += pipeline.timings().apart;
                for (index, body) in bodies.iter_mut().enumerate().skip(1) {
                    body.world_from_body.translation += 0.05 * random.unit_vector().as_vec3();
                    let id = BodyId(index as u32);
                    pipeline.set_pose(id, body.world_from_body).unwrap();
                }
            }
        }
    }
    assert!(
        told_apart > 100,
        "the middle phase does something: {told_apart}"
    );
}

#[test]
fn relative_poses_are_those_of_exact_arithmetic() {
    let mut random = Random::new(72);
    for far in [1.0, 1e3, 1e6] {
        for _ in 0..500 {
            let mut pose = |spread: f64, about: DVec3| Pose {
                rotation: random.quaternion().as_quat().normalize(),
                translation: (about + spread * random.unit_vector()).as_vec3(),
            };
            let a = pose(far, DVec3::ZERO);
            let b = pose(1.0, a.translation.as_dvec3());
            // By matrices in f64, from the same poses.
            let exact = |rotation: Quat| glam::DMat3::from_quat(rotation.as_dquat().normalize());
            let (turn_a, turn_b) = (exact(a.rotation), exact(b.rotation));
            let between = b.translation.as_dvec3() - a.translation.as_dvec3();
            let point = DVec3::new(0.3, -0.4, 0.5);
            let expected = turn_a.transpose() * (turn_b * point + between);
            let found = relative_pose(a, b)
                .transform_point(point.as_vec3())
                .as_dvec3();
            let off = found.distance(expected);
            assert!(off < 1e-6, "{far} m away: off by {off}");
        }
    }
}

#[test]
fn a_world_far_from_its_origin_has_the_same_contacts() {
    let mut random = Random::new(73);
    let mut bodies = heap(40, 3.0, &mut random);
    bodies.remove(0);
    for body in &mut bodies {
        // Multiples of 1/16, which `f32` still represents 2²⁰ further on.
        let place = body.world_from_body.translation;
        body.world_from_body.translation = (16.0 * place).round() / 16.0;
    }
    let mut near = world(&bodies, settings(0.01));
    near.step();
    for body in &mut bodies {
        body.world_from_body.translation += Vec3::new(1_048_576.0, -524_288.0, 524_288.0) / 2.0;
    }
    let mut far = world(&bodies, settings(0.01));
    far.step();
    assert!(near.contacts().len() > 100);
    assert_eq!(touching(&near), touching(&far));
}

/// Returns all results as bits.
fn bits(pipeline: &Pipeline) -> Vec<u64> {
    let mut bits = Vec::new();
    let mut push = |contact: &Contact| {
        let numbers = contact
            .point
            .to_array()
            .into_iter()
            .chain(contact.normal.to_array());
        bits.extend(numbers.map(|number| u64::from(number.to_bits())));
        bits.push(u64::from(contact.separation.to_bits()) << 32 | u64::from(contact.id.0));
    };
    for pair in pipeline.pairs() {
        pair.found.iter().for_each(&mut push);
        for kept in pair.kept {
            push(&kept.contact);
            assert!(kept.previous.is_none_or(|previous| previous < 100));
        }
    }
    bits
}

#[test]
fn threads_change_no_bit() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| {
            let mut random = Random::new(74);
            let mut bodies = heap(80, 3.0, &mut random);
            let mut pipeline = world(&bodies, settings(0.01));
            let mut all = Vec::new();
            for _ in 0..20 {
                pipeline.step();
                all.extend(bits(&pipeline));
                for (index, body) in bodies.iter_mut().enumerate().skip(1) {
                    let pose = &mut body.world_from_body;
                    pose.translation += 0.02 * random.unit_vector().as_vec3();
                    let turn = DQuat::from_scaled_axis(0.05 * random.unit_vector());
                    pose.rotation = (turn.as_quat() * pose.rotation).normalize();
                    pipeline.set_pose(BodyId(index as u32), *pose).unwrap();
                }
            }
            all
        })
    };
    let expected = run(1);
    assert!(expected.len() > 10_000);
    for threads in [1, 2, 3, 8] {
        assert!(run(threads) == expected, "{threads} threads");
    }
}

/// Returns hulls, boxes and balls in a heap, all convex.
fn convex_heap(count: usize, size: f64, random: &mut Random) -> Vec<Body> {
    let mut hull = |corners: usize| {
        let points: Vec<Vec3> = (0..corners)
            .map(|_| 0.3 * random.unit_vector().as_vec3())
            .collect();
        Convex::hull(Arc::new(ConvexHull::new(&points).unwrap()))
    };
    let shapes = [
        hull(8),
        hull(60),
        hull(800),
        Convex::cuboid(Vec3::new(0.3, 0.2, 0.1)).unwrap(),
        Convex::sphere(0.25).unwrap(),
        Convex::cylinder(0.3, 0.1).unwrap(),
    ];
    let shapes = shapes.map(|convex| Shape::convex(convex).unwrap());
    (0..count)
        .map(|index| {
            let pose = Pose {
                rotation: random.quaternion().as_quat().normalize(),
                translation: random.in_box(DVec3::ZERO, DVec3::splat(size)).as_vec3(),
            };
            body(shapes[index % shapes.len()].clone(), pose)
        })
        .collect()
}

/// Warm-started convex pairs: the same bits on any number of threads, and the answers of cold
/// pairs.
#[test]
fn convex_pairs_that_remember_are_as_good_as_new_ones_on_any_number_of_threads() {
    let convex = PipelineSettings {
        collide: CollideSettings {
            max_separation: 0.01,
            ..Default::default()
        },
        ..Default::default()
    };
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| {
            let mut random = Random::new(79);
            let mut bodies = convex_heap(60, 1.6, &mut random);
            let mut pipeline = world(&bodies, convex);
            let (mut scratch, mut cold) = (Scratch::default(), Contacts::default());
            let (mut all, mut asked) = (Vec::new(), 0);
            for step in 0..30 {
                pipeline.step();
                all.extend(bits(&pipeline));
                for found in pipeline.pairs() {
                    let Ok(Answer::Asked {
                        method, distance, ..
                    }) = found.answer
                    else {
                        panic!("{:?}", found.answer);
                    };
                    assert_eq!(*method, ContactMethod::Convex);
                    let [a, b] = [found.a, found.b].map(|id| &bodies[id.0 as usize].shape);
                    let pair = Pair {
                        a,
                        b,
                        a_from_b: found.a_from_b,
                    };
                    collide(&pair, &convex.collide, &mut scratch, &mut cold).unwrap();
                    // For separated pairs it is enough that both report them as such.
                    let both = [*distance, cold.distance];
                    let is_far = both.iter().all(|&d| d > convex.collide.max_separation);
                    let off = (distance - cold.distance).abs();
                    assert!(
                        is_far || off <= 2e-6 * cold.distance.abs() + 1e-7,
                        "step {step}: {both:?} of {:?} and {:?}",
                        found.a,
                        found.b
                    );
                    asked += usize::from(!is_far);
                }
                for (index, body) in bodies.iter_mut().enumerate() {
                    let pose = &mut body.world_from_body;
                    // Now and then a body jumps, or is replaced by another.
                    let pace = if random.below(100) == 0 { 0.5 } else { 0.01 };
                    pose.translation += pace * random.unit_vector().as_vec3();
                    let turn = DQuat::from_scaled_axis(f64::from(pace) * random.unit_vector());
                    pose.rotation = (turn.as_quat() * pose.rotation).normalize();
                    pipeline.set_pose(BodyId(index as u32), *pose).unwrap();
                }
                let (first, last) = (step % bodies.len(), bodies.len() - 1 - step % bodies.len());
                let shape = bodies[last].shape.clone();
                bodies[first].shape = shape;
                let id = BodyId(first as u32);
                pipeline.remove(id).unwrap();
                assert_eq!(pipeline.insert(bodies[first].clone()).unwrap(), id);
            }
            assert!(asked > 3000, "{asked}");
            all
        })
    };
    let expected = run(1);
    for threads in [2, 3] {
        assert!(run(threads) == expected, "{threads} threads");
    }
}

#[test]
fn large_pairs_are_shared_between_threads_and_lose_nothing() {
    // A single pair with twenty thousand points: lanes cannot share it, but the method can.
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| {
            let radius = 0.5;
            let large = Shape::new(Sphere::new(radius).unwrap())
                .with_shell(Arc::new(shells::sphere(radius, 20_000)));
            let place = Pose {
                rotation: Quat::from_rotation_x(1.0),
                translation: Vec3::new(0.1, 0.2, 0.3),
            };
            let bodies = [body(floor(), Pose::IDENTITY), body(large, place)];
            let mut pipeline = world(&bodies, settings(0.0));
            pipeline.step();
            // The cap below the floor has (r − h) / 2r of the sphere's area, and of its points.
            let cap = 20_000.0 * (0.5 - 0.3) / 1.0;
            let found = pipeline.contacts().len() as f64;
            assert!((found - cap).abs() < 20.0, "{found}, expected {cap}");
            for contact in pipeline.contacts() {
                let on_b = contact.point_on_b().distance(place.translation);
                assert!((on_b - radius).abs() < 1e-5 && contact.separation <= 0.0);
            }
            bits(&pipeline)
        })
    };
    let expected = run(1);
    for threads in [2, 3, 8] {
        assert!(run(threads) == expected, "{threads} threads");
    }
}

#[test]
fn a_pair_without_an_answer_says_so_and_stops_no_other() {
    let bare = |radius| Shape::new(Sphere::new(radius).unwrap());
    let at = |x: f32| Pose::from_translation(Vec3::X * x);
    let bodies = [
        body(bare(1.0), at(0.0)),
        body(bare(1.0), at(1.5)),
        body(ball(1.0), at(3.0)),
    ];
    let mut pipeline = world(&bodies, settings(0.0));
    for _ in 0..3 {
        pipeline.step();
        let mut errors = 0;
        for pair in pipeline.pairs() {
            match (pair.a.0, pair.b.0, pair.answer) {
                (0, 1, Err(PairError::Collide(error))) => {
                    // Neither has points, so a method that needs them returns an error.
                    assert!(matches!(error, CollideError::NoShell { .. }), "{error}");
                    assert!(pair.found.is_empty() && pair.kept.is_empty());
                    errors += 1;
                }
                (1, 2, Ok(Answer::Asked { .. })) => assert!(!pair.found.is_empty()),
                (_, _, answer) => assert_eq!(*answer, Ok(Answer::Apart)),
            }
        }
        assert_eq!(errors, 1);
    }
}

#[test]
fn bad_poses_and_unknown_bodies_are_refused() {
    let mut pipeline = world(&[body(ball(1.0), Pose::IDENTITY)], settings(0.0));
    let bad = [
        Pose::from_translation(Vec3::new(f32::NAN, 0.0, 0.0)),
        Pose::from_translation(Vec3::new(f32::INFINITY, 0.0, 0.0)),
        Pose {
            rotation: Quat::from_xyzw(0.0, 0.0, 0.0, 2.0),
            translation: Vec3::ZERO,
        },
    ];
    for pose in bad {
        let error = pipeline.set_pose(BodyId(0), pose).unwrap_err();
        assert!(matches!(error, PipelineError::BadPose(_)), "{error}");
        assert!(pipeline.insert(body(ball(1.0), pose)).is_err());
    }
    assert_eq!(
        pipeline.body(BodyId(0)).unwrap().world_from_body,
        Pose::IDENTITY
    );
    let unknown = BodyId(7);
    let error = PipelineError::Unknown(unknown);
    assert_eq!(
        pipeline.set_pose(unknown, Pose::IDENTITY).unwrap_err(),
        error
    );
    assert_eq!(pipeline.remove(unknown).unwrap_err(), error);
    pipeline.remove(BodyId(0)).unwrap();
    assert!(pipeline.remove(BodyId(0)).is_err() && pipeline.body(BodyId(0)).is_none());
    for separation in [f32::NAN, -1.0, f32::INFINITY] {
        assert!(Pipeline::new(settings(separation)).is_err());
    }
    let margin = PipelineSettings {
        box_margin: f32::NAN,
        ..Default::default()
    };
    assert!(matches!(
        Pipeline::new(margin),
        Err(PipelineError::Broad(_))
    ));
    // The ends of the range of f32.
    let mut pipeline = Pipeline::new(settings(0.0)).unwrap();
    for place in [Vec3::MAX, Vec3::MIN, Vec3::ZERO] {
        pipeline
            .insert(body(ball(1.0), Pose::from_translation(place)))
            .unwrap();
    }
    pipeline.step();
    assert!(pipeline.contacts().is_empty());
}

#[test]
fn fixed_bodies_are_not_held_against_each_other() {
    let fixed = |shape| Body {
        fixed: true,
        ..body(shape, Pose::IDENTITY)
    };
    let mut pipeline = world(
        &[fixed(floor()), fixed(floor()), fixed(ball(1.0))],
        settings(0.0),
    );
    pipeline.step();
    assert_eq!(pipeline.pairs().len(), 0);
    // A third ball meets all three.
    pipeline.insert(body(ball(1.0), Pose::IDENTITY)).unwrap();
    pipeline.step();
    assert_eq!(pipeline.pairs().len(), 3);
}

#[test]
fn contacts_keep_their_names_and_new_bodies_get_new_ones() {
    let half = Vec3::new(0.2, 0.15, 0.1);
    let place =
        |step: u32| Pose::from_translation(Vec3::new(1e-4 * step as f32, 0.0, half.z - 1e-4));
    let bodies = [body(floor(), Pose::IDENTITY), body(block(half), place(0))];
    let mut pipeline = world(&bodies, settings(1e-3));
    let names = |pipeline: &Pipeline| -> Vec<ContactId> {
        let pair = pipeline.pairs().next().unwrap();
        let mut names: Vec<_> = pair.kept.iter().map(|kept| kept.contact.id).collect();
        names.sort();
        names
    };
    for step in 0..200 {
        pipeline.set_pose(BodyId(1), place(step)).unwrap();
        pipeline.step();
        assert_eq!(names(&pipeline), [0, 1, 2, 3].map(ContactId), "step {step}");
        let pair = pipeline.pairs().next().unwrap();
        assert!(pair.kept.iter().all(|kept| kept.age == step));
        assert_eq!(pair.groups.len(), 1);
    }
    // Another block in the same place, under the same id.
    pipeline.remove(BodyId(1)).unwrap();
    assert_eq!(
        pipeline.insert(body(block(half), place(200))).unwrap(),
        BodyId(1)
    );
    pipeline.step();
    let pair = pipeline.pairs().next().unwrap();
    assert!(
        pair.kept
            .iter()
            .all(|kept| kept.age == 0 && kept.previous.is_none())
    );
    // Separated and met again: nothing is kept from before.
    pipeline
        .set_pose(BodyId(1), Pose::from_translation(10.0 * Vec3::Z))
        .unwrap();
    pipeline.step();
    assert!(pipeline.contacts().is_empty());
    pipeline.set_pose(BodyId(1), place(201)).unwrap();
    pipeline.step();
    assert!(
        pipeline
            .pairs()
            .next()
            .unwrap()
            .kept
            .iter()
            .all(|kept| kept.age == 0)
    );
}
