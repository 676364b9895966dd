//! Memory layout of a Taylor grid: nodes in bricks of two per side, and the corners of each block
//! of cells, one cache line each.
//!
//! Input: places of nodes.
//! Output: the values stored there.
//! Cost: the eight corners of a cell lie in 3.4 cache lines on average (4.5 with nodes in rows),
//! and the coarse data of its block lie in one more (five otherwise).
//! Not for: files, which store nodes in rows.

use glam::UVec3;

use crate::field::grid::layout::GridLayout;
use crate::geom::lanes::{LANES, room_for};
use crate::geom::{corner, place_index, places};

/// Steps per unit of a coarse slope: fine enough that the halves lose no precision, few enough that
/// differences of slopes fit in 16-bit integers.
pub(crate) const SLOPE_STEPS: f32 = 128.0;

/// A cube of two nodes per side, stored as bits of half floats. y is fastest and x slowest, so that
/// a node and the next along x are [`NEXT_X`] apart everywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub(crate) struct Brick([[u16; 4]; 8]);

/// The part of the coarse nodes at a block's corners that samples need.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct Corners {
    /// Distances at the corners \[cells\], x fastest.
    pub(crate) distances: [f32; 8],
    /// Changes of half the gradient's component along an axis over the block's edges along that
    /// same axis, in steps of 1 / [`SLOPE_STEPS`]. First the four x edges, at (y, z) = (0, 0), (1,
    /// 0), (0, 1), (1, 1); then the four y edges by (x, z); then the four z edges by (x, y), and
    /// four unused.
    pub(crate) bends: [[i16; 8]; 2],
}

/// Offset from a node to the next along x, in a row of bricks.
const NEXT_X: usize = 4;

/// The nodes of a grid in bricks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bricks {
    bricks: Vec<Brick>,
    /// Number of bricks along x, y and z.
    count: UVec3,
}

/// Returns the number of bricks along each axis.
pub(crate) fn brick_count(layout: &GridLayout) -> UVec3 {
    UVec3::from(layout.nodes.to_array().map(|n| n.div_ceil(2)))
}

impl Brick {
    /// Returns the node of this brick for a place in the grid.
    pub(crate) fn node_mut(&mut self, place: UVec3) -> &mut [u16; 4] {
        &mut self.0[slot_in_brick(place)]
    }
}

impl Bricks {
    pub(crate) fn new(layout: &GridLayout, bricks: Vec<Brick>) -> Bricks {
        Bricks {
            bricks,
            count: brick_count(layout),
        }
    }

    /// Arranges nodes given in rows, x fastest.
    pub(crate) fn of_rows(layout: &GridLayout, nodes: &[[u16; 4]]) -> Bricks {
        let count = brick_count(layout);
        let all = count.to_array().iter().map(|&n| n as usize).product();
        let mut bricks: Vec<Brick> = room_for(all).unwrap_or_default();
        bricks.resize(all, Brick::default());
        let mut nodes = nodes.iter();
        for z in 0..layout.nodes.z {
            for y in 0..layout.nodes.y {
                for (x, &node) in (0..layout.nodes.x).zip(&mut nodes) {
                    let place = UVec3::new(x, y, z);
                    *bricks[place_index(count, place / 2)].node_mut(place) = node;
                }
            }
        }
        Bricks { bricks, count }
    }

