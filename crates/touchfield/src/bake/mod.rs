//! Baking: from a triangle mesh to a distance field whose error is known. Offline; the run time never imports it.

#[expect(clippy::module_inception, reason = "the entry is the module's subject")]
mod bake;
mod blocks;
mod brute_force;
mod cell_error;
mod check;
mod exact_bvh;
mod exact_distance;
mod mend;
mod node_data;
mod patches;
mod settings;
mod sign;
mod sparse;
mod taylor;

pub use bake::{BakeError, BakeReport, Baked, bake};
pub use exact_distance::ExactDistance;
pub use settings::{BakeSettings, Method, Resolution, Stage, Step};
pub use sign::SignChoice;
pub use sparse::{BakedSparse, Bits, SparseGoal, SparseSettings, bake_sparse};
pub use taylor::bake_taylor;
