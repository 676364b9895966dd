//! Closed forms, and the theorems of \[Lecture06\] as properties of random bodies in random poses.

use std::sync::Arc;

use glam::{DVec3, Quat, Vec3};
use proptest::prelude::*;

use super::*;
use crate::contact::Contact;
use crate::geom::Pose;
use crate::shape::convex::{
    Convex, ConvexHull, MinkowskiDifference, MinkowskiSum, Posed, Support, Translated,
};

fn vector(size: f32) -> impl Strategy<Value = Vec3> {
    prop::array::uniform3(-size..size).prop_map(Vec3::from)
}

fn pose(reach: f32) -> impl Strategy<Value = Pose> {
    (vector(3.0), vector(reach)).prop_map(|(axis, translation)| Pose {
        rotation: Quat::from_scaled_axis(axis),
        translation,
    })
}

fn hull_of(points: &[Vec3]) -> Convex {
    Convex::hull(Arc::new(ConvexHull::new(points).unwrap()))
}

/// Returns bodies of every kind, some flat, some needles, some rounded.
fn body() -> impl Strategy<Value = Convex> {
    let size = || prop::sample::select(vec![0.0f32, 1e-4, 0.3, 1.0]);
    let sizes = || (size(), size(), size());
    let radius = prop::sample::select(vec![0.0f32, 0.0, 0.1]);
    let kind = prop_oneof![
        size().prop_map(|r| Convex::sphere(r).unwrap()),
        (size(), size()).prop_map(|(h, r)| Convex::capsule(h, r).unwrap()),
        sizes().prop_map(|s| Convex::cuboid(s.into()).unwrap()),
        (size(), size()).prop_map(|(h, r)| Convex::cylinder(h, r).unwrap()),
        (size(), size()).prop_map(|(h, r)| Convex::cone(h, r).unwrap()),
        sizes().prop_map(|s| Convex::ellipsoid(s.into()).unwrap()),
        (prop::collection::vec(vector(1.0), 1..60), sizes()).prop_map(|(points, squash)| {
            let points: Vec<Vec3> = points.iter().map(|&p| p * Vec3::from(squash)).collect();
            hull_of(&points)
        }),
    ];
    (kind, radius).prop_map(|(kind, radius)| kind.rounded(radius).unwrap())
}

fn touch(a: &Convex, b: &Convex, a_from_b: Pose) -> Touch {
    ConvexPair::new(a, b, a_from_b).touch(f64::INFINITY, &mut ConvexCache::default())
}

fn moved(pose: Pose, by: DVec3) -> Pose {
    Pose {
        translation: pose.translation + by.as_vec3(),
        ..pose
    }
}

