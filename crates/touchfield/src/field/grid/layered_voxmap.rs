//! A grid of voxels, each with one number for the depth of its centre: layers, scaled integers, or
//! `f64`.
//!
//! Input: one value per voxel, as `bake::bake_voxmap` computes them, or those of a [`DenseGrid`].
//! Output: distance and slope inside the grid, constant slope within a voxel; outside it a proven
//! lower bound.
//! Cost: 2, 4 or 8 bytes per voxel; seven lookups per sample; no allocation.
//! Not for: smooth fields. Values jump between voxels, by up to twice the error bound.
//!
//! After \[Sagardia2014\], sections 2.1.1 and 2.2 (docs/BIBLIOGRAPHY.md). Stored numbers are
//! penetrations, positive inside, as there; only [`turned`] converts them to distances. We differ
//! in two things. The slope of Eq. 5 is cut to length 1, because no distance is steeper; and
//! without a pointshell's normal, Eq. 4 takes the direction of that slope.

use glam::{DVec3, UVec3, Vec3};

use crate::field::bounds::outside::lower_bound_outside;
use crate::field::bounds::rounding::largest_coordinate;
use crate::field::field::{Field, Sample};
use crate::field::grid::dense_grid::DenseGrid;
use crate::field::grid::frame::AboutMiddle;
use crate::field::grid::layout::{GridError, GridLayout};
use crate::geom::{Aabb, Interval, corner, place_index};

/// Largest coordinate, distance and error \[m\], and largest value in voxels. Sums and products of
/// such numbers stay finite.
const LARGEST: f64 = 1e37;

/// Largest precision: 10 to this power is exact in `f64`, and its product with an `i32` is still a
/// whole number.
pub const MOST_PRECISION: u8 = 15;

/// Converts a penetration to a distance, or a distance to a penetration \[m\]. This is the one
/// place that converts between the paper's sign, positive inside, and ours, negative inside.
pub fn turned(value: f64) -> f64 {
    -value
}

/// How the numbers of a voxmap are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Whole voxels in 16 bits: `v σ` with σ = s.
    Layers,
    /// Multiples of λ = 10⁻ᵖ m, truncated towards zero, in 32 bits: Eq. 1.
    Scaled {
        /// p, the decimals of a metre that are kept; at most [`MOST_PRECISION`].
        precision: u8,
    },
    /// Metres in `f64`: the support grid of Eq. 5.
    Support,
}

impl Encoding {
    /// Returns scaled integers with as many decimals as fit for distances up to `largest` \[m\].
    pub fn scaled_for(largest: f64) -> Encoding {
        let fits = |precision: &u8| largest * ten_to(*precision) < f64::from(i32::MAX);
        Encoding::Scaled {
            precision: (0..=MOST_PRECISION).rev().find(fits).unwrap_or(0),
        }
    }

    /// Returns the largest error of storing a number \[m\].
    pub(crate) fn error(self, voxel_size: f32) -> f64 {
        match self {
            Encoding::Layers => voxel_size.into(),
            Encoding::Scaled { precision } => 1.0 / ten_to(precision),
            Encoding::Support => 0.0,
        }
    }

    /// Returns the bytes per voxel.
    pub fn bytes(self) -> u64 {
        match self {
            Encoding::Layers => 2,
            Encoding::Scaled { .. } => 4,
            Encoding::Support => 8,
        }
    }
}

/// The stored numbers, x fastest: penetrations, positive inside.
#[derive(Clone, Debug, PartialEq)]
pub enum VoxelValues {
    /// Penetrations in voxels.
    Layers(Vec<i16>),
    /// Penetrations in units of λ = 10⁻ᵖ m.
    Scaled {
        /// p, the number of decimals.
        precision: u8,
        /// One value per voxel.
        values: Vec<i32>,
    },
    /// Penetrations in metres.
    Support(Vec<f64>),
}

/// How a value between voxel centres is computed. P is the point, C the centre of its voxel, s the
/// voxel's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// Eq. 4: `V(P) = n·(C − P) + v(C) σ`, n the unit direction of the slope at C.
    LocalAndGlobal,
    /// Eq. 5: `V(P) = ∇V·(P − C) / s + V(C)`, ∇V the difference between the neighbours of C.
    Interpolated,
}

