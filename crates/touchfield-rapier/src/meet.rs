//! Contacts between the parts of two colliders, in the frame of the first collider.
//!
//! Input: two parts, the pose of the second collider, how far to search. Output: contacts, each
//! with the parts that made it.
//! Cost: a descent of the sphere trees of both shells. Not for: choosing among the contacts (see
//! `manifolds`).

use std::cell::RefCell;
use std::time::Duration;

use glam::Vec3;
use rapier::parry::shape::Shape as RapierShape;
use touchfield::contact::{Contact, ContactId};
use touchfield::geom::Pose;
use touchfield::narrow::{
    Ahead, CollideError, CollideSettings, ContactMethod, Contacts, Outcome, Pair, Scratch,
    TriangleScratch, collide_triangles, find_contacts, find_contacts_ahead, place_of, revisit,
    settle,
};
use touchfield::shape::Shape;

use crate::counts::Tally;
use crate::partner::{Part, PartKind, child, triangles_in};
use crate::query::moved_box;
use crate::tuning::meet::DETAIL_SHARE;
use crate::tuning::memory::FASTER;

/// Two colliders and the pose of the second one.
#[derive(Clone, Copy)]
pub(crate) struct Colliders<'a> {
    pub(crate) first: &'a dyn RapierShape,
    pub(crate) second: &'a dyn RapierShape,
    pub(crate) first_from_second: Pose,
    /// Separation up to which contacts are searched \[m\].
    pub(crate) reach: f32,
    /// Motion of the pair, if it matters: beyond [`Going::wanted`] only contacts that may soon
    /// close are searched.
    pub(crate) going: Option<Going>,
    /// Time budget of a pair of parts.
    pub(crate) budget: Option<Duration>,
    pub(crate) tally: &'a Tally,
}

/// The last motion of a pair.
#[derive(Clone, Copy)]
pub(crate) struct Going {
    pub(crate) first_from_second_before: Pose,
    /// Separation up to which contacts are wanted however they move \[m\].
    pub(crate) wanted: f32,
    /// By how much the separation of shell points may exceed that of the surfaces they represent
    /// \[m\].
    pub(crate) missed: f32,
}

/// A contact in the frame of the first collider, with the numbers of the parts that made it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) contact: Contact,
    pub(crate) parts: [u32; 2],
}

impl AsRef<Contact> for Found {
    fn as_ref(&self) -> &Contact {
        &self.contact
    }
}

/// Scratch buffers of one thread.
#[derive(Default)]
pub(crate) struct Work {
    scratch: Scratch,
    contacts: Contacts,
    triangles: TriangleScratch,
    numbered: Vec<(u32, [Vec3; 3])>,
    corners: Vec<[Vec3; 3]>,
    loose: Vec<Contact>,
}

thread_local! {
    /// One set of buffers per thread: Rapier calls from many threads and has no place to keep
    /// buffers.
    static WORK: RefCell<Work> = RefCell::default();
}

/// Calls a function with the buffers of this thread.
pub(crate) fn with_work<R>(use_it: impl FnOnce(&mut Work) -> R) -> R {
    WORK.with(|work| match work.try_borrow_mut() {
        Ok(mut work) => use_it(&mut work),
        // A user's callback made another query: use new buffers.
        Err(_) => use_it(&mut Work::default()),
    })
}

/// Returns the pose of part B in the frame of part A.
pub(crate) fn a_from_b(a: &Part, b: &Part, first_from_second: Pose) -> Pose {
    a.collider_from_part.inverse() * first_from_second * b.collider_from_part
}

/// Appends the contacts of two solids. Returns a lower bound on the distance from every shell point
/// to the other body \[m\].
pub(crate) fn solids(
    [a, b]: [&Part; 2],
    [shape_a, shape_b]: [&Shape; 2],
    numbers: [u32; 2],
    colliders: &Colliders<'_>,
    work: &mut Work,
    out: &mut Vec<Found>,
) -> Result<f32, CollideError> {
    let pair = Pair {
        a: shape_a,
        b: shape_b,
        a_from_b: a_from_b(a, b, colliders.first_from_second),
    };
    // Refuse poses that are not finite, and return early if the boxes do not meet.
    let Pose {
        rotation,
        translation,
    } = pair.a_from_b;
    if !(rotation.is_finite() && translation.is_finite()) {
        return Err(CollideError::BadPose(pair.a_from_b));
    }
    if !boxes_meet(&pair, colliders.reach) {
        return Ok(colliders.reach);
    }
    // Two convex bodies are handled exactly, all others by their shells.
    let are_convex = shape_a.as_convex().is_some() && shape_b.as_convex().is_some();
    let size = f32::min(shape_a.solid().diagonal(), shape_b.solid().diagonal());
    let mut settings = CollideSettings {
        method: if are_convex {
            ContactMethod::Convex
        } else {
            ContactMethod::BothShells
        },
        max_separation: colliders.reach,
        detail: DETAIL_SHARE * size,
        budget: colliders.budget,
        wrench: None,
    };
    let (scratch, contacts) = (&mut work.scratch, &mut work.contacts);
    match &colliders.going {
        Some(going) if !are_convex => {
            settings.max_separation = (going.wanted + going.missed).min(colliders.reach);
            let ahead = Ahead {
                a_from_b_before: a_from_b(a, b, going.first_from_second_before),
                faster: FASTER,
                margin: going.missed,
                farthest: colliders.reach,
            };
            find_contacts_ahead(&pair, &settings, &ahead, scratch, contacts)?;
        }
        _ => find_contacts(&pair, &settings, scratch, contacts)?,
    }
    if work.contacts.outcome != Outcome::Complete {
        colliders.tally.out_of_time();
    }
    out.extend(work.contacts.contacts.iter().map(|&contact| Found {
        contact: seen_from(a.collider_from_part, contact),
        parts: numbers,
    }));
    if are_convex || work.contacts.outcome != Outcome::Complete {
        return Ok(f32::NEG_INFINITY);
    }
    // Both the distances seen now and those at later poses may be off by the error of a field.
    let error = f32::max(shape_a.field().error_bound(), shape_b.field().error_bound());
    Ok(work.contacts.distance - 2.0 * error)
}

