//! Words and numbers of a text file, with their line numbers.

use super::{Cause, ReadError};

/// Iterator over the words of a text that counts lines.
///
/// Lines end in LF, CR LF or CR. Nothing is allocated or copied.
#[derive(Clone)]
pub(super) struct Words<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
    /// Byte that starts a comment, which extends to the end of the line.
    comment: Option<u8>,
    /// Whether `\` at the end of a line joins the next line to it.
    joins_lines: bool,
}

impl<'a> Words<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Words<'a> {
        Words {
            bytes,
            // A byte order mark, which some editors put first, is not part of the first word.
            at: if bytes.starts_with(b"\xEF\xBB\xBF") {
                3
            } else {
                0
            },
            line: 1,
            comment: None,
            joins_lines: false,
        }
    }

    pub(super) fn with_comments(mut self, start: u8) -> Words<'a> {
        self.comment = Some(start);
        self
    }

    pub(super) fn with_joined_lines(mut self) -> Words<'a> {
        self.joins_lines = true;
        self
    }

    /// Returns the line of the word read last, counted from 1.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn bytes_left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Returns the next word of this line; `None` at its end.
    #[inline]
    pub(super) fn next_in_line(&mut self) -> Option<&'a [u8]> {
        loop {
            match *self.bytes.get(self.at)? {
                b'\n' => return None,
                b'\r' if !self.at_crlf() => return None,
                byte if is_blank(byte) => self.at += 1,
                b'\\' if self.joins_lines => match self.line_end_at(self.at + 1) {
                    Some(length) => {
                        self.at += 1 + length;
                        self.line += 1;
                    }
                    None => return Some(self.word()),
                },
                byte if self.comment == Some(byte) => {
                    self.at = self.end_of_line();
                    return None;
                }
                _ => return Some(self.word()),
            }
        }
    }

    /// Returns the next word, on this line or a later one; `None` at the end of the file.
    #[inline]
    pub(super) fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            if let Some(word) = self.next_in_line() {
                return Some(word);
            }
            if !self.next_line() {
                return None;
            }
        }
    }

    /// Skips the rest of this line without joining other lines to it; returns whether there is a
    /// next line.
    pub(super) fn next_line(&mut self) -> bool {
        self.at = self.end_of_line();
        match self.line_end_at(self.at) {
            Some(length) => {
                self.at += length;
                self.line += 1;
                true
            }
            None => false,
        }
    }

    /// Reads a required number, on this line or a later one.
    pub(super) fn number(&mut self, expected: &'static str) -> Result<f64, ReadError> {
        let word = self.next();
        self.required(word, expected)
            .and_then(|word| parse_number(word, expected).map_err(|cause| cause.at_line(self.line)))
    }

    /// Reads a required count or index, on this line or a later one.
    pub(super) fn integer(&mut self, expected: &'static str) -> Result<i64, ReadError> {
        let word = self.next();
        self.required(word, expected).and_then(|word| {
            parse_integer(word, expected).map_err(|cause| cause.at_line(self.line))
        })
    }

    pub(super) fn required(
        &self,
        word: Option<&'a [u8]>,
        expected: &'static str,
    ) -> Result<&'a [u8], ReadError> {
        word.ok_or_else(|| Cause::UnexpectedEnd { expected }.at_line(self.line))
    }

    fn word(&mut self) -> &'a [u8] {
        let start = self.at;
        let rest = &self.bytes[start..];
        let length = rest
            .iter()
            .position(|&byte| is_blank(byte) || byte == b'\n')
            .unwrap_or(rest.len());
        let mut word = &rest[..length];
        if let Some(comment) = self.comment {
            // `1.#INF` is a number as C libraries print it, not a comment.
            let starts = |at: &usize| word[*at] == comment && (*at == 0 || word[at - 1] != b'.');
            let end = (0..word.len()).find(starts);
            word = &word[..end.unwrap_or(word.len())];
        }
        // In `f 1 2 3\` the lines are joined too, although no blank precedes the backslash.
        if self.joins_lines
            && word.len() > 1
            && word.ends_with(b"\\")
            && self.line_end_at(start + word.len()).is_some()
        {
            word = &word[..word.len() - 1];
        }
        self.at = start + word.len();
        word
    }

    fn end_of_line(&self) -> usize {
        let rest = &self.bytes[self.at..];
        let length = rest
            .iter()
            .position(|&byte| byte == b'\n' || byte == b'\r')
            .unwrap_or(rest.len());
        self.at + length
    }

    /// Returns the length of the line end at a position, if there is one.
    fn line_end_at(&self, at: usize) -> Option<usize> {
        match self.bytes.get(at..)? {
            [b'\n', ..] => Some(1),
            [b'\r', b'\n', ..] => Some(2),
            [b'\r', ..] => Some(1),
            _ => None,
        }
    }

    fn at_crlf(&self) -> bool {
        self.bytes.get(self.at + 1) == Some(&b'\n')
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}

