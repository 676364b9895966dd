//! What a separation is, how it is asked for, and what all ways to it share.

use crate::field::{Field, Meaning};
use crate::geom::{Aabb, Pose, turned_half_extents};
use crate::narrow::pair::Pair;
use crate::shape::Shape;
use glam::{Mat3, Vec3};

/// How well the separation is to be known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeparationSettings {
    /// Width of the bracket that the search may leave \[m\]. Between bodies with exact surfaces rounding comes on top while they are apart; else the errors of the
    /// fields, and, between bodies whose fields do not reach each other, the covering radii of their shells.
    pub tolerance: f32,
    /// Stop as soon as the separation is proven to be above or below this \[m\].
    pub threshold: Option<f32>,
    /// A point of frame A to begin at: the last minimiser of a pair that moved a little \[m\].
    pub start: Option<Vec3>,
    /// Boxes after which the search gives up with the bracket it has.
    pub max_boxes: u32,
}

impl SeparationSettings {
    /// Boxes that a search may visit unless told otherwise: a tenth of a second of work, and 32 MB of heap at the worst.
    pub const MAX_BOXES: u32 = 1 << 20;

    /// To within `tolerance` \[m\], cold and without a threshold.
    pub fn to_within(tolerance: f32) -> SeparationSettings {
        SeparationSettings {
            tolerance,
            threshold: None,
            start: None,
            max_boxes: SeparationSettings::MAX_BOXES,
        }
    }
}

/// Why the search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeparationOutcome {
    /// The search left no more than the tolerance.
    Converged,
    /// Which side of the threshold it lies on is proven; the bracket may be wide.
    Decided,
    /// So many boxes were visited as were allowed; the bracket holds, but is wider than asked.
    GaveUp,
}

/// How far two shapes are apart, or how deep they overlap. Everything is in frame A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Separation {
    /// Best estimate, between the bounds \[m\]; negative when overlapping.
    pub separation: f32,
    /// Proven: the true separation is not less \[m\].
    pub lower_bound: f32,
    /// Proven: the true separation is not more \[m\].
    pub upper_bound: f32,
    /// Where both fields are about half the separation: the contact point \[m\].
    pub point: Vec3,
    /// The point of A that is nearest, or deepest in B \[m\].
    pub point_on_a: Vec3,
    /// The point of B that is nearest, or deepest in A \[m\].
    pub point_on_b: Vec3,
    /// Unit, from A to B.
    pub normal: Vec3,
    /// Boxes that were visited.
    pub boxes: u32,
    /// Why the search ended.
    pub outcome: SeparationOutcome,
}

/// How much wider the bracket may be where the bodies are far from where it matters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Precision {
    /// The separation that matters \[m\].
    pub(crate) level: f32,
    /// The bracket may also leave this share of what the separation is above the level.
    pub(crate) share: f32,
    /// A point with a separation as small as this, by the fields' values, ends the search \[m\].
    pub(crate) enough: f32,
}

impl Precision {
    /// The same everywhere.
    pub(crate) const EVEN: Precision = Precision {
        level: 0.0,
        share: 0.0,
        enough: f32::NEG_INFINITY,
    };
}

/// For those who ask at every step: to a twentieth of a cell, or to 1e-4 of the smaller body where there are no cells, and with a limit of
/// some milliseconds. Bodies inside bodies have valleys without a single lowest place, where more would be lost.
pub(crate) fn quick(pair: &Pair<'_>) -> SeparationSettings {
    let cell_size = pair.a.cell_size().max(pair.b.cell_size());
    let diagonal = |shape: &Shape| shape.solid().diagonal();
    let smaller = diagonal(pair.a).min(diagonal(pair.b));
    SeparationSettings {
        max_boxes: 1 << 15,
        ..SeparationSettings::to_within(f32::max(0.05 * cell_size, 1e-4 * smaller))
    }
}

/// What points may be off that are turned and moved in `f32`: a few roundings of the largest coordinate in play \[m\].
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

/// A proven lower bound of the true distance at a point \[m\].
pub(crate) fn lower_value(field: &dyn Field, error: f32, point: Vec3) -> f32 {
    match field.meaning() {
        Meaning::Distance => field.distance(point) - error,
        Meaning::Bound => field.interval(Aabb::new(point, point)).lower - error,
    }
}

/// The box around a box that was turned and moved.
pub(crate) fn turned_box(bounds: Aabb, pose: Pose) -> Aabb {
    if bounds.is_empty() {
        return bounds;
    }
    let rotation = Mat3::from_quat(pose.rotation);
    let (center, half) = (bounds.center(), bounds.half_extents());
    if !(center.is_finite() && half.is_finite()) {
        // Endless along some axis; turned, along all of them, unless nothing is turned.
        if pose.rotation.is_near_identity() {
            return Aabb::new(bounds.min + pose.translation, bounds.max + pose.translation);
        }
        return Aabb::EVERYTHING;
    }
    let reach = turned_half_extents(rotation, half);
    let rounding = 4.0 * f32::EPSILON * (half + center.abs()).length();
    Aabb::from_center(pose.transform_point(center), reach).grown(rounding)
}
