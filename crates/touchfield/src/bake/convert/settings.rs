//! How a field is to be stored another way, and why it cannot be.

use crate::bake::packing::Bits;
use crate::bake::progress::{Progress, Stage, Step};
use crate::field::{
    Encoding, GridError, GridLayout, Sampling, SparseError, StoredField, TaylorError, VoxmapError,
};
use glam::UVec3;
use std::sync::atomic::{AtomicU64, Ordering};

/// How to convert. `ConvertSettings { target: …, ..Default::default() }`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConvertSettings {
    /// How the field is to be stored.
    pub target: Target,
    /// Distance between nodes \[m\]; that of the finest cells of the field given if `None`.
    pub cell_size: Option<f64>,
    /// Lowers every value by its error, so that the solid encloses the surface: for fields whose [`Provenance::conservative`] is to stay true.
    pub conservative: bool,
    /// A conversion that would take more than this, the field given included, is refused before it starts \[bytes\].
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

/// How a field is to be stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// A value at every node.
    Dense,
    /// A value and a gradient at every node.
    Taylor,
    /// A coarse grid, and blocks of fine cells.
    Sparse {
        /// Which blocks.
        keep: Keep,
        /// Of a stored value.
        bits: Bits,
    },
    /// A number for every voxel.
    Voxmap {
        /// How it is stored.
        encoding: Encoding,
        /// How values between voxels are found.
        sampling: Sampling,
    },
}

impl Target {
    /// The word used on the command line and in JSON.
    pub fn kind(self) -> &'static str {
        match self {
            Target::Dense => "dense",
            Target::Taylor => "taylor",
            Target::Sparse { .. } => "sparse",
            Target::Voxmap { .. } => "voxmap",
        }
    }
}

/// The blocks that a sparse field keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Keep {
    /// All; those of a sparse field as they are.
    All,
    /// Those within so many cells of the surface.
    Band(f64),
    /// Those that the coarse grid does not reproduce within this \[m\].
    Tolerance(f64),
}

/// Why a field cannot be stored that way.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConvertError {
    /// More memory than allowed.
    #[error(
        "stored {kind} it has {} × {} × {} nodes and takes {needed} bytes on the way, more than the {allowed} allowed; use cells of {fitting:e} m \
         or larger, or raise the limit", .nodes.x, .nodes.y, .nodes.z
    )]
    TooMuchMemory {
        /// What was asked for.
        kind: &'static str,
        /// Nodes of the dense grid on the way.
        nodes: UVec3,
        /// What it would take, the field given included.
        needed: u64,
        /// The limit.
        allowed: u64,
        /// Cells that fit \[m\].
        fitting: f64,
    },
    /// More blocks than the memory holds.
    #[error(
        "the blocks take {needed} bytes so far, more than the {allowed} allowed; keep fewer, use fewer bits or larger cells, or \
         raise the limit"
    )]
    TooManyBlocks {
        /// Taken so far.
        needed: u64,
        /// The limit.
        allowed: u64,
    },
    /// The machine has less memory than the limit allows.
    #[error(
        "no {bytes} bytes are to be had; use larger cells, or lower the limit to what this machine has"
    )]
    OutOfMemory {
        /// Asked for.
        bytes: u64,
    },
    /// The sign changes where there is no surface.
    #[error(
        "the sign may change without a surface, as beside a hole: neighbouring values jump, or the error of {error_bound} m exceeds a cell \
         of {cell_size} m; stored {kind} that would be lost (use dense or taylor, or bake a closed mesh)"
    )]
    Torn {
        /// What was asked for.
        kind: &'static str,
        /// Of the field given \[m\].
        error_bound: f32,
        /// Of the field given \[m\].
        cell_size: f32,
    },
    /// A solid that encloses the surface was asked for.
    #[error(
        "the numbers of a voxmap cannot be lowered by their error, so that its solid would not enclose the surface any more, as that of a \
         conservative field does; store it dense, taylor or sparse"
    )]
    ConservativeVoxmap,
    /// Not a length.
    #[error("a cell size of {0} m is not usable; it must be positive and finite")]
    BadCellSize(f64),
    /// A side would need more nodes than can be counted.
    #[error("{cells:.3e} cells along one side are too many to count; use a larger cell size")]
    TooManyNodes {
        /// Along the longest side.
        cells: f64,
    },
    /// A band of no width.
    #[error("a band of {0} cells is not usable; it must be positive and finite")]
    BadBand(f64),
    /// Not a length.
    #[error("a tolerance of {0} m is not usable; it must not be negative")]
    BadTolerance(f64),
    /// The grid is impossible.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// The nodes do not fit a Taylor grid.
    #[error(transparent)]
    Taylor(#[from] TaylorError),
    /// The numbers do not fit a voxmap.
    #[error(transparent)]
    Voxmap(#[from] VoxmapError),
    /// The blocks do not fit a sparse field.
    #[error(transparent)]
    Sparse(#[from] SparseError),
    /// The progress callback said stop.
    #[error("the conversion was cancelled")]
    Cancelled,
}

impl ConvertError {
    /// Whether a limit was hit, rather than the input being bad.
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

/// How the note of a conversion begins.
pub(crate) const CONVERTED: &str = "converted from";

/// Memory, counted before it is taken.
pub(crate) struct Budget {
    /// By all but blocks.
    pub(crate) fixed: u64,
    pub(crate) allowed: u64,
    /// By blocks so far.
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
            // Coarse nodes and cells, with room to spare.
            Target::Sparse { .. } => 4 + 1,
            // Distances in `f64`, and what is stored of them.
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
                // Two digits, and a little to spare for whole cells.
                fitting: rounded_up(1.05 * larger * f64::from(layout.cell_size)),
            });
        }
        Ok(Budget {
            fixed: needed,
            allowed,
            blocks: AtomicU64::new(0),
        })
    }

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

/// One of `total` parts is begun; an error if the callback has said stop.
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
    // More are counted than there are once somebody was told to stop.
    if step.done >= total || progress(step).is_break() {
        done.store(total, Ordering::Relaxed);
        return Err(ConvertError::Cancelled);
    }
    Ok(())
}

/// With two digits.
fn rounded_up(length: f64) -> f64 {
    let unit = 10f64.powf(length.log10().floor() - 1.0);
    (length / unit).ceil() * unit
}
