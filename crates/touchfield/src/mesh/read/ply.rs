//! PLY: text, and binary of either byte order.
//!
//! Any elements and properties in any order and of any type; used are `x`, `y`, `z` of `vertex`, and `vertex_indices`
//! or `vertex_index` of `face` and `tristrips`. The others are stepped over.

use glam::DVec3;

use super::builder::MeshBuilder;
use super::text::{Words, parse_integer, parse_number, plausible_count};
use super::{Cause, Element, Limits, Place, ReadError};
use crate::mesh::TriangleMesh;

pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<TriangleMesh, ReadError> {
    let (header, body) = read_header(bytes)?;
    let mut builder = MeshBuilder::new(limits);
    let is_vertex = |element: &Declared| element.role == Role::Vertices;
    let is_indexing = |element: &Declared| matches!(element.role, Role::Faces | Role::Strips);
    let first_indexing = header.elements.iter().position(is_indexing);
    let last_vertex = header.elements.iter().rposition(is_vertex);
    if first_indexing < last_vertex && first_indexing.is_some() {
        // Faces come before the vertices they name: walk twice.
        read_body(&header, body.clone(), is_vertex, &mut builder)?;
        read_body(&header, body, is_indexing, &mut builder)?;
    } else {
        read_body(&header, body, |_| true, &mut builder)?;
    }
    Ok(builder.finish())
}

struct Header<'a> {
    elements: Vec<Declared<'a>>,
}

/// An element as the header declares it.
struct Declared<'a> {
    role: Role,
    /// As declared; not yet compared with the bytes that are there.
    count: i64,
    properties: Vec<Property<'a>>,
    line: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Vertices,
    Faces,
    Strips,
    Other,
}

impl Role {
    /// What one of them is called in an error.
    fn kind(self) -> &'static str {
        match self {
            Role::Vertices => "vertex",
            Role::Faces => "face",
            Role::Strips => "tristrip",
            Role::Other => "element",
        }
    }

    fn plural(self) -> &'static str {
        match self {
            Role::Vertices => "vertices",
            Role::Faces => "faces",
            Role::Strips => "tristrips",
            Role::Other => "elements",
        }
    }
}

struct Property<'a> {
    name: &'a [u8],
    /// Type of the count, for a list.
    count: Option<Scalar>,
    item: Scalar,
}

