//! The sphere tree of a shell walked against a field, level after level: what the shell methods share.
//!
//! Input: a [`Probe`], a reach, a deadline. Output: the contacts of all shell points within reach, their wrench, a distance.
//! Cost: one field value for each sphere near the other body, one sample for each point in contact.
//! Not for: deciding whether there is contact at all (see `touching`).

use std::cmp::Ordering;
use std::time::{Duration, Instant};

use glam::{Mat3, Vec3};

use crate::contact::{Contact, Wrench};
use crate::geom::Pose;
use crate::narrow::pair::{CollideError, CollideSettings, Contacts, Outcome, Pair};
use crate::narrow::scratch::Scratch;
use crate::narrow::search::probe::{Probe, Side, index_of};

/// Spheres or points between two looks at the clock: about a microsecond.
const PIECE: usize = 32;

/// Boxes of spheres between two looks at the clock; each takes about a quarter of what a sphere takes.
const BOXES: usize = 4 * PIECE;

/// The part of `detail` by which a point may be deeper than the deepest that is told. Tuned on the bunny with a detail of 3 % of its size: at half of it a million points at rest take
/// 1.4 times as long, at a quarter three times; at twice, depths of bunnies deep in each other are off by more than a cell of 128 a side.
const DEEPER_SHARE: f32 = 0.125;

/// The part of `detail` down to which the border of a patch of contact is told for solvers. Not tuned: of the 2 % of a body's size that contacts for solvers
/// are found with it is half a cell of a field of 128 nodes a side.
const BORDER_SHARE: f32 = 0.125;

/// Spheres at a border that go down one level side by side: of four children each, as many as a piece.
const BORDER_PIECE: usize = 8;

/// A shell on its way down.
pub(crate) struct Walk<'a> {
    pub(crate) probe: Probe<'a>,
    max_separation: f32,
    detail: f32,
    /// Spheres at the border of a patch of contact no larger than this are told by one point \[m\].
    border: f32,
    /// Whether that is the deepest of them, or the one that a way straight down leads to.
    deepest_at_border: bool,
    /// A point that is deeper than the deepest told by no more than this need not be told \[m\].
    deeper: f32,
    pub(crate) start: Instant,
    budget: Option<Duration>,
    going: Option<Going>,
}

/// How far ahead contacts of a pair in motion are told: those of a point that may be closed after another step like the last, whichever way it leads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ahead {
    /// Where B was a step ago.
    pub a_from_b_before: Pose,
    /// The next step may be longer than the last by this factor.
    pub faster: f32,
    /// What is added to the way that a point goes \[m\].
    pub margin: f32,
    /// Contacts farther apart are not told \[m\].
    pub farthest: f32,
}

/// The last step of a shell as seen from the field: a point `x` of it went by `change · x + shift`.
#[derive(Clone, Copy)]
struct Going {
    change: Mat3,
    shift: Vec3,
    /// By how much the ways of two points differ, at most, for their distance.
    spin: f32,
    ahead: Ahead,
}

impl Going {
    fn of(probe: &Probe<'_>, now: Pose, ahead: Ahead) -> Going {
        let before = ahead.a_from_b_before;
        let (before, now) = match probe.side {
            Side::B => (before, now),
            Side::A => (before.inverse(), now.inverse()),
        };
        let turn = now.rotation * before.rotation.conjugate();
        Going {
            change: Mat3::from_quat(now.rotation) - Mat3::from_quat(before.rotation),
            shift: now.translation - before.translation,
            // Twice the sine of half the angle.
            spin: 2.0 * turn.xyz().length(),
            ahead,
        }
    }

    /// How far the points about one may be from contact after such a step, those that go farthest or, with a radius below 0, least.
    fn reach(&self, center: Vec3, radius: f32) -> f32 {
        let way = (self.change * center + self.shift).length() + self.spin * radius;
        (self.ahead.faster * way + self.ahead.margin).min(self.ahead.farthest)
    }
}

