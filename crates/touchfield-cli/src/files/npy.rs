//! NumPy's `.npy` files: points in, rows of numbers out; and the arrays in `.npz` files.
//!
//! Input: the bytes of a file of shape (N, 3), `f4` or `f8`, either byte order, C or Fortran order;
//! or a [`Header`] and the bytes after it.
//! Output: the points as `[f64; 3]`, or number after number; or a file of any shape, `<f4` or
//! `<f8`.
//! Cost: one pass; no count in the file is trusted before the bytes behind it have been read.
//! Not for: other types, structured or pickled arrays, which are refused.
//!
//! Format: NumPy enhancement proposal 1 and `numpy.lib.format`. The header is a Python literal of
//! three known keys, so it is read by searching for these keys rather than with a parser for all of
//! Python's literals.

use std::io::{self, Read, Write};

const MAGIC: &[u8] = b"\x93NUMPY";

/// Why an array cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NpyError {
    #[error("byte 0: not a NumPy file; write one with numpy.save")]
    NoMagic,
    #[error("byte 6: version {0}.{1} is not known; write the file with numpy.save")]
    Version(u8, u8),
    #[error(
        "byte {at}: the header should take {declared} bytes, but {found} follow; the file is cut short, so save it again"
    )]
    HeaderCutShort {
        at: usize,
        declared: u64,
        found: usize,
    },
    #[error("byte {at}: the header has no usable `{key}`; save the file again with numpy.save")]
    Header { at: usize, key: &'static str },
    #[error("numbers of type {0} are not read; save array.astype('f4') or 'f8'")]
    Type(String),
    #[error("the array has shape ({0}); it should be (N, {1})")]
    Shape(String, usize),
    #[error("the array has shape ({0}), which is none; save the file again with numpy.save")]
    ShapeText(String),
    #[error(
        "byte {at}: {rows} rows are declared, which take {needed} bytes, but {found} follow; the file is cut short, so save it again"
    )]
    CutShort {
        at: usize,
        rows: u64,
        needed: u128,
        found: usize,
    },
    #[error(
        "{count} numbers are declared, which take {needed} bytes, but {found} follow; the file is cut short, so save it again"
    )]
    TooFewBytes { count: u64, needed: u64, found: u64 },
    #[error("cannot be read: {0}; the file is damaged, so save it again")]
    NotRead(String),
}

/// Reads the rows of a file, with N numbers each.
pub(crate) fn rows<const N: usize>(bytes: &[u8]) -> Result<Vec<[f64; N]>, NpyError> {
    let mut data = bytes;
    let header = Header::read(&mut data)?;
    let rows = match header.shape.as_slice() {
        &[rows, columns] if columns == N as u64 => rows,
        _ => return Err(NpyError::Shape(header.shape_text(), N)),
    };
    if !header.is_float() {
        return Err(NpyError::Type(format!("`{}`", header.number.name())));
    }
    let width = header.number.width();
    let needed = u128::from(rows) * N as u128 * width as u128;
    if needed > data.len() as u128 {
        return Err(NpyError::CutShort {
            at: bytes.len() - data.len(),
            rows,
            needed,
            found: data.len(),
        });
    }
    // This fits `usize`, because the rows are in the file.
    let count = rows as usize;
    let number = |index: usize| header.number_at(&data[index * width..]);
    let row = |row: usize| match header.fortran_order {
        true => std::array::from_fn(|column| number(column * count + row)),
        false => std::array::from_fn(|column| number(N * row + column)),
    };
    Ok((0..count).map(row).collect())
}

/// Number types that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    F4,
    F8,
    I4,
    I8,
}

impl Number {
    /// Parses NumPy's name of a type, without the byte order.
    fn named(name: &str) -> Option<Number> {
        match name {
            "f4" => Some(Number::F4),
            "f8" => Some(Number::F8),
            "i4" => Some(Number::I4),
            "i8" => Some(Number::I8),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Number::F4 => "f4",
            Number::F8 => "f8",
            Number::I4 => "i4",
            Number::I8 => "i8",
        }
    }

    /// Returns the size of a number \[bytes\].
    fn width(self) -> usize {
        match self {
            Number::F4 | Number::I4 => 4,
            Number::F8 | Number::I8 => 8,
        }
    }
}

