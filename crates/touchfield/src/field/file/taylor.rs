//! The chunks of a Taylor grid: `GRID` as for a dense grid, `COAR` for its coarse nodes, and `HALF`
//! for the residuals at all nodes.
//!
//! Input: a [`TaylorGrid`], or the chunks of a file.
//! Output: the same grid to the bit; nothing that [`TaylorGrid::new`] would reject.
//! Cost: one pass over the nodes.
//! Not for: further metadata of the field, see `provenance.rs`.

use crate::field::field::Field;
use crate::field::file::blocks;
use crate::field::file::budget::Budget;
use crate::field::file::container::{Builder, Container, Encoding, Need};
use crate::field::file::dense;
use crate::field::file::dense::Head;
use crate::field::file::error::{Cause, FileError, Tag};
use crate::field::file::lists::read_list;
use crate::field::grid::taylor_grid::{TaylorError, TaylorGrid};

pub(super) const KIND: Tag = Tag(*b"TAYL");
const COARSE: Tag = Tag(*b"COAR");
const HALVES: Tag = Tag(*b"HALF");
pub(super) const TAGS: [Tag; 3] = [dense::GRID, COARSE, HALVES];

pub(super) fn write(builder: &mut Builder, grid: &TaylorGrid) {
    dense::write_head(builder, grid.layout(), grid.solid(), grid.error_bound());
    builder.chunk(COARSE, Need::Required, Encoding::FloatBlocks, |out| {
        blocks::encode_floats(grid.coarse().as_flattened(), out)
    });
    builder.chunk(HALVES, Need::Required, Encoding::Blocks, |out| {
        let halves = grid.nodes().flatten();
        let bytes: Vec<u8> = halves.flat_map(u16::to_le_bytes).collect();
        blocks::encode_bytes(&bytes, out)
    });
}

pub(super) fn read(container: &Container, budget: &mut Budget) -> Result<TaylorGrid, FileError> {
    let head_chunk = container.get(dense::GRID)?;
    let head = Head::read(head_chunk)?;
    let coarse_chunk = container.get(COARSE)?;
    let word = |bytes: &[u8; 16], i: usize| std::array::from_fn(|byte| bytes[4 * i + byte]);
    let coarse = read_list(coarse_chunk, budget, |bytes: &[u8; 16]| {
        std::array::from_fn(|i| f32::from_le_bytes(word(bytes, i)))
    })?;
    let halves_chunk = container.get(HALVES)?;
    let halves = read_list(halves_chunk, budget, |bytes: &[u8; 8]| {
        std::array::from_fn(|i| u16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]]))
    })?;
    TaylorGrid::new(head.layout, coarse, halves, head.solid, head.error_bound).map_err(|error| {
        let chunk = match error {
            TaylorError::Grid(_) => head_chunk,
            TaylorError::WrongCoarseCount { .. } | TaylorError::BadCoarse { .. } => coarse_chunk,
            TaylorError::BadNode { .. } | TaylorError::OutOfRange { .. } => halves_chunk,
        };
        chunk.error(match error {
            TaylorError::Grid(error) => Cause::Grid(error),
            error => Cause::BadContent(error.to_string()),
        })
    })
}
