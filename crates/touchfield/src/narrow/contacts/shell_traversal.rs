//! Narrow phase: the sphere tree of a shell against the field of the other shape, level by level.
//!
//! Input: a [`Pair`], at least one of whose shapes has a shell.
//! Output: one contact for each shell point closer than `max_separation`, and a distance; with a
//! budget, possibly those of a coarser copy of the surface.
//! Cost: one field value for each sphere near the other body, one sample for each point in contact;
//! no allocation once the buffers have grown.
//! Not for: fast movers, or shells coarser than the features that they must detect.
//!
//! After \[Sagardia2014\], Alg. 1. We differ in three ways. A level is sampled as a whole, which
//! makes better use of the memory of the field. The representative points of spheres are sampled
//! only if there is a budget, and contacts of two levels are never mixed, so that a patch of
//! surface pushes once. Spheres are pruned by the *proven* distance, so that no point in true
//! contact is lost.

use crate::narrow::contacts::shell_walk::Walk;
use crate::narrow::pair::{CollideError, CollideSettings, Contacts, Pair};
use crate::narrow::scratch::Scratch;

/// Appends the contacts of all shell points, found through their spheres.
pub(crate) fn collide(
    pair: &Pair<'_>,
    settings: &CollideSettings,
    scratch: &mut Scratch,
    out: &mut Contacts,
) -> Result<(), CollideError> {
    Walk::new(pair, settings, "shell_traversal")?.run(scratch, out);
    Ok(())
}
