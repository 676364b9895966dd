//! A contact of a shell point moved to the lowest place of its surface near by.
//!
//! Input: a contact that a point of a shell made, how far it may move. Output: the contact at the place of that surface which is
//! nearest to the other body, or deepest in it. Cost: some twenty samples. Not for: contacts without a shell, which are returned as they are.
//!
//! A ball at rest touches where it is lowest, and the nearest point of its shell is half a spacing beside that: held up there, it would roll away.
//! A few secant steps down the slope, each back onto the surface, lead there; on flat ground there is no slope and nothing moves.

use glam::Vec3;

use super::Pair;
use super::probe::{Probe, Side, index_of};
use crate::contact::Contact;
use crate::field::{Field, Sample};

/// Steps down a slope. Tuned on balls, tori and the bunny: a secant of a round surface arrives after two.
const STEPS: u32 = 4;

/// A point may go so many times as far as its trial: all points of a round foot arrive at its lowest place, and are one.
const FAR: f32 = 8.0;

/// A slope of less than this leads nowhere: over a spacing it is a ten-thousandth of it.
const LEVEL: f32 = 1e-4;

/// Moves a contact found by a shell method downhill on the surface it belongs to, to where the slope ends: some eight times `reach` \[m\] at most, which is about the
/// covering radius of the shell. Where it does not end so near, the contact stays.
pub fn settle(pair: &Pair<'_>, contact: Contact, reach: f32) -> Contact {
    let side = Side::of(contact.id);
    let Some(probe) = Probe::of(pair, side) else {
        return contact;
    };
    let (own, from) = match side {
        Side::A => (pair.a.field(), contact.point_on_a()),
        Side::B => (
            pair.b.field(),
            (pair.a_from_b.inverse()).transform_point(contact.point_on_b()),
        ),
    };
    let other = |point_in_shell: Vec3| {
        let sample = probe.field.sample(probe.to_field(point_in_shell));
        Sample {
            gradient: probe.to_shell(sample.gradient),
            ..sample
        }
    };
    let (lowest, sample) = lowest_near(own, other, from, reach);
    let sample = Sample {
        gradient: probe.vector_to_field(sample.gradient),
        ..sample
    };
    // Never higher than it was.
    if sample.distance < contact.separation {
        probe.contact(index_of(contact.id), probe.to_field(lowest), sample)
    } else {
        contact
    }
}

/// The lowest place of the surface of `own` within `reach` of `from`, by the slope of `other`; both in one frame.
pub(super) fn lowest_near(
    own: &dyn Field,
    other: impl Fn(Vec3) -> Sample,
    from: Vec3,
    reach: f32,
) -> (Vec3, Sample) {
    let mut at = from;
    let mut sample = other(at);
    let mut step = 0.5 * reach;
    let far = FAR * reach;
    for _ in 0..STEPS {
        let Some(normal) = own.sample(at).gradient.try_normalize() else {
            break;
        };
        let down = -sample.gradient.reject_from_normalized(normal);
        let slope = down.length();
        if slope < LEVEL {
            break;
        }
        let direction = down / slope;
        let trial = onto(own, at + step * direction);
        let at_trial = other(trial);
        // Where a straight change of slope from here to the trial would end it.
        let flattening = slope - slope_along(own, trial, &at_trial, direction);
        let along = step * slope / flattening;
        // Flat ground that is tilted: its points stay, and hold it up when it has turned flat.
        if !(flattening > 0.0 && along <= far) {
            break;
        }
        let secant = onto(own, at + along * direction);
        let at_secant = other(secant);
        let (next, there) = if at_secant.distance < at_trial.distance {
            (secant, at_secant)
        } else {
            (trial, at_trial)
        };
        if there.distance >= sample.distance || next.distance_squared(from) > far * far {
            step *= 0.25;
            continue;
        }
        (at, sample) = (next, there);
        // What is left is of second order: a trial as long as the last step would see the bend rather than the slope.
        step = 0.25 * along.min(step);
    }
    (at, sample)
}

/// How steeply the other body's distance falls along a direction, on the surface.
fn slope_along(own: &dyn Field, at: Vec3, sample: &Sample, direction: Vec3) -> f32 {
    let normal = own.sample(at).gradient.normalize_or_zero();
    let down = -sample.gradient.reject_from_normalized(normal);
    down.dot(direction)
}

/// Back onto the surface, to first order.
fn onto(own: &dyn Field, point: Vec3) -> Vec3 {
    let Sample { distance, gradient } = own.sample(point);
    point - distance * gradient.normalize_or_zero()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::primitive::{Sphere, Torus};
    use proptest::prelude::*;

    /// A plane of any slope below: its signed distance.
    fn plane(normal: Vec3) -> impl Fn(Vec3) -> Sample {
        move |point| Sample {
            distance: normal.dot(point) + 3.0,
            gradient: normal,
        }
    }

    proptest! {
        /// A ball is lowest straight below its middle, wherever on it one starts.
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
