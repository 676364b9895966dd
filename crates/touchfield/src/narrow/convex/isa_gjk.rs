//! Tests whether two convex sets overlap, by a search for a separating plane.
//!
//! Input: two sets as support functions, B posed in frame A, the distance that counts as touching,
//! the last separating axis.
//! Output: yes or no.
//! Cost: one support point per set for a pair that was apart and has moved a little; no allocation.
//! Not for: distance or depth (see `gjk`, `epa`).
//!
//! ISA-GJK of \[Lecture06\] and \[VanDenBergen1999\]: the search of `gjk`, which ends with the
//! first direction along which the sets do not overlap.

use glam::DVec3;

use crate::narrow::convex::gjk::{Difference, GjkCache};
use crate::narrow::convex::simplex::Origin;
use crate::shape::convex::{Posed, Support};

/// State of the last search of a pair, for a warm start. It must not be used for another pair.
#[derive(Clone, Copy, Debug, Default)]
pub struct AxisCache<HintA = u32, HintB = u32> {
    search: GjkCache<HintA, HintB>,
    /// Separating axis in frame A, from B to A; zero if the sets were not apart.
    axis: DVec3,
}

impl<HintA, HintB> AxisCache<HintA, HintB> {
    /// Returns the separating axis in frame A, from A to B; `None` if the sets overlapped.
    pub fn axis(&self) -> Option<DVec3> {
        (-self.axis).try_normalize()
    }
}

impl<HintA: Default, HintB: Default> AxisCache<HintA, HintB> {
    /// Discards the state of the pair.
    pub(super) fn clear(&mut self) {
        self.search.clear();
        self.axis = DVec3::ZERO;
    }
}

/// Maximum number of support points. Sets that are apart by more than rounding are separated long
/// before.
const MAX_STEPS: u32 = 256;

/// Returns whether two convex sets come within `reach` \[m\] of each other. At 0 it returns whether
/// they have a point in common.
pub fn overlap<A: Support, B: Support>(
    a: &A,
    b: &Posed<B>,
    reach: f64,
    cache: &mut AxisCache<A::Hint, B::Hint>,
) -> bool {
    let sets = Difference { a, b };
    let margin = reach + sets.rounding();
    let axis = std::mem::take(&mut cache.axis);
    if axis != DVec3::ZERO {
        let vertex = sets.support(-axis, &mut cache.search.hints);
        if axis.dot(vertex.difference) > margin * axis.length() {
            cache.axis = axis;
            return false;
        }
    }
    let mut origin = sets.restart(&mut cache.search);
    for _ in 0..MAX_STEPS {
        let Origin::Outside(v) = origin else {
            return true;
        };
        let length = v.length();
        if length <= reach {
            return true;
        }
        let vertex = sets.support(-v, &mut cache.search.hints);
        if v.dot(vertex.difference) > margin * length {
            cache.axis = v;
            return false;
        }
        if length <= margin || cache.search.simplex.holds(vertex.difference) {
            return true;
        }
        match cache.search.simplex.advance(vertex, v) {
            Some(next) => origin = next,
            // No separating plane, and no nearer point: the sets touch, to within rounding.
            None => return true,
        }
    }
    true
}
