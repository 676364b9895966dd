//! What can be wrong with a mesh file: the file, the place in it, the cause and the way out.

use std::fmt;
use std::path::{Path, PathBuf};

/// Why a mesh could not be read. Its message names file, place, cause and way out.
#[derive(Debug, thiserror::Error)]
#[error("{}{place}{cause}", FilePrefix(.file))]
pub struct ReadError {
    /// The file, when it was read from one.
    pub file: Option<PathBuf>,
    /// Where in the file.
    pub place: Place,
    /// What is wrong there.
    pub cause: Box<Cause>,
}

impl ReadError {
    /// Whether a [`super::Limits`] was hit, rather than the file being at fault.
    pub fn is_limit(&self) -> bool {
        matches!(*self.cause, Cause::Limit { .. } | Cause::NoLength(_))
    }

    pub(super) fn in_file(mut self, path: &Path) -> ReadError {
        self.file.get_or_insert_with(|| path.to_owned());
        self
    }
}

/// A place in a mesh file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    WholeFile,
    /// A line of a text file.
    Line {
        /// Counted from 1, as editors do.
        line: usize,
        /// What is described there, when known.
        element: Option<Element>,
    },
    /// A byte of a binary file.
    Byte {
        /// Counted from 0.
        byte: usize,
        /// What is described there, when known.
        element: Option<Element>,
    },
    /// A value of a JSON document, such as `accessors[3].byteOffset`.
    Json {
        /// Path from the root of the document.
        path: String,
    },
}

/// One of many like things in a file, such as facet 12.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// What the format calls it.
    pub kind: &'static str,
    /// Counted from 0, in the order of the file.
    pub number: usize,
}

/// What a [`super::Limits`] counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitKind {
    /// [`super::Limits::vertices`].
    Vertices,
    /// [`super::Limits::faces`].
    Faces,
    /// [`super::Limits::bytes`].
    Bytes,
}

/// What is wrong with a mesh file, and the way out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// The operating system could not deliver the bytes.
    #[error("cannot be read: {0}")]
    Io(#[source] std::io::Error),
    /// Reading on would take more than was allowed.
    #[error("{found} {kind} exceed the limit of {limit}; raise the limit or simplify the mesh")]
    Limit {
        /// Which limit.
        kind: LimitKind,
        /// How many there are, or the first count that is too much.
        found: u64,
        /// How many are allowed.
        limit: u64,
    },
    /// A pipe or a device that does not seem to end.
    #[error(transparent)]
    NoLength(crate::bounded_file::ReadError),
    /// Neither the name nor the content tells the format.
    #[error(
        "neither extension nor content is of a known format; use .obj, .stl, .ply, .off, .gltf or .glb"
    )]
    UnknownFormat,
    /// There is no surface.
    #[error(
        "no faces: {points} points only, and a surface is needed; export the mesh together with its faces"
    )]
    NoFaces {
        /// Vertices in the file.
        points: usize,
    },
    /// The file stops early.
    #[error(
        "the file ends where {expected} should follow; it is cut short, so export or copy it again"
    )]
    UnexpectedEnd {
        /// What should have come.
        expected: &'static str,
    },
    /// Something else stands where a value should be.
    #[error("expected {expected}, found {found}; correct it or export the file again")]
    Expected {
        /// What should have come.
        expected: &'static str,
        /// The beginning of what came, in quotes.
        found: String,
    },
    /// A count that the rest of the file cannot fulfil.
    #[error(
        "{declared} {what} are declared, but {bytes_left} bytes follow; the file is cut short or the count is damaged, so export it again"
    )]
    CountTooLarge {
        /// What is counted.
        what: &'static str,
        /// How many the file claims.
        declared: u64,
        /// Bytes in which they would have to fit.
        bytes_left: usize,
    },
    /// A binary STL whose size fits no reading of its facet count.
    #[error(
        "{declared} facets are declared, which take {expected_bytes} bytes, but the file has {bytes}; \
         the count is damaged, so export the file again"
    )]
    SurplusBytes {
        /// Facets the file claims.
        declared: u32,
        /// Size of a file with so many facets.
        expected_bytes: usize,
        /// Size of this one.
        bytes: usize,
    },
    /// OBJ counts from 1.
    #[error(
        "vertex index 0, but OBJ counts from 1 (or from −1 backwards); export with indices from 1"
    )]
    IndexZero,
    /// A face names a vertex that is not there.
    #[error(
        "vertex index {index} is out of range: there are {vertices} vertices; remove the face or export again"
    )]
    IndexOutOfRange {
        /// The index as the file has it.
        index: i64,
        /// Vertices that can be named.
        vertices: usize,
    },
    /// Points and lines given as faces.
    #[error("a face of {corners} corners, but a face needs 3; remove it or export again")]
    TooFewCorners {
        /// Corners of the face.
        corners: usize,
    },
    /// A concave polygon that would take too long to cut.
    #[error("a concave face of {corners} corners, more than {limit}; export the mesh triangulated")]
    PolygonTooLarge {
        /// Corners of the face.
        corners: usize,
        /// Most that are cut.
        limit: usize,
    },
    /// A part of the format that is not read.
    #[error("{what} cannot be read; {instead}")]
    Unsupported {
        /// What the file uses.
        what: String,
        /// What to do.
        instead: &'static str,
    },
    /// The JSON text does not parse, or not into what glTF 2.0 describes.
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
        /// The URI as the file has it.
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

    /// [`Cause::Expected`], quoting the beginning of what was found with control characters escaped.
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

/// With a colon behind it, ready for the cause.
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
