//! Closed intervals of distance, used wherever a bound must be guaranteed and not merely likely.

/// The closed interval from `lower` to `upper` \[m\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Smallest value \[m\].
    pub lower: f32,
    /// Largest value \[m\].
    pub upper: f32,
}

impl Interval {
    /// The interval of all numbers.
    pub const EVERYTHING: Interval = Interval {
        lower: f32::NEG_INFINITY,
        upper: f32::INFINITY,
    };

    /// Returns the interval from the smaller value `lower` to the larger value `upper`.
    pub fn new(lower: f32, upper: f32) -> Interval {
        Interval { lower, upper }
    }

    /// Returns the interval of all values within `radius` of `center`.
    pub fn around(center: f32, radius: f32) -> Interval {
        Interval {
            lower: center - radius,
            upper: center + radius,
        }
    }

    /// Returns whether `value` lies inside or on the border.
    pub fn contains(self, value: f32) -> bool {
        self.lower <= value && value <= self.upper
    }

    /// Returns the distance between the two ends.
    pub fn width(self) -> f32 {
        self.upper - self.lower
    }

    /// Returns the interval with both ends moved outward by `margin`.
    pub fn grown(self, margin: f32) -> Interval {
        Interval {
            lower: self.lower - margin,
            upper: self.upper + margin,
        }
    }

    /// Returns the values in both intervals: the larger lower end to the smaller upper end.
    pub fn intersection(self, other: Interval) -> Interval {
        Interval {
            lower: self.lower.max(other.lower),
            upper: self.upper.min(other.upper),
        }
    }

    /// Returns an interval that contains `min(a, b)` for every `a` in `self` and `b` in `other`.
    pub fn min(self, other: Interval) -> Interval {
        Interval {
            lower: self.lower.min(other.lower),
            upper: self.upper.min(other.upper),
        }
    }

    /// Returns an interval that contains `max(a, b)` for every `a` in `self` and `b` in `other`.
    pub fn max(self, other: Interval) -> Interval {
        Interval {
            lower: self.lower.max(other.lower),
            upper: self.upper.max(other.upper),
        }
    }

    /// Returns an interval that contains `scale · a` for every `a` in `self`; `scale` must be
    /// positive.
    pub fn scaled(self, scale: f32) -> Interval {
        Interval {
            lower: scale * self.lower,
            upper: scale * self.upper,
        }
    }
}

impl std::ops::Neg for Interval {
    type Output = Interval;

    fn neg(self) -> Interval {
        Interval {
            lower: -self.upper,
            upper: -self.lower,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn min_max_and_negation_hold_all_results(a in -9.0f32..9.0, ra in 0.0f32..3.0, b in -9.0f32..9.0, rb in 0.0f32..3.0,
                                                 s in 0.0f32..=1.0, t in 0.0f32..=1.0) {
            let (ia, ib) = (Interval::around(a, ra), Interval::around(b, rb));
            let x = ia.lower + s * ia.width();
            let y = ib.lower + t * ib.width();
            let (ia, ib) = (ia.grown(1e-5), ib.grown(1e-5)); // x and y are rounded
            prop_assert!(ia.min(ib).contains(x.min(y)));
            prop_assert!(ia.max(ib).contains(x.max(y)));
            prop_assert!((-ia).contains(-x));
        }
    }
}
