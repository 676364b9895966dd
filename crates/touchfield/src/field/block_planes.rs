//! What a dense grid is over ever larger blocks of cells, roughly: a linear function, and how far values stray from it.
//!
//! Input: a grid, and the blocks of its [`MinMaxOctree`]. Output: when a line that passes a block may meet a level, and when it surely does not; the
//! values of leaves that hold the surface, side by side. Cost: built bottom-up, every value read once; 16 bytes a block, over leaves of 4³ cells 0.29
//! bytes a cell, and 512 bytes a leaf on the surface. A block is asked by two dot products. Not for: values elsewhere, which the grid has.
//!
//! A distance hardly bends: over a few cells it is nearly linear, the more so the finer the grid. So the few cells in which a line can cross a level are known
//! before any value of the grid is read, whatever the level; a range of values ([`MinMaxOctree::range_around`]) only tells whether there are such cells. What is
//! left between the linear function and the interpolant is trilinear in every cell, so it is largest at a node, and the nodes prove the bound.
//!
//! **What is near in space is near in memory.** The corners of a cell of a large grid lie on four pages, and each may cost as much as all else that a line
//! does. So blocks are kept in tiles: 8³ leaves and all blocks over them, on three pages. And leaves that hold the surface keep a copy of their values,
//! a brick each.

use glam::{DVec3, UVec3};

use super::line::{Line, Times};
use super::min_max_octree::Cells;
use super::pieces::Piece;
use super::{DenseGrid, MinMaxOctree, trilinear};
use crate::geom::lanes::{prefer_large_pages, prefetch};
use crate::geom::{corner, place_at, place_index};
use crate::threads;

/// Over all blocks of an octree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BlockPlanes {
    /// Tile after tile, x fastest, each [`TILE`] long.
    tiled: Vec<Plane>,
    /// Tiles along x, y and z.
    tiles: UVec3,
    /// Of blocks larger than a tile, in the octree's order.
    above: Vec<Plane>,
    /// Number of the first of those in the octree.
    first_above: usize,
    bricks: Vec<Brick>,
    /// One step of a slope \[m per cell\].
    slope_step: f32,
}

/// The largest block of a tile is so many levels above the leaves.
const TILE_HEIGHT: usize = 3;
/// Where blocks of each height begin in a tile: the largest first, leaves last.
const STARTS: [usize; TILE_HEIGHT + 1] = [73, 9, 1, 0];
/// Blocks of a tile: 8³ leaves, 4³, 2³ and 1.
const TILE: usize = 585;

/// Sixteen bytes: four share a line of the cache.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Plane {
    /// Along each axis, in steps.
    slope: [i16; 3],
    /// No value within the block is farther off than this \[m\]: the upper half of an `f32`, rounded up.
    strays: u16,
    /// At the block's corner nearest to the grid's origin \[m\].
    value: f32,
    /// Which brick holds the values of a leaf; [`NONE`] for none.
    brick: u32,
}

/// No brick.
const NONE: u32 = u32::MAX;

/// Nothing is known.
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

/// Nodes of a leaf along a side, at most.
const SIDE: usize = 5;

/// The values of a leaf, x fastest, and room to begin on a line of the cache.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(64))]
struct Brick([f32; 128]);

/// A block, to be asked.
#[derive(Clone, Copy)]
pub(crate) struct BlockPlane<'a> {
    planes: &'a BlockPlanes,
    plane: &'a Plane,
    first: UVec3,
}

/// Where a line that passes a block may meet a level.
pub(crate) enum Near {
    /// Nowhere. The gap is that at the end.
    Nowhere(Piece),
    /// At these times; before and after, on these sides if there is a before and an after. The gap is that at the end.
    Within {
        times: Times,
        before: Piece,
        after: Piece,
    },
}

