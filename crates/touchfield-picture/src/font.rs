//! A stroke font: every glyph is a few pen strokes on a small grid.
//!
//! Input: a character. Output: its strokes as polylines, and its advance.
//! Cost: a few dozen segments per glyph, flattened on each call.
//! Not for: characters beyond printable ASCII and the signs that a labelled picture needs; others
//! are drawn as a box.
//!
//! A point is two hexadecimal digits, x then y. The baseline is y = 3; lower-case letters reach up
//! to 9, capitals and digits to c, descenders down to 0. Strokes are separated by spaces. A stroke
//! is a polyline. A leading `~` makes it a quadratic B-spline that starts and ends at its end
//! points; a leading `@` makes it a closed B-spline. A point written twice is a sharp corner; a
//! single point is a dot.

use glam::Vec2;

/// Height of capitals and digits above the baseline, in grid units.
const CAP_UNITS: f32 = 9.0;
/// Height of the baseline on the grid.
const BASELINE: f32 = 3.0;
/// Space between two glyphs, in grid units.
const SPACING: f32 = 2.9;
/// Segments per piece of a spline: at the largest text a segment is about three pixels long.
const SPLINE_PARTS: usize = 5;

/// Returns the width of one glyph on the grid, and its strokes.
#[rustfmt::skip]
fn glyph(character: char) -> (f32, &'static str) {
    match character {
        ' ' => (1.6, ""),
        '0' => (5.0, "@03535c0c"),
        '1' => (5.0, "1a3c33 1353"),
        '2' => (5.0, "~0a0c5c5803 0353"),
        '3' => (5.0, "~0b1c5c5828 ~2858531304"),
        '4' => (5.0, "434c0656"),
        '5' => (5.0, "5c0c08 ~083959531304"),
        '6' => (5.0, "~5b4c0c0605 @03535808"),
        '7' => (5.0, "0c5c23"),
        '8' => (5.0, "@08585c0c @03535808"),
        '9' => (5.0, "~5a59531304 @07575c0c"),
        'A' => (6.0, "033c63 1656"),
        'B' => (6.0, "0c03 ~0c3c5c583808 ~084868633303"),
        'C' => (6.0, "~6b5c0c035364"),
        'D' => (6.0, "0c03 ~0c2c6c632303"),
        'E' => (5.0, "5c0c0353 0848"),
        'F' => (5.0, "5c0c03 0848"),
        'G' => (6.0, "~6b5c0c036367 3767"),
        'H' => (6.0, "0c03 6c63 0868"),
        'I' => (2.0, "1c13 0c2c 0323"),
        'J' => (4.0, "~4c46430305"),
        'K' => (6.0, "0c03 6c06 2863"),
        'L' => (5.0, "0c0353"),
        'M' => (8.0, "030c468c83"),
        'N' => (6.0, "030c636c"),
        'O' => (6.0, "@03636c0c"),
        'P' => (6.0, "030c ~0c4c6c674707"),
        'Q' => (6.0, "@03636c0c 4562"),
        'R' => (6.0, "030c ~0c4c6c674707 3763"),
        'S' => (6.0, "~6b5c0c0868631304"),
        'T' => (6.0, "0c6c 3c33"),
        'U' => (6.0, "~0c060363666c"),
        'V' => (6.0, "0c336c"),
        'W' => (8.0, "0c234c638c"),
        'X' => (6.0, "0c63 6c03"),
        'Y' => (6.0, "0c386c 3833"),
        'Z' => (6.0, "0c6c0363"),
        'a' => (5.0, "@03535909 5953"),
        'b' => (5.0, "@03535909 0c03"),
        'c' => (5.0, "~584909034354"),
        'd' => (5.0, "@03535909 5c53"),
        'e' => (5.0, "~0656565909034354"),
        'f' => (4.0, "~4c1c1a13 0939"),
        'g' => (5.0, "@03535909 ~5952501001"),
        'h' => (5.0, "0c03 ~0709595653"),
        'i' => (0.0, "0903 0c"),
        'j' => (2.0, "~29222000 2c"),
        'k' => (5.0, "0c03 4905 1653"),
        'l' => (2.0, "~0c050323"),
        'm' => (8.0, "0903 ~0709494643 ~4749898683"),
        'n' => (5.0, "0903 ~0709595653"),
        'o' => (5.0, "@03535909"),
        'p' => (5.0, "@03535909 0900"),
        'q' => (5.0, "@03535909 5950"),
        'r' => (3.0, "0903 ~070939"),
        's' => (5.0, "~5849090656531304"),
        't' => (4.0, "~1c151343 0949"),
        'u' => (5.0, "~0906035355 5953"),
        'v' => (4.0, "092349"),
        'w' => (8.0, "0923496389"),
        'x' => (5.0, "0953 5903"),
        'y' => (4.0, "0923 4910"),
        'z' => (5.0, "09590353"),
        '.' => (0.0, "03"),
        ',' => (1.0, "1402"),
        ':' => (0.0, "04 09"),
        ';' => (1.0, "19 1402"),
        '!' => (0.0, "0c06 03"),
        '?' => (5.0, "~0a0c5c582826 23"),
        '\'' => (0.0, "0c0a"),
        '"' => (2.0, "0c0a 2c2a"),
        '`' => (1.0, "0c1a"),
        '-' => (4.0, "0747"),
        '_' => (6.0, "0262"),
        '+' => (4.0, "0747 2925"),
        '=' => (4.0, "0848 0545"),
        '/' => (4.0, "024d"),
        '\\' => (4.0, "0d42"),
        '|' => (0.0, "0d01"),
        '(' => (2.0, "~2d0a0522"),
        ')' => (2.0, "~0d2a2502"),
        '[' => (2.0, "2d0d0222"),
        ']' => (2.0, "0d2d2202"),
        '{' => (2.0, "~2d1d1807 ~07161222"),
        '}' => (2.0, "~0d1d1827 ~27161202"),
        '<' => (4.0, "4a0744"),
        '>' => (4.0, "0a4704"),
        '*' => (4.0, "2c28 0b49 4b09"),
        '^' => (4.0, "0a2c4a"),
        '~' => (5.0, "~06193558"),
        '@' => (8.0, "~72020c8c846469 @35656939"),
        '#' => (6.0, "2c13 5c43 0969 0666"),
        '$' => (6.0, "~6b5c0c0868631304 3d32"),
        '%' => (8.0, "@08383c0c @53838757 7c13"),
        '&' => (6.0, "~63191c4c4906034367"),
        'µ' | 'μ' => (5.0, "0900 ~0906035355 5953"),
        '±' => (4.0, "0848 2a26 0444"),
        '−' | '–' => (5.0, "0757"),
        '×' => (4.0, "0945 4905"),
        '°' => (3.0, "@09393c0c"),
        '²' => (3.0, "~0b0c3c3b08 0838"),
        '³' => (3.0, "~0c3c3a1a ~1a3a3808"),
        '≤' => (4.0, "4b0845 0343"),
        '≥' => (4.0, "0b4805 0343"),
        '→' => (8.0, "0787 5a8754"),
        '←' => (8.0, "0787 3a0734"),
        '↑' => (6.0, "3d33 0a3d6a"),
        '↓' => (6.0, "3d33 063366"),
        'φ' => (6.0, "@03636909 3c30"),
        '·' => (0.0, "07"),
        '…' => (6.0, "03 33 63"),
        _ => (5.0, "030c5c5303"),
    }
}

