//! Building Taylor grids from distances and gradients at nodes, and converting from and to dense
//! grids, with the error carried along.
//!
//! Input: a [`Sample`] for every node, and a bound on the error of the trilinear mean of its
//! distances.
//! Output: a [`TaylorGrid`] with a valid `error_bound`: the error of the mean, plus the rounding to
//! halves, plus what the gradients can add.
//! Cost: some tens of nanoseconds per node.
//! Not for: computing the distances.
//!
//! `|f − φ| ≤ |φ̄ − φ| + |f − φ̄|`. The first term is the error of a trilinear mean, rounding of
//! its node values included; the second is at most [`TaylorGrid::correction`], whatever the
//! gradients are. So the bound also holds where the gradients are wrong: at kinks, and for finite
//! differences.

use glam::{DVec4, UVec3, Vec3};
use half::f16;

use crate::field::field::{Field, Sample};
use crate::field::grid::dense_grid::DenseGrid;
use crate::field::grid::layout::{GridError, GridLayout};
use crate::field::grid::taylor_grid::{BLOCK, coarse_nodes};
use crate::field::grid::taylor_grid::{TaylorError, TaylorGrid};
use crate::field::grid::taylor_layout::{Brick, Bricks, brick_count, stored_slope};
use crate::geom::lanes::room_for;
use crate::geom::{Aabb, corner};

/// Encodes samples of nodes as halves, one layer of bricks at a time.
pub(crate) struct TaylorEncoder {
    layout: GridLayout,
    coarse: Vec<[f32; 4]>,
    coarse_nodes: UVec3,
}

/// The error and range found while encoding a layer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Encoded {
    /// Largest change of a distance by rounding \[cells\].
    pub(crate) error: f64,
    /// Largest absolute distance \[m\].
    pub(crate) largest: f32,
}

impl Encoded {
    pub(crate) fn max(self, other: Encoded) -> Encoded {
        Encoded {
            error: self.error.max(other.error),
            largest: self.largest.max(other.largest),
        }
    }
}

impl TaylorEncoder {
    /// Samples every [`BLOCK`]-th node. Coarse nodes beyond the border are extrapolated from the
    /// last node with its gradient.
    pub(crate) fn new(
        layout: GridLayout,
        sample: impl Fn(UVec3) -> Sample,
    ) -> Result<TaylorEncoder, GridError> {
        layout.check()?;
        let coarse_nodes = coarse_nodes(&layout);
        let mut coarse = Vec::new();
        for z in 0..coarse_nodes.z {
            for y in 0..coarse_nodes.y {
                for x in 0..coarse_nodes.x {
                    let place = BLOCK * UVec3::new(x, y, z);
                    let node = place.min(layout.cells());
                    let beyond = (place - node).as_dvec3();
                    let full = expansion(&layout, sample(node));
                    let at_place = full.w + 2.0 * full.truncate().dot(beyond);
                    let [sx, sy, sz] = full.truncate().to_array().map(stored_slope);
                    coarse.push([sx, sy, sz, at_place as f32]);
                }
            }
        }
        Ok(TaylorEncoder {
            layout,
            coarse,
            coarse_nodes,
        })
    }

    /// Returns the number of bricks of nodes along each axis.
    pub(crate) fn bricks(&self) -> UVec3 {
        brick_count(&self.layout)
    }

    /// Encodes one layer of bricks, which is two planes of nodes, into `out`.
    pub(crate) fn encode_layer(
        &self,
        z: u32,
        sample: impl Fn(UVec3) -> Sample,
        out: &mut [Brick],
    ) -> Result<Encoded, TaylorError> {
        let mut found = Encoded::default();
        let row = self.bricks().x;
        for (index, brick) in (0u32..).zip(out) {
            let first = 2 * UVec3::new(index % row, index / row, z);
            for i in 0..8 {
                let node = corner(first, i);
                if !node.cmplt(self.layout.nodes).all() {
                    continue;
                }
                let sample = sample(node);
                let left = expansion(&self.layout, sample) - self.predict(node);
                let halves = left.to_array().map(f16::from_f64);
                if !halves.iter().all(|half| half.is_finite()) {
                    return Err(TaylorError::OutOfRange {
                        node: self.layout.node_index(node),
                        cells: left.abs().max_element(),
                    });
                }
                *brick.node_mut(node) = halves.map(f16::to_bits);
                found = found.max(Encoded {
                    error: (left.w - halves[3].to_f64()).abs(),
                    largest: sample.distance.abs(),
                });
            }
        }
        Ok(found)
    }

