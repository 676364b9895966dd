//! The signature of a file and the limits on its content.

/// First bytes of a `.tfs` file, whatever its name.
pub const SIGNATURE: [u8; 8] = *b"\x89TFS\r\n\x1a\n";
/// Maximum number of notes in a file.
pub const MOST_NOTES: usize = 4096;
/// Maximum size of one note in bytes.
pub const NOTE_BYTES: usize = 1 << 16;
