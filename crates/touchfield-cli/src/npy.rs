//! NumPy's `.npy` files: points in, rows of numbers out.
//!
//! Input: the bytes of a file of shape (N, 3), `f4` or `f8`, either byte order, C or Fortran order.
//! Output: the points as `[f64; 3]`; or a file of shape (N, 4), `<f4`.
//! Cost: one pass; no count in the file is trusted before the bytes behind it are there.
//! Not for: other types, structured or pickled arrays, which are refused.
//!
//! Format: NumPy enhancement proposal 1 and `numpy.lib.format`. The header is a Python literal of three known keys, so it is
//! read by looking for these keys rather than with a parser for all of Python's literals.

use std::io::{self, Write};

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
    #[error("numbers of type {0} are not read; save points.astype('f4') or 'f8'")]
    Type(String),
    #[error("the array has shape ({0}); points are of shape (N, 3)")]
    Shape(String),
    #[error(
        "byte {at}: {points} points are declared, which take {needed} bytes, but {found} follow; the file is cut short, so save it again"
    )]
    CutShort {
        at: usize,
        points: u64,
        needed: u128,
        found: usize,
    },
}

/// Reads the points of a file.
pub(crate) fn points(bytes: &[u8]) -> Result<Vec<[f64; 3]>, NpyError> {
    if !bytes.starts_with(MAGIC) {
        return Err(NpyError::NoMagic);
    }
    let (&version, rest) = bytes[MAGIC.len()..]
        .split_first_chunk::<2>()
        .ok_or(NpyError::NoMagic)?;
    let at = MAGIC.len() + 2;
    let cut_short = |declared, found| NpyError::HeaderCutShort {
        at,
        declared,
        found,
    };
    let (declared, rest) = match version {
        [1, 0] => {
            let (length, rest) = rest
                .split_first_chunk::<2>()
                .ok_or(cut_short(2, rest.len()))?;
            (u64::from(u16::from_le_bytes(*length)), rest)
        }
        [2 | 3, 0] => {
            let (length, rest) = rest
                .split_first_chunk::<4>()
                .ok_or(cut_short(4, rest.len()))?;
            (u64::from(u32::from_le_bytes(*length)), rest)
        }
        [major, minor] => return Err(NpyError::Version(major, minor)),
    };
    let text_at = bytes.len() - rest.len();
    let length = usize::try_from(declared)
        .ok()
        .filter(|&length| length <= rest.len());
    let (text, data) = rest.split_at(length.ok_or(cut_short(declared, rest.len()))?);
    let header = Header::parse(&String::from_utf8_lossy(text), text_at)?;

    let at = bytes.len() - data.len();
    let width = if header.double { 8 } else { 4 };
    let needed = u128::from(header.points) * 3 * width as u128;
    if needed > data.len() as u128 {
        return Err(NpyError::CutShort {
            at,
            points: header.points,
            needed,
            found: data.len(),
        });
    }
    // Within the file, hence within `usize`.
    let count = header.points as usize;
    let number = |index: usize| {
        let raw = &data[index * width..];
        match (raw.first_chunk::<8>(), raw.first_chunk::<4>()) {
            (Some(&raw), _) if header.double && header.big_endian => f64::from_be_bytes(raw),
            (Some(&raw), _) if header.double => f64::from_le_bytes(raw),
            (_, Some(&raw)) if header.big_endian => f64::from(f32::from_be_bytes(raw)),
            (_, Some(&raw)) => f64::from(f32::from_le_bytes(raw)),
            _ => f64::NAN,
        }
    };
    let point = |row: usize| match header.fortran_order {
        true => std::array::from_fn(|column| number(column * count + row)),
        false => std::array::from_fn(|column| number(3 * row + column)),
    };
    Ok((0..count).map(point).collect())
}

struct Header {
    points: u64,
    double: bool,
    big_endian: bool,
    fortran_order: bool,
}

impl Header {
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
        let (big_endian, double) = match name {
            "<f4" | "=f4" | "f4" => (false, false),
            "<f8" | "=f8" | "f8" => (false, true),
            ">f4" => (true, false),
            ">f8" => (true, true),
            other => {
                return Err(NpyError::Type(format!(
                    "`{}`",
                    other.chars().take(24).collect::<String>()
                )));
            }
        };

        let order = after("fortran_order")?;
        let fortran_order = order.starts_with("True");
        if !fortran_order && !order.starts_with("False") {
            return Err(missing("fortran_order"));
        }

        let shape = after("shape")?
            .strip_prefix('(')
            .and_then(|rest| rest.split_once(')'));
        let (shape, _) = shape.ok_or(missing("shape"))?;
        let sides: Vec<Option<u64>> = shape
            .split(',')
            .map(|side| side.trim().parse().ok())
            .collect();
        let &[Some(points), Some(3)] = sides.as_slice() else {
            return Err(NpyError::Shape(shape.chars().take(40).collect()));
        };
        Ok(Header {
            points,
            double,
            big_endian,
            fortran_order,
        })
    }
}

/// Writes rows of four numbers as an array of shape (N, 4).
pub(crate) fn write_rows(out: &mut impl Write, rows: &[[f32; 4]]) -> io::Result<()> {
    let mut header = format!(
        "{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, 4), }}",
        rows.len()
    );
    // The data begins at a multiple of 64 bytes; the header ends in a line break.
    let before = MAGIC.len() + 2 + 2;
    let padding = (before + header.len() + 1).next_multiple_of(64) - (before + header.len() + 1);
    header.push_str(&" ".repeat(padding));
    header.push('\n');
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&(header.len() as u16).to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    for value in rows.as_flattened() {
        out.write_all(&value.to_le_bytes())?;
    }
    Ok(())
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
            assert_eq!(points(&bytes).unwrap(), rows);
        }
    }

    #[test]
    fn what_is_written_has_an_aligned_header_and_little_endian_rows() {
        let mut bytes = Vec::new();
        write_rows(&mut bytes, &[[1.0, 2.0, 3.0, 4.0]]).unwrap();
        assert_eq!(bytes.len() % 64, 16);
        assert_eq!(bytes[bytes.len() - 4..], 4.0f32.to_le_bytes());
        assert_eq!(points(&bytes), Err(NpyError::Shape("1, 4".to_owned())));
    }

    #[test]
    fn counts_that_the_bytes_do_not_fulfil_are_refused_without_memory() {
        let huge = file(
            &header("<f4", "False", "(1000000000000000000, 3)"),
            &[0; 12],
        );
        assert!(matches!(
            points(&huge),
            Err(NpyError::CutShort {
                points: 1_000_000_000_000_000_000,
                found: 12,
                ..
            })
        ));
        let mut long_header = [MAGIC, &[2, 0], &u32::MAX.to_le_bytes()].concat();
        long_header.extend_from_slice(b"{'descr'");
        assert!(matches!(
            points(&long_header),
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
            let found = points(&file(&header("<f4", "False", shape), &[0; 24]));
            assert!(
                matches!(found, Err(NpyError::Shape(_))),
                "{shape}: {found:?}"
            );
        }
        for descr in ["<i4", "|O", "|S7", "<f2", "<c16", "é"] {
            let found = points(&file(&header(descr, "False", "(2, 3)"), &[0; 48]));
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
            assert!(points(&whole[..length]).is_err(), "cut at {length}");
        }
        for bit in 0..8 * whole.len() {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let _ = points(&flipped);
        }
    }
}
