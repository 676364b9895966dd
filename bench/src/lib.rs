//! What the benches share: models of a known size, random points, and the clocks that the figures are divided by.
//!
//! Development only. Speeds are per CPU second, all threads added up, so that a busy machine changes them little and
//! libraries that use one core stand fairly beside those that use all.

pub mod clock;
pub mod contact_poses;
pub mod mesh_pair;
pub mod models;
pub mod points;
