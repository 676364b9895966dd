//! Errors of reading a mesh file: the file, the location in it, the cause and the remedy.

use std::fmt;
use std::path::{Path, PathBuf};

/// Reason why a mesh could not be read. The message contains the file, the location, the cause and
/// the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{}{place}{cause}", FilePrefix(.file))]
pub struct ReadError {
    /// File path, if the mesh was read from a file.
    pub file: Option<PathBuf>,
    /// Location in the file.
    pub place: Place,
    /// Cause of the error.
    pub cause: Box<Cause>,
}

impl ReadError {
    /// Returns whether a [`super::Limits`] was exceeded, as opposed to a fault of the file.
    pub fn is_limit(&self) -> bool {
        matches!(*self.cause, Cause::Limit { .. } | Cause::NoLength(_))
    }

    pub(super) fn in_file(mut self, path: &Path) -> ReadError {
        self.file.get_or_insert_with(|| path.to_owned());
        self
    }
}

/// A location in a mesh file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    WholeFile,
    /// A line of a text file.
    Line {
        /// Line number, counted from 1, as editors do.
        line: usize,
        /// Element at that location, if known.
        element: Option<Element>,
    },
    /// A byte of a binary file.
    Byte {
        /// Byte offset, counted from 0.
        byte: usize,
        /// Element at that location, if known.
        element: Option<Element>,
    },
    /// A value of a JSON document, such as `accessors[3].byteOffset`.
    Json {
        /// Path from the root of the document.
        path: String,
    },
}

/// An element of a file, such as facet 12.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// Name of the kind of element in the format.
    pub kind: &'static str,
    /// Index, counted from 0, in the order of the file.
    pub number: usize,
}

/// Quantity that a [`super::Limits`] restricts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitKind {
    /// [`super::Limits::vertices`].
    Vertices,
    /// [`super::Limits::faces`].
    Faces,
    /// [`super::Limits::bytes`].
    Bytes,
}

/// Cause of a read error, with the remedy in its message.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// The operating system could not provide the bytes.
    #[error("cannot be read: {0}")]
    Io(#[source] std::io::Error),
    /// The file exceeds a limit.
    #[error("{found} {kind} exceed the limit of {limit}; raise the limit or simplify the mesh")]
    Limit {
        /// The limit that was exceeded.
        kind: LimitKind,
        /// Actual number, or the first count beyond the limit.
        found: u64,
        /// Largest allowed number.
        limit: u64,
    },
    /// The file is a pipe or a device that does not seem to end.
    #[error(transparent)]
    NoLength(crate::bounded_file::ReadError),
    /// Neither the extension nor the content identifies a known format.
    #[error(
        "neither extension nor content is of a known format; use .obj, .stl, .ply, .off, .gltf or .glb"
    )]
    UnknownFormat,
    /// The file contains no faces.
    #[error(
        "no faces: {points} points only, and a surface is needed; export the mesh together with its faces"
    )]
    NoFaces {
        /// Number of vertices in the file.
        points: usize,
    },
    /// The file ends too early.
    #[error(
        "the file ends where {expected} should follow; it is cut short, so export or copy it again"
    )]
    UnexpectedEnd {
        /// Description of the expected content.
        expected: &'static str,
    },
    /// Unexpected content where a value should be.
    #[error("expected {expected}, found {found}; correct it or export the file again")]
    Expected {
        /// Description of the expected content.
        expected: &'static str,
        /// Beginning of the content that was found, in quotes.
        found: String,
    },
    /// A declared count that the rest of the file cannot hold.
    #[error(
        "{declared} {what} are declared, but {bytes_left} bytes follow; the file is cut short or the count is damaged, so export it again"
    )]
    CountTooLarge {
        /// Name of the counted items.
        what: &'static str,
        /// Declared count.
        declared: u64,
        /// Number of bytes that are left for them.
        bytes_left: usize,
    },
    /// A binary STL whose size does not match its facet count.
    #[error(
        "{declared} facets are declared, which take {expected_bytes} bytes, but the file has {bytes}; \
         the count is damaged, so export the file again"
    )]
    SurplusBytes {
        /// Declared number of facets.
        declared: u32,
        /// Size of a file with that many facets \[bytes\].
        expected_bytes: usize,
        /// Size of this file \[bytes\].
        bytes: usize,
    },
    /// An index 0 in an OBJ file, where indices start at 1.
    #[error(
        "vertex index 0, but OBJ counts from 1 (or from −1 backwards); export with indices from 1"
    )]
    IndexZero,
    /// A face refers to a vertex that does not exist.
    #[error(
        "vertex index {index} is out of range: there are {vertices} vertices; remove the face or export again"
    )]
    IndexOutOfRange {
        /// The index as written in the file.
        index: i64,
        /// Number of vertices that can be referred to.
        vertices: usize,
    },
    /// A point or line given as a face.
    #[error("a face of {corners} corners, but a face needs 3; remove it or export again")]
    TooFewCorners {
        /// Number of corners of the face.
        corners: usize,
    },
    /// A concave polygon that would take too long to triangulate.
    #[error("a concave face of {corners} corners, more than {limit}; export the mesh triangulated")]
    PolygonTooLarge {
        /// Number of corners of the face.
        corners: usize,
        /// Largest supported number of corners.
        limit: usize,
    },
    /// A part of the format that is not supported.
    #[error("{what} cannot be read; {instead}")]
    Unsupported {
        /// The unsupported feature.
        what: String,
        /// Suggested remedy.
        instead: &'static str,
    },
    /// The JSON text does not parse, or does not match the structure of glTF 2.0.
    #[error("not the JSON of glTF 2.0: {0}; export the file again as glTF 2.0")]
    Json(String),
    /// glTF values that contradict each other.
    #[error("{0}; export the file again")]
    Gltf(String),
    /// A URI that does not name a file beside the glTF file.
    #[error(
        "`{uri}` leads out of the folder of the file, which is refused; put the buffer beside the file or embed it"
    )]
    LeavesFolder {
        /// The URI as written in the file.
        uri: String,
    },
}

