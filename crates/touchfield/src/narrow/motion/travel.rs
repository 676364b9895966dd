//! How far points of two moving bodies may travel, and so how fast their separation may change: what searches over time share.
//!
//! Input: two shapes, a [`PairMotion`]. Output: proven bounds of speed between two times, and times until which a distance is not travelled.
//! Cost: a few dozen operations in `f64` a bound. Not for: single points, for which [`PairMotion`] has tighter bounds.
//!
//! **Separation follows the motion.** *While no point of B travels farther than s as seen from A, the separation changes by at most s*, turning
//! included. Apart, it is the least distance of a point of A from a point of B, and each of these changes by no more than the point travels.
//! Overlapping, it is minus the diameter of the largest ball in both. Let the ball of radius r about x be in both; B moves, and takes x, which is
//! a point of B, to y, at most s away. The ball of radius r − s/2 about the middle of x and y lies in the ball about x, which is in A, and in the
//! ball about y, which is in B now: the diameter shrinks by at most s. Seen backwards, it grows by no more. The separation is continuous, so it
//! does not jump where one case becomes the other. Nothing tells A from B, so the points of A as seen from B do as well: the smaller bound
//! counts, and only one body needs an end.

use glam::Vec3;

use crate::geom::{PairMotion, Pose};
use crate::narrow::pair::CollideError;
use crate::shape::Shape;

/// Boxes that the search at one state may visit. One that is cut short has bounds as well.
pub(crate) const MAX_BOXES_A_STATE: u64 = 1 << 17;

/// What the search at one state may leave: what is asked, and no less than rounding and the fields' error let it know \[m\].
pub(crate) fn search_tolerance(asked: f32, rounding: f32, error: f32) -> f32 {
    /// Share of the fields' error that it may leave. Tuned: with 0 a tolerance of a hundredth of a cell of a dense grid costs six times as much as one of a
    /// tenth, to know better what the field does not; an eighth saves nothing more.
    const ERROR_SHARE: f32 = 1.0 / 16.0;
    /// Bounds of boxes hold so many roundings of points; searches for less would open boxes without end.
    const RESOLVED: f32 = 12.0;
    asked.max(RESOLVED * rounding).max(ERROR_SHARE * error)
}

/// Why a motion cannot be followed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MotionError {
    /// NaN, infinite, or no rotation.
    #[error("a motion is not finite, or its rotation is not a unit quaternion: {0:?}")]
    BadMotion(Box<PairMotion>),
    /// Times in `f32` are too coarse for it.
    #[error(
        "bodies of {size} m move by {speed} m: between two times of f32 they go farther than a hundredth of their size; \
         cut the motion into pieces"
    )]
    TooFast {
        /// How far a point may go \[m per whole motion\].
        speed: f32,
        /// Diagonal of the smaller body \[m\].
        size: f32,
    },
    /// NaN or infinite.
    #[error("a target of {0:?} m cannot be reached; it must be finite")]
    BadTarget(f32),
    /// A pair or a tolerance that has no separation.
    #[error(transparent)]
    Collide(#[from] CollideError),
}

/// How far the points of the bodies may travel.
pub(crate) struct Travel {
    /// How B moves as seen from A, and A as seen from B.
    motions: [PairMotion; 2],
    /// How fast points of the moving body are beside its centre \[m per whole motion\].
    arms: [f32; 2],
}

impl Travel {
    /// Refuses motions without a bound.
    pub(crate) fn new(a: &Shape, b: &Shape, motion: &PairMotion) -> Result<Travel, MotionError> {
        let motions = [*motion, motion.flipped()];
        let arms = [
            motions[0].arm_speed_bound(b.solid()),
            motions[1].arm_speed_bound(a.solid()),
        ];
        let travel = Travel { motions, arms };
        if !motion.is_valid() {
            return Err(MotionError::BadMotion(Box::new(*motion)));
        }
        if !a.solid().is_finite() && !b.solid().is_finite() {
            return Err(CollideError::Unbounded.into());
        }
        let size = a.solid().diagonal().min(b.solid().diagonal());
        // What is finer than a hundredth of the smaller body is rounding; what is coarser is another motion.
        if travel.resolved() <= 1e-2 * size {
            Ok(travel)
        } else {
            let speed = travel.speed([0.0, 1.0]);
            Err(MotionError::TooFast { speed, size })
        }
    }

