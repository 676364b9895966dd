//! The canvas: 8-bit sRGB pixels, and anti-aliased shapes blended onto them in linear light.
//!
//! Input: shapes in pixels, x right and y down; the centre of the first pixel is (0.5, 0.5).
//! Output: [`Canvas::pixels`].
//! Cost: the pixels of the shape's bounding box, clipped to the canvas.
//! Not for: paths with holes, or transparency: the canvas is opaque.
//!
//! Every shape is painted from its own signed distance: the coverage of a pixel is `½ − distance`,
//! so that edges are smooth.

use glam::Vec2;
use thiserror::Error;

use super::font;

/// An sRGB colour with 8 bits per channel.
pub type Rgb = [u8; 3];

/// Maximum number of pixels of a picture: 8K video. Larger pictures cost memory and time without
/// visible gain.
pub const MAX_PIXELS: u64 = 7680 * 4320;

/// The error for a picture size that is not supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SizeError {
    /// A side has no pixels.
    #[error("a picture of {width}×{height} pixels is empty; both sides must be at least 1")]
    Empty {
        /// Number of columns.
        width: u32,
        /// Number of rows.
        height: u32,
    },
    /// The picture has more than [`MAX_PIXELS`].
    #[error(
        "a picture of {width}×{height} pixels is larger than the limit of {MAX_PIXELS} pixels; choose a smaller size"
    )]
    TooLarge {
        /// Number of columns.
        width: u32,
        /// Number of rows.
        height: u32,
    },
}

impl SizeError {
    /// Returns whether the size exceeds the limit, rather than being empty.
    pub fn is_limit(self) -> bool {
        matches!(self, SizeError::TooLarge { .. })
    }
}

/// The part of a text that lies at the given point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The left end of the baseline.
    Start,
    /// The middle of the baseline.
    Middle,
    /// The right end of the baseline.
    End,
}

/// Size, colour and weight of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextStyle {
    /// Height of capitals \[px\].
    pub size: f32,
    /// Colour of the strokes.
    pub colour: Rgb,
    /// Whether strokes are heavier, for titles.
    pub bold: bool,
}

impl TextStyle {
    /// Creates a style of regular weight.
    pub fn new(size: f32, colour: Rgb) -> TextStyle {
        TextStyle {
            size,
            colour,
            bold: false,
        }
    }

    /// Returns the width of the pen \[px\], at least wide enough that a stroke does not turn grey.
    fn pen(self) -> f32 {
        (self.size * if self.bold { 0.2 } else { 0.14 }).max(1.25)
    }

    /// Returns the width of `text` \[px\].
    pub fn width(self, text: &str) -> f32 {
        font::text_width(text) * self.size
    }
}

/// An opaque picture with rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canvas {
    width: u32,
    height: u32,
    pixels: Vec<Rgb>,
}

impl Canvas {
    /// Creates a canvas of one colour.
    pub fn new(width: u32, height: u32, background: Rgb) -> Result<Canvas, SizeError> {
        if width == 0 || height == 0 {
            return Err(SizeError::Empty { width, height });
        }
        let count = u64::from(width) * u64::from(height);
        if count > MAX_PIXELS {
            return Err(SizeError::TooLarge { width, height });
        }
        Ok(Canvas {
            width,
            height,
            pixels: vec![background; count as usize],
        })
    }

    /// Returns the number of columns.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Returns the number of rows.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Returns all pixels, row by row from the top.
    pub fn pixels(&self) -> &[Rgb] {
        &self.pixels
    }

    /// Returns all pixels for writing.
    pub fn pixels_mut(&mut self) -> &mut [Rgb] {
        &mut self.pixels
    }

    /// Returns the pixel in column `x` of row `y`, if it exists.
    #[cfg(test)]
    pub fn pixel(&self, x: u32, y: u32) -> Option<Rgb> {
        let inside = x < self.width && y < self.height;
        inside.then(|| self.pixels[y as usize * self.width as usize + x as usize])
    }

