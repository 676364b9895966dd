//! Distance and penetration depth of two convex bodies in a relative pose.
//!
//! Input: two [`Convex`] bodies, B posed in frame A, and the state of the last search of this pair.
//! Output: a [`Touch`], with bounds.
//! Cost: that of `gjk`; for bodies whose cores overlap, that of `epa` too; no allocation once the
//! buffers have grown.
//! Not for: bodies that are not convex, which are represented by their fields.
//!
//! GJK and EPA work on the cores. A difference of cores with a ball of the sum of both radii around
//! it is as far from the origin as the bare one, minus that sum, inside and out: so radii are
//! subtracted at the end, exactly.

use glam::DVec3;

use crate::geom::Pose;
use crate::narrow::convex::coaxial;
use crate::narrow::convex::enclosure::Enclosure;
use crate::narrow::convex::epa::{EpaScratch, penetration};
use crate::narrow::convex::gjk::{Difference, GjkCache, GjkSettings, distance};
use crate::narrow::convex::isa_gjk::{AxisCache, overlap};
use crate::narrow::convex::penetration::{EpaSettings, Penetration};
use crate::shape::convex::{Convex, Posed};

/// Two convex bodies in a relative pose.
#[derive(Clone, Copy, Debug)]
pub struct ConvexPair<'a> {
    a: &'a Convex,
    b: Posed<&'a Convex>,
    /// Sum of both radii \[m\].
    radii: f64,
}

/// Distance or penetration of two convex bodies, in frame A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Distance; for overlapping bodies, minus the length of the shortest separating move \[m\].
    pub separation: f64,
    /// Proven lower bound of the separation \[m\].
    pub lower_bound: f64,
    /// Proven upper bound of the separation \[m\].
    pub upper_bound: f64,
    /// Unit normal from A to B. For overlapping bodies, the direction of the shortest separating
    /// move of B.
    pub normal: DVec3,
    /// Point of A that is nearest to B, or deepest in it along the normal \[m\].
    pub point_on_a: DVec3,
    /// Point of B that is nearest to A, or deepest in it along the normal \[m\].
    pub point_on_b: DVec3,
    /// Number of support points computed per body.
    pub steps: u32,
}

impl Touch {
    /// Result for an invalid pose.
    const UNKNOWN: Touch = Touch {
        separation: 0.0,
        lower_bound: f64::NEG_INFINITY,
        upper_bound: f64::INFINITY,
        normal: DVec3::Z,
        point_on_a: DVec3::ZERO,
        point_on_b: DVec3::ZERO,
        steps: 0,
    };
}

/// State of the last searches of a pair, for warm starts. It must not be used for another pair.
#[derive(Debug, Default)]
pub struct ConvexMemory {
    gjk: GjkCache,
    axis: AxisCache,
    enclosure: Enclosure,
}

impl ConvexMemory {
    /// Discards the state of the pair and keeps the buffers.
    pub fn clear(&mut self) {
        self.gjk.clear();
        self.axis.clear();
        self.enclosure.clear();
    }
}

/// State of one pair, with buffers that pairs could share. It must not be used for another pair.
#[derive(Debug, Default)]
pub struct ConvexCache {
    pub(crate) memory: ConvexMemory,
    pub(crate) epa: EpaScratch,
}

impl ConvexCache {
    /// Discards the state of the pair and keeps the buffers.
    pub fn clear(&mut self) {
        self.memory.clear();
        self.epa.clear();
    }
}