#[derive(Clone, Copy)]
enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Scalar {
    fn from_name(name: &[u8]) -> Option<Scalar> {
        Some(match name {
            b"char" | b"int8" => Scalar::I8,
            b"uchar" | b"uint8" => Scalar::U8,
            b"short" | b"int16" => Scalar::I16,
            b"ushort" | b"uint16" => Scalar::U16,
            b"int" | b"int32" => Scalar::I32,
            b"uint" | b"uint32" => Scalar::U32,
            b"int64" => Scalar::I64,
            b"uint64" => Scalar::U64,
            b"float" | b"float32" => Scalar::F32,
            b"double" | b"float64" => Scalar::F64,
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::F64 => 8,
        }
    }
}

/// The values behind the header, one after the other.
#[derive(Clone)]
enum Body<'a> {
    Text(Words<'a>),
    Binary {
        bytes: &'a [u8],
        at: usize,
        is_big_endian: bool,
    },
}

impl Body<'_> {
    #[inline]
    fn value(&mut self, scalar: Scalar, expected: &'static str) -> Result<f64, Cause> {
        match self {
            Body::Text(words) => {
                let word = words.next().ok_or(Cause::UnexpectedEnd { expected })?;
                parse_number(word, expected)
            }
            Body::Binary {
                bytes,
                at,
                is_big_endian,
            } => {
                macro_rules! number {
                    ($type:ty) => {{
                        let raw = bytes
                            .get(*at..)
                            .and_then(|rest| rest.first_chunk())
                            .ok_or(Cause::UnexpectedEnd { expected })?;
                        *at += raw.len();
                        let value = if *is_big_endian {
                            <$type>::from_be_bytes(*raw)
                        } else {
                            <$type>::from_le_bytes(*raw)
                        };
                        value as f64
                    }};
                }
                Ok(match scalar {
                    Scalar::I8 => number!(i8),
                    Scalar::U8 => number!(u8),
                    Scalar::I16 => number!(i16),
                    Scalar::U16 => number!(u16),
                    Scalar::I32 => number!(i32),
                    Scalar::U32 => number!(u32),
                    Scalar::I64 => number!(i64),
                    Scalar::U64 => number!(u64),
                    Scalar::F32 => number!(f32),
                    Scalar::F64 => number!(f64),
                })
            }
        }
    }

    /// Steps over values of one type.
    fn skip(&mut self, count: usize, scalar: Scalar) -> Result<(), Cause> {
        match self {
            Body::Text(_) => {
                for _ in 0..count {
                    self.value(scalar, "a property")?;
                }
            }
            // `list_length` and `plausible_count` have seen that they are there.
            Body::Binary { bytes, at, .. } => {
                let end = count
                    .checked_mul(scalar.size())
                    .and_then(|size| size.checked_add(*at))
                    .filter(|&end| end <= bytes.len());
                let expected = "a property";
                *at = end.ok_or(Cause::UnexpectedEnd { expected })?;
            }
        }
        Ok(())
    }

    /// The length of a list, if the bytes left can hold it.
    fn list_length(&mut self, count: Scalar, item: Scalar) -> Result<usize, Cause> {
        let declared = self.value(count, "the length of a list")?;
        if declared < 0.0 || declared.fract() != 0.0 || !declared.is_finite() {
            return Err(Cause::expected(
                "the length of a list",
                declared.to_string().as_bytes(),
            ));
        }
        let bytes_each = self.min_size(item);
        plausible_count(declared as i64, bytes_each, self.bytes_left(), "list items")
    }

    /// Fewest bytes that a value takes: in text a digit and a blank.
    fn min_size(&self, scalar: Scalar) -> usize {
        match self {
            Body::Text(_) => 2,
            Body::Binary { .. } => scalar.size(),
        }
    }

    fn bytes_left(&self) -> usize {
        match self {
            Body::Text(words) => words.bytes_left(),
            Body::Binary { bytes, at, .. } => bytes.len() - at,
        }
    }

    fn place(&self, element: Option<Element>) -> Place {
        match self {
            Body::Text(words) => Place::Line {
                line: words.line(),
                element,
            },
            Body::Binary { at, .. } => Place::Byte { byte: *at, element },
        }
    }
}

