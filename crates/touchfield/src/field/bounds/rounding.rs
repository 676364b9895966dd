//! Rounding analysis for `f32`: lengths that neither overflow nor vanish, and margins that make a
//! bound hold.
//!
//! Input: lengths and vectors of any finite size.
//! Output: lengths within two units in the last place, and margins.
//! Cost: one comparison more than the plain formula; `f64` only where squares would leave the range
//! of `f32`.
//! Not for: errors of a method (interpolation, sampling); the field that makes them accounts for
//! those.
//!
//! One rounding errs by at most `u = EPSILON / 2` of its result. The closed forms do up to a dozen
//! of them on numbers no larger than the *magnitude*: the size of the shape plus the largest
//! coordinate of the point.

use glam::{Vec2, Vec3};

use crate::field::field::{LowerPlane, Sample};
use crate::geom::{Aabb, Interval};

/// Returns the worst rounding error of a closed form whose numbers stay below `magnitude` \[m\]: 16
/// `u`.
///
/// The longest, the cone's, does three for the radius and three for its corner, five for the line
/// of its side.
pub(crate) fn error_of(magnitude: f32) -> f32 {
    8.0 * f32::EPSILON * magnitude + f32::MIN_POSITIVE
}

/// Returns the margin for the ends of an interval \[m\]: four times [`error_of`], for the value
/// (whose point may have a length of √3 times its largest coordinate), the cell's centre and
/// half-diagonal, and the last sum.
pub(crate) fn slack(magnitude: f32) -> f32 {
    32.0 * f32::EPSILON * magnitude + f32::MIN_POSITIVE
}

/// Squares in this range are exact enough: far from overflow, and far from the subnormal numbers.
const SAFE_SQUARES: std::ops::Range<f32> = 1e-30..1e30;

/// Returns the length of `v` \[m\], also where its square overflows or underflows. At most the
/// largest finite number.
pub(crate) fn length(v: Vec3) -> f32 {
    let squared = v.length_squared();
    if SAFE_SQUARES.contains(&squared) {
        squared.sqrt()
    } else {
        (v.as_dvec3().length() as f32).min(f32::MAX)
    }
}

/// Returns the [`length`] of a plane vector.
pub(crate) fn length2(v: Vec2) -> f32 {
    length(v.extend(0.0))
}

/// Returns the unit vector along `v`; `None` for zero.
pub(crate) fn direction(v: Vec3) -> Option<Vec3> {
    if SAFE_SQUARES.contains(&v.length_squared()) {
        v.try_normalize()
    } else {
        v.as_dvec3().try_normalize().map(|unit| unit.as_vec3())
    }
}

/// The ball around a cell, the starting point of every 1-Lipschitz bound.
#[derive(Clone, Copy)]
pub(crate) struct CellBall {
    /// Centre of the cell \[m\].
    pub(crate) center: Vec3,
    /// Half its diagonal \[m\].
    pub(crate) radius: f32,
    /// Largest coordinate of the cell \[m\], for [`slack`].
    pub(crate) magnitude: f32,
}

impl CellBall {
    /// Returns the ball around `cell`; `None` for an infinite cell.
    pub(crate) fn of(cell: Aabb) -> Option<CellBall> {
        let magnitude = largest_coordinate(cell);
        magnitude.is_finite().then(|| CellBall {
            center: cell.center(),
            radius: length(cell.half_extents()),
            magnitude,
        })
    }

    /// Returns all values that a 1-Lipschitz function can take in the ball, given its value at the
    /// centre, widened by `margin`.
    pub(crate) fn values(self, at_center: f32, margin: f32) -> Interval {
        Interval::around(at_center, self.radius + margin)
    }
}

/// Returns the largest absolute coordinate of a box \[m\].
pub(crate) fn largest_coordinate(cell: Aabb) -> f32 {
    cell.min.abs().max(cell.max.abs()).max_element()
}

/// Returns the [`largest_coordinate`], ignoring infinite ones.
pub(crate) fn largest_finite_coordinate(cell: Aabb) -> f32 {
    [cell.min, cell.max]
        .iter()
        .flat_map(|corner| corner.abs().to_array())
        .filter(|coordinate| coordinate.is_finite())
        .fold(0.0, f32::max)
}

