//! Narrow phase: the least separation of two bodies over a whole motion, and its time, with a
//! proven bracket.
//!
//! Input: two shapes, a [`PairMotion`], a tolerance.
//! Output: a [`Clearance`], whose bounds hold the true least separation, field errors and rounding
//! included.
//! Cost: some dozen separations; precise ones only near the least. While bodies slide past each
//! other at the least separation, one for every two tolerances of their path. No allocation once
//! the buffers have grown.
//! Not for: the first touch, which `cast` finds with less work.
//!
//! The separation changes no faster than the fastest point moves (`travel` has the proof). So
//! between two times it stays above two lines that fall from its bounds there at that speed. The
//! time at which the lines meet is evaluated next \[Piyavskii1972\], best-first, as `separation`
//! does over boxes.

use glam::Vec3;

use crate::geom::{PairMotion, Pose};
use crate::narrow::motion::travel::{
    MAX_BOXES_A_STATE, MotionError, Travel, carried, search_tolerance,
};
use crate::narrow::pair::Pair;
use crate::narrow::pair::check_tolerance;
use crate::narrow::scratch::SeparationScratch;
use crate::narrow::search::least_first::{LeastFirst, Open};
use crate::narrow::separation::answer::{Precision, SeparationSettings, rounding};
use crate::narrow::separation::answer::{Separation, SeparationOutcome};
use crate::narrow::separation::search::separation_above;
use crate::shape::Shape;
use crate::threads;

/// Settings of a clearance query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClearanceSettings {
    /// Maximum width of the bracket that the search may leave \[m\]. The errors of the fields come
    /// on top, and what `f32` cannot resolve of times and places.
    pub tolerance: f32,
    /// Separation at or below which no further search is needed \[m\]. Use 0 to stop at any
    /// overlap, which has no clearance, and −∞ to find the deepest overlap.
    pub floor: f32,
    /// Maximum number of states. Beyond it the search gives up with the bracket it has.
    pub max_steps: u32,
    /// Maximum number of boxes over all states. Beyond it the search gives up.
    pub max_boxes: u64,
}

impl ClearanceSettings {
    /// Default for [`Self::max_steps`].
    pub const MAX_STEPS: u32 = 10_000;
    /// Default for [`Self::max_boxes`]: some seconds of work.
    pub const MAX_BOXES: u64 = 1 << 24;

    /// Returns settings for a bracket of width `tolerance` \[m\].
    pub fn to_within(tolerance: f32) -> ClearanceSettings {
        ClearanceSettings {
            tolerance,
            floor: 0.0,
            max_steps: ClearanceSettings::MAX_STEPS,
            max_boxes: ClearanceSettings::MAX_BOXES,
        }
    }
}

/// Reasons why the search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClearanceOutcome {
    /// The bracket is within the tolerance.
    Converged,
    /// The separation is proven to be at or below the floor at the reported time. How far below was
    /// not computed.
    BelowFloor,
    /// The limit of states or boxes was reached. The bracket holds, but is wider than the
    /// tolerance.
    GaveUp,
}

/// Least separation of two bodies over a motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clearance {
    /// Best estimate of the least separation, between the bounds \[m\]; negative where the bodies
    /// overlap.
    pub separation: f32,
    /// Proven lower bound of the separation during the whole motion \[m\].
    pub lower_bound: f32,
    /// Proven upper bound of the least separation \[m\].
    pub upper_bound: f32,
    /// Time of the estimate as a fraction of the motion, from 0 to 1; one of them if there are
    /// several.
    pub time: f32,
    /// Point midway between the bodies at `time`, in frame A at that time \[m\].
    pub point: Vec3,
    /// Unit normal from A to B at `time`, in frame A at that time.
    pub normal: Vec3,
    /// Tolerance of the search \[m\]: the one in the settings, or the resolution of `f32` times at
    /// the speed of the bodies if that is coarser.
    pub tolerance: f32,
    /// Number of states evaluated.
    pub steps: u32,
    /// Number of boxes visited, over all states.
    pub boxes: u64,
    /// Reason why the search ended.
    pub outcome: ClearanceOutcome,
}

/// Scratch buffers of a clearance search, reused from call to call.
#[derive(Debug, Default)]
pub struct ClearanceScratch {
    separation: SeparationScratch,
    heap: LeastFirst<Piece>,
}

