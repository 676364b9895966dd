//! Services that the host program provides to an experiment: file input and output, and bakes with
//! progress.
//!
//! Input: paths, meshes and settings.
//! Output: meshes and fields, or a [`Stop`].
//! Not for: measuring. An experiment times its own calls, and the host must add no significant time
//! to them.

use std::path::Path;

use touchfield::bake::{BakeSettings, SparseSettings};
use touchfield::field::{Provenance, StoredField};
use touchfield::mesh::TriangleMesh;
use touchfield_report::Units;

/// The reason why an experiment ended without a table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// An argument or a file cannot be used.
    #[error("{0}")]
    BadInput(String),
    /// The work would take more memory than is allowed.
    #[error("{0}")]
    Limit(String),
    /// Two methods that must agree gave different results.
    #[error("{0}")]
    Disagreement(String),
}

/// A freshly baked field.
pub struct BakedField {
    /// The field.
    pub field: StoredField,
    /// How it was baked.
    pub provenance: Provenance,
}

/// Reads, bakes and writes for the experiments, which do not access files themselves.
pub trait Host: Sync {
    /// Returns the most memory that an experiment may take \[bytes\].
    fn max_memory(&self) -> u64;

    /// Reads a mesh and scales it to metres.
    fn read_mesh(&self, path: &Path, units: Units) -> Result<TriangleMesh, Stop>;

    /// Bakes the mesh that was read from `path`: a dense field, or a sparse one if settings for it
    /// are given.
    fn bake(
        &self,
        path: &Path,
        mesh: &TriangleMesh,
        settings: &BakeSettings,
        sparse: Option<&SparseSettings>,
    ) -> Result<BakedField, Stop>;

    /// Reads a baked field.
    fn read_field(&self, path: &Path) -> Result<StoredField, Stop>;

    /// Writes a baked field atomically: whole or not at all.
    fn write_field(&self, path: &Path, baked: &BakedField) -> Result<(), Stop>;

    /// Creates a folder and its parents, unless they exist.
    fn make_folder(&self, path: &Path) -> Result<(), Stop>;

    /// Checks, before any work, that a path has this extension, can be written, and is not one of
    /// `inputs`.
    fn check_text(&self, out: &Path, extension: &str, inputs: &[&Path]) -> Result<(), Stop>;

    /// Writes a text file atomically: whole or not at all.
    fn write_text(&self, out: &Path, text: &str) -> Result<(), Stop>;
}
