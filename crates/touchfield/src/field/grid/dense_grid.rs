//! Distances on a regular grid of nodes, interpolated trilinearly.
//!
//! Input: node values, as [`crate::bake`] computes them from a mesh, or from any other source.
//! Output: value and the analytic gradient of the interpolant inside the grid; outside it a proven
//! lower bound.
//! Cost: one lookup of eight neighbours per sample; four bytes per node; no allocation.
//! Not for: fine resolutions over large volumes, where a sparse field is better.

use crate::field::grid::layout::GridError;
use crate::field::grid::layout::GridLayout;
use glam::{UVec3, Vec3};

use crate::field::field::{Field, LowerPlane, Sample};
use crate::field::grid::frame::{GridFrame, Place};
use crate::field::grid::layout::LARGEST;
use crate::field::grid::packet;
use crate::field::grid::packet::{Packets, Places};
use crate::field::grid::torn::is_torn;
use crate::field::grid::trilinear;
use crate::geom::lanes::{LANES, Lanes, prefetch};
use crate::geom::{Aabb, Interval};

/// A grid of distances. Node (i, j, k) lies at `origin + cell_size · (i, j, k)`.
#[derive(Clone, Debug, PartialEq)]
pub struct DenseGrid {
    frame: GridFrame,
    values: Vec<f32>,
}

impl DenseGrid {
    /// Builds a grid from its values, x fastest. `solid` is a box that contains the surface; an
    /// empty one is replaced by the box of the grid. `error_bound` promises that |interpolated −
    /// true| is at most that, inside the grid \[m\].
    ///
    /// An accepted grid gives finite distances and gradients at every finite point.
    pub fn new(
        layout: GridLayout,
        values: Vec<f32>,
        solid: Aabb,
        error_bound: f32,
    ) -> Result<DenseGrid, GridError> {
        let mut frame = GridFrame::new(layout, solid, error_bound)?;
        if layout.node_count() != values.len() as u64 {
            return Err(GridError::WrongCount {
                nodes: layout.nodes,
                expected: layout.node_count(),
                found: values.len(),
            });
        }
        let most = LARGEST * layout.cell_size.min(1.0);
        let is_usable = |value: &f32| (0.0..=most).contains(&value.abs());
        if let Some(node) = values.iter().position(|value| !is_usable(value)) {
            return Err(GridError::BadValue {
                node,
                value: values[node],
            });
        }
        // A trilinear mean of a continuous distance is off by at most half a cell's diagonal; a
        // grid with a larger error bound may jump between nodes.
        frame.torn = error_bound > layout.cell_size || is_torn(&layout, &values);
        Ok(DenseGrid { frame, values })
    }

    /// Returns where the nodes lie.
    pub fn layout(&self) -> &GridLayout {
        &self.frame.layout
    }

    /// Returns all node values, x fastest \[m\].
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Takes the node values out of the grid.
    #[cfg(feature = "bake")]
    pub(crate) fn into_values(self) -> Vec<f32> {
        self.values
    }

    /// Returns a box that contains the surface \[m\].
    pub fn solid(&self) -> Aabb {
        self.frame.solid
    }

    /// Returns whether neighbouring values may differ by more than their distance, as beside a
    /// hole.
    pub(crate) fn is_torn(&self) -> bool {
        self.frame.torn
    }

    /// Returns the size of the values in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(self.values.as_slice())
    }

    /// Returns the eight corner values; bit 0 of the index is x, bit 1 y, bit 2 z.
    #[inline(always)]
    pub(crate) fn corners(&self, cell: UVec3) -> [f32; 8] {
        let layout = &self.frame.layout;
        let row = layout.nodes.x as usize;
        let plane = row * layout.nodes.y as usize;
        trilinear::corners(&self.values, layout.node_index(cell), row, plane)
    }

    /// Prefetches the corners of a cell that will be read soon.
    #[inline(always)]
    pub(crate) fn prefetch_corners(&self, cell: UVec3) {
        for (y, z) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let node = self.frame.layout.node_index(cell + UVec3::new(0, y, z));
            prefetch(&self.values[node]);
        }
    }

    #[inline(always)]
    fn interpolate(&self, place: &Place) -> f32 {
        trilinear::value(self.corners(place.cell), place.fraction.to_array())
    }

    /// Returns value and exact gradient of the trilinear interpolant.
    #[inline(always)]
    fn interpolate_with_gradient(&self, place: &Place) -> Sample {
        let (distance, slope) =
            trilinear::value_and_slope(self.corners(place.cell), place.fraction.to_array());
        Sample {
            distance,
            gradient: Vec3::from(slope) / self.frame.layout.cell_size,
        }
    }

    /// Samples a point inside the grid.
    fn sample_inside(&self, point: Vec3) -> Sample {
        self.interpolate_with_gradient(&self.frame.locate(point))
    }

    #[cold]
    #[inline(never)]
    fn distance_outside(&self, point: Vec3) -> f32 {
        (self.frame).distance_outside(point, |inside| self.interpolate(&self.frame.locate(inside)))
    }

    #[cold]
    #[inline(never)]
    fn lower_bound_outside(&self, point: Vec3) -> Sample {
        (self.frame).lower_bound_outside(point, |inside| self.sample_inside(inside))
    }
}

