//! Where along a segment a grid is asked, and what roundings at its border may take.

use crate::field::along_line::line::Times;
use glam::{DVec3, Vec3};

use crate::field::GridLayout;
use crate::field::along_line::line::Line;

/// Where a grid is good, in units of cells.
#[derive(Clone, Copy)]
pub(super) struct Within {
    origin: DVec3,
    cell_size: f64,
    low: DVec3,
    high: DVec3,
}

impl Within {
    /// `low` and `high` in cells.
    pub(super) fn new(layout: &GridLayout, [low, high]: [DVec3; 2]) -> Within {
        let slack = DVec3::splat(border_slack(layout));
        Within {
            origin: layout.origin.as_dvec3(),
            cell_size: f64::from(layout.cell_size),
            low: low - slack,
            high: high + slack,
        }
    }

    /// The line in units of cells, and when it is where the field is good, if ever.
    #[inline(always)]
    pub(super) fn line(&self, from: Vec3, to: Vec3) -> (Line, Option<Times>) {
        self.line_during(from, to, [0.0, 1.0])
    }

    /// The same for a part of the way.
    #[inline(always)]
    pub(super) fn line_during(&self, from: Vec3, to: Vec3, times: Times) -> (Line, Option<Times>) {
        let place = |point: Vec3| (point.as_dvec3() - self.origin) / self.cell_size;
        let line = Line::new(place(from), place(to));
        let inside = line.clip(self.low, self.high, times);
        (line, inside)
    }
}

/// How far the border of a grid is rounded to `f32` \[cells\]: so near to it, a point counts as inside.
pub(crate) fn border_slack(layout: &GridLayout) -> f64 {
    let bounds = layout.bounds();
    let largest = bounds.min.abs().max(bounds.max.abs()).max_element();
    f64::from(f32::EPSILON) * f64::from(largest / layout.cell_size)
}
