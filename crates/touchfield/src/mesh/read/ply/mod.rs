//! PLY files: text, and binary in either byte order.
//!
//! Elements and properties may come in any order and of any type. Only `x`, `y`, `z` of `vertex`,
//! and `vertex_indices` or `vertex_index` of `face` and `tristrips` are used; the others are
//! skipped.

mod body;
mod header;

use glam::DVec3;

use super::builder::MeshBuilder;
use super::text::plausible_count;
use crate::mesh::TriangleMesh;
use crate::mesh::read::error::{Cause, Element, ReadError};
use crate::mesh::read::limits::Limits;
use body::Body;
use header::{Declared, Header, Property, Role, read_header};

pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<TriangleMesh, ReadError> {
    let (header, body) = read_header(bytes)?;
    let mut builder = MeshBuilder::new(limits);
    let is_vertex = |element: &Declared| element.role == Role::Vertices;
    let is_indexing = |element: &Declared| matches!(element.role, Role::Faces | Role::Strips);
    let first_indexing = header.elements.iter().position(is_indexing);
    let last_vertex = header.elements.iter().rposition(is_vertex);
    if first_indexing < last_vertex && first_indexing.is_some() {
        // Faces come before the vertices that they refer to: make two passes.
        read_body(&header, body.clone(), is_vertex, &mut builder)?;
        read_body(&header, body, is_indexing, &mut builder)?;
    } else {
        read_body(&header, body, |_| true, &mut builder)?;
    }
    Ok(builder.finish())
}

/// Walks over all elements, and reads those that are `wanted`.
fn read_body(
    header: &Header,
    mut body: Body,
    wanted: impl Fn(&Declared) -> bool,
    builder: &mut MeshBuilder,
) -> Result<(), ReadError> {
    for element in &header.elements {
        // Check the declared count against the bytes that are left.
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

/// Returns the axis that each property holds, if any.
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

/// Returns the index of the property that lists the vertices; one past the end when there are no
/// elements.
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
