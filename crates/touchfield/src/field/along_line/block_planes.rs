//! Linear approximations of a dense grid over ever larger blocks of cells, with a bound on the
//! deviation of the values from them.
//!
//! Input: a grid, and the blocks of its [`MinMaxOctree`].
//! Output: when a line that passes a block may meet a level, and when it surely does not; the
//! values of leaves that contain the surface, contiguous in memory.
//! Cost: built bottom-up, every value read once; 16 bytes per block, with leaves of 4³ cells 0.29
//! bytes per cell, and 512 bytes per leaf on the surface. A query takes two dot products.
//! Not for: values elsewhere, which the grid has.
//!
//! A distance hardly bends: over a few cells it is nearly linear, the more so the finer the grid.
//! So the few cells in which a line can cross a level are known before any value of the grid is
//! read, whatever the level; a range of values ([`MinMaxOctree::range_around`]) only shows whether
//! there are such cells. The difference of the interpolant and the linear function is trilinear in
//! every cell, so it is largest at a node, and the nodes prove the bound.
//!
//! **Data near in space are near in memory.** The corners of a cell of a large grid lie on four
//! pages, and each access may cost as much as everything else along the line. So blocks are stored
//! in tiles: 8³ leaves and all blocks over them, on three pages. And leaves that contain the
//! surface keep a copy of their values, one brick each.

use glam::{UVec3, Vec3A};

use crate::field::along_line::min_max_octree::Cells;
use crate::field::along_line::min_max_octree::MinMaxOctree;
use crate::field::along_line::rough_line::{RoughBlock, RoughLine};
use crate::field::grid::dense_grid::DenseGrid;
use crate::field::grid::layout::GridLayout;
use crate::field::grid::trilinear;
use crate::geom::lanes::{prefer_large_pages, prefetch};
use crate::geom::{Interval, corner, place_at, place_index};
use crate::threads;

/// Linear approximations of all blocks of an octree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BlockPlanes {
    /// Planes tile by tile, x fastest, [`TILE`] per tile; then blocks larger than a tile, in the
    /// octree's order.
    planes: Vec<Plane>,
    /// Number of tiles along x, y and z.
    tiles: UVec3,
    /// Offset from the octree index of a block larger than a tile to its index in `planes`.
    larger: usize,
    bricks: Vec<Brick>,
    /// One step of a slope \[m per cell\].
    slope_step: f32,
}

/// Height of the largest block of a tile, in levels above the leaves. Larger blocks are few, and
/// stay in the caches.
pub(crate) const TILE_HEIGHT: usize = 3;
/// Offset in a tile of the blocks of each height: the largest block first, leaves last.
const STARTS: [usize; TILE_HEIGHT + 1] = [73, 9, 1, 0];
/// Number of blocks per tile: 8³ leaves, 4³, 2³ and 1.
const TILE: usize = 585;

/// The linear approximation of a block, in sixteen bytes so that four share a cache line.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Plane {
    /// Slope along each axis, in steps.
    slope: [i16; 3],
    /// Largest deviation of any value within the block \[m\]: the upper half of an `f32`, rounded
    /// up.
    strays: u16,
    /// Value at the block's corner nearest to the grid's origin \[m\].
    value: f32,
    /// Index of the brick with the values of a leaf; [`NONE`] if there is none.
    brick: u32,
}

/// Marks a block without a brick.
const NONE: u32 = u32::MAX;

/// The plane of a block about which nothing is known: its deviation is infinite.
const UNKNOWN: Plane = Plane {
    slope: [0; 3],
    strays: 0x7F80,
    value: 0.0,
    brick: NONE,
};

impl Plane {
    #[inline(always)]
    fn strays(&self) -> f32 {
        f32::from_bits(u32::from(self.strays) << 16)
    }
}

