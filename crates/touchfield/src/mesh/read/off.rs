//! OFF files of Geomview: `OFF`, with any of the prefixes `ST`, `C` and `N`, as text.
//!
//! A vertex is the first three numbers of its line and a face the first `n + 1`: texture
//! coordinates, normals and colours after them are skipped.

use glam::DVec3;

use super::builder::MeshBuilder;
use super::text::{Words, plausible_count};
use crate::mesh::TriangleMesh;
use crate::mesh::read::error::{Cause, Element, Place, ReadError};
use crate::mesh::read::limits::Limits;

/// Length of `0 0 0` and a line end.
const MIN_VERTEX_BYTES: usize = 6;
/// Length of `3 0 1 2` and a line end.
const MIN_FACE_BYTES: usize = 8;

pub(super) fn looks_like(bytes: &[u8]) -> bool {
    let first = words(&bytes[..bytes.len().min(4096)]).next();
    first.is_some_and(|word| word.ends_with(b"OFF"))
}

pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<TriangleMesh, ReadError> {
    let mut words = words(bytes);
    read_header(&mut words)?;
    let vertices = words.integer("the number of vertices")?;
    let faces = words.integer("the number of faces")?;
    // The number of edges may follow; it is unreliable and not needed.
    words.next_line();

    let mut builder = MeshBuilder::new(limits);
    let at_header =
        |cause: Cause, words: &Words| cause.at_line(words.line().saturating_sub(1).max(1));
    let vertices = plausible_count(vertices, MIN_VERTEX_BYTES, words.bytes_left(), "vertices")
        .map_err(|cause| at_header(cause, &words))?;
    let faces = plausible_count(faces, MIN_FACE_BYTES, words.bytes_left(), "faces")
        .map_err(|cause| at_header(cause, &words))?;
    builder
        .reserve_vertices(vertices)
        .and_then(|()| builder.reserve_faces(faces))
        .map_err(|cause| at_header(cause, &words))?;

    for _ in 0..vertices {
        let mut position = DVec3::ZERO;
        for axis in 0..3 {
            position[axis] = words.number("a coordinate")?;
        }
        words.next_line();
        builder
            .push_vertex(position)
            .map_err(|cause| cause.at_line(words.line()))?;
    }
    let mut corners = Vec::new();
    for face in 0..faces {
        read_face(&mut words, vertices, &mut corners)
            .and_then(|()| {
                builder
                    .push_polygon(&corners)
                    .map_err(|cause| cause.at_line(words.line()))
            })
            .map_err(|error| in_face(error, face))?;
        words.next_line();
    }
    Ok(builder.finish())
}

fn words(bytes: &[u8]) -> Words<'_> {
    Words::new(bytes).with_comments(b'#')
}

/// Consumes the keyword, if there is one: the format makes it optional.
fn read_header(words: &mut Words) -> Result<(), ReadError> {
    let mut ahead = words.clone();
    let word = ahead.next();
    let word = ahead.required(word, "`OFF`")?;
    if word.iter().all(u8::is_ascii_digit) {
        return Ok(());
    }
    let unsupported = |what: &str| Cause::Unsupported {
        what: what.to_owned(),
        instead: "export as text OFF, or as PLY",
    };
    let mut rest = word.strip_prefix(b"ST").unwrap_or(word);
    rest = rest.strip_prefix(b"C").unwrap_or(rest);
    rest = rest.strip_prefix(b"N").unwrap_or(rest);
    match rest {
        b"OFF" => {}
        b"4OFF" | b"nOFF" | b"4nOFF" => {
            return Err(unsupported("OFF of other than three dimensions").at_line(ahead.line()));
        }
        _ => return Err(Cause::expected("`OFF`", word).at_line(ahead.line())),
    }
    *words = ahead.clone();
    if ahead.next_in_line() == Some(b"BINARY") {
        return Err(unsupported("binary OFF").at_line(ahead.line()));
    }
    Ok(())
}

fn read_face(words: &mut Words, vertices: usize, corners: &mut Vec<u32>) -> Result<(), ReadError> {
    let declared = words.integer("the number of corners")?;
    let count = plausible_count(declared, 2, words.bytes_left(), "corners")
        .map_err(|cause| cause.at_line(words.line()))?;
    corners.clear();
    for _ in 0..count {
        let index = words.integer("a vertex index")?;
        match u32::try_from(index) {
            Ok(number) if (number as usize) < vertices => corners.push(number),
            _ => return Err(Cause::IndexOutOfRange { index, vertices }.at_line(words.line())),
        }
    }
    Ok(())
}

fn in_face(mut error: ReadError, number: usize) -> ReadError {
    if let Place::Line { element, .. } = &mut error.place {
        *element = Some(Element {
            kind: "face",
            number,
        });
    }
    error
}
