//! What decides between bodies that are alike, so that A and B may change places.
//!
//! Input: two vectors of which one is the other's when A and B change places. Output: their order.
//! Cost: three comparisons. Not for: bodies that differ, whose sizes decide.

use std::cmp::Ordering;

use glam::Vec3;

/// By x, then y, then z.
pub(crate) fn lexicographic(a: Vec3, b: Vec3) -> Ordering {
    (a.x.total_cmp(&b.x))
        .then(a.y.total_cmp(&b.y))
        .then(a.z.total_cmp(&b.z))
}