    /// How far points may go between two times of `f32`, with room for the shortest step that is taken \[m\].
    pub(crate) fn resolved(&self) -> f32 {
        4.0 * f32::EPSILON * self.speed([0.0, 1.0])
    }

    /// Proven: the separation changes no faster than this between two times \[m per whole motion\].
    pub(crate) fn speed(&self, times: [f32; 2]) -> f32 {
        let speed = |index: usize| {
            let motion = &self.motions[index];
            (motion.speed_bound(motion.center_of_b(), 0.0, times) + self.arms[index]).next_up()
        };
        speed(0).min(speed(1))
    }

    /// A time until which the separation changes by no more than a distance, from a time on.
    pub(crate) fn reach(&self, from: f32, distance: f32) -> f32 {
        /// The first looks at the rest of the motion, the others at twice what the one before allowed.
        const ROUNDS: usize = 3;
        let mut until = from;
        let mut horizon = 1.0;
        for _ in 0..ROUNDS {
            let speed = f64::from(self.speed([from, horizon]));
            let allowed = f64::from(from) + f64::from(distance) / speed;
            until = until.max(round_down(allowed.min(f64::from(horizon))));
            if until >= horizon {
                break;
            }
            horizon = (from + 2.0 * (until - from)).min(1.0);
        }
        until
    }
}

fn round_down(value: f64) -> f32 {
    let rounded = value as f32;
    if f64::from(rounded) > value {
        rounded.next_down()
    } else {
        rounded
    }
}

/// A point between two bodies some time later, half of it fixed to A and half to B: where a search may begin.
pub(crate) fn carried(point: Vec3, from: Pose, to: Pose) -> Vec3 {
    let in_b = from.inverse().transform_point(point);
    0.5 * (point + to.transform_point(in_b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::primitive::Cuboid;
    use crate::field::primitive::HalfSpace;
    use crate::geom::Motion;
    use glam::Quat;
    use proptest::prelude::*;

    fn vector(size: f32) -> impl Strategy<Value = Vec3> {
        prop::array::uniform3(-size..size).prop_map(Vec3::from)
    }

    fn motion() -> impl Strategy<Value = Motion> {
        (
            vector(3.0),
            vector(2.0),
            vector(1.0),
            vector(4.0),
            vector(9.0),
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
        fn until_the_time_reached_no_corner_travels_farther(
            a in motion(), b in motion(), from in 0.0f32..1.0, distance in 0.001f32..2.0, endless in any::<bool>(),
        ) {
            let cuboid = Shape::new(Cuboid::new(Vec3::new(0.5, 0.3, 0.2)).unwrap());
            let ground = Shape::new(HalfSpace::new(Vec3::Z, 0.0).unwrap());
            let pair = PairMotion::new(a, b);
            let first = if endless { &ground } else { &cuboid };
            let travel = Travel::new(first, &cuboid, &pair).unwrap();
            let until = travel.reach(from, distance);
            prop_assert!(from <= until && until <= 1.0);
            // Some step is taken, and a longer one for more.
            prop_assert!(until > from || distance / travel.speed([0.0, 1.0]) < 1e-6);
            prop_assert!(travel.reach(from, 2.0 * distance) >= until);
            // The corners of one of the bodies, seen from the other, go no farther than asked, along their paths.
            let went = |motion: &PairMotion, shape: &Shape| {
                let lengths = shape.solid().corners().map(|corner| {
                    let at = |k: u16| {
                        let share = f32::from(k) / 32.0;
                        motion.at(from + share * (until - from)).transform_point(corner)
                    };
                    (0..32).map(|k| at(k).distance(at(k + 1))).sum::<f32>()
                });
                lengths.into_iter().fold(0.0, f32::max)
            };
            let of_b = went(&pair, &cuboid);
            let of_a = if endless { f32::INFINITY } else { went(&pair.flipped(), &cuboid) };
            prop_assert!(of_b.min(of_a) <= distance + 1e-4, "{of_b} {of_a} {distance}");
        }
    }
}
