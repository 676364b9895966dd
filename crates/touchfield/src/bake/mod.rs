//! Baking: builds a distance field with a known error from a triangle mesh. Offline; the run time
//! never imports it.

pub(crate) mod baked;
pub(crate) mod blocks;
pub(crate) mod check;
pub(crate) mod convert;
pub(crate) mod dense;
pub(crate) mod distance;
pub(crate) mod error;
pub(crate) mod exact_distance;
pub(crate) mod intake;
pub(crate) mod kind;
pub(crate) mod layout;
pub(crate) mod offset;
pub(crate) mod packing;
pub mod pointshell;
pub(crate) mod progress;
pub(crate) mod settings;
pub(crate) mod sign;
pub(crate) mod sparse;
pub(crate) mod taylor;
pub(crate) mod update;
pub(crate) mod voxel;

pub use baked::{BakeReport, Baked};
pub use convert::{
    ConvertError, ConvertSettings, Given, GivenError, IsosurfaceError, IsosurfaceSettings, Keep,
    Promise, Target, convert, converted_provenance, given_grid, hull_of_mesh, isosurface,
    surface_of_mesh,
};
pub use dense::{bake, bake_on, bake_with};
pub use distance::proposals::{FaceSearch, FaceSides, NodeBox, Proposal, ProposalReport, Surface};
pub use error::{BakeError, LayoutError, MemoryError, MeshError, SignError};
pub use exact_distance::ExactDistance;
pub use intake::frame_origin;
pub use kind::{FieldBakeError, FieldKind, bake_field, bake_field_elsewhere};
pub use packing::Bits;
pub use progress::{Progress, Stage, Step};
pub use settings::{BakeSettings, DistanceMethod, OffsetWidth, Resolution, SignChoice};
pub use sparse::{SparseBakeError, SparseGoal, SparseSettings, bake_sparse, bake_sparse_on};
pub use taylor::{TaylorBakeError, bake_taylor};
pub use update::{Before, Rebaked, SparseBefore, UpdateError, changed_box, rebake, rebake_sparse};
pub use voxel::{ClosestPoints, VoxmapBakeError, VoxmapSettings, bake_voxmap, surface_voxels};
