//! `touchfield bench`: runs the experiments of `touchfield-papers`, which repeat measurements of
//! papers.
//!
//! This file only provides what the experiments need from the command: its limits, its progress
//! bars, its file output.

use std::path::Path;

use touchfield::bake::{BakeSettings, FieldKind, SparseSettings};
use touchfield::field::{StoredField, file};
use touchfield::mesh::TriangleMesh;
pub(crate) use touchfield_papers::Arguments;
use touchfield_papers::{BakedField, Host, Stop};

use crate::args::{Common, Units};
use crate::failure::Failure;
use crate::files::output;
use crate::input::load::{self, Storage};
use crate::report::Answer;

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Answer, Failure> {
    Ok(touchfield_papers::run(arguments, &Command { common })?)
}

/// The command as the host of an experiment.
struct Command<'a> {
    common: &'a Common,
}

impl Host for Command<'_> {
    fn max_memory(&self) -> u64 {
        self.common.max_memory.0
    }

    fn read_mesh(&self, path: &Path, units: Units) -> Result<TriangleMesh, Stop> {
        Ok(load::mesh(path, units, self.max_memory())?)
    }

    fn bake(
        &self,
        path: &Path,
        mesh: &TriangleMesh,
        settings: &BakeSettings,
        sparse: Option<&SparseSettings>,
    ) -> Result<BakedField, Stop> {
        let kind = sparse.map_or(FieldKind::Dense, |&sparse| FieldKind::Sparse(sparse));
        let storage = Storage::New(kind);
        let baked = load::bake_mesh(path, mesh, settings, &storage)?;
        Ok(BakedField {
            field: baked.field,
            provenance: baked.provenance,
        })
    }

    fn read_field(&self, path: &Path) -> Result<StoredField, Stop> {
        Ok(load::baked(path, self.max_memory())?.field)
    }

    fn write_field(&self, path: &Path, baked: &BakedField) -> Result<(), Stop> {
        file::write_file(path, &baked.field, &baked.provenance)
            .map_err(|error| Failure::of_baked_file(&error))?;
        Ok(())
    }

    fn make_folder(&self, path: &Path) -> Result<(), Stop> {
        Ok(output::make_folder(path)?)
    }

    fn check_text(&self, out: &Path, extension: &str, inputs: &[&Path]) -> Result<(), Stop> {
        output::check(out, &[extension])?;
        for input in inputs {
            output::check_apart(out, input)?;
        }
        Ok(())
    }

    fn write_text(&self, out: &Path, text: &str) -> Result<(), Stop> {
        use std::io::Write;
        Ok(output::write_whole(out, |file| {
            file.write_all(text.as_bytes())
        })?)
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        let message = failure.message().to_owned();
        match failure {
            Failure::Limit(_) => Stop::Limit(message),
            Failure::Disagreement(_) => Stop::Disagreement(message),
            // A cancelled process exits as cancelled before it answers, whatever a bench makes of
            // this error.
            Failure::BadInput(_) | Failure::Contact(_) | Failure::Cancelled => {
                Stop::BadInput(message)
            }
        }
    }
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Failure {
        match stop {
            Stop::BadInput(message) => Failure::BadInput(message),
            Stop::Limit(message) => Failure::Limit(message),
            Stop::Disagreement(message) => Failure::Disagreement(message),
        }
    }
}
