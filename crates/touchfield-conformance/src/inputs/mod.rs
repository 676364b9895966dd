//! Test inputs of the library: meshes, bodies, shells, fields and motions, the same on every run.

pub mod cast_cases;
pub mod convex_random;
pub mod krayer_scenes;
pub mod meshes;
pub mod patches;
pub mod random;
pub mod random_fields;
pub mod representations;
pub mod shells;
