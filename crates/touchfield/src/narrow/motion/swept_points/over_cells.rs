//! Traversal of a line through the cells of a stored field: all of them, or only those that blocks
//! do not rule out.
//!
//! Input: a line in units of cells, the times at which it is in the grid, an octree if there is
//! one.
//! Output: pieces of the line, in order.
//! Cost: without an octree every cell on the way; with one, a few blocks and the cells that may
//! hold the level. No allocation.
//! Not for: the outside of the grid.

use std::ops::ControlFlow;

use glam::{DVec3, UVec3};

use crate::field::along_line::block_planes::{
    Asked, Asking, BlockPlanes, LEAF_LOG2, Near, TILE_HEIGHT,
};
use crate::field::along_line::line::{Line, Times, Walker, walk_cells};
use crate::field::along_line::piece::Piece;
use crate::field::along_line::pieces::{LinePieces, trilinear_piece};
use crate::field::along_line::rough_line::{RoughBlock, RoughLine};
use crate::field::{DenseGrid, Field, FieldOctree, MinMaxOctree};
use crate::narrow::motion::swept_points::spans::Collector;
use crate::narrow::motion::swept_points::within::Within;

/// Bounds of how far a line can skip ahead after a piece that does not hold the level.
struct Leaps {
    /// Cells per metre of the field's value, from the steepest slope, rounded down \[cells/m\].
    per_value: f64,
    /// Cells per metre of distance, rounded down: the true distance changes no faster than a point
    /// moves \[cells/m\].
    per_metre: f64,
    /// Twice the error bound of the field \[cells\], which bounds by distance must subtract.
    jump: f64,
    /// Time to cross one cell length.
    time: f64,
    /// Time at which the line ends.
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

    /// Returns the time until which the level stays away after a piece that ends at `leaves`.
    /// Returns `None` where that is less than a cell, because rounding might prevent any progress.
    #[inline(always)]
    fn after(&self, piece: &Piece, leaves: f64) -> Option<f64> {
        let gap = f64::from(piece.gap());
        let free = f64::max(self.per_value * gap, self.per_metre * gap - self.jump);
        (free > 1.0).then(|| (leaves + free * self.time).min(self.end))
    }
}

/// State of a walk after a step.
pub(super) enum Goes {
    /// The walk continues.
    On,
    /// The walk has left the grid, or ends there.
    Left,
    /// No further piece is needed.
    Enough,
}

/// A dense grid with planes over its blocks, shared by all walks over it.
pub(super) struct PlaneField<'a> {
    grid: &'a DenseGrid,
    blocks: &'a MinMaxOctree,
    planes: &'a BlockPlanes,
    asking: Asking,
    level: f32,
    /// Skip bound of [`Leaps`] by the steepest slope, rounded down \[cells/m\].
    per_value: f32,
    /// Skip bound of [`Leaps`] by distance, rounded down \[cells/m\].
    per_metre: f32,
    /// Twice the error bound of the field, rounded up \[cells\].
    jump: f32,
    /// Height at which a walk starts, in levels above the leaves.
    start_height: usize,
}

impl<'a> PlaneField<'a> {
    pub(super) fn new(
        grid: &'a DenseGrid,
        octree: &'a FieldOctree,
        planes: &'a BlockPlanes,
        level: f32,
    ) -> PlaneField<'a> {
        /// Number of levels below the root at which walks start: most lines lead through more than
        /// one eighth of an eighth of the box. Not tuned; each level up or down from there is one
        /// step.
        const BELOW_ROOT: usize = 2;
        let blocks = octree.cells();
        let layout = grid.layout();
        // Rounded down by more than the rounding of `f32`.
        let per_metre = (1.0 - 1e-6) / layout.cell_size;
        PlaneField {
            grid,
            blocks,
            planes,
            asking: Asking::new(level, layout, octree.steepest(), blocks.whole()),
            level,
            per_value: per_metre / octree.steepest(),
            per_metre,
            jump: 2.0 * per_metre * grid.error_bound() * (1.0 + 1e-6),
            start_height: blocks.height().saturating_sub(BELOW_ROOT),
        }
    }

    /// Returns the box in which the grid is valid: all of it.
    pub(super) fn within(&self) -> Within {
        let layout = self.grid.layout();
        Within::new(layout, [DVec3::ZERO, layout.cells().as_dvec3()])
    }

    /// Returns a lower bound of the distance along the line to a place at the level, given the gap
    /// between the level and the value here \[cells\].
    #[inline(always)]
    fn free(&self, gap: f32) -> f32 {
        f32::max(self.per_value * gap, self.per_metre * gap - self.jump)
    }
}

