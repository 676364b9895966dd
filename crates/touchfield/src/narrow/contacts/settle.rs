//! Moves the contact of a shell point to the lowest place of its surface nearby.
//!
//! Input: a contact made by a point of a shell, and how far it may move.
//! Output: the contact at the place of that surface which is nearest to the other body, or deepest
//! in it.
//! Cost: some twenty samples; a third of that to revisit a place that was settled before.
//! Not for: contacts without a shell, which are returned unchanged.
//!
//! A ball at rest touches where it is lowest, and the nearest point of its shell is half a spacing
//! beside that: supported there, it would roll away. A few secant steps down the slope, each
//! projected back onto the surface, lead to the lowest point. On flat ground there is no slope and
//! nothing moves.

use glam::Vec3;

use crate::contact::{Contact, ContactId};
use crate::field::{Field, Sample};
use crate::narrow::pair::Pair;
use crate::narrow::search::probe::{Probe, Side, index_of};

/// Maximum number of steps down a slope. Tuned on balls, tori and the bunny: the secant method
/// arrives after two steps on a round surface.
const STEPS: u32 = 4;

/// Maximum distance that a point may move, in multiples of `reach`. All points of a round foot then
/// arrive at its lowest place and become one contact.
const FAR: f32 = 8.0;

/// Slopes below this count as level: over a spacing they gain a ten-thousandth of it.
const LEVEL: f32 = 1e-4;

/// Maximum distance off the surface, as a fraction of `reach`: a hundredth of the shell's own
/// error.
const OFF: f32 = 0.01;

/// Maximum number of first-order steps back onto the surface. One is enough on smooth ground, two
/// over the edges of a grid.
const RETURNS: u32 = 3;

/// Moves a contact found by a shell method downhill on the surface it belongs to, to where the
/// slope ends.
///
/// `reach` \[m\] is about the covering radius of the shell, and the contact moves by at most some
/// eight times as much. It stays in place if the slope does not end within that distance.
pub fn settle(pair: &Pair<'_>, contact: Contact, reach: f32) -> Contact {
    let place = place_of(pair, &contact);
    match lowest_from(pair, contact.id, place, reach, STEPS) {
        // Accept only a place that is lower than before.
        Some(settled) if settled.separation < contact.separation => settled,
        _ => contact,
    }
}

/// Returns the place of a shell contact on the body that has the shell, in the frame of that body.
pub fn place_of(pair: &Pair<'_>, contact: &Contact) -> Vec3 {
    match Side::of(contact.id) {
        Side::A => contact.point_on_a(),
        Side::B => (pair.a_from_b.inverse()).transform_point(contact.point_on_b()),
    }
}

/// Returns the contact at a place that was settled before the bodies moved a little, moved by one
/// step down the slope. Returns `None` if the body that it was on has no shell.
pub fn revisit(pair: &Pair<'_>, id: ContactId, place: Vec3, reach: f32) -> Option<Contact> {
    lowest_from(pair, id, place, reach, 1)
}

/// Returns the contact at the lowest point near `place`, on the body whose shell made the contact
/// `id`.
fn lowest_from(
    pair: &Pair<'_>,
    id: ContactId,
    place: Vec3,
    reach: f32,
    steps: u32,
) -> Option<Contact> {
    let side = Side::of(id);
    let probe = Probe::of(pair, side)?;
    let own = match side {
        Side::A => pair.a.field(),
        Side::B => pair.b.field(),
    };
    let other = |point_in_shell: Vec3| {
        let sample = probe.field.sample(probe.to_field(point_in_shell));
        Sample {
            gradient: probe.to_shell(sample.gradient),
            ..sample
        }
    };
    let (lowest, sample) = downhill(own, other, place, reach, steps);
    let sample = Sample {
        gradient: probe.vector_to_field(sample.gradient),
        ..sample
    };
    Some(probe.contact(index_of(id), probe.to_field(lowest), sample))
}

/// Returns the lowest place of the surface of `own` near `from`, by the slope of `other`; both are
/// in one frame. The place is at most [`FAR`] times `reach` \[m\] away.
pub(crate) fn lowest_near(
    own: &dyn Field,
    other: impl Fn(Vec3) -> Sample,
    from: Vec3,
    reach: f32,
) -> (Vec3, Sample) {
    downhill(own, other, from, reach, STEPS)
}

