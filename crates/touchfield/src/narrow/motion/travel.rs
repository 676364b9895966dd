//! Bounds of how far points of two moving bodies may travel, and so of how fast their separation
//! may change, shared by the searches over time.
//!
//! Input: two shapes, a [`PairMotion`].
//! Output: proven bounds of the speed between two times, and times until which a distance is not
//! exceeded.
//! Cost: a few dozen operations in `f64` per bound.
//! Not for: single points, for which [`PairMotion`] has tighter bounds.
//!
//! **Separation follows the motion.** *While no point of B travels farther than s as seen from A,
//! the separation changes by at most s*, turning included. For bodies that are apart, it is the
//! least distance between a point of A and a point of B, and each of these distances changes by no
//! more than the point travels.
//!
//! For bodies that overlap, it is minus the diameter of the largest ball in both. Let the ball of
//! radius r about x be in both. B moves, and takes x, which is a point of B, to y, at most s away.
//! The ball of radius r − s/2 about the middle of x and y lies in the ball about x, which is in A,
//! and in the ball about y, which is in B now: the diameter shrinks by at most s. Run backwards,
//! the same argument shows that it grows by no more than s.
//!
//! The separation is continuous, so it does not jump where one case becomes the other. A and B may
//! be exchanged, so the same holds for the points of A as seen from B: the smaller bound counts,
//! and only one body needs to be bounded.

use glam::Vec3;

use crate::geom::{PairMotion, Pose};
use crate::narrow::pair::CollideError;
use crate::shape::Shape;

/// Maximum number of boxes for the search at one state. A search that is cut short still returns
/// bounds.
pub(crate) const MAX_BOXES_A_STATE: u64 = 1 << 17;

/// Returns the tolerance for the search at one state \[m\]: at least `asked`, and at least what
/// rounding and the fields' error can resolve.
pub(crate) fn search_tolerance(asked: f32, rounding: f32, error: f32) -> f32 {
    /// Fraction of the fields' error that the search may leave. Tuned: at 0, a tolerance of a
    /// hundredth of a cell of a dense grid costs six times as much as one of a tenth, for precision
    /// that the field does not have; an eighth saves nothing more.
    const ERROR_SHARE: f32 = 1.0 / 16.0;
    /// Bounds of boxes contain this many roundings of points; searches for less would open boxes
    /// without end.
    const RESOLVED: f32 = 12.0;
    asked.max(RESOLVED * rounding).max(ERROR_SHARE * error)
}

/// Reasons why a motion cannot be followed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MotionError {
    /// The motion is NaN or infinite, or its rotation is not a unit quaternion.
    #[error("a motion is not finite, or its rotation is not a unit quaternion: {0:?}")]
    BadMotion(Box<PairMotion>),
    /// Times in `f32` are too coarse for the motion.
    #[error(
        "bodies of {size} m move by {speed} m: between two times of f32 they go farther than a hundredth of their size; \
         cut the motion into pieces"
    )]
    TooFast {
        /// Bound of the distance that a point may move \[m per whole motion\].
        speed: f32,
        /// Diagonal of the smaller body \[m\].
        size: f32,
    },
    /// The target is NaN or infinite.
    #[error("a target of {0:?} m cannot be reached; it must be finite")]
    BadTarget(f32),
    /// The pair or the tolerance does not allow a separation.
    #[error(transparent)]
    Collide(#[from] CollideError),
}

/// Bounds of how far the points of two bodies may travel.
pub(crate) struct Travel {
    /// Motion of B as seen from A, and of A as seen from B.
    motions: [PairMotion; 2],
    /// Bound of the speed of the moving body's points relative to its centre \[m per whole
    /// motion\].
    arms: [f32; 2],
}

impl Travel {
    /// Builds the bounds, or returns an error if the motion has none.
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
        // Steps finer than a hundredth of the smaller body count as rounding; coarser ones would
        // follow a different motion.
        if travel.resolved() <= 1e-2 * size {
            Ok(travel)
        } else {
            let speed = travel.speed([0.0, 1.0]);
            Err(MotionError::TooFast { speed, size })
        }
    }

    /// Returns the distance that points may move between two times of `f32`, with room for the
    /// shortest step taken \[m\].
    pub(crate) fn resolved(&self) -> f32 {
        4.0 * f32::EPSILON * self.speed([0.0, 1.0])
    }

    /// Returns a proven bound of the rate of change of the separation between two times \[m per
    /// whole motion\].
    pub(crate) fn speed(&self, times: [f32; 2]) -> f32 {
        let speed = |index: usize| {
            let motion = &self.motions[index];
            (motion.speed_bound(motion.center_of_b(), 0.0, times) + self.arms[index]).next_up()
        };
        speed(0).min(speed(1))
    }

    /// Returns a time until which the separation changes by at most `distance` \[m\], counted from
    /// `from`.
    pub(crate) fn reach(&self, from: f32, distance: f32) -> f32 {
        /// The first round uses the speed over the rest of the motion, the others over twice the
        /// step that the previous round allowed.
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

/// Returns a point between two bodies some time later, as the mean of the point fixed to A and the
/// point fixed to B: a starting point for a search.
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
            // Some step is taken, and a larger distance allows a longer one.
            prop_assert!(until > from || distance / travel.speed([0.0, 1.0]) < 1e-6);
            prop_assert!(travel.reach(from, 2.0 * distance) >= until);
            // The corners of one of the bodies, seen from the other, go no farther along their
            // paths than the distance given.
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