impl<'a> Walk<'a> {
    /// With the finer shell of the pair. The clock runs from here.
    pub(crate) fn new(
        pair: &Pair<'a>,
        settings: &CollideSettings,
        method: &'static str,
    ) -> Result<Walk<'a>, CollideError> {
        Ok(Walk::with(Probe::finer(pair, method)?, settings))
    }

    /// With a shell of choice.
    pub(crate) fn with(probe: Probe<'a>, settings: &CollideSettings) -> Walk<'a> {
        Walk {
            probe,
            max_separation: settings.max_separation,
            detail: settings.detail,
            border: settings.detail,
            deepest_at_border: false,
            deeper: DEEPER_SHARE * settings.detail,
            start: Instant::now(),
            budget: settings.budget,
            going: None,
        }
    }

    /// The same for solvers: what a body stands on reaches to the border, and they push by the deepest.
    pub(crate) fn for_solvers(self) -> Walk<'a> {
        Walk {
            border: BORDER_SHARE * self.detail,
            deepest_at_border: true,
            deeper: 0.0,
            ..self
        }
    }

    /// The same, of a pair that goes on.
    pub(crate) fn ahead(self, now: Pose, ahead: Option<&Ahead>) -> Walk<'a> {
        let going = ahead.map(|&ahead| Going::of(&self.probe, now, ahead));
        Walk { going, ..self }
    }

    /// Whether contacts of the points about one are told that are so far apart; with a radius below 0 those of all of them. Most questions are settled by what is
    /// told in any case, without how the pair goes on.
    fn reaches(&self, apart: f32, center: Vec3, radius: f32) -> bool {
        apart <= self.max_separation
            || (self.going.as_ref()).is_some_and(|going| {
                apart <= going.ahead.farthest && apart <= going.reach(center, radius)
            })
    }
}