/// Parses a decimal number, NaN or infinity, also as C libraries print them.
#[inline]
pub(super) fn parse_number(word: &[u8], expected: &'static str) -> Result<f64, Cause> {
    if let Some(number) = parse_short_decimal(word) {
        return Ok(number);
    }
    let text = std::str::from_utf8(word).ok();
    text.and_then(|text| text.parse().ok())
        .or_else(|| text.and_then(parse_odd_number))
        .ok_or_else(|| Cause::expected(expected, word))
}

/// Parses numbers like `-12.345`, which nearly all are. The digits and the power of ten are both
/// exact in `f64`, so that one division rounds correctly \[Clinger1990\].
#[inline]
fn parse_short_decimal(word: &[u8]) -> Option<f64> {
    const POWERS: [f64; 16] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ];
    let (sign, digits) = match word {
        [b'-', rest @ ..] => (-1.0, rest),
        _ => (1.0, word),
    };
    // Fifteen digits stay below 2⁵³.
    if digits.len() > POWERS.len() {
        return None;
    }
    let (mut value, mut digit_count, mut point) = (0u64, 0, None);
    for &byte in digits {
        match byte {
            b'0'..=b'9' => {
                value = 10 * value + u64::from(byte - b'0');
                digit_count += 1;
            }
            b'.' if point.is_none() => point = Some(digit_count),
            _ => return None,
        }
    }
    if digit_count == 0 || digit_count >= POWERS.len() {
        return None;
    }
    let decimals = digit_count - point.unwrap_or(digit_count);
    Some(sign * (value as f64 / POWERS[decimals]))
}

/// Parses `-nan(ind)`, `1.#INF` and similar.
#[cold]
fn parse_odd_number(text: &str) -> Option<f64> {
    let lower = text.to_ascii_lowercase();
    let unsigned = lower.trim_start_matches(['-', '+']);
    if unsigned.starts_with("nan(") || unsigned == "1.#ind" || unsigned == "1.#qnan" {
        Some(f64::NAN)
    } else if unsigned == "1.#inf" {
        Some(if lower.starts_with('-') {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        })
    } else {
        None
    }
}

/// Parses an integer; one that `i64` cannot hold is an error, because no index is that large.
#[inline]
pub(super) fn parse_integer(word: &[u8], expected: &'static str) -> Result<i64, Cause> {
    let (is_negative, digits) = match word {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, word),
    };
    let mut value = 0i64;
    for &byte in digits {
        let digit = i64::from(byte.wrapping_sub(b'0'));
        value = match value.checked_mul(10).and_then(|v| v.checked_add(digit)) {
            Some(value) if digit <= 9 => value,
            _ => return Err(Cause::expected(expected, word)),
        };
    }
    if digits.is_empty() {
        return Err(Cause::expected(expected, word));
    }
    Ok(if is_negative { -value } else { value })
}

/// Checks a declared count: `bytes_left` must hold that many items of at least `bytes_each` bytes.
pub(super) fn plausible_count(
    declared: i64,
    bytes_each: usize,
    bytes_left: usize,
    what: &'static str,
) -> Result<usize, Cause> {
    // One more byte: the last line may lack its end.
    let most = (bytes_left + 1) / bytes_each.max(1);
    match usize::try_from(declared) {
        Ok(count) if count <= most => Ok(count),
        Ok(count) => Err(Cause::CountTooLarge {
            what,
            declared: count as u64,
            bytes_left,
        }),
        Err(_) => Err(Cause::expected("a count", declared.to_string().as_bytes())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn decimals_are_read_as_the_standard_library_reads_them(text in "[-+]?[0-9]{0,18}\\.?[0-9]{0,18}(e-?[0-9]{1,3})?") {
            let ours = parse_number(text.as_bytes(), "a number").ok().map(f64::to_bits);
            prop_assert_eq!(ours, text.parse::<f64>().ok().map(f64::to_bits));
        }

        #[test]
        fn integers_are_read_as_the_standard_library_reads_them(text in "[-+]?[0-9]{0,22}x?") {
            let ours = parse_integer(text.as_bytes(), "an integer").ok();
            // `i64::MIN` has no positive counterpart and is not supported; no count is ever that
            // large.
            prop_assert_eq!(ours, text.parse::<i64>().ok().filter(|&x| x != i64::MIN));
        }
    }

    #[test]
    fn lines_are_counted_whatever_ends_them() {
        let mut words = Words::new(b"a\nb\r\nc\rd\n\r\n\r\re").with_comments(b'#');
        let mut seen = Vec::new();
        while let Some(word) = words.next() {
            seen.push((word, words.line()));
        }
        let expected: [(&[u8], usize); 5] = [(b"a", 1), (b"b", 2), (b"c", 3), (b"d", 4), (b"e", 8)];
        assert_eq!(seen, expected);
    }
}
