//! Reduction of all contacts of a pair to Rapier's manifolds: few, well spread, one per normal, and
//! matched from step to step.
//!
//! Input: the contacts of this step, the manifolds of the last one. Output: the manifolds of this
//! step, with impulses carried over.
//! Cost: O(contacts × kept). Not for: contacts of Rapier's own pairs, which Rapier keeps itself.
//!
//! Impulses and contact ids are stored in the manifolds themselves, which Rapier keeps, copies and
//! saves. Where a pair touched, so that the contacts are found sooner, is stored in `memory`. A
//! contact is the same as one of the last step if it is near it as seen from either body, as in
//! `touchfield::manifold`.

use glam::Vec3;
use rapier::parry::query::{ContactManifold, TrackedContact};
use rapier::parry::shape::PackedFeatureId;
use touchfield::contact::Contact;
use touchfield::geom::{Pose, Tolerance};
use touchfield::manifold::{
    FlankSettings, ManifoldError, ReduceScratch, ReduceSettings, Reduced, drop_between, reduce,
    without_flanks,
};

use crate::convert;
use crate::meet::Found;
use crate::tuning::manifolds::{
    ALIKE, BETWEEN_SHARE, FOOT_COSINE, FOOT_SHARE, ID_BITS, MOST_FEET, MOST_SETTLED, NEAR_SHARE,
    NO_ID, ONE_NORMAL, SAME_SHARE, STEEP, TWIN_SHARE,
};

/// Reused scratch buffers.
#[derive(Default)]
pub(crate) struct Buffers {
    contacts: Vec<Contact>,
    preferred: Vec<bool>,
    reduce: ReduceScratch,
    reduced: Reduced,
    old: Vec<Old>,
    /// Separations \[m\] with the indices of their contacts, to sort by.
    order: Vec<(f32, u32)>,
    feet: Vec<Found>,
    settled: Vec<Found>,
    kept: Vec<Found>,
}

/// A contact of the last step, in the frames of both colliders.
#[derive(Clone, Copy)]
struct Old {
    on_first: Vec3,
    on_second: Vec3,
    manifold: usize,
    point: usize,
    id: u32,
    is_taken: bool,
}

/// Properties of a pair that the reduction needs.
#[derive(Clone, Copy)]
pub(crate) struct PairFrame {
    pub(crate) first_from_second: Pose,
    /// Diagonal of the smaller body \[m\].
    pub(crate) size: f32,
    pub(crate) max_contacts: usize,
    /// Separation up to which contacts were requested \[m\].
    pub(crate) reach: f32,
}

/// Chooses the contacts that represent the rest and moves them to where the surfaces are nearest.
/// `settle` moves one contact; [`tell`] writes the result to the manifolds.
pub(crate) fn settle_feet(
    found: &[Found],
    frame: &PairFrame,
    mut settle: impl FnMut(&Found) -> Found,
    buffers: &mut Buffers,
) -> Result<(), ManifoldError> {
    let Buffers {
        contacts,
        reduce: scratch,
        reduced,
        order,
        feet,
        settled,
        ..
    } = buffers;
    settled.clear();
    if found.is_empty() {
        return Ok(());
    }
    // Settling costs samples: settle only the lowest points of each foot, and of many contacts only
    // those that reach farthest.
    let flanks = FlankSettings {
        distance: FOOT_SHARE * frame.size,
        slope: STEEP,
        cosine: FOOT_COSINE,
        max_feet: MOST_FEET,
    };
    without_flanks(found, &flanks, order, feet);
    contacts.clear();
    contacts.extend(feet.iter().map(|found| found.contact));
    let thinned = ReduceSettings {
        max_contacts: MOST_SETTLED,
        max_per_normal: MOST_SETTLED / 2,
        tolerance: Tolerance::for_size(frame.size),
        fade: frame.reach,
        ..Default::default()
    };
    reduced.kept.clear();
    if feet.len() > MOST_SETTLED {
        reduce(contacts, &[], &thinned, scratch, reduced)?;
    } else {
        reduced.kept.extend(0..feet.len() as u32);
    }
    for &index in &reduced.kept {
        add_settled(settle(&feet[index as usize]), frame, settled);
    }
    Ok(())
}

