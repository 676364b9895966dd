//! Sparse fields: a coarse grid whose cells hold finer blocks where needed.

pub(crate) mod sparse_blocks;

pub use sparse_blocks::{PLAIN, SparseBlock, SparseBlocks, SparseError, SparseParts, SparseValues};
