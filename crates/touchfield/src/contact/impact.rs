//! The first touch of two moving bodies.

use glam::Vec3;

/// When and where two moving bodies first touch. Everything is in frame A at that time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// Share of the motion, from 0 to 1, at which the bodies are within tolerance of touching.
    pub time: f32,
    /// Proven: no touch before this share of the motion.
    pub lower_bound: f32,
    /// Where they touch \[m\].
    pub point: Vec3,
    /// Unit, from A to B.
    pub normal: Vec3,
}