    /// Mixes `colour` into every pixel of the box `min..max` \[px\] by `opacity` and by how much of
    /// the pixel the shape covers. `distance` is the shape's signed distance at a pixel centre
    /// \[px\].
    pub fn paint(
        &mut self,
        (min, max): (Vec2, Vec2),
        colour: Rgb,
        opacity: f32,
        distance: impl Fn(Vec2) -> f32,
    ) {
        // One more pixel on each side for the smooth edge; casts saturate, and NaN becomes 0.
        let (x0, y0) = ((min.x - 1.0).floor() as u32, (min.y - 1.0).floor() as u32);
        let x1 = ((max.x + 1.0).ceil() as u32).min(self.width);
        let y1 = ((max.y + 1.0).ceil() as u32).min(self.height);
        for y in y0..y1 {
            for x in x0..x1 {
                let centre = Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
                let coverage = (0.5 - distance(centre)).clamp(0.0, 1.0) * opacity;
                if coverage > 0.0 {
                    let pixel = &mut self.pixels[y as usize * self.width as usize + x as usize];
                    *pixel = mix(*pixel, colour, coverage);
                }
            }
        }
    }

    /// Fills the rectangle between two corners.
    pub fn fill_rect(&mut self, min: Vec2, max: Vec2, colour: Rgb, opacity: f32) {
        let (centre, half) = (0.5 * (min + max), 0.5 * (max - min));
        self.paint((min, max), colour, opacity, |p| {
            ((p - centre).abs() - half).max_element()
        });
    }

    /// Draws the border of a rectangle, `width` \[px\] wide, centred on its sides.
    pub fn stroke_rect(&mut self, min: Vec2, max: Vec2, width: f32, colour: Rgb) {
        let (a, b) = (Vec2::new(max.x, min.y), Vec2::new(min.x, max.y));
        for (from, to) in [(min, a), (a, max), (max, b), (b, min)] {
            self.line(from, to, width, colour, 1.0);
        }
    }

    /// Draws a line with round ends, `width` \[px\] wide.
    pub fn line(&mut self, from: Vec2, to: Vec2, width: f32, colour: Rgb, opacity: f32) {
        let reach = Vec2::splat(0.5 * width);
        let bounds = (from.min(to) - reach, from.max(to) + reach);
        self.paint(bounds, colour, opacity, |p| {
            segment_distance(p, from, to) - 0.5 * width
        });
    }

    /// Draws a dashed line: `dash` \[px\] drawn, as much left out.
    pub fn dashed_line(&mut self, from: Vec2, to: Vec2, width: f32, dash: f32, colour: Rgb) {
        let length = (to - from).length();
        let Some(direction) = (to - from).try_normalize() else {
            return;
        };
        // A line cannot show more dashes than the canvas has pixels.
        let dash = dash.max(1.0);
        let count = (length / (2.0 * dash)).min((self.width + self.height) as f32) as u32;
        for i in 0..=count {
            let start = 2.0 * dash * i as f32;
            let end = (start + dash).min(length);
            self.line(
                from + direction * start,
                from + direction * end,
                width,
                colour,
                1.0,
            );
        }
    }

    /// Fills a disc.
    pub fn disc(&mut self, centre: Vec2, radius: f32, colour: Rgb, opacity: f32) {
        let reach = Vec2::splat(radius);
        self.paint((centre - reach, centre + reach), colour, opacity, |p| {
            (p - centre).length() - radius
        });
    }

    /// Fills a triangle.
    pub fn triangle(&mut self, corners: [Vec2; 3], colour: Rgb, opacity: f32) {
        let [a, b, c] = corners;
        let turn = (b - a).perp_dot(c - a).signum();
        let bounds = (a.min(b).min(c), a.max(b).max(c));
        self.paint(bounds, colour, opacity, |p| {
            [(a, b), (b, c), (c, a)]
                .into_iter()
                .map(|(from, to)| {
                    let side = (to - from).normalize_or_zero();
                    -turn * side.perp_dot(p - from)
                })
                .fold(f32::NEG_INFINITY, f32::max)
        });
    }

    /// Draws an arrow: a line that ends in a filled head, enlarged by `outset` \[px\] on every
    /// side. Use 0 for the arrow itself, more for the halo below it.
    pub fn arrow(&mut self, from: Vec2, to: Vec2, width: f32, outset: f32, colour: Rgb) {
        let Some(along) = (to - from).try_normalize() else {
            return;
        };
        let head = (4.5 * width).min((to - from).length());
        let neck = to - along * head;
        let side = along.perp() * (0.45 * head);
        let corners = [to, neck + side, neck - side];
        self.line(from, neck, width + 2.0 * outset, colour, 1.0);
        self.triangle(corners, colour, 1.0);
        if outset > 0.0 {
            for (a, b) in [(0, 1), (1, 2), (2, 0)] {
                self.line(corners[a], corners[b], 2.0 * outset, colour, 1.0);
            }
        }
    }

