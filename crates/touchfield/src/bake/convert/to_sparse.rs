//! Converts dense grids to sparse fields, and sparse fields to other bits; used by `stored.rs`.
//!
//! Input: a [`DenseGrid`] whose sign changes at the surface only, or blocks.
//! Output: [`SparseBlocks`] with errors proven in `stored.rs`.
//! Cost: two passes over the values; all cores. Memory of blocks is counted as they are kept.
//! Not for: refining beyond the cells of the grid; that is `bake/sparse`.

use std::sync::atomic::AtomicU64;

use glam::{IVec3, UVec3};

use crate::bake::check;
use crate::bake::convert::settings::{Budget, ConvertError, Keep, step};
use crate::bake::packing::CELLS;
use crate::bake::packing::{Bits, Built, rounding_of};
use crate::bake::progress::Progress;
use crate::field::{DenseGrid, Field, GridLayout, PLAIN, SparseBlock, SparseBlocks, SparseParts};
use crate::geom::places;
use crate::threads;

/// Stores the same blocks with values of other bits.
pub(crate) fn with_bits(
    blocks: &SparseBlocks,
    bits: Bits,
    max_memory: u64,
) -> Result<SparseBlocks, ConvertError> {
    let parts = blocks.parts();
    let values = parts.values.len() as u64;
    let own_values = values * u64::from(parts.values.bits() / 8);
    let needed = 2 * blocks.bytes() as u64 - own_values + values * bits.bytes();
    if needed > max_memory {
        return Err(ConvertError::TooManyBlocks {
            needed,
            allowed: max_memory,
        });
    }
    let mut built = Built::new(bits);
    for block in &parts.blocks {
        let values = blocks.block_values(block);
        let index = built.push(block.cells_log2, &values, block.error.into(), 0.0);
        built.blocks[index as usize].children = block.children;
    }
    let parts = SparseParts {
        nodes: parts.nodes.clone(),
        cells: parts.cells.clone(),
        plain_error: parts.plain_error,
        blocks: built.blocks,
        children: parts.children.clone(),
        values: built.values,
        solid: parts.solid,
    };
    Ok(SparseBlocks::new(*blocks.layout(), parts)?.within(blocks.bounds())?)
}

/// A dense grid covered by whole blocks, with values at nodes beyond its border.
struct Covered<'a> {
    dense: &'a DenseGrid,
    /// Number of cells of the first block that lie before the first cell of the grid.
    before: IVec3,
    /// Coarse grid, whose cells are replaced by blocks.
    coarse: GridLayout,
    /// Distance by which rounding moved its origin \[m\].
    moved: f64,
}

impl Covered<'_> {
    fn of(dense: &DenseGrid) -> Result<Covered<'_>, ConvertError> {
        let layout = dense.layout();
        let cells = UVec3::from(layout.cells().to_array().map(|n| n.div_ceil(CELLS)));
        // Padded on both sides, so that no node is farther from the grid than it must be.
        let before = ((cells * CELLS - layout.cells()) / 2).as_ivec3();
        let exact = layout.origin.as_dvec3() - f64::from(layout.cell_size) * before.as_dvec3();
        let coarse = GridLayout {
            origin: exact.as_vec3(),
            cell_size: layout.cell_size * CELLS as f32,
            nodes: cells + UVec3::ONE,
        };
        coarse.check()?;
        Ok(Covered {
            dense,
            before,
            coarse,
            moved: exact.distance(coarse.origin.as_dvec3()),
        })
    }

    /// Returns the value of a fine node, counted from the first node of the first block \[m\].
    ///
    /// Beyond the grid there is no error bound. There it returns the middle of the interval that
    /// holds the distance, which makes coarse cells at the border fit best.
    fn node(&self, node: UVec3) -> f32 {
        let layout = self.dense.layout();
        let place = node.as_ivec3() - self.before;
        let inside = place.clamp(IVec3::ZERO, layout.cells().as_ivec3());
        let value = self.dense.values()[layout.node_index(inside.as_uvec3())];
        if inside == place {
            return value;
        }
        let size = f64::from(layout.cell_size);
        let point = layout.origin.as_dvec3() + size * place.as_dvec3();
        let beyond = size * (place - inside).as_dvec3().length();
        let upper = f64::from(value) + beyond;
        let lower = f64::from(self.dense.distance(point.as_vec3()));
        (0.5 * (lower + upper)) as f32
    }

    /// Writes the values of the nodes of a block.
    fn block(&self, cell: UVec3, values: &mut Vec<f32>) {
        values.clear();
        let first = cell * CELLS;
        values.extend(places(first, first + CELLS).map(|node| self.node(node)));
    }

    /// Returns the first and last node of a block that are nodes of the grid, counted from its
    /// first. Every block has some.
    fn shared(&self, cell: UVec3) -> [UVec3; 2] {
        let first = (cell * CELLS).as_ivec3() - self.before;
        let grid = self.dense.layout().cells().as_ivec3();
        let last = IVec3::splat(CELLS as i32);
        [
            (-first).clamp(IVec3::ZERO, last).as_uvec3(),
            (grid - first).clamp(IVec3::ZERO, last).as_uvec3(),
        ]
    }
}

