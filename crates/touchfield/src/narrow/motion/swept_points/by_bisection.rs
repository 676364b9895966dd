//! Finds when a moving point is in contact with a field that has no cells: closed forms, and the
//! outside of a grid.
//!
//! Input: the distance as a function of time, and a bound of its rate of change.
//! Output: spans, to a resolution.
//! Cost: one value per halving; only intervals that may cross the level are halved.
//! Not for: grids, whose pieces are polynomials.

use std::ops::ControlFlow;

use crate::field::along_line::line::Times;
use crate::field::along_line::piece::Piece;
use crate::narrow::motion::swept_points::spans::Collector;

/// Maximum number of halvings of the whole motion: times are resolved to 8e-6 of it, and a dip
/// below the level that is shallower than the change of the field in half that time may be missed.
const MOST_HALVINGS: u32 = 17;

/// The distance along a path, as a function of time.
pub(super) struct Path<F> {
    pub(super) distance: F,
    /// Maximum change of the distance over the whole motion, jumps apart \[m\].
    pub(super) speed: f64,
    /// Maximum jump of the distance \[m\].
    pub(super) jump: f64,
}

impl<F: Fn(f64) -> f64> Path<F> {
    /// Passes all pieces between two times to the collector, in order.
    pub(super) fn cross(&self, times: Times, out: &mut Collector<'_>) -> ControlFlow<()> {
        let ends = times.map(&self.distance);
        self.halve(times, ends, out, MOST_HALVINGS)
    }

    /// Returns a lower bound of the time at which the distance is first at or below a level, or
    /// `None` if it is proven never to be. It takes a few values, each as far ahead as the last
    /// allows, and stops within `within` \[m\] of the level.
    pub(super) fn may_begin(&self, [from, to]: Times, level: f64, within: f64) -> Option<f64> {
        /// Maximum number of values. Not tuned: a path aimed at the level arrives after two, one
        /// along it would take any number.
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
        // Where values jump by more than a step can change them, smaller steps add no information.
        let is_fine = 8.0 * self.speed * (times[1] - times[0]) <= self.jump;
        if left == 0 || is_fine || middle <= times[0] || middle >= times[1] {
            // Interpolate linearly between the known values.
            let line = [ends[0], ends[1] - ends[0], 0.0, 0.0, 0.0];
            return out.visit(times, Piece::Polynomial(line));
        }
        let between = (self.distance)(middle);
        self.halve([times[0], middle], [ends[0], between], out, left - 1)?;
        self.halve([middle, times[1]], [between, ends[1]], out, left - 1)
    }
}
