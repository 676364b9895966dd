//! A contact of a shell point with its other witness point where the other surface truly is.
//!
//! Input: a contact that a point of a shell made. Output: the same if its witness points are on the surfaces, else with the normal and the separation of the nearest point of the other surface. Cost: one sample; where the
//! gradient did not lead to the surface also the nearest point among its triangles, some microseconds, or without them about twenty samples. Not for: all of thousands
//! of contacts; reduce them first. Nor for contacts without a shell, which are returned as they are.
//!
//! Deep in a body, about its medial axis, a field tells how deep but hardly which way is out: between two equally near sides its gradient is the mean of both. Few contacts
//! are there, but those that a manifold keeps may be.

use glam::Vec3;

use crate::contact::Contact;
use crate::field::{Field, Sample};
use crate::narrow::contacts::settle::place_of;
use crate::narrow::pair::Pair;
use crate::narrow::search::probe::{Probe, Side, index_of};

/// A witness point as near the surface as this share of the field's error is not worth a search.
const GOOD: f32 = 0.3;

/// The contact of a shell point with the nearest point of the other surface: that of its triangles if the shape has them, else one that the field leads to.
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
    // The field is off by its error at the most, and a thousandth is more than `f32` rounds. What differs by more is no nearest point of what it tells the distance to.
    let off = (distance - contact.separation).abs();
    let is_the_same = off <= probe.field.error_bound() + 1e-3 * distance.abs();
    match ((point - nearest) * distance.signum()).try_normalize() {
        Some(outward) if is_the_same => {
            probe.contact_along(index_of(contact.id), point, distance, outward)
        }
        _ => contact,
    }
}

/// The nearest place of the surface that the field leads to: the contact's own, or from half the way to it in each of five directions.
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

/// Goes down the field to where it is about 0.
fn to_surface(field: &dyn Field, from: Vec3) -> Vec3 {
    (0..3).fold(from, |at, _| {
        let Sample { distance, gradient } = field.sample(at);
        at - distance * gradient.normalize_or_zero()
    })
}
