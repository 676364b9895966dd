//! Octree subdivision compared with closed forms and a search in `f64`, in random poses.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a failed unwrap is a failed test, and the rows are for the reader"
)]

use std::time::Duration;

use glam::{DVec3, Quat, Vec3};
use touchfield::field::primitive::{Cuboid, HalfSpace, Sphere};
use touchfield::geom::Pose;
use touchfield::narrow::{
    CollideError, CollideSettings, ContactMethod, Contacts, Descent, Outcome, Pair, Scratch,
    Subdivision, collide,
};
use touchfield::shape::Shape;
use touchfield_conformance::contact_truth::{Place, SOLIDS, Solid, ball_contact, separation};
use touchfield_conformance::random::Random;
use touchfield_conformance::subdivision_cost;

const DEPTH: u32 = 6;
const DESCENTS: [Descent; 3] = [Descent::Slow, Subdivision::HYBRID, Descent::Fast];

fn settings(descent: Descent, depth: u32) -> CollideSettings {
    CollideSettings {
        method: ContactMethod::OctreeSubdivision(Subdivision {
            descent,
            depth,
            ..Default::default()
        }),
        ..Default::default()
    }
}

fn found(a: &Shape, b: &Shape, a_from_b: Pose, settings: &CollideSettings) -> Contacts {
    let mut out = Contacts::default();
    let pair = Pair { a, b, a_from_b };
    collide(&pair, settings, &mut Scratch::default(), &mut out).unwrap();
    out
}

/// Returns the greatest diagonal of a box at the last level. The search starts within the smaller
/// body's box.
fn leaf_diagonal(a: &Shape, b: &Shape, max_separation: f32) -> f64 {
    let smaller = a.solid().diagonal().min(b.solid().diagonal());
    // The sides end within a factor of two of each other; the longest is 2⁻ᵏ of that of the box.
    f64::from(smaller + 2.0 * max_separation) * 3f64.sqrt() / f64::from(1u32 << DEPTH)
}

/// Largest error of each quantity, and the number of comparisons.
#[derive(Default, Debug)]
struct Worst {
    separation: f64,
    normal: f64,
    point: f64,
    compared: u32,
    /// Normals that are off by more than 0.2 rad.
    turned: u32,
    /// Contacts that were not found.
    lost: u32,
}

/// Ten thousand poses per descent: balls against all solids. The declared errors are asserted, the
/// measured ones printed.
#[test]
fn balls_meet_every_solid_as_the_textbook_says() {
    let radius = 0.25;
    let ball = Solid::Ball { radius };
    for descent in DESCENTS {
        let settings = CollideSettings {
            max_separation: 0.05,
            ..settings(descent, DEPTH)
        };
        let mut scratch = Scratch::default();
        let mut out = Contacts::default();
        for solid in SOLIDS {
            let (a, b) = (ball.shape(), solid.shape());
            let leaf = leaf_diagonal(&a, &b, settings.max_separation);
            let mut random = Random::new(21);
            let mut worst = Worst::default();
            for _ in 0..2000 {
                let place = Place::random(ball, solid, &mut random);
                let Some(truth) = ball_contact(radius, solid, place) else {
                    continue;
                };
                let pair = Pair {
                    a: &a,
                    b: &b,
                    a_from_b: place.pose(),
                };
                collide(&pair, &settings, &mut scratch, &mut out).unwrap();
                // Proven for every descent.
                let lower = f64::from(out.region.lower_bound);
                assert!(
                    lower <= truth.separation.max(0.05) + 1e-6,
                    "{lower} {truth:?}"
                );
                if truth.separation > 0.05 {
                    assert!(out.contacts.is_empty(), "{truth:?}: {out:?}");
                    continue;
                }
                assert!(f64::from(out.distance) >= truth.separation - 1e-5);
                if truth.separation > 0.045 {
                    continue; // within the error of the limit
                }
                let Some(contact) = out.contacts.first() else {
                    // The branch that fast follows may lead nowhere; its lower bound says so.
                    let said = descent == Descent::Fast && lower <= truth.separation;
                    assert!(said, "{solid:?} {place:?} lost {truth:?}");
                    worst.lost += 1;
                    continue;
                };
                worst.compared += 1;
                let separation = f64::from(contact.separation) - truth.separation;
                worst.separation = worst.separation.max(separation.abs());
                let normal = contact.normal.as_dvec3().angle_between(truth.normal);
                worst.normal = worst.normal.max(normal);
                worst.turned += u32::from(normal > 0.2);
                worst.point = worst
                    .point
                    .max(contact.point.as_dvec3().distance(truth.point));
            }
            println!("{descent:?}, {solid:?}: {worst:.4?}, leaf {leaf:.4}");
            assert!(
                worst.compared > 200 && 50 * worst.lost < worst.compared,
                "{worst:?}"
            );
            // Proven except for fast, which stays below twice as much here.
            let declared = if descent == Descent::Fast {
                2.0 * leaf
            } else {
                leaf
            };
            assert!(worst.separation < declared, "{solid:?}: {worst:?}");
            // Where a ball lies in a groove as round as itself, or on an edge, a small step turns
            // the gradient by this much.
            match descent {
                // Fast may end on the wrong side of an edge.
                Descent::Fast => {
                    assert!(50 * worst.turned < worst.compared, "{solid:?}: {worst:?}")
                }
                _ => assert!(worst.normal < 0.2, "{solid:?}: {worst:?}"),
            }
            // The centre of an asymmetric region; at most a quarter of the ball away.
            assert!(
                worst.point < 0.07 || descent == Descent::Fast,
                "{solid:?}: {worst:?}"
            );
        }
    }
}

