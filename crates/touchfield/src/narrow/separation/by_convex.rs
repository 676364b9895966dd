//! Narrow phase: contact and separation queries for pairs of convex bodies.
//!
//! Input: a [`Pair`] of convex shapes.
//! Output: their contact region, or their separation while they are apart.
//! Cost: that of `convex`: microseconds.
//! Not for: the separation of bodies that overlap, which differs from their minimum translation.
//!
//! The module `convex` does not depend on fields or pairs of shapes; this file connects them.

use crate::narrow::scratch::ConvexBuffers;
use crate::narrow::scratch::PairMemory;
use glam::Vec3;

use crate::narrow::convex::contact_region;
use crate::narrow::convex::{ConvexCache, ConvexPair, Touch};
use crate::narrow::pair::{CollideError, CollideSettings, Contacts, Pair};
use crate::narrow::scratch::Scratch;
use crate::narrow::separation::answer::{Separation, SeparationOutcome, SeparationSettings};
use crate::shape::Shape;

/// Returns both bodies in their relative pose, or `None` if one is not convex.
fn convex_pair<'a>(pair: &Pair<'a>) -> Option<ConvexPair<'a>> {
    let (a, b) = (pair.a.as_convex()?, pair.b.as_convex()?);
    Some(ConvexPair::new(a, b, pair.a_from_b))
}

/// Returns whether both bodies are convex.
pub(crate) fn are_convex(pair: &Pair<'_>) -> bool {
    let is_convex = |shape: &Shape| shape.as_convex().is_some();
    is_convex(pair.a) && is_convex(pair.b)
}

/// Appends the corners of the region where two convex bodies touch.
pub(crate) fn collide(
    pair: &Pair<'_>,
    settings: &CollideSettings,
    memory: Option<&mut PairMemory>,
    scratch: &mut Scratch,
    out: &mut Contacts,
) -> Result<(), CollideError> {
    let pair = convex_pair(pair).ok_or(CollideError::NotConvex)?;
    let ConvexBuffers { cache, region } = &mut scratch.convex;
    let reach = f64::from(settings.max_separation);
    let touch = match memory {
        Some(memory) => pair.touch_with(reach, memory.convex(), &mut cache.epa),
        None => {
            // The cache may belong to another pair.
            cache.clear();
            pair.touch(reach, cache)
        }
    };
    out.distance = touch.separation as f32;
    if touch.separation <= reach {
        contact_region(&pair, &touch, reach, region, &mut out.contacts);
        out.distance = (out.contacts.iter()).fold(out.distance, |d, c| d.min(c.separation));
    }
    Ok(())
}

/// Returns whether two convex bodies come within `max_separation` \[m\] of each other; `None` if
/// one is not convex.
pub(crate) fn touching(
    pair: &Pair<'_>,
    max_separation: f32,
    memory: Option<&mut PairMemory>,
    scratch: &mut Scratch,
) -> Option<bool> {
    let pair = convex_pair(pair)?;
    let memory = match memory {
        Some(memory) => memory.convex(),
        None => {
            // The memory may belong to another pair.
            let memory = &mut scratch.convex.cache.memory;
            memory.clear();
            memory
        }
    };
    Some(pair.come_within_again(f64::from(max_separation), memory))
}

/// Returns the separation of two convex bodies that are apart; `None` if they overlap, or if one is
/// not convex. The cache must belong to this pair or be empty.
pub(crate) fn separation(
    pair: &Pair<'_>,
    settings: &SeparationSettings,
    cache: &mut ConvexCache,
) -> Option<Separation> {
    let pair = convex_pair(pair)?;
    let threshold = settings.threshold.map(f64::from);
    // The separation of overlapping bodies is not their penetration depth, so the search for the
    // latter is skipped.
    if pair.come_within(0.0, cache) {
        return None;
    }
    let touch = pair.touch(threshold.unwrap_or(f64::INFINITY).max(0.0), cache);
    let Touch {
        separation,
        lower_bound,
        upper_bound,
        ..
    } = touch;
    (lower_bound > 0.0).then(|| {
        let lower_bound = (lower_bound as f32).next_down().max(0.0);
        let upper_bound = (upper_bound as f32).next_up();
        let is_decided =
            threshold.is_some_and(|t| f64::from(lower_bound) > t || f64::from(upper_bound) <= t);
        let middle = 0.5 * (touch.point_on_a + touch.point_on_b);
        Separation {
            separation: (separation as f32).clamp(lower_bound, upper_bound),
            lower_bound,
            upper_bound,
            point: middle.as_vec3(),
            point_on_a: touch.point_on_a.as_vec3(),
            point_on_b: touch.point_on_b.as_vec3(),
            normal: touch.normal.as_vec3().try_normalize().unwrap_or(Vec3::Z),
            boxes: 0,
            outcome: if is_decided {
                SeparationOutcome::Decided
            } else if upper_bound - lower_bound > settings.tolerance {
                // The bodies are so far apart that `f32` cannot resolve the bracket.
                SeparationOutcome::GaveUp
            } else {
                SeparationOutcome::Converged
            },
        }
    })
}
