//! Both fields in one frame, and the box in which the bodies may overlap, for the methods that
//! search space.
//!
//! Input: a [`Pair`].
//! Output: values of both fields at points of the search frame, and contacts in frame A.
//! Cost: two field values per point; no allocation once the buffers have grown.
//! Not for: methods that walk a surface (see `probe`).
//!
//! The search frame is that of the smaller body, whichever is called A, so that exchanging A and B
//! only reverses the normals ([`Overlap::in_frame_of_a`] is an exception). A point x is near both
//! bodies if `max(φA(x), φB(x)) ≤ max_separation / 2`: two bodies that are s apart meet midway, at
//! s / 2.

use std::cmp::Ordering;

use glam::{Mat3, Vec3};

use crate::contact::{Contact, ContactId};
use crate::field::{Field, Meaning, Sample};
use crate::geom::{Aabb, Pose, Tolerance, turned_half_extents};
use crate::narrow::pair::{CollideError, Pair};
use crate::narrow::search::exchange::lexicographic;

/// A pair of fields in the search frame, which is the frame of `first`.
pub(crate) struct Overlap<'a> {
    pub(crate) first: &'a dyn Field,
    pub(crate) second: &'a dyn Field,
    second_from_search: Mat3,
    translation: Vec3,
    /// Bounds of the second body in its own frame, grown by the rounding of points.
    second_solid: Aabb,
    a_from_search: Pose,
    pub(crate) second_from_first: Pose,
    /// Whether `first` is A.
    pub(crate) first_is_a: bool,
    /// Common box: where both bodies, grown by `reach`, may be.
    pub(crate) bounds: Aabb,
    /// Half of `max_separation` \[m\].
    pub(crate) reach: f32,
    /// Error bounds of the two fields \[m\]; the second includes the rounding of its points.
    pub(crate) errors: [f32; 2],
    /// Residual at which a projection onto a surface may stop \[m\].
    pub(crate) residual: f32,
    /// Rounding of points that are transformed from one body to the other \[m\].
    pub(crate) rounding: f32,
}

/// Buffers for points in the second frame and field values.
#[derive(Debug, Default)]
pub(crate) struct OverlapBuffers {
    points_in_second: Vec<Vec3>,
    pub(crate) first: Vec<f32>,
    pub(crate) second: Vec<f32>,
    pub(crate) first_samples: Vec<Sample>,
    pub(crate) second_samples: Vec<Sample>,
}

/// Samples of both fields at one point, with gradients in the search frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Both {
    pub(crate) first: Sample,
    pub(crate) second: Sample,
}

impl Both {
    /// Returns `max(φA, φB)` \[m\], which is half the separation at the best point.
    pub(crate) fn value(self) -> f32 {
        self.first.distance.max(self.second.distance)
    }
}

