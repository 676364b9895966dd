//! Tests whether two shapes touch, and nothing else.
//!
//! Input: a [`Pair`].
//! Output: yes or no.
//! Cost: where bodies overlap, one path down the sphere tree; where they are near, all spheres that
//! are near; no allocation once the buffers have grown.
//! Not for: penetration depth or contact positions.

use crate::narrow::contacts::first_point::touches;
use crate::narrow::pair::{CollideError, Pair};
use crate::narrow::pair::{check_max_separation, checked};
use crate::narrow::scratch::PairMemory;
use crate::narrow::scratch::Scratch;
use crate::narrow::scratch::SeparationScratch;
use crate::narrow::search::probe::Probe;
use crate::narrow::separation::answer::{Precision, SeparationSettings, quick};
use crate::narrow::separation::by_convex;
use crate::narrow::separation::by_surfaces::contact_between_points;
use crate::narrow::separation::search::separation_above;

/// Returns whether a point of one surface lies in the other body, or within `max_separation` \[m\]
/// of it. A body inside the other touches it.
///
/// - Two convex bodies are tested by a search for a separating plane.
/// - Shells are tested as in `shell_traversal`, up to the first point that touches.
/// - If the shells find nothing but may be too coarse, exact surfaces are tested for crossing
///   triangles.
/// - Shapes without shells are tested by their separation.
pub fn touching(
    pair: &Pair<'_>,
    max_separation: f32,
    scratch: &mut Scratch,
) -> Result<bool, CollideError> {
    ask(pair, max_separation, None, scratch)
}

/// Returns whether a pair touches, as [`touching`] does, with a warm start from `memory`.
///
/// `memory` belongs to this one pair and carries the state of convex bodies from call to call.
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
        // No point of one surface is in the other body: they are apart, or the other one is inside.
        if let Some(other) = Probe::of(pair, probe.side.other()) {
            return Ok(touches(&other, max_separation, scratch)
                || contact_between_points(pair, max_separation, scratch).is_some());
        }
    }
    touching_by_separation(pair, max_separation, &mut scratch.separation)
}

/// Returns whether the separation is at most `max_separation`, to the accuracy of the fields.
fn touching_by_separation(
    pair: &Pair<'_>,
    max_separation: f32,
    scratch: &mut SeparationScratch,
) -> Result<bool, CollideError> {
    let settings = SeparationSettings {
        threshold: Some(max_separation),
        ..quick(pair)
    };
    scratch.convex.clear();
    let found = separation_above(pair, &settings, Precision::EVEN, scratch)?;
    Ok(found.separation <= max_separation)
}