impl Walk<'_> {
    /// All levels, then the points of the leaves.
    pub(crate) fn run(&self, scratch: &mut Scratch, out: &mut Contacts) {
        let mut pace = Pace {
            start: self.start,
            budget: self.budget,
            looked_at: 0,
            last: (0.0, 0),
            slowest: 0.0,
        };
        scratch.front.clear();
        scratch.front.push(0);
        scratch.near_points.clear();
        scratch.covered.clear();
        scratch.rims.clear();
        // Until a level is whole, the best that can be said is the point that stands for all.
        let mut level = 0;
        if self.budget.is_some() {
            let at_once = &mut Pace {
                budget: None,
                ..pace
            };
            let _in_time = self.represent(&[0], at_once, scratch, out);
        }
        while !scratch.front.is_empty() {
            let mut in_time = self.descend(&mut pace, scratch, out);
            if in_time.is_ok() && self.budget.is_some() && !scratch.front.is_empty() {
                let front = std::mem::take(&mut scratch.front);
                in_time = self.represent(&front, &mut pace, scratch, out);
                scratch.front = front;
            }
            if in_time.is_err() {
                return self.finish_late(level, out);
            }
            level += 1;
        }
        if self.points(&mut pace, scratch, out).is_err() {
            return self.finish_late(level, out);
        }
        if self.deepest_of_covered(&mut pace, scratch, out).is_err() {
            return self.finish_late(level, out);
        }
        self.finish(out);
    }

    /// The contacts are those of the last whole level.
    fn finish_late(&self, levels: u32, out: &mut Contacts) {
        let of = self.probe.shell.tree().level_count() as u32 + 1;
        out.outcome = Outcome::OutOfTime { levels, of };
        self.finish(out);
    }

    /// Replaces the front by the children of its spheres that come near, and notes the points of its leaves.
    fn descend(
        &self,
        pace: &mut Pace,
        scratch: &mut Scratch,
        out: &mut Contacts,
    ) -> Result<(), Late> {
        let nodes = self.probe.shell.tree().nodes();
        let error = self.probe.field.error_bound();
        // Most spheres are off the other body's box.
        let mut kept = 0;
        for start in (0..scratch.front.len()).step_by(BOXES) {
            let end = (start + BOXES).min(scratch.front.len());
            pace.take((end - start).div_ceil(4), out.contacts.len())?;
            for at in start..end {
                let index = scratch.front[at];
                let node = &nodes[index as usize];
                let apart = self.probe.box_distance(node);
                if self.reaches(apart - error, node.center, node.radius) {
                    scratch.front[kept] = index;
                    kept += 1;
                } else {
                    out.distance = out.distance.min(apart);
                }
            }
        }
        scratch.front.truncate(kept);
        scratch.next_front.clear();
        for piece in 0..scratch.front.len().div_ceil(PIECE) {
            let start = piece * PIECE;
            let end = (start + PIECE).min(scratch.front.len());
            pace.take(end - start, out.contacts.len())?;
            scratch.points.clear();
            for &index in &scratch.front[start..end] {
                let center = self.probe.to_field(nodes[index as usize].center);
                scratch.points.push(center);
            }
            self.probe
                .field
                .distance_many(&scratch.points, &mut scratch.distances);
            for (&index, &distance) in scratch.front[start..end].iter().zip(&scratch.distances) {
                let node = &nodes[index as usize];
                // Where every point is in contact, one may stand for those about it.
                let is_covered = node.radius <= self.detail
                    && self.reaches(distance + node.radius + error, node.center, -node.radius);
                if is_covered {
                    scratch.near_points.push(node.representative);
                    scratch.covered.push((distance - node.radius, index));
                } else if !self.reaches(distance - node.radius - error, node.center, node.radius) {
                    out.distance = out.distance.min(distance - node.radius);
                } else if node.child_count == 0 {
                    scratch.near_points.extend(node.points());
                } else if node.radius <= self.border && self.going.is_none() {
                    // Of a pair that goes on, the deepest point now need not be the first to arrive.
                    scratch.rims.push((distance - node.radius, index));
                } else {
                    scratch.next_front.extend(node.children());
                }
            }
        }
        std::mem::swap(&mut scratch.front, &mut scratch.next_front);
        Ok(())
    }

    /// Replaces the contacts by those of the points that stand for some spheres, and of the leaf points noted so far. Late, it leaves them as they were.
    fn represent(
        &self,
        front: &[u32],
        pace: &mut Pace,
        scratch: &mut Scratch,
        out: &mut Contacts,
    ) -> Result<(), Late> {
        let nodes = self.probe.shell.tree().nodes();
        let points = self.probe.shell.points();
        let coarser = out.contacts.len();
        scratch.standing.clear();
        let standing = front
            .iter()
            .map(|&index| nodes[index as usize].representative);
        scratch.standing.extend(standing);
        scratch.standing.extend_from_slice(&scratch.near_points);
        let rims = (scratch.rims.iter()).map(|&(_, index)| nodes[index as usize].representative);
        scratch.standing.extend(rims);
        for piece in scratch.standing.chunks(PIECE) {
            // Whichever are kept have to be finished.
            let finer = out.contacts.len() - coarser;
            if let Err(late) = pace.take(piece.len(), coarser.max(finer)) {
                out.contacts.truncate(coarser);
                return Err(late);
            }
            scratch.points.clear();
            let placed = piece.iter();
            (scratch.points)
                .extend(placed.map(|&index| self.probe.to_field(points[index as usize])));
            self.probe
                .field
                .sample_many(&scratch.points, &mut scratch.samples);
            let found = piece.iter().zip(&scratch.points).zip(&scratch.samples);
            for ((&index, &point), &sample) in found {
                if self.reaches(sample.distance, points[index as usize], 0.0) {
                    out.contacts.push(self.probe.contact(index, point, sample));
                }
            }
        }
        out.contacts.drain(..coarser);
        Ok(())
    }

    /// The contacts of all points that were noted.
    fn points(
        &self,
        pace: &mut Pace,
        scratch: &mut Scratch,
        out: &mut Contacts,
    ) -> Result<(), Late> {
        let points = self.probe.shell.points();
        let coarser = out.contacts.len();
        for piece in scratch.near_points.chunks(PIECE) {
            let finer = out.contacts.len() - coarser;
            if let Err(late) = pace.take(piece.len(), coarser.max(finer)) {
                // The coarser ones are whole, these are not.
                out.contacts.truncate(coarser);
                return Err(late);
            }
            scratch.points.clear();
            for &index in piece {
                scratch
                    .points
                    .push(self.probe.to_field(points[index as usize]));
            }
            self.probe
                .field
                .sample_many(&scratch.points, &mut scratch.samples);
            let found = piece.iter().zip(&scratch.points).zip(&scratch.samples);
            for ((&index, &point), &sample) in found {
                out.distance = out.distance.min(sample.distance);
                if self.reaches(sample.distance, points[index as usize], 0.0) {
                    out.contacts.push(self.probe.contact(index, point, sample));
                }
            }
        }
        if self.deepest_at_border {
            self.deepest_at_borders(pace, scratch, coarser, out)?;
        } else {
            self.borders(pace, scratch, coarser, out)?;
        }
        out.contacts.drain(..coarser);
        Ok(())
    }

    /// A contact for every sphere at the border of a patch: of its deepest point, if that is in contact.
    fn deepest_at_borders(
        &self,
        pace: &mut Pace,
        scratch: &mut Scratch,
        coarser: usize,
        out: &mut Contacts,
    ) -> Result<(), Late> {
        let Scratch {
            rims,
            below,
            points,
            distances,
            ..
        } = scratch;
        // A bound may be off by the error of the field.
        let farthest = (self.max_separation + self.probe.field.error_bound()).next_up();
        for rim in rims.drain(..) {
            below.clear();
            below.push(rim);
            let finer = out.contacts.len() - coarser;
            let finish = coarser.max(finer);
            let found = self.deepest_below(pace, finish, below, [farthest, 0.0], points, distances);
            if let Err(late) = found.in_time {
                out.contacts.truncate(coarser);
                return Err(late);
            }
            match found
                .point
                .filter(|_| found.distance <= self.max_separation)
            {
                Some(point) => out.contacts.push(self.contact_at(point)),
                None => out.distance = out.distance.min(rim.0.max(self.max_separation)),
            }
        }
        Ok(())
    }

    /// A contact for every sphere at the border of a patch: of the point that a way straight down leads to, always to the child that may go deepest. All of them go
    /// down side by side, which keeps the field's memory busy.
    fn borders(
        &self,
        pace: &mut Pace,
        scratch: &mut Scratch,
        coarser: usize,
        out: &mut Contacts,
    ) -> Result<(), Late> {
        let (nodes, shell_points) = (self.probe.shell.tree().nodes(), self.probe.shell.points());
        let Scratch {
            rims,
            below,
            points,
            distances,
            ..
        } = scratch;
        below.clear();
        below.extend_from_slice(rims);
        while !below.is_empty() {
            let mut kept = 0;
            for piece in 0..below.len().div_ceil(BORDER_PIECE) {
                let start = piece * BORDER_PIECE;
                let end = (start + BORDER_PIECE).min(below.len());
                points.clear();
                for &(_, index) in &below[start..end] {
                    let node = &nodes[index as usize];
                    if node.child_count == 0 {
                        let own = node.points().map(|point| shell_points[point as usize]);
                        points.extend(own.map(|point| self.probe.to_field(point)));
                    } else {
                        let own = node.children().map(|child| nodes[child as usize].center);
                        points.extend(own.map(|center| self.probe.to_field(center)));
                    }
                }
                let finer = out.contacts.len() - coarser;
                if let Err(late) = pace.take(points.len(), coarser.max(finer)) {
                    out.contacts.truncate(coarser);
                    return Err(late);
                }
                self.probe.field.distance_many(points, distances);
                let mut first = 0;
                for at in start..end {
                    let node = &nodes[below[at].1 as usize];
                    if node.child_count == 0 {
                        let own = node.points().zip(&distances[first..]);
                        let (distance, point) = least(own.map(|(point, &d)| (d, point)));
                        first += node.point_count as usize;
                        out.distance = out.distance.min(distance);
                        if distance <= self.max_separation {
                            out.contacts.push(self.contact_at(point));
                        }
                    } else {
                        let own = node.children().zip(&distances[first..]);
                        let bound = |child: u32, d: f32| d - nodes[child as usize].radius;
                        let lowest = least(own.map(|(child, &d)| (bound(child, d), child)));
                        first += node.child_count as usize;
                        // Values may be off by the field's error, which costs a contact at most: whether there is any is asked later.
                        if lowest.0 <= self.max_separation {
                            below[kept] = lowest;
                            kept += 1;
                        } else {
                            out.distance = out.distance.min(lowest.0);
                        }
                    }
                }
            }
            below.truncate(kept);
        }
        Ok(())
    }

    /// Adds the deepest of the points that others stand for, if it may be deeper than all contacts so far by more than `deeper`; if there is no contact so far, any. Late,
    /// it adds the deepest that it saw.
    fn deepest_of_covered(
        &self,
        pace: &mut Pace,
        scratch: &mut Scratch,
        out: &mut Contacts,
    ) -> Result<(), Late> {
        let Scratch {
            covered,
            rims,
            points,
            distances,
            ..
        } = scratch;
        let separations = out.contacts.iter().map(|contact| contact.separation);
        let told = separations.fold(f32::INFINITY, f32::min);
        let (than, by) = if told.is_finite() || self.going.is_some() {
            // Of a pair that goes on, what is farther than `max_separation` is told too.
            (told, self.deeper)
        } else {
            // A bound may be off by the error of the field.
            let farthest = self.max_separation + self.probe.field.error_bound();
            (farthest.next_up(), 0.0)
        };
        covered.append(rims);
        covered.retain(|&(bound, _)| bound < than - by);
        covered.sort_unstable_by(deepest_last);
        let finish = out.contacts.len();
        let found = self.deepest_below(pace, finish, covered, [than, by], points, distances);
        let is_told = self.going.is_some() || found.distance <= self.max_separation;
        if let Some(point) = found.point.filter(|_| is_told) {
            out.contacts.push(self.contact_at(point));
        }
        found.in_time
    }

    /// The deepest of the points below some spheres, given with a bound of their depths, the deepest last; if it is deeper than the first of `than` by more than the second. Takes
    /// the spheres away. `finish` contacts are to be finished in the time that is left.
    fn deepest_below(
        &self,
        pace: &mut Pace,
        finish: usize,
        spheres: &mut Vec<(f32, u32)>,
        [than, by]: [f32; 2],
        centers: &mut Vec<Vec3>,
        distances: &mut Vec<f32>,
    ) -> Deepest {
        let (nodes, shell_points) = (self.probe.shell.tree().nodes(), self.probe.shell.points());
        let mut deepest = Deepest {
            distance: than,
            point: None,
            in_time: Ok(()),
        };
        // The last is looked at first: the one that may go deepest.
        while let Some((bound, index)) = spheres.pop() {
            let node = &nodes[index as usize];
            if bound >= deepest.distance - by {
                continue;
            }
            let below = if node.child_count == 0 {
                node.point_count
            } else {
                node.child_count
            };
            deepest.in_time = pace.take(below as usize, finish);
            if deepest.in_time.is_err() {
                break;
            }
            if node.child_count == 0 {
                for point in node.points() {
                    let place = self.probe.to_field(shell_points[point as usize]);
                    let distance = self.probe.field.distance(place);
                    if distance < deepest.distance {
                        (deepest.distance, deepest.point) = (distance, Some(point));
                    }
                }
                continue;
            }
            self.probe.child_distances(node, centers, distances);
            let first = spheres.len();
            for (child, &distance) in node.children().zip(&*distances) {
                let bound = distance - nodes[child as usize].radius;
                if bound < deepest.distance - by {
                    spheres.push((bound, child));
                }
            }
            spheres[first..].sort_unstable_by(deepest_last);
        }
        deepest
    }

    fn contact_at(&self, point: u32) -> Contact {
        let place = (self.probe).to_field(self.probe.shell.points()[point as usize]);
        let sample = self.probe.field.sample(place);
        self.probe.contact(point, place, sample)
    }

    /// Sums what the contacts push with: each its depth, along the inward normal of its shell point (document 003, Eq. 2 and 3).
    fn finish(&self, out: &mut Contacts) {
        let mut wrench = Wrench::default();
        for contact in &out.contacts {
            out.distance = out.distance.min(contact.separation);
            let depth = (-contact.separation).max(0.0);
            let inward_in_a = self.probe.inward_in_a(index_of(contact.id));
            // The force acts on the body with the shell where its point is; on B it is the opposite if that is A.
            let (point, force) = match self.probe.side {
                Side::B => (contact.point_on_b(), depth * inward_in_a),
                Side::A => (contact.point_on_a(), -depth * inward_in_a),
            };
            wrench.push_at(point, force);
        }
        out.wrench = Some(wrench);
    }
}

