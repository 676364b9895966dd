//! A plane through a field as a labelled map of signed distance.
//!
//! Input: a [`Field`] with a finite box, an axis and a position along it.
//! Output: a picture: colours by distance, contour lines at round distances, the surface as a bold line, colour bar,
//! scale bar, coordinates.
//! Cost: one distance a pixel, all cores.
//! Not for: measuring outside the box, where a field only promises a lower bound; that part is drawn paler.
//!
//! A line of level c is drawn where |φ − c| / |∇φ| is less than half its width, with ∇φ from neighbouring
//! pixels: it is equally wide wherever the field is smooth, whatever the angle between surface and plane.

use glam::{Vec2, Vec3};
use rayon::prelude::*;
use thiserror::Error;
use touchfield::{field::Field, geom::Aabb};

use super::{
    canvas::{Anchor, Canvas, Rgb, SizeError, TextStyle, mix},
    colormap::DivergingMap,
    sheet::fitted,
    ticks::{Unit, multiples, round_below},
};

const PAPER: Rgb = [255, 255, 255];
const INK: Rgb = [28, 32, 40];
const SOFT_INK: Rgb = [92, 98, 108];
const SURFACE: Rgb = [10, 12, 16];
const UNKNOWN: Rgb = [168, 168, 172];
const DOUBT: Rgb = [200, 0, 110];

/// Narrowest picture \[px\]: below it the labels would cover each other.
const MIN_WIDTH: u32 = 240;
/// Margin around the field's box, of its longer side in the plane.
const MARGIN: f32 = 0.06;
/// Flattest and tallest map, height by width; thinner boxes get more margin.
const ASPECT: (f32, f32) = (0.45, 1.3);

/// A coordinate axis of the field's frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    /// The map shows y to the right, z up.
    X,
    /// The map shows x to the right, z up.
    Y,
    /// The map shows x to the right, y up.
    Z,
}

impl Axis {
    const NAMES: [&'static str; 3] = ["x", "y", "z"];

    fn index(self) -> usize {
        self as usize
    }

    /// Axes to the right and up on the map.
    fn in_plane(self) -> (usize, usize) {
        match self {
            Axis::X => (1, 2),
            Axis::Y => (0, 2),
            Axis::Z => (0, 1),
        }
    }
}

/// What to draw, and how it is labelled.
#[derive(Clone, Debug)]
pub(crate) struct SliceSettings<'a> {
    /// The plane is perpendicular to this axis.
    pub(crate) axis: Axis,
    /// Where it cuts the axis \[m\]; the middle of the box if not given.
    pub(crate) at: Option<f32>,
    /// Width of the whole picture \[px\]; the height follows.
    pub(crate) width: u32,
    /// First line, such as the file's name.
    pub(crate) title: String,
    /// Second line, such as resolution and error bound; may be empty.
    pub(crate) caption: String,
    /// Unit of the model where it is not metres, printed as it is; metres get a prefix that suits the size.
    pub(crate) unit: Option<String>,
    /// Cells to hatch, in the field's frame: where the sign is doubtful.
    pub(crate) doubtful: &'a [Aabb],
}

impl Default for SliceSettings<'_> {
    fn default() -> Self {
        SliceSettings {
            axis: Axis::Z,
            at: None,
            width: 1000,
            title: String::new(),
            caption: String::new(),
            unit: None,
            doubtful: &[],
        }
    }
}

/// Why there is no slice.
#[derive(Clone, Debug, PartialEq, Error)]
pub(crate) enum SliceError {
    /// The field's box has no finite, positive size.
    #[error("the field's box from {} to {} cannot be drawn; a slice needs a finite box of positive size (intersect the field with one)", .0.min, .0.max)]
    Bounds(Aabb),
    /// The plane misses the box.
    #[error(
        "the plane at {at} lies outside the field's box, which spans {min} to {max} along that axis"
    )]
    OutsideBounds { at: f32, min: f32, max: f32 },
    /// Too narrow for its labels.
    #[error("a slice {width} pixels wide has no room for its labels; use at least {MIN_WIDTH}")]
    TooNarrow { width: u32 },
    /// The picture cannot be made.
    #[error(transparent)]
    Size(#[from] SizeError),
}