/// Why a voxmap cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum VoxmapError {
    /// Layout, box or error bound do not make a valid grid.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// Values and layout disagree.
    #[error("a map of {voxels} voxels holds {expected} values, but {found} were given")]
    WrongCount {
        /// Voxels along x, y and z.
        voxels: UVec3,
        /// Expected number of values: the product of the voxel counts.
        expected: u64,
        /// Number of values given.
        found: usize,
    },
    /// A stored number is NaN or too large.
    #[error(
        "the value of voxel {voxel} is {value:?} m; it must be finite, at most {LARGEST:e} m and {LARGEST:e} voxels"
    )]
    BadValue {
        /// Index of the voxel, x fastest.
        voxel: usize,
        /// Its penetration \[m\].
        value: f64,
    },
    /// The precision is finer than the numbers can be.
    #[error("a precision of {0} decimals is too fine; at most {MOST_PRECISION} are kept")]
    BadPrecision(u8),
    /// A scaled distance does not fit in 32 bits.
    #[error(
        "a distance of {largest:e} m does not fit 32 bits at {precision} decimals; use a lower precision, or the `f64` encoding"
    )]
    TooPrecise {
        /// p, the number of decimals.
        precision: u8,
        /// The distance \[m\].
        largest: f64,
    },
    /// A layer number does not fit in 16 bits.
    #[error("{layers:.0} layers do not fit 16 bits; use larger voxels, or another encoding")]
    TooManyLayers {
        /// The largest layer number.
        layers: f64,
    },
    /// The sign of a dense grid may jump where there is no surface.
    #[error(
        "the sign of this grid may change where there is no surface (error bound {error_bound:?} m, cells of {cell_size:?} m); \
         a voxmap needs a closed surface: fill its holes and bake it again"
    )]
    TornGrid {
        /// Error bound of the grid \[m\].
        error_bound: f32,
        /// Cell size of the grid \[m\].
        cell_size: f32,
    },
}

/// A map of voxels. The voxels are the cells of its layout: voxel (i, j, k) lies between nodes (i,
/// j, k) and (i+1, j+1, k+1).
#[derive(Clone, Debug, PartialEq)]
pub struct LayeredVoxmap {
    layout: GridLayout,
    bounds: Aabb,
    values: VoxelValues,
    sampling: Sampling,
    solid: Aabb,
    error_bound: f32,
}

impl LayeredVoxmap {
    /// Builds a map from its values. `solid` is a box that contains the surface; an empty one is
    /// replaced by the box of the grid. `error_bound` promises that |sampled − true| is at most
    /// that, inside the grid \[m\].
    ///
    /// An accepted map gives finite distances and gradients at every finite point.
    pub fn new(
        layout: GridLayout,
        values: VoxelValues,
        sampling: Sampling,
        solid: Aabb,
        error_bound: f32,
    ) -> Result<LayeredVoxmap, VoxmapError> {
        layout.check()?;
        if let VoxelValues::Scaled { precision, .. } = values
            && precision > MOST_PRECISION
        {
            return Err(VoxmapError::BadPrecision(precision));
        }
        let voxels = layout.cells();
        let count = |product: u64, n: u32| product.saturating_mul(n.into());
        let expected = voxels.to_array().into_iter().fold(1, count);
        if expected != values.len() as u64 {
            return Err(VoxmapError::WrongCount {
                voxels,
                expected,
                found: values.len(),
            });
        }
        let size = f64::from(layout.cell_size);
        let most = LARGEST * size.min(1.0);
        for voxel in 0..values.len() {
            let value = values.penetration(voxel, size);
            // The range test also rejects NaN.
            if !(0.0..=most).contains(&value.abs()) {
                return Err(VoxmapError::BadValue { voxel, value });
            }
        }
        if !(0.0..=LARGEST).contains(&f64::from(error_bound)) {
            return Err(GridError::BadErrorBound(error_bound).into());
        }
        let solid = if solid.is_empty() {
            layout.bounds()
        } else {
            solid
        };
        if f64::from(largest_coordinate(solid)) > LARGEST {
            return Err(GridError::BadSolid(solid).into());
        }
        Ok(LayeredVoxmap {
            layout,
            bounds: layout.bounds(),
            values,
            sampling,
            solid,
            error_bound,
        })
    }

