//! Rows of `f32` as Apache Parquet: one file, one row group per million rows, plain and
//! uncompressed columns.
//!
//! Input: a heading and rows. Output: a file that pandas, Polars, DuckDB and Arrow read. Cost: one
//! pass per column.
//! Not for: reading, other types, compression. This subset takes a hundred lines; the crate that
//! implements the whole format has over a hundred dependencies.
//!
//! After the format's own description (github.com/apache/parquet-format): pages in sequence, then a
//! footer in Thrift's compact protocol with their positions. A field there is written as the
//! difference of its number to that of the field before (4 bits), its type (4 bits), and its value,
//! integers in zigzag LEB128.

use std::io::{self, Write};

const MAGIC: &[u8; 4] = b"PAR1";
/// Rows per group: readers process groups in parallel, and hold one at a time.
const GROUP: usize = 1 << 20;

// Types of the compact protocol.
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;
// Values of the format's enums.
const FLOAT: i64 = 4;
const REQUIRED: i64 = 0;
const PLAIN: i64 = 0;
const RLE: i64 = 3;
const UNCOMPRESSED: i64 = 0;
const DATA_PAGE: i64 = 0;

/// Position of a column of a row group in the file.
struct Column {
    start: usize,
    bytes: usize,
    count: usize,
}

/// Writes rows below their heading.
pub(crate) fn write_rows<const N: usize>(
    out: &mut impl Write,
    heading: [&str; N],
    rows: &[[f32; N]],
) -> io::Result<()> {
    out.write_all(MAGIC)?;
    let mut at = MAGIC.len();
    let mut groups = Vec::new();
    for group in rows.chunks(GROUP) {
        let mut columns = Vec::with_capacity(N);
        for column in 0..N {
            let header = page_header(group.len());
            out.write_all(&header)?;
            for row in group {
                out.write_all(&row[column].to_le_bytes())?;
            }
            let bytes = header.len() + size_of::<f32>() * group.len();
            columns.push(Column {
                start: at,
                bytes,
                count: group.len(),
            });
            at += bytes;
        }
        groups.push(columns);
    }
    let footer = footer(heading, rows.len(), &groups);
    out.write_all(&footer)?;
    let length = u32::try_from(footer.len()).map_err(io::Error::other)?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(MAGIC)
}

/// Returns the `PageHeader` of a page of `count` numbers.
fn page_header(count: usize) -> Vec<u8> {
    let mut page = Compact::default();
    let bytes = (size_of::<f32>() * count) as i64;
    page.i32(1, DATA_PAGE);
    page.i32(2, bytes);
    page.i32(3, bytes);
    page.structure(5, |data| {
        data.i32(1, count as i64);
        data.i32(2, PLAIN);
        // Encoding of levels, which required columns do not have.
        data.i32(3, RLE);
        data.i32(4, RLE);
    });
    page.finish()
}

/// Returns the `FileMetaData`.
fn footer<const N: usize>(heading: [&str; N], rows: usize, groups: &[Vec<Column>]) -> Vec<u8> {
    let mut file = Compact::default();
    file.i32(1, 1);
    file.list(2, STRUCT, N + 1, |schema| {
        schema.element(|root| {
            root.binary(4, "schema");
            root.i32(5, N as i64);
        });
        for name in heading {
            schema.element(|column| {
                column.i32(1, FLOAT);
                column.i32(3, REQUIRED);
                column.binary(4, name);
            });
        }
    });
    file.i64(3, rows);
    file.list(4, STRUCT, groups.len(), |list| {
        for columns in groups {
            list.element(|group| group.row_group(heading, columns));
        }
    });
    file.binary(6, concat!("touchfield ", env!("CARGO_PKG_VERSION")));
    file.finish()
}

/// A structure in Thrift's compact protocol, while it is being written.
#[derive(Default)]
struct Compact {
    bytes: Vec<u8>,
    last_field: u8,
}

impl Compact {
    /// Writes a `RowGroup`.
    fn row_group<const N: usize>(&mut self, heading: [&str; N], columns: &[Column]) {
        self.list(1, STRUCT, N, |list| {
            for (name, column) in heading.into_iter().zip(columns) {
                list.element(|chunk| {
                    chunk.i64(2, column.start);
                    chunk.structure(3, |data| {
                        data.i32(1, FLOAT);
                        data.list(2, I32, 1, |encodings| encodings.number(PLAIN));
                        data.list(3, BINARY, 1, |path| path.text(name));
                        data.i32(4, UNCOMPRESSED);
                        data.i64(5, column.count);
                        data.i64(6, column.bytes);
                        data.i64(7, column.bytes);
                        data.i64(9, column.start);
                    });
                });
            }
        });
        self.i64(2, columns.iter().map(|column| column.bytes).sum());
        self.i64(3, columns.first().map_or(0, |column| column.count));
    }

    fn field(&mut self, field: u8, kind: u8) {
        self.bytes.push((field - self.last_field) << 4 | kind);
        self.last_field = field;
    }

    fn i32(&mut self, field: u8, value: i64) {
        self.field(field, I32);
        self.number(value);
    }

    fn i64(&mut self, field: u8, value: usize) {
        self.field(field, I64);
        self.number(value as i64);
    }

    fn binary(&mut self, field: u8, text: &str) {
        self.field(field, BINARY);
        self.text(text);
    }

    fn structure(&mut self, field: u8, fill: impl FnOnce(&mut Compact)) {
        self.field(field, STRUCT);
        self.element(fill);
    }

    fn list(&mut self, field: u8, kind: u8, count: usize, fill: impl FnOnce(&mut Compact)) {
        self.field(field, LIST);
        // Up to fourteen fit beside the type.
        if count < 15 {
            self.bytes.push((count as u8) << 4 | kind);
        } else {
            self.bytes.push(0xF0 | kind);
            self.leb128(count as u64);
        }
        fill(self);
    }

    /// Writes a structure within a list; its field numbers start again.
    fn element(&mut self, fill: impl FnOnce(&mut Compact)) {
        let mut inner = Compact::default();
        fill(&mut inner);
        self.bytes.extend(inner.finish());
    }

    fn number(&mut self, value: i64) {
        self.leb128((value << 1 ^ value >> 63) as u64);
    }

    fn text(&mut self, text: &str) {
        self.leb128(text.len() as u64);
        self.bytes.extend(text.as_bytes());
    }

    fn leb128(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    fn finish(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rows of `a` = 1.5, 2.5 and `b` = −1, 0.
    #[test]
    fn a_small_file_is_as_it_was_when_another_program_read_it() {
        let mut bytes = Vec::new();
        write_rows(&mut bytes, ["a", "b"], &[[1.5, -1.0], [2.5, 0.0]]).unwrap();
        assert!(bytes.starts_with(MAGIC) && bytes.ends_with(MAGIC));
        let footer = bytes.len() - 8;
        let length = u32::from_le_bytes(bytes[footer..footer + 4].try_into().unwrap()) as usize;
        let page = page_header(2);
        assert_eq!(&bytes[4..4 + page.len()], &page);
        assert_eq!(&bytes[4 + page.len()..][..4], &1.5_f32.to_le_bytes());
        assert_eq!(bytes.len(), 4 + 2 * (page.len() + 8) + length + 8);
        assert_eq!(
            page,
            [
                0x15, 0x00, 0x15, 0x10, 0x15, 0x10, 0x2C, 0x15, 0x04, 0x15, 0x00, 0x15, 0x06, 0x15,
                0x06, 0x00, 0x00
            ]
        );
    }
}
