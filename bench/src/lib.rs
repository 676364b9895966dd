//! Shared by the benches: models with a given number of faces, random points, and clocks.
//!
//! For development only. Speeds are per CPU second, summed over all threads, so that other load on
//! the machine changes them little and libraries that use one core are compared fairly with those
//! that use all cores.

pub mod clock;
pub mod contact_poses;
pub mod mesh_pair;
pub mod models;
pub mod points;
pub mod scenes;
