//! Exact orientation tests over `glam` vectors. They return only signs: −1, 0 or 1.
//!
//! Input: finite points.
//! Output: the side of a line or plane that a point lies on; 0 only if the points are exactly
//! collinear or coplanar.
//! Cost: as plain arithmetic, except near 0, where precision is added until the sign is certain.
//! Not for: coordinates beyond about 1e±100, where products leave the range of `f64` and the sign
//! is arbitrary.
//!
//! Adaptive predicates of \[Shewchuk1997\], from the crate `robust`.

use glam::{DVec2, DVec3, Vec3Swizzles};
use robust::{Coord, Coord3D};

/// Returns the side of the plane `abc` that `d` lies on: 1 where the normal `(b − a) × (c − a)`
/// points.
#[inline]
pub(crate) fn side_of_plane(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> i8 {
    // Axis-aligned planes are common in designed parts, and would all take the slow exact path.
    if (a.cmpeq(b) & a.cmpeq(c) & a.cmpeq(d)).any() {
        return 0;
    }
    let coord = |p: DVec3| Coord3D {
        x: p.x,
        y: p.y,
        z: p.z,
    };
    // Shewchuk's sign is positive below the plane.
    -sign(robust::orient3d(coord(a), coord(b), coord(c), coord(d)))
}

/// The plane through three points, prepared for testing many points.
#[derive(Clone, Copy)]
pub(crate) struct Plane {
    pub(crate) corners: [DVec3; 3],
    /// `(b − a) × (c − a)`, rounded.
    normal: DVec3,
    /// Sum of the magnitudes of the products in `normal`; its rounding error is proportional to it.
    magnitude: DVec3,
}

impl Plane {
    pub(crate) fn new(corners: [DVec3; 3]) -> Plane {
        let [a, b, c] = corners;
        let (u, v) = (b - a, c - a);
        let (p, q) = (u.yzx() * v.zxy(), u.zxy() * v.yzx());
        Plane {
            corners,
            normal: p - q,
            magnitude: p.abs() + q.abs(),
        }
    }

    /// Returns the same sign as [`side_of_plane`], from the stored normal where rounding cannot
    /// change the sign, else from the exact test.
    #[inline]
    pub(crate) fn side(&self, point: DVec3) -> i8 {
        let [a, b, c] = self.corners;
        match self.clear_height(point) {
            Some(height) => sign(height),
            None => side_of_plane(a, b, c, point),
        }
    }

    /// Returns whether [`Self::side`] has to use the slow exact test.
    #[inline]
    pub(crate) fn is_near(&self, point: DVec3) -> bool {
        self.clear_height(point).is_none()
    }

    /// Returns the height over the plane, in units of the normal's length, or `None` if rounding
    /// may have changed its sign.
    #[inline]
    fn clear_height(&self, point: DVec3) -> Option<f64> {
        /// Every product goes through at most eight roundings of 2⁻⁵³ each, 8.9e-16; the rest is
        /// for their squares.
        const ROUNDING: f64 = 1e-15;
        /// Products this small may have lost digits to underflow.
        const TINY: f64 = 1e-290;
        let off = point - self.corners[0];
        let height = self.normal.dot(off);
        let doubt = ROUNDING * self.magnitude.dot(off.abs()) + TINY;
        (height.abs() > doubt).then_some(height)
    }
}

/// Returns the side of the line from `a` to `b` that `c` lies on: 1 on the left.
#[inline]
pub(crate) fn side_of_line(a: DVec2, b: DVec2, c: DVec2) -> i8 {
    let coord = |p: DVec2| Coord { x: p.x, y: p.y };
    sign(robust::orient2d(coord(a), coord(b), coord(c)))
}

/// Returns whether three points are exactly collinear: their projections along every axis are.
pub(crate) fn are_in_line(a: DVec3, b: DVec3, c: DVec3) -> bool {
    (0..3).all(|axis| {
        let [a, b, c] = [a, b, c].map(|p| without_axis(p, axis));
        side_of_line(a, b, c) == 0
    })
}

/// Drops the coordinate along `axis` and returns the others in cyclic order, which preserves
/// orientation as seen along the axis.
#[inline]
pub(crate) fn without_axis(p: DVec3, axis: usize) -> DVec2 {
    DVec2::new(p[(axis + 1) % 3], p[(axis + 2) % 3])
}

#[inline]
fn sign(x: f64) -> i8 {
    i8::from(x > 0.0) - i8::from(x < 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_follow_the_right_hand() {
        assert_eq!(side_of_plane(DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z), 1);
        assert_eq!(
            side_of_plane(DVec3::ZERO, DVec3::X, DVec3::Y, -DVec3::Z),
            -1
        );
        assert_eq!(
            side_of_plane(DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::ONE.with_z(0.0)),
            0
        );
        assert_eq!(side_of_line(DVec2::ZERO, DVec2::X, DVec2::Y), 1);
        let flat = [DVec3::ZERO, DVec3::X, DVec3::Y].map(|p| without_axis(p, 2));
        assert_eq!(side_of_line(flat[0], flat[1], flat[2]), 1);
    }
}
