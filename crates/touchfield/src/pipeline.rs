//! Contact pipeline: bodies with poses in, all contacts of all pairs out. It runs broad phase,
//! narrow phase and manifolds, in this order.
//!
//! Input: [`Shape`]s with world poses.
//! Output: for every pair of bodies whose boxes overlap, its contacts in frame A and those kept, or
//! the reason why there are none; the time that each stage took.
//! Cost: that of the stages; no allocation once the buffers have grown.
//! Not for: motion and forces.
//!
//! ```text
//! poses ──► boxes ──► broad ──► pairs ──► narrow ──► contacts ──► manifold ──► kept
//!                              sorted    in lanes    in order     in pieces
//! ```
//!
//! Each lane takes the next pair that no other lane has taken, so a large pair does not delay the
//! others. A lane collects its contacts in its own buffer. When all pairs are done, the prefix sum
//! of their counts gives the place of each pair's contacts, like the two passes of \[Krayer2020\].
//! So no contact is dropped, and the order is that of the pairs, whichever lane processed them: the
//! same bits on any number of threads.
//!
//! [`Pipeline::step_with`] lets another narrow phase, such as one on a GPU, answer the pairs that
//! it can; the lanes answer the others.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use glam::{DMat3, DQuat, DVec3, Quat, Vec3};

use crate::broad::{AabbTree, BoxId, BroadError, BroadPhase};
use crate::contact::{Contact, PenaltyWrench};
use crate::geom::{Aabb, Pose};
use crate::manifold::{Group, Kept, Manifold, ManifoldError, ManifoldScratch, ManifoldSettings};
use crate::narrow::{
    CollideError, CollideSettings, ContactMethod, Contacts, Outcome, Pair, PairMemory, Scratch,
    collide_again,
};
use crate::shape::Shape;
use crate::threads;

/// Id of a body; reused after the body is removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(pub u32);

/// A shape with a pose in the world.
#[derive(Clone, Debug)]
pub struct Body {
    /// Geometry of the body.
    pub shape: Shape,
    /// Pose of the body in the world.
    pub world_from_body: Pose,
    /// Whether the body never moves. Two fixed bodies are never tested against each other.
    pub fixed: bool,
}

/// Settings of a [`Pipeline`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PipelineSettings {
    /// Settings of the narrow phase.
    pub collide: CollideSettings,
    /// Settings of the manifolds.
    pub manifold: ManifoldSettings,
    /// Distance that a body may move before the AABB tree changes \[m\]; about the distance it
    /// moves in a few steps.
    pub box_margin: f32,
}

impl Default for PipelineSettings {
    fn default() -> PipelineSettings {
        PipelineSettings {
            collide: CollideSettings::default(),
            manifold: ManifoldSettings::default(),
            // 1 m/s at 60 Hz for three steps; it affects only time, not results.
            box_margin: 0.05,
        }
    }
}

/// Why a body or a setting is rejected.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum PipelineError {
    /// The pose is not finite, or its rotation is not a unit quaternion.
    #[error("the pose of the body in the world is not rigid: translation {:?}, rotation {:?}", .0.translation.to_array(), .0.rotation.to_array())]
    BadPose(Pose),
    /// No body has this id, or it was removed.
    #[error("there is no body {}", .0.0)]
    Unknown(BodyId),
    /// `max_separation` is NaN, infinite or negative.
    #[error("max_separation is {0:?} m; it must be finite and not negative")]
    BadSeparation(f32),
    /// The broad phase rejects the body's box.
    #[error("the box of the body: {0}")]
    Broad(#[from] BroadError),
}

/// Why a pair has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PairError {
    /// Error of the narrow phase.
    #[error(transparent)]
    Collide(#[from] CollideError),
    /// Error of the manifold; the contacts found are available.
    #[error(transparent)]
    Manifold(#[from] ManifoldError),
}

/// How the result of a pair was obtained.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    /// The bounding sphere of one body is farther from the other body than `max_separation`; no
    /// method was run.
    Apart,
    /// A method of the narrow phase was run.
    Asked {
        /// Method that was run; never [`ContactMethod::Auto`].
        method: ContactMethod,
        /// Whether the method tested everything.
        outcome: Outcome,
        /// Penalty wrench, as in [`Contacts::wrench`].
        wrench: Option<PenaltyWrench>,
        /// Distance, as in [`Contacts::distance`] \[m\].
        distance: f32,
    },
}

