//! How much a mesh file may hold, checked before memory is taken.

use crate::mesh::read::error::Cause;
use crate::mesh::read::error::LimitKind;
use std::fs::File;
use std::io::Read;
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
    let file = File::open(path).map_err(Cause::Io)?;
    let declared = file.metadata().map_err(Cause::Io)?.len();
    if declared > limit {
        return Err(byte_limit(declared, limit));
    }
    // A pipe declares no length, and a file may grow while it is read.
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(Cause::Io)?;
    if bytes.len() as u64 > limit {
        return Err(byte_limit(bytes.len() as u64, limit));
    }
    Ok(bytes)
}

pub(crate) fn byte_limit(found: u64, limit: u64) -> Cause {
    Cause::Limit {
        kind: LimitKind::Bytes,
        found,
        limit,
    }
}
