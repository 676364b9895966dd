//! Commands about two bodies at rest.

pub(crate) mod clash;
pub(crate) mod collide;
pub(crate) mod separation;
