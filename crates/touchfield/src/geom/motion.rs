//! Rigid motions with constant linear and angular velocity, and proven bounds on how they move
//! points.
//!
//! Input: a body's start pose, its translation and its rotation vector.
//! Output: its pose at any time from 0 to 1; for a pair of such bodies, the relative pose and
//! bounds on the speed and the acceleration of points of B as seen from A.
//! Cost: a few dozen operations in `f64`.
//! Not for: forces; accelerated motions, which have to be cut into pieces first.

use glam::{DQuat, DVec3, Vec3};

use super::{Aabb, Pose, unit_rotation};

/// The motion of a body from time 0 to time 1: its centre moves along a straight line while the
/// body rotates about it at a constant rate.
///
/// With the centre of mass as the centre this is how a free body moves, and what physics engines
/// call a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// `world_from_body` at time 0.
    pub start: Pose,
    /// Point that moves along a straight line, in the body frame \[m\].
    pub center: Vec3,
    /// Displacement of the centre, in the outer frame \[m\].
    pub translation: Vec3,
    /// Rotation vector (axis times angle) in the outer frame \[rad\]; may exceed a full turn.
    pub turn: Vec3,
}

impl Motion {
    /// Returns the motion of a body that stays at `pose`.
    pub fn still(pose: Pose) -> Motion {
        Motion::straight(pose, Vec3::ZERO)
    }

    /// Returns the motion of a body that translates without rotating.
    pub fn straight(start: Pose, translation: Vec3) -> Motion {
        Motion {
            start,
            center: Vec3::ZERO,
            translation,
            turn: Vec3::ZERO,
        }
    }

    /// Returns the motion from one pose to another along the shorter of the two possible rotations.
    /// The body's origin moves along a straight line.
    pub fn between(from: Pose, to: Pose) -> Motion {
        let turn = to.rotation * from.rotation.conjugate();
        // A quaternion and its negative are the same rotation; this one turns by at most half a
        // turn.
        let turn = if turn.w < 0.0 { -turn } else { turn };
        Motion {
            start: from,
            center: Vec3::ZERO,
            translation: to.translation - from.translation,
            turn: turn.normalize().to_scaled_axis(),
        }
    }

    /// Returns whether all numbers are finite and the rotation is a unit quaternion.
    pub fn is_valid(&self) -> bool {
        let rotation = self.start.rotation;
        self.start.translation.is_finite()
            && rotation.is_finite()
            && (rotation.length() - 1.0).abs() < 1e-3
            && self.center.is_finite()
            && self.translation.is_finite()
            && self.turn.is_finite()
    }

    /// Returns `world_from_body` at `time`.
    pub fn at(&self, time: f32) -> Pose {
        self.turned(time).pose()
    }

    fn turned(&self, time: f32) -> Turned {
        let start = unit_rotation(self.start.rotation);
        let center = self.center.as_dvec3();
        let rotation = if self.turn == Vec3::ZERO {
            start
        } else {
            DQuat::from_scaled_axis(self.turn.as_dvec3() * f64::from(time)) * start
        };
        Turned {
            rotation,
            translation: self.middle(time) - rotation * center,
        }
    }

    /// Returns the position of the centre at `time`, in the outer frame \[m\].
    fn middle(&self, time: f32) -> DVec3 {
        self.start.translation.as_dvec3()
            + unit_rotation(self.start.rotation) * self.center.as_dvec3()
            + f64::from(time) * self.translation.as_dvec3()
    }
}

/// A pose in `f64`.
struct Turned {
    rotation: DQuat,
    translation: DVec3,
}

impl Turned {
    fn pose(&self) -> Pose {
        Pose {
            rotation: self.rotation.normalize().as_quat(),
            translation: self.translation.as_vec3(),
        }
    }
}

/// Two moving bodies, and the motion of B as seen from A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairMotion {
    a: Motion,
    b: Motion,
}

