//! The chunks of sparse blocks.
//!
//! - `GRID` and `VALS`: the coarse grid, as for a dense grid
//! - `CELL`: the block of each coarse cell
//! - `BLKS`: the blocks
//! - `CHLD`: the blocks nested in them
//! - `RES8`, `RS16` or `VL32`: the values of the blocks
//! - `BNDS`: the region where the field is valid, if not everywhere
//!
//! Input: a [`SparseBlocks`], or the chunks of a file.
//! Output: the same field to the bit; nothing that [`SparseBlocks::new`] would reject.
//! Cost: one pass over the values.
//! Not for: further metadata of the field, see `provenance.rs`.

use glam::Vec3;

use crate::field::field::Field;
use crate::field::file::budget::Budget;
use crate::field::file::container::{Builder, Chunk, Container, Encoding, Need};
use crate::field::file::dense;
use crate::field::file::dense::Head;
use crate::field::file::error::{Cause, FileError, Tag};
use crate::field::file::lists::read_list;
use crate::field::file::{blocks, residuals};
use crate::field::sparse::sparse_blocks::{
    PLAIN, SparseBlock, SparseBlocks, SparseError, SparseParts, SparseValues,
};
use crate::geom::Aabb;
use crate::geom::lanes::room_for;

pub(super) const KIND: Tag = Tag(*b"SPRS");
pub(super) const CELLS: Tag = Tag(*b"CELL");
pub(super) const BLOCKS: Tag = Tag(*b"BLKS");
pub(super) const CHILDREN: Tag = Tag(*b"CHLD");
pub(super) const BOUNDS: Tag = Tag(*b"BNDS");
/// Chunks of block values, with the bytes per value.
pub(super) const VALUES: [(Tag, usize); 3] =
    [(Tag(*b"RES8"), 1), (Tag(*b"RS16"), 2), (Tag(*b"VL32"), 4)];

pub(super) const TAGS: [Tag; 9] = [
    dense::GRID,
    dense::VALUES,
    CELLS,
    BLOCKS,
    CHILDREN,
    BOUNDS,
    VALUES[0].0,
    VALUES[1].0,
    VALUES[2].0,
];

/// Bytes of `BNDS`: lower corner, upper corner.
const BOUNDS_SIZE: usize = 24;

/// Bytes of a block: log2 of its cells per side, whether it has child blocks, two zeros; lowest,
/// step, error.
const BLOCK_SIZE: usize = 16;

pub(super) fn write(builder: &mut Builder, field: &SparseBlocks) {
    let SparseParts {
        nodes,
        cells,
        plain_error,
        blocks: list,
        children,
        values,
        solid,
    } = field.parts();
    // Coarse grid: layout, box of validity if it is not the whole grid, node values.
    dense::write_head(builder, field.layout(), *solid, *plain_error);
    let bounds = field.bounds();
    if bounds != field.layout().bounds() {
        builder.chunk(BOUNDS, Need::Required, Encoding::Plain, |out| {
            for number in [bounds.min, bounds.max]
                .map(|end| end.to_array())
                .as_flattened()
            {
                out.extend(number.to_le_bytes());
            }
            BOUNDS_SIZE as u64
        });
    }
    builder.chunk(
        dense::VALUES,
        Need::Required,
        Encoding::FloatBlocks,
        |out| blocks::encode_floats(nodes, out),
    );
    // References and blocks.
    let numbers = |list: &[u32]| -> Vec<u8> {
        list.iter()
            .flat_map(|number| number.to_le_bytes())
            .collect()
    };
    builder.chunk(CELLS, Need::Required, Encoding::Blocks, |out| {
        blocks::encode_bytes(&numbers(cells), out)
    });
    builder.chunk(BLOCKS, Need::Required, Encoding::Blocks, |out| {
        let mut bytes = Vec::with_capacity(list.len() * BLOCK_SIZE);
        for block in list {
            let has_children = u8::from(block.children != PLAIN);
            bytes.extend([block.cells_log2, has_children, 0, 0]);
            for number in [block.lowest, block.step, block.error] {
                bytes.extend(number.to_le_bytes());
            }
        }
        blocks::encode_bytes(&bytes, out)
    });
    builder.chunk(CHILDREN, Need::Required, Encoding::Blocks, |out| {
        blocks::encode_bytes(&numbers(children), out)
    });
    // Values: residuals block by block (in 16 bits the low bytes, then the high bytes), or floats.
    let tag = |bytes: usize| VALUES.map(|(tag, _)| tag)[bytes.ilog2() as usize];
    match values {
        SparseValues::Bits8(values) => {
            builder.chunk(tag(1), Need::Required, Encoding::Blocks, |out| {
                let mut bytes = values.clone();
                for block in list {
                    let own = &mut bytes[block.first_value..][..block.value_count()];
                    residuals::of_bytes(own, block.side() as usize + 1);
                }
                blocks::encode_bytes(&bytes, out)
            });
        }
        SparseValues::Bits16(values) => {
            builder.chunk(tag(2), Need::Required, Encoding::Blocks, |out| {
                let mut bytes = Vec::with_capacity(2 * values.len());
                for block in list {
                    let mut own = values[block.first_value..][..block.value_count()].to_vec();
                    residuals::of_words(&mut own, block.side() as usize + 1);
                    bytes.extend(own.iter().map(|word| word.to_le_bytes()[0]));
                    bytes.extend(own.iter().map(|word| word.to_le_bytes()[1]));
                }
                blocks::encode_bytes(&bytes, out)
            });
        }
        SparseValues::Bits32(values) => {
            builder.chunk(tag(4), Need::Required, Encoding::FloatBlocks, |out| {
                blocks::encode_floats(values, out)
            });
        }
    }
}