/// The header of an array: everything before its numbers.
pub(crate) struct Header {
    pub(crate) shape: Vec<u64>,
    /// Whether the first index varies fastest.
    pub(crate) fortran_order: bool,
    number: Number,
    big_endian: bool,
}

impl Header {
    /// Reads up to the first number.
    pub(crate) fn read(input: &mut impl Read) -> Result<Header, NpyError> {
        /// Far longer than any header that NumPy or Touchfield writes.
        const LONGEST: u64 = 1 << 16;
        let mut start = Vec::new();
        read_up_to(input, MAGIC.len() as u64 + 2, &mut start)?;
        let Some(&[major, minor]) = start
            .strip_prefix(MAGIC)
            .and_then(|version| version.first_chunk::<2>())
        else {
            return Err(NpyError::NoMagic);
        };
        let width = match (major, minor) {
            (1, 0) => 2,
            (2 | 3, 0) => 4,
            _ => return Err(NpyError::Version(major, minor)),
        };
        let at = start.len();
        let cut_short = |declared, found| NpyError::HeaderCutShort {
            at,
            declared,
            found,
        };
        let mut length = Vec::new();
        read_up_to(input, width, &mut length)?;
        if (length.len() as u64) < width {
            return Err(cut_short(width, length.len()));
        }
        length.resize(8, 0);
        let declared = length
            .first_chunk()
            .map_or(0, |raw| u64::from_le_bytes(*raw));
        let mut text = Vec::new();
        read_up_to(input, declared.min(LONGEST), &mut text)?;
        if (text.len() as u64) < declared {
            return Err(cut_short(declared, text.len()));
        }
        Header::parse(&String::from_utf8_lossy(&text), at + width as usize)
    }

    fn parse(text: &str, at: usize) -> Result<Header, NpyError> {
        let missing = |key| NpyError::Header { at, key };
        let after = |key: &'static str| {
            let found = [format!("'{key}'"), format!("\"{key}\"")]
                .into_iter()
                .find_map(|quoted| text.split_once(&quoted));
            let (_, rest) = found.ok_or(missing(key))?;
            rest.trim_start()
                .strip_prefix(':')
                .map(str::trim_start)
                .ok_or(missing(key))
        };

        let descr = after("descr")?;
        let quote = descr.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let Some(quote) = quote else {
            // A structured type is a list.
            return Err(NpyError::Type(descr.chars().take(24).collect()));
        };
        let name = descr[1..].split(quote).next().unwrap_or_default();
        let big_endian = name.starts_with('>');
        let Some(number) = Number::named(name.trim_start_matches(['<', '=', '>'])) else {
            let shown: String = name.chars().take(24).collect();
            return Err(NpyError::Type(format!("`{shown}`")));
        };

        let order = after("fortran_order")?;
        let fortran_order = order.starts_with("True");
        if !fortran_order && !order.starts_with("False") {
            return Err(missing("fortran_order"));
        }

