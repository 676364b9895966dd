//! Types of the separation query, and functions that all its methods share.

use crate::field::{Field, Meaning};
use crate::geom::{Aabb, Pose, turned_half_extents};
use crate::narrow::pair::Pair;
use crate::shape::Shape;
use glam::{Mat3, Vec3};

/// Settings of a separation query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeparationSettings {
    /// Maximum width of the bracket that the search may leave \[m\].
    ///
    /// On top come: rounding, for bodies with exact surfaces; otherwise the errors of the fields
    /// and, between bodies whose fields do not reach each other, the covering radii of their
    /// shells.
    pub tolerance: f32,
    /// Separation to compare with \[m\]: the search stops as soon as the result is proven to be
    /// above or below it.
    pub threshold: Option<f32>,
    /// Point of frame A at which the search starts \[m\], for example the last minimiser of a pair
    /// that has moved a little.
    pub start: Option<Vec3>,
    /// Maximum number of boxes. Beyond it the search gives up with the bracket it has.
    pub max_boxes: u32,
    /// Whether exact distances to the faces decide how deep bodies overlap, where they keep their
    /// faces: the bracket is then as narrow as requested, and not wider by the errors of the
    /// fields. For finely tessellated curved bodies that takes 10 to 200 times as long.
    pub exact_depth: bool,
}

impl SeparationSettings {
    /// Default for [`Self::max_boxes`]: a tenth of a second of work, and 32 MB of heap at worst.
    pub const MAX_BOXES: u32 = 1 << 20;

    /// Returns settings for a bracket of width `tolerance` \[m\], without a start point or a
    /// threshold.
    pub fn to_within(tolerance: f32) -> SeparationSettings {
        SeparationSettings {
            tolerance,
            threshold: None,
            start: None,
            max_boxes: SeparationSettings::MAX_BOXES,
            exact_depth: false,
        }
    }

    /// Returns the same settings with the depth of overlaps decided by exact distances.
    pub fn exactly(self) -> SeparationSettings {
        SeparationSettings {
            exact_depth: true,
            ..self
        }
    }
}

/// Reasons why the search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeparationOutcome {
    /// The bracket is within the tolerance.
    Converged,
    /// The separation is proven to be above or below the threshold; the bracket may be wide.
    Decided,
    /// The maximum number of boxes was reached. The bracket holds, but is wider than the tolerance.
    GaveUp,
}

/// Signed separation of two shapes with proven bounds, in frame A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Separation {
    /// Best estimate, between the bounds \[m\]; negative when overlapping.
    pub separation: f32,
    /// Proven lower bound of the true separation \[m\].
    pub lower_bound: f32,
    /// Proven upper bound of the true separation \[m\].
    pub upper_bound: f32,
    /// Contact point, where both fields are about half the separation \[m\].
    pub point: Vec3,
    /// Point of A that is nearest to B, or deepest in B \[m\].
    pub point_on_a: Vec3,
    /// Point of B that is nearest to A, or deepest in A \[m\].
    pub point_on_b: Vec3,
    /// Unit normal from A to B.
    pub normal: Vec3,
    /// Number of boxes visited.
    pub boxes: u32,
    /// Reason why the search ended.
    pub outcome: SeparationOutcome,
}

/// Relative precision: how much wider the bracket may be far above a level of interest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Precision {
    /// Separation of interest \[m\].
    pub(crate) level: f32,
    /// Fraction of the separation's excess over the level that the bracket may leave.
    pub(crate) share: f32,
    /// Separation at which the search ends as soon as the fields' values at a point are as small
    /// \[m\].
    pub(crate) enough: f32,
    /// Whether exact distances decide the depth of an overlap, where the bodies keep their faces.
    pub(crate) exact_depth: bool,
}

impl Precision {
    /// Equal precision everywhere, with the errors of the fields in the depth of an overlap.
    pub(crate) const EVEN: Precision = Precision {
        level: 0.0,
        share: 0.0,
        enough: f32::NEG_INFINITY,
        exact_depth: false,
    };

    /// Returns equal precision everywhere, with depths as the settings want them.
    pub(crate) fn of(settings: &SeparationSettings) -> Precision {
        Precision {
            exact_depth: settings.exact_depth,
            ..Precision::EVEN
        }
    }
}

/// Returns settings for queries at every time step: a tolerance relative to the cell size or, where
/// there are no cells, to the size of the smaller body, and a limit of some milliseconds. Bodies
/// inside bodies have valleys without a unique lowest place, in which a search without this limit
/// would spend more time.
pub(crate) fn quick(pair: &Pair<'_>) -> SeparationSettings {
    let cell_size = pair.a.cell_size().max(pair.b.cell_size());
    let diagonal = |shape: &Shape| shape.solid().diagonal();
    let smaller = diagonal(pair.a).min(diagonal(pair.b));
    SeparationSettings {
        max_boxes: 1 << 15,
        ..SeparationSettings::to_within(f32::max(0.05 * cell_size, 1e-4 * smaller))
    }
}

/// Returns the rounding error of points transformed in `f32` \[m\]: a few roundings of the largest
/// coordinate involved.
pub(crate) fn rounding(pair: &Pair<'_>) -> f32 {
    let reach = |solid: Aabb| {
        let corner = solid.min.abs().max(solid.max.abs());
        if corner.is_finite() {
            corner.length()
        } else {
            0.0
        }
    };
    let largest =
        reach(pair.a.solid()) + reach(pair.b.solid()) + pair.a_from_b.translation.length();
    8.0 * f32::EPSILON * largest
}

/// Returns a proven lower bound of the true distance at a point \[m\].
pub(crate) fn lower_value(field: &dyn Field, error: f32, point: Vec3) -> f32 {
    match field.meaning() {
        Meaning::Distance => field.distance(point) - error,
        Meaning::Bound => field.interval(Aabb::new(point, point)).lower - error,
    }
}

/// Returns the AABB of a transformed box.
pub(crate) fn turned_box(bounds: Aabb, pose: Pose) -> Aabb {
    if bounds.is_empty() {
        return bounds;
    }
    let rotation = Mat3::from_quat(pose.rotation);
    let (center, half) = (bounds.center(), bounds.half_extents());
    if !(center.is_finite() && half.is_finite()) {
        // Unbounded along some axis: after a rotation unbounded along all of them, unless the
        // rotation is near the identity.
        if pose.rotation.is_near_identity() {
            return Aabb::new(bounds.min + pose.translation, bounds.max + pose.translation);
        }
        return Aabb::EVERYTHING;
    }
    let reach = turned_half_extents(rotation, half);
    let rounding = 4.0 * f32::EPSILON * (half + center.abs()).length();
    Aabb::from_center(pose.transform_point(center), reach).grown(rounding)
}