/// The part of the plane that is drawn, and where on the picture.
struct Plot {
    /// Axes to the right and up.
    axes: (usize, usize),
    /// A point in the plane; the in-plane coordinates do not matter.
    base: Vec3,
    /// Lower left corner of the map in the plane \[m\].
    origin: Vec2,
    /// Side of a pixel \[m\].
    pixel: f32,
    /// First column and row of the map on the picture.
    corner: (u32, u32),
    /// Columns and rows of the map.
    size: (u32, u32),
}

impl Plot {
    /// The point of the field's frame at pixel coordinates of the map, x right and y down.
    fn point(&self, x: f32, y: f32) -> Vec3 {
        let mut point = self.base;
        point[self.axes.0] = self.origin.x + x * self.pixel;
        point[self.axes.1] = self.origin.y + (self.size.1 as f32 - y) * self.pixel;
        point
    }

    /// The place on the picture of in-plane coordinates \[m\].
    fn place(&self, right: f32, up: f32) -> Vec2 {
        let x = (right - self.origin.x) / self.pixel;
        let y = self.size.1 as f32 - (up - self.origin.y) / self.pixel;
        Vec2::new(x + self.corner.0 as f32, y + self.corner.1 as f32)
    }

    fn min(&self) -> Vec2 {
        Vec2::new(self.corner.0 as f32, self.corner.1 as f32)
    }

    fn max(&self) -> Vec2 {
        self.min() + Vec2::new(self.size.0 as f32, self.size.1 as f32)
    }
}

/// The picture's measures, all from the height of its small capitals.
struct Layout {
    text: f32,
    title: f32,
    left: f32,
    right: f32,
    top: f32,
    bottom: f32,
}

impl Layout {
    fn new(settings: &SliceSettings) -> Layout {
        let text = (settings.width as f32 / 84.0).clamp(6.0, 60.0).round();
        let title = (1.35 * text).round();
        let caption_lines = if settings.caption.is_empty() {
            0.0
        } else {
            1.0
        };
        Layout {
            text,
            title,
            left: (6.2 * text).round(),
            right: (10.5 * text).round(),
            top: (1.6 * text + title + 2.2 * text * caption_lines + 3.2 * text).round(),
            bottom: (9.6 * text).round(),
        }
    }
}

/// Distances of a map with one more pixel on each side, for differences.
struct Values {
    columns: usize,
    distances: Vec<f32>,
}

impl Values {
    fn sample(field: &dyn Field, plot: &Plot) -> Values {
        let columns = plot.size.0 as usize + 2;
        let rows = plot.size.1 as usize + 2;
        let mut distances = vec![0.0; columns * rows];
        distances.par_chunks_mut(columns).enumerate().for_each_init(
            || (Vec::new(), Vec::new()),
            |(points, row_distances), (row, out)| {
                points.clear();
                let y = row as f32 - 0.5;
                points.extend((0..columns).map(|column| plot.point(column as f32 - 0.5, y)));
                field.distance_many(points, row_distances);
                for (slot, &distance) in out.iter_mut().zip(row_distances.iter()) {
                    *slot = distance;
                }
            },
        );
        Values { columns, distances }
    }

    /// Distance at a pixel of the map.
    fn at(&self, x: usize, y: usize) -> f32 {
        self.distances[(y + 1) * self.columns + x + 1]
    }

    /// Length of the in-plane gradient, per pixel.
    fn slope(&self, x: usize, y: usize) -> f32 {
        let i = (y + 1) * self.columns + x + 1;
        let d = &self.distances;
        let right = 0.5 * (d[i + 1] - d[i - 1]);
        let up = 0.5 * (d[i + self.columns] - d[i - self.columns]);
        right.hypot(up)
    }
}

