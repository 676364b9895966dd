//! Content in blocks of 64 KiB, each compressed where that makes it smaller.
//!
//! Input: bytes or `f32`; or a [`Chunk`] that holds them.
//! Output: the same to the bit.
//! Cost: one pass; two blocks of scratch. Memory grows with what is actually decompressed, never
//! with the declared size.
//! Not for: the best ratio. Blocks are compressed independently, so that they can be read one by
//! one.
//!
//! LZ4 looks for repeated bytes, and the low bytes of distances never repeat, so floats are
//! filtered first. A distance is nearly linear along x, so the residual after extrapolating the
//! last two values is small; its high bytes are gathered in byte planes of zeros. Measured on a
//! sphere of 256³ nodes off the middle of its grid: LZ4 alone gives no compression, byte planes a
//! ratio of 1.4, extrapolation as well 2.3. Extrapolating from the neighbours in y and z too gives
//! 2.9, but ties every block to the previous ones.

use lz4_flex::block::{
    CompressTable, compress_into_with_table, decompress_into, get_maximum_output_size,
};

use crate::field::file::container::{Chunk, Encoding};
use crate::field::file::error::{Cause, FileError};

/// Bytes of a block before compression; the last one of a chunk may be shorter.
pub(super) const BLOCK: usize = 1 << 16;
/// `f32` values per block.
const BLOCK_FLOATS: usize = BLOCK / size_of::<f32>();
/// Flag in a block's length word: the block is not compressed.
const UNCOMPRESSED: u32 = 1 << 31;
/// Maximum expansion of one byte by LZ4 decompression.
const MOST_EXPANSION: u64 = 255;

/// Appends bytes in blocks and returns their number before compression.
pub(super) fn encode_bytes(bytes: &[u8], out: &mut Vec<u8>) -> u64 {
    let mut packer = Packer::new();
    for block in bytes.chunks(BLOCK) {
        packer.append(block, block, out);
    }
    bytes.len() as u64
}

/// Appends `f32` in filtered blocks and returns their number of bytes before compression.
pub(super) fn encode_floats(values: &[f32], out: &mut Vec<u8>) -> u64 {
    let mut packer = Packer::new();
    let mut plain = Vec::with_capacity(BLOCK);
    let mut filtered = vec![0; BLOCK];
    for block in values.chunks(BLOCK_FLOATS) {
        plain.clear();
        plain.extend(block.iter().flat_map(|value| value.to_le_bytes()));
        let filtered = &mut filtered[..plain.len()];
        filter(block, filtered);
        packer.append(filtered, &plain, out);
    }
    4 * values.len() as u64
}

/// Compresses one block after another, reusing its buffers.
struct Packer {
    table: CompressTable,
    packed: Vec<u8>,
}

impl Packer {
    fn new() -> Packer {
        Packer {
            table: CompressTable::large(),
            packed: vec![0; get_maximum_output_size(BLOCK)],
        }
    }

    /// Appends `content` compressed, or `plain` if that is not longer.
    fn append(&mut self, content: &[u8], plain: &[u8], out: &mut Vec<u8>) {
        let packed = compress_into_with_table(content, &mut self.packed, &mut self.table)
            .ok()
            .and_then(|length| self.packed.get(..length))
            .filter(|packed| packed.len() < plain.len());
        let (bytes, mark) = match packed {
            Some(packed) => (packed, 0),
            None => (plain, UNCOMPRESSED),
        };
        out.extend((bytes.len() as u32 | mark).to_le_bytes());
        out.extend_from_slice(bytes);
    }
}

