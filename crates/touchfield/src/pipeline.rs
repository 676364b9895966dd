//! Bodies with poses in, all contacts of all pairs out: broad phase, narrow phase, manifolds, in this order.
//!
//! Input: [`Shape`]s with world poses. Output: for every pair of bodies whose boxes meet its contacts in frame A, those kept, or why there
//! is no answer; how long each stage took. Cost: its stages; nothing is allocated once the buffers have grown.
//! Not for: motion and forces.
//!
//! ```text
//! poses ──► boxes ──► broad ──► pairs ──► narrow ──► contacts ──► manifold ──► kept
//!                              sorted    in lanes    in order     in pieces
//! ```
//!
//! A lane takes the next pair that nobody has, so large pairs hold up nobody. What it finds stays in its own buffer; when all are counted, the
//! prefix sum of the counts says where each pair's contacts go, after the two passes of document 000. So nothing is dropped, and the order is that of the pairs,
//! whatever lane found what: the same bits on any number of threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use glam::{DMat3, DQuat, DVec3, Quat, Vec3};

use crate::broad::{AabbTree, BoxId, BroadError, BroadPhase};
use crate::contact::{Contact, Wrench};
use crate::geom::{Aabb, Pose};
use crate::manifold::{Group, Kept, Manifold, ManifoldError, ManifoldScratch, ManifoldSettings};
use crate::narrow::{
    CollideError, CollideSettings, Contacts, Method, Outcome, Pair, PairMemory, Scratch,
    collide_again,
};
use crate::shape::Shape;
use crate::threads;

/// Names a body; handed out again after its removal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(pub u32);

/// A shape somewhere in the world.
#[derive(Clone, Debug)]
pub struct Body {
    /// What it looks like.
    pub shape: Shape,
    /// Where it is.
    pub world_from_body: Pose,
    /// Two bodies that are fixed are never held against each other.
    pub fixed: bool,
}

/// How contacts are found and kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PipelineSettings {
    /// For the narrow phase.
    pub collide: CollideSettings,
    /// For the manifolds.
    pub manifold: ManifoldSettings,
    /// What a body may move before the tree of boxes changes \[m\]: about a few steps.
    pub box_margin: f32,
}

impl Default for PipelineSettings {
    fn default() -> PipelineSettings {
        PipelineSettings {
            collide: CollideSettings::default(),
            manifold: ManifoldSettings::default(),
            // 1 m/s at 60 Hz for three steps; only time depends on it.
            box_margin: 0.05,
        }
    }
}

/// Why a body or a setting is not taken.
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
    /// The broad phase does not take the body's box.
    #[error("the box of the body: {0}")]
    Broad(#[from] BroadError),
}

/// Why a pair has no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PairError {
    /// From the narrow phase.
    #[error(transparent)]
    Collide(#[from] CollideError),
    /// From the manifold; the contacts found are there.
    #[error(transparent)]
    Manifold(#[from] ManifoldError),
}

/// How a pair was answered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    /// The sphere around one body is farther from the other than `max_separation`; no method was asked.
    Apart,
    /// A method was asked.
    Asked {
        /// Which one; never [`Method::Auto`].
        method: Method,
        /// Whether it looked at everything.
        outcome: Outcome,
        /// As in [`Contacts::wrench`].
        wrench: Option<Wrench>,
        /// As in [`Contacts::distance`] \[m\].
        distance: f32,
    },
}

/// What is known of a pair after a step. All in the frame of A.
#[derive(Clone, Copy, Debug)]
pub struct PairContacts<'a> {
    /// The body with the smaller id.
    pub a: BodyId,
    /// The other one.
    pub b: BodyId,
    /// Where B was.
    pub a_from_b: Pose,
    /// All contacts, deepest first.
    pub found: &'a [Contact],
    /// Those kept, with ids that last.
    pub kept: &'a [Kept],
    /// Those kept, by normal.
    pub groups: &'a [Group],
    /// How they were found, or why not.
    pub answer: &'a Result<Answer, PairError>,
}

/// What the stages of a step took, and what went through them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timings {
    /// Finding pairs of boxes.
    pub broad: Duration,
    /// Finding contacts, and putting them in order.
    pub narrow: Duration,
    /// Choosing and recognising contacts.
    pub manifold: Duration,
    /// Pairs of boxes that meet.
    pub pairs: usize,
    /// Of these, pairs that a sphere told apart.
    pub apart: usize,
    /// Contacts found.
    pub contacts: usize,
}

/// A world of bodies, and the contacts between them.
#[derive(Debug)]
pub struct Pipeline {
    settings: PipelineSettings,
    broad: AabbTree,
    /// By the number of their box.
    bodies: Vec<Option<Body>>,
    /// Of each body, in its own frame: all that its field and its shell may touch.
    reach: Vec<Aabb>,
    box_pairs: Vec<[BoxId; 2]>,
    pairs: Vec<Record>,
    contacts: Vec<Contact>,
    lanes: Vec<Lane>,
    /// What is kept of each pair of the last step, in their order.
    slots: Vec<Slot>,
    next_slots: Vec<Slot>,
    spare: Vec<Slot>,
    timings: Timings,
}

/// A pair, and where its contacts are.
#[derive(Clone, Debug)]
struct Record {
    ids: [BodyId; 2],
    a_from_b: Pose,
    /// In the buffer of a lane while they are gathered, then among all contacts.
    first: usize,
    count: usize,
    lane: usize,
    answer: Result<Answer, PairError>,
}

/// What one thread works with.
#[derive(Debug, Default)]
struct Lane {
    scratch: Scratch,
    found: Contacts,
    contacts: Vec<Contact>,
    done: Vec<Done>,
    manifold: ManifoldScratch,
}

