//! Contact manifolds: the wrenches that few contacts still resist, and the identity of contacts
//! over time.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests: a failed unwrap is a failed test"
)]

use std::sync::Arc;

use glam::{DQuat, Quat, Vec3};
use touchfield::contact::{Contact, ContactId};
use touchfield::field::primitive::{Cuboid, HalfSpace, Sphere};
use touchfield::geom::{Pose, Tolerance};
use touchfield::manifold::*;
use touchfield::narrow::{CollideSettings, ContactMethod, Contacts, Pair, Scratch, collide};
use touchfield::shape::Shape;
use touchfield_conformance::patches::{Kind, patch};
use touchfield_conformance::random::Random;
use touchfield_conformance::shells;
use touchfield_conformance::wrench_loss::{Judge, NUMBERS, Way, compare};

fn reduced(contacts: &[Contact], settings: &ReduceSettings) -> Reduced {
    let mut out = Reduced::default();
    reduce(
        contacts,
        &[],
        settings,
        &mut ReduceScratch::default(),
        &mut out,
    )
    .unwrap();
    out
}

#[test]
fn at_every_number_less_is_lost_than_by_keeping_the_deepest_or_the_widest() {
    for friction in [0.0, 0.5] {
        let comparison = compare(1000, friction);
        let mean = |way: Way, number: usize| {
            let way = Way::ALL.iter().position(|one| *one == way).unwrap();
            let kinds = comparison.losses.iter();
            kinds.map(|of_kind| of_kind[way][number].mean).sum::<f64>() / 3.0
        };
        for (place, &number) in NUMBERS.iter().enumerate() {
            // The first contact is the deepest, by rule; from two on there is a choice.
            if number == 1 {
                assert_eq!(mean(Way::Wrench, place), mean(Way::Deepest, place));
                continue;
            }
            for (ours, others) in [
                (Way::Wrench, Way::Deepest),
                (Way::Wrench, Way::WidestFromDeepest),
                (Way::WrenchFourPerNormal, Way::Deepest),
                // Ways that need not keep the deepest are compared with each other.
                (Way::WrenchAlone, Way::Widest),
            ] {
                let (lost, by_others) = (mean(ours, place), mean(others, place));
                assert!(
                    lost < by_others,
                    "{number} kept, friction {friction}: {} loses {lost}, {} {by_others}",
                    ours.name(),
                    others.name()
                );
            }
        }
        // Every kind on its own, from three contacts on; two on a plane are as good as the farthest
        // two.
        for of_kind in &comparison.losses {
            for (ours, widest) in of_kind[0].iter().zip(&of_kind[4]).skip(2) {
                assert!(ours.mean < widest.mean && ours.cone < widest.cone);
            }
        }
    }
}

#[test]
fn the_choice_is_near_the_best_of_all_choices() {
    let judge = Judge::new(2000, 0.0, 41);
    let mut random = Random::new(42);
    let settings = ReduceSettings {
        max_contacts: 3,
        max_per_normal: 3,
        keep_deepest: false,
        tolerance: Tolerance { slop: 0.0 },
        ..Default::default()
    };
    for round in 0..60 {
        let mut contacts = patch(Kind::ALL[round % 3], &mut random);
        contacts.truncate(14);
        let powers = judge.powers(&contacts);
        let mut least = f64::INFINITY;
        for a in 0..14 {
            for b in 0..a {
                for c in 0..b {
                    least = least.min(powers.loss(&[a, b, c]).mean);
                }
            }
        }
        let lost = powers.loss(&reduced(&contacts, &settings).kept).mean;
        // Proven for the bins: (1 − lost) ≥ (1 − 1/e) (1 − least). In other directions this asserts
        // more than that.
        assert!(
            1.0 - lost >= 0.9 * (1.0 - least),
            "lost {lost}, the best loses {least}"
        );
    }
}

#[test]
fn limits_hold_the_deepest_is_kept_and_groups_have_one_normal() {
    let mut random = Random::new(43);
    for round in 0..300 {
        let contacts = patch(Kind::ALL[round % 3], &mut random);
        let settings = ReduceSettings {
            max_contacts: 1 + random.below(20),
            max_per_normal: 1 + random.below(5),
            tolerance: Tolerance { slop: 0.0 },
            ..Default::default()
        };
        let Reduced { kept, groups } = reduced(&contacts, &settings);
        assert_eq!(kept[0], 0, "patches come deepest first");
        assert!(kept.len() <= settings.max_contacts);
        let mut sorted = kept.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), kept.len(), "each once");
        let mut next = 0;
        for group in &groups {
            assert_eq!(group.first, next);
            next += group.count;
            assert!(group.count as usize <= settings.max_per_normal);
            let members = &kept[group.first as usize..][..group.count as usize];
            assert_eq!(group.normal, contacts[members[0] as usize].normal);
            for pair in members.windows(2) {
                let depth = |i: u32| contacts[i as usize].separation;
                assert!(depth(pair[0]) <= depth(pair[1]));
            }
            for &member in members {
                // Both are within the angle of the group's first normal.
                let angle = contacts[member as usize].normal.angle_between(group.normal);
                assert!(angle <= 2.0 * settings.normal_angle + 1e-3, "{angle}");
            }
        }
        assert_eq!(next as usize, kept.len());
    }
}

