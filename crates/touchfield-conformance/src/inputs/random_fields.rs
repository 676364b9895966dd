//! Stored fields with values that belong to no surface, for code that must be correct without true
//! distances.
//!
//! Input: a seed and a size.
//! Output: a field with every feature its kind has.
//! Not for: anything that needs true distances.
#![allow(
    clippy::unwrap_used,
    reason = "a field that cannot be made is a failed test"
)]

use glam::{UVec3, Vec3};
use touchfield::field::{
    DenseGrid, GridLayout, PLAIN, SparseBlock, SparseBlocks, SparseParts, SparseValues,
};

use crate::random::Random;

/// Error bound that exceeds the error against any possible distance \[m\].
const BEYOND_DOUBT: f32 = 20.0;

/// Returns a dense grid of random values.
pub fn random_dense(seed: u64, cells: UVec3) -> DenseGrid {
    let random = &mut Random::new(seed);
    let layout = GridLayout {
        origin: Vec3::new(-0.3, 1.0, 0.7),
        cell_size: 0.75,
        nodes: cells + 1,
    };
    let values = (0..layout.node_count()).map(|_| random.uniform(-1.0, 1.0) as f32);
    DenseGrid::new(layout, values.collect(), layout.bounds(), BEYOND_DOUBT).unwrap()
}

/// Returns nested blocks of all sizes, in any order that is allowed, with random values from a few
/// to all.
pub fn random_sparse(seed: u64, cells: UVec3) -> SparseBlocks {
    let random = &mut Random::new(seed);
    let layout = GridLayout {
        origin: Vec3::new(-0.3, 1.0, 0.7),
        cell_size: 0.75,
        nodes: cells + 1,
    };
    let count = cells.element_product() as usize;
    let few = random.below(2) == 0;
    let value = |random: &mut Random| match few {
        true => random.below(5) as f32 - 2.0,
        false => random.uniform(-1.0, 1.0) as f32,
    };
    let nodes = (0..layout.node_count()).map(|_| value(random)).collect();
    let (mut blocks, mut children) = (Vec::<SparseBlock>::new(), Vec::<u32>::new());
    let mut first_value = 0;
    let mut add = |random: &mut Random, children: u32| {
        let block = SparseBlock {
            cells_log2: 1 + random.below(3) as u8,
            children,
            first_value,
            lowest: 0.0,
            step: 1.0,
            error: BEYOND_DOUBT,
        };
        first_value += block.value_count();
        block
    };
    // A third of the coarse cells get a block.
    let mut references = vec![PLAIN; count];
    for reference in &mut references {
        if random.below(3) == 0 {
            *reference = blocks.len() as u32;
            blocks.push(add(random, PLAIN));
        }
    }
    // Blocks within the blocks so far, twice.
    let mut start = 0;
    for _ in 0..2 {
        let end = blocks.len();
        for parent in start..end {
            if random.below(4) > 0 {
                continue;
            }
            blocks[parent].children = children.len() as u32;
            for _ in 0..(blocks[parent].side() as usize).pow(3) {
                let within = random.below(9) == 0;
                children.push(if within { blocks.len() as u32 } else { PLAIN });
                if within {
                    let block = add(random, PLAIN);
                    blocks.push(block);
                }
            }
        }
        start = end;
    }
    // Values of 8, 16 or 32 bits, by the seed.
    let values = match seed % 3 {
        0 => SparseValues::Bits8((0..first_value).map(|_| random.bits() as u8).collect()),
        1 => SparseValues::Bits16((0..first_value).map(|_| random.bits() as u16).collect()),
        _ => SparseValues::Bits32((0..first_value).map(|_| value(random)).collect()),
    };
    let most = match values.bits() {
        8 => 255.0,
        16 => 65_535.0,
        _ => 1.0,
    };
    if values.bits() < 32 {
        for block in &mut blocks {
            // From all values alike, over steps below the resolution of `f32`, to wide ranges.
            block.lowest = random.uniform(-1.0, 1.0) as f32;
            let width = [0.0, 1e-9, 1e-3, 1.0][random.below(4)];
            block.step = width / most;
        }
    }
    let parts = SparseParts {
        nodes,
        cells: references,
        plain_error: BEYOND_DOUBT,
        blocks,
        children,
        values,
        solid: layout.bounds(),
    };
    SparseBlocks::new(layout, parts).unwrap()
}