/// Results of one pair in the last step. All quantities are in the frame of A.
#[derive(Clone, Copy, Debug)]
pub struct PairContacts<'a> {
    /// Body with the smaller id.
    pub a: BodyId,
    /// Body with the larger id.
    pub b: BodyId,
    /// Relative pose at the last step.
    pub a_from_b: Pose,
    /// All contacts found, deepest first.
    pub found: &'a [Contact],
    /// Contacts kept by the manifold, with persistent ids.
    pub kept: &'a [Kept],
    /// Groups of the kept contacts with nearly equal normals.
    pub groups: &'a [Group],
    /// How the contacts were found, or the error.
    pub answer: &'a Result<Answer, PairError>,
}

/// Durations of the stages of a step, and counts of the pairs and contacts processed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timings {
    /// Time of the broad phase.
    pub broad: Duration,
    /// Time of the narrow phase, including the ordering of contacts.
    pub narrow: Duration,
    /// Time to reduce contacts and match them with the last step.
    pub manifold: Duration,
    /// Number of pairs of boxes that overlap.
    pub pairs: usize,
    /// Number of pairs rejected by the bounding-sphere test.
    pub apart: usize,
    /// Number of contacts found.
    pub contacts: usize,
    /// Number of pairs answered by the back end of [`Pipeline::step_with`]; 0 after
    /// [`Pipeline::step`].
    pub by_backend: usize,
}

/// A pair that a [`NarrowBackend`] may answer.
#[derive(Clone, Copy, Debug)]
pub struct BackendPair<'a> {
    /// Body with the smaller id.
    pub a: BodyId,
    /// Body with the larger id.
    pub b: BodyId,
    /// Shapes and relative pose.
    pub pair: Pair<'a>,
}

/// Answers of a [`NarrowBackend`], pair after pair.
#[derive(Clone, Debug, Default)]
pub struct BackendAnswers {
    /// Contacts of all pairs, in the frame of A of each.
    pub contacts: Vec<Contact>,
    /// One answer per pair, in their order.
    pub pairs: Vec<BackendAnswer>,
}

/// Answer of a [`NarrowBackend`] to one pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BackendAnswer {
    /// The pair is left to the CPU.
    Left,
    /// The pair was answered.
    Answered {
        /// Number of its contacts, which follow those of the pair before.
        count: usize,
        /// Method that was run; never [`ContactMethod::Auto`].
        method: ContactMethod,
        /// Distance, as in [`Contacts::distance`] \[m\].
        distance: f32,
    },
}

/// A narrow phase outside this crate, which answers many pairs at once.
pub trait NarrowBackend {
    /// Why it did not answer.
    type Error;

    /// Answers the pairs that it can, and leaves the others. `out` is empty.
    fn answer(
        &mut self,
        pairs: &[BackendPair<'_>],
        settings: &CollideSettings,
        out: &mut BackendAnswers,
    ) -> Result<(), Self::Error>;
}

/// A world of bodies, and the contacts between them.
#[derive(Debug)]
pub struct Pipeline {
    settings: PipelineSettings,
    broad: AabbTree,
    /// Bodies, indexed by the id of their box.
    bodies: Vec<Option<Body>>,
    /// For each body, in its own frame: a box around everything that its field and its shell may
    /// touch.
    reach: Vec<Aabb>,
    box_pairs: Vec<[BoxId; 2]>,
    pairs: Vec<Record>,
    contacts: Vec<Contact>,
    lanes: Vec<Lane>,
    /// Persistent data of each pair of the last step, in their order.
    slots: Vec<Slot>,
    next_slots: Vec<Slot>,
    spare: Vec<Slot>,
    answers: BackendAnswers,
    timings: Timings,
}

/// A pair, and the location of its contacts.
#[derive(Clone, Debug)]
struct Record {
    ids: [BodyId; 2],
    a_from_b: Pose,
    /// Index of the first contact: in the buffer of a lane while contacts are collected, later in
    /// the list of all contacts.
    first: usize,
    count: usize,
    lane: usize,
    answer: Result<Answer, PairError>,
}

/// Place of the contacts of a back end among those of the lanes.
const BACKEND: usize = usize::MAX;

/// Working data of one thread.
#[derive(Debug, Default)]
struct Lane {
    scratch: Scratch,
    found: Contacts,
    contacts: Vec<Contact>,
    done: Vec<Done>,
    manifold: ManifoldScratch,
}

/// A pair that a lane has processed.
#[derive(Debug)]
struct Done {
    pair: usize,
    first: usize,
    count: usize,
    answer: Result<Answer, CollideError>,
}

/// Data of a pair that persists from step to step.
#[derive(Debug, Default)]
struct Slot {
    ids: [BodyId; 2],
    manifold: Manifold,
    error: Option<ManifoldError>,
    /// Locked by the lane that processes the pair; no other lane accesses it.
    memory: Mutex<PairMemory>,
}

impl Slot {
    fn memory(&mut self) -> &mut PairMemory {
        (self.memory.get_mut()).unwrap_or_else(PoisonError::into_inner)
    }
}

/// Relative rounding error of the narrow phase, which computes in `f32`: positions on a body are
/// off by a few units in the last place of its size.
const ROUNDING: f32 = 1e-6;

impl Pipeline {
    /// Creates a world without bodies.
    pub fn new(settings: PipelineSettings) -> Result<Pipeline, PipelineError> {
        let max_separation = settings.collide.max_separation;
        if !(max_separation >= 0.0 && max_separation.is_finite()) {
            return Err(PipelineError::BadSeparation(max_separation));
        }
        Ok(Pipeline {
            broad: AabbTree::new(settings.box_margin)?,
            settings,
            bodies: Vec::new(),
            reach: Vec::new(),
            box_pairs: Vec::new(),
            pairs: Vec::new(),
            contacts: Vec::new(),
            lanes: Vec::new(),
            slots: Vec::new(),
            next_slots: Vec::new(),
            spare: Vec::new(),
            answers: BackendAnswers::default(),
            timings: Timings::default(),
        })
    }

