//! Updates of a field after its mesh changed within a box; bit for bit the result of a new bake.

pub(crate) mod dense;
pub(crate) mod error;
pub(crate) mod sparse;

pub use dense::{Before, Rebaked, changed_box, rebake};
pub use error::UpdateError;
pub use sparse::{SparseBefore, rebake_sparse};
