//! Contact manifolds: reduction of many contacts to a few that resist the same wrenches, and their
//! identity across steps.

mod directions;
mod feet;
mod persist;
mod reduce;

pub use feet::{FlankSettings, drop_between, without_flanks};
pub use persist::{Kept, Manifold, ManifoldScratch, ManifoldSettings};
pub use reduce::{Group, ManifoldError, ReduceScratch, ReduceSettings, Reduced, reduce};
