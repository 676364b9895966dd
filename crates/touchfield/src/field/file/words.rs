//! Chunks that are lists of 32-bit words: what others than the field keep in its file.
//!
//! Input: words, or the chunk of a file. Output: the same to the bit. Cost: one pass, four bytes a word.
//! Not for: what the words mean, which who keeps them checks.

use crate::field::file::blocks;
use crate::field::file::budget::Budget;
use crate::field::file::container::{Builder, Chunk, Encoding, Need};
use crate::field::file::error::{Cause, FileError, Tag};
use crate::field::file::lists::read_list;

/// A chunk of 32-bit words. Optional: a reader of fields alone skips it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Words {
    /// Its tag.
    pub(crate) tag: Tag,
    /// What it holds.
    pub(crate) words: Vec<u32>,
    /// Whether they are `f32`, which filters before they are compressed.
    pub(crate) are_floats: bool,
    /// Place of its header in the file it was read from.
    place: usize,
}

impl Words {
    /// A chunk of numbers.
    pub(crate) fn of_numbers(tag: Tag, words: Vec<u32>) -> Words {
        Words {
            tag,
            words,
            are_floats: false,
            place: 0,
        }
    }

    /// A chunk of `f32`.
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

    /// An error at the chunk.
    pub(crate) fn error(&self, why: String) -> FileError {
        Cause::BadContent(why).at(self.place, Some(self.tag))
    }
}