    /// Builds one voxel for each cell of a dense grid, with the value at its centre. Adds the
    /// encoding's truncation error and √3 voxels to the grid's error. Layers count whole voxels of
    /// distance here, not neighbourhoods.
    pub fn from_dense(
        grid: &DenseGrid,
        encoding: Encoding,
        sampling: Sampling,
    ) -> Result<LayeredVoxmap, VoxmapError> {
        let layout = *grid.layout();
        if grid.is_torn() {
            return Err(VoxmapError::TornGrid {
                error_bound: grid.error_bound(),
                cell_size: layout.cell_size,
            });
        }
        LayeredVoxmap::from_whole_dense(grid, encoding, sampling)
    }

    /// Converts a grid as [`Self::from_dense`] does, without checking that its sign changes only at
    /// the surface.
    pub(crate) fn from_whole_dense(
        grid: &DenseGrid,
        encoding: Encoding,
        sampling: Sampling,
    ) -> Result<LayeredVoxmap, VoxmapError> {
        let layout = *grid.layout();
        let penetrations: Vec<f64> = voxels(layout.cells())
            .map(|voxel| {
                let value = |node| f64::from(grid.values()[layout.node_index(node)]);
                turned((0..8).map(|i| value(corner(voxel, i))).sum::<f64>() / 8.0)
            })
            .collect();
        let at_centers = f64::from(grid.error_bound()) + encoding.error(layout.cell_size);
        let error_bound = error_everywhere(&layout, largest_of(&penetrations), at_centers);
        let values = VoxelValues::encode(encoding, layout.cell_size, penetrations)?;
        LayeredVoxmap::new(layout, values, sampling, grid.solid(), error_bound)
    }

    /// Builds a dense grid with nodes at the corners of the voxels. Adds half the diagonal of a
    /// voxel to the error.
    pub fn to_dense(&self) -> Result<DenseGrid, GridError> {
        let nodes = voxels(self.layout.nodes);
        let values: Vec<f32> = nodes
            .map(|node| {
                let position = self.layout.node_position(node).as_vec3();
                self.sample_inside(self.bounds.closest_point(position))
                    .distance
            })
            .collect();
        let largest = values.iter().fold(0.0f32, |most, v| most.max(v.abs()));
        let half_diagonal = 0.5 * 3f64.sqrt() * f64::from(self.layout.cell_size);
        let error =
            f64::from(self.error_bound) + half_diagonal + rounding_of(&self.layout, largest.into());
        DenseGrid::new(self.layout, values, self.solid, (error as f32).next_up())
    }

    /// Returns where the voxels lie: they are the cells of this layout.
    pub fn layout(&self) -> &GridLayout {
        &self.layout
    }

    /// Returns the stored numbers.
    pub fn values(&self) -> &VoxelValues {
        &self.values
    }

    /// Returns how values between centres are computed.
    pub fn sampling(&self) -> Sampling {
        self.sampling
    }

    /// Returns a box that contains the surface \[m\].
    pub fn solid(&self) -> Aabb {
        self.solid
    }

    /// Returns the size of the values in bytes.
    pub fn bytes(&self) -> usize {
        self.values.len() * self.values.encoding().bytes() as usize
    }

    /// Returns the penetration by Eq. 4 as in the paper \[m\], positive inside. `normal` is the
    /// unit normal of the pointshell's point, which points into the point's own body and so out of
    /// this one. Points outside the grid use the voxel at its border.
    pub fn penetration(&self, point: Vec3, normal: Vec3) -> f64 {
        let voxel = self.voxel_at(point);
        let local = normal.as_dvec3().dot(self.center(voxel) - point.as_dvec3());
        local + self.at(voxel)
    }

    /// Returns the centre of a voxel \[m\].
    fn center(&self, voxel: UVec3) -> DVec3 {
        voxel_center(&self.layout, voxel)
    }

    /// Returns the penetration at the centre of a voxel \[m\].
    fn at(&self, voxel: UVec3) -> f64 {
        let index = place_index(self.layout.cells(), voxel);
        self.values.penetration(index, self.layout.cell_size.into())
    }

