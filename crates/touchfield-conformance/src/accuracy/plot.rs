//! Plots curves over logarithmic axes as SVG.
//!
//! Input: panels of named curves, in rows.
//! Output: one SVG document, the same bytes for the same numbers.
//! Not for: numbers that are not positive, which are left out.

use std::fmt::Write;

/// Points joined by a line.
pub struct Series {
    /// Name in the legend; curves with the same name have the same colour.
    pub name: String,
    /// Points in the order in which they are joined; positive.
    pub points: Vec<[f64; 2]>,
}

/// Curves over one pair of axes.
pub struct Panel {
    /// Title above the panel.
    pub title: String,
    /// Label of the x axis, with its unit.
    pub x: String,
    /// Label of the y axis, with its unit.
    pub y: String,
    /// Curves of the panel.
    pub series: Vec<Series>,
    /// Reference slope, drawn as a dashed line.
    pub slope: Option<f64>,
}

/// Colours that remain distinct for colour-blind readers \[Okabe2008\].
const COLOURS: [&str; 6] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#000000",
];
/// Line width of the first curve, and the decrease per curve: curves on top of each other stay
/// visible.
const WIDTHS: [f64; 2] = [5.0, 0.8];
const PANEL: [f64; 2] = [300.0, 250.0];
const MARGIN: [f64; 2] = [64.0, 46.0];
const LEGEND: f64 = 34.0;

/// Draws all rows of panels, below a legend.
pub fn svg(rows: &[Vec<Panel>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let [width, height] = [
        columns as f64 * (PANEL[0] + MARGIN[0]) + 16.0,
        rows.len() as f64 * (PANEL[1] + 2.0 * MARGIN[1]) + LEGEND,
    ];
    let mut names: Vec<&str> = Vec::new();
    for series in rows.iter().flatten().flat_map(|panel| &panel.series) {
        if !names.contains(&series.name.as_str()) {
            names.push(&series.name);
        }
    }
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    let mut x = MARGIN[0];
    for (index, name) in names.iter().enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        let width = width_of(index);
        line(&mut out, [[x, 18.0], [x + 22.0, 18.0]], colour, width, "");
        text(&mut out, [x + 28.0, 22.0], "start", name);
        x += 44.0 + 6.5 * name.chars().count() as f64;
    }
    for (row, panels) in rows.iter().enumerate() {
        for (column, panel) in panels.iter().enumerate() {
            let corner = [
                MARGIN[0] + column as f64 * (PANEL[0] + MARGIN[0]),
                LEGEND + MARGIN[1] * 0.6 + row as f64 * (PANEL[1] + 2.0 * MARGIN[1]),
            ];
            draw(&mut out, panel, corner, &names);
        }
    }
    out += "</svg>\n";
    out
}

/// Maps the logarithm of a number to a position.
struct Axis {
    low: f64,
    high: f64,
    start: f64,
    length: f64,
}

