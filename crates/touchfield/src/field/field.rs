//! The one trait that every shape answers to.

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
    /// Points outward, towards growing distance; of unit length where the field is a smooth true distance.
    pub gradient: Vec3,
}

/// A linear function that a field never falls below, over some box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LowerPlane {
    /// At the centre of the box \[m\].
    pub value: f32,
    /// Of the linear function.
    pub gradient: Vec3,
}

/// What the number a field returns means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The true signed distance, within [`Field::error_bound`], everywhere in [`Field::bounds`].
    Distance,
    /// Right sign, and never farther from zero than the true distance by more than [`Field::error_bound`].
    /// Safe to step by, not to measure with: what CSG leaves of two true distances.
    Bound,
}

/// A signed distance field: negative inside, positive outside, in its own frame.
///
/// Implementations are 1-Lipschitz up to their error: two values differ by at most the distance of the points
/// plus twice [`Field::error_bound`]. Outside [`Field::bounds`] the value is a proven *lower bound* of the distance.
pub trait Field: Send + Sync {
    /// The box within which the field is as good as it says; the solid lies inside it. Infinite for
    /// a field that is good everywhere and holds an unbounded solid.
    fn bounds(&self) -> Aabb;

    /// Proven: inside [`Field::bounds`], |returned − true distance| is at most this \[m\].
    fn error_bound(&self) -> f32;

    /// Whether the value is a distance or only a bound of one.
    fn meaning(&self) -> Meaning {
        Meaning::Distance
    }

    /// Signed distance at `point` \[m\].
    fn distance(&self, point: Vec3) -> f32;

    /// Signed distance and gradient at `point`.
    fn sample(&self, point: Vec3) -> Sample;

    /// One distance a point, in order. `out` is cleared and refilled: no allocation once it has grown.
    fn distance_many(&self, points: &[Vec3], out: &mut Vec<f32>) {
        out.clear();
        out.extend(points.iter().map(|&point| self.distance(point)));
    }

    /// One sample a point, in order. `out` is cleared and refilled: no allocation once it has grown.
    fn sample_many(&self, points: &[Vec3], out: &mut Vec<Sample>) {
        out.clear();
        out.extend(points.iter().map(|&point| self.sample(point)));
    }

    /// Holds the *true* distance of every point of `cell`, local error included.
    fn interval(&self, cell: Aabb) -> Interval;

    /// A plane below the *true* distance over `cell`, local error included: at every point x of it the distance is at least
    /// `value + gradient · (x − center)`. `None` where nothing is known beyond the distance being 1-Lipschitz.
    ///
    /// Where two bodies face each other their planes nearly cancel, which bounds the gap to second order.
    fn lower_plane(&self, _cell: Aabb) -> Option<LowerPlane> {
        None
    }

    /// How it can be made again from numbers alone, by those who save it. `None` for code and for what is stored.
    fn recipe(&self) -> Option<Recipe> {
        None
    }
}

/// A pointer to a field is a field: every call goes to what it points at, the batched ones too.
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