/// A walk over blocks of a dense grid, each nearly linear. It can be suspended at any block and
/// resumed.
///
/// Blocks are passed in `f32`, with room for its rounding; cells are walked in `f64`, so results
/// equal those of walking cells alone.
pub(super) struct PlaneWalk {
    asked: Asked,
    line: RoughLine,
    /// Minimum length of a leap \[cells\]: more than any rounding.
    least_leap: f32,
    /// Distance along the line up to which everything is known \[cells\].
    way: f32,
    /// Height of the next block, in levels above the leaves.
    height: usize,
    block: RoughBlock,
    /// Index of the next block.
    index: usize,
    /// Position among the cells: all necessary cells before it were visited.
    walker: Walker,
    /// Time at which the walk began.
    from: f64,
    /// Time until which cells are visited next, before any block.
    cells_until: Option<f64>,
}

impl PlaneWalk {
    #[inline(always)]
    pub(super) fn new(field: &PlaneField<'_>, line: &Line, times: Times) -> PlaneWalk {
        let cells = field.grid.layout().cells();
        let rough = RoughLine::new(cells, line, times);
        let height = field.start_height;
        let block = rough.block(0.0, LEAF_LOG2 + height as u32);
        PlaneWalk {
            asked: field.asking.along(&rough),
            line: rough,
            least_leap: LEAST_LEAP.max(8.0 * rough.unsure()),
            way: 0.0,
            height,
            block,
            index: field.planes.index(field.blocks, height, block.node),
            walker: Walker::new(cells, line, times),
            from: times[0],
            cells_until: None,
        }
    }

    /// Runs the walk to the end.
    pub(super) fn run(
        mut self,
        field: &PlaneField<'_>,
        out: &mut Collector<'_>,
    ) -> ControlFlow<()> {
        loop {
            match self.step::<false>(field, out) {
                Goes::On => {}
                Goes::Left => return ControlFlow::Continue(()),
                Goes::Enough => return ControlFlow::Break(()),
            }
        }
    }

    /// Returns the walk moved ahead to a time before which the line is above the level.
    pub(super) fn since(mut self, field: &PlaneField<'_>, time: f64) -> PlaneWalk {
        let way = self.line.way(time);
        if way > self.way {
            self.way = way;
            self.height = self.height.min(SINCE_HEIGHT);
            self.aim(field);
        }
        self
    }

    /// Takes one step: past a block, down to a smaller one, or through cells. With `AHEAD` it
    /// prefetches the memory that the next step needs, and returns in the meantime.
    #[inline(always)]
    pub(super) fn step<const AHEAD: bool>(
        &mut self,
        field: &PlaneField<'_>,
        out: &mut Collector<'_>,
    ) -> Goes {
        loop {
            let goes = match self.cells_until.take() {
                Some(until) => self.pass_cells(field, until, out),
                None => self.pass_block::<AHEAD>(field, out),
            };
            match goes {
                ControlFlow::Continue(Goes::On) => {}
                ControlFlow::Continue(goes) => return goes,
                ControlFlow::Break(()) => return Goes::Enough,
            }
            if self.cells_until.is_none() {
                self.aim(field);
                // Larger blocks are in the caches.
                if AHEAD && self.height > TILE_HEIGHT {
                    continue;
                }
                if AHEAD {
                    field.planes.prefetch(self.index);
                }
            }
            return Goes::On;
        }
    }

