//! Answers of commands: text for people, one JSON object for scripts.

pub(crate) mod progress;

use std::fmt::Display;

use glam::{DVec3, Vec3};
use serde_json::{Value, json};
use touchfield::field::{Encoding, Field, Provenance, SignMethod, StoredField};
use touchfield::geom::{Aabb, DAabb};
pub(crate) use touchfield_report::*;

use crate::input::storage::VoxelNumbers;

/// Formats how long a search over a motion took, and how many states it examined.
pub(crate) fn search_time(microseconds: f64, states: u32) -> String {
    let states = plural(states as usize, "state", "states");
    format!("{microseconds:.0} µs, {states}")
}

/// Formats the sides of a box, all in the unit that suits the longest.
pub(crate) fn size(bounds: DAabb) -> String {
    let extents = bounds.extents();
    if bounds.is_empty() || !extents.is_finite() {
        return "none".to_owned();
    }
    let (factor, unit) = length_unit(extents.max_element());
    let [x, y, z] = extents.to_array().map(|side| digits(side * factor));
    format!("{x} × {y} × {z} {unit}")
}

/// Formats the corners of a box, in the unit that suits the coordinate farthest out.
pub(crate) fn corners(bounds: DAabb) -> String {
    if bounds.is_empty() {
        return "none".to_owned();
    }
    let farthest = bounds.min.abs().max(bounds.max.abs()).max_element();
    let (factor, unit) = length_unit(farthest);
    let corner = |corner: glam::DVec3| {
        let [x, y, z] = corner.to_array().map(|x| significant(x * factor, 7));
        format!("({x}, {y}, {z})")
    };
    format!("{} to {} {unit}", corner(bounds.min), corner(bounds.max))
}

/// Formats the number of nodes along each axis, counted as if all cells were as small as the
/// smallest.
pub(crate) fn nodes(field: &StoredField) -> String {
    let [x, y, z] = resolution(field);
    format!("{x} × {y} × {z}")
}

fn resolution(field: &StoredField) -> [u64; 3] {
    let layout = field.layout();
    let finer = f64::from(layout.cell_size / field.finest_cell_size()).round() as u64;
    layout
        .cells()
        .to_array()
        .map(|cells| u64::from(cells).saturating_mul(finer).saturating_add(1))
}

/// Describes briefly how a field is stored.
fn storage(field: &StoredField) -> String {
    let cell = length(field.finest_cell_size());
    match field {
        StoredField::Dense(_) | StoredField::Taylor(_) => {
            format!("{}, {} nodes, cell {cell}", field.kind(), nodes(field))
        }
        StoredField::Sparse(sparse) => {
            let parts = sparse.parts();
            format!(
                "sparse, {} of {} bits in cells from {} to {cell}, as fine as {} nodes",
                plural(parts.blocks.len(), "block", "blocks"),
                parts.values.bits(),
                length(sparse.layout().cell_size),
                nodes(field),
            )
        }
        StoredField::Voxmap(map) => {
            let [x, y, z] = map.layout().cells().to_array();
            let numbers = match map.values().encoding() {
                Encoding::Layers => "layers of 16 bits".to_owned(),
                Encoding::Scaled { precision } => {
                    format!(
                        "32 bits with {}",
                        plural(precision.into(), "decimal", "decimals")
                    )
                }
                Encoding::Support => "64 bits".to_owned(),
            };
            format!("voxmap, {x} × {y} × {z} voxels of {cell}, {numbers}")
        }
    }
}

/// Describes a field in one line, for a picture's caption.
pub(crate) fn caption(field: &StoredField, provenance: &Provenance) -> String {
    let doubtful = match provenance.doubtful_cells.len() {
        0 => String::new(),
        number => format!(", {}", plural(number, "doubtful cell", "doubtful cells")),
    };
    let moved = match provenance.origin == DVec3::ZERO {
        true => String::new(),
        false => format!("; axes from {:?} m", provenance.origin.to_array()),
    };
    format!(
        "{} {}, cell {}, error at most {}; sign: {}{doubtful}{moved}",
        field.kind(),
        nodes(field),
        length(field.finest_cell_size()),
        length(field.error_bound()),
        provenance.sign_method.name()
    )
}

