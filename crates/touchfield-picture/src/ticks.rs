//! Round numbers and units for the labels of a picture.
//!
//! Input: a length \[m\] that the picture spans. Output: a step of 1, 2 or 5 times a power of ten,
//! a unit, labels.
//! Cost: negligible. Not for: parsing user input.

/// A unit for labels: the number printed before `name` is `value · per_metre`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unit {
    /// Units per metre.
    pub(super) per_metre: f64,
    /// Name as printed.
    pub(super) name: String,
}

impl Unit {
    /// Returns the metric unit in which a length of `size` \[m\] is a small number of at least 1.
    pub(super) fn metric(size: f64) -> Unit {
        let units = [
            (1e-2, 1e3, "mm"),
            (1.0, 1e2, "cm"),
            (1e3, 1.0, "m"),
            (f64::INFINITY, 1e-3, "km"),
        ];
        let (per_metre, name) = if size < 1e-6 {
            (1e9, "nm")
        } else if size < 1e-3 {
            (1e6, "µm")
        } else {
            units
                .into_iter()
                .find(|&(below, ..)| size < below)
                .map_or((1.0, "m"), |(_, per_metre, name)| (per_metre, name))
        };
        Unit {
            per_metre,
            name: name.to_owned(),
        }
    }

    /// Returns a unit that leaves numbers unchanged, followed by `name`: for models whose unit is
    /// not known.
    pub(super) fn plain(name: &str) -> Unit {
        Unit {
            per_metre: 1.0,
            name: name.to_owned(),
        }
    }

    /// Formats `metres` with as many decimals as distinguish multiples of `step` \[m\].
    pub(super) fn number(&self, metres: f64, step: f64) -> String {
        let value = metres * self.per_metre;
        let step = (step * self.per_metre).abs();
        if !value.is_finite() || value.abs() >= 1e7 {
            return format!("{value:.1e}");
        }
        // The small addend absorbs the rounding of steps such as 0.1, which are not binary
        // fractions.
        let decimals = (-(step.log10() + 1e-6).floor()).clamp(0.0, 9.0) as usize;
        let text = format!("{value:.decimals$}");
        let is_zero = text.bytes().all(|b| matches!(b, b'-' | b'0' | b'.'));
        match text.strip_prefix('-') {
            _ if is_zero => "0".to_owned(),
            Some(digits) => format!("−{digits}"),
            None => text,
        }
    }

    /// Formats `metres` like [`Self::number`], followed by the unit.
    pub(super) fn label(&self, metres: f64, step: f64) -> String {
        format!("{} {}", self.number(metres, step), self.name)
    }
}

/// Returns the largest of 1, 2, 5 times a power of ten that is at most `limit`; 1 if `limit` is not
/// finite and positive.
pub(super) fn round_below(limit: f64) -> f64 {
    if !(limit.is_finite() && limit > 0.0) {
        return 1.0;
    }
    let power = 10f64.powf(limit.log10().floor());
    // The allowance keeps 0.3 / 0.1 = 2.9999… at 2, and 1.9999999 at 2.
    let mantissa = limit / power * (1.0 + 1e-9);
    power
        * if mantissa >= 10.0 {
            10.0
        } else if mantissa >= 5.0 {
            5.0
        } else if mantissa >= 2.0 {
            2.0
        } else {
            1.0
        }
}

/// Returns the multiples of `step` from `min` to `max`, at most a hundred.
pub(super) fn multiples(min: f64, max: f64, step: f64) -> Vec<f64> {
    let (first, last) = ((min / step - 1e-9).ceil(), (max / step + 1e-9).floor());
    let count = (last - first + 1.0).clamp(0.0, 100.0) as usize;
    (0..count).map(|i| (first + i as f64) * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_and_at_most_the_limit() {
        for (limit, expected) in [
            (1.0, 1.0),
            (0.19, 0.1),
            (0.2, 0.2),
            (4.99e-6, 2e-6),
            (7e5, 5e5),
            (10.0, 10.0),
        ] {
            let step = round_below(limit);
            assert!(
                (step / expected - 1.0).abs() < 1e-9,
                "{limit}: {step} {expected}"
            );
        }
        assert_eq!(round_below(f64::NAN), 1.0);
        assert_eq!(round_below(-3.0), 1.0);
    }

    #[test]
    fn labels_have_the_decimals_of_their_step() {
        let label = |metres, step, size| Unit::metric(size).label(metres, step);
        assert_eq!(label(0.02, 0.01, 0.05), "2 cm");
        assert_eq!(label(-0.0025, 0.0005, 0.008), "−2.5 mm");
        assert_eq!(label(3e-6, 1e-6, 1e-5), "3 µm");
        assert_eq!(label(-1e-9, 0.1, 10.0), "0 m");
        assert_eq!(label(2.5e4, 5e3, 1e5), "25 km");
        assert_eq!(Unit::plain("units").label(0.25, 0.05), "0.25 units");
    }

    #[test]
    fn multiples_include_both_ends_and_stay_few() {
        let ticks = multiples(-0.3, 0.3, 0.1);
        assert_eq!(ticks.len(), 7, "{ticks:?}");
        assert_eq!(ticks[3], 0.0);
        assert_eq!(multiples(0.0, 1.0, 1e-12).len(), 100);
        assert!(multiples(f64::NAN, 1.0, 1.0).is_empty());
    }
}
