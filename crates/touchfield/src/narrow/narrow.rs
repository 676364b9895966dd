//! Entry points of the narrow phase, and the table of methods.
//!
//! Input: a [`Pair`] and [`CollideSettings`].
//! Output: [`Contacts`] in frame A, deepest first.
//! Cost: the method's; no allocation once `scratch` and `out` have grown.
//! Not for: worlds of many bodies (see `pipeline`).

use crate::narrow::method::ContactMethod;
use crate::narrow::pair::CollideError;
use crate::narrow::pair::CollideSettings;
use crate::narrow::pair::Contacts;
use crate::narrow::pair::Outcome;
use crate::narrow::pair::Pair;
use crate::narrow::pair::check_max_separation;
use crate::narrow::pair::checked;
use crate::narrow::scratch::Scratch;

use crate::contact::Contact;
use crate::narrow::auto;
use crate::narrow::contacts::face_descent;
use crate::narrow::contacts::literal_particles;
use crate::narrow::contacts::octree_subdivision;
use crate::narrow::contacts::penalty;
use crate::narrow::contacts::projection_particles;
use crate::narrow::contacts::shell_walk::Ahead;
use crate::narrow::contacts::{both_shells, point_samples, shell_segments, shell_traversal};
use crate::narrow::scratch::PairMemory;
use crate::narrow::separation::by_convex;
use crate::narrow::separation::search;

/// Finds the contacts of a pair, deepest first.
pub fn collide(
    pair: &Pair<'_>,
    settings: &CollideSettings,
    scratch: &mut Scratch,
    out: &mut Contacts,
) -> Result<(), CollideError> {
    find(pair, settings, None, scratch, out)?;
    sort(&mut out.contacts);
    Ok(())
}

/// Finds the contacts of a pair, deepest first, with a warm start from `memory`.
///
/// `memory` belongs to this one pair and carries the state of convex bodies from call to call.
/// Contacts are as exact as those of [`collide`].
pub fn collide_again(
    pair: &Pair<'_>,
    settings: &CollideSettings,
    memory: &mut PairMemory,
    scratch: &mut Scratch,
    out: &mut Contacts,
) -> Result<(), CollideError> {
    find(pair, settings, Some(memory), scratch, out)?;
    sort(&mut out.contacts);
    Ok(())
}

/// Sorts contacts, deepest first. Ids break ties, so that the order is the same on every run.
fn sort(contacts: &mut [Contact]) {
    contacts.sort_unstable_by(|a, b| (a.separation.total_cmp(&b.separation)).then(a.id.cmp(&b.id)));
}

/// Finds the contacts of a pair, unsorted, for callers that reduce or sort them anyway. The order
/// is the same on every run.
pub fn find_contacts(
    pair: &Pair<'_>,
    settings: &CollideSettings,
    scratch: &mut Scratch,
    out: &mut Contacts,
) -> Result<(), CollideError> {
    find(pair, settings, None, scratch, out)
}

/// Finds the contacts of a pair in motion, as [`find_contacts`] does by
/// [`ContactMethod::BothShells`], with a reach that grows with the speed of each point.
///
/// Points that move fast are reported from farther away than `max_separation`; points that hardly
/// move are not. A tumbling body is therefore not searched all over at the reach of its fastest
/// corner.
pub fn find_contacts_ahead(
    pair: &Pair<'_>,
    settings: &CollideSettings,
    ahead: &Ahead,
    scratch: &mut Scratch,
    out: &mut Contacts,
) -> Result<(), CollideError> {
    let pair = &checked(pair)?;
    let before = Pair {
        a_from_b: ahead.a_from_b_before,
        ..*pair
    };
    let ahead = Ahead {
        a_from_b_before: checked(&before)?.a_from_b,
        ..*ahead
    };
    check_max_separation(ahead.farthest)?;
    begin(settings, ContactMethod::BothShells, out)?;
    both_shells::collide(pair, settings, Some(&ahead), scratch, out)?;
    add_wrench(pair, settings, scratch, out);
    Ok(())
}

/// Checks the settings and clears the output.
fn begin(
    settings: &CollideSettings,
    method: ContactMethod,
    out: &mut Contacts,
) -> Result<(), CollideError> {
    check_max_separation(settings.max_separation)?;
    if !(settings.detail >= 0.0 && settings.detail.is_finite()) {
        return Err(CollideError::BadSetting {
            setting: "detail",
            value: settings.detail,
            wanted: "finite and not negative",
        });
    }
    if let Some(wrench) = &settings.wrench {
        wrench.check()?;
    }
    out.contacts.clear();
    out.method = method;
    out.outcome = Outcome::Complete;
    out.wrench = None;
    out.segments.clear();
    out.distance = f32::INFINITY;
    out.region.clear();
    Ok(())
}

fn find(
    pair: &Pair<'_>,
    settings: &CollideSettings,
    memory: Option<&mut PairMemory>,
    scratch: &mut Scratch,
    out: &mut Contacts,
) -> Result<(), CollideError> {
    let pair = &checked(pair)?;
    begin(settings, settings.method, out)?;
    match settings.method {
        ContactMethod::Auto => auto::collide(pair, settings, memory, scratch, out)?,
        ContactMethod::Separation => {
            search::collide(pair, settings.max_separation, &mut scratch.separation, out)?;
        }
        ContactMethod::PointSamples => point_samples::collide(pair, settings, scratch, out)?,
        ContactMethod::ShellTraversal => {
            shell_traversal::collide(pair, settings, scratch, out)?;
        }
        ContactMethod::ShellSegments(segments) => {
            shell_segments::collide(pair, segments, settings, scratch, out)?;
        }
        ContactMethod::BothShells => both_shells::collide(pair, settings, None, scratch, out)?,
        ContactMethod::OctreeSubdivision(subdivision) => {
            octree_subdivision::collide(pair, settings, &subdivision, scratch, out)?;
        }
        ContactMethod::ProjectionParticles(particles) if particles.literal => {
            literal_particles::collide(pair, settings, &particles, scratch, out)?;
        }
        ContactMethod::ProjectionParticles(particles) => {
            projection_particles::collide(pair, settings, &particles, scratch, out)?;
        }
        ContactMethod::FaceDescent(descent) => {
            face_descent::collide(pair, settings, &descent, scratch, out)?;
        }
        ContactMethod::Convex => by_convex::collide(pair, settings, memory, scratch, out)?,
    }
    add_wrench(pair, settings, scratch, out);
    Ok(())
}

/// Adds the penalty wrench, if one is wanted.
fn add_wrench(
    pair: &Pair<'_>,
    settings: &CollideSettings,
    scratch: &mut Scratch,
    out: &mut Contacts,
) {
    let Some(wrench) = &settings.wrench else {
        return;
    };
    out.wrench = penalty::wrench(pair, wrench, &mut scratch.penalty);
    if let ContactMethod::ShellSegments(segments) = settings.method {
        shell_segments::add_wrenches(pair, segments, wrench, scratch, out);
    }
}
