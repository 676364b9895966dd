//! Storage of block values: bits, steps, rounding, and lowering values by their errors.

use crate::field::{PLAIN, SparseBlock, SparseParts, SparseValues};
use std::ops::Range;

/// Storage size of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bits {
    /// One byte.
    Eight,
    /// Two bytes.
    Sixteen,
    /// Four bytes: `f32`.
    ThirtyTwo,
}

impl Bits {
    pub(crate) fn steps(self) -> Option<f64> {
        match self {
            Bits::Eight => Some(255.0),
            Bits::Sixteen => Some(65_535.0),
            Bits::ThirtyTwo => None,
        }
    }

    pub(crate) fn bytes(self) -> u64 {
        match self {
            Bits::Eight => 1,
            Bits::Sixteen => 2,
            Bits::ThirtyTwo => 4,
        }
    }
}

/// Returns a value minus the error by which it may be too high. Rounds down twice, because in `f32`
/// the sum is rounded, and so is every sample.
pub(crate) fn lowered(value: f32, error: f32) -> f32 {
    (value - error.next_up()).next_down()
}

/// Lowers every value by its error, so that none is too high, and doubles the stored errors to
/// match.
pub(crate) fn lower_by_errors(parts: &mut SparseParts) {
    lower_nodes(parts);
    lower_blocks(&mut parts.blocks, &mut parts.values);
}

/// Lowers the values of the coarse nodes by their error; see [`lower_by_errors`].
pub(crate) fn lower_nodes(parts: &mut SparseParts) {
    for value in &mut parts.nodes {
        *value = lowered(*value, parts.plain_error);
    }
    parts.plain_error = (2.0 * parts.plain_error).next_up();
}

/// Lowers the values of blocks by their errors; see [`lower_by_errors`].
pub(crate) fn lower_blocks(blocks: &mut [SparseBlock], values: &mut SparseValues) {
    for block in blocks {
        if let SparseValues::Bits32(values) = values {
            let count = block.value_count();
            for value in &mut values[block.first_value..block.first_value + count] {
                *value = lowered(*value, block.error);
            }
        } else {
            block.lowest = lowered(block.lowest, block.error);
        }
        block.error = (2.0 * block.error).next_up().next_up();
    }
}

/// Blocks under construction.
pub(crate) struct Built {
    pub(crate) cells: Vec<u32>,
    pub(crate) plain_error: f64,
    pub(crate) blocks: Vec<SparseBlock>,
    pub(crate) children: Vec<u32>,
    pub(crate) values: SparseValues,
    /// Number of blocks that were copied from an earlier field.
    pub(crate) kept: usize,
}

impl Built {
    pub(crate) fn new(bits: Bits) -> Built {
        Built {
            cells: Vec::new(),
            plain_error: 0.0,
            blocks: Vec::new(),
            children: Vec::new(),
            values: match bits {
                Bits::Eight => SparseValues::Bits8(Vec::new()),
                Bits::Sixteen => SparseValues::Bits16(Vec::new()),
                Bits::ThirtyTwo => SparseValues::Bits32(Vec::new()),
            },
            kept: 0,
        }
    }

    /// Appends the blocks of `other`, with their indices shifted.
    pub(crate) fn append(&mut self, other: Built) {
        let moved = |list: Vec<u32>, by: usize| {
            list.into_iter().map(move |index| {
                if index == PLAIN {
                    PLAIN
                } else {
                    index + by as u32
                }
            })
        };
        let (blocks, children, values) =
            (self.blocks.len(), self.children.len(), self.values.len());
        self.cells.extend(moved(other.cells, blocks));
        self.children.extend(moved(other.children, blocks));
        self.blocks
            .extend(other.blocks.into_iter().map(|mut block| {
                block.first_value += values;
                if block.children != PLAIN {
                    block.children += children as u32;
                }
                block
            }));
        self.plain_error = self.plain_error.max(other.plain_error);
        self.append_values(&other.values, 0..other.values.len());
        self.kept += other.kept;
    }

    /// Copies a block without children, with its stored values, from `values`.
    pub(crate) fn copy(&mut self, block: &SparseBlock, values: &SparseValues) {
        self.blocks.push(SparseBlock {
            first_value: self.values.len(),
            ..*block
        });
        let range = block.first_value..block.first_value + block.value_count();
        self.append_values(values, range);
    }

    fn append_values(&mut self, from: &SparseValues, range: Range<usize>) {
        match (&mut self.values, from) {
            (SparseValues::Bits8(own), SparseValues::Bits8(more)) => {
                own.extend_from_slice(&more[range]);
            }
            (SparseValues::Bits16(own), SparseValues::Bits16(more)) => {
                own.extend_from_slice(&more[range]);
            }
            (SparseValues::Bits32(own), SparseValues::Bits32(more)) => {
                own.extend_from_slice(&more[range]);
            }
            _ => unreachable!("one bake stores one kind of values"),
        }
    }

    /// Stores a block of values and returns its index. `error` is the error of interpolating the
    /// unrounded values \[m\]; `rounding` is added to it.
    pub(crate) fn push(
        &mut self,
        cells_log2: u8,
        values: &[f32],
        error: f64,
        rounding: f64,
    ) -> u32 {
        let low = values.iter().copied().fold(f32::INFINITY, f32::min);
        let high = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let largest = f64::from(low.abs().max(high.abs()));
        let first_value = self.values.len();
        let steps = self.values.bits().min(16);
        let step = match self.values {
            SparseValues::Bits32(_) => 0.0,
            _ => (high - low) / ((1u32 << steps) - 1) as f32,
        };
        // A step that is too small to divide by counts as zero.
        let step = if step.is_normal() { step } else { 0.0 };
        // Rounds to the nearest step: the conversion to an integer truncates, and saturates.
        let stored = |value: f32| match step {
            0.0 => 0.0,
            step => (value - low) / step + 0.5,
        };
        match &mut self.values {
            SparseValues::Bits8(own) => own.extend(values.iter().map(|&v| stored(v) as u8)),
            SparseValues::Bits16(own) => own.extend(values.iter().map(|&v| stored(v) as u16)),
            SparseValues::Bits32(own) => own.extend_from_slice(values),
        }
        let (lowest, lost) = match self.values {
            SparseValues::Bits32(_) => (0.0, 0.0),
            // Without steps, every value is stored as the lowest.
            _ if step == 0.0 => (low, high - low),
            _ => (low, 0.5 * step),
        };
        // Decoding multiplies and adds in `f32`.
        let rounding = rounding + rounding_of(largest);
        self.blocks.push(SparseBlock {
            cells_log2,
            children: PLAIN,
            first_value,
            lowest,
            step,
            error: ((error + f64::from(lost) + rounding) as f32).next_up(),
        });
        self.blocks.len() as u32 - 1
    }
}

/// Returns the rounding error of interpolating values of at most this magnitude, decoded in `f32`
/// \[m\].
pub(crate) fn rounding_of(largest: f64) -> f64 {
    16.0 * f64::from(f32::EPSILON) * largest
}

/// Number of cells along a side of a block.
pub(crate) const CELLS: u32 = 1 << CELLS_LOG2;
/// Base-2 logarithm of [`CELLS`].
pub(crate) const CELLS_LOG2: u8 = 3;
