//! Narrow phase: one contact, the deepest, for each segment of a shell.
//!
//! Input: a [`Pair`], at least one of whose shapes has a shell, and the approximate number of
//! segments.
//! Output: at most one contact per segment.
//! Cost: that of `shell_traversal`.
//! Not for: flat contacts, where a segment's deepest point may be anywhere on it.
//!
//! After \[Sagardia2014\] §2.4: the segments are the spheres of the tree level whose number of
//! spheres is closest to the requested one. We differ: the tree is walked once, and contacts are
//! then assigned to segments by point index, since the points of a sphere are consecutive.

use crate::narrow::contacts::shell_walk::Walk;
use crate::narrow::pair::{CollideError, CollideSettings, Contacts, Pair};
use crate::narrow::scratch::Scratch;

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
    let tree = walk.probe.shell.tree();
    let apart = |level: &usize| tree.level(*level).len().abs_diff(segments as usize);
    let level = (0..tree.level_count()).min_by_key(apart).unwrap_or(0);
    // Leaves of higher levels are segments too: a point belongs to the last sphere at or above the
    // level that begins before it.
    let segment = |point: u32| {
        let nodes = tree.level(level);
        nodes.partition_point(|node| node.first_point <= point)
    };
    out.contacts.sort_unstable_by(|a, b| {
        let key = |contact: &crate::contact::Contact| {
            segment(crate::narrow::search::probe::index_of(contact.id))
        };
        (key(a).cmp(&key(b)))
            .then(a.separation.total_cmp(&b.separation))
            .then(a.id.cmp(&b.id))
    });
    out.contacts
        .dedup_by_key(|contact| segment(crate::narrow::search::probe::index_of(contact.id)));
    Ok(())
}
