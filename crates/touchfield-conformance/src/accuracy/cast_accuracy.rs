//! Accuracy of the time of impact of casts: the table of casts in docs/ACCURACY.md.
//!
//! Input: none; random motions of solids with exact times of impact, from fixed seeds.
//! Output: Markdown.
//! Cost: a second or two.
//! Not for: bodies without a formula, which `tests/cast_tunnelling.rs` follows in small steps.

use std::fmt::Write;
use std::sync::Arc;

use touchfield::bake::{BakeSettings, Resolution, bake};
use touchfield::field::StoredField;
use touchfield::narrow::{Cast, CastScratch, cast};
use touchfield::shape::Shape;

use crate::cast_cases::{BALL, BOX, CAPSULE, Case, GROUND, Moves};
use crate::contact_truth::Solid;
use crate::meshes;
use crate::random::Random;

type Problem = Box<dyn std::error::Error>;

/// Motions per pair and kind of motion.
const MOTIONS: usize = 200;
/// Tolerance of the casts \[m\].
const TOLERANCE: f32 = 1e-3;
/// Nodes along the longest side of the baked box.
const NODES: u32 = 48;

const PAIRS: [(&str, [usize; 2]); 5] = [
    ("ball and ball", [BALL, BALL]),
    ("ball and half-space", [BALL, GROUND]),
    ("ball and box", [BALL, BOX]),
    ("capsule and half-space", [CAPSULE, GROUND]),
    ("box and half-space", [BOX, GROUND]),
];

const INTRODUCTION: &str = "
## Casts

First touches of bodies about a metre in size, compared with exact times of impact in `f64`; 200
random motions per row, with a tolerance of 1 mm. *Freely*: both bodies move and rotate, up to two
turns, about points off their centres. The error at the time is the distance by which the bodies are
apart or overlap at the reported touch. The error at the lower bound is how far apart they still are
where the proof ends. The last pair uses the box as a dense field of 48 nodes along its longest
side, with a bound of 0.87 cells: its proof ends up to twice that earlier, and its corners are
rounded off. *Broken* counts proofs that extend past the exact touch. *Missed* counts touches that
were not found; for the baked box, those deeper than twice its error.

| model | moves | error at the time [m] | error at the lower bound [m] | broken | missed |
|---|---|---|---|---|---|
";

/// Returns the section of docs/ACCURACY.md.
pub fn section() -> Result<String, Problem> {
    let mut text = INTRODUCTION.to_owned();
    for (name, kinds) in PAIRS {
        for moves in [Moves::Straight, Moves::Freely] {
            text += &row(name, kinds, moves, MOTIONS, closed)?;
        }
    }
    for moves in [Moves::Straight, Moves::Freely] {
        // Every case bakes its own fields.
        text += &row("ball and baked box", [BALL, BOX], moves, MOTIONS / 4, baked)?;
    }
    Ok(text)
}

/// The bodies of a case, and the error bound of their fields \[m\].
type Bodies = ([Shape; 2], f64);

fn closed(case: &Case) -> Result<Bodies, Problem> {
    Ok((case.solids.map(Solid::shape), 0.0))
}

fn baked(case: &Case) -> Result<Bodies, Problem> {
    let [ball, solid] = case.solids;
    let shape = baked_box(solid)?;
    let error = f64::from(shape.field().error_bound());
    Ok(([ball.shape(), shape], error))
}

fn baked_box(solid: Solid) -> Result<Shape, Problem> {
    let Solid::Box { half } = solid else {
        return Err("no box".into());
    };
    let mesh = meshes::squeezed(meshes::cube(1), half);
    let settings = BakeSettings {
        resolution: Resolution::Nodes(NODES),
        ..Default::default()
    };
    let baked = bake(&mesh, &settings)?;
    Ok(Shape::stored(Arc::new(StoredField::from(baked.field))))
}

fn row(
    name: &str,
    kinds: [usize; 2],
    moves: Moves,
    motions: usize,
    bodies: fn(&Case) -> Result<Bodies, Problem>,
) -> Result<String, Problem> {
    let mut random = Random::new(61);
    let mut scratch = CastScratch::default();
    let mut worst = Worst::default();
    for _ in 0..motions {
        let case = Case {
            target: 0.0,
            tolerance: TOLERANCE,
            ..Case::random(kinds, moves, &mut random)
        };
        let ([a, b], error) = bodies(&case)?;
        let found = cast(&a, &b, &case.pair(), &case.settings(), &mut scratch)?;
        worst.add(&case, &found, error);
    }
    let moves = match moves {
        Moves::Straight => "straight",
        Moves::Freely => "freely",
    };
    let Worst {
        at_time,
        at_lower,
        broken,
        missed,
    } = worst;
    let mut text = String::new();
    writeln!(
        text,
        "| {name} | {moves} | {at_time:.1e} | {at_lower:.1e} | {broken} | {missed} |"
    )?;
    Ok(text)
}

#[derive(Default)]
struct Worst {
    /// Largest true separation at the reported time \[m\].
    at_time: f64,
    /// Largest true separation at the lower bound \[m\].
    at_lower: f64,
    broken: usize,
    missed: usize,
}

impl Worst {
    fn add(&mut self, case: &Case, found: &Cast, error: f64) {
        let truth = case.truth();
        let [time, lower] = [found.impact.time, found.impact.lower_bound].map(f64::from);
        if let Some(exact) = truth.first(0.0) {
            self.broken += usize::from(lower > exact + 1e-9);
        }
        if found.is_hit() {
            self.at_time = self.at_time.max(truth.separation(time).abs());
            self.at_lower = self.at_lower.max(truth.separation(lower));
        } else {
            let deep = truth.first(-2.0 * error - case.rounding());
            self.missed += usize::from(deep.is_some());
        }
    }
}
