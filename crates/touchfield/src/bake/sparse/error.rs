//! Errors of the sparse bake.

use crate::bake::convert::settings::ConvertError;
use crate::bake::error::BakeError;
use crate::field::{GridError, SparseError};

/// Why a mesh cannot be baked into a sparse field.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SparseBakeError {
    /// The mesh, the grid, its memory or its signs are the cause.
    #[error(transparent)]
    Bake(#[from] BakeError),
    /// The surface is not closed.
    #[error(
        "the surface is not closed, and beside a hole the field is no distance; a sparse field needs a closed surface \
         (repair the mesh, or bake a dense grid)"
    )]
    NeedsClosed,
    /// The width of the band is not positive and finite.
    #[error("a band of {width:?} cells is not usable; it must be positive and finite")]
    BadBand {
        /// Requested width \[cells\].
        width: f64,
    },
    /// The tolerance is not positive and finite.
    #[error("a tolerance of {tolerance:?} m is not usable; it must be positive and finite")]
    BadTolerance {
        /// Requested tolerance \[m\].
        tolerance: f64,
    },
    /// Cells would become smaller than `f32` can resolve.
    #[error(
        "a tolerance of {tolerance:?} m is below what f32 resolves at this distance from the origin; use a larger one, or move \
         the model towards the origin"
    )]
    ToleranceBelowRounding {
        /// Requested tolerance \[m\].
        tolerance: f64,
    },
    /// The blocks would take more memory than the limit allows.
    #[error(
        "the blocks would take about {needed} bytes, more than the {allowed} allowed; use a larger tolerance or cell size, \
         fewer bits, or raise the limit"
    )]
    TooMuchMemory {
        /// Memory estimated from the blocks built so far \[bytes\].
        needed: u64,
        /// The limit \[bytes\].
        allowed: u64,
    },
    /// A tolerance was requested for an offset surface, but only faces can prove an error.
    #[error(
        "the field of an offset surface is known at nodes only, so that no tolerance can be proven for it; give a resolution or a cell \
         size instead, half of whose diagonal is the error"
    )]
    OffsetHasNoTolerance,
    /// A dense grid was baked, and cannot be converted to blocks.
    #[error("a dense grid was baked, but: {0}")]
    Folding(Box<ConvertError>),
    /// The parts do not fit together; a bug in this crate.
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

    /// Wraps the error of the conversion of a dense grid to blocks.
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
