//! Times of impact: closed forms compared with exact times in `f64`, starts in contact, and refused
//! inputs.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::sync::Arc;

use glam::{Quat, Vec3};
use touchfield::field::primitive::{Cuboid, HalfSpace, Sphere};
use touchfield::field::{Field, Transformed, Union};
use touchfield::geom::{Motion, PairMotion, Pose};
use touchfield::narrow::{
    Cast, CastOutcome, CastScratch, CastSettings, CollideError, MotionError, StartingContact, cast,
    cast_many,
};
use touchfield::narrow::{
    Clearance, ClearanceOutcome, ClearanceScratch, ClearanceSettings, clearance, clearance_many,
};
use touchfield::shape::Shape;
use touchfield_conformance::cast_cases::{BALL, BOX, CAPSULE, Case, GROUND, Moves, RING};
use touchfield_conformance::cast_truth::Moving;
use touchfield_conformance::contact_truth::Solid;
use touchfield_conformance::mesh_truth::in_parallel;
use touchfield_conformance::meshes::{icosphere, is_long};
use touchfield_conformance::random::Random;
use touchfield_conformance::representations::Representation;

fn ask(a: &Shape, b: &Shape, motion: &PairMotion, settings: &CastSettings) -> Cast {
    cast(a, b, motion, settings, &mut CastScratch::default()).unwrap()
}

/// Compares one cast with the truth. Returns whether it hit.
fn check(case: &Case, found: &Cast) -> bool {
    let truth = case.truth();
    let (target, tolerance) = (f64::from(case.target), f64::from(case.tolerance));
    let resolved = 4.0 * f64::from(f32::EPSILON) * truth.fastest();
    let exact = truth.first(target);
    let rounding = case.rounding();
    let context = format!("exact {exact:?}, {found:?}, {case:?}");
    let (time, lower) = (
        f64::from(found.impact.time),
        f64::from(found.impact.lower_bound),
    );
    assert!((0.0..=1.0).contains(&time) && lower <= time, "{context}");
    // Nothing overlaps before the reported time, except by rounding.
    if let Some(exact) = exact {
        assert!(lower <= exact + 1e-9, "proven too much: {context}");
        for k in 0..=50 {
            let between = exact + (time - exact).max(0.0) * f64::from(k) / 50.0;
            let apart = truth.separation(between);
            assert!(apart >= target - rounding, "late, {apart}: {context}");
        }
    }
    assert_ne!(found.outcome, CastOutcome::GaveUp, "{context}");
    match found.outcome {
        CastOutcome::Hit => {
            let apart = truth.separation(time);
            let most = target + tolerance.max(resolved) + rounding;
            assert!(apart <= most, "early, {apart}: {context}");
            // The bracket is as narrow as the tolerance: the bodies are as near where the proof
            // ends.
            let proven = truth.separation(lower);
            let most = target + 2.0 * tolerance.max(resolved) + 2.0 * rounding;
            assert!(proven <= most, "wide, {proven}: {context}");
            assert!(
                (f64::from(found.separation) - apart).abs() <= tolerance + rounding,
                "{context}"
            );
            assert!(
                (found.impact.normal.length() - 1.0).abs() < 1e-5,
                "{context}"
            );
        }
        CastOutcome::Free => {
            assert!(exact.is_none() && lower == 1.0, "missed: {context}");
        }
        CastOutcome::Unproven => {
            let least = (0..=1000).map(|k| truth.separation(f64::from(k) / 1000.0));
            let least = least.fold(f64::INFINITY, f64::min);
            assert!(
                least <= target + tolerance + 0.01,
                "needlessly unproven: {context}"
            );
        }
        CastOutcome::GaveUp => {}
    }
    assert_eq!(found.start, None, "{context}");
    found.is_hit()
}

