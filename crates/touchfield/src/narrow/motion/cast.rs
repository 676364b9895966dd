//! Narrow phase: when two moving bodies first touch, with a proof that they did not before.
//!
//! Input: two shapes, a [`PairMotion`], and the separation that counts as touching.
//! Output: a [`Cast`]: a time until which the bodies are proven to be farther apart than the
//! target, and a time at which they are within tolerance of it.
//! Cost: some separations, each only as precise as its step needs; no allocation once the buffers
//! have grown.
//! Not for: single points or shells along straight lines, which fields handle faster.
//!
//! Conservative advancement \[Mirtich1995\], based on the proven
//! [`separation`](crate::narrow::separation::separation()) instead of a distance of convex bodies.
//! The separation changes no faster than the fastest point moves (`travel` has the proof, turning
//! included).
//!
//! **Two numbers.** At a time t with the proven bound L of the separation, the bodies stay farther
//! apart than the target for as long as no point travels farther than L − target:
//! [`Impact::lower_bound`] is where such steps, one after the other, end. L is less than the true
//! separation by up to twice the error E of the fields, so the proof ends about 2E before the
//! touch.
//!
//! From there the steps use the *values* of the fields. Where the values are target + g, the true
//! separation is at least target + g − 2E, and a step that moves no point by more than g leaves it
//! at target − 2E at least: **until [`Impact::time`] nothing overlaps deeper than the error of the
//! fields**, however fast the bodies are. The search ends where g is within tolerance.
//!
//! For closed forms E is rounding, and both numbers are one. The values of CSG fields are bounds,
//! below the distance where edges are sharp: there the time may be early, never late.

use glam::Vec3;

use crate::contact::Impact;
use crate::geom::{PairMotion, Pose};
use crate::narrow::motion::shell_front::ShellFront;
use crate::narrow::motion::shell_sweep::ShellSweepScratch;
use crate::narrow::motion::travel::{
    MAX_BOXES_A_STATE, MotionError, Travel, carried, search_tolerance,
};
use crate::narrow::pair::Pair;
use crate::narrow::pair::check_tolerance;
use crate::narrow::scratch::SeparationScratch;
use crate::narrow::separation::answer::Separation;
use crate::narrow::separation::answer::{Precision, SeparationSettings, rounding, turned_box};
use crate::narrow::separation::search::separation_above;
use crate::shape::Shape;
use crate::threads;

/// Settings of a cast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CastSettings {
    /// Separation that counts as touching \[m\]: 0 where the surfaces meet, positive for a safety
    /// distance, negative for an overlap.
    pub target: f32,
    /// Maximum distance above the target at which the search may end \[m\]. What `f32` cannot
    /// resolve comes on top: times at the speed of the bodies, and places at their distance from
    /// the origins.
    pub tolerance: f32,
    /// Maximum number of states. Beyond it the search gives up.
    pub max_steps: u32,
    /// Maximum number of boxes over all states. Beyond it the search gives up.
    pub max_boxes: u64,
    /// Point of frame A at which the first search starts \[m\], for example where the bodies nearly
    /// touched a moment ago.
    pub start: Option<Vec3>,
    /// Whether a shell, if there is one, proves the first part of the motion free at once. Without
    /// it, the proof consists of separations alone; results agree to within the tolerance.
    pub by_shells: bool,
}

impl CastSettings {
    /// Default for [`Self::max_steps`]: enough to follow a surface for ten thousand tolerances.
    pub const MAX_STEPS: u32 = 10_000;
    /// Default for [`Self::max_boxes`]: some seconds of work.
    pub const MAX_BOXES: u64 = 1 << 24;

    /// Returns settings for the first touch, to within `tolerance` \[m\].
    pub fn to_within(tolerance: f32) -> CastSettings {
        CastSettings {
            target: 0.0,
            tolerance,
            max_steps: CastSettings::MAX_STEPS,
            max_boxes: CastSettings::MAX_BOXES,
            start: None,
            by_shells: true,
        }
    }
}

/// Reasons why a cast ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastOutcome {
    /// At the time of the impact the separation is the target, to within the tolerance and the
    /// errors of the fields.
    Hit,
    /// The bodies are proven to be farther apart than the target during the whole motion.
    Free,
    /// By the values of the fields the bodies stay farther apart than the target, but nearer than
    /// the errors of the fields. The proof holds up to the lower bound only.
    Unproven,
    /// The limit of steps or boxes was reached. Nothing is known beyond the time of the impact,
    /// which is not a touch. Bodies in contact at the start may not have parted by then.
    GaveUp,
}

