//! Points, poses and motions in, as `.npy` or `.csv`; rows of numbers out, also as `.parquet`.
//!
//! Input: a file of points, three numbers each, of poses, seven each, of motions, fourteen, or of
//! segments, six. Output: points, [`MeshPose`]s, [`MeshMotion`]s and segments that are all finite.
//! Cost: the file's bytes and the rows in memory, refused above a limit.
//! Not for: rows of different lengths.

use std::io::{self, Write};
use std::path::Path;

use glam::{DVec3, Vec3};
use touchfield::bounded_file::{self, ReadError};

use crate::args::pose_of;
use crate::failure::Failure;
use crate::files::{npy, output, parquet};
use crate::input::frames::{MeshMotion, MeshPose};

/// Extensions that can be written.
pub(crate) const EXTENSIONS: [&str; 3] = ["npy", "csv", "parquet"];

/// Returns whether a path ends in `.npy`.
pub(crate) fn is_npy(path: &Path) -> bool {
    has_extension(path, "npy")
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
}

/// Reads a file of points.
pub(crate) fn read(path: &Path, max_memory: u64) -> Result<Vec<DVec3>, Failure> {
    read_rows(path, max_memory, finite)
}

/// Reads a file of poses.
pub(crate) fn read_poses(path: &Path, max_memory: u64) -> Result<Vec<MeshPose>, Failure> {
    read_rows(path, max_memory, |row| {
        let wrong = |why: String| format!("{row:?} is not a pose TX,TY,TZ,QX,QY,QZ,QW: {why}");
        pose_of(row).map_err(wrong)
    })
}

/// Reads a file of motions, each from one pose to another.
pub(crate) fn read_motions(path: &Path, max_memory: u64) -> Result<Vec<MeshMotion>, Failure> {
    read_rows(path, max_memory, |row: [f64; 14]| {
        let pose = |which: &str, at: usize| {
            let numbers = std::array::from_fn(|k| row[at + k]);
            pose_of(numbers).map_err(|why| {
                format!("{numbers:?} is not a pose TX,TY,TZ,QX,QY,QZ,QW to {which}: {why}")
            })
        };
        Ok(MeshMotion {
            from: pose("start at", 0)?,
            to: pose("end at", 7)?,
            turn: None,
            center: None,
        })
    })
}

/// Reads a file of segments, each from one point to another.
pub(crate) fn read_segments(path: &Path, max_memory: u64) -> Result<Vec<[DVec3; 2]>, Failure> {
    read_rows(path, max_memory, |row: [f64; 6]| {
        let [x, y, z, u, v, w] = row;
        Ok([finite([x, y, z])?, finite([u, v, w])?])
    })
}

/// Reads a file of rows: as `.npy` if its content is, else as text.
fn read_rows<const N: usize, T>(
    path: &Path,
    max_memory: u64,
    item: impl Fn([f64; N]) -> Result<T, String>,
) -> Result<Vec<T>, Failure> {
    if path.is_dir() {
        return Err(Failure::in_file(path, "is a folder; name a file in it"));
    }
    let bytes = file_bytes(path, max_memory)?;
    if is_npy(path) || bytes.starts_with(b"\x93NUMPY") {
        let rows = npy::rows(&bytes).map_err(|error| Failure::in_file(path, error))?;
        let items = rows.into_iter().enumerate().map(|(row, numbers)| {
            item(numbers).map_err(|cause| Failure::in_file(path, format!("row {row}: {cause}")))
        });
        return items.collect();
    }
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()]
            .iter()
            .filter(|&&b| b == b'\n')
            .count();
        Failure::in_file(
            path,
            format!(
                "line {line}: not text; write .npy of shape (N, {N}), or .csv with {N} columns"
            ),
        )
    })?;
    csv_rows(text, item)
        .map_err(|(line, cause)| Failure::in_file(path, format!("line {line}: {cause}")))
}

/// Reads the bytes of a file, if they are likely to fit into memory with the points and samples
/// that follow from them.
fn file_bytes(path: &Path, max_memory: u64) -> Result<Vec<u8>, Failure> {
    // A point of at least 12 bytes becomes 24 more as `f64`, 12 as `f32`, 16 as a sample.
    let most = max_memory / 6;
    bounded_file::read(path, most).map_err(|error| match error {
        ReadError::Io(error) => Failure::in_file(path, format!("cannot be read: {error}")),
        ReadError::TooLarge { found, .. } => Failure::Limit(format!(
            "{}: sampling {found} bytes of points may take {} bytes, more than the {max_memory} allowed; \
             split the file or raise the limit (--max-memory)",
            path.display(),
            found.saturating_mul(6)
        )),
        ReadError::NoLength { .. } => Failure::Limit(format!("{}: {error}", path.display())),
    })
}

fn finite(point: [f64; 3]) -> Result<DVec3, String> {
    let narrowed = Vec3::from_array(point.map(|x| x as f32));
    if narrowed.is_finite() {
        return Ok(DVec3::from_array(point));
    }
    let [x, y, z] = point;
    Err(format!(
        "({x:?}, {y:?}, {z:?}) is not a point of finite f32 coordinates; remove it"
    ))
}

