//! Nothing is lost where pairs are many, buffers small, or a device lacks something or goes away.
#![allow(
    clippy::panic,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a panic is a failed test; figures are printed for people"
)]

mod common;

use common::bodies;
use glam::{Quat, Vec3};
use touchfield::Pose;
use touchfield::narrow::ContactMethod;
use touchfield::shape::Shape;
use touchfield_conformance::representations::Representation;
use touchfield_gpu::{
    DevicePair, Gpu, GpuError, GpuSettings, MovingPair, Shapes, ShellContacts, ShellQuery,
    ShellSearch, ShellSettings, SweepSettings,
};

fn upload(gpu: &Gpu, shapes: &[Shape]) -> Shapes {
    let all: Vec<&Shape> = shapes.iter().collect();
    Shapes::upload(gpu, &all).unwrap_or_else(|error| panic!("{error}"))
}

fn contacts(
    query: &mut ShellQuery,
    shapes: &Shapes,
    pairs: &[DevicePair],
    settings: &ShellSettings,
) -> ShellContacts {
    let answer = query.contacts(shapes, pairs, settings);
    answer.unwrap_or_else(|error| panic!("{error}"))
}

const BY: [ShellSearch; 2] = [ShellSearch::Points, ShellSearch::Spheres];

#[test]
fn ten_thousand_pairs_with_a_million_contacts_lose_none() {
    let Some(gpu) = common::gpu() else { return };
    let shapes = bodies::closed_forms(300);
    let uploaded = upload(&gpu, &shapes);
    // Deep enough that more than every third point is a contact.
    let pairs: Vec<DevicePair> = bodies::pairs(&shapes, 10_000, 1)
        .into_iter()
        .map(|pair| DevicePair {
            a_from_b: Pose {
                translation: 0.25 * pair.a_from_b.translation,
                ..pair.a_from_b
            },
            ..pair
        })
        .collect();
    let mut of_both = Vec::new();
    for search in BY {
        let settings = ShellSettings {
            search,
            ..Default::default()
        };
        let found = contacts(&mut ShellQuery::default(), &uploaded, &pairs, &settings);
        assert_eq!(found.found.first.len(), pairs.len() + 1);
        assert!(found.submissions > 1, "the first buffers are too small");
        of_both.push(found);
    }
    assert_eq!(of_both[0].found, of_both[1].found);
    let found = &of_both[0];
    println!(
        "{} contacts in {} submissions",
        found.total, found.submissions
    );
    assert!(found.total >= 1_000_000, "{}", found.total);
    assert_eq!(found.total, found.found.contacts.len() as u64);
    // Every fiftieth pair beside the CPU.
    for (index, pair) in pairs.iter().enumerate().step_by(50) {
        let cpu = bodies::on_cpu(&shapes, pair, ContactMethod::PointSamples, 0.0);
        let off = cpu.len().abs_diff(found.found.of(index).len()) as u32;
        assert!(off <= found.in_band[index], "pair {index}");
    }
}

#[test]
fn small_bindings_give_the_same_bits() {
    let shapes = bodies::closed_forms(200);
    let pairs = bodies::pairs(&shapes, 60, 2);
    let settings = ShellSettings {
        max_separation: 0.05,
        ..Default::default()
    };
    let Some(gpu) = common::gpu() else { return };
    let uploaded = upload(&gpu, &shapes);
    let expected = contacts(&mut ShellQuery::default(), &uploaded, &pairs, &settings);
    let gaps = ShellQuery::default().gaps(&uploaded, &pairs);
    let kept = ShellSettings {
        keep: Some(4),
        ..settings
    };
    let expected_kept = contacts(&mut ShellQuery::default(), &uploaded, &pairs, &kept);
    // One limit only: a device compiles all kernels again for each.
    let limit = 20_000;
    let small = GpuSettings {
        max_binding_bytes: Some(limit),
        ..Default::default()
    };
    let Some(gpu) = common::gpu_with(&small) else {
        return;
    };
    let uploaded = upload(&gpu, &shapes);
    for search in BY {
        let settings = ShellSettings { search, ..settings };
        let mut query = ShellQuery::default();
        let found = contacts(&mut query, &uploaded, &pairs, &settings);
        assert_eq!(
            found.found.contacts, expected.found.contacts,
            "{limit} {search:?}"
        );
        assert_eq!(
            found.found.first, expected.found.first,
            "{limit} {search:?}"
        );
        assert_eq!(found.in_band, expected.in_band, "{limit} {search:?}");
    }
    let found = contacts(&mut ShellQuery::default(), &uploaded, &pairs, &kept);
    assert_eq!(found.found, expected_kept.found, "{limit}");
    assert_eq!(
        ShellQuery::default().gaps(&uploaded, &pairs),
        gaps,
        "{limit}"
    );
}

