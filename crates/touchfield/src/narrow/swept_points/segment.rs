//! A point that goes straight, against a field.
//!
//! Input: two points of the field's frame, a level. Output: spans of time in which the field is at or below the level along the way.
//! Cost: with an octree a few blocks and cells; without, every cell on the way. No allocation beyond the spans.
//! Not for: paths that bend, which `shell` cuts into such segments.

use std::ops::ControlFlow;

use glam::{DVec3, UVec3, Vec3};

use super::by_bisection::Path;
use super::spans::{Collector, Roots, Span, Wanted};
use crate::field::line::{Line, Times, Walker, walk_cells};
use crate::field::pieces::{LinePieces, Piece, SparseLine};
use crate::field::{Field, FieldOctree, GridLayout, MinMaxOctree, StoredField};
use crate::shape::Shape;

/// What is asked of a moving point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SegmentSettings {
    /// In contact where the field is at or below this \[m\]: 0 for the surface, a ball's radius for a ball.
    pub level: f32,
    /// How much is asked for.
    pub wanted: Wanted,
    /// How times are found.
    pub roots: Roots,
}

impl Default for SegmentSettings {
    /// All spans in contact with the surface, exactly.
    fn default() -> SegmentSettings {
        SegmentSettings {
            level: 0.0,
            wanted: Wanted::All,
            roots: Roots::Exact,
        }
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SweptError {
    /// An end of a segment is NaN or infinite.
    #[error("a segment from {from:?} to {to:?} m has no place; both ends must be finite")]
    BadSegment {
        /// Where it begins.
        from: Vec3,
        /// Where it ends.
        to: Vec3,
    },
    /// The level is NaN or infinite.
    #[error("a level of {0:?} m is never reached; it must be finite")]
    BadLevel(f32),
    /// The tolerance is no length.
    #[error("a tolerance of {0:?} m cannot be met; it must be positive and finite")]
    BadTolerance(f32),
    /// A pose or motion holds NaN or infinity, or a rotation that is none.
    #[error(
        "the motion is no rigid one; its numbers must be finite and its rotations of unit length"
    )]
    BadMotion,
}

/// A field that points move against, and what makes that fast.
#[derive(Clone, Copy)]
pub struct SweptField<'a> {
    field: &'a dyn Field,
    stored: Option<(&'a StoredField, Option<&'a FieldOctree>)>,
}

impl<'a> SweptField<'a> {
    /// Any field; its own steepness is all that is known of it.
    pub fn new(field: &'a dyn Field) -> SweptField<'a> {
        SweptField {
            field,
            stored: None,
        }
    }

    /// A stored field, cell by cell; with its octree, over blocks of cells.
    ///
    /// # Panics
    /// If the octree was built over a field of another layout.
    pub fn stored(field: &'a StoredField, octree: Option<&'a FieldOctree>) -> SweptField<'a> {
        assert!(
            octree.is_none_or(|octree| octree.cells().layout() == field.layout()),
            "the octree was built over another field than the one it is asked about"
        );
        SweptField {
            field,
            stored: Some((field, octree)),
        }
    }

    /// That of a shape, with what it has.
    pub fn of(shape: &'a Shape) -> SweptField<'a> {
        match shape.as_stored() {
            Some(field) => SweptField::stored(field, shape.octree()),
            None => SweptField::new(shape.field()),
        }
    }

    /// The field.
    pub fn field(&self) -> &'a dyn Field {
        self.field
    }

    /// Within the field's box it changes by no more than this times the distance of two points; infinite if unknown.
    pub(super) fn steepest(&self) -> f32 {
        match self.stored {
            Some((_, octree)) => octree.map_or(f32::INFINITY, FieldOctree::steepest),
            None => 1.0,
        }
    }
}