impl<'a> ConvexPair<'a> {
    /// Builds a pair. If the pose is not finite, or its rotation is invalid, nothing can be
    /// computed and bounds are infinite.
    pub fn new(a: &'a Convex, b: &'a Convex, a_from_b: Pose) -> ConvexPair<'a> {
        ConvexPair {
            a,
            b: Posed::new(b, a_from_b),
            radii: f64::from(a.radius()) + f64::from(b.radius()),
        }
    }

    /// Returns the first body.
    pub fn a(&self) -> &'a Convex {
        self.a
    }

    /// Returns the second body, posed in frame A.
    pub fn b(&self) -> Posed<&'a Convex> {
        self.b
    }

    /// Returns whether the bodies have a point in common, to within rounding.
    pub fn overlaps(&self, cache: &mut ConvexCache) -> bool {
        self.come_within(0.0, cache)
    }

    /// Returns whether the bodies come within `reach` \[m\] of each other, to within rounding.
    /// Returns `true` for an invalid pose.
    pub fn come_within(&self, reach: f64, cache: &mut ConvexCache) -> bool {
        self.come_within_again(reach, &mut cache.memory)
    }

    /// Returns whether the bodies come within `reach` \[m\] of each other, using the memory alone.
    pub(crate) fn come_within_again(&self, reach: f64, memory: &mut ConvexMemory) -> bool {
        !self.b.is_finite() || overlap(&self.a, &self.b, self.radii + reach, &mut memory.axis)
    }

    /// Computes the distance or the penetration depth, to a millionth of it. The result is coarser
    /// where the bodies are proven to be farther apart than `enough` \[m\].
    pub fn touch(&self, enough: f64, cache: &mut ConvexCache) -> Touch {
        let ConvexCache { memory, epa } = cache;
        // Handed on only now, so that a pair that is queried once does not pay for it.
        epa.hand_on(&mut memory.enclosure);
        self.touch_again(enough, memory, epa)
    }

    /// Computes the result of [`Self::touch`] with buffers that other pairs may have used.
    pub(crate) fn touch_with(
        &self,
        enough: f64,
        memory: &mut ConvexMemory,
        epa: &mut EpaScratch,
    ) -> Touch {
        epa.clear();
        let touch = self.touch_again(enough, memory, epa);
        epa.hand_on(&mut memory.enclosure);
        touch
    }

    fn touch_again(&self, enough: f64, memory: &mut ConvexMemory, epa: &mut EpaScratch) -> Touch {
        if !self.b.is_finite() {
            return Touch::UNKNOWN;
        }
        let ConvexMemory { gjk, enclosure, .. } = memory;
        let sets = Difference {
            a: &self.a,
            b: &self.b,
        };
        let settings = EpaSettings::default();
        let deep = enclosure.penetration(&sets, &settings, &mut gjk.hints, &mut epa.enclosure);
        if let Some(deep) = deep {
            return self.overlapping(0, &deep);
        }
        let settings = GjkSettings {
            radii: self.radii,
            threshold: enough + self.radii,
            ..Default::default()
        };
        let near = distance(&self.a, &self.b, &settings, gjk);
        if near.is_overlapping {
            let settings = EpaSettings::default();
            let rounding = sets.rounding();
            let deep = coaxial::penetration(self.a, &self.b, rounding, &settings, &mut epa.coaxial)
                .unwrap_or_else(|| penetration(&self.a, &self.b, &settings, gjk, epa));
            return self.overlapping(near.steps, &deep);
        }
        let gap = (near.point_on_a - near.point_on_b).length();
        Touch {
            separation: gap - self.radii,
            lower_bound: near.lower_bound - self.radii,
            upper_bound: near.distance - self.radii,
            normal: near.normal,
            point_on_a: near.point_on_a + f64::from(self.a.radius()) * near.normal,
            point_on_b: near.point_on_b - f64::from(self.b.set.radius()) * near.normal,
            steps: near.steps,
        }
    }

    fn overlapping(&self, steps: u32, deep: &Penetration) -> Touch {
        Touch {
            separation: -(deep.depth + self.radii),
            lower_bound: -(deep.depth + self.radii),
            upper_bound: -(deep.lower_bound + self.radii),
            normal: deep.normal,
            point_on_a: deep.point_on_a + f64::from(self.a.radius()) * deep.normal,
            point_on_b: deep.point_on_b - f64::from(self.b.set.radius()) * deep.normal,
            steps: steps + deep.steps,
        }
    }
}
