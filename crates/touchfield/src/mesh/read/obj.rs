//! Wavefront OBJ files: `v` and `f` lines; everything else is skipped.
//!
//! Two passes, vertices first, so that a face may refer to a vertex that is defined below it.

use glam::DVec3;

use super::builder::MeshBuilder;
use super::text::{Words, parse_integer, parse_number};
use crate::mesh::TriangleMesh;
use crate::mesh::read::error::{Cause, ReadError};
use crate::mesh::read::limits::Limits;

pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<TriangleMesh, ReadError> {
    let mut builder = MeshBuilder::new(limits);
    read_vertices(bytes, &mut builder)?;
    read_faces(bytes, &mut builder)?;
    Ok(builder.finish())
}

/// Returns whether one of the first lines is a vertex and all lines before it look like statements.
pub(super) fn looks_like(bytes: &[u8]) -> bool {
    let mut words = statements(&bytes[..bytes.len().min(4096)]);
    let mut has_vertex = false;
    loop {
        match words.next_in_line() {
            Some(b"v") => has_vertex = true,
            Some(word) if !word[0].is_ascii_alphabetic() => return false,
            _ => {}
        }
        if has_vertex || !words.next_line() {
            return has_vertex;
        }
    }
}

fn statements(bytes: &[u8]) -> Words<'_> {
    Words::new(bytes).with_comments(b'#').with_joined_lines()
}

fn read_vertices(bytes: &[u8], builder: &mut MeshBuilder) -> Result<(), ReadError> {
    let mut words = statements(bytes);
    loop {
        if words.next_in_line() == Some(b"v") {
            let mut position = DVec3::ZERO;
            for axis in 0..3 {
                // Weights and colours may follow.
                let word = words.next_in_line().unwrap_or_default();
                position[axis] = parse_number(word, "a coordinate")
                    .map_err(|cause| cause.at_line(words.line()))?;
            }
            builder
                .push_vertex(position)
                .map_err(|cause| cause.at_line(words.line()))?;
        }
        if !words.next_line() {
            return Ok(());
        }
    }
}

fn read_faces(bytes: &[u8], builder: &mut MeshBuilder) -> Result<(), ReadError> {
    let mut words = statements(bytes);
    let mut defined_above = 0;
    let mut corners = Vec::new();
    loop {
        match words.next_in_line() {
            Some(b"v") => defined_above += 1,
            Some(b"f") => {
                corners.clear();
                while let Some(word) = words.next_in_line() {
                    let corner = vertex_index(word, defined_above, builder.vertices().len())
                        .map_err(|cause| cause.at_line(words.line()))?;
                    corners.push(corner);
                }
                builder
                    .push_polygon(&corners)
                    .map_err(|cause| cause.at_line(words.line()))?;
            }
            _ => {}
        }
        if !words.next_line() {
            return Ok(());
        }
    }
}

/// Returns the vertex that `7`, `-1`, `7/2`, `7//3` or `7/2/3` refers to, counted from 0.
fn vertex_index(word: &[u8], defined_above: usize, vertices: usize) -> Result<u32, Cause> {
    let length = word.iter().position(|&byte| byte == b'/');
    let word = &word[..length.unwrap_or(word.len())];
    let index = parse_integer(word, "a vertex index")?;
    let from_zero = match index {
        0 => return Err(Cause::IndexZero),
        1.. => index - 1,
        _ => defined_above as i64 + index,
    };
    match u32::try_from(from_zero) {
        Ok(number) if (number as usize) < vertices => Ok(number),
        _ => Err(Cause::IndexOutOfRange { index, vertices }),
    }
}
