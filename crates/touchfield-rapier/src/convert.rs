//! Conversions between Rapier's types and Touchfield's, all in one place.
//!
//! Rapier's `pos12` is Touchfield's `a_from_b`: the pose of shape 2 in the frame of shape 1.
//! Rapier's numbers are `f32` or `f64`; Touchfield's are `f32` at run time.

#![allow(
    clippy::unnecessary_cast,
    reason = "the same source is compiled for f32 and for f64"
)]

use glam::{DMat3, DVec3, Quat, Vec3};
use rapier::math::{Matrix, Pose as RapierPose, Real, Vector};
use rapier::parry::bounding_volume::Aabb as RapierAabb;
use rapier::parry::query::NonlinearRigidMotion;
use touchfield::geom::{Aabb, Motion, Pose};

/// Converts one of Rapier's vectors.
pub(crate) fn vec3(vector: Vector) -> Vec3 {
    Vec3::new(vector.x as f32, vector.y as f32, vector.z as f32)
}

/// Converts a vector to Rapier's type.
pub(crate) fn vector(vector: Vec3) -> Vector {
    Vector::new(vector.x as Real, vector.y as Real, vector.z as Real)
}

/// Converts an `f64` vector to Rapier's type.
pub(crate) fn vector_of_double(vector: DVec3) -> Vector {
    Vector::new(vector.x as Real, vector.y as Real, vector.z as Real)
}

/// Converts a matrix to Rapier's type.
pub(crate) fn matrix(matrix: DMat3) -> Matrix {
    Matrix::from_cols(
        vector_of_double(matrix.x_axis),
        vector_of_double(matrix.y_axis),
        vector_of_double(matrix.z_axis),
    )
}

/// Converts one of Rapier's poses.
pub(crate) fn pose(pose: &RapierPose) -> Pose {
    let [x, y, z, w] = pose.rotation.to_array();
    Pose {
        // Rapier keeps its rotations normalised to within a few roundings; Touchfield refuses
        // larger deviations.
        rotation: Quat::from_xyzw(x as f32, y as f32, z as f32, w as f32),
        translation: vec3(pose.translation),
    }
}

/// Converts an AABB to Rapier's type.
pub(crate) fn rapier_aabb(aabb: Aabb) -> RapierAabb {
    RapierAabb::new(vector(aabb.min), vector(aabb.max))
}

/// Converts a number to Rapier's type.
pub(crate) fn real(value: f32) -> Real {
    value as Real
}

/// Converts an `f64` to Rapier's type.
pub(crate) fn real_of_double(value: f64) -> Real {
    value as Real
}

/// Converts one of Rapier's numbers to `f64`.
pub(crate) fn double(value: Real) -> f64 {
    value as f64
}

/// Converts one of Rapier's numbers to `f32`.
pub(crate) fn float(value: Real) -> f32 {
    value as f32
}

/// Converts one of Rapier's motions between two times to a [`Motion`] over times 0 to 1. Positions
/// are relative to `origin`, so that bodies far from the origin of the world lose no digits.
pub(crate) fn motion(
    motion: &NonlinearRigidMotion,
    [start, end]: [Real; 2],
    origin: Vector,
) -> Motion {
    let mut at_start = motion.position_at_time(start);
    at_start.translation -= origin;
    let duration = end - start;
    Motion {
        start: pose(&at_start),
        center: vec3(motion.local_center),
        translation: vec3(motion.linvel * duration),
        turn: vec3(motion.angvel * duration),
    }
}
