//! Values after the header of a PLY file, in any of its encodings.

use super::super::text::{Words, parse_number, plausible_count};
use super::super::{Cause, Element, Place};

/// Reader of the values after the header, one after the other.
#[derive(Clone)]
pub(super) enum Body<'a> {
    Text(Words<'a>),
    Binary {
        bytes: &'a [u8],
        at: usize,
        is_big_endian: bool,
    },
}

impl Body<'_> {
    #[inline]
    pub(super) fn value(&mut self, scalar: Scalar, expected: &'static str) -> Result<f64, Cause> {
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

    /// Skips values of one type.
    pub(super) fn skip(&mut self, count: usize, scalar: Scalar) -> Result<(), Cause> {
        match self {
            Body::Text(_) => {
                for _ in 0..count {
                    self.value(scalar, "a property")?;
                }
            }
            // `list_length` and `plausible_count` have already checked that these bytes exist.
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

    /// Reads the length of a list, and checks that the remaining bytes can hold it.
    pub(super) fn list_length(&mut self, count: Scalar, item: Scalar) -> Result<usize, Cause> {
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

    /// Returns the least number of bytes that a value takes: in text a digit and a blank.
    pub(super) fn min_size(&self, scalar: Scalar) -> usize {
        match self {
            Body::Text(_) => 2,
            Body::Binary { .. } => scalar.size(),
        }
    }

    pub(super) fn bytes_left(&self) -> usize {
        match self {
            Body::Text(words) => words.bytes_left(),
            Body::Binary { bytes, at, .. } => bytes.len() - at,
        }
    }

    pub(super) fn place(&self, element: Option<Element>) -> Place {
        match self {
            Body::Text(words) => Place::Line {
                line: words.line(),
                element,
            },
            Body::Binary { at, .. } => Place::Byte { byte: *at, element },
        }
    }
}

#[derive(Clone, Copy)]
pub(super) enum Scalar {
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
    pub(super) fn from_name(name: &[u8]) -> Option<Scalar> {
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

    pub(super) fn size(self) -> usize {
        match self {
            Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::F64 => 8,
        }
    }
}
