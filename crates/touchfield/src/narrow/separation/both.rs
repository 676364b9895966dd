//! Two fields as functions of one point, for searches over boxes.
//!
//! Input: a [`Pair`], points of frame A.
//! Output: values of both fields, lower bounds over boxes, a place where both are small.
//! Cost: two field values per point; a descent takes some fifty.
//! Not for: proofs of the upper bound, which searches make at their best point.

use glam::{Mat3, Vec3};

use crate::field::Sample;
use crate::geom::{Aabb, Pose, turned_half_extents};
use crate::narrow::pair::{CollideError, Pair};
use crate::narrow::separation::answer::{lower_value, rounding, turned_box};
use crate::shape::Shape;

/// Both fields as functions of a point in frame A.
pub(crate) struct Both<'a> {
    pub(crate) a: &'a Shape,
    pub(crate) b: &'a Shape,
    pub(crate) a_from_b: Pose,
    b_from_a: (Mat3, Vec3),
    /// Error of a value of A's field; a value minus its error bounds the true distance from below
    /// \[m\].
    pub(crate) error_a: f32,
    /// Error of a value of B's field \[m\].
    pub(crate) error_b: f32,
    /// Rounding error of a point taken from A to B, and of the few sums made with it \[m\].
    pub(crate) rounding: f32,
    /// Bounds of B's solid, in frame A.
    pub(crate) solid_b: Aabb,
}

impl<'a> Both<'a> {
    pub(crate) fn of(pair: &Pair<'a>) -> Result<Both<'a>, CollideError> {
        let Pair { a, b, a_from_b } = *pair;
        let b_from_a = a_from_b.inverse();
        let solid_b = turned_box(b.solid(), a_from_b);
        if a.solid().is_empty() || b.solid().is_empty() {
            return Err(CollideError::Empty);
        }
        if !a.solid().is_finite() && !b.solid().is_finite() {
            return Err(CollideError::Unbounded);
        }
        let rounding = rounding(pair);
        Ok(Both {
            a,
            b,
            a_from_b,
            b_from_a: (Mat3::from_quat(b_from_a.rotation), b_from_a.translation),
            error_a: a.field().error_bound() + rounding,
            error_b: b.field().error_bound() + rounding,
            rounding,
            solid_b,
        })
    }

    pub(crate) fn to_b(&self, point_in_a: Vec3) -> Vec3 {
        self.b_from_a.0 * point_in_a + self.b_from_a.1
    }

    /// Returns a proven lower bound of `max(φA, φB)` at a point \[m\].
    pub(crate) fn low(&self, point: Vec3) -> f32 {
        let low_a = lower_value(self.a.field(), self.error_a, point);
        low_a.max(lower_value(self.b.field(), self.error_b, self.to_b(point)))
    }

    /// Returns the samples of both fields, with gradients in frame A.
    pub(crate) fn sample(&self, point: Vec3) -> [Sample; 2] {
        let in_b = self.b.field().sample(self.to_b(point));
        let gradient = self.a_from_b.transform_vector(in_b.gradient);
        [self.a.field().sample(point), Sample { gradient, ..in_b }]
    }

    /// Returns a lower bound of `max(φA, φB)` in a box \[m\], from planes below both fields. Where
    /// the gradients cancel, it is exact to second order in the box's size.
    ///
    /// For every weight `λ` from 0 to 1, `max(φA, φB) ≥ λ φA + (1 − λ) φB`, and a linear function
    /// is least at a corner of the box. The best weight lies at an end, or where a component of the
    /// joint gradient changes its sign.
    pub(crate) fn lower_by_planes(&self, center: Vec3, half: Vec3) -> Option<f32> {
        let plane_a = self
            .a
            .field()
            .lower_plane(Aabb::from_center(center, half))?;
        let half_b = turned_half_extents(self.b_from_a.0, half);
        // Grown by what the rotation may have rounded away.
        let cell_b = Aabb::from_center(self.to_b(center), half_b).grown(self.rounding);
        let plane_b = self.b.field().lower_plane(cell_b)?;
        let (slope_a, slope_b) = (
            plane_a.gradient,
            self.a_from_b.transform_vector(plane_b.gradient),
        );
        let at = |share: f32| {
            let slope = share * slope_a + (1.0 - share) * slope_b;
            share * plane_a.value + (1.0 - share) * plane_b.value - slope.abs().dot(half)
        };
        let crossings = slope_b / (slope_b - slope_a);
        let mut lower = at(0.0).max(at(1.0));
        for share in crossings.to_array() {
            // NaN where the components are equal: then the axis gives no candidate.
            if share > 0.0 && share < 1.0 {
                lower = lower.max(at(share));
            }
        }
        Some(lower - self.rounding)
    }

    /// Returns a starting point: the middle between the boxes where they are apart, the centre of
    /// their overlap where they are not.
    pub(crate) fn first_guess(&self) -> Vec3 {
        let (a, b) = (self.a.solid(), self.solid_b);
        let overlap = a.intersection(b);
        // Along an axis on which the boxes are apart, min and max are swapped, and the middle is
        // that of the gap.
        let middle = overlap.center();
        if middle.is_finite() {
            return middle;
        }
        // One box is unbounded along some axis: use the centre of the other, if it is finite.
        let finite = if a.is_finite() { a } else { b };
        let center = finite.center();
        if center.is_finite() {
            center
        } else {
            Vec3::ZERO
        }
    }

    /// Descends on `max(φA, φB)` from a point: first to where both values are equal, then along
    /// their common slope.
    ///
    /// It only provides a starting guess for the search: it proves nothing, and may stop anywhere.
    pub(crate) fn descend(&self, from: Vec3, tolerance: f32) -> Vec3 {
        /// Tuned: with fewer steps the search has a poor start, more cost as much as the boxes they
        /// save.
        const STEPS: usize = 24;
        let larger = |[a, b]: &[Sample; 2]| a.distance.max(b.distance);
        let mut best = (from, self.sample(from));
        // The length that the step would need if the bodies had the curvature of the distance
        // itself.
        let mut stride = 0.5 * larger(&best.1).abs();
        let mut point = downhill(from, &best.1, stride);
        for _ in 1..STEPS {
            let samples = self.sample(point);
            if larger(&samples) < larger(&best.1) {
                best = (point, samples);
                stride *= 1.5;
            } else {
                // Return to the best point and take a shorter step.
                stride *= 0.4;
                if stride < 0.1 * tolerance {
                    break;
                }
            }
            point = downhill(best.0, &best.1, stride);
        }
        best.0
    }
}

/// Returns `point` moved by one step of descent: to where both values would be equal, and `stride`
/// \[m\] down their common slope.
fn downhill(point: Vec3, [a, b]: &[Sample; 2], stride: f32) -> Vec3 {
    // Moving by s along −∇φ of the larger lowers it by s and the other by s·cos.
    let cosine = a.gradient.dot(b.gradient).clamp(-1.0, 1.0);
    let difference = a.distance - b.distance;
    // Planes with parallel gradients never meet; half the way down the larger is as good as any.
    let length = (difference.abs() / (1.0 - cosine).max(0.25)).min(difference.abs() * 2.0);
    let down = if difference > 0.0 {
        -a.gradient
    } else {
        -b.gradient
    };
    point + length * down - stride * 0.5 * (a.gradient + b.gradient)
}
