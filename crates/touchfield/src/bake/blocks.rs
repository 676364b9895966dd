//! Block-by-block traversal of the nodes of a grid, on all cores; each thread writes only its own
//! layers.
//!
//! Neighbouring nodes have nearly the same nearest triangle, so all nodes of a block share one
//! search.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use glam::{DVec3, UVec3};

use crate::bake::progress::{Progress, Stage, Step};
use crate::field::GridLayout;
use crate::geom::lanes::LANES;
use crate::geom::{place_index, places};
use crate::threads;

/// Nodes along a side of a block. The fastest of 2, 4 and 8 on the bunny at 128³ with one search
/// per node: 2 spends its time gathering, 8 on candidates that only the far corner needs.
pub(crate) const SIDE: u32 = 4;

/// A box of nodes from `first` to `last`, both inclusive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) first: UVec3,
    pub(crate) last: UVec3,
    pub(crate) center: DVec3,
    /// Distance from the centre to a corner node \[m\].
    pub(crate) radius: f64,
}

impl Block {
    fn new(layout: &GridLayout, first: UVec3, side: u32, end: UVec3) -> Block {
        let last = (first + side).min(end) - UVec3::ONE;
        let (low, high) = (layout.node_position(first), layout.node_position(last));
        Block {
            first,
            last,
            center: 0.5 * (low + high),
            radius: 0.5 * low.distance(high),
        }
    }

    /// Returns all nodes, x fastest.
    pub(crate) fn nodes(self) -> impl Iterator<Item = UVec3> {
        places(self.first, self.last)
    }

    /// Returns all nodes in packets of eight that lie close together: two along each axis, or more
    /// along the others where a block is flat.
    ///
    /// An axis with an odd number of nodes is split, so its last layer forms flat packets of its
    /// own. A packet that is longer than the nodes left repeats some of them. The 27 nodes of a
    /// block of 3 × 3 × 3 come row by row: four packets instead of eight.
    pub(crate) fn eights(self) -> impl Iterator<Item = [UVec3; LANES]> {
        let is_small = self.last - self.first == UVec3::splat(2);
        let [parts, rows] = if is_small { [0, 4] } else { [8, 0] };
        let by_parts = (0..parts)
            .filter_map(move |part| self.part(part))
            .flat_map(packets);
        by_parts.chain((0..rows).map(move |packet| self.eight_of_27(packet)))
    }

    /// Returns packet `packet` of the four that hold the 27 nodes of a block of 3 × 3 × 3, x
    /// fastest. The last node is repeated.
    fn eight_of_27(self, packet: usize) -> [UVec3; LANES] {
        std::array::from_fn(|i| {
            let place = (packet * LANES + i).min(26) as u32;
            self.first + UVec3::new(place % 3, place / 3 % 3, place / 9)
        })
    }

    /// Returns the first and last node of one of eight parts of the block.
    ///
    /// Bit `axis` of `part` selects, on an axis with an odd number of nodes (more than one), the
    /// last layer if it is set, else all layers but the last. Returns `None` if the part is empty.
    fn part(self, part: usize) -> Option<[UVec3; 2]> {
        let [mut first, mut last] = [self.first, self.last];
        for axis in 0..3 {
            let is_odd = last[axis] > first[axis] && (last[axis] - first[axis]).is_multiple_of(2);
            match (is_odd, part >> axis & 1) {
                (true, 0) => last[axis] -= 1,
                (true, _) => first[axis] = last[axis],
                (false, 0) => {}
                (false, _) => return None,
            }
        }
        Some([first, last])
    }
}

/// Returns the nodes from `first` to `last` in packets.
fn packets([first, last]: [UVec3; 2]) -> impl Iterator<Item = [UVec3; LANES]> {
    let [x, y, z] = packet_shape(last - first + UVec3::ONE);
    let (ly, lz) = (x.trailing_zeros(), (x * y).trailing_zeros());
    (first.z..=last.z)
        .step_by(z as usize)
        .flat_map(move |from_z| {
            (first.y..=last.y)
                .step_by(y as usize)
                .flat_map(move |from_y| {
                    (first.x..=last.x).step_by(x as usize).map(move |from_x| {
                        let from = UVec3::new(from_x, from_y, from_z);
                        let mut nodes = [from; LANES];
                        for (i, node) in nodes.iter_mut().enumerate() {
                            let i = i as u32;
                            let place = UVec3::new(i & (x - 1), (i >> ly) & (y - 1), i >> lz);
                            *node = (from + place).min(last);
                        }
                        nodes
                    })
                })
        })
}

/// Returns the nodes along x, y and z of one packet, for a block of this size.
#[inline(always)]
fn packet_shape(size: UVec3) -> [u32; 3] {
    match size.to_array().map(|n| n > 1) {
        [true, true, true] | [false, false, false] => [2, 2, 2],
        [true, true, false] => [4, 2, 1],
        [true, false, true] => [4, 1, 2],
        [false, true, true] => [1, 4, 2],
        [true, false, false] => [8, 1, 1],
        [false, true, false] => [1, 8, 1],
        [false, false, true] => [1, 1, 8],
    }
}

/// Returns the index of the block that holds a node, x fastest.
pub(crate) fn block_index(layout: &GridLayout, node: UVec3) -> usize {
    let blocks = UVec3::from(layout.nodes.to_array().map(|n| n.div_ceil(SIDE)));
    place_index(blocks, node / SIDE)
}

