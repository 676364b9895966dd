//! The part of a segment along which a grid is sampled, and the rounding at the grid's border.

use crate::field::along_line::line::Times;
use glam::{DVec3, Vec3};

use crate::field::GridLayout;
use crate::field::along_line::line::Line;

/// The box in which a grid is valid, in units of cells.
#[derive(Clone, Copy)]
pub(super) struct Within {
    origin: DVec3,
    cell_size: f64,
    low: DVec3,
    high: DVec3,
}

impl Within {
    /// Builds the box from `low` and `high` in units of cells, enlarged by the rounding of the
    /// border.
    pub(super) fn new(layout: &GridLayout, [low, high]: [DVec3; 2]) -> Within {
        let slack = DVec3::splat(border_slack(layout));
        Within {
            origin: layout.origin.as_dvec3(),
            cell_size: f64::from(layout.cell_size),
            low: low - slack,
            high: high + slack,
        }
    }

    /// Returns the line in units of cells, and the times at which it is in the box, if any.
    #[inline(always)]
    pub(super) fn line(&self, from: Vec3, to: Vec3) -> (Line, Option<Times>) {
        self.line_during(from, to, [0.0, 1.0])
    }

    /// Returns the line in units of cells, and the part of `times` in which it is in the box, if
    /// any.
    #[inline(always)]
    pub(super) fn line_during(&self, from: Vec3, to: Vec3, times: Times) -> (Line, Option<Times>) {
        let place = |point: Vec3| (point.as_dvec3() - self.origin) / self.cell_size;
        let line = Line::new(place(from), place(to));
        let inside = line.clip(self.low, self.high, times);
        (line, inside)
    }
}

/// Returns the `f32` rounding of a grid's border \[cells\]: a point this close to it counts as
/// inside.
pub(crate) fn border_slack(layout: &GridLayout) -> f64 {
    let bounds = layout.bounds();
    let largest = bounds.min.abs().max(bounds.max.abs()).max_element();
    f64::from(f32::EPSILON) * f64::from(largest / layout.cell_size)
}
