//! A line through the cells of a stored field: all of them, or only those that blocks do not rule out.
//!
//! Input: a line in units of cells, the times at which it is in the grid, an octree if there is one. Output: pieces of the line, in order.
//! Cost: without an octree every cell on the way; with one, a few blocks and the cells that may hold the level. No allocation.
//! Not for: what is beyond the grid.

use std::ops::ControlFlow;

use glam::UVec3;

use super::spans::Collector;
use crate::field::block_planes::{BlockPlanes, Near};
use crate::field::line::{Line, Times, Walker, walk_cells};
use crate::field::pieces::{LinePieces, Piece};
use crate::field::{DenseGrid, Field, FieldOctree, MinMaxOctree};

/// How far a level is beyond a piece that it is not in.
struct Leaps {
    /// Cells \[per m of the field\], rounded down: by the steepest slope there is,
    per_value: f64,
    /// or because the true distance changes no faster than one goes,
    per_metre: f64,
    /// and is nowhere off by more than half of this \[cells\].
    jump: f64,
    /// Time a cell takes.
    time: f64,
    end: f64,
}

impl Leaps {
    fn new(octree: &FieldOctree, cell_size: f32, error_bound: f32, line: &Line, end: f64) -> Leaps {
        let per_metre = (1.0 - 1e-6) / f64::from(cell_size);
        Leaps {
            per_value: per_metre / f64::from(octree.steepest()),
            per_metre,
            jump: 2.0 * per_metre * f64::from(error_bound),
            time: line.direction().length().recip(),
            end,
        }
    }

    /// Until when the level stays away after a piece that ends at `leaves`; `None` where that is less than a cell, which might, by
    /// rounding, lead nowhere.
    #[inline(always)]
    fn after(&self, piece: &Piece, leaves: f64) -> Option<f64> {
        let gap = f64::from(piece.gap());
        let free = f64::max(self.per_value * gap, self.per_metre * gap - self.jump);
        (free > 1.0).then(|| (leaves + free * self.time).min(self.end))
    }
}

/// Over blocks of a dense grid, each nearly linear.
pub(super) fn cross_planes(
    grid: &DenseGrid,
    octree: &FieldOctree,
    planes: &BlockPlanes,
    line: &Line,
    times: Times,
    out: &mut Collector<'_>,
) -> ControlFlow<()> {
    /// Levels below the root to begin at: most ways lead through more than one eighth of an eighth of the box. Tuned; up or down from there is a step each.
    const BELOW_ROOT: usize = 2;
    let level = out.level;
    let blocks = octree.cells();
    let cell_size = grid.layout().cell_size;
    let leaps = Leaps::new(octree, cell_size, grid.error_bound(), line, times[1]);
    let mut walker = Walker::new(grid.layout().cells(), line, times);
    let mut height = blocks.height().saturating_sub(BELOW_ROOT);
    loop {
        let block = blocks.block_around(height, walker.cell());
        let number = blocks.index_around(height, walker.cell());
        let leaves = walker.leaves_block(block.first, block.last);
        let passes = [walker.time(), leaves];
        let clear = match planes.near(number, block.first, line, passes, level) {
            Near::Nowhere(piece) => {
                if height < blocks.height() {
                    height += 1;
                }
                piece
            }
            Near::Within {
                times,
                before,
                after,
            } => {
                if times[0] > passes[0] {
                    out.visit([passes[0], times[0]], before)?;
                    walker.leap(times[0]);
                }
                if height > 0 {
                    height -= 1;
                    continue;
                }
                // Rounding may have led to a neighbour: that is asked for itself.
                while block.contains(walker.cell()) && walker.time() <= times[1] {
                    let within = [walker.time(), walker.leaves_cell()];
                    grid.pieces(walker.cell(), line, within, level, &mut |times, piece| {
                        out.visit(times, piece)
                    })?;
                    if !walker.step() {
                        return ControlFlow::Continue(());
                    }
                }
                if !block.contains(walker.cell()) {
                    continue;
                }
                after
            }
        };
        let leap = leaps.after(&clear, leaves);
        out.visit([walker.time(), leap.unwrap_or(leaves)], clear)?;
        let goes_on = match leap {
            Some(end) => walker.leap(end),
            None => walker.step_out_of(block.first, block.last),
        };
        if !goes_on {
            return ControlFlow::Continue(());
        }
    }
}

/// Over blocks by the range of their values, then cell by cell. The octree comes with the field's error bound.
pub(super) fn cross_cells(
    field: &impl LinePieces,
    octree: Option<(&FieldOctree, f32)>,
    line: &Line,
    times: Times,
    out: &mut Collector<'_>,
) -> ControlFlow<()> {
    let cells = field.layout().cells();
    let level = out.level;
    let Some((octree, error_bound)) = octree else {
        return walk_cells(cells, line, times, |cell, times| {
            field.pieces(cell, line, times, level, &mut |times, piece| {
                out.visit(times, piece)
            })
        });
    };
    let cell_size = field.layout().cell_size;
    let leaps = Leaps::new(octree, cell_size, error_bound, line, times[1]);
    let blocks = octree.cells();
    let mut walker = Walker::new(cells, line, times);
    let mut height = blocks.height();
    loop {
        let Some(piece) = clear_block(walker.cell(), blocks, level, &mut height) else {
            let leaf = blocks.block_around(0, walker.cell());
            loop {
                let times = [walker.time(), walker.leaves_cell()];
                let mut last = None;
                field.pieces(walker.cell(), line, times, level, &mut |times, piece| {
                    last = Some(piece);
                    out.visit(times, piece)
                })?;
                let leap = last.and_then(|piece| Some((piece, leaps.after(&piece, times[1])?)));
                let goes_on = match leap {
                    Some((piece, end)) => {
                        out.visit([times[1], end], piece)?;
                        walker.leap(end)
                    }
                    None => walker.step(),
                };
                if !goes_on {
                    return ControlFlow::Continue(());
                }
                if !leaf.contains(walker.cell()) {
                    break;
                }
            }
            continue;
        };
        let block = blocks.block_around(height, walker.cell());
        let leaves = walker.leaves_block(block.first, block.last);
        let leap = leaps.after(&piece, leaves);
        out.visit([walker.time(), leap.unwrap_or(leaves)], piece)?;
        let goes_on = match leap {
            Some(end) => walker.leap(end),
            None => walker.step_out_of(block.first, block.last),
        };
        if !goes_on {
            return ControlFlow::Continue(());
        }
    }
}

/// The largest block around a cell without the level, as a piece: `height` says how large the last was, and then how large it is. Blocks hold the
/// values of the smaller ones in them, so up from one that can be skipped, or down from one that cannot, finds it.
#[inline]
fn clear_block(
    cell: UVec3,
    blocks: &MinMaxOctree,
    level: f32,
    height: &mut usize,
) -> Option<Piece> {
    let at = |height: usize| Piece::of_range(blocks.range_around(height, cell), level);
    if let Some(mut found) = at(*height) {
        while *height < blocks.height() {
            let Some(larger) = at(*height + 1) else {
                break;
            };
            *height += 1;
            found = larger;
        }
        return Some(found);
    }
    while *height > 0 {
        *height -= 1;
        if let Some(found) = at(*height) {
            return Some(found);
        }
    }
    None
}