/// Pairs without a closed form: boxes, tori, capsules and half-spaces against each other.
#[test]
fn the_separation_of_all_pairs_is_that_of_a_search_in_f64() {
    let mut scratch = Scratch::default();
    let mut out = Contacts::default();
    for (index, &first) in SOLIDS.iter().enumerate() {
        for &second in &SOLIDS[..=index] {
            if first == Solid::HalfSpace && second == Solid::HalfSpace {
                continue;
            }
            let (a, b) = (first.shape(), second.shape());
            let mut random = Random::new(31 + index as u64);
            let mut worst = [0.0f64; 3];
            let mut touching = 0;
            for _ in 0..60 {
                let place = Place::random(first, second, &mut random);
                let tolerance = 2e-3;
                let truth = separation(first, second, place, tolerance);
                for (descent, worst) in DESCENTS.into_iter().zip(&mut worst) {
                    let settings = CollideSettings {
                        max_separation: 0.05,
                        ..settings(descent, DEPTH)
                    };
                    let pair = Pair {
                        a: &a,
                        b: &b,
                        a_from_b: place.pose(),
                    };
                    collide(&pair, &settings, &mut scratch, &mut out).unwrap();
                    let lower = f64::from(out.region.lower_bound);
                    assert!(
                        lower <= truth.max(0.05) + 1e-6,
                        "{first:?} {second:?} {descent:?}: {lower} {truth}"
                    );
                    let leaf = leaf_diagonal(&a, &b, settings.max_separation);
                    if truth > 0.05 {
                        assert!(out.contacts.is_empty(), "{truth}");
                    } else if truth < 0.05 - leaf {
                        touching += 1;
                        let error = f64::from(out.distance) - truth;
                        assert!(error > -tolerance, "{error}");
                        *worst = worst.max(error);
                        if descent == Descent::Slow {
                            assert!(error < leaf, "{error} {leaf}");
                            assert_eq!(out.contacts.len(), 1);
                        }
                    }
                }
            }
            println!(
                "{first:?}, {second:?}: slow, hybrid, fast off by {worst:.4?}; {touching} touch"
            );
            assert!(touching > 30);
        }
    }
}