/// Parses the rows of a table: commas, semicolons or blanks between columns. A heading and lines
/// that begin with `#` are skipped.
fn csv_rows<const N: usize, T>(
    text: &str,
    item: impl Fn([f64; N]) -> Result<T, String>,
) -> Result<Vec<T>, (usize, String)> {
    let mut items = Vec::new();
    let mut may_be_heading = true;
    for (line, row) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let row = row.trim();
        if row.is_empty() || row.starts_with('#') {
            continue;
        }
        let words = columns(row);
        let heading = may_be_heading && !words.iter().any(|word| is_numeric(word));
        may_be_heading = false;
        if heading {
            continue;
        }
        if words.len() != N {
            return Err((line, format!("{} columns instead of {N}", words.len())));
        }
        let mut numbers = [0.0; N];
        for (column, (word, slot)) in words.into_iter().zip(&mut numbers).enumerate() {
            let wrong = || {
                let shown: String = word.chars().take(24).collect();
                (
                    line,
                    format!("column {}: expected a number, found `{shown}`", column + 1),
                )
            };
            *slot = word.parse().map_err(|_| wrong())?;
        }
        items.push(item(numbers).map_err(|cause| (line, cause))?);
    }
    Ok(items)
}

/// Returns the columns of a row without their quotes. Within quotes a comma or a blank is text.
fn columns(row: &str) -> Vec<&str> {
    let by_commas = split_outside_quotes(row, |c| matches!(c, ',' | ';'));
    let words = match by_commas.len() {
        1 => split_outside_quotes(row, char::is_whitespace)
            .into_iter()
            // Several blanks are one separator.
            .filter(|word| !word.is_empty())
            .collect(),
        _ => by_commas,
    };
    words.into_iter().map(unquoted).collect()
}

/// Returns a word without the quotes around it, if there are any.
fn unquoted(word: &str) -> &str {
    let inner = word
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    inner.map_or(word, str::trim)
}

/// Splits a row at separators that are not within quotes.
fn split_outside_quotes(row: &str, is_separator: impl Fn(char) -> bool) -> Vec<&str> {
    let mut quoted = false;
    row.split(|c: char| {
        quoted ^= c == '"';
        !quoted && is_separator(c)
    })
    .map(str::trim)
    .collect()
}

/// Returns whether a word is a number or looks like one, such as `1,5` in quotes: a row of such
/// words is not a heading.
fn is_numeric(word: &str) -> bool {
    let unsigned = word.trim_start_matches(['+', '-', '.']);
    word.parse::<f64>().is_ok() || unsigned.starts_with(|c: char| c.is_ascii_digit())
}

/// Writes rows to a file: as `.npy`, `.parquet` or text below a heading, depending on the
/// extension.
pub(crate) fn write_rows<const N: usize>(
    path: &Path,
    heading: [&str; N],
    rows: &[[f32; N]],
) -> Result<(), Failure> {
    output::write_whole(path, |out| {
        if is_npy(path) {
            npy::write_rows(out, rows)
        } else if has_extension(path, "parquet") {
            parquet::write_rows(out, heading, rows)
        } else {
            write_csv(out, heading, rows)
        }
    })
}

/// Writes rows below their heading.
pub(crate) fn write_csv<const N: usize>(
    out: &mut impl Write,
    heading: [&str; N],
    rows: &[[f32; N]],
) -> io::Result<()> {
    writeln!(out, "{}", heading.join(","))?;
    for row in rows {
        writeln!(out, "{}", row.map(|number| number.to_string()).join(","))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_many_kinds_are_read() {
        let expected = vec![DVec3::new(1.0, 2.0, 3.0), DVec3::new(-4.0, 0.5, 6.0)];
        for text in [
            "1,2,3\n-4,.5,6\n",
            "x,y,z\n1,2,3\n-4,0.5,6e0",
            "\u{feff}x;y;z\r\n1; 2; 3\r\n\r\n-4;0.5;6\r\n",
            "# points\n1 2\t3\n  -4 0.5 6  \n",
            "\"1\",\"2\",\"3\"\n\"-4\",\" .5\",6\n",
            "\"x\",\"y, up\",\"z\"\n1,\"2\",3\n-4,.5,6\n",
            "\"x [m]\" \"y [m]\" \"z [m]\"\n1 \"2\" 3\n-4  .5 6\n",
        ] {
            assert_eq!(csv_rows(text, finite).unwrap(), expected, "{text:?}");
        }
        assert_eq!(csv_rows("", finite), Ok(vec![]));
        assert_eq!(csv_rows("x,y,z", finite), Ok(vec![]));
    }

    #[test]
    fn errors_name_the_line_and_the_column() {
        for (text, line, words) in [
            ("1,2,3\n4,5", 2, "2 columns"),
            ("x,y,z\n\n1,two,3", 3, "column 2"),
            ("1,2,3\nx,y,z", 2, "column 1"),
            ("1,2,3\n4,nan,6", 2, "NaN"),
            ("1,2,1e39", 1, "finite"),
            ("1,2,3,4", 1, "4 columns"),
            ("1,,3", 1, "column 2"),
            (
                "\"1,5\",\"2\",\"3\"",
                1,
                "column 1: expected a number, found `1,5`",
            ),
            ("\"1,5\",\"2,5\",\"3,5\"", 1, "column 1"),
            ("\"1\",\"2\"", 1, "2 columns"),
            ("1,2,1e300", 1, "1e300"),
        ] {
            let (found, cause) = csv_rows(text, finite).unwrap_err();
            assert_eq!(found, line, "{text:?}");
            assert!(cause.contains(words), "{text:?}: {cause}");
        }
    }
}
