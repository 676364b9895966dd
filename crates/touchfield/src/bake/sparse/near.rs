//! Coarse cells covered by a band, and the error of its blocks.

use crate::bake::packing::CELLS;
use crate::field::PLAIN;
use crate::geom::place_index;
use glam::UVec3;
use std::ops::Range;

/// Coarse cells that get a block, in the order of their blocks.
pub(crate) struct Near {
    pub(crate) cells: Vec<UVec3>,
    /// Index of the block of every coarse cell, or [`PLAIN`].
    pub(crate) numbers: Vec<u32>,
    /// Largest error in cells without a block \[m\].
    pub(crate) plain_error: f64,
}

impl Near {
    /// Returns the range of the blocks in a layer of coarse cells.
    pub(super) fn layer(&self, z: u32) -> Range<usize> {
        let first = self.cells.partition_point(|cell| cell.z < z);
        first..self.cells.partition_point(|cell| cell.z <= z)
    }

    /// Returns the index of the block of a coarse cell. `cells` is the number of coarse cells along
    /// each axis.
    pub(crate) fn number(&self, cells: UVec3, cell: UVec3) -> Option<u32> {
        let inside = cell.cmplt(cells).all();
        let number = inside.then(|| self.numbers[place_index(cells, cell)]);
        number.filter(|&number| number != PLAIN)
    }

    /// Returns the number of nodes that the block of a coarse cell searches along each axis: its
    /// own, and the last one where no block follows.
    pub(super) fn searched(&self, cells: UVec3, cell: UVec3) -> UVec3 {
        let along = |axis: UVec3| CELLS + u32::from(self.number(cells, cell + axis).is_none());
        UVec3::new(along(UVec3::X), along(UVec3::Y), along(UVec3::Z))
    }
}

/// Error of a block besides that of its own values.
pub(crate) struct BandError {
    /// Half the diagonal of a fine cell \[m\].
    pub(crate) half_diagonal: f64,
    /// Rounding error \[m\].
    pub(crate) rounding: f64,
}
