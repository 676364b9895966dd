//! Blocks wherever a tolerance asks for them, and blocks in blocks where one level is not enough.
//!
//! Input: the coarse grid, an error. Output: blocks whose interpolation is proven to be within it.
//! Cost: every block is searched and proven cell by cell; some ten microseconds a stored value.
//! Not for: a band of a given width, which `sparse_band.rs` makes faster.
//!
//! What a cell proves of itself (`cell_error.rs`) is often ten times what its error is. Halves of it prove less each, and what they differ
//! from it by is known exactly: so cells are halved, and halved again, to prove that they need not be.

use std::sync::atomic::{AtomicBool, Ordering};

use glam::UVec3;

use super::bake::BakeError;
use super::blocks::Piece;
use super::cell_error::Cell;
use super::settings::{Progress, Stage, tell};
use super::sparse::{Builder, Built, Coarse, Nodes, finer, rounding_of};
use crate::field::{GridLayout, PLAIN};
use crate::geom::{place_index, places};
use crate::threads;

/// How often a cell is halved to prove its error. Tuned on the 69,666-triangle bunny at 1e-3 of its diagonal: never takes 86 MB, twice
/// 32, three times 28, four times 26, and twice the time of never.
const CLOSER: u32 = 4;

/// The part of an allowed error that halving must leave to be worth a look at the halves. Tuned: a quarter saves nothing, 0.55 takes a
/// twentieth more memory.
const LEAST_LEFT: f64 = 0.4;

