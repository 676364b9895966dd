//! How a file begins, and what it may hold.

/// How a `.tfs` file begins, whatever its name.
pub const SIGNATURE: [u8; 8] = *b"\x89TFS\r\n\x1a\n";
/// Most notes a file may hold.
pub const MOST_NOTES: usize = 4096;
/// Most bytes of one note.
pub const NOTE_BYTES: usize = 1 << 16;
