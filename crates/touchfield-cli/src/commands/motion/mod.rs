//! Commands about a body that moves against another.

pub(crate) mod cast;
mod cast_swept;
pub(crate) mod clearance;
pub(crate) mod sweep;
mod sweep_motions;
mod sweep_segments;
