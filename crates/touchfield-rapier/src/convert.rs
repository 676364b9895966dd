//! Rapier's vocabulary and ours: the one place where both are spoken.
//!
//! Rapier's `pos12` is our `a_from_b`: where shape 2 is as seen from shape 1. Its numbers are `f32` or `f64`, ours are `f32` at run time.

#![allow(
    clippy::unnecessary_cast,
    reason = "the same source is compiled for f32 and for f64"
)]

use glam::{DMat3, DVec3, Quat, Vec3};
use rapier::math::{Matrix, Pose as RapierPose, Real, Vector};
use rapier::parry::bounding_volume::Aabb as RapierAabb;
use rapier::parry::query::NonlinearRigidMotion;
use touchfield::geom::{Aabb, Motion, Pose};

/// A vector of ours.
pub(crate) fn vec3(vector: Vector) -> Vec3 {
    Vec3::new(vector.x as f32, vector.y as f32, vector.z as f32)
}

/// A vector of Rapier's.
pub(crate) fn vector(vector: Vec3) -> Vector {
    Vector::new(vector.x as Real, vector.y as Real, vector.z as Real)
}

/// A vector of Rapier's, from one of ours in `f64`.
pub(crate) fn vector_of_double(vector: DVec3) -> Vector {
    Vector::new(vector.x as Real, vector.y as Real, vector.z as Real)
}

/// A matrix of Rapier's.
pub(crate) fn matrix(matrix: DMat3) -> Matrix {
    Matrix::from_cols(
        vector_of_double(matrix.x_axis),
        vector_of_double(matrix.y_axis),
        vector_of_double(matrix.z_axis),
    )
}

/// A pose of ours.
pub(crate) fn pose(pose: &RapierPose) -> Pose {
    let [x, y, z, w] = pose.rotation.to_array();
    Pose {
        // Rapier keeps its rotations unit within a few roundings; ours are refused beyond that.
        rotation: Quat::from_xyzw(x as f32, y as f32, z as f32, w as f32),
        translation: vec3(pose.translation),
    }
}

/// A box of Rapier's.
pub(crate) fn rapier_aabb(aabb: Aabb) -> RapierAabb {
    RapierAabb::new(vector(aabb.min), vector(aabb.max))
}

/// A number of Rapier's.
pub(crate) fn real(value: f32) -> Real {
    value as Real
}

/// A number of Rapier's, from one in `f64`.
pub(crate) fn real_of_double(value: f64) -> Real {
    value as Real
}

/// A number of ours in `f64`.
pub(crate) fn double(value: Real) -> f64 {
    value as f64
}

/// A number of ours.
pub(crate) fn float(value: Real) -> f32 {
    value as f32
}

/// A motion of ours, from time 0 to 1, of one of Rapier's between two times. Places are told from `origin`, so that bodies far from the
/// middle of the world lose no digits.
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