        let shape = after("shape")?
            .strip_prefix('(')
            .and_then(|rest| rest.split_once(')'));
        let (text, _) = shape.ok_or(missing("shape"))?;
        // A single side is followed by a comma; an empty shape has none.
        let sides = text.trim().trim_end_matches(',');
        let sides = sides.split(',').filter(|side| !side.trim().is_empty());
        let shape: Option<Vec<u64>> = sides.map(|side| side.trim().parse().ok()).collect();
        Ok(Header {
            shape: shape.ok_or_else(|| NpyError::ShapeText(text.chars().take(40).collect()))?,
            number,
            big_endian,
            fortran_order,
        })
    }

    /// Returns the shape as Python writes it, truncated.
    pub(crate) fn shape_text(&self) -> String {
        sides_text(&self.shape).chars().take(40).collect()
    }

    /// Returns whether the numbers are `f4` or `f8`.
    pub(crate) fn is_float(&self) -> bool {
        matches!(self.number, Number::F4 | Number::F8)
    }

    /// Returns how many numbers follow; saturating.
    pub(crate) fn count(&self) -> u64 {
        (self.shape.iter()).fold(1, |product: u64, &side| product.saturating_mul(side))
    }

    /// Returns the number at the beginning of `raw`; NaN if it is cut short.
    fn number_at(&self, raw: &[u8]) -> f64 {
        let four = raw.first_chunk::<4>().copied();
        let eight = raw.first_chunk::<8>().copied();
        let (four, eight) = match self.big_endian {
            true => (four.map(reversed), eight.map(reversed)),
            false => (four, eight),
        };
        match self.number {
            Number::F4 => four.map_or(f64::NAN, |raw| f32::from_le_bytes(raw).into()),
            Number::I4 => four.map_or(f64::NAN, |raw| i32::from_le_bytes(raw).into()),
            Number::F8 => eight.map_or(f64::NAN, f64::from_le_bytes),
            Number::I8 => eight.map_or(f64::NAN, |raw| i64::from_le_bytes(raw) as f64),
        }
    }

    /// Calls `each` for the numbers that follow, in their order. Allocates nothing for numbers that
    /// are declared but missing.
    pub(crate) fn numbers(
        &self,
        input: &mut impl Read,
        mut each: impl FnMut(f64),
    ) -> Result<(), NpyError> {
        /// Number of bytes read at a time; a multiple of every width.
        const PIECE: u64 = 1 << 16;
        let width = self.number.width() as u64;
        let needed = self.count().saturating_mul(width);
        let mut left = needed;
        let mut piece = Vec::new();
        while left > 0 {
            piece.clear();
            let wanted = left.min(PIECE);
            read_up_to(input, wanted, &mut piece)?;
            if (piece.len() as u64) < wanted {
                return Err(NpyError::TooFewBytes {
                    count: self.count(),
                    needed,
                    found: needed - left + piece.len() as u64,
                });
            }
            piece
                .chunks_exact(width as usize)
                .for_each(|raw| each(self.number_at(raw)));
            left -= wanted;
        }
        Ok(())
    }
}

/// Returns `2, 4` for two sides, but `2,` for one.
fn sides_text(shape: &[u64]) -> String {
    match shape {
        [side] => format!("{side},"),
        sides => sides
            .iter()
            .map(u64::to_string)
            .collect::<Vec<_>>()
            .join(", "),
    }
}

fn reversed<const N: usize>(mut raw: [u8; N]) -> [u8; N] {
    raw.reverse();
    raw
}

fn read_up_to(input: &mut impl Read, most: u64, out: &mut Vec<u8>) -> Result<(), NpyError> {
    (input.take(most).read_to_end(out))
        .map(drop)
        .map_err(|error| NpyError::NotRead(error.to_string()))
}

/// Writes numbers as an array of this shape. With `fortran_order` the first index varies fastest.
pub(crate) fn write_f32(
    out: &mut impl Write,
    shape: &[u64],
    fortran_order: bool,
    values: &[f32],
) -> io::Result<()> {
    write_header(out, "<f4", shape, fortran_order)?;
    values
        .iter()
        .try_for_each(|value| out.write_all(&value.to_le_bytes()))
}

/// Writes numbers as an array of this shape.
pub(crate) fn write_f64(out: &mut impl Write, shape: &[u64], values: &[f64]) -> io::Result<()> {
    write_header(out, "<f8", shape, false)?;
    values
        .iter()
        .try_for_each(|value| out.write_all(&value.to_le_bytes()))
}

/// Writes whole numbers as an array of this shape.
pub(crate) fn write_i64(out: &mut impl Write, shape: &[u64], values: &[i64]) -> io::Result<()> {
    write_header(out, "<i8", shape, false)?;
    values
        .iter()
        .try_for_each(|value| out.write_all(&value.to_le_bytes()))
}

fn write_header(
    out: &mut impl Write,
    descr: &str,
    shape: &[u64],
    fortran_order: bool,
) -> io::Result<()> {
    let sides = sides_text(shape);
    let order = if fortran_order { "True" } else { "False" };
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({sides}), }}");
    // The data begins at a multiple of 64 bytes; the header ends in a line break.
    let before = MAGIC.len() + 2 + 2;
    let padding = (before + header.len() + 1).next_multiple_of(64) - (before + header.len() + 1);
    header.push_str(&" ".repeat(padding));
    header.push('\n');
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&(header.len() as u16).to_le_bytes())?;
    out.write_all(header.as_bytes())
}

