//! Casts whose first part a shell proves free, compared with exact times in `f64` and with casts by
//! separation queries alone.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::sync::Arc;

use glam::Vec3;
use touchfield::bake::pointshell::{ShellDensity, ShellSettings, shell_of_mesh};
use touchfield::bake::{BakeSettings, Resolution, bake};
use touchfield::field::StoredField;
use touchfield::geom::{Motion, PairMotion, Pose};
use touchfield::narrow::{Cast, CastOutcome, CastScratch, CastSettings, cast};
use touchfield::shape::Shape;
use touchfield_conformance::cast_cases::{BALL, BOX, Case, GROUND, Moves};
use touchfield_conformance::contact_truth::Solid;
use touchfield_conformance::meshes::icosphere;
use touchfield_conformance::random::Random;
use touchfield_conformance::shells;

/// Returns the closed form with a coarse shell where one exists. Its covering radius is a large
/// part of the body's size.
fn shape(solid: Solid) -> Shape {
    match solid {
        Solid::Ball { radius } => solid
            .shape()
            .with_shell(Arc::new(shells::sphere(radius as f32, 40))),
        Solid::Box { half } => solid
            .shape()
            .with_shell(Arc::new(shells::cuboid(half.as_vec3(), 3))),
        _ => solid.shape(),
    }
}

fn both(a: &Shape, b: &Shape, motion: &PairMotion, settings: &CastSettings) -> [Cast; 2] {
    [true, false].map(|by_shells| {
        let settings = CastSettings {
            by_shells,
            ..*settings
        };
        cast(a, b, motion, &settings, &mut CastScratch::default()).unwrap()
    })
}

/// Checks random cases and returns the numbers of states with shells and without.
fn holds(kinds: [usize; 2], moves: Moves) -> [u32; 2] {
    let mut random = Random::new(4100 + 10 * kinds[0] as u64 + kinds[1] as u64);
    let (mut states, mut hits, mut free) = ([0; 2], 0, 0);
    for _ in 0..300 {
        let case = Case::random(kinds, moves, &mut random);
        let [a, b] = case.solids.map(shape);
        let found = both(&a, &b, &case.pair(), &case.settings());
        let truth = case.truth();
        let (target, rounding) = (f64::from(case.target), case.rounding());
        let exact = truth.first(target);
        let context = format!("exact {exact:?}, {found:?}, {case:?}");
        let resolved = 4.0 * f64::from(f32::EPSILON) * truth.fastest();
        let tolerance = f64::from(case.tolerance).max(resolved);
        for (count, cast) in states.iter_mut().zip(&found) {
            *count += cast.steps;
            let (time, lower) = (
                f64::from(cast.impact.time),
                f64::from(cast.impact.lower_bound),
            );
            if let Some(exact) = exact {
                assert!(lower <= exact + 1e-9, "proven too much: {context}");
            }
            match cast.outcome {
                CastOutcome::Hit => {
                    let apart = truth.separation(time);
                    assert!(apart <= target + tolerance + rounding, "early: {context}");
                    assert!(apart >= target - rounding - tolerance, "late: {context}");
                    // The proof still ends where the bodies are as near as the tolerance requires.
                    let most = target + 2.0 * (tolerance + rounding);
                    assert!(truth.separation(lower) <= most, "wide: {context}");
                }
                CastOutcome::Free => assert!(exact.is_none(), "missed: {context}"),
                _ => {}
            }
        }
        hits += usize::from(found[0].is_hit());
        free += usize::from(found[0].outcome == CastOutcome::Free);
    }
    assert!(hits > 30 && free > 10, "{hits} hits, {free} free");
    states
}

#[test]
fn a_shell_proves_no_more_than_is_true_and_saves_states() {
    let mut total = [0; 2];
    for moves in [Moves::Straight, Moves::Freely] {
        for kinds in [[BALL, BALL], [BALL, BOX], [GROUND, BOX], [BALL, GROUND]] {
            let [with, without] = holds(kinds, moves);
            total = [total[0] + with, total[1] + without];
            // Straight down onto a half-space one step is as long as the proof of a shell, so
            // nothing is saved.
            assert!(
                f64::from(with) < 1.01 * f64::from(without),
                "{kinds:?} {moves:?}: {with} and {without} states"
            );
        }
    }
    let [with, without] = total;
    assert!(
        f64::from(with) < 0.95 * f64::from(without),
        "{with} and {without} states"
    );
}

/// Returns a faceted ball as a baked field, with a shell of its vertices.
fn baked_ball() -> Shape {
    let mesh = icosphere(0.3, 3);
    let settings = BakeSettings {
        resolution: Resolution::Nodes(40),
        ..Default::default()
    };
    let field = Arc::new(StoredField::Dense(bake(&mesh, &settings).unwrap().field));
    let settings = ShellSettings {
        density: ShellDensity::Spacing(field.finest_cell_size()),
        ..Default::default()
    };
    let shell = shell_of_mesh(&mesh, &*field, &settings).unwrap();
    Shape::stored(field).with_shell(Arc::new(shell))
}

#[test]
fn baked_bodies_are_proven_free_as_far_as_without_shells() {
    let ball = baked_ball();
    let mut random = Random::new(42);
    let cell = f64::from(ball.cell_size());
    for _ in 0..100 {
        let aim = random.uniform(0.0, 0.9);
        let b = Motion {
            start: Pose::from_translation(Vec3::new(-2.0, aim as f32, 0.0)),
            center: (0.1 * random.unit_vector()).as_vec3(),
            translation: Vec3::new(4.0, 0.0, 0.0),
            turn: (random.unit_vector() * random.uniform(0.0, 9.0)).as_vec3(),
        };
        let motion = PairMotion::of_b(b);
        let settings = CastSettings::to_within(1e-3);
        let [with, without] = both(&ball, &ball, &motion, &settings);
        // Facets lie within the ball: the ball is touched no later than its facets.
        let gap = |time: f32| f64::from(motion.at(time).translation.length()) - 0.6;
        let least = (0..=4000)
            .map(|k| gap(f32::from(k as u16) / 4000.0))
            .fold(f64::INFINITY, f64::min);
        let context = format!("{with:?} {without:?} {b:?} {least}");
        assert_eq!(with.is_hit(), without.is_hit(), "{context}");
        if with.is_hit() {
            assert!(least < 0.1 * cell, "{context}");
            let ends = [&with, &without].map(|cast| cast.impact.lower_bound);
            assert!((ends[0] - ends[1]).abs() < 2e-3, "{context}");
            assert!(with.impact.lower_bound <= with.impact.time, "{context}");
        }
        if with.outcome == CastOutcome::Free {
            assert!(least > -0.02, "{context}");
        }
    }
}
