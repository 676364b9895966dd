//! Bytes of a glTF file: the chunks of a GLB container, embedded base64, and files beside it.

use std::borrow::Cow;
use std::path::{Component, Path};

use super::document::Document;
use crate::mesh::read::error::{Cause, ReadError};
use crate::mesh::read::limits::{Limits, byte_limit, file_bytes};

/// First bytes of a GLB container.
pub(in super::super) const GLB_MAGIC: &[u8] = b"glTF";
const CHUNK_JSON: u32 = 0x4E4F_534A;
const CHUNK_BIN: u32 = 0x004E_4942;
/// Prefix of URIs that embed their bytes.
const DATA_URI: &str = "data:";

/// The JSON text with its start in the file, and the binary chunk if there is one.
pub(super) struct Chunks<'a> {
    pub(super) json: &'a [u8],
    pub(super) json_start: usize,
    pub(super) binary: Option<&'a [u8]>,
}

pub(super) fn split(bytes: &[u8]) -> Result<Chunks<'_>, ReadError> {
    if !bytes.starts_with(GLB_MAGIC) {
        return Ok(Chunks {
            json: bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes),
            json_start: 0,
            binary: None,
        });
    }
    let version = u32_at(bytes, 4, "the version of the container")?;
    if version != 2 {
        return Err(Cause::Unsupported {
            what: format!("GLB version {version}"),
            instead: "export as glTF 2.0",
        }
        .at_byte(4));
    }
    let length = u32_at(bytes, 8, "the length of the container")? as usize;
    let Some(container) = bytes.get(..length) else {
        return Err(Cause::CountTooLarge {
            what: "bytes of container",
            declared: length as u64,
            bytes_left: bytes.len(),
        }
        .at_byte(8));
    };
    let (json, after_json) = chunk(container, 12, CHUNK_JSON)?;
    let json = json.ok_or_else(|| Cause::expected("a JSON chunk", b"another").at_byte(12))?;
    let binary = if after_json < container.len() {
        chunk(container, after_json, CHUNK_BIN)?.0
    } else {
        None
    };
    Ok(Chunks {
        json,
        json_start: 20,
        binary,
    })
}

/// Returns the chunk at a position if it is of the wanted kind, and the position of the next one.
fn chunk(bytes: &[u8], at: usize, wanted: u32) -> Result<(Option<&[u8]>, usize), ReadError> {
    let length = u32_at(bytes, at, "the length of a chunk")? as usize;
    let kind = u32_at(bytes, at + 4, "the kind of a chunk")?;
    let start = at + 8;
    let end = start.saturating_add(length);
    let Some(data) = bytes.get(start..end) else {
        return Err(Cause::CountTooLarge {
            what: "bytes of chunk",
            declared: length as u64,
            bytes_left: bytes.len() - start,
        }
        .at_byte(at));
    };
    Ok(((kind == wanted).then_some(data), end))
}

fn u32_at(bytes: &[u8], at: usize, expected: &'static str) -> Result<u32, ReadError> {
    bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk())
        .map(|raw| u32::from_le_bytes(*raw))
        .ok_or_else(|| Cause::UnexpectedEnd { expected }.at_byte(bytes.len()))
}

/// Loads every buffer, cut to its declared length.
pub(super) fn load<'a>(
    document: &Document,
    binary: Option<&'a [u8]>,
    bytes_so_far: u64,
    folder: Option<&Path>,
    limits: &Limits,
) -> Result<Vec<Cow<'a, [u8]>>, ReadError> {
    let mut bytes_read = bytes_so_far;
    let mut buffers = Vec::new();
    for (number, buffer) in document.buffers.iter().enumerate() {
        let path = || format!("buffers[{number}]");
        let mut bytes = match (&buffer.uri, binary) {
            (None, Some(binary)) if number == 0 => Cow::Borrowed(binary),
            (None, _) => {
                let problem = "it has no `uri` and the file no binary chunk for it";
                return Err(Cause::Gltf(problem.to_owned()).at_json(path()));
            }
            (Some(uri), _) => {
                let allowance = limits.bytes.saturating_sub(bytes_read);
                let bytes = resolve(uri, folder, allowance).map_err(|cause| {
                    match cause {
                        Cause::Limit { found, .. } => {
                            byte_limit(bytes_read.saturating_add(found), limits.bytes)
                        }
                        cause => cause,
                    }
                    .at_json(path() + ".uri")
                })?;
                // Embedded bytes are already counted as part of the document.
                if !uri.starts_with(DATA_URI) {
                    bytes_read += bytes.len() as u64;
                }
                Cow::Owned(bytes)
            }
        };
        if buffer.byte_length > bytes.len() {
            let (declared, there) = (buffer.byte_length, bytes.len());
            let problem = format!("{declared} bytes are declared, but only {there} are there");
            return Err(Cause::Gltf(problem).at_json(path() + ".byteLength"));
        }
        match &mut bytes {
            Cow::Borrowed(bytes) => *bytes = &bytes[..buffer.byte_length],
            Cow::Owned(bytes) => bytes.truncate(buffer.byte_length),
        }
        buffers.push(bytes);
    }
    Ok(buffers)
}