#[test]
fn two_cubes_face_to_face_meet_in_the_middle_if_slow_or_hybrid() {
    let large = Shape::new(Cuboid::new(Vec3::ONE).unwrap());
    let small = Shape::new(Cuboid::new(Vec3::new(0.5, 0.4, 0.3)).unwrap());
    let mut random = Random::new(5);
    for _ in 0..50 {
        let x = random.uniform(-0.3, 0.3) as f32;
        let y = random.uniform(-0.3, 0.3) as f32;
        let pose = Pose {
            rotation: Quat::from_rotation_z(random.uniform(0.0, 6.0) as f32),
            translation: Vec3::new(x, y, 1.29),
        };
        let middle = Vec3::new(x, y, 0.995);
        for descent in [Descent::Slow, Subdivision::HYBRID] {
            let out = found(&large, &small, pose, &settings(descent, DEPTH));
            let contact = out.contacts[0];
            assert!(
                (contact.point - middle).length() < 0.01,
                "{descent:?} {contact:?}"
            );
            assert!((contact.normal - Vec3::Z).length() < 1e-3, "{contact:?}");
            assert!((contact.separation + 0.01).abs() < 1e-4, "{contact:?}");
            assert!(
                out.region.points.len() > 100,
                "the whole face is the region"
            );
        }
        let fast = found(&large, &small, pose, &settings(Descent::Fast, DEPTH));
        let contact = fast.contacts[0];
        // The separation is right, but the position is that of the first of several equal boxes.
        assert!((contact.separation + 0.01).abs() < 1e-4, "{contact:?}");
        assert!((contact.point.z - 0.995).abs() < 1e-3);
        assert!(
            (contact.point - middle).truncate().length() > 0.1,
            "{contact:?}"
        );
    }
}

/// Returns a pose near this one that its double inverse reproduces bit by bit.
fn turns_back(mut pose: Pose) -> Option<Pose> {
    for _ in 0..20 {
        let again = pose.inverse().inverse();
        if again == pose {
            return Some(pose);
        }
        pose = again;
    }
    None
}

#[test]
fn exchanging_the_bodies_only_turns_the_normal() {
    let mut random = Random::new(8);
    let mut compared = 0;
    for descent in DESCENTS {
        for _ in 0..300 {
            let first = SOLIDS[random.below(4)];
            let second = SOLIDS[random.below(5)];
            let place = Place::random(first, second, &mut random);
            let (a, b) = (first.shape(), second.shape());
            let Some(pose) = turns_back(place.pose()) else {
                continue;
            };
            let one = found(&a, &b, pose, &settings(descent, DEPTH));
            let other = found(&b, &a, pose.inverse(), &settings(descent, DEPTH));
            assert_eq!(one.contacts.len(), other.contacts.len());
            for (one, other) in one.contacts.iter().zip(&other.contacts) {
                compared += 1;
                assert!((one.separation - other.separation).abs() < 1e-5);
                let normal = -pose.transform_vector(other.normal);
                assert!((one.normal - normal).length() < 1e-3, "{one:?} {other:?}");
                let point = pose.transform_point(other.point);
                assert!((one.point - point).length() < 1e-3, "{one:?} {other:?}");
            }
        }
    }
    assert!(compared > 200, "{compared}");
}

#[test]
fn no_box_left_proves_that_bodies_are_apart() {
    let ball = Shape::new(Sphere::new(0.5).unwrap());
    let gap = Pose::from_translation(Vec3::new(1.05, 0.0, 0.0));
    for descent in DESCENTS {
        let out = found(&ball, &ball, gap, &settings(descent, 8));
        assert!(out.contacts.is_empty() && out.region.points.is_empty());
        assert_eq!(out.region.lower_bound, 0.0);
        // The AABBs of both do not overlap: no box is examined.
        assert_eq!(out.region.boxes, 0);
        // The AABBs overlap, the bodies do not; also with a separation limit.
        let aslant = Pose::from_translation(Vec3::splat(0.65));
        let settings = CollideSettings {
            max_separation: 0.1,
            ..settings(descent, 8)
        };
        let out = found(&ball, &ball, aslant, &settings);
        assert!(out.contacts.is_empty() && out.region.boxes > 0);
        match descent {
            Descent::Slow => assert!(out.region.lower_bound > 0.0999, "{out:?}"),
            // These descents skip branches, so they can prove less.
            _ => assert!(out.region.lower_bound <= 0.1, "{out:?}"),
        }
    }
}

