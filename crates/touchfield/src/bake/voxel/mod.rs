//! Voxels that the surface passes through, and the layers of voxels around them.

pub(crate) mod voxelise;
pub(crate) mod voxmap;

pub use voxelise::surface_voxels;
pub use voxmap::{ClosestPoints, VoxmapBakeError, VoxmapSettings, bake_voxmap};