    /// Returns the voxel of a point. Points outside are moved to the nearest border, NaN to the
    /// lower one.
    fn voxel_at(&self, point: Vec3) -> UVec3 {
        let size = f64::from(self.layout.cell_size);
        let place = (point.as_dvec3() - self.layout.origin.as_dvec3()) / size;
        // The cast saturates: NaN and negative numbers become 0.
        let voxel = UVec3::from(place.to_array().map(|along| along as u32));
        voxel.min(self.layout.cells() - UVec3::ONE)
    }

    /// Computes ∇V / s of Eq. 5: the difference between the two neighbours along each axis; at the
    /// border, between the voxel and its one neighbour.
    fn slope(&self, voxel: UVec3) -> DVec3 {
        let last = self.layout.cells() - UVec3::ONE;
        let along = |axis: usize| {
            let (mut ahead, mut behind) = (voxel, voxel);
            ahead[axis] = (voxel[axis] + 1).min(last[axis]);
            behind[axis] = voxel[axis].saturating_sub(1);
            let span = f64::from(ahead[axis] - behind[axis]) * f64::from(self.layout.cell_size);
            if span > 0.0 {
                (self.at(ahead) - self.at(behind)) / span
            } else {
                0.0
            }
        };
        DVec3::new(along(0), along(1), along(2))
    }

    /// Returns the slope of the penetration within a voxel.
    fn gradient(&self, voxel: UVec3) -> DVec3 {
        let slope = self.slope(voxel);
        // n of Eq. 4 points out of the solid, opposite to the slope, so that n·(C − P) is this
        // gradient times P − C.
        match self.sampling {
            Sampling::LocalAndGlobal => slope.try_normalize().unwrap_or(DVec3::ZERO),
            Sampling::Interpolated => slope.clamp_length_max(1.0),
        }
    }

    /// Returns the distance at the centre of a voxel \[m\], and its slope.
    pub(crate) fn plane(&self, voxel: UVec3) -> (f64, DVec3) {
        (-self.at(voxel), -self.gradient(voxel))
    }

    fn sample_inside(&self, point: Vec3) -> Sample {
        let voxel = self.voxel_at(point);
        let gradient = self.gradient(voxel);
        let penetration = self.at(voxel) + gradient.dot(point.as_dvec3() - self.center(voxel));
        Sample {
            distance: turned(penetration) as f32,
            gradient: gradient.to_array().map(|along| turned(along) as f32).into(),
        }
    }

    #[cold]
    #[inline(never)]
    fn lower_bound_outside(&self, point: Vec3) -> Sample {
        let at_border = |point| self.sample_inside(point);
        lower_bound_outside(point, self.bounds, self.solid, self.error_bound, at_border)
    }
}

impl VoxelValues {
    /// Stores penetrations \[m\], truncated towards zero to what the encoding can hold.
    pub(crate) fn encode(
        encoding: Encoding,
        voxel_size: f32,
        penetrations: Vec<f64>,
    ) -> Result<VoxelValues, VoxmapError> {
        let largest = largest_of(&penetrations);
        match encoding {
            Encoding::Layers => {
                let size = f64::from(voxel_size);
                let layers = largest / size;
                if layers >= f64::from(i16::MAX) {
                    return Err(VoxmapError::TooManyLayers { layers });
                }
                let layer = |penetration: f64| (penetration / size) as i16;
                let layers = penetrations.into_iter().map(layer).collect();
                Ok(VoxelValues::Layers(layers))
            }
            Encoding::Scaled { precision } => {
                if precision > MOST_PRECISION {
                    return Err(VoxmapError::BadPrecision(precision));
                }
                let scale = ten_to(precision);
                if largest * scale >= f64::from(i32::MAX) {
                    return Err(VoxmapError::TooPrecise { precision, largest });
                }
                let scaled = |penetration: f64| (penetration * scale) as i32;
                let values = penetrations.into_iter().map(scaled).collect();
                Ok(VoxelValues::Scaled { precision, values })
            }
            Encoding::Support => Ok(VoxelValues::Support(penetrations)),
        }
    }

    /// Returns the number of voxels.
    pub fn len(&self) -> usize {
        match self {
            VoxelValues::Layers(values) => values.len(),
            VoxelValues::Scaled { values, .. } => values.len(),
            VoxelValues::Support(values) => values.len(),
        }
    }

