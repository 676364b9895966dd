//! Header of a PLY file: which elements follow, and the properties of each.

use super::super::text::{Words, parse_integer};
use super::super::{Cause, ReadError};
use super::body::Body;
use crate::mesh::read::ply::body::Scalar;

pub(super) struct Header<'a> {
    pub(super) elements: Vec<Declared<'a>>,
}

/// An element as declared in the header.
pub(super) struct Declared<'a> {
    pub(super) role: Role,
    /// Number of elements as declared, not yet compared with the bytes that exist.
    pub(super) count: i64,
    pub(super) properties: Vec<Property<'a>>,
    pub(super) line: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Vertices,
    Faces,
    Strips,
    Other,
}

impl Role {
    /// Returns the name of one such element in an error message.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Role::Vertices => "vertex",
            Role::Faces => "face",
            Role::Strips => "tristrip",
            Role::Other => "element",
        }
    }

    pub(super) fn plural(self) -> &'static str {
        match self {
            Role::Vertices => "vertices",
            Role::Faces => "faces",
            Role::Strips => "tristrips",
            Role::Other => "elements",
        }
    }
}

pub(super) struct Property<'a> {
    pub(super) name: &'a [u8],
    /// Type of the count, for a list property.
    pub(super) count: Option<Scalar>,
    pub(super) item: Scalar,
}

pub(super) fn read_header(bytes: &[u8]) -> Result<(Header<'_>, Body<'_>), ReadError> {
    let mut words = Words::new(bytes);
    if words.next_in_line() != Some(b"ply") {
        let start = &bytes[..bytes.len().min(4)];
        return Err(Cause::expected("`ply`", start).at_line(1));
    }
    let mut format: &[u8] = b"";
    let mut elements: Vec<Declared> = Vec::new();
    loop {
        if !words.next_line() {
            let expected = "`end_header`";
            return Err(Cause::UnexpectedEnd { expected }.at_line(words.line()));
        }
        let Some(keyword) = words.next_in_line() else {
            continue;
        };
        let done = match keyword {
            b"format" => {
                format = words.next_in_line().unwrap_or_default();
                Ok(())
            }
            b"comment" | b"obj_info" => Ok(()),
            b"element" => read_element(&mut words).map(|element| elements.push(element)),
            b"property" => match elements.last_mut() {
                Some(element) => {
                    read_property(&mut words).map(|property| element.properties.push(property))
                }
                None => Err(Cause::expected("`element` first", keyword)),
            },
            b"end_header" => break,
            _ => Err(Cause::expected(
                "`element`, `property` or `end_header`",
                keyword,
            )),
        };
        done.map_err(|cause| cause.at_line(words.line()))?;
    }
    let header_end = words.position();
    words.next_line();
    // If lines end in a lone CR, an LF after the last one is already data.
    let has_lone_cr = bytes.get(3) == Some(&b'\r') && bytes.get(4) != Some(&b'\n');
    let binary = |is_big_endian| Body::Binary {
        bytes,
        at: if has_lone_cr {
            (header_end + 1).min(bytes.len())
        } else {
            words.position()
        },
        is_big_endian,
    };
    let body = match format {
        b"binary_little_endian" => binary(false),
        b"binary_big_endian" => binary(true),
        b"ascii" => Body::Text(words),
        other => {
            let expected = "`format` ascii, binary_little_endian or binary_big_endian";
            return Err(Cause::expected(expected, other).at_line(2));
        }
    };
    Ok((Header { elements }, body))
}

/// Reads the rest of a line after `element`.
fn read_element<'a>(words: &mut Words<'a>) -> Result<Declared<'a>, Cause> {
    let role = match words.next_in_line() {
        Some(b"vertex") => Role::Vertices,
        Some(b"face") => Role::Faces,
        Some(b"tristrips") => Role::Strips,
        _ => Role::Other,
    };
    let count = parse_integer(words.next_in_line().unwrap_or_default(), "a count")?;
    Ok(Declared {
        role,
        count,
        properties: Vec::new(),
        line: words.line(),
    })
}

/// Reads the rest of a line after `property`.
fn read_property<'a>(words: &mut Words<'a>) -> Result<Property<'a>, Cause> {
    fn scalar(word: Option<&[u8]>) -> Result<Scalar, Cause> {
        let word = word.unwrap_or_default();
        Scalar::from_name(word).ok_or_else(|| Cause::expected("a type, such as `float`", word))
    }
    let first = words.next_in_line();
    let (count, item) = if first == Some(b"list") {
        let count = scalar(words.next_in_line())?;
        (Some(count), scalar(words.next_in_line())?)
    } else {
        (None, scalar(first)?)
    };
    let name = words.next_in_line().unwrap_or_default();
    Ok(Property { name, count, item })
}
