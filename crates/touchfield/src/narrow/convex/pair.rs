//! Two convex bodies and where one is: how far apart, or how deep.
//!
//! Input: two [`Convex`] bodies, B posed in frame A; where the last search of this pair ended. Output: [`Touch`], with bounds.
//! Cost: that of `gjk`; of bodies whose cores overlap, of `epa` too; no allocation once the buffers have grown.
//! Not for: hollow bodies, which their fields stand for.
//!
//! GJK and EPA see the cores. A difference of cores with a ball of the sum of both radii around it is as far from the origin as the bare one, less
//! that sum, inside and out: so radii are taken off at the end, exactly.

use glam::DVec3;

use crate::geom::Pose;
use crate::narrow::convex::coaxial;
use crate::narrow::convex::enclosure::Enclosure;
use crate::narrow::convex::epa::{EpaScratch, penetration};
use crate::narrow::convex::gjk::{Difference, GjkCache, GjkSettings, distance};
use crate::narrow::convex::isa_gjk::{AxisCache, overlap};
use crate::narrow::convex::penetration::{EpaSettings, Penetration};
use crate::shape::convex::{Convex, Posed};

/// Two convex bodies, and where B is.
#[derive(Clone, Copy, Debug)]
pub struct ConvexPair<'a> {
    a: &'a Convex,
    b: Posed<&'a Convex>,
    /// Of both \[m\].
    radii: f64,
}

/// How two convex bodies stand to each other. Everything is in frame A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Their distance; when they overlap, minus the length of the shortest move that parts them \[m\].
    pub separation: f64,
    /// Proven: not less \[m\].
    pub lower_bound: f64,
    /// Proven: not more \[m\].
    pub upper_bound: f64,
    /// Unit, from A to B. Overlapping, the way in which B leaves soonest.
    pub normal: DVec3,
    /// The point of A that is nearest B, or deepest in it along the normal \[m\].
    pub point_on_a: DVec3,
    /// The point of B that is nearest A, or deepest in it along the normal \[m\].
    pub point_on_b: DVec3,
    /// Support points of each that were asked for.
    pub steps: u32,
}

impl Touch {
    /// Of a pose that is none.
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

/// Where the last searches of a pair ended: what is worth keeping for every pair. Of that pair only.
#[derive(Debug, Default)]
pub struct ConvexMemory {
    gjk: GjkCache,
    axis: AxisCache,
    enclosure: Enclosure,
}

impl ConvexMemory {
    /// Forgets the pair and keeps the buffers.
    pub fn clear(&mut self) {
        self.gjk.clear();
        self.axis.clear();
        self.enclosure.clear();
    }
}

/// The memory of a pair, with buffers that pairs could share. Of that pair only.
#[derive(Debug, Default)]
pub struct ConvexCache {
    pub(crate) memory: ConvexMemory,
    pub(crate) epa: EpaScratch,
}

impl ConvexCache {
    /// Forgets the pair and keeps the buffers.
    pub fn clear(&mut self) {
        self.memory.clear();
        self.epa.clear();
    }
}

impl<'a> ConvexPair<'a> {
    /// Of two bodies. Of a pose that is not finite, or whose rotation is none, nothing is known: bounds are then without end.
    pub fn new(a: &'a Convex, b: &'a Convex, a_from_b: Pose) -> ConvexPair<'a> {
        ConvexPair {
            a,
            b: Posed::new(b, a_from_b),
            radii: f64::from(a.radius()) + f64::from(b.radius()),
        }
    }

    /// The first body.
    pub fn a(&self) -> &'a Convex {
        self.a
    }

    /// The second body, posed in frame A.
    pub fn b(&self) -> Posed<&'a Convex> {
        self.b
    }

    /// Whether the bodies have a point in common, to within rounding.
    pub fn overlaps(&self, cache: &mut ConvexCache) -> bool {
        self.come_within(0.0, cache)
    }

    /// Whether the bodies come within `reach` of each other \[m\], to within rounding. Where nothing is known, they do.
    pub fn come_within(&self, reach: f64, cache: &mut ConvexCache) -> bool {
        self.come_within_again(reach, &mut cache.memory)
    }

    /// The same, with the memory alone.
    pub(crate) fn come_within_again(&self, reach: f64, memory: &mut ConvexMemory) -> bool {
        !self.b.is_finite() || overlap(&self.a, &self.b, self.radii + reach, &mut memory.axis)
    }

    /// How far apart they are, or how deep they overlap, to a millionth of it; coarser where they are proven to be farther apart than `enough` \[m\].
    pub fn touch(&self, enough: f64, cache: &mut ConvexCache) -> Touch {
        let ConvexCache { memory, epa } = cache;
        // Only now: who never asks again does not pay for it.
        epa.hand_on(&mut memory.enclosure);
        self.touch_again(enough, memory, epa)
    }

    /// The same, with buffers of whatever pair.
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