impl Cause {
    pub(super) fn at(self, place: Place) -> ReadError {
        ReadError {
            file: None,
            place,
            cause: Box::new(self),
        }
    }

    pub(super) fn at_line(self, line: usize) -> ReadError {
        self.at(Place::Line {
            line,
            element: None,
        })
    }

    pub(super) fn at_byte(self, byte: usize) -> ReadError {
        self.at(Place::Byte {
            byte,
            element: None,
        })
    }

    pub(super) fn at_json(self, path: impl Into<String>) -> ReadError {
        self.at(Place::Json { path: path.into() })
    }

    /// Builds a [`Cause::Expected`] that quotes the beginning of what was found, with control
    /// characters escaped.
    pub(super) fn expected(expected: &'static str, found: &[u8]) -> Cause {
        const QUOTED: usize = 24;
        let found = match found.get(..QUOTED) {
            _ if found.is_empty() => "nothing".to_owned(),
            Some(start) => format!("`{}…`", String::from_utf8_lossy(start).escape_debug()),
            None => format!("`{}`", String::from_utf8_lossy(found).escape_debug()),
        };
        Cause::Expected { expected, found }
    }
}

struct FilePrefix<'a>(&'a Option<PathBuf>);

impl fmt::Display for FilePrefix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(path) => write!(f, "{}: ", path.display()),
            None => Ok(()),
        }
    }
}

/// Formats the location with a trailing colon, ready for the cause.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let element = match self {
            Place::WholeFile => return Ok(()),
            Place::Json { path } => return write!(f, "{path}: "),
            Place::Line { line, element } => {
                write!(f, "line {line}")?;
                element
            }
            Place::Byte { byte, element } => {
                write!(f, "byte {byte}")?;
                element
            }
        };
        match element {
            Some(Element { kind, number }) => write!(f, ", {kind} {number}: "),
            None => write!(f, ": "),
        }
    }
}

impl fmt::Display for LimitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LimitKind::Vertices => "vertices",
            LimitKind::Faces => "faces",
            LimitKind::Bytes => "bytes",
        })
    }
}
