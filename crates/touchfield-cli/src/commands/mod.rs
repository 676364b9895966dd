//! The subcommands, one per file, grouped by subject.

pub(crate) mod bench;
pub(crate) mod demo;
pub(crate) mod devices;
pub(crate) mod field;
pub(crate) mod mesh;
pub(crate) mod motion;
pub(crate) mod pair;
pub(crate) mod scene;
