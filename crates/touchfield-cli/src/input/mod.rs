//! Inputs of commands: bodies from meshes and baked files, and the options of how to store them.

pub(crate) mod frames;
pub(crate) mod load;
pub(crate) mod pair;
pub(crate) mod storage;
