//! Narrow phase: what the triangles of two surfaces tell: how far bodies are apart, and whether surfaces meet that no shell point sees.
//!
//! Input: a [`Pair`] of shapes with exact surfaces. Output: their separation, to the rounding of `f32`, if it is above 0; a contact where triangles cross.
//! Cost: that of `surface_pairs`: some ten microseconds. Not for: bodies that overlap deeply, whose depth the fields know.
//!
//! Triangles tell how far surfaces are apart; the fields, that neither body is inside the other. Where no triangles cross, a connected part of a surface lies in the
//! other body as a whole or not at all, so one point of every part tells; and where no part of one surface lies in the other body, nothing of the bodies is common:
//! what is common would end at one of the surfaces.

use glam::Vec3;

use crate::contact::{Contact, ContactId};
use crate::field::Sample;
use crate::geom::{Pose, Tolerance};
use crate::narrow::contacts::first_point::touches;
use crate::narrow::pair::Pair;
use crate::narrow::scratch::Scratch;
use crate::narrow::search::exchange::lexicographic;
use crate::narrow::search::face_search::FaceSearch;
use crate::narrow::search::probe::Probe;
use crate::narrow::search::surface_pairs::{Meeting, OpenDiscs, Until, meeting, nearest_points};
use crate::narrow::separation::answer::{Precision, lower_value, quick, rounding};
use crate::narrow::separation::answer::{Separation, SeparationOutcome, SeparationSettings};
use crate::shape::{Shape, Surface};

/// What triangles tell of two bodies.
pub(crate) enum Told {
    /// How far they are apart.
    Apart(Separation),
    /// The separation is at most this \[m\]: surfaces cross, or are so near.
    AtMost(f32),
    /// Nothing: there are no triangles, or one body is inside the other.
    Nothing,
}

/// Asks the triangles. `rounding` is that of points taken from B to A in `f32` \[m\].
pub(crate) fn separation(
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

/// The contact of two bodies whose shells have no point within `max_separation` of the other: where their triangles cross, or come as near as that. Asked of the triangles only if
/// the shells cannot tell. `None`: apart, or there are no triangles to ask.
///
/// Where surfaces meet, each has a shell point within its covering radius of there. So if no point of one shell is as near to the other body as that, they do not meet.
pub(crate) fn contact_between_points(
    pair: &Pair<'_>,
    max_separation: f32,
    scratch: &mut Scratch,
) -> Option<Contact> {
    // For these alone the walk below is worth its while.
    pair.a.exact_surface()?;
    pair.b.exact_surface()?;
    let probe = Probe::finer(pair, "auto").ok()?;
    let rounding = rounding(pair);
    let reach = max_separation + probe.shell.covering_radius() + rounding;
    // Values may be above the true distances by the field's error.
    if !touches(&probe, reach + probe.field.error_bound(), scratch) {
        return None;
    }
    let back = pair.a_from_b.inverse();
    let heap = scratch.separation.discs();
    // Of several crossings one is found: the same, whichever body is A.
    if lexicographic(pair.a_from_b.translation, back.translation).is_le() {
        return contact(pair, max_separation, rounding, heap);
    }
    let exchanged = Pair {
        a: pair.b,
        b: pair.a,
        a_from_b: back,
    };
    let found = contact(&exchanged, max_separation, rounding, heap)?;
    Some(Contact {
        point: pair.a_from_b.transform_point(found.point),
        normal: -pair.a_from_b.transform_vector(found.normal),
        ..found
    })
}

/// The contact where triangles cross, or are nearest within `max_separation`.
fn contact(
    pair: &Pair<'_>,
    max_separation: f32,
    rounding: f32,
    heap: &mut OpenDiscs,
) -> Option<Contact> {
    let tolerance = quick(pair).tolerance;
    let found = meeting(pair, max_separation, tolerance, rounding, heap)?;
    let gap = found.on_b - found.on_a;
    let contact = |point: Vec3, normal: Vec3, separation: f32| Contact {
        point,
        normal,
        separation,
        id: ContactId(0),
    };
    if let Some(normal) = gap.try_normalize().filter(|_| found.distance > 0.0) {
        return Some(contact(found.on_a + 0.5 * gap, normal, found.distance));
    }
    let b_from_a = pair.a_from_b.inverse();
    let (surface_a, surface_b) = (pair.a.exact_surface()?, pair.b.exact_surface()?);
    let [triangle_a, triangle_b] = found.triangles;
    // How deep the triangle of each goes into the other body, and where.
    let of_a = lowest(surface_a, triangle_a, pair.b, b_from_a);
    let of_b = lowest(surface_b, triangle_b, pair.a, pair.a_from_b);
    // Lowest points lie on ridges of the fields, where gradients jump; where the triangles cross they seldom do.
    let normal = crossing_normal(pair, &found, b_from_a);
    let of_a_is_deeper = of_a.1.distance < of_b.1.distance;
    let (place, separation) = if of_a_is_deeper {
        (pair.a_from_b.transform_point(of_a.0), of_a.1.distance)
    } else {
        (of_b.0, of_b.1.distance)
    };
    if separation > 0.0 {
        // The fields see no overlap: all that is known is where the surfaces meet.
        return Some(contact(found.on_a, normal, 0.0));
    }
    // Midway between the place, which is on the surface whose triangle goes deeper, and the other one.
    let towards_middle = if of_a_is_deeper { 0.5 } else { -0.5 } * separation;
    Some(contact(place + towards_middle * normal, normal, separation))
}

/// Out of A and into B where triangles cross: by both fields, else by the triangle of A.
fn crossing_normal(pair: &Pair<'_>, found: &Meeting, b_from_a: Pose) -> Vec3 {
    let of_a = pair.a.field().sample(found.on_a).gradient;
    let in_b = (pair.b.field()).sample(b_from_a.transform_point(found.on_a));
    let of_b = pair.a_from_b.transform_vector(in_b.gradient);
    let by_triangle = || {
        let [a, b, c] = pair.a.exact_surface()?.corners(found.triangles[0]);
        (b - a).cross(c - a).try_normalize()
    };
    let by_fields = (of_a - of_b).try_normalize().or(of_a.try_normalize());
    by_fields.or_else(by_triangle).unwrap_or(Vec3::Z)
}

/// The lowest point of a body's field on a triangle of another, in the frame of the field.
fn lowest(
    surface: &Surface,
    triangle: u32,
    body: &Shape,
    body_from_surface: Pose,
) -> (Vec3, Sample) {
    /// Twice what faces take that are no larger than a few cells.
    const MAX_STEPS: u32 = 32;
    let corners =
        (surface.corners(triangle)).map(|corner| body_from_surface.transform_point(corner));
    let size = surface.nodes()[0].bounds.diagonal();
    let search = FaceSearch {
        field: body.field(),
        residual: Tolerance::for_size(size).projection_residual(body.cell_size()),
    };
    let (_, place, sample) = search.lowest_of_face(corners, [1.0 / 3.0; 3], MAX_STEPS);
    (place, sample)
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
