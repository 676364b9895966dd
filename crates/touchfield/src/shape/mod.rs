//! Shapes: what contact queries know of a body.

pub mod convex;
#[expect(clippy::module_inception, reason = "the type is the module's subject")]
mod shape;
mod surface;

pub use convex::{Convex, ConvexHull};
pub use shape::Shape;
pub use surface::{Surface, SurfaceError, SurfaceNode};
