//! Formatting of counts, lengths, times and amounts of memory, with significant digits and a
//! suitable unit.

/// Formats a count with thousands separators: `1,234,567`.
pub fn count(number: impl Into<u64>) -> String {
    let digits = number.into().to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a `usize` like [`count`].
pub fn count_of(number: usize) -> String {
    count(number as u64)
}

/// Formats a number with three significant digits: `1.23`, `45.6`, `789`, `1230`.
pub fn digits(number: f64) -> String {
    significant(number, 3)
}

/// Formats a number with `count` significant digits. Digits before the decimal point are never cut.
/// Very large and very small numbers get an exponent.
pub fn significant(number: f64, count: i32) -> String {
    if number == 0.0 || !number.is_finite() {
        // Adding turns −0 to 0.
        return format!("{}", number + 0.0);
    }
    let magnitude = number.abs().log10().floor() as i32;
    if !(-6..12).contains(&magnitude) {
        return exponential(number, (count - 1).max(0) as usize);
    }
    let decimals = (count - 1 - magnitude).clamp(0, 12) as usize;
    let rounded = format!("{number:.decimals$}");
    let shortest = match rounded.contains('.') {
        true => rounded.trim_end_matches('0').trim_end_matches('.'),
        false => &rounded,
    };
    match shortest {
        "-0" => "0".to_owned(),
        shortest => shortest.to_owned(),
    }
}

/// Formats a number as `1.23e45` with at most `decimals` decimals.
fn exponential(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$e}");
    match text.split_once('e') {
        Some((digits, exponent)) if digits.contains('.') => {
            let digits = digits.trim_end_matches('0').trim_end_matches('.');
            format!("{digits}e{exponent}")
        }
        _ => text,
    }
}

/// Formats a length \[m\] in a suitable unit: `1.23 mm`.
pub fn length(metres: impl Into<f64>) -> String {
    let metres = metres.into();
    let (factor, unit) = length_unit(metres);
    format!("{} {unit}", digits(metres * factor))
}

/// Returns the number of units per metre and the name of the unit, such that a length \[m\] has one
/// to three digits before the decimal point.
pub fn length_unit(metres: f64) -> (f64, &'static str) {
    match metres.abs() {
        0.0 => (1e3, "mm"),
        size if size < 1e-6 => (1e9, "nm"),
        size if size < 1e-3 => (1e6, "µm"),
        size if size < 1.0 => (1e3, "mm"),
        size if size < 1e4 => (1.0, "m"),
        _ => (1e-3, "km"),
    }
}

/// Formats an area (`power` 2) or a volume (`power` 3) in a suitable unit.
pub fn measure(value: f64, power: i32) -> String {
    const UNITS: [(&str, f64); 5] = [
        ("m", 1.0),
        ("cm", 1e2),
        ("mm", 1e3),
        ("µm", 1e6),
        ("nm", 1e9),
    ];
    let scaled = UNITS.map(|(unit, factor)| (unit, value * f64::powi(factor, power)));
    let large_enough = scaled.into_iter().find(|(_, number)| number.abs() >= 1.0);
    let (unit, number) = large_enough.unwrap_or(scaled[0]);
    let sign = if power == 2 { '²' } else { '³' };
    format!("{} {unit}{sign}", significant(number, 4))
}

/// Formats a length \[m\] and the number of cells it spans.
pub fn length_in_cells(metres: f32, cell_size: f32) -> String {
    format!("{} ({:.2} cells)", length(metres), metres / cell_size)
}

/// Formats an amount of memory: `8.4 MB`.
pub fn bytes(number: u64) -> String {
    match number as f64 {
        size if size < 1e3 => format!("{number} B"),
        size if size < 1e6 => format!("{} kB", digits(size / 1e3)),
        size if size < 1e9 => format!("{} MB", digits(size / 1e6)),
        size if size < 1e12 => format!("{} GB", digits(size / 1e9)),
        size => format!("{} TB", digits(size / 1e12)),
    }
}

/// Formats a large number in short: `12.3 M`.
pub fn rounded(number: f64) -> String {
    match number {
        number if number < 1e3 => digits(number),
        number if number < 1e6 => format!("{} k", digits(number / 1e3)),
        number => format!("{} M", digits(number / 1e6)),
    }
}

/// Formats a time \[s\] in a suitable unit: `12.3 ms`.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{} µs", digits(s * 1e6)),
        s if s < 1.0 => format!("{} ms", digits(s * 1e3)),
        s => format!("{} s", digits(s)),
    }
}

/// Formats a count with its noun: `1 face`, `1,234 faces`.
pub fn plural(number: usize, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        count_of(number),
        if number == 1 { one } else { many }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(count(0u64), "0");
        assert_eq!(count(1_234_567u64), "1,234,567");
        assert_eq!(count(999u64), "999");
        for (metres, text) in [
            (0.00123, "1.23 mm"),
            (0.0, "0 mm"),
            (12.0, "12 m"),
            (-4.56e-7, "-456 nm"),
            (0.1, "100 mm"),
            (123456.0, "123 km"),
            (-0.0, "0 mm"),
            (1e300, "1e297 km"),
            (-1.2345e-20, "-1.23e-11 nm"),
        ] {
            assert_eq!(length(metres), text);
        }
        for (value, power, text) in [
            (1.5, 2, "1.5 m²"),
            (-2.5e-4, 3, "-250 cm³"),
            (0.0, 3, "0 m³"),
            (3e-12, 2, "3 µm²"),
        ] {
            assert_eq!(measure(value, power), text);
        }
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(8_400_000), "8.4 MB");
        assert_eq!(seconds(0.0123), "12.3 ms");
    }
}
