//! Table 1 of \[Krayer2020\] beside our results: its scenes, and the collisions found in them.

mod by_pairs;
mod cost_model;
mod device;
#[cfg(feature = "physics")]
mod physics;
mod scenes;
pub(crate) mod table1;