/// Returns the bytes that a URI refers to, at most `allowance` of them.
fn resolve(uri: &str, folder: Option<&Path>, allowance: u64) -> Result<Vec<u8>, Cause> {
    if let Some(data) = uri.strip_prefix(DATA_URI) {
        let Some((_, payload)) = data.split_once(";base64,") else {
            return Err(Cause::Unsupported {
                what: "a data URI other than base64".to_owned(),
                instead: "export with base64 buffers, or as GLB",
            });
        };
        return decode_base64(payload.as_bytes());
    }
    let leaves = || Cause::LeavesFolder {
        uri: uri.chars().take(80).flat_map(char::escape_debug).collect(),
    };
    let name = decode_percent(uri).ok_or_else(leaves)?;
    // Relative paths only: no scheme or drive, no root, no parent directory, and no separator of
    // another system.
    let is_plain = !name.contains([':', '\\', '\0'])
        && !name.is_empty()
        && Path::new(&name)
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !is_plain {
        return Err(leaves());
    }
    let Some(folder) = folder else {
        return Err(Cause::Unsupported {
            what: "a buffer in another file, when only bytes are given,".to_owned(),
            instead: "read the mesh by its path, or export it as GLB",
        });
    };
    // A symbolic link may still lead outside.
    let folder = folder.canonicalize().map_err(Cause::Io)?;
    let path = folder.join(&name).canonicalize().map_err(Cause::Io)?;
    if !path.starts_with(&folder) {
        return Err(leaves());
    }
    if !path.metadata().map_err(Cause::Io)?.is_file() {
        // A pipe could block forever.
        let problem = std::io::Error::new(std::io::ErrorKind::InvalidInput, "not a regular file");
        return Err(Cause::Io(problem));
    }
    file_bytes(&path, allowance)
}

/// Decodes `%20` and similar escapes, once; `None` when the result is not UTF-8.
fn decode_percent(uri: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
        let escaped = match rest {
            [b'%', high, low, ..] => hex(*high).zip(hex(*low)),
            _ => None,
        };
        match escaped {
            Some((high, low)) => {
                bytes.push(high << 4 | low);
                rest = &rest[3..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

/// Decodes base64 of RFC 4648, with or without padding.
fn decode_base64(text: &[u8]) -> Result<Vec<u8>, Cause> {
    let unpadded = text.trim_ascii_end();
    let unpadded = unpadded.strip_suffix(b"=").unwrap_or(unpadded);
    let unpadded = unpadded.strip_suffix(b"=").unwrap_or(unpadded);
    let mut bytes = Vec::with_capacity(unpadded.len() / 4 * 3 + 3);
    for group in unpadded.chunks(4) {
        let mut bits = 0u32;
        for &digit in group {
            let value = match digit {
                b'A'..=b'Z' => digit - b'A',
                b'a'..=b'z' => digit - b'a' + 26,
                b'0'..=b'9' => digit - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return Err(Cause::expected("base64", group)),
            };
            bits = bits << 6 | u32::from(value);
        }
        // Six bits per digit, of which whole bytes count: 4 → 3, 3 → 2, 2 → 1.
        let [_, raw @ ..] = (bits << (24 - 6 * group.len())).to_be_bytes();
        bytes.extend_from_slice(&raw[..group.len() * 6 / 8]);
    }
    Ok(bytes)
}
