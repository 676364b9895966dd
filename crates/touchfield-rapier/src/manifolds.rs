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
use touchfield::manifold::{ManifoldError, ReduceScratch, ReduceSettings, Reduced, reduce};

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

/// Replaces `feet` by the contacts that are on the flank of no other one, deepest first.
fn without_flanks(found: &[Found], foot: f32, order: &mut Vec<(f32, u32)>, feet: &mut Vec<Found>) {
    order.clear();
    order.extend(
        (0..)
            .zip(found)
            .map(|(index, found)| (found.contact.separation, index)),
    );
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    feet.clear();
    for &(_, index) in order.iter() {
        let one = &found[index as usize].contact;
        let is_flank = |other: &Found| {
            let other = &other.contact;
            let apart = one.point.distance_squared(other.point);
            let higher = one.separation - other.separation;
            apart <= foot * foot
                && higher * higher > STEEP * STEEP * apart
                && one.normal.dot(other.normal) > FOOT_COSINE
        };
        if feet.len() >= MOST_FEET || !feet.iter().any(is_flank) {
            feet.push(found[index as usize]);
        }
    }
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
    without_flanks(found, FOOT_SHARE * frame.size, order, feet);
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

/// Drops contacts that lie between two others and are no deeper than the line between those: the
/// others carry their load. Along an edge that hits the ground, four points in a row would each be
/// given back their speed in turn, and with a restitution near 1 a box gained energy that way.
///
/// `near` is the maximum distance from the line \[m\]. `deeper` is by how much a contact may be
/// deeper than the line \[m\] and still be dropped. A foot between two places that are still above
/// the floor carries load; a body that loses it falls from one place to the next and never rests.
fn drop_between(kept: &mut Vec<Found>, near: f32, deeper: f32) {
    let is_between = |index: usize, kept: &[Found]| {
        let one = &kept[index].contact;
        let others = || (0..kept.len()).filter(|&other| other != index);
        others().any(|a| {
            let a = &kept[a].contact;
            others().any(|b| {
                let b = &kept[b].contact;
                let along = b.point - a.point;
                let share = (one.point - a.point).dot(along) / along.length_squared();
                let on_line = a.point + share * along;
                let between = a.separation + share * (b.separation - a.separation);
                (0.0..=1.0).contains(&share)
                    && on_line.distance_squared(one.point) <= near * near
                    && one.separation >= between - deeper
            })
        })
    };
    let mut index = 0;
    while kept.len() > 2 && index < kept.len() {
        if is_between(index, kept) {
            kept.remove(index);
        } else {
            index += 1;
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use touchfield::contact::ContactId;

    /// Builds contacts along x whose separations are given by `height`.
    fn contacts(height: impl Fn(f32) -> f32) -> Vec<Found> {
        let places = (-10i16..=10).map(|step| 0.01 * f32::from(step));
        let contact = |x: f32| Contact {
            point: Vec3::new(x, 0.0, 0.0),
            normal: Vec3::Z,
            separation: height(x),
            id: ContactId(0),
        };
        let found = places.map(|x| Found {
            contact: contact(x),
            parts: [0; 2],
        });
        found.collect()
    }

    fn feet_of(found: &[Found]) -> Vec<f32> {
        let (mut order, mut feet) = (Vec::new(), Vec::new());
        without_flanks(found, 0.3, &mut order, &mut feet);
        feet.iter().map(|found| found.contact.point.x).collect()
    }

    #[test]
    fn of_a_round_foot_only_the_lowest_points_are_left() {
        // A ball of radius 5 cm whose middle is 3 mm beside a point.
        let feet = feet_of(&contacts(|x| 10.0 * (x - 0.003) * (x - 0.003)));
        assert_eq!(feet, [0.0, 0.01], "the two beside the foot");
    }

    /// Builds contacts along x with these separations.
    fn in_a_row(separations: &[f32]) -> Vec<Found> {
        let all = contacts(|_| 0.0).into_iter().zip(separations);
        let put = all.map(|(mut found, &separation)| {
            found.contact.separation = separation;
            found
        });
        put.collect()
    }

    #[test]
    fn what_lies_between_two_others_is_dropped_unless_it_carries_alone() {
        let left = |separations: &[f32]| {
            let mut kept = in_a_row(separations);
            drop_between(&mut kept, 0.003, 4e-5);
            kept.len()
        };
        assert_eq!(
            left(&[-1e-5, -1e-5, -1e-5, -1e-5]),
            2,
            "an edge on the floor"
        );
        assert_eq!(left(&[0.0, 1e-4, 2e-4]), 2, "an edge that comes down");
        assert_eq!(left(&[0.0, 0.0, 3e-4]), 3, "a foot beside one in the air");
        assert_eq!(
            left(&[2.8e-4, -1e-5, 3e-4]),
            3,
            "a foot between two in the air"
        );
    }

    #[test]
    fn a_face_that_is_nearly_flat_keeps_its_corners() {
        let feet = feet_of(&contacts(|x| 0.02 * x));
        assert_eq!(feet.len(), 21);
        let feet = feet_of(&contacts(|x| 0.2 * x));
        assert_eq!(feet.len(), 1, "and a steep one does not");
    }
}
