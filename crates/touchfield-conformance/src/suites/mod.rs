//! Properties that every field and every bake must satisfy.

pub mod bake_suite;
pub mod field_suite;
