//! Narrow phase: the least separation of two bodies over a whole motion, and when, with a proven bracket.
//!
//! Input: two shapes, a [`PairMotion`], a tolerance. Output: [`Clearance`], whose bounds hold the true least separation, field errors and rounding included.
//! Cost: some dozen separations; precise ones only near the least. While bodies slide past each other at the least separation, one for every two tolerances of their way. No
//! allocation once the buffers have grown.
//! Not for: the first touch, which `cast` finds with less.
//!
//! The separation changes no faster than the fastest point moves (`travel` has the proof). So between two times it stays above two lines that fall from
//! their bounds at that speed; where the lines meet is the next time to look at \[Piyavskii1972\]. Best-first, as `separation` does over boxes.

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

/// How well the least separation is to be known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClearanceSettings {
    /// Width of the bracket that the search may leave \[m\]. The errors of the fields come on top, and what `f32` cannot resolve of times and places.
    pub tolerance: f32,
    /// Bodies proven to be as near as this need no further search \[m\]: 0, for what overlaps has no clearance; −∞ to find the deepest overlap.
    pub floor: f32,
    /// States after which the search gives up with the bracket it has.
    pub max_steps: u32,
    /// Boxes, over all states, after which it does.
    pub max_boxes: u64,
}

impl ClearanceSettings {
    /// States that a search may look at unless told otherwise.
    pub const MAX_STEPS: u32 = 10_000;
    /// Boxes that a search may visit unless told otherwise: some seconds of work.
    pub const MAX_BOXES: u64 = 1 << 24;

    /// To within `tolerance` \[m\].
    pub fn to_within(tolerance: f32) -> ClearanceSettings {
        ClearanceSettings {
            tolerance,
            floor: 0.0,
            max_steps: ClearanceSettings::MAX_STEPS,
            max_boxes: ClearanceSettings::MAX_BOXES,
        }
    }
}

/// Why the search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClearanceOutcome {
    /// The search left no more than the tolerance.
    Converged,
    /// The bodies are proven to be as near as the floor at the time told; how much nearer was not asked.
    BelowFloor,
    /// The limit of states or boxes was reached; the bracket holds, but is wider than asked.
    GaveUp,
}

/// How near two bodies come over a motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clearance {
    /// Best estimate of the least separation, between the bounds \[m\]; negative where the bodies overlap.
    pub separation: f32,
    /// Proven: never less during the motion \[m\].
    pub lower_bound: f32,
    /// Proven: so near at least once \[m\].
    pub upper_bound: f32,
    /// Share of the motion, from 0 to 1, at which the estimate is met; one of several if there are.
    pub time: f32,
    /// Midway between the bodies there, in frame A at that time \[m\].
    pub point: Vec3,
    /// Unit, from A to B, in frame A at that time.
    pub normal: Vec3,
    /// Tolerance of the search \[m\]: as asked, or what `f32` resolves of times at the speed of the bodies.
    pub tolerance: f32,
    /// States that were looked at.
    pub steps: u32,
    /// Boxes that were visited for them.
    pub boxes: u64,
    /// Why the search ended.
    pub outcome: ClearanceOutcome,
}

/// Buffers that are reused from call to call.
#[derive(Debug, Default)]
pub struct ClearanceScratch {
    separation: SeparationScratch,
    heap: LeastFirst<Piece>,
}

/// Finds the least separation over a motion.
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

/// The least separations over many motions of two bodies, in order.
pub fn clearance_many(
    a: &Shape,
    b: &Shape,
    motions: &[PairMotion],
    settings: &ClearanceSettings,
) -> Vec<Result<Clearance, MotionError>> {
    /// Each takes as long as dozens of separations: short pieces, or a thread would wait for the last.
    const PIECE: usize = 8;
    threads::map_sharing(motions, PIECE, |motion, scratch| {
        clearance(a, b, motion, settings, scratch)
    })
}

/// An interval of time, and where a search in it may begin.
#[derive(Clone, Copy, Debug)]
struct Piece {
    times: [f32; 2],
    /// Proven bounds of the separation at both \[m\].
    lowers: [f32; 2],
    point: Vec3,
    a_from_b: Pose,
}

/// What is known at a time.
#[derive(Clone, Copy)]
struct State {
    time: f32,
    a_from_b: Pose,
    /// Its bounds hold the separation of the motion, not only of the rounded pose.
    found: Separation,
}

struct Search<'a> {
    a: &'a Shape,
    b: &'a Shape,
    motion: &'a PairMotion,
    travel: Travel,
    /// As asked, or what times in `f32` resolve \[m\].
    tolerance: f32,
    floor: f32,
    max_steps: u32,
    max_boxes: u64,
    steps: u32,
    boxes: u64,
    /// The least proven upper bound of all states \[m\].
    upper: f32,
    scratch: &'a mut SeparationScratch,
}

/// Share of the tolerance that the search for a separation may leave: the rest is for the intervals.
const SEARCH_SHARE: f32 = 0.25;
/// Share that it may leave of what it is above the least.
const GAP_SHARE: f32 = 0.25;

impl Search<'_> {
    fn run(mut self, heap: &mut LeastFirst<Piece>) -> Result<Clearance, MotionError> {
        // The ends first: bodies that part or meet are nearest there.
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
                // Two times of `f32` with none between them.
                closed = closed.min(lower);
                continue;
            };
            let [from, to] = piece.times;
            let last = (piece.point, piece.a_from_b);
            let state = self.look(between, Some(last), Some(&best))?;
            best = better(best, state);
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

    /// Nothing between the two times is below this: where the lines that fall from both ends meet \[m\].
    fn lower(&self, piece: &Piece) -> f32 {
        let [from, to] = piece.times.map(f64::from);
        let [first, last] = piece.lowers.map(f64::from);
        let speed = f64::from(self.travel.speed(piece.times));
        ((0.5 * (first + last - speed * (to - from))) as f32).next_down()
    }

    /// When they meet, between the times, and not too near to either: bounds of unlike precision would creep.
    fn lowest(&self, piece: &Piece) -> Option<f32> {
        let [from, to] = piece.times;
        let speed = self.travel.speed(piece.times) * (to - from);
        let share = 0.5 + 0.5 * (piece.lowers[0] - piece.lowers[1]) / speed;
        let between = from + share.clamp(0.1, 0.9) * (to - from);
        (between > from && between < to).then_some(between)
    }

    /// The separation at a time, less precise the farther it is above the best.
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
        };
        let precision = Precision {
            level: best.map_or(0.0, |best| best.found.lower_bound),
            share: best.map_or(0.0, |_| GAP_SHARE),
            // So deep that it is proven to be below the floor, too.
            enough: self.floor - 2.0 * error - 4.0 * rounding,
        };
        let mut found = separation_above(&pair, &settings, precision, self.scratch)?;
        self.steps += 1;
        self.boxes += u64::from(found.boxes);
        // The pose is that of the motion up to its rounding; the separation follows the points that it displaces.
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

/// The one with the smaller estimate, the first of equals.
fn better(first: State, second: State) -> State {
    if second.found.separation < first.found.separation {
        second
    } else {
        first
    }
}
