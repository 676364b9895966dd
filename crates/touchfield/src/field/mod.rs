//! Signed distance fields: what the run time knows of a shape.

mod dense_grid;
#[expect(clippy::module_inception, reason = "the trait is the module's subject")]
mod field;
mod provenance;

pub use dense_grid::{DenseGrid, GridError, GridLayout};
pub use field::{Field, Meaning, Sample};
pub use provenance::{Provenance, SignMethod};