/// Returns the advance of the pen after `character`, for capitals of height 1.
pub(super) fn advance(character: char) -> f32 {
    (glyph(character).0 + SPACING) / CAP_UNITS
}

/// Returns the width of `text` from the first stroke to the last, for capitals of height 1.
pub(super) fn text_width(text: &str) -> f32 {
    let advances: f32 = text.chars().map(advance).sum();
    (advances - SPACING / CAP_UNITS).max(0.0)
}

/// Returns the strokes of `character` for capitals of height 1: x to the right, y *down* from the
/// baseline.
pub(super) fn strokes(character: char) -> impl Iterator<Item = Vec<Vec2>> {
    glyph(character).1.split_whitespace().map(|stroke| {
        let (kind, digits) = match stroke.as_bytes() {
            [kind @ (b'~' | b'@'), digits @ ..] => (*kind, digits),
            digits => (b' ', digits),
        };
        let points: Vec<Vec2> = digits
            .chunks_exact(2)
            .map(|pair| Vec2::new(digit(pair[0]), BASELINE - digit(pair[1])) / CAP_UNITS)
            .collect();
        match kind {
            b'~' => open_spline(&points),
            b'@' => closed_spline(&points),
            _ => points,
        }
    })
}

/// Returns the value of a hexadecimal digit. The table above contains nothing else; a test checks
/// that.
fn digit(byte: u8) -> f32 {
    char::from(byte).to_digit(16).unwrap_or(0) as f32
}

