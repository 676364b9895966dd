//! Finds where a polynomial of degree four or less is at or below zero, between 0 and 1.
//!
//! Input: coefficients.
//! Output: up to three parts of the unit interval.
//! Cost: a square root and a few dozen operations per root.
//! Not for: other intervals, or higher degrees.
//!
//! Between zeros of its slope a polynomial is monotonic, so the signs at the ends of such a piece
//! determine it. The zeros are roots of the slope, a polynomial of a lower degree: down to degree
//! two, where there is a closed form.

use crate::field::along_line::piece::Polynomial;

/// A part of the unit interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Share {
    pub(super) from: f64,
    pub(super) to: f64,
}

/// Up to three parts; a quartic has no more, and rounding does not add any.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shares {
    parts: [Share; 3],
    count: usize,
}

impl Shares {
    fn none() -> Shares {
        Shares {
            parts: [Share { from: 0.0, to: 0.0 }; 3],
            count: 0,
        }
    }

    fn of(from: f64, to: f64) -> Shares {
        let mut shares = Shares::none();
        shares.add(from, to);
        shares
    }

    /// Appends a part, or extends the last one if it reaches there.
    fn add(&mut self, from: f64, to: f64) {
        if self.count > 0 && (self.parts[self.count - 1].to >= from || self.count == 3) {
            self.parts[self.count - 1].to = to;
        } else {
            self.parts[self.count] = Share { from, to };
            self.count += 1;
        }
    }

    pub(super) fn as_slice(&self) -> &[Share] {
        &self.parts[..self.count]
    }
}

/// Returns where the polynomial is at or below zero.
#[inline]
pub(super) fn at_or_below_zero(k: &Polynomial) -> Shares {
    if k[4] == 0.0 {
        // The curve lies in the convex hull of its control points: most pieces need no root.
        let third = k[1] / 3.0;
        let hull = [
            k[0],
            k[0] + third,
            k[0] + 2.0 * third + k[2] / 3.0,
            k[0] + k[1] + k[2] + k[3],
        ];
        if hull.iter().all(|&control| control > 0.0) {
            return Shares::none();
        }
        if hull.iter().all(|&control| control <= 0.0) {
            return Shares::of(0.0, 1.0);
        }
        // If the control points are monotonic, so is the curve: it has one root, between its ends.
        let starts_below = hull[0] <= 0.0;
        let falls = |pair: &[f64]| pair[0] > pair[1];
        let rises = |pair: &[f64]| pair[0] < pair[1];
        if starts_below && hull.windows(2).all(rises) {
            return Shares::of(0.0, root_between(k, 0.0, 1.0));
        }
        if !starts_below && hull.windows(2).all(falls) {
            return Shares::of(root_between(k, 0.0, 1.0), 1.0);
        }
    }
    // Otherwise split the interval at the turning points, and find the root of each monotonic part.
    let mut turns = [0.0; 3];
    let count = turning_places(k, &mut turns);
    let mut shares = Shares::none();
    let mut from = 0.0;
    let mut value = at(k, 0.0);
    for to in turns[..count].iter().copied().chain([1.0]) {
        let next = at(k, to);
        match (value <= 0.0, next <= 0.0) {
            (true, true) => shares.add(from, to),
            (true, false) => shares.add(from, root_between(k, from, to)),
            (false, true) => shares.add(root_between(k, from, to), to),
            (false, false) => {}
        }
        (from, value) = (to, next);
    }
    shares
}

