//! True times of impact of simple bodies in `f64`: exact separations over time, and their first
//! root by a search that relies only on Lipschitz continuity.
//!
//! Input: two [`Solid`]s of a pair with a formula, two [`Motion`]s.
//! Output: the separation at any time; the first time at which it reaches a target.
//! Cost: some hundred formulas per root.
//! Not for: bodies that start in overlap, where the formulas do not hold.
//!
//! Rotations are matrices by Rodrigues' formula, where the library multiplies quaternions.

use glam::{DMat3, DVec3};
use touchfield::geom::Motion;

use crate::contact_truth::Solid;

/// A moving body.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    start: DMat3,
    /// Position at time 0 of the point that moves straight, in the outer frame \[m\].
    middle: DVec3,
    /// Position of that point in the body frame \[m\].
    center: DVec3,
    translation: DVec3,
    turn: DVec3,
}

impl Path {
    /// Converts the library's motion.
    pub fn of(motion: &Motion) -> Path {
        let start = matrix_of(motion.start.rotation.to_array().map(f64::from));
        let center = motion.center.as_dvec3();
        Path {
            start,
            middle: motion.start.translation.as_dvec3() + start * center,
            center,
            translation: motion.translation.as_dvec3(),
            turn: motion.turn.as_dvec3(),
        }
    }

    /// Returns rotation and origin of the body at a time, in the outer frame.
    pub fn at(&self, time: f64) -> (DMat3, DVec3) {
        let rotation = rodrigues(self.turn * time) * self.start;
        let origin = self.middle + time * self.translation - rotation * self.center;
        (rotation, origin)
    }

    /// Returns a bound on the speed in the outer frame of all points within `radius` of the origin
    /// \[m per whole motion\].
    fn fastest(&self, radius: f64) -> f64 {
        self.translation.length() + self.turn.length() * (self.center.length() + radius)
    }
}

/// Returns the rotation of a quaternion x, y, z, w of any length.
fn matrix_of([x, y, z, w]: [f64; 4]) -> DMat3 {
    let axis = DVec3::new(x, y, z);
    let length = axis.length();
    if length == 0.0 {
        return DMat3::IDENTITY;
    }
    rodrigues(axis / length * 2.0 * length.atan2(w))
}

/// Returns `R = 1 + sin θ K + (1 − cos θ) K²`, where `K v = axis × v`.
fn rodrigues(turn: DVec3) -> DMat3 {
    let angle = turn.length();
    if angle == 0.0 {
        return DMat3::IDENTITY;
    }
    let DVec3 { x, y, z } = turn / angle;
    let cross = DMat3::from_cols(
        DVec3::new(0.0, z, -y),
        DVec3::new(-z, 0.0, x),
        DVec3::new(y, -x, 0.0),
    );
    DMat3::IDENTITY + angle.sin() * cross + (1.0 - angle.cos()) * (cross * cross)
}

/// Two moving bodies with a formula for their separation.
#[derive(Clone, Copy, Debug)]
pub struct Moving {
    /// Body A.
    pub a: (Solid, Path),
    /// Body B.
    pub b: (Solid, Path),
}

