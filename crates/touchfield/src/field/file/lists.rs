//! Chunks that are one list of items of the same size.

use crate::field::file::blocks;
use crate::field::file::budget::Budget;
use crate::field::file::container::Chunk;
use crate::field::file::error::{Cause, FileError};
use crate::geom::lanes::room_for;

/// Reads a list of items of `N` bytes each.
pub(super) fn read_list<const N: usize, T>(
    chunk: &Chunk,
    budget: &mut Budget,
    mut item: impl FnMut(&[u8; N]) -> T,
) -> Result<Vec<T>, FileError> {
    let found = blocks::raw_length(chunk)?;
    if !found.is_multiple_of(N as u64) {
        return Err(chunk.error(Cause::WrongSize {
            expected: "a whole number of items",
            needed: found.next_multiple_of(N as u64),
            found,
        }));
    }
    budget.take("a list", found, chunk)?;
    let count = (found / N as u64) as usize;
    let mut list = room_for(count).map_err(|_| {
        chunk.error(Cause::OutOfMemory {
            what: "a list",
            bytes: found,
        })
    })?;
    // A piece ends with a block, not necessarily with an item, so `rest` carries the split item
    // over.
    let mut rest: Vec<u8> = Vec::with_capacity(N);
    blocks::decode(chunk, |mut piece| {
        if !rest.is_empty() {
            let missing = (N - rest.len()).min(piece.len());
            rest.extend_from_slice(&piece[..missing]);
            piece = &piece[missing..];
            if let Ok(whole) = <&[u8; N]>::try_from(rest.as_slice()) {
                list.push(item(whole));
                rest.clear();
            }
        }
        let (whole, left) = piece.as_chunks::<N>();
        list.extend(whole.iter().map(&mut item));
        rest.extend_from_slice(left);
    })?;
    Ok(list)
}
