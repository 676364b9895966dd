//! Settings and errors of conversions.

use crate::bake::packing::Bits;
use crate::bake::progress::{Progress, Stage, Step};
use crate::field::{
    Encoding, GridError, GridLayout, Sampling, SparseError, StoredField, TaylorError, VoxmapError,
};
use glam::UVec3;
use std::sync::atomic::{AtomicU64, Ordering};

/// Settings of a conversion. Written as `ConvertSettings { target: …, ..Default::default() }`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConvertSettings {
    /// Kind of storage to convert to.
    pub target: Target,
    /// Distance between nodes \[m\]; `None` keeps that of the finest cells of the source field.
    pub cell_size: Option<f64>,
    /// Whether every value is lowered by its error, so that the solid encloses the surface: keeps
    /// [`Provenance::conservative`](crate::field::Provenance::conservative) true.
    pub conservative: bool,
    /// Memory limit \[bytes\]. A conversion that would take more, the source field included, is
    /// refused before it starts.
    pub max_memory: u64,
}

impl Default for ConvertSettings {
    fn default() -> ConvertSettings {
        ConvertSettings {
            target: Target::Dense,
            cell_size: None,
            conservative: false,
            max_memory: crate::bake::settings::BakeSettings::default().max_memory,
        }
    }
}

/// Kind of storage that a field is converted to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// A value at every node.
    Dense,
    /// A value and a gradient at every node.
    Taylor,
    /// A coarse grid, and blocks of fine cells.
    Sparse {
        /// Blocks to keep.
        keep: Keep,
        /// Storage size of a value.
        bits: Bits,
    },
    /// A value for every voxel.
    Voxmap {
        /// Encoding of the stored values.
        encoding: Encoding,
        /// Sampling between voxels.
        sampling: Sampling,
    },
}

impl Target {
    /// Returns the word used on the command line and in JSON.
    pub fn kind(self) -> &'static str {
        match self {
            Target::Dense => "dense",
            Target::Taylor => "taylor",
            Target::Sparse { .. } => "sparse",
            Target::Voxmap { .. } => "voxmap",
        }
    }
}

/// Blocks that a sparse field keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Keep {
    /// All blocks; those of a sparse field are kept as they are.
    All,
    /// Blocks within this many cells of the surface.
    Band(f64),
    /// Blocks that the coarse grid does not reproduce within this \[m\].
    Tolerance(f64),
}