/// Finds when a point that moves from `from` to `to` is in contact. `spans` is cleared and refilled, in order of time.
///
/// Along the way the field is taken as what it returns: its interpolant inside a grid, its lower bound outside.
pub fn cross_segment(
    target: &SweptField<'_>,
    from: Vec3,
    to: Vec3,
    settings: &SegmentSettings,
    spans: &mut Vec<Span>,
) -> Result<(), SweptError> {
    spans.clear();
    if !(from.is_finite() && to.is_finite()) {
        return Err(SweptError::BadSegment { from, to });
    }
    if !settings.level.is_finite() {
        return Err(SweptError::BadLevel(settings.level));
    }
    let mut out = Collector {
        level: settings.level,
        wanted: settings.wanted,
        roots: settings.roots,
        spans,
    };
    let _ = cross(target, from, to, settings.level, &mut out);
    Ok(())
}

/// As [`cross_segment`]; outside the box of a grid the level may be another.
pub(super) fn cross(
    target: &SweptField<'_>,
    from: Vec3,
    to: Vec3,
    level_outside: f32,
    out: &mut Collector<'_>,
) -> ControlFlow<()> {
    let Some((field, octree)) = target.stored else {
        return cross_outside(target, from, to, [0.0, 1.0], out);
    };
    let layout = field.layout();
    let line = line_among(layout, from, to);
    let slack = DVec3::splat(border_slack(layout));
    let [low, high] = field.good_cells();
    let inside = line.clip(low - slack, high + slack, [0.0, 1.0]);
    let level = out.level;
    let outside = |times: Times, out: &mut Collector<'_>| {
        out.level = level_outside;
        let flow = cross_outside(target, from, to, times, out);
        out.level = level;
        flow
    };
    let Some([enter, leave]) = inside else {
        return outside([0.0, 1.0], out);
    };
    if enter > 0.0 {
        outside([0.0, enter], out)?;
    }
    cross_inside(field, octree, &line, [enter, leave], out)?;
    if leave < 1.0 {
        outside([leave, 1.0], out)?;
    }
    ControlFlow::Continue(())
}

/// How far the border of a grid is rounded to `f32` \[cells\]: so near to it, a point counts as inside.
fn border_slack(layout: &GridLayout) -> f64 {
    let bounds = layout.bounds();
    let largest = bounds.min.abs().max(bounds.max.abs()).max_element();
    f64::from(f32::EPSILON) * f64::from(largest / layout.cell_size)
}

/// In units of cells.
fn line_among(layout: &GridLayout, from: Vec3, to: Vec3) -> Line {
    let size = f64::from(layout.cell_size);
    let place = |point: Vec3| (point.as_dvec3() - layout.origin.as_dvec3()) / size;
    Line::new(place(from), place(to))
}

/// By values alone: of a field without cells, or beyond the box of one with cells.
fn cross_outside(
    target: &SweptField<'_>,
    from: Vec3,
    to: Vec3,
    times: Times,
    out: &mut Collector<'_>,
) -> ControlFlow<()> {
    let field = target.field;
    let (start, way) = (from.as_dvec3(), to.as_dvec3() - from.as_dvec3());
    let bounds = field.bounds();
    let at = |time: f64| {
        let point = (start + time * way).as_vec3();
        let distance = field.distance(point);
        if target.stored.is_some() && bounds.contains(point) {
            // On the border, or rounded to there: as far as the bound beyond it goes.
            (distance - field.error_bound()).max(0.0).into()
        } else {
            distance.into()
        }
    };
    let steepest = f64::from(target.steepest());
    let (slope, jump) = if steepest.is_finite() {
        (steepest.max(1.0), 0.0)
    } else {
        (1.0, 2.0 * f64::from(field.error_bound()))
    };
    // Points are rounded to f32, and so are distances.
    let largest = from.abs().max(to.abs()).max_element();
    let rounding = 4.0 * f64::from(f32::EPSILON) * f64::from(largest);
    let path = Path {
        distance: at,
        speed: slope * way.length(),
        jump: jump + rounding,
    };
    path.cross(times, out)
}

