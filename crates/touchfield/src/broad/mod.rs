//! Broad phase: finds pairs of overlapping boxes. It uses ids and boxes, nothing else.

mod aabb_tree;
mod pairs;
mod sweep_and_prune;

pub use aabb_tree::AabbTree;
pub use pairs::{BoxId, BroadError, BroadPhase};
pub use sweep_and_prune::SweepAndPrune;
