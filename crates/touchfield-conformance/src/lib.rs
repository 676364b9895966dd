//! Suites that every field, method and back end must pass, and the ground truth they are compared
//! with.
//!
//! For development only. There are four modules. `truth` computes right answers independently of
//! the library, in `f64`, so that agreement is meaningful. `inputs` holds the test inputs. `suites`
//! checks what every field and every bake must satisfy. `accuracy` measures how far answers are
//! from the truth, for docs/ACCURACY.md. Their submodules are re-exported, so tests write
//! `touchfield_conformance::closed_forms`.

pub mod accuracy;
pub mod inputs;
pub mod suites;
pub mod truth;

pub use accuracy::{
    cast_accuracy, contact_accuracy, convergence, convex_accuracy, plot, subdivision_cost,
    wrench_loss,
};
pub use inputs::{
    cast_cases, convex_random, krayer_scenes, meshes, patches, random, random_fields,
    representations, shells,
};
pub use suites::{bake_suite, field_suite};
pub use truth::{
    cast_truth, closed_forms, contact_truth, convex_truth, interpolants, krayer_truth, mesh_truth,
    polytope_truth,
};