/// Returns where the polynomial is below zero, assuming a single crossing if its ends differ in
/// sign and none otherwise: the method of \[XuCcd2014\].
pub(super) fn by_false_position(k: &Polynomial, iterations: u32) -> Shares {
    let (mut low, mut high) = (0.0, 1.0);
    let (mut at_low, mut at_high) = (at(k, 0.0), at(k, 1.0));
    let starts_below = at_low <= 0.0;
    if starts_below == (at_high <= 0.0) {
        return match starts_below {
            true => Shares::of(0.0, 1.0),
            false => Shares::none(),
        };
    }
    let mut hit = 0.5;
    for _ in 0..iterations.max(1) {
        hit = low + (high - low) * at_low / (at_low - at_high);
        let value = at(k, hit);
        if value == 0.0 {
            break;
        }
        if (value <= 0.0) == (at_low <= 0.0) {
            (low, at_low) = (hit, value);
        } else {
            (high, at_high) = (hit, value);
        }
    }
    match starts_below {
        true => Shares::of(0.0, hit),
        false => Shares::of(hit, 1.0),
    }
}

#[inline(always)]
fn at(k: &Polynomial, s: f64) -> f64 {
    (((k[4] * s + k[3]) * s + k[2]) * s + k[1]) * s + k[0]
}

/// Finds where the slope is zero between 0 and 1, in order. Returns their number.
fn turning_places(k: &Polynomial, turns: &mut [f64; 3]) -> usize {
    let slope = [k[1], 2.0 * k[2], 3.0 * k[3], 4.0 * k[4], 0.0];
    if slope[3] == 0.0 {
        return quadratic_roots([slope[0], slope[1], slope[2]], turns);
    }
    // A quartic: the slope is a cubic, which turns at roots of a quadratic.
    let mut inner = [0.0; 3];
    let inner_count = quadratic_roots([slope[1], 2.0 * slope[2], 3.0 * slope[3]], &mut inner);
    let mut count = 0;
    let mut from = 0.0;
    for to in inner[..inner_count].iter().copied().chain([1.0]) {
        let ends = [at(&slope, from), at(&slope, to)];
        if (ends[0] < 0.0) != (ends[1] < 0.0) {
            turns[count] = root_between(&slope, from, to);
            count += 1;
        }
        from = to;
    }
    count
}

/// Finds the roots of `c + b s + a s²` strictly between 0 and 1, in order. Returns their number.
fn quadratic_roots([c, b, a]: [f64; 3], roots: &mut [f64; 3]) -> usize {
    let discriminant = b * b - 4.0 * a * c;
    // Without two roots the slope keeps its sign; NaN is treated the same way.
    if discriminant <= 0.0 || discriminant.is_nan() {
        return 0;
    }
    // The sum of two numbers of the same sign: no cancellation.
    let q = -0.5 * (b + discriminant.sqrt().copysign(b));
    let (first, second) = (q / a, c / q);
    let (low, high) = if first < second {
        (first, second)
    } else {
        (second, first)
    };
    let mut count = 0;
    for root in [low, high] {
        if root > 0.0 && root < 1.0 {
            roots[count] = root;
            count += 1;
        }
    }
    count
}

