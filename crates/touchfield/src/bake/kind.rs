//! One door to all bakes: a mesh and the kind of field wanted, a stored field back.
//!
//! Input: a mesh, settings, a [`FieldKind`]. Output: a [`StoredField`] with its provenance and report.
//! Cost: that of the bake of the kind. Not for: callers that know the kind; they call its bake.

use crate::bake::baked::Baked;
use crate::bake::dense::bake_with;
use crate::bake::error::BakeError;
use crate::bake::progress::Progress;
use crate::bake::settings::BakeSettings;
use crate::bake::sparse::bake::{SparseSettings, bake_sparse};
use crate::bake::sparse::error::SparseBakeError;
use crate::bake::taylor::{TaylorBakeError, bake_taylor};
use crate::bake::voxel::voxmap::{VoxmapBakeError, VoxmapSettings, bake_voxmap};
use crate::field::{StoredField, TaylorError};
use crate::mesh::TriangleMesh;

/// How a field is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum FieldKind {
    /// A value at every node of a grid.
    #[default]
    Dense,
    /// A value and a gradient at every node, in half floats \[Krayer\].
    Taylor,
    /// Fine blocks in a coarse grid.
    Sparse(SparseSettings),
    /// Layers of voxels around the surface \[Sagardia2014\]. Takes resolution, padding, signs and
    /// memory from here, not from [`BakeSettings`].
    Voxmap(VoxmapSettings),
}

/// Why a mesh cannot be baked into a field of some kind.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FieldBakeError {
    /// The mesh, the grid, its memory or its signs.
    #[error(transparent)]
    Bake(#[from] BakeError),
    /// The nodes do not fit a Taylor grid.
    #[error(transparent)]
    Taylor(#[from] TaylorError),
    /// The sparse field.
    #[error(transparent)]
    Sparse(SparseBakeError),
    /// The voxmap.
    #[error(transparent)]
    Voxmap(VoxmapBakeError),
}

impl FieldBakeError {
    /// Returns whether a limit was hit, rather than the input being bad.
    pub fn is_limit(&self) -> bool {
        match self {
            FieldBakeError::Bake(error) => error.is_limit(),
            FieldBakeError::Taylor(_) => false,
            FieldBakeError::Sparse(error) => error.is_limit(),
            FieldBakeError::Voxmap(error) => error.is_limit(),
        }
    }
}

impl From<SparseBakeError> for FieldBakeError {
    fn from(error: SparseBakeError) -> FieldBakeError {
        match error {
            SparseBakeError::Bake(error) => FieldBakeError::Bake(error),
            error => FieldBakeError::Sparse(error),
        }
    }
}

impl From<TaylorBakeError> for FieldBakeError {
    fn from(error: TaylorBakeError) -> FieldBakeError {
        match error {
            TaylorBakeError::Bake(error) => FieldBakeError::Bake(error),
            TaylorBakeError::Taylor(error) => FieldBakeError::Taylor(error),
        }
    }
}

impl From<VoxmapBakeError> for FieldBakeError {
    fn from(error: VoxmapBakeError) -> FieldBakeError {
        match error {
            VoxmapBakeError::Bake(error) => FieldBakeError::Bake(error),
            error => FieldBakeError::Voxmap(error),
        }
    }
}

/// Bakes a mesh into a field of the given kind. `progress` is called from any thread and may cancel.
pub fn bake_field(
    mesh: &TriangleMesh,
    settings: &BakeSettings,
    kind: &FieldKind,
    progress: Progress<'_>,
) -> Result<Baked<StoredField>, FieldBakeError> {
    Ok(match kind {
        FieldKind::Dense => bake_with(mesh, settings, progress)?.stored(),
        FieldKind::Taylor => bake_taylor(mesh, settings, progress)?.stored(),
        FieldKind::Sparse(sparse) => bake_sparse(mesh, settings, sparse, progress)?.stored(),
        FieldKind::Voxmap(voxmap) => bake_voxmap(mesh, voxmap, progress)?.stored(),
    })
}

impl<F: Into<StoredField>> Baked<F> {
    /// The same, whatever the kind of its field.
    pub fn stored(self) -> Baked<StoredField> {
        let Baked {
            field,
            provenance,
            report,
        } = self;
        Baked {
            field: field.into(),
            provenance,
            report,
        }
    }
}
