//! Rigid poses, named `a_from_b`: they transform coordinates in frame B to coordinates in frame A.

use std::ops::Mul;

use glam::{DMat3, DQuat, DVec3, Quat, Vec3};

/// A rigid transform, named by the frames it relates: `a_from_b`.
///
/// ```
/// use glam::{Quat, Vec3};
/// use touchfield::geom::Pose;
/// let world_from_a = Pose::from_translation(Vec3::X);
/// let world_from_b = Pose { rotation: Quat::from_rotation_z(1.0), translation: Vec3::Y };
/// let a_from_b = world_from_a.inverse() * world_from_b;
/// let point_in_a = a_from_b.transform_point(Vec3::ZERO);
/// assert!((point_in_a - Vec3::new(-1.0, 1.0, 0.0)).length() < 1e-6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Rotation from B to A, a unit quaternion.
    pub rotation: Quat,
    /// Origin of B in frame A \[m\].
    pub translation: Vec3,
}

impl Pose {
    /// The identity: both frames coincide.
    pub const IDENTITY: Pose = Pose {
        rotation: Quat::IDENTITY,
        translation: Vec3::ZERO,
    };

    /// Returns a pose without rotation.
    pub fn from_translation(translation: Vec3) -> Pose {
        Pose {
            rotation: Quat::IDENTITY,
            translation,
        }
    }

    /// Returns `b_from_a` for an `a_from_b`.
    pub fn inverse(self) -> Pose {
        let rotation = self.rotation.conjugate();
        Pose {
            rotation,
            translation: -(rotation * self.translation),
        }
    }

    /// Returns the coordinates in A of a point given in B.
    pub fn transform_point(self, point_in_b: Vec3) -> Vec3 {
        self.rotation * point_in_b + self.translation
    }

    /// Returns a direction given in B in the frame of A: rotated, not translated.
    pub fn transform_vector(self, vector_in_b: Vec3) -> Vec3 {
        self.rotation * vector_in_b
    }
}

impl Mul for Pose {
    type Output = Pose;

    /// Composes two poses: `a_from_b * b_from_c = a_from_c`.
    fn mul(self, b_from_c: Pose) -> Pose {
        Pose {
            // Products of many unit quaternions drift off the unit sphere; normalising keeps
            // lengths true.
            rotation: (self.rotation * b_from_c.rotation).normalize(),
            translation: self.transform_point(b_from_c.translation),
        }
    }
}

impl Default for Pose {
    fn default() -> Pose {
        Pose::IDENTITY
    }
}

/// Converts a rotation to `f64` and normalises it there, because an `f32` quaternion is off unit
/// length by rounding.
pub(crate) fn unit_rotation(rotation: Quat) -> DQuat {
    let [x, y, z, w] = rotation.to_array().map(f64::from);
    DQuat::from_xyzw(x, y, z, w).normalize()
}

/// Computes the matrix of [`unit_rotation`] without a square root: every entry is a product of two
/// quaternion components, so dividing by the squared length normalises it.
#[inline]
pub(crate) fn rotation_matrix(rotation: Quat) -> DMat3 {
    let [x, y, z, w] = rotation.to_array().map(f64::from);
    let scale = 2.0 / (x * x + y * y + z * z + w * w);
    let (sx, sy, sz) = (scale * x, scale * y, scale * z);
    let (xx, yy, zz) = (sx * x, sy * y, sz * z);
    let (xy, xz, yz) = (sx * y, sx * z, sy * z);
    let (wx, wy, wz) = (sx * w, sy * w, sz * w);
    DMat3::from_cols(
        DVec3::new(1.0 - (yy + zz), xy + wz, xz - wy),
        DVec3::new(xy - wz, 1.0 - (xx + zz), yz + wx),
        DVec3::new(xz + wy, yz - wx, 1.0 - (xx + yy)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pose() -> impl Strategy<Value = Pose> {
        (
            prop::array::uniform4(-1.0f32..1.0),
            prop::array::uniform3(-5.0f32..5.0),
        )
            .prop_filter_map("zero quaternion", |(q, t)| {
                let q = Quat::from_array(q);
                (q.length() > 0.1).then(|| Pose {
                    rotation: q.normalize(),
                    translation: t.into(),
                })
            })
    }

    proptest! {
        #[test]
        fn the_matrix_is_that_of_the_unit_quaternion(q in prop::array::uniform4(-1.0f32..1.0), scale in -20i32..20) {
            let q = Quat::from_array(q) * 10f32.powi(scale);
            prop_assume!(q.length_squared() > 0.0);
            let expected = DMat3::from_quat(unit_rotation(q));
            // Allows for about ten roundings on either side.
            prop_assert!(rotation_matrix(q).abs_diff_eq(expected, 1e-14), "{} {expected}", rotation_matrix(q));
        }

        #[test]
        fn inverse_undoes_and_composition_chains(a in pose(), b in pose(), p in prop::array::uniform3(-5.0f32..5.0)) {
            let p = Vec3::from(p);
            prop_assert!((a.inverse().transform_point(a.transform_point(p)) - p).length() < 1e-4);
            let chained = a.transform_point(b.transform_point(p));
            prop_assert!(((a * b).transform_point(p) - chained).length() < 1e-4);
            prop_assert!((a.transform_vector(p).length() - p.length()).abs() < 1e-4);
        }
    }
}