/// Returns the root between two places of different signs, between which the polynomial is
/// monotonic. Newton's method starts at the root of the secant, and falls back to bisection where a
/// step would leave the bracket.
fn root_between(k: &Polynomial, from: f64, to: f64) -> f64 {
    /// Maximum number of steps. Bisection alone would take 52; Newton's method needs a handful.
    const STEPS: usize = 64;
    /// Step length at which a further step would only be rounding.
    const SHORT: f64 = 4.0 * f64::EPSILON;
    let (mut low, mut high) = (from, to);
    let (at_low, at_high) = (at(k, low), at(k, high));
    let low_is_below = at_low <= 0.0;
    let inside = |place: f64, low: f64, high: f64| {
        if place > low && place < high {
            place
        } else {
            0.5 * (low + high)
        }
    };
    let straight = low + (high - low) * (at_low / (at_low - at_high));
    let mut s = inside(straight, low, high);
    for _ in 0..STEPS {
        let value = at(k, s);
        if (value <= 0.0) == low_is_below {
            low = s;
        } else {
            high = s;
        }
        let slope = ((4.0 * k[4] * s + 3.0 * k[3]) * s + 2.0 * k[2]) * s + k[1];
        let step = value / slope;
        // Before the step is clamped to the bracket, one end of which is here: bisection would lead
        // far away again.
        if step.abs() <= SHORT {
            return (s - step).clamp(low, high);
        }
        let next = inside(s - step, low, high);
        if (next - s).abs() <= SHORT {
            return next;
        }
        s = next;
    }
    s
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Builds a polynomial from its roots and a factor.
    fn with_roots(roots: &[f64], factor: f64) -> Polynomial {
        let mut k = [factor, 0.0, 0.0, 0.0, 0.0];
        for &root in roots {
            for i in (0..5).rev() {
                k[i] = if i > 0 { k[i - 1] } else { 0.0 } - root * k[i];
            }
        }
        k
    }

    proptest! {
        #[test]
        fn signs_change_at_the_roots(mut roots in prop::collection::vec(-1.0f64..2.0, 0..=4), factor in prop_oneof![-2.0f64..-0.1, 0.1f64..2.0]) {
            roots.sort_by(f64::total_cmp);
            let apart = roots.windows(2).all(|pair| pair[1] - pair[0] > 1e-3);
            prop_assume!(apart && roots.iter().all(|root| root.abs() > 1e-3 && (root - 1.0).abs() > 1e-3));
            let k = with_roots(&roots, factor);
            let shares = at_or_below_zero(&k);
            let inside: Vec<f64> = roots.iter().copied().filter(|root| (0.0..1.0).contains(root)).collect();
            let mut ends: Vec<f64> = shares.as_slice().iter().flat_map(|share| [share.from, share.to]).collect();
            if ends.first() == Some(&0.0) { ends.remove(0); }
            if ends.last() == Some(&1.0) { ends.pop(); }
            prop_assert_eq!(ends.len(), inside.len());
            for (end, root) in ends.iter().zip(&inside) {
                prop_assert!((end - root).abs() < 1e-9);
            }
            for k in 0..=100 {
                let s = f64::from(k) / 100.0;
                let value = roots.iter().fold(factor, |product, root| product * (s - root));
                let below = shares.as_slice().iter().any(|share| share.from <= s && s <= share.to);
                prop_assert!(value.abs() < 1e-9 || below == (value <= 0.0));
            }
        }

        #[test]
        fn anything_goes(k in prop::array::uniform5(prop_oneof![Just(0.0), -1e30f64..1e30, Just(f64::NAN), Just(f64::INFINITY)])) {
            for share in at_or_below_zero(&k).as_slice() {
                prop_assert!(share.from <= share.to || k.iter().any(|k| !k.is_finite()));
            }
            by_false_position(&k, 5);
        }
    }

    #[test]
    fn touching_counts() {
        // (s − ½)²: zero at one place.
        let touches = at_or_below_zero(&[0.25, -1.0, 1.0, 0.0, 0.0]);
        let [Share { from, to }] = touches.as_slice() else {
            panic!("one place, not {touches:?}");
        };
        // A double root is accurate only to the square root of rounding.
        assert!((from - 0.5).abs() < 1e-7 && (to - 0.5).abs() < 1e-7 && from <= to);

        let misses = at_or_below_zero(&[0.25 + 1e-15, -1.0, 1.0, 0.0, 0.0]);
        assert!(misses.as_slice().is_empty());
        let all = at_or_below_zero(&[0.0; 5]);
        assert_eq!(all.as_slice(), [Share { from: 0.0, to: 1.0 }]);
        // The method of the paper detects neither.
        assert!(
            by_false_position(&[0.25 - 1e-3, -1.0, 1.0, 0.0, 0.0], 5)
                .as_slice()
                .is_empty()
        );
    }

    #[test]
    fn five_steps_of_false_position_are_near() {
        let k = [-0.3, 1.0, 0.2, -0.1, 0.0];
        let exact = at_or_below_zero(&k).as_slice()[0].to;
        let near = by_false_position(&k, 5).as_slice()[0].to;
        assert!((exact - near).abs() < 1e-4 && exact != near);
    }
}