fn holds(kinds: [usize; 2], moves: Moves) {
    let cases = if is_long() { 10_000 } else { 400 };
    let pieces: Vec<u64> = (0..8).collect();
    let counted = in_parallel(&pieces, |&piece| {
        let mut random = Random::new(1000 * (kinds[0] * 10 + kinds[1]) as u64 + piece);
        let mut hits = 0;
        let mut scratch = CastScratch::default();
        for _ in 0..cases / 8 {
            let case = Case::random(kinds, moves, &mut random);
            let [a, b] = case.solids.map(Solid::shape);
            let found = cast(&a, &b, &case.pair(), &case.settings(), &mut scratch).unwrap();
            hits += usize::from(check(&case, &found));
        }
        hits
    });
    let hits: usize = counted.iter().sum();
    assert!(hits > cases / 8 && hits < cases, "{hits} of {cases}");
}

#[test]
fn ball_and_ball() {
    holds([BALL, BALL], Moves::Straight);
    holds([BALL, BALL], Moves::Freely);
}

#[test]
fn ball_and_ground() {
    holds([BALL, GROUND], Moves::Straight);
    holds([GROUND, BALL], Moves::Freely);
}

#[test]
fn ball_and_box() {
    holds([BALL, BOX], Moves::Straight);
    holds([BOX, BALL], Moves::Freely);
}

#[test]
fn ball_and_ring() {
    holds([RING, BALL], Moves::Straight);
    holds([BALL, RING], Moves::Freely);
}

#[test]
fn capsule_and_ground() {
    holds([CAPSULE, GROUND], Moves::Straight);
    holds([GROUND, CAPSULE], Moves::Freely);
}

#[test]
fn box_and_ground() {
    holds([GROUND, BOX], Moves::Straight);
    holds([BOX, GROUND], Moves::Freely);
}

#[test]
fn a_and_b_may_change_places() {
    let mut random = Random::new(21);
    for kinds in [
        [BALL, BOX],
        [GROUND, BOX],
        [CAPSULE, GROUND],
        [BOX, CAPSULE],
        [BOX, BOX],
    ] {
        for _ in 0..60 {
            let case = Case::random(kinds, Moves::Freely, &mut random);
            let [a, b] = case.solids.map(Solid::shape);
            let settings = CastSettings {
                tolerance: 1e-3,
                ..case.settings()
            };
            let there = ask(&a, &b, &case.pair(), &settings);
            let back = ask(&b, &a, &case.pair().flipped(), &settings);
            let context = format!("{there:?} {back:?} {case:?}");
            // In either order the bodies are farther apart than the target before the reported
            // time, and near it then. The times may differ, so compare the gaps.
            let [first, second] = [&there, &back].map(|cast| f64::from(cast.impact.time));
            if there.is_hit() && back.is_hit() && kinds != [BOX, CAPSULE] && kinds != [BOX, BOX] {
                let truth = case.truth();
                let gap = truth.separation(first) - truth.separation(second);
                assert!(gap.abs() <= 2e-3, "{gap} {context}");
                let turned = case
                    .pair()
                    .at(there.impact.time)
                    .inverse()
                    .transform_vector(there.impact.normal);
                assert!(turned.dot(back.impact.normal) < 0.5, "{context}");
            }
        }
    }
}

#[test]
fn a_batch_gives_the_bits_of_single_calls_whatever_the_threads() {
    let mut random = Random::new(22);
    let cases: Vec<Case> = (0..60)
        .map(|_| Case::random([BOX, BOX], Moves::Freely, &mut random))
        .collect();
    let motions: Vec<PairMotion> = cases.iter().map(Case::pair).collect();
    let [a, b] = cases[0].solids.map(Solid::shape);
    let settings = CastSettings::to_within(1e-3);
    let single: Vec<Cast> = motions
        .iter()
        .map(|motion| ask(&a, &b, motion, &settings))
        .collect();
    for threads in [1, 2, 3, 8] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let many = pool.install(|| cast_many(&a, &b, &motions, &settings));
        let many: Vec<Cast> = many.into_iter().map(Result::unwrap).collect();
        assert_eq!(single, many);
    }
}

fn ball(radius: f32) -> Shape {
    Shape::new(Sphere::new(radius).unwrap())
}

fn ground() -> Shape {
    Shape::new(HalfSpace::new(Vec3::Z, 0.0).unwrap())
}