#[test]
fn a_device_without_half_floats_and_timestamps_gives_the_same_bits() {
    let shapes = [bodies::model("gear", Representation::Taylor, 32, 1000)];
    let pairs = bodies::pairs(&shapes, 20, 4);
    let settings = ShellSettings {
        timed: true,
        ..Default::default()
    };
    let Some(gpu) = common::gpu() else { return };
    let expected = contacts(
        &mut ShellQuery::default(),
        &upload(&gpu, &shapes),
        &pairs,
        &settings,
    );
    assert_eq!(expected.found.times.is_empty(), !gpu.adapter().timestamps);
    let poor = GpuSettings {
        no_f16: true,
        no_timestamps: true,
        ..Default::default()
    };
    let Some(gpu) = common::gpu_with(&poor) else {
        return;
    };
    let found = contacts(
        &mut ShellQuery::default(),
        &upload(&gpu, &shapes),
        &pairs,
        &settings,
    );
    assert_eq!(found.found.contacts, expected.found.contacts);
    assert!(found.found.times.is_empty());
}

#[test]
fn zero_pairs_have_zero_contacts() {
    let Some(gpu) = common::gpu() else { return };
    let shapes = bodies::closed_forms(100);
    let uploaded = upload(&gpu, &shapes);
    let mut query = ShellQuery::default();
    for search in BY {
        let settings = ShellSettings {
            search,
            ..Default::default()
        };
        let found = contacts(&mut query, &uploaded, &[], &settings);
        assert_eq!(found.found.first, [0]);
        assert!(found.found.contacts.is_empty());
    }
    assert_eq!(query.gaps(&uploaded, &[]), Ok(Vec::new()));
    let settings = SweepSettings::to_within(1e-3);
    assert_eq!(query.sweep(&uploaded, &[], &settings), Ok(Vec::new()));
    // Pairs far apart are no pairs in contact.
    let far = DevicePair {
        a: 0,
        b: 1,
        a_from_b: Pose::from_translation(Vec3::splat(1e6)),
    };
    let found = contacts(&mut query, &uploaded, &[far; 3], &ShellSettings::default());
    assert_eq!(found.found.first, [0; 4]);
}

