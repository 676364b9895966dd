//! STL files, text and binary. Equal corners of facets become one vertex.
//!
//! Text files may hold several solids, in any case and with any white space. Facet normals are
//! ignored, because the corners are more reliable. In binary files, colours in the attribute bytes
//! are ignored.

use glam::DVec3;

use super::builder::MeshBuilder;
use super::text::{Words, parse_number};
use super::weld::Welder;
use crate::mesh::TriangleMesh;
use crate::mesh::read::error::{Cause, Element, Place, ReadError};
use crate::mesh::read::limits::Limits;

/// Size of the comment and count before the first facet of a binary file \[bytes\].
const HEADER: usize = 84;
/// Size of the normal, three corners and attribute of a binary facet \[bytes\].
const FACET: usize = 50;
/// Number of facets whose corners are looked up together: enough to hide memory latency, few enough
/// for the L1 cache.
const BATCH: usize = 32;

pub(super) fn looks_like(bytes: &[u8]) -> bool {
    has_binary_size(bytes) || is_text(bytes)
}

pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<TriangleMesh, ReadError> {
    // The size decides first, because many binary files also begin with "solid".
    if !has_binary_size(bytes) && is_text(bytes) {
        read_text(bytes, limits)
    } else {
        read_binary(bytes, limits)
    }
}

fn declared_facets(bytes: &[u8]) -> Option<u32> {
    let count = bytes.get(HEADER - 4..)?.first_chunk()?;
    Some(u32::from_le_bytes(*count))
}

fn binary_size(facets: u32) -> usize {
    (facets as usize)
        .saturating_mul(FACET)
        .saturating_add(HEADER)
}

fn has_binary_size(bytes: &[u8]) -> bool {
    declared_facets(bytes).is_some_and(|facets| binary_size(facets) == bytes.len())
}

fn is_text(bytes: &[u8]) -> bool {
    let mut words = Words::new(&bytes[..bytes.len().min(1024)]);
    if !words.next().is_some_and(|word| is(word, "solid")) {
        return false;
    }
    // Text has no zero bytes; the comment of a binary file is nearly always padded with them.
    !bytes[..bytes.len().min(1024)].contains(&0)
}

fn read_binary(bytes: &[u8], limits: &Limits) -> Result<TriangleMesh, ReadError> {
    let Some(declared) = declared_facets(bytes) else {
        return Err(Cause::UnexpectedEnd {
            expected: "the header of a binary STL (84 bytes)",
        }
        .at_byte(bytes.len()));
    };
    let facets = &bytes[HEADER..];
    let expected_bytes = binary_size(declared);
    if bytes.len() < expected_bytes {
        return Err(Cause::CountTooLarge {
            what: "facets",
            declared: u64::from(declared),
            bytes_left: facets.len(),
        }
        .at(Place::Byte {
            byte: bytes.len(),
            element: Some(Element {
                kind: "facet",
                number: facets.len() / FACET,
            }),
        }));
    }
    // Some writers pad the end; a whole surplus facet means that the count is wrong.
    if bytes.len() - expected_bytes >= FACET {
        return Err(Cause::SurplusBytes {
            declared,
            expected_bytes,
            bytes: bytes.len(),
        }
        .at_byte(HEADER - 4));
    }
    let mut builder = MeshBuilder::new(limits);
    builder
        .reserve_faces(declared as usize)
        .map_err(|cause| cause.at_byte(HEADER - 4))?;
    // A closed surface has half as many vertices as faces.
    let mut welder = Welder::new(declared as usize / 2);
    let mut positions = [DVec3::ZERO; 3 * BATCH];
    let facets = facets[..FACET * declared as usize].chunks(FACET * BATCH);
    for (batch, facets) in facets.enumerate() {
        let facets = facets.chunks_exact(FACET);
        let positions = &mut positions[..3 * facets.len()];
        for (corners, facet) in positions.chunks_exact_mut(3).zip(facets) {
            for (i, corner) in corners.iter_mut().enumerate() {
                *corner = corner_position(facet, i);
            }
        }
        welder.prefetch(positions);
        for (i, corners) in positions.chunks_exact(3).enumerate() {
            add_facet(&mut builder, &mut welder, corners).map_err(|cause| {
                let number = batch * BATCH + i;
                cause.at(Place::Byte {
                    byte: HEADER + number * FACET,
                    element: Some(Element {
                        kind: "facet",
                        number,
                    }),
                })
            })?;
        }
    }
    Ok(builder.finish())
}

