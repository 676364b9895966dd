//! Vocabulary of the whole library: poses, boxes, spheres, triangles, intervals, tolerances.
//!
//! Types are concrete and `Copy`, with public fields. The module depends on nothing but `glam`,
//! `half` and `robust`. Lengths are in metres, angles in radians.

mod aabb;
#[cfg_attr(
    not(feature = "bake"),
    allow(dead_code, reason = "meshes use boxes in `f64`, the run time in `f32`")
)]
pub(crate) mod box_tree;
mod directions;
mod interval;
#[cfg_attr(
    not(feature = "bake"),
    allow(dead_code, reason = "baking uses all operations, the run time a few")
)]
pub(crate) mod lanes;
mod motion;
mod places;
mod pose;
#[cfg_attr(
    not(feature = "bake"),
    allow(dead_code, reason = "meshes ask all of them, the run time a few")
)]
pub(crate) mod predicates;
mod random;
mod sphere;
mod tolerance;
mod triangle;
mod triangle_pair;

pub use aabb::{Aabb, DAabb, turned_half_extents};
pub use box_tree::BoxNode;
pub use directions::fibonacci_directions;
pub use interval::Interval;
pub use motion::{Motion, PairMotion};
pub(crate) use places::{corner, place_at, place_index, places};
pub use pose::Pose;
pub(crate) use pose::{rotation_matrix, unit_rotation};
pub use random::Random;
pub(crate) use random::mixed;
pub use sphere::Sphere;
pub use tolerance::Tolerance;
pub use triangle::{ClosestPoint, Feature, Triangle};
pub use triangle_pair::NearestPoints;
