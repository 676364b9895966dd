//! Baking: from a triangle mesh to a distance field whose error is known. Offline; the run time never imports it.

pub(crate) mod check;
pub(crate) mod convert;
pub(crate) mod dense;
pub(crate) mod distance;
pub(crate) mod exact_distance;
pub(crate) mod offset;
pub mod pointshell;
pub(crate) mod settings;
pub(crate) mod sign;
pub(crate) mod sparse;
pub(crate) mod taylor;
pub(crate) mod update;
pub(crate) mod voxel;

pub use convert::{
    ConvertError, ConvertSettings, Given, GivenError, IsosurfaceError, IsosurfaceSettings, Keep,
    Promise, Target, convert, converted_provenance, given_grid, hull_of_mesh, isosurface,
    surface_of_mesh,
};
pub use dense::{BakeError, BakeReport, Baked, bake, bake_on};
pub use exact_distance::ExactDistance;
pub use offset::OffsetWidth;
pub use settings::{BakeSettings, Method, Resolution, Stage, Step};
pub use sign::SignChoice;
pub use sparse::{BakedSparse, Bits, SparseGoal, SparseSettings, bake_sparse, bake_sparse_on};
pub use taylor::{BakedTaylor, bake_taylor};
pub use update::{
    Before, Rebaked, RebakedSparse, SparseBefore, changed_box, rebake, rebake_sparse,
};
pub use voxel::{
    BakedVoxmap, ClosestPoints, VoxmapBakeError, VoxmapSettings, bake_voxmap, surface_voxels,
};
