//! Level-by-level traversal of a shell's sphere tree against a field, shared by the shell methods.
//!
//! Input: a [`Probe`], a reach, a deadline.
//! Output: the contacts of all shell points within reach, a distance.
//! Cost: one field value for each sphere near the other body, one sample for each point in contact.
//! Not for: deciding whether there is contact at all (see `touching`).

use std::cmp::Ordering;
use std::time::{Duration, Instant};

use glam::{Mat3, Vec3};

use crate::contact::Contact;
use crate::geom::Pose;
use crate::narrow::pair::{CollideError, CollideSettings, Contacts, Outcome, Pair};
use crate::narrow::scratch::Scratch;
use crate::narrow::search::probe::{Probe, Side};

/// Number of spheres or points between two clock readings: about a microsecond.
const PIECE: usize = 32;

/// Number of sphere box tests between two clock readings; each takes about a quarter of the time of
/// a sphere.
const BOXES: usize = 4 * PIECE;

/// Fraction of `detail` by which a point may be deeper than the deepest reported one. Tuned on the
/// bunny with a detail of 3 % of its size: at half of it a million points at rest take 1.4 times as
/// long, at a quarter three times; at twice, depths of bunnies deep in each other are off by more
/// than a cell of a field of 128 cells per side.
const DEEPER_SHARE: f32 = 0.125;

/// Fraction of `detail` to which the border of a contact patch is resolved for solvers. Not tuned:
/// for the 2 % of a body's size at which contacts for solvers are found, it is half a cell of a
/// field with 128 nodes per side.
const BORDER_SHARE: f32 = 0.125;

/// Number of spheres at a border that descend one level side by side: with four children each, they
/// fill a piece.
const BORDER_PIECE: usize = 8;

/// A traversal of one shell.
pub(crate) struct Walk<'a> {
    pub(crate) probe: Probe<'a>,
    max_separation: f32,
    detail: f32,
    /// Maximum radius of spheres at the border of a contact patch that one point represents \[m\].
    border: f32,
    /// Whether a sphere at the border is represented by its deepest point, rather than by the one
    /// that a greedy descent leads to.
    deepest_at_border: bool,
    /// Depth by which an unreported point may exceed the deepest reported one \[m\].
    deeper: f32,
    pub(crate) start: Instant,
    budget: Option<Duration>,
    going: Option<Going>,
}

/// Reach of contacts for a pair in motion. A point is reported if the gap may be closed by another
/// step like the last, in whatever direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ahead {
    /// Pose of B in A one step ago.
    pub a_from_b_before: Pose,
    /// Factor by which the next step may be longer than the last.
    pub faster: f32,
    /// Margin added to the path of a point \[m\].
    pub margin: f32,
    /// Maximum separation of the contacts that are reported because of the motion \[m\].
    pub farthest: f32,
}

/// Motion of a shell in the last step, seen from the field: a point `x` moved by
/// `change · x + shift`.
#[derive(Clone, Copy)]
struct Going {
    change: Mat3,
    shift: Vec3,
    /// Maximum difference between the movements of two points, per unit of their distance.
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

    /// Returns how far from contact a point of a ball may be and still be reported \[m\]. The bound
    /// is that of the fastest point or, if `radius` is negative, of the slowest.
    fn reach(&self, center: Vec3, radius: f32) -> f32 {
        let way = (self.change * center + self.shift).length() + self.spin * radius;
        (self.ahead.faster * way + self.ahead.margin).min(self.ahead.farthest)
    }
}

impl<'a> Walk<'a> {
    /// Builds a walk of the finer shell of the pair. The clock starts here.
    pub(crate) fn new(
        pair: &Pair<'a>,
        settings: &CollideSettings,
        method: &'static str,
    ) -> Result<Walk<'a>, CollideError> {
        Ok(Walk::with(Probe::finer(pair, method)?, settings))
    }

    /// Builds a walk of the given shell. The clock starts here.
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

    /// Returns the walk with settings for solvers: a body is supported up to the border of a
    /// contact patch, and the deepest point sets the push.
    pub(crate) fn for_solvers(self) -> Walk<'a> {
        Walk {
            border: BORDER_SHARE * self.detail,
            deepest_at_border: true,
            deeper: 0.0,
            ..self
        }
    }

    /// Returns the walk with a reach that grows with the motion of the pair.
    pub(crate) fn ahead(self, now: Pose, ahead: Option<&Ahead>) -> Walk<'a> {
        let going = ahead.map(|&ahead| Going::of(&self.probe, now, ahead));
        Walk { going, ..self }
    }

    /// Returns whether some point of a ball is reported at separation `apart` or, if `radius` is
    /// negative, whether all its points are. Most calls return at the first comparison, which does
    /// not need the motion.
    fn reaches(&self, apart: f32, center: Vec3, radius: f32) -> bool {
        apart <= self.max_separation
            || (self.going.as_ref()).is_some_and(|going| {
                apart <= going.ahead.farthest && apart <= going.reach(center, radius)
            })
    }
}

