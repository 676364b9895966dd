//! Contact of a point that moves along a straight segment with a field.
//!
//! Input: two points of the field's frame, a level.
//! Output: spans of time in which the field is at or below the level along the segment.
//! Cost: with an octree a few blocks and cells; without, every cell on the way. No allocation
//! beyond the spans.
//! Not for: curved paths, which `shell` cuts into such segments.

use crate::narrow::motion::swept_points::within::Within;
use std::ops::ControlFlow;

use glam::{DVec3, Vec3};

use crate::field::along_line::line::{Line, Times};
use crate::field::along_line::pieces::SparseLine;
use crate::field::{Field, FieldOctree, StoredField};
use crate::narrow::motion::swept_points::by_bisection::Path;
use crate::narrow::motion::swept_points::over_cells;
use crate::narrow::motion::swept_points::over_cells::{PlaneField, PlaneWalk, cross_cells};
use crate::narrow::motion::swept_points::spans::{Collector, Roots, Span, Wanted};
use crate::shape::Shape;

/// Settings of a segment query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SegmentSettings {
    /// Level \[m\]: a point is in contact where the field is at or below it. 0 for the surface, a
    /// ball's radius for a ball.
    pub level: f32,
    /// Which part of the contact is computed.
    pub wanted: Wanted,
    /// How the times of contact are found.
    pub roots: Roots,
}

impl Default for SegmentSettings {
    /// Returns settings for all spans in contact with the surface, with exact roots.
    fn default() -> SegmentSettings {
        SegmentSettings {
            level: 0.0,
            wanted: Wanted::All,
            roots: Roots::Exact,
        }
    }
}

impl SegmentSettings {
    /// Returns a collector that appends to `spans` with these settings.
    pub(super) fn collect<'a>(&self, spans: &'a mut Vec<Span>) -> Collector<'a> {
        Collector {
            level: self.level,
            wanted: self.wanted,
            roots: self.roots,
            spans,
        }
    }
}

/// Reasons why a query has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SweptError {
    /// An end of a segment is NaN or infinite.
    #[error("a segment from {from:?} to {to:?} m has no place; both ends must be finite")]
    BadSegment {
        /// Start of the segment.
        from: Vec3,
        /// End of the segment.
        to: Vec3,
    },
    /// The level is NaN or infinite.
    #[error("a level of {0:?} m is never reached; it must be finite")]
    BadLevel(f32),
    /// The tolerance is not positive and finite.
    #[error("a tolerance of {0:?} m cannot be met; it must be positive and finite")]
    BadTolerance(f32),
    /// A pose or motion has NaN or infinite numbers, or a rotation that is not of unit length.
    #[error(
        "the motion is no rigid one; its numbers must be finite and its rotations of unit length"
    )]
    BadMotion,
}

/// A field that points move against, with the data that speeds up queries.
#[derive(Clone, Copy)]
pub struct SweptField<'a> {
    field: &'a dyn Field,
    stored: Option<(&'a StoredField, Option<&'a FieldOctree>)>,
}

impl<'a> SweptField<'a> {
    /// Wraps any field. Its values are assumed to be 1-Lipschitz.
    pub fn new(field: &'a dyn Field) -> SweptField<'a> {
        SweptField {
            field,
            stored: None,
        }
    }

    /// Wraps a stored field, which is traversed cell by cell or, with its octree, over blocks of
    /// cells.
    ///
    /// # Panics
    /// If the octree was built over a field of another layout.
    pub fn stored(field: &'a StoredField, octree: Option<&'a FieldOctree>) -> SweptField<'a> {
        assert!(
            octree.is_none_or(|octree| octree.cells().layout() == field.layout()),
            "the octree was built over another field than this one"
        );
        SweptField {
            field,
            stored: Some((field, octree)),
        }
    }

    /// Wraps the field of a shape, with its octree if it has one.
    pub fn of(shape: &'a Shape) -> SweptField<'a> {
        match shape.as_stored() {
            Some(field) => SweptField::stored(field, shape.octree()),
            None => SweptField::new(shape.field()),
        }
    }

    /// Returns the field.
    pub fn field(&self) -> &'a dyn Field {
        self.field
    }

    /// Returns a dense field that has planes over its blocks, or `None` if this is not one.
    pub(super) fn planes(&self, level: f32) -> Option<(&'a StoredField, PlaneField<'a>)> {
        let (field, octree) = self.stored?;
        let (StoredField::Dense(grid), Some(octree)) = (field, octree) else {
            return None;
        };
        Some((
            field,
            PlaneField::new(grid, octree, octree.planes()?, level),
        ))
    }

