//! Suites that every field, method and back end must pass, and the truth they are held against.
//!
//! Development only. `closed_forms` is written apart from the library, in `f64`, so that agreement means something.

pub mod accuracy;
pub mod closed_forms;
pub mod field_suite;
pub mod random;