#[test]
fn the_order_of_contacts_changes_only_ties() {
    let mut random = Random::new(44);
    let mut different = 0;
    for round in 0..100 {
        let contacts = patch(Kind::ALL[round % 3], &mut random);
        let settings = ReduceSettings {
            max_per_normal: 8,
            ..Default::default()
        };
        let names = |contacts: &[Contact]| {
            let kept = reduced(contacts, &settings).kept;
            let mut names: Vec<_> = kept.iter().map(|&i| contacts[i as usize].id).collect();
            names.sort();
            names
        };
        let mut shuffled = contacts.clone();
        for last in (1..shuffled.len()).rev() {
            shuffled.swap(last, random.below(last + 1));
        }
        different += u32::from(names(&contacts) != names(&shuffled));
    }
    // The mean of the points is summed in another order, and gains that are equal up to rounding
    // may be ordered differently.
    assert!(different <= 3, "{different} of 100 patches");
}

#[test]
fn odd_contacts_are_refused_or_survived() {
    let contact = |point: Vec3, normal: Vec3| Contact {
        point,
        normal,
        separation: -0.1,
        id: ContactId(0),
    };
    let settings = ReduceSettings::default();
    assert!(reduced(&[], &settings).kept.is_empty());
    assert_eq!(reduced(&[contact(Vec3::ONE, Vec3::X)], &settings).kept, [0]);
    // Duplicates change nothing.
    assert_eq!(
        reduced(&[contact(Vec3::ONE, Vec3::X); 1000], &settings)
            .kept
            .len(),
        1
    );
    // One place, six normals: all are kept, because each resists something else.
    let axes = [Vec3::X, -Vec3::X, Vec3::Y, -Vec3::Y, Vec3::Z, -Vec3::Z];
    let star = axes.map(|axis| contact(Vec3::splat(5.0), axis));
    assert_eq!(reduced(&star, &settings).kept.len(), 6);
    for size in [1e-38, 1e-30, 1e30, 3e38] {
        let square = [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]];
        let square = square.map(|[x, y]| contact(size * Vec3::new(x, y, 0.0), Vec3::Z));
        assert_eq!(reduced(&square, &settings).kept.len(), 4, "size {size}");
    }
    let mut out = Reduced::default();
    let mut attempt = |contacts: &[Contact], settings: &ReduceSettings| {
        reduce(
            contacts,
            &[],
            settings,
            &mut ReduceScratch::default(),
            &mut out,
        )
        .unwrap_err()
    };
    for bad in [f32::NAN, f32::INFINITY] {
        let list = [
            contact(Vec3::ONE, Vec3::X),
            contact(Vec3::new(0.0, bad, 0.0), Vec3::X),
        ];
        assert_eq!(
            attempt(&list, &settings),
            ManifoldError::NotFinite { index: 1 }
        );
    }
    for (max_contacts, max_per_normal) in [(0, 4), (4, 0)] {
        let settings = ReduceSettings {
            max_contacts,
            max_per_normal,
            ..settings
        };
        assert!(attempt(&[], &settings).to_string().contains("at least 1"));
    }
    let settings = ReduceSettings {
        normal_angle: f32::NAN,
        ..settings
    };
    assert!(attempt(&[], &settings).to_string().contains("normal_angle"));
}

#[test]
fn many_contacts_lose_as_little_as_few() {
    // Beyond a few hundred contacts, only the farthest of every bin are examined twice.
    let mut random = Random::new(45);
    let judge = Judge::new(500, 0.0, 46);
    let mut contacts = Vec::new();
    while contacts.len() < 5000 {
        let angle = random.uniform(0.0, std::f64::consts::TAU);
        let radius = random.uniform(0.0, 1.0).sqrt();
        contacts.push(Contact {
            point: Vec3::new(
                (radius * angle.cos()) as f32,
                (radius * angle.sin()) as f32,
                0.0,
            ),
            normal: Vec3::Z,
            separation: random.uniform(-0.01, 0.0) as f32,
            id: ContactId(contacts.len() as u32),
        });
    }
    let settings = ReduceSettings {
        max_contacts: 8,
        max_per_normal: 8,
        ..Default::default()
    };
    let lost = judge
        .powers(&contacts)
        .loss(&reduced(&contacts, &settings).kept);
    // A disc against a polygon of seven corners on its rim and the deepest contact somewhere:
    // between corners at most 1 − cos(π/7) of the torque is lost.
    assert!(lost.mean < 0.03, "{lost:?}");
}

