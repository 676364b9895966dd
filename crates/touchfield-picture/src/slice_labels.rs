//! Everything around the map of a slice: title, coordinates, colour bar, scale bar, key.
//!
//! Input: the placement of the map and the meaning of its colours. Output: labels on the margins of
//! a [`Canvas`].
//! Cost: a few thousand strokes. Not for: the map itself (see [`mod@super::slice`]).
//!
//! All measures are multiples of the height of small capitals, so a picture looks the same at every
//! width. Text that does not fit is cut with an ellipsis, and entries of the key are left out
//! rather than overlapped.

use glam::Vec2;

use super::{
    canvas::{Anchor, Canvas, TextStyle},
    colormap::DivergingMap,
    sheet::fitted,
    slice::{Axis, DOUBT, INK, Plot, SOFT_INK, SURFACE, Scale, SliceSettings},
    ticks::{Unit, multiples, round_below},
};

/// Measures of the picture \[px\], all derived from the height of its small capitals.
pub(super) struct Layout {
    pub(super) text: f32,
    pub(super) title: f32,
    pub(super) left: f32,
    pub(super) right: f32,
    pub(super) top: f32,
    pub(super) bottom: f32,
}

impl Layout {
    /// Computes the layout. `up` is the range of the box along the vertical axis \[m\]; its labels
    /// determine the width of the left margin.
    pub(super) fn new(settings: &SliceSettings, unit: &Unit, up: (f32, f32)) -> Layout {
        let text = (settings.width as f32 / 84.0).clamp(6.0, 60.0).round();
        let step = round_below(f64::from(up.1 - up.0) / 4.0);
        let widest = [up.0, up.1]
            .map(|end| TextStyle::new(text, SOFT_INK).width(&unit.number(end.into(), step)))
            .into_iter()
            .fold(0.0, f32::max);
        // A very long number must not push the map off the picture.
        let labels = widest.min(0.25 * settings.width as f32);
        let title = (1.35 * text).round();
        let caption_lines = if settings.caption.is_empty() {
            0.0
        } else {
            1.0
        };
        Layout {
            text,
            title,
            left: (labels + 2.6 * text).max(4.5 * text).round(),
            right: (10.5 * text).round(),
            top: (1.6 * text + title + 2.2 * text * caption_lines + 3.2 * text).round(),
            bottom: (9.6 * text).round(),
        }
    }
}

/// Draws ticks and coordinates along the lower and left side, and the names of the axes.
pub(super) fn draw_axes(canvas: &mut Canvas, plot: &Plot, layout: &Layout, unit: &Unit) {
    let text = layout.text;
    let style = TextStyle::new(text, SOFT_INK);
    let (min, max) = (plot.min(), plot.max());
    let upper = plot.origin + plot.pixel * (max - min);
    // Use a coarser step if the horizontal labels would overlap.
    let range = f64::from(upper.x - plot.origin.x);
    let fine = round_below(range / 4.0);
    let label_width = |end: f32| style.width(&unit.number(end.into(), fine));
    let room = (fine / f64::from(plot.pixel)) as f32 - 1.5 * text;
    let crowded = label_width(plot.origin.x).max(label_width(upper.x)) > room;
    let step = if crowded {
        round_below(range / 2.0)
    } else {
        fine
    };
    let width = (0.09 * text).max(1.0);
    let tick = 0.55 * text;
    // Horizontal axis.
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
    // Vertical axis.
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
    // Names of the axes.
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

/// Draws the colour bar, right of the map.
pub(super) fn draw_colour_bar(
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
    // Frame.
    let middle = 0.5 * (x0 + x1);
    let half = (0.05 * text).max(0.5);
    canvas.stroke_rect(
        Vec2::new(x0, top),
        Vec2::new(x1, bottom),
        2.0 * half,
        SOFT_INK,
    );
    // Arrow heads, where distances exceed the range of the colours.
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
    // Ticks at the contour levels, as many of them labelled as fit.
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
    // Heading, and the meaning of the signs.
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

/// Draws title, caption and the plane's position.
pub(super) fn draw_heading(
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

/// Draws the scale bar and the key to the lines, below the map.
pub(super) fn draw_footer(
    canvas: &mut Canvas,
    plot: &Plot,
    layout: &Layout,
    unit: &Unit,
    doubtful: bool,
) {
    let text = layout.text;
    let (min, max) = (plot.min(), plot.max());
    let style = TextStyle::new(text, SOFT_INK);
    let y = max.y + 7.6 * text;

    // The scale bar.
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

/// A line style of the key.
#[derive(Clone, Copy)]
enum KeyMark {
    Surface,
    Box,
    Doubt,
}
