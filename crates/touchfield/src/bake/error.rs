//! Reasons for a failed bake: one small error type per cause, and [`BakeError`] to join them.

use glam::{DVec3, UVec3};

use crate::bake::settings::OffsetWidth;
use crate::field::GridError;
use crate::geom::DAabb;

/// Why a mesh cannot be baked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BakeError {
    /// The mesh has no surface to compute distances to.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// No grid fits the mesh and the settings.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The bake needs more memory than there is, or than it may take.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The sign method does not work on the mesh.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// The progress callback returned `Break`.
    #[error("the bake was cancelled")]
    Cancelled,
}

/// Why no distances to a mesh can be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeshError {
    /// The mesh has no faces.
    #[error("the mesh has no faces; a field needs a surface")]
    NoFaces,
    /// A face refers to a vertex that does not exist.
    #[error(
        "face {face} uses vertex {vertex}, but there are only {vertices}; repair the mesh first"
    )]
    MissingVertex {
        /// Index of the face.
        face: usize,
        /// Vertex index in that face.
        vertex: u32,
        /// Number of vertices.
        vertices: usize,
    },
    /// A vertex is NaN or infinite.
    #[error(
        "face {face} uses vertex {vertex} at {position}; repair the mesh first (it drops such faces)"
    )]
    NonFiniteVertex {
        /// Index of the face.
        face: usize,
        /// Index of the vertex.
        vertex: u32,
        /// Position of the vertex \[m\].
        position: DVec3,
    },
    /// The mesh is a single point, or larger than the number range.
    #[error("the mesh measures {extents} m; a grid needs a finite, positive size")]
    NoExtent {
        /// Sides of the AABB of the mesh \[m\].
        extents: DVec3,
    },
}

/// Why there is no grid for a mesh.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LayoutError {
    /// Padding leaves no cell for the mesh.
    #[error(
        "{nodes} nodes along the longest side leave no cell for the mesh after {padding} cells of padding on both sides; \
         use at least {least}", least = 2 * u64::from(*padding) + 2
    )]
    TooCoarse {
        /// Requested nodes along the longest side.
        nodes: u32,
        /// Requested padding \[cells\].
        padding: u32,
    },
    /// The cell size is not positive and finite.
    #[error("a cell size of {cell_size:?} m is not usable; it must be positive and finite")]
    BadCellSize {
        /// Requested cell size \[m\].
        cell_size: f64,
    },
    /// One side would need more nodes than can be counted.
    #[error("{cells:.3e} cells along one side are too many to count; use a larger cell size")]
    TooManyNodes {
        /// Cells along the longest side.
        cells: f64,
    },
    /// The grid is not valid.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// The method numbers nodes by 32 bits, and there are more.
    #[error(
        "{nodes} nodes are more than the 4294967295 that this method can number; lower the resolution, or use the exact method"
    )]
    TooManyToNumber {
        /// Number of nodes.
        nodes: u64,
    },
    /// There are more cells than 32 bits can number, so doubtful ones could not be listed.
    #[error(
        "{cells} cells are more than the 4294967295 that can be numbered; lower the resolution"
    )]
    TooManyCells {
        /// Number of cells.
        cells: u64,
    },
    /// The offset width is not a usable radius of a ball.
    #[error("an offset width of {width} is not usable; it must be positive and finite")]
    BadOffsetWidth {
        /// Requested width.
        width: OffsetWidth,
    },
    /// The ball of the offset cannot roll around the mesh within the grid.
    #[error(
        "with an offset width of {width} on all sides, {nodes} nodes along the longest side leave no cell for the mesh; use a smaller width \
         or more nodes"
    )]
    OffsetTooWide {
        /// Requested width.
        width: OffsetWidth,
        /// Requested nodes along the longest side.
        nodes: u32,
    },
    /// The given grid does not hold the mesh.
    #[error(
        "the mesh reaches from {:?} to {:?} m, beyond the grid from {:?} to {:?} m; bake it anew",
        mesh.min.to_array(), mesh.max.to_array(), grid.min.to_array(), grid.max.to_array()
    )]
    BeyondGrid {
        /// AABB of the mesh \[m\].
        mesh: DAabb,
        /// AABB of the grid \[m\].
        grid: DAabb,
    },
}

/// Why a bake cannot have the memory that it needs.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MemoryError {
    /// The bake would take more memory than the limit allows.
    #[error(
        "a grid of {nodes} nodes takes {needed} bytes with the mesh, more than the {allowed} allowed; \
         {way_out}", way_out = memory_way_out(*fitting)
    )]
    TooMuchMemory {
        /// Number of nodes along x, y and z.
        nodes: UVec3,
        /// Memory the bake would take \[bytes\].
        needed: u64,
        /// The limit \[bytes\].
        allowed: u64,
        /// Nodes along the longest side that fit.
        fitting: u32,
    },
    /// The machine has less memory than the limit allows.
    #[error(
        "no {bytes} bytes are to be had for the grid; lower the resolution, and the memory limit to what this machine has"
    )]
    OutOfMemory {
        /// Requested memory \[bytes\].
        bytes: u64,
    },
}

/// Why a sign method cannot be used on a mesh.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SignError {
    /// Pseudonormals were chosen, but the surface has open edges.
    #[error("{open_edges} open edges; pseudonormal signs need a closed surface (try `winding`)")]
    OpenSurface {
        /// Number of edges with one face only.
        open_edges: usize,
    },
    /// Pseudonormals were chosen, but faces lie back to back.
    #[error(
        "{faces} faces lie back to back on another; pseudonormal signs need a surface with two sides (try `winding`)"
    )]
    OppositePairs {
        /// Number of faces with an opposite twin.
        faces: usize,
    },
    /// Given signs were chosen, but a mesh has none.
    #[error(
        "`given` signs belong to imported grids, not to meshes; choose another way (try `auto`)"
    )]
    GivenSigns,
    /// Brute force supports one sign method only: the winding number.
    #[error(
        "brute force uses the winding number for signs; it cannot use `{0}` (leave the choice open, or use the exact method)"
    )]
    BruteForceSign(&'static str),
    /// Signs by an offset surface were chosen where there is no dense grid to compute them on.
    #[error(
        "signs by an offset surface need a dense grid; they are not available for single points, Taylor \
         grids or voxmaps (bake a dense grid, or choose another sign)"
    )]
    OffsetNeedsDense,
}

fn memory_way_out(fitting: u32) -> String {
    if fitting < 2 {
        return "raise the limit: the mesh alone takes as much".to_owned();
    }
    format!(
        "lower the resolution (about {fitting} nodes along the longest side fit) or raise the limit"
    )
}

impl BakeError {
    /// Returns whether a limit was hit, rather than the input being bad.
    pub fn is_limit(&self) -> bool {
        matches!(
            self,
            BakeError::Memory(_)
                | BakeError::Layout(
                    LayoutError::TooManyNodes { .. }
                        | LayoutError::TooManyCells { .. }
                        | LayoutError::TooManyToNumber { .. }
                )
        )
    }
}

impl From<GridError> for BakeError {
    fn from(error: GridError) -> BakeError {
        LayoutError::Grid(error).into()
    }
}