/// Behaviour of bodies that are in contact at the start.
///
/// It is judged over the time in which some point may travel eight tolerances: the separation grows
/// by more than one tolerance, shrinks by more than one, or neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartingContact {
    /// The bodies part. The search for the next touch starts where they have parted.
    Separating,
    /// The separation does not change: the bodies are at rest, sliding, rolling, or wholly inside
    /// one another.
    Sliding,
    /// The bodies go deeper.
    Deepening,
}

/// Result of a cast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cast {
    /// Reason why the search ended.
    pub outcome: CastOutcome,
    /// Time, lower bound, point and normal of the first touch. Without a hit the time is how far
    /// the bodies may go by the fields' values, 1 at most; point and normal are those of the last
    /// state that was evaluated.
    pub impact: Impact,
    /// Estimate of the separation in the state that `impact` describes \[m\].
    pub separation: f32,
    /// Behaviour of bodies in contact at the start; `None` if they are not. Sliding and deepening
    /// are a hit at time 0.
    pub start: Option<StartingContact>,
    /// Fraction of the motion from which the lower bound holds. It is 0, or the time at which
    /// bodies in contact at the start have parted by two tolerances and by the distance that a
    /// proof needs. The outcome holds from where they have parted by two tolerances.
    pub from: f32,
    /// Tolerance of the search \[m\]: the one in the settings, or the resolution of `f32` times at
    /// the speed of the bodies if that is coarser.
    pub tolerance: f32,
    /// Number of states evaluated.
    pub steps: u32,
    /// Number of boxes visited, over all states.
    pub boxes: u64,
}

impl Cast {
    /// Returns whether the bodies touch, to within tolerance.
    pub fn is_hit(&self) -> bool {
        self.outcome == CastOutcome::Hit
    }
}

/// Scratch buffers of a cast, reused from call to call.
#[derive(Debug, Default)]
pub struct CastScratch {
    separation: SeparationScratch,
    shells: ShellSweepScratch,
}

/// Finds the first touch of two moving bodies.
pub fn cast(
    a: &Shape,
    b: &Shape,
    motion: &PairMotion,
    settings: &CastSettings,
    scratch: &mut CastScratch,
) -> Result<Cast, MotionError> {
    scratch.separation.convex.clear();
    let walk = Walk::new(a, b, motion, settings, scratch)?;
    walk.run()
}

/// Finds the first touches of many motions of two bodies, in parallel; results are in the order of
/// the motions.
pub fn cast_many(
    a: &Shape,
    b: &Shape,
    motions: &[PairMotion],
    settings: &CastSettings,
) -> Vec<Result<Cast, MotionError>> {
    /// Number of motions per thread task. A cast takes as long as dozens of separations: longer
    /// pieces would make threads wait for the last one.
    const PIECE: usize = 8;
    threads::map_sharing(motions, PIECE, |motion, scratch| {
        cast(a, b, motion, settings, scratch)
    })
}

/// Separation and its bounds at one time.
#[derive(Clone, Copy)]
struct State {
    time: f32,
    a_from_b: Pose,
    point: Vec3,
    normal: Vec3,
    separation: f32,
    /// Proven lower bound of the separation's excess over the target \[m\].
    proven: f32,
    /// Excess of the separation over the target, by the fields' values; it exceeds the truth by at
    /// most the fields' errors \[m\].
    estimated: f32,
}

struct Walk<'a> {
    a: &'a Shape,
    b: &'a Shape,
    motion: &'a PairMotion,
    travel: Travel,
    target: f32,
    /// Tolerance of the settings, or the resolution of times in `f32` if that is coarser \[m\].
    tolerance: f32,
    max_steps: u32,
    max_boxes: u64,
    steps: u32,
    boxes: u64,
    /// Starting point of the first search, if there is a guess \[m\].
    start: Option<Vec3>,
    by_shells: bool,
    scratch: &'a mut CastScratch,
}