    /// Writes one line of text with its baseline at `at`.
    pub fn text(&mut self, at: Vec2, anchor: Anchor, style: TextStyle, text: &str) {
        let width = style.width(text);
        let shift = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => 0.5 * width,
            Anchor::End => width,
        };
        // Whole pixels, so that the strokes of one word look alike.
        let mut pen = (at - Vec2::new(shift, 0.0)).round();
        let half = 0.5 * style.pen();
        for character in text.chars() {
            let strokes: Vec<Vec<Vec2>> = font::strokes(character)
                .map(|stroke| stroke.iter().map(|&p| pen + p * style.size).collect())
                .collect();
            let points = || strokes.iter().flatten().copied();
            let min = points().fold(Vec2::INFINITY, Vec2::min) - Vec2::splat(1.5 * half);
            let max = points().fold(Vec2::NEG_INFINITY, Vec2::max) + Vec2::splat(1.5 * half);
            if min.x <= max.x {
                // The nearest stroke decides, so that crossings are no darker than the rest.
                self.paint((min, max), style.colour, 1.0, |p| {
                    strokes
                        .iter()
                        .map(|stroke| stroke_distance(p, stroke, half))
                        .fold(f32::INFINITY, f32::min)
                });
            }
            pen.x += font::advance(character) * style.size;
        }
    }

    /// Copies `picture` with its first pixel at column `x` of row `y`, clipped to the canvas.
    pub fn draw(&mut self, picture: &Canvas, x: u32, y: u32) {
        let columns = picture.width.min(self.width.saturating_sub(x)) as usize;
        let rows = picture.height.min(self.height.saturating_sub(y)) as usize;
        for row in 0..rows {
            let from = row * picture.width as usize;
            let to = (y as usize + row) * self.width as usize + x as usize;
            self.pixels[to..to + columns].copy_from_slice(&picture.pixels[from..from + columns]);
        }
    }
}

/// Returns the distance from `p` to a polyline drawn with a pen of radius `half`. A single point is
/// a slightly larger dot.
fn stroke_distance(p: Vec2, stroke: &[Vec2], half: f32) -> f32 {
    match stroke {
        [] => f32::INFINITY,
        [dot] => (p - *dot).length() - 1.35 * half,
        _ => {
            stroke
                .windows(2)
                .map(|side| segment_distance(p, side[0], side[1]))
                .fold(f32::INFINITY, f32::min)
                - half
        }
    }
}

/// Returns the distance from `p` to the segment from `a` to `b`.
fn segment_distance(p: Vec2, a: Vec2, b: Vec2) -> f32 {
    let (ap, ab) = (p - a, b - a);
    let length_squared = ab.length_squared();
    let t = if length_squared > 0.0 {
        (ap.dot(ab) / length_squared).clamp(0.0, 1.0)
    } else {
        0.0
    };
    (ap - ab * t).length()
}

/// Mixes a share `amount` of `over` onto `under`, in linear light.
pub(super) fn mix(under: Rgb, over: Rgb, amount: f32) -> Rgb {
    if amount >= 1.0 {
        return over;
    }
    if amount <= 0.0 {
        return under;
    }
    std::array::from_fn(|i| {
        let (a, b) = (linear_from_srgb(under[i]), linear_from_srgb(over[i]));
        srgb_from_linear(a + (b - a) * amount)
    })
}

/// Converts an sRGB channel to linear light, 0..1 (IEC 61966-2-1).
pub(super) fn linear_from_srgb(channel: u8) -> f32 {
    let c = f32::from(channel) / 255.0;
    if c <= 0.04045 {
        c / 12.92
    } else {
        ((c + 0.055) / 1.055).powf(2.4)
    }
}