    /// Selects the block at the current position and height.
    #[inline(always)]
    fn aim(&mut self, field: &PlaneField<'_>) {
        self.block = (self.line).block(self.way, LEAF_LOG2 + self.height as u32);
        self.index = (field.planes).index(field.blocks, self.height, self.block.node);
    }

    #[inline(always)]
    fn pass_block<const AHEAD: bool>(
        &mut self,
        field: &PlaneField<'_>,
        out: &mut Collector<'_>,
    ) -> ControlFlow<(), Goes> {
        let (line, way, leaves) = (&self.line, self.way, self.block.leaves);
        let near = (field.planes).near(self.index, &self.block, line, way, &self.asked);
        let (from, to) = match near {
            Near::Nowhere { is_below, gap } => {
                let free = field.free(gap);
                let is_leap = free > self.least_leap || leaves >= line.length();
                let next = if is_leap { leaves + free } else { leaves };
                out.clear(is_below, || [line.time(way), line.time(next)])?;
                if next >= line.length() {
                    return ControlFlow::Continue(Goes::Left);
                }
                self.way = next;
                if is_leap {
                    self.height = height_of(free).min(field.blocks.height());
                    return ControlFlow::Continue(Goes::On);
                }
                // So near to the level that rounding may keep the line inside the block.
                (leaves, leaves + self.least_leap)
            }
            Near::Within { from, to, is_below } => {
                if from > way {
                    out.clear(is_below, || [line.time(way), line.time(from)])?;
                    self.way = from;
                }
                (from, to)
            }
        };
        if self.height > 0 {
            // Descend to blocks about as long as the remaining part.
            self.height = height_of(to - from).min(self.height - 1);
            return ControlFlow::Continue(Goes::On);
        }
        let from = self.line.time(from);
        if from > self.walker.time() {
            self.walker.leap_into(from, self.from);
        }
        if AHEAD {
            (field.planes).prefetch_corners(field.grid, self.walker.cell());
        }
        self.cells_until = Some(self.line.time(to));
        ControlFlow::Continue(Goes::On)
    }

    /// Visits cells of one leaf until a time, at least one of them.
    #[inline(always)]
    fn pass_cells(
        &mut self,
        field: &PlaneField<'_>,
        until: f64,
        out: &mut Collector<'_>,
    ) -> ControlFlow<(), Goes> {
        let walker = &mut self.walker;
        let leaf = walker.cell() >> LEAF_LOG2;
        loop {
            let cell = walker.cell();
            let times = [walker.time(), walker.leaves_cell()];
            let corners = field.planes.corners(field.grid, cell);
            let piece = trilinear_piece(corners, cell, walker.line(), times, field.level);
            out.visit(times, piece)?;
            if !walker.step() {
                return ControlFlow::Continue(Goes::Left);
            }
            if walker.time() > until || walker.cell() >> LEAF_LOG2 != leaf {
                break;
            }
        }
        self.way = self.line.way(walker.time()).max(self.way);
        ControlFlow::Continue(Goes::On)
    }
}

/// Returns a lower bound of the time at which a line is first at or below the level, from blocks
/// alone, or `None` if it is proven never to be. Only blocks in which that time is not resolved to
/// `within` cells are opened. The size of the first block is proportional to `within`.
#[inline(always)]
pub(super) fn may_begin(
    field: &PlaneField<'_>,
    line: &Line,
    times: Times,
    within: f32,
) -> Option<f64> {
    let line = RoughLine::new(field.grid.layout().cells(), line, times);
    let asked = field.asking.along(&line);
    let least_leap = LEAST_LEAP.max(8.0 * line.unsure());
    let mut way = 0.0;
    let mut height = height_of(FIRST_BLOCK * within).min(field.start_height);
    loop {
        let block = line.block(way, LEAF_LOG2 + height as u32);
        let index = field.planes.index(field.blocks, height, block.node);
        match field.planes.near(index, &block, &line, way, &asked) {
            Near::Nowhere { is_below: true, .. } => return Some(line.time(way)),
            Near::Nowhere { gap, .. } => {
                let free = field.free(gap);
                if block.leaves + free >= line.length() {
                    return None;
                }
                // So near to the level that rounding may keep the line inside the block.
                if free <= least_leap {
                    return Some(line.time(block.leaves));
                }
                way = block.leaves + free;
                height = height_of(free).min(field.blocks.height());
            }
            Near::Within { from, to, is_below } => {
                if is_below {
                    return Some(line.time(way));
                }
                way = from;
                if height == 0 || to - from <= within {
                    return Some(line.time(from));
                }
                height = height_of(to - from).min(height - 1);
            }
        }
    }
}