/// Number of cells along a side of a leaf, as a power of two:
/// [`crate::field::along_line::min_max_octree::LeafSide::Four`].
pub(crate) const LEAF_LOG2: u32 = 2;
/// Maximum number of nodes along a side of a leaf.
const SIDE: usize = (1 << LEAF_LOG2) + 1;

/// The values of a leaf, x fastest, padded and aligned to cache lines.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(64))]
struct Brick([f32; 128]);

/// Where a line that passes a block may meet a level, in lengths along the line \[cells\].
#[derive(Clone, Copy, Debug)]
pub(crate) enum Near {
    /// The line does not meet the level.
    Nowhere {
        /// Whether the line stays below the level; otherwise above.
        is_below: bool,
        /// Lower bound of the distance from the level where the line leaves the block \[m\].
        gap: f32,
    },
    /// The line may meet the level only between `from` and `to`. The parts before and after, if
    /// any, are each on one side of the level.
    Within {
        from: f32,
        to: f32,
        /// Whether the line is below the level before `from`.
        is_below: bool,
    },
}

/// The level and the rounding bounds of queries, for any line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asking {
    level: f32,
    /// Error of values per cell of error in a coordinate \[m per cell\].
    per_cell: f32,
    /// Error of values due to their own rounding \[m\].
    rounding: f32,
}

/// The level and the margin of queries along one line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    level: f32,
    /// Margin added to the deviation of blocks because lines and values are rounded \[m\].
    margin: f32,
}

impl Asking {
    /// Computes the bounds. `steepest` is the field's largest slope, `whole` contains all of its
    /// values.
    pub(crate) fn new(level: f32, layout: &GridLayout, steepest: f32, whole: Interval) -> Asking {
        let slope = steepest * layout.cell_size;
        // Terms added to values, at the start and along the way, are rounded sixteen times at most,
        // by half an ε each.
        let largest = whole.lower.abs().max(whole.upper.abs()) + level.abs();
        let side = layout.cells().max_element() as f32;
        let rounding = 8.0 * f32::EPSILON * (largest + 3.0 * slope * side);
        Asking {
            level,
            // The place itself is off by √3 times the error of its coordinates, and values by that
            // times the slope. The linear function, whose slope is up to √3 times as large, adds
            // another 3: √3 + 3 in all.
            per_cell: 5.0 * slope,
            rounding: rounding + f32::MIN_POSITIVE,
        }
    }

    #[inline(always)]
    pub(crate) fn along(&self, line: &RoughLine) -> Asked {
        Asked {
            level: self.level,
            margin: self.per_cell * line.unsure() + self.rounding,
        }
    }
}