/// Adds a settled contact. Points of a round foot arrive at one place and are merged, keeping the
/// deepest.
fn add_settled(moved: Found, frame: &PairFrame, settled: &mut Vec<Found>) {
    let twin = TWIN_SHARE * frame.size;
    let other = settled.iter_mut().find(|other: &&mut Found| {
        let apart = other.contact.point.distance_squared(moved.contact.point);
        apart <= twin * twin && other.contact.normal.dot(moved.contact.normal) > ALIKE
    });
    match other {
        Some(other) if moved.contact.separation < other.contact.separation => *other = moved,
        Some(_) => {}
        None => settled.push(moved),
    }
}

impl Buffers {
    /// Returns the settled contacts.
    pub(crate) fn settled(&self) -> &[Found] {
        &self.settled
    }

    /// Keeps only the settled contacts for which `is_kept` returns true.
    pub(crate) fn retain_settled(&mut self, is_kept: impl Fn(&Contact) -> bool) {
        self.settled.retain(|found| is_kept(&found.contact));
    }

    /// Replaces the settled contacts by contacts that have already been moved.
    pub(crate) fn set_settled(&mut self, contacts: impl Iterator<Item = Found>, frame: &PairFrame) {
        self.settled.clear();
        for moved in contacts {
            add_settled(moved, frame, &mut self.settled);
        }
    }
}

/// Replaces the manifolds by those of the settled contacts. `subshape` maps the part numbers of a
/// contact to subshape ids.
pub(crate) fn tell<M, C>(
    frame: &PairFrame,
    subshape: impl Fn([u32; 2]) -> [u32; 2],
    manifolds: &mut Vec<ContactManifold<M, C>>,
    buffers: &mut Buffers,
) -> Result<(), ManifoldError>
where
    M: Default + Clone,
    C: Default + Copy,
{
    let mut last = std::mem::take(manifolds);
    let Buffers {
        contacts,
        preferred,
        reduce: scratch,
        reduced,
        old,
        settled,
        kept,
        ..
    } = buffers;
    if settled.is_empty() {
        // Keep one empty manifold so that its buffers are reused when the pair meets again.
        last.truncate(1);
        if let Some(first) = last.first_mut() {
            first.clear();
        }
        *manifolds = last;
        return Ok(());
    }
    let second_from_first = frame.first_from_second.inverse();
    // Collect the contacts of the last step.
    old.clear();
    for (manifold, points) in last.iter().enumerate() {
        for (point, tracked) in points.points.iter().enumerate() {
            old.push(Old {
                on_first: convert::vec3(tracked.local_p1),
                on_second: convert::vec3(tracked.local_p2),
                manifold,
                point,
                id: tracked.fid1.0 & ID_BITS,
                is_taken: false,
            });
        }
    }
    // Prefer contacts that existed in the last step, and reduce them to the final count, grouped by
    // normal.
    let tolerance = Tolerance::for_size(frame.size);
    contacts.clear();
    contacts.extend(settled.iter().map(|found| found.contact));
    let same = SAME_SHARE * frame.size;
    preferred.clear();
    preferred.extend(contacts.iter().map(|contact| {
        let places = places(contact, second_from_first);
        old.iter().any(|old| old.apart(places) <= same * same)
    }));
    let few = ReduceSettings {
        max_contacts: frame.max_contacts,
        normal_angle: ONE_NORMAL,
        tolerance,
        fade: NEAR_SHARE * frame.reach,
        ..Default::default()
    };
    reduce(contacts, preferred, &few, scratch, reduced)?;
    // Build one manifold per group of normals.
    for (place, group) in reduced.groups.iter().enumerate() {
        let members = &reduced.kept[group.first as usize..][..group.count as usize];
        kept.clear();
        kept.extend(members.iter().map(|&index| settled[index as usize]));
        drop_between(kept, BETWEEN_SHARE * frame.size, tolerance.slop);
        let Some(deepest) =
            (kept.iter()).min_by(|a, b| a.contact.separation.total_cmp(&b.contact.separation))
        else {
            continue;
        };
        // Reuse the solver data of the last manifold at this position.
        let normal = deepest.contact.normal;
        let [subshape1, subshape2] = subshape(deepest.parts);
        let mut manifold = last
            .get_mut(place)
            .map_or_else(ContactManifold::new, |last| ContactManifold {
                points: Vec::with_capacity(4),
                local_n1: last.local_n1,
                local_n2: last.local_n2,
                subshape1: 0,
                subshape2: 0,
                subshape_poses: None,
                data: std::mem::take(&mut last.data),
            });
        manifold.points.clear();
        manifold.local_n1 = convert::vector(normal);
        manifold.local_n2 = convert::vector(second_from_first.transform_vector(-normal));
        (manifold.subshape1, manifold.subshape2) = (subshape1, subshape2);
        // Match each contact with the nearest unmatched one of the last step, and take over its
        // impulses and id.
        for found in kept.iter() {
            let places = places(&found.contact, second_from_first);
            let nearest = (old.iter_mut().filter(|old| !old.is_taken))
                .map(|old| (old.apart(places), old))
                .filter(|(apart, _)| *apart <= same * same)
                .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.id.cmp(&b.1.id)));
            let (data, id) = match nearest {
                Some((_, old)) => {
                    old.is_taken = true;
                    (last[old.manifold].points[old.point].data, Some(old.id))
                }
                None => (C::default(), None),
            };
            manifold.points.push(TrackedContact {
                local_p1: convert::vector(places[0]),
                local_p2: convert::vector(places[1]),
                dist: convert::real(found.contact.separation),
                fid1: PackedFeatureId::vertex(id.unwrap_or(NO_ID)),
                fid2: PackedFeatureId::vertex(id.unwrap_or(NO_ID)),
                data,
            });
        }
        manifolds.push(manifold);
    }
    name_new(manifolds);
    Ok(())
}

