//! Wrenches: a force together with a torque, and what a penalty adds to them.

use glam::Vec3;

use super::ContactId;

/// A force, and a torque about a given point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wrench {
    /// Sum of forces \[N\].
    pub force: Vec3,
    /// Sum of torques about `about` \[N·m\].
    pub torque: Vec3,
    /// Point about which the torque is taken \[m\].
    pub about: Vec3,
}

impl Wrench {
    /// Returns a wrench of zero, with torques about a point.
    pub fn about(point: Vec3) -> Wrench {
        Wrench {
            about: point,
            ..Wrench::default()
        }
    }

    /// Adds a force that acts at `point`, and its torque.
    pub fn push_at(&mut self, point: Vec3, force: Vec3) {
        self.force += force;
        self.torque += (point - self.about).cross(force);
    }

    /// Returns the same wrench with its torque about another point.
    pub fn moved_to(self, about: Vec3) -> Wrench {
        Wrench {
            torque: self.torque + (self.about - about).cross(self.force),
            about,
            ..self
        }
    }
}

/// Penalty forces of all shell points that are inside the other body. All quantities are in
/// frame A.
///
/// The sums are those of the points: `energy = Σ ½ k a φ²`, `force = Σ k a |φ| ∇φ`, with the
/// stiffness k, the area a of a point and its distance φ < 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PenaltyWrench {
    /// Force and torque on B. Those on A are the opposite.
    pub wrench: Wrench,
    /// Energy stored in the overlap \[J\].
    pub energy: f64,
    /// Depth of the deepest point \[m\]; 0 if none is inside.
    pub depth: f32,
    /// Area of the surface that is inside \[m²\].
    pub area: f32,
    /// Number of points inside.
    pub points: u32,
}

/// Penalty forces of one segment of a shell. All quantities are in frame A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SegmentWrench {
    /// Identity of the deepest point of the segment: that of its contact.
    pub deepest: ContactId,
    /// Penalty forces of the points of the segment.
    pub penalty: PenaltyWrench,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrench_moves_to_another_point() {
        let mut here = Wrench::about(Vec3::X);
        here.push_at(Vec3::new(1.0, 2.0, 0.0), Vec3::new(3.0, 0.0, 1.0));
        let mut there = Wrench::about(Vec3::new(0.0, -1.0, 4.0));
        there.push_at(Vec3::new(1.0, 2.0, 0.0), Vec3::new(3.0, 0.0, 1.0));
        assert_eq!(here.torque, Vec3::new(2.0, 0.0, -6.0));
        assert_eq!(here.moved_to(there.about), there);
    }
}