/// Returns a plane below a convex function over `cell`. It is the tangent at the centre or the mean
/// of the tangents at the corners (level across a crease), whichever has the larger minimum over
/// the cell. `size` is that of the body.
pub(crate) fn plane_of_convex(
    cell: Aabb,
    size: f32,
    sample: impl Fn(Vec3) -> Sample,
) -> Option<LowerPlane> {
    let ball = CellBall::of(cell)?;
    let tangent = |at: Vec3| {
        let Sample { distance, gradient } = sample(at);
        LowerPlane {
            value: distance + gradient.dot(ball.center - at),
            gradient,
        }
    };
    let at_center = tangent(ball.center);
    let mut mean = LowerPlane {
        value: 0.0,
        gradient: Vec3::ZERO,
    };
    for corner in cell.corners() {
        let plane = tangent(corner);
        mean.value += 0.125 * plane.value;
        mean.gradient += 0.125 * plane.gradient;
    }
    let least = |plane: &LowerPlane| plane.value - plane.gradient.abs().dot(cell.half_extents());
    let mut plane = if least(&mean) > least(&at_center) {
        mean
    } else {
        at_center
    };
    // Gradients carry a few roundings too, over at most the diagonal.
    plane.value -= 2.0 * slack(ball.magnitude + size);
    Some(plane)
}

/// Returns the lower end of the signed distance to the box `bounds` over `cell` \[m\].
///
/// A solid inside the box is nowhere nearer, and nowhere deeper, than the box: this bounds *any*
/// field from below. Per axis, `max(min − x, x − max)` over `x` of `[lo, hi]` is least
/// `max(min − hi, lo − max, (min − max)/2)`; the distance grows with each of the three.
pub(crate) fn box_lower(bounds: Aabb, cell: Aabb) -> f32 {
    let magnitude = largest_finite_coordinate(bounds) + largest_finite_coordinate(cell);
    if bounds.is_empty() || cell.is_empty() || !largest_coordinate(cell).is_finite() {
        return f32::NEG_INFINITY;
    }
    let least = (bounds.min - cell.max)
        .max(cell.min - bounds.max)
        .max(-bounds.half_extents());
    length(least.max(Vec3::ZERO)) + least.max_element().min(0.0) - slack(magnitude)
}

/// Returns the interval over `cell` of a distance that is convex and even in x, y and z.
///
/// Such a function grows with each of |x|, |y| and |z|, so its least and largest value lie at the
/// cell's nearest and farthest coordinates: exact but for rounding. `size` is the largest number of
/// the shape \[m\].
pub(crate) fn interval_of_even_convex(
    cell: Aabb,
    size: f32,
    distance: impl Fn(Vec3) -> f32,
) -> Interval {
    let farthest = cell.min.abs().max(cell.max.abs());
    if !farthest.is_finite() {
        return Interval::EVERYTHING;
    }
    let nearest = cell.closest_point(Vec3::ZERO);
    Interval::new(distance(nearest), distance(farthest)).grown(slack(farthest.max_element() + size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_directions_survive_huge_and_tiny_vectors() {
        for scale in [1e-44f32, 1e-30, 1e-18, 1.0, 1e18, 1e30, 1e38] {
            let v = Vec3::new(0.0, 2.0, -1.0) * scale;
            let expected = v.as_dvec3().length() as f32;
            assert!((length(v) / expected - 1.0).abs() < 1e-6, "{scale}");
            let unit = direction(v).unwrap();
            assert!((unit.length() - 1.0).abs() < 1e-6, "{scale}: {unit}");
        }
        assert_eq!(length(Vec3::splat(f32::MAX)), f32::MAX);
        assert_eq!(direction(Vec3::ZERO), None);
    }

    #[test]
    fn the_box_bounds_from_below_inside_and_outside() {
        let bounds = Aabb::new(Vec3::ZERO, Vec3::new(2.0, 4.0, 6.0));
        let point = |x, y, z| Aabb::from_center(Vec3::new(x, y, z), Vec3::ZERO);
        for (cell, expected) in [
            (point(1.0, 2.0, 3.0), -1.0),
            (point(0.5, 2.0, 3.0), -0.5),
            (point(5.0, 8.0, 3.0), 5.0),
            (Aabb::from_center(Vec3::ZERO, Vec3::splat(9.0)), -1.0),
        ] {
            let lower = box_lower(bounds, cell);
            assert!(lower <= expected && lower > expected - 1e-3, "{lower}");
        }
        let below = Aabb::new(Vec3::NEG_INFINITY, Vec3::new(9.0, f32::INFINITY, 0.0));
        assert!((box_lower(below, point(0.0, 0.0, 3.0)) - 3.0).abs() < 1e-3);
        assert!((box_lower(below, point(0.0, 0.0, -3.0)) + 3.0).abs() < 1e-3);
        assert_eq!(
            box_lower(Aabb::EVERYTHING, point(0.0, 0.0, 0.0)),
            f32::NEG_INFINITY
        );
    }
}
