//! The time at which a moving shell first falls below a level of a field, compared with every point
//! at many times.
#![cfg(feature = "bake")]
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::sync::LazyLock;

use glam::Vec3;
use proptest::prelude::*;
use touchfield::bake::pointshell::{ShellDensity, ShellSettings, shell_of_field};
use touchfield::field::Field;
use touchfield::field::primitive::{Cuboid, HalfSpace, Torus};
use touchfield::geom::{Motion, PairMotion, Pose};
use touchfield::narrow::{Level, MovingShell, ShellSweepScratch};
use touchfield::pointshell::PointShell;

static RING: LazyLock<PointShell> = LazyLock::new(|| {
    let settings = ShellSettings {
        density: ShellDensity::Points(4000),
        ..Default::default()
    };
    shell_of_field(&Torus::new(0.4, 0.1).unwrap(), 0.01, &settings).unwrap()
});

fn pair(turned: [f32; 3], turn: [f32; 3], moved: [f32; 3], above: f32) -> PairMotion {
    PairMotion::of_b(Motion {
        start: Pose {
            rotation: glam::Quat::from_scaled_axis(turned.into()),
            translation: Vec3::new(0.0, 0.0, above),
        },
        center: Vec3::new(0.1, 0.0, 0.05),
        translation: moved.into(),
        turn: turn.into(),
    })
}

/// Returns the least value of a field at the points of a shell, at each of many times.
fn lowest(moving: &MovingShell<'_>, count: u16) -> Vec<(f32, f32)> {
    let times = (0..=count).map(|step| f32::from(step) / f32::from(count));
    let at = |time: f32| {
        let pose = moving.motion.at(time);
        let points = moving.shell.points().iter();
        let values = points.map(|&point| moving.field.distance(pose.transform_point(point)));
        (time, values.fold(f32::INFINITY, f32::min))
    };
    times.map(at).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Compared with every point at many times: none is below before the reported time, and one is
    /// soon after.
    #[test]
    fn the_first_point_below_is_found(
        turned in prop::array::uniform3(-3.0f32..3.0),
        turn in prop::array::uniform3(-2.0f32..2.0),
        moved in prop::array::uniform3(-0.6f32..0.6),
        above in 0.0f32..0.7,
        level in -0.2f32..0.2,
        is_plate in any::<bool>(),
        is_field_moving in any::<bool>(),
    ) {
        let floor = HalfSpace::new(Vec3::Z, 0.0).unwrap();
        let plate = Cuboid::new(Vec3::new(0.3, 0.4, 0.05)).unwrap();
        let motion = pair(turned, turn, moved, above);
        let motion = if is_field_moving { motion.flipped() } else { motion };
        let shell = &*RING;
        let field: &dyn Field = if is_plate { &plate } else { &floor };
        let moving = MovingShell { field, shell, motion: &motion };
        let tolerance = 2e-3;
        let found = moving.first_below(Level::Same(level), tolerance, &mut ShellSweepScratch::default());
        let truth = lowest(&moving, 200);
        let time = found.map_or(1.0, |below| below.time);
        for &(at, value) in truth.iter().filter(|(at, _)| *at < time) {
            prop_assert!(value >= level - 1e-5, "{value} at {at}, before {time}, is below {level}");
        }
        if let Some(below) = found {
            prop_assert!(below.is_found);
            // The report is not too early: soon after it some point is below, or nearly so.
            let whole = motion.speed_bound(Vec3::ZERO, 0.6, [0.0, 1.0]);
            let soon = truth.iter().filter(|(at, _)| *at >= time - 0.01 && *at <= time + 0.02);
            let least = soon.map(|(_, value)| *value).fold(f32::INFINITY, f32::min);
            prop_assert!(least < level + 4.0 * tolerance + 0.01 * whole, "{least} at {time}, {level}");
        }
    }
}
