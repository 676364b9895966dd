//! Sparse fields baked from a mesh: a band of fine blocks, or blocks wherever a tolerance needs
//! them.

pub(crate) mod bake;
pub(crate) mod band;
pub(crate) mod builder;
pub(crate) mod cell_error;
pub(crate) mod error;
pub(crate) mod flatness;
pub(crate) mod kept;
pub(crate) mod near;
pub(crate) mod tolerance;

pub use bake::{SparseGoal, SparseSettings, bake_sparse, bake_sparse_on};
pub use error::SparseBakeError;
