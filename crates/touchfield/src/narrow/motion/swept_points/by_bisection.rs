//! When a moving point is in contact with a field that has no cells: closed forms, and what lies outside a grid.
//!
//! Input: the distance as a function of time, and how fast it can change. Output: spans, to a resolution.
//! Cost: a value a halving; only what may cross the level is halved. Not for: grids, which know their polynomials.

use std::ops::ControlFlow;

use crate::field::along_line::line::Times;
use crate::field::along_line::piece::Piece;
use crate::narrow::motion::swept_points::spans::Collector;

/// Halvings of the whole motion: times are known to 8e-6 of it, and a dip below the level that is shallower than what the field can
/// change in half that time may be missed.
const MOST_HALVINGS: u32 = 17;

/// A distance along a path.
pub(super) struct Path<F> {
    pub(super) distance: F,
    /// The distance changes by no more than this in the whole motion's time \[m\],
    pub(super) speed: f64,
    /// and by this at once \[m\].
    pub(super) jump: f64,
}

impl<F: Fn(f64) -> f64> Path<F> {
    /// Tells the collector of all pieces between two times, in order.
    pub(super) fn cross(&self, times: Times, out: &mut Collector<'_>) -> ControlFlow<()> {
        let ends = times.map(&self.distance);
        self.halve(times, ends, out, MOST_HALVINGS)
    }

    /// When the distance may first be at or below a level between two times: no later than it is, and `None` only if it never is. A few values, each as far on as the
    /// last allows; what is not farther than `within` counts as there.
    pub(super) fn may_begin(&self, [from, to]: Times, level: f64, within: f64) -> Option<f64> {
        /// Not tuned: a path that is aimed at the level is there after two, one along it would take any number.
        const VALUES: u32 = 6;
        let mut time = from;
        for _ in 0..VALUES {
            let free = (self.distance)(time) - level - self.jump;
            if free > self.speed * (to - time) {
                return None;
            }
            if free <= within || free.is_nan() {
                break;
            }
            time += free / self.speed;
        }
        Some(time)
    }

    fn halve(
        &self,
        times: Times,
        ends: [f64; 2],
        out: &mut Collector<'_>,
        left: u32,
    ) -> ControlFlow<()> {
        let level = f64::from(out.level);
        let [above_start, above_end] = ends.map(|end| end - level);
        let change = self.speed * (times[1] - times[0]) + 2.0 * self.jump;
        if above_start > 0.0 && above_end > 0.0 && above_start + above_end > change {
            return out.above(times);
        }
        if above_start <= 0.0 && above_end <= 0.0 && -(above_start + above_end) >= change {
            return out.below(times);
        }
        let middle = 0.5 * (times[0] + times[1]);
        // Where values jump by more than a step can change them, smaller steps tell no more.
        let is_fine = 8.0 * self.speed * (times[1] - times[0]) <= self.jump;
        if left == 0 || is_fine || middle <= times[0] || middle >= times[1] {
            // A line, between what is known.
            let line = [ends[0], ends[1] - ends[0], 0.0, 0.0, 0.0];
            return out.visit(times, Piece::Polynomial(line));
        }
        let between = (self.distance)(middle);
        self.halve([times[0], middle], [ends[0], between], out, left - 1)?;
        self.halve([middle, times[1]], [between, ends[1]], out, left - 1)
    }
}