/// A pair that a lane has answered.
#[derive(Debug)]
struct Done {
    pair: usize,
    first: usize,
    count: usize,
    answer: Result<Answer, CollideError>,
}

/// What is kept of a pair from step to step.
#[derive(Debug, Default)]
struct Slot {
    ids: [BodyId; 2],
    manifold: Manifold,
    error: Option<ManifoldError>,
    /// Whichever lane takes the pair locks it; no other one asks for it.
    memory: Mutex<PairMemory>,
}

impl Slot {
    fn memory(&mut self) -> &mut PairMemory {
        (self.memory.get_mut()).unwrap_or_else(PoisonError::into_inner)
    }
}

/// The narrow phase computes in `f32`: places on a body are off by a few units in the last place of its size.
const ROUNDING: f32 = 1e-6;

impl Pipeline {
    /// A world without bodies.
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
            timings: Timings::default(),
        })
    }

    /// Takes a body in.
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

    /// Takes a body out; its pairs are gone at the next step.
    pub fn remove(&mut self, id: BodyId) -> Result<Body, PipelineError> {
        let body = self.bodies.get_mut(id.0 as usize).and_then(Option::take);
        let body = body.ok_or(PipelineError::Unknown(id))?;
        self.broad.remove(BoxId(id.0))?;
        // The id may go to another body, which must not inherit contacts.
        for slot in &mut self.slots {
            if slot.ids.contains(&id) {
                slot.manifold.clear();
                slot.memory().clear();
            }
        }
        Ok(body)
    }

    /// Moves a body. After an error it is where it was.
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

    /// A body, if it is there.
    pub fn body(&self, id: BodyId) -> Option<&Body> {
        self.bodies.get(id.0 as usize)?.as_ref()
    }

    /// Finds all contacts of all pairs, where the bodies are now.
    pub fn step(&mut self) {
        let start = Instant::now();
        self.find_pairs();
        let paired = Instant::now();
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
        };
    }

    /// All pairs of the last step whose boxes meet, sorted by ids; also those without contacts and those without an answer.
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

    /// All contacts of the last step, pair after pair.
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// What the last step took.
    pub fn timings(&self) -> Timings {
        self.timings
    }

    /// First stage: which bodies may touch, and where B is in A.
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

    /// Second stage: every lane takes pairs until none is left; then the contacts are put in order.
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
                // Which lane takes which pair does not matter, so neither does the order in which lanes see this.
                let pair = next.fetch_add(1, Ordering::Relaxed);
                let (Some(record), Some(slot)) = (pairs.get(pair), slots.get(pair)) else {
                    break;
                };
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
        // Count …
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
        // … and fill, each pair behind the one before.
        self.contacts.clear();
        self.contacts.reserve(total);
        for record in &mut self.pairs {
            let found = &self.lanes[record.lane].contacts[record.first..][..record.count];
            record.first = self.contacts.len();
            self.contacts.extend_from_slice(found);
        }
    }

    /// Third stage: every pair's manifold takes its contacts.
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
            // What went wrong first is said.
            if let (Ok(_), Some(error)) = (&record.answer, slot.error) {
                record.answer = Err(PairError::Manifold(error));
            }
        }
    }

    /// What is kept follows its pair; that of pairs that are gone is used again. Both lists are sorted.
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

    /// Two boxes meet if the bodies may be within `max_separation` of one another.
    fn world_box(&self, reach: Aabb, world_from_body: Pose) -> Aabb {
        let rotation = DMat3::from_quat(unit(world_from_body.rotation));
        let translation = world_from_body.translation.as_dvec3();
        let (mut min, mut max) = (translation, translation);
        for axis in 0..3 {
            let column = rotation.col(axis).to_array();
            let ends = [reach.min[axis], reach.max[axis]].map(f64::from);
            for (row, factor) in column.into_iter().enumerate() {
                // An axis at right angles takes no part, even if the box has no end along it.
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
    /// Asks the narrow phase for one pair.
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

/// Whether the sphere around the shell of one shape is proven to be farther than `max_separation` from the other: the middle
/// phase of document 003, one look at a field in place of thousands.
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
        // No point of the solid is farther from the shell than its covering radius.
        let reach = root.radius + shell.covering_radius() + max_separation;
        let error = field.error_bound() + ROUNDING * (center.length() + reach);
        field.distance(center) - error > reach
    };
    apart(pair.b, pair.a, pair.a_from_b) || apart(pair.a, pair.b, pair.a_from_b.inverse())
}

/// `a_from_b` of two bodies in a world. The difference of the translations is exact before it is turned, so bodies far from the origin
/// of the world lose nothing more than their poses did.
pub fn relative_pose(world_from_a: Pose, world_from_b: Pose) -> Pose {
    let a_from_world = unit(world_from_a.rotation).conjugate();
    let rotation = (a_from_world * unit(world_from_b.rotation)).as_quat();
    let between = world_from_b.translation.as_dvec3() - world_from_a.translation.as_dvec3();
    Pose {
        rotation: Quat::from_vec4(rotation.into()).normalize(),
        translation: (a_from_world * between).as_vec3(),
    }
}

/// The quaternion at unit length in `f64`; one that is not nearly so stays what it is.
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

/// A box around all that the field may call near, and all points of the shell.
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

/// The nearest `f32` below.
fn down(corner: DVec3) -> Vec3 {
    Vec3::from_array(corner.as_vec3().to_array().map(f32::next_down))
}

/// The nearest `f32` above.
fn up(corner: DVec3) -> Vec3 {
    Vec3::from_array(corner.as_vec3().to_array().map(f32::next_up))
}