proptest! {
    #[test]
    fn two_balls_are_apart_by_their_middles_less_their_radii(r in 0.0f32..1.0, s in 0.0f32..1.0, pose in pose(2.0)) {
        let found = touch(&Convex::sphere(r).unwrap(), &Convex::sphere(s).unwrap(), pose);
        let expected = pose.translation.as_dvec3().length() - f64::from(r) - f64::from(s);
        prop_assert!((found.separation - expected).abs() < 1e-12);
        prop_assert!(found.lower_bound <= expected && expected <= found.upper_bound);
        prop_assert!(found.normal.distance(pose.translation.as_dvec3().normalize()) < 1e-9);
    }

    #[test]
    fn boxes_along_the_axes_are_as_deep_as_their_least_overlap(a in vector(1.0), b in vector(1.0), by in vector(2.0)) {
        let (half_a, half_b) = (a.abs() + 0.01, b.abs() + 0.01);
        let pair = [half_a, half_b].map(|half| Convex::cuboid(half).unwrap());
        let found = touch(&pair[0], &pair[1], Pose::from_translation(by));
        let gap = by.as_dvec3().abs() - half_a.as_dvec3() - half_b.as_dvec3();
        let expected = if gap.max_element() > 0.0 { gap.max(DVec3::ZERO).length() } else { gap.max_element() };
        prop_assert!((found.separation - expected).abs() < 1e-9, "{} {expected}", found.separation);
    }

    #[test]
    fn bounds_are_in_order_and_points_are_where_the_touch_says(a in body(), b in body(), pose in pose(1.5)) {
        let found = touch(&a, &b, pose);
        prop_assert!(found.lower_bound <= found.separation + 1e-12 && found.separation <= found.upper_bound + 1e-12, "{found:?}");
        prop_assert!((found.normal.length() - 1.0).abs() < 1e-9);
        let gap = found.point_on_b - found.point_on_a;
        // For smooth bodies the points come from the facet or the simplex, as exact as the bracket.
        prop_assert!((gap - found.separation * found.normal).length() < 1e-2, "{found:?}");
        if found.separation > 0.0 {
            prop_assert!(found.upper_bound - found.lower_bound <= 1.1e-6 * found.separation + 1e-8, "{found:?}");
        }
    }

    #[test]
    fn all_three_agree_whether_bodies_overlap(a in body(), b in body(), pose in pose(1.5)) {
        let found = touch(&a, &b, pose);
        let pair = ConvexPair::new(&a, &b, pose);
        let overlaps = pair.overlaps(&mut ConvexCache::default());
        if found.lower_bound > 1e-9 {
            prop_assert!(!overlaps);
        }
        if found.upper_bound < -1e-9 {
            prop_assert!(overlaps);
        }
    }

    /// The touching vector lies on the boundary of the difference: moved by it bodies touch, moved
    /// by less in any direction they still overlap.
    #[test]
    fn the_least_translation_parts_and_nothing_shorter_does(a in body(), b in body(), pose in pose(0.7), way in vector(1.0)) {
        let found = touch(&a, &b, pose);
        if found.separation > -1e-3 {
            return Ok(());
        }
        // Poses are `f32`: move by slightly more than the depth.
        let parted = touch(&a, &b, moved(pose, found.normal * (1e-5 - found.lower_bound)));
        prop_assert!(parted.separation >= -1e-6, "{found:?} {parted:?}");
        prop_assert!(parted.separation <= 1e-3 * -found.separation + 1e-4, "{found:?} {parted:?}");
        let shorter = way.as_dvec3().normalize_or_zero() * (found.upper_bound + 1e-5);
        let still = touch(&a, &b, moved(pose, shorter));
        prop_assert!(still.separation <= 1e-6, "{found:?} {still:?}");
    }

    #[test]
    fn seen_from_b_it_is_the_same(a in body(), b in body(), pose in pose(1.5)) {
        let (there, back) = (touch(&a, &b, pose), touch(&b, &a, pose.inverse()));
        // Inverting a pose rounds it to `f32`; for smooth bodies the depth is as exact as the
        // bracket.
        let slack = 2e-6 + (there.upper_bound - there.lower_bound) + (back.upper_bound - back.lower_bound);
        prop_assert!((there.separation - back.separation).abs() < slack, "{there:?} {back:?}");
    }

    #[test]
    fn a_pair_that_moves_a_little_costs_little_and_has_the_same_answer(
        a in body(), b in body(), start in pose(2.0), velocity in vector(0.02), spin in vector(0.02),
    ) {
        let mut cache = ConvexCache::default();
        for step in 0..20 {
            let pose = Pose {
                rotation: (Quat::from_scaled_axis(spin * step as f32) * start.rotation).normalize(),
                translation: start.translation + velocity * step as f32,
            };
            let pair = ConvexPair::new(&a, &b, pose);
            let (warm, cold) = (pair.touch(f64::INFINITY, &mut cache), touch(&a, &b, pose));
            let slack = 1e-9 + (warm.upper_bound - warm.lower_bound) + (cold.upper_bound - cold.lower_bound);
            prop_assert!((warm.separation - cold.separation).abs() <= slack, "{warm:?} {cold:?}");
            if cold.separation.abs() > 1e-6 {
                prop_assert_eq!(pair.overlaps(&mut cache), cold.separation < 0.0);
            }
        }
    }

    /// Compares with all sums and differences of the points themselves.
    #[test]
    fn supports_of_sums_and_differences_are_sums_and_differences_of_supports(
        p in prop::collection::vec(vector(1.0), 1..12), q in prop::collection::vec(vector(1.0), 1..12), direction in vector(1.0), by in vector(1.0), pose in pose(1.0),
    ) {
        let (a, b) = (hull_of(&p), hull_of(&q));
        let (direction, by) = (direction.as_dvec3(), by.as_dvec3());
        let turned = Posed::new(&b, pose);
        let points_b: Vec<DVec3> = q.iter().map(|&q| turned.to_a(q.as_dvec3())).collect();
        let most = |of: &dyn Fn(DVec3, DVec3) -> DVec3| {
            p.iter().flat_map(|p| points_b.iter().map(move |q| (p.as_dvec3(), *q)))
                .map(|(p, q)| of(p, q).dot(direction)).fold(f64::NEG_INFINITY, f64::max)
        };
        let sum = MinkowskiSum(&a, &turned).support(direction, &mut Default::default()).dot(direction);
        prop_assert!((sum - most(&|p, q| p + q)).abs() < 1e-12);
        let difference = MinkowskiDifference(&a, Translated { set: &turned, by }).support(direction, &mut Default::default()).dot(direction);
        prop_assert!((difference - most(&|p, q| p - q - by)).abs() < 1e-12);
    }

    /// A search over a sum of sets is the search with both.
    #[test]
    fn distance_takes_any_support(p in vector(1.0), half in 0.1f32..0.5, pose in pose(3.0)) {
        let (ball, cuboid) = (Convex::cuboid(Vec3::splat(half)).unwrap(), hull_of(&[Vec3::ZERO, p]));
        let swept = MinkowskiSum(&ball, &cuboid);
        let point = Posed::new(Convex::sphere(0.0).unwrap(), pose);
        let found = distance(&swept, &point, &GjkSettings::default(), &mut GjkCache::default());
        let least = (0..=4096).map(|k| {
            let at = p.as_dvec3() * (f64::from(k) / 4096.0);
            ((pose.translation.as_dvec3() - at).abs() - f64::from(half)).max(DVec3::ZERO).length()
        }).fold(f64::INFINITY, f64::min);
        prop_assert!(found.distance <= least + 1e-9 && least <= found.distance + 1e-3, "{} {least}", found.distance);
    }

    #[test]
    fn contacts_lie_between_the_bodies(a in body(), b in body(), pose in pose(1.0)) {
        let pair = ConvexPair::new(&a, &b, pose);
        let touch = pair.touch(f64::INFINITY, &mut ConvexCache::default());
        let mut contacts = Vec::new();
        contact_region(&pair, &touch, touch.separation + 0.01, &mut RegionScratch::default(), &mut contacts);
        prop_assert!(!contacts.is_empty());
        let bounds = a.bounds().grown(0.02 + touch.separation.abs() as f32);
        for contact in &contacts {
            prop_assert!(contact.point.is_finite() && contact.separation.is_finite());
            prop_assert!(contact.separation as f64 >= touch.separation - 2e-2, "{contact:?} {touch:?}");
            prop_assert!(bounds.contains(contact.point), "{contact:?}");
        }
    }
}

