//! Blocks wherever a tolerance asks for them, and blocks in blocks where one level is not enough.
//!
//! Input: the coarse grid, an error. Output: blocks whose interpolation is proven to be within it.
//! Cost: every block is searched and proven cell by cell; a few microseconds a stored value.
//! Not for: a band of a given width, which `sparse_band.rs` makes faster.

use std::sync::atomic::{AtomicBool, Ordering};

use glam::UVec3;

use super::bake::BakeError;
use super::blocks::Piece;
use super::cell_error::Cell;
use super::settings::{Progress, Stage, tell};
use super::sparse::{Builder, Built, Coarse, Nodes, finer, rounding_of};
use crate::field::{GridLayout, PLAIN};
use crate::geom::places;
use crate::threads;

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
                let error = self.prover.error(&cell, target - rounding) + rounding;
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
            let error = self.prover.error(&sub, target - rounding);
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
            let place = (node.z * cells + node.y) * cells + node.x;
            built.children[children + place as usize] = child;
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