#[test]
fn limits_are_kept_and_said() {
    let ball = Shape::new(Sphere::new(0.5).unwrap());
    let same = Pose::from_translation(Vec3::new(0.01, 0.0, 0.0));
    let limited = CollideSettings {
        method: ContactMethod::OctreeSubdivision(Subdivision {
            descent: Descent::Slow,
            depth: 20,
            max_boxes: 5000,
        }),
        ..Default::default()
    };
    let out = found(&ball, &ball, same, &limited);
    assert_eq!(out.outcome, Outcome::TooManyBoxes { levels: 5, of: 21 });
    assert!((out.contacts[0].separation + 0.99).abs() < 0.02, "{out:?}");
    let hurried = CollideSettings {
        budget: Some(Duration::ZERO),
        ..settings(Descent::Slow, 6)
    };
    let out = found(&ball, &ball, same, &hurried);
    assert!(matches!(
        out.outcome,
        Outcome::OutOfTime { levels: 1, of: 7 }
    ));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let ball = Shape::new(Sphere::new(0.5).unwrap());
    let plane = Shape::new(HalfSpace::new(Vec3::Z, 0.0).unwrap());
    let attempt = |a: &Shape, b: &Shape, subdivision: Subdivision| {
        let settings = CollideSettings {
            method: ContactMethod::OctreeSubdivision(subdivision),
            ..Default::default()
        };
        let pair = Pair {
            a,
            b,
            a_from_b: Pose::IDENTITY,
        };
        collide(
            &pair,
            &settings,
            &mut Scratch::default(),
            &mut Contacts::default(),
        )
    };
    let unbounded = attempt(&plane, &plane, Subdivision::default());
    assert_eq!(unbounded, Err(CollideError::Unbounded));
    for (subdivision, word) in [
        (
            Subdivision {
                depth: 21,
                ..Default::default()
            },
            "depth",
        ),
        (
            Subdivision {
                descent: Descent::Hybrid {
                    tolerance: f32::NAN,
                },
                ..Default::default()
            },
            "tolerance",
        ),
    ] {
        let error = attempt(&ball, &ball, subdivision).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
    }
    // Concentric: every direction is equally good; one is returned.
    let out = found(&ball, &ball, Pose::IDENTITY, &settings(Descent::Slow, 4));
    assert!((out.contacts[0].separation + 1.0).abs() < 1e-3);
    assert!((out.contacts[0].normal.length() - 1.0).abs() < 1e-5);
}

/// Torus on a plate: the mean of the region lies in the hole, and the contact does not.
#[test]
fn a_ring_that_lies_flat_is_touched_where_it_is() {
    let ring = Solid::Ring {
        major: 0.5,
        minor: 0.1875,
    };
    let plate = Shape::new(HalfSpace::new(Vec3::Z, 0.0).unwrap());
    let pose = Pose::from_translation(Vec3::new(0.0, 0.0, 0.18));
    let out = found(&plate, &ring.shape(), pose, &settings(Descent::Slow, 7));
    let contact = out.contacts[0];
    let from_axis = contact.point.truncate().length();
    assert!((from_axis - 0.5).abs() < 0.1, "{contact:?}");
    assert!((contact.separation + 0.0075).abs() < 2e-3, "{contact:?}");
    let truth = separation(
        Solid::HalfSpace,
        ring,
        Place {
            rotation: glam::DQuat::IDENTITY,
            translation: DVec3::new(0.0, 0.0, 0.18),
        },
        1e-3,
    );
    assert!((truth + 0.0075).abs() < 1e-3);
}

/// Data of docs/images/subdivision.svg: the growth stated in \[Adelman\].
#[test]
fn boxes_grow_with_the_depth_as_document_001_says() {
    for scene in subdivision_cost::measured().unwrap() {
        println!("{}: {:?}", scene.name, scene.boxes);
        let [slow, hybrid, fast] = &scene.boxes;
        for depth in 1..fast.len() {
            // O(k): at most eight boxes per level.
            assert!(fast[depth] <= 1 + 8 * depth as u64);
            // O(8ᵏ): never more than all boxes.
            assert!(slow[depth] <= (8u64.pow(depth as u32 + 1) - 1) / 7);
            assert!(hybrid[depth] <= slow[depth] && fast[depth] <= hybrid[depth]);
        }
        let last = slow.len() - 1;
        if scene.name.contains("deep") {
            let growth = slow[last] as f64 / slow[last - 1] as f64;
            assert!((6.5..=8.0).contains(&growth), "{growth}");
        }
    }
}