    /// Interpolates the coarse nodes at a node.
    fn predict(&self, node: UVec3) -> DVec4 {
        let first = node / BLOCK;
        let fraction = (node % BLOCK).as_dvec3() / f64::from(BLOCK);
        let last = (first + UVec3::ONE).min(self.coarse_nodes - 1);
        let [nx, ny, _] = self.coarse_nodes.to_array().map(|n| n as usize);
        let at = |x: u32, y: u32, z: u32| {
            let values = self.coarse[(z as usize * ny + y as usize) * nx + x as usize];
            DVec4::from(values.map(f64::from))
        };
        let row = |y, z| at(first.x, y, z).lerp(at(last.x, y, z), fraction.x);
        let plane = |z| row(first.y, z).lerp(row(last.y, z), fraction.y);
        plane(first.z).lerp(plane(last.z), fraction.z)
    }

    /// Finishes the grid. `mean_error` promises that |trilinear mean of the given distances − true|
    /// is at most that \[m\].
    pub(crate) fn finish(
        self,
        bricks: Vec<Brick>,
        found: Encoded,
        solid: Aabb,
        mean_error: f32,
    ) -> Result<TaylorGrid, TaylorError> {
        let layout = self.layout;
        let nodes = Bricks::new(&layout, bricks);
        let mut grid = TaylorGrid::of_bricks(layout, self.coarse, nodes, solid, mean_error)?;
        let extent = layout.bounds().as_daabb().diagonal();
        // Two means of numbers in `f32`, a dozen more sums, and the scaling from cells to metres.
        let rounding = 16.0 * f64::from(f32::EPSILON) * (f64::from(found.largest) + extent);
        let bound = f64::from(mean_error)
            + f64::from(layout.cell_size) * found.error
            + f64::from(grid.correction)
            + rounding;
        grid.frame.error_bound = (bound as f32).next_up();
        Ok(grid)
    }
}

/// Returns half the gradient, and the distance in cells.
fn expansion(layout: &GridLayout, sample: Sample) -> DVec4 {
    let distance = f64::from(sample.distance) / f64::from(layout.cell_size);
    (0.5 * sample.gradient.as_dvec3()).extend(distance)
}

impl TaylorGrid {
    /// Builds a grid from distance and gradient at every node. `mean_error` promises that a
    /// [`DenseGrid`] of these distances is off by at most that \[m\]; the grid's error bound adds
    /// rounding and the gradients' share to it. Where a distance is 0 the gradient is the normal of
    /// the surface.
    pub fn from_nodes(
        layout: GridLayout,
        sample: impl Fn(UVec3) -> Sample,
        solid: Aabb,
        mean_error: f32,
    ) -> Result<TaylorGrid, TaylorError> {
        let encoder = TaylorEncoder::new(layout, &sample)?;
        let [nx, ny, nz] = encoder.bricks().to_array().map(|n| n as usize);
        let mut bricks = room_for(nx * ny * nz).unwrap_or_default();
        bricks.resize(nx * ny * nz, Brick::default());
        let mut found = Encoded::default();
        for (z, layer) in bricks.chunks_mut(nx * ny).enumerate() {
            found = found.max(encoder.encode_layer(z as u32, &sample, layer)?);
        }
        encoder.finish(bricks, found, solid, mean_error)
    }

    /// Builds a grid with the distances of a dense one. Gradients are central differences,
    /// one-sided at the border.
    pub fn from_dense(dense: &DenseGrid) -> Result<TaylorGrid, TaylorError> {
        let layout = *dense.layout();
        let value = |node: UVec3| dense.values()[layout.node_index(node)];
        let sample = |node: UVec3| {
            let along = |axis: usize| {
                let (mut low, mut high) = (node, node);
                low[axis] = node[axis].saturating_sub(1);
                high[axis] = (node[axis] + 1).min(layout.cells()[axis]);
                (value(high) - value(low)) / ((high[axis] - low[axis]) as f32 * layout.cell_size)
            };
            let slope = Vec3::new(along(0), along(1), along(2));
            Sample {
                distance: value(node),
                // No distance is steeper, but the differences of a torn grid are.
                gradient: slope.clamp_length_max(1.0),
            }
        };
        TaylorGrid::from_nodes(layout, sample, dense.solid(), dense.error_bound())
    }

    /// Builds a dense grid of the node distances. The error bound grows by the most that the
    /// gradients can have contributed.
    pub fn to_dense(&self) -> Result<DenseGrid, GridError> {
        let layout = *self.layout();
        let nodes = (0..layout.nodes.z).flat_map(|z| {
            let row = move |y| (0..layout.nodes.x).map(move |x| UVec3::new(x, y, z));
            (0..layout.nodes.y).flat_map(row)
        });
        let mut values: Vec<f32> = room_for(layout.node_count() as usize).unwrap_or_default();
        values.extend(nodes.map(|node| self.node(node).distance));
        let largest = values.iter().fold(0.0f32, |most, v| most.max(v.abs()));
        let rounding = 16.0 * f32::EPSILON * (largest + layout.bounds().diagonal());
        let bound = (self.error_bound() + self.correction + rounding).next_up();
        DenseGrid::new(layout, values, self.solid(), bound)
    }
}
