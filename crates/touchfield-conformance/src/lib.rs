//! Suites that every field, method and back end must pass, and the truth they are held against.
//!
//! Development only. `closed_forms` and `mesh_truth` are written apart from the library, in `f64`, so that agreement means something.

pub mod accuracy;
pub mod bake_suite;
pub mod cast_accuracy;
pub mod cast_cases;
pub mod cast_truth;
pub mod closed_forms;
pub mod contact_accuracy;
pub mod contact_truth;
pub mod convergence;
pub mod convex_accuracy;
pub mod convex_random;
pub mod convex_truth;
pub mod field_suite;
pub mod interpolants;
pub mod mesh_truth;
pub mod meshes;
pub mod patches;
pub mod plot;
pub mod polytope_truth;
pub mod random;
pub mod random_fields;
pub mod representations;
pub mod shells;
pub mod subdivision_cost;
pub mod wrench_loss;