/// What the colours mean: `±limit` \[m\] is the end of the map, contour lines lie `step` \[m\] apart.
struct Scale {
    limit: f64,
    step: f64,
    /// Some values lie beyond the ends.
    overflow: (bool, bool),
}

impl Scale {
    /// The same reach on both sides, so that equal colours are equal distances; where the solid is thin the
    /// outside is cut at one and a half times its depth, for else the inside would be white.
    fn of(values: &Values, plot: &Plot) -> Scale {
        let finite = || values.distances.iter().copied().filter(|d| d.is_finite());
        let deepest = f64::from(-finite().fold(0.0, f32::min));
        let farthest = f64::from(finite().fold(0.0, f32::max));
        let reach = if deepest > 0.0 {
            deepest.max(farthest.min(1.5 * deepest))
        } else {
            farthest
        };
        let reach = if reach > 0.0 {
            reach
        } else {
            f64::from(plot.pixel)
        };
        let step = round_below(reach / 4.0);
        let limit = step * (reach / step - 1e-6).ceil();
        Scale {
            limit,
            step,
            overflow: (deepest > 1.0001 * limit, farthest > 1.0001 * limit),
        }
    }
}

/// Draws the plane of `settings` through `field`.
pub(crate) fn slice(field: &dyn Field, settings: &SliceSettings) -> Result<Canvas, SliceError> {
    let bounds = field.bounds();
    let extents = bounds.extents();
    if bounds.is_empty() || !extents.is_finite() || extents.max_element() <= 0.0 {
        return Err(SliceError::Bounds(bounds));
    }
    let normal = settings.axis.index();
    let (min, max) = (bounds.min[normal], bounds.max[normal]);
    let at = settings.at.unwrap_or(bounds.center()[normal]);
    if !(min..=max).contains(&at) {
        return Err(SliceError::OutsideBounds { at, min, max });
    }
    if settings.width < MIN_WIDTH {
        return Err(SliceError::TooNarrow {
            width: settings.width,
        });
    }

    let layout = Layout::new(settings);
    let plot = place_plot(bounds, settings, at, &layout)?;
    let height = plot.corner.1 + plot.size.1 + layout.bottom as u32;
    let mut canvas = Canvas::new(settings.width, height, PAPER)?;
    let values = Values::sample(field, &plot);
    let scale = Scale::of(&values, &plot);

    let map = DivergingMap::new();
    let doubtful = doubtful_pixels(&plot, settings, at);
    draw_map(
        &mut canvas,
        &plot,
        &values,
        &scale,
        &map,
        &doubtful,
        bounds,
        layout.text,
    );
    draw_box(&mut canvas, &plot, bounds, &layout);
    let unit = match &settings.unit {
        Some(name) => Unit::plain(name),
        None => Unit::metric(f64::from(extents.max_element()) / 2.0),
    };
    draw_axes(&mut canvas, &plot, &layout, &unit);
    draw_colour_bar(&mut canvas, &plot, &layout, &scale, &map, &unit);
    draw_heading(&mut canvas, settings, &layout, &plot, &unit, at);
    let shown = doubtful.iter().any(|&doubt| doubt);
    draw_footer(&mut canvas, &plot, &layout, &unit, shown);
    Ok(canvas)
}

/// Fits the box and its margin into the picture's width.
fn place_plot(
    bounds: Aabb,
    settings: &SliceSettings,
    at: f32,
    layout: &Layout,
) -> Result<Plot, SliceError> {
    let axes = settings.axis.in_plane();
    let in_plane = |v: Vec3| Vec2::new(v[axes.0], v[axes.1]);
    let (centre, mut sides) = (in_plane(bounds.center()), in_plane(bounds.extents()));
    if sides.max_element() <= 0.0 {
        return Err(SliceError::Bounds(bounds));
    }
    sides += Vec2::splat(2.0 * MARGIN * sides.max_element());
    sides.y = sides.y.max(ASPECT.0 * sides.x);
    sides.x = sides.x.max(sides.y / ASPECT.1);
    let columns = (settings.width as f32 - layout.left - layout.right).max(1.0);
    let pixel = sides.x / columns;
    // A pixel too small to be told from its neighbour so far from the origin would draw stripes only.
    if !(pixel.is_normal() && sides.y.is_finite()) {
        return Err(SliceError::Bounds(bounds));
    }
    let rows = (sides.y / pixel).round().max(1.0);
    let mut base = bounds.center();
    base[settings.axis.index()] = at;
    Ok(Plot {
        axes,
        base,
        origin: centre - 0.5 * pixel * Vec2::new(columns, rows),
        pixel,
        corner: (layout.left as u32, layout.top as u32),
        size: (columns as u32, rows as u32),
    })
}

