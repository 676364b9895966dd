//! Upper bound of the distance to a solid, by a point that is surely inside.
//!
//! Input: a cell, a field whose gradient is followed, a proven upper bound of its distance at
//! single points.
//! Output: an upper bound of the true distance over the cell; infinite if no such point was found.
//! Cost: at most [`STEPS`] samples and bounds.
//! Not for: fields that are true distances, which are bounded directly.
//!
//! Outside an intersection or a shrunk solid the value is only a lower bound. But a point `y` whose
//! true distance is at most `v ≤ 0` bounds the distance of every `x` by `|x − y| + v`, and walking
//! down the gradient mostly finds one.

use glam::Vec3;

use crate::field::bounds::rounding;
use crate::field::bounds::rounding::CellBall;
use crate::field::field::Sample;
use crate::geom::Aabb;

/// Maximum steps of the walk. Tuned: a lens of two balls takes 3 from a few radii away, a wedge of
/// 30° takes 9, one of 10° is not found (the bound is then infinite, which is still valid). An
/// empty solid always takes all steps.
const STEPS: usize = 16;
/// Factor by which each step exceeds Newton's step, so that it ends inside and not on the surface.
/// Tuned: with 1 a wedge of 60° is not found, with 2 the lens takes 5 steps.
const STRIDE: f32 = 1.5;

/// Returns an upper bound of the true distance over `cell` \[m\].
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
        // Newton's step: the gradient of a bound may be shorter than one, and then the zero is
        // farther away than the value.
        let slope = sample(witness).gradient;
        let step = slope / slope.length_squared() * (STRIDE * upper);
        if !step.is_finite() {
            break;
        }
        witness -= step;
    }
    f32::INFINITY
}
