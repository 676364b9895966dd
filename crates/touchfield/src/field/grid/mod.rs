//! Grids of nodes: dense, first-order (Taylor), and layered voxels.

pub(crate) mod dense_grid;
pub(crate) mod frame;
pub(crate) mod layered_voxmap;
pub(crate) mod layout;
pub(crate) mod packet;
pub(crate) mod taylor_encode;
pub(crate) mod taylor_grid;
pub(crate) mod taylor_layout;
pub(crate) mod torn;
pub(crate) mod trilinear;

pub use dense_grid::DenseGrid;
pub use layered_voxmap::{
    Encoding, LayeredVoxmap, MOST_PRECISION, Sampling, VoxelValues, VoxmapError, turned,
};
#[cfg(feature = "bake")]
pub(crate) use layered_voxmap::{error_everywhere, voxel_center};
pub use layout::{GridError, GridLayout};
#[cfg(feature = "bake")]
pub(crate) use taylor_encode::{Encoded, TaylorEncoder};
pub use taylor_grid::{TaylorError, TaylorGrid};
#[cfg(feature = "bake")]
pub(crate) use taylor_layout::Brick;
#[cfg(feature = "bake")]
pub(crate) use torn::torn_cells;