/// Writes rows as an array of shape (rows, N).
pub(crate) fn write_rows<const N: usize>(
    out: &mut impl Write,
    rows: &[[f32; N]],
) -> io::Result<()> {
    let shape = [rows.len() as u64, N as u64];
    write_f32(out, &shape, false, rows.as_flattened())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        [
            MAGIC,
            &[1, 0],
            &(header.len() as u16).to_le_bytes(),
            header.as_bytes(),
            data,
        ]
        .concat()
    }

    fn header(descr: &str, order: &str, shape: &str) -> String {
        format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}   \n")
    }

    #[test]
    fn both_orders_types_and_byte_orders_say_the_same() {
        let rows = [[1.0, 2.0, 3.0], [-4.0, 5.5, 6.25]];
        let columns: Vec<f64> = (0..3).flat_map(|c| rows.map(|row| row[c])).collect();
        let flat = rows.as_flattened();
        let le8 = |numbers: &[f64]| {
            numbers
                .iter()
                .flat_map(|x| x.to_le_bytes())
                .collect::<Vec<u8>>()
        };
        let be4 = |numbers: &[f64]| {
            numbers
                .iter()
                .flat_map(|&x| (x as f32).to_be_bytes())
                .collect::<Vec<u8>>()
        };
        for bytes in [
            file(&header("<f8", "False", "(2, 3)"), &le8(flat)),
            file(&header("<f8", "True", "(2, 3)"), &le8(&columns)),
            file(&header(">f4", "False", "(2, 3)"), &be4(flat)),
            file(&header(">f4", "True", "(2, 3)"), &be4(&columns)),
        ] {
            assert_eq!(super::rows::<3>(&bytes).unwrap(), rows);
        }
    }

    #[test]
    fn what_is_written_has_an_aligned_header_and_little_endian_rows() {
        let mut bytes = Vec::new();
        write_rows(&mut bytes, &[[1.0, 2.0, 3.0, 4.0]]).unwrap();
        assert_eq!(bytes.len() % 64, 16);
        assert_eq!(bytes[bytes.len() - 4..], 4.0f32.to_le_bytes());
        assert_eq!(
            rows::<3>(&bytes),
            Err(NpyError::Shape("1, 4".to_owned(), 3))
        );
    }

    #[test]
    fn counts_that_the_bytes_do_not_fulfil_are_refused_without_memory() {
        let huge = file(
            &header("<f4", "False", "(1000000000000000000, 3)"),
            &[0; 12],
        );
        assert!(matches!(
            rows::<3>(&huge),
            Err(NpyError::CutShort {
                rows: 1_000_000_000_000_000_000,
                found: 12,
                ..
            })
        ));
        let mut long_header = [MAGIC, &[2, 0], &u32::MAX.to_le_bytes()].concat();
        long_header.extend_from_slice(b"{'descr'");
        assert!(matches!(
            rows::<3>(&long_header),
            Err(NpyError::HeaderCutShort { found: 8, .. })
        ));
        for shape in [
            "(99999999999999999999999999, 3)",
            "(2, 3, 4)",
            "(3,)",
            "()",
            "(-1, 3)",
            "(2, 4)",
        ] {
            let found = rows::<3>(&file(&header("<f4", "False", shape), &[0; 24]));
            assert!(
                matches!(found, Err(NpyError::Shape(..) | NpyError::ShapeText(_))),
                "{shape}: {found:?}"
            );
        }
        for descr in ["<i4", "|O", "|S7", "<f2", "<c16", "é"] {
            let found = rows::<3>(&file(&header(descr, "False", "(2, 3)"), &[0; 48]));
            assert!(
                matches!(found, Err(NpyError::Type(_))),
                "{descr}: {found:?}"
            );
        }
    }

    #[test]
    fn every_cut_and_every_flipped_bit_is_an_answer_or_an_error() {
        let whole = file(&header("<f4", "False", "(2, 3)"), &[0; 24]);
        for length in 0..whole.len() {
            assert!(rows::<3>(&whole[..length]).is_err(), "cut at {length}");
        }
        for bit in 0..8 * whole.len() {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let _ = rows::<3>(&flipped);
        }
    }
}
