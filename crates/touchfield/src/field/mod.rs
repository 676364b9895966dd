//! Signed distance fields: the run-time representation of a shape.
//!
//! A type that holds a number is built by a constructor that rejects values that make no shape
//! ([`ParameterError`]). A type that only combines other fields ([`Union`], [`Intersection`],
//! [`Difference`]) has public fields.

pub(crate) mod along_line;
pub(crate) mod bounds;
pub(crate) mod closed_form;
#[expect(clippy::module_inception, reason = "the trait is the module's subject")]
pub(crate) mod field;
pub mod file;
pub(crate) mod grid;
pub(crate) mod lattice;
pub(crate) mod provenance;
pub(crate) mod recipe;
pub(crate) mod sparse;
pub(crate) mod stored;

pub use along_line::{
    CellRanges, Cells, FieldOctree, LeafSide, MinMaxOctree, SparseNode, SparseOctree,
};
pub use closed_form::{
    Closure, Declared, Difference, HeightField, HeightFieldError, Intersection, Offset,
    ParameterError, Transformed, Union, Wall, csg, level_set, primitive,
};
pub use field::{Field, LowerPlane, Meaning, Sample};
#[cfg(feature = "bake")]
pub(crate) use grid::{Brick, Encoded, TaylorEncoder, error_everywhere, torn_cells, voxel_center};
pub use grid::{
    DenseGrid, Encoding, GridError, GridLayout, LayeredVoxmap, MOST_PRECISION, Sampling,
    TaylorError, TaylorGrid, VoxelValues, VoxmapError, turned,
};
pub use provenance::{Provenance, SignMethod};
pub use recipe::Recipe;
pub use sparse::{PLAIN, SparseBlock, SparseBlocks, SparseError, SparseParts, SparseValues};
pub use stored::StoredField;
