//! Fields on disk: the `.tfs` file.
//!
//! Input: a [`StoredField`] and its [`Provenance`]; or a file or its bytes, and a memory limit.
//! Output: the same field to the bit, or a [`FileError`] that names the place. Same input, same
//! bytes.
//! Cost: one pass over the values; memory as documented on [`from_bytes`], checked before it is
//! allocated.
//! Not for: meshes, see `mesh::read`.
//!
//! A versioned little-endian container of typed chunks with checksums, described byte by byte in
//! docs/FILE_FORMAT.md. Readers skip unknown chunks unless they are marked as required. Everything
//! in a file is checked before it is used: a file of n bytes takes at most about 1300 n bytes of
//! memory, whatever it declares.

mod blocks;
mod budget;
mod container;
mod dense;
mod error;
mod limits;
mod lists;
pub use limits::{MOST_NOTES, NOTE_BYTES, SIGNATURE};
mod provenance;
mod residuals;
mod sparse;
mod taylor;
mod voxmap;
mod words;

use crate::field::file::budget::Budget;
use std::io::Write;
use std::path::Path;

pub use error::{Cause, FileError, Place, Tag};
pub(crate) use words::Words;

use crate::field::provenance::Provenance;
use crate::field::stored::StoredField;
use crate::{atomic_file, bounded_file};
use container::{Builder, Container};

/// The content of a `.tfs` file.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// The field.
    pub field: StoredField,
    /// Its origin and how far it can be trusted.
    pub provenance: Provenance,
}

/// Writes a field and returns the number of bytes.
///
/// The file is written under another name beside its place and renamed when complete, so that a
/// partial file is never visible. Content that could not be read back is rejected: doubtful cells
/// that do not ascend or lie outside the grid, a measured error that is negative or not finite, an
/// origin that is not finite, more notes than [`MOST_NOTES`] or longer ones than [`NOTE_BYTES`].
pub fn write_file(
    path: &Path,
    field: &StoredField,
    provenance: &Provenance,
) -> Result<u64, FileError> {
    write_file_with(path, field, provenance, &[])
}

/// Writes a field as [`write_file`] does, followed by further chunks, which [`read_file`] skips.
pub(crate) fn write_file_with(
    path: &Path,
    field: &StoredField,
    provenance: &Provenance,
    more: &[Words],
) -> Result<u64, FileError> {
    let write = || {
        provenance::check(provenance, field.layout())?;
        let bytes = to_bytes_with(field, provenance, more);
        atomic_file::write(path, |out| out.write_all(&bytes)).map_err(Cause::NotWritten)?;
        Ok(bytes.len() as u64)
    };
    write().map_err(|cause: Cause| cause.everywhere().in_file(path))
}

/// Reads a field from a file. Takes at most `max_memory` bytes as in [`from_bytes`], the bytes of
/// the file included.
pub fn read_file(path: &Path, max_memory: u64) -> Result<Stored, FileError> {
    read_file_with(path, max_memory, &[]).map(|(stored, _)| stored)
}

/// Reads a field as [`read_file`] does, together with those of the chunks `more` that are present,
/// in the order of the tags.
pub(crate) fn read_file_with(
    path: &Path,
    max_memory: u64,
    more: &[Tag],
) -> Result<(Stored, Vec<Words>), FileError> {
    let read = || {
        let bytes = file_bytes(path, max_memory).map_err(Cause::everywhere)?;
        let mut budget = Budget {
            used: bytes.len() as u64,
            limit: max_memory,
        };
        parse(&bytes, more, &mut budget)
    };
    read().map_err(|error| error.in_file(path))
}

/// Returns the bytes of the file that [`write_file`] writes. Content that [`write_file`] rejects is
/// encoded all the same, and rejected on reading.
pub fn to_bytes(field: &StoredField, provenance: &Provenance) -> Vec<u8> {
    to_bytes_with(field, provenance, &[])
}

/// Encodes a field as [`to_bytes`] does, followed by further chunks.
pub(crate) fn to_bytes_with(
    field: &StoredField,
    provenance: &Provenance,
    more: &[Words],
) -> Vec<u8> {
    let mut builder;
    match field {
        StoredField::Dense(grid) => {
            builder = Builder::new(dense::KIND);
            dense::write(&mut builder, grid);
        }
        StoredField::Sparse(blocks) => {
            builder = Builder::new(sparse::KIND);
            sparse::write(&mut builder, blocks);
        }
        StoredField::Taylor(grid) => {
            builder = Builder::new(taylor::KIND);
            taylor::write(&mut builder, grid);
        }
        StoredField::Voxmap(map) => {
            builder = Builder::new(voxmap::KIND);
            voxmap::write(&mut builder, map);
        }
    }
    provenance::write(&mut builder, provenance);
    for words in more {
        words.write(&mut builder);
    }
    builder.finish()
}

/// Reads a field from the bytes of a file. Besides those it takes at most `max_memory` bytes (and
/// two blocks of 64 KiB while it decompresses): four bytes per node, up to five per doubtful cell,
/// twice the size of the notes.
pub fn from_bytes(bytes: &[u8], max_memory: u64) -> Result<Stored, FileError> {
    from_bytes_with(bytes, max_memory, &[]).map(|(stored, _)| stored)
}

/// Reads a field as [`from_bytes`] does, together with those of the chunks `more` that are present,
/// in the order of the tags.
pub(crate) fn from_bytes_with(
    bytes: &[u8],
    max_memory: u64,
    more: &[Tag],
) -> Result<(Stored, Vec<Words>), FileError> {
    let mut budget = Budget {
        used: 0,
        limit: max_memory,
    };
    parse(bytes, more, &mut budget)
}

fn parse(
    bytes: &[u8],
    more: &[Tag],
    budget: &mut Budget,
) -> Result<(Stored, Vec<Words>), FileError> {
    let container = Container::parse(bytes)?;
    let own: &[Tag] = match container.kind {
        dense::KIND => &[dense::GRID, dense::VALUES],
        sparse::KIND => &sparse::TAGS,
        taylor::KIND => &taylor::TAGS,
        voxmap::KIND => &voxmap::TAGS,
        kind => return Err(Cause::UnknownKind { kind }.at(12, None)),
    };
    container.check_tags(&[own, &provenance::TAGS, more].concat())?;
    let field = match container.kind {
        dense::KIND => StoredField::from(dense::read(&container, budget)?),
        taylor::KIND => taylor::read(&container, budget)?.into(),
        voxmap::KIND => voxmap::read(&container, budget)?.into(),
        _ => sparse::read(&container, budget)?.into(),
    };
    let provenance = provenance::read(&container, field.layout(), budget)?;
    let more = (more.iter().filter_map(|&tag| container.find(tag)))
        .map(|chunk| Words::read(chunk, budget))
        .collect::<Result<_, _>>()?;
    Ok((Stored { field, provenance }, more))
}

/// Reads the bytes of a file, if they are at most `limit`.
fn file_bytes(path: &Path, limit: u64) -> Result<Vec<u8>, Cause> {
    bounded_file::read(path, limit).map_err(|error| match error {
        bounded_file::ReadError::Io(error) => Cause::NotRead(error),
        bounded_file::ReadError::TooLarge { found, limit } => Cause::Limit {
            what: "the file",
            needed: found,
            limit,
        },
        error @ bounded_file::ReadError::NoLength { .. } => Cause::NoLength(error),
    })
}