impl Moving {
    /// Returns the separation, exact for bodies apart and negative for overlapping ones \[m\].
    ///
    /// # Panics
    /// For pairs without a formula.
    #[expect(
        clippy::panic,
        reason = "a pair without a formula is a mistake in a test"
    )]
    pub fn separation(&self, time: f64) -> f64 {
        let (a, b) = (self.a.1.at(time), self.b.1.at(time));
        match (self.a.0, self.b.0) {
            (Solid::Ball { radius }, solid) if !matches!(solid, Solid::HalfSpace) => {
                solid.distance(b.0.transpose() * (a.1 - b.1)) - radius
            }
            (solid, Solid::Ball { radius }) => {
                solid.distance(a.0.transpose() * (b.1 - a.1)) - radius
            }
            (Solid::HalfSpace, solid) => height(solid, b, a),
            (solid, Solid::HalfSpace) => height(solid, a, b),
            pair => panic!("no formula for {pair:?}"),
        }
    }

    /// Returns a bound on the rate of change of the separation \[m per whole motion\].
    pub fn fastest(&self) -> f64 {
        // A half-space has no radius; its points that matter lie below the other body.
        let far = |time: f64| self.a.1.at(time).1.distance(self.b.1.at(time).1);
        let apart = (0..=64).map(|k| far(f64::from(k) / 64.0));
        let apart = apart.fold(0.0, f64::max)
            + (self.a.1.translation.length() + self.b.1.translation.length()) / 64.0;
        let radius = |solid: Solid| {
            if solid == Solid::HalfSpace {
                0.0
            } else {
                solid.outer_radius()
            }
        };
        let reach = apart + 2.0 * (radius(self.a.0) + radius(self.b.0));
        self.a.1.fastest(reach) + self.b.1.fastest(reach)
    }

    /// Returns the first time at which the separation is at most `target`, to within 1e-12; `None`
    /// if there is none.
    pub fn first(&self, target: f64) -> Option<f64> {
        self.first_within(target, [0.0, 1.0], self.fastest())
    }

    fn first_within(&self, target: f64, [from, to]: [f64; 2], fastest: f64) -> Option<f64> {
        let (middle, half) = (0.5 * (from + to), 0.5 * (to - from));
        let above = self.separation(middle) - target;
        if above > fastest * half {
            return None;
        }
        if half < 1e-12 {
            return (above <= 0.0).then_some(middle);
        }
        let before = self.first_within(target, [from, middle], fastest);
        before.or_else(|| self.first_within(target, [middle, to], fastest))
    }
}

/// Returns the height of the lowest point of a solid above a half-space.
fn height(solid: Solid, body: (DMat3, DVec3), ground: (DMat3, DVec3)) -> f64 {
    let up = ground.0.z_axis;
    let up_in_body = body.0.transpose() * up;
    let lowest = match solid {
        Solid::Ball { radius } => radius,
        Solid::Box { half } => half.dot(up_in_body.abs()),
        Solid::Capsule {
            half_length,
            radius,
        } => half_length * up_in_body.z.abs() + radius,
        Solid::Ring { major, minor } => {
            major * (1.0 - up_in_body.z * up_in_body.z).max(0.0).sqrt() + minor
        }
        Solid::HalfSpace => f64::NAN,
    };
    up.dot(body.1 - ground.1) - lowest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use glam::Vec3;
    use touchfield::geom::{PairMotion, Pose};

    #[test]
    fn matrices_move_points_as_the_library_does() {
        let mut random = Random::new(3);
        for _ in 0..200 {
            let mut vector = |size: f64| (random.unit_vector() * size).as_vec3();
            let (translation, center, path, turn) =
                (vector(2.0), vector(1.0), vector(3.0), vector(20.0));
            let rotation = random.quaternion().as_quat().normalize();
            let motion = Motion {
                start: Pose {
                    rotation,
                    translation,
                },
                center,
                translation: path,
                turn,
            };
            let time = random.uniform(0.0, 1.0) as f32;
            let point = Vec3::new(0.3, -0.2, 0.9);
            let (matrix, origin) = Path::of(&motion).at(time.into());
            let here = matrix * point.as_dvec3() + origin;
            let there = PairMotion::of_b(motion).at(time).transform_point(point);
            assert!((here - there.as_dvec3()).length() < 1e-5);
        }
    }

    #[test]
    fn a_ball_that_falls_lands_when_it_should() {
        let still = Path::of(&Motion::still(Pose::IDENTITY));
        let falling = Motion::straight(Pose::from_translation(3.0 * Vec3::Z), -4.0 * Vec3::Z);
        let moving = Moving {
            a: (Solid::HalfSpace, still),
            b: (Solid::Ball { radius: 1.0 }, Path::of(&falling)),
        };
        let first = moving.first(0.0);
        assert!(
            first.is_some_and(|time| (time - 0.5).abs() < 1e-11),
            "{first:?}"
        );
        assert_eq!(moving.first(-2.5), None);
    }
}
