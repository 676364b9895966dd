//! Table 1 of document 000 beside ours: its scenes, and the collisions found in them.

#[cfg(feature = "physics")]
mod physics;
mod scenes;
pub(crate) mod table1;
