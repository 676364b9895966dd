//! Feet: contacts that carry a body, separated from those beside and between them that do not.
//!
//! Input: contacts of one pair, in one frame.
//! Output: a part of them.
//! Cost: O(n · feet) for flanks, O(n³) for contacts between others; n is a manifold there.
//! Not for: choosing a few contacts that resist the same wrenches, see [`reduce`](super::reduce).

use crate::contact::Contact;

/// Settings of [`without_flanks`]: which contacts are on the flank of another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlankSettings {
    /// Maximum distance from the foot \[m\].
    pub distance: f32,
    /// Minimum slope from the foot to the contact: difference of their separations per distance.
    pub slope: f32,
    /// Minimum cosine of the angle between the two normals.
    pub cosine: f32,
    /// Maximum number of feet whose flanks are searched; further contacts are all kept.
    pub max_feet: usize,
}

/// Replaces `feet` by the contacts that are on the flank of no other one, deepest first.
///
/// A contact on the flank of a foot arrives at the foot once it is moved to where the surfaces are
/// nearest, so it would be settled for nothing. `order` is a buffer.
pub fn without_flanks<T: AsRef<Contact> + Copy>(
    found: &[T],
    settings: &FlankSettings,
    order: &mut Vec<(f32, u32)>,
    feet: &mut Vec<T>,
) {
    order.clear();
    order.extend(
        (0..)
            .zip(found)
            .map(|(index, found)| (found.as_ref().separation, index)),
    );
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    feet.clear();
    for &(_, index) in order.iter() {
        let one = found[index as usize].as_ref();
        let is_flank = |other: &T| {
            let other = other.as_ref();
            let apart = one.point.distance_squared(other.point);
            let higher = one.separation - other.separation;
            apart <= settings.distance * settings.distance
                && higher * higher > settings.slope * settings.slope * apart
                && one.normal.dot(other.normal) > settings.cosine
        };
        if feet.len() >= settings.max_feet || !feet.iter().any(is_flank) {
            feet.push(found[index as usize]);
        }
    }
}

/// Drops contacts that lie between two others and are no deeper than the line between those: the
/// others carry their load. Along an edge that hits the ground, four points in a row would each be
/// given back their speed in turn, and with a restitution near 1 a box gained energy that way.
///
/// `near` is the maximum distance from the line \[m\]. `deeper` is by how much a contact may be
/// deeper than the line \[m\] and still be dropped. A foot between two places that are still above
/// the floor carries load; a body that loses it falls from one place to the next and never rests.
pub fn drop_between<T: AsRef<Contact>>(kept: &mut Vec<T>, near: f32, deeper: f32) {
    let is_between = |index: usize, kept: &[T]| {
        let one = kept[index].as_ref();
        let others = || (0..kept.len()).filter(|&other| other != index);
        others().any(|a| {
            let a = kept[a].as_ref();
            others().any(|b| {
                let b = kept[b].as_ref();
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

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::contact::ContactId;

    /// Builds contacts along x whose separations are given by `height`.
    fn contacts(height: impl Fn(f32) -> f32) -> Vec<Contact> {
        let places = (-10i16..=10).map(|step| 0.01 * f32::from(step));
        let contact = |x: f32| Contact {
            point: Vec3::new(x, 0.0, 0.0),
            normal: Vec3::Z,
            separation: height(x),
            id: ContactId(0),
        };
        places.map(contact).collect()
    }

    fn feet_of(found: &[Contact]) -> Vec<f32> {
        let settings = FlankSettings {
            distance: 0.3,
            slope: 0.05,
            cosine: 0.8,
            max_feet: 128,
        };
        let (mut order, mut feet) = (Vec::new(), Vec::new());
        without_flanks(found, &settings, &mut order, &mut feet);
        feet.iter().map(|found| found.point.x).collect()
    }

    #[test]
    fn of_a_round_foot_only_the_lowest_points_are_left() {
        // A ball of radius 5 cm whose middle is 3 mm beside a point.
        let feet = feet_of(&contacts(|x| 10.0 * (x - 0.003) * (x - 0.003)));
        assert_eq!(feet, [0.0, 0.01], "the two beside the foot");
    }

    /// Builds contacts along x with these separations.
    fn in_a_row(separations: &[f32]) -> Vec<Contact> {
        let all = contacts(|_| 0.0).into_iter().zip(separations);
        all.map(|(contact, &separation)| Contact {
            separation,
            ..contact
        })
        .collect()
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
