//! Converts stored fields of any kind to dense grids; used by `stored.rs`.
//!
//! Input: a field and the layout of the nodes.
//! Output: a [`DenseGrid`] with an error bound, proven in `stored.rs`.
//! Cost: one lookup per node, and one more per cell of a sparse field; all cores.
//! Not for: Taylor grids and voxmaps at their own nodes, which have a more exact conversion.

use std::sync::atomic::AtomicU64;

use glam::UVec3;

use crate::bake::check;
use crate::bake::convert::settings::{ConvertError, step};
use crate::bake::progress::Progress;
use crate::field::{DenseGrid, Field, GridLayout, SparseBlocks, StoredField};
use crate::geom::corner;
use crate::geom::lanes::room_for;
use crate::threads;

fn allocate(layout: &GridLayout) -> Result<Vec<f32>, ConvertError> {
    let count = layout.node_count();
    let none = || ConvertError::OutOfMemory {
        bytes: 4u64.saturating_mul(count),
    };
    let count = usize::try_from(count).map_err(|_| none())?;
    let mut values = room_for(count).map_err(|_| none())?;
    values.resize(count, 0.0);
    Ok(values)
}

/// Samples any field at the nodes of a grid that lies within half a cell of its AABB.
pub(crate) fn sample(
    field: &StoredField,
    layout: GridLayout,
    progress: Progress<'_>,
) -> Result<DenseGrid, ConvertError> {
    let mut values = allocate(&layout)?;
    let bounds = field.bounds();
    let beyond = rows(&layout, &mut values, progress, |y, z, values| {
        let mut beyond = 0.0f64;
        for (x, value) in (0u32..).zip(values) {
            let node = layout.node_position(UVec3::new(x, y, z));
            let point = bounds.closest_point(node.as_vec3());
            beyond = beyond.max(node.distance(point.as_dvec3()));
            *value = field.distance(point);
        }
        beyond
    })?;
    let rounding = check::rounding(&layout, check::largest_of(&values));
    let error = f64::from(field.error_bound()) + beyond + check::half_diagonal(&layout) + rounding;
    Ok(DenseGrid::new(
        layout,
        values,
        field.solid(),
        (error as f32).next_up(),
    )?)
}

/// Converts a sparse field to a dense grid at the nodes of its finest cells.
pub(crate) fn unfold(
    blocks: &SparseBlocks,
    layout: GridLayout,
    progress: Progress<'_>,
) -> Result<DenseGrid, ConvertError> {
    let mut values = allocate(&layout)?;
    let bounds = blocks.bounds();
    let position = |node: UVec3| bounds.closest_point(layout.node_position(node).as_vec3());
    // Sample the nodes.
    rows(&layout, &mut values, progress, |y, z, values| {
        for (x, value) in (0u32..).zip(values) {
            *value = blocks.distance(position(UVec3::new(x, y, z)));
        }
        0.0
    })?;
    // Measure, per cell, how far the dense values differ from those of the block that holds the
    // cell.
    let cells = layout.cells();
    let row_count = cells.y as usize * cells.z as usize;
    let middle = |cell: UVec3| {
        let low = layout.node_position(cell);
        (low + 0.5 * f64::from(layout.cell_size)).as_vec3()
    };
    let errors = threads::map(row_count, |row| {
        let (y, z) = (row as u32 % cells.y, row as u32 / cells.y);
        let mut worst = 0.0f32;
        for cell in (0..cells.x).map(|x| UVec3::new(x, y, z)) {
            let (seen, error) = blocks.seen_from(middle(cell), layout.cell_size);
            let difference = (0..8)
                .map(|i| (values[layout.node_index(corner(cell, i))] - seen[i]).abs())
                .fold(0.0, f32::max);
            worst = worst.max(error + difference);
        }
        worst
    });
    let worst = errors.into_iter().fold(0.0, f32::max);
    // If the grid begins within the blocks, rounding to `f32` may have moved it.
    let from_blocks = layout.origin.as_dvec3() - blocks.layout().origin.as_dvec3();
    let size = f64::from(layout.cell_size);
    let moved = from_blocks.distance((from_blocks / size).round() * size);
    let rounding = check::rounding(&layout, check::largest_of(&values));
    let error = f64::from(worst) + moved + rounding;
    Ok(DenseGrid::new(
        layout,
        values,
        blocks.solid(),
        (error as f32).next_up(),
    )?)
}

/// Runs `work` on every row of nodes of a grid, and reports progress. Returns the largest result.
fn rows<T: Send>(
    layout: &GridLayout,
    values: &mut [T],
    progress: Progress<'_>,
    work: impl Fn(u32, u32, &mut [T]) -> f64 + Sync + Send,
) -> Result<f64, ConvertError> {
    let done = AtomicU64::new(0);
    let total = u64::from(layout.nodes.y) * u64::from(layout.nodes.z);
    let found = threads::map_pieces(values, layout.nodes.x as usize, |row, values| {
        let row = row as u64;
        let (y, z) = (
            row % u64::from(layout.nodes.y),
            row / u64::from(layout.nodes.y),
        );
        step(progress, &done, total)?;
        Ok(work(y as u32, z as u32, values))
    });
    let found = found
        .into_iter()
        .collect::<Result<Vec<f64>, ConvertError>>()?;
    Ok(found.into_iter().fold(0.0, f64::max))
}