#[test]
fn poses_that_are_none_are_not_answered_with_confidence() {
    let body = Convex::cuboid(Vec3::ONE).unwrap();
    let good = Pose::from_translation(Vec3::splat(9.0));
    let zero = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0);
    for pose in [
        Pose {
            translation: Vec3::NAN,
            ..good
        },
        Pose {
            translation: Vec3::INFINITY,
            ..good
        },
        Pose {
            rotation: zero,
            ..good
        },
    ] {
        let pair = ConvexPair::new(&body, &body, pose);
        let found = pair.touch(0.0, &mut ConvexCache::default());
        assert_eq!(
            (found.lower_bound, found.upper_bound),
            (f64::NEG_INFINITY, f64::INFINITY)
        );
        assert!(pair.overlaps(&mut ConvexCache::default()));
    }
}

/// The corners of the region of a box on a box are those of the smaller face.
#[test]
fn a_box_on_a_floor_touches_at_its_four_corners() {
    let floor = Convex::cuboid(Vec3::new(4.0, 4.0, 1.0)).unwrap();
    let cuboid = Convex::cuboid(Vec3::new(0.5, 0.25, 0.25)).unwrap();
    for turn in [0.0f32, 0.4, 1.5] {
        let pose = Pose {
            rotation: Quat::from_rotation_z(turn),
            translation: Vec3::new(0.3, 0.2, 1.25 - 1e-3),
        };
        for (a, b, a_from_b) in [(&floor, &cuboid, pose), (&cuboid, &floor, pose.inverse())] {
            let (_, contacts) = contacts_within(0.0, a, b, a_from_b);
            assert_eq!(contacts.len(), 4, "{turn}");
            for contact in contacts {
                assert!((contact.separation + 1e-3).abs() < 1e-6);
            }
        }
    }
}

