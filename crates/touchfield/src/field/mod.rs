//! Signed distance fields: what the run time knows of a shape.

#[expect(clippy::module_inception, reason = "the trait is the module's subject")]
mod field;

pub use field::{Field, Meaning, Sample};
