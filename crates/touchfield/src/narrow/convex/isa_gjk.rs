//! Whether two convex sets overlap, by a search for a plane between them.
//!
//! Input: two sets as support functions, B posed in frame A, how near counts as touching, the axis that parted them last.
//! Output: yes or no. Cost: one support point of each for a pair that was apart and moved a little; no allocation.
//! Not for: how far or how deep (see `gjk`, `epa`).
//!
//! ISA-GJK of document 004 \[VanDenBergen1999\]: the search of `gjk`, which ends with the first direction along which the sets do not overlap.

use glam::DVec3;

use crate::narrow::convex::gjk::{Difference, GjkCache};
use crate::narrow::convex::simplex::Origin;
use crate::shape::convex::{Posed, Support};

/// What the last search of a pair ended with. Of that pair only.
#[derive(Clone, Copy, Debug, Default)]
pub struct AxisCache<HintA = u32, HintB = u32> {
    search: GjkCache<HintA, HintB>,
    /// In frame A, from B to A, where the sets were apart; else zero.
    axis: DVec3,
}

impl<HintA, HintB> AxisCache<HintA, HintB> {
    /// The direction along which the sets did not overlap, in frame A, from A to B; `None` if they did.
    pub fn axis(&self) -> Option<DVec3> {
        (-self.axis).try_normalize()
    }
}

impl<HintA: Default, HintB: Default> AxisCache<HintA, HintB> {
    /// Forgets the pair.
    pub(super) fn clear(&mut self) {
        self.search.clear();
        self.axis = DVec3::ZERO;
    }
}

/// Most support points of a search. Sets that are apart by more than rounding are told apart long before.
const MAX_STEPS: u32 = 256;

/// Whether two convex sets come within `reach` of each other \[m\]; 0: have a point in common.
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
            // No plane, and no way nearer: in touch to within rounding.
            None => return true,
        }
    }
    true
}
