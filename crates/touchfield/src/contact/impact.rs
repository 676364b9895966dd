//! Impact: the first touch of two moving bodies.

use glam::Vec3;

/// Time, place and direction of the first touch of two moving bodies. All quantities are in frame A
/// at that time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// Fraction of the motion, from 0 to 1, at which the bodies are within tolerance of touching.
    pub time: f32,
    /// Proven lower bound on the time of impact: no touch before this fraction of the motion.
    pub lower_bound: f32,
    /// Point of contact \[m\].
    pub point: Vec3,
    /// Unit normal from A to B.
    pub normal: Vec3,
}