fn corner_position(facet: &[u8], corner: usize) -> DVec3 {
    let coordinate = |axis: usize| {
        let at = 12 * (corner + 1) + 4 * axis;
        let bytes = [facet[at], facet[at + 1], facet[at + 2], facet[at + 3]];
        f64::from(f32::from_le_bytes(bytes))
    };
    DVec3::new(coordinate(0), coordinate(1), coordinate(2))
}

fn add_facet(
    builder: &mut MeshBuilder,
    welder: &mut Welder,
    corners: &[DVec3],
) -> Result<(), Cause> {
    let mut face = [0; 3];
    for (vertex, &corner) in face.iter_mut().zip(corners) {
        *vertex = welder.vertex(builder, corner)?;
    }
    builder.push_polygon(&face)
}

fn read_text(bytes: &[u8], limits: &Limits) -> Result<TriangleMesh, ReadError> {
    let mut words = Words::new(bytes);
    let mut text = TextStl {
        builder: MeshBuilder::new(limits),
        welder: Welder::new(0),
        corners: Vec::new(),
        facet: 0,
    };
    let mut is_open = false;
    while let Some(word) = words.next() {
        if is(word, "solid") {
            is_open = true;
            skip_name(&mut words);
        } else if is(word, "endsolid") {
            is_open = false;
            skip_name(&mut words);
        } else if is(word, "facet") {
            text.read_facet(&mut words)
                .map_err(|cause| cause.at(text.place(&words)))?;
        } else {
            let cause = Cause::expected("`facet`, `endsolid` or `solid`", word);
            return Err(cause.at(text.place(&words)));
        }
    }
    if is_open {
        let expected = "`endsolid`";
        return Err(Cause::UnexpectedEnd { expected }.at(text.place(&words)));
    }
    Ok(text.builder.finish())
}

struct TextStl {
    builder: MeshBuilder,
    welder: Welder,
    corners: Vec<u32>,
    facet: usize,
}

impl TextStl {
    /// Reads the content between `facet` and `endfacet`.
    fn read_facet(&mut self, words: &mut Words) -> Result<(), Cause> {
        self.corners.clear();
        let expected = "`vertex`, `endloop` or `endfacet`";
        let mut in_normal = false;
        loop {
            let word = words.next().ok_or(Cause::UnexpectedEnd { expected })?;
            if is(word, "vertex") {
                let mut position = DVec3::ZERO;
                for axis in 0..3 {
                    let expected = "a coordinate";
                    let word = words.next().ok_or(Cause::UnexpectedEnd { expected })?;
                    position[axis] = parse_number(word, expected)?;
                }
                let corner = self.welder.vertex(&mut self.builder, position)?;
                self.corners.push(corner);
                in_normal = false;
            } else if is(word, "endfacet") {
                self.builder.push_polygon(&self.corners)?;
                self.facet += 1;
                return Ok(());
            } else if is(word, "normal") {
                in_normal = true;
            } else if is(word, "outer") || is(word, "loop") || is(word, "endloop") {
                in_normal = false;
            } else if !in_normal {
                return Err(Cause::expected(expected, word));
            }
        }
    }

    fn place(&self, words: &Words) -> Place {
        Place::Line {
            line: words.line(),
            element: Some(Element {
                kind: "facet",
                number: self.facet,
            }),
        }
    }
}

/// Skips the name after `solid`: the rest of the line, unless the facets begin on it.
fn skip_name(words: &mut Words) {
    loop {
        let before = words.clone();
        match words.next_in_line() {
            None => return,
            Some(word) if is(word, "facet") => {
                if words.clone().next().is_some_and(|word| is(word, "normal")) {
                    *words = before;
                    return;
                }
            }
            Some(_) => {}
        }
    }
}

fn is(word: &[u8], keyword: &str) -> bool {
    word.eq_ignore_ascii_case(keyword.as_bytes())
}
