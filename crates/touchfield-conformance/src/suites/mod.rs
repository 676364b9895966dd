//! What every field and every bake must keep.

pub mod bake_suite;
pub mod field_suite;
