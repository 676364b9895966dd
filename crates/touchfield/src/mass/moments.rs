//! Integrals of 1, x and x xᵀ over simple bodies, from which volume, centre and inertia follow.
//!
//! All are polynomials in the corners, so they are exact up to rounding \[Mirtich1996\]
//! (docs/BIBLIOGRAPHY.md). Moments of disjoint bodies add up.

use std::ops::{Add, AddAssign, Neg, Sub};

use glam::{DMat3, DVec3};

/// `∫ 1`, `∫ x` and `∫ x xᵀ` over a body, with `x` measured from an arbitrary fixed point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Moments {
    /// `∫ 1 dV` \[m³\].
    pub(super) volume: f64,
    /// `∫ x dV` \[m⁴\].
    pub(super) first: DVec3,
    /// `∫ x xᵀ dV` \[m⁵\].
    pub(super) second: DMat3,
}

/// Returns `a aᵀ`.
pub(super) fn square(a: DVec3) -> DMat3 {
    DMat3::from_cols(a.x * a, a.y * a, a.z * a)
}

impl Moments {
    pub(super) const ZERO: Moments = Moments {
        volume: 0.0,
        first: DVec3::ZERO,
        second: DMat3::ZERO,
    };

    /// Returns the moments of a tetrahedron; negative if its corners have the opposite orientation.
    ///
    /// `∫ x = V/4 · s` and `∫ x xᵀ = V/20 · (Σ p pᵀ + s sᵀ)` with `s = Σ p` over the corners `p`.
    pub(super) fn of_tetrahedron([a, b, c, d]: [DVec3; 4]) -> Moments {
        let volume = (b - a).dot((c - a).cross(d - a)) / 6.0;
        let sum = a + b + c + d;
        let squares = square(a) + square(b) + square(c) + square(d) + square(sum);
        Moments {
            volume,
            first: 0.25 * volume * sum,
            second: squares * (volume / 20.0),
        }
    }

    /// Returns the moments of an axis-aligned box.
    pub(super) fn of_box(center: DVec3, extents: DVec3) -> Moments {
        let volume = extents.element_product();
        let own = DMat3::from_diagonal(extents * extents / 12.0);
        Moments {
            volume,
            first: volume * center,
            second: (square(center) + own) * volume,
        }
    }

    /// Returns the moments of the part of a tetrahedron of positive volume where a linear function
    /// is at most 0, given its values at the corners.
    pub(super) fn of_clipped_tetrahedron(corners: [DVec3; 4], values: [f64; 4]) -> Moments {
        let (order, count) = crate::field::lattice::inside_first(values.map(|value| value <= 0.0));
        let corners = order.map(|i| corners[i]);
        let values = order.map(|i| values[i]);
        // Point where the function vanishes between a corner inside and one outside; the
        // denominator is nonzero because the signs differ.
        let zero = |i: usize, o: usize| {
            let share = values[i] / (values[i] - values[o]);
            corners[i] + share * (corners[o] - corners[i])
        };
        let [a, b, _, d] = corners;
        match count {
            0 => Moments::ZERO,
            1 => Moments::of_tetrahedron([a, zero(0, 1), zero(0, 2), zero(0, 3)]),
            // A wedge between the triangles at `a` and at `b`.
            2 => {
                let (ac, ad, bc, bd) = (zero(0, 2), zero(0, 3), zero(1, 2), zero(1, 3));
                Moments::of_tetrahedron([a, b, ac, ad])
                    + Moments::of_tetrahedron([b, bc, ac, ad])
                    + Moments::of_tetrahedron([b, bd, bc, ad])
            }
            3 => {
                let cut_off = [zero(0, 3), zero(1, 3), zero(2, 3), d];
                Moments::of_tetrahedron(corners) - Moments::of_tetrahedron(cut_off)
            }
            _ => Moments::of_tetrahedron(corners),
        }
    }
}

impl Add for Moments {
    type Output = Moments;

