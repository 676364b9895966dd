//! Shapes: the geometry of a body, as contact queries use it.

pub mod convex;
mod disc;
pub mod file;
#[expect(clippy::module_inception, reason = "the type is the module's subject")]
mod shape;
mod surface;
mod surface_distance;
mod surface_parts;
mod surface_rays;
mod thickness;

pub use convex::{Convex, ConvexHull};
pub(crate) use disc::{Below, Disc, DiscBlock};
pub use shape::Shape;
pub use surface::{Surface, SurfaceError, SurfaceNode};
pub use surface_parts::ClosedPart;
pub use thickness::Thickness;
