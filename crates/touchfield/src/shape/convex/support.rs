//! Support functions: the point of a convex set farthest along a direction, and sets composed of
//! sets.
//!
//! Input: a direction, and the hint of the last search.
//! Output: a point of the set.
//! Cost: that of the parts.
//! Not for: concave sets, which are treated as their convex hulls.
//!
//! \[Lecture06\] takes the *least* point along a direction; here it is the farthest, so that the
//! support of a difference is `support(A ⊖ B, d) = support(A, d) − support(B, −d)`.

use glam::{DMat3, DVec3};

use crate::geom::{Pose, rotation_matrix};

/// A convex set, given by its support function.
pub trait Support {
    /// Result of a search that a later search may start from.
    type Hint: Copy + Default + std::fmt::Debug;

    /// Returns a point farthest along `direction` \[m\]. The direction may have any length; 0 gives
    /// any point.
    fn support(&self, direction: DVec3, hint: &mut Self::Hint) -> DVec3;

    /// Looks up where to search along a direction, for [`Self::support_from`]. A search over two
    /// sets does both lookups first, so that neither memory access waits for the other.
    #[inline(always)]
    fn look_up(&self, _direction: DVec3) -> usize {
        0
    }

    /// Returns the same point as [`Self::support`], given the result of [`Self::look_up`] for this
    /// direction.
    #[inline(always)]
    fn support_from(&self, direction: DVec3, _place: usize, hint: &mut Self::Hint) -> DVec3 {
        self.support(direction, hint)
    }

    /// Returns an upper bound on the absolute coordinates of the set's points \[m\].
    fn extent(&self) -> f64;
}

impl<S: Support + ?Sized> Support for &S {
    type Hint = S::Hint;

    #[inline(always)]
    fn support(&self, direction: DVec3, hint: &mut Self::Hint) -> DVec3 {
        (**self).support(direction, hint)
    }

    #[inline(always)]
    fn look_up(&self, direction: DVec3) -> usize {
        (**self).look_up(direction)
    }

    #[inline(always)]
    fn support_from(&self, direction: DVec3, place: usize, hint: &mut Self::Hint) -> DVec3 {
        (**self).support_from(direction, place, hint)
    }

    #[inline(always)]
    fn extent(&self) -> f64 {
        (**self).extent()
    }
}

/// The Minkowski sum `A ⊕ B`: all sums of a point of A and a point of B.
#[derive(Clone, Copy, Debug)]
pub struct MinkowskiSum<A, B>(pub A, pub B);

impl<A: Support, B: Support> Support for MinkowskiSum<A, B> {
    type Hint = (A::Hint, B::Hint);

    fn support(&self, direction: DVec3, hint: &mut Self::Hint) -> DVec3 {
        self.0.support(direction, &mut hint.0) + self.1.support(direction, &mut hint.1)
    }

    fn extent(&self) -> f64 {
        self.0.extent() + self.1.extent()
    }
}

/// The Minkowski difference `A ⊖ B`: all differences of a point of A and a point of B. It contains
/// the origin if the sets share a point.
#[derive(Clone, Copy, Debug)]
pub struct MinkowskiDifference<A, B>(pub A, pub B);

impl<A: Support, B: Support> Support for MinkowskiDifference<A, B> {
    type Hint = (A::Hint, B::Hint);

    fn support(&self, direction: DVec3, hint: &mut Self::Hint) -> DVec3 {
        self.0.support(direction, &mut hint.0) - self.1.support(-direction, &mut hint.1)
    }

    fn extent(&self) -> f64 {
        self.0.extent() + self.1.extent()
    }
}

/// A translated set `A ⊕ t`.
#[derive(Clone, Copy, Debug)]
pub struct Translated<A> {
    /// Set before the translation.
    pub set: A,
    /// Translation vector \[m\].
    pub by: DVec3,
}

impl<A: Support> Support for Translated<A> {
    type Hint = A::Hint;

    fn support(&self, direction: DVec3, hint: &mut Self::Hint) -> DVec3 {
        self.set.support(direction, hint) + self.by
    }

    fn extent(&self) -> f64 {
        self.set.extent() + self.by.abs().max_element()
    }
}

/// A set transformed to another frame.
#[derive(Clone, Copy, Debug)]
pub struct Posed<B> {
    /// Set in its own frame B.
    pub set: B,
    rotation: DMat3,
    translation: DVec3,
}

impl<B> Posed<B> {
    /// Transforms a set from frame B to frame A. The quaternion is normalised in `f64`.
    pub fn new(set: B, a_from_b: Pose) -> Posed<B> {
        Posed {
            set,
            rotation: rotation_matrix(a_from_b.rotation),
            translation: a_from_b.translation.as_dvec3(),
        }
    }

    /// Returns whether the rotation and the translation are finite.
    pub fn is_finite(&self) -> bool {
        self.rotation.is_finite() && self.translation.is_finite()
    }

    /// Transforms a point from B to A.
    #[inline]
    pub fn to_a(&self, point_in_b: DVec3) -> DVec3 {
        self.rotation * point_in_b + self.translation
    }

    /// Transforms a point from A to B.
    #[inline]
    pub fn to_b(&self, point_in_a: DVec3) -> DVec3 {
        self.direction_to_b(point_in_a - self.translation)
    }

    /// Rotates a direction from A to B.
    #[inline]
    pub fn direction_to_b(&self, direction: DVec3) -> DVec3 {
        let DMat3 {
            x_axis,
            y_axis,
            z_axis,
        } = self.rotation;
        DVec3::new(
            x_axis.dot(direction),
            y_axis.dot(direction),
            z_axis.dot(direction),
        )
    }

    /// Returns the transform without the set.
    #[inline]
    pub(crate) fn place(&self) -> Posed<()> {
        Posed {
            set: (),
            rotation: self.rotation,
            translation: self.translation,
        }
    }

    /// Returns an upper bound on the displacement, since the earlier pose `before`, of any point of
    /// B within `reach` of `pivot` \[m\].
    #[inline]
    pub(crate) fn way_from(&self, before: &Posed<()>, pivot: DVec3, reach: f64) -> f64 {
        /// Generous bounds on rounding: relative for the whole, and absolute for the angle.
        const SHARE: f64 = 1.0 + 1e-9;
        const ANGLE: f64 = 1e-14;
        // A rotation displaces all directions perpendicular to its axis by the same factor, so the
        // root of the sum of squares is √2 times that factor.
        let turned = self.rotation - before.rotation;
        let squares = turned.x_axis.length_squared()
            + turned.y_axis.length_squared()
            + turned.z_axis.length_squared();
        let moved = turned * pivot + (self.translation - before.translation);
        SHARE * (((0.5 * squares).sqrt() + ANGLE) * reach + moved.length())
    }

    /// Rotates a direction from B to A.
    #[inline]
    pub fn direction_to_a(&self, direction: DVec3) -> DVec3 {
        self.rotation * direction
    }
}

impl<B: Support> Support for Posed<B> {
    type Hint = B::Hint;

    #[inline]
    fn support(&self, direction: DVec3, hint: &mut Self::Hint) -> DVec3 {
        self.to_a(self.set.support(self.direction_to_b(direction), hint))
    }

    #[inline]
    fn extent(&self) -> f64 {
        // The bound for a rotated cube is the distance to its corners.
        3f64.sqrt() * self.set.extent() + self.translation.abs().max_element()
    }
}
