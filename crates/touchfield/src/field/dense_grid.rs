//! Distances on a regular grid of nodes, interpolated trilinearly.
//!
//! Input: node values, as [`crate::bake`] computes them from a mesh, or anybody's.
//! Output: value and the analytic gradient of the interpolant inside the grid; outside it a proven lower bound.
//! Cost: one lookup of eight neighbours a sample; four bytes a node; no allocation.
//! Not for: fine resolutions over large volumes, which want a sparse field.

use glam::{UVec3, Vec3};

use super::outside::lower_bound_outside;
use super::rounding::largest_coordinate;
use super::torn::is_torn;
use super::trilinear;
use super::{Field, Sample};
use crate::geom::{Aabb, Interval};

/// Largest coordinate, distance and error of a grid \[m\], and largest value in cells: what sums and differences of such
/// numbers give, and their slopes, stays finite in `f32`.
const LARGEST: f32 = 1e37;

/// A grid of distances. Node (i, j, k) lies at `origin + cell_size · (i, j, k)`.
#[derive(Clone, Debug, PartialEq)]
pub struct DenseGrid {
    layout: GridLayout,
    /// Of the layout; kept because every sample asks for it \[m\].
    bounds: Aabb,
    values: Vec<f32>,
    solid: Aabb,
    error_bound: f32,
    /// Whether neighbouring values differ by more than their distance: the sign changes without a surface.
    torn: bool,
}

/// Where the nodes of a grid lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridLayout {
    /// Position of node (0, 0, 0) \[m\].
    pub origin: Vec3,
    /// Distance between neighbouring nodes, the same along every axis \[m\].
    pub cell_size: f32,
    /// Nodes along x, y and z; at least two each.
    pub nodes: UVec3,
}

/// Why a grid cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GridError {
    /// A side has fewer than two nodes.
    #[error("a grid of {nodes} nodes has no cell; every side needs at least 2")]
    TooFewNodes {
        /// Nodes along x, y and z.
        nodes: UVec3,
    },
    /// Values and layout disagree.
    #[error("a grid of {nodes} nodes holds {expected} values, but {found} were given")]
    WrongCount {
        /// Nodes along x, y and z.
        nodes: UVec3,
        /// Their product.
        expected: u64,
        /// Values given.
        found: usize,
    },
    /// The geometry is no number or beyond all measure, or `f32` cannot tell neighbouring nodes apart.
    #[error(
        "cell size {cell_size:?} m at {:?} is not usable: it must be positive, large enough that neighbouring nodes \
         differ in f32, and leave every node within {LARGEST:e} m (move the model towards the origin, or use other cells)",
        .origin.to_array()
    )]
    BadGeometry {
        /// Position of the first node.
        origin: Vec3,
        /// Distance between nodes.
        cell_size: f32,
    },
    /// A stored number is NaN, or so large that interpolating it would leave `f32`.
    #[error(
        "the value of node {node} is {value:?}; distances must be finite, at most {LARGEST:e} m and {LARGEST:e} cells"
    )]
    BadValue {
        /// Index of the node, x fastest.
        node: usize,
        /// What it holds.
        value: f32,
    },
    /// The error bound is NaN, negative or beyond all measure.
    #[error("an error bound of {0:?} m proves nothing; it must be from 0 to {LARGEST:e}")]
    BadErrorBound(f32),
    /// The box around the surface has no end, so that outside the grid nothing would be known.
    #[error(
        "the box around the surface goes from {:?} to {:?}; its corners must lie within {LARGEST:e} m",
        .0.min.to_array(), .0.max.to_array()
    )]
    BadSolid(Aabb),
}

impl GridLayout {
    /// Number of nodes. `u64`: the product of three counts from a file need not fit anything smaller.
    pub fn node_count(&self) -> u64 {
        // Saturating: three huge counts overflow even u64.
        self.nodes
            .to_array()
            .into_iter()
            .fold(1u64, |product, n| product.saturating_mul(n.into()))
    }

    /// Number of cells along each axis.
    pub fn cells(&self) -> UVec3 {
        self.nodes - UVec3::ONE
    }

    /// Position of a node \[m\], in `f64`: exact, so that baking and lookup agree on it.
    pub fn node_position(&self, node: UVec3) -> glam::DVec3 {
        self.origin.as_dvec3() + f64::from(self.cell_size) * node.as_dvec3()
    }

