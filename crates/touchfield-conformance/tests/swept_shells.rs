//! Shells that move against fields: spheres exclude nothing that touches, and curved paths are
//! followed to within the tolerance.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a failed unwrap is a failed test, and the rows are for the reader"
)]

use std::ops::ControlFlow;

use glam::{DVec3, Quat, Vec3};
use touchfield::bake::pointshell::{ShellDensity, ShellSettings, shell_of_mesh};
use touchfield::bake::{BakeSettings, Resolution, bake, bake_with};
use touchfield::field::primitive::HalfSpace;
use touchfield::field::{Field, FieldOctree, StoredField};
use touchfield::geom::{Motion, PairMotion, Pose};
use touchfield::narrow::swept_points::{
    PointSpan, ShellPath, SweepScratch, SweepSettings, SweepWanted, SweptError, SweptField,
    sweep_shell,
};
use touchfield::pointshell::PointShell;
use touchfield_conformance::meshes::*;
use touchfield_conformance::random::Random;
use touchfield_conformance::representations::ALL;

/// Returns points on a model.
fn shell(name: &str, points: u32) -> PointShell {
    let mesh = model(name);
    let settings = BakeSettings {
        resolution: Resolution::Nodes(32),
        ..Default::default()
    };
    let grid = bake(&mesh, &settings).unwrap().field;
    let settings = ShellSettings {
        density: ShellDensity::Points(points),
        ..Default::default()
    };
    shell_of_mesh(&mesh, &grid, &settings).unwrap()
}

fn random_pose(random: &mut Random, reach: f64) -> Pose {
    let [x, y, z, w] = random.quaternion().to_array().map(|x| x as f32);
    Pose {
        rotation: Quat::from_xyzw(x, y, z, w).normalize(),
        translation: random
            .in_box(DVec3::splat(-reach), DVec3::splat(reach))
            .as_vec3(),
    }
}

fn found(
    shell: &PointShell,
    path: &ShellPath,
    target: &SweptField<'_>,
    settings: &SweepSettings,
) -> Vec<PointSpan> {
    let mut out = Vec::new();
    sweep_shell(
        shell,
        path,
        target,
        settings,
        &mut SweepScratch::default(),
        &mut out,
    )
    .unwrap();
    out
}

#[test]
fn spheres_rule_out_nothing_that_touches_on_straight_paths() {
    let shell = shell("gear", 600);
    let mesh = model("bowl");
    let size = mesh.bounds().diagonal();
    let mut touching = 0;
    for representation in ALL {
        let field = representation.bake(&mesh, 24).unwrap();
        let octree = FieldOctree::build(&field);
        let target = SweptField::stored(&field, Some(&octree));
        let random = &mut Random::new(11);
        for _ in 0..40 {
            let path = ShellPath::Straight {
                from: random_pose(random, size),
                to: random_pose(random, size),
            };
            let by_spheres = SweepSettings {
                level: random.uniform(-0.01, 0.02) as f32,
                ..SweepSettings::to_within(1e-4)
            };
            let linear = SweepSettings {
                by_spheres: false,
                ..by_spheres
            };
            let all = found(&shell, &path, &target, &linear);
            assert_eq!(
                all,
                found(&shell, &path, &target, &by_spheres),
                "{}",
                representation.name()
            );
            touching += usize::from(!all.is_empty());
            // The first of all, and one of all.
            let earliest = all
                .iter()
                .min_by(|a, b| (a.span.enter.total_cmp(&b.span.enter)).then(a.point.cmp(&b.point)));
            for by_spheres in [true, false] {
                let settings = SweepSettings {
                    wanted: SweepWanted::First,
                    by_spheres,
                    ..linear
                };
                let first = found(&shell, &path, &target, &settings);
                assert_eq!(
                    first.first().map(|first| (first.point, first.span.enter)),
                    earliest.map(|first| (first.point, first.span.enter))
                );
            }
            let settings = SweepSettings {
                wanted: SweepWanted::Whether,
                ..by_spheres
            };
            let any = found(&shell, &path, &target, &settings);
            assert_eq!(any.is_empty(), all.is_empty());
            assert!(
                any.iter()
                    .all(|any| all.iter().any(|one| one.point == any.point))
            );
        }
    }
    assert!((50..400).contains(&touching), "{touching} of 440 touch");
}

