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
use crate::field::pieces::{LinePieces, Piece, trilinear_piece};
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

/// How a walk goes on.
pub(super) enum Goes {
    /// There is more of it.
    On,
    /// It has left the grid, or ends there.
    Left,
    /// Nothing more is wanted.
    Enough,
}

/// A walk over blocks of a dense grid, each nearly linear. It can be left at any block and taken up again.
pub(super) struct PlaneWalk<'a> {
    grid: &'a DenseGrid,
    blocks: &'a MinMaxOctree,
    planes: &'a BlockPlanes,
    leaps: Leaps,
    walker: Walker,
    /// When it began.
    from: f64,
    height: usize,
    /// The leaf whose values were asked for last, by its first cell.
    asked: Option<UVec3>,
}

impl<'a> PlaneWalk<'a> {
    pub(super) fn new(
        grid: &'a DenseGrid,
        octree: &'a FieldOctree,
        planes: &'a BlockPlanes,
        line: &Line,
        times: Times,
    ) -> PlaneWalk<'a> {
        /// Levels below the root to begin at: most ways lead through more than one eighth of an eighth of the box. Not tuned; up or down from there is a step each.
        const BELOW_ROOT: usize = 2;
        let blocks = octree.cells();
        let cell_size = grid.layout().cell_size;
        PlaneWalk {
            grid,
            blocks,
            planes,
            leaps: Leaps::new(octree, cell_size, grid.error_bound(), line, times[1]),
            walker: Walker::new(grid.layout().cells(), line, times),
            from: times[0],
            height: blocks.height().saturating_sub(BELOW_ROOT),
            asked: None,
        }
    }

    /// To the end.
    pub(super) fn run(mut self, out: &mut Collector<'_>) -> ControlFlow<()> {
        loop {
            match self.step::<false>(out) {
                Goes::On => {}
                Goes::Left => return ControlFlow::Continue(()),
                Goes::Enough => return ControlFlow::Break(()),
            }
        }
    }

    /// Past a block, or down to a smaller one. `AHEAD`: asks for the memory that comes next, and leaves the walk there for a while.
    #[inline(always)]
    pub(super) fn step<const AHEAD: bool>(&mut self, out: &mut Collector<'_>) -> Goes {
        let goes = match self.block::<AHEAD>(out) {
            ControlFlow::Continue(goes) => goes,
            ControlFlow::Break(()) => Goes::Enough,
        };
        if AHEAD && matches!(goes, Goes::On) {
            (self.planes).prefetch(self.blocks, self.height, self.walker.cell());
        }
        goes
    }

    #[inline(always)]
    fn block<const AHEAD: bool>(&mut self, out: &mut Collector<'_>) -> ControlFlow<(), Goes> {
        /// Cells of a leaf along a side.
        const LEAF: u32 = 4;
        let level = out.level;
        let line = *self.walker.line();
        let walker = &mut self.walker;
        let block = self.blocks.block_around(self.height, walker.cell());
        let plane = (self.planes).block(self.blocks, self.height, walker.cell(), block.first);
        let leaves = walker.leaves_block(block.first, block.last);
        let passes = [walker.time(), leaves];
        let clear = match plane.near(&line, passes, level) {
            Near::Nowhere(piece) => {
                if self.height < self.blocks.height() {
                    self.height += 1;
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
                if self.height > 0 {
                    // Down to blocks about as long as what is left.
                    let cells = (times[1] - times[0]) / self.leaps.time;
                    self.height -= 1;
                    while self.height > 0 && f64::from(LEAF << (self.height - 1)) >= cells {
                        self.height -= 1;
                    }
                    return ControlFlow::Continue(Goes::On);
                }
                // Rounding may have led to a neighbour: that is asked for itself.
                if AHEAD && self.asked != Some(block.first) && block.contains(walker.cell()) {
                    self.asked = Some(block.first);
                    plane.prefetch_corners(self.grid, walker.cell());
                    return ControlFlow::Continue(Goes::On);
                }
                if block.contains(walker.cell()) {
                    walker.back_to_entry(self.from);
                }
                while block.contains(walker.cell()) && walker.time() <= times[1] {
                    let cell = walker.cell();
                    let within = [walker.time(), walker.leaves_cell()];
                    let corners = plane
                        .corners(cell)
                        .unwrap_or_else(|| self.grid.corners(cell));
                    let piece = trilinear_piece(corners, cell, &line, within, level);
                    out.visit(within, piece)?;
                    if !walker.step() {
                        return ControlFlow::Continue(Goes::Left);
                    }
                }
                if !block.contains(walker.cell()) {
                    return ControlFlow::Continue(Goes::On);
                }
                after
            }
        };
        let leap = self.leaps.after(&clear, leaves);
        out.visit([walker.time(), leap.unwrap_or(leaves)], clear)?;
        let goes_on = match leap {
            Some(end) => walker.leap(end),
            None => walker.step_out_of(block.first, block.last),
        };
        ControlFlow::Continue(match goes_on {
            true => Goes::On,
            false => Goes::Left,
        })
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
