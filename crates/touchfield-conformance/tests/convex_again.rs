//! Repeated queries of a convex pair, warm-started from its memory, compared with cold queries,
//! closed forms, and all corners.
//!
//! `touching_again`, `separation_again` and `collide_again` take turns with one memory, as in a
//! program. Bodies approach, touch, overlap, separate, and sometimes jump. They are a micrometre, a
//! metre and 10⁵ m large, 10⁵ m from their origins, copies of each other, and boxes and prisms made
//! of hundreds of points in a plane.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests: a failed unwrap is a failed test, and figures are for who runs it"
)]

use std::sync::Arc;

use glam::{DMat3, DVec3, Quat, Vec3};
use touchfield::geom::Pose;
use touchfield::narrow::convex::{ConvexCache, ConvexPair, VClipOutcome, v_clip};
use touchfield::narrow::{
    CollideSettings, Contacts, Pair, PairMemory, Scratch, Separation, SeparationScratch,
    SeparationSettings, collide, collide_again, separation, separation_again, touching,
    touching_again,
};
use touchfield::shape::{Convex, ConvexHull, Shape};
use touchfield_conformance::convex_random::unit;
use touchfield_conformance::meshes::is_long;
use touchfield_conformance::random::Random;

/// A hull, and all points that it is made of.
struct Body {
    name: &'static str,
    points: Vec<DVec3>,
    convex: Convex,
    shape: Shape,
    /// Centre, and the greatest distance of a point from it \[m\].
    center: DVec3,
    radius: f64,
}

impl Body {
    fn new(name: &'static str, points: &[DVec3]) -> Body {
        let rounded: Vec<Vec3> = points.iter().map(|p| p.as_vec3()).collect();
        let convex = Convex::hull(Arc::new(ConvexHull::new(&rounded).unwrap()));
        let points: Vec<DVec3> = rounded.iter().map(|p| p.as_dvec3()).collect();
        let center = points.iter().sum::<DVec3>() / points.len() as f64;
        let radius = (points.iter()).fold(0.0, |r: f64, p| r.max(p.distance(center)));
        Body {
            name,
            shape: Shape::convex(convex.clone()).unwrap(),
            points,
            convex,
            center,
            radius,
        }
    }

    /// Returns the largest coordinate of all points along a direction \[m\].
    fn extent(&self, direction: DVec3) -> f64 {
        (self.points.iter()).fold(f64::NEG_INFINITY, |most, p| most.max(direction.dot(*p)))
    }

    /// Returns how far a point is above the faces \[m\].
    fn above(&self, point: DVec3) -> f64 {
        let hull = self.convex.as_hull().unwrap();
        (hull.faces().iter()).fold(f64::NEG_INFINITY, |most, face| {
            most.max(face.normal.dot(point) - face.offset)
        })
    }
}

/// Returns hulls of about the size `scale` \[m\], centred at `middle`.
fn bodies(scale: f64, middle: DVec3, random: &mut Random) -> Vec<Body> {
    let lattice = |steps: i32| {
        let at = move |k: i32| 2.0 * f64::from(k) / f64::from(steps) - 1.0;
        let squares = (0..=steps).flat_map(move |i| (0..=steps).map(move |j| [at(i), at(j)]));
        squares.flat_map(|[u, v]| {
            [-1.0, 1.0].into_iter().flat_map(move |w| {
                [
                    DVec3::new(u, v, w),
                    DVec3::new(u, w, v),
                    DVec3::new(w, u, v),
                ]
            })
        })
    };
    let cloud: Vec<DVec3> = (0..20).map(|_| random.unit_vector()).collect();
    let needle: Vec<DVec3> = (0..12)
        .map(|_| random.unit_vector() * DVec3::new(1.0, 1e-3, 1e-3))
        .collect();
    let brick: Vec<DVec3> = lattice(12).map(|p| p * DVec3::new(0.8, 0.5, 0.3)).collect();
    let prism: Vec<DVec3> = (0..300)
        .flat_map(|k| {
            let (sin, cos) = (f64::from(k) * std::f64::consts::TAU / 300.0).sin_cos();
            [-0.4, 0.4].map(|z| DVec3::new(0.7 * cos, 0.7 * sin, z))
        })
        .collect();
    [
        ("cloud", cloud),
        ("needle", needle),
        ("brick", brick),
        ("prism", prism),
    ]
    .into_iter()
    .map(|(name, points)| {
        let points: Vec<DVec3> = points.iter().map(|p| scale * *p + middle).collect();
        Body::new(name, &points)
    })
    .collect()
}