/// Adds the properties of a baked field to the facts shown to people.
pub(crate) fn field_facts(facts: &mut Facts, field: &StoredField, provenance: &Provenance) {
    let cell_size = field.finest_cell_size();
    facts.add("grid", storage(field));
    let is_given = provenance.sign_method == SignMethod::Given;
    let is_converted = (provenance.notes.iter()).any(|note| note.starts_with("converted from"));
    let remark = match field {
        _ if is_converted => "; conversion has added to it",
        // A closed surface has a bound of half a cell's diagonal.
        StoredField::Dense(_) if field.error_bound() > cell_size && !is_given => {
            "; this wide because the sign is not sure everywhere, as beside a hole (`--repair` closes small ones)"
        }
        _ => "",
    };
    let error = length_in_cells(field.error_bound(), cell_size);
    let proven = if is_given { "as promised" } else { "proven" };
    facts.add("error bound", format!("{error}, {proven}{remark}"));
    if let StoredField::Sparse(sparse) = field {
        let errors = sparse.parts().blocks.iter().map(|block| block.error);
        let worst = errors.fold(0.0, f32::max);
        let error = length_in_cells(worst, cell_size);
        facts.add(
            "in blocks",
            format!("{error} at most, proven for each of them"),
        );
    }
    let measured = match is_given {
        true => "none: the distances were given".to_owned(),
        false => format!(
            "{}, the largest of random samples",
            length_in_cells(provenance.measured_error, cell_size)
        ),
    };
    facts.add("measured error", measured);
    facts.add("sign", provenance.sign_method.name());
    if provenance.origin != DVec3::ZERO {
        facts.add("origin", origin_text(provenance.origin));
    }
    if provenance.conservative {
        facts.add("conservative", "the solid encloses the surface");
    }
    let cells: u64 = (field.layout().cells().to_array())
        .into_iter()
        .map(u64::from)
        .product();
    facts.add(
        "doubtful cells",
        format!(
            "{} of {}",
            count_of(provenance.doubtful_cells.len()),
            count(cells)
        ),
    );
}

/// Returns the JSON keys of a baked field. `bytes` is the size of its file.
pub(crate) fn field_json(field: &StoredField, provenance: &Provenance, bytes: u64) -> Value {
    let all = json!({
        "kind": field.kind(),
        "resolution": resolution(field),
        "cell_size": number(field.finest_cell_size()),
        "origin": provenance.origin.to_array(),
        "bounds": bounds_json(field.bounds(), provenance.origin),
        "error_bound": number(field.error_bound()),
        "measured_error": match provenance.sign_method {
            // A given field has no reference to measure against.
            SignMethod::Given => Value::Null,
            _ => number(provenance.measured_error),
        },
        "bytes": bytes,
        "sign_method": provenance.sign_method.name(),
        "conservative": provenance.conservative,
        "doubtful_cells": provenance.doubtful_cells.len(),
        "notes": provenance.notes,
    });
    let more = match field {
        StoredField::Dense(_) | StoredField::Taylor(_) => json!({}),
        StoredField::Voxmap(map) => {
            let encoding = map.values().encoding();
            json!({
                "voxels": VoxelNumbers::word(encoding),
                "bits": 8 * encoding.bytes(),
                "precision": match encoding {
                    Encoding::Scaled { precision } => Some(precision),
                    _ => None,
                },
            })
        }
        StoredField::Sparse(sparse) => {
            let parts = sparse.parts();
            let errors = parts.blocks.iter().map(|block| block.error);
            json!({
                "blocks": parts.blocks.len(),
                "levels": sparse.levels(),
                "bits": parts.values.bits(),
                "coarse_cell_size": number(sparse.layout().cell_size),
                "error_bound_in_blocks": number(errors.fold(0.0, f32::max)),
            })
        }
    };
    merged(all, more)
}

/// Converts a box to `{min, max}`.
pub(crate) fn bounds_json(bounds: Aabb, origin: DVec3) -> Value {
    json!({ "min": point_json(bounds.min, origin), "max": point_json(bounds.max, origin) })
}

/// Converts a point from a field's own frame, whose origin is at `origin` of the mesh, to the frame
/// of the mesh.
pub(crate) fn point_json(point: Vec3, origin: DVec3) -> Value {
    match origin == DVec3::ZERO {
        true => numbers(point),
        // Numbers that are not finite become null, as in [`number`].
        false => json!((point.as_dvec3() + origin).to_array()),
    }
}

/// Formats an origin for people.
pub(crate) fn origin_text(origin: DVec3) -> String {
    let [x, y, z] = origin.to_array();
    format!("({x}, {y}, {z}) m of the mesh; bounds, points and poses are in the frame of the mesh")
}

/// Converts a box from a field's own frame to the frame of its mesh.
pub(crate) fn in_mesh(bounds: Aabb, origin: DVec3) -> DAabb {
    let own = bounds.as_daabb();
    DAabb::new(own.min + origin, own.max + origin)
}

/// Converts the coordinates of a point or a direction to a JSON list.
pub(crate) fn numbers(vector: Vec3) -> Value {
    vector.to_array().map(number).into()
}

/// Formats the coordinates of a point or a direction for people.
pub(crate) fn point(vector: Vec3) -> String {
    let [x, y, z] = vector.to_array().map(|along| significant(along.into(), 6));
    format!("({x}, {y}, {z})")
}

/// Converts a number with the digits of `f32`, rather than those of the equal `f64`. NaN and
/// infinity become `null`.
pub(crate) fn number(value: f32) -> Value {
    json!(shortest(value).parse::<f64>().unwrap_or(f64::NAN))
}

fn shortest(value: impl Display) -> String {
    value.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_the_digits_of_f32_and_no_nan() {
        assert_eq!(number(0.1).to_string(), "0.1");
        assert_eq!(number(-1.5e-20).to_string(), "-1.5e-20");
        assert_eq!(number(f32::NAN), Value::Null);
        assert_eq!(number(f32::INFINITY), Value::Null);
    }
}
