//! Narrow phase: whether two shapes touch, and nothing else.
//!
//! Input: a [`Pair`]. Output: yes or no. Cost: where bodies overlap, one way down the sphere tree; where they are near, all
//! spheres that are; no allocation once the buffers have grown. Not for: how deep or where.

use crate::narrow::contacts::first_point::touches;
use crate::narrow::pair::{CollideError, Pair};
use crate::narrow::pair::{check_max_separation, checked};
use crate::narrow::scratch::PairMemory;
use crate::narrow::scratch::Scratch;
use crate::narrow::scratch::SeparationScratch;
use crate::narrow::search::probe::Probe;
use crate::narrow::separation::answer::{SeparationSettings, quick};
use crate::narrow::separation::by_convex;
use crate::narrow::separation::by_surfaces::contact_between_points;
use crate::narrow::separation::search::separation;

/// Whether a point of one surface lies in the other body, or within `max_separation` of it \[m\]; a body inside the other touches
/// it.
///
/// Asked of convex bodies by a search for a plane between them, of shells where there are any, as `shell_traversal` does, and stops at the first point. Where these find nothing, but are too coarse to tell, exact surfaces are asked whether
/// their triangles cross. Shapes without shells are asked by their separation.
pub fn touching(
    pair: &Pair<'_>,
    max_separation: f32,
    scratch: &mut Scratch,
) -> Result<bool, CollideError> {
    ask(pair, max_separation, None, scratch)
}

/// [`touching`] of a pair that was asked before, or will be again: `memory` is its own, and lets convex bodies begin where they ended.
pub fn touching_again(
    pair: &Pair<'_>,
    max_separation: f32,
    memory: &mut PairMemory,
    scratch: &mut Scratch,
) -> Result<bool, CollideError> {
    ask(pair, max_separation, Some(memory), scratch)
}

fn ask(
    pair: &Pair<'_>,
    max_separation: f32,
    memory: Option<&mut PairMemory>,
    scratch: &mut Scratch,
) -> Result<bool, CollideError> {
    let pair = &checked(pair)?;
    check_max_separation(max_separation)?;
    if let Some(is_touching) = by_convex::touching(pair, max_separation, memory, scratch) {
        return Ok(is_touching);
    }
    if let Ok(probe) = Probe::finer(pair, "touching") {
        if touches(&probe, max_separation, scratch) {
            return Ok(true);
        }
        // No point of one surface in the other body: apart, or the other one is inside.
        if let Some(other) = Probe::of(pair, probe.side.other()) {
            return Ok(touches(&other, max_separation, scratch)
                || contact_between_points(pair, max_separation, scratch).is_some());
        }
    }
    touching_by_separation(pair, max_separation, &mut scratch.separation)
}

/// Whether the separation is at most `max_separation`, as far as the fields can tell.
fn touching_by_separation(
    pair: &Pair<'_>,
    max_separation: f32,
    scratch: &mut SeparationScratch,
) -> Result<bool, CollideError> {
    let settings = SeparationSettings {
        threshold: Some(max_separation),
        ..quick(pair)
    };
    let found = separation(pair, &settings, scratch)?;
    Ok(found.separation <= max_separation)
}
