//! What a command answers: text for people, one JSON object for scripts.

use std::fmt::Display;
use std::io::{self, Write};

use glam::{DVec3, Vec3};
use serde_json::{Value, json};
use touchfield::field::{Encoding, Field, Provenance, SignMethod, StoredField};
use touchfield::geom::{Aabb, DAabb};

use crate::frames::{self, point_json};
use crate::storage::VoxelNumbers;
use crate::terminal;

/// What a command found out or did, said twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// For people; lines that end in a line break.
    pub(crate) text: String,
    /// For scripts; an object.
    pub(crate) json: Value,
}

impl Answer {
    /// Prints one of the two on stdout. A reader that has closed its end has heard enough: no error.
    pub(crate) fn print(&self, as_json: bool) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let printed = if as_json {
            writeln!(out, "{}", terminal::json(&self.json.to_string()))
        } else {
            out.write_all(terminal::lines(&self.text).as_bytes())
        };
        match printed.and_then(|()| out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => result,
        }
    }
}

/// Named facts, one a line, their values aligned.
#[derive(Default)]
pub(crate) struct Facts(Vec<(&'static str, String)>);

impl Facts {
    pub(crate) fn add(&mut self, name: &'static str, value: impl Into<String>) {
        self.0.push((name, value.into()));
    }

    pub(crate) fn text(&self) -> String {
        let width = self.0.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        self.0
            .iter()
            .map(|(name, value)| format!("  {name:width$}  {value}\n"))
            .collect()
    }
}

/// Rows below headings. Columns whose heading begins with `>` are aligned to the right.
pub(crate) fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let titles: Vec<&str> = headings
        .iter()
        .map(|heading| heading.trim_start_matches('>'))
        .collect();
    let width = |column: usize| {
        let cells = rows
            .iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count());
        cells
            .chain([titles[column].chars().count()])
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded: Vec<String> = cells
            .zip(headings)
            .zip(&widths)
            .map(|((cell, heading), &width)| match heading.starts_with('>') {
                true => format!("{cell:>width$}"),
                false => format!("{cell:width$}"),
            })
            .collect();
        format!("  {}\n", padded.join("  ").trim_end())
    };
    let mut text = line(&mut titles.iter().copied());
    for row in rows {
        text += &line(&mut row.iter().map(String::as_str));
    }
    text
}

/// A list with a dash before every entry, below its heading; nothing for an empty list.
pub(crate) fn list(heading: &str, entries: &[String]) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let lines: String = entries
        .iter()
        .map(|entry| format!("    - {}\n", terminal::line(entry)))
        .collect();
    format!("  {heading}\n{lines}")
}

/// Thousands set apart: `1,234,567`.
pub(crate) fn count(number: impl Into<u64>) -> String {
    let digits = number.into().to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// [`count`] of a length or a position in memory.
pub(crate) fn count_of(number: usize) -> String {
    count(number as u64)
}

/// Three significant digits: `1.23`, `45.6`, `789`, `1230`.
fn digits(number: f64) -> String {
    significant(number, 3)
}

/// So many digits that count; more only before the point. Numbers far from 1 get an exponent.
fn significant(number: f64, count: i32) -> String {
    if number == 0.0 || !number.is_finite() {
        // Adding turns −0 to 0.
        return format!("{}", number + 0.0);
    }
    let magnitude = number.abs().log10().floor() as i32;
    if !(-6..12).contains(&magnitude) {
        return exponential(number, (count - 1).max(0) as usize);
    }
    let decimals = (count - 1 - magnitude).clamp(0, 12) as usize;
    let rounded = format!("{number:.decimals$}");
    let shortest = match rounded.contains('.') {
        true => rounded.trim_end_matches('0').trim_end_matches('.'),
        false => &rounded,
    };
    match shortest {
        "-0" => "0".to_owned(),
        shortest => shortest.to_owned(),
    }
}

/// `1.23e45`, with at most so many decimals.
fn exponential(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$e}");
    match text.split_once('e') {
        Some((digits, exponent)) if digits.contains('.') => {
            let digits = digits.trim_end_matches('0').trim_end_matches('.');
            format!("{digits}e{exponent}")
        }
        _ => text,
    }
}