impl BlockPlanes {
    /// Builds the planes. `steepest` is the largest slope anywhere in the grid \[m per m\].
    pub(crate) fn build(grid: &DenseGrid, blocks: &MinMaxOctree, steepest: f32) -> BlockPlanes {
        /// Number of tiles per batch: the results of the threads are soon moved to their place.
        const AT_A_TIME: usize = 1024;
        let slope_step = steepest * grid.layout().cell_size / f32::from(i16::MAX);
        let side = 1 << TILE_HEIGHT;
        let tiles = UVec3::from(blocks.size(0).to_array().map(|n| n.div_ceil(side)));
        let count = tiles.to_array().iter().map(|&n| n as usize).product();
        let first_larger = match blocks.height() > TILE_HEIGHT {
            true => blocks.index(TILE_HEIGHT + 1, UVec3::ZERO),
            false => blocks.count(),
        };
        let mut planes = BlockPlanes {
            planes: Vec::with_capacity(count * TILE + blocks.count() - first_larger),
            tiles,
            // A tile has room for all blocks of the octree that are in it, and may have room to
            // spare.
            larger: count * TILE - first_larger,
            bricks: Vec::new(),
            slope_step,
        };
        prefer_large_pages(planes.planes.spare_capacity_mut());
        // Tiles in parallel, batch by batch; brick indices are shifted to the common list.
        for start in (0..count).step_by(AT_A_TIME) {
            let found = threads::map(AT_A_TIME.min(count - start), |index| {
                Tile::build(grid, blocks, place_at(tiles, start + index), slope_step)
            });
            for tile in found {
                let before = planes.bricks.len() as u32;
                planes.planes.extend(tile.planes.iter().map(|&plane| Plane {
                    brick: match plane.brick {
                        NONE => NONE,
                        // 2³² bricks would be two terabytes.
                        brick => before + brick,
                    },
                    ..plane
                }));
                planes.bricks.extend(tile.bricks);
            }
        }
        // Move the bricks into one allocation on large pages.
        let mut bricks = Vec::with_capacity(planes.bricks.len());
        prefer_large_pages(bricks.spare_capacity_mut());
        bricks.append(&mut planes.bricks);
        planes.bricks = bricks;
        // Blocks larger than a tile, bottom-up.
        let mut children = Vec::new();
        for height in TILE_HEIGHT + 1..=blocks.height() {
            let (first, last) = (UVec3::ZERO, blocks.size(height) - UVec3::ONE);
            for node in (Cells { first, last }).iter() {
                children.clear();
                children.extend(blocks.children(height, node).map(|child| {
                    let plane = planes.planes[planes.index(blocks, height - 1, child)];
                    (plane, blocks.cells_of(height - 1, child))
                }));
                let plane = of_children(&children, slope_step);
                planes.planes.push(plane);
            }
        }
        planes
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.planes.as_slice()) + size_of_val(self.bricks.as_slice())
    }

    /// Returns the index of a block that is `height` levels above the leaves.
    #[inline(always)]
    pub(crate) fn index(&self, blocks: &MinMaxOctree, height: usize, node: UVec3) -> usize {
        if height > TILE_HEIGHT {
            return blocks.index(height, node) + self.larger;
        }
        let tile = node >> (TILE_HEIGHT - height) as u32;
        place_index(self.tiles, tile) * TILE + in_tile(height, node)
    }

    /// Prefetches a block that will be read soon, by its index.
    #[inline(always)]
    pub(crate) fn prefetch(&self, index: usize) {
        prefetch(&self.planes[index]);
    }

    /// Returns where a line may meet the level in block `index`; the line is in the block at `way`
    /// cells from its start.
    #[inline(always)]
    pub(crate) fn near(
        &self,
        index: usize,
        block: &RoughBlock,
        line: &RoughLine,
        way: f32,
        asked: &Asked,
    ) -> Near {
        let plane = &self.planes[index];
        let slope = Vec3A::from(plane.slope.map(f32::from));
        let above = plane.value - asked.level + self.slope_step * slope.dot(block.place);
        let rate = self.slope_step * slope.dot(line.direction());
        let end = above + rate * (block.leaves - way);
        let strays = plane.strays() + asked.margin;
        if (above > strays && end > strays) || (above < -strays && end < -strays) {
            return Near::Nowhere {
                is_below: end < 0.0,
                gap: end.abs() - strays,
            };
        }
        // From both ends towards the level, until the deviation may reach it.
        let until = |above: f32| {
            let free = above.abs() - strays;
            // The condition is also false for NaN.
            if free > 0.0 { free / rate.abs() } else { 0.0 }
        };
        let from = way + until(above);
        Near::Within {
            from,
            to: (block.leaves - until(end)).max(from),
            is_below: above < 0.0,
        }
    }

    /// Prefetches the values of a cell that will be read soon.
    #[inline(always)]
    pub(crate) fn prefetch_corners(&self, grid: &DenseGrid, cell: UVec3) {
        let Some((brick, first)) = self.in_brick(cell) else {
            return grid.prefetch_corners(cell);
        };
        prefetch(&brick[first]);
        // The far corner is 31 values on: in this cache line, or in one of the next two.
        prefetch(&brick[(first + 16).min(127)]);
        prefetch(&brick[(first + 31).min(127)]);
    }

    /// Returns the values at the corners of a cell, from its leaf's brick if there is one.
    #[inline(always)]
    pub(crate) fn corners(&self, grid: &DenseGrid, cell: UVec3) -> [f32; 8] {
        match self.in_brick(cell) {
            Some((brick, first)) => trilinear::corners(brick, first, SIDE, SIDE * SIDE),
            None => grid.corners(cell),
        }
    }

    /// Returns the brick of a cell's leaf, if there is one, and the index in it of the cell's first
    /// value.
    #[inline(always)]
    fn in_brick(&self, cell: UVec3) -> Option<(&[f32; 128], usize)> {
        let leaf = cell >> LEAF_LOG2;
        let tile = leaf >> TILE_HEIGHT as u32;
        let plane = &self.planes[place_index(self.tiles, tile) * TILE + in_tile(0, leaf)];
        if plane.brick == NONE {
            return None;
        }
        let brick = &self.bricks[plane.brick as usize].0;
        let within = cell - (leaf << LEAF_LOG2);
        Some((brick, place_index(UVec3::splat(SIDE as u32), within)))
    }
}