impl From<Motion> for PairMotion {
    /// Returns the pair motion of a body B that moves in the frame of a resting A.
    fn from(b_in_a: Motion) -> PairMotion {
        PairMotion::of_b(b_in_a)
    }
}

impl From<&Motion> for PairMotion {
    /// Returns the pair motion of a body B that moves in the frame of a resting A.
    fn from(b_in_a: &Motion) -> PairMotion {
        PairMotion::of_b(*b_in_a)
    }
}

impl From<&PairMotion> for PairMotion {
    /// Returns a copy.
    fn from(motion: &PairMotion) -> PairMotion {
        *motion
    }
}

impl PairMotion {
    /// Returns the pair motion of two bodies that move in one outer frame.
    pub fn new(a: Motion, b: Motion) -> PairMotion {
        PairMotion { a, b }
    }

    /// Returns the pair motion of a body B that moves in the frame of a resting A.
    pub fn of_b(b_in_a: Motion) -> PairMotion {
        PairMotion::new(Motion::still(Pose::IDENTITY), b_in_a)
    }

    /// Returns the motion of A as seen from B.
    pub fn flipped(self) -> PairMotion {
        PairMotion::new(self.b, self.a)
    }

    /// Returns whether all numbers are finite and the rotations are unit quaternions.
    pub fn is_valid(&self) -> bool {
        self.a.is_valid() && self.b.is_valid()
    }

    /// Returns the point of B that moves along a straight line in the outer frame, in frame B
    /// \[m\].
    pub(crate) fn center_of_b(&self) -> Vec3 {
        self.b.center
    }

    /// Returns an upper bound on the angle by which B turns as seen from A \[rad per whole
    /// motion\]: the sum of both rotation angles.
    pub fn turns(&self) -> f32 {
        round_up(self.a.turn.as_dvec3().length() + self.b.turn.as_dvec3().length())
    }

    /// Returns `a_from_b` at `time`.
    pub fn at(&self, time: f32) -> Pose {
        let (a, b) = (self.a.turned(time), self.b.turned(time));
        let a_from_outer = a.rotation.conjugate();
        Turned {
            rotation: a_from_outer * b.rotation,
            translation: a_from_outer * (b.translation - a.translation),
        }
        .pose()
    }

    /// Returns the velocity, as seen from A and in frame A, of the point of B that is at
    /// `point_in_a` at `time` \[m per whole motion\].
    pub fn velocity(&self, time: f32, point_in_a: Vec3) -> Vec3 {
        let a = self.a.turned(time);
        let point = a.rotation * point_in_a.as_dvec3() + a.translation;
        let about = |motion: &Motion| {
            let turn = motion.turn.as_dvec3();
            motion.translation.as_dvec3() + turn.cross(point - motion.middle(time))
        };
        (a.rotation.conjugate() * (about(&self.b) - about(&self.a))).as_vec3()
    }

    /// Returns a proven upper bound, between two times, on the speed as seen from A of every point
    /// of B within `radius` of `point_in_b` \[m per whole motion\].
    pub fn speed_bound(&self, point_in_b: Vec3, radius: f32, [from, to]: [f32; 2]) -> f32 {
        let parts = self.parts(point_in_b, [from, to]);
        round_up(parts.speed + parts.relative_turn * f64::from(radius))
    }

    /// Returns a proven upper bound, at any time, on the speed as seen from A of every point of B
    /// in a box, relative to [`Self::center_of_b`] \[m per whole motion\].
    ///
    /// No point in the box moves faster than the sum of this bound and the [`Self::speed_bound`] of
    /// the centre. The bound is infinite for an unbounded box that rotates.
    pub(crate) fn arm_speed_bound(&self, box_in_b: Aabb) -> f32 {
        let (turn_a, turn_b) = (self.a.turn.as_dvec3(), self.b.turn.as_dvec3());
        let relative_turn = (turn_b - turn_a).length();
        if relative_turn == 0.0 {
            return 0.0;
        }
        // The rotation axis of B is fixed in B. Distances from a point and from a line are convex,
        // so their maxima over the box are at corners.
        let axis = unit_rotation(self.b.start.rotation).conjugate() * turn_b.normalize_or_zero();
        let (mut length, mut from_axis) = (0f64, 0f64);
        for corner in box_in_b.corners() {
            let arm = corner.as_dvec3() - self.b.center.as_dvec3();
            if !arm.is_finite() {
                return f32::INFINITY;
            }
            length = length.max(arm.length());
            from_axis = from_axis.max(axis.cross(arm).length());
        }
        let about_both_axes = turn_b.length() * from_axis + turn_a.length() * length;
        round_up(about_both_axes.min(relative_turn * length))
    }