    /// Index of a node, x fastest.
    pub fn node_index(&self, node: UVec3) -> usize {
        let [nx, ny, _] = self.nodes.to_array().map(|n| n as usize);
        let [x, y, z] = node.to_array().map(|n| n as usize);
        (z * ny + y) * nx + x
    }

    /// Index of a cell, x fastest; `None` past the last.
    #[cfg(feature = "bake")]
    pub(crate) fn cell_index(&self, cell: UVec3) -> Option<u32> {
        let cells = self.cells();
        cell.cmplt(cells)
            .all()
            .then(|| (cell.z * cells.y + cell.y) * cells.x + cell.x)
    }

    /// The box from the first node to the last.
    pub fn bounds(&self) -> Aabb {
        Aabb::new(
            self.origin,
            self.node_position(self.nodes - UVec3::ONE).as_vec3(),
        )
    }

    /// Whether the nodes can be told apart and counted.
    pub fn check(&self) -> Result<(), GridError> {
        if self.nodes.min_element() < 2 {
            return Err(GridError::TooFewNodes { nodes: self.nodes });
        }
        let bounds = self.bounds();
        let largest = bounds.min.abs().max(bounds.max.abs()).max_element();
        // At least one step of f32 a cell, or neighbouring nodes are one.
        let usable = self.origin.is_finite()
            && self.cell_size > 0.0
            && self.cell_size.is_normal()
            && largest <= LARGEST
            && self.cell_size >= f32::EPSILON * largest;
        if !usable {
            return Err(GridError::BadGeometry {
                origin: self.origin,
                cell_size: self.cell_size,
            });
        }
        Ok(())
    }
}

/// A point's cell and its place in it, from 0 to 1 along each axis.
struct Place {
    corner: usize,
    fraction: Vec3,
}

impl DenseGrid {
    /// A grid from its values, x fastest. `solid` is a box that holds the surface, that of the grid if it is empty;
    /// `error_bound` promises |interpolated − true| at most that, inside the grid \[m\].
    ///
    /// What is accepted gives finite distances and gradients at every finite point.
    pub fn new(
        layout: GridLayout,
        values: Vec<f32>,
        solid: Aabb,
        error_bound: f32,
    ) -> Result<DenseGrid, GridError> {
        layout.check()?;
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
        // Half a cell's diagonal is all that a continuous distance can be off; a grid that promises less may jump between nodes.
        let torn = error_bound > layout.cell_size || is_torn(&layout, &values);
        Ok(DenseGrid {
            layout,
            bounds: layout.bounds(),
            values,
            solid,
            error_bound,
            torn,
        })
    }

    /// Where the nodes lie.
    pub fn layout(&self) -> &GridLayout {
        &self.layout
    }

    /// All node values, x fastest \[m\].
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// A box that holds the surface \[m\].
    pub fn solid(&self) -> Aabb {
        self.solid
    }

    /// Bytes of the values.
    pub fn bytes(&self) -> usize {
        size_of_val(self.values.as_slice())
    }

    /// The point's cell. Points outside are taken at the nearest border; NaN counts as the lower one.
    #[inline(always)]
    fn locate(&self, point: Vec3) -> Place {
        let cells = self.layout.cells();
        let scaled = (point - self.layout.origin) / self.layout.cell_size;
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
            corner: self.layout.node_index(UVec3::new(i, j, k)),
            fraction: Vec3::new(u, v, w),
        }
    }

    /// The eight corner values; bit 0 of the index is x, bit 1 y, bit 2 z.
    #[inline(always)]
    fn corners(&self, corner: usize) -> [f32; 8] {
        let row = self.layout.nodes.x as usize;
        let plane = row * self.layout.nodes.y as usize;
        let pair = |start: usize| {
            let pair = &self.values[start..start + 2];
            (pair[0], pair[1])
        };
        let (a, b) = pair(corner);
        let (c, d) = pair(corner + row);
        let (e, f) = pair(corner + plane);
        let (g, h) = pair(corner + plane + row);
        [a, b, c, d, e, f, g, h]
    }

    #[inline(always)]
    fn interpolate(&self, place: &Place) -> f32 {
        trilinear::value(self.corners(place.corner), place.fraction)
    }

    /// Value and exact gradient of the trilinear interpolant.
    #[inline(always)]
    fn interpolate_with_gradient(&self, place: &Place) -> Sample {
        let (distance, slope) =
            trilinear::value_and_slope(self.corners(place.corner), place.fraction);
        Sample {
            distance,
            gradient: slope / self.layout.cell_size,
        }
    }

    #[cold]
    #[inline(never)]
    fn lower_bound_outside(&self, point: Vec3) -> Sample {
        let at_border = |point| self.interpolate_with_gradient(&self.locate(point));
        lower_bound_outside(point, self.bounds, self.solid, self.error_bound, at_border)
    }
}