pub(super) fn read(container: &Container, budget: &mut Budget) -> Result<SparseBlocks, FileError> {
    let head_chunk = container.get(dense::GRID)?;
    let head = Head::read(head_chunk)?;
    let nodes = dense::read_values(container.get(dense::VALUES)?, &head.layout, budget)?;
    let cells = read_numbers(container.get(CELLS)?, budget)?;
    let blocks_chunk = container.get(BLOCKS)?;
    let list = read_blocks(blocks_chunk, budget)?;
    let children = read_numbers(container.get(CHILDREN)?, budget)?;
    // The values, of which exactly one kind must be present.
    let mut kinds = VALUES
        .into_iter()
        .filter_map(|(tag, bytes)| Some((container.find(tag)?, bytes)));
    let (Some((values_chunk, bytes)), None) = (kinds.next(), kinds.next()) else {
        let why = "values of blocks must be there once, with 8, 16 or 32 bits".to_owned();
        return Err(blocks_chunk.error(Cause::BadContent(why)));
    };
    let values = match bytes {
        1 => SparseValues::Bits8(read_bytes(values_chunk, &list, budget)?),
        2 => SparseValues::Bits16(read_words(values_chunk, &list, budget)?),
        _ => SparseValues::Bits32(read_list(values_chunk, budget, |word| {
            f32::from_le_bytes(*word)
        })?),
    };
    let parts = SparseParts {
        nodes,
        cells,
        plain_error: head.error_bound,
        blocks: list,
        children,
        values,
        solid: head.solid,
    };
    // Checking the references takes one 32-bit number per block.
    budget.take("the blocks", 4 * parts.blocks.len() as u64, blocks_chunk)?;
    let field = SparseBlocks::new(head.layout, parts).map_err(|error| match error {
        SparseError::Grid(error) => head_chunk.error(Cause::Grid(error)),
        error => blocks_chunk.error(Cause::BadContent(error.to_string())),
    })?;
    // The box of validity, if the file has one.
    let Some(chunk) = container.find(BOUNDS) else {
        return Ok(field);
    };
    let payload: &[u8; BOUNDS_SIZE] = dense::fixed_payload(chunk, "two corners of a box")?;
    let corner = |first: usize| {
        let number = |axis: usize| {
            let bytes = std::array::from_fn(|byte| payload[first + 4 * axis + byte]);
            f32::from_le_bytes(bytes)
        };
        Vec3::new(number(0), number(1), number(2))
    };
    let bounds = Aabb::new(corner(0), corner(12));
    field
        .within(bounds)
        .map_err(|error| chunk.error(Cause::BadContent(error.to_string())))
}

