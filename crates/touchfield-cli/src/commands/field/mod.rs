//! Commands that make, convert and show fields.

pub(crate) mod bake;
pub(crate) mod convert;
pub(crate) mod render;
pub(crate) mod sample;
pub(crate) mod slice;