/// Returns the offset of a node of this height within its tile.
#[inline(always)]
fn in_tile(height: usize, node: UVec3) -> usize {
    let log2 = TILE_HEIGHT - height;
    let last = (1 << log2) - 1;
    let [x, y, z] = node.to_array().map(|n| (n & last) as usize);
    STARTS[height] + (((z << log2) + y) << log2) + x
}

/// The planes of a tile's blocks (unknown beyond the grid), and the bricks of its leaves.
struct Tile {
    planes: Vec<Plane>,
    bricks: Vec<Brick>,
}

impl Tile {
    fn build(grid: &DenseGrid, blocks: &MinMaxOctree, tile: UVec3, slope_step: f32) -> Tile {
        let mut planes = vec![UNKNOWN; TILE];
        let mut bricks = Vec::new();
        let mut children: Vec<(Plane, Cells)> = Vec::new();
        for height in 0..=TILE_HEIGHT.min(blocks.height()) {
            let first = tile << (TILE_HEIGHT - height) as u32;
            let side = 1 << (TILE_HEIGHT - height);
            let last = (first + side).min(blocks.size(height)) - UVec3::ONE;
            for node in (Cells { first, last }).iter() {
                let plane = if height == 0 {
                    let cells = blocks.cells_of(0, node);
                    let (brick, size, largest) = Brick::of(grid, cells);
                    let mut plane = of_leaf(&brick, size, largest, slope_step);
                    if blocks.node_range(0, node).contains(0.0) {
                        plane.brick = bricks.len() as u32;
                        bricks.push(brick);
                    }
                    plane
                } else {
                    children.clear();
                    children.extend(blocks.children(height, node).map(|child| {
                        let plane = planes[in_tile(height - 1, child)];
                        (plane, blocks.cells_of(height - 1, child))
                    }));
                    of_children(&children, slope_step)
                };
                planes[in_tile(height, node)] = plane;
            }
        }
        Tile { planes, bricks }
    }
}

impl Brick {
    /// Copies the nodes of a leaf; returns also their number along each axis, and the largest
    /// absolute value \[m\].
    fn of(grid: &DenseGrid, cells: Cells) -> (Brick, [usize; 3], f32) {
        let size = (cells.last - cells.first + UVec3::splat(2)).to_array();
        let size = size.map(|n| n as usize);
        debug_assert!(size.iter().all(|&n| n <= SIDE), "leaves are of 4³ cells");
        let mut brick = Brick([0.0; 128]);
        let mut largest = 0.0f32;
        for z in 0..size[2] {
            for y in 0..size[1] {
                let node = cells.first + UVec3::new(0, y as u32, z as u32);
                let start = grid.layout().node_index(node);
                let row = &grid.values()[start..start + size[0]];
                let place = SIDE * (SIDE * z + y);
                brick.0[place..place + size[0]].copy_from_slice(row);
                largest = row
                    .iter()
                    .fold(largest, |most, value| most.max(value.abs()));
            }
        }
        (brick, size, largest)
    }
}