impl BlockPlanes {
    /// `steepest`: nowhere is the grid steeper \[m per m\].
    pub(crate) fn build(grid: &DenseGrid, blocks: &MinMaxOctree, steepest: f32) -> BlockPlanes {
        /// Tiles: what threads hand over is soon in its place.
        const AT_A_TIME: usize = 1024;
        let slope_step = steepest * grid.layout().cell_size / f32::from(i16::MAX);
        let side = 1 << TILE_HEIGHT;
        let tiles = UVec3::from(blocks.size(0).to_array().map(|n| n.div_ceil(side)));
        let count = tiles.to_array().iter().map(|&n| n as usize).product();
        let mut planes = BlockPlanes {
            tiled: Vec::with_capacity(count * TILE),
            tiles,
            above: Vec::new(),
            first_above: match blocks.height() > TILE_HEIGHT {
                true => blocks.index(TILE_HEIGHT + 1, UVec3::ZERO),
                false => 0,
            },
            bricks: Vec::new(),
            slope_step,
        };
        prefer_large_pages(planes.tiled.spare_capacity_mut());
        for start in (0..count).step_by(AT_A_TIME) {
            let found = threads::map(AT_A_TIME.min(count - start), |index| {
                Tile::build(grid, blocks, place_at(tiles, start + index), slope_step)
            });
            for tile in found {
                let before = planes.bricks.len() as u32;
                planes.tiled.extend(tile.planes.iter().map(|&plane| Plane {
                    brick: match plane.brick {
                        NONE => NONE,
                        // 2³² bricks are two terabytes.
                        brick => before + brick,
                    },
                    ..plane
                }));
                planes.bricks.extend(tile.bricks);
            }
        }
        let mut bricks = Vec::with_capacity(planes.bricks.len());
        prefer_large_pages(bricks.spare_capacity_mut());
        bricks.append(&mut planes.bricks);
        planes.bricks = bricks;
        let mut children = Vec::new();
        for height in TILE_HEIGHT + 1..=blocks.height() {
            let (first, last) = (UVec3::ZERO, blocks.size(height) - UVec3::ONE);
            for node in (Cells { first, last }).iter() {
                children.clear();
                children.extend(blocks.children(height, node).map(|child| {
                    let plane = *planes.plane(blocks, height - 1, child);
                    (plane, blocks.cells_of(height - 1, child))
                }));
                planes.above.push(of_children(&children, slope_step));
            }
        }
        planes
    }

    pub(crate) fn bytes(&self) -> usize {
        let bricks = size_of_val(self.bricks.as_slice());
        size_of_val(self.tiled.as_slice()) + size_of_val(self.above.as_slice()) + bricks
    }

    #[inline(always)]
    fn plane(&self, blocks: &MinMaxOctree, height: usize, node: UVec3) -> &Plane {
        if height > TILE_HEIGHT {
            return &self.above[blocks.index(height, node) - self.first_above];
        }
        let tile = node >> (TILE_HEIGHT - height) as u32;
        &self.tiled[place_index(self.tiles, tile) * TILE + in_tile(height, node)]
    }

    /// Asks for a block, which will be looked at soon.
    #[inline(always)]
    pub(crate) fn prefetch(&self, blocks: &MinMaxOctree, height: usize, cell: UVec3) {
        prefetch(self.plane(blocks, height, blocks.node_around(height, cell)));
    }

    /// The block of an octree that is so many levels above the leaves around a cell, and begins at the cell `first`.
    #[inline(always)]
    pub(crate) fn block(
        &self,
        blocks: &MinMaxOctree,
        height: usize,
        cell: UVec3,
        first: UVec3,
    ) -> BlockPlane<'_> {
        BlockPlane {
            planes: self,
            plane: self.plane(blocks, height, blocks.node_around(height, cell)),
            first,
        }
    }
}

/// Where a node of a height is within its tile.
#[inline(always)]
fn in_tile(height: usize, node: UVec3) -> usize {
    let log2 = TILE_HEIGHT - height;
    let last = (1 << log2) - 1;
    let [x, y, z] = node.to_array().map(|n| (n & last) as usize);
    STARTS[height] + (((z << log2) + y) << log2) + x
}

