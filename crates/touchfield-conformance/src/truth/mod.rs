//! Right answers in `f64`, written independently of the library: closed forms, brute force,
//! searches that rely on Lipschitz continuity alone.

pub mod cast_truth;
pub mod closed_forms;
pub mod contact_truth;
pub mod convex_truth;
pub mod interpolants;
pub mod krayer_truth;
pub mod mesh_truth;
pub mod polytope_truth;