/// Fits a linear function to the nodes of a leaf: the slopes by least squares, the value in the
/// middle of the residuals.
fn of_leaf(brick: &Brick, size: [usize; 3], largest: f32, slope_step: f32) -> Plane {
    let row = |y: usize, z: usize| &brick.0[SIDE * (SIDE * z + y)..][..size[0]];
    // Sums of the values over the planes across each axis.
    let mut sums = [[0.0f32; SIDE]; 3];
    for z in 0..size[2] {
        for y in 0..size[1] {
            let mut sum = 0.0;
            for (along_x, &value) in sums[0].iter_mut().zip(row(y, z)) {
                *along_x += value;
                sum += value;
            }
            sums[1][y] += sum;
            sums[2][z] += sum;
        }
    }
    // Least squares along each axis, from those sums.
    let count = size[0] * size[1] * size[2];
    let slope: [i16; 3] = std::array::from_fn(|axis| {
        let n = size[axis];
        let middle = 0.5 * (n - 1) as f32;
        let (mut moment, mut spread) = (0.0, 0.0);
        for (place, sum) in sums[axis][..n].iter().enumerate() {
            let off = place as f32 - middle;
            moment += off * sum;
            spread += off * off;
        }
        in_steps(moment / (spread * (count / n) as f32), slope_step)
    });
    // The residuals of all nodes give the constant and the deviation.
    let per_cell = slope.map(|slope| f32::from(slope) * slope_step);
    let mut left = Left::NOTHING;
    for z in 0..size[2] {
        for y in 0..size[1] {
            let linear = per_cell[1] * y as f32 + per_cell[2] * z as f32;
            for (x, &value) in row(y, z).iter().enumerate() {
                left.add(value - (linear + per_cell[0] * x as f32));
            }
        }
    }
    left.plane(slope, 0.0, largest, per_cell)
}

/// Fits a linear function to child blocks, each of which is linear up to its deviation.
fn of_children(children: &[(Plane, Cells)], slope_step: f32) -> Plane {
    let (mut sum, mut count) = ([0.0f32; 3], 0.0f32);
    let mut first = UVec3::MAX;
    for (plane, cells) in children {
        for (sum, slope) in sum.iter_mut().zip(plane.slope) {
            *sum += f32::from(slope);
        }
        count += 1.0;
        first = first.min(cells.first);
    }
    // The mean slope of the children.
    let slope = sum.map(|sum| (sum / count).round() as i16);
    let per_cell = slope.map(|slope| f32::from(slope) * slope_step);
    let mut left = Left::NOTHING;
    let (mut strays, mut largest) = (0.0f32, 0.0f32);
    for (plane, cells) in children {
        let own = plane.slope.map(|slope| f32::from(slope) * slope_step);
        let sides = cells.last - cells.first + UVec3::ONE;
        // The difference of two linear functions is largest at a corner.
        for i in 0..8 {
            let in_child = (corner(UVec3::ZERO, i) * sides).as_vec3().to_array();
            let from_first = ((cells.first - first).as_vec3()).to_array();
            let mut value = plane.value;
            let mut linear = 0.0;
            for axis in 0..3 {
                value += own[axis] * in_child[axis];
                linear += per_cell[axis] * (from_first[axis] + in_child[axis]);
            }
            largest = largest.max(value.abs()).max(linear.abs());
            left.add(value - linear);
        }
        strays = strays.max(plane.strays());
    }
    left.plane(slope, strays, largest, per_cell)
}

fn in_steps(slope: f32, step: f32) -> i16 {
    // If all slopes are zero this is 0/0, which is cast to 0.
    (slope / step).round() as i16
}

