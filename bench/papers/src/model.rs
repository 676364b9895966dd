//! The mesh that a table is measured on, and its field, baked or kept from an earlier run.
//!
//! Input: a file, or nothing.
//! Output: the mesh, its name, and its field.
//! Cost: a bake, or reading one.
//! Not for: mesh repair.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use touchfield::bake::{BakeSettings, Resolution, SparseSettings};
use touchfield::field::StoredField;
use touchfield::mesh::{TriangleMesh, generate};

use crate::host::{Host, Stop};
use touchfield_report::Units;

/// Where baked fields are kept between runs.
#[derive(Args, Default)]
pub(crate) struct Kept {
    /// Keep baked fields in this folder and reuse those of earlier runs; the finest take minutes to
    /// bake
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

pub(crate) struct Model {
    pub(crate) path: PathBuf,
    pub(crate) mesh: TriangleMesh,
}

impl Model {
    /// Reads the mesh of a file. Without one, generates a knot with about as many triangles as the
    /// bunny of \[XuCcd2014\].
    pub(crate) fn load(path: Option<&Path>, units: Units, host: &dyn Host) -> Result<Model, Stop> {
        let (path, mesh) = match path {
            Some(path) => (path.to_path_buf(), host.read_mesh(path, units)?),
            None => (PathBuf::from("torus_knot"), knot()?),
        };
        Ok(Model { path, mesh })
    }

    /// Returns the file name without folders.
    pub(crate) fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// Returns the field with `cells` cells along the longest side, baked now or kept from an
    /// earlier run.
    pub(crate) fn field(
        &self,
        cells: u32,
        kind: Kind,
        kept: &Kept,
        host: &dyn Host,
    ) -> Result<StoredField, Stop> {
        let settings = BakeSettings {
            // As in Table 1: one node more than cells.
            resolution: Resolution::Nodes(cells + 1),
            max_memory: host.max_memory(),
            ..BakeSettings::default()
        };
        let sparse = kind.sparse();
        let bake = || host.bake(&self.path, &self.mesh, &settings, sparse.as_ref());
        let Some(folder) = &kept.keep else {
            return Ok(bake()?.field);
        };
        let stem = self.path.file_stem().unwrap_or_default();
        let (stem, kind) = (stem.to_string_lossy(), kind.name());
        // The digest in the name ensures that only the same mesh reuses the file.
        let path = folder.join(format!("{stem}-{:016x}-{cells}-{kind}.tfs", self.digest()));
        if path.is_file() {
            return host.read_field(&path);
        }
        host.make_folder(folder)?;
        let baked = bake()?;
        host.write_field(&path, &baked)?;
        Ok(baked.field)
    }

    /// Returns a hash of the mesh.
    fn digest(&self) -> u64 {
        let places = self.mesh.vertices.iter().flat_map(|v| v.to_array());
        let corners = self.mesh.faces.iter().flatten();
        let words = (places.map(f64::to_bits)).chain(corners.map(|&corner| corner.into()));
        words.fold(0, |digest, word| {
            // Multiplying by an odd number loses no bits.
            (u64::rotate_left(digest, 5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        })
    }
}

/// Storage of a field.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Kind {
    /// every node in 32 bits
    Dense,
    /// a band of ±3 cells in 16 bits
    Sparse,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Dense => "dense",
            Kind::Sparse => "sparse",
        }
    }

    /// Returns the settings of a sparse field; none for a dense one.
    pub(crate) fn sparse(self) -> Option<SparseSettings> {
        match self {
            Kind::Dense => None,
            Kind::Sparse => Some(SparseSettings::default()),
        }
    }
}

fn knot() -> Result<TriangleMesh, Stop> {
    let knot = generate::TorusKnot {
        segments: 78,
        sides: 10,
        ..Default::default()
    };
    generate::torus_knot(knot).map_err(|error| Stop::BadInput(error.to_string()))
}
