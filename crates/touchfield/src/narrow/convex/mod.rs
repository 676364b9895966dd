//! Exact contact and distance of convex bodies, after \[Lecture06\]. This module does not use
//! fields, so that the two halves of the library can check each other.

mod coaxial;
mod contact_region;
mod enclosure;
mod epa;
mod gjk;
mod isa_gjk;
mod pair;
mod penetration;
mod simplex;
mod v_clip;

pub use contact_region::{RegionScratch, contact_region};
pub use epa::{EpaScratch, penetration};
pub use gjk::{GjkCache, GjkSettings, Proximity, distance};
pub use isa_gjk::{AxisCache, overlap};
pub use pair::{ConvexCache, ConvexMemory, ConvexPair, Touch};
pub use penetration::{EpaSettings, Penetration};
pub use v_clip::{Feature, FeaturePair, VClip, VClipOutcome, v_clip};

#[cfg(test)]
mod tests;