    /// Adds a body and returns its id.
    pub fn insert(&mut self, body: Body) -> Result<BodyId, PipelineError> {
        let body = Body {
            world_from_body: checked(body.world_from_body)?,
            ..body
        };
        let reach = reach(&body.shape);
        let bounds = self.world_box(reach, body.world_from_body);
        let BoxId(id) = self.broad.insert(bounds)?;
        let place = id as usize;
        if place == self.bodies.len() {
            self.bodies.push(None);
            self.reach.push(Aabb::EMPTY);
        }
        self.bodies[place] = Some(body);
        self.reach[place] = reach;
        Ok(BodyId(id))
    }

    /// Removes a body; its pairs disappear at the next step.
    pub fn remove(&mut self, id: BodyId) -> Result<Body, PipelineError> {
        let body = self.bodies.get_mut(id.0 as usize).and_then(Option::take);
        let body = body.ok_or(PipelineError::Unknown(id))?;
        self.broad.remove(BoxId(id.0))?;
        // The id may be reused for another body, which must not inherit contacts.
        for slot in &mut self.slots {
            if slot.ids.contains(&id) {
                slot.manifold.clear();
                slot.memory().clear();
            }
        }
        Ok(body)
    }

    /// Moves a body. After an error the body is unchanged.
    pub fn set_pose(&mut self, id: BodyId, world_from_body: Pose) -> Result<(), PipelineError> {
        let world_from_body = checked(world_from_body)?;
        if self.body(id).is_none() {
            return Err(PipelineError::Unknown(id));
        }
        let bounds = self.world_box(self.reach[id.0 as usize], world_from_body);
        self.broad.update(BoxId(id.0), bounds)?;
        if let Some(body) = &mut self.bodies[id.0 as usize] {
            body.world_from_body = world_from_body;
        }
        Ok(())
    }

    /// Returns a body, if there is one with this id.
    pub fn body(&self, id: BodyId) -> Option<&Body> {
        self.bodies.get(id.0 as usize)?.as_ref()
    }

    /// Computes all contacts of all pairs at the current poses.
    pub fn step(&mut self) {
        let start = Instant::now();
        self.find_pairs();
        self.answers.pairs.clear();
        self.answers.contacts.clear();
        self.finish_step(start, Instant::now());
    }

