//! Beyond a field's box: a lower bound of the distance from what is known at the box's border.
//!
//! Input: the way out of the box, value and gradient at the border. Output: a 1-Lipschitz lower bound, and its gradient.
//! Cost: one square root. Not for: points inside the box.
//!
//! Let `x*` be the point of the box nearest to `x` and `y` any point of the solid, which lies in the box. A box is
//! convex, so the angle at `x*` is obtuse: `|x − y|² ≥ |x − x*|² + |x* − y|²`. Hence the distance at `x` is at least
//! `√(|x − x*|² + max(φ(x*), 0)²)`, with equality when `x*` lies in the solid. `x − x*` and the motion of `x*` use
//! different axes, so the bound is 1-Lipschitz if φ is.

use glam::DVec3;

/// Lower bound of the distance \[m\] and its gradient at `x* + way_out`.
///
/// `distance` is φ(x*), or less; `gradient` is ∇φ(x*). `way_out` is not zero.
pub(crate) fn sample_beyond(way_out: DVec3, distance: f64, gradient: DVec3) -> (f64, DVec3) {
    let distance = distance.max(0.0);
    let bound = (way_out.length_squared() + distance * distance).sqrt();
    // Along an axis in which x left the box, x* does not move.
    let still = way_out.cmpeq(DVec3::ZERO);
    let slope = way_out + distance * DVec3::select(still, gradient, DVec3::ZERO);
    (bound, slope / bound)
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
