//! What the program that runs an experiment does for it: files in and out, and bakes with progress.
//!
//! Input: paths, meshes and settings. Output: meshes and fields, or a [`Stop`].
//! Not for: measuring; an experiment times its calls, and the host must add nothing of note to
//! them.

use std::path::Path;

use touchfield::bake::{BakeSettings, SparseSettings};
use touchfield::field::{Provenance, StoredField};
use touchfield::mesh::TriangleMesh;
use touchfield_report::Units;

/// Why an experiment ended without a table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// An argument or a file cannot be used.
    #[error("{0}")]
    BadInput(String),
    /// The work would take more memory than is allowed.
    #[error("{0}")]
    Limit(String),
    /// Two ways to one answer differ.
    #[error("{0}")]
    Disagreement(String),
}

/// A field that was just baked.
pub struct BakedField {
    /// Its values.
    pub field: StoredField,
    /// How they were made.
    pub provenance: Provenance,
}

/// Reads, bakes and writes for the experiments, which touch no file themselves.
pub trait Host: Sync {
    /// Returns the most memory that an experiment may take \[bytes\].
    fn max_memory(&self) -> u64;

    /// Reads a mesh and scales it to metres.
    fn read_mesh(&self, path: &Path, units: Units) -> Result<TriangleMesh, Stop>;

    /// Bakes a mesh that was read from `path`: a dense field, or a sparse one if settings for it
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

    /// Writes a baked field, whole or not at all.
    fn write_field(&self, path: &Path, baked: &BakedField) -> Result<(), Stop>;

    /// Makes a folder and those above it, unless they exist.
    fn make_folder(&self, path: &Path) -> Result<(), Stop>;

    /// Refuses, before any work, a path that cannot be written as CSV or that is one of `inputs`.
    fn check_csv(&self, out: &Path, inputs: &[&Path]) -> Result<(), Stop>;

    /// Writes a text file, whole or not at all.
    fn write_csv(&self, out: &Path, text: &str) -> Result<(), Stop>;
}