/// Where a level leaves the grid, values outside are less than those inside by up to the field's
/// error, which spheres must take into account.
#[test]
fn spheres_rule_out_nothing_that_touches_across_the_border_of_a_grid() {
    let shell = shell("gear", 300);
    let mesh = model("bowl");
    let size = mesh.bounds().diagonal();
    let mut touching = 0;
    for representation in ALL {
        let field = representation.bake(&mesh, 16).unwrap();
        let octree = FieldOctree::build(&field);
        let target = SweptField::stored(&field, Some(&octree));
        let (bounds, solid) = (field.bounds(), field.solid());
        let padding = f64::from((solid.min - bounds.min).min_element());
        let random = &mut Random::new(17);
        for _ in 0..if is_long() { 1000 } else { 60 } {
            // Along the border, turning little: many points stay near it for long.
            let from = random_pose(random, size);
            let near = |random: &mut Random| {
                let place = random.in_box(bounds.min.into(), bounds.max.into());
                let side = random.below(6);
                let mut place = place.as_vec3();
                place[side % 3] = [bounds.min, bounds.max][side / 3][side % 3];
                place
            };
            let path = ShellPath::Straight {
                from: Pose {
                    translation: near(random),
                    ..from
                },
                to: Pose {
                    translation: near(random),
                    ..from
                },
            };
            let by_spheres = SweepSettings {
                level: (padding + random.uniform(-0.02, 0.1) * size) as f32,
                ..SweepSettings::to_within(1e-4)
            };
            let linear = SweepSettings {
                by_spheres: false,
                ..by_spheres
            };
            let all = found(&shell, &path, &target, &linear);
            touching += all.len();
            let name = representation.name();
            assert!(
                all == found(&shell, &path, &target, &by_spheres),
                "{name}, {path:?}, {by_spheres:?}"
            );
            let first = SweepSettings {
                wanted: SweepWanted::First,
                ..linear
            };
            let by_spheres = SweepSettings {
                by_spheres: true,
                ..first
            };
            assert_eq!(
                found(&shell, &path, &target, &first),
                found(&shell, &path, &target, &by_spheres),
                "{name}, {path:?}"
            );
        }
    }
    assert!(touching > 1000, "{touching} spans");
}

/// Returns a path of a body that flies and spins, or of two such bodies.
fn random_motion(random: &mut Random, size: f64, turns: f64) -> PairMotion {
    let mut motion = || {
        let turn = random.uniform(0.0, turns) * std::f64::consts::TAU * random.unit_vector();
        let start = random_pose(random, size);
        Motion {
            start,
            center: (0.2 * size * random.unit_vector()).as_vec3(),
            translation: (-start.translation.as_dvec3() * random.uniform(0.0, 2.0)).as_vec3()
                + (0.3 * size * random.unit_vector()).as_vec3(),
            turn: turn.as_vec3(),
        }
    };
    let (a, b) = (motion(), motion());
    match random.below(2) {
        0 => PairMotion::of_b(b),
        _ => PairMotion::new(a, b),
    }
}

#[test]
fn bent_paths_lose_no_contact_and_tell_it_no_earlier_than_asked() {
    let shell = shell("mug", 150);
    let mesh = model("bowl");
    let size = mesh.bounds().diagonal();
    let settings = BakeSettings {
        resolution: Resolution::Nodes(32),
        ..Default::default()
    };
    let quiet = |_| ControlFlow::Continue(());
    let field = StoredField::Dense(bake_with(&mesh, &settings, &quiet).unwrap().field);
    let octree = FieldOctree::build(&field);
    let target = SweptField::stored(&field, Some(&octree));
    let random = &mut Random::new(23);
    let tolerance = 2e-4 * size as f32;
    let (mut touching, mut samples) = (0, 0);
    for _ in 0..if is_long() { 400 } else { 40 } {
        let motion = random_motion(random, size, 1.7);
        let path = ShellPath::Rigid(motion);
        let settings = SweepSettings::to_within(tolerance);
        let all = found(&shell, &path, &target, &settings);
        touching += usize::from(!all.is_empty());
        // Every point, in small steps: in contact there means in contact here.
        let steps = 300;
        for k in 0..=steps {
            let time = k as f32 / steps as f32;
            let pose = motion.at(time);
            for (index, &point) in shell.points().iter().enumerate() {
                let place = pose.transform_point(point);
                if field.distance(place) > -1e-5 {
                    continue;
                }
                samples += 1;
                let is_told = all.iter().any(|one| {
                    one.point == index as u32
                        && one.span.enter <= f64::from(time) + 1e-7
                        && f64::from(time) <= one.span.leave + 1e-7
                });
                assert!(
                    is_told,
                    "point {index} at {time} is {} deep",
                    field.distance(place)
                );
            }
        }
        // At both ends of a span the point is near the level.
        let near = 2.5 * octree.steepest() * tolerance;
        for one in &all {
            for time in [one.span.enter, one.span.leave] {
                let place = motion
                    .at(time as f32)
                    .transform_point(shell.points()[one.point as usize]);
                let inside = field.bounds().grown(-2.0 * tolerance).contains(place);
                assert!(
                    !inside || field.distance(place) <= near,
                    "told {} early",
                    field.distance(place)
                );
            }
        }
        // Spheres and the order of time change nothing beyond the tolerance.
        let linear = found(
            &shell,
            &path,
            &target,
            &SweepSettings {
                by_spheres: false,
                ..settings
            },
        );
        let earliest = |all: &[PointSpan]| {
            all.iter()
                .map(|one| one.span.enter)
                .fold(f64::INFINITY, f64::min)
        };
        let first = found(
            &shell,
            &path,
            &target,
            &SweepSettings {
                wanted: SweepWanted::First,
                ..settings
            },
        );
        let fastest = shell.points().iter().fold(0.0f32, |most, &point| {
            most.max(motion.speed_bound(point, 0.0, [0.0, 1.0]))
        });
        // A time at which the path is within the tolerance may be early by the duration of a graze,
        // so compare places.
        let (a, b, c) = (earliest(&all), earliest(&linear), earliest(&first));
        assert_eq!(a.is_finite(), c.is_finite());
        if a.is_finite() && b.is_finite() {
            let off = (a - c).abs().max((a - b).abs()) as f32 * fastest;
            assert!(off < 60.0 * tolerance, "{a} {b} {c}: {off} m apart");
        }
    }
    println!("{touching} motions touch, {samples} samples in contact");
    assert!(touching > 15 && samples > 1000);
}

