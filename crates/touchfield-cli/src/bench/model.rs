//! The mesh that a table is measured on, and how its field is stored.
//!
//! Input: a file, or nothing. Output: the mesh, and what to call it. Not for: repairs.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use touchfield::bake::SparseSettings;
use touchfield::mesh::{TriangleMesh, generate};

use crate::args::Units;
use crate::failure::Failure;
use crate::load::{self, Storage};

pub(super) struct Model {
    pub(super) path: PathBuf,
    pub(super) mesh: TriangleMesh,
}

impl Model {
    /// The mesh of a file; without one, a knot of about as many triangles as document 002's bunny.
    pub(super) fn load(
        path: Option<&Path>,
        units: Units,
        max_memory: u64,
    ) -> Result<Model, Failure> {
        let (path, mesh) = match path {
            Some(path) => (path.to_path_buf(), load::mesh(path, units, max_memory)?),
            None => (PathBuf::from("torus_knot"), knot()?),
        };
        Ok(Model { path, mesh })
    }

    /// Without folders.
    pub(super) fn name(&self) -> String {
        load::name_of(&self.path)
    }
}

/// How a field is stored.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Kind {
    /// every node in 32 bits
    Dense,
    /// a band of ±3 cells in 16 bits
    Sparse,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Dense => "dense",
            Kind::Sparse => "sparse",
        }
    }

    pub(super) fn storage(self) -> Storage {
        match self {
            Kind::Dense => Storage::Dense,
            Kind::Sparse => Storage::Sparse(SparseSettings::default()),
        }
    }
}

fn knot() -> Result<TriangleMesh, Failure> {
    let knot = generate::TorusKnot {
        segments: 78,
        sides: 10,
        ..Default::default()
    };
    generate::torus_knot(knot).map_err(|error| Failure::BadInput(error.to_string()))
}