#[test]
fn bad_poses_shapes_and_settings_are_errors() {
    let Some(gpu) = common::gpu() else { return };
    let mut shapes = bodies::closed_forms(100);
    shapes.push(Shape::new(
        touchfield::field::primitive::Sphere::new(1.0).unwrap_or_else(|error| panic!("{error}")),
    ));
    let uploaded = upload(&gpu, &shapes);
    let mut query = ShellQuery::default();
    let good = DevicePair {
        a: 0,
        b: 1,
        a_from_b: Pose::IDENTITY,
    };
    let with = |rotation: Quat, translation: Vec3| DevicePair {
        a_from_b: Pose {
            rotation,
            translation,
        },
        ..good
    };
    let settings = ShellSettings::default();
    for bad in [
        with(Quat::IDENTITY, Vec3::new(f32::NAN, 0.0, 0.0)),
        with(Quat::IDENTITY, Vec3::splat(f32::INFINITY)),
        with(Quat::IDENTITY, Vec3::splat(1e20)),
        with(Quat::from_xyzw(0.0, 0.0, 0.0, f32::NAN), Vec3::ZERO),
        with(Quat::from_xyzw(0.0, 0.0, 0.0, 0.0), Vec3::ZERO),
        with(Quat::from_xyzw(0.0, 0.0, 0.0, 2.0), Vec3::ZERO),
    ] {
        let expected = GpuError::BadPose { pair: 1 };
        let found = query.contacts(&uploaded, &[good, bad], &settings);
        assert_eq!(found.err(), Some(expected.clone()));
        assert_eq!(query.gaps(&uploaded, &[good, bad]).err(), Some(expected));
        let moving = MovingPair {
            a: 0,
            b: 1,
            start: Pose::IDENTITY,
            end: bad.a_from_b,
        };
        let found = query.sweep(&uploaded, &[moving], &SweepSettings::to_within(1e-3));
        assert_eq!(found.err(), Some(GpuError::BadPose { pair: 0 }));
    }
    let unknown = DevicePair { b: 9, ..good };
    let found = query.contacts(&uploaded, &[unknown], &settings);
    assert_eq!(
        found.err(),
        Some(GpuError::NoSuchShape { index: 9, count: 4 })
    );
    let bare = DevicePair { a: 3, b: 3, ..good };
    let found = query.contacts(&uploaded, &[good, bare], &settings);
    assert_eq!(found.err(), Some(GpuError::NoShell { pair: 1 }));
    for bad in [f32::NAN, -1.0, f32::INFINITY] {
        let settings = ShellSettings {
            max_separation: bad,
            ..settings
        };
        let found = query.contacts(&uploaded, &[good], &settings);
        assert!(
            matches!(found, Err(GpuError::BadSetting { .. })),
            "{found:?}"
        );
        let found = query.sweep(&uploaded, &[], &SweepSettings::to_within(bad));
        assert!(
            matches!(found, Err(GpuError::BadSetting { .. })),
            "{found:?}"
        );
    }
    for keep in [0, 17] {
        let settings = ShellSettings {
            keep: Some(keep),
            ..settings
        };
        let found = query.contacts(&uploaded, &[good], &settings);
        assert!(
            matches!(found, Err(GpuError::BadSetting { .. })),
            "{found:?}"
        );
    }
    // What was wrong before does not matter afterwards.
    assert!(query.contacts(&uploaded, &[good], &settings).is_ok());
}

#[test]
fn a_device_that_goes_away_in_mid_run_is_an_error_and_a_new_one_goes_on() {
    let shapes = bodies::closed_forms(300);
    let pairs = bodies::pairs(&shapes, 200, 6);
    let settings = ShellSettings::default();
    let Some(gpu) = common::gpu() else { return };
    let uploaded = upload(&gpu, &shapes);
    let mut query = ShellQuery::default();
    let expected = contacts(&mut query, &uploaded, &pairs, &settings);
    // From another thread, at whatever moment of the work that happens to be.
    let killer = gpu.clone();
    let outcomes = std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(30));
            killer.destroy();
        });
        let mut outcomes = Vec::new();
        for _ in 0..1000 {
            let outcome = query.contacts(&uploaded, &pairs, &settings);
            let is_over = outcome.is_err();
            outcomes.push(outcome);
            if is_over {
                break;
            }
        }
        outcomes
    });
    let (last, before) = outcomes
        .split_last()
        .unwrap_or_else(|| panic!("one at least"));
    for outcome in before {
        assert!(
            outcome
                .as_ref()
                .is_ok_and(|found| found.found == expected.found)
        );
    }
    assert!(matches!(last, Err(GpuError::Lost(_))), "{last:?}");
    let lost = query.contacts(&uploaded, &pairs, &settings);
    assert!(matches!(lost, Err(GpuError::Lost(_))), "{lost:?}");
    assert!(matches!(
        query.gaps(&uploaded, &pairs),
        Err(GpuError::Lost(_))
    ));
    let Some(again) = common::gpu() else { return };
    let uploaded = upload(&again, &shapes);
    let found = contacts(&mut ShellQuery::default(), &uploaded, &pairs, &settings);
    assert_eq!(found.found, expected.found);
}
