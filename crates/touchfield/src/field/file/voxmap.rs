//! The chunks of a voxmap: `GRID` as for a dense grid, `VOXL` for how its numbers are stored and
//! sampled, and `NUMB` for the numbers.
//!
//! Input: a [`LayeredVoxmap`], or the chunks of a file.
//! Output: the same voxmap to the bit; nothing that [`LayeredVoxmap::new`] would reject.
//! Cost: one pass over the voxels.
//! Not for: further metadata of the field, see `provenance.rs`.

use crate::field::field::Field;
use crate::field::file::blocks;
use crate::field::file::budget::Budget;
use crate::field::file::container::{Builder, Chunk, Container, Encoding, Need};
use crate::field::file::dense;
use crate::field::file::dense::Head;
use crate::field::file::error::{Cause, FileError, Tag};
use crate::field::file::lists::read_list;
use crate::field::grid::layered_voxmap::{LayeredVoxmap, Sampling, VoxelValues, VoxmapError};

pub(super) const KIND: Tag = Tag(*b"VXMP");
const VOXELS: Tag = Tag(*b"VOXL");
const NUMBERS: Tag = Tag(*b"NUMB");
pub(super) const TAGS: [Tag; 3] = [dense::GRID, VOXELS, NUMBERS];

/// Bytes of `VOXL`: encoding, decimals, sampling, one reserved.
const VOXELS_SIZE: usize = 4;

// Codes of encodings and samplings.
const LAYERS: u8 = 1;
const SCALED: u8 = 2;
const SUPPORT: u8 = 3;
const LOCAL_AND_GLOBAL: u8 = 1;
const INTERPOLATED: u8 = 2;

pub(super) fn write(builder: &mut Builder, map: &LayeredVoxmap) {
    dense::write_head(builder, map.layout(), map.solid(), map.error_bound());
    let (encoding, precision) = match map.values() {
        VoxelValues::Layers(_) => (LAYERS, 0),
        VoxelValues::Scaled { precision, .. } => (SCALED, *precision),
        VoxelValues::Support(_) => (SUPPORT, 0),
    };
    let sampling = match map.sampling() {
        Sampling::LocalAndGlobal => LOCAL_AND_GLOBAL,
        Sampling::Interpolated => INTERPOLATED,
    };
    builder.chunk(VOXELS, Need::Required, Encoding::Plain, |out| {
        out.extend([encoding, precision, sampling, 0]);
        VOXELS_SIZE as u64
    });
    let bytes: Vec<u8> = match map.values() {
        VoxelValues::Layers(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        VoxelValues::Scaled { values, .. } => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        VoxelValues::Support(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
    };
    builder.chunk(NUMBERS, Need::Required, Encoding::Blocks, |out| {
        blocks::encode_bytes(&bytes, out)
    });
}

pub(super) fn read(container: &Container, budget: &mut Budget) -> Result<LayeredVoxmap, FileError> {
    let head_chunk = container.get(dense::GRID)?;
    let head = Head::read(head_chunk)?;
    let voxels_chunk = container.get(VOXELS)?;
    let &[encoding, precision, sampling, reserved] =
        dense::fixed_payload::<VOXELS_SIZE>(voxels_chunk, "how voxels are stored")?;
    let bad = |at: usize, why: String| voxels_chunk.error_in_payload(at, Cause::BadContent(why));
    if encoding != SCALED && precision != 0 {
        let why = format!("{precision} decimals, which only scaled integers have");
        return Err(bad(1, why));
    }
    let sampling = match sampling {
        LOCAL_AND_GLOBAL => Sampling::LocalAndGlobal,
        INTERPOLATED => Sampling::Interpolated,
        other => return Err(bad(2, format!("sampling {other} is not known"))),
    };
    if reserved != 0 {
        return Err(bad(3, format!("a reserved byte is {reserved}, not 0")));
    }
    let chunk = container.get(NUMBERS)?;
    let values = match encoding {
        LAYERS => VoxelValues::Layers(read_list(chunk, budget, |b| i16::from_le_bytes(*b))?),
        SCALED => VoxelValues::Scaled {
            precision,
            values: read_list(chunk, budget, |b| i32::from_le_bytes(*b))?,
        },
        SUPPORT => VoxelValues::Support(read_list(chunk, budget, |b| f64::from_le_bytes(*b))?),
        other => return Err(bad(0, format!("encoding {other} of voxels is not known"))),
    };
    LayeredVoxmap::new(head.layout, values, sampling, head.solid, head.error_bound)
        .map_err(|error| refused(error, head_chunk, voxels_chunk, chunk))
}

/// Converts a voxmap error to a file error at the chunk that caused it.
fn refused(error: VoxmapError, head: &Chunk, voxels: &Chunk, numbers: &Chunk) -> FileError {
    match error {
        VoxmapError::Grid(error) => head.error(Cause::Grid(error)),
        VoxmapError::BadPrecision(_) => voxels.error_in_payload(1, content(&error)),
        error => numbers.error(content(&error)),
    }
}

fn content(error: &VoxmapError) -> Cause {
    Cause::BadContent(error.to_string())
}
