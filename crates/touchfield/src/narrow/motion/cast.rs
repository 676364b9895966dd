//! Narrow phase: when two moving bodies first touch, with a proof that they did not before.
//!
//! Input: two shapes, a [`PairMotion`], how near is near enough. Output: [`Cast`]: a time until which the bodies are proven to be farther
//! apart than the target, and a time at which they are within tolerance of it.
//! Cost: some separations, each only as precise as its step needs; no allocation once the buffers have grown.
//! Not for: single points or shells along straight lines, which fields answer faster.
//!
//! Conservative advancement \[Mirtich1995\], on the proven [`separation`](crate::narrow::separation::separation()) instead of a distance of convex bodies.
//!
//! The separation changes no faster than the fastest point moves (`travel` has the proof, turning included).
//!
//! **Two numbers.** At a time t with the proven bound L of the separation, the bodies stay farther apart than the target for as long as no
//! point travels farther than L − target: [`Impact::lower_bound`] is where such steps, one after the other, end. L is less than the truth by
//! up to twice the error E of the fields, so the proof ends about 2E before the touch. From there the *values* of the fields lead on: where they say
//! target + g, the true separation is at least target + g − 2E, and a step that moves no point by more than g leaves it at target − 2E at least: **until
//! [`Impact::time`] nothing overlaps deeper than the fields can tell**, however fast the bodies are. The search ends where g is within tolerance. For closed
//! forms E is rounding, and both numbers are one. Of what CSG leaves the values are bounds, below the distance where edges are sharp: there the time may be early, never
//! late.

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

/// What to look for, and how well.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CastSettings {
    /// The separation that counts as touching \[m\]: 0 where the surfaces meet, more for a safe distance, less for an overlap.
    pub target: f32,
    /// How far above the target the search may end \[m\]. What `f32` cannot resolve comes on top: times at
    /// the speed of the bodies, and places at their distance from the origins.
    pub tolerance: f32,
    /// States after which the search gives up.
    pub max_steps: u32,
    /// Boxes, over all states, after which the search gives up.
    pub max_boxes: u64,
    /// A point of frame A to begin at: where the bodies nearly touched a moment ago \[m\].
    pub start: Option<Vec3>,
    /// Whether a shell, where there is one, proves the first part of the motion free at once.
    /// Without, the proof is made of separations alone; answers agree to within the tolerance.
    pub by_shells: bool,
}

impl CastSettings {
    /// States that a search may look at unless told otherwise: enough to follow a surface for ten thousand tolerances.
    pub const MAX_STEPS: u32 = 10_000;
    /// Boxes that a search may visit unless told otherwise: some seconds of work.
    pub const MAX_BOXES: u64 = 1 << 24;

    /// The first touch, to within `tolerance` \[m\].
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

/// How a cast ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastOutcome {
    /// At the time of the impact the separation is the target, to within the tolerance and what the fields can tell.
    Hit,
    /// Proven: farther apart than the target all along.
    Free,
    /// By the values of the fields farther apart all along, but nearer than their errors: proven up to the lower bound only.
    Unproven,
    /// The limit of steps or boxes was reached: nothing is known beyond the time of the impact, which is no touch, or at which bodies in contact at the start
    /// had not parted yet.
    GaveUp,
}

/// What bodies that are in contact at the start do next.
///
/// Told over the time in which some point may travel eight tolerances: the separation grows by more than one, shrinks by more than one, or neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartingContact {
    /// They part. The search goes on from where they did, for the next touch.
    Separating,
    /// They stay as near or as deep as they are: at rest, sliding, rolling, or wholly inside one another.
    Sliding,
    /// They go deeper.
    Deepening,
}

/// When two moving bodies touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cast {
    /// How the search ended.
    pub outcome: CastOutcome,
    /// Time, lower bound, point and normal. Without a hit the time is how far the bodies may go by the fields' values, 1 at most; point and normal
    /// are those of the last state that was looked at.
    pub impact: Impact,
    /// Estimate at that state \[m\].
    pub separation: f32,
    /// `Some` if the bodies are in contact at the start. Sliding and deepening are a hit at time 0.
    pub start: Option<StartingContact>,
    /// Share of the motion from which the lower bound tells: 0, or where bodies in contact at the start have parted, by two tolerances and by
    /// what it takes to prove it; the outcome tells from where they have parted by two tolerances.
    pub from: f32,
    /// Tolerance of the search \[m\]: as asked, or what `f32` resolves of times at the speed of the bodies.
    pub tolerance: f32,
    /// States that were looked at.
    pub steps: u32,
    /// Boxes that were visited for them.
    pub boxes: u64,
}