    /// Returns a proven upper bound, between two times, on the acceleration of `point_in_b` as seen
    /// from A \[m per whole motion, squared\].
    ///
    /// The path deviates from the chord between its ends by at most an eighth of this bound times
    /// the square of the time between them.
    pub fn bend_bound(&self, point_in_b: Vec3, [from, to]: [f32; 2]) -> f32 {
        let parts = self.parts(point_in_b, [from, to]);
        let (turn_a, turn_b) = (self.a.turn.as_dvec3(), self.b.turn.as_dvec3());
        let own = turn_b.length_squared() * parts.from_axis_of_b;
        let of_frame = turn_a.length() * (2.0 * parts.speed + turn_a.length() * parts.from_a);
        round_up(own + of_frame)
    }

    /// Computes the quantities that both bounds are made of.
    ///
    /// With v, ω, c for velocities, rotation vectors and centres, a point p of B moves in the frame
    /// of A at `v_B − v_A − ω_A × (c_B − c_A) + (ω_B − ω_A) × (p − c_B)`. The centres move along
    /// straight lines, so the first part is linear in time, and its length is largest at an end.
    fn parts(&self, point_in_b: Vec3, times: [f32; 2]) -> Parts {
        let (turn_a, turn_b) = (self.a.turn.as_dvec3(), self.b.turn.as_dvec3());
        let apart = times.map(|time| self.b.middle(time) - self.a.middle(time));
        let relative = self.b.translation.as_dvec3() - self.a.translation.as_dvec3();
        let of_center = apart.map(|apart| (relative - turn_a.cross(apart)).length());
        let arm = unit_rotation(self.b.start.rotation)
            * (point_in_b.as_dvec3() - self.b.center.as_dvec3());
        // A point keeps its distance from the body's own axis at all times.
        let from_axis_of_b = match turn_b.try_normalize() {
            Some(axis) => axis.cross(arm).length(),
            None => 0.0,
        };
        let relative_turn = (turn_b - turn_a).length();
        let of_arm = if turn_a == DVec3::ZERO {
            turn_b.length() * from_axis_of_b
        } else {
            relative_turn * arm.length()
        };
        Parts {
            speed: of_center[0].max(of_center[1]) + of_arm,
            relative_turn,
            from_axis_of_b,
            from_a: apart[0].length().max(apart[1].length()) + arm.length(),
        }
    }
}

struct Parts {
    /// Largest speed of the point \[m per whole motion\].
    speed: f64,
    /// Rotation rate of B as seen from A \[rad per whole motion\].
    relative_turn: f64,
    /// Distance of the point from the rotation axis of B \[m\].
    from_axis_of_b: f64,
    /// Upper bound on the distance of the point from the centre of A \[m\].
    from_a: f64,
}