/// A pair with its ground truth in `f64`.
struct Case<'a> {
    a: &'a Body,
    b: &'a Body,
    pose: Pose,
    turned: DMat3,
    /// Allowed rounding of `f64`, and of the `f32` of an answer \[m\].
    slack: f64,
}

impl<'a> Case<'a> {
    fn new(a: &'a Body, b: &'a Body, pose: Pose) -> Case<'a> {
        let far = a.center.length() + b.center.length() + pose.translation.as_dvec3().length();
        let size = a.radius + b.radius;
        Case {
            a,
            b,
            pose,
            turned: unit(pose.rotation),
            // Points and normals of an answer are `f32`.
            slack: 4.0 * f64::from(f32::EPSILON) * (size + far) + 1e-9 * size,
        }
    }

    /// Returns the gap between the bodies along a direction \[m\]; negative if a plane across it
    /// does not separate them.
    fn gap(&self, normal: DVec3) -> f64 {
        let least_of_b = -self.b.extent(self.turned.transpose() * -normal);
        least_of_b + normal.dot(self.pose.translation.as_dvec3()) - self.a.extent(normal)
    }

    /// Checks the answer for separated bodies by its witnesses: two points of the bodies, and a
    /// plane between all corners; and by V-Clip.
    fn check_apart(&self, found: &Separation, context: &str) {
        let [on_a, on_b] = [found.point_on_a, found.point_on_b].map(|p| p.as_dvec3());
        let into_b = |p: DVec3| self.turned.transpose() * (p - self.pose.translation.as_dvec3());
        for above in [self.a.above(on_a), self.b.above(into_b(on_b))] {
            assert!(above <= self.slack, "{above:e} outside: {context}");
        }
        let (lower, upper) = (f64::from(found.lower_bound), f64::from(found.upper_bound));
        let between = on_a.distance(on_b);
        assert!(
            between >= lower - self.slack && between <= upper + self.slack,
            "{context}"
        );
        // V-Clip shares no code with the search under test.
        let [a, b] = [self.a, self.b].map(|body| body.convex.as_hull().unwrap());
        if let VClipOutcome::Apart { distance, .. } = v_clip(a, b, self.pose, &mut None).outcome {
            assert!(
                lower <= distance + self.slack && upper >= distance - self.slack,
                "{distance:e} by V-Clip: {context}"
            );
        }
        // A distance with a relative error of 10⁻⁶ has a normal with an error of 10⁻³, which makes
        // the gap along it smaller, depending on the corners.
        let gap = self.gap(found.normal.as_dvec3().normalize());
        assert!(
            gap >= 0.999 * lower - self.slack && gap <= upper + self.slack,
            "{gap:e} across a plane: {context}"
        );
    }
}

/// Returns poses in which B approaches A, goes through it and leaves, with jumps. It turns by a few
/// degrees per step at most.
fn path(a: &Body, b: &Body, steps: usize, random: &mut Random) -> Vec<Pose> {
    let size = a.radius + b.radius;
    let mut rotation = random.quaternion().as_quat().normalize();
    let turn = (random.log_uniform(1e-5, 5e-2) * random.unit_vector()).as_vec3();
    let (mut along, mut aside) = (random.unit_vector(), DVec3::ZERO);
    (0..steps)
        .map(|step| {
            if random.below(16) == 0 {
                (along, aside) = (random.unit_vector(), 0.3 * size * random.unit_vector());
                rotation = random.quaternion().as_quat().normalize();
            }
            rotation = (Quat::from_scaled_axis(turn) * rotation).normalize();
            let way = 1.5 - 3.0 * step as f64 / steps as f64;
            let middle = a.center + way * size * along + aside;
            Pose {
                rotation,
                translation: (middle - unit(rotation) * b.center).as_vec3(),
            }
        })
        .collect()
}

#[derive(Default, Debug)]
struct Counts {
    poses: usize,
    apart: usize,
    touching: usize,
}

