//! Narrow phase: the shell of each body against the field of the other.
//!
//! Input: a [`Pair`], at least one of whose shapes has a shell.
//! Output: the contacts of both shells, those of the finer one first.
//! Cost: two traversals.
//! Not for: one result per step at haptic rates, where the finer shell alone is enough.
//!
//! A shell detects features larger than its spacing. Corners of one body pass between the points of
//! the other's shell, but its own shell detects them: solvers that support a body by its contacts
//! need both.

use crate::narrow::contacts::shell_walk::{Ahead, Walk};
use crate::narrow::pair::{CollideError, CollideSettings, Contacts, Outcome, Pair};
use crate::narrow::scratch::Scratch;
use crate::narrow::search::probe::Probe;

/// Appends a contact for every point of either shell within `max_separation`, or within the reach
/// that `ahead` gives the point.
pub(crate) fn collide(
    pair: &Pair<'_>,
    settings: &CollideSettings,
    ahead: Option<&Ahead>,
    scratch: &mut Scratch,
    out: &mut Contacts,
) -> Result<(), CollideError> {
    let first = Walk::new(pair, settings, "both-shells")?.for_solvers();
    let first = first.ahead(pair.a_from_b, ahead);
    first.run(scratch, out);
    let Some(other) = Probe::of(pair, first.probe.side.other()) else {
        return Ok(());
    };
    // A walk replaces the contacts in `out`, so those of the first walk are set aside.
    scratch.contacts.clear();
    std::mem::swap(&mut out.contacts, &mut scratch.contacts);
    let (outcome, distance) = (out.outcome, out.distance);
    out.outcome = Outcome::Complete;
    let mut second = Walk::with(other, settings).for_solvers();
    second = second.ahead(pair.a_from_b, ahead);
    // Both walks share one start time, and so one budget.
    second.start = first.start;
    second.run(scratch, out);
    if out.outcome == Outcome::Complete {
        out.outcome = outcome;
    }
    out.distance = out.distance.min(distance);
    scratch.contacts.append(&mut out.contacts);
    std::mem::swap(&mut out.contacts, &mut scratch.contacts);
    Ok(())
}