    /// Returns whether anything outside the field's grid may be at or below a level. It may not if
    /// the box around the surface is farther than that from the border of the grid.
    pub(super) fn may_touch_beyond(&self, level: f32) -> bool {
        let Some((field, _)) = self.stored else {
            return false;
        };
        let (bounds, solid) = (field.bounds(), field.solid());
        let nearest = (solid.min - bounds.min).min(bounds.max - solid.max);
        // Rounded up, as bounds beyond a grid are rounded down.
        let largest = bounds.min.abs().max(bounds.max.abs()).max_element();
        level + 8.0 * f32::EPSILON * (largest + level.abs()) >= nearest.min_element()
    }

    /// Returns the maximum slope of the field within its box: the change of its value per distance
    /// between two points. Infinite if unknown.
    pub(super) fn steepest(&self) -> f32 {
        match self.stored {
            Some((_, octree)) => octree.map_or(f32::INFINITY, FieldOctree::steepest),
            None => 1.0,
        }
    }
}

/// Finds when a point that moves from `from` to `to` is in contact. `spans` is cleared and
/// refilled, in order of time.
///
/// The values along the segment are those that the field returns: its interpolant inside a grid,
/// its lower bound outside.
pub fn cross_segment(
    target: &SweptField<'_>,
    from: Vec3,
    to: Vec3,
    settings: &SegmentSettings,
    spans: &mut Vec<Span>,
) -> Result<(), SweptError> {
    spans.clear();
    check(from, to, settings)?;
    let _ = cross(
        target,
        from,
        to,
        settings.level,
        &mut settings.collect(spans),
    );
    Ok(())
}

/// Returns an error if the segment or the level is not finite.
pub(super) fn check(from: Vec3, to: Vec3, settings: &SegmentSettings) -> Result<(), SweptError> {
    if !(from.is_finite() && to.is_finite()) {
        return Err(SweptError::BadSegment { from, to });
    }
    if !settings.level.is_finite() {
        return Err(SweptError::BadLevel(settings.level));
    }
    Ok(())
}

/// Finds the spans of [`cross_segment`], with another level outside the box of a grid.
pub(super) fn cross(
    target: &SweptField<'_>,
    from: Vec3,
    to: Vec3,
    level_outside: f32,
    out: &mut Collector<'_>,
) -> ControlFlow<()> {
    cross_since(target, from, to, level_outside, 0.0, out)
}

/// Finds the spans of [`cross`] for a segment that is above the level before `since`. That part
/// costs nothing, and the spans are bitwise the same.
pub(super) fn cross_since(
    target: &SweptField<'_>,
    from: Vec3,
    to: Vec3,
    level_outside: f32,
    since: f64,
    out: &mut Collector<'_>,
) -> ControlFlow<()> {
    let Some((field, octree)) = target.stored else {
        return cross_outside(target, from, to, [0.0, 1.0], out);
    };
    let (line, inside) = Within::new(field.layout(), field.good_cells()).line(from, to);
    let level = out.level;
    let outside = |times: Times, out: &mut Collector<'_>| {
        out.level = level_outside;
        let flow = cross_beyond(target, field, from, to, times, out);
        out.level = level;
        flow
    };
    let Some([enter, leave]) = inside else {
        return outside([0.0, 1.0], out);
    };
    if enter > 0.0 && since <= enter {
        outside([0.0, enter], out)?;
    }
    if since <= leave {
        cross_inside(field, octree, &line, [enter, leave], since, out)?;
    }
    if leave < 1.0 {
        outside([leave, 1.0], out)?;
    }
    ControlFlow::Continue(())
}

/// Returns the times at which a segment is so near to the box around a field's surface that a lower
/// bound of the distance may be at or below the level. Outside its grid a field is nowhere less
/// than the distance to that box, so it is above the level at other times.
fn near_solid(
    field: &StoredField,
    from: Vec3,
    to: Vec3,
    level: f32,
    times: Times,
) -> Option<Times> {
    // Positions are rounded, and so is the distance.
    let largest = from.abs().max(to.abs()).max_element() + level.abs();
    let reach = DVec3::splat((level.max(0.0) + 16.0 * f32::EPSILON * largest).into());
    let solid = field.solid();
    let (min, max) = (solid.min.as_dvec3() - reach, solid.max.as_dvec3() + reach);
    Line::new(from.into(), to.into()).clip(min, max, times)
}

/// Finds the spans outside the box of a grid.
pub(super) fn cross_beyond(
    target: &SweptField<'_>,
    field: &StoredField,
    from: Vec3,
    to: Vec3,
    times: Times,
    out: &mut Collector<'_>,
) -> ControlFlow<()> {
    match near_solid(field, from, to, out.level, times) {
        Some([near, far]) => {
            out.above([times[0], near])?;
            cross_outside(target, from, to, [near, far], out)?;
            out.above([far, times[1]])
        }
        None => out.above(times),
    }
}