impl Cast {
    /// Whether the bodies touch, to within tolerance.
    pub fn is_hit(&self) -> bool {
        self.outcome == CastOutcome::Hit
    }
}

/// Buffers that are reused from call to call.
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

/// The first touches of many motions of two bodies, in order.
pub fn cast_many(
    a: &Shape,
    b: &Shape,
    motions: &[PairMotion],
    settings: &CastSettings,
) -> Vec<Result<Cast, MotionError>> {
    /// Casts take as long as dozens of separations: short pieces, or a thread would wait for the last.
    const PIECE: usize = 8;
    threads::map_sharing(motions, PIECE, |motion, scratch| {
        cast(a, b, motion, settings, scratch)
    })
}

/// What is known at a time.
#[derive(Clone, Copy)]
struct State {
    time: f32,
    a_from_b: Pose,
    point: Vec3,
    normal: Vec3,
    separation: f32,
    /// Above the target, proven \[m\].
    proven: f32,
    /// Above the target, by the fields' values: more than the truth by no more than the fields are off \[m\].
    estimated: f32,
}

struct Walk<'a> {
    a: &'a Shape,
    b: &'a Shape,
    motion: &'a PairMotion,
    travel: Travel,
    target: f32,
    /// As asked, or what times in `f32` resolve \[m\].
    tolerance: f32,
    max_steps: u32,
    max_boxes: u64,
    steps: u32,
    boxes: u64,
    /// Where the next search begins, if there is a guess.
    start: Option<Vec3>,
    by_shells: bool,
    scratch: &'a mut CastScratch,
}

