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
mod exact_bvh;
mod exact_distance;
mod fast_marching;
mod isosurface;
mod marks;
mod mend;
mod nodes;
mod offset;
mod offset_sites;
mod patches;
mod rebake;
mod scan_conversion;
mod settings;
mod sign;
mod sparse;
mod taylor;
mod vector_distance;
mod voxelise;
mod voxmap;

pub use bake::{BakeError, BakeReport, Baked, bake, bake_on};
pub use exact_distance::ExactDistance;
pub use isosurface::{IsosurfaceError, IsosurfaceSettings, isosurface};
pub use offset::OffsetWidth;
pub use rebake::{Before, Rebaked, changed_box, rebake};
pub use settings::{BakeSettings, Method, Resolution, Stage, Step};
pub use sign::SignChoice;
pub use sparse::{BakedSparse, Bits, SparseGoal, SparseSettings, bake_sparse};
pub use taylor::{BakedTaylor, bake_taylor};
pub use voxelise::surface_voxels;
pub use voxmap::{ClosestPoints, VoxmapBakeError, VoxmapSettings, bake_voxmap};
