//! Input and output of a penetration query.

use glam::DVec3;
use std::cmp::Reverse;

/// Settings of a penetration query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EpaSettings {
    /// Maximum width of the bracket, as a fraction of the depth.
    pub relative: f64,
    /// Width of the bracket that is always sufficient \[m\].
    pub absolute: f64,
    /// Maximum number of support points. Beyond it the search ends with the bracket it has.
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

/// Penetration of two sets, in frame A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penetration {
    /// Penetration depth \[m\]: moving B by this along `normal` separates the sets.
    pub depth: f64,
    /// Proven lower bound of the depth, with rounding included \[m\]: no shorter move separates the
    /// sets.
    pub lower_bound: f64,
    /// Unit normal from A to B: the direction of the shortest separating move of B.
    pub normal: DVec3,
    /// Point of A that is deepest in B along the normal \[m\].
    pub point_on_a: DVec3,
    /// Point of B that is deepest in A along the normal \[m\].
    pub point_on_b: DVec3,
    /// Number of support points computed per set.
    pub steps: u32,
}

/// Queue entry of a facet: the bits of its squared distance, which order like the numbers
/// themselves, and its index. The nearest comes first; at equal distances the oldest.
pub(super) type Waiting = Reverse<(u64, u32)>;
