//! The parts that grids share whatever they store at their nodes: locating a point among the nodes,
//! a proven lower bound outside, and the Lipschitz part of an interval.
//!
//! Input: layout, box around the surface, error bound; a closure that samples the grid inside its
//! box.
//! Output: a place among the nodes; samples beyond the box; intervals.
//! Cost: one sample inside the grid each.
//! Not for: interpolation, which each grid does itself.

use glam::{UVec3, Vec3};

use crate::field::bounds::outside::{distance_outside, lower_bound_outside};
use crate::field::bounds::rounding::largest_coordinate;
use crate::field::field::Sample;
use crate::field::grid::layout::LARGEST;
use crate::field::grid::layout::{GridError, GridLayout};
use crate::geom::{Aabb, Interval};

/// A grid without its values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GridFrame {
    pub(crate) layout: GridLayout,
    /// Bounds of the layout \[m\]; cached because every sample needs them.
    pub(crate) bounds: Aabb,
    /// A box that contains the surface \[m\].
    pub(crate) solid: Aabb,
    /// Bound on |interpolated − true| inside the grid \[m\].
    pub(crate) error_bound: f32,
    /// Whether the grid is torn: neighbouring values may differ by more than their distance,
    /// because the sign changes without a surface.
    pub(crate) torn: bool,
}

/// The cell of a point, and its position in the cell from 0 to 1 along each axis.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) cell: UVec3,
    pub(crate) fraction: Vec3,
}

impl Place {
    /// Splits a position counted in cells into cell and fraction. Positions outside are moved to
    /// the nearest border; NaN counts as the lower one.
    #[inline(always)]
    pub(crate) fn among(cells: UVec3, scaled: Vec3) -> Place {
        let along = |axis: usize| {
            // `if` rather than `clamp`: it turns NaN into 0.
            let at_least_zero = if scaled[axis] > 0.0 {
                scaled[axis]
            } else {
                0.0
            };
            let last = cells[axis] - 1;
            let cell = (at_least_zero as u32).min(last);
            (cell, (at_least_zero - cell as f32).min(1.0))
        };
        let ((i, u), (j, v), (k, w)) = (along(0), along(1), along(2));
        Place {
            cell: UVec3::new(i, j, k),
            fraction: Vec3::new(u, v, w),
        }
    }
}

/// A bound on the true distance over a box, from the field at the box's centre.
pub(crate) struct AboutMiddle {
    pub(crate) interval: Interval,
    /// Rounding error of the sums it is made of \[m\].
    pub(crate) rounding: f32,
}

impl AboutMiddle {
    /// Computes the Lipschitz bound over `cell`; where the sign is `torn`, the bound on the
    /// magnitude. `None` where nothing finite is known.
    ///
    /// `known` returns value and error at points of the grid, `outside` a lower bound beyond it.
    /// `magnitude` is the largest coordinate whose rounding adds to that of the numbers here.
    pub(crate) fn of(
        cell: Aabb,
        bounds: Aabb,
        torn: bool,
        magnitude: f32,
        known: impl Fn(Vec3) -> (f32, f32),
        outside: impl Fn(Vec3) -> f32,
    ) -> Option<AboutMiddle> {
        if !cell.is_finite() {
            return None;
        }
        let middle = cell.center();
        let reach = 0.5 * cell.diagonal();
        let inside = bounds.closest_point(middle);
        let beyond = middle.distance(inside);
        let (at_border, error) = known(inside);
        let upper = at_border + error + beyond;
        let lower = if beyond > 0.0 {
            outside(middle)
        } else {
            at_border - error
        };
        // Rounding of the few sums above, relative to the numbers in them.
        let rounding = 8.0 * f32::EPSILON * (upper.abs() + beyond + reach + magnitude);
        if !rounding.is_finite() {
            return None;
        }
        let at_middle = if torn {
            // Where the sign is torn only the magnitude is continuous.
            let most = at_border.abs() + error + beyond;
            Interval::new(-most, most)
        } else {
            Interval::new(lower, upper)
        };
        Some(AboutMiddle {
            interval: at_middle.grown(reach + rounding),
            rounding,
        })
    }
}

impl GridFrame {
    /// Builds a frame; rejects input that would make results wrong or not finite. An empty `solid`
    /// is replaced by the box of the grid. The frame starts as not torn; the caller sets that.
    pub(crate) fn new(
        layout: GridLayout,
        solid: Aabb,
        error_bound: f32,
    ) -> Result<GridFrame, GridError> {
        layout.check()?;
        if !(0.0..=LARGEST).contains(&error_bound) {
            return Err(GridError::BadErrorBound(error_bound));
        }
        let solid = if solid.is_empty() {
            layout.bounds()
        } else {
            solid
        };
        if largest_coordinate(solid) > LARGEST {
            return Err(GridError::BadSolid(solid));
        }
        Ok(GridFrame {
            layout,
            bounds: layout.bounds(),
            solid,
            error_bound,
            torn: false,
        })
    }

