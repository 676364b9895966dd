//! Table 1 of \[Krayer2020\] beside our results: its scenes, and the collisions found in them.

#[cfg(feature = "physics")]
mod physics;
mod scenes;
pub(crate) mod table1;