/// Returns the decoded size of a chunk's content, after checking that the stored bytes can expand
/// to that many.
pub(super) fn raw_length(chunk: &Chunk) -> Result<u64, FileError> {
    let stored = chunk.payload.len() as u64;
    let raw = chunk.raw_length;
    match chunk.encoding()? {
        Encoding::Plain if raw != stored => Err(chunk.error(Cause::WrongSize {
            expected: "the content",
            needed: raw,
            found: stored,
        })),
        Encoding::Blocks | Encoding::FloatBlocks if raw > stored.saturating_mul(MOST_EXPANSION) => {
            Err(chunk.error(Cause::ImpossibleExpansion { stored, raw }))
        }
        Encoding::FloatBlocks if !raw.is_multiple_of(4) => Err(chunk.error(Cause::BadContent(
            format!("{raw} bytes are no whole number of f32"),
        ))),
        _ => Ok(raw),
    }
}

/// Passes the content of a chunk to `piece` block by block, each at most [`BLOCK`] bytes long and
/// all but the last exactly that.
pub(super) fn decode(chunk: &Chunk, mut piece: impl FnMut(&[u8])) -> Result<(), FileError> {
    let mut left = raw_length(chunk)?;
    let encoding = chunk.encoding()?;
    if encoding == Encoding::Plain {
        chunk.payload.chunks(BLOCK).for_each(piece);
        return Ok(());
    }
    // Blocks: decompress each where needed, then undo the filter of floats.
    let scratch_size = left.min(BLOCK as u64) as usize;
    let (mut unpacked, mut unfiltered) = (vec![0; scratch_size], vec![0; scratch_size]);
    let mut at = 0;
    for block in 0.. {
        if left == 0 {
            break;
        }
        let size = left.min(BLOCK as u64) as usize;
        let stored = stored_block(chunk, &mut at)?;
        let bad =
            |why: String| chunk.error_in_payload(stored.start, Cause::BadBlock { block, why });
        if !stored.is_compressed {
            if stored.bytes.len() != size {
                return Err(bad(format!("{} bytes for {size}", stored.bytes.len())));
            }
            piece(stored.bytes);
        } else {
            let unpacked = &mut unpacked[..size];
            let found =
                decompress_into(stored.bytes, unpacked).map_err(|error| bad(error.to_string()))?;
            if found != size {
                return Err(bad(format!("{found} bytes where {size} should come")));
            }
            if encoding == Encoding::FloatBlocks {
                unfilter(unpacked, &mut unfiltered[..size]);
                piece(&unfiltered[..size]);
            } else {
                piece(unpacked);
            }
        }
        left -= size as u64;
    }
    // Every stored byte must belong to a block.
    match chunk.payload.len() - at {
        0 => Ok(()),
        surplus => {
            let cause = Cause::BadContent(format!("{surplus} bytes follow the last block"));
            Err(chunk.error_in_payload(at, cause))
        }
    }
}

struct StoredBlock<'a> {
    /// Offset in the payload.
    start: usize,
    is_compressed: bool,
    bytes: &'a [u8],
}

fn stored_block<'a>(chunk: &Chunk<'a>, at: &mut usize) -> Result<StoredBlock<'a>, FileError> {
    let start = *at;
    let end = |expected| chunk.error_in_payload(start, Cause::UnexpectedEnd { expected });
    let (word, rest) = chunk.payload[start..]
        .split_first_chunk()
        .ok_or_else(|| end("the length of a block"))?;
    let word = u32::from_le_bytes(*word);
    let bytes = rest
        .get(..(word & !UNCOMPRESSED) as usize)
        .ok_or_else(|| end("the bytes of a block"))?;
    *at = start + size_of::<u32>() + bytes.len();
    Ok(StoredBlock {
        start,
        is_compressed: word & UNCOMPRESSED == 0,
        bytes,
    })
}

/// Code of +0, used as the two values before the first one.
const START: u32 = 1 << 31;

