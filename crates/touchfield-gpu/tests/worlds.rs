//! Many worlds in one batch beside single runs.
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
use touchfield::mesh::generate::{Bolt, MetricSize, Nut, bolt, nut};
use touchfield::shape::Shape;
use touchfield_conformance::random::Random;
use touchfield_conformance::representations::Representation;
use touchfield_gpu::{GpuError, ShellSettings, Worlds};

/// A bolt and a nut, and the pitch of their thread \[m\].
fn bolt_and_nut() -> (Shape, Shape, f32) {
    let size = MetricSize::M8;
    let bolt_model = Bolt {
        segments: 48,
        ..Bolt::of_size(size)
    };
    let nut_model = Nut {
        segments: 48,
        ..Nut::of_size(size)
    };
    let bolt = bolt(bolt_model).unwrap_or_else(|error| panic!("{error}"));
    let nut = nut(nut_model).unwrap_or_else(|error| panic!("{error}"));
    (
        bodies::of_mesh(&bolt, Representation::Dense, 96, 600),
        bodies::of_mesh(&nut, Representation::Dense, 48, 300),
        size.pitch() as f32,
    )
}

/// Poses of bolt and nut in each world: the nut somewhere on the thread, a little off its axis.
fn poses(worlds: usize, pitch: f32, seed: u64) -> Vec<Pose> {
    let mut random = Random::new(seed);
    let mut unit = || 2.0 * random.unit() as f32 - 1.0;
    (0..worlds)
        .flat_map(|_| {
            let turn = std::f32::consts::PI * unit();
            let world_from_bolt = Pose {
                rotation: Quat::from_rotation_x(unit()),
                translation: Vec3::new(unit(), unit(), unit()),
            };
            let height = 0.02 + pitch * turn / std::f32::consts::TAU;
            let off = 2e-4 * Vec3::new(unit(), unit(), unit());
            let bolt_from_nut = Pose {
                rotation: Quat::from_rotation_z(turn),
                translation: Vec3::new(0.0, 0.0, height) + off,
            };
            [world_from_bolt, world_from_bolt * bolt_from_nut]
        })
        .collect()
}

#[test]
fn a_thousand_worlds_of_nut_and_bolt_equal_a_thousand_single_runs() {
    let Some(gpu) = common::gpu() else { return };
    let (bolt, nut, pitch) = bolt_and_nut();
    let settings = ShellSettings::default();
    let fine = |error: GpuError| -> ! { panic!("{error}") };
    let new = || Worlds::new(&gpu, &[&bolt, &nut], &[0, 1], &[[0, 1]]);
    let mut batch = new().unwrap_or_else(|error| fine(error));
    let mut single = new().unwrap_or_else(|error| fine(error));
    let poses = poses(1000, pitch, 9);
    let start = std::time::Instant::now();
    let together = batch
        .step(&poses, &settings)
        .unwrap_or_else(|error| fine(error));
    let first = start.elapsed();
    let start = std::time::Instant::now();
    let again = batch
        .step(&poses, &settings)
        .unwrap_or_else(|error| fine(error));
    let second = start.elapsed();
    assert_eq!(again.contacts.found, together.contacts.found);
    let start = std::time::Instant::now();
    let (mut touching, mut some) = (0, 0);
    for (world, poses) in poses.chunks(2).enumerate() {
        let alone = single
            .step(poses, &settings)
            .unwrap_or_else(|error| fine(error));
        let (contacts, gap) = (together.contacts_of(world, 0), together.gap_of(world, 0));
        assert_eq!(alone.contacts_of(0, 0), contacts, "world {world}");
        assert_eq!(alone.gap_of(0, 0), gap, "world {world}");
        assert_eq!(alone.contacts.in_band[0], together.contacts.in_band[world]);
        touching += usize::from(gap.is_touching());
        some += usize::from(!contacts.is_empty());
    }
    let singly = start.elapsed();
    println!(
        "{some} worlds with contacts, {touching} touching, {} contacts; batch {first:?}, again \
         {second:?}, one by one {singly:?}",
        together.contacts.total
    );
    assert!((100..=1000).contains(&touching), "{touching}");
    assert!(some <= touching);
}

#[test]
fn worlds_of_several_bodies_answer_for_each_pair() {
    let Some(gpu) = common::gpu() else { return };
    let shapes = bodies::closed_forms(200);
    let all: Vec<&Shape> = shapes.iter().collect();
    let pairs = [[0, 1], [2, 0], [1, 3]];
    let worlds = Worlds::new(&gpu, &all, &[0, 1, 2, 0], &pairs);
    let mut worlds = worlds.unwrap_or_else(|error| panic!("{error}"));
    let mut random = Random::new(2);
    let poses: Vec<Pose> = (0..4 * 5)
        .map(|_| bodies::pose(&shapes[0], &shapes[1], &mut random))
        .collect();
    let settings = ShellSettings::default();
    let answers = worlds
        .step(&poses, &settings)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(answers.gaps.len(), 15);
    for (world, poses) in poses.chunks(4).enumerate() {
        let alone = worlds
            .step(poses, &settings)
            .unwrap_or_else(|error| panic!("{error}"));
        for pair in 0..3 {
            assert_eq!(alone.contacts_of(0, pair), answers.contacts_of(world, pair));
            assert_eq!(alone.gap_of(0, pair), answers.gap_of(world, pair));
        }
    }
}

#[test]
fn worlds_that_do_not_fit_are_errors() {
    let Some(gpu) = common::gpu() else { return };
    let shapes = bodies::closed_forms(50);
    let unknown = Worlds::new(&gpu, &[&shapes[0]], &[0, 1], &[[0, 1]]);
    assert!(matches!(
        unknown,
        Err(GpuError::NoSuchShape { index: 1, .. })
    ));
    let no_body = Worlds::new(&gpu, &[&shapes[0]], &[0, 0], &[[0, 2]]);
    assert!(matches!(no_body, Err(GpuError::BadSetting { .. })));
    let worlds = Worlds::new(&gpu, &[&shapes[0]], &[0, 0], &[[0, 1]]);
    let mut worlds = worlds.unwrap_or_else(|error| panic!("{error}"));
    let uneven = worlds.step(&[Pose::IDENTITY; 3], &ShellSettings::default());
    assert!(matches!(uneven, Err(GpuError::BadSetting { .. })));
    let none = worlds.step(&[], &ShellSettings::default());
    assert!(none.is_ok_and(|none| none.gaps.is_empty()));
}