impl<'a> Overlap<'a> {
    /// Builds the overlap of a pair, or returns `None` if the boxes of the two bodies are more than
    /// `max_separation` apart.
    pub(crate) fn new(
        pair: &Pair<'a>,
        max_separation: f32,
    ) -> Result<Option<Overlap<'a>>, CollideError> {
        let reach = 0.5 * max_separation;
        let first_is_a = a_is_smaller(pair);
        Overlap::with_box(
            pair,
            first_is_a,
            reach,
            |own, other, transform, rounding| {
                let other = transformed(other, transform);
                let margin = reach + rounding;
                own.grown(margin).intersection(other.grown(margin))
            },
        )
    }

    /// Builds the overlap in the frame of A, whichever body is smaller. Its box is that of
    /// \[Krayer2020\], §4.1: the box of A and the axis-aligned box of the corners of B's, neither
    /// grown.
    pub(crate) fn in_frame_of_a(pair: &Pair<'a>) -> Result<Option<Overlap<'a>>, CollideError> {
        let a_from_b = pair.a_from_b;
        Overlap::with_box(pair, true, 0.0, |own, other, _, _| {
            if !other.is_finite() {
                return own;
            }
            let corners = other.corners();
            let turn = Mat3::from_quat(a_from_b.rotation);
            let moved = corners.map(|corner| turn * corner + a_from_b.translation);
            own.intersection(Aabb::of_points(moved))
        })
    }

    /// Builds the overlap with the common box that `common` computes from the box of the first
    /// body, that of the second in its own frame, the pose of the second in the frame of the first,
    /// and the rounding of points.
    fn with_box(
        pair: &Pair<'a>,
        first_is_a: bool,
        reach: f32,
        common: impl FnOnce(Aabb, Aabb, Pose, f32) -> Aabb,
    ) -> Result<Option<Overlap<'a>>, CollideError> {
        let b_from_a = pair.a_from_b.inverse();
        let (first, second, second_from_first, a_from_search) = if first_is_a {
            (pair.a, pair.b, b_from_a, Pose::IDENTITY)
        } else {
            (pair.b, pair.a, pair.a_from_b, pair.a_from_b)
        };
        let own = first.solid();
        if own.is_empty() || second.solid().is_empty() {
            return Ok(None);
        }
        // In the frame of A, an unbounded A may meet a bounded B.
        let size = own.diagonal().min(second.solid().diagonal());
        if !size.is_finite() || (!first_is_a && !own.diagonal().is_finite()) {
            return Err(CollideError::Unbounded);
        }
        let diagonal = if own.is_finite() {
            own.diagonal()
        } else {
            size
        };
        // A point that is rotated and translated loses a few of the last places of the largest
        // number involved.
        let bounded = if own.is_finite() { own } else { second.solid() };
        let far = bounded.min.abs().max(bounded.max.abs()).max_element();
        let rounding =
            8.0 * f32::EPSILON * (2.0 * far + second_from_first.translation.abs().max_element());
        let first_from_second = second_from_first.inverse();
        let bounds = common(own, second.solid(), first_from_second, rounding);
        if bounds.is_empty() {
            return Ok(None);
        }
        let cell = first.cell_size().max(second.cell_size());
        let residual = Tolerance::for_size(diagonal).projection_residual(cell);
        Ok(Some(Overlap {
            first: first.field(),
            second: second.field(),
            second_from_search: Mat3::from_quat(second_from_first.rotation),
            translation: second_from_first.translation,
            second_solid: second.solid().grown(rounding),
            a_from_search,
            second_from_first,
            first_is_a,
            bounds,
            reach,
            errors: [
                first.field().error_bound(),
                second.field().error_bound() + rounding,
            ],
            // A residual below the rounding of the points would gain nothing.
            residual: residual.max(rounding),
            rounding,
        }))
    }

    /// Returns whether one of the fields is only a bound of the distance.
    pub(crate) fn is_bound(&self) -> bool {
        [self.first, self.second]
            .iter()
            .any(|field| field.meaning() == Meaning::Bound)
    }

    /// Returns the larger of the two error bounds \[m\].
    pub(crate) fn error(&self) -> f32 {
        self.errors[0].max(self.errors[1])
    }

    /// Transforms a point of the search frame to frame A.
    pub(crate) fn to_a(&self, point: Vec3) -> Vec3 {
        self.a_from_search.transform_point(point)
    }

    /// Computes distances to the first body.
    pub(crate) fn first_many(&self, points: &[Vec3], buffers: &mut OverlapBuffers) {
        self.first.distance_many(points, &mut buffers.first);
    }

    /// Returns a proven lower bound of the distance from a point to the second body \[m\], from its
    /// box alone.
    pub(crate) fn second_at_least(&self, point: Vec3) -> f32 {
        (self.second_solid).distance(self.second_from_search * point + self.translation)
    }

    /// Computes distances to the second body.
    pub(crate) fn second_many(&self, points: &[Vec3], buffers: &mut OverlapBuffers) {
        self.to_second(points, buffers);
        (self.second).distance_many(&buffers.points_in_second, &mut buffers.second);
    }

    /// Samples both fields. Gradients of the second stay in its own frame (see [`Self::both`]).
    pub(crate) fn sample_many(&self, points: &[Vec3], buffers: &mut OverlapBuffers) {
        self.to_second(points, buffers);
        self.first.sample_many(points, &mut buffers.first_samples);
        (self.second).sample_many(&buffers.points_in_second, &mut buffers.second_samples);
    }

    /// Returns the samples at one point of [`Self::sample_many`], with gradients in the search
    /// frame.
    pub(crate) fn both(&self, index: usize, buffers: &OverlapBuffers) -> Both {
        Both {
            first: buffers.first_samples[index],
            second: self.turned(buffers.second_samples[index]),
        }
    }

    /// Samples both fields at one point.
    pub(crate) fn sample(&self, point: Vec3) -> Both {
        Both {
            first: self.first.sample(point),
            second: self.turned(
                self.second
                    .sample(self.second_from_search * point + self.translation),
            ),
        }
    }

    fn to_second(&self, points: &[Vec3], buffers: &mut OverlapBuffers) {
        buffers.points_in_second.clear();
        let turned = points
            .iter()
            .map(|&point| self.second_from_search * point + self.translation);
        buffers.points_in_second.extend(turned);
    }

    fn turned(&self, sample: Sample) -> Sample {
        Sample {
            distance: sample.distance,
            gradient: self.second_from_search.transpose() * sample.gradient,
        }
    }

    /// Builds the contact at a point of the search frame, given the unit normal from the first body
    /// to the second.
    pub(crate) fn contact(
        &self,
        id: u32,
        point: Vec3,
        first_to_second: Vec3,
        separation: f32,
    ) -> Contact {
        let normal = (self.a_from_search).transform_vector(first_to_second);
        Contact {
            point: self.to_a(point),
            normal: if self.first_is_a { normal } else { -normal },
            separation,
            id: ContactId(id),
        }
    }

    /// Returns the unit vector from the centre of the first field's bounds to the centre of the
    /// common box: the fallback for a normal.
    pub(crate) fn apart(&self) -> Vec3 {
        let middle = self.first.bounds().center();
        let towards = self.bounds.center() - middle;
        (towards.is_finite().then_some(towards))
            .and_then(Vec3::try_normalize)
            .unwrap_or(Vec3::Z)
    }
}

/// Returns whether A is the smaller body. For bodies of equal size the pose decides, so that A and
/// B may change places.
pub(crate) fn a_is_smaller(pair: &Pair<'_>) -> bool {
    let b_from_a = pair.a_from_b.inverse();
    let sizes = [pair.a, pair.b].map(|shape| shape.solid().diagonal());
    let order = (sizes[0].total_cmp(&sizes[1]))
        .then_with(|| lexicographic(pair.a_from_b.translation, b_from_a.translation))
        .then_with(|| lexicographic(axis(pair.a_from_b), axis(b_from_a)));
    order != Ordering::Greater
}

/// Returns the vector part of the rotation, which changes its sign when the pose is inverted.
fn axis(pose: Pose) -> Vec3 {
    Vec3::new(pose.rotation.x, pose.rotation.y, pose.rotation.z)
}

/// Returns the AABB of a transformed box; [`Aabb::EVERYTHING`] if the box is unbounded.
fn transformed(bounds: Aabb, pose: Pose) -> Aabb {
    let half = bounds.half_extents();
    if !half.is_finite() {
        return Aabb::EVERYTHING;
    }
    let size = turned_half_extents(Mat3::from_quat(pose.rotation), half);
    Aabb::from_center(pose.transform_point(bounds.center()), size)
}
