//! Line charts over linear axes.
//!
//! Input: charts of named curves. Output: one picture with the charts below each other.
//! Cost: one line per point. Not for: logarithmic axes; see the plots of touchfield-conformance.

use glam::Vec2;

mod svg;

pub use svg::chart_svg;

use crate::canvas::{Anchor, Canvas, Rgb, SizeError, TextStyle};
use crate::render::PALETTE;
use crate::ticks::{Unit, multiples, round_below};

/// Points joined by lines; points that are not finite leave a gap.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Name in the legend.
    pub name: String,
    /// Points along x and y, in the units of the axes.
    pub points: Vec<[f64; 2]>,
}

/// Curves over one pair of axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Title above the chart: the quantity on the y axis, with its unit.
    pub title: String,
    /// Label below the chart: the quantity on the x axis, with its unit.
    pub x: String,
    /// The curves to draw.
    pub curves: Vec<Curve>,
}

pub(super) const SIZE: [u32; 2] = [960, 330];
/// Left, top, right and bottom margin of the axes \[px\].
pub(super) const MARGINS: [f32; 4] = [84.0, 46.0, 24.0, 48.0];
/// Height of capitals \[px\].
pub(super) const TEXT: f32 = 9.0;
pub(super) const INK: Rgb = [40, 44, 52];
pub(super) const GRID: Rgb = [222, 226, 232];
const PAPER: Rgb = [255, 255, 255];

/// Draws charts below each other.
pub fn chart(charts: &[Chart]) -> Result<Canvas, SizeError> {
    let mut canvas = Canvas::new(SIZE[0], SIZE[1] * charts.len() as u32, PAPER)?;
    for (index, chart) in charts.iter().enumerate() {
        draw(&mut canvas, chart, (SIZE[1] * index as u32) as f32);
    }
    Ok(canvas)
}

/// A linear map from numbers to pixel positions.
pub(super) struct Axis {
    low: f64,
    high: f64,
    from: f32,
    to: f32,
}

impl Axis {
    /// Creates an axis that covers all finite numbers.
    fn over(numbers: impl Iterator<Item = f64>, from: f32, to: f32) -> Axis {
        let finite = numbers.filter(|number| number.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), number| {
            (low.min(number), high.max(number))
        });
        let (low, high) = match low < high {
            true => (low, high),
            // One number, or none: widen the range so that it is not zero.
            false if low == high => (
                low - 0.5 * low.abs().max(1.0),
                low + 0.5 * low.abs().max(1.0),
            ),
            false => (0.0, 1.0),
        };
        Axis {
            low,
            high,
            from,
            to,
        }
    }

    pub(super) fn at(&self, number: f64) -> f32 {
        let share = (number - self.low) / (self.high - self.low);
        self.from + (self.to - self.from) * share as f32
    }

    pub(super) fn ticks(&self, most: f64) -> (Vec<f64>, f64) {
        let step = round_below(2.5 * (self.high - self.low) / most);
        (multiples(self.low, self.high, step), step)
    }
}

/// Returns the axes of a chart whose upper edge is `down` pixels down.
pub(super) fn axes(chart: &Chart, down: f32) -> [Axis; 2] {
    let points = || chart.curves.iter().flat_map(|curve| &curve.points);
    let [left, top, right, bottom] = MARGINS;
    let (left, right) = (left, SIZE[0] as f32 - right);
    let (top, bottom) = (down + top, down + SIZE[1] as f32 - bottom);
    let x = Axis::over(points().map(|point| point[0]), left, right);
    let mut y = Axis::over(points().map(|point| point[1]), bottom, top);
    // Include zero where it is near, and leave room so that no curve lies on the border.
    let room = 0.06 * (y.high - y.low);
    if y.low > 0.0 && y.low < 0.5 * y.high {
        y.low = 0.0;
    } else if y.low < 0.0 {
        y.low -= room;
    }
    y.high += room;
    [x, y]
}

