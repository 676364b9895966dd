//! Exact answers for convex bodies, by document 004. Nothing here knows a field: the two halves of the library check each other.

mod v_clip;

pub use v_clip::{Feature, FeaturePair, VClip, VClipOutcome, v_clip};
