//! Small `.tfs` files and their checksums, written from docs/FILE_FORMAT.md without any of the
//! library's code for the format.

use std::ops::Range;

/// Sets the length in the header to that of the file.
pub(crate) fn repair_length(bytes: &mut [u8]) {
    let length = bytes.len() as u64;
    if let Some(field) = bytes.get_mut(16..24) {
        field.copy_from_slice(&length.to_le_bytes());
    }
}

/// Recomputes every checksum, as far as chunks can be recognised.
pub(crate) fn repair_checksums(bytes: &mut [u8]) {
    if bytes.len() < 32 {
        return;
    }
    set_sum(bytes, 0..28, 28);
    let mut at = 32;
    while bytes.len() - at >= 32 {
        let stored = u64::from_le_bytes(std::array::from_fn(|i| bytes[at + 8 + i]));
        let payload_fits = stored <= (bytes.len() - at - 32) as u64;
        if payload_fits {
            set_sum(bytes, at + 32..at + 32 + stored as usize, at + 24);
        }
        set_sum(bytes, at..at + 28, at + 28);
        if !payload_fits {
            return;
        }
        at += 32 + stored as usize;
    }
}

fn set_sum(bytes: &mut [u8], of: Range<usize>, at: usize) {
    let sum = crc32fast::hash(&bytes[of]);
    bytes[at..at + 4].copy_from_slice(&sum.to_le_bytes());
}

/// A chunk to write.
pub(crate) struct Chunk {
    pub(crate) tag: [u8; 4],
    pub(crate) flags: u16,
    pub(crate) encoding: u16,
    pub(crate) raw_length: u64,
    pub(crate) payload: Vec<u8>,
}

impl Chunk {
    /// Returns a required chunk, not compressed.
    pub(crate) fn plain(tag: &[u8; 4], payload: &[u8]) -> Chunk {
        Chunk {
            tag: *tag,
            flags: 1,
            encoding: 0,
            raw_length: payload.len() as u64,
            payload: payload.to_vec(),
        }
    }

    /// Appends the chunk to others; [`repair_checksums`] fills in the checksums.
    pub(crate) fn append(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.tag);
        bytes.extend(self.flags.to_le_bytes());
        bytes.extend(self.encoding.to_le_bytes());
        bytes.extend((self.payload.len() as u64).to_le_bytes());
        bytes.extend(self.raw_length.to_le_bytes());
        bytes.extend([0; 8]);
        bytes.extend(&self.payload);
    }
}

/// Returns the file of a dense grid with these chunks.
pub(crate) fn file(chunks: &[Chunk]) -> Vec<u8> {
    file_of(b"DENS", chunks)
}

/// Returns a file of this kind with these chunks.
pub(crate) fn file_of(kind: &[u8; 4], chunks: &[Chunk]) -> Vec<u8> {
    let mut bytes = b"\x89TFS\r\n\x1a\n\x01\0\0\0".to_vec();
    bytes.extend(kind);
    bytes.resize(32, 0);
    for chunk in chunks {
        chunk.append(&mut bytes);
    }
    repair_length(&mut bytes);
    repair_checksums(&mut bytes);
    bytes
}

/// Returns the content of `GRID`: a unit cell grid at the origin with its solid box, and no error.
pub(crate) fn grid_chunk(nodes: [u32; 3]) -> Chunk {
    let mut payload = Vec::new();
    for value in [0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0] {
        payload.extend(value.to_le_bytes());
    }
    payload.extend(nodes.into_iter().flat_map(u32::to_le_bytes));
    Chunk::plain(b"GRID", &payload)
}

/// Returns the content of `PROV`: pseudonormals, no error.
pub(crate) fn provenance_chunk() -> Chunk {
    Chunk::plain(b"PROV", &[1, 0, 0, 0, 0, 0, 0, 0])
}