/// Casts a ball above the half-space, at a height, along a path.
fn over_the_ground(height: f32, path: Vec3, tolerance: f32) -> Cast {
    let motion = Motion::straight(Pose::from_translation(height * Vec3::Z), path);
    ask(
        &ground(),
        &ball(1.0),
        &PairMotion::of_b(motion),
        &CastSettings::to_within(tolerance),
    )
}

#[test]
fn bodies_that_start_in_contact_are_told_apart() {
    use StartingContact::{Deepening, Separating, Sliding};
    for height in [1.0, 0.7] {
        for (path, expected) in [
            (Vec3::NEG_Z, Deepening),
            (Vec3::new(3.0, 0.0, -1.0), Deepening),
            (Vec3::X, Sliding),
            (Vec3::ZERO, Sliding),
        ] {
            let found = over_the_ground(height, path, 1e-3);
            assert_eq!(found.start, Some(expected), "{height} {path} {found:?}");
            assert!(found.is_hit() && found.impact.time == 0.0 && found.impact.lower_bound == 0.0);
            assert!(found.impact.normal.distance(Vec3::Z) < 1e-3, "{found:?}");
            assert!(
                (found.separation - (height - 1.0)).abs() <= 1e-3,
                "{found:?}"
            );
        }
        for path in [Vec3::Z, Vec3::new(3.0, 0.0, 1.0)] {
            let found = over_the_ground(height, path, 1e-3);
            assert_eq!(found.start, Some(Separating), "{height} {path} {found:?}");
            assert_eq!(
                found.outcome,
                CastOutcome::Free,
                "{height} {path} {found:?}"
            );
            // Apart when the height is the radius and two tolerances.
            let parted = height + found.from * path.z;
            assert!((1.002..1.02).contains(&parted), "{parted} {found:?}");
        }
    }
    // A ball on a turntable: away from the ground, over the top, and back down to it.
    let motion = Motion {
        start: Pose::from_translation(Vec3::Z),
        center: Vec3::X,
        translation: Vec3::ZERO,
        turn: 1.5 * std::f32::consts::PI * Vec3::Y,
    };
    let found = ask(
        &ground(),
        &ball(1.0),
        &PairMotion::of_b(motion),
        &CastSettings::to_within(1e-3),
    );
    // After half a turn out of three quarters it is back at its starting height, on the other side.
    assert_eq!(found.start, Some(Separating), "{found:?}");
    assert!(
        found.is_hit() && found.from > 0.0 && found.from < 0.01,
        "{found:?}"
    );
    assert!((found.impact.time - 2.0 / 3.0).abs() < 1e-3, "{found:?}");
    assert!(
        found.impact.lower_bound <= 2.0 / 3.0 && found.impact.lower_bound > 0.66,
        "{found:?}"
    );
    // Deep inside nothing can get deeper.
    let found = over_the_ground(-3.0, Vec3::NEG_Z, 1e-3);
    assert_eq!((found.start, found.impact.time), (Some(Sliding), 0.0));
    // Out of deep overlap in few steps.
    let found = over_the_ground(-1.0, 4.0 * Vec3::Z, 1e-3);
    assert!(found.start.is_some() && found.steps < 20, "{found:?}");
}

#[test]
fn what_parts_is_proven_free_once_the_fields_can_tell() {
    // A ball on the ground, on a grid so coarse that its error is a hundred tolerances.
    let mesh = icosphere(1.0, 3);
    let field = Representation::Dense.bake(&mesh, 16).unwrap();
    let error = field.error_bound();
    let ball = Shape::stored(Arc::new(field));
    let start = Pose::from_translation(0.98 * Vec3::Z);
    let motion = PairMotion::of_b(Motion::straight(start, 3.0 * Vec3::Z));
    let tolerance = 1e-3;
    assert!(error > 50.0 * tolerance);
    let found = ask(
        &ground(),
        &ball,
        &motion,
        &CastSettings::to_within(tolerance),
    );
    assert_eq!(found.start, Some(StartingContact::Separating), "{found:?}");
    assert_eq!(found.outcome, CastOutcome::Free, "{found:?}");
    // Proven from about where the gap equals the error, which a motion of three metres reaches
    // soon.
    assert!(found.from * 3.0 < 0.02 + 4.0 * error, "{found:?}");
    assert_eq!(found.impact.lower_bound, 1.0);
}

