//! The chunks of a dense grid: `GRID` for its layout and error bound, and `VALS` for the values at
//! its nodes.
//!
//! Input: a [`DenseGrid`], or the chunks of a file.
//! Output: the same grid to the bit; nothing that [`DenseGrid::new`] would reject.
//! Cost: one pass over the values, four bytes per node.
//! Not for: further metadata of the grid, see `provenance.rs`.

use glam::{UVec3, Vec3};

use crate::field::field::Field;
use crate::field::file::blocks;
use crate::field::file::budget::Budget;
use crate::field::file::container::{Builder, Chunk, Container, Encoding, Need};
use crate::field::file::error::{Cause, FileError, Tag};
use crate::field::grid::dense_grid::DenseGrid;
use crate::field::grid::layout::{GridError, GridLayout};
use crate::geom::Aabb;
use crate::geom::lanes::room_for;

pub(super) const KIND: Tag = Tag(*b"DENS");
pub(super) const GRID: Tag = Tag(*b"GRID");
pub(super) const VALUES: Tag = Tag(*b"VALS");

/// Bytes of `GRID`: fourteen numbers.
const GRID_SIZE: usize = 56;

pub(super) fn write(builder: &mut Builder, grid: &DenseGrid) {
    write_head(builder, grid.layout(), grid.solid(), grid.error_bound());
    builder.chunk(VALUES, Need::Required, Encoding::FloatBlocks, |out| {
        blocks::encode_floats(grid.values(), out)
    });
}

/// Writes `GRID`, which other kinds of fields share.
pub(super) fn write_head(
    builder: &mut Builder,
    layout: &GridLayout,
    solid: Aabb,
    error_bound: f32,
) {
    let GridLayout {
        origin,
        cell_size,
        nodes,
    } = *layout;
    builder.chunk(GRID, Need::Required, Encoding::Plain, |out| {
        let mut floats = |values: &[f32]| {
            out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        };
        floats(&origin.to_array());
        floats(&[cell_size]);
        floats(&solid.min.to_array());
        floats(&solid.max.to_array());
        floats(&[error_bound]);
        out.extend(nodes.to_array().into_iter().flat_map(u32::to_le_bytes));
        GRID_SIZE as u64
    });
}

pub(super) fn read(container: &Container, budget: &mut Budget) -> Result<DenseGrid, FileError> {
    let chunk = container.get(GRID)?;
    let head = Head::read(chunk)?;
    let values_chunk = container.get(VALUES)?;
    let values = read_values(values_chunk, &head.layout, budget)?;
    DenseGrid::new(head.layout, values, head.solid, head.error_bound).map_err(|error| {
        let in_head = matches!(error, GridError::BadErrorBound(_) | GridError::BadSolid(_));
        let chunk = if in_head { chunk } else { values_chunk };
        chunk.error(Cause::Grid(error))
    })
}

/// A grid without its values.
pub(super) struct Head {
    pub(super) layout: GridLayout,
    pub(super) solid: Aabb,
    pub(super) error_bound: f32,
}

impl Head {
    pub(super) fn read(chunk: &Chunk) -> Result<Head, FileError> {
        let payload: &[u8; GRID_SIZE] = fixed_payload(chunk, "a grid")?;
        let word = |i: usize| std::array::from_fn(|byte| payload[4 * i + byte]);
        let float = |i: usize| f32::from_le_bytes(word(i));
        let vector = |i: usize| Vec3::new(float(i), float(i + 1), float(i + 2));
        let layout = GridLayout {
            origin: vector(0),
            cell_size: float(3),
            nodes: UVec3::from_array([11, 12, 13].map(|i| u32::from_le_bytes(word(i)))),
        };
        layout
            .check()
            .map_err(|error| chunk.error_in_payload(0, Cause::Grid(error)))?;
        let solid = Aabb::new(vector(4), vector(7));
        // In memory an empty box means the box of all nodes; a file must state it explicitly.
        if solid.is_empty() {
            let why = format!(
                "the box around the surface goes from {:?} to {:?} and holds no point",
                solid.min.to_array(),
                solid.max.to_array()
            );
            return Err(chunk.error_in_payload(16, Cause::BadContent(why)));
        }
        Ok(Head {
            layout,
            solid,
            error_bound: float(10),
        })
    }
}

pub(super) fn read_values(
    chunk: &Chunk,
    layout: &GridLayout,
    budget: &mut Budget,
) -> Result<Vec<f32>, FileError> {
    let needed = layout.node_count().saturating_mul(4);
    // Before the memory limit: a node count that the bytes cannot fill is the file's fault.
    let found = blocks::raw_length(chunk)?;
    if found != needed {
        return Err(chunk.error(Cause::WrongSize {
            expected: "a value for every node",
            needed,
            found,
        }));
    }
    budget.take("the values", needed, chunk)?;
    let no_memory = || {
        chunk.error(Cause::OutOfMemory {
            what: "the values",
            bytes: needed,
        })
    };
    let count = usize::try_from(layout.node_count()).map_err(|_| no_memory())?;
    let mut values = room_for(count).map_err(|_| no_memory())?;
    blocks::decode(chunk, |piece| {
        let (words, _) = piece.as_chunks();
        values.extend(words.iter().map(|&word| f32::from_le_bytes(word)));
    })?;
    Ok(values)
}

/// Returns the payload of a chunk that is always `N` bytes and never compressed.
pub(super) fn fixed_payload<'a, const N: usize>(
    chunk: &Chunk<'a>,
    expected: &'static str,
) -> Result<&'a [u8; N], FileError> {
    let found = blocks::raw_length(chunk)?;
    match <&[u8; N]>::try_from(chunk.payload) {
        Ok(payload) if chunk.encoding()? == Encoding::Plain => Ok(payload),
        _ => Err(chunk.error(Cause::WrongSize {
            expected,
            needed: N as u64,
            found,
        })),
    }
}
