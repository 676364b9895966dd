//! A plane through a field as a labelled map of signed distance.
//!
//! Input: a [`Field`] with a finite box, an axis and a position along it.
//! Output: a picture: colours by distance, contour lines at round distances, the surface as a bold
//! line, colour bar, scale bar, coordinates.
//! Cost: one distance sample per pixel, all cores.
//! Not for: measuring outside the box, where a field only promises a lower bound; that part is
//! drawn paler.
//!
//! A line of level c is drawn where |φ − c| / |∇φ| is less than half its width, with ∇φ from
//! neighbouring pixels: it is equally wide wherever the field is smooth, whatever the angle between
//! surface and plane.

use glam::{Vec2, Vec3};
use rayon::prelude::*;
use thiserror::Error;
use touchfield::{field::Field, geom::Aabb};

use super::{
    canvas::{Canvas, Rgb, SizeError, mix},
    colormap::DivergingMap,
    slice_labels::{Layout, draw_axes, draw_colour_bar, draw_footer, draw_heading},
    ticks::{Unit, round_below},
};

const PAPER: Rgb = [255, 255, 255];
pub(super) const INK: Rgb = [28, 32, 40];
pub(super) const SOFT_INK: Rgb = [92, 98, 108];
pub(super) const SURFACE: Rgb = [10, 12, 16];
const UNKNOWN: Rgb = [168, 168, 172];
pub(super) const DOUBT: Rgb = [200, 0, 110];

/// Minimum width of a picture \[px\]: below it the labels would overlap.
const MIN_WIDTH: u32 = 240;
/// Margin around the field's box, as a share of its longer side in the plane.
const MARGIN: f32 = 0.06;
/// Minimum and maximum ratio of height to width of a map; thinner boxes get more margin.
const ASPECT: (f32, f32) = (0.45, 1.3);

/// A coordinate axis of the field's frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// The map shows y to the right, z up.
    X,
    /// The map shows x to the right, z up.
    Y,
    /// The map shows x to the right, y up.
    Z,
}

impl Axis {
    pub(super) const NAMES: [&'static str; 3] = ["x", "y", "z"];

    pub(super) fn index(self) -> usize {
        self as usize
    }

    /// Returns the axes to the right and up on the map.
    fn in_plane(self) -> (usize, usize) {
        match self {
            Axis::X => (1, 2),
            Axis::Y => (0, 2),
            Axis::Z => (0, 1),
        }
    }
}

/// The plane to draw, the size of the picture, and its labels.
#[derive(Clone, Debug)]
pub struct SliceSettings<'a> {
    /// Axis perpendicular to the plane.
    pub axis: Axis,
    /// Position of the plane along the axis \[m\]; the middle of the box if not given.
    pub at: Option<f32>,
    /// Width of the whole picture \[px\]; the height follows from it.
    pub width: u32,
    /// First line, such as the file's name.
    pub title: String,
    /// Second line, such as resolution and error bound; may be empty.
    pub caption: String,
    /// Unit of the model if it is not metres, printed as given. Metres get a suitable prefix.
    pub unit: Option<String>,
    /// Cells to hatch, in the field's frame: cells whose sign is doubtful.
    pub doubtful: &'a [Aabb],
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

/// Why a slice cannot be drawn.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SliceError {
    /// The field's box has no finite, positive size.
    #[error("the field's box from {:?} to {:?} cannot be drawn; a slice needs a finite box of positive size (intersect the field with one)", .0.min.to_array(), .0.max.to_array())]
    Bounds(Aabb),
    /// The plane misses the box.
    #[error(
        "the plane at {at:?} m lies outside the field's box, which spans {min:?} to {max:?} m along that axis; choose --at between them"
    )]
    OutsideBounds {
        /// Position of the plane \[m\].
        at: f32,
        /// Lower end of the box \[m\].
        min: f32,
        /// Upper end of the box \[m\].
        max: f32,
    },
    /// The picture is too narrow for its labels.
    #[error("a slice {width} pixels wide has no room for its labels; use at least {MIN_WIDTH}")]
    TooNarrow {
        /// Number of columns.
        width: u32,
    },
    /// The picture size is not supported.
    #[error(transparent)]
    Size(#[from] SizeError),
}

