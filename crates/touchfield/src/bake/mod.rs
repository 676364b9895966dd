//! Baking: from a triangle mesh to a distance field whose error is known. Offline; the run time never imports it.

#[expect(clippy::module_inception, reason = "the entry is the module's subject")]
mod bake;
mod band;
mod blocks;
mod bound_tree;
mod brute_force;
mod cell_error;
mod chamfer;
mod check;
mod convert;
mod convert_to_dense;
mod convert_to_sparse;
mod exact_bvh;
mod exact_distance;
mod fast_marching;
mod given;
mod isosurface;
mod mend;
mod nodes;
mod patches;
mod scan_conversion;
mod settings;
mod sign;
mod sparse;
mod sparse_band;
mod sparse_tolerance;
mod taylor;
mod vector_distance;
mod voxelise;
mod voxmap;

pub use bake::{BakeError, BakeReport, Baked, bake};
pub use convert::{ConvertError, ConvertSettings, Keep, Target, convert, converted_provenance};
pub use exact_distance::ExactDistance;
pub use given::{Given, GivenError, Promise, given_grid};
pub use isosurface::{IsosurfaceError, IsosurfaceSettings, isosurface};
pub use settings::{BakeSettings, Method, Resolution, Stage, Step};
pub use sign::SignChoice;
pub use sparse::{BakedSparse, Bits, SparseGoal, SparseSettings, bake_sparse};
pub use taylor::{BakedTaylor, bake_taylor};
pub use voxelise::surface_voxels;
pub use voxmap::{BakedVoxmap, ClosestPoints, VoxmapBakeError, VoxmapSettings, bake_voxmap};
