//! Lower bound of the distance outside a field's box, from the value at the box's border.
//!
//! Input: the vector from the box to the point, value and gradient at the border.
//! Output: a 1-Lipschitz lower bound, and its gradient.
//! Cost: one square root.
//! Not for: points inside the box.
//!
//! Let `x*` be the point of the box nearest to `x` and `y` any point of the solid, which lies in
//! the box. A box is convex, so the angle at `x*` is obtuse: `|x − y|² ≥ |x − x*|² + |x* − y|²`.
//! Hence the distance at `x` is at least `√(|x − x*|² + max(φ(x*), 0)²)`, with equality when `x*`
//! lies in the solid. `x − x*` and the motion of `x*` use different axes, so the bound is
//! 1-Lipschitz if φ is.

use glam::{DVec3, Vec3};

use crate::field::field::Sample;
use crate::geom::Aabb;

/// Returns a lower bound of the distance \[m\] and its gradient at `x* + way_out`.
///
/// `distance` is φ(x*), or less; `gradient` is ∇φ(x*). `way_out` is not zero.
pub(crate) fn sample_beyond(way_out: DVec3, distance: f64, gradient: DVec3) -> (f64, DVec3) {
    let distance = distance.max(0.0);
    let bound = (way_out.length_squared() + distance * distance).sqrt();
    // Where x leaves the box along an axis, x* does not move along it.
    let still = way_out.cmpeq(DVec3::ZERO);
    let slope = way_out + distance * DVec3::select(still, gradient, DVec3::ZERO);
    (bound, slope / bound)
}

/// The position of a point relative to a grid whose surface is in `solid`.
struct Beyond {
    /// The point of the grid at which it is sampled.
    in_grid: Vec3,
    /// Distance from there to the border of the box around grid and solid \[m\].
    gap: f64,
    /// Vector from that border to the point \[m\].
    way_out: DVec3,
}

impl Beyond {
    fn of(point: Vec3, bounds: Aabb, solid: Aabb) -> Beyond {
        // Without padding, rounding to f32 may leave a little of the surface outside the grid. The
        // bound needs a box that contains the solid, so it uses the box around both.
        let border = bounds.union(solid).closest_point(point);
        let in_grid = bounds.closest_point(border);
        let gap = if border == in_grid {
            0.0
        } else {
            border.as_dvec3().distance(in_grid.as_dvec3())
        };
        Beyond {
            in_grid,
            gap,
            way_out: point.as_dvec3() - border.as_dvec3(),
        }
    }

    /// Returns the lower bound at the border, from the value in the grid \[m\].
    fn at_border(&self, in_grid: f32, error_bound: f32) -> f64 {
        f64::from(in_grid) - f64::from(error_bound) - self.gap
    }
}

/// Rounds to f32 towards zero, so that the result is still a lower bound.
fn round_down(bound: f64) -> f32 {
    ((bound * (1.0 - f64::from(f32::EPSILON))) as f32).min(f32::MAX)
}

/// Computes only the distance of [`lower_bound_outside`], identical to the bit.
pub(crate) fn distance_outside(
    point: Vec3,
    bounds: Aabb,
    solid: Aabb,
    error_bound: f32,
    at: impl Fn(Vec3) -> f32,
) -> f32 {
    let beyond = Beyond::of(point, bounds, solid);
    let at_border = beyond.at_border(at(beyond.in_grid), error_bound);
    if beyond.way_out == DVec3::ZERO {
        return at_border.min(0.0) as f32;
    }
    if !beyond.way_out.is_finite() {
        return beyond.way_out.length() as f32;
    }
    // The larger of the two lengths, with one square root.
    let from_solid = point.as_dvec3() - solid.closest_point(point).as_dvec3();
    let at_border = at_border.max(0.0);
    let by_border = beyond.way_out.length_squared() + at_border * at_border;
    round_down(from_solid.length_squared().max(by_border).sqrt())
}

/// Returns a lower bound of the distance outside a grid, and its gradient. It is the larger of two
/// bounds: the one from the value at the border of the grid ([`sample_beyond`]), and the distance
/// to `solid`, the box around the surface. `at` samples the grid at its border.
pub(crate) fn lower_bound_outside(
    point: Vec3,
    bounds: Aabb,
    solid: Aabb,
    error_bound: f32,
    at: impl Fn(Vec3) -> Sample,
) -> Sample {
    let beyond = Beyond::of(point, bounds, solid);
    let in_grid = at(beyond.in_grid);
    let at_border = beyond.at_border(in_grid.distance, error_bound);
    let way_out = beyond.way_out;
    if way_out == DVec3::ZERO {
        return Sample {
            distance: at_border.min(0.0) as f32,
            gradient: in_grid.gradient,
        };
    }
    if !way_out.is_finite() {
        return Sample {
            distance: way_out.length() as f32,
            gradient: direction_to_infinity(way_out),
        };
    }
    let from_solid = point.as_dvec3() - solid.closest_point(point).as_dvec3();
    let (by_border, gradient) = sample_beyond(way_out, at_border, in_grid.gradient.as_dvec3());
    if from_solid.length() < by_border {
        return Sample {
            distance: round_down(by_border),
            gradient: gradient.as_vec3(),
        };
    }
    Sample {
        distance: round_down(from_solid.length()),
        // In `f64`, where the squares of such lengths do not overflow.
        gradient: from_solid
            .try_normalize()
            .map_or(in_grid.gradient, |unit| unit.as_vec3()),
    }
}

/// Returns the unit vector along the axes on which `way` is infinite; +x if it is NaN.
fn direction_to_infinity(way: DVec3) -> Vec3 {
    let axes = way.to_array().map(|along| {
        if along.is_infinite() {
            along.signum() as f32
        } else {
            0.0
        }
    });
    Vec3::from(axes).normalize_or(Vec3::X)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_never_exceeds_the_distance_of_a_ball_in_a_larger_box() {
        let half = DVec3::splat(2.0);
        let distance = |p: DVec3| p.length() - 1.0;
        for p in [
            DVec3::new(3.0, 0.0, 0.0),
            DVec3::new(3.0, -1.5, 9.0),
            DVec3::new(-7.0, 5.0, 2.5),
        ] {
            let border = p.clamp(-half, half);
            let (bound, gradient) =
                sample_beyond(p - border, distance(border), border / border.length());
            assert!(bound <= distance(p) && bound >= (p - border).length());
            assert!(gradient.length() <= 1.0 + 1e-12 && gradient.dot(p) > 0.0);
        }
    }
}
