//! Limits on the size of a mesh file, checked before memory is allocated.

use crate::bounded_file;
use crate::mesh::read::error::Cause;
use crate::mesh::read::error::LimitKind;
use std::path::Path;

/// Limits on the size of a mesh file. Checked before memory is allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest number of vertices of the mesh, and never more than `u32` can index.
    pub vertices: usize,
    /// Largest number of triangles of the mesh.
    pub faces: usize,
    /// Largest number of bytes to read, including the buffers of a glTF file.
    pub bytes: u64,
}

impl Default for Limits {
    /// Returns limits beyond what can be baked in a day, and still within a workstation's memory.
    fn default() -> Limits {
        Limits {
            vertices: 200_000_000,
            faces: 200_000_000,
            bytes: 8 << 30,
        }
    }
}

/// Reads a file of at most `limit` bytes.
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