/// Converts linear light of 0..1 to the nearest sRGB channel (IEC 61966-2-1); NaN becomes black.
pub(super) fn srgb_from_linear(light: f32) -> u8 {
    let c = if light <= 0.003_130_8 {
        12.92 * light
    } else {
        1.055 * light.powf(1.0 / 2.4) - 0.055
    };
    (c * 255.0 + 0.5) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHITE: Rgb = [255; 3];
    const BLACK: Rgb = [0; 3];

    /// Returns the ink on a white canvas \[px\]: the sum of the covered shares.
    fn ink(canvas: &Canvas) -> f32 {
        let covered = |p: &Rgb| 1.0 - linear_from_srgb(p[1]);
        canvas.pixels().iter().map(covered).sum()
    }

    #[test]
    fn srgb_round_trips_every_channel_value() {
        for channel in 0..=255 {
            assert_eq!(srgb_from_linear(linear_from_srgb(channel)), channel);
        }
        assert_eq!(srgb_from_linear(f32::NAN), 0);
        assert_eq!(srgb_from_linear(f32::INFINITY), 255);
    }

    #[test]
    fn shapes_cover_their_area() {
        let mut canvas = Canvas::new(100, 80, WHITE).unwrap();
        canvas.disc(Vec2::new(40.3, 41.9), 20.25, BLACK, 1.0);
        let expected = std::f32::consts::PI * 20.25 * 20.25;
        assert!(
            (ink(&canvas) / expected - 1.0).abs() < 0.005,
            "{} {expected}",
            ink(&canvas)
        );

        let mut canvas = Canvas::new(100, 80, WHITE).unwrap();
        canvas.fill_rect(Vec2::new(10.0, 20.0), Vec2::new(30.0, 25.0), BLACK, 1.0);
        assert_eq!(ink(&canvas), 100.0);

        let mut canvas = Canvas::new(100, 80, WHITE).unwrap();
        let corners = [
            Vec2::new(5.0, 5.0),
            Vec2::new(65.0, 10.0),
            Vec2::new(20.0, 70.0),
        ];
        canvas.triangle(corners, BLACK, 1.0);
        let expected = 0.5 * (corners[1] - corners[0]).perp_dot(corners[2] - corners[0]);
        assert!(
            (ink(&canvas) / expected - 1.0).abs() < 0.01,
            "{} {expected}",
            ink(&canvas)
        );
    }

    #[test]
    fn shapes_far_off_huge_or_nan_leave_the_canvas_whole() {
        let mut canvas = Canvas::new(40, 30, WHITE).unwrap();
        let odd = [
            f32::NAN,
            f32::INFINITY,
            f32::NEG_INFINITY,
            1e30,
            -1e30,
            12.0,
        ];
        for x in odd {
            for y in odd {
                let at = Vec2::new(x, y);
                canvas.line(at, Vec2::new(y, x), 2.0, BLACK, 0.5);
                canvas.dashed_line(at, Vec2::ZERO, 1.0, 3.0, BLACK);
                canvas.disc(at, x, BLACK, 0.5);
                canvas.arrow(Vec2::ZERO, at, 2.0, 1.0, BLACK);
                canvas.text(at, Anchor::Middle, TextStyle::new(9.0, BLACK), "far");
                canvas.fill_rect(at, -at, BLACK, 0.5);
            }
        }
        assert_eq!(canvas.pixels().len(), 40 * 30);
    }

    #[test]
    fn sizes_without_pixels_or_over_the_limit_are_refused() {
        let empty = SizeError::Empty {
            width: 0,
            height: 9,
        };
        assert_eq!(Canvas::new(0, 9, WHITE), Err(empty));
        let (width, height) = (u32::MAX, u32::MAX);
        assert_eq!(
            Canvas::new(width, height, WHITE),
            Err(SizeError::TooLarge { width, height })
        );
    }

    #[test]
    fn text_stays_between_its_anchors() {
        for (anchor, left) in [
            (Anchor::Start, 100),
            (Anchor::Middle, 70),
            (Anchor::End, 40),
        ] {
            let mut canvas = Canvas::new(240, 40, WHITE).unwrap();
            let style = TextStyle::new(12.0, BLACK);
            let width = style.width("H0H");
            canvas.text(Vec2::new(100.0, 30.0), anchor, style, "H0H");
            let shift = match anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => 0.5,
                Anchor::End => 1.0,
            };
            let columns: Vec<u32> = (0..240)
                .filter(|&x| (0..40).any(|y| canvas.pixel(x, y) != Some(WHITE)))
                .collect();
            let start = 100.0 - shift * width;
            let (first, last) = (columns[0] as f32, columns[columns.len() - 1] as f32);
            assert!(
                (first - start).abs() < 3.0,
                "{anchor:?} {left}: {first} {start}"
            );
            assert!(
                (last - start - width).abs() < 3.0,
                "{anchor:?}: {last} {start} {width}"
            );
        }
    }
}
