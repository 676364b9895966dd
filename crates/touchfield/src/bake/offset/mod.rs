//! Signs without faces: an offset surface that closes gaps, made of balls around nodes.

pub(crate) mod grid;
pub(crate) mod sites;