#[test]
fn off_one_wall_and_into_the_next_is_a_touch() {
    // A ball in a slot with 0.2 mm of play on either side, between walls of 0.5 m.
    let wall = |x: f32| {
        let wall = Cuboid::new(Vec3::new(0.25, 2.0, 2.0)).unwrap();
        Transformed::new(wall, Pose::from_translation(x * Vec3::X), 1.0).unwrap()
    };
    let slot = Shape::new(Union {
        first: wall(-0.7502),
        second: wall(0.7502),
    });
    for tolerance in [1e-4, 2e-4, 5e-4] {
        for path in [5.0f32, 0.02] {
            let start = Pose::from_translation(-0.0002 * Vec3::X);
            let motion = PairMotion::of_b(Motion::straight(start, path * Vec3::X));
            let settings = CastSettings::to_within(tolerance);
            let found = ask(&slot, &ball(0.5), &motion, &settings);
            // The ball is at the other wall after 0.4 mm.
            assert!(found.is_hit(), "{tolerance} {path} {found:?}");
            let place = found.impact.time * path;
            assert!(
                place <= 0.0004 + 4.0 * tolerance,
                "{tolerance} {path} {found:?}"
            );
            assert!(found.impact.lower_bound * path <= 0.00041, "{found:?}");
        }
    }
}

#[test]
fn targets_above_and_below_zero_are_met() {
    for target in [-0.5f32, -0.1, 0.0, 0.3] {
        let motion = Motion::straight(Pose::from_translation(3.0 * Vec3::Z), -4.0 * Vec3::Z);
        let settings = CastSettings {
            target,
            ..CastSettings::to_within(1e-4)
        };
        let found = ask(&ground(), &ball(1.0), &PairMotion::of_b(motion), &settings);
        let exact = (2.0 - target) / 4.0;
        assert!(found.is_hit(), "{found:?}");
        assert!(
            found.impact.lower_bound <= exact && (found.impact.time - exact).abs() <= 1e-4,
            "{target} {found:?}"
        );
    }
}

