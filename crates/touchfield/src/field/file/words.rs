//! Chunks that are lists of 32-bit words, for data that other modules store in a field's file.
//!
//! Input: words, or the chunk of a file. Output: the same words to the bit.
//! Cost: one pass, four bytes per word.
//! Not for: the meaning of the words, which the module that stores them checks.

use crate::field::file::blocks;
use crate::field::file::budget::Budget;
use crate::field::file::container::{Builder, Chunk, Encoding, Need};
use crate::field::file::error::{Cause, FileError, Tag};
use crate::field::file::lists::read_list;

/// A chunk of 32-bit words. It is optional: a reader that needs only the field skips it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Words {
    /// Tag of the chunk.
    pub(crate) tag: Tag,
    /// Content of the chunk.
    pub(crate) words: Vec<u32>,
    /// Whether the words are `f32`, which are filtered before compression.
    pub(crate) are_floats: bool,
    /// Byte offset of the chunk's header in the file it was read from.
    place: usize,
}

impl Words {
    /// Makes a chunk of integers.
    pub(crate) fn of_numbers(tag: Tag, words: Vec<u32>) -> Words {
        Words {
            tag,
            words,
            are_floats: false,
            place: 0,
        }
    }

    /// Makes a chunk of `f32`.
    pub(crate) fn of_floats(tag: Tag, floats: impl Iterator<Item = f32>) -> Words {
        Words {
            tag,
            words: floats.map(f32::to_bits).collect(),
            are_floats: true,
            place: 0,
        }
    }

    pub(super) fn write(&self, builder: &mut Builder) {
        let encoding = match self.are_floats {
            true => Encoding::FloatBlocks,
            false => Encoding::Blocks,
        };
        builder.chunk(self.tag, Need::Optional, encoding, |out| {
            if self.are_floats {
                let floats: Vec<f32> = self
                    .words
                    .iter()
                    .map(|&bits| f32::from_bits(bits))
                    .collect();
                return blocks::encode_floats(&floats, out);
            }
            let bytes: Vec<u8> = self
                .words
                .iter()
                .flat_map(|word| word.to_le_bytes())
                .collect();
            blocks::encode_bytes(&bytes, out)
        });
    }

    pub(super) fn read(chunk: &Chunk, budget: &mut Budget) -> Result<Words, FileError> {
        Ok(Words {
            tag: chunk.tag,
            words: read_list(chunk, budget, |&bytes| u32::from_le_bytes(bytes))?,
            are_floats: chunk.encoding()? == Encoding::FloatBlocks,
            place: chunk.place(),
        })
    }

    /// Makes an error located at the chunk.
    pub(crate) fn error(&self, why: String) -> FileError {
        Cause::BadContent(why).at(self.place, Some(self.tag))
    }
}
