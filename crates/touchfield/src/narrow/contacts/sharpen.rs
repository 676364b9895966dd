//! Recomputes the normal and separation of a shell contact whose witness point misses the other
//! surface.
//!
//! Input: a contact made by a point of a shell.
//! Output: the same contact if its witness points are on the surfaces; else the contact with the
//! normal and separation of the nearest point of the other surface.
//! Cost: one sample. Where the gradient did not lead to the surface, also a search for the nearest
//! point among its triangles, some microseconds, or about twenty samples if it has no triangles.
//! Not for: all of thousands of contacts (reduce them first), or contacts without a shell, which
//! are returned unchanged.
//!
//! Deep in a body, near its medial axis, a field gives the depth but a poor direction: between two
//! equally near sides its gradient is the mean of both. Few contacts are there, but a manifold may
//! keep them.

use glam::Vec3;

use crate::contact::Contact;
use crate::field::{Field, Sample};
use crate::narrow::contacts::settle::place_of;
use crate::narrow::pair::Pair;
use crate::narrow::search::probe::{Probe, Side, index_of};

/// Witness points that are off the surface by less than this fraction of the field's error are
/// accepted without a search.
const GOOD: f32 = 0.3;

/// Returns the contact of a shell point with the nearest point of the other surface, found among
/// its triangles if the shape has any, else by following the field.
pub fn sharpen(pair: &Pair<'_>, contact: Contact) -> Contact {
    let side = Side::of(contact.id);
    let Some(probe) = Probe::of(pair, side) else {
        return contact;
    };
    let other = match side {
        Side::A => pair.b,
        Side::B => pair.a,
    };
    let point = probe.to_field(place_of(pair, &contact));
    let outward = probe.outward(&contact);
    let witness = point - contact.separation * outward;
    if probe.field.distance(witness).abs() <= GOOD * probe.field.error_bound() {
        return contact;
    }
    let nearest = match other.exact_surface() {
        Some(surface) => surface.nearest_point(point),
        None => nearest_by_field(&probe, point, outward, contact.separation),
    };
    let distance = point.distance(nearest).copysign(contact.separation);
    // The field is off by at most its error bound, and a thousandth is more than the rounding of
    // `f32`. A point whose distance differs by more is not the nearest point that the field
    // measures.
    let off = (distance - contact.separation).abs();
    let is_the_same = off <= probe.field.error_bound() + 1e-3 * distance.abs();
    match ((point - nearest) * distance.signum()).try_normalize() {
        Some(outward) if is_the_same => {
            probe.contact_along(index_of(contact.id), point, distance, outward)
        }
        _ => contact,
    }
}

/// Returns the nearest surface point that the field leads to. It tries the contact's own witness
/// point, and descents from points half the depth away in six directions.
fn nearest_by_field(probe: &Probe<'_>, point: Vec3, outward: Vec3, separation: f32) -> Vec3 {
    let depth = separation.abs();
    let is_on_surface = |at: Vec3| probe.field.distance(at).abs() <= probe.field.error_bound();
    let mut nearest = point - separation * outward;
    let (across, along) = outward.any_orthonormal_pair();
    let mut least = f32::INFINITY;
    for way in [outward, -outward, across, -across, along, -along] {
        let at = to_surface(probe.field, point + 0.5 * depth * way);
        let distance = point.distance(at);
        if distance < least && is_on_surface(at) {
            (least, nearest) = (distance, at);
        }
    }
    nearest
}

/// Follows the gradient to where the field is about 0.
fn to_surface(field: &dyn Field, from: Vec3) -> Vec3 {
    (0..3).fold(from, |at, _| {
        let Sample { distance, gradient } = field.sample(at);
        at - distance * gradient.normalize_or_zero()
    })
}
