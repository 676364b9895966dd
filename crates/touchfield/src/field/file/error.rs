//! The errors of reading and writing a `.tfs` file: the file, the place in it, the cause and the
//! remedy.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::field::grid::layout::GridError;

/// Why a field could not be read or written. The message names file, place, cause and remedy.
#[derive(Debug, thiserror::Error)]
#[error("{}{cause}", Where(.file, .place))]
pub struct FileError {
    /// The file, if there is one.
    pub file: Option<PathBuf>,
    /// Where in the file; `None` when the error concerns all of it.
    pub place: Option<Place>,
    /// What is wrong there.
    pub cause: Box<Cause>,
}

impl FileError {
    /// Returns whether the memory limit was hit, rather than the file being at fault.
    pub fn is_limit(&self) -> bool {
        matches!(
            *self.cause,
            Cause::Limit { .. } | Cause::OutOfMemory { .. } | Cause::NoLength(_)
        )
    }

    /// Makes the error for a chunk that others need and that is missing.
    pub(crate) fn missing(tag: Tag) -> FileError {
        Cause::MissingChunk { tag }.everywhere()
    }

    pub(crate) fn in_file(mut self, path: &Path) -> FileError {
        self.file.get_or_insert_with(|| path.to_owned());
        self
    }
}

/// A place in a `.tfs` file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Byte offset, counted from 0.
    pub byte: u64,
    /// The chunk that contains it, if any.
    pub chunk: Option<Tag>,
}

/// Four letters that name the type of a chunk or the kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag(pub [u8; 4]);

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.0.escape_ascii())
    }
}

/// What is wrong with a `.tfs` file, and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// The operating system could not read the bytes.
    #[error("cannot be read: {0}")]
    NotRead(#[source] io::Error),
    /// The operating system could not write the bytes.
    #[error("cannot be written: {0}")]
    NotWritten(#[source] io::Error),
    /// Reading on would take more memory than allowed.
    #[error(
        "{what} would bring the memory to {needed} bytes, more than the limit of {limit}; raise the limit or bake at a \
         lower resolution"
    )]
    Limit {
        /// What the memory is for.
        what: &'static str,
        /// Total bytes including this allocation.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// The input is a pipe or device that does not seem to end.
    #[error(transparent)]
    NoLength(crate::bounded_file::ReadError),
    /// The limit allowed the memory, but the system could not provide it.
    #[error("the system has no {bytes} bytes left for {what}; bake at a lower resolution")]
    OutOfMemory {
        /// What the memory is for.
        what: &'static str,
        /// Bytes requested.
        bytes: u64,
    },
    /// The file is of another format.
    #[error("not a .tfs file: it begins with `{found}`; bake a mesh to make one")]
    NotTfs {
        /// The first bytes, escaped.
        found: String,
    },
    /// The file version is not supported.
    #[error(
        "file version {found}, but only version {known} is known; use the program that wrote it, or bake again"
    )]
    UnknownVersion {
        /// Version of the file.
        found: u32,
        /// Supported version.
        known: u32,
    },
    /// The kind of field is not supported.
    #[error(
        "a field of kind {kind}, which is not known; use the program that wrote it, or bake again"
    )]
    UnknownKind {
        /// Kind of field in the file.
        kind: Tag,
    },
    /// An unknown chunk is marked as required: without it the field would be misread.
    #[error("the chunk is required but not known; use the program that wrote it, or bake again")]
    UnknownRequiredChunk,
    /// The flags or the encoding of a chunk are not supported.
    #[error(
        "flags {flags:#x} and encoding {encoding} are not known; use the program that wrote it, or bake again"
    )]
    UnknownEncoding {
        /// Flags of the chunk.
        flags: u16,
        /// Encoding of the chunk's bytes.
        encoding: u16,
    },
    /// The file ends early.
    #[error(
        "the file ends where {expected} should follow; it is cut short, so copy it or bake again"
    )]
    UnexpectedEnd {
        /// What should follow.
        expected: &'static str,
    },
    /// The file has more or fewer bytes than its header declares.
    #[error("{declared} bytes are declared, but the file has {found}; copy it or bake again")]
    WrongLength {
        /// Bytes declared in the header.
        declared: u64,
        /// Bytes in the file.
        found: u64,
    },
    /// A checksum does not match: the bytes are not as they were written.
    #[error(
        "{what} has checksum {found:#010x} where {declared:#010x} is declared; the file is damaged, so copy it or \
         bake again"
    )]
    Checksum {
        /// What the checksum covers.
        what: &'static str,
        /// The checksum in the file.
        declared: u32,
        /// The checksum of its bytes.
        found: u32,
    },
    /// The file has more chunks than any writer makes.
    #[error("more than {limit} chunks; the file is damaged, so bake again")]
    TooManyChunks {
        /// Maximum number of chunks.
        limit: usize,
    },
    /// A chunk that may occur only once occurs twice.
    #[error("the chunk comes a second time; the file is damaged, so bake again")]
    SecondChunk,
    /// A required chunk is missing.
    #[error("there is no chunk {tag}; the file is damaged, so bake again")]
    MissingChunk {
        /// The missing chunk.
        tag: Tag,
    },
    /// A size contradicts the content.
    #[error("{found} bytes, but {expected} takes {needed}; the file is damaged, so bake again")]
    WrongSize {
        /// The expected content.
        expected: &'static str,
        /// Its size in bytes.
        needed: u64,
        /// The declared size in bytes.
        found: u64,
    },
    /// The declared size is larger than so few bytes can decompress to.
    #[error("{stored} bytes cannot hold {raw} compressed; the file is damaged, so bake again")]
    ImpossibleExpansion {
        /// Stored bytes.
        stored: u64,
        /// Declared bytes after decompression.
        raw: u64,
    },
    /// A block does not decompress to what was declared.
    #[error("block {block} does not decompress: {why}; the file is damaged, so bake again")]
    BadBlock {
        /// Index of the block, counted from 0.
        block: u64,
        /// What went wrong.
        why: String,
    },
    /// The numbers do not describe a valid grid.
    #[error("{0}; bake again")]
    Grid(#[source] GridError),
    /// The content is not allowed.
    #[error("{0}; bake again")]
    BadContent(String),
}

impl Cause {
    pub(super) fn everywhere(self) -> FileError {
        FileError {
            file: None,
            place: None,
            cause: Box::new(self),
        }
    }

    pub(super) fn at(self, byte: usize, chunk: Option<Tag>) -> FileError {
        let byte = byte as u64;
        FileError {
            file: None,
            place: Some(Place { byte, chunk }),
            cause: Box::new(self),
        }
    }
}

/// Formats file and place, each followed by a colon, as a prefix of the cause.
struct Where<'a>(&'a Option<PathBuf>, &'a Option<Place>);

impl fmt::Display for Where<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Where(file, place) = self;
        if let Some(path) = file {
            write!(f, "{}: ", path.display())?;
        }
        let Some(Place { byte, chunk }) = place else {
            return Ok(());
        };
        write!(f, "byte {byte}")?;
        if let Some(tag) = chunk {
            write!(f, ", chunk {tag}")?;
        }
        f.write_str(": ")
    }
}
