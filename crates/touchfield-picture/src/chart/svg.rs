//! Line charts as SVG.
//!
//! Input: the charts that [`chart`](crate::chart()) draws. Output: the text of an SVG file, which
//! any browser shows at any size.
//! Cost: one polyline per curve. Not for: logarithmic axes.

use std::fmt::Write;

use super::{Axis, Chart, GRID, INK, MARGINS, SIZE, TEXT, axes};
use crate::canvas::Rgb;
use crate::render::PALETTE;
use crate::ticks::Unit;

/// Draws charts below each other.
pub fn chart_svg(charts: &[Chart]) -> String {
    let (width, height) = (SIZE[0], SIZE[1] * charts.len() as u32);
    let size = 1.4 * TEXT;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"{size}\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    for (index, chart) in charts.iter().enumerate() {
        draw(&mut svg, chart, (SIZE[1] * index as u32) as f32);
    }
    svg.push_str("</svg>\n");
    svg
}

/// Writes to a text, which cannot fail.
macro_rules! put {
    ($svg:expr, $($words:tt)*) => {
        let _ = writeln!($svg, $($words)*);
    };
}

fn draw(svg: &mut String, chart: &Chart, down: f32) {
    let [x, y] = axes(chart, down);
    let [left, top, right, bottom] = MARGINS;
    let (right, top) = (SIZE[0] as f32 - right, down + top);
    let bottom = down + SIZE[1] as f32 - bottom;
    let (ink, grid) = (hex(INK), hex(GRID));
    let number = |value: f64, step: f64| Unit::plain("").number(value, step);
    // Grid lines and their labels.
    let (ticks, step) = x.ticks(20.0);
    for tick in ticks {
        let (at, label) = (x.at(tick), number(tick, step));
        let below = bottom + 2.0 * TEXT;
        put!(
            svg,
            r#"<path d="M{at:.1} {top:.1}V{bottom:.1}" stroke="{grid}"/>"#
        );
        put!(
            svg,
            r#"<text x="{at:.1}" y="{below:.1}" text-anchor="middle" fill="{ink}">{label}</text>"#
        );
    }
    let (ticks, step) = y.ticks(12.0);
    for tick in ticks {
        let (at, label) = (y.at(tick), number(tick, step));
        let (beside, line) = (left - 0.8 * TEXT, at + 0.5 * TEXT);
        put!(
            svg,
            r#"<path d="M{left:.1} {at:.1}H{right:.1}" stroke="{grid}"/>"#
        );
        put!(
            svg,
            r#"<text x="{beside:.1}" y="{line:.1}" text-anchor="end" fill="{ink}">{label}</text>"#
        );
    }
    // Frame, title and label of the x axis.
    let (wide, high) = (right - left, bottom - top);
    put!(
        svg,
        r#"<rect x="{left:.1}" y="{top:.1}" width="{wide:.1}" height="{high:.1}" fill="none" stroke="{ink}"/>"#
    );
    let (title, above) = (escaped(&chart.title), top - 1.6 * TEXT);
    put!(
        svg,
        r#"<text x="{left:.1}" y="{above:.1}" font-weight="bold" fill="{ink}">{title}</text>"#
    );
    let (name, middle, below) = (escaped(&chart.x), 0.5 * (left + right), bottom + 4.2 * TEXT);
    put!(
        svg,
        r#"<text x="{middle:.1}" y="{below:.1}" text-anchor="middle" fill="{ink}">{name}</text>"#
    );
    // Curves, and the legend from right to left.
    let mut legend = right;
    for (index, curve) in chart.curves.iter().enumerate().rev() {
        let colour = hex(PALETTE[index % PALETTE.len()]);
        let path = path(&curve.points, &x, &y);
        put!(
            svg,
            r#"<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.6" stroke-linejoin="round"/>"#
        );
        if chart.curves.len() > 1 {
            let name = escaped(&curve.name);
            put!(
                svg,
                r#"<text x="{legend:.1}" y="{above:.1}" text-anchor="end" fill="{ink}">{name}</text>"#
            );
            // Letters of sans-serif fonts are about this wide on average, and seldom wider.
            legend -= 0.85 * TEXT * curve.name.chars().count() as f32 + 0.8 * TEXT;
            let (from, height) = (legend - 2.0 * TEXT, top - 2.1 * TEXT);
            put!(
                svg,
                r#"<path d="M{from:.1} {height:.1}H{legend:.1}" stroke="{colour}" stroke-width="3"/>"#
            );
            legend -= 4.0 * TEXT;
        }
    }
}

/// Returns the path through points; those that are not finite leave a gap.
fn path(points: &[[f64; 2]], x: &Axis, y: &Axis) -> String {
    let mut path = String::new();
    let mut is_drawn = false;
    for point in points {
        if !point.iter().all(|number| number.is_finite()) {
            is_drawn = false;
            continue;
        }
        let letter = if is_drawn { 'L' } else { 'M' };
        let _ = write!(path, "{letter}{:.2} {:.2}", x.at(point[0]), y.at(point[1]));
        is_drawn = true;
    }
    path
}

fn hex([r, g, b]: Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Returns text in which no character has a meaning in XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::super::Curve;
    use super::*;

    #[test]
    fn a_chart_has_its_curves_labels_and_escaped_titles() {
        let curve = |name: &str, points: Vec<[f64; 2]>| Curve {
            name: name.to_owned(),
            points,
        };
        let chart = Chart {
            title: "a < b & c [m]".to_owned(),
            x: "time [s]".to_owned(),
            curves: vec![
                curve(
                    "one",
                    vec![[0.0, 1.0], [1.0, f64::NAN], [2.0, 3.0], [3.0, 4.0]],
                ),
                curve("two", vec![[0.0, -1.0], [3.0, -2.0]]),
            ],
        };
        let svg = chart_svg(&[chart]);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        for words in [
            "a &lt; b &amp; c [m]",
            "time [s]",
            ">one<",
            ">two<",
            "#4e80bc",
        ] {
            assert!(svg.contains(words), "no `{words}` in {svg}");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