/// Which pixels of the map lie in a doubtful cell that the plane cuts; every such cell marks one pixel at least.
fn doubtful_pixels(plot: &Plot, settings: &SliceSettings, at: f32) -> Vec<bool> {
    let mut marked = vec![false; plot.size.0 as usize * plot.size.1 as usize];
    let normal = settings.axis.index();
    let (width, height) = (plot.size.0 as usize, plot.size.1 as usize);
    for cell in settings.doubtful {
        if cell.is_empty() || !(cell.min[normal]..=cell.max[normal]).contains(&at) {
            continue;
        }
        let corner = |v: Vec3| plot.place(v[plot.axes.0], v[plot.axes.1]) - plot.min();
        let (low, high) = (corner(cell.min), corner(cell.max));
        // Rows run down, so the cell's upper side comes first; casts saturate.
        let (x0, x1) = (low.x.round() as usize, (high.x.round() as usize).min(width));
        let (y0, y1) = (
            high.y.round() as usize,
            (low.y.round() as usize).min(height),
        );
        for y in y0..y1.max(y0 + 1).min(height) {
            for x in x0..x1.max(x0 + 1).min(width) {
                marked[y * width + x] = true;
            }
        }
    }
    marked
}

#[expect(
    clippy::too_many_arguments,
    reason = "the layers of one map, drawn in one pass"
)]
fn draw_map(
    canvas: &mut Canvas,
    plot: &Plot,
    values: &Values,
    scale: &Scale,
    map: &DivergingMap,
    doubtful: &[bool],
    bounds: Aabb,
    text: f32,
) {
    let picture_width = canvas.width() as usize;
    let (columns, first_row) = (plot.size.0 as usize, plot.corner.1 as usize);
    let first_column = plot.corner.0 as usize;
    let limit = scale.limit as f32;
    let step = scale.step as f32;
    let surface_half = (0.11 * text).max(0.9);
    let contour_half = (0.035 * text).max(0.35);
    let hatch = text.max(5.0) as usize;
    let rows = canvas.pixels_mut().par_chunks_mut(picture_width);
    let map_rows = rows.skip(first_row).take(plot.size.1 as usize);
    map_rows.enumerate().for_each(|(y, row)| {
        for x in 0..columns {
            let distance = values.at(x, y);
            let hatched = (x + y) % hatch < (hatch / 4).max(1);
            let mut colour = if distance.is_nan() {
                if hatched {
                    mix(UNKNOWN, INK, 0.4)
                } else {
                    UNKNOWN
                }
            } else {
                map.colour(distance / limit)
            };
            let slope = values.slope(x, y);
            let level = (distance / step).round();
            let contour = line_coverage(distance - level * step, slope, plot.pixel, contour_half);
            // Closer than four pixels, contours would only grey the map.
            let room = (step / plot.pixel / 4.0 - 1.0).clamp(0.0, 1.0);
            if level != 0.0 {
                colour = mix(colour, SURFACE, 0.3 * room * contour);
            }
            if !bounds.contains(plot.point(x as f32 + 0.5, y as f32 + 0.5)) {
                colour = tinted(colour);
            }
            colour = mix(
                colour,
                SURFACE,
                line_coverage(distance, slope, plot.pixel, surface_half),
            );
            if doubtful[y * columns + x] {
                colour = mix(colour, DOUBT, if hatched { 0.95 } else { 0.22 });
            }
            row[first_column + x] = colour;
        }
    });
}

