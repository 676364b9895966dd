//! Commands about scenes.

mod checkpoint;
mod glb;
mod plots;
pub(crate) mod simulate;
mod strip;
mod trajectory;
