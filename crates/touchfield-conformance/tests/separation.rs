//! The bracket of a separation holds the truth: closed forms in random poses, compared with
//! formulas and a search in `f64`.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use glam::{DVec3, Quat, Vec3};
use touchfield::field::primitive::{Cuboid, HalfSpace, Sphere};
use touchfield::geom::Pose;
use touchfield::narrow::{
    CollideError, Pair, Separation, SeparationOutcome, SeparationScratch, SeparationSettings,
    separation, separation_many,
};
use touchfield::shape::Shape;
use touchfield_conformance::contact_truth::{self, Place, SOLIDS, Solid};
use touchfield_conformance::mesh_truth::in_parallel;
use touchfield_conformance::meshes::is_long;
use touchfield_conformance::random::Random;

const TOLERANCE: f32 = 1e-3;

fn ask(a: &Shape, b: &Shape, a_from_b: Pose) -> Separation {
    let mut scratch = SeparationScratch::default();
    let settings = SeparationSettings::to_within(TOLERANCE);
    separation(&Pair { a, b, a_from_b }, &settings, &mut scratch).unwrap()
}

/// Returns a random pair of kinds A and B, and its pose.
fn random_case(kind_a: usize, kind_b: usize, random: &mut Random) -> (Solid, Solid, Place) {
    let (a, b) = (Solid::random(kind_a, random), Solid::random(kind_b, random));
    let reach = [a, b]
        .map(Solid::outer_radius)
        .into_iter()
        .filter(|r| r.is_finite());
    let reach: f64 = reach.sum();
    (a, b, Place::between(0.0, 1.5 * reach, random))
}

#[test]
fn the_bracket_holds_the_truth_for_all_pairs_of_closed_forms() {
    let poses = if is_long() { 10_000 } else { 120 };
    let mut kinds = Vec::new();
    for a in 0..SOLIDS.len() {
        kinds.extend((0..=a).map(|b| (a, b)));
    }
    // Two half-spaces are unbounded.
    kinds.retain(|&pair| pair != (4, 4));
    in_parallel(&kinds, |&(kind_a, kind_b)| {
        let mut random = Random::new((kind_a * 10 + kind_b) as u64);
        for _ in 0..poses {
            let (a, b, place) = random_case(kind_a, kind_b, &mut random);
            let found = ask(&a.shape(), &b.shape(), place.pose());
            let context = format!("{a:?} {b:?} {place:?} {found:?}");
            let searched = contact_truth::separation(a, b, place, 2e-3);
            // The search returns an upper bound of the truth.
            assert!(
                f64::from(found.lower_bound) <= searched,
                "{searched} {context}"
            );
            assert!(
                f64::from(found.upper_bound) >= searched - 2e-3,
                "{searched} {context}"
            );
            let width = found.upper_bound - found.lower_bound;
            assert!(width <= TOLERANCE + 1e-4, "{context}");
            assert!(found.lower_bound <= found.separation && found.separation <= found.upper_bound);
            if let Some(exact) = exact(a, b, &place) {
                assert!(f64::from(found.lower_bound) <= exact, "{exact} {context}");
                assert!(exact <= f64::from(found.upper_bound), "{exact} {context}");
            }
            witness_points_fit(&a, &b, &place, &found, &context);
        }
    });
}

/// Returns the separation where a formula is known: balls against anything they are apart from, and
/// anything above the half-space.
fn exact(a: Solid, b: Solid, place: &Place) -> Option<f64> {
    let apart = match (a, b) {
        (Solid::Ball { radius: first }, Solid::Ball { radius: second }) => {
            let apart = place.translation.length() - first - second;
            return Some(apart.max(-2.0 * first.min(second)));
        }
        (_, Solid::Ball { radius }) => a.distance(place.translation) - radius,
        (Solid::Ball { radius }, _) => b.distance(place.to_b(DVec3::ZERO)) - radius,
        (Solid::HalfSpace, Solid::Box { half }) => {
            let axes = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| (place.rotation * axis).z.abs());
            place.translation.z - DVec3::from(axes).dot(half)
        }
        (
            Solid::HalfSpace,
            Solid::Capsule {
                half_length,
                radius,
            },
        ) => place.translation.z - (place.rotation * DVec3::Z).z.abs() * half_length - radius,
        _ => return None,
    };
    // When overlapping, these are depths of a point, not of a ball.
    (apart > 0.0).then_some(apart)
}