fn read_header(bytes: &[u8]) -> Result<(Header<'_>, Body<'_>), ReadError> {
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
    // Where lines end in a lone CR, an LF behind the last one is data already.
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

/// What follows `element`.
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

/// What follows `property`.
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

/// Walks over all elements, reading those `wanted`.
fn read_body(
    header: &Header,
    mut body: Body,
    wanted: impl Fn(&Declared) -> bool,
    builder: &mut MeshBuilder,
) -> Result<(), ReadError> {
    for element in &header.elements {
        let min_size = element
            .properties
            .iter()
            .map(|property| body.min_size(property.count.unwrap_or(property.item)))
            .sum::<usize>();
        let at_header = |cause: Cause| cause.at_line(element.line);
        if min_size == 0 && element.role == Role::Other {
            continue;
        }
        let role = element.role;
        let count = plausible_count(element.count, min_size, body.bytes_left(), role.plural())
            .map_err(at_header)?;
        let mut number = 0;
        let done = if !wanted(element) || role == Role::Other {
            skip_elements(&mut body, element, count, &mut number)
        } else if role == Role::Vertices {
            let axes = vertex_axes(element).map_err(at_header)?;
            builder.reserve_vertices(count).map_err(at_header)?;
            read_vertices(&mut body, element, &axes, count, &mut number, builder)
        } else {
            let indices = index_property(element, count).map_err(at_header)?;
            builder.reserve_faces(count).map_err(at_header)?;
            read_faces(&mut body, element, indices, count, &mut number, builder)
        };
        done.map_err(|cause| {
            cause.at(body.place(Some(Element {
                kind: role.kind(),
                number,
            })))
        })?;
    }
    Ok(())
}

fn skip_property(body: &mut Body, property: &Property) -> Result<(), Cause> {
    let count = match property.count {
        Some(count) => body.list_length(count, property.item)?,
        None => 1,
    };
    body.skip(count, property.item)
}

fn skip_elements(
    body: &mut Body,
    element: &Declared,
    count: usize,
    number: &mut usize,
) -> Result<(), Cause> {
    while *number < count {
        for property in &element.properties {
            skip_property(body, property)?;
        }
        *number += 1;
    }
    Ok(())
}

/// Which axis each property is, if any.
fn vertex_axes(element: &Declared) -> Result<Vec<Option<usize>>, Cause> {
    let axis = |property: &Property| match (property.name, property.count) {
        (b"x", None) => Some(0),
        (b"y", None) => Some(1),
        (b"z", None) => Some(2),
        _ => None,
    };
    let axes: Vec<_> = element.properties.iter().map(axis).collect();
    if (0..3).all(|axis| axes.contains(&Some(axis))) {
        return Ok(axes);
    }
    Err(Cause::Expected {
        expected: "the vertex properties `x`, `y` and `z`",
        found: "others".to_owned(),
    })
}

fn read_vertices(
    body: &mut Body,
    element: &Declared,
    axes: &[Option<usize>],
    count: usize,
    number: &mut usize,
    builder: &mut MeshBuilder,
) -> Result<(), Cause> {
    while *number < count {
        let mut position = DVec3::ZERO;
        for (property, axis) in element.properties.iter().zip(axes) {
            match *axis {
                Some(axis) => position[axis] = body.value(property.item, "a coordinate")?,
                None => skip_property(body, property)?,
            }
        }
        builder.push_vertex(position)?;
        *number += 1;
    }
    Ok(())
}

/// The number of the property that lists the vertices; one past the end when there are no elements.
fn index_property(element: &Declared, count: usize) -> Result<usize, Cause> {
    let found = element.properties.iter().position(|property| {
        property.count.is_some() && matches!(property.name, b"vertex_indices" | b"vertex_index")
    });
    match found {
        Some(index) => Ok(index),
        None if count == 0 => Ok(element.properties.len()),
        None => Err(Cause::Expected {
            expected: "the list property `vertex_indices`",
            found: "none".to_owned(),
        }),
    }
}

fn read_faces(
    body: &mut Body,
    element: &Declared,
    indices: usize,
    count: usize,
    number: &mut usize,
    builder: &mut MeshBuilder,
) -> Result<(), Cause> {
    let mut corners = Vec::new();
    while *number < count {
        for (at, property) in element.properties.iter().enumerate() {
            let Some(count_type) = property.count.filter(|_| at == indices) else {
                skip_property(body, property)?;
                continue;
            };
            let length = body.list_length(count_type, property.item)?;
            corners.clear();
            for _ in 0..length {
                let index = body.value(property.item, "a vertex index")?;
                if element.role == Role::Strips && index == -1.0 {
                    builder.push_strip(&corners)?;
                    corners.clear();
                    continue;
                }
                let vertices = builder.vertices().len();
                // The comparison is false for NaN.
                if !(index >= 0.0 && index < vertices as f64) || index.fract() != 0.0 {
                    let index = index as i64;
                    return Err(Cause::IndexOutOfRange { index, vertices });
                }
                corners.push(index as u32);
            }
            if element.role == Role::Strips {
                builder.push_strip(&corners)?;
            } else {
                builder.push_polygon(&corners)?;
            }
        }
        *number += 1;
    }
    Ok(())
}
