//! Signed distance fields: what the run time knows of a shape.
//!
//! A type that holds a number is built by a constructor that refuses what makes no shape ([`ParameterError`]);
//! one that only joins other fields ([`Union`], [`Intersection`], [`Difference`]) has public fields.

pub(crate) mod block_planes;
mod closure;
pub mod csg;
mod dense_grid;
#[expect(clippy::module_inception, reason = "the trait is the module's subject")]
mod field;
mod field_octree;
pub mod file;
mod grid_frame;
mod height_field;
pub(crate) mod lattice;
mod layered_voxmap;
pub mod level_set;
pub(crate) mod line;
mod min_max_octree;
mod outside;
mod packet;
pub(crate) mod parameter;
pub(crate) mod pieces;
pub mod primitive;
mod provenance;
mod recipe;
pub(crate) mod rough_line;
pub(crate) mod rounding;
mod sparse_blocks;
mod sparse_octree;
pub(crate) mod sparse_planes;
mod stored;
mod taylor_encode;
mod taylor_grid;
mod taylor_layout;
mod torn;
mod transform;
mod trilinear;
mod witness;

pub use closure::{Closure, Declared};
pub use csg::{Difference, Intersection, Union};
pub use dense_grid::{DenseGrid, GridError, GridLayout};
pub use field::{Field, LowerPlane, Meaning, Sample};
pub use field_octree::FieldOctree;
pub use height_field::{HeightField, HeightFieldError};
pub use layered_voxmap::{
    Encoding, LayeredVoxmap, MOST_PRECISION, Sampling, VoxelValues, VoxmapError, turned,
};
#[cfg(feature = "bake")]
pub(crate) use layered_voxmap::{error_everywhere, voxel_center};
pub use level_set::{Offset, Shell};
pub use min_max_octree::{CellRanges, Cells, LeafSide, MinMaxOctree};
pub use parameter::ParameterError;
pub use provenance::{Provenance, SignMethod};
pub use recipe::Recipe;
pub use sparse_blocks::{PLAIN, SparseBlock, SparseBlocks, SparseError, SparseParts, SparseValues};
pub use sparse_octree::{SparseNode, SparseOctree};
pub use stored::StoredField;
#[cfg(feature = "bake")]
pub(crate) use taylor_encode::{Encoded, TaylorEncoder};
pub use taylor_grid::{TaylorError, TaylorGrid};
#[cfg(feature = "bake")]
pub(crate) use taylor_layout::Brick;
#[cfg(feature = "bake")]
pub(crate) use torn::torn_cells;
pub use transform::Transformed;
