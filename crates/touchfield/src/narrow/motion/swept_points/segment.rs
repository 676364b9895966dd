//! A point that goes straight, against a field.
//!
//! Input: two points of the field's frame, a level. Output: spans of time in which the field is at or below the level along the way.
//! Cost: with an octree a few blocks and cells; without, every cell on the way. No allocation beyond the spans.
//! Not for: paths that bend, which `shell` cuts into such segments.

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

impl SegmentSettings {
    /// Spans as they are asked for.
    pub(super) fn collect<'a>(&self, spans: &'a mut Vec<Span>) -> Collector<'a> {
        Collector {
            level: self.level,
            wanted: self.wanted,
            roots: self.roots,
            spans,
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

    /// A dense field that has planes over its blocks.
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

    /// Whether anything outside the field's grid may be at or below a level: not where the box around the surface is farther from there.
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

/// Refuses what has no answer.
pub(super) fn check(from: Vec3, to: Vec3, settings: &SegmentSettings) -> Result<(), SweptError> {
    if !(from.is_finite() && to.is_finite()) {
        return Err(SweptError::BadSegment { from, to });
    }
    if !settings.level.is_finite() {
        return Err(SweptError::BadLevel(settings.level));
    }
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
    cross_since(target, from, to, level_outside, 0.0, out)
}

/// As [`cross`], for a way that is above the level before `since`: that part costs nothing, and the answer is the same bits.
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

/// When a way is so near to the box around a field's surface that a lower bound of the distance may be at or below the level there. Outside its grid a field is nowhere
/// less than the distance to that box, so elsewhere it is above.
fn near_solid(
    field: &StoredField,
    from: Vec3,
    to: Vec3,
    level: f32,
    times: Times,
) -> Option<Times> {
    // Places are rounded, and so is the distance.
    let largest = from.abs().max(to.abs()).max_element() + level.abs();
    let reach = DVec3::splat((level.max(0.0) + 16.0 * f32::EPSILON * largest).into());
    let solid = field.solid();
    let (min, max) = (solid.min.as_dvec3() - reach, solid.max.as_dvec3() + reach);
    Line::new(from.into(), to.into()).clip(min, max, times)
}

/// Beyond the box of a grid.
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

/// By values alone: of a field without cells, or beyond the box of one with cells.
pub(super) fn cross_outside(
    target: &SweptField<'_>,
    from: Vec3,
    to: Vec3,
    times: Times,
    out: &mut Collector<'_>,
) -> ControlFlow<()> {
    values_on_way(target, from, to).cross(times, out)
}

/// The field's values along a way: of a field without cells, or beyond the box of one with cells.
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
    Path {
        distance: at,
        speed: slope * way.length(),
        jump: jump + rounding_of_values(from, to),
    }
}

/// Points on a way are rounded to `f32`, and so are distances \[m\].
fn rounding_of_values(from: Vec3, to: Vec3) -> f64 {
    let largest = from.abs().max(to.abs()).max_element();
    4.0 * f64::from(f32::EPSILON) * f64::from(largest)
}

/// What is asked of a way by [`may_begin`].
pub(super) struct Begin {
    /// In the box of a grid, by its steepness,
    pub(super) level: f32,
    /// and anywhere, by twice its error \[m\].
    pub(super) level_by_error: f32,
    pub(super) during: Times,
    /// Need not be known better than so \[m\].
    pub(super) within: f32,
}

/// When a point may first be at or below a level: no later than it is, and `None` only if it never is. For less than what [`cross`] takes to tell when it is.
pub(super) fn may_begin(
    target: &SweptField<'_>,
    from: Vec3,
    to: Vec3,
    asked: &Begin,
) -> Option<f64> {
    let by_values = |times: Times| {
        // True distances change by no more than one goes; what a field is off is in the level.
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

/// Within the box of a grid; above the level before `since`.
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
