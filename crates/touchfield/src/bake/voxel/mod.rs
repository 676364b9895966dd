//! Voxels: those that the surface passes, and the layers around them.

pub(crate) mod voxelise;
pub(crate) mod voxmap;

pub use voxelise::surface_voxels;
pub use voxmap::{ClosestPoints, VoxmapBakeError, VoxmapSettings, bake_voxmap};