/// Half as strong. Averaged as the eye judges brightness, not in linear light, which would turn browns grey.
fn tinted(colour: Rgb) -> Rgb {
    colour.map(|channel| channel / 2 + 128)
}

/// How far a line of half width `half` \[px\] covers a pixel whose value is `offset` \[m\] from the line's level.
fn line_coverage(offset: f32, slope: f32, pixel: f32, half: f32) -> f32 {
    // Where the field is flat there is no line to draw: a face in the plane is not a line. `steep` fades it out.
    let steep = (slope / (0.05 * pixel) - 1.0).clamp(0.0, 1.0);
    let distance = offset.abs() / slope.max(0.05 * pixel);
    let coverage = (half + 0.5 - distance).clamp(0.0, 1.0) * steep;
    if coverage.is_nan() { 0.0 } else { coverage }
}

/// The dashed border of the field's box: beyond it values are lower bounds.
fn draw_box(canvas: &mut Canvas, plot: &Plot, bounds: Aabb, layout: &Layout) {
    let corner = |v: Vec3| plot.place(v[plot.axes.0], v[plot.axes.1]);
    let (a, c) = (corner(bounds.min), corner(bounds.max));
    let (b, d) = (Vec2::new(c.x, a.y), Vec2::new(a.x, c.y));
    for (from, to) in [(a, b), (b, c), (d, c), (a, d)] {
        canvas.dashed_line(
            from,
            to,
            (0.1 * layout.text).max(1.0),
            0.55 * layout.text,
            SOFT_INK,
        );
    }
    canvas.stroke_rect(plot.min(), plot.max(), 1.0, SOFT_INK);
}

/// Ticks and coordinates along the lower and left side, and the names of the axes.
fn draw_axes(canvas: &mut Canvas, plot: &Plot, layout: &Layout, unit: &Unit) {
    let text = layout.text;
    let style = TextStyle::new(text, SOFT_INK);
    let (min, max) = (plot.min(), plot.max());
    let upper = plot.origin + plot.pixel * (max - min);
    let step = round_below(f64::from(upper.x - plot.origin.x) / 4.0);
    let width = (0.09 * text).max(1.0);
    let tick = 0.55 * text;
    for value in multiples(plot.origin.x.into(), upper.x.into(), step) {
        let x = plot.place(value as f32, 0.0).x;
        canvas.line(
            Vec2::new(x, max.y),
            Vec2::new(x, max.y + tick),
            width,
            SOFT_INK,
            1.0,
        );
        let at = Vec2::new(x, max.y + tick + 1.6 * text);
        canvas.text(at, Anchor::Middle, style, &unit.number(value, step));
    }
    for value in multiples(plot.origin.y.into(), upper.y.into(), step) {
        let y = plot.place(0.0, value as f32).y;
        canvas.line(
            Vec2::new(min.x - tick, y),
            Vec2::new(min.x, y),
            width,
            SOFT_INK,
            1.0,
        );
        let at = Vec2::new(min.x - 1.7 * tick, y + 0.5 * text);
        canvas.text(at, Anchor::End, style, &unit.number(value, step));
    }
    let name = TextStyle {
        bold: true,
        ..TextStyle::new(text, INK)
    };
    let label = format!("{} [{}] →", Axis::NAMES[plot.axes.0], unit.name);
    canvas.text(
        Vec2::new(max.x, max.y + tick + 4.2 * text),
        Anchor::End,
        name,
        &label,
    );
    let label = format!("↑ {} [{}]", Axis::NAMES[plot.axes.1], unit.name);
    canvas.text(
        Vec2::new(min.x, min.y - 0.9 * text),
        Anchor::Start,
        name,
        &label,
    );
}

