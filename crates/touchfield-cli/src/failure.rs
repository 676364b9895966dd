//! Why a command did not do what was asked, and the exit code that follows.

use std::fmt::Display;
use std::path::Path;

use touchfield::bake::BakeError;
use touchfield::field::file::FileError;
use touchfield::mesh::read::{Cause, ReadError};

use crate::picture::{RenderError, SheetError, SliceError, WritePngError};

/// A command that failed. The message names file, place, cause and way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The input or its use is at fault: exit code 2.
    BadInput(String),
    /// A limit was hit: exit code 3.
    Limit(String),
}

impl Failure {
    /// What is wrong with a file.
    pub(crate) fn in_file(path: &Path, cause: impl Display) -> Failure {
        Failure::BadInput(format!("{}: {cause}", path.display()))
    }

    /// What the process ends with.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Failure::BadInput(_) => 2,
            Failure::Limit(_) => 3,
        }
    }

    /// What to tell.
    pub(crate) fn message(&self) -> &str {
        match self {
            Failure::BadInput(message) | Failure::Limit(message) => message,
        }
    }

    fn new(is_limit: bool, message: String) -> Failure {
        if is_limit {
            Failure::Limit(message)
        } else {
            Failure::BadInput(message)
        }
    }

    /// A bake of the mesh in `path` that came to nothing, with the flag that helps.
    pub(crate) fn of_bake(path: &Path, error: &BakeError) -> Failure {
        let flag = match error {
            BakeError::MissingVertex { .. } | BakeError::NonFiniteVertex { .. } => {
                " (`touchfield bake --repair`)"
            }
            BakeError::TooMuchMemory { .. } => " (--resolution, --max-memory)",
            BakeError::TooManyNodes { .. } | BakeError::BadCellSize { .. } => " (--cell-size)",
            BakeError::TooCoarse { .. } => " (--resolution)",
            _ => "",
        };
        let message = format!("{}: {error}{flag}", path.display());
        Failure::new(error.is_limit(), message)
    }

    /// A mesh that cannot be read. Where the format is unknown, baked files are named too.
    pub(crate) fn of_reading(error: &ReadError) -> Failure {
        let more = match *error.cause {
            Cause::UnknownFormat => " for a mesh, or .tfs for a baked field",
            Cause::Limit { .. } => " (--max-memory)",
            _ => "",
        };
        Failure::new(error.is_limit(), format!("{error}{more}"))
    }

    /// A baked file that cannot be read or written.
    pub(crate) fn of_baked_file(error: &FileError) -> Failure {
        let more = if error.is_limit() {
            " (--max-memory)"
        } else {
            ""
        };
        Failure::new(error.is_limit(), format!("{error}{more}"))
    }
}

macro_rules! bad_input_from {
    ($($error:ty),*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Failure {
                Failure::BadInput(error.to_string())
            }
        })*
    };
}

bad_input_from!(WritePngError, SliceError, RenderError, SheetError);
