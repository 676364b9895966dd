//! Blocks wherever a tolerance asks for them, and blocks in blocks where one level is not enough.
//!
//! Input: the coarse grid, an error. Output: blocks whose interpolation is proven to be within it.
//! Cost: every block is searched and proven cell by cell; some ten microseconds a stored value.
//! Not for: a band of a given width, which `sparse_band.rs` makes faster.
//!
//! What a cell proves of itself (`cell_error.rs`) is more than its error, much more where many faces can be nearest. Halves of it prove less each, and what they differ
//! from it by is known exactly: so cells are halved, and halved again, to prove that they need not be.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use glam::UVec3;

use crate::bake::blocks::Piece;
use crate::bake::error::BakeError;
use crate::bake::packing::{Built, lower_blocks, rounding_of};
use crate::bake::progress::{Progress, Stage, tell};
use crate::bake::sparse::builder::{Builder, Coarse, Nodes, finer};
use crate::bake::sparse::cell_error::{Cell, Proof};
use crate::bake::sparse::error::SparseBakeError;
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
    pub(crate) fn within(
        &self,
        coarse: &Coarse,
        tolerance: f64,
        progress: Progress<'_>,
    ) -> Result<Built, SparseBakeError> {
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
                let block =
                    self.refine(&self.layout, node, &cell, ratio.sqrt(), tolerance, built)?;
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
        let Proof { error, refuted } = self.prover.prove(cell, allowed);
        if error <= allowed || refuted || closer == 0 {
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
        self.fill_block(&fine, 2 * node, cell, 2, &mut values, &mut faces);
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

    /// A block for a cell of `layout`, whose place is `node`, at least `ratio` times as fine, and blocks for its own cells where that is not enough.
    fn refine(
        &self,
        layout: &GridLayout,
        node: UVec3,
        cell: &Cell,
        ratio: f64,
        tolerance: f64,
        built: &mut Built,
    ) -> Result<u32, SparseBakeError> {
        let cells_log2 = (ratio.log2().ceil() as i32).clamp(1, 3) as u8;
        let cells = 1u32 << cells_log2;
        let fine = finer(layout, cells);
        let target = target(tolerance);
        fine.check()
            .map_err(|_| SparseBakeError::ToleranceBelowRounding { tolerance })?;
        let first = node * cells;
        let mut values = vec![0.0; (cells as usize + 1).pow(3)];
        let mut faces = vec![0; values.len()];
        self.fill_block(&fine, first, cell, cells, &mut values, &mut faces);
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
                failing.push((node, sub, error + rounding));
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
        for (node, sub, error) in failing {
            let ratio = error / target;
            let child = self.refine(&fine, first + node, &sub, ratio.sqrt(), tolerance, built)?;
            let place = place_index(UVec3::splat(cells), node);
            built.children[children + place] = child;
        }
        Ok(block)
    }

    /// `work` on every row of coarse cells, and the results put together in order. Rows come up evenly spread over the grid, so that what all of them
    /// will take is soon known.
    fn rows(
        &self,
        progress: Progress<'_>,
        work: impl Fn(u32, u32, &mut Built) -> Result<(), SparseBakeError> + Sync + Send,
    ) -> Result<Built, SparseBakeError> {
        let cells = self.layout.cells();
        let rows = (cells.y * cells.z) as usize;
        let order = spread(rows);
        let stop = AtomicBool::new(false);
        let forecast = Mutex::new(Forecast::default());
        let parts = threads::map(rows, |turn| {
            if stop.load(Ordering::Relaxed) {
                return Err(BakeError::Cancelled.into());
            }
            let mut built = Built::new(self.bits);
            let row = order[turn];
            let result = work(row % cells.y, row / cells.y, &mut built);
            let done = 1 + self.done.fetch_add(1, Ordering::Relaxed);
            let result = result
                .and_then(|()| self.foresee(&forecast, &built, rows))
                .and_then(|()| {
                    let told = tell(progress, Stage::Distances, done, rows as u64);
                    told.map_err(SparseBakeError::from)
                });
            if result.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            result.map(|()| built)
        });
        let mut in_order: Vec<(u32, Result<Built, SparseBakeError>)> =
            order.into_iter().zip(parts).collect();
        in_order.sort_unstable_by_key(|&(row, _)| row);
        // The reason, rather than that others were stopped for it.
        const CANCELLED: SparseBakeError = SparseBakeError::Bake(BakeError::Cancelled);
        let mut failure = None;
        let mut built = Built::new(self.bits);
        for (_, part) in in_order {
            match part {
                Ok(part) => built.append(part),
                Err(SparseBakeError::Bake(BakeError::Cancelled)) if failure.is_some() => {}
                Err(error) => {
                    if failure.is_none() || failure == Some(CANCELLED) {
                        failure = Some(error);
                    }
                }
            }
        }
        if self.conservative {
            lower_blocks(&mut built.blocks, &mut built.values);
        }
        failure.map_or(Ok(built), Err)
    }

    /// Refuses as soon as the rows so far leave no doubt that all of them take more than is allowed.
    fn foresee(
        &self,
        forecast: &Mutex<Forecast>,
        row: &Built,
        rows: usize,
    ) -> Result<(), SparseBakeError> {
        let blocks = row
            .blocks
            .iter()
            .map(|block| self.block_bytes(block.side()));
        let bytes = blocks.sum::<u64>() + size_of_val(row.children.as_slice()) as u64;
        // A thread that panicked has more to tell than this.
        let Ok(mut forecast) = forecast.lock() else {
            return Ok(());
        };
        forecast.add(bytes as f64);
        let surely = forecast.surely(rows);
        if surely <= self.max_memory as f64 {
            return Ok(());
        }
        Err(SparseBakeError::TooMuchMemory {
            needed: forecast.likely(rows) as u64,
            allowed: self.max_memory,
        })
    }

    /// [`Self::fill_cell`] for the nodes of a block that begins at `first` and replaces a cell.
    fn fill_block(
        &self,
        layout: &GridLayout,
        first: UVec3,
        cell: &Cell,
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
        self.fill_cell(piece, cell, faces);
    }
}

/// What rows take, from those that were seen.
#[derive(Default)]
struct Forecast {
    seen: f64,
    sum: f64,
    sum_of_squares: f64,
}

impl Forecast {
    /// Rows below which the scatter says nothing.
    const LEAST: f64 = 32.0;

    fn add(&mut self, bytes: f64) {
        self.seen += 1.0;
        self.sum += bytes;
        self.sum_of_squares += bytes * bytes;
    }

    /// What all rows likely take \[bytes\].
    fn likely(&self, rows: usize) -> f64 {
        rows as f64 * self.sum / self.seen
    }

    /// What all rows take but for bad luck: the likely, less four times its standard deviation \[bytes\].
    fn surely(&self, rows: usize) -> f64 {
        if self.seen < Self::LEAST {
            return 0.0;
        }
        let mean = self.sum / self.seen;
        let variance = (self.sum_of_squares / self.seen - mean * mean).max(0.0);
        rows as f64 * (mean - 4.0 * (variance / self.seen).sqrt())
    }
}

/// All rows once, any number of those at the beginning spread over the whole: steps of the golden section.
fn spread(rows: usize) -> Vec<u32> {
    let gcd = |mut a: usize, mut b: usize| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let golden = (0.618_034 * rows as f64) as usize;
    let step = (golden..).find(|&step| gcd(step, rows) == 1).unwrap_or(1);
    (0..rows).map(|turn| (turn * step % rows) as u32).collect()
}

/// What to prove for a tolerance: there is room for the last rounding of an error to `f32`.
fn target(tolerance: f64) -> f64 {
    tolerance * (1.0 - 1e-6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_once_each_and_soon_from_everywhere() {
        for rows in [1, 2, 3, 7, 64, 1000, 4096, 5041] {
            let order = spread(rows);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..rows as u32).collect::<Vec<_>>());
            // The first tenth leaves no gap longer than a third of all.
            let mut first = order[..rows.div_ceil(10)].to_vec();
            first.sort_unstable();
            let gaps = first.windows(2).map(|pair| pair[1] - pair[0]);
            assert!(
                gaps.max().unwrap_or(0) as usize <= rows.div_ceil(3),
                "{rows}"
            );
        }
    }

    #[test]
    fn a_forecast_is_sure_only_of_what_many_rows_agree_on() {
        let mut even = Forecast::default();
        (0..100).for_each(|_| even.add(10.0));
        assert_eq!(even.likely(1000), 10_000.0);
        assert!((even.surely(1000) - 10_000.0).abs() < 1e-6);
        let mut uneven = Forecast::default();
        (0..100).for_each(|i| uneven.add(if i == 50 { 1000.0 } else { 0.0 }));
        assert_eq!(uneven.likely(1000), 10_000.0);
        assert!(uneven.surely(1000) < 0.0);
        let mut few = Forecast::default();
        (0..10).for_each(|_| few.add(10.0));
        assert_eq!(few.surely(1000), 0.0);
    }
}