/// How long a search over a motion took, and how many states it looked at.
pub(crate) fn search_time(microseconds: f64, states: u32) -> String {
    let states = plural(states as usize, "state", "states");
    format!("{microseconds:.0} µs, {states}")
}

/// A length in the unit that suits it.
pub(crate) fn length(metres: impl Into<f64>) -> String {
    let metres = metres.into();
    let (factor, unit) = length_unit(metres);
    format!("{} {unit}", digits(metres * factor))
}

/// Units in a metre, and their name, such that a length has one to three digits before the point.
fn length_unit(metres: f64) -> (f64, &'static str) {
    match metres.abs() {
        0.0 => (1e3, "mm"),
        size if size < 1e-6 => (1e9, "nm"),
        size if size < 1e-3 => (1e6, "µm"),
        size if size < 1.0 => (1e3, "mm"),
        size if size < 1e4 => (1.0, "m"),
        _ => (1e-3, "km"),
    }
}

/// The sides of a box, all in the unit that suits the longest.
pub(crate) fn size(bounds: DAabb) -> String {
    let extents = bounds.extents();
    if bounds.is_empty() || !extents.is_finite() {
        return "none".to_owned();
    }
    let (factor, unit) = length_unit(extents.max_element());
    let [x, y, z] = extents.to_array().map(|side| digits(side * factor));
    format!("{x} × {y} × {z} {unit}")
}

/// The corners of a box, in the unit that suits the one farthest out.
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

/// An area (`power` 2) or a volume (3) in the unit that suits it.
pub(crate) fn measure(value: f64, power: i32) -> String {
    const UNITS: [(&str, f64); 5] = [
        ("m", 1.0),
        ("cm", 1e2),
        ("mm", 1e3),
        ("µm", 1e6),
        ("nm", 1e9),
    ];
    let scaled = UNITS.map(|(unit, factor)| (unit, value * f64::powi(factor, power)));
    let large_enough = scaled.into_iter().find(|(_, number)| number.abs() >= 1.0);
    let (unit, number) = large_enough.unwrap_or(scaled[0]);
    let sign = if power == 2 { '²' } else { '³' };
    format!("{} {unit}{sign}", significant(number, 4))
}

/// A length, and how many cells that is.
pub(crate) fn length_in_cells(metres: f32, cell_size: f32) -> String {
    format!("{} ({:.2} cells)", length(metres), metres / cell_size)
}

/// An amount of memory.
pub(crate) fn bytes(number: u64) -> String {
    match number as f64 {
        size if size < 1e3 => format!("{number} B"),
        size if size < 1e6 => format!("{} kB", digits(size / 1e3)),
        size if size < 1e9 => format!("{} MB", digits(size / 1e6)),
        size if size < 1e12 => format!("{} GB", digits(size / 1e9)),
        size => format!("{} TB", digits(size / 1e12)),
    }
}

/// A large number in short, such as `12.3 M`.
pub(crate) fn rounded(number: f64) -> String {
    match number {
        number if number < 1e3 => digits(number),
        number if number < 1e6 => format!("{} k", digits(number / 1e3)),
        number => format!("{} M", digits(number / 1e6)),
    }
}

/// A time.
pub(crate) fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{} µs", digits(s * 1e6)),
        s if s < 1.0 => format!("{} ms", digits(s * 1e3)),
        s => format!("{} s", digits(s)),
    }
}

/// Nodes along the axes; as if all cells were as small as the smallest.
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

/// How a field is stored, in a few words.
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

/// One or many.
pub(crate) fn plural(number: usize, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        count_of(number),
        if number == 1 { one } else { many }
    )
}

/// What a field is, in one line below a picture's title.
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