impl BlockPlane<'_> {
    /// Along a line that is in the block during `times`.
    #[inline(always)]
    pub(crate) fn near(&self, line: &Line, times: Times, level: f32) -> Near {
        let plane = self.plane;
        let slope = DVec3::from(plane.slope.map(f64::from)) * f64::from(self.planes.slope_step);
        let start = line.at(times[0]) - self.first.as_dvec3();
        let length = times[1] - times[0];
        let above = f64::from(plane.value) - f64::from(level) + slope.dot(start);
        let grows = length * slope.dot(line.direction());
        let end = above + grows;
        let strays = f64::from(plane.strays());
        let side = |above: f64| Piece::Clear {
            is_below: above < 0.0,
            gap: (above.abs() - strays) as f32,
        };
        if (above > strays && end > strays) || (above < -strays && end < -strays) {
            return Near::Nowhere(side(end));
        }
        // From both ends towards the level until values may be there.
        let until = |above: f64| {
            let free = above.abs() - strays;
            // Also where it is no number.
            if free > 0.0 { free / grows.abs() } else { 0.0 }
        };
        Near::Within {
            times: [
                times[0] + until(above) * length,
                times[1] - until(end) * length,
            ],
            before: side(above),
            after: side(end),
        }
    }

    /// Asks for the values of a cell of a leaf, which will be read soon.
    #[inline(always)]
    pub(crate) fn prefetch_corners(&self, grid: &DenseGrid, cell: UVec3) {
        if self.plane.brick == NONE {
            return grid.prefetch_corners(cell);
        }
        let brick = &self.planes.bricks[self.plane.brick as usize].0;
        let first = place_index(UVec3::splat(SIDE as u32), cell - self.first);
        prefetch(&brick[first]);
        // The far corner is 31 values on: in this line of the cache, or in one of the two after it.
        prefetch(&brick[(first + 16).min(127)]);
        prefetch(&brick[(first + 31).min(127)]);
    }

    /// The values at the corners of a cell, if the block is a leaf that keeps them.
    #[inline(always)]
    pub(crate) fn corners(&self, cell: UVec3) -> Option<[f32; 8]> {
        if self.plane.brick == NONE {
            return None;
        }
        let brick = &self.planes.bricks[self.plane.brick as usize].0;
        let first = place_index(UVec3::splat(SIDE as u32), cell - self.first);
        Some(trilinear::corners(brick, first, SIDE, SIDE * SIDE))
    }
}

/// Blocks of a tile, those beyond the grid unknown, and the bricks of its leaves.
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
    /// The nodes of a leaf, how many there are along each axis, and the largest of their values \[m\].
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