#[test]
fn motions_that_are_none_are_refused_or_answered() {
    let (a, b) = (ball(1.0), ball(0.5));
    let run = |a: &Shape, b: &Shape, motion: Motion, settings: &CastSettings| {
        cast(
            a,
            b,
            &PairMotion::of_b(motion),
            settings,
            &mut CastScratch::default(),
        )
    };
    let settings = CastSettings::to_within(1e-3);
    let at = |x: f32| Pose::from_translation(x * Vec3::X);
    for bad in [f32::NAN, f32::INFINITY, f32::MAX] {
        let good = Motion::straight(at(3.0), Vec3::NEG_X);
        for motion in [
            Motion {
                translation: bad * Vec3::X,
                ..good
            },
            Motion {
                turn: bad * Vec3::X,
                ..good
            },
            Motion {
                center: bad * Vec3::X,
                turn: Vec3::Y,
                ..good
            },
            Motion {
                start: at(bad),
                ..good
            },
            Motion {
                start: Pose {
                    rotation: Quat::from_xyzw(bad, 0.0, 0.0, 1.0),
                    ..at(3.0)
                },
                ..good
            },
        ] {
            let refused = run(&a, &b, motion, &settings);
            let is_named = match bad == f32::MAX {
                // A finite place far away is accepted; a motion too fast for the resolution of
                // times is an error.
                true if motion.start == at(bad) => !refused.as_ref().is_ok_and(Cast::is_hit),
                true if motion.start.rotation == Quat::IDENTITY => {
                    matches!(refused, Err(MotionError::TooFast { .. }))
                }
                _ => matches!(refused, Err(MotionError::BadMotion(_))),
            };
            assert!(is_named, "{refused:?} {motion:?}");
        }
        if !bad.is_finite() {
            let settings = CastSettings {
                target: bad,
                ..settings
            };
            let refused = run(&a, &b, good, &settings);
            assert!(
                matches!(refused, Err(MotionError::BadTarget(_))),
                "{refused:?}"
            );
        }
    }
    for bad in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let refused = run(
            &a,
            &b,
            Motion::still(at(3.0)),
            &CastSettings::to_within(bad),
        );
        assert!(
            matches!(
                refused,
                Err(MotionError::Collide(CollideError::BadTolerance(_)))
            ),
            "{refused:?}"
        );
    }
    let refused = run(&ground(), &ground(), Motion::still(at(3.0)), &settings);
    assert_eq!(refused, Err(MotionError::Collide(CollideError::Unbounded)));
    // Bodies at rest need one state.
    let still = run(&a, &b, Motion::still(at(3.0)), &settings).unwrap();
    assert_eq!(
        (still.outcome, still.steps, still.impact.lower_bound),
        (CastOutcome::Free, 1, 1.0)
    );
    // Both spin about their own centres, and stay in place.
    let spin = Motion {
        turn: 1000.0 * Vec3::Y,
        ..Motion::still(at(1.6))
    };
    let spinning = run(
        &a,
        &b,
        spin,
        &CastSettings {
            max_steps: 100,
            ..settings
        },
    )
    .unwrap();
    assert_eq!(spinning.outcome, CastOutcome::GaveUp);
    assert!(
        spinning.impact.lower_bound > 0.0 && spinning.impact.lower_bound < 1.0,
        "{spinning:?}"
    );
    // Few steps and few boxes give a shorter proof, which is reported as such.
    let motion = Motion::straight(at(9.0), Vec3::new(-16.0, 1.0, 0.0));
    for limited in [
        CastSettings {
            max_steps: 1,
            ..settings
        },
        CastSettings {
            max_boxes: 1,
            ..settings
        },
    ] {
        let found = run(&a, &b, motion, &limited).unwrap();
        assert_eq!(found.outcome, CastOutcome::GaveUp, "{found:?}");
        assert!(
            found.impact.lower_bound > 0.0 && found.impact.lower_bound <= 0.48,
            "{found:?}"
        );
    }
}

/// Returns the least separation of a case where its formula holds: while the bodies are apart.
fn least_of(truth: &Moving) -> f64 {
    let sampled = (0..=2000).map(|k| f64::from(k) / 2000.0);
    let nearest = sampled
        .min_by(|&s, &t| truth.separation(s).total_cmp(&truth.separation(t)))
        .unwrap();
    // Search around the nearest sample with ever finer ones.
    let (mut at, mut reach) = (nearest, 1.0 / 2000.0);
    while reach > 1e-10 {
        let near = (-10..=10).map(|k| (at + reach * f64::from(k) / 10.0).clamp(0.0, 1.0));
        at = near
            .min_by(|&s, &t| truth.separation(s).total_cmp(&truth.separation(t)))
            .unwrap();
        reach *= 0.2;
    }
    truth.separation(at)
}

