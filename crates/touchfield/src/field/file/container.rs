//! The container: a header, then typed chunks, every byte covered by a checksum.
//!
//! Input: the bytes of a file.
//! Output: its kind and its [`Chunk`]s, each a slice of the input whose checksum matches; or the
//! chunks of a new file.
//! Cost: one pass for the checksums; no memory but the list of chunks.
//! Not for: the meaning of the chunks, see `dense.rs` and `provenance.rs`.
//!
//! docs/FILE_FORMAT.md has the layout byte by byte. The magic bytes follow the PNG signature: a
//! copy in text mode changes them. Headers have a checksum of their own, so that a length is
//! verified before it is used.

use crate::field::file::error::{Cause, FileError, Tag};
use crate::field::file::limits::SIGNATURE;

const VERSION: u32 = 1;
/// Bytes of the header of a file, and of a chunk.
const HEADER: usize = 32;
/// Maximum number of chunks; far above the number of chunk types, it keeps the list small.
const MOST_CHUNKS: usize = 1024;
/// Flag of a chunk that a reader must understand.
const REQUIRED: u16 = 1;

/// How the content of a chunk is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(super) enum Encoding {
    /// Uncompressed bytes.
    Plain = 0,
    /// Blocks, each compressed where that makes it smaller.
    Blocks = 1,
    /// Blocks of `f32`, filtered before compression.
    FloatBlocks = 2,
}

impl Encoding {
    const ALL: [Encoding; 3] = [Encoding::Plain, Encoding::Blocks, Encoding::FloatBlocks];
}

/// Whether a reader that does not know a chunk may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    Required,
    Optional,
}

/// One chunk of a file whose checksums match.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk<'a> {
    pub(super) tag: Tag,
    flags: u16,
    encoding: u16,
    /// Byte offset of the header in the file.
    start: usize,
    /// Declared bytes of the content once decoded.
    pub(super) raw_length: u64,
    /// The stored bytes.
    pub(super) payload: &'a [u8],
}

impl Chunk<'_> {
    /// Returns the byte offset of the header in the file.
    pub(super) fn place(&self) -> usize {
        self.start
    }

    /// Returns the byte offset of the stored bytes in the file.
    pub(super) fn payload_start(&self) -> usize {
        self.start + HEADER
    }

    /// Makes an error located at the header of the chunk.
    pub(super) fn error(&self, cause: Cause) -> FileError {
        cause.at(self.start, Some(self.tag))
    }

    /// Makes an error located at a byte of the payload.
    pub(super) fn error_in_payload(&self, offset: usize, cause: Cause) -> FileError {
        cause.at(self.payload_start() + offset, Some(self.tag))
    }

    /// Returns how the content is stored, or an error if that is unknown.
    pub(super) fn encoding(&self) -> Result<Encoding, FileError> {
        Encoding::ALL
            .into_iter()
            .find(|&known| known as u16 == self.encoding && self.flags & !REQUIRED == 0)
            .ok_or_else(|| {
                self.error(Cause::UnknownEncoding {
                    flags: self.flags,
                    encoding: self.encoding,
                })
            })
    }
}

/// A file whose checksums match.
#[derive(Debug)]
pub(super) struct Container<'a> {
    pub(super) kind: Tag,
    chunks: Vec<Chunk<'a>>,
}

impl<'a> Container<'a> {
    /// Splits a file into chunks. Checks everything that does not depend on the kind of field.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Container<'a>, FileError> {
        let kind = parse_header(bytes)?;
        let mut chunks = Vec::new();
        let mut at = HEADER;
        while at < bytes.len() {
            if chunks.len() == MOST_CHUNKS {
                return Err(Cause::TooManyChunks { limit: MOST_CHUNKS }.at(at, None));
            }
            let chunk = parse_chunk(bytes, at)?;
            at = chunk.payload_start() + chunk.payload.len();
            chunks.push(chunk);
        }
        Ok(Container { kind, chunks })
    }

    /// Rejects unknown chunks that are required, and known ones that occur twice.
    pub(super) fn check_tags(&self, known: &[Tag]) -> Result<(), FileError> {
        for (i, chunk) in self.chunks.iter().enumerate() {
            let is_known = known.contains(&chunk.tag);
            if !is_known && chunk.flags & REQUIRED != 0 {
                return Err(chunk.error(Cause::UnknownRequiredChunk));
            }
            if is_known && self.chunks[..i].iter().any(|other| other.tag == chunk.tag) {
                return Err(chunk.error(Cause::SecondChunk));
            }
        }
        Ok(())
    }

    /// Returns the chunk with this tag, if there is one.
    pub(super) fn find(&self, tag: Tag) -> Option<&Chunk<'a>> {
        self.chunks.iter().find(|chunk| chunk.tag == tag)
    }

    /// Returns the chunk with this tag, or an error if it is missing.
    pub(super) fn get(&self, tag: Tag) -> Result<&Chunk<'a>, FileError> {
        self.find(tag)
            .ok_or_else(|| Cause::MissingChunk { tag }.everywhere())
    }
}

