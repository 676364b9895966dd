//! Manifolds: few contacts that resist what many did, and their names from step to step.

mod directions;
mod persist;
mod reduce;

pub use persist::{Kept, Manifold, ManifoldScratch, ManifoldSettings};
pub use reduce::{Group, ManifoldError, ReduceScratch, ReduceSettings, Reduced, reduce};