fn draw(canvas: &mut Canvas, chart: &Chart, down: f32) {
    let [x, y] = axes(chart, down);
    let [left, top, right, bottom] = MARGINS;
    let (left, right) = (left, SIZE[0] as f32 - right);
    let (top, bottom) = (down + top, down + SIZE[1] as f32 - bottom);
    // Grid lines and their labels.
    let style = TextStyle::new(TEXT, INK);
    let number = |value: f64, step: f64| Unit::plain("").number(value, step);
    let (ticks, step) = x.ticks(20.0);
    for tick in ticks {
        let at = x.at(tick);
        canvas.line(Vec2::new(at, top), Vec2::new(at, bottom), 1.0, GRID, 1.0);
        let place = Vec2::new(at, bottom + 2.0 * TEXT);
        canvas.text(place, Anchor::Middle, style, &number(tick, step));
    }
    let (ticks, step) = y.ticks(12.0);
    for tick in ticks {
        let at = y.at(tick);
        canvas.line(Vec2::new(left, at), Vec2::new(right, at), 1.0, GRID, 1.0);
        let place = Vec2::new(left - 0.8 * TEXT, at + 0.5 * TEXT);
        canvas.text(place, Anchor::End, style, &number(tick, step));
    }
    // Frame, title and label of the x axis.
    canvas.stroke_rect(Vec2::new(left, top), Vec2::new(right, bottom), 1.0, INK);
    let bold = TextStyle {
        bold: true,
        ..style
    };
    let title = Vec2::new(left, top - 1.6 * TEXT);
    canvas.text(title, Anchor::Start, bold, &chart.title);
    let below = Vec2::new(0.5 * (left + right), bottom + 4.2 * TEXT);
    canvas.text(below, Anchor::Middle, style, &chart.x);
    // Curves, and the legend from right to left.
    let mut legend = right;
    for (index, curve) in chart.curves.iter().enumerate().rev() {
        let colour = PALETTE[index % PALETTE.len()];
        for pair in curve.points.windows(2) {
            if pair.iter().flatten().all(|number| number.is_finite()) {
                let [from, to] = [0, 1].map(|i| Vec2::new(x.at(pair[i][0]), y.at(pair[i][1])));
                canvas.line(from, to, 1.6, colour, 1.0);
            }
        }
        if chart.curves.len() > 1 {
            let place = Vec2::new(legend, top - 1.6 * TEXT);
            canvas.text(place, Anchor::End, style, &curve.name);
            legend -= style.width(&curve.name) + 0.8 * TEXT;
            let height = top - 2.1 * TEXT;
            let from = Vec2::new(legend - 2.0 * TEXT, height);
            canvas.line(from, Vec2::new(legend, height), 3.0, colour, 1.0);
            legend -= 4.0 * TEXT;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(curves: Vec<Vec<[f64; 2]>>) -> Chart {
        let curves = curves.into_iter().map(|points| Curve {
            name: "one".to_owned(),
            points,
        });
        Chart {
            title: "height [m]".to_owned(),
            x: "time [s]".to_owned(),
            curves: curves.collect(),
        }
    }

    /// A falling line passes through the middle of its axes, in the colour of the first curve.
    #[test]
    fn a_line_is_where_its_numbers_are() {
        let canvas = chart(&[of(vec![vec![[0.0, 1.0], [2.0, -1.0]]])]).unwrap();
        let [left, top, right, bottom] = MARGINS;
        let width = SIZE[0] as f32 - left - right;
        let height = SIZE[1] as f32 - top - bottom;
        // The axis has the same room above and below, so zero stays in the middle.
        let (x, y) = (left + 0.5 * width, top + 0.5 * height);
        // Lines are anti-aliased: a pixel beside the middle contains some background.
        let off = |y: f32| {
            let found = canvas.pixel(x as u32, y as u32).unwrap();
            let channels = found.iter().zip(PALETTE[0]);
            channels.map(|(a, b)| a.abs_diff(b)).max().unwrap()
        };
        assert!(off(y) < 40, "{}", off(y));
        assert!(off(y - 0.2 * height) > 100, "{}", off(y - 0.2 * height));
    }

    #[test]
    fn numbers_that_are_none_leave_a_gap() {
        let holes = vec![
            [0.0, 1.0],
            [1.0, f64::NAN],
            [2.0, 3.0],
            [3.0, f64::INFINITY],
        ];
        for curves in [vec![holes], vec![vec![[1.0, 5.0]; 3]], vec![vec![]], vec![]] {
            assert!(chart(&[of(curves)]).is_ok());
        }
        assert!(chart(&[]).is_err(), "no charts are no picture");
    }
}
