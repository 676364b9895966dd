//! Files in the formats of other programs, and files that are written atomically.

pub(crate) mod arrays;
pub(crate) mod npy;
pub(crate) mod npz;
pub(crate) mod output;
pub(crate) mod parquet;
pub(crate) mod points;
pub(crate) mod vti;