    /// Iterates over the nodes in rows, x fastest.
    pub(crate) fn in_rows(&self, layout: &GridLayout) -> impl Iterator<Item = [u16; 4]> {
        let nodes = layout.nodes;
        (0..nodes.z).flat_map(move |z| {
            (0..nodes.y).flat_map(move |y| {
                (0..nodes.x).map(move |x| {
                    let place = UVec3::new(x, y, z);
                    self.node(place)
                })
            })
        })
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.bricks.as_slice())
    }

    pub(crate) fn node(&self, place: UVec3) -> [u16; 4] {
        self.bricks[place_index(self.count, place / 2)].0[slot_in_brick(place)]
    }

    /// Returns the indices of a cell's nodes with the lower x, for (y, z) = (0, 0), (1, 0), (0, 1),
    /// (1, 1). [`Self::pair`] reads such a node and the next along x.
    #[inline(always)]
    pub(crate) fn rows(&self, [x, y, z]: [u32; 3]) -> [u64; 4] {
        let row = 2 * NEXT_X as u64 * u64::from(self.count.x);
        let plane = row * u64::from(self.count.y);
        let along_y = |y: u32| u64::from(y >> 1) * row + u64::from(y & 1);
        let along_z = |z: u32| u64::from(z >> 1) * plane + u64::from((z & 1) << 1);
        let x = NEXT_X as u64 * u64::from(x);
        let (y0, y1) = (x + along_y(y), x + along_y(y + 1));
        let (z0, z1) = (along_z(z), along_z(z + 1));
        [y0 + z0, y1 + z0, y0 + z1, y1 + z1]
    }

    /// Computes [`Self::rows`] of [`LANES`] cells, without branches and calls, so that the compiler
    /// vectorises it.
    #[inline(always)]
    pub(crate) fn rows_of_eight(&self, [x, y, z]: &[[u32; LANES]; 3]) -> [[u64; LANES]; 4] {
        let mut rows = [[0; LANES]; 4];
        for i in 0..LANES {
            let [a, b, c, d] = self.rows([x[i], y[i], z[i]]);
            rows[0][i] = a;
            rows[1][i] = b;
            rows[2][i] = c;
            rows[3][i] = d;
        }
        rows
    }

    /// Returns a node of [`Self::rows`] and the next along x.
    #[inline(always)]
    pub(crate) fn pair(&self, first: u64) -> [&[u16; 4]; 2] {
        let nodes: &[[u16; 4]] = bytemuck::cast_slice(&self.bricks);
        let first = first as usize;
        let both = &nodes[first..first + NEXT_X + 1];
        [&both[0], &both[NEXT_X]]
    }
}

fn slot_in_brick(node: UVec3) -> usize {
    ((node.y & 1) | (node.z & 1) << 1 | (node.x & 1) << 2) as usize
}

/// Computes the corners of all blocks, x fastest, from coarse nodes that hold half the gradient in
/// multiples of 1 / [`SLOPE_STEPS`] and the distance in cells.
pub(crate) fn corners_of_blocks(coarse_nodes: UVec3, coarse: &[[f32; 4]]) -> Vec<Corners> {
    let blocks = coarse_nodes - UVec3::ONE;
    let count = blocks.to_array().iter().map(|&n| n as usize).product();
    let mut all = room_for(count).unwrap_or_default();
    for block in places(UVec3::ZERO, blocks - UVec3::ONE) {
        let nodes: [[f32; 4]; 8] =
            std::array::from_fn(|i| coarse[place_index(coarse_nodes, corner(block, i))]);
        let bend = |axis: usize, from: usize| {
            let steps = |i: usize| (SLOPE_STEPS * nodes[i][axis]) as i16;
            steps(from | 1 << axis) - steps(from)
        };
        let [x, y, z] = EDGES;
        all.push(Corners {
            distances: nodes.map(|node| node[3]),
            bends: [
                std::array::from_fn(|i| {
                    if i < 4 {
                        bend(0, x[i])
                    } else {
                        bend(1, y[i - 4])
                    }
                }),
                std::array::from_fn(|i| if i < 4 { bend(2, z[i]) } else { 0 }),
            ],
        });
    }
    all
}

/// Corners at which the edges along each axis begin, in the order of [`Corners::bends`].
const EDGES: [[usize; 4]; 3] = [[0, 2, 4, 6], [0, 1, 4, 5], [0, 1, 2, 3]];

/// Rounds a slope to one that a coarse node can store; the halves hold the rest.
pub(crate) fn stored_slope(slope: f64) -> f32 {
    let steps = f64::from(SLOPE_STEPS);
    ((slope * steps).round().clamp(-127.0, 127.0) / steps) as f32
}