/// Why a field cannot be converted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConvertError {
    /// The conversion would take more memory than the limit allows.
    #[error(
        "stored {kind} it has {} × {} × {} nodes and takes {needed} bytes on the way, more than the {allowed} allowed; use cells of {fitting:e} m \
         or larger, or raise the limit", .nodes.x, .nodes.y, .nodes.z
    )]
    TooMuchMemory {
        /// Requested kind.
        kind: &'static str,
        /// Number of nodes of the intermediate dense grid along x, y and z.
        nodes: UVec3,
        /// Memory the conversion would take, the source field included \[bytes\].
        needed: u64,
        /// The limit \[bytes\].
        allowed: u64,
        /// Cell size that fits \[m\].
        fitting: f64,
    },
    /// The blocks take more memory than the limit allows.
    #[error(
        "the blocks take {needed} bytes so far, more than the {allowed} allowed; keep fewer, use fewer bits or larger cells, or \
         raise the limit"
    )]
    TooManyBlocks {
        /// Memory taken so far \[bytes\].
        needed: u64,
        /// The limit \[bytes\].
        allowed: u64,
    },
    /// The machine has less memory than the limit allows.
    #[error(
        "no {bytes} bytes are to be had; use larger cells, or lower the limit to what this machine has"
    )]
    OutOfMemory {
        /// Requested memory \[bytes\].
        bytes: u64,
    },
    /// The sign may change where there is no surface.
    #[error(
        "the sign may change without a surface, as beside a hole: neighbouring values jump, or the error of {error_bound} m exceeds a cell \
         of {cell_size} m; stored {kind} that would be lost (use dense or taylor, or bake a closed mesh)"
    )]
    Torn {
        /// Requested kind.
        kind: &'static str,
        /// Error bound of the source field \[m\].
        error_bound: f32,
        /// Finest cell size of the source field \[m\].
        cell_size: f32,
    },
    /// A solid that encloses the surface was requested, which a voxmap cannot store.
    #[error(
        "the numbers of a voxmap cannot be lowered by their error, so that its solid would not enclose the surface any more, as that of a \
         conservative field does; store it dense, taylor or sparse"
    )]
    ConservativeVoxmap,
    /// The cell size \[m\] is not positive and finite.
    #[error("a cell size of {0} m is not usable; it must be positive and finite")]
    BadCellSize(f64),
    /// One side would need more nodes than can be counted.
    #[error("{cells:.3e} cells along one side are too many to count; use a larger cell size")]
    TooManyNodes {
        /// Cells along the longest side.
        cells: f64,
    },
    /// The width of the band \[cells\] is not positive and finite.
    #[error("a band of {0} cells is not usable; it must be positive and finite")]
    BadBand(f64),
    /// The tolerance \[m\] is negative or not finite.
    #[error("a tolerance of {0} m is not usable; it must not be negative")]
    BadTolerance(f64),
    /// The grid is not valid.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// The nodes do not fit a Taylor grid.
    #[error(transparent)]
    Taylor(#[from] TaylorError),
    /// The values do not fit a voxmap.
    #[error(transparent)]
    Voxmap(#[from] VoxmapError),
    /// The blocks do not fit a sparse field.
    #[error(transparent)]
    Sparse(#[from] SparseError),
    /// The progress callback returned `Break`.
    #[error("the conversion was cancelled")]
    Cancelled,
}

impl ConvertError {
    /// Returns whether a limit was hit, rather than the input being bad.
    pub fn is_limit(&self) -> bool {
        matches!(
            self,
            ConvertError::TooMuchMemory { .. }
                | ConvertError::TooManyBlocks { .. }
                | ConvertError::OutOfMemory { .. }
                | ConvertError::TooManyNodes { .. }
        )
    }
}

/// Beginning of the note that a conversion leaves.
pub(crate) const CONVERTED: &str = "converted from";

/// Memory of a conversion, counted before it is allocated.
pub(crate) struct Budget {
    /// Memory of all but blocks \[bytes\].
    pub(crate) fixed: u64,
    pub(crate) allowed: u64,
    /// Memory of blocks so far \[bytes\].
    pub(crate) blocks: AtomicU64,
}

impl Budget {
    pub(crate) fn new(
        field: &StoredField,
        layout: &GridLayout,
        settings: &ConvertSettings,
    ) -> Result<Budget, ConvertError> {
        let nodes = layout.node_count();
        let a_node = match settings.target {
            Target::Dense => 4,
            Target::Taylor => 4 + 9,
            // Coarse nodes and cells, with a margin.
            Target::Sparse { .. } => 4 + 1,
            // Distances in `f64`, and the stored values.
            Target::Voxmap { encoding, .. } => 4 + 8 + encoding.bytes(),
        };
        let given = field.bytes() as u64;
        let needed = nodes.saturating_mul(a_node).saturating_add(given);
        let allowed = settings.max_memory;
        if needed > allowed {
            let room = allowed.saturating_sub(given).max(1) as f64;
            let larger = (needed.saturating_sub(given) as f64 / room).cbrt();
            return Err(ConvertError::TooMuchMemory {
                kind: settings.target.kind(),
                nodes: layout.nodes,
                needed,
                allowed,
                // Two digits, with a margin for whole cells.
                fitting: rounded_up(1.05 * larger * f64::from(layout.cell_size)),
            });
        }
        Ok(Budget {
            fixed: needed,
            allowed,
            blocks: AtomicU64::new(0),
        })
    }

    /// Counts memory for blocks; fails beyond the limit.
    pub(crate) fn take(&self, bytes: u64) -> Result<(), ConvertError> {
        let blocks = bytes + self.blocks.fetch_add(bytes, Ordering::Relaxed);
        let needed = self.fixed.saturating_add(blocks);
        if needed <= self.allowed {
            return Ok(());
        }
        Err(ConvertError::TooManyBlocks {
            needed,
            allowed: self.allowed,
        })
    }
}

/// Reports that one of `total` parts is begun; fails if the callback cancels.
pub(crate) fn step(
    progress: Progress<'_>,
    done: &AtomicU64,
    total: u64,
) -> Result<(), ConvertError> {
    let step = Step {
        stage: Stage::Distances,
        done: done.fetch_add(1, Ordering::Relaxed).min(total),
        total,
    };
    // After a cancellation, the count is set to `total`, so that all later calls fail too.
    if step.done >= total || progress(step).is_break() {
        done.store(total, Ordering::Relaxed);
        return Err(ConvertError::Cancelled);
    }
    Ok(())
}

/// Rounds up to two digits.
fn rounded_up(length: f64) -> f64 {
    let unit = 10f64.powf(length.log10().floor() - 1.0);
    (length / unit).ceil() * unit
}
