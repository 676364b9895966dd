//! Support functions: the point of a convex set that is farthest along a direction, and sets made of sets.
//!
//! Input: a direction, and where the last search ended. Output: a point of the set. Cost: that of its parts.
//! Not for: sets that are not convex; they look like their hulls.
//!
//! The lecture (document 004) takes the *least* along a direction; here it is the farthest, so that the support of a difference reads
//! `support(A ⊖ B, d) = support(A, d) − support(B, −d)`.

use glam::{DMat3, DVec3};

use crate::geom::{Pose, rotation_matrix};

/// A convex set, as the point of it that is farthest along a direction.
pub trait Support {
    /// Where a search ended, for the next one to begin at.
    type Hint: Copy + Default + std::fmt::Debug;

    /// A point that is farthest along `direction`, which may have any length; any point for 0 \[m\].
    fn support(&self, direction: DVec3, hint: &mut Self::Hint) -> DVec3;

    /// Where the set knows to look along a direction, for [`Self::support_from`]: a search of two sets looks that up for both before it looks there, for neither has to wait for the other then.
    #[inline(always)]
    fn look_up(&self, _direction: DVec3) -> usize {
        0
    }

    /// The same as [`Self::support`], from what [`Self::look_up`] said of this direction.
    #[inline(always)]
    fn support_from(&self, direction: DVec3, _place: usize, hint: &mut Self::Hint) -> DVec3 {
        self.support(direction, hint)
    }

    /// No coordinate of a point of it is larger \[m\].
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

/// `A ⊕ B`: every sum of a point of one and a point of the other.
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

/// `A ⊖ B`: every difference of a point of A and a point of B. It holds the origin if they have a point in common.
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

/// `A ⊕ t`: a set moved by a vector.
#[derive(Clone, Copy, Debug)]
pub struct Translated<A> {
    /// The set.
    pub set: A,
    /// Where to \[m\].
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

/// A set seen from another frame.
#[derive(Clone, Copy, Debug)]
pub struct Posed<B> {
    /// The set, in its own frame B.
    pub set: B,
    rotation: DMat3,
    translation: DVec3,
}

impl<B> Posed<B> {
    /// A set of frame B, in frame A. The rotation is that of the quaternion made unit in `f64`.
    pub fn new(set: B, a_from_b: Pose) -> Posed<B> {
        Posed {
            set,
            rotation: rotation_matrix(a_from_b.rotation),
            translation: a_from_b.translation.as_dvec3(),
        }
    }

    /// Whether the pose is one: finite, with a rotation.
    pub fn is_finite(&self) -> bool {
        self.rotation.is_finite() && self.translation.is_finite()
    }

    /// A point given in B, in A.
    #[inline]
    pub fn to_a(&self, point_in_b: DVec3) -> DVec3 {
        self.rotation * point_in_b + self.translation
    }

    /// A point given in A, in B.
    #[inline]
    pub fn to_b(&self, point_in_a: DVec3) -> DVec3 {
        self.direction_to_b(point_in_a - self.translation)
    }

    /// A direction given in A, in B.
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

    /// Where it is, without what.
    #[inline]
    pub(crate) fn place(&self) -> Posed<()> {
        Posed {
            set: (),
            rotation: self.rotation,
            translation: self.translation,
        }
    }

    /// No point of B within `reach` of `pivot` is farther from where it was before \[m\].
    #[inline]
    pub(crate) fn way_from(&self, before: &Posed<()>, pivot: DVec3, reach: f64) -> f64 {
        /// What rounding may take off, by far: of all, and of the angle.
        const SHARE: f64 = 1.0 + 1e-9;
        const ANGLE: f64 = 1e-14;
        // A turn stretches what is at right angles to its axis, by the same both ways: the root of the sum of squares is √2 times that.
        let turned = self.rotation - before.rotation;
        let squares = turned.x_axis.length_squared()
            + turned.y_axis.length_squared()
            + turned.z_axis.length_squared();
        let moved = turned * pivot + (self.translation - before.translation);
        SHARE * (((0.5 * squares).sqrt() + ANGLE) * reach + moved.length())
    }

    /// A direction given in B, in A.
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
        // A cube, turned, reaches as far as its corners.
        3f64.sqrt() * self.set.extent() + self.translation.abs().max_element()
    }
}