/// The key to the colours, right of the map.
fn draw_colour_bar(
    canvas: &mut Canvas,
    plot: &Plot,
    layout: &Layout,
    scale: &Scale,
    map: &DivergingMap,
    unit: &Unit,
) {
    let text = layout.text;
    // Whole pixels: half-covered rows would show as stripes.
    let x0 = (plot.max().x + 1.8 * text).round();
    let x1 = (x0 + 1.7 * text).round();
    let head = (1.5 * text).round();
    let (top, bottom) = (plot.min().y + head, plot.max().y - head);
    if bottom - top < 4.0 * text {
        return;
    }
    let rows = (bottom - top) as u32;
    for row in 0..rows {
        let value = 1.0 - 2.0 * (row as f32 + 0.5) / rows as f32;
        let y = top + row as f32;
        canvas.fill_rect(
            Vec2::new(x0, y),
            Vec2::new(x1, y + 1.0),
            map.colour(value),
            1.0,
        );
    }
    let middle = 0.5 * (x0 + x1);
    let half = (0.05 * text).max(0.5);
    canvas.stroke_rect(
        Vec2::new(x0, top),
        Vec2::new(x1, bottom),
        2.0 * half,
        SOFT_INK,
    );
    // An arrow head: colours end here, distances go on.
    let heads = [
        (scale.overflow.1, top, -1.0, 1.0),
        (scale.overflow.0, bottom, 1.0, -1.0),
    ];
    for (shown, y, direction, value) in heads {
        if shown {
            let tip = Vec2::new(middle, y + direction * 1.1 * text);
            let corners = [tip, Vec2::new(x0, y), Vec2::new(x1, y)];
            canvas.triangle(corners, map.colour(value), 1.0);
            for side in [corners[1], corners[2]] {
                canvas.line(tip, side, 2.0 * half, SOFT_INK, 1.0);
            }
        }
    }
    let style = TextStyle::new(text, SOFT_INK);
    let fits = f64::from((bottom - top) / (3.2 * text)).max(2.0);
    let every = (2.0 * scale.limit / scale.step / fits).ceil().max(1.0);
    let label_step = if every > 1.0 {
        scale.step * round_below(every * 1.999).max(2.0)
    } else {
        scale.step
    };
    for value in multiples(-scale.limit, scale.limit, scale.step) {
        let y = bottom - (bottom - top) * (0.5 + 0.5 * value / scale.limit) as f32;
        let zero = value == 0.0;
        let width = if zero {
            (0.22 * text).max(1.5)
        } else {
            2.0 * half
        };
        let opacity = if zero { 1.0 } else { 0.45 };
        canvas.line(Vec2::new(x0, y), Vec2::new(x1, y), width, SURFACE, opacity);
        let labelled = (value / label_step - (value / label_step).round()).abs() < 1e-6;
        if labelled {
            let style = if zero {
                TextStyle {
                    bold: true,
                    ..TextStyle::new(text, INK)
                }
            } else {
                style
            };
            let sign = if value > 0.0 { "+" } else { "" };
            let number = unit.number(value, label_step);
            let label = if zero {
                format!("0 {}", unit.name)
            } else {
                format!("{sign}{number}")
            };
            let at = Vec2::new(x1 + 0.7 * text, y + 0.5 * text);
            canvas.text(at, Anchor::Start, style, &label);
        }
    }
    let name = TextStyle {
        bold: true,
        ..TextStyle::new(text, INK)
    };
    let at = Vec2::new(x0, plot.min().y - 0.9 * text);
    canvas.text(at, Anchor::Start, name, "distance");
    let style = TextStyle::new(0.9 * text, SOFT_INK);
    let at = plot.max().y + 2.15 * text;
    canvas.text(Vec2::new(x0, at), Anchor::Start, style, "− inside");
    canvas.text(
        Vec2::new(x0, at + 1.8 * text),
        Anchor::Start,
        style,
        "+ outside",
    );
}