/// Updates the separations in the manifolds for a new relative pose; the contact points stay where
/// they were on their bodies.
pub(crate) fn measure_again<M, C>(
    manifolds: &mut [ContactManifold<M, C>],
    first_from_second: Pose,
) {
    for manifold in manifolds {
        let normal = convert::vec3(manifold.local_n1);
        let on_second = first_from_second.inverse().transform_vector(-normal);
        manifold.local_n2 = convert::vector(on_second);
        for point in &mut manifold.points {
            let second = first_from_second.transform_point(convert::vec3(point.local_p2));
            let apart = (second - convert::vec3(point.local_p1)).dot(normal);
            point.dist = convert::real(apart);
        }
    }
}

/// Gives new contacts the smallest free ids.
fn name_new<M, C>(manifolds: &mut [ContactManifold<M, C>]) {
    let points = || manifolds.iter().flat_map(|manifold| &manifold.points);
    let mut used: Vec<u32> = points().map(|point| point.fid1.0 & ID_BITS).collect();
    let mut next = 0;
    for manifold in manifolds.iter_mut() {
        for point in &mut manifold.points {
            if point.fid1.0 & ID_BITS != NO_ID {
                continue;
            }
            while used.contains(&next) {
                next += 1;
            }
            used.push(next);
            point.fid1 = PackedFeatureId::vertex(next);
            point.fid2 = PackedFeatureId::vertex(next);
        }
    }
}

/// Returns the points of a contact on the first and on the second collider, each in its own frame.
fn places(contact: &Contact, second_from_first: Pose) -> [Vec3; 2] {
    [
        contact.point_on_a(),
        second_from_first.transform_point(contact.point_on_b()),
    ]
}

impl Old {
    /// Returns the squared distance between a contact and this one \[m²\], measured on the body
    /// where it is smaller.
    fn apart(&self, [on_first, on_second]: [Vec3; 2]) -> f32 {
        let on_first = self.on_first.distance_squared(on_first);
        let on_second = self.on_second.distance_squared(on_second);
        on_first.min(on_second)
    }
}
