//! Tie-break between two similar bodies, so that results do not depend on which one is called A.
//!
//! Input: two vectors that swap when A and B change places.
//! Output: their order.
//! Cost: three comparisons.
//! Not for: bodies that differ, where their sizes decide.

use std::cmp::Ordering;

use glam::Vec3;

/// Compares two vectors by x, then y, then z.
pub(crate) fn lexicographic(a: Vec3, b: Vec3) -> Ordering {
    (a.x.total_cmp(&b.x))
        .then(a.y.total_cmp(&b.y))
        .then(a.z.total_cmp(&b.z))
}