    /// Computes all contacts of all pairs at the current poses. The back end answers the pairs that
    /// it can, the CPU the others: [`Timings::by_backend`] counts the former.
    ///
    /// After an error of the back end the CPU has answered all pairs, so the step is complete.
    pub fn step_with<B: NarrowBackend>(&mut self, backend: &mut B) -> Result<(), B::Error> {
        let start = Instant::now();
        self.find_pairs();
        let paired = Instant::now();
        let mut answers = std::mem::take(&mut self.answers);
        answers.pairs.clear();
        answers.contacts.clear();
        let body = |id: BodyId| self.bodies[id.0 as usize].as_ref();
        let asked = self.pairs.iter().filter_map(|record| {
            let (a, b) = (body(record.ids[0])?, body(record.ids[1])?);
            Some(BackendPair {
                a: record.ids[0],
                b: record.ids[1],
                pair: Pair {
                    a: &a.shape,
                    b: &b.shape,
                    a_from_b: record.a_from_b,
                },
            })
        });
        let asked: Vec<BackendPair<'_>> = asked.collect();
        let answered = backend.answer(&asked, &self.settings.collide, &mut answers);
        let counts = answers.pairs.iter().map(|answer| match *answer {
            BackendAnswer::Left => 0,
            BackendAnswer::Answered { count, .. } => count,
        });
        // Answers that do not match the pairs cannot be assigned to them.
        let is_whole = asked.len() == self.pairs.len()
            && answers.pairs.len() == asked.len()
            && counts.sum::<usize>() == answers.contacts.len();
        if answered.is_err() || !is_whole {
            answers.pairs.clear();
            answers.contacts.clear();
        }
        self.answers = answers;
        self.take_answers();
        self.finish_step(start, paired);
        answered
    }

    /// Runs the second and third stage.
    fn finish_step(&mut self, start: Instant, paired: Instant) {
        self.find_contacts();
        let found = Instant::now();
        self.keep_contacts();
        let apart = |record: &&Record| record.answer == Ok(Answer::Apart);
        self.timings = Timings {
            broad: paired - start,
            narrow: found - paired,
            manifold: found.elapsed(),
            pairs: self.pairs.len(),
            apart: self.pairs.iter().filter(apart).count(),
            contacts: self.contacts.len(),
            by_backend: (self.answers.pairs.iter())
                .filter(|answer| **answer != BackendAnswer::Left)
                .count(),
        };
    }

    /// Returns all pairs of the last step whose boxes overlap, sorted by ids, including pairs
    /// without contacts and pairs with errors.
    pub fn pairs(&self) -> impl ExactSizeIterator<Item = PairContacts<'_>> {
        let slots = self.pairs.iter().zip(&self.slots);
        slots.map(|(record, slot)| PairContacts {
            a: record.ids[0],
            b: record.ids[1],
            a_from_b: record.a_from_b,
            found: &self.contacts[record.first..][..record.count],
            kept: slot.manifold.kept(),
            groups: slot.manifold.groups(),
            answer: &record.answer,
        })
    }

    /// Returns all contacts of the last step, pair after pair.
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// Returns the durations and counts of the last step.
    pub fn timings(&self) -> Timings {
        self.timings
    }

    /// Runs the first stage: finds the pairs that may touch, and their relative poses.
    fn find_pairs(&mut self) {
        self.broad.pairs(&mut self.box_pairs);
        self.pairs.clear();
        for &[BoxId(a), BoxId(b)] in &self.box_pairs {
            let both = (&self.bodies[a as usize], &self.bodies[b as usize]);
            let (Some(body_a), Some(body_b)) = both else {
                continue;
            };
            if body_a.fixed && body_b.fixed {
                continue;
            }
            self.pairs.push(Record {
                ids: [BodyId(a), BodyId(b)],
                a_from_b: relative_pose(body_a.world_from_body, body_b.world_from_body),
                first: 0,
                count: 0,
                lane: 0,
                answer: Ok(Answer::Apart),
            });
        }
        self.carry_slots();
    }

    /// Stores the answers of the back end, and sorts the contacts of each pair, deepest first.
    fn take_answers(&mut self) {
        let BackendAnswers { contacts, pairs } = &mut self.answers;
        let mut next = 0;
        for (record, answer) in self.pairs.iter_mut().zip(&*pairs) {
            let BackendAnswer::Answered {
                count,
                method,
                distance,
            } = *answer
            else {
                continue;
            };
            record.lane = BACKEND;
            record.first = next;
            record.count = count;
            record.answer = Ok(Answer::Asked {
                method,
                outcome: Outcome::Complete,
                wrench: None,
                distance,
            });
            contacts[next..next + count].sort_unstable_by(|a, b| {
                (a.separation.total_cmp(&b.separation)).then(a.id.cmp(&b.id))
            });
            next += count;
        }
    }

