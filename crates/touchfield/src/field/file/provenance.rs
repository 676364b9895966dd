//! The metadata chunks of a field: `PROV` for its sign method and measured error, `ORIG` for the
//! origin of its frame, `DOUB` for its doubtful cells, `NOTE` for its notes.
//!
//! Input: a [`Provenance`], or the chunks of a file.
//! Output: the same; `ORIG` is omitted where the origin is zero, `DOUB` and `NOTE` where they would
//! be empty.
//! Cost: about one byte per doubtful cell where such cells lie close together.
//! Not for: when and where the field was baked. Same input, same bytes.

use glam::DVec3;

use crate::field::file::blocks;
use crate::field::file::budget::Budget;
use crate::field::file::container::{Builder, Chunk, Container, Encoding, Need};
use crate::field::file::dense::fixed_payload;
use crate::field::file::error::{Cause, FileError, Tag};
use crate::field::file::limits::{MOST_NOTES, NOTE_BYTES};
use crate::field::grid::layout::GridLayout;
use crate::field::provenance::{Provenance, SignMethod};

pub(super) const PROVENANCE: Tag = Tag(*b"PROV");
pub(super) const DOUBTFUL: Tag = Tag(*b"DOUB");
pub(super) const NOTES: Tag = Tag(*b"NOTE");
pub(super) const ORIGIN: Tag = Tag(*b"ORIG");
pub(super) const TAGS: [Tag; 4] = [PROVENANCE, ORIGIN, DOUBTFUL, NOTES];

/// Bytes of `PROV`: method, whether it is conservative, two reserved, error.
const PROVENANCE_SIZE: usize = 8;

/// Bytes of `ORIG`: x, y and z as `f64`.
const ORIGIN_SIZE: usize = 24;

/// Rejects content that a [`Provenance`] can hold but a file cannot.
pub(super) fn check(provenance: &Provenance, layout: &GridLayout) -> Result<(), Cause> {
    check_measured_error(provenance.measured_error)?;
    check_origin(provenance.origin)?;
    let cells = &provenance.doubtful_cells;
    if let Some(place) = cells.windows(2).position(|pair| pair[0] >= pair[1]) {
        return Err(Cause::BadContent(format!(
            "doubtful cell {} follows {}, but they must ascend",
            cells[place + 1],
            cells[place]
        )));
    }
    if let Some(&last) = cells.last() {
        check_cell(last.into(), cell_count(layout))?;
    }
    check_note_count(provenance.notes.len())?;
    for (note, text) in provenance.notes.iter().enumerate() {
        check_note_length(note, text.len() as u64)?;
    }
    Ok(())
}

pub(super) fn write(builder: &mut Builder, provenance: &Provenance) {
    builder.chunk(PROVENANCE, Need::Required, Encoding::Plain, |out| {
        out.extend([
            provenance.sign_method as u8,
            provenance.conservative.into(),
            0,
            0,
        ]);
        out.extend(provenance.measured_error.to_le_bytes());
        PROVENANCE_SIZE as u64
    });
    if provenance.origin != DVec3::ZERO {
        // Required: a reader that ignores it would place the field wrongly.
        builder.chunk(ORIGIN, Need::Required, Encoding::Plain, |out| {
            let numbers = provenance.origin.to_array().map(f64::to_le_bytes);
            out.extend(numbers.as_flattened());
            ORIGIN_SIZE as u64
        });
    }
    if !provenance.doubtful_cells.is_empty() {
        let gaps = gaps(&provenance.doubtful_cells);
        builder.chunk(DOUBTFUL, Need::Optional, Encoding::Blocks, |out| {
            blocks::encode_bytes(&gaps, out)
        });
    }
    if !provenance.notes.is_empty() {
        let mut texts = Vec::new();
        for note in &provenance.notes {
            // Truncates from 2³² on, only if `check` was not called; reading rejects far shorter
            // notes.
            push_number(&mut texts, note.len() as u32);
            texts.extend_from_slice(note.as_bytes());
        }
        builder.chunk(NOTES, Need::Optional, Encoding::Blocks, |out| {
            blocks::encode_bytes(&texts, out)
        });
    }
}

