//! How much a mesh file may hold, checked before memory is taken.

use crate::bounded_file;
use crate::mesh::read::error::Cause;
use crate::mesh::read::error::LimitKind;
use std::path::Path;

/// How much a file may ask for. Checked before memory is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most vertices of the mesh. Never more than `u32` can number.
    pub vertices: usize,
    /// Most triangles of the mesh.
    pub faces: usize,
    /// Most bytes to read, the buffers of a glTF file included.
    pub bytes: u64,
}

impl Default for Limits {
    /// Beyond what can be baked in a day, and still within a workstation's memory.
    fn default() -> Limits {
        Limits {
            vertices: 200_000_000,
            faces: 200_000_000,
            bytes: 8 << 30,
        }
    }
}

/// The bytes of a file, if they are at most `limit`.
pub(crate) fn file_bytes(path: &Path, limit: u64) -> Result<Vec<u8>, Cause> {
    bounded_file::read(path, limit).map_err(|error| match error {
        bounded_file::ReadError::Io(error) => Cause::Io(error),
        bounded_file::ReadError::TooLarge { found, limit } => byte_limit(found, limit),
        error @ bounded_file::ReadError::NoLength { .. } => Cause::NoLength(error),
    })
}

pub(crate) fn byte_limit(found: u64, limit: u64) -> Cause {
    Cause::Limit {
        kind: LimitKind::Bytes,
        found,
        limit,
    }
}