    /// Runs the second stage: lanes process pairs until none is left, then the contacts are put in
    /// order.
    fn find_contacts(&mut self) {
        let lane_count = threads::count().min(self.pairs.len());
        if self.lanes.len() < lane_count {
            self.lanes.resize_with(lane_count, Lane::default);
        }
        let next = AtomicUsize::new(0);
        let (pairs, slots) = (&self.pairs, &self.slots);
        let (bodies, settings) = (&self.bodies, &self.settings.collide);
        threads::for_each(&mut self.lanes[..lane_count], |lane| {
            lane.contacts.clear();
            loop {
                // Which lane takes which pair does not affect the result, so relaxed ordering
                // suffices.
                let pair = next.fetch_add(1, Ordering::Relaxed);
                let (Some(record), Some(slot)) = (pairs.get(pair), slots.get(pair)) else {
                    break;
                };
                if record.lane == BACKEND {
                    continue;
                }
                let body = |id: BodyId| bodies[id.0 as usize].as_ref();
                if let (Some(a), Some(b)) = (body(record.ids[0]), body(record.ids[1])) {
                    let mut memory = (slot.memory.lock()).unwrap_or_else(PoisonError::into_inner);
                    let asked = Pair {
                        a: &a.shape,
                        b: &b.shape,
                        a_from_b: record.a_from_b,
                    };
                    lane.answer(pair, &asked, settings, &mut memory);
                }
            }
        });
        // First pass: count the contacts of each pair.
        for (number, lane) in self.lanes[..lane_count].iter_mut().enumerate() {
            for done in lane.done.drain(..) {
                let record = &mut self.pairs[done.pair];
                record.lane = number;
                record.first = done.first;
                record.count = done.count;
                record.answer = done.answer.map_err(PairError::from);
            }
        }
        let total = self.pairs.iter().map(|record| record.count).sum();
        // Second pass: copy them, each pair's contacts behind those of the pair before.
        self.contacts.clear();
        self.contacts.reserve(total);
        for record in &mut self.pairs {
            let from = match record.lane {
                BACKEND => &self.answers.contacts,
                lane => &self.lanes[lane].contacts,
            };
            let found = &from[record.first..][..record.count];
            record.first = self.contacts.len();
            self.contacts.extend_from_slice(found);
        }
    }

    /// Runs the third stage: updates every pair's manifold with its contacts.
    fn keep_contacts(&mut self) {
        let lane_count = threads::count().min(self.pairs.len());
        let (pairs, contacts, settings) = (&self.pairs, &self.contacts, &self.settings.manifold);
        let lanes = &mut self.lanes[..lane_count];
        threads::for_each_piece(&mut self.slots, lanes, |first, slots, lane| {
            for (record, slot) in pairs[first..].iter().zip(slots) {
                let found = &contacts[record.first..][..record.count];
                let manifold = &mut slot.manifold;
                let kept = manifold.update(found, record.a_from_b, settings, &mut lane.manifold);
                slot.error = kept.err();
            }
        });
        for (record, slot) in self.pairs.iter_mut().zip(&self.slots) {
            // The first error is the one reported.
            if let (Ok(_), Some(error)) = (&record.answer, slot.error) {
                record.answer = Err(PairError::Manifold(error));
            }
        }
    }

    /// Carries the persistent data over to the pairs of this step, and recycles that of pairs that
    /// are gone. Both lists are sorted.
    fn carry_slots(&mut self) {
        let Pipeline {
            slots,
            next_slots,
            spare,
            ..
        } = self;
        next_slots.clear();
        let mut old = slots.drain(..).peekable();
        for record in &self.pairs {
            while let Some(gone) = old.next_if(|slot| slot.ids < record.ids) {
                spare.push(gone);
            }
            let same = old.next_if(|slot| slot.ids == record.ids);
            next_slots.push(same.unwrap_or_else(|| {
                let mut slot = spare.pop().unwrap_or_default();
                slot.ids = record.ids;
                slot.error = None;
                slot.manifold.reset();
                slot.memory().clear();
                slot
            }));
        }
        spare.extend(old);
        std::mem::swap(slots, next_slots);
    }

    /// Returns the world box of a body, grown so that two boxes overlap if the bodies may be within
    /// `max_separation` of each other.
    fn world_box(&self, reach: Aabb, world_from_body: Pose) -> Aabb {
        let rotation = DMat3::from_quat(unit(world_from_body.rotation));
        let translation = world_from_body.translation.as_dvec3();
        let (mut min, mut max) = (translation, translation);
        for axis in 0..3 {
            let column = rotation.col(axis).to_array();
            let ends = [reach.min[axis], reach.max[axis]].map(f64::from);
            for (row, factor) in column.into_iter().enumerate() {
                // An axis perpendicular to this one contributes nothing, even if the box is
                // unbounded along it.
                if factor != 0.0 {
                    let [a, b] = ends.map(|end| factor * end);
                    min[row] += a.min(b);
                    max[row] += a.max(b);
                }
            }
        }
        let half = 0.5 * f64::from(self.settings.collide.max_separation);
        Aabb::new(down(min - DVec3::splat(half)), up(max + DVec3::splat(half)))
    }
}