/// Flattens an open quadratic B-spline. It passes through the first and last point and is tangent
/// to the sides of the control polygon at their midpoints.
fn open_spline(control: &[Vec2]) -> Vec<Vec2> {
    let [first, .., last] = control else {
        return control.to_vec();
    };
    let mut curve = vec![*first];
    for i in 1..control.len() - 1 {
        let end = if i + 2 == control.len() {
            *last
        } else {
            control[i].midpoint(control[i + 1])
        };
        extend_quadratic(&mut curve, control[i], end);
    }
    curve
}

/// Flattens the closed quadratic B-spline of a control polygon.
fn closed_spline(control: &[Vec2]) -> Vec<Vec2> {
    let [first, .., last] = control else {
        return control.to_vec();
    };
    let mut curve = vec![last.midpoint(*first)];
    for (i, &corner) in control.iter().enumerate() {
        extend_quadratic(
            &mut curve,
            corner,
            corner.midpoint(control[(i + 1) % control.len()]),
        );
    }
    curve
}

/// Appends a flattened quadratic Bézier piece that starts at the curve's end.
fn extend_quadratic(curve: &mut Vec<Vec2>, control: Vec2, end: Vec2) {
    let Some(&start) = curve.last() else { return };
    for i in 1..=SPLINE_PARTS {
        let t = i as f32 / SPLINE_PARTS as f32;
        curve.push(start.lerp(control, t).lerp(control.lerp(end, t), t));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEYOND_ASCII: &str = "φµμ±−–×°²³≤≥→←↑↓·…";

    #[test]
    fn every_glyph_is_well_formed_and_keeps_to_its_cell() {
        let boxed = glyph('\u{0}').1;
        for character in (' '..='~').chain(BEYOND_ASCII.chars()) {
            let (width, text) = glyph(character);
            assert_ne!(text, boxed, "no glyph for {character:?}");
            for stroke in text.split(' ').filter(|stroke| !stroke.is_empty()) {
                let digits = stroke.trim_start_matches(['~', '@']);
                assert!(
                    digits.len() % 2 == 0 && digits.chars().all(|c| c.is_ascii_hexdigit()),
                    "{character:?}: {stroke}"
                );
            }
            for point in strokes(character).flatten() {
                let x = point.x * CAP_UNITS;
                assert!(
                    (0.0..=width + 1e-4).contains(&x),
                    "{character:?}: x {x} of {width}"
                );
                assert!(
                    (-10.0..=3.0).contains(&(point.y * CAP_UNITS)),
                    "{character:?}"
                );
            }
        }
    }

    #[test]
    fn no_two_ascii_glyphs_look_the_same() {
        let all: Vec<char> = ('!'..='~').collect();
        for (i, &a) in all.iter().enumerate() {
            for &b in &all[i + 1..] {
                assert_ne!(glyph(a).1, glyph(b).1, "{a} and {b}");
            }
        }
    }

    #[test]
    fn text_width_adds_up() {
        let digits = text_width("00") - text_width("0");
        assert!((digits - advance('0')).abs() < 1e-6);
        assert_eq!(text_width(""), 0.0);
    }
}
