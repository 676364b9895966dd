//! Fields on disk: the `.tfs` file.
//!
//! Input: a [`StoredField`] and its [`Provenance`]; or a file or its bytes, and a limit of memory.
//! Output: the same field to the bit, or a [`FileError`] that names the place. Same input, same bytes.
//! Cost: one pass over the values; memory as [`from_bytes`] says, checked before it is taken.
//! Not for: meshes, see `mesh::read`.
//!
//! A versioned little-endian container of typed chunks under checksums, described byte by byte in docs/FILE_FORMAT.md.
//! Readers skip chunks that they do not know, unless those are marked as required. Nothing in a file is believed before
//! it is checked: a file of n bytes takes at most about 1300 n, whatever it declares.

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

/// What a `.tfs` file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// The field.
    pub field: StoredField,
    /// Where it comes from and how far it can be trusted.
    pub provenance: Provenance,
}

/// Writes a field and returns the number of bytes.
///
/// Written beside its place under another name and renamed when complete, so that nobody ever sees half a file. What
/// could not be read back is refused: doubtful cells that do not ascend or are none of the grid, a measured error that is
/// not finite, more notes than [`MOST_NOTES`] or longer ones than [`NOTE_BYTES`].
pub fn write_file(
    path: &Path,
    field: &StoredField,
    provenance: &Provenance,
) -> Result<u64, FileError> {
    write_file_with(path, field, provenance, &[])
}

/// [`write_file`] with more chunks behind those of the field, which its own reader skips.
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

/// Reads a field. Takes at most `max_memory` bytes, as [`from_bytes`], those of the file included.
pub fn read_file(path: &Path, max_memory: u64) -> Result<Stored, FileError> {
    read_file_with(path, max_memory, &[]).map(|(stored, _)| stored)
}

/// [`read_file`] with those of further chunks that are there, in the order of the tags.
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

/// The bytes of the file that [`write_file`] writes. What that refuses is encoded all the same, and refused on reading.
pub fn to_bytes(field: &StoredField, provenance: &Provenance) -> Vec<u8> {
    to_bytes_with(field, provenance, &[])
}

/// [`to_bytes`] with more chunks behind those of the field.
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

/// A field from the bytes of a file. Beside them it takes at most `max_memory` bytes (and two blocks of 64 KiB while it
/// decompresses): four a node, up to five a doubtful cell, the notes twice.
pub fn from_bytes(bytes: &[u8], max_memory: u64) -> Result<Stored, FileError> {
    from_bytes_with(bytes, max_memory, &[]).map(|(stored, _)| stored)
}

/// [`from_bytes`] with those of further chunks that are there, in the order of the tags.
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

/// The bytes of a file, if they are at most `limit`.
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
