//! A field along a straight line: the cells it passes, the blocks it can skip, and the field's
//! values in them.

pub(crate) mod block_planes;
pub(crate) mod field_octree;
pub(crate) mod line;
pub(crate) mod min_max_octree;
pub(crate) mod piece;
pub(crate) mod pieces;
pub(crate) mod rough_line;
pub(crate) mod sparse_octree;
pub(crate) mod sparse_planes;

pub use field_octree::FieldOctree;
pub use min_max_octree::{CellRanges, Cells, LeafSide, MinMaxOctree};
pub use sparse_octree::{SparseNode, SparseOctree};