/// The part of the plane that is drawn, and its place on the picture.
pub(super) struct Plot {
    /// Axes to the right and up.
    pub(super) axes: (usize, usize),
    /// A point in the plane; its in-plane coordinates do not matter.
    pub(super) base: Vec3,
    /// Lower left corner of the map in the plane \[m\].
    pub(super) origin: Vec2,
    /// Side of a pixel \[m\].
    pub(super) pixel: f32,
    /// First column and row of the map on the picture.
    pub(super) corner: (u32, u32),
    /// Columns and rows of the map.
    pub(super) size: (u32, u32),
}

impl Plot {
    /// Returns the point in the field's frame at pixel coordinates of the map, x right and y down.
    pub(super) fn point(&self, x: f32, y: f32) -> Vec3 {
        let mut point = self.base;
        point[self.axes.0] = self.origin.x + x * self.pixel;
        point[self.axes.1] = self.origin.y + (self.size.1 as f32 - y) * self.pixel;
        point
    }

    /// Returns the position on the picture of in-plane coordinates \[m\].
    pub(super) fn place(&self, right: f32, up: f32) -> Vec2 {
        let x = (right - self.origin.x) / self.pixel;
        let y = self.size.1 as f32 - (up - self.origin.y) / self.pixel;
        Vec2::new(x + self.corner.0 as f32, y + self.corner.1 as f32)
    }

    pub(super) fn min(&self) -> Vec2 {
        Vec2::new(self.corner.0 as f32, self.corner.1 as f32)
    }

    pub(super) fn max(&self) -> Vec2 {
        self.min() + Vec2::new(self.size.0 as f32, self.size.1 as f32)
    }
}

/// Distances of a map with one more pixel on each side, for finite differences.
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

    /// Returns the distance at a pixel of the map \[m\].
    fn at(&self, x: usize, y: usize) -> f32 {
        self.distances[(y + 1) * self.columns + x + 1]
    }

    /// Returns the length of the in-plane gradient, per pixel.
    fn slope(&self, x: usize, y: usize) -> f32 {
        let i = (y + 1) * self.columns + x + 1;
        let d = &self.distances;
        let right = 0.5 * (d[i + 1] - d[i - 1]);
        let up = 0.5 * (d[i + self.columns] - d[i - self.columns]);
        right.hypot(up)
    }
}

/// Meaning of the colours: `±limit` \[m\] is the end of the map, contour lines are `step` \[m\]
/// apart.
pub(super) struct Scale {
    pub(super) limit: f64,
    pub(super) step: f64,
    /// Whether some values lie beyond the lower and the upper end.
    pub(super) overflow: (bool, bool),
}