fn try_path(a: &Body, b: &Body, path: &[Pose], counts: &mut Counts) {
    let size = (a.radius + b.radius) as f32;
    let mut memory = PairMemory::default();
    let (mut scratch, mut other_scratch) = (Scratch::default(), Scratch::default());
    let mut buffers = SeparationScratch::default();
    for (step, &pose) in path.iter().enumerate() {
        let pair = Pair {
            a: &a.shape,
            b: &b.shape,
            a_from_b: pose,
        };
        let case = Case::new(a, b, pose);
        let touch = ConvexPair::new(&a.convex, &b.convex, pose)
            .touch(f64::INFINITY, &mut ConvexCache::default());
        let context = format!(
            "{} and {}, step {step}, {pose:?}: {touch:?}",
            a.name, b.name
        );
        counts.poses += 1;
        for reach in [0.0, 0.01 * size, size] {
            let again = touching_again(&pair, reach, &mut memory, &mut scratch).unwrap();
            let cold = touching(&pair, reach, &mut other_scratch).unwrap();
            let off = touch.separation - f64::from(reach);
            counts.touching += usize::from(again);
            if off.abs() > case.slack {
                assert_eq!([again, cold], [off < 0.0; 2], "within {reach}: {context}");
            }
            // A plane that separates all corners is conclusive, wherever it comes from.
            if case.gap(touch.normal) > f64::from(reach) + case.slack {
                assert!(!again, "within {reach}, parted by a plane: {context}");
            }
        }
        let settings = SeparationSettings {
            max_boxes: 1 << 8,
            ..SeparationSettings::to_within(0.02 * size)
        };
        let again = separation_again(&pair, &settings, &mut memory, &mut buffers).unwrap();
        let cold = separation(&pair, &settings, &mut SeparationScratch::default()).unwrap();
        let context = format!("{again:?} and cold {cold:?}: {context}");
        assert!(
            again.lower_bound <= cold.upper_bound && cold.lower_bound <= again.upper_bound,
            "{context}"
        );
        if touch.separation > case.slack {
            counts.apart += 1;
            let exact = touch.separation;
            let off = (f64::from(again.separation) - exact).abs();
            assert!(
                off <= 1e-5 * exact + case.slack,
                "off by {off:e}: {context}"
            );
            case.check_apart(&again, &context);
        } else if touch.separation < -case.slack {
            // Overlapping bodies are measured by their fields, which keep no state: identical bits.
            // Their ball is never wider than the minimum translation is long.
            assert_eq!(again, cold, "{context}");
            let most = f64::from(-again.upper_bound);
            assert!(most <= -touch.separation + case.slack, "{context}");
        }
        let settings = CollideSettings {
            max_separation: 0.1 * size,
            ..Default::default()
        };
        let mut contacts = [Contacts::default(), Contacts::default()];
        collide_again(
            &pair,
            &settings,
            &mut memory,
            &mut scratch,
            &mut contacts[0],
        )
        .unwrap();
        collide(&pair, &settings, &mut other_scratch, &mut contacts[1]).unwrap();
        if touch.separation.abs() < 0.09 * f64::from(size) {
            for contacts in &contacts {
                let off = f64::from(contacts.distance) - touch.separation;
                // Where faces are tilted against each other, a corner of the region may be deeper
                // than the minimum translation is long.
                assert!(
                    off <= 1e-5 * touch.separation.abs() + case.slack,
                    "{off:e}: {context}"
                );
            }
        }
    }
}

#[test]
fn with_a_memory_the_answers_are_those_of_pairs_never_seen_and_of_all_corners() {
    let mut random = Random::new(83);
    let mut counts = Counts::default();
    let far = 1e5 * random.unit_vector();
    for _ in 0..if is_long() { 40 } else { 2 } {
        for (scale, middle) in [
            (1.0, DVec3::ZERO),
            (1e-6, DVec3::ZERO),
            (1e5, DVec3::ZERO),
            (1.0, far),
        ] {
            let all = bodies(scale, middle, &mut random);
            for a in &all {
                for b in &all {
                    let path = path(a, b, 24, &mut random);
                    try_path(a, b, &path, &mut counts);
                }
            }
        }
    }
    println!("{counts:?}");
    assert!(
        counts.apart * 4 > counts.poses && counts.apart < counts.poses,
        "{counts:?}"
    );
}

