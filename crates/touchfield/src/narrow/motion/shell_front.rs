//! Narrow phase: until when a moving shell proves that two bodies stay farther apart than a target.
//!
//! Input: two shapes of which one has a shell, a [`PairMotion`], a target, a part of the motion.
//! Output: a time until which the bodies are proven to be farther apart than the target.
//! Cost: that of `shell_sweep`: tens of microseconds for a whole motion; no allocation once the
//! buffers have grown.
//! Not for: the last part of an approach, a covering radius and an error of the field long, where
//! separations prove more; bodies that may overlap at the start.
//!
//! Measured in `bench/src/bin/first_touch.rs`: casts use it and `clearance` does not. Over a whole
//! motion, clearance looks for a level that is known only near its end, and was as fast without.
//! `sweep_shell` gives the same time to the rounding of `f64`, but takes several times as long as
//! the halvings here, which end where a separation proves more.
//!
//! **Why it is a proof.** Let c be the covering radius of the shell of B and E the error of the
//! field of A. While every point of the shell has a value above target + c + E in the field of A,
//! its true distance from A is above target + c, and every place of the surface of B is within c of
//! a point of the shell, so it is farther from A than the target. Bodies that are apart at the
//! start stay so, for one gets into the other only through its surface. The same holds with A and B
//! exchanged; the pair of shell and field with the smaller c + E is used.

use crate::field::Meaning;
use crate::geom::PairMotion;
use crate::narrow::motion::shell_sweep::{Level, MovingShell, Part, ShellSweepScratch};
use crate::narrow::pair::Pair;
use crate::narrow::separation::answer::rounding;
use crate::shape::Shape;

/// Maximum number of field values per search: some hundred microseconds, about the time of one
/// separation of bodies near each other. Not tuned. With fewer, paths along a surface are cut short
/// before the shell has proven what it can; with more, such paths may cost more than they save.
const MAX_LOOKS: u32 = 1 << 13;

/// Fraction of the covering radius and error that the search may leave. Not tuned.
const LEFT_SHARE: f32 = 0.25;

/// The shell of one of two moving bodies, in the frame of the other's field.
pub(crate) struct ShellFront<'a> {
    field_of: &'a Shape,
    shell_of: &'a Shape,
    field_from_shell: PairMotion,
    /// Sum of the covering radius and the rounding of places \[m\].
    reach: f32,
    /// Error bound of the field \[m\].
    error: f32,
}

impl<'a> ShellFront<'a> {
    /// Builds the front with the smaller gap, or returns `None` if neither body has a shell that
    /// covers its surface.
    pub(crate) fn of(a: &'a Shape, b: &'a Shape, motion: &PairMotion) -> Option<ShellFront<'a>> {
        let rounding = largest_rounding(a, b, motion);
        let front = |field_of: &'a Shape, shell_of: &'a Shape, motion: PairMotion| {
            let shell = shell_of.shell()?;
            let (covering, error) = (shell.covering_radius(), field_of.field().error_bound());
            // The solid of a surface with holes is not covered by the shell, and its field is off
            // by as much.
            let is_covered = shell_of.field().error_bound() <= 2.0 * covering;
            let is_distance = field_of.field().meaning() == Meaning::Distance;
            let reach = covering + rounding;
            let usable = is_covered && is_distance && (reach + error).is_finite();
            (usable && !shell.tree().nodes().is_empty()).then_some(ShellFront {
                field_of,
                shell_of,
                field_from_shell: motion,
                reach,
                error,
            })
        };
        let of_b = front(a, b, *motion);
        let of_a = front(b, a, motion.flipped());
        match (of_b, of_a) {
            (Some(of_b), Some(of_a)) if of_a.least_gap() < of_b.least_gap() => Some(of_a),
            (of_b, of_a) => of_b.or(of_a),
        }
    }

    /// Returns the gap above the target below which nothing can be proven \[m\].
    pub(crate) fn least_gap(&self) -> f32 {
        self.reach + self.error
    }

    /// Returns a time until which bodies that are apart at the first of `times` are proven to stay
    /// farther apart than `target` \[m\], or than 0 if that is more. It is at most the second of
    /// `times`.
    pub(crate) fn free_until(
        &self,
        target: f32,
        times: [f32; 2],
        scratch: &mut ShellSweepScratch,
    ) -> f32 {
        let Some(shell) = self.shell_of.shell() else {
            return times[0];
        };
        let moving = MovingShell {
            field: self.field_of.field(),
            shell,
            motion: &self.field_from_shell,
        };
        let part = Part {
            times,
            max_looks: MAX_LOOKS,
        };
        let level = Level::Same((target.max(0.0) + self.reach).next_up());
        let left = LEFT_SHARE * self.least_gap();
        let below = moving.first_below_during(level, left, &part, scratch);
        below.map_or(times[1], |below| below.time.clamp(times[0], times[1]))
    }
}

/// Returns the rounding error of places transformed in `f32`, over the whole motion \[m\].
fn largest_rounding(a: &Shape, b: &Shape, motion: &PairMotion) -> f32 {
    let start = Pair {
        a,
        b,
        a_from_b: motion.at(0.0),
    };
    // The largest coordinate grows by as much as the origin of B moves.
    let moved = motion.speed_bound(glam::Vec3::ZERO, 0.0, [0.0, 1.0]);
    rounding(&start) + 8.0 * f32::EPSILON * moved
}
