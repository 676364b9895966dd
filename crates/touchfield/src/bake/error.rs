//! Why there is no field: one small error for each thing that can be wrong, and one for a bake that joins them.

use glam::{DVec3, UVec3};

use crate::bake::settings::OffsetWidth;
use crate::field::GridError;
use crate::geom::DAabb;

/// Why a mesh cannot be baked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BakeError {
    /// The mesh has nothing to measure to.
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

/// What of a mesh cannot be measured to.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeshError {
    /// Nothing to measure to.
    #[error("the mesh has no faces; a field needs a surface")]
    NoFaces,
    /// A face names a vertex that does not exist.
    #[error(
        "face {face} uses vertex {vertex}, but there are only {vertices}; repair the mesh first"
    )]
    MissingVertex {
        /// The face.
        face: usize,
        /// The index it names.
        vertex: u32,
        /// How many there are.
        vertices: usize,
    },
    /// A vertex is NaN or infinite.
    #[error(
        "face {face} uses vertex {vertex} at {position}; repair the mesh first (it drops such faces)"
    )]
    NonFiniteVertex {
        /// The face.
        face: usize,
        /// Its vertex.
        vertex: u32,
        /// Where that is.
        position: DVec3,
    },
    /// The mesh is a single point, or larger than numbers go.
    #[error("the mesh measures {extents} m; a grid needs a finite, positive size")]
    NoExtent {
        /// Sides of its box.
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
        /// Asked for.
        nodes: u32,
        /// Asked for.
        padding: u32,
    },
    /// Not a length.
    #[error("a cell size of {cell_size:?} m is not usable; it must be positive and finite")]
    BadCellSize {
        /// Asked for \[m\].
        cell_size: f64,
    },
    /// A side would need more nodes than can be counted.
    #[error("{cells:.3e} cells along one side are too many to count; use a larger cell size")]
    TooManyNodes {
        /// Along the longest side.
        cells: f64,
    },
    /// The grid is impossible.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// Nodes that a method numbers by 32 bits.
    #[error(
        "{nodes} nodes are more than the 4294967295 that this method can number; lower the resolution, or use the exact method"
    )]
    TooManyToNumber {
        /// In all.
        nodes: u64,
    },
    /// More cells than doubtful ones could be numbered.
    #[error(
        "{cells} cells are more than the 4294967295 that can be numbered; lower the resolution"
    )]
    TooManyCells {
        /// In all.
        cells: u64,
    },
    /// No ball.
    #[error("an offset width of {width} is not usable; it must be positive and finite")]
    BadOffsetWidth {
        /// Asked for.
        width: OffsetWidth,
    },
    /// A ball that cannot roll around the mesh within the grid.
    #[error(
        "with an offset width of {width} on all sides, {nodes} nodes along the longest side leave no cell for the mesh; use a smaller width \
         or more nodes"
    )]
    OffsetTooWide {
        /// Asked for.
        width: OffsetWidth,
        /// Asked for.
        nodes: u32,
    },
    /// A grid was given that does not hold the mesh.
    #[error(
        "the mesh reaches from {:?} to {:?} m, beyond the grid from {:?} to {:?} m; bake it anew",
        mesh.min.to_array(), mesh.max.to_array(), grid.min.to_array(), grid.max.to_array()
    )]
    BeyondGrid {
        /// Box of the mesh.
        mesh: DAabb,
        /// Box of the grid.
        grid: DAabb,
    },
}

/// Memory that a bake may not take, or cannot have.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MemoryError {
    /// More memory than allowed.
    #[error(
        "a grid of {nodes} nodes takes {needed} bytes with the mesh, more than the {allowed} allowed; \
         {way_out}", way_out = memory_way_out(*fitting)
    )]
    TooMuchMemory {
        /// Nodes along x, y and z.
        nodes: UVec3,
        /// What it would take.
        needed: u64,
        /// The limit.
        allowed: u64,
        /// Nodes along the longest side that fit.
        fitting: u32,
    },
    /// The machine has less memory than the limit allows.
    #[error(
        "no {bytes} bytes are to be had for the grid; lower the resolution, and the memory limit to what this machine has"
    )]
    OutOfMemory {
        /// Asked for.
        bytes: u64,
    },
}

/// Why a sign method cannot be used on a mesh.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SignError {
    /// Pseudonormals were asked for.
    #[error("{open_edges} open edges; pseudonormal signs need a closed surface (try `winding`)")]
    OpenSurface {
        /// Edges with one face only.
        open_edges: usize,
    },
    /// Pseudonormals were asked for.
    #[error(
        "{faces} faces lie back to back on another; pseudonormal signs need a surface with two sides (try `winding`)"
    )]
    OppositePairs {
        /// Faces that have an opposite twin.
        faces: usize,
    },
    /// Signs were to be taken as given.
    #[error("a mesh gives no signs of its own; choose how to tell them (try `auto`)")]
    GivenSigns,
    /// The oracle knows one way only.
    #[error(
        "brute force tells inside by the winding number; it cannot use `{0}` (leave the choice open, or use the exact method)"
    )]
    BruteForceSign(&'static str),
    /// Signs by an offset were asked for where there is no grid to tell them.
    #[error(
        "signs by an offset surface are told on a dense grid; they are not to be had for single points, Taylor \
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
