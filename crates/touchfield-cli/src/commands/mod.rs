//! The subcommands, one per file, in rooms by what they are about.

pub(crate) mod bench;
pub(crate) mod demo;
pub(crate) mod field;
pub(crate) mod mesh;
pub(crate) mod motion;
pub(crate) mod pair;