/// Encodes the number of cells between each cell and the previous one. Cells that do not ascend
/// wrap around, and reading rejects them.
fn gaps(cells: &[u32]) -> Vec<u8> {
    let mut gaps = Vec::with_capacity(cells.len());
    let mut next = 0u32;
    for &cell in cells {
        push_number(&mut gaps, cell.wrapping_sub(next));
        next = cell.wrapping_add(1);
    }
    gaps
}

pub(super) fn read(
    container: &Container,
    layout: &GridLayout,
    budget: &mut Budget,
) -> Result<Provenance, FileError> {
    // The required chunk.
    let chunk = container.get(PROVENANCE)?;
    let payload: &[u8; PROVENANCE_SIZE] = fixed_payload(chunk, "a sign method and an error")?;
    let &[code, conservative, reserved @ .., a, b, c, d] = payload;
    let bad = |byte, why| chunk.error_in_payload(byte, Cause::BadContent(why));
    let sign_method = SignMethod::ALL
        .into_iter()
        .find(|&method| method as u8 == code)
        .ok_or_else(|| bad(0, format!("sign method {code} is not known")))?;
    if conservative > 1 {
        let why = format!("the flag `conservative` is {conservative}, not 0 or 1");
        return Err(bad(1, why));
    }
    if reserved != [0; 2] {
        return Err(bad(2, format!("reserved bytes are {reserved:?}, not 0")));
    }
    let measured_error = f32::from_le_bytes([a, b, c, d]);
    check_measured_error(measured_error).map_err(|cause| chunk.error_in_payload(4, cause))?;
    // The chunks that may be absent.
    let origin = match container.find(ORIGIN) {
        Some(chunk) => read_origin(chunk)?,
        None => DVec3::ZERO,
    };
    let doubtful_cells = match container.find(DOUBTFUL) {
        Some(chunk) => read_cells(chunk, cell_count(layout), budget)?,
        None => Vec::new(),
    };
    let notes = match container.find(NOTES) {
        Some(chunk) => read_notes(chunk, budget)?,
        None => Vec::new(),
    };
    Ok(Provenance {
        sign_method,
        measured_error,
        conservative: conservative == 1,
        origin,
        doubtful_cells,
        notes,
    })
}

fn read_origin(chunk: &Chunk) -> Result<DVec3, FileError> {
    let payload: &[u8; ORIGIN_SIZE] = fixed_payload(chunk, "an origin")?;
    let (numbers, _) = payload.as_chunks::<8>();
    let mut origin = DVec3::ZERO;
    for (axis, &bytes) in numbers.iter().enumerate() {
        origin[axis] = f64::from_le_bytes(bytes);
    }
    check_origin(origin).map_err(|cause| chunk.error_in_payload(0, cause))?;
    Ok(origin)
}

fn check_origin(origin: DVec3) -> Result<(), Cause> {
    if !origin.is_finite() {
        return Err(Cause::BadContent(format!(
            "an origin of {:?} m is none; it must be finite",
            origin.to_array()
        )));
    }
    Ok(())
}

fn read_cells(chunk: &Chunk, count: u64, budget: &mut Budget) -> Result<Vec<u32>, FileError> {
    let raw = read_raw(chunk, "the doubtful cells", budget)?;
    // Every number ends with its only byte below 128.
    let found = raw.iter().filter(|&&byte| byte < 0x80).count();
    budget.take("the doubtful cells", 4 * found as u64, chunk)?;
    let mut cells = Vec::with_capacity(found);
    let mut rest = raw.as_slice();
    let mut next = 0u64;
    while !rest.is_empty() {
        let cell = next + u64::from(take_number(&mut rest).map_err(|cause| chunk.error(cause))?);
        let cell = check_cell(cell, count).map_err(|cause| chunk.error(cause))?;
        cells.push(cell);
        next = u64::from(cell) + 1;
    }
    Ok(cells)
}