/// Checks that witness points lie on their surfaces, and are as far apart as reported, along the
/// normal.
fn witness_points_fit(a: &Solid, b: &Solid, place: &Place, found: &Separation, context: &str) {
    if found.separation <= 0.0 {
        return;
    }
    let slack = f64::from(2.0 * TOLERANCE);
    let (on_a, on_b) = (found.point_on_a.as_dvec3(), found.point_on_b.as_dvec3());
    assert!(a.distance(on_a).abs() < slack, "point on A: {context}");
    assert!(
        b.distance(place.to_b(on_b)).abs() < slack,
        "point on B: {context}"
    );
    assert!((found.normal.length() - 1.0).abs() < 1e-5);
    let gap = on_a.distance(on_b);
    assert!(
        (gap - f64::from(found.separation)).abs() < 2.0 * slack,
        "gap {gap}: {context}"
    );
}

#[test]
fn a_and_b_may_change_places() {
    let mut random = Random::new(5);
    for _ in 0..300 {
        let kinds = (random.below(4), random.below(5));
        let (a, b, place) = random_case(kinds.0, kinds.1, &mut random);
        let there = ask(&a.shape(), &b.shape(), place.pose());
        let back = ask(&b.shape(), &a.shape(), place.pose().inverse());
        // Two brackets of one number.
        assert!(there.lower_bound <= back.upper_bound && back.lower_bound <= there.upper_bound);
        assert!((there.separation - back.separation).abs() <= TOLERANCE);
    }
}

#[test]
fn a_threshold_is_decided_with_less_work_and_never_wrongly() {
    let mut random = Random::new(6);
    let (mut decided, mut boxes, mut boxes_whole) = (0, 0, 0);
    for _ in 0..500 {
        let kinds = (random.below(4), random.below(4));
        let (a, b, place) = random_case(kinds.0, kinds.1, &mut random);
        let (a, b) = (a.shape(), b.shape());
        let whole = ask(&a, &b, place.pose());
        let threshold = random.uniform(-0.5, 1.0) as f32;
        let settings = SeparationSettings {
            threshold: Some(threshold),
            ..SeparationSettings::to_within(TOLERANCE)
        };
        let pair = Pair {
            a: &a,
            b: &b,
            a_from_b: place.pose(),
        };
        let quick = separation(&pair, &settings, &mut SeparationScratch::default()).unwrap();
        assert!(quick.lower_bound <= whole.upper_bound && whole.lower_bound <= quick.upper_bound);
        boxes += quick.boxes;
        boxes_whole += whole.boxes;
        if quick.outcome == SeparationOutcome::Decided {
            decided += 1;
            let above = quick.lower_bound > threshold;
            let below = quick.upper_bound <= threshold;
            assert!(above != below, "{quick:?} {threshold}");
        }
    }
    assert!(
        decided > 200 && boxes < boxes_whole,
        "{decided} decided, {boxes} of {boxes_whole}"
    );
}

#[test]
fn a_warm_start_changes_the_work_not_the_answer() {
    let a = Solid::Ring {
        major: 1.0,
        minor: 0.25,
    }
    .shape();
    let b = Solid::Box {
        half: DVec3::new(0.5, 0.25, 0.375),
    }
    .shape();
    let mut random = Random::new(9);
    let mut start = None;
    let mut place = Place::between(1.0, 1.2, &mut random);
    let mut scratch = SeparationScratch::default();
    for _ in 0..100 {
        place.translation += 0.01 * random.unit_vector();
        let pair = Pair {
            a: &a,
            b: &b,
            a_from_b: place.pose(),
        };
        let cold = SeparationSettings::to_within(TOLERANCE);
        let warm = SeparationSettings { start, ..cold };
        let cold = separation(&pair, &cold, &mut scratch).unwrap();
        let warm = separation(&pair, &warm, &mut scratch).unwrap();
        assert!((cold.separation - warm.separation).abs() <= TOLERANCE);
        assert!(cold.lower_bound <= warm.upper_bound && warm.lower_bound <= cold.upper_bound);
        start = Some(warm.point);
    }
}

#[test]
fn a_batch_gives_the_bits_of_single_calls_whatever_the_threads() {
    let a = Solid::Ring {
        major: 1.0,
        minor: 0.25,
    }
    .shape();
    let b = Solid::Capsule {
        half_length: 0.5,
        radius: 0.25,
    }
    .shape();
    let mut random = Random::new(10);
    let poses: Vec<Pose> = (0..200)
        .map(|_| Place::between(0.0, 2.0, &mut random).pose())
        .collect();
    let settings = SeparationSettings::to_within(TOLERANCE);
    let single: Vec<_> = poses.iter().map(|&pose| ask(&a, &b, pose)).collect();
    for threads in [1, 2, 3, 8] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let many = pool.install(|| separation_many(&a, &b, &poses, &settings));
        let many: Vec<_> = many.into_iter().map(Result::unwrap).collect();
        assert_eq!(single, many);
    }
}