/// Rejects a number of values that does not match the blocks.
fn check_count(chunk: &Chunk, list: &[SparseBlock], bytes: u64) -> Result<(), FileError> {
    let needed = (list.last()).map_or(0, |last| last.first_value + last.value_count()) as u64;
    match blocks::raw_length(chunk)? {
        found if found == bytes * needed => Ok(()),
        found => Err(chunk.error(Cause::WrongSize {
            expected: "the values of all blocks",
            needed: bytes * needed,
            found,
        })),
    }
}

fn read_bytes(
    chunk: &Chunk,
    list: &[SparseBlock],
    budget: &mut Budget,
) -> Result<Vec<u8>, FileError> {
    check_count(chunk, list, 1)?;
    let mut values = read_list(chunk, budget, |[byte]: &[u8; 1]| *byte)?;
    for block in list {
        let own = &mut values[block.first_value..][..block.value_count()];
        residuals::to_bytes(own, block.side() as usize + 1);
    }
    Ok(values)
}

fn read_words(
    chunk: &Chunk,
    list: &[SparseBlock],
    budget: &mut Budget,
) -> Result<Vec<u16>, FileError> {
    check_count(chunk, list, 2)?;
    let bytes = read_list(chunk, budget, |[byte]: &[u8; 1]| *byte)?;
    budget.take("the values", bytes.len() as u64, chunk)?;
    let mut values = room_for(bytes.len() / 2).map_err(|_| {
        chunk.error(Cause::OutOfMemory {
            what: "the values",
            bytes: bytes.len() as u64,
        })
    })?;
    for block in list {
        let own = &bytes[2 * block.first_value..][..2 * block.value_count()];
        let (low, high) = own.split_at(block.value_count());
        let words = low.iter().zip(high);
        values.extend(words.map(|(&low, &high)| u16::from_le_bytes([low, high])));
        residuals::to_words(&mut values[block.first_value..], block.side() as usize + 1);
    }
    Ok(values)
}

fn read_numbers(chunk: &Chunk, budget: &mut Budget) -> Result<Vec<u32>, FileError> {
    read_list(chunk, budget, |word| u32::from_le_bytes(*word))
}

/// Reads the blocks. The offsets of their values and children follow from the order of the blocks.
fn read_blocks(chunk: &Chunk, budget: &mut Budget) -> Result<Vec<SparseBlock>, FileError> {
    let count = blocks::raw_length(chunk)? / BLOCK_SIZE as u64;
    // A block takes twice as much memory as it takes bytes in the file.
    let in_memory = count * (size_of::<SparseBlock>() as u64 - BLOCK_SIZE as u64);
    budget.take("the blocks", in_memory, chunk)?;
    let (mut first_value, mut first_child) = (0usize, 0u32);
    let mut fault = None;
    let list = read_list(chunk, budget, |bytes: &[u8; BLOCK_SIZE]| {
        let float = |i: usize| f32::from_le_bytes(std::array::from_fn(|byte| bytes[i + byte]));
        let [cells_log2, has_children, zero, also_zero] = [bytes[0], bytes[1], bytes[2], bytes[3]];
        if has_children > 1 || zero != 0 || also_zero != 0 || !(1..=3).contains(&cells_log2) {
            fault.get_or_insert(bytes[..4].to_vec());
        }
        let cells_log2 = cells_log2.clamp(1, 3);
        let block = SparseBlock {
            cells_log2,
            children: if has_children == 1 {
                first_child
            } else {
                PLAIN
            },
            first_value,
            lowest: float(4),
            step: float(8),
            error: float(12),
        };
        first_value += block.value_count();
        if has_children == 1 {
            first_child = first_child.saturating_add(block.side().pow(3));
        }
        block
    })?;
    match fault {
        None => Ok(list),
        Some(bytes) => Err(chunk.error(Cause::BadContent(format!(
            "a block begins with {bytes:?}; its cells must be 1 to 3, its flag 0 or 1, the rest 0"
        )))),
    }
}