#[test]
fn a_capsule_lies_on_two_points_and_a_cylinder_on_its_side_too() {
    let floor = Convex::cuboid(Vec3::new(4.0, 4.0, 1.0)).unwrap();
    for body in [
        Convex::capsule(0.5, 0.25).unwrap(),
        Convex::cylinder(0.5, 0.25).unwrap(),
    ] {
        let pose = Pose {
            rotation: Quat::from_rotation_y(std::f32::consts::FRAC_PI_2),
            translation: Vec3::new(0.0, 0.0, 1.249),
        };
        let (_, contacts) = contacts_within(0.0, &floor, &body, pose);
        let mut ends: Vec<f32> = contacts.iter().map(|contact| contact.point.x).collect();
        ends.sort_by(f32::total_cmp);
        assert_eq!(ends.len(), 2);
        assert!(
            (ends[0] + 0.5).abs() < 1e-5 && (ends[1] - 0.5).abs() < 1e-5,
            "{ends:?}"
        );
    }
}

#[test]
fn a_ball_in_the_middle_of_a_box_leaves_by_the_nearest_side() {
    let cuboid = Convex::cuboid(Vec3::new(1.0, 2.0, 3.0)).unwrap();
    let ball = Convex::sphere(0.5).unwrap();
    let found = touch(
        &cuboid,
        &ball,
        Pose::from_translation(Vec3::new(-0.25, 0.0, 0.0)),
    );
    assert!((found.separation + 1.25).abs() < 1e-9, "{found:?}");
    assert!(found.normal.distance(DVec3::NEG_X) < 1e-9);
}

/// Two ordinary triangles: overlapping, in one plane, sharing an edge, a corner, or all of them.
#[test]
fn triangles_make_no_trouble() {
    let [p, q, r, s] = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(0.25, 0.25, 0.5)];
    let triangles = [
        [p, q, r],
        [p, q, s],
        [q, r, s],
        [p, p + 0.5 * Vec3::X, p + 0.5 * Vec3::Y],
        [p - s, q - s, r + s],
    ];
    for a in triangles {
        for b in triangles {
            let (a, b) = (hull_of(&a), hull_of(&b));
            let found = touch(&a, &b, Pose::IDENTITY);
            assert!(found.separation.is_finite());
            assert!((found.normal.length() - 1.0).abs() < 1e-12);
            // Flat bodies are separated by a tiny move.
            assert!(found.separation > -0.6, "{found:?}");
        }
    }
    // In one plane their depth is 0.
    let a = hull_of(&triangles[0]);
    let found = touch(&a, &a, Pose::from_translation(Vec3::new(0.1, 0.1, 0.0)));
    assert!(found.separation.abs() < 1e-12 && found.normal.z.abs() > 0.99);
}

/// Returns the touch of B on A, and the contacts that are at most 1 cm apart.
fn contacts(a: &Convex, b: &Convex, a_from_b: Pose) -> (Touch, Vec<Contact>) {
    contacts_within(0.01, a, b, a_from_b)
}