/// Through the nodes of a leaf: slopes are those of least squares, the value is in the middle of what is left.
fn of_leaf(brick: &Brick, size: [usize; 3], largest: f32, slope_step: f32) -> Plane {
    let row = |y: usize, z: usize| &brick.0[SIDE * (SIDE * z + y)..][..size[0]];
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

/// Over blocks that are linear, each up to what it strays.
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
    let slope = sum.map(|sum| (sum / count).round() as i16);
    let per_cell = slope.map(|slope| f32::from(slope) * slope_step);
    let mut left = Left::NOTHING;
    let (mut strays, mut largest) = (0.0f32, 0.0f32);
    for (plane, cells) in children {
        let own = plane.slope.map(|slope| f32::from(slope) * slope_step);
        let sides = cells.last - cells.first + UVec3::ONE;
        // What is left between two linear functions is largest at a corner.
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
    // Without any slope 0/0, which becomes 0.
    (slope / step).round() as i16
}

/// What values are beside a linear function without a constant.
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

    /// With the constant that leaves the least; `strays` more, and what is rounded.
    fn plane(&self, slope: [i16; 3], strays: f32, largest: f32, per_cell: [f32; 3]) -> Plane {
        let value = 0.5 * (self.least + self.most);
        let half = f32::max(self.most - value, value - self.least);
        // A dozen roundings of products and sums no larger than these; and of lines, whose places are sure to far less than an ε of a cell.
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
    use crate::field::{Field, FieldOctree, GridLayout, LeafSide, StoredField};
    use crate::geom::Aabb;
    use glam::Vec3;
    use proptest::prelude::*;

    /// Of values with a ridge, waves and noise, whose sides are no multiples of a leaf's.
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

    proptest! {
        #[test]
        fn a_line_meets_the_level_at_no_other_time(
            seed in any::<u32>(), noise in prop_oneof![Just(0.0f32), 0.0f32..0.5], level in -2.0f32..2.0,
            from in prop::array::uniform3(0.0f64..1.0), to in prop::array::uniform3(0.0f64..1.0), height in 0usize..5,
        ) {
            let grid = grid(seed, noise);
            let blocks = MinMaxOctree::build(&grid, LeafSide::Four);
            let steepest = FieldOctree::build(&StoredField::from(grid.clone())).steepest();
            let planes = BlockPlanes::build(&grid, &blocks, steepest);
            let cells = grid.layout().cells();
            let node = (DVec3::from(from) * cells.as_dvec3()).as_uvec3().min(cells - UVec3::ONE);
            let height = height.min(blocks.height());
            let block = blocks.block_around(height, node);
            // A leaf with a brick has the grid's own values.
            let leaf = blocks.block_around(0, node);
            let own = planes.block(&blocks, 0, node, leaf.first).corners(node);
            let holds = blocks.range_around(0, node).contains(0.0);
            prop_assert_eq!(own, holds.then(|| grid.corners(node)));
            // From anywhere in the block to anywhere else in it.
            let sides = (block.last - block.first + UVec3::ONE).as_dvec3();
            let within = |share: [f64; 3]| block.first.as_dvec3() + DVec3::from(share) * sides;
            let line = Line::new(within(to), within([to[1], from[0], from[2]]));
            let near = planes.block(&blocks, height, node, block.first).near(&line, [0.0, 1.0], level);
            let (times, before, after) = match near {
                Near::Nowhere(piece) => ([1.0, 1.0], piece, piece),
                Near::Within { times, before, after } => (times, before, after),
            };
            prop_assert!(0.0 <= times[0] && times[0] <= times[1] + 1e-9 && times[1] <= 1.0);
            for k in 0..=64 {
                let time = f64::from(k) / 64.0;
                let place = line.at(time).as_vec3() * grid.layout().cell_size + grid.layout().origin;
                let above = grid.distance(place) - level;
                let piece = match time {
                    time if time < times[0] => before,
                    time if time > times[1] => after,
                    _ => continue,
                };
                let Piece::Clear { is_below, .. } = piece else { panic!("no side") };
                prop_assert!(if is_below { above < 1e-5 } else { above > -1e-5 }, "{above} at {time} of {times:?}");
            }
            // As far from the level at the end as it says.
            let place = line.at(1.0).as_vec3() * grid.layout().cell_size + grid.layout().origin;
            let gap = after.gap().max(0.0);
            prop_assert!((grid.distance(place) - level).abs() >= gap - 1e-5);
        }
    }

    #[test]
    fn what_is_linear_is_met_where_it_is() {
        // Without noise, behind the ridge and along x: 0.25 a cell.
        let grid = grid(0, 0.0);
        let blocks = MinMaxOctree::build(&grid, LeafSide::Four);
        let planes = BlockPlanes::build(&grid, &blocks, 2.0);
        let first = UVec3::new(8, 0, 0);
        let block = planes.block(&blocks, 0, first, first);
        let line = Line::new(DVec3::new(8.0, 0.0, 0.0), DVec3::new(12.0, 0.0, 0.0));
        // 0.5 at the start, 1.5 at the end.
        let Near::Within { times, .. } = block.near(&line, [0.0, 1.0], 1.0) else {
            panic!("it meets the level");
        };
        // The sine of y bends by a quarter over four cells.
        assert!(
            times[0] < 0.5 && 0.5 < times[1] && times[1] - times[0] < 0.6,
            "{times:?}"
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
        let blocks = MinMaxOctree::build(&large, LeafSide::Four);
        let planes = BlockPlanes::build(&large, &blocks, 1.0);
        let line = Line::new(DVec3::ZERO, DVec3::ONE);
        for (level, meets) in [(0.0, false), (9e36, true), (-9e36, false)] {
            let block = planes.block(&blocks, 0, UVec3::ZERO, UVec3::ZERO);
            let near = block.near(&line, [0.0, 1.0], level);
            assert_eq!(matches!(near, Near::Within { .. }), meets, "{level}");
        }
    }
}
