//! How far two bodies are apart or how deep they overlap, with proven bounds.

pub(crate) mod by_convex;
pub(crate) mod by_surfaces;
pub(crate) mod search;

pub use by_convex::PairMemory;
pub use search::{
    Separation, SeparationOutcome, SeparationScratch, SeparationSettings, separation,
    separation_again, separation_many,
};