/// Returns the touch of B on A, and the contacts that are at most `reach` apart \[m\].
fn contacts_within(reach: f64, a: &Convex, b: &Convex, a_from_b: Pose) -> (Touch, Vec<Contact>) {
    let pair = ConvexPair::new(a, b, a_from_b);
    let touch = touch(a, b, a_from_b);
    let mut out = Vec::new();
    contact_region(
        &pair,
        &touch,
        reach,
        &mut RegionScratch::default(),
        &mut out,
    );
    (touch, out)
}

fn lifted(height: f32, rotation: Quat) -> Pose {
    Pose {
        rotation,
        translation: Vec3::Z * height,
    }
}

#[test]
fn a_pair_that_stays_in_overlap_told_the_origin_for_its_points() {
    let corner = |k: u8| Vec3::new((k & 1) as f32 + 9.5, (k >> 1 & 1) as f32, (k >> 2) as f32);
    let a = hull_of(&(0..8).map(corner).collect::<Vec<_>>());
    let b = Posed::new(&a, lifted(0.3, Quat::IDENTITY));
    let mut cache = GjkCache::default();
    for _ in 0..3 {
        let found = distance(&a, &b, &GjkSettings::default(), &mut cache);
        assert!(found.is_overlapping);
        for (point, low) in [(found.point_on_a, 0.0), (found.point_on_b, 0.3)] {
            let from = point - DVec3::new(9.5, 0.0, low);
            assert!(
                from.min_element() >= -1e-6 && from.max_element() <= 1.0 + 1e-6,
                "{point} is in neither box"
            );
        }
    }
}

#[test]
fn a_cylinder_that_leans_towards_a_gap_of_its_rim_lost_its_deepest_contact() {
    let floor = Convex::cuboid(Vec3::new(5.0, 5.0, 0.5)).unwrap();
    let cylinder = Convex::cylinder(0.5, 0.3).unwrap();
    for k in 0..16 {
        // Rotated before it leans: the lowest point of the rim is sometimes at a corner, sometimes
        // between two.
        let turn = Quat::from_rotation_x(0.03) * Quat::from_rotation_z(k as f32 * 0.196);
        let (touch, out) = contacts(&floor, &cylinder, lifted(1.0085, turn));
        let least = out.iter().fold(f32::INFINITY, |s, c| s.min(c.separation));
        assert!(touch.separation < -2e-4, "{touch:?}");
        assert!(
            f64::from(least) <= touch.separation + 1e-5,
            "{least} {touch:?}"
        );
    }
}

#[test]
fn parallel_capsules_rocked_on_one_point_once_rounding_turned_them() {
    let capsule = Convex::capsule(0.5, 0.1).unwrap();
    for turn in [0.0, 1e-7, -1e-6, 1e-4] {
        let pose = Pose {
            rotation: Quat::from_rotation_x(turn),
            translation: Vec3::new(0.199, 0.0, 0.1),
        };
        let (_, out) = contacts(&capsule, &capsule, pose);
        assert_eq!(out.len(), 2, "turned by {turn}: {out:?}");
        for (contact, z) in out.iter().zip([-0.4, 0.5]) {
            assert!((contact.point.z - z).abs() < 1e-4, "{contact:?}");
            // The offset is half a length times the angle, relative to a fifth of a metre.
            let aside = f64::from(0.5 * turn);
            let expected = 0.2f64.hypot(aside) - 0.2 - 0.001;
            assert!((f64::from(contact.separation) - expected).abs() < 1e-6);
        }
    }
}

#[test]
fn the_ends_of_an_edge_exchanged_their_ids_when_it_leaned_the_other_way() {
    let floor = Convex::cuboid(Vec3::new(5.0, 5.0, 0.5)).unwrap();
    let cube = Convex::cuboid(Vec3::splat(0.5)).unwrap();
    let corners: Vec<Vec3> = (0..8u8)
        .map(|k| Vec3::new((k & 1) as f32, (k >> 1 & 1) as f32, (k >> 2) as f32) - 0.5)
        .collect();
    for body in [cube, hull_of(&corners)] {
        let ids = [1e-4f32, -1e-4].map(|lean| {
            let turn =
                Quat::from_rotation_y(lean) * Quat::from_rotation_x(std::f32::consts::FRAC_PI_4);
            let (_, mut out) = contacts(&floor, &body, lifted(1.207, turn));
            out.sort_by(|p, q| p.point.x.total_cmp(&q.point.x));
            out.iter().map(|c| c.id).collect::<Vec<_>>()
        });
        assert_eq!(ids[0].len(), 2);
        assert_eq!(ids[0], ids[1]);
    }
}

