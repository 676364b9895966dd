//! Narrow phase: one contact, the deepest, for each segment of a shell; and the penalty forces of
//! each segment.
//!
//! Input: a [`Pair`], at least one of whose shapes has a shell, and the approximate number of
//! segments.
//! Output: at most one contact per segment; with wrench settings, force, torque and depth of the
//! segments of both shells.
//! Cost: that of `shell_traversal`, and of `penalty` for the forces.
//! Not for: flat contacts, where a segment's deepest point may be anywhere on it.
//!
//! After \[Sagardia2014\] §2.4: the segments are the spheres of the tree level whose number of
//! spheres is closest to the requested one. We differ: the tree is walked once, and contacts are
//! then assigned to segments by point index, since the points of a sphere are consecutive.

use crate::contact::SegmentWrench;
use crate::narrow::contacts::penalty::points_inside;
use crate::narrow::contacts::shell_walk::Walk;
use crate::narrow::pair::{CollideError, CollideSettings, Contacts, Pair, WrenchSettings};
use crate::narrow::scratch::Scratch;
use crate::narrow::search::penalty_point::PenaltySum;
use crate::narrow::search::probe::{Probe, Side, index_of};
use crate::pointshell::{SphereNode, SphereTree};

/// The segments of a shell: the spheres of one level of its tree.
struct Segments<'a> {
    nodes: &'a [SphereNode],
}

impl Segments<'_> {
    /// Returns the level whose number of spheres is closest to `count`.
    fn of(tree: &SphereTree, count: u32) -> Segments<'_> {
        let apart = |level: &usize| tree.level(*level).len().abs_diff(count as usize);
        let level = (0..tree.level_count()).min_by_key(apart).unwrap_or(0);
        Segments {
            nodes: tree.level(level),
        }
    }

    /// Returns the segment of a point, from 0 to the number of spheres. Leaves of higher levels are
    /// segments too: a point belongs to the last sphere at or above the level that begins before
    /// it.
    fn of_point(&self, point: u32) -> usize {
        self.nodes.partition_point(|node| node.first_point <= point)
    }
}

/// Appends the deepest contact of each segment.
pub(crate) fn collide(
    pair: &Pair<'_>,
    segments: u32,
    settings: &CollideSettings,
    scratch: &mut Scratch,
    out: &mut Contacts,
) -> Result<(), CollideError> {
    let walk = Walk::new(pair, settings, "shell_segments")?;
    walk.run(scratch, out);
    let segments = Segments::of(walk.probe.shell.tree(), segments);
    let segment = |contact: &crate::contact::Contact| segments.of_point(index_of(contact.id));
    out.contacts.sort_unstable_by(|a, b| {
        (segment(a).cmp(&segment(b)))
            .then(a.separation.total_cmp(&b.separation))
            .then(a.id.cmp(&b.id))
    });
    out.contacts.dedup_by_key(|contact| segment(contact));
    Ok(())
}

/// Appends the penalty forces of the segments of both shells, the finer one's first, the deepest
/// segment of each first.
pub(crate) fn add_wrenches(
    pair: &Pair<'_>,
    segments: u32,
    settings: &WrenchSettings,
    scratch: &mut Scratch,
    out: &mut Contacts,
) {
    let Ok(finer) = Probe::finer(pair, "shell_segments") else {
        return;
    };
    let of_finer = Segments::of(finer.shell.tree(), segments);
    let other = Probe::of(pair, finer.side.other());
    let of_other = (other.as_ref()).map(|other| Segments::of(other.shell.tree(), segments));
    // Sums of the finer shell's segments, then those of the other's.
    let first_of_other = of_finer.nodes.len() + 1;
    let count = first_of_other
        + of_other
            .as_ref()
            .map_or(0, |of_other| of_other.nodes.len() + 1);
    let about = settings.about_in(pair);
    scratch.segments.clear();
    (scratch.segments).resize(count, PenaltySum::about(about));
    let sums = &mut scratch.segments;
    points_inside(pair, settings.detail, &mut scratch.penalty, |point| {
        let place = match (&of_other, point.side == finer.side) {
            (Some(of_other), false) => first_of_other + of_other.of_point(point.index),
            _ => of_finer.of_point(point.index),
        };
        sums[place].add(point, settings);
    });
    let in_contact = sums.iter().filter_map(|sum| {
        Some(SegmentWrench {
            deepest: sum.deepest?.1,
            penalty: sum.total(),
        })
    });
    out.segments.extend(in_contact);
    out.segments.sort_unstable_by(|a, b| {
        let is_other = |of: &SegmentWrench| Side::of(of.deepest) != finer.side;
        (is_other(a).cmp(&is_other(b)))
            .then(b.penalty.depth.total_cmp(&a.penalty.depth))
            .then(a.deepest.cmp(&b.deepest))
    });
}