/// Maximum height of the first block after `since`, in levels above the leaves: the line was above
/// the level up to there because a sphere was, so the level is near. Not tuned.
const SINCE_HEIGHT: usize = 1;

/// Length of the first block, in multiples of the length to which the result is resolved.
const FIRST_BLOCK: f32 = 8.0;

/// Minimum leap out of a leaf \[cells\]: where the level may be nearer, cells come next. Not tuned.
const LEAST_LEAP: f32 = 0.05;

/// Returns the largest height of blocks, in levels above the leaves, that are no longer than
/// `cells`.
///
/// After a leap over this many cells, blocks of that size are likely to be clear. Tuned on the
/// bunny's segments that start outside: one level more costs a tenth at 512³, and one less as much
/// as this there and a twentieth more at 1024³.
#[inline(always)]
fn height_of(cells: f32) -> usize {
    // Uses the exponent; anything less than a leaf, and 0, is a leaf.
    let log2 = (cells.to_bits() >> 23) as i32 - 127;
    (log2 - LEAF_LOG2 as i32).max(0) as usize
}

/// Visits the pieces of a line over blocks by the range of their values, then cell by cell. The
/// octree comes with the field's error bound.
///
/// The line is above the level before `since`; with an octree that part is skipped. The results are
/// bitwise the same.
pub(super) fn cross_cells(
    field: &impl LinePieces,
    octree: Option<(&FieldOctree, f32)>,
    line: &Line,
    times: Times,
    since: f64,
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
    if since > times[0] {
        walker.leap_into(since, times[0]);
    }
    // Leap to a later time. A cell always starts where the line enters it, so that pieces do not
    // depend on the path to it. If rounding prevents progress, take a single step.
    let leap = |walker: &mut Walker, time: f64| {
        if time >= times[1] {
            return false;
        }
        let before = walker.time();
        walker.leap_into(time, times[0]);
        walker.time() > before || walker.step()
    };
    let mut height = blocks.height();
    loop {
        // Visit the cells of a leaf that may hold the level.
        let Some(piece) = clear_block(walker.cell(), blocks, level, &mut height) else {
            let leaf = blocks.block_around(0, walker.cell());
            loop {
                let times = [walker.time(), walker.leaves_cell()];
                let mut last = None;
                field.pieces(walker.cell(), line, times, level, &mut |times, piece| {
                    last = Some(piece);
                    out.visit(times, piece)
                })?;
                let ahead = last.and_then(|piece| Some((piece, leaps.after(&piece, times[1])?)));
                let goes_on = match ahead {
                    Some((piece, end)) => {
                        out.visit([times[1], end], piece)?;
                        leap(&mut walker, end)
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
        // Skip a block that does not hold the level.
        let block = blocks.block_around(height, walker.cell());
        let leaves = walker.leaves_block(block.first, block.last);
        let ahead = leaps.after(&piece, leaves);
        out.visit([walker.time(), ahead.unwrap_or(leaves)], piece)?;
        let goes_on = match ahead {
            Some(end) => leap(&mut walker, end),
            None => walker.step_out_of(block.first, block.last),
        };
        if !goes_on {
            return ControlFlow::Continue(());
        }
    }
}

/// Returns the largest block around a cell that does not hold the level, as a piece. `height` holds
/// the height of the last block, and then that of this one. Blocks bound the values of the smaller
/// ones in them, so the search goes up from a block that can be skipped, or down from one that
/// cannot.
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
