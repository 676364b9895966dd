//! A small sparse field, for tests that damage it.

use glam::{UVec3, Vec3};
use touchfield::field::{GridLayout, PLAIN, SparseBlock, SparseParts, SparseValues};
use touchfield::geom::Aabb;

/// Returns two coarse cells, the first replaced by a block whose first cell is replaced by another
/// block.
pub(crate) fn parts() -> (GridLayout, SparseParts) {
    let layout = GridLayout {
        origin: Vec3::ZERO,
        cell_size: 1.0,
        nodes: UVec3::new(3, 2, 2),
    };
    let block = |first_value, children| SparseBlock {
        cells_log2: 1,
        children,
        first_value,
        lowest: -0.5,
        step: 1e-4,
        error: 0.25,
    };
    let mut children = vec![PLAIN; 8];
    children[0] = 1;
    let parts = SparseParts {
        nodes: vec![0.5; 12],
        cells: vec![0, PLAIN],
        plain_error: 0.5,
        blocks: vec![block(0, 0), block(27, PLAIN)],
        children,
        values: SparseValues::Bits16((0..54).map(|i| i * 1201).collect()),
        solid: Aabb::new(Vec3::ZERO, Vec3::ONE),
    };
    (layout, parts)
}