/// Rounds to `f32`, upward by at least the rounding error of the sums.
fn round_up(value: f64) -> f32 {
    ((value * (1.0 + 1e-12)) as f32).next_up()
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Quat;
    use proptest::prelude::*;

    fn vector(size: f32) -> impl Strategy<Value = Vec3> {
        prop::array::uniform3(-size..size).prop_map(Vec3::from)
    }

    fn motion(turns: f32) -> impl Strategy<Value = Motion> {
        (
            vector(3.0),
            vector(2.0),
            vector(1.0),
            vector(4.0),
            vector(turns),
        )
            .prop_map(|(axis, translation, center, path, turn)| Motion {
                start: Pose {
                    rotation: Quat::from_scaled_axis(axis),
                    translation,
                },
                center,
                translation: path,
                turn,
            })
    }

    proptest! {
        #[test]
        fn bounds_hold_for_sampled_paths(
            a in motion(9.0), b in motion(9.0), still in any::<bool>(), point in vector(1.0), offset in vector(0.3),
            from in 0.0f32..0.9, length in 0.01f32..0.1,
        ) {
            let a = if still { Motion::still(a.start) } else { a };
            let pair = PairMotion::new(a, b);
            let times = [from, from + length];
            let other = point + offset;
            let speed = pair.speed_bound(point, offset.length() * 1.0001, times);
            let bend = pair.bend_bound(point, times);
            let corner = Aabb::of_points([point, other]);
            let by_arm = pair.speed_bound(pair.center_of_b(), 0.0, times) + pair.arm_speed_bound(corner);
            let at = |time: f32, point: Vec3| pair.at(time).transform_point(point);
            let steps = 64;
            let time = |k: i32| from + length * k as f32 / steps as f32;
            let ends = [at(times[0], point), at(times[1], point)];
            for k in 0..steps {
                let moved = at(time(k), other).distance(at(time(k + 1), other));
                prop_assert!(moved <= speed * (time(k + 1) - time(k)) + 1e-5);
                prop_assert!(moved <= by_arm * (time(k + 1) - time(k)) + 1e-5);
                let share = (time(k) - times[0]) / (times[1] - times[0]);
                let strayed = at(time(k), point).distance(ends[0].lerp(ends[1], share));
                prop_assert!(strayed <= 0.125 * bend * length * length + 1e-5);
                // The velocity is the difference quotient.
                let here = at(time(k), other);
                let velocity = pair.velocity(time(k), here);
                let quotient = (at(time(k + 1), other) - here) / (time(k + 1) - time(k));
                let curved = pair.bend_bound(other, times) * length / steps as f32;
                prop_assert!((velocity - quotient).length() <= 0.5 * curved * 1.001 + 0.05);
            }
        }

        #[test]
        fn seen_from_the_other_body_poses_are_inverse(a in motion(9.0), b in motion(9.0), time in 0.0f32..1.0, point in vector(1.0)) {
            let pair = PairMotion::new(a, b);
            let there_and_back = pair.flipped().at(time).transform_point(pair.at(time).transform_point(point));
            prop_assert!(there_and_back.distance(point) < 1e-5);
            let outer = a.at(time).transform_point(pair.at(time).transform_point(point));
            prop_assert!(outer.distance(b.at(time).transform_point(point)) < 1e-5);
        }

        #[test]
        fn between_two_poses_it_starts_and_ends_there(a in motion(3.0), b in motion(3.0), point in vector(1.0)) {
            let between = Motion::between(a.start, b.start);
            for (time, pose) in [(0.0, a.start), (1.0, b.start)] {
                prop_assert!(between.at(time).transform_point(point).distance(pose.transform_point(point)) < 1e-5);
            }
            prop_assert!(between.turn.length() <= std::f32::consts::PI + 1e-5);
        }
    }

    #[test]
    fn a_wheel_that_rolls_touches_the_ground_at_rest() {
        let wheel = Motion {
            start: Pose::from_translation(Vec3::Z),
            center: Vec3::ZERO,
            translation: Vec3::X,
            turn: Vec3::Y,
        };
        let pair = PairMotion::of_b(wheel);
        assert!(pair.velocity(0.25, Vec3::new(0.25, 0.0, 0.0)).length() < 1e-6);
        assert_eq!(
            pair.speed_bound(Vec3::ZERO, 0.0, [0.0, 1.0]),
            1f32.next_up()
        );
        assert_eq!(pair.at(0.0), wheel.start);
    }
}