/// Computes the least separation over a motion.
pub fn clearance(
    a: &Shape,
    b: &Shape,
    motion: &PairMotion,
    settings: &ClearanceSettings,
    scratch: &mut ClearanceScratch,
) -> Result<Clearance, MotionError> {
    check_tolerance(settings.tolerance)?;
    if settings.floor.is_nan() {
        return Err(MotionError::BadTarget(settings.floor));
    }
    scratch.separation.convex.clear();
    let travel = Travel::new(a, b, motion)?;
    let search = Search {
        a,
        b,
        motion,
        tolerance: settings.tolerance.max(travel.resolved()),
        travel,
        floor: settings.floor,
        max_steps: settings.max_steps,
        max_boxes: settings.max_boxes,
        steps: 0,
        boxes: 0,
        upper: f32::INFINITY,
        scratch: &mut scratch.separation,
    };
    search.run(&mut scratch.heap)
}

/// Computes the least separations over many motions of two bodies, in parallel; results are in the
/// order of the motions.
pub fn clearance_many(
    a: &Shape,
    b: &Shape,
    motions: &[PairMotion],
    settings: &ClearanceSettings,
) -> Vec<Result<Clearance, MotionError>> {
    /// Number of motions per thread task. Each takes as long as dozens of separations: longer
    /// pieces would make threads wait for the last one.
    const PIECE: usize = 8;
    threads::map_sharing(motions, PIECE, |motion, scratch| {
        clearance(a, b, motion, settings, scratch)
    })
}

/// An interval of time, and a starting point for searches in it.
#[derive(Clone, Copy, Debug)]
struct Piece {
    times: [f32; 2],
    /// Proven lower bounds of the separation at both times \[m\].
    lowers: [f32; 2],
    point: Vec3,
    a_from_b: Pose,
}

/// Separation at one time.
#[derive(Clone, Copy)]
struct State {
    time: f32,
    a_from_b: Pose,
    /// Separation whose bounds hold for the motion itself, not only for the rounded pose.
    found: Separation,
}

struct Search<'a> {
    a: &'a Shape,
    b: &'a Shape,
    motion: &'a PairMotion,
    travel: Travel,
    /// Tolerance of the settings, or the resolution of times in `f32` if that is coarser \[m\].
    tolerance: f32,
    floor: f32,
    max_steps: u32,
    max_boxes: u64,
    steps: u32,
    boxes: u64,
    /// The least proven upper bound over all states \[m\].
    upper: f32,
    scratch: &'a mut SeparationScratch,
}

/// Fraction of the tolerance that the search for a separation may leave: the rest is for the
/// intervals.
const SEARCH_SHARE: f32 = 0.25;
/// Fraction of its excess over the least that a separation may leave.
const GAP_SHARE: f32 = 0.25;

