//! What a search for the nearest triangle finds.

use crate::geom::ClosestPoint;

/// The nearest point of a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// Square of the distance \[m²\].
    pub distance_squared: f64,
    /// The face it lies on.
    pub face: u32,
    /// Where, and on which feature of that face.
    pub closest: ClosestPoint,
}
