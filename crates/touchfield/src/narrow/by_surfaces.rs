//! Narrow phase: the separation of bodies that are apart, by the triangles of their surfaces.
//!
//! Input: a [`Pair`] of shapes with exact surfaces. Output: their separation, to the rounding of `f32`, if it is above 0.
//! Cost: that of `surface_pairs`: some ten microseconds. Not for: bodies that overlap, whose depth the fields know.
//!
//! Triangles tell how far surfaces are apart; the fields, that neither body is inside the other. Where no triangles cross, a connected part of a surface lies in the
//! other body as a whole or not at all, so one point of every part tells; and where no part of one surface lies in the other body, nothing of the bodies is common:
//! what is common would end at one of the surfaces.

use glam::Vec3;

use super::separation::{Precision, lower_value};
use super::surface_pairs::{OpenDiscs, Until, nearest_points};
use super::{Pair, Separation, SeparationOutcome, SeparationSettings};
use crate::geom::Pose;
use crate::shape::Shape;

/// What triangles tell of two bodies.
pub(super) enum Told {
    /// How far they are apart.
    Apart(Separation),
    /// The separation is at most this \[m\]: surfaces cross, or are so near.
    AtMost(f32),
    /// Nothing: there are no triangles, or one body is inside the other.
    Nothing,
}

/// Asks the triangles. `rounding` is that of points taken from B to A in `f32` \[m\].
pub(super) fn separation(
    pair: &Pair<'_>,
    settings: &SeparationSettings,
    precision: Precision,
    rounding: f32,
    heap: &mut OpenDiscs,
) -> Told {
    let until = Until {
        // Rounding comes on top: with it the bracket is no wider than asked, where f32 allows that.
        tolerance: (settings.tolerance - 3.0 * rounding).max(0.5 * settings.tolerance),
        share: precision.share,
        level: precision.level,
        threshold: settings.threshold,
        enough: precision.enough,
        max_pairs: settings.max_boxes,
    };
    let Some(found) = nearest_points(pair, &until, rounding, heap) else {
        return Told::Nothing;
    };
    let upper_bound = found.distance + rounding;
    if !(found.lower_bound > 0.0 && is_outside(pair, rounding)) {
        // Of a body inside the other it is no less true.
        return Told::AtMost(upper_bound);
    }
    let gap = found.on_b - found.on_a;
    let is_decided = (settings.threshold)
        .is_some_and(|threshold| found.lower_bound > threshold || upper_bound <= threshold);
    Told::Apart(Separation {
        separation: found.distance,
        lower_bound: found.lower_bound,
        upper_bound,
        point: found.on_a + 0.5 * gap,
        point_on_a: found.on_a,
        point_on_b: found.on_b,
        normal: gap.try_normalize().unwrap_or(Vec3::Z),
        boxes: found.pairs,
        outcome: if found.gave_up {
            SeparationOutcome::GaveUp
        } else if is_decided {
            SeparationOutcome::Decided
        } else {
            SeparationOutcome::Converged
        },
    })
}

/// Whether neither body is inside the other, their surfaces being apart.
fn is_outside(pair: &Pair<'_>, rounding: f32) -> bool {
    let Pair { a, b, a_from_b } = *pair;
    parts_are_outside(b, a, a_from_b, rounding)
        && parts_are_outside(a, b, a_from_b.inverse(), rounding)
}

/// Whether every part of one body's surface has a point that is surely outside the other.
fn parts_are_outside(body: &Shape, other: &Shape, other_from_body: Pose, rounding: f32) -> bool {
    let Some(parts) = (body.exact_surface()).and_then(|surface| surface.closed_parts()) else {
        return false;
    };
    let error = other.field().error_bound() + rounding;
    parts.iter().all(|part| {
        (part.extremes.iter()).any(|&extreme| {
            let point = other_from_body.transform_point(extreme);
            lower_value(other.field(), error, point) > 0.0
        })
    })
}