#[test]
fn a_wheel_touches_the_ground_when_geometry_says_so() {
    // A spinning shell over a plane: the first point to touch, by the height of each point in f64.
    let shell = shell("gear", 400);
    let plane = HalfSpace::new(Vec3::Z, 0.0).unwrap();
    let target = SweptField::new(&plane);
    let random = &mut Random::new(31);
    for _ in 0..50 {
        let turn = (random.uniform(0.5, 10.0) * random.unit_vector()).as_vec3();
        let start = Pose {
            translation: Vec3::new(0.0, 0.0, 0.3),
            ..random_pose(random, 0.0)
        };
        let motion = PairMotion::of_b(Motion {
            start,
            center: Vec3::ZERO,
            translation: Vec3::new(1.0, 0.0, -0.5),
            turn,
        });
        let settings = SweepSettings {
            wanted: SweepWanted::First,
            ..SweepSettings::to_within(1e-5)
        };
        let first = found(&shell, &ShellPath::Rigid(motion), &target, &settings);
        let lowest = |time: f64| {
            let pose = motion.at(time as f32);
            let heights = shell
                .points()
                .iter()
                .map(|&p| f64::from(pose.transform_point(p).z));
            heights.fold(f64::INFINITY, f64::min)
        };
        let steps = 20_000;
        let crossing = (0..=steps)
            .map(|k| f64::from(k) / f64::from(steps))
            .find(|&t| lowest(t) <= 0.0);
        let time = first.first().map(|first| first.span.enter).unwrap();
        let exact = crossing.unwrap();
        // Early by the tolerance at most, at a speed of half a metre per motion or more.
        assert!(
            time <= exact + 1e-4 && lowest(time) < 3e-5,
            "{time} {exact} {}",
            lowest(time)
        );
    }
}

#[test]
fn what_is_no_motion_is_refused() {
    let shell = shell("gear", 100);
    let plane = HalfSpace::new(Vec3::Z, 0.0).unwrap();
    let target = SweptField::new(&plane);
    let ask = |path: ShellPath, settings: &SweepSettings| {
        let mut out = Vec::new();
        let scratch = &mut SweepScratch::default();
        sweep_shell(&shell, &path, &target, settings, scratch, &mut out).map(|()| out)
    };
    let settings = SweepSettings::to_within(1e-4);
    let bad = Pose::from_translation(Vec3::splat(f32::NAN));
    let straight = ShellPath::Straight {
        from: Pose::IDENTITY,
        to: bad,
    };
    assert_eq!(ask(straight, &settings), Err(SweptError::BadMotion));
    let spin = Motion {
        turn: Vec3::splat(f32::INFINITY),
        ..Motion::still(Pose::IDENTITY)
    };
    assert_eq!(
        ask(ShellPath::Rigid(PairMotion::of_b(spin)), &settings),
        Err(SweptError::BadMotion)
    );
    let still = ShellPath::Rigid(PairMotion::of_b(Motion::still(Pose::IDENTITY)));
    assert!(matches!(
        ask(still, &SweepSettings::to_within(0.0)),
        Err(SweptError::BadTolerance(_))
    ));
    let level = SweepSettings {
        level: f32::NAN,
        ..settings
    };
    assert!(matches!(ask(still, &level), Err(SweptError::BadLevel(_))));
    // Standing still is a motion: in contact all the time, or never.
    let out = ask(still, &settings).unwrap();
    assert!(
        out.iter()
            .all(|one| one.span.enter == 0.0 && one.span.leave == 1.0)
            && !out.is_empty()
    );
    // A thousand turns give an answer.
    let spin = Motion {
        turn: Vec3::new(0.0, 0.0, 6283.0),
        ..Motion::still(Pose::from_translation(Vec3::Z))
    };
    ask(ShellPath::Rigid(PairMotion::of_b(spin)), &settings).unwrap();
}