/// Steps on the proof are given up for those on the values where they are shorter than this share of the tolerance. Smaller, and bodies
/// creep towards the end of the proof; larger than the rest of what [`SEARCH_SHARE`] leaves, and closed forms are not followed to their touch.
const PROOF_SHARE: f32 = 0.25;
/// Share of the tolerance that the search for a separation may leave.
const SEARCH_SHARE: f32 = 0.5;
/// Share of the gap that it may leave while the bodies are far apart. Tuned on the bunny: at 0.15 and 0.4 casts take a few percent longer.
const GAP_SHARE: f32 = 0.25;
/// Share of the smaller body's diagonal above which the gap between two boxes is enough to step by.
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
        let first = self.look(0.0, None)?;
        if first.estimated > self.tolerance {
            return self.advance(first, None);
        }
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

    /// From a state that is apart to the next touch.
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
        // Bodies that were in contact are nearer than what a shell proves.
        let free_until = match contact {
            None if now.estimated > self.tolerance => self.free_by_shells(&now),
            _ => from,
        };
        loop {
            if now.estimated <= self.tolerance {
                let now = self.bisected(before, now)?;
                return Ok(self.answer(CastOutcome::Hit, now, contact, from, lower_bound));
            }
            // Bodies that part are nearer than the fields can tell at first: the proof begins where it can.
            let is_unproven_yet = contact.is_some() && !is_proven && lower_bound <= from;
            if is_unproven_yet && now.proven >= PROOF_SHARE * self.tolerance {
                (from, is_proven) = (now.time, true);
            }
            if is_proven {
                let reached = self.travel.reach(now.time, now.proven.max(0.0));
                lower_bound = reached.max(free_until);
                is_proven = now.proven >= PROOF_SHARE * self.tolerance && lower_bound > now.time;
            }
            if lower_bound >= 1.0 {
                return Ok(self.answer(CastOutcome::Free, now, contact, from, 1.0));
            }
            if now.time >= 1.0 {
                return Ok(self.answer(CastOutcome::Unproven, now, contact, from, lower_bound));
            }
            if self.is_spent() {
                return Ok(self.answer(CastOutcome::GaveUp, now, contact, from, lower_bound));
            }
            let next = if is_proven {
                lower_bound
            } else {
                let step = now.estimated.max(self.tolerance);
                // Speeds of a moment have room for a step; if rounding ate it, the next time is as near as there is.
                (self.travel.reach(now.time, step)).max(now.time.next_up())
            };
            before = now.time;
            // One point that touches is a touch, wherever else they do.
            now = self.look_for(next, Some(&now), self.target + self.tolerance)?;
        }
    }

    /// Until when the shell of a body proves that the bodies, which are apart now, stay so.
    fn free_by_shells(&mut self, now: &State) -> f32 {
        // Convex bodies are told apart faster than a shell moves.
        let is_convex = self.a.as_convex().is_some() && self.b.as_convex().is_some();
        if !self.by_shells || is_convex || now.proven <= 0.0 {
            return now.time;
        }
        let Some(front) = ShellFront::of(self.a, self.b, self.motion) else {
            return now.time;
        };
        // One step on this state goes as far.
        if now.proven <= front.least_gap() || self.travel.reach(now.time, now.proven) >= 1.0 {
            return now.time;
        }
        front.free_until(self.target, [now.time, 1.0], &mut self.scratch.shells)
    }

    /// Back to within tolerance: where the fields' values fall faster than the bodies move, a step may end deeper.
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

    /// What a pair in contact does next.
    fn starting_contact(&mut self, first: &State) -> Result<StartingContact, MotionError> {
        /// Of so many tolerances travelled, one must show in the separation: the others may be along the surface.
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

    /// From contact to the first state that is apart by two tolerances: one would be left and entered again by rounding.
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
            // As deep as they are the bodies cannot part before they have travelled so far.
            let step = self.tolerance.max(self.target - now.separation);
            let next = (self.travel.reach(now.time, step)).max(now.time.next_up());
            now = self.look(next, Some(&now))?;
            if now.separation < widest.separation - self.tolerance {
                // Between two walls nearer than the tolerance can tell: off the one, into the other.
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

    /// The separation at a time, as precise as the next step needs it.
    fn look(&mut self, time: f32, last: Option<&State>) -> Result<State, MotionError> {
        self.look_for(time, last, f32::NEG_INFINITY)
    }

    /// The same; a point with a separation of `enough` ends the search \[m\].
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
        // The pose is that of the motion up to its rounding, which displaces points of B by this; the separation follows them.
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
            // A search that is cut short has a lower bound as well, and the walk takes a shorter step.
            max_boxes: left.clamp(1, MAX_BOXES_A_STATE) as u32,
        };
        let precision = Precision {
            level: self.target,
            share: GAP_SHARE,
            enough,
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
        // Values and bounds are apart by the errors of the fields and by what the search left: where by more, the values are not those of the fields.
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
                // Not a touch: no touch may be made of a bound either.
                (separation.min(most) - self.target).max(self.tolerance.next_up())
            },
        })
    }

    /// Bodies whose boxes are far apart need no search.
    fn apart_by_boxes(&self, pair: &Pair<'_>, time: f32, rounding: f32) -> Option<State> {
        let (a, b) = (self.a.solid(), turned_box(self.b.solid(), pair.a_from_b));
        let between = (b.min - a.max).max(a.min - b.max);
        let gap = between.max(Vec3::ZERO).length();
        let enough = BOX_SHARE * a.diagonal().min(self.b.solid().diagonal());
        let proven = gap - rounding - self.target;
        // Endless boxes have no size to compare with: their gap is as good as any other where it is finite.
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
                // A proof may reach past a touch to within tolerance; who asks for the first touch is not told so.
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

enum Parting {
    At(State),
    /// Nearer again before they were apart.
    Again {
        /// When they were farthest apart.
        from: f32,
        state: State,
    },
    Never,
    GaveUp(State),
}

/// The unit vector across a gap of boxes, from A to B, as far as boxes know.
fn toward(between: Vec3, above: Vec3) -> Vec3 {
    let gap = between.max(Vec3::ZERO);
    let sign = Vec3::select(above.cmpeq(between), Vec3::ONE, Vec3::NEG_ONE);
    (gap * sign).try_normalize().unwrap_or(Vec3::X)
}