/// Computes the residuals of the extrapolation in byte planes: the lowest byte of each residual,
/// then the next. `out` has four bytes per value.
fn filter(values: &[f32], out: &mut [u8]) {
    let (low, high) = out.split_at_mut(2 * values.len());
    let (plane_0, plane_1) = low.split_at_mut(values.len());
    let (plane_2, plane_3) = high.split_at_mut(values.len());
    let planes = plane_0.iter_mut().zip(plane_1).zip(plane_2).zip(plane_3);
    let (mut last, mut last_but_one) = (START, START);
    for (value, (((byte_0, byte_1), byte_2), byte_3)) in values.iter().zip(planes) {
        let current = ordered(value.to_bits());
        let residual = fold(current.wrapping_sub(extrapolated(last, last_but_one)));
        [*byte_0, *byte_1, *byte_2, *byte_3] = residual.to_le_bytes();
        (last, last_but_one) = (current, last);
    }
}

/// Recovers the bytes of the values from the output of [`filter`].
fn unfilter(filtered: &[u8], out: &mut [u8]) {
    let (low, high) = filtered.split_at(filtered.len() / 2);
    let (plane_0, plane_1) = low.split_at(low.len() / 2);
    let (plane_2, plane_3) = high.split_at(high.len() / 2);
    let planes = plane_0.iter().zip(plane_1).zip(plane_2).zip(plane_3);
    let (mut last, mut last_but_one) = (START, START);
    let (words, _) = out.as_chunks_mut();
    for (word, (((&byte_0, &byte_1), &byte_2), &byte_3)) in words.iter_mut().zip(planes) {
        let residual = u32::from_le_bytes([byte_0, byte_1, byte_2, byte_3]);
        let current = extrapolated(last, last_but_one).wrapping_add(unfold(residual));
        *word = unordered(current).to_le_bytes();
        (last, last_but_one) = (current, last);
    }
}

fn extrapolated(last: u32, last_but_one: u32) -> u32 {
    last.wrapping_mul(2).wrapping_sub(last_but_one)
}

/// Maps float bits to integers in the order of the floats; +0 is in the middle.
fn ordered(bits: u32) -> u32 {
    if bits >> 31 == 1 {
        !bits
    } else {
        bits | 1 << 31
    }
}

fn unordered(ordered: u32) -> u32 {
    if ordered >> 31 == 1 {
        ordered & !(1 << 31)
    } else {
        !ordered
    }
}

/// Maps 0, −1, 1, −2, … to 0, 1, 2, 3, …, so that small values of either sign have high bytes of
/// zero.
fn fold(difference: u32) -> u32 {
    (difference << 1) ^ ((difference as i32 >> 31) as u32)
}

fn unfold(folded: u32) -> u32 {
    (folded >> 1) ^ (folded & 1).wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ordered_integers_follow_the_order_of_floats() {
        let ascending = [-f32::MAX, -1.0, -1e-42, -0.0, 0.0, 1e-42, 1.0, f32::MAX];
        for pair in ascending.windows(2) {
            let [a, b] = [pair[0], pair[1]].map(|value| ordered(value.to_bits()));
            assert!(a < b, "{} {}: {a} {b}", pair[0], pair[1]);
        }
        assert_eq!(ordered(0.0f32.to_bits()), START);
    }

    proptest! {
        #[test]
        fn the_filter_loses_no_bit(bits in prop::collection::vec(any::<u32>(), 0..50)) {
            let values: Vec<f32> = bits.iter().map(|&bits| f32::from_bits(bits)).collect();
            let mut filtered = vec![0; 4 * bits.len()];
            filter(&values, &mut filtered);
            let mut back = vec![0; 4 * bits.len()];
            unfilter(&filtered, &mut back);
            let plain: Vec<u8> = bits.iter().flat_map(|bits| bits.to_le_bytes()).collect();
            prop_assert_eq!(back, plain);
        }

        #[test]
        fn folding_keeps_small_small(difference in any::<i32>()) {
            let folded = fold(difference as u32);
            prop_assert_eq!(unfold(folded), difference as u32);
            let expected = if difference < 0 { 2 * i64::from(difference).abs() - 1 } else { 2 * i64::from(difference) };
            prop_assert_eq!(i64::from(folded), expected);
        }
    }
}
