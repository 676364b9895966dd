//! Wrenches: a force together with a torque.

use glam::Vec3;

/// A force, and a torque about the origin of the frame they are given in.
///
/// Penalty methods return wrenches per unit of stiffness: \[m\] for the force, \[m²\] for the
/// torque.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wrench {
    /// Sum of forces.
    pub force: Vec3,
    /// Sum of torques about the origin.
    pub torque: Vec3,
}

impl Wrench {
    /// Adds a force that acts at `point`, and its torque.
    pub fn push_at(&mut self, point: Vec3, force: Vec3) {
        self.force += force;
        self.torque += point.cross(force);
    }
}