fn cross_inside(
    field: &StoredField,
    octree: Option<&FieldOctree>,
    line: &Line,
    times: Times,
    out: &mut Collector<'_>,
) -> ControlFlow<()> {
    let octree = octree.map(|octree| (octree, field.error_bound()));
    match field {
        StoredField::Dense(grid) => cross_cells(grid, octree, line, times, out),
        StoredField::Taylor(grid) => cross_cells(grid, octree, line, times, out),
        StoredField::Voxmap(map) => cross_cells(map, octree, line, times, out),
        StoredField::Sparse(blocks) => {
            let sparse = SparseLine {
                field: blocks,
                octree: octree.and_then(|(octree, _)| octree.sparse()),
            };
            cross_cells(&sparse, octree, line, times, out)
        }
    }
}

/// The octree comes with the field's error bound.
fn cross_cells(
    field: &impl LinePieces,
    octree: Option<(&FieldOctree, f32)>,
    line: &Line,
    times: Times,
    out: &mut Collector<'_>,
) -> ControlFlow<()> {
    let cells = field.layout().cells();
    let level = out.level;
    let Some((octree, error_bound)) = octree else {
        return walk_cells(cells, line, times, |cell, times| {
            field.pieces(cell, line, times, level, &mut |times, piece| {
                out.visit(times, piece)
            })
        });
    };
    // In cells, rounded down.
    let length = line.direction().length();
    let per_metre = (1.0 - 1e-6) / f64::from(field.layout().cell_size);
    let per_value = per_metre / f64::from(octree.steepest());
    let jump = 2.0 * per_metre * f64::from(error_bound);
    // Where a piece ends the level is still so far away in value. So it is in space, by the steepest slope there is, or because the true
    // distance changes no faster than one goes and is nowhere off by more than the error. Leaps of less than a cell might, by rounding, lead nowhere.
    let leap = |piece: &Piece, leaves: f64| {
        let gap = f64::from(piece.gap());
        let free = f64::max(per_value * gap, per_metre * gap - jump);
        (free > 1.0).then(|| (leaves + free / length).min(times[1]))
    };
    let blocks = octree.cells();
    let mut walker = Walker::new(cells, line, times);
    let mut height = blocks.height();
    loop {
        let Some(piece) = clear_block(walker.cell(), blocks, level, &mut height) else {
            let leaf = blocks.block_around(0, walker.cell());
            loop {
                let times = [walker.time(), walker.leaves_cell()];
                let mut last = None;
                field.pieces(walker.cell(), line, times, level, &mut |times, piece| {
                    last = Some(piece);
                    out.visit(times, piece)
                })?;
                let leaps = last.and_then(|piece| Some((piece, leap(&piece, times[1])?)));
                let goes_on = match leaps {
                    Some((piece, end)) => {
                        out.visit([times[1], end], piece)?;
                        walker.leap(end)
                    }
                    None => walker.step(),
                };
                if !goes_on {
                    return ControlFlow::Continue(());
                }
                if !leaf.contains(walker.cell()) {
                    break;
                }
            }
            continue;
        };
        let block = blocks.block_around(height, walker.cell());
        let leaves = walker.leaves_block(block.first, block.last);
        let leaps = leap(&piece, leaves);
        out.visit([walker.time(), leaps.unwrap_or(leaves)], piece)?;
        let goes_on = match leaps {
            Some(end) => walker.leap(end),
            None => walker.step_out_of(block.first, block.last),
        };
        if !goes_on {
            return ControlFlow::Continue(());
        }
    }
}

/// The largest block around a cell without the level, as a piece: `height` says how large the last was, and then how large it is. Blocks hold the
/// values of the smaller ones in them, so up from one that can be skipped, or down from one that cannot, finds it.
#[inline]
fn clear_block(
    cell: UVec3,
    blocks: &MinMaxOctree,
    level: f32,
    height: &mut usize,
) -> Option<Piece> {
    let at = |height: usize| Piece::of_range(blocks.range_around(height, cell), level);
    if let Some(mut found) = at(*height) {
        while *height < blocks.height() {
            let Some(larger) = at(*height + 1) else {
                break;
            };
            *height += 1;
            found = larger;
        }
        return Some(found);
    }
    while *height > 0 {
        *height -= 1;
        if let Some(found) = at(*height) {
            return Some(found);
        }
    }
    None
}
