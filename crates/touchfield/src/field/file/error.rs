//! What can be wrong with a `.tfs` file: the file, the place in it, the cause and the way out.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::field::grid::layout::GridError;

/// Why a field could not be read or written. Its message names file, place, cause and way out.
#[derive(Debug, thiserror::Error)]
#[error("{}{cause}", Where(.file, .place))]
pub struct FileError {
    /// The file, when there is one.
    pub file: Option<PathBuf>,
    /// Where in the file; `None` when it is about all of it.
    pub place: Option<Place>,
    /// What is wrong there.
    pub cause: Box<Cause>,
}

impl FileError {
    /// Whether the limit of memory was hit, rather than the file being at fault.
    pub fn is_limit(&self) -> bool {
        matches!(
            *self.cause,
            Cause::Limit { .. } | Cause::OutOfMemory { .. } | Cause::NoLength(_)
        )
    }

    /// A chunk that others need is not there.
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
    /// Counted from 0.
    pub byte: u64,
    /// The chunk it lies in, when it lies in one.
    pub chunk: Option<Tag>,
}

/// The four letters that tell what a chunk, or the whole file, holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag(pub [u8; 4]);

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.0.escape_ascii())
    }
}

/// What is wrong with a `.tfs` file, and the way out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// The operating system could not deliver the bytes.
    #[error("cannot be read: {0}")]
    NotRead(#[source] io::Error),
    /// The operating system could not take the bytes.
    #[error("cannot be written: {0}")]
    NotWritten(#[source] io::Error),
    /// Reading on would take more memory than was allowed.
    #[error(
        "{what} would bring the memory to {needed} bytes, more than the limit of {limit}; raise the limit or bake at a \
         lower resolution"
    )]
    Limit {
        /// What the memory is for.
        what: &'static str,
        /// Bytes in all, with it.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// A pipe or a device that does not seem to end.
    #[error(transparent)]
    NoLength(crate::bounded_file::ReadError),
    /// The memory was allowed, but the system has none.
    #[error("the system has no {bytes} bytes left for {what}; bake at a lower resolution")]
    OutOfMemory {
        /// What the memory is for.
        what: &'static str,
        /// Bytes asked for.
        bytes: u64,
    },
    /// Another kind of file.
    #[error("not a .tfs file: it begins with `{found}`; bake a mesh to make one")]
    NotTfs {
        /// The first bytes, escaped.
        found: String,
    },
    /// A version that this program does not know.
    #[error(
        "file version {found}, but only version {known} is known; use the program that wrote it, or bake again"
    )]
    UnknownVersion {
        /// Version of the file.
        found: u32,
        /// Version that is read.
        known: u32,
    },
    /// A kind of field that this program does not know.
    #[error(
        "a field of kind {kind}, which is not known; use the program that wrote it, or bake again"
    )]
    UnknownKind {
        /// Kind of the file.
        kind: Tag,
    },
    /// A chunk without which the field would be misread.
    #[error("the chunk is required but not known; use the program that wrote it, or bake again")]
    UnknownRequiredChunk,
    /// A way of storing that this program does not know.
    #[error(
        "flags {flags:#x} and encoding {encoding} are not known; use the program that wrote it, or bake again"
    )]
    UnknownEncoding {
        /// The flags of the chunk.
        flags: u16,
        /// The encoding of its bytes.
        encoding: u16,
    },
    /// The file stops early.
    #[error(
        "the file ends where {expected} should follow; it is cut short, so copy it or bake again"
    )]
    UnexpectedEnd {
        /// What should have come.
        expected: &'static str,
    },
    /// More or fewer bytes than the header says.
    #[error("{declared} bytes are declared, but the file has {found}; copy it or bake again")]
    WrongLength {
        /// Bytes that the header claims.
        declared: u64,
        /// Bytes of the file.
        found: u64,
    },
    /// Some bit is not as it was written.
    #[error(
        "{what} has checksum {found:#010x} where {declared:#010x} is declared; the file is damaged, so copy it or \
         bake again"
    )]
    Checksum {
        /// What was summed.
        what: &'static str,
        /// The sum in the file.
        declared: u32,
        /// The sum of its bytes.
        found: u32,
    },
    /// More chunks than any writer makes.
    #[error("more than {limit} chunks; the file is damaged, so bake again")]
    TooManyChunks {
        /// Most that are read.
        limit: usize,
    },
    /// A chunk that may come once only.
    #[error("the chunk comes a second time; the file is damaged, so bake again")]
    SecondChunk,
    /// A chunk that must come.
    #[error("there is no chunk {tag}; the file is damaged, so bake again")]
    MissingChunk {
        /// The chunk.
        tag: Tag,
    },
    /// A size that contradicts what it should hold.
    #[error("{found} bytes, but {expected} takes {needed}; the file is damaged, so bake again")]
    WrongSize {
        /// What should be there.
        expected: &'static str,
        /// Its size.
        needed: u64,
        /// The size declared.
        found: u64,
    },
    /// A size that no content of so few bytes can have.
    #[error("{stored} bytes cannot hold {raw} compressed; the file is damaged, so bake again")]
    ImpossibleExpansion {
        /// Bytes that are there.
        stored: u64,
        /// Bytes that they are said to become.
        raw: u64,
    },
    /// Bytes that do not decompress to what was declared.
    #[error("block {block} does not decompress: {why}; the file is damaged, so bake again")]
    BadBlock {
        /// Counted from 0.
        block: u64,
        /// What went wrong.
        why: String,
    },
    /// Numbers that make no grid.
    #[error("{0}; bake again")]
    Grid(#[source] GridError),
    /// Content that is not allowed.
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

/// File and place with a colon behind each, ready for the cause.
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
