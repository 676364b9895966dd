//! Random numbers, points and rotations, the same on every machine.
//!
//! Input: a seed.
//! Output: a sequence.
//! Not for: secrets.
//!
//! SplitMix64 \[Steele2014\] (docs/BIBLIOGRAPHY.md).

use glam::{Quat, Vec3};
use touchfield::geom::{self, Aabb};

pub(crate) struct Random(geom::Random);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(geom::Random::new(seed))
    }

    /// Returns a uniform number from 0 up to, not including, 1.
    pub(crate) fn unit(&mut self) -> f64 {
        self.0.unit()
    }

    /// Returns a uniform point in a box.
    pub(crate) fn point(&mut self, bounds: Aabb) -> Vec3 {
        let share = Vec3::from_array([(); 3].map(|()| self.unit() as f32));
        bounds.min + share * bounds.extents()
    }

    /// Returns a rotation, uniform over all rotations \[Shoemake1992\].
    pub(crate) fn rotation(&mut self) -> Quat {
        let share = self.unit();
        let [a, b] = [(); 2].map(|()| std::f64::consts::TAU * self.unit());
        let (s, c) = ((1.0 - share).sqrt(), share.sqrt());
        let [x, y, z, w] = [s * a.sin(), s * a.cos(), c * b.sin(), c * b.cos()].map(|q| q as f32);
        Quat::from_xyzw(x, y, z, w).normalize()
    }
}