impl Search<'_> {
    fn run(mut self, heap: &mut LeastFirst<Piece>) -> Result<Clearance, MotionError> {
        // Evaluate both ends first: bodies that part or meet are nearest there.
        let start = self.look(0.0, None, None)?;
        if self.upper <= self.floor {
            return Ok(self.answer(start, f32::NEG_INFINITY, ClearanceOutcome::BelowFloor));
        }
        if self.travel.speed([0.0, 1.0]) <= f32::MIN_POSITIVE {
            return Ok(self.answer(start, start.found.lower_bound, ClearanceOutcome::Converged));
        }
        let last = (start.found.point, start.a_from_b);
        let end = self.look(1.0, Some(last), None)?;
        let mut best = better(start, end);
        heap.clear();
        let mut number = 0;
        // The least bound among intervals that were left unopened.
        let mut closed = f32::INFINITY;
        let mut outcome = ClearanceOutcome::Converged;
        // Best-first over intervals of time: evaluate where the lines of the lowest interval meet.
        let whole = Piece {
            times: [0.0, 1.0],
            lowers: [start.found.lower_bound, end.found.lower_bound],
            point: start.found.point,
            a_from_b: start.a_from_b,
        };
        heap.push(Open {
            lower: self.lower(&whole),
            number,
            piece: whole,
        });
        while let Some(Open { lower, piece, .. }) = heap.pop() {
            let is_below = self.upper <= self.floor;
            if is_below || lower >= best.found.lower_bound - self.tolerance {
                closed = closed.min(lower);
                break;
            }
            if self.steps >= self.max_steps || self.boxes >= self.max_boxes {
                closed = closed.min(lower);
                outcome = ClearanceOutcome::GaveUp;
                break;
            }
            let Some(between) = self.lowest(&piece) else {
                // There is no `f32` time between the two ends.
                closed = closed.min(lower);
                continue;
            };
            let [from, to] = piece.times;
            let last = (piece.point, piece.a_from_b);
            let state = self.look(between, Some(last), Some(&best))?;
            best = better(best, state);
            // Split the interval, and queue the parts that may hold less.
            let Separation {
                lower_bound, point, ..
            } = state.found;
            for (times, lowers) in [
                ([from, between], [piece.lowers[0], lower_bound]),
                ([between, to], [lower_bound, piece.lowers[1]]),
            ] {
                let part = Piece {
                    times,
                    lowers,
                    point,
                    a_from_b: state.a_from_b,
                };
                let lower = lower.max(self.lower(&part));
                if lower >= best.found.lower_bound - self.tolerance {
                    closed = closed.min(lower);
                } else {
                    number += 1;
                    heap.push(Open {
                        lower,
                        number,
                        piece: part,
                    });
                }
            }
        }
        Ok(self.answer(best, closed.min(best.found.lower_bound), outcome))
    }

    /// Returns a lower bound of the separation between the two times \[m\]: where the lines that
    /// fall from both ends meet.
    fn lower(&self, piece: &Piece) -> f32 {
        let [from, to] = piece.times.map(f64::from);
        let [first, last] = piece.lowers.map(f64::from);
        let speed = f64::from(self.travel.speed(piece.times));
        ((0.5 * (first + last - speed * (to - from))) as f32).next_down()
    }

    /// Returns the time at which the lines meet, kept away from both ends: bounds of unequal
    /// precision would make the search creep. Returns `None` if `f32` has no time between the ends.
    fn lowest(&self, piece: &Piece) -> Option<f32> {
        let [from, to] = piece.times;
        let speed = self.travel.speed(piece.times) * (to - from);
        let share = 0.5 + 0.5 * (piece.lowers[0] - piece.lowers[1]) / speed;
        let between = from + share.clamp(0.1, 0.9) * (to - from);
        (between > from && between < to).then_some(between)
    }

    /// Computes the separation at a time, less precisely the farther it is above the best.
    fn look(
        &mut self,
        time: f32,
        last: Option<(Vec3, Pose)>,
        best: Option<&State>,
    ) -> Result<State, MotionError> {
        let pair = Pair {
            a: self.a,
            b: self.b,
            a_from_b: self.motion.at(time),
        };
        let rounding = rounding(&pair);
        let error = (self.a.field().error_bound()).max(self.b.field().error_bound());
        let left = self.max_boxes.saturating_sub(self.boxes);
        let settings = SeparationSettings {
            tolerance: search_tolerance(SEARCH_SHARE * self.tolerance, rounding, error),
            threshold: None,
            start: last.map(|(point, pose)| carried(point, pose, pair.a_from_b)),
            max_boxes: left.clamp(1, MAX_BOXES_A_STATE) as u32,
            exact_depth: false,
        };
        let precision = Precision {
            level: best.map_or(0.0, |best| best.found.lower_bound),
            share: best.map_or(0.0, |_| GAP_SHARE),
            // Deep enough to be proven below the floor, too.
            enough: self.floor - 2.0 * error - 4.0 * rounding,
            exact_depth: false,
        };
        let mut found = separation_above(&pair, &settings, precision, self.scratch)?;
        self.steps += 1;
        self.boxes += u64::from(found.boxes);
        // The pose is that of the motion up to rounding; the separation changes by no more than the
        // points that rounding displaces.
        found.lower_bound -= rounding;
        found.upper_bound += rounding;
        self.upper = self.upper.min(found.upper_bound);
        Ok(State {
            time,
            a_from_b: pair.a_from_b,
            found,
        })
    }

    fn answer(&self, best: State, lower_bound: f32, outcome: ClearanceOutcome) -> Clearance {
        let State { time, found, .. } = best;
        let lower_bound = lower_bound.min(self.upper);
        Clearance {
            separation: found.separation.clamp(lower_bound, self.upper),
            lower_bound,
            upper_bound: self.upper,
            time,
            point: found.point,
            normal: found.normal,
            tolerance: self.tolerance,
            steps: self.steps,
            boxes: self.boxes,
            outcome: match found.outcome {
                _ if self.upper <= self.floor => ClearanceOutcome::BelowFloor,
                SeparationOutcome::GaveUp => ClearanceOutcome::GaveUp,
                _ => outcome,
            },
        }
    }
}

/// Returns the state with the smaller estimate, the first if they are equal.
fn better(first: State, second: State) -> State {
    if second.found.separation < first.found.separation {
        second
    } else {
        first
    }
}