/// The sphere that may go deepest comes last.
fn deepest_last(a: &(f32, u32), b: &(f32, u32)) -> Ordering {
    b.0.total_cmp(&a.0).then(b.1.cmp(&a.1))
}

/// The deepest point that was looked for, if there is one.
struct Deepest {
    distance: f32,
    point: Option<u32>,
    /// Late, it is the deepest that was seen.
    in_time: Result<(), Late>,
}

/// The least of some, the first of those that are equal.
fn least(of: impl Iterator<Item = (f32, u32)>) -> (f32, u32) {
    of.fold((f32::INFINITY, 0), |least, next| {
        if next.0 < least.0 { next } else { least }
    })
}

/// What is left of a budget, judged by what was done with the rest.
struct Pace {
    start: Instant,
    budget: Option<Duration>,
    /// Spheres and points.
    looked_at: usize,
    /// When the last of them were taken up \[s\], and how many.
    last: (f32, usize),
    /// The most that one of a piece took, of any whole piece \[s\].
    slowest: f32,
}

impl Pace {
    /// Takes up some more spheres or points; late if they, and the summing and sorting of the contacts so far, would be at the pace so far: that of the mean, or of
    /// the slowest piece, as points in contact take longer than spheres that are far.
    fn take(&mut self, count: usize, contacts: usize) -> Result<(), Late> {
        /// What a contact takes at the end, in spheres: its share of the wrench, and of being sorted among some hundred.
        const TO_FINISH: usize = 2;
        let Some(budget) = self.budget else {
            return Ok(());
        };
        let spent = self.start.elapsed().as_secs_f32();
        let (taken_at, taken) = self.last;
        if taken == PIECE {
            self.slowest = self.slowest.max((spent - taken_at) / PIECE as f32);
        }
        let mean = spent / self.looked_at.max(1) as f32;
        let ahead = mean.max(self.slowest) * count as f32 + mean * (TO_FINISH * contacts) as f32;
        if spent + ahead >= budget.as_secs_f32() {
            return Err(Late);
        }
        self.looked_at += count;
        self.last = (spent, count);
        Ok(())
    }
}

/// The budget has run out.
struct Late;