fn read_notes(chunk: &Chunk, budget: &mut Budget) -> Result<Vec<String>, FileError> {
    let raw = read_raw(chunk, "the notes", budget)?;
    budget.take("the notes", raw.len() as u64, chunk)?;
    let mut notes = Vec::new();
    let mut rest = raw.as_slice();
    let at_chunk = |cause| chunk.error(cause);
    while !rest.is_empty() {
        check_note_count(notes.len() + 1).map_err(at_chunk)?;
        let length = take_number(&mut rest).map_err(at_chunk)?;
        check_note_length(notes.len(), length.into()).map_err(at_chunk)?;
        let Some((text, behind)) = rest.split_at_checked(length as usize) else {
            let expected = "the rest of a note";
            return Err(at_chunk(Cause::UnexpectedEnd { expected }));
        };
        let text = std::str::from_utf8(text).map_err(|error| {
            at_chunk(Cause::BadContent(format!(
                "note {} is not UTF-8: {error}",
                notes.len()
            )))
        })?;
        budget.take("the notes", size_of::<String>() as u64, chunk)?;
        notes.push(text.to_owned());
        rest = behind;
    }
    Ok(notes)
}

fn read_raw(chunk: &Chunk, what: &'static str, budget: &mut Budget) -> Result<Vec<u8>, FileError> {
    budget.take(what, blocks::raw_length(chunk)?, chunk)?;
    let mut raw = Vec::new();
    blocks::decode(chunk, |piece| raw.extend_from_slice(piece))?;
    Ok(raw)
}

fn check_measured_error(error: f32) -> Result<(), Cause> {
    if !(error >= 0.0 && error.is_finite()) {
        return Err(Cause::BadContent(format!(
            "a measured error of {error:?} m is none; it must be finite and not negative"
        )));
    }
    Ok(())
}

/// Returns the number of cells, saturating: three huge counts overflow even `u64`.
fn cell_count(layout: &GridLayout) -> u64 {
    let cells = layout.cells().to_array();
    cells
        .into_iter()
        .fold(1, |product: u64, n| product.saturating_mul(n.into()))
}

fn check_cell(cell: u64, count: u64) -> Result<u32, Cause> {
    match u32::try_from(cell) {
        Ok(index) if cell < count => Ok(index),
        _ => Err(Cause::BadContent(format!(
            "cell {cell} is doubtful, but there are {count}, numbered by 32 bits"
        ))),
    }
}

fn check_note_count(count: usize) -> Result<(), Cause> {
    if count > MOST_NOTES {
        return Err(Cause::BadContent(format!("more than {MOST_NOTES} notes")));
    }
    Ok(())
}

fn check_note_length(note: usize, bytes: u64) -> Result<(), Cause> {
    if bytes > NOTE_BYTES as u64 {
        return Err(Cause::BadContent(format!(
            "note {note} has {bytes} bytes, more than {NOTE_BYTES}"
        )));
    }
    Ok(())
}

/// Appends a number in LEB128: seven bits per byte from the lowest; the eighth bit marks that more
/// follow.
fn push_number(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads the number at the start of `rest` and advances `rest` past it. Accepts only the shortest
/// encoding of each number.
fn take_number(rest: &mut &[u8]) -> Result<u32, Cause> {
    let mut number = 0u64;
    for (place, &byte) in rest.iter().take(5).enumerate() {
        number |= u64::from(byte & 0x7F) << (7 * place);
        if byte < 0x80 {
            let is_shortest = byte != 0 || place == 0;
            *rest = &rest[place + 1..];
            return u32::try_from(number)
                .ok()
                .filter(|_| is_shortest)
                .ok_or_else(|| Cause::BadContent("a number is not LEB128 of 32 bits".to_owned()));
        }
    }
    Err(match rest.len() {
        0..5 => Cause::UnexpectedEnd {
            expected: "the rest of a number",
        },
        _ => Cause::BadContent("a number is not LEB128 of 32 bits".to_owned()),
    })
}
