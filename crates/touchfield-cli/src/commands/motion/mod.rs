//! Commands about a body that moves against another.

pub(crate) mod cast;
pub(crate) mod clearance;
pub(crate) mod sweep;
mod sweep_motions;
