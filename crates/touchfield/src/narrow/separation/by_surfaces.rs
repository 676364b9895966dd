//! Narrow phase: separation and contacts from the triangles of two exact surfaces.
//!
//! Input: a [`Pair`] of shapes with exact surfaces.
//! Output: their separation, to the rounding of `f32`, if it is above 0; or a contact where
//! triangles cross that no shell point detects.
//! Cost: that of `surface_pairs`: some ten microseconds.
//! Not for: bodies that overlap deeply, whose depth the fields give.
//!
//! The triangles give the distance between the surfaces; the fields show that neither body is
//! inside the other. Where no triangles cross, each connected part of a surface lies in the other
//! body as a whole or not at all, so one point per part is enough. Where no part of either surface
//! lies in the other body, the bodies have nothing in common, because a common region would be
//! bounded by one of the surfaces.

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

/// What the triangles show about two bodies.
pub(crate) enum Told {
    /// The bodies are apart, with this separation.
    Apart(Separation),
    /// The separation is at most this \[m\]: surfaces cross, or nearly touch.
    AtMost(f32),
    /// No result: there are no triangles, or they do not fit the range of `f32`.
    Nothing,
}

/// Computes the separation from triangles. `rounding` is the `f32` rounding error of points taken
/// from B to A \[m\].
pub(crate) fn separation(
    pair: &Pair<'_>,
    settings: &SeparationSettings,
    precision: Precision,
    rounding: f32,
    heap: &mut OpenDiscs,
) -> Told {
    let until = Until {
        // Rounding is added on top: with it the bracket is no wider than the tolerance, where `f32`
        // allows that.
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
        // This bound also holds for a body inside the other.
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

/// Returns the contact of two bodies whose shells have no point within `max_separation` \[m\] of
/// the other body: where their triangles cross, or are at most that far apart. Returns `None` if
/// the bodies are apart, if one of them has no exact surface, or if neither has a shell.
///
/// Where surfaces meet, each has a shell point within its covering radius. If no point of one shell
/// is that close to the other body, the surfaces do not meet and the triangles are not searched.
pub(crate) fn contact_between_points(
    pair: &Pair<'_>,
    max_separation: f32,
    scratch: &mut Scratch,
) -> Option<Contact> {
    // Without exact surfaces the walk below is not worth its cost.
    pair.a.exact_surface()?;
    pair.b.exact_surface()?;
    let probe = Probe::finer(pair, "auto").ok()?;
    let rounding = rounding(pair);
    let reach = max_separation + probe.shell.covering_radius() + rounding;
    // Values may exceed the true distances by the field's error.
    if !touches(&probe, reach + probe.field.error_bound(), scratch) {
        return None;
    }
    let back = pair.a_from_b.inverse();
    let heap = scratch.separation.discs();
    // Only one of several crossings is found. The order of the bodies is fixed here, so that it is
    // the same one whichever body is A.
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

/// Returns the contact where triangles cross, or where they are nearest within `max_separation`
/// \[m\].
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
    // The triangles are apart: the contact is midway between their nearest points.
    if let Some(normal) = gap.try_normalize().filter(|_| found.distance > 0.0) {
        return Some(contact(found.on_a + 0.5 * gap, normal, found.distance));
    }
    let b_from_a = pair.a_from_b.inverse();
    let (surface_a, surface_b) = (pair.a.exact_surface()?, pair.b.exact_surface()?);
    let [triangle_a, triangle_b] = found.triangles;
    // The lowest point of each triangle in the other body: how deep it goes, and where.
    let of_a = lowest(surface_a, triangle_a, pair.b, b_from_a);
    let of_b = lowest(surface_b, triangle_b, pair.a, pair.a_from_b);
    // The normal is taken where the triangles cross. Lowest points lie on ridges of the fields,
    // where gradients jump; crossings seldom do.
    let normal = crossing_normal(pair, &found, b_from_a);
    let of_a_is_deeper = of_a.1.distance < of_b.1.distance;
    let (place, separation) = if of_a_is_deeper {
        (pair.a_from_b.transform_point(of_a.0), of_a.1.distance)
    } else {
        (of_b.0, of_b.1.distance)
    };
    if separation > 0.0 {
        // The fields show no overlap: only the place where the surfaces meet is certain.
        return Some(contact(found.on_a, normal, 0.0));
    }
    // Midway between the lowest point, which is on the surface whose triangle goes deeper, and the
    // other surface.
    let towards_middle = if of_a_is_deeper { 0.5 } else { -0.5 } * separation;
    Some(contact(place + towards_middle * normal, normal, separation))
}

/// Returns the normal from A to B where triangles cross: from the gradients of both fields, else
/// from the triangle of A.
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

/// Returns the lowest point of a body's field on a triangle of another body, in the frame of the
/// field.
fn lowest(
    surface: &Surface,
    triangle: u32,
    body: &Shape,
    body_from_surface: Pose,
) -> (Vec3, Sample) {
    /// Twice the number of steps that faces take if they are no larger than a few cells.
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

/// Returns whether neither body is inside the other, given that their surfaces are apart.
fn is_outside(pair: &Pair<'_>, rounding: f32) -> bool {
    let Pair { a, b, a_from_b } = *pair;
    parts_are_outside(b, a, a_from_b, rounding)
        && parts_are_outside(a, b, a_from_b.inverse(), rounding)
}

/// Returns whether every part of one body's surface has a point that is proven to be outside the
/// other body.
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