#[test]
fn the_far_end_of_an_edge_across_the_way_ended_the_search_too_soon() {
    // A point level with the rim of a cylinder and almost on it: both ends of the side there are
    // equally far, and the other one leads nowhere.
    let cylinder = Convex::cylinder(0.868_794_5, 0.112_405_29).unwrap();
    let point = Vec3::new(-0.131_571_26, 0.605_680_5, -0.784_754_8);
    let point = Convex::hull(Arc::new(ConvexHull::new(&[point]).unwrap()));
    let pose = Pose {
        rotation: Quat::from_xyzw(0.707_106_77, 0.0, 0.0, -0.707_106_77),
        translation: Vec3::new(0.208_627_54, 0.866_591_75, 1.474_475),
    };
    let touch =
        ConvexPair::new(&cylinder, &point, pose).touch(f64::INFINITY, &mut ConvexCache::default());
    let away = touch.point_on_b.truncate().length() - f64::from(0.112_405_29f32);
    assert!(
        (touch.separation - away).abs() < 1e-12,
        "{touch:?}, {away:e}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The motion is long enough for all facets to be evaluated again, at a changing pace. The
    /// results are compared with a cold start, and with the depth along other directions.
    #[test]
    fn a_pair_long_in_motion_is_as_deep_as_one_never_seen(
        points in prop::collection::vec(vector(1.0), 8..120), start in pose(0.3), turn in vector(1.0), drift in vector(0.3),
        scale in prop::sample::select(vec![1e-6f32, 1.0, 1e5]), offset in prop::sample::select(vec![0.0f32, 30.0]),
        tries in prop::collection::vec(vector(1.0), 8),
    ) {
        // In some cases B's own origin is far from it, so that it rotates about another point.
        let points: Vec<Vec3> = points.iter().map(|&p| scale * p.normalize_or(Vec3::X)).collect();
        let away = Vec3::splat(scale * offset);
        let far: Vec<Vec3> = points.iter().map(|&p| p + away).collect();
        let (a, b) = (hull_of(&points), hull_of(&far));
        let mut cache = ConvexCache::default();
        let mut rotation = start.rotation;
        for step in 0..400 {
            let pace = [1e-4, 1e-3, 0.02, 0.3][step / 100];
            rotation = (Quat::from_scaled_axis(pace * turn) * rotation).normalize();
            let swing = (0.01 * step as f32).sin();
            let translation = scale * (start.translation + swing * drift) - rotation * away;
            let pair = ConvexPair::new(&a, &b, Pose { rotation, translation });
            let warm = pair.touch(f64::INFINITY, &mut cache);
            let cold = pair.touch(f64::INFINITY, &mut ConvexCache::default());
            prop_assert!(warm.lower_bound <= cold.upper_bound && cold.lower_bound <= warm.upper_bound, "{step}: {warm:?} {cold:?}");
            let rounding = 1e-12 * f64::from(scale * (1.0 + offset));
            let width = warm.upper_bound - warm.lower_bound;
            prop_assert!(width <= 1.01e-6 * warm.separation.abs() + rounding, "{step}: {warm:?}");
            for (k, other) in tries.iter().enumerate() {
                let other = (warm.normal + 10f64.powi(-(k as i32)) * other.as_dvec3()).normalize_or(DVec3::X);
                let most = |set: &Convex, d: DVec3| {
                    let all = set.as_hull().unwrap();
                    all.vertex(all.farthest_of_all(d)).dot(d)
                };
                let in_b = pair.b().direction_to_b(other);
                let way_out = most(&a, other) + most(&b, -in_b) - other.dot(translation.as_dvec3());
                prop_assert!(way_out >= -warm.upper_bound - rounding, "{step}: {way_out:e} along {other}, {warm:?}");
            }
        }
    }
}
