//! Sparse bake to a tolerance: blocks wherever the tolerance needs them, nested where one level is
//! not enough.
//!
//! Input: the coarse grid, an error.
//! Output: blocks whose interpolation is proven to be within it.
//! Cost: every block is searched and proven cell by cell; some ten microseconds per stored value.
//! Not for: a band of a given width, which `band.rs` builds faster.
//!
//! The error bound of a cell (`cell_error.rs`) is larger than its error, and much larger where many
//! faces can be nearest. Its halves have smaller bounds, and the difference between their
//! interpolants and that of the cell is known exactly. So cells are halved repeatedly to prove that
//! they need not be refined.

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

/// Number of times a cell is halved to prove its error. Tuned on the 69,666-triangle bunny at 1e-3
/// of its diagonal: never takes 86 MB, twice 32, three times 28, four times 26, and twice the time
/// of never.
const CLOSER: u32 = 4;

/// Share of the allowed error that must be left after halving for the halves to be examined. Tuned:
/// a quarter saves nothing, 0.55 takes a twentieth more memory.
const LEAST_LEFT: f64 = 0.4;

impl Builder<'_> {
    /// Builds blocks wherever interpolation is not proven to be within `tolerance`, and nested
    /// blocks in them.
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
                // Smooth regions need the square root of it; the next level handles the others.
                let block =
                    self.refine(&self.layout, node, &cell, ratio.sqrt(), tolerance, built)?;
                built.cells.push(block);
            }
            Ok(())
        })
    }

    /// Returns a bound of the error in a cell of `layout` at position `node`.
    ///
    /// The bound comes from the cell itself, or, where that is above `allowed`, from halves of it,
    /// and of those in turn, `closer` times. Returns some bound above `allowed` when it cannot be
    /// proven.
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

    /// Bounds the error of a cell by its halves; `None` when the bound is more than `allowed`.
    ///
    /// The interpolants of a cell and of its halves are trilinear on each half, so they differ most
    /// at the nodes of the halves. The error of the halves themselves is bounded by
    /// [`Self::error`].
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
        // The halves have to be proven to what is left, and near a crease they are off by half as
        // much again.
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

    /// Returns the estimated share of all blocks built so far, assuming as many for every row of
    /// coarse cells.
    fn share_done(&self) -> f64 {
        let cells = self.layout.cells();
        let rows = f64::from(cells.y) * f64::from(cells.z);
        (self.done.load(Ordering::Relaxed) + 1) as f64 / rows
    }

    fn rounding_in(&self, cell: &Cell) -> f64 {
        let largest = cell.farthest() + 2.0 * cell.size;
        // The rounding and quantisation errors that `Built::push` will add.
        let lost = (self.bits.steps()).map_or(0.0, |steps| 0.5 * 3f64.sqrt() * cell.size / steps);
        self.rounding + rounding_of(largest) + 1.01 * lost
    }

    /// Builds a block for a cell of `layout` at position `node`, at least `ratio` times as fine,
    /// and nested blocks for those of its cells where that is not enough.
    fn refine(
        &self,
        layout: &GridLayout,
        node: UVec3,
        cell: &Cell,
        ratio: f64,
        tolerance: f64,
        built: &mut Built,
    ) -> Result<u32, SparseBakeError> {
        // Fill the nodes of the block.
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
        // Prove its cells one by one; collect those that fail.
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
        // Freed before the levels below are built.
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

    /// Runs `work` on every row of coarse cells, and joins the results in order. Rows are processed
    /// in an order that spreads evenly over the grid, so that the memory of all of them is soon
    /// known.
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
        // Join the rows in order, or report the first failure.
        let mut in_order: Vec<(u32, Result<Built, SparseBakeError>)> =
            order.into_iter().zip(parts).collect();
        in_order.sort_unstable_by_key(|&(row, _)| row);
        // Report the reason, rather than that other rows were stopped for it.
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

    /// Fails as soon as the finished rows leave no doubt that all of them take more than the limit.
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
        // If another thread panicked, that panic is reported instead.
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

    /// Fills the nodes of a block that begins at `first` and replaces a cell; see
    /// [`Self::fill_cell`].
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
            // Splits nine nodes into five and four, rather than four, four and one.
            side: 5,
            values,
        };
        self.fill_cell(piece, cell, faces);
    }
}

/// Forecast of the memory of all rows from the finished ones.
#[derive(Default)]
struct Forecast {
    seen: f64,
    sum: f64,
    sum_of_squares: f64,
}

impl Forecast {
    /// Number of rows below which the variance is not reliable.
    const LEAST: f64 = 32.0;

    fn add(&mut self, bytes: f64) {
        self.seen += 1.0;
        self.sum += bytes;
        self.sum_of_squares += bytes * bytes;
    }

    /// Returns the expected memory of all rows \[bytes\].
    fn likely(&self, rows: usize) -> f64 {
        rows as f64 * self.sum / self.seen
    }

    /// Returns a lower estimate of the memory of all rows: the expected memory less four times its
    /// standard deviation \[bytes\]. 0 while there are too few rows.
    fn surely(&self, rows: usize) -> f64 {
        if self.seen < Self::LEAST {
            return 0.0;
        }
        let mean = self.sum / self.seen;
        let variance = (self.sum_of_squares / self.seen - mean * mean).max(0.0);
        rows as f64 * (mean - 4.0 * (variance / self.seen).sqrt())
    }
}

/// Returns a permutation of all rows whose beginnings are spread over the whole: steps of the
/// golden section.
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

/// Returns the error to prove for a tolerance, which leaves room for the last rounding of an error
/// to `f32`.
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