impl Field for DenseGrid {
    fn bounds(&self) -> Aabb {
        self.layout.bounds()
    }

    fn error_bound(&self) -> f32 {
        self.error_bound
    }

    #[inline]
    fn distance(&self, point: Vec3) -> f32 {
        if self.bounds.contains(point) {
            self.interpolate(&self.locate(point))
        } else {
            self.lower_bound_outside(point).distance
        }
    }

    #[inline]
    fn sample(&self, point: Vec3) -> Sample {
        if self.bounds.contains(point) {
            self.interpolate_with_gradient(&self.locate(point))
        } else {
            self.lower_bound_outside(point)
        }
    }

    /// Two proofs, and the tighter end of each: the Lipschitz bound about the middle (of the magnitude, where the sign is torn), and, over a few cells, the range of
    /// their corner values, which holds every interpolated value.
    fn interval(&self, cell: Aabb) -> Interval {
        if !(cell.min.is_finite() && cell.max.is_finite()) {
            return Interval::new(f32::NEG_INFINITY, f32::INFINITY);
        }
        let bounds = self.layout.bounds();
        let middle = cell.center();
        let reach = 0.5 * cell.diagonal();
        let inside = bounds.closest_point(middle);
        let beyond = middle.distance(inside);
        let at_border = self.interpolate(&self.locate(inside));
        let upper = at_border + self.error_bound + beyond;
        let lower = if beyond > 0.0 {
            self.lower_bound_outside(middle).distance
        } else {
            at_border - self.error_bound
        };
        // Rounding of the few sums above, relative to the numbers in them.
        let rounding = 8.0 * f32::EPSILON * (upper.abs() + beyond + reach);
        if !rounding.is_finite() {
            return Interval::new(f32::NEG_INFINITY, f32::INFINITY);
        }
        let lipschitz = if self.torn {
            // Where the sign is torn only the magnitude is continuous.
            let most = at_border.abs() + self.error_bound + beyond;
            Interval::new(-most, most).grown(reach + rounding)
        } else {
            Interval::new(lower, upper).grown(reach + rounding)
        };
        if !bounds.contains(cell.min) || !bounds.contains(cell.max) {
            return lipschitz;
        }
        match self.corner_range(cell) {
            Some(range) => lipschitz.intersection(range.grown(self.error_bound + rounding)),
            None => lipschitz,
        }
    }
}

impl DenseGrid {
    /// Smallest and largest node value around the grid cells that `cell` overlaps; `None` when they are too many to look at.
    fn corner_range(&self, cell: Aabb) -> Option<Interval> {
        /// Along each axis. Beyond this the Lipschitz bound is about as tight and cheaper.
        const MOST: u32 = 4;
        let origin = self.layout.origin;
        let to_cell = |point: Vec3| (point - origin) / self.layout.cell_size;
        // Cells that end on a node to within rounding leave the neighbours beyond it out: over that little, an interpolant
        // that is not torn rises by no more than the cell size along each axis and cell.
        let unsure = 4.0 * f32::EPSILON * (self.layout.cells().max_element() as f32 + 1.0);
        let inward = if self.torn { -unsure } else { unsure };
        let first = (to_cell(cell.min) + inward)
            .floor()
            .max(Vec3::ZERO)
            .as_uvec3();
        let last = (to_cell(cell.max) - inward).ceil().as_uvec3();
        let last = last.min(self.layout.cells());
        // A box turned inside out has no range.
        if first.cmpgt(last).any() || (last - first).max_element() > MOST {
            return None;
        }
        let mut range = Interval::new(f32::INFINITY, f32::NEG_INFINITY);
        for k in first.z..=last.z {
            for j in first.y..=last.y {
                let start = self.layout.node_index(UVec3::new(first.x, j, k));
                for &value in &self.values[start..=start + (last.x - first.x) as usize] {
                    range.lower = range.lower.min(value);
                    range.upper = range.upper.max(value);
                }
            }
        }
        Some(range.grown(4.0 * unsure * self.layout.cell_size))
    }
}
