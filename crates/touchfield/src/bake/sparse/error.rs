//! Why there is no sparse field.

use crate::bake::convert::settings::ConvertError;
use crate::bake::error::BakeError;
use crate::field::{GridError, SparseError};

/// Why a mesh cannot be baked into a sparse field.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SparseBakeError {
    /// The mesh, the grid, its memory or its signs.
    #[error(transparent)]
    Bake(#[from] BakeError),
    /// A sparse field was asked for.
    #[error(
        "the surface is not closed, and beside a hole the field is no distance; a sparse field needs a closed surface \
         (repair the mesh, or bake a dense grid)"
    )]
    NeedsClosed,
    /// A band of no width.
    #[error("a band of {width:?} cells is not usable; it must be positive and finite")]
    BadBand {
        /// Asked for.
        width: f64,
    },
    /// Not a length.
    #[error("a tolerance of {tolerance:?} m is not usable; it must be positive and finite")]
    BadTolerance {
        /// Asked for \[m\].
        tolerance: f64,
    },
    /// Cells would become smaller than `f32` can tell apart.
    #[error(
        "a tolerance of {tolerance:?} m is below what f32 can tell at this distance from the origin; use a larger one, or move \
         the model towards the origin"
    )]
    ToleranceBelowRounding {
        /// Asked for \[m\].
        tolerance: f64,
    },
    /// More memory than allowed.
    #[error(
        "the blocks would take about {needed} bytes, more than the {allowed} allowed; use a larger tolerance or cell size, \
         fewer bits, or raise the limit"
    )]
    TooMuchMemory {
        /// Estimated from what was built so far.
        needed: u64,
        /// The limit.
        allowed: u64,
    },
    /// An error was asked for that only faces can prove.
    #[error(
        "the field of an offset surface is known at nodes only, so that no tolerance can be proven for it; give a resolution or a cell \
         size instead, half of whose diagonal is the error"
    )]
    OffsetHasNoTolerance,
    /// A dense grid was baked, and cannot be folded into blocks.
    #[error("a dense grid was baked, but: {0}")]
    Folding(Box<ConvertError>),
    /// The parts do not fit together; a fault of ours.
    #[error(transparent)]
    Blocks(SparseError),
}

impl SparseBakeError {
    /// Returns whether a limit was hit, rather than the input being bad.
    pub fn is_limit(&self) -> bool {
        match self {
            SparseBakeError::Bake(error) => error.is_limit(),
            SparseBakeError::Folding(error) => error.is_limit(),
            error => matches!(error, SparseBakeError::TooMuchMemory { .. }),
        }
    }

    /// The same of a conversion on the way.
    pub(crate) fn of_folding(error: ConvertError) -> SparseBakeError {
        match error {
            ConvertError::Cancelled => BakeError::Cancelled.into(),
            error => SparseBakeError::Folding(Box::new(error)),
        }
    }
}

impl From<GridError> for SparseBakeError {
    fn from(error: GridError) -> SparseBakeError {
        BakeError::from(error).into()
    }
}
