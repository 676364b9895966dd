//! Pictures of fields: labelled slices, lit renders, sheets of both, line charts, and PNG files.
//!
//! Input: `&dyn Field`s, a settings struct per kind of picture.
//! Output: a [`Canvas`] of 8-bit sRGB pixels; [`write_png`] writes it to disk atomically.
//! Cost: a slice takes one distance sample per pixel; a render takes some fifty per pixel that a
//! body covers. All cores are used.
//! Not for: pictures of meshes (bake them first), or pictures above [`MAX_PIXELS`].
//!
//! Every picture is a pure function of its arguments: the same bytes on every run and thread count.

mod camera;
mod canvas;
mod chart;
mod colormap;
mod font;
#[cfg(test)]
mod gallery;
mod png_file;
mod render;
mod sheet;
mod slice;
mod slice_labels;
#[cfg(test)]
mod test_fields;
mod ticks;
mod trace;

pub use self::{
    canvas::{Anchor, Canvas, MAX_PIXELS, Rgb, SizeError, TextStyle},
    chart::{Chart, Curve, chart, chart_svg},
    png_file::{WritePngError, write_png},
    render::{
        ContactMark, Lit, PALETTE, RenderBody, RenderError, RenderSettings, SceneBody, SceneView,
        render, render_with,
    },
    sheet::{SheetError, sheet},
    slice::{Axis, SliceError, SliceSettings, slice},
};