#[test]
fn clearance_brackets_the_least_separation() {
    let cases = if is_long() { 2_000 } else { 100 };
    let kinds = [
        [BALL, BALL],
        [BALL, BOX],
        [GROUND, BOX],
        [CAPSULE, GROUND],
        [BOX, BALL],
    ];
    in_parallel(&kinds, |&kinds| {
        let mut random = Random::new(40 + kinds[1] as u64);
        let mut scratch = ClearanceScratch::default();
        let mut apart = 0;
        for number in 0..cases {
            let moves = [Moves::Straight, Moves::Freely][number % 2];
            let mut case = Case::random(kinds, moves, &mut random);
            // Half of them stop before they touch.
            if number % 4 < 2 {
                let there = &mut case.motions[1].translation;
                *there *= 0.4;
            }
            let [a, b] = case.solids.map(Solid::shape);
            let tolerance = random.log_uniform(1e-4, 1e-2);
            let settings = ClearanceSettings::to_within(tolerance as f32);
            let found: Clearance =
                clearance(&a, &b, &case.pair(), &settings, &mut scratch).unwrap();
            let truth = case.truth();
            let least = least_of(&truth);
            let context = format!("{least}, {found:?}, {case:?}");
            let overlapping = found.outcome == ClearanceOutcome::BelowFloor;
            assert_ne!(found.outcome, ClearanceOutcome::GaveUp, "{context}");
            assert!(
                found.lower_bound <= found.separation && found.separation <= found.upper_bound,
                "{context}"
            );
            if overlapping {
                assert!(least <= case.rounding(), "{context}");
                continue;
            }
            let resolved = 4.0 * f64::from(f32::EPSILON) * truth.fastest();
            let width = f64::from(found.upper_bound - found.lower_bound);
            let most = 1.5 * tolerance.max(resolved) + 4.0 * case.rounding();
            assert!(width <= most, "{width} {context}");
            apart += 1;
            assert!(f64::from(found.lower_bound) <= least + 1e-9, "{context}");
            assert!(least <= f64::from(found.upper_bound) + 1e-9, "{context}");
            let then = truth.separation(found.time.into());
            assert!(
                (then - f64::from(found.separation)).abs() <= tolerance + case.rounding(),
                "{then} {context}"
            );
        }
        assert!(apart > cases / 8, "{apart} of {cases}");
    });
}

#[test]
fn clearance_and_cast_agree_and_bodies_at_rest_are_looked_at_once() {
    let mut random = Random::new(50);
    let cases: Vec<Case> = (0..40)
        .map(|_| Case::random([BOX, BOX], Moves::Freely, &mut random))
        .collect();
    let motions: Vec<PairMotion> = cases.iter().map(Case::pair).collect();
    let [a, b] = cases[0].solids.map(Solid::shape);
    let settings = ClearanceSettings::to_within(1e-3);
    let single: Vec<Clearance> = motions
        .iter()
        .map(|motion| {
            clearance(&a, &b, motion, &settings, &mut ClearanceScratch::default()).unwrap()
        })
        .collect();
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let many = pool.install(|| clearance_many(&a, &b, &motions, &settings));
        let many: Vec<Clearance> = many.into_iter().map(Result::unwrap).collect();
        assert_eq!(single, many);
    }
    for (motion, least) in motions.iter().zip(&single) {
        let first = ask(&a, &b, motion, &CastSettings::to_within(1e-3));
        let context = format!("{first:?} {least:?}");
        match first.outcome {
            CastOutcome::Hit => assert!(least.lower_bound <= 1e-3, "{context}"),
            _ => assert!(least.upper_bound > 0.0, "{context}"),
        }
    }
    let still = PairMotion::of_b(Motion::still(Pose::from_translation(3.0 * Vec3::X)));
    let found = clearance(
        &ball(1.0),
        &ball(0.5),
        &still,
        &settings,
        &mut ClearanceScratch::default(),
    )
    .unwrap();
    assert!(
        found.steps == 1 && (found.separation - 1.5).abs() < 1e-3,
        "{found:?}"
    );
    // Few states, and a bracket that still holds.
    let passing = PairMotion::of_b(Motion::straight(
        Pose::from_translation(Vec3::new(-4.0, 2.0, 0.0)),
        8.0 * Vec3::X,
    ));
    let few = ClearanceSettings {
        max_steps: 3,
        ..settings
    };
    let found = clearance(
        &ball(1.0),
        &ball(0.5),
        &passing,
        &few,
        &mut ClearanceScratch::default(),
    )
    .unwrap();
    assert_eq!(found.outcome, ClearanceOutcome::GaveUp);
    assert!(
        found.lower_bound <= 0.5 && found.upper_bound >= 0.5,
        "{found:?}"
    );
    let bad = clearance(
        &ball(1.0),
        &ball(0.5),
        &passing,
        &ClearanceSettings::to_within(f32::NAN),
        &mut ClearanceScratch::default(),
    );
    assert!(
        matches!(
            bad,
            Err(MotionError::Collide(CollideError::BadTolerance(_)))
        ),
        "{bad:?}"
    );
}
