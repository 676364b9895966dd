//! One entry point to all bakes: bakes a mesh into any kind of field, as a stored field.
//!
//! Input: a mesh, settings, a [`FieldKind`].
//! Output: a [`StoredField`] with its provenance and report.
//! Cost: that of the bake of that kind.
//! Not for: code with a fixed kind, which calls the bake of that kind.

use crate::bake::baked::Baked;
use crate::bake::dense::{Elsewhere, bake_elsewhere, bake_with};
use crate::bake::distance::proposals::{FaceSearch, ProposalReport};
use crate::bake::error::BakeError;
use crate::bake::progress::Progress;
use crate::bake::settings::{BakeSettings, DistanceMethod};
use crate::bake::sparse::bake::{SparseGoal, SparseSettings, bake_sparse, bake_sparse_elsewhere};
use crate::bake::sparse::error::SparseBakeError;
use crate::bake::taylor::{TaylorBakeError, bake_taylor, bake_taylor_elsewhere};
use crate::bake::voxel::voxmap::{VoxmapBakeError, VoxmapSettings, bake_voxmap};
use crate::field::{StoredField, TaylorError};
use crate::mesh::TriangleMesh;

/// Storage of a field.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum FieldKind {
    /// A value at every node of a grid.
    #[default]
    Dense,
    /// A value and a gradient at every node, in half floats \[Krayer2020\].
    Taylor,
    /// A coarse grid with fine blocks.
    Sparse(SparseSettings),
    /// Layers of voxels around the surface \[Sagardia2014\]. Resolution, padding, signs and memory
    /// limit are taken from these settings, not from [`BakeSettings`].
    Voxmap(VoxmapSettings),
}

/// Why a mesh cannot be baked into a field of some kind.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FieldBakeError {
    /// The mesh, the grid, its memory or its signs are the cause.
    #[error(transparent)]
    Bake(#[from] BakeError),
    /// The nodes do not fit a Taylor grid.
    #[error(transparent)]
    Taylor(#[from] TaylorError),
    /// The sparse field cannot be built.
    #[error(transparent)]
    Sparse(SparseBakeError),
    /// The voxmap cannot be built.
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

/// Bakes a mesh into a field of the given kind. `progress` is called from any thread and may
/// cancel.
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

/// Bakes a mesh into a dense grid, a Taylor grid or a band of blocks, like [`bake_field`], by a
/// search for nearest faces that runs elsewhere, such as on a GPU. What it proposes is checked, so
/// the error bound stays proven. `None` where nothing can be searched elsewhere: voxmaps, blocks
/// within a tolerance, signs by an offset, and distance methods other than the exact one.
pub fn bake_field_elsewhere(
    mesh: &TriangleMesh,
    settings: &BakeSettings,
    kind: &FieldKind,
    search: &dyn FaceSearch,
    progress: Progress<'_>,
) -> Result<Option<(Baked<StoredField>, ProposalReport)>, FieldBakeError> {
    if settings.sign.offset().is_some() || settings.method != DistanceMethod::Exact {
        return Ok(None);
    }
    Ok(match kind {
        FieldKind::Dense => {
            let mut report = ProposalReport::default();
            let elsewhere = Elsewhere {
                search,
                faces: None,
                report: &mut report,
            };
            let baked = bake_elsewhere(mesh, settings, elsewhere, progress)?;
            Some((baked.stored(), report))
        }
        FieldKind::Taylor => {
            let (baked, report) = bake_taylor_elsewhere(mesh, settings, search, progress)?;
            Some((baked.stored(), report))
        }
        FieldKind::Sparse(sparse) if matches!(sparse.goal, SparseGoal::Band(_)) => {
            let (baked, report) = bake_sparse_elsewhere(mesh, settings, sparse, search, progress)?;
            Some((baked.stored(), report))
        }
        FieldKind::Sparse(_) | FieldKind::Voxmap(_) => None,
    })
}

impl<F: Into<StoredField>> Baked<F> {
    /// Converts the field to a [`StoredField`].
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