/// What is known of a baked field, for people.
pub(crate) fn field_facts(facts: &mut Facts, field: &StoredField, provenance: &Provenance) {
    let cell_size = field.finest_cell_size();
    facts.add("grid", storage(field));
    let is_given = provenance.sign_method == SignMethod::Given;
    let is_converted = (provenance.notes.iter()).any(|note| note.starts_with("converted from"));
    let remark = match field {
        _ if is_converted => "; conversion has added to it",
        // Half a cell's diagonal is what a closed surface gets.
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
        facts.add("origin", frames::origin_text(provenance.origin));
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

/// The keys of a baked field that scripts read. `bytes` is the size of its file.
pub(crate) fn field_json(field: &StoredField, provenance: &Provenance, bytes: u64) -> Value {
    let all = json!({
        "kind": field.kind(),
        "resolution": resolution(field),
        "cell_size": number(field.finest_cell_size()),
        "origin": provenance.origin.to_array(),
        "bounds": bounds_json(field.bounds(), provenance.origin),
        "error_bound": number(field.error_bound()),
        "measured_error": match provenance.sign_method {
            // Nothing was there to measure against.
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

/// A box as `{min, max}`.
pub(crate) fn bounds_json(bounds: Aabb, origin: DVec3) -> Value {
    json!({ "min": point_json(bounds.min, origin), "max": point_json(bounds.max, origin) })
}

/// A box of a field's own frame in the frame of its mesh.
pub(crate) fn in_mesh(bounds: Aabb, origin: DVec3) -> DAabb {
    let own = bounds.as_daabb();
    DAabb::new(own.min + origin, own.max + origin)
}

/// The coordinates of a point or a direction, as a list.
pub(crate) fn numbers(vector: Vec3) -> Value {
    vector.to_array().map(number).into()
}

/// The coordinates of a point or a direction, for people.
pub(crate) fn point(vector: Vec3) -> String {
    let [x, y, z] = vector.to_array().map(|along| significant(along.into(), 6));
    format!("({x}, {y}, {z})")
}

/// A number with the digits that `f32` has, rather than those of its `f64` twin. NaN and infinity become `null`.
pub(crate) fn number(value: f32) -> Value {
    json!(shortest(value).parse::<f64>().unwrap_or(f64::NAN))
}

fn shortest(value: impl Display) -> String {
    value.to_string()
}

/// One object with the keys of both; those of `more` win.
pub(crate) fn merged(mut object: Value, more: Value) -> Value {
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(count(0u64), "0");
        assert_eq!(count(1_234_567u64), "1,234,567");
        assert_eq!(count(999u64), "999");
        for (metres, text) in [
            (0.00123, "1.23 mm"),
            (0.0, "0 mm"),
            (12.0, "12 m"),
            (-4.56e-7, "-456 nm"),
            (0.1, "100 mm"),
            (123456.0, "123 km"),
            (-0.0, "0 mm"),
            (1e300, "1e297 km"),
            (-1.2345e-20, "-1.23e-11 nm"),
        ] {
            assert_eq!(length(metres), text);
        }
        for (value, power, text) in [
            (1.5, 2, "1.5 m²"),
            (-2.5e-4, 3, "-250 cm³"),
            (0.0, 3, "0 m³"),
            (3e-12, 2, "3 µm²"),
        ] {
            assert_eq!(measure(value, power), text);
        }
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(8_400_000), "8.4 MB");
        assert_eq!(seconds(0.0123), "12.3 ms");
    }

    #[test]
    fn json_has_the_digits_of_f32_and_no_nan() {
        assert_eq!(number(0.1).to_string(), "0.1");
        assert_eq!(number(-1.5e-20).to_string(), "-1.5e-20");
        assert_eq!(number(f32::NAN), Value::Null);
        assert_eq!(number(f32::INFINITY), Value::Null);
    }

    #[test]
    fn tables_align_and_end_no_line_in_spaces() {
        let rows = [
            vec!["a".to_owned(), "1".to_owned()],
            vec!["long".to_owned(), "234".to_owned()],
        ];
        assert_eq!(
            table(&["name", ">n"], &rows),
            "  name    n\n  a       1\n  long  234\n"
        );
        let rows = [vec!["µ".to_owned(), "x".to_owned()]];
        assert_eq!(table(&["u", "v"], &rows), "  u  v\n  µ  x\n");
    }
}