/// Fraction of the tolerance at which proven steps are replaced by steps on the values, if they are
/// shorter than it. If smaller, bodies creep towards the end of the proof; if larger than the rest
/// of what [`SEARCH_SHARE`] leaves, closed forms are not followed to their touch.
const PROOF_SHARE: f32 = 0.25;
/// Fraction of the tolerance that the search for a separation may leave.
const SEARCH_SHARE: f32 = 0.5;
/// Fraction of the gap that the search may leave while the bodies are far apart. Tuned on the
/// bunny: at 0.15 and 0.4 casts take a few percent longer.
const GAP_SHARE: f32 = 0.25;
/// Fraction of the smaller body's diagonal above which the gap between two boxes is used for a
/// step.
const BOX_SHARE: f32 = 0.25;

impl<'a> Walk<'a> {
    fn new(
        a: &'a Shape,
        b: &'a Shape,
        motion: &'a PairMotion,
        settings: &CastSettings,
        scratch: &'a mut CastScratch,
    ) -> Result<Walk<'a>, MotionError> {
        if !settings.target.is_finite() {
            return Err(MotionError::BadTarget(settings.target));
        }
        check_tolerance(settings.tolerance)?;
        let travel = Travel::new(a, b, motion)?;
        let tolerance = settings.tolerance.max(travel.resolved());
        Ok(Walk {
            a,
            b,
            motion,
            travel,
            target: settings.target,
            tolerance,
            max_steps: settings.max_steps,
            max_boxes: settings.max_boxes,
            steps: 0,
            boxes: 0,
            start: settings.start,
            by_shells: settings.by_shells,
            scratch,
        })
    }

    fn run(mut self) -> Result<Cast, MotionError> {
        // Apart at the start: search for the first touch.
        let first = self.look(0.0, None)?;
        if first.estimated > self.tolerance {
            return self.advance(first, None);
        }
        // In contact at the start: classify the contact and, if the bodies part, search from there.
        let contact = self.starting_contact(&first)?;
        let parted = match contact {
            StartingContact::Separating => self.part(first)?,
            StartingContact::Sliding | StartingContact::Deepening => Parting::Never,
        };
        match parted {
            Parting::At(state) => self.advance(state, Some(contact)),
            Parting::Again { from, state } => {
                let state = self.bisected(from, state)?;
                Ok(self.answer(CastOutcome::Hit, state, Some(contact), from, from))
            }
            Parting::Never => Ok(self.answer(CastOutcome::Hit, first, Some(contact), 0.0, 0.0)),
            Parting::GaveUp(state) => {
                Ok(self.answer(CastOutcome::GaveUp, state, Some(contact), 0.0, 0.0))
            }
        }
    }

    /// Advances from a state that is apart to the next touch.
    fn advance(
        mut self,
        first: State,
        contact: Option<StartingContact>,
    ) -> Result<Cast, MotionError> {
        let mut from = first.time;
        let mut now = first;
        let mut lower_bound = from;
        let mut is_proven = true;
        let mut before = from;
        // Bodies that were in contact are too near for a shell to prove anything.
        let free_until = match contact {
            None if now.estimated > self.tolerance => self.free_by_shells(&now),
            _ => from,
        };
        loop {
            // A touch, by the values of the fields.
            if now.estimated <= self.tolerance {
                let now = self.bisected(before, now)?;
                return Ok(self.answer(CastOutcome::Hit, now, contact, from, lower_bound));
            }
            // Bodies that part are at first nearer than the errors of the fields: the proof starts
            // where it can.
            let is_unproven_yet = contact.is_some() && !is_proven && lower_bound <= from;
            if is_unproven_yet && now.proven >= PROOF_SHARE * self.tolerance {
                (from, is_proven) = (now.time, true);
            }
            // Extend the proof as far as the proven gap allows.
            if is_proven {
                let reached = self.travel.reach(now.time, now.proven.max(0.0));
                lower_bound = reached.max(free_until);
                is_proven = now.proven >= PROOF_SHARE * self.tolerance && lower_bound > now.time;
            }
            // The end of the motion, or a limit of the search.
            if lower_bound >= 1.0 {
                return Ok(self.answer(CastOutcome::Free, now, contact, from, 1.0));
            }
            if now.time >= 1.0 {
                return Ok(self.answer(CastOutcome::Unproven, now, contact, from, lower_bound));
            }
            if self.is_spent() {
                return Ok(self.answer(CastOutcome::GaveUp, now, contact, from, lower_bound));
            }
            // Step as far as the proof reaches or, past its end, as far as the values allow.
            let next = if is_proven {
                lower_bound
            } else {
                let step = now.estimated.max(self.tolerance);
                // The speed bound at one moment leaves room for a step; if rounding removed it,
                // take the next `f32` time.
                (self.travel.reach(now.time, step)).max(now.time.next_up())
            };
            before = now.time;
            // One touching point is enough: the search need not find the deepest.
            now = self.look_for(next, Some(&now), self.target + self.tolerance)?;
        }
    }

    /// Returns the time until which the shell of a body proves that the bodies, which are apart
    /// now, stay farther apart than the target.
    fn free_by_shells(&mut self, now: &State) -> f32 {
        // For convex bodies a separation is faster than a shell sweep.
        let is_convex = self.a.as_convex().is_some() && self.b.as_convex().is_some();
        if !self.by_shells || is_convex || now.proven <= 0.0 {
            return now.time;
        }
        let Some(front) = ShellFront::of(self.a, self.b, self.motion) else {
            return now.time;
        };
        // One step from this state reaches as far.
        if now.proven <= front.least_gap() || self.travel.reach(now.time, now.proven) >= 1.0 {
            return now.time;
        }
        front.free_until(self.target, [now.time, 1.0], &mut self.scratch.shells)
    }

    /// Bisects the time back to a state within tolerance: where the fields' values fall faster than
    /// the bodies move, a step may end deeper.
    fn bisected(&mut self, before: f32, after: State) -> Result<State, MotionError> {
        let (mut before, mut after) = (before, after);
        while after.estimated < -self.tolerance && !self.is_spent() {
            let middle = 0.5 * (before + after.time);
            if middle <= before || middle >= after.time {
                break;
            }
            let state = self.look(middle, Some(&after))?;
            if state.estimated > self.tolerance {
                before = middle;
            } else {
                after = state;
            }
        }
        Ok(after)
    }

    /// Classifies what a pair in contact does next.
    fn starting_contact(&mut self, first: &State) -> Result<StartingContact, MotionError> {
        /// Distance to look ahead, in tolerances of travel. One of them must show in the
        /// separation; the others may be along the surface.
        const AHEAD: f32 = 8.0;
        let ahead = self.travel.reach(0.0, AHEAD * self.tolerance);
        if self.travel.speed([0.0, 1.0]) <= f32::MIN_POSITIVE {
            return Ok(StartingContact::Sliding);
        }
        let later = self.look(ahead, Some(first))?;
        let grown = later.separation - first.separation;
        Ok(if grown > self.tolerance {
            StartingContact::Separating
        } else if grown < -self.tolerance {
            StartingContact::Deepening
        } else {
            StartingContact::Sliding
        })
    }

    /// Advances from contact to the first state that is apart by two tolerances: at one tolerance,
    /// rounding would leave and enter the contact again.
    fn part(&mut self, first: State) -> Result<Parting, MotionError> {
        let mut now = first;
        let mut widest = first;
        while now.estimated <= 2.0 * self.tolerance {
            if now.time >= 1.0 {
                return Ok(Parting::Never);
            }
            if self.is_spent() {
                return Ok(Parting::GaveUp(now));
            }
            // The bodies cannot part before they have travelled the depth of their overlap.
            let step = self.tolerance.max(self.target - now.separation);
            let next = (self.travel.reach(now.time, step)).max(now.time.next_up());
            now = self.look(next, Some(&now))?;
            if now.separation < widest.separation - self.tolerance {
                // Between two walls closer together than the tolerance resolves: off one wall, into
                // the other.
                return Ok(Parting::Again {
                    from: widest.time,
                    state: now,
                });
            }
            if now.separation > widest.separation {
                widest = now;
            }
        }
        Ok(Parting::At(now))
    }

    fn is_spent(&self) -> bool {
        self.steps >= self.max_steps || self.boxes >= self.max_boxes
    }

    /// Computes the separation at a time, as precisely as the next step needs.
    fn look(&mut self, time: f32, last: Option<&State>) -> Result<State, MotionError> {
        self.look_for(time, last, f32::NEG_INFINITY)
    }

    /// Computes the separation at a time; a point with a separation of at most `enough` \[m\] ends
    /// the search.
    fn look_for(
        &mut self,
        time: f32,
        last: Option<&State>,
        enough: f32,
    ) -> Result<State, MotionError> {
        let pair = Pair {
            a: self.a,
            b: self.b,
            a_from_b: self.motion.at(time),
        };
        self.steps += 1;
        // The pose is that of the motion up to rounding, which displaces points of B by this much;
        // the separation changes by no more.
        let rounding = rounding(&pair);
        if let Some(state) = self.apart_by_boxes(&pair, time, rounding) {
            return Ok(state);
        }
        let left = self.max_boxes.saturating_sub(self.boxes);
        let error = (self.a.field().error_bound()).max(self.b.field().error_bound());
        let tolerance = search_tolerance(SEARCH_SHARE * self.tolerance, rounding, error);
        let settings = SeparationSettings {
            tolerance,
            threshold: None,
            start: match last {
                Some(last) => Some(carried(last.point, last.a_from_b, pair.a_from_b)),
                None => self.start,
            },
            // A search that is cut short still returns a lower bound, and the walk takes a shorter
            // step.
            max_boxes: left.clamp(1, MAX_BOXES_A_STATE) as u32,
            exact_depth: false,
        };
        let precision = Precision {
            level: self.target,
            share: GAP_SHARE,
            enough,
            exact_depth: false,
        };
        let found = separation_above(&pair, &settings, precision, &mut self.scratch.separation)?;
        self.boxes += u64::from(found.boxes);
        let Separation {
            separation,
            lower_bound,
            point,
            normal,
            ..
        } = found;
        // Values and bounds differ by the errors of the fields and by what the search left. Where
        // they differ by more, the values do not come from the fields.
        let most = lower_bound + 2.0 * (error + rounding) + tolerance;
        Ok(State {
            time,
            a_from_b: pair.a_from_b,
            point,
            normal,
            separation,
            proven: lower_bound - rounding - self.target,
            estimated: if separation <= self.target + self.tolerance {
                separation - self.target
            } else {
                // Not a touch, and a bound must not be reported as one.
                (separation.min(most) - self.target).max(self.tolerance.next_up())
            },
        })
    }

    /// Returns the state of bodies whose boxes are far apart, which need no search.
    fn apart_by_boxes(&self, pair: &Pair<'_>, time: f32, rounding: f32) -> Option<State> {
        let (a, b) = (self.a.solid(), turned_box(self.b.solid(), pair.a_from_b));
        let between = (b.min - a.max).max(a.min - b.max);
        let gap = between.max(Vec3::ZERO).length();
        let enough = BOX_SHARE * a.diagonal().min(self.b.solid().diagonal());
        let proven = gap - rounding - self.target;
        // Unbounded boxes have no size to compare with: their gap is used wherever it is finite.
        let is_far = gap > 0.0 && gap.is_finite() && proven > enough.max(self.tolerance);
        if !is_far {
            return None;
        }
        let middle = a.intersection(b).center();
        Some(State {
            time,
            a_from_b: pair.a_from_b,
            point: if middle.is_finite() {
                middle
            } else {
                pair.a_from_b.translation
            },
            normal: toward(between, b.min - a.max),
            separation: gap,
            proven,
            estimated: proven,
        })
    }

    fn answer(
        &self,
        outcome: CastOutcome,
        last: State,
        start: Option<StartingContact>,
        from: f32,
        lower_bound: f32,
    ) -> Cast {
        let time = match outcome {
            CastOutcome::Hit => last.time,
            CastOutcome::GaveUp => last.time.max(lower_bound),
            CastOutcome::Free | CastOutcome::Unproven => 1.0,
        };
        Cast {
            outcome,
            impact: Impact {
                time,
                // A proof may reach past a touch to within tolerance; the first touch is reported
                // without that part.
                lower_bound: lower_bound.min(time),
                point: last.point,
                normal: last.normal,
            },
            separation: last.separation,
            start,
            from,
            tolerance: self.tolerance,
            steps: self.steps,
            boxes: self.boxes,
        }
    }
}

/// How bodies in contact at the start part.
enum Parting {
    At(State),
    /// They come closer again before they were apart.
    Again {
        /// Time at which they were farthest apart.
        from: f32,
        state: State,
    },
    Never,
    GaveUp(State),
}

/// Returns the unit vector across the gap between two boxes, from A to B.
fn toward(between: Vec3, above: Vec3) -> Vec3 {
    let gap = between.max(Vec3::ZERO);
    let sign = Vec3::select(above.cmpeq(between), Vec3::ONE, Vec3::NEG_ONE);
    (gap * sign).try_normalize().unwrap_or(Vec3::X)
}