impl Packets for DenseGrid {
    fn frame(&self) -> &GridFrame {
        &self.frame
    }

    #[inline(always)]
    fn interpolate_eight<L: Lanes>(&self, places: &Places<L>) -> (L, [L; 3]) {
        let mut rows = [L::splat(0.0); LANES];
        for (row, cell) in rows.iter_mut().zip(places.cells()) {
            *row = L::load_plain(&self.corners(cell));
        }
        let (distance, [x, y, z]) = trilinear::value_and_slope(L::transpose(rows), places.fraction);
        let cell_size = L::splat(self.frame.layout.cell_size);
        let gradient = [x.div(cell_size), y.div(cell_size), z.div(cell_size)];
        (distance, gradient)
    }

    fn sample_beyond(&self, point: Vec3) -> Sample {
        self.lower_bound_outside(point)
    }

    fn distance_beyond(&self, point: Vec3) -> f32 {
        self.distance_outside(point)
    }
}

impl Field for DenseGrid {
    fn bounds(&self) -> Aabb {
        self.frame.bounds
    }

    fn error_bound(&self) -> f32 {
        self.frame.error_bound
    }

    #[inline]
    fn distance(&self, point: Vec3) -> f32 {
        if self.frame.bounds.contains(point) {
            self.interpolate(&self.frame.locate(point))
        } else {
            self.distance_outside(point)
        }
    }

    #[inline]
    fn sample(&self, point: Vec3) -> Sample {
        if self.frame.bounds.contains(point) {
            self.interpolate_with_gradient(&self.frame.locate(point))
        } else {
            self.lower_bound_outside(point)
        }
    }

    fn distance_many(&self, points: &[Vec3], out: &mut Vec<f32>) {
        packet::distance_many(self, points, out);
    }

    fn sample_many(&self, points: &[Vec3], out: &mut Vec<Sample>) {
        packet::sample_many(self, points, out);
    }

    /// Intersects the Lipschitz bound with the range of the corner values, which bound every
    /// interpolated value.
    fn interval(&self, cell: Aabb) -> Interval {
        self.frame.interval(
            cell,
            |point| self.sample_inside(point),
            |first, last| self.range(first, last),
        )
    }

    /// Minus any plane, the interpolant is still trilinear in every cell, so a plane below the
    /// nodes is below all of it.
    fn lower_plane(&self, cell: Aabb) -> Option<LowerPlane> {
        let [first, last] = self.frame.nodes_of(cell)?;
        let place = self.frame.locate(cell.center());
        let slope = self.secant(first, last);
        let center = place.cell.as_vec3() + place.fraction;
        let mut value = f32::INFINITY;
        for k in first.z..=last.z {
            for j in first.y..=last.y {
                let start = self.layout().node_index(UVec3::new(first.x, j, k));
                let row = &self.values[start..=start + (last.x - first.x) as usize];
                let along = Vec3::new(first.x as f32, j as f32, k as f32) - center;
                let mut plane = slope.dot(along);
                for &node in row {
                    value = value.min(node - plane);
                    plane += slope.x;
                }
            }
        }
        Some(LowerPlane {
            value: value - self.frame.plane_margin(cell, value),
            gradient: slope / self.frame.layout.cell_size,
        })
    }
}

impl DenseGrid {
    /// Returns the mean slope from one node to another \[m per cell\]: that of the planes that fit
    /// best, also across a crease.
    fn secant(&self, first: UVec3, last: UVec3) -> Vec3 {
        let cell = Aabb::new(Vec3::ZERO, Vec3::ONE);
        let mut slope = Vec3::ZERO;
        for corner in cell.corners() {
            let far = corner.cmpgt(Vec3::ZERO);
            let value = self.values[self.layout().node_index(UVec3::select(far, last, first))];
            slope += value * Vec3::select(far, Vec3::ONE, Vec3::NEG_ONE);
        }
        slope / (4.0 * (last - first).max(UVec3::ONE).as_vec3())
    }

    /// Returns the smallest and largest node value from one node to another.
    fn range(&self, first: UVec3, last: UVec3) -> Interval {
        let mut range = Interval::new(f32::INFINITY, f32::NEG_INFINITY);
        for k in first.z..=last.z {
            for j in first.y..=last.y {
                let start = self.layout().node_index(UVec3::new(first.x, j, k));
                for &value in &self.values[start..=start + (last.x - first.x) as usize] {
                    range.lower = range.lower.min(value);
                    range.upper = range.upper.max(value);
                }
            }
        }
        range
    }
}
