//! Finds all time intervals in which a moving body is in contact, exactly, and compares them with
//! sub-stepping, which sees only the sampled times.
//!
//! Input: shell points of B, the motion of B in the frame of A, and a baked field with an octree.
//! Output: contact intervals within the step, each from `enter` to `leave` as
//! fractions of it.
//!
//! `cargo run -p touchfield --example 19_swept_points`
#![allow(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;

use glam::{Quat, Vec3};
use touchfield::bake::pointshell::{ShellDensity, ShellSettings, shell_of_field};
use touchfield::bake::{BakeSettings, Resolution, bake};
use touchfield::field::primitive::Torus;
use touchfield::field::{Field, FieldOctree, StoredField};
use touchfield::geom::{Motion, PairMotion, Pose};
use touchfield::mesh::generate::{TorusKnot, torus_knot};
use touchfield::narrow::swept_points::{
    PointSpan, ShellPath, Span, SweepScratch, SweepSettings, SweptField, sweep_shell,
};

/// Returns the union of the contact intervals of all points, sorted by time.
fn intervals(points: &[PointSpan]) -> Vec<Span> {
    let mut all: Vec<Span> = points.iter().map(|point| point.span).collect();
    all.sort_unstable_by(|a, b| a.enter.total_cmp(&b.enter));
    all.dedup_by(|next, kept| {
        let meets = next.enter <= kept.leave;
        if meets {
            kept.leave = kept.leave.max(next.leave);
        }
        meets
    });
    all
}

fn main() -> Result<(), Box<dyn Error>> {
    // A torus knot as a field, with an octree over its cells that lets the sweep skip distant
    // blocks.
    let settings = BakeSettings {
        resolution: Resolution::Nodes(64),
        ..Default::default()
    };
    let knot = torus_knot(TorusKnot::default())?;
    let field = StoredField::from(bake(&knot, &settings)?.field);
    let octree = FieldOctree::build(&field);
    let target = SweptField::stored(&field, Some(&octree));
    let size = field.solid().diagonal();

    // A thin ring as shell points. It flies through the knot and tumbles three times on the way.
    let ring = Torus::new(0.12 * size, 0.01 * size)?;
    let settings = ShellSettings {
        density: ShellDensity::Points(3000),
        ..Default::default()
    };
    let shell = shell_of_field(&ring, 0.005 * size, &settings)?;
    let middle = field.solid().center();
    let motion = PairMotion::of_b(Motion {
        start: Pose {
            rotation: Quat::from_rotation_y(0.4),
            translation: middle + size * Vec3::new(-0.9, 0.05, 0.02),
        },
        center: Vec3::ZERO,
        translation: size * Vec3::new(1.8, 0.0, 0.0),
        turn: Vec3::new(0.0, 6.0, 18.0),
    });

    // All contacts of all points. On curved paths contact is never reported late, and early by no
    // more than this distance [m].
    let tolerance = 1e-5 * size;
    let settings = SweepSettings::to_within(tolerance);
    let mut points = Vec::new();
    sweep_shell(
        &shell,
        &ShellPath::Rigid(motion),
        &target,
        &settings,
        &mut SweepScratch::default(),
        &mut points,
    )?;
    let found = intervals(&points);
    println!("{} points, {} spans", shell.points().len(), points.len());
    for span in &found {
        println!("in contact from {:.6} to {:.6}", span.enter, span.leave);
    }
    assert!(!found.is_empty(), "the way leads through the knot");

    // Sub-stepping agrees at every step, except for grazing contacts as shallow as the tolerance.
    const STEPS: u16 = 1000;
    let (mut touching, mut unseen) = (0, found.clone());
    for step in 0..=STEPS {
        let time = f32::from(step) / f32::from(STEPS);
        let pose = motion.at(time);
        let values = (shell.points().iter()).map(|&p| field.distance(pose.transform_point(p)));
        let least = values.fold(f32::INFINITY, f32::min);
        let inside = |span: &Span| (span.enter..=span.leave).contains(&f64::from(time));
        let is_told = found.iter().any(inside);
        assert!(
            is_told == (least <= 0.0) || least.abs() <= 4.0 * tolerance,
            "at {time}: {least} m"
        );
        touching += u32::from(least <= 0.0);
        unseen.retain(|span| !inside(span));
    }
    println!("{touching} of {STEPS} steps in contact, and no step says otherwise");
    println!(
        "{} of {} intervals lie between two steps",
        unseen.len(),
        found.len()
    );
    Ok(())
}
