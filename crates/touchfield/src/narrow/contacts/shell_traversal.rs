//! Narrow phase: the sphere tree of a shell held against the field of the other shape, level after level.
//!
//! Input: a [`Pair`], at least one of whose shapes has a shell. Output: one contact for each shell point closer than
//! `max_separation`, the penalty wrench, and a distance; with a budget, possibly those of a coarser copy of the surface.
//! Cost: one field value for each sphere near the other body, one sample for each point in contact; no allocation once the
//! buffers have grown. Not for: fast movers, or shells coarser than what they are to feel.
//!
//! After document 003, Alg. 1. We differ: a level is asked for as a whole, which keeps the field's memory busy; points that
//! stand for their spheres are asked for only when there is a budget, and contacts of two levels are never mixed, so that a
//! patch of surface pushes once; and spheres are pruned by the *proven* distance, so that no point in true contact is lost.

use crate::narrow::contacts::shell_walk::Walk;
use crate::narrow::pair::{CollideError, CollideSettings, Contacts, Pair};
use crate::narrow::scratch::Scratch;

/// Appends the contacts of all shell points, found by their spheres.
pub(crate) fn collide(
    pair: &Pair<'_>,
    settings: &CollideSettings,
    scratch: &mut Scratch,
    out: &mut Contacts,
) -> Result<(), CollideError> {
    Walk::new(pair, settings, "shell_traversal")?.run(scratch, out);
    Ok(())
}
