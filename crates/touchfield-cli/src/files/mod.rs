//! Files in the formats of others, and files written whole or not at all.

pub(crate) mod npy;
pub(crate) mod npz;
pub(crate) mod output;
pub(crate) mod parquet;
pub(crate) mod points;
pub(crate) mod vti;
