//! The mesh that a table is measured on.
//!
//! Input: a file, or nothing. Output: the mesh, and what to call it. Not for: repairs.

use std::path::{Path, PathBuf};

use touchfield::mesh::{TriangleMesh, generate};

use crate::args::Units;
use crate::failure::Failure;
use crate::load;

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

fn knot() -> Result<TriangleMesh, Failure> {
    let knot = generate::TorusKnot {
        segments: 78,
        sides: 10,
        ..Default::default()
    };
    generate::torus_knot(knot).map_err(|error| Failure::BadInput(error.to_string()))
}