    /// Returns whether there are no voxels.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether the centre of any voxel lies inside.
    pub(crate) fn has_inside(&self) -> bool {
        match self {
            VoxelValues::Layers(values) => values.iter().any(|&v| v > 0),
            VoxelValues::Scaled { values, .. } => values.iter().any(|&v| v > 0),
            VoxelValues::Support(values) => values.iter().any(|&v| v > 0.0),
        }
    }

    /// Returns how the values are stored.
    pub fn encoding(&self) -> Encoding {
        match self {
            VoxelValues::Layers(_) => Encoding::Layers,
            VoxelValues::Scaled { precision, .. } => Encoding::Scaled {
                precision: *precision,
            },
            VoxelValues::Support(_) => Encoding::Support,
        }
    }

    /// Returns the penetration `v σ` of a voxel \[m\].
    fn penetration(&self, voxel: usize, voxel_size: f64) -> f64 {
        match self {
            VoxelValues::Layers(values) => f64::from(values[voxel]) * voxel_size,
            VoxelValues::Scaled { precision, values } => {
                f64::from(values[voxel]) / ten_to(*precision)
            }
            VoxelValues::Support(values) => values[voxel],
        }
    }
}

/// Returns the proven bound on |sampled − true| anywhere in the grid, if it is at most `at_centers`
/// at the voxel centres \[m\].
///
/// With δ = P − C, the true distance changes by at most |δ| from C to P, and the sampled one by
/// |g·δ| ≤ |δ|, as |g| ≤ 1. Half a voxel's diagonal is the largest |δ|, so both together are √3
/// voxels.
pub(crate) fn error_everywhere(layout: &GridLayout, largest: f64, at_centers: f64) -> f32 {
    let both = 3f64.sqrt() * f64::from(layout.cell_size);
    ((at_centers + both + rounding_of(layout, largest)) as f32).next_up()
}

/// Returns the rounding to `f32` of values up to `largest`, and of a point's position in the grid
/// \[m\].
fn rounding_of(layout: &GridLayout, largest: f64) -> f64 {
    let bounds = layout.bounds();
    let extent = bounds.as_daabb().diagonal();
    let far = f64::from(largest_coordinate(bounds));
    f64::from(f32::EPSILON) * (16.0 * (largest + extent) + 2.0 * far)
}

/// Returns the centre of a voxel \[m\].
pub(crate) fn voxel_center(layout: &GridLayout, voxel: UVec3) -> DVec3 {
    layout.node_position(voxel) + 0.5 * f64::from(layout.cell_size)
}

/// Iterates over all voxels, x fastest.
fn voxels(size: UVec3) -> impl Iterator<Item = UVec3> {
    (0..size.z).flat_map(move |z| {
        (0..size.y).flat_map(move |y| (0..size.x).map(move |x| UVec3::new(x, y, z)))
    })
}

fn largest_of(penetrations: &[f64]) -> f64 {
    penetrations.iter().fold(0.0, |most, p| most.max(p.abs()))
}

/// Returns 10ᵖ, exactly; p is at most [`MOST_PRECISION`].
fn ten_to(precision: u8) -> f64 {
    10u64.pow(precision.min(MOST_PRECISION).into()) as f64
}

impl Field for LayeredVoxmap {
    fn bounds(&self) -> Aabb {
        self.bounds
    }

    fn error_bound(&self) -> f32 {
        self.error_bound
    }

    fn distance(&self, point: Vec3) -> f32 {
        self.sample(point).distance
    }

    fn sample(&self, point: Vec3) -> Sample {
        if self.bounds.contains(point) {
            self.sample_inside(point)
        } else {
            self.lower_bound_outside(point)
        }
    }

    /// Returns the Lipschitz bound about the centre of the cell.
    fn interval(&self, cell: Aabb) -> Interval {
        let magnitude = cell.center().abs().max_element();
        let known = |point| (self.sample_inside(point).distance, self.error_bound);
        let outside = |point| self.lower_bound_outside(point).distance;
        AboutMiddle::of(cell, self.bounds, false, magnitude, known, outside)
            .map_or(Interval::EVERYTHING, |about| about.interval)
    }
}
