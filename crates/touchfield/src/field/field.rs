//! The trait that every shape implements.

use std::sync::Arc;

use glam::Vec3;

use crate::field::recipe::Recipe;
use crate::geom::{Aabb, Interval};

/// Value and gradient of a field at a point.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[repr(C)]
pub struct Sample {
    /// Signed distance \[m\], negative inside.
    pub distance: f32,
    /// Points outward, towards growing distance. Of unit length where the field is a smooth true
    /// distance.
    pub gradient: Vec3,
}

/// A linear function that a field never falls below, over some box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LowerPlane {
    /// Value of the plane at the centre of the box \[m\].
    pub value: f32,
    /// Gradient of the plane.
    pub gradient: Vec3,
}

/// What the number that a field returns means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The true signed distance, within [`Field::error_bound`], everywhere in [`Field::bounds`].
    Distance,
    /// A bound with the right sign that is never farther from zero than the true distance by more
    /// than [`Field::error_bound`]. It is safe to step by, not to measure with. CSG of two true
    /// distances yields one.
    Bound,
}

/// A signed distance field: negative inside, positive outside, in its own frame.
///
/// Implementations are 1-Lipschitz up to their error: two values differ by at most the distance of
/// the points plus twice [`Field::error_bound`]. Outside [`Field::bounds`] the value is a proven
/// *lower bound* of the distance.
pub trait Field: Send + Sync {
    /// Returns the box within which [`Field::error_bound`] and [`Field::meaning`] hold. The solid
    /// lies inside it. It is infinite for a field that is valid everywhere and holds an unbounded
    /// solid.
    fn bounds(&self) -> Aabb;

    /// Returns the proven error bound \[m\]: inside [`Field::bounds`], |returned − true distance|
    /// is at most this.
    fn error_bound(&self) -> f32;

    /// Returns whether the value is a distance or only a bound of one.
    fn meaning(&self) -> Meaning {
        Meaning::Distance
    }

    /// Returns the signed distance at `point` \[m\].
    fn distance(&self, point: Vec3) -> f32;

    /// Returns the signed distance and the gradient at `point`.
    fn sample(&self, point: Vec3) -> Sample;

    /// Computes one distance per point, in order. `out` is cleared and refilled: no allocation once
    /// it has grown.
    fn distance_many(&self, points: &[Vec3], out: &mut Vec<f32>) {
        out.clear();
        out.extend(points.iter().map(|&point| self.distance(point)));
    }

    /// Computes one sample per point, in order. `out` is cleared and refilled: no allocation once
    /// it has grown.
    fn sample_many(&self, points: &[Vec3], out: &mut Vec<Sample>) {
        out.clear();
        out.extend(points.iter().map(|&point| self.sample(point)));
    }

    /// Returns an interval that contains the *true* distance of every point of `cell`, local error
    /// included.
    fn interval(&self, cell: Aabb) -> Interval;

    /// Returns a plane below the *true* distance over `cell`, local error included: at every point
    /// x of the cell the distance is at least `value + gradient · (x − center)`. `None` where
    /// nothing is known beyond the distance being 1-Lipschitz.
    ///
    /// Where two bodies face each other their planes nearly cancel, which bounds the gap to second
    /// order.
    fn lower_plane(&self, _cell: Aabb) -> Option<LowerPlane> {
        None
    }

    /// Returns the numbers from which the field can be rebuilt, for saving it. `None` for fields
    /// defined by code and for stored fields.
    fn recipe(&self) -> Option<Recipe> {
        None
    }
}

/// Implements [`Field`] for a pointer to a field, forwarding every call, the batched ones too.
macro_rules! field_behind {
    ($pointer:ty) => {
        impl<F: Field + ?Sized> Field for $pointer {
            fn bounds(&self) -> Aabb {
                (**self).bounds()
            }
            fn error_bound(&self) -> f32 {
                (**self).error_bound()
            }
            fn meaning(&self) -> Meaning {
                (**self).meaning()
            }
            fn distance(&self, point: Vec3) -> f32 {
                (**self).distance(point)
            }
            fn sample(&self, point: Vec3) -> Sample {
                (**self).sample(point)
            }
            fn distance_many(&self, points: &[Vec3], out: &mut Vec<f32>) {
                (**self).distance_many(points, out)
            }
            fn sample_many(&self, points: &[Vec3], out: &mut Vec<Sample>) {
                (**self).sample_many(points, out)
            }
            fn interval(&self, cell: Aabb) -> Interval {
                (**self).interval(cell)
            }
            fn lower_plane(&self, cell: Aabb) -> Option<LowerPlane> {
                (**self).lower_plane(cell)
            }
            fn recipe(&self) -> Option<Recipe> {
                (**self).recipe()
            }
        }
    };
}

field_behind!(&F);
field_behind!(Box<F>);
field_behind!(Arc<F>);
