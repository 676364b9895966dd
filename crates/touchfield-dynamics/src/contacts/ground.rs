//! Half-spaces as convex bodies: a box under the place where another convex body is.
//!
//! Input: the normal of a half-space, and the pose of a convex body over it.
//! Output: a box whose top lies in the plane, and its pose in the half-space's frame.
//! Cost: none worth naming; the box is made once for a pair.
//! Not for: bodies that are not convex, whose shells are sampled by the half-space's field.
//!
//! Contacts of two convex bodies are the corners of the region where their faces meet, while a
//! half-space as a field knows single points only.

use glam::{DQuat, DVec3, Vec3};
use touchfield::Shape;
use touchfield::shape::Convex;

use crate::frame::Frame;

/// A box that stands for a half-space in contacts with one convex body.
#[derive(Clone, Debug)]
pub(crate) struct GroundBox {
    shape: Shape,
    /// Rotation from the box's frame, whose z is the normal, to the half-space's.
    rotation: DQuat,
    normal: DVec3,
    half: f64,
}

impl GroundBox {
    /// Returns a box that is large beside a body with this diagonal \[m\].
    pub(crate) fn new(normal: Vec3, diagonal: f64) -> Option<GroundBox> {
        let half = (4.0 * diagonal) as f32;
        let cuboid = Convex::cuboid(Vec3::splat(half)).ok()?;
        let normal = normal.as_dvec3().try_normalize()?;
        Some(GroundBox {
            shape: Shape::convex(cuboid).ok()?,
            rotation: DQuat::from_rotation_arc(DVec3::Z, normal),
            normal,
            half: f64::from(half),
        })
    }

    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Returns the pose of the box in the world, under the point `over` of the world.
    pub(crate) fn under(&self, half_space: &Frame, over: DVec3) -> Frame {
        let local = half_space.to_inner(over);
        let on_plane = local - local.dot(self.normal) * self.normal;
        Frame {
            rotation: (half_space.rotation * self.rotation).normalize(),
            translation: half_space.point(on_plane - self.half * self.normal),
        }
    }
}