impl Scale {
    /// Chooses the same range on both sides, so that equal colours are equal distances. Where the
    /// solid is thin, the outside is cut at one and a half times the solid's depth, because the
    /// inside would be white otherwise. The cut is never below a third of the way out, because the
    /// outside would be of one colour otherwise.
    fn of(values: &Values, plot: &Plot) -> Scale {
        let finite = || values.distances.iter().copied().filter(|d| d.is_finite());
        let deepest = f64::from(-finite().fold(0.0, f32::min));
        let farthest = f64::from(finite().fold(0.0, f32::max));
        let reach = if deepest > 0.0 {
            deepest.max(farthest.min((1.5 * deepest).max(0.3 * farthest)))
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
pub fn slice(field: &dyn Field, settings: &SliceSettings) -> Result<Canvas, SliceError> {
    // Check the field's box and the settings.
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

    // Lay out the picture and sample the field.
    let unit = match &settings.unit {
        Some(name) => Unit::plain(name),
        None => Unit::metric(f64::from(extents.max_element()) / 2.0),
    };
    let up = settings.axis.in_plane().1;
    let layout = Layout::new(settings, &unit, (bounds.min[up], bounds.max[up]));
    let plot = place_plot(bounds, settings, at, &layout)?;
    let height = plot.corner.1 + plot.size.1 + layout.bottom as u32;
    let mut canvas = Canvas::new(settings.width, height, PAPER)?;
    let values = Values::sample(field, &plot);
    let scale = Scale::of(&values, &plot);

    // Draw the map, then everything around it.
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

/// Marks the pixels of the map that lie in a doubtful cell cut by the plane. Every such cell marks
/// at least one pixel.
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
    let within = bounds.grown(-2.0 * plot.pixel);
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
            let point = plot.point(x as f32 + 0.5, y as f32 + 0.5);
            // At the box the value may jump down to the lower bound outside. A jump is not a
            // surface, and no distance is steeper than 1.
            let slope = match within.contains(point) {
                true => values.slope(x, y),
                false => values.slope(x, y).min(plot.pixel),
            };
            let level = (distance / step).round();
            let contour = line_coverage(distance - level * step, slope, plot.pixel, contour_half);
            // Contours closer than four pixels would only turn the map grey.
            let room = (step / plot.pixel / 4.0 - 1.0).clamp(0.0, 1.0);
            if level != 0.0 {
                colour = mix(colour, SURFACE, 0.3 * room * contour);
            }
            if !bounds.contains(point) {
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

/// Returns the colour at a third of its strength. It averages sRGB values, which match perceived
/// brightness; linear light would turn browns grey.
fn tinted(colour: Rgb) -> Rgb {
    colour.map(|channel| channel / 3 + 170)
}

/// Returns how much of a pixel a line of half width `half` \[px\] covers if the pixel's value is
/// `offset` \[m\] from the line's level.
fn line_coverage(offset: f32, slope: f32, pixel: f32, half: f32) -> f32 {
    // Where the field is flat there is no line to draw: a face in the plane is not a line. `steep`
    // fades it out.
    let steep = (slope / (0.05 * pixel) - 1.0).clamp(0.0, 1.0);
    let distance = offset.abs() / slope.max(0.05 * pixel);
    let coverage = (half + 0.5 - distance).clamp(0.0, 1.0) * steep;
    if coverage.is_nan() { 0.0 } else { coverage }
}

/// Draws the dashed border of the field's box: outside it values are lower bounds.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_fields::{TestField, box_distance, sphere};

    /// Returns the map's placement for a field and settings, as `slice` computes it.
    fn plot_of(field: &dyn Field, settings: &SliceSettings) -> Plot {
        let at = settings
            .at
            .unwrap_or(field.bounds().center()[settings.axis.index()]);
        let bounds = field.bounds();
        let up = settings.axis.in_plane().1;
        let unit = Unit::metric(f64::from(bounds.extents().max_element()) / 2.0);
        let layout = Layout::new(settings, &unit, (bounds.min[up], bounds.max[up]));
        place_plot(bounds, settings, at, &layout).unwrap()
    }

    fn pixel_at(canvas: &Canvas, plot: &Plot, right: f32, up: f32) -> Rgb {
        let place = plot.place(right, up);
        canvas.pixel(place.x as u32, place.y as u32).unwrap()
    }

    #[test]
    fn blue_is_inside_and_orange_outside_on_every_axis() {
        // Different along each axis and off the centre, so that a swapped or flipped axis shows.
        let field = TestField {
            bounds: Aabb::new(Vec3::new(-1.0, -2.0, -3.0), Vec3::new(2.0, 3.0, 4.0)),
            distance: |p: Vec3| {
                let corner = (p - Vec3::new(1.0, 2.0, 3.0)).length() - 0.7;
                box_distance(p - Vec3::new(0.2, -0.4, 0.1), Vec3::new(0.5, 0.9, 1.4), 0.1)
                    .min(corner)
            },
        };
        for (axis, at) in [
            (Axis::X, 0.3),
            (Axis::Y, 0.1),
            (Axis::Z, 0.4),
            (Axis::X, 1.0),
            (Axis::Z, 3.0),
        ] {
            let settings = SliceSettings {
                axis,
                at: Some(at),
                width: 500,
                ..Default::default()
            };
            let plot = plot_of(&field, &settings);
            let canvas = slice(&field, &settings).unwrap();
            let mut seen = (0, 0);
            for i in 0..40 * 40 {
                let (u, v) = ((i % 40) as f32 / 39.0, (i / 40) as f32 / 39.0);
                let (low, high) = (field.bounds.min, field.bounds.max);
                let mut point = plot.base;
                point[plot.axes.0] =
                    low[plot.axes.0] + (0.05 + 0.9 * u) * (high - low)[plot.axes.0];
                point[plot.axes.1] =
                    low[plot.axes.1] + (0.05 + 0.9 * v) * (high - low)[plot.axes.1];
                let distance = field.distance(point);
                if distance.abs() < 0.1 {
                    continue; // near white, or under the line
                }
                let [r, _, b] = pixel_at(&canvas, &plot, point[plot.axes.0], point[plot.axes.1]);
                assert_eq!(
                    b > r,
                    distance < 0.0,
                    "{axis:?} {point} {distance} red {r} blue {b}"
                );
                if distance < 0.0 {
                    seen.0 += 1
                } else {
                    seen.1 += 1
                }
            }
            assert!(seen.0 > 5 && seen.1 > 500, "{axis:?} {seen:?}");
        }
    }

    #[test]
    fn the_jump_to_the_lower_bound_beyond_the_box_is_no_surface() {
        let bounds = Aabb::from_center(Vec3::ZERO, Vec3::ONE);
        let field = TestField {
            bounds,
            distance: move |p: Vec3| match bounds.contains(p) {
                true => 0.9 + 0.3 * p.x,
                false => 0.05 + 0.01 * p.y,
            },
        };
        let settings = SliceSettings {
            width: 500,
            ..Default::default()
        };
        let plot = plot_of(&field, &settings);
        let canvas = slice(&field, &settings).unwrap();
        for y in plot.corner.1..plot.corner.1 + plot.size.1 {
            for x in plot.corner.0..plot.corner.0 + plot.size.0 {
                assert_ne!(canvas.pixel(x, y), Some(SURFACE), "at {x}, {y}");
            }
        }
    }

    /// Returns the darkness-weighted mean radius of the line that a horizontal scan crosses right
    /// of the centre \[m\].
    fn line_radius(canvas: &Canvas, plot: &Plot, centre: Vec2, near: f32) -> f32 {
        let middle = plot.place(centre.x, centre.y);
        let (mut weight, mut sum) = (0.0, 0.0);
        let from = middle.x + 0.9 * near / plot.pixel;
        let to = middle.x + 1.1 * near / plot.pixel;
        for x in from as u32..to as u32 {
            let [_, g, _] = canvas.pixel(x, middle.y as u32).unwrap();
            let dark = (200.0 - f32::from(g)).max(0.0);
            weight += dark;
            sum += dark * (x as f32 + 0.5 - middle.x);
        }
        assert!(weight > 100.0, "no line");
        sum / weight * plot.pixel
    }

    #[test]
    fn the_zero_line_lies_on_the_sphere_at_every_scale_and_height() {
        for size in [1e-6f32, 1e-3, 1.0, 1e5] {
            let centre = size * Vec3::new(0.3, -0.2, 0.1);
            let field = sphere(centre, size, 0.2);
            for height in [0.0f32, 0.5, 0.8] {
                let settings = SliceSettings {
                    at: Some(centre.z + height * size),
                    width: 700,
                    ..Default::default()
                };
                let plot = plot_of(&field, &settings);
                let canvas = slice(&field, &settings).unwrap();
                let expected = size * (1.0 - height * height).sqrt();
                let radius = line_radius(&canvas, &plot, centre.truncate(), expected);
                let off = (radius - expected).abs() / plot.pixel;
                assert!(off < 0.5, "size {size} height {height}: {off} pixels off");
            }
        }
    }

    #[test]
    fn a_face_in_the_plane_is_not_painted_black() {
        let field = TestField {
            bounds: Aabb::from_center(Vec3::ZERO, Vec3::splat(1.5)),
            distance: |p: Vec3| box_distance(p, Vec3::ONE, 0.0),
        };
        let settings = SliceSettings {
            at: Some(1.0),
            width: 400,
            ..Default::default()
        };
        let canvas = slice(&field, &settings).unwrap();
        let [r, g, b] = pixel_at(&canvas, &plot_of(&field, &settings), 0.3, 0.2);
        assert!(r.min(g).min(b) > 230, "{r} {g} {b}");
    }

    #[test]
    fn doubtful_cells_show_only_in_their_plane() {
        let field = sphere(Vec3::ZERO, 1.0, 0.2);
        let cell = Aabb::from_center(Vec3::new(0.5, 0.0, 0.3), Vec3::splat(0.06));
        let tiny = Aabb::from_center(Vec3::new(-0.5, 0.0, 0.3), Vec3::splat(1e-6));
        let everything = [cell, tiny, Aabb::EMPTY, Aabb::new(Vec3::NAN, Vec3::ONE)];
        let picture = |at, doubtful: &[Aabb]| {
            slice(
                &field,
                &SliceSettings {
                    at: Some(at),
                    width: 500,
                    doubtful,
                    ..Default::default()
                },
            )
            .unwrap()
        };
        assert_eq!(picture(0.0, &everything), picture(0.0, &[]));
        assert_ne!(picture(0.3, &[cell]), picture(0.3, &[]));
        assert_ne!(picture(0.3, &[tiny]), picture(0.3, &[]));
    }

    #[test]
    fn boxes_planes_and_sizes_that_make_no_slice_are_refused() {
        let boxed = |bounds| TestField {
            bounds,
            distance: |p: Vec3| p.length() - 1.0,
        };
        let inverted = Aabb::new(Vec3::ONE, -Vec3::ONE);
        let point = Aabb::new(Vec3::ONE, Vec3::ONE);
        let huge = Aabb::new(Vec3::splat(f32::MIN), Vec3::splat(f32::MAX));
        for bounds in [
            Aabb::EMPTY,
            Aabb::EVERYTHING,
            inverted,
            point,
            huge,
            Aabb::new(Vec3::NAN, Vec3::ONE),
        ] {
            let error = slice(&boxed(bounds), &SliceSettings::default());
            assert!(
                matches!(error, Err(SliceError::Bounds(_))),
                "{bounds:?}: {error:?}"
            );
        }
        let field = sphere(Vec3::ZERO, 1.0, 0.0);
        for at in [1.5, f32::NAN, f32::INFINITY] {
            let error = slice(
                &field,
                &SliceSettings {
                    at: Some(at),
                    ..Default::default()
                },
            );
            assert!(
                matches!(error, Err(SliceError::OutsideBounds { .. })),
                "{at}: {error:?}"
            );
        }
        let sized = |width| {
            slice(
                &field,
                &SliceSettings {
                    width,
                    ..Default::default()
                },
            )
        };
        assert_eq!(sized(0), Err(SliceError::TooNarrow { width: 0 }));
        for width in [100_000, u32::MAX] {
            assert!(matches!(
                sized(width),
                Err(SliceError::Size(SizeError::TooLarge { .. }))
            ));
        }
    }

    #[test]
    fn odd_values_and_flat_boxes_still_make_a_picture() {
        let bounds = Aabb::from_center(Vec3::ZERO, Vec3::ONE);
        let flat = Aabb::from_center(Vec3::ZERO, Vec3::new(1.0, 1e-3, 0.0));
        let values: [fn(Vec3) -> f32; 6] = [
            |_| f32::NAN,
            |_| f32::INFINITY,
            |_| f32::NEG_INFINITY,
            |_| 0.0,
            |p| if p.x > 0.0 { f32::NAN } else { p.y },
            |p| 1e30 * p.x,
        ];
        for distance in values {
            for bounds in [bounds, flat] {
                for (axis, width) in [(Axis::X, 240), (Axis::Y, 241), (Axis::Z, 300)] {
                    let settings = SliceSettings {
                        axis,
                        width,
                        title: "a title that is much longer than the picture is wide, to be cut"
                            .to_owned(),
                        unit: Some("furlongs".to_owned()),
                        ..Default::default()
                    };
                    let canvas = slice(&TestField { bounds, distance }, &settings).unwrap();
                    assert!(canvas.height() < 2 * canvas.width());
                }
            }
        }
    }

    #[test]
    fn a_slice_has_the_same_bytes_on_any_number_of_threads() {
        let field = sphere(Vec3::ZERO, 1.0, 0.2);
        let settings = SliceSettings {
            width: 333,
            ..Default::default()
        };
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| slice(&field, &settings).unwrap())
        };
        assert_eq!(on(1), on(2));
        assert_eq!(on(1), on(3));
    }
}