impl Builder<'_> {
    /// Blocks wherever interpolation is not proven to be within `tolerance`, and blocks in them.
    pub(super) fn within(
        &self,
        coarse: &Coarse,
        tolerance: f64,
        progress: Progress<'_>,
    ) -> Result<Built, BakeError> {
        let target = target(tolerance);
        self.rows(progress, |y, z, built| {
            for x in 0..self.layout.cells().x {
                let node = UVec3::new(x, y, z);
                let cell = self.coarse_cell(coarse, node);
                let rounding = self.rounding_in(&cell);
                let error =
                    self.error(&self.layout, node, &cell, target - rounding, CLOSER) + rounding;
                if error <= target {
                    built.plain_error = built.plain_error.max(error);
                    built.cells.push(PLAIN);
                    continue;
                }
                let ratio = error / target;
                // Smooth parts need the square root of it; the next level looks after the others.
                let block = self.refine(&self.layout, node, ratio.sqrt(), tolerance, built)?;
                built.cells.push(block);
            }
            Ok(())
        })
    }

    /// A bound of the error in a cell of `layout`, whose place is `node`: from the cell itself or, where that proves no more than
    /// `allowed`, from halves of it, and of those in turn, `closer` times. Some bound above `allowed` when it cannot be proven.
    fn error(
        &self,
        layout: &GridLayout,
        node: UVec3,
        cell: &Cell,
        allowed: f64,
        closer: u32,
    ) -> f64 {
        let error = self.prover.error(cell, allowed);
        if error <= allowed || closer == 0 {
            return error;
        }
        let by_halves = self.error_by_halves(layout, node, cell, allowed, closer);
        by_halves.unwrap_or(error)
    }

    /// The interpolant of a cell and those of its halves are trilinear on each half, so they differ most at the nodes of the halves;
    /// and those of the halves are as far from the truth as is proven for them. `None` when that is more than `allowed`.
    fn error_by_halves(
        &self,
        layout: &GridLayout,
        node: UVec3,
        cell: &Cell,
        allowed: f64,
        closer: u32,
    ) -> Option<f64> {
        let fine = finer(layout, 2);
        fine.check().ok()?;
        let (mut values, mut faces) = ([0.0; 27], [0; 27]);
        self.fill_block(&fine, 2 * node, 2, &mut values, &mut faces);
        let apart = places(UVec3::ZERO, UVec3::splat(2))
            .zip(&values)
            .map(|(node, &value)| {
                (cell.interpolated(0.5 * node.as_dvec3()) - f64::from(value)).abs()
            })
            .fold(0.0, f64::max);
        let left = allowed - apart;
        // Halves have to be proven to what is left, and near a crease they are off by half as much again.
        if left < LEAST_LEFT * allowed {
            return None;
        }
        let nodes = Nodes {
            layout: &fine,
            first: 2 * node,
            size: UVec3::splat(3),
            values: &values,
            faces: &faces,
        };
        let mut worst: f64 = 0.0;
        for half in places(UVec3::ZERO, UVec3::ONE) {
            let error = self.error(&fine, 2 * node + half, &nodes.cell(half), left, closer - 1);
            if error > left {
                return None;
            }
            worst = worst.max(error);
        }
        Some(apart + worst)
    }

    /// How much of all blocks there likely is so far: as much for every row of coarse cells.
    fn share_done(&self) -> f64 {
        let cells = self.layout.cells();
        let rows = f64::from(cells.y) * f64::from(cells.z);
        (self.done.load(Ordering::Relaxed) + 1) as f64 / rows
    }

    fn rounding_in(&self, cell: &Cell) -> f64 {
        let largest = cell.farthest() + 2.0 * cell.size;
        // What `Built::push` and storing it will add.
        let lost = (self.bits.steps()).map_or(0.0, |steps| 0.5 * 3f64.sqrt() * cell.size / steps);
        self.rounding + rounding_of(largest) + 1.01 * lost
    }

    /// A block for a cell of `layout`, at least `ratio` times as fine, and blocks for its own cells where that is not enough.
    fn refine(
        &self,
        layout: &GridLayout,
        cell: UVec3,
        ratio: f64,
        tolerance: f64,
        built: &mut Built,
    ) -> Result<u32, BakeError> {
        let cells_log2 = (ratio.log2().ceil() as i32).clamp(1, 3) as u8;
        let cells = 1u32 << cells_log2;
        let fine = finer(layout, cells);
        let target = target(tolerance);
        fine.check()
            .map_err(|_| BakeError::ToleranceBelowRounding { tolerance })?;
        let first = cell * cells;
        let mut values = vec![0.0; (cells as usize + 1).pow(3)];
        let mut faces = vec![0; values.len()];
        self.fill_block(&fine, first, cells, &mut values, &mut faces);
        let nodes = Nodes {
            layout: &fine,
            first,
            size: UVec3::splat(cells + 1),
            values: &values,
            faces: &faces,
        };
        let mut worst: f64 = 0.0;
        let mut failing = Vec::new();
        for node in places(UVec3::ZERO, UVec3::splat(cells - 1)) {
            let sub = nodes.cell(node);
            // The step of the values is that of the whole block.
            let whole = Cell {
                size: layout.cell_size.into(),
                ..sub
            };
            let rounding = self.rounding_in(&whole);
            let error = self.error(&fine, first + node, &sub, target - rounding, CLOSER);
            if error + rounding <= target {
                worst = worst.max(error);
            } else {
                failing.push((node, error + rounding));
            }
        }
        self.count(self.block_bytes(cells), self.share_done())?;
        let block = built.push(cells_log2, &values, worst, self.rounding);
        if failing.is_empty() {
            return Ok(block);
        }
        // Not kept while the levels below are built.
        drop((values, faces));
        let children = built.children.len();
        let count = (cells as usize).pow(3);
        self.count((count * size_of::<u32>()) as u64, self.share_done())?;
        built.children.resize(children + count, PLAIN);
        built.blocks[block as usize].children = children as u32;
        for (node, error) in failing {
            let ratio = error / target;
            let child = self.refine(&fine, first + node, ratio.sqrt(), tolerance, built)?;
            let place = place_index(UVec3::splat(cells), node);
            built.children[children + place] = child;
        }
        Ok(block)
    }

    /// `work` on every row of coarse cells, and the results put together in order.
    fn rows(
        &self,
        progress: Progress<'_>,
        work: impl Fn(u32, u32, &mut Built) -> Result<(), BakeError> + Sync + Send,
    ) -> Result<Built, BakeError> {
        let cells = self.layout.cells();
        let rows = (cells.y * cells.z) as usize;
        let stop = AtomicBool::new(false);
        let parts = threads::map(rows, |row| {
            if stop.load(Ordering::Relaxed) {
                return Err(BakeError::Cancelled);
            }
            let mut built = Built::new(self.bits);
            let result = work(row as u32 % cells.y, row as u32 / cells.y, &mut built);
            let done = 1 + self.done.fetch_add(1, Ordering::Relaxed);
            let result = result.and_then(|()| tell(progress, Stage::Distances, done, rows as u64));
            if result.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            result.map(|()| built)
        });
        // The reason, rather than that others were stopped for it.
        let mut failure = None;
        let mut built = Built::new(self.bits);
        for part in parts {
            match part {
                Ok(part) => built.append(part),
                Err(BakeError::Cancelled) if failure.is_some() => {}
                Err(error) => {
                    if failure.is_none() || failure == Some(BakeError::Cancelled) {
                        failure = Some(error);
                    }
                }
            }
        }
        failure.map_or(Ok(built), Err)
    }

    /// [`Self::fill`] for the nodes of a block that begins at `first`.
    fn fill_block(
        &self,
        layout: &GridLayout,
        first: UVec3,
        cells: u32,
        values: &mut [f32],
        faces: &mut [u32],
    ) {
        let piece = Piece {
            layout,
            first,
            size: UVec3::splat(cells + 1),
            // Nine nodes as five and four, not four, four and one.
            side: 5,
            values,
        };
        self.fill(piece, f64::INFINITY, faces);
    }
}

/// What to prove for a tolerance: there is room for the last rounding of an error to `f32`.
fn target(tolerance: f64) -> f64 {
    tolerance * (1.0 - 1e-6)
}
