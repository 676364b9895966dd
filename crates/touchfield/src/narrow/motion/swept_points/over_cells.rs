//! A line through the cells of a stored field: all of them, or only those that blocks do not rule out.
//!
//! Input: a line in units of cells, the times at which it is in the grid, an octree if there is one. Output: pieces of the line, in order.
//! Cost: without an octree every cell on the way; with one, a few blocks and the cells that may hold the level. No allocation.
//! Not for: what is beyond the grid.

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

/// A dense grid with planes over its blocks: what walks over it share.
pub(super) struct PlaneField<'a> {
    grid: &'a DenseGrid,
    blocks: &'a MinMaxOctree,
    planes: &'a BlockPlanes,
    asking: Asking,
    level: f32,
    /// As of [`Leaps`], rounded.
    per_value: f32,
    per_metre: f32,
    jump: f32,
    /// Where a walk begins, in levels above the leaves.
    start_height: usize,
}

impl<'a> PlaneField<'a> {
    pub(super) fn new(
        grid: &'a DenseGrid,
        octree: &'a FieldOctree,
        planes: &'a BlockPlanes,
        level: f32,
    ) -> PlaneField<'a> {
        /// Levels below the root to begin at: most ways lead through more than one eighth of an eighth of the box. Not tuned; up or down from there is a step each.
        const BELOW_ROOT: usize = 2;
        let blocks = octree.cells();
        let layout = grid.layout();
        // Rounded down by more than `f32` rounds.
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

    /// Where it is good: all of it.
    pub(super) fn within(&self) -> Within {
        let layout = self.grid.layout();
        Within::new(layout, [DVec3::ZERO, layout.cells().as_dvec3()])
    }

    /// No level within so many cells of where it is this far away \[m\].
    #[inline(always)]
    fn free(&self, gap: f32) -> f32 {
        f32::max(self.per_value * gap, self.per_metre * gap - self.jump)
    }
}

/// A walk over blocks of a dense grid, each nearly linear. It can be left at any block and taken up again.
///
/// Blocks are passed in `f32`, with room for its rounding; cells are walked in `f64`, so answers are those of cells alone.
pub(super) struct PlaneWalk {
    asked: Asked,
    line: RoughLine,
    /// What a leap must be longer than to be one: more than any rounding \[cells\].
    least_leap: f32,
    /// All is known up to here \[cells\].
    way: f32,
    /// Of the block it looks at next, in levels above the leaves.
    height: usize,
    block: RoughBlock,
    /// Its number.
    index: usize,
    /// Where it is among cells: up to there all of them were looked at that had to be.
    walker: Walker,
    /// When it began.
    from: f64,
    /// Until when cells come next, before any block.
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

    /// To the end.
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

    /// From a time on until which the line is above the level.
    pub(super) fn since(mut self, field: &PlaneField<'_>, time: f64) -> PlaneWalk {
        let way = self.line.way(time);
        if way > self.way {
            self.way = way;
            self.height = self.height.min(SINCE_HEIGHT);
            self.aim(field);
        }
        self
    }

    /// Past a block, down to a smaller one, or through cells. `AHEAD`: asks for the memory that comes next, and leaves the walk there for a while.
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
                // Larger ones are in the caches.
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

    /// At the block it looks at next.
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
                // So near to the level that rounding may not lead out of the block.
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
            // Down to blocks about as long as what is left.
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

    /// Cells of one leaf until a time; one at least.
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

/// When a line may first be at or below the level, by blocks alone: no later than it is, and `None` only if it never is. Looked into are only blocks in which that is
/// known no better than to `within` cells; about so long is the first, too.
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
                // So near to the level that rounding may not lead out of the block.
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

/// Where a line was above the level up to a time because a sphere was, the level is near: blocks to begin with are no larger than this, in levels above the leaves. Not tuned.
const SINCE_HEIGHT: usize = 1;

/// Blocks to begin with are so many times as long as what is told need not be better known than.
const FIRST_BLOCK: f32 = 8.0;

/// Where the level is nearer than this \[cells\] to where a line leaves a leaf, cells come next. Not tuned.
const LEAST_LEAP: f32 = 0.05;

/// The largest height of blocks, in levels above the leaves, that are no longer than so many cells.
///
/// After a leap over so many cells blocks of that size are likely to be clear. Tuned, on the bunny's segments that begin outside, for which one level more costs a tenth
/// at 512³, and one less as much as this there and a twentieth more at 1024³.
#[inline(always)]
fn height_of(cells: f32) -> usize {
    // By its exponent; what is less than a leaf, and 0, is a leaf.
    let log2 = (cells.to_bits() >> 23) as i32 - 127;
    (log2 - LEAF_LOG2 as i32).max(0) as usize
}

/// Over blocks by the range of their values, then cell by cell. The octree comes with the field's error bound.
///
/// The line is above the level before `since`; with an octree that part is left out. Answers are the same bits.
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
    // On to a later time: into a cell always from where it is entered, so that pieces do not depend on the way there.
    // If rounding leads nowhere, a step does.
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
