//! Suites that every field, method and back end must pass, and the truth they are held against.
//!
//! Development only. Four rooms: `truth`, right answers written apart from the library, in `f64`, so
//! that agreement means something; `inputs`, what the library is tried on; `suites`, what every field
//! and every bake must keep; `accuracy`, how far answers are from the truth, for docs/ACCURACY.md.
//! Tests name a module without its room: `touchfield_conformance::closed_forms`.

pub mod accuracy;
pub mod inputs;
pub mod suites;
pub mod truth;

pub use accuracy::{
    cast_accuracy, contact_accuracy, convergence, convex_accuracy, plot, subdivision_cost,
    wrench_loss,
};
pub use inputs::{
    cast_cases, convex_random, meshes, patches, random, random_fields, representations, shells,
};
pub use suites::{bake_suite, field_suite};
pub use truth::{
    cast_truth, closed_forms, contact_truth, convex_truth, interpolants, mesh_truth, polytope_truth,
};