    /// Returns the place of a point. Points outside are moved to the nearest border; NaN counts as
    /// the lower one.
    #[inline(always)]
    pub(crate) fn locate(&self, point: Vec3) -> Place {
        let scaled = (point - self.layout.origin) / self.layout.cell_size;
        Place::among(self.layout.cells(), scaled)
    }

    /// Returns a proven lower bound of the distance at a point outside the grid. `inside` returns
    /// the distance at points of the grid.
    pub(crate) fn distance_outside(&self, point: Vec3, inside: impl Fn(Vec3) -> f32) -> f32 {
        distance_outside(point, self.bounds, self.solid, self.error_bound, inside)
    }

    /// Returns a proven lower bound of the distance at a point outside the grid, and its gradient.
    /// `sample_inside` samples the grid at its own points.
    pub(crate) fn lower_bound_outside(
        &self,
        point: Vec3,
        sample_inside: impl Fn(Vec3) -> Sample,
    ) -> Sample {
        lower_bound_outside(
            point,
            self.bounds,
            self.solid,
            self.error_bound,
            sample_inside,
        )
    }

    /// Returns an interval that contains the true distance over `cell`. It intersects two bounds:
    /// the Lipschitz bound about the centre (on the magnitude, where the sign is torn), and, where
    /// `cell` spans few grid cells, the range of the values in them.
    ///
    /// `sample_inside` samples the grid at its own points. `range` returns an interval that
    /// contains every interpolated value over the grid cells between a first and a last node, both
    /// nodes included.
    pub(crate) fn interval(
        &self,
        cell: Aabb,
        sample_inside: impl Fn(Vec3) -> Sample,
        range: impl Fn(UVec3, UVec3) -> Interval,
    ) -> Interval {
        let known = |point| (sample_inside(point).distance, self.error_bound);
        let outside = |point| self.lower_bound_outside(point, &sample_inside).distance;
        let about = AboutMiddle::of(cell, self.bounds, self.torn, 0.0, known, outside);
        let Some(AboutMiddle {
            interval: lipschitz,
            rounding,
        }) = about
        else {
            return Interval::EVERYTHING;
        };
        if !self.bounds.contains(cell.min) || !self.bounds.contains(cell.max) {
            return lipschitz;
        }
        match self.nodes_around(cell) {
            Some([first, last]) => {
                let margin =
                    self.error_bound + rounding + 4.0 * self.unsure() * self.layout.cell_size;
                lipschitz.intersection(range(first, last).grown(margin))
            }
            None => lipschitz,
        }
    }

    /// Returns the first and last node of the grid cells that `cell` overlaps. `None` when part of
    /// it lies outside the grid, the cells are too many to visit, or the sign is torn.
    pub(crate) fn nodes_of(&self, cell: Aabb) -> Option<[UVec3; 2]> {
        let inside = self.bounds.contains(cell.min) && self.bounds.contains(cell.max);
        (inside && !self.torn)
            .then(|| self.nodes_around(cell))
            .flatten()
    }

    /// Returns by how much to lower a plane below the nodes so that it lies below the true
    /// distance: the error of the field, and rounding.
    pub(crate) fn plane_margin(&self, cell: Aabb, value: f32) -> f32 {
        let reach = 0.5 * cell.diagonal() + self.layout.cell_size;
        // Positions among the nodes, twice, and the sums along a row.
        let rounding = 8.0 * self.unsure() * self.layout.cell_size
            + 16.0 * f32::EPSILON * (reach + value.abs());
        self.error_bound + rounding
    }

    /// Returns how far rounding can move a point among the nodes \[cells\].
    fn unsure(&self) -> f32 {
        4.0 * f32::EPSILON * (self.layout.cells().max_element() as f32 + 1.0)
    }

    /// Returns the first and last node of the grid cells that `cell` overlaps; `None` when they are
    /// too many to visit.
    fn nodes_around(&self, cell: Aabb) -> Option<[UVec3; 2]> {
        /// Maximum grid cells along each axis. Beyond this the Lipschitz bound is about as tight
        /// and cheaper.
        const MOST: u32 = 4;
        let origin = self.layout.origin;
        let to_cell = |point: Vec3| (point - origin) / self.layout.cell_size;
        // Where `cell` ends at a node to within rounding, the grid cell beyond that node is left
        // out. Over so short a way an interpolant that is not torn rises by at most one cell size
        // per axis and cell.
        let inward = if self.torn {
            -self.unsure()
        } else {
            self.unsure()
        };
        let first = (to_cell(cell.min) + inward)
            .floor()
            .max(Vec3::ZERO)
            .as_uvec3();
        let last = (to_cell(cell.max) - inward).ceil().as_uvec3();
        let last = last.min(self.layout.cells());
        // An inverted box has no range.
        let few = first.cmple(last).all() && (last - first).max_element() <= MOST;
        few.then_some([first, last])
    }
}