/// Moves `from` downhill by at most `steps` secant steps, and returns the lowest place and the
/// sample of `other` there.
fn downhill(
    own: &dyn Field,
    other: impl Fn(Vec3) -> Sample,
    from: Vec3,
    reach: f32,
    steps: u32,
) -> (Vec3, Sample) {
    let mut sample = other(from);
    let Some(normal) = own.sample(from).gradient.try_normalize() else {
        return (from, sample);
    };
    let mut at = Place {
        point: from,
        normal,
    };
    let mut step = 0.5 * reach;
    let far = FAR * reach;
    let off = OFF * reach;
    for _ in 0..steps {
        // The slope of the other body's distance along the own surface.
        let down = -sample.gradient.reject_from_normalized(at.normal);
        let slope = down.length();
        if slope < LEVEL {
            break;
        }
        let direction = down / slope;
        // A trial step; where it leaves the surface, try a shorter one.
        let Some(trial) = onto(own, at.point + step * direction, off) else {
            step *= 0.25;
            continue;
        };
        let at_trial = other(trial.point);
        // Extrapolate linearly to where the slope vanishes.
        let slope_there = -(at_trial.gradient.reject_from_normalized(trial.normal)).dot(direction);
        let flattening = slope - slope_there;
        let along = step * slope / flattening;
        // Tilted flat ground: its points stay, and support the body once it lies flat.
        if !(flattening > 0.0 && along <= far) {
            break;
        }
        // Take the lower one of the extrapolated place and the trial.
        let secant = onto(own, at.point + along * direction, off);
        let secant = secant.map(|place| (place, other(place.point)));
        let (next, there) = match secant {
            Some((place, at_secant)) if at_secant.distance < at_trial.distance => {
                (place, at_secant)
            }
            _ => (trial, at_trial),
        };
        if there.distance >= sample.distance || next.point.distance_squared(from) > far * far {
            step *= 0.25;
            continue;
        }
        (at, sample) = (next, there);
        // The rest is of second order: a trial as long as the last step would measure curvature
        // rather than slope.
        step = 0.25 * along.min(step);
    }
    (at.point, sample)
}

/// A point on a surface, and the normal there.
#[derive(Clone, Copy)]
struct Place {
    point: Vec3,
    normal: Vec3,
}

/// Projects a point back onto the surface, to within `off` \[m\]. Returns `None` if that takes too
/// many steps: beyond an edge or in the middle of a thin part the gradient leads elsewhere, and a
/// place that is not on the surface touches nothing.
fn onto(own: &dyn Field, point: Vec3, off: f32) -> Option<Place> {
    let mut point = point;
    let Sample {
        mut distance,
        gradient,
    } = own.sample(point);
    let mut normal = gradient.try_normalize()?;
    for _ in 0..RETURNS {
        point -= distance * normal;
        let sample = own.sample(point);
        normal = sample.gradient.try_normalize()?;
        distance = sample.distance;
        if distance.abs() <= off {
            return Some(Place { point, normal });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Difference;
    use crate::field::primitive::Cuboid;
    use crate::field::primitive::Cylinder;
    use crate::field::primitive::Sphere;
    use crate::field::primitive::Torus;
    use proptest::prelude::*;

    /// Returns the signed distance of a tilted plane below the body.
    fn plane(normal: Vec3) -> impl Fn(Vec3) -> Sample {
        move |point| Sample {
            distance: normal.dot(point) + 3.0,
            gradient: normal,
        }
    }

    proptest! {
        /// Beyond an edge the distance of a block with a hole is too short, and one step back ends
        /// in the air.
        #[test]
        fn a_contact_does_not_leave_its_surface_over_an_edge(
            slope in prop::array::uniform3(-1.0f32..1.0),
            angle in 0.0f32..std::f32::consts::TAU,
            height in -0.2f32..0.2,
        ) {
            let normal = Vec3::from(slope);
            prop_assume!(normal.length() > 0.1);
            let block = Difference {
                first: Cuboid::new(Vec3::new(0.5, 0.5, 0.2)).unwrap(),
                second: Cylinder::new(1.0, 0.3).unwrap(),
            };
            let from = Vec3::new(0.3 * angle.cos(), 0.3 * angle.sin(), height);
            let (lowest, _) = lowest_near(&block, plane(normal.normalize()), from, 0.1);
            prop_assert!(block.distance(lowest).abs() <= 0.01 * 0.1, "{lowest} after {from}");
        }

        /// A ball is lowest straight below its centre, wherever the descent starts.
        #[test]
        fn a_point_of_a_ball_slides_to_its_foot(
            tilt in prop::array::uniform3(-1.0f32..1.0),
            aside in prop::array::uniform3(-1.0f32..1.0),
        ) {
            let normal = Vec3::from(tilt) + Vec3::new(0.0, 0.0, 2.0);
            let normal = normal.normalize();
            let aside = Vec3::from(aside).reject_from_normalized(normal);
            prop_assume!(aside.length() > 0.1);
            let ball = Sphere::new(0.5).unwrap();
            let from = 0.5 * (-normal + 0.1 * aside.normalize()).normalize();
            let (lowest, sample) = lowest_near(&ball, plane(normal), from, 0.06);
            prop_assert!(lowest.distance(-0.5 * normal) < 2e-4, "{lowest} after {from}");
            prop_assert!(sample.distance < plane(normal)(from).distance);
        }
    }

    #[test]
    fn a_point_of_a_lying_torus_slides_across_its_tube_only() {
        let torus = Torus::new(1.0, 0.25).unwrap();
        let aside = 0.15f32;
        let from = Vec3::new(1.0 + 0.25 * aside.sin(), 0.0, -0.25 * aside.cos());
        let (lowest, _) = lowest_near(&torus, plane(Vec3::Z), from, 0.08);
        assert!(
            lowest.distance(Vec3::new(1.0, 0.0, -0.25)) < 1e-3,
            "{lowest}"
        );
    }
}