/// The range of residuals of values from a linear function without a constant.
struct Left {
    least: f32,
    most: f32,
}

impl Left {
    const NOTHING: Left = Left {
        least: f32::INFINITY,
        most: f32::NEG_INFINITY,
    };

    #[inline(always)]
    fn add(&mut self, value: f32) {
        // `if` rather than `f32::min`: one instruction each.
        self.least = if value < self.least {
            value
        } else {
            self.least
        };
        self.most = if value > self.most { value } else { self.most };
    }

    /// Returns the plane with the constant that minimises the deviation, which grows by `strays`
    /// and by rounding.
    fn plane(&self, slope: [i16; 3], strays: f32, largest: f32, per_cell: [f32; 3]) -> Plane {
        let value = 0.5 * (self.least + self.most);
        let half = f32::max(self.most - value, value - self.least);
        // A dozen roundings of products and sums no larger than these, and the rounding of lines,
        // whose places are accurate to far less than an ε of a cell.
        let across: f32 = per_cell.iter().map(|slope| slope.abs()).sum();
        let rounding = f32::EPSILON * (16.0 * (largest + value.abs()) + across);
        let strays = half + strays + rounding + f32::MIN_POSITIVE;
        match strays.is_finite() && value.is_finite() {
            true => Plane {
                slope,
                // One up is more than what was cut off; the largest become infinite.
                strays: (strays.to_bits() >> 16) as u16 + 1,
                value,
                brick: NONE,
            },
            false => UNKNOWN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::along_line::field_octree::FieldOctree;
    use crate::field::along_line::line::Line;
    use crate::field::along_line::min_max_octree::LeafSide;
    use crate::field::field::Field;
    use crate::field::grid::layout::GridLayout;
    use crate::field::stored::StoredField;
    use crate::geom::Aabb;
    use glam::{DVec3, Vec3};
    use proptest::prelude::*;

    /// Builds a grid of values with a ridge, waves and noise, whose sides are not multiples of a
    /// leaf's.
    fn grid(seed: u32, noise: f32) -> DenseGrid {
        let nodes = UVec3::new(14, 11, 70);
        let layout = GridLayout {
            origin: Vec3::new(-1.0, 2.0, 0.5),
            cell_size: 0.25,
            nodes,
        };
        let last = nodes - UVec3::ONE;
        let first = UVec3::ZERO;
        let values = (Cells { first, last })
            .iter()
            .enumerate()
            .map(|(i, node)| {
                let p = node.as_vec3();
                let hashed = (i as u32 ^ seed).wrapping_mul(0x9E37_79B9) >> 8;
                let random = hashed as f32 / (1 << 24) as f32 - 0.5;
                0.25 * ((p.x - 6.0).abs() + 0.5 * p.y - 0.3 * p.z + (0.7 * p.y).sin())
                    + noise * random
            })
            .collect();
        DenseGrid::new(layout, values, Aabb::new(Vec3::ZERO, Vec3::ONE), 0.1).unwrap()
    }

    /// Queries a block along a whole line; returns the result, the line and the block.
    fn near(
        grid: &DenseGrid,
        height: usize,
        line: &Line,
        level: f32,
    ) -> (Near, RoughLine, RoughBlock) {
        let blocks = MinMaxOctree::build(grid, LeafSide::Four);
        let steepest = FieldOctree::build(&StoredField::from(grid.clone())).steepest();
        let planes = BlockPlanes::build(grid, &blocks, steepest);
        let rough = RoughLine::new(grid.layout().cells(), line, [0.0, 1.0]);
        let height = height.min(blocks.height());
        let block = rough.block(0.0, LEAF_LOG2 + height as u32);
        let asking = Asking::new(level, grid.layout(), steepest, blocks.whole());
        let index = planes.index(&blocks, height, block.node);
        let near = planes.near(index, &block, &rough, 0.0, &asking.along(&rough));
        (near, rough, block)
    }

    proptest! {
        #[test]
        fn a_line_meets_the_level_at_no_other_time(
            seed in any::<u32>(), noise in prop_oneof![Just(0.0f32), 0.0f32..0.5], level in -2.0f32..2.0,
            from in prop::array::uniform3(0.0f64..1.0), to in prop::array::uniform3(0.0f64..1.0), height in 0usize..5,
        ) {
            let grid = grid(seed, noise);
            let cells = grid.layout().cells().as_dvec3();
            let line = Line::new(DVec3::from(from) * cells, DVec3::from(to) * cells);
            let (near, rough, block) = near(&grid, height, &line, level);
            let above = |way: f32| {
                let place = line.at(rough.time(way)).as_vec3() * grid.layout().cell_size + grid.layout().origin;
                grid.distance(place) - level
            };
            // Lines are computed in `f32`, and so are fields.
            let is_clear = |way: f32, is_below: bool| if is_below { above(way) < 1e-5 } else { above(way) > -1e-5 };
            for k in 0..=64 {
                let way = block.leaves * k as f32 / 64.0;
                let clear = match near {
                    Near::Nowhere { is_below, .. } => is_clear(way, is_below),
                    Near::Within { from, is_below, .. } if way < from => is_clear(way, is_below),
                    Near::Within { to, .. } if way > to => is_clear(way, above(block.leaves) < 0.0),
                    Near::Within { from, to, .. } => from <= to && 0.0 <= from,
                };
                prop_assert!(clear, "{} at {way} of {near:?}", above(way));
            }
            // The distance from the level at the end is at least the reported gap.
            if let Near::Nowhere { gap, .. } = near {
                prop_assert!(gap > 0.0 && above(block.leaves).abs() >= gap - 1e-5);
            }
        }

        #[test]
        fn cells_of_bricks_have_the_values_of_the_grid(seed in any::<u32>(), place in prop::array::uniform3(0.0f64..1.0)) {
            let grid = grid(seed, 0.1);
            let blocks = MinMaxOctree::build(&grid, LeafSide::Four);
            let planes = BlockPlanes::build(&grid, &blocks, 2.0);
            let cells = grid.layout().cells();
            let cell = (DVec3::from(place) * cells.as_dvec3()).as_uvec3().min(cells - UVec3::ONE);
            prop_assert_eq!(planes.corners(&grid, cell), grid.corners(cell));
            let holds = blocks.range_around(0, cell).contains(0.0);
            prop_assert_eq!(planes.in_brick(cell).is_some(), holds);
        }
    }

    #[test]
    fn what_is_linear_is_met_where_it_is() {
        // Without noise, behind the ridge and along x: slope 0.25 per cell. From 0.5 at the start
        // to 1.5 at the end.
        let line = Line::new(DVec3::new(8.0, 0.0, 0.0), DVec3::new(12.0, 0.0, 0.0));
        let (near, ..) = near(&grid(0, 0.0), 0, &line, 1.0);
        let Near::Within { from, to, .. } = near else {
            panic!("it meets the level");
        };
        // The sine of y bends by a quarter over four cells.
        assert!(
            from < 2.0 && 2.0 < to && to - from < 2.4,
            "from {from} to {to}"
        );
    }

    #[test]
    fn values_whose_sums_leave_f32_are_bounded_too() {
        let layout = GridLayout {
            origin: Vec3::ZERO,
            cell_size: 1.0,
            nodes: UVec3::splat(5),
        };
        let values = vec![9e36; 125];
        let large = DenseGrid::new(layout, values, Aabb::new(Vec3::ZERO, Vec3::ONE), 0.0).unwrap();
        let line = Line::new(DVec3::ZERO, DVec3::ONE);
        for (level, meets) in [(0.0, false), (9e36, true), (-9e36, false)] {
            let (near, ..) = near(&large, 0, &line, level);
            assert_eq!(matches!(near, Near::Within { .. }), meets, "{level}");
        }
    }
}
