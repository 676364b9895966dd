//! Closed intervals of distance, used wherever a bound must hold and not merely be likely.

/// Every value from `lower` to `upper` \[m\], both included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Smallest value.
    pub lower: f32,
    /// Largest value.
    pub upper: f32,
}

impl Interval {
    /// Every number.
    pub const EVERYTHING: Interval = Interval {
        lower: f32::NEG_INFINITY,
        upper: f32::INFINITY,
    };

    /// From the smaller to the larger value.
    pub fn new(lower: f32, upper: f32) -> Interval {
        Interval { lower, upper }
    }

    /// All values within `radius` of `center`.
    pub fn around(center: f32, radius: f32) -> Interval {
        Interval {
            lower: center - radius,
            upper: center + radius,
        }
    }

    /// Whether `value` lies inside or on the border.
    pub fn contains(self, value: f32) -> bool {
        self.lower <= value && value <= self.upper
    }

    /// Distance between the ends.
    pub fn width(self) -> f32 {
        self.upper - self.lower
    }

    /// Both ends moved outward by `margin`.
    pub fn grown(self, margin: f32) -> Interval {
        Interval {
            lower: self.lower - margin,
            upper: self.upper + margin,
        }
    }

    /// What both promise: the tighter end of each.
    pub fn intersection(self, other: Interval) -> Interval {
        Interval {
            lower: self.lower.max(other.lower),
            upper: self.upper.min(other.upper),
        }
    }

    /// Holds `min(a, b)` for every `a` and `b` of the two.
    pub fn min(self, other: Interval) -> Interval {
        Interval {
            lower: self.lower.min(other.lower),
            upper: self.upper.min(other.upper),
        }
    }

    /// Holds `max(a, b)` for every `a` and `b` of the two.
    pub fn max(self, other: Interval) -> Interval {
        Interval {
            lower: self.lower.max(other.lower),
            upper: self.upper.max(other.upper),
        }
    }

    /// Holds `scale · a` for every `a`; `scale` is positive.
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
