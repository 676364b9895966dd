//! Errors of updates.

use glam::DVec3;

use crate::bake::error::BakeError;
use crate::bake::sparse::error::SparseBakeError;
use crate::geom::DAabb;

/// Why a field cannot be updated to a changed mesh.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum UpdateError {
    /// The mesh, the grid, its memory or its signs are the cause.
    #[error(transparent)]
    Bake(#[from] BakeError),
    /// The sparse field cannot be built.
    #[error(transparent)]
    Sparse(SparseBakeError),
    /// The mesh differs outside the box that should hold all changes.
    #[error(
        "{faces} faces differ outside the box that is said to hold all changes, the first at {:?} m; the box must hold every face that \
         came, went or moved, whole", at.to_array()
    )]
    ChangedOutside {
        /// Number of such faces, before and after together.
        faces: usize,
        /// A corner of the first such face \[m\].
        at: DVec3,
    },
    /// The box is inside out, or has NaN coordinates.
    #[error(
        "the changes are said to lie between {:?} and {:?} m, which is no box; its smallest corner comes first",
        changed.min.to_array(), changed.max.to_array()
    )]
    BadChangedBox {
        /// Box that should hold all changes \[m\].
        changed: DAabb,
    },
    /// The method makes nodes depend on others far away.
    #[error(
        "a field is updated by exact distances, not by `{0}`; use the exact method, or bake anew"
    )]
    NeedsExact(&'static str),
    /// The field is not a baked band of blocks.
    #[error(
        "of sparse fields only a band around the surface is updated, as it was baked: a tolerance is proven from faces as far away as the \
         medial axis, and a conversion has other values; bake anew"
    )]
    NeedsBand,
}

impl UpdateError {
    /// Returns whether a limit was hit, rather than the input being bad.
    pub fn is_limit(&self) -> bool {
        match self {
            UpdateError::Bake(error) => error.is_limit(),
            UpdateError::Sparse(error) => error.is_limit(),
            _ => false,
        }
    }
}

impl From<SparseBakeError> for UpdateError {
    fn from(error: SparseBakeError) -> UpdateError {
        match error {
            SparseBakeError::Bake(error) => UpdateError::Bake(error),
            error => UpdateError::Sparse(error),
        }
    }
}
