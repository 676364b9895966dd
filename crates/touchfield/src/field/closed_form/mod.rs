//! Closed forms: primitives, solids from solids, and formulas.

pub(crate) mod closure;
pub mod csg;
pub(crate) mod from_recipe;
pub(crate) mod height_field;
pub mod level_set;
pub(crate) mod parameter;
pub mod primitive;
pub(crate) mod transform;
#[cfg(test)]
mod witness_tests;

pub use closure::{Closure, Declared};
pub use csg::{Difference, Intersection, Union};
pub use height_field::{HeightField, HeightFieldError};
pub use level_set::{Offset, Wall};
pub use parameter::ParameterError;
pub use transform::Transformed;
