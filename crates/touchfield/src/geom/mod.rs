//! Vocabulary of the whole library: poses, boxes, spheres, triangles, intervals, tolerances.
//!
//! Concrete, `Copy`, fields public; nothing below it but `glam`. Lengths are metres, angles radians.

mod aabb;
mod interval;
#[cfg(feature = "bake")]
pub(crate) mod lanes;
mod pose;
mod sphere;
mod tolerance;
mod triangle;

pub use aabb::{Aabb, DAabb};
pub use interval::Interval;
pub use pose::Pose;
pub use sphere::Sphere;
pub use tolerance::Tolerance;
pub use triangle::{ClosestPoint, Feature, Triangle};