/// Returns a box with a grid of points and a half-space, in the given order.
fn box_on_plane(half: Vec3, box_is_a: bool) -> (Shape, Shape) {
    let plane = Shape::new(HalfSpace::new(Vec3::Z, 0.0).unwrap());
    let shell = Arc::new(shells::cuboid(half, 9));
    let body = Shape::new(Cuboid::new(half).unwrap()).with_shell(shell);
    if box_is_a {
        (body, plane)
    } else {
        (plane, body)
    }
}

#[test]
fn a_sliding_box_keeps_four_corners_with_their_names() {
    let half = Vec3::new(0.2, 0.15, 0.1);
    let mut random = Random::new(47);
    let collide_settings = CollideSettings {
        method: ContactMethod::PointSamples,
        max_separation: 1e-3,
        ..Default::default()
    };
    for (box_is_a, scramble) in [(false, false), (false, true), (true, true)] {
        let (a, b) = box_on_plane(half, box_is_a);
        let mut manifold = Manifold::default();
        let (mut scratch, mut narrow_scratch) = Default::default();
        let mut found = Contacts::default();
        let settings = ManifoldSettings {
            ids_last: !scramble,
            ..Default::default()
        };
        let mut names: Vec<ContactId> = Vec::new();
        let turn = random.uniform(0.0, 6.0) as f32;
        for step in 0..1000 {
            let slide = 1e-4 * step as f32;
            // Sunk by a tenth of a millimetre, and trembling by a hundredth of that.
            let sunk = -1e-4 + 1e-6 * random.uniform(-1.0, 1.0) as f32;
            let plane_from_box = Pose {
                rotation: Quat::from_rotation_z(turn),
                translation: Vec3::new(slide, 0.3 * slide, half.z + sunk),
            };
            let a_from_b = if box_is_a {
                plane_from_box.inverse()
            } else {
                plane_from_box
            };
            let pair = Pair {
                a: &a,
                b: &b,
                a_from_b,
            };
            let narrow_scratch: &mut Scratch = &mut narrow_scratch;
            collide(&pair, &collide_settings, narrow_scratch, &mut found).unwrap();
            assert_eq!(found.contacts.len(), 81, "the whole bottom touches");
            if scramble {
                // A method without persistent ids.
                for contact in &mut found.contacts {
                    contact.id = ContactId(random.bits() as u32);
                }
            }
            manifold
                .update(&found.contacts, a_from_b, &settings, &mut scratch)
                .unwrap();
            assert_eq!(manifold.kept().len(), 4, "step {step}");
            assert_eq!(manifold.groups().len(), 1);
            for kept in manifold.kept() {
                let in_box = if box_is_a {
                    kept.contact.point
                } else {
                    a_from_b.inverse().transform_point(kept.contact.point)
                };
                let corner = in_box.truncate().abs() - half.truncate();
                assert!(corner.length() < 1e-5, "step {step}: {in_box} is no corner");
                assert_eq!(kept.age, step);
                assert_eq!(kept.previous.is_some(), step > 0);
            }
            let mut now: Vec<_> = manifold.kept().iter().map(|kept| kept.contact.id).collect();
            now.sort();
            if step == 0 {
                names = now;
            } else {
                assert_eq!(now, names, "step {step}");
            }
        }
    }
}

#[test]
fn a_rolling_ball_keeps_the_name_of_its_one_contact() {
    let radius = 0.1;
    let mut manifold = Manifold::default();
    let mut scratch = ManifoldScratch::default();
    for step in 0..1000u32 {
        // Rolling without slipping, 1 mm per step: the contact moves equally far on both bodies.
        let rolled = 1e-3 * step as f32;
        let a_from_b = Pose {
            rotation: Quat::from_rotation_y(rolled / radius),
            translation: Vec3::new(rolled, 0.0, radius),
        };
        let contact = Contact {
            point: Vec3::new(rolled, 0.0, 0.0),
            normal: Vec3::Z,
            separation: 0.0,
            id: ContactId(step.wrapping_mul(77_777)),
        };
        (manifold.update(
            &[contact],
            a_from_b,
            &ManifoldSettings::default(),
            &mut scratch,
        ))
        .unwrap();
        assert_eq!(manifold.kept()[0].contact.id, ContactId(0));
        assert_eq!(manifold.kept()[0].age, step);
    }
    // A jump is another contact.
    let jumped = Contact {
        point: Vec3::new(7.0, 0.0, 0.0),
        normal: Vec3::Z,
        separation: 0.0,
        id: ContactId(0),
    };
    let far = Pose::from_translation(Vec3::X);
    (manifold.update(&[jumped], far, &ManifoldSettings::default(), &mut scratch)).unwrap();
    assert_eq!(manifold.kept()[0].contact.id, ContactId(1));
    assert_eq!(manifold.kept()[0].previous, None);
}