/// Finds the spans from values alone: for a field without cells, or outside the box of a grid.
pub(super) fn cross_outside(
    target: &SweptField<'_>,
    from: Vec3,
    to: Vec3,
    times: Times,
    out: &mut Collector<'_>,
) -> ControlFlow<()> {
    values_on_way(target, from, to).cross(times, out)
}

/// Returns the field's values along a segment as a function of time, for a field without cells, or
/// outside the box of a grid.
fn values_on_way<'a>(
    target: &SweptField<'a>,
    from: Vec3,
    to: Vec3,
) -> Path<impl Fn(f64) -> f64 + use<'a>> {
    let (field, is_stored) = (target.field, target.stored.is_some());
    let (start, way) = (from.as_dvec3(), to.as_dvec3() - from.as_dvec3());
    let bounds = field.bounds();
    let at = move |time: f64| {
        let point = (start + time * way).as_vec3();
        let distance = field.distance(point);
        if is_stored && bounds.contains(point) {
            // On the border, or rounded onto it: the value with which the bound outside continues.
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
    Path {
        distance: at,
        speed: slope * way.length(),
        jump: jump + rounding_of_values(from, to),
    }
}

/// Returns the `f32` rounding of points on a segment, and of distances \[m\].
fn rounding_of_values(from: Vec3, to: Vec3) -> f64 {
    let largest = from.abs().max(to.abs()).max_element();
    4.0 * f64::from(f32::EPSILON) * f64::from(largest)
}

/// Input of [`may_begin`].
pub(super) struct Begin {
    /// Level inside the box of a grid, derived from the maximum slope \[m\].
    pub(super) level: f32,
    /// Level anywhere, derived from the error of the field \[m\].
    pub(super) level_by_error: f32,
    /// Times to search.
    pub(super) during: Times,
    /// Distance at which the search may stop early \[m\].
    pub(super) within: f32,
}

/// Returns a lower bound of the time at which a point is first at or below a level, or `None` if it
/// is proven never to be. It costs less than the exact times of [`cross`].
pub(super) fn may_begin(
    target: &SweptField<'_>,
    from: Vec3,
    to: Vec3,
    asked: &Begin,
) -> Option<f64> {
    let by_values = |times: Times| {
        // True distances change by no more than the point moves; the error of the field is included
        // in the level.
        let path = Path {
            speed: from.as_dvec3().distance(to.as_dvec3()),
            jump: rounding_of_values(from, to),
            ..values_on_way(target, from, to)
        };
        path.may_begin(times, asked.level_by_error.into(), asked.within.into())
    };
    let Some((field, octree)) = target.stored else {
        return by_values(asked.during);
    };
    let during = near_solid(field, from, to, asked.level_by_error, asked.during)?;
    let planes = octree.and_then(|octree| Some((octree, octree.planes()?)));
    let (StoredField::Dense(grid), Some((octree, planes))) = (field, planes) else {
        return by_values(during);
    };
    let field = PlaneField::new(grid, octree, planes, asked.level);
    let (line, inside) = field.within().line_during(from, to, during);
    let Some([enter, leave]) = inside else {
        return by_values(during);
    };
    let before = (enter > during[0]).then(|| by_values([during[0], enter]));
    let within = asked.within / grid.layout().cell_size;
    (before.flatten())
        .or_else(|| over_cells::may_begin(&field, &line, [enter, leave], within))
        .or_else(|| (leave < during[1]).then(|| by_values([leave, during[1]]))?)
}

/// Finds the spans within the box of a grid. The segment is above the level before `since`.
fn cross_inside(
    field: &StoredField,
    octree: Option<&FieldOctree>,
    line: &Line,
    times: Times,
    since: f64,
    out: &mut Collector<'_>,
) -> ControlFlow<()> {
    let octree = octree.map(|octree| (octree, field.error_bound()));
    match field {
        StoredField::Dense(grid) => match octree.map(|(octree, _)| (octree, octree.planes())) {
            Some((octree, Some(planes))) => {
                let field = PlaneField::new(grid, octree, planes, out.level);
                let walk = PlaneWalk::new(&field, line, times);
                walk.since(&field, since).run(&field, out)
            }
            _ => cross_cells(grid, octree, line, times, since, out),
        },
        StoredField::Taylor(grid) => cross_cells(grid, octree, line, times, since, out),
        StoredField::Voxmap(map) => cross_cells(map, octree, line, times, since, out),
        StoredField::Sparse(blocks) => {
            let sparse = SparseLine {
                field: blocks,
                octree: octree.and_then(|(octree, _)| octree.sparse()),
            };
            cross_cells(&sparse, octree, line, times, since, out)
        }
    }
}