/// Transforms a contact from the frame of a part to that of its collider.
fn seen_from(collider_from_part: Pose, contact: Contact) -> Contact {
    Contact {
        point: collider_from_part.transform_point(contact.point),
        normal: collider_from_part.transform_vector(contact.normal),
        ..contact
    }
}

/// Returns whether the boxes of two solids come within reach of each other.
fn boxes_meet(pair: &Pair<'_>, reach: f32) -> bool {
    let b_in_a = moved_box(pair.a_from_b, pair.b.solid());
    !pair.a.solid().intersection(b_in_a.grown(reach)).is_empty()
}

/// Two solids whose contacts are made by shells.
#[derive(Clone, Copy)]
pub(crate) struct ShellPair<'a> {
    pair: Pair<'a>,
    collider_from_a: Pose,
    /// How far shells may have missed a place \[m\]: about the point spacing, or the size of what
    /// one point represents.
    reach: f32,
}

impl<'a> ShellPair<'a> {
    /// Returns `None` if the contacts of the parts are not made by shells.
    pub(crate) fn of([a, b]: [&'a Part; 2], first_from_second: Pose) -> Option<ShellPair<'a>> {
        let (shape_a, shape_b) = (a.solid()?, b.solid()?);
        if shape_a.as_convex().is_some() && shape_b.as_convex().is_some() {
            return None;
        }
        let size = f32::min(shape_a.solid().diagonal(), shape_b.solid().diagonal());
        let reach = [shape_a, shape_b].into_iter().filter_map(|shape| {
            let shell = shape.shell()?;
            Some(shell.covering_radius().min(3.0 * DETAIL_SHARE * size))
        });
        Some(ShellPair {
            pair: Pair {
                a: shape_a,
                b: shape_b,
                a_from_b: a_from_b(a, b, first_from_second),
            },
            collider_from_a: a.collider_from_part,
            reach: reach.fold(DETAIL_SHARE * size, f32::max),
        })
    }

    /// Returns the point of a contact on the body whose shell made it, in the frame of its part.
    pub(crate) fn place(&self, contact: Contact) -> Vec3 {
        place_of(
            &self.pair,
            &seen_from(self.collider_from_a.inverse(), contact),
        )
    }

    /// Returns the current contact at such a point.
    pub(crate) fn revisited(&self, id: ContactId, place: Vec3) -> Option<Contact> {
        let contact = revisit(&self.pair, id, place, self.reach)?;
        Some(seen_from(self.collider_from_a, contact))
    }

    /// Moves a contact to where the surfaces are nearest, at most as far as a shell may have missed
    /// it.
    pub(crate) fn settled(&self, contact: Contact) -> Contact {
        let contact = seen_from(self.collider_from_a.inverse(), contact);
        seen_from(
            self.collider_from_a,
            settle(&self.pair, contact, self.reach),
        )
    }
}

/// Appends the contacts of a solid with a triangle surface. `is_first` is true if the solid belongs
/// to the first collider. Always returns negative infinity: no lower bound on the distance is
/// known.
pub(crate) fn triangles(
    solid: (&Part, &Shape),
    surface: &Part,
    numbers: [u32; 2],
    is_first: bool,
    colliders: &Colliders<'_>,
    work: &mut Work,
    out: &mut Vec<Found>,
) -> Result<f32, CollideError> {
    let (part, shape) = solid;
    let solid_from_surface = if is_first {
        a_from_b(part, surface, colliders.first_from_second)
    } else {
        a_from_b(surface, part, colliders.first_from_second).inverse()
    };
    let with_surface = if is_first {
        child(colliders.second, surface.subshape)
    } else {
        child(colliders.first, surface.subshape)
    };
    // Collect the triangles near the solid, in its frame.
    let bounds = shape.solid().grown(colliders.reach);
    let in_surface = moved_box(solid_from_surface.inverse(), bounds);
    triangles_in(with_surface, in_surface, &mut work.numbered);
    work.corners.clear();
    for (_, corners) in &work.numbered {
        let corners = corners.map(|corner| solid_from_surface.transform_point(corner));
        work.corners.push(corners);
    }
    if shape.shell().is_none() {
        colliders.tally.unsupported("half-space", "triangles");
        return Ok(f32::NEG_INFINITY);
    }
    work.loose.clear();
    collide_triangles(
        shape,
        &work.corners,
        colliders.reach,
        &mut work.triangles,
        &mut work.loose,
    )?;
    let first_from_solid = if is_first {
        part.collider_from_part
    } else {
        colliders.first_from_second * part.collider_from_part
    };
    for &contact in &work.loose {
        // `collide_triangles` returns contacts from the triangles to the solid. Flip them unless
        // the triangles belong to the first collider.
        let contact = if is_first { contact.flipped() } else { contact };
        out.push(Found {
            contact: seen_from(first_from_solid, contact),
            parts: numbers,
        });
    }
    Ok(f32::NEG_INFINITY)
}

/// Returns the name of a part for log messages.
pub(crate) fn name_of(part: &Part) -> &'static str {
    match part.kind {
        PartKind::Field(_) => "field",
        PartKind::Solid(_) => "solid",
        PartKind::Triangles => "triangles",
        PartKind::Unknown => "a shape that nobody knows",
    }
}
