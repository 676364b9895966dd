//! Chooses the narrow-phase method from the kinds of the two shapes.
//!
//! Input: a [`Pair`].
//! Output: contacts, and the method that found them.
//! Cost: that of the chosen method.
//! Not for: callers who already know the best method for their pair.
//!
//! - Two convex bodies are solved exactly.
//! - Otherwise the finer shell is tested against the field of the other shape. This finds every
//!   contact unless a body lies wholly inside the one that has the shell. In that case the other
//!   shell finds it or, if there is none, the separation search does.
//! - Surfaces may cross between the points of both shells, less deep than their covering radius.
//!   Triangles find these crossings if both shapes have exact surfaces and there is no budget.
//! - Shapes without shells use the separation search, which gives the deepest contact, and then
//!   particles projected onto the surface of their intersection.

use crate::narrow::contacts::projection_particles;
use crate::narrow::contacts::shell_walk::Walk;
use crate::narrow::method::ContactMethod;
use crate::narrow::method::Particles;
use crate::narrow::pair::{CollideError, CollideSettings, Contacts, Outcome, Pair};
use crate::narrow::scratch::PairMemory;
use crate::narrow::scratch::Scratch;
use crate::narrow::search::probe::Probe;
use crate::narrow::separation::by_convex;
use crate::narrow::separation::by_surfaces::contact_between_points;
use crate::narrow::separation::search;

/// Appends contacts found by the method that suits the pair.
pub(crate) fn collide(
    pair: &Pair<'_>,
    settings: &CollideSettings,
    memory: Option<&mut PairMemory>,
    scratch: &mut Scratch,
    out: &mut Contacts,
) -> Result<(), CollideError> {
    if by_convex::are_convex(pair) {
        out.method = ContactMethod::Convex;
        return by_convex::collide(pair, settings, memory, scratch, out);
    }
    let Ok(probe) = Probe::finer(pair, "auto") else {
        return without_shells(pair, settings, scratch, out);
    };
    out.method = ContactMethod::ShellTraversal;
    let other = Probe::of(pair, probe.side.other());
    let walk = Walk::with(probe, settings);
    walk.run(scratch, out);
    if !out.contacts.is_empty() || out.outcome != Outcome::Complete {
        return Ok(());
    }
    // No point of one surface is in the other body: they are apart, or the other one is inside.
    if let Some(other) = other {
        let nearest = out.distance;
        // Both walks share one start time, and so one budget.
        let mut second = Walk::with(other, settings);
        second.start = walk.start;
        second.run(scratch, out);
        out.distance = out.distance.min(nearest);
        // The triangle search cannot stop on a budget, so it is skipped if there is one.
        let is_told = !out.contacts.is_empty() || settings.budget.is_some();
        if is_told {
            return Ok(());
        }
        if let Some(contact) = contact_between_points(pair, settings.max_separation, scratch) {
            out.method = ContactMethod::Separation;
            out.distance = out.distance.min(contact.separation);
            out.contacts.push(contact);
        }
        return Ok(());
    }
    out.method = ContactMethod::Separation;
    search::collide(pair, settings.max_separation, &mut scratch.separation, out)
}

fn without_shells(
    pair: &Pair<'_>,
    settings: &CollideSettings,
    scratch: &mut Scratch,
    out: &mut Contacts,
) -> Result<(), CollideError> {
    out.method = ContactMethod::Separation;
    search::collide(pair, settings.max_separation, &mut scratch.separation, out)?;
    if out.contacts.is_empty() {
        return Ok(());
    }
    let particles = Particles {
        one_per_cell: true,
        ..Default::default()
    };
    out.method = ContactMethod::ProjectionParticles(particles);
    projection_particles::collide(pair, settings, &particles, scratch, out)
}