impl Lane {
    /// Runs the narrow phase for one pair and stores its contacts.
    fn answer(
        &mut self,
        number: usize,
        pair: &Pair<'_>,
        settings: &CollideSettings,
        memory: &mut PairMemory,
    ) {
        let first = self.contacts.len();
        let answer = if are_apart(pair, settings.max_separation) {
            Ok(Answer::Apart)
        } else {
            let Lane { scratch, found, .. } = &mut *self;
            collide_again(pair, settings, memory, scratch, found).map(|()| {
                self.contacts.extend_from_slice(&self.found.contacts);
                Answer::Asked {
                    method: self.found.method,
                    outcome: self.found.outcome,
                    wrench: self.found.wrench,
                    distance: self.found.distance,
                }
            })
        };
        self.done.push(Done {
            pair: number,
            first,
            count: self.contacts.len() - first,
            answer,
        });
    }
}

/// Returns whether the bounding sphere of one shape's shell is proven to be farther than
/// `max_separation` from the other shape. This is the middle phase of \[Sagardia2014\]: one field
/// evaluation instead of thousands.
fn are_apart(pair: &Pair<'_>, max_separation: f32) -> bool {
    let apart = |shell_of: &Shape, field_of: &Shape, field_from_shell: Pose| {
        let Some(shell) = shell_of.shell() else {
            return false;
        };
        let Some(root) = shell.tree().nodes().first() else {
            return false;
        };
        let field = field_of.field();
        let center = field_from_shell.transform_point(root.center);
        // No point of the solid is farther from the shell than the covering radius.
        let reach = root.radius + shell.covering_radius() + max_separation;
        let error = field.error_bound() + ROUNDING * (center.length() + reach);
        field.distance(center) - error > reach
    };
    apart(pair.b, pair.a, pair.a_from_b) || apart(pair.a, pair.b, pair.a_from_b.inverse())
}

/// Computes `a_from_b` for two bodies in a world. The difference of the translations is computed
/// exactly before it is rotated, so bodies far from the world's origin lose no more accuracy than
/// their poses already have.
pub fn relative_pose(world_from_a: Pose, world_from_b: Pose) -> Pose {
    let a_from_world = unit(world_from_a.rotation).conjugate();
    let rotation = (a_from_world * unit(world_from_b.rotation)).as_quat();
    let between = world_from_b.translation.as_dvec3() - world_from_a.translation.as_dvec3();
    Pose {
        rotation: Quat::from_vec4(rotation.into()).normalize(),
        translation: (a_from_world * between).as_vec3(),
    }
}

/// Normalises the quaternion in `f64`; a zero or NaN quaternion stays as it is.
fn unit(rotation: Quat) -> DQuat {
    let rotation = rotation.as_dquat();
    let length = rotation.length();
    if length > 0.0 {
        rotation / length
    } else {
        rotation
    }
}

fn checked(pose: Pose) -> Result<Pose, PipelineError> {
    let finite = pose.translation.is_finite() && pose.rotation.is_finite();
    if finite && pose.rotation.is_normalized() {
        return Ok(pose);
    }
    Err(PipelineError::BadPose(pose))
}

/// Returns a box around everything that the field may report as near, and all points of the shell.
fn reach(shape: &Shape) -> Aabb {
    let shell = shape.shell().map_or(&[][..], |shell| shell.points());
    let all = shape.solid().union(Aabb::of_points(shell.iter().copied()));
    let diagonal = all.diagonal();
    let rounding = if diagonal.is_finite() {
        ROUNDING * diagonal
    } else {
        0.0
    };
    all.grown(shape.field().error_bound() + rounding)
}

/// Rounds down to `f32`, to below the value.
fn down(corner: DVec3) -> Vec3 {
    Vec3::from_array(corner.as_vec3().to_array().map(f32::next_down))
}

/// Rounds up to `f32`, to above the value.
fn up(corner: DVec3) -> Vec3 {
    Vec3::from_array(corner.as_vec3().to_array().map(f32::next_up))
}