/// Title, caption and the plane's position.
fn draw_heading(
    canvas: &mut Canvas,
    settings: &SliceSettings,
    layout: &Layout,
    plot: &Plot,
    unit: &Unit,
    at: f32,
) {
    let text = layout.text;
    let right = canvas.width() as f32 - 1.8 * text;
    let title = TextStyle {
        bold: true,
        ..TextStyle::new(layout.title, INK)
    };
    let baseline = 1.6 * text + layout.title;
    let fine = f64::from(plot.pixel);
    let plane = format!(
        "plane {} = {}",
        Axis::NAMES[settings.axis.index()],
        unit.label(at.into(), round_below(fine))
    );
    let plane_style = TextStyle::new(text, INK);
    canvas.text(Vec2::new(right, baseline), Anchor::End, plane_style, &plane);
    let left = plot.min().x;
    let room = right - plane_style.width(&plane) - 2.0 * text - left;
    canvas.text(
        Vec2::new(left, baseline),
        Anchor::Start,
        title,
        &fitted(&settings.title, title, room),
    );
    let caption = TextStyle::new(text, SOFT_INK);
    let line = fitted(&settings.caption, caption, right - left);
    canvas.text(
        Vec2::new(left, baseline + 2.2 * text),
        Anchor::Start,
        caption,
        &line,
    );
}

/// Scale bar and the key to the lines, below the map.
fn draw_footer(canvas: &mut Canvas, plot: &Plot, layout: &Layout, unit: &Unit, doubtful: bool) {
    let text = layout.text;
    let (min, max) = (plot.min(), plot.max());
    let style = TextStyle::new(text, SOFT_INK);
    let y = max.y + 7.6 * text;

    let length = round_below(f64::from(plot.pixel * (max.x - min.x)) / 4.0);
    let end = min.x + (length / f64::from(plot.pixel)) as f32;
    let width = (0.22 * text).max(1.5);
    let bar = y - 0.5 * text;
    canvas.line(Vec2::new(min.x, bar), Vec2::new(end, bar), width, INK, 1.0);
    for x in [min.x, end] {
        let cap = Vec2::new(0.0, 0.5 * text);
        canvas.line(
            Vec2::new(x, bar) - cap,
            Vec2::new(x, bar) + cap,
            width,
            INK,
            1.0,
        );
    }
    let ink = TextStyle::new(text, INK);
    let label = unit.label(length, length);
    canvas.text(Vec2::new(end + 0.9 * text, y), Anchor::Start, ink, &label);

    // The key, from the right end leftwards, as far as there is room.
    let mut right = canvas.width() as f32 - 1.8 * text;
    let left_end = end + 0.9 * text + ink.width(&label) + 2.0 * text;
    let mut entries = vec![(KeyMark::Box, "field's box"), (KeyMark::Surface, "surface")];
    if doubtful {
        entries.insert(0, (KeyMark::Doubt, "doubtful sign"));
    }
    for (mark, name) in entries {
        let start = right - style.width(name) - 2.8 * text;
        if start < left_end {
            break;
        }
        canvas.text(Vec2::new(right, y), Anchor::End, style, name);
        let (from, to) = (Vec2::new(start, bar), Vec2::new(start + 2.0 * text, bar));
        match mark {
            KeyMark::Surface => canvas.line(from, to, (0.22 * text).max(1.8), SURFACE, 1.0),
            KeyMark::Box => {
                canvas.dashed_line(from, to, (0.1 * text).max(1.0), 0.4 * text, SOFT_INK)
            }
            KeyMark::Doubt => {
                let half = Vec2::new(0.0, 0.5 * text);
                canvas.fill_rect(from - half, to + half, DOUBT, 0.3);
                for i in 0..3 {
                    let x = start + (0.35 + 0.5 * i as f32) * text;
                    canvas.line(
                        Vec2::new(x, bar + 0.4 * text),
                        Vec2::new(x + 0.4 * text, bar - 0.4 * text),
                        1.2,
                        DOUBT,
                        1.0,
                    );
                }
            }
        }
        right = start - 2.0 * text;
    }
}

/// A line of the key.
#[derive(Clone, Copy)]
enum KeyMark {
    Surface,
    Box,
    Doubt,
}