/// Moves a box out of its own copy along an axis, as slowly as touching bodies move.
#[test]
fn a_box_in_its_own_place_leaves_itself_as_its_closed_form_does() {
    for scale in [1e-6f32, 1.0, 1e5] {
        let half = scale * Vec3::new(0.8, 0.5, 0.3);
        let shape = Shape::convex(Convex::cuboid(half).unwrap()).unwrap();
        let mut memory = PairMemory::default();
        let mut scratch = Scratch::default();
        let mut buffers = SeparationScratch::default();
        for step in 0..200 {
            let shift = 0.01 * scale * step as f32;
            let pair = Pair {
                a: &shape,
                b: &shape,
                a_from_b: Pose::from_translation(Vec3::Z * shift),
            };
            let gap = f64::from(shift) - 2.0 * f64::from(half.z);
            let reach = 0.105 * scale;
            let is_near = touching_again(&pair, reach, &mut memory, &mut scratch).unwrap();
            assert_eq!(is_near, gap <= f64::from(reach), "{shift} of {scale}");
            let is_touching = touching_again(&pair, 0.0, &mut memory, &mut scratch).unwrap();
            if gap.abs() > 1e-6 * f64::from(scale) {
                assert_eq!(is_touching, gap < 0.0, "{shift} of {scale}");
            }
            let settings = SeparationSettings {
                max_boxes: 1 << 12,
                ..SeparationSettings::to_within(1e-2 * scale)
            };
            let found = separation_again(&pair, &settings, &mut memory, &mut buffers).unwrap();
            // When overlapping, the largest ball in the overlap: half of the remaining height,
            // twice.
            let slack = 1e-6 * f64::from(scale);
            assert!(
                f64::from(found.lower_bound) <= gap + slack
                    && f64::from(found.upper_bound) >= gap - slack,
                "{gap:e}: {found:?}"
            );
        }
    }
}

/// Balls and capsules moving around each other.
#[test]
fn balls_and_capsules_in_motion_are_as_far_apart_as_their_closed_forms() {
    let mut random = Random::new(89);
    for scale in [1e-6, 1.0, 1e5] {
        let [r, h] = [0.3 * scale, 0.6 * scale].map(|x| x as f32);
        let ball = Shape::convex(Convex::sphere(r).unwrap()).unwrap();
        let capsule = Shape::convex(Convex::capsule(h, r).unwrap()).unwrap();
        let mut memories = [PairMemory::default(), PairMemory::default()];
        let mut scratch = Scratch::default();
        let mut buffers = SeparationScratch::default();
        let (axis, start) = (random.unit_vector(), random.unit_vector() * scale);
        for step in 0..300 {
            let turn = Quat::from_axis_angle(axis.as_vec3(), 0.02 * step as f32).normalize();
            let away = 1.0 + (0.05 * f64::from(step)).sin();
            let translation = (unit(turn) * (away * start)).as_vec3();
            let a_from_b = Pose {
                rotation: turn,
                translation,
            };
            let center = translation.as_dvec3();
            let on_axis = DVec3::Z * center.z.clamp(-f64::from(h), f64::from(h));
            let exact = [center.length(), center.distance(on_axis)]
                .map(|distance| distance - 2.0 * f64::from(r));
            for ((a, memory), exact) in [&ball, &capsule].into_iter().zip(&mut memories).zip(exact)
            {
                let pair = Pair {
                    a,
                    b: &ball,
                    a_from_b,
                };
                let slack = 1e-6 * scale;
                let is_touching = touching_again(&pair, 0.0, memory, &mut scratch).unwrap();
                if exact.abs() > slack {
                    assert_eq!(is_touching, exact < 0.0, "{exact:e} of {scale:e}");
                }
                let settings = SeparationSettings {
                    max_boxes: 1 << 12,
                    ..SeparationSettings::to_within(1e-2 * scale as f32)
                };
                let found = separation_again(&pair, &settings, memory, &mut buffers).unwrap();
                let context = format!("{exact:e} of {scale:e}: {found:?}");
                assert!(f64::from(found.lower_bound) <= exact + slack, "{context}");
                assert!(f64::from(found.upper_bound) >= exact - slack, "{context}");
                if exact > slack {
                    let off = (f64::from(found.separation) - exact).abs();
                    assert!(off <= 1e-5 * exact + slack, "{context}");
                }
            }
        }
    }
}
