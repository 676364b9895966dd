//! What a penetration is, and how it is asked for.

use glam::DVec3;
use std::cmp::Reverse;

/// How well the depth is to be known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EpaSettings {
    /// Width of the bracket, as a share of the depth.
    pub relative: f64,
    /// Width of the bracket that is enough anyway \[m\].
    pub absolute: f64,
    /// Support points after which the search ends with the bracket it has.
    pub max_steps: u32,
}

impl Default for EpaSettings {
    fn default() -> EpaSettings {
        EpaSettings {
            relative: 1e-6,
            absolute: 0.0,
            max_steps: 1024,
        }
    }
}

/// How deep two sets overlap. Everything is in frame A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penetration {
    /// Moving B by this along `normal` parts the sets \[m\].
    pub depth: f64,
    /// Proven, but for rounding that is told in it: no shorter move parts them \[m\].
    pub lower_bound: f64,
    /// Unit, from A to B: the direction in which B leaves soonest.
    pub normal: DVec3,
    /// The point of A that is deepest in B along the normal \[m\].
    pub point_on_a: DVec3,
    /// The point of B that is deepest in A along the normal \[m\].
    pub point_on_b: DVec3,
    /// Support points of each set that were asked for.
    pub steps: u32,
}

/// A facet that waits to be looked at: the bits of the square of its distance, which order as the numbers do, and its number. The nearest first; of
/// equals the oldest.
pub(super) type Waiting = Reverse<(u64, u32)>;