/// Returns the bit of a node in a mask over the nodes of its block.
pub(crate) fn node_bit(node: UVec3) -> u64 {
    const { assert!(SIDE * SIDE * SIDE == u64::BITS) };
    let place = node % SIDE;
    1 << ((place.z * SIDE + place.y) * SIDE + place.x)
}

/// Counts from low to high on even turns, and back on odd ones.
fn snake(low: u32, high: u32, turn: u32) -> impl Iterator<Item = u32> {
    (low..=high).map(move |i| {
        if turn.is_multiple_of(2) {
            i
        } else {
            low + high - i
        }
    })
}

/// A box of nodes and the storage of their values, x fastest.
pub(crate) struct Piece<'a> {
    pub(crate) layout: &'a GridLayout,
    pub(crate) first: UVec3,
    /// Number of nodes along x, y and z.
    pub(crate) size: UVec3,
    /// Nodes along a side of its blocks.
    pub(crate) side: u32,
    pub(crate) values: &'a mut [f32],
}

impl Piece<'_> {
    /// Returns a shorter borrow of this piece.
    pub(crate) fn reborrow(&mut self) -> Piece<'_> {
        Piece {
            values: &mut *self.values,
            ..*self
        }
    }

    /// Copies the values of `part`, which lies within this piece.
    pub(crate) fn copy_from(&mut self, part: &Piece<'_>) {
        let row = part.size.x as usize;
        for (index, values) in part.values.chunks_exact(row).enumerate() {
            let (y, z) = (index as u32 % part.size.y, index as u32 / part.size.y);
            let slot = self.slot(part.first + UVec3::new(0, y, z));
            self.values[slot..slot + row].copy_from_slice(values);
        }
    }

    /// Returns the blocks of this piece; every other row of them runs backwards along x.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = Block> + use<> {
        let (layout, first, size, side) = (*self.layout, self.first, self.size, self.side);
        let step = side as usize;
        (0..size.z).step_by(step).flat_map(move |z| {
            (0..size.y).step_by(step).flat_map(move |y| {
                let columns = size.x.div_ceil(side);
                snake(0, columns - 1, y / side).map(move |column| {
                    let from = first + UVec3::new(column * side, y, z);
                    Block::new(&layout, from, side, first + size)
                })
            })
        })
    }

    /// Returns the index of a node in `values`.
    #[inline]
    pub(crate) fn slot(&self, node: UVec3) -> usize {
        place_index(self.size, node - self.first)
    }
}

/// Runs `work` on every layer of blocks, in parallel, and returns its results in order; `None` when
/// cancelled.
pub(crate) fn for_each_layer<R: Send>(
    layout: &GridLayout,
    values: &mut [f32],
    stage: Stage,
    progress: Progress<'_>,
    work: impl Fn(Piece<'_>) -> R + Sync,
) -> Option<Vec<R>> {
    let plane = layout.nodes.x as usize * layout.nodes.y as usize;
    let total = u64::from(layout.nodes.z.div_ceil(SIDE));
    let done = AtomicU64::new(0);
    let cancelled = AtomicBool::new(false);
    let run = |index: usize, values: &mut [f32]| {
        if cancelled.load(Ordering::Relaxed) {
            return None;
        }
        let z = index as u32 * SIDE;
        let [nx, ny, nz] = layout.nodes.to_array();
        let result = work(Piece {
            layout,
            first: UVec3::new(0, 0, z),
            size: UVec3::new(nx, ny, SIDE.min(nz - z)),
            side: SIDE,
            values,
        });
        let done = 1 + done.fetch_add(1, Ordering::Relaxed);
        if progress(Step { stage, done, total }) == ControlFlow::Break(()) {
            cancelled.store(true, Ordering::Relaxed);
        }
        Some(result)
    };
    let results = threads::map_pieces(values, plane * SIDE as usize, run);
    let complete = !cancelled.load(Ordering::Relaxed);
    complete.then(|| results.into_iter().flatten().collect())
}

/// Runs `work(true, z)` on all planes upwards, then `work(false, z)` downwards, one after the
/// other; returns `None` when cancelled.
pub(crate) fn two_passes(
    planes: usize,
    progress: Progress<'_>,
    mut work: impl FnMut(bool, usize),
) -> Option<()> {
    let upwards = (0..planes).map(|z| (true, z));
    let downwards = (0..planes).rev().map(|z| (false, z));
    for (done, (forward, z)) in upwards.chain(downwards).enumerate() {
        work(forward, z);
        let step = Step {
            stage: Stage::Distances,
            done: done as u64 + 1,
            total: 2 * planes as u64,
        };
        if progress(step) == ControlFlow::Break(()) {
            return None;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_hold_every_node_and_no_other() {
        let first = UVec3::new(3, 0, 7);
        for size in places(UVec3::ONE, UVec3::splat(6)) {
            let block = Block {
                first,
                last: first + size - UVec3::ONE,
                center: DVec3::ZERO,
                radius: 0.0,
            };
            let mut nodes: Vec<[u32; 3]> = block.eights().flatten().map(Into::into).collect();
            nodes.sort_unstable();
            nodes.dedup();
            let mut all: Vec<[u32; 3]> = block.nodes().map(Into::into).collect();
            all.sort_unstable();
            assert_eq!(nodes, all, "{size}");
        }
    }
}