/// Converts a dense grid whose sign changes at the surface only to blocks of eight cells per side.
pub(crate) fn fold(
    dense: &DenseGrid,
    keep: Keep,
    bits: Bits,
    budget: &Budget,
    progress: Progress<'_>,
) -> Result<SparseBlocks, ConvertError> {
    let covered = Covered::of(dense)?;
    let coarse = covered.coarse;
    let cells = coarse.cells();
    let rounding = check::rounding(&coarse, 0.0);
    let error = f64::from(dense.error_bound()) + covered.moved;
    let row_count = cells.y as usize * cells.z as usize;
    // Build the blocks row by row.
    let done = AtomicU64::new(0);
    let built = threads::map(row_count, |row| -> Result<Built, ConvertError> {
        step(progress, &done, row_count as u64)?;
        let (y, z) = (row as u32 % cells.y, row as u32 / cells.y);
        let mut built = Built::new(bits);
        let mut values = Vec::new();
        for cell in (0..cells.x).map(|x| UVec3::new(x, y, z)) {
            covered.block(cell, &mut values);
            let difference = coarse_difference(&values, covered.shared(cell));
            if is_kept(keep, dense.layout(), &values, difference) {
                let bytes = size_of::<SparseBlock>() as u64 + values.len() as u64 * bits.bytes();
                budget.take(bytes)?;
                let cells_log2 = CELLS.trailing_zeros() as u8;
                let block = built.push(cells_log2, &values, error, rounding);
                built.cells.push(block);
            } else {
                let rounding = rounding + rounding_of(check::largest_of(&values));
                built.plain_error = built.plain_error.max(error + difference + rounding);
                built.cells.push(PLAIN);
            }
        }
        Ok(built)
    });
    // Join the rows, and add the coarse nodes.
    let mut all = Built::new(bits);
    for row in built {
        all.append(row?);
    }
    let nodes = places(UVec3::ZERO, cells).map(|node| covered.node(node * CELLS));
    let parts = SparseParts {
        nodes: nodes.collect(),
        cells: all.cells,
        plain_error: (all.plain_error as f32).next_up(),
        blocks: all.blocks,
        children: all.children,
        values: all.values,
        solid: dense.solid(),
    };
    Ok(SparseBlocks::new(coarse, parts)?.within(dense.bounds())?)
}

fn is_kept(keep: Keep, layout: &GridLayout, values: &[f32], difference: f64) -> bool {
    match keep {
        Keep::All => true,
        Keep::Band(width) => {
            let nearest = values
                .iter()
                .fold(f32::INFINITY, |most, v| most.min(v.abs()));
            // Between nodes, the surface may be half a diagonal nearer.
            f64::from(nearest) <= width * f64::from(layout.cell_size) + check::half_diagonal(layout)
        }
        Keep::Tolerance(tolerance) => difference > tolerance,
    }
}

/// Returns the largest difference between interpolating the corners of a block and its values, from
/// node `first` to `last` \[m\].
fn coarse_difference(values: &[f32], [first, last]: [UVec3; 2]) -> f64 {
    let side = CELLS as usize + 1;
    let at = |x: usize, y: usize, z: usize| f64::from(values[(z * side + y) * side + x]);
    let end = CELLS as usize;
    let mix = |a: f64, b: f64, t: f64| a + (b - a) * t;
    let mut worst = 0.0f64;
    for z in first.z as usize..=last.z as usize {
        for y in first.y as usize..=last.y as usize {
            let [v, w] = [y, z].map(|n| n as f64 / end as f64);
            let edge = |x| {
                mix(
                    mix(at(x, 0, 0), at(x, end, 0), v),
                    mix(at(x, 0, end), at(x, end, end), v),
                    w,
                )
            };
            let (low, high) = (edge(0), edge(end));
            for x in first.x as usize..=last.x as usize {
                let coarse = mix(low, high, x as f64 / end as f64);
                worst = worst.max((coarse - at(x, y, z)).abs());
            }
        }
    }
    worst
}
