//! A small deterministic generator of random numbers, points, directions and rotations.
//!
//! Input: a seed. Output: the same numbers on every machine and in every version, so that a failed
//! test can be repeated. Not for: cryptography, or statistics in many dimensions.
//!
//! SplitMix64 \[Steele2014\] (docs/BIBLIOGRAPHY.md).

use glam::{DQuat, DVec3};

/// Mixes the bits of a number so that near numbers become unrelated: the finaliser of SplitMix64,
/// which maps no two numbers to one. Also a hash of small keys.
pub(crate) fn mixed(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A random number generator with one `u64` of state.
#[derive(Clone, Copy, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Increment of the state from number to number: 2⁶⁴ over the golden ratio, made odd.
    #[cfg_attr(not(feature = "bake"), allow(dead_code, reason = "shells want it"))]
    pub(crate) const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

    /// Creates a generator. Equal seeds give equal sequences.
    pub fn new(seed: u64) -> Random {
        Random { state: seed }
    }

    /// Returns the next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(Random::STEP);
        mixed(self.state)
    }

    /// Returns a number in `[0, 1)` with all 53 bits of an `f64`.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns a number in `[low, high)`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + self.unit() * (high - low)
    }

    /// Returns a number between two positive bounds, with every order of magnitude equally likely.
    pub fn log_uniform(&mut self, low: f64, high: f64) -> f64 {
        self.uniform(low.ln(), high.ln()).exp()
    }

    /// Returns an integer in `0..count`; `count` must not be 0.
    pub fn below(&mut self, count: usize) -> usize {
        // The bias is count / 2⁶⁴.
        (self.bits() % count as u64) as usize
    }

    /// Returns a point in the box between two corners, uniformly distributed.
    pub fn in_box(&mut self, min: DVec3, max: DVec3) -> DVec3 {
        DVec3::new(
            self.uniform(min.x, max.x),
            self.uniform(min.y, max.y),
            self.uniform(min.z, max.z),
        )
    }

    /// Returns a point on the unit sphere, uniformly distributed.
    pub fn unit_vector(&mut self) -> DVec3 {
        // Archimedes: the height of a random point on the sphere is uniformly distributed.
        let z = self.uniform(-1.0, 1.0);
        let angle = self.uniform(0.0, std::f64::consts::TAU);
        let radius = (1.0 - z * z).sqrt();
        DVec3::new(radius * angle.cos(), radius * angle.sin(), z)
    }

    /// Returns a rotation, uniformly distributed \[Shoemake1992\].
    pub fn quaternion(&mut self) -> DQuat {
        let share = self.uniform(0.0, 1.0);
        let (a, b) = (
            self.uniform(0.0, std::f64::consts::TAU),
            self.uniform(0.0, std::f64::consts::TAU),
        );
        let (s, c) = ((1.0 - share).sqrt(), share.sqrt());
        DQuat::from_xyzw(s * a.sin(), s * a.cos(), c * b.sin(), c * b.cos())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_that_of_splitmix64() {
        let mut random = Random::new(1234567);
        assert_eq!(random.bits(), 6457827717110365317);
        assert_eq!(random.bits(), 3203168211198807973);
    }

    #[test]
    fn directions_and_rotations_have_unit_length_and_no_bias() {
        let mut random = Random::new(7);
        let (mut mean, mut turned) = (DVec3::ZERO, DVec3::ZERO);
        for _ in 0..10_000 {
            let direction = random.unit_vector();
            let rotation = random.quaternion();
            assert!((direction.length() - 1.0).abs() < 1e-12);
            assert!((rotation.length() - 1.0).abs() < 1e-12);
            mean += direction / 10_000.0;
            turned += rotation * DVec3::X / 10_000.0;
        }
        // The standard deviation of each mean is 0.006 per axis.
        assert!(mean.length() < 0.04 && turned.length() < 0.04);
    }
}
