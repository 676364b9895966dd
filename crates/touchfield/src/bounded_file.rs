//! Reads the bytes of a file, up to a limit.
//!
//! Input: a path and a limit.
//! Output: all bytes of the file, or an error.
//! Cost: one pass; no more memory than the limit, whatever length the file system reports.
//! Not for: files that do not fit in memory.
//!
//! Pipes, devices and files in `/proc` do not report a length, and may have no end. At most
//! [`MOST_WITHOUT_LENGTH`] bytes are read from them.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Maximum number of bytes read from a file that reports no length. Chosen as a compromise: with
/// more, an endless stream exhausts the memory of a small machine; with less, a scan of twenty
/// million faces does not pass through a pipe.
pub const MOST_WITHOUT_LENGTH: u64 = 1 << 30;

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The operating system reported an error.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// The file is larger than the caller allows.
    #[error("{found} bytes exceed the limit of {limit}; raise the limit")]
    TooLarge {
        /// Size of the file, or the number of bytes read when the limit was exceeded \[bytes\].
        found: u64,
        /// Limit of the caller \[bytes\].
        limit: u64,
    },
    /// The file is a pipe, a device or the like, and does not seem to end.
    #[error(
        "more than {limit} bytes came from a pipe, a device or another file that does not say how long it is; if it has an \
         end, save it as a regular file first"
    )]
    NoLength {
        /// Limit for such files \[bytes\].
        limit: u64,
    },
}

/// Reads a whole file of at most `limit` bytes.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    let file = File::open(path)?;
    let declared = file.metadata()?.len();
    if declared > limit {
        let found = declared;
        return Err(ReadError::TooLarge { found, limit });
    }
    read_stream(file, declared, limit)
}

/// Reads a stream that reports `declared` bytes, which may be wrong.
fn read_stream(stream: impl Read, declared: u64, limit: u64) -> Result<Vec<u8>, ReadError> {
    let most = limit.min(declared.max(MOST_WITHOUT_LENGTH));
    let mut bytes = Vec::new();
    // If this fails, reading fails too, with an error to report.
    let _ = bytes.try_reserve_exact(usize::try_from(declared).unwrap_or(0));
    (stream.take(most.saturating_add(1))).read_to_end(&mut bytes)?;
    let found = bytes.len() as u64;
    if found <= most {
        Ok(bytes)
    } else if most == limit {
        Err(ReadError::TooLarge { found, limit })
    } else {
        Err(ReadError::NoLength { limit: most })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An endless stream of zeros that counts the bytes read.
    struct Endless<'a>(&'a mut u64);

    impl Read for Endless<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            buffer.fill(0);
            *self.0 += buffer.len() as u64;
            Ok(buffer.len())
        }
    }

    #[test]
    fn the_limit_holds_for_what_is_read_and_not_for_what_is_declared() {
        for declared in [0, 10, 1000] {
            let mut taken = 0;
            let read = read_stream(Endless(&mut taken), declared, 4096);
            let error = read.expect_err("there is no end");
            assert!(
                matches!(
                    error,
                    ReadError::TooLarge {
                        found: 4097,
                        limit: 4096
                    }
                ),
                "{error}"
            );
            assert_eq!(taken, 4097, "{declared} declared");
        }
        let all = read_stream(&b"twelve bytes"[..], 3, 12).expect("it fits");
        assert_eq!(all, b"twelve bytes");
    }

    #[test]
    fn a_stream_without_an_end_is_given_up_below_a_generous_limit() {
        let mut taken = 0;
        let read = read_stream(Endless(&mut taken), 0, u64::MAX);
        let error = read.expect_err("there is no end");
        assert!(matches!(error, ReadError::NoLength { .. }), "{error}");
        assert_eq!(taken, MOST_WITHOUT_LENGTH + 1);
    }
}