impl Axis {
    /// Returns an axis that holds all numbers, with a margin.
    fn over(numbers: impl Iterator<Item = f64>, start: f64, length: f64) -> Axis {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for number in numbers.filter(|&number| number > 0.0) {
            low = low.min(number.log10());
            high = high.max(number.log10());
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        let room = 0.06 * (high - low).max(0.5);
        Axis {
            low: low - room,
            high: high + room,
            start,
            length,
        }
    }

    fn at(&self, number: f64) -> f64 {
        self.start + self.length * (number.log10() - self.low) / (self.high - self.low)
    }

    /// Returns ticks at whole decades, and at 2 and 5 where there are few; with whether to label
    /// them.
    fn ticks(&self) -> Vec<(f64, bool)> {
        let mut ticks = Vec::new();
        let few = self.high - self.low < 2.2;
        for decade in self.low.floor() as i32..=self.high.ceil() as i32 {
            for digit in 1..10 {
                let number = f64::from(digit) * 10f64.powi(decade);
                let inside = (self.low..=self.high).contains(&number.log10());
                let written = digit == 1 || few && (digit == 2 || digit == 5);
                if inside {
                    ticks.push((number, written));
                }
            }
        }
        ticks
    }
}

fn draw(out: &mut String, panel: &Panel, [left, top]: [f64; 2], names: &[&str]) {
    let all = || panel.series.iter().flat_map(|series| &series.points);
    let [width, height] = PANEL;
    let bottom = top + height;
    let x = Axis::over(all().map(|p| p[0]), left, width);
    let y = Axis::over(all().map(|p| p[1]), bottom, -height);
    // Title and axis labels.
    text(out, [left + 0.5 * width, top - 8.0], "middle", &panel.title);
    text(out, [left + 0.5 * width, bottom + 34.0], "middle", &panel.x);
    let (label_x, label_y) = (left - 46.0, top + 0.5 * height);
    let _ = writeln!(
        out,
        "<text x=\"{label_x:.1}\" y=\"{label_y:.1}\" text-anchor=\"middle\" \
         transform=\"rotate(-90 {label_x:.1} {label_y:.1})\">{}</text>",
        panel.y
    );
    // Grid lines and tick labels.
    for (number, written) in x.ticks() {
        let at = x.at(number);
        let shade = if written { "#cccccc" } else { "#eeeeee" };
        line(out, [[at, top], [at, bottom]], shade, 0.7, "");
        if written {
            text(out, [at, bottom + 15.0], "middle", &label(number));
        }
    }
    for (number, written) in y.ticks() {
        let at = y.at(number);
        let shade = if written { "#cccccc" } else { "#eeeeee" };
        line(out, [[left, at], [left + width, at]], shade, 0.7, "");
        if written {
            text(out, [left - 5.0, at + 4.0], "end", &label(number));
        }
    }
    let _ = writeln!(
        out,
        "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width}\" height=\"{height}\" fill=\"none\" stroke=\"#444444\"/>"
    );
    if let Some(slope) = panel.slope {
        // From the lower left corner, as far as the line stays inside.
        let decades = (x.high - x.low).min((y.high - y.low) / slope);
        let start = [10f64.powf(x.low), 10f64.powf(y.low)];
        let end = [
            10f64.powf(x.low + decades),
            10f64.powf(y.low + slope * decades),
        ];
        let place = |p: [f64; 2]| [x.at(p[0]), y.at(p[1])];
        line(out, [place(start), place(end)], "#777777", 1.0, "5 4");
        let along = |i: usize| start[i].powf(0.3) * end[i].powf(0.7);
        let [at, above] = place([along(0), along(1)]);
        let name = format!("slope {slope}");
        text(out, [at + 10.0, above + 10.0], "start", &name);
    }
    // Curves with their points; numbers that are not positive are left out.
    for series in &panel.series {
        let index = names.iter().position(|name| *name == series.name);
        let index = index.unwrap_or(0);
        let (colour, thick) = (COLOURS[index % COLOURS.len()], width_of(index));
        let places: Vec<[f64; 2]> = series
            .points
            .iter()
            .filter(|p| p[0] > 0.0 && p[1] > 0.0)
            .map(|p| [x.at(p[0]), y.at(p[1])])
            .collect();
        let list: Vec<String> = places
            .iter()
            .map(|[x, y]| format!("{x:.1},{y:.1}"))
            .collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{thick:.1}\"/>",
            list.join(" ")
        );
        let radius = 1.2 + 0.5 * thick;
        for [x, y] in places {
            let _ = writeln!(
                out,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"{colour}\"/>"
            );
        }
    }
}

fn width_of(index: usize) -> f64 {
    (WIDTHS[0] - WIDTHS[1] * index as f64).max(1.2)
}

fn line(out: &mut String, [a, b]: [[f64; 2]; 2], colour: &str, width: f64, dashes: &str) {
    let dashes = match dashes {
        "" => String::new(),
        dashes => format!(" stroke-dasharray=\"{dashes}\""),
    };
    let _ = writeln!(
        out,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\" stroke-width=\"{width}\"{dashes}/>",
        a[0], a[1], b[0], b[1]
    );
}

fn text(out: &mut String, [x, y]: [f64; 2], anchor: &str, content: &str) {
    let content = content.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{content}</text>"
    );
}

/// Formats a number like `0.05` or `20`; very large and small ones as powers of ten.
fn label(number: f64) -> String {
    if (0.009..9999.0).contains(&number) {
        format!("{}", (number * 1e4).round() / 1e4)
    } else {
        format!("{number:.0e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_without_a_logarithm_are_left_out_and_names_are_escaped() {
        let panel = |points| Panel {
            title: "a < b & c".to_owned(),
            x: "x [m]".to_owned(),
            y: "y".to_owned(),
            series: vec![Series {
                name: "one".to_owned(),
                points,
            }],
            slope: Some(2.0),
        };
        let drawn = svg(&[vec![panel(vec![
            [1.0, 1.0],
            [10.0, 100.0],
            [0.0, 3.0],
            [2.0, f64::NAN],
        ])]]);
        assert_eq!(drawn.matches("<circle").count(), 2);
        assert!(drawn.contains("a &lt; b &amp; c") && !drawn.contains("NaN"));
        assert!(!svg(&[vec![panel(vec![])]]).contains("NaN"));
    }
}
