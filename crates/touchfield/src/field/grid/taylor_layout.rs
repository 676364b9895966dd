//! How a Taylor grid lies in memory: nodes in bricks of two a side, and the corners of each block of cells, one line of the cache each.
//!
//! Input: places of nodes. Output: what is stored there. Cost: the eight corners of a cell lie in 3.4 lines on average, where rows of nodes
//! would spread them over 4.5, and all that the coarse nodes say of it is in one more, where they would take five.
//! Not for: files, in which nodes stand in rows.

use glam::UVec3;

use crate::field::grid::layout::GridLayout;
use crate::geom::lanes::{LANES, room_for};
use crate::geom::{corner, place_index, places};

/// Steps of a coarse slope: fine enough that halves lose nothing by it, few enough that their differences are whole numbers of sixteen bits.
pub(crate) const SLOPE_STEPS: f32 = 128.0;

/// Two nodes along each side: bits of half floats. y is fastest and x slowest, so that a node and the next along x are [`NEXT_X`] apart everywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub(crate) struct Brick([[u16; 4]; 8]);

/// What the coarse nodes at the corners of a block hold, as far as samples need it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct Corners {
    /// In cells, x fastest.
    pub(crate) distances: [f32; 8],
    /// By how many steps of 1 / [`SLOPE_STEPS`] half the gradient along an axis changes along that same axis, on the four edges that run
    /// so: (y, z) = (0, 0), (1, 0), (0, 1), (1, 1) for x, then as many (x, z) for y; (x, y) for z, and four that count for nothing.
    pub(crate) bends: [[i16; 8]; 2],
}

/// From a node to the next along x, in a row of bricks.
const NEXT_X: usize = 4;

/// The nodes of a grid in bricks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bricks {
    bricks: Vec<Brick>,
    /// Along x, y and z.
    count: UVec3,
}

/// How many bricks there are along each axis.
pub(crate) fn brick_count(layout: &GridLayout) -> UVec3 {
    UVec3::from(layout.nodes.to_array().map(|n| n.div_ceil(2)))
}

impl Brick {
    /// The node at a place of the grid, of those that share its brick.
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

    /// From nodes in rows, x fastest.
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

    /// Nodes in rows, x fastest.
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

    /// The nodes of a cell: which is the first of two along x, for each of (y, z) = (0, 0), (1, 0), (0, 1), (1, 1).
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

    /// [`Self::rows`] of many cells: without branches and calls, so that the compiler counts several at a time.
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

    /// A node of [`Self::rows`] and the next along x.
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

/// The corners of all blocks from coarse nodes, x fastest: half the gradient in multiples of 1 / [`SLOPE_STEPS`], and the distance in cells.
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

/// The corners that the edges along each axis begin at, in the order of [`Corners::bends`].
const EDGES: [[usize; 4]; 3] = [[0, 2, 4, 6], [0, 1, 4, 5], [0, 1, 2, 3]];

/// A slope as it can be stored of a coarse node: the rest is left to the halves.
pub(crate) fn stored_slope(slope: f64) -> f32 {
    let steps = f64::from(SLOPE_STEPS);
    ((slope * steps).round().clamp(-127.0, 127.0) / steps) as f32
}