#[test]
fn touching_concentric_contained_tiny_huge_and_far_away() {
    let ball = |radius| Shape::new(Sphere::new(radius).unwrap());
    let at = |x: f32| Pose::from_translation(Vec3::X * x);
    // Touching.
    let touch = ask(&ball(1.0), &ball(0.5), at(1.5));
    assert!(
        touch.lower_bound <= 0.0 && touch.upper_bound >= 0.0,
        "{touch:?}"
    );
    // Concentric and identical: the largest ball in the overlap is the smaller one.
    for (first, second) in [(1.0, 1.0), (1.0, 0.25)] {
        let found = ask(&ball(first), &ball(second), Pose::IDENTITY);
        assert!(
            (found.separation + 2.0 * second).abs() <= TOLERANCE,
            "{found:?}"
        );
    }
    // A ball wholly inside a box.
    let block = Shape::new(Cuboid::new(Vec3::splat(2.0)).unwrap());
    let found = ask(&block, &ball(0.5), at(0.7));
    assert!((found.separation + 1.0).abs() <= TOLERANCE, "{found:?}");
    // A micrometre and a hundred kilometres, to a thousandth.
    for size in [1e-6f32, 1e5] {
        let (a, b) = (ball(size), ball(0.5 * size));
        let pair = Pair {
            a: &a,
            b: &b,
            a_from_b: at(2.0 * size),
        };
        let settings = SeparationSettings::to_within(1e-3 * size);
        let found = separation(&pair, &settings, &mut SeparationScratch::default()).unwrap();
        assert!(
            (found.separation - 0.5 * size).abs() <= 2e-3 * size,
            "{found:?}"
        );
        assert!(found.lower_bound <= 0.5 * size && 0.5 * size <= found.upper_bound);
    }
    // Far apart, beyond the resolution of f32.
    let found = ask(&ball(1.0), &ball(1.0), at(1e7));
    assert!(
        found.lower_bound <= 9_999_998.0 && 9_999_998.0 <= found.upper_bound,
        "{found:?}"
    );
    assert!(found.upper_bound - found.lower_bound < 100.0, "{found:?}");
}

#[test]
fn what_cannot_be_answered_is_refused_by_name() {
    let ground = Shape::new(HalfSpace::new(Vec3::Z, 0.0).unwrap());
    let ball = Shape::new(Sphere::new(1.0).unwrap());
    let ask = |a: &Shape, b: &Shape, a_from_b, tolerance| {
        let settings = SeparationSettings::to_within(tolerance);
        separation(
            &Pair { a, b, a_from_b },
            &settings,
            &mut SeparationScratch::default(),
        )
    };
    assert_eq!(
        ask(&ground, &ground, Pose::IDENTITY, 1e-3),
        Err(CollideError::Unbounded)
    );
    for bad in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let refused = ask(&ball, &ball, Pose::IDENTITY, bad);
        assert!(
            matches!(refused, Err(CollideError::BadTolerance(_))),
            "{refused:?}"
        );
    }
    for translation in [Vec3::NAN, Vec3::splat(f32::INFINITY)] {
        let refused = ask(&ball, &ball, Pose::from_translation(translation), 1e-3);
        assert!(
            matches!(refused, Err(CollideError::BadPose(_))),
            "{refused:?}"
        );
    }
    let turned = Pose {
        rotation: Quat::from_xyzw(0.0, 0.0, 0.0, 2.0),
        ..Pose::IDENTITY
    };
    assert!(matches!(
        ask(&ball, &ball, turned, 1e-3),
        Err(CollideError::BadPose(_))
    ));
}

#[test]
fn few_boxes_give_a_wide_bracket_that_still_holds() {
    let a = Solid::Ring {
        major: 1.0,
        minor: 0.25,
    };
    let b = Solid::Box {
        half: DVec3::new(0.5, 0.25, 0.375),
    };
    let mut random = Random::new(12);
    for _ in 0..50 {
        let place = Place::between(0.5, 2.0, &mut random);
        let (shape_a, shape_b) = (a.shape(), b.shape());
        let pair = Pair {
            a: &shape_a,
            b: &shape_b,
            a_from_b: place.pose(),
        };
        let settings = SeparationSettings {
            max_boxes: 8,
            ..SeparationSettings::to_within(1e-5)
        };
        let found = separation(&pair, &settings, &mut SeparationScratch::default()).unwrap();
        let whole = ask(&shape_a, &shape_b, place.pose());
        assert_eq!(found.outcome, SeparationOutcome::GaveUp);
        assert!(found.lower_bound <= whole.upper_bound && whole.lower_bound <= found.upper_bound);
    }
}