    fn add(self, other: Moments) -> Moments {
        Moments {
            volume: self.volume + other.volume,
            first: self.first + other.first,
            second: self.second + other.second,
        }
    }
}

impl AddAssign for Moments {
    fn add_assign(&mut self, other: Moments) {
        *self = *self + other;
    }
}

impl Neg for Moments {
    type Output = Moments;

    fn neg(self) -> Moments {
        Moments {
            volume: -self.volume,
            first: -self.first,
            second: -self.second,
        }
    }
}

impl Sub for Moments {
    type Output = Moments;

    fn sub(self, other: Moments) -> Moments {
        self + -other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the largest difference between two sets of moments.
    fn difference(a: Moments, b: Moments) -> f64 {
        let off = a - b;
        let entries = off.second.to_cols_array();
        let largest = off.first.abs().max_element().max(off.volume.abs());
        entries.iter().fold(largest, |most, e| most.max(e.abs()))
    }

    /// Sums over the midpoints of many small sub-tetrahedra: slow, but evidently correct.
    fn by_sampling(corners: [DVec3; 4], inside: impl Fn(DVec3) -> bool) -> Moments {
        let [a, b, c, d] = corners;
        let volume = (b - a).dot((c - a).cross(d - a));
        let n = 90;
        let step = 1.0 / f64::from(n);
        let mut sum = Moments::ZERO;
        for i in 0..n {
            for j in 0..n {
                for k in 0..n {
                    let [u, v, w] = [i, j, k].map(|i| (f64::from(i) + 0.5) * step);
                    let point = a + u * (b - a) + v * (c - a) + w * (d - a);
                    if u + v + w < 1.0 && inside(point) {
                        sum += Moments {
                            volume: 1.0,
                            first: point,
                            second: square(point),
                        };
                    }
                }
            }
        }
        let share = volume * step.powi(3);
        Moments {
            volume: share * sum.volume,
            first: share * sum.first,
            second: sum.second * share,
        }
    }

    #[test]
    fn six_tetrahedra_are_a_box() {
        let (low, extents) = (DVec3::new(-0.3, 0.2, 1.0), DVec3::new(0.5, 2.0, 1.5));
        let mut sum = Moments::ZERO;
        for corners in crate::field::lattice::TETRAHEDRA {
            let place = |i| low + extents * crate::geom::corner(glam::UVec3::ZERO, i).as_dvec3();
            sum += Moments::of_tetrahedron(corners.map(place));
        }
        let whole = Moments::of_box(low + 0.5 * extents, extents);
        assert!(difference(sum, whole) < 1e-14, "{sum:?} {whole:?}");
        // ∫ x² over a box, written out.
        let third = |axis: usize| ((low + extents)[axis].powi(3) - low[axis].powi(3)) / 3.0;
        assert!((whole.second.x_axis.x - third(0) * 2.0 * 1.5).abs() < 1e-14);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn clipped_tetrahedra_have_the_moments_of_their_points(values in prop::array::uniform4(-1.0f64..1.0)) {
            let corners = [DVec3::ZERO, DVec3::new(1.0, 0.1, 0.0), DVec3::new(0.2, 0.9, 0.1), DVec3::new(0.1, 0.3, 1.1)];
            let [a, b, c, d] = corners;
            let to_shares = DMat3::from_cols(b - a, c - a, d - a).inverse();
            let value = |point: DVec3| {
                let s = to_shares * (point - a);
                values[0] * (1.0 - s.element_sum()) + values[1] * s.x + values[2] * s.y + values[3] * s.z
            };
            let found = Moments::of_clipped_tetrahedron(corners, values);
            let sampled = by_sampling(corners, |point| value(point) <= 0.0);
            prop_assert!(difference(found, sampled) < 4e-3, "{found:?} {sampled:?}");
            let rest = Moments::of_clipped_tetrahedron(corners, values.map(|v| -v));
            prop_assert!(difference(found + rest, Moments::of_tetrahedron(corners)) < 1e-14);
        }
    }
}
