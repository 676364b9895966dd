//! Convex bodies: hulls of points, closed forms, rounding, support functions and what they are made
//! of.

mod compass;
#[expect(clippy::module_inception, reason = "the type is the module's subject")]
mod convex;
mod convex_field;
mod corner_block;
pub(crate) mod growing_hull;
mod hull;
mod hull_build;
mod plane_tree;
mod support;
mod support_points;

pub use convex::{Convex, Core, ROUND_CORNERS, SetPoint};
pub use convex_field::{HullField, RoundedField};
pub use hull::{ConvexHull, HalfEdge, HullError, HullFace, NO_FACE};
pub use support::{MinkowskiDifference, MinkowskiSum, Posed, Support, Translated};
pub use support_points::support_points;