impl Walk<'_> {
    /// Walks all levels, then samples the points of the leaves.
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
        // Until the first level is complete, the contact of the root's representative is the best
        // result.
        let mut level = 0;
        if self.budget.is_some() {
            let at_once = &mut Pace {
                budget: None,
                ..pace
            };
            let _in_time = self.represent(&[0], at_once, scratch, out);
        }
        // Descend level by level. With a budget, each level also yields the contacts of a coarser
        // copy.
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
        // Sample the points that were noted, then look for a deeper one among the represented
        // points.
        if self.points(&mut pace, scratch, out).is_err() {
            return self.finish_late(level, out);
        }
        if self.deepest_of_covered(&mut pace, scratch, out).is_err() {
            return self.finish_late(level, out);
        }
        self.finish(out);
    }

    /// Finishes with the contacts of the last complete level.
    fn finish_late(&self, levels: u32, out: &mut Contacts) {
        let of = self.probe.shell.tree().level_count() as u32 + 1;
        out.outcome = Outcome::OutOfTime { levels, of };
        self.finish(out);
    }

    /// Replaces the front by the children of its spheres that come near, and notes the points of
    /// its leaves.
    fn descend(
        &self,
        pace: &mut Pace,
        scratch: &mut Scratch,
        out: &mut Contacts,
    ) -> Result<(), Late> {
        let nodes = self.probe.shell.tree().nodes();
        let error = self.probe.field.error_bound();
        // Most spheres are outside the other body's box, so test that first.
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
        // Then sample the field at the remaining centres, and sort the spheres into five cases.
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
                // Every point is in contact: one may represent the others.
                let is_covered = node.radius <= self.detail
                    && self.reaches(distance + node.radius + error, node.center, -node.radius);
                if is_covered {
                    scratch.near_points.push(node.representative);
                    scratch.covered.push((distance - node.radius, index));
                } else if !self.reaches(distance - node.radius - error, node.center, node.radius) {
                    // No point is within reach.
                    out.distance = out.distance.min(distance - node.radius);
                } else if node.child_count == 0 {
                    // A leaf near the other body.
                    scratch.near_points.extend(node.points());
                } else if node.radius <= self.border && self.going.is_none() {
                    // A sphere at the border. In a pair in motion the deepest point now need not be
                    // the first to arrive.
                    scratch.rims.push((distance - node.radius, index));
                } else {
                    scratch.next_front.extend(node.children());
                }
            }
        }
        std::mem::swap(&mut scratch.front, &mut scratch.next_front);
        Ok(())
    }

    /// Replaces the contacts by those of the representatives of some spheres and of the leaf points
    /// noted so far. If time runs out, the contacts stay as they were.
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
            // Whichever contacts are kept must also be finished in time.
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

    /// Replaces the contacts by those of all noted points and of the border spheres. If time runs
    /// out, the contacts stay as they were.
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
                // The coarser set is complete, this one is not.
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

    /// Appends the contact of the deepest point of every border sphere, if that point is in
    /// contact.
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

    /// Appends a contact for every border sphere: that of the point to which a greedy descent
    /// leads, always into the child that may go deepest. All spheres descend side by side, which
    /// makes better use of the memory of the field.
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
                // Sample the points of leaves and the centres of children.
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
                // Finish the leaves, and replace each other sphere by its best child.
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
                        // Values may be off by the field's error, which loses one contact at most:
                        // whether there is any contact is decided later.
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

    /// Appends the deepest of the represented points, if it may be deeper than all contacts so far
    /// by more than `deeper`; if there is no contact so far, any point in contact. If time runs
    /// out, appends the deepest one seen.
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
            // In a pair in motion, points farther than `max_separation` are reported too.
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

    /// Returns the deepest of the points below `spheres`, if it is deeper than `than` by more than
    /// `by` \[m\].
    ///
    /// Each sphere comes with a lower bound of its points' distances, the deepest last; the spheres
    /// are consumed. `finish` is the number of contacts that must still be finished in the
    /// remaining time.
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
        // The last sphere is opened first: it may go deepest.
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

    /// Updates the distance by the contacts.
    fn finish(&self, out: &mut Contacts) {
        let separations = out.contacts.iter().map(|contact| contact.separation);
        out.distance = separations.fold(out.distance, f32::min);
    }
}

/// Orders spheres so that the one that may go deepest comes last.
fn deepest_last(a: &(f32, u32), b: &(f32, u32)) -> Ordering {
    b.0.total_cmp(&a.0).then(b.1.cmp(&a.1))
}

/// Result of a search for the deepest point.
struct Deepest {
    distance: f32,
    point: Option<u32>,
    /// `Err` if time ran out; the point is then the deepest one seen.
    in_time: Result<(), Late>,
}

/// Returns the least pair, the first if several are equal.
fn least(of: impl Iterator<Item = (f32, u32)>) -> (f32, u32) {
    of.fold((f32::INFINITY, 0), |least, next| {
        if next.0 < least.0 { next } else { least }
    })
}

/// Estimate of the remaining time of a budget, from the time that the work so far took.
struct Pace {
    start: Instant,
    budget: Option<Duration>,
    /// Number of spheres and points visited.
    looked_at: usize,
    /// Time at which the last piece was started \[s\], and its size.
    last: (f32, usize),
    /// Maximum time per element over all full pieces so far \[s\].
    slowest: f32,
}

impl Pace {
    /// Starts `count` more spheres or points, or returns [`Late`] if they and the summing and
    /// sorting of the contacts so far would exceed the budget. The estimate uses the mean time or
    /// that of the slowest piece, as points in contact take longer than distant spheres.
    fn take(&mut self, count: usize, contacts: usize) -> Result<(), Late> {
        /// Time to finish one contact, in units of a sphere: its share of being sorted among some
        /// hundred.
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

/// Error: the budget has run out.
struct Late;
