//! Rigid poses in `f64`, as bodies in a world have them.
//!
//! Input: rotations and translations of bodies in the world.
//! Output: poses, points, directions; relative poses in `f32`, as contact queries take them.
//! Cost: a few dozen operations.
//! Not for: queries, which use [`touchfield::Pose`].

use glam::{DMat3, DQuat, DVec3};
use touchfield::Pose;

/// A rigid transform in `f64`, named by the frames it relates: `world_from_body`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Rotation, a unit quaternion.
    pub rotation: DQuat,
    /// Position of the inner frame's origin in the outer frame \[m\].
    pub translation: DVec3,
}

impl Frame {
    /// The identity: both frames coincide.
    pub const IDENTITY: Frame = Frame {
        rotation: DQuat::IDENTITY,
        translation: DVec3::ZERO,
    };

    /// Returns a frame that is moved and not turned.
    pub fn at(translation: DVec3) -> Frame {
        Frame {
            translation,
            ..Frame::IDENTITY
        }
    }

    /// Returns the outer coordinates of a point given in the inner frame.
    pub fn point(&self, inner: DVec3) -> DVec3 {
        self.rotation * inner + self.translation
    }

    /// Returns the inner coordinates of a point given in the outer frame.
    pub fn to_inner(&self, outer: DVec3) -> DVec3 {
        self.rotation.conjugate() * (outer - self.translation)
    }

    /// Returns the pose of `other`'s inner frame in this one's, both given in one outer frame.
    ///
    /// The difference of the translations is computed before it is rounded, so bodies far from the
    /// world's origin lose no accuracy.
    pub fn from_other(&self, other: &Frame) -> Pose {
        let back = self.rotation.conjugate();
        Pose {
            rotation: (back * other.rotation).normalize().as_quat(),
            translation: (back * (other.translation - self.translation)).as_vec3(),
        }
    }

    /// Returns the pose in `f32`.
    pub fn to_pose(&self) -> Pose {
        Pose {
            rotation: self.rotation.normalize().as_quat(),
            translation: self.translation.as_vec3(),
        }
    }

    /// Returns whether all numbers are finite and the rotation has unit length, to within `1e-3`.
    pub fn is_rigid(&self) -> bool {
        let length = self.rotation.length();
        self.translation.is_finite() && self.rotation.is_finite() && (length - 1.0).abs() < 1e-3
    }
}

/// Returns the rotation by the rotation vector `turn` \[rad\].
pub(crate) fn rotation_by(turn: DVec3) -> DQuat {
    let angle = turn.length();
    if angle < 1e-12 {
        // First order; the next term is below rounding.
        DQuat::from_xyzw(0.5 * turn.x, 0.5 * turn.y, 0.5 * turn.z, 1.0).normalize()
    } else {
        DQuat::from_axis_angle(turn / angle, angle)
    }
}

/// Returns `R m Rᵀ`: a symmetric matrix of the inner frame in outer coordinates.
pub(crate) fn turned(rotation: DQuat, inner: DMat3) -> DMat3 {
    let r = DMat3::from_quat(rotation);
    r * inner * r.transpose()
}