fn parse_header(bytes: &[u8]) -> Result<Tag, FileError> {
    if !bytes.starts_with(&SIGNATURE) {
        let beginning = &bytes[..bytes.len().min(SIGNATURE.len())];
        let found = beginning.escape_ascii().to_string();
        return Err(Cause::NotTfs { found }.at(0, None));
    }
    let Some(header) = bytes.first_chunk::<HEADER>() else {
        let expected = "the rest of the header";
        return Err(Cause::UnexpectedEnd { expected }.at(bytes.len(), None));
    };
    // Before the checksum, because another version may store the checksum elsewhere.
    let version = u32_at(header, 8);
    if version != VERSION {
        let cause = Cause::UnknownVersion {
            found: version,
            known: VERSION,
        };
        return Err(cause.at(8, None));
    }
    check_sum("the header", &header[..28], u32_at(header, 28))
        .map_err(|cause| cause.at(28, None))?;
    let (declared, found) = (u64_at(header, 16), bytes.len() as u64);
    if declared != found {
        return Err(Cause::WrongLength { declared, found }.at(16, None));
    }
    let reserved = u32_at(header, 24);
    if reserved != 0 {
        let cause = Cause::BadContent(format!("reserved bytes are {reserved:#x}, not 0"));
        return Err(cause.at(24, None));
    }
    Ok(Tag(array_at(header, 12)))
}

fn parse_chunk(bytes: &[u8], start: usize) -> Result<Chunk<'_>, FileError> {
    let rest = &bytes[start..];
    let Some(header) = rest.first_chunk::<HEADER>() else {
        let expected = "the header of a chunk";
        return Err(Cause::UnexpectedEnd { expected }.at(start, None));
    };
    check_sum("the header of a chunk", &header[..28], u32_at(header, 28))
        .map_err(|cause| cause.at(start + 28, None))?;
    let tag = Tag(array_at(header, 0));
    let payload = usize::try_from(u64_at(header, 8))
        .ok()
        .and_then(|length| rest[HEADER..].get(..length));
    let Some(payload) = payload else {
        let expected = "the content of a chunk";
        return Err(Cause::UnexpectedEnd { expected }.at(start + 8, Some(tag)));
    };
    check_sum("the content of the chunk", payload, u32_at(header, 24))
        .map_err(|cause| cause.at(start + 24, Some(tag)))?;
    Ok(Chunk {
        tag,
        flags: u16::from_le_bytes(array_at(header, 4)),
        encoding: u16::from_le_bytes(array_at(header, 6)),
        start,
        raw_length: u64_at(header, 16),
        payload,
    })
}

fn check_sum(what: &'static str, bytes: &[u8], declared: u32) -> Result<(), Cause> {
    let found = crc32fast::hash(bytes);
    if found != declared {
        return Err(Cause::Checksum {
            what,
            declared,
            found,
        });
    }
    Ok(())
}

fn array_at<const N: usize>(header: &[u8; HEADER], at: usize) -> [u8; N] {
    std::array::from_fn(|i| header[at + i])
}

fn u32_at(header: &[u8; HEADER], at: usize) -> u32 {
    u32::from_le_bytes(array_at(header, at))
}

fn u64_at(header: &[u8; HEADER], at: usize) -> u64 {
    u64::from_le_bytes(array_at(header, at))
}

/// A file under construction, chunk by chunk.
pub(super) struct Builder {
    bytes: Vec<u8>,
}

impl Builder {
    /// Starts a file without chunks.
    pub(super) fn new(kind: Tag) -> Builder {
        let mut bytes = vec![0; HEADER];
        bytes[..8].copy_from_slice(&SIGNATURE);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&kind.0);
        Builder { bytes }
    }

    /// Appends a chunk whose stored bytes are those that `content` appends. `content` returns the
    /// size of the content once decoded.
    pub(super) fn chunk(
        &mut self,
        tag: Tag,
        need: Need,
        encoding: Encoding,
        content: impl FnOnce(&mut Vec<u8>) -> u64,
    ) {
        let start = self.bytes.len();
        self.bytes.resize(start + HEADER, 0);
        let raw_length = content(&mut self.bytes);
        let (header, payload) = self.bytes[start..].split_at_mut(HEADER);
        let flags = match need {
            Need::Required => REQUIRED,
            Need::Optional => 0,
        };
        header[..4].copy_from_slice(&tag.0);
        header[4..6].copy_from_slice(&flags.to_le_bytes());
        header[6..8].copy_from_slice(&(encoding as u16).to_le_bytes());
        header[8..16].copy_from_slice(&(payload.len() as u64).to_le_bytes());
        header[16..24].copy_from_slice(&raw_length.to_le_bytes());
        header[24..28].copy_from_slice(&crc32fast::hash(payload).to_le_bytes());
        let sum = crc32fast::hash(&header[..28]);
        header[28..].copy_from_slice(&sum.to_le_bytes());
    }

    /// Completes the header and returns the bytes of the file.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let length = self.bytes.len() as u64;
        self.bytes[16..24].copy_from_slice(&length.to_le_bytes());
        let sum = crc32fast::hash(&self.bytes[..28]);
        self.bytes[28..HEADER].copy_from_slice(&sum.to_le_bytes());
        self.bytes
    }
}