#[test]
fn the_shell_of_a_rolling_ball_hands_its_names_on() {
    let radius = 0.1f32;
    let plane = Shape::new(HalfSpace::new(Vec3::Z, 0.0).unwrap());
    let ball = Shape::new(Sphere::new(radius).unwrap())
        .with_shell(Arc::new(shells::sphere(radius, 20_000)));
    let mut manifold = Manifold::default();
    let mut scratch = ManifoldScratch::default();
    let (mut narrow_scratch, mut found) = (Scratch::default(), Contacts::default());
    let (mut all, mut known) = (0, 0);
    let collide_settings = CollideSettings {
        method: ContactMethod::PointSamples,
        ..Default::default()
    };
    for step in 0..500 {
        let rolled = 5e-4 * step as f32;
        let a_from_b = Pose {
            rotation: Quat::from_rotation_y(rolled / radius),
            translation: Vec3::new(rolled, 0.0, radius - 5e-4),
        };
        let pair = Pair {
            a: &plane,
            b: &ball,
            a_from_b,
        };
        collide(&pair, &collide_settings, &mut narrow_scratch, &mut found).unwrap();
        let settings = ManifoldSettings::default();
        (manifold.update(&found.contacts, a_from_b, &settings, &mut scratch)).unwrap();
        if step > 0 {
            all += manifold.kept().len();
            known += manifold
                .kept()
                .iter()
                .filter(|kept| kept.previous.is_some())
                .count();
        }
    }
    // The patch is 2 cm wide and rolls by half a millimetre: a point of the ball passes through it
    // in forty steps, and a kept one has on average fewer left.
    assert!(known as f64 > 0.88 * all as f64, "{known} of {all}");
}

#[test]
fn what_was_kept_does_not_flicker_on_a_round_patch() {
    // A disc of contacts that trembles: without preference the corners of the polygon would wander.
    let mut random = Random::new(48);
    let places: Vec<Vec3> = (0..200)
        .map(|i| {
            let angle = 0.1 * f64::from(i);
            (DQuat::from_rotation_z(angle) * glam::DVec3::X * 0.05).as_vec3()
        })
        .collect();
    let mut manifold = Manifold::default();
    let mut scratch = ManifoldScratch::default();
    let mut changes = 0;
    let mut before: Vec<ContactId> = Vec::new();
    for _ in 0..300 {
        let found: Vec<Contact> = places
            .iter()
            .enumerate()
            .map(|(index, &place)| Contact {
                point: place + 1e-5 * random.unit_vector().as_vec3(),
                normal: (Vec3::Z + 1e-3 * random.unit_vector().as_vec3()).normalize(),
                separation: -1e-3 + 1e-5 * random.uniform(-1.0, 1.0) as f32,
                id: ContactId(index as u32),
            })
            .collect();
        let settings = ManifoldSettings {
            ids_last: true,
            ..Default::default()
        };
        (manifold.update(&found, Pose::IDENTITY, &settings, &mut scratch)).unwrap();
        let mut now: Vec<_> = manifold.kept().iter().map(|kept| kept.source).collect();
        now.sort();
        if !before.is_empty() && now != before {
            changes += 1;
        }
        before = now;
    }
    assert!(changes <= 3, "{changes} changes in 300 steps");
}

#[test]
fn after_bad_contacts_a_manifold_is_empty_and_goes_on() {
    let mut manifold = Manifold::default();
    let mut scratch = ManifoldScratch::default();
    let contact = Contact {
        point: Vec3::ZERO,
        normal: Vec3::Z,
        separation: 0.0,
        id: ContactId(9),
    };
    let mut update = |manifold: &mut Manifold, contact, settings: &ManifoldSettings| {
        manifold.update(&[contact], Pose::IDENTITY, settings, &mut scratch)
    };
    let settings = ManifoldSettings::default();
    update(&mut manifold, contact, &settings).unwrap();
    let bad = Contact {
        separation: f32::NAN,
        ..contact
    };
    assert!(update(&mut manifold, bad, &settings).is_err());
    assert!(manifold.kept().is_empty() && manifold.groups().is_empty());
    update(&mut manifold, contact, &settings).unwrap();
    assert_eq!(
        manifold.kept()[0].contact.id,
        ContactId(1),
        "ids are not used twice"
    );
    let settings = ManifoldSettings {
        match_distance: -1.0,
        ..settings
    };
    let error = update(&mut manifold, contact, &settings).unwrap_err();
    assert!(error.to_string().contains("match_distance"), "{error}");
}
