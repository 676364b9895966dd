//! Separation of two bodies, or depth of their overlap, with proven bounds.

pub(crate) mod answer;
pub(crate) mod both;
pub(crate) mod by_convex;
pub(crate) mod by_surfaces;
pub(crate) mod overlap_by_surfaces;
pub(crate) mod search;

pub use answer::{Separation, SeparationOutcome, SeparationSettings};
pub use search::{separation, separation_again, separation_many};
