//! How far away a solid is at most: by a point that is surely inside.
//!
//! Input: a cell, a field to walk down, a certain upper bound of its distance at single points.
//! Output: an upper bound of the true distance over the cell; infinite if no such point was found.
//! Cost: at most [`STEPS`] samples and bounds. Not for: fields that are distances; theirs is known at once.
//!
//! Outside an intersection or a shrunk solid the value says only "at least". But a point `y` whose true distance is at
//! most `v ≤ 0` bounds the distance of every `x` by `|x − y| + v`, and walking down the gradient mostly finds one.

use glam::Vec3;

use crate::field::bounds::rounding;
use crate::field::bounds::rounding::CellBall;
use crate::field::field::Sample;
use crate::geom::Aabb;

/// Steps of the walk. Tuned: a lens of two balls takes 3 from a few radii away, a wedge of 30° takes 9, one of 10° is
/// not found (then the bound is infinite, still true); an empty solid always pays for all.
const STEPS: usize = 16;
/// Each step goes this much farther than the value asks, so that it ends inside and not on the surface. Tuned: with 1 a
/// wedge of 60° is not found, with 2 the lens takes 5 steps.
const STRIDE: f32 = 1.5;

/// Upper bound of the true distance over `cell` \[m\].
///
/// `upper_at` is no less than the true distance wherever it is not positive.
pub(crate) fn upper_end(
    cell: Aabb,
    sample: impl Fn(Vec3) -> Sample,
    upper_at: impl Fn(Vec3) -> f32,
) -> f32 {
    let Some(ball) = CellBall::of(cell) else {
        return f32::INFINITY;
    };
    let mut witness = ball.center;
    for _ in 0..STEPS {
        let upper = upper_at(witness);
        if upper <= 0.0 {
            let magnitude = ball.magnitude + witness.abs().max_element();
            let way = rounding::length(witness - ball.center);
            return way + ball.radius + upper + rounding::slack(magnitude);
        }
        // Newton's step: a bound's gradient may be short, and then its zero is farther than its value.
        let slope = sample(witness).gradient;
        let step = slope / slope.length_squared() * (STRIDE * upper);
        if !step.is_finite() {
            break;
        }
        witness -= step;
    }
    f32::INFINITY
}
