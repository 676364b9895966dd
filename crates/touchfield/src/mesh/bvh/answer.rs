//! Result of a nearest-triangle query.

use crate::geom::ClosestPoint;

/// The nearest point of a mesh to a query point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// Squared distance \[m²\].
    pub distance_squared: f64,
    /// Face that holds the point.
    pub face: u32,
    /// The point, and the feature of the face that it lies on.
    pub closest: ClosestPoint,
}
