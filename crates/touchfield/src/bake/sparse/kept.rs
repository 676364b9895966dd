//! Reuse of blocks of a band that a local change of the mesh does not affect.

use crate::bake::distance::kept::{SignsBefore, is_apart};
use crate::bake::packing::CELLS;
use crate::bake::packing::rounding_of;
use crate::bake::sign::plan::SignPlan;
use crate::bake::sparse::near::{BandError, Near};
use crate::field::{Field, GridLayout, PLAIN, SparseBlock, SparseBlocks, SparseValues};
use crate::geom::{DAabb, corner, place_index, places};
use glam::UVec3;

/// Returns the error of storing the values of a block in steps \[m\].
pub(crate) fn lost_by_steps(field: &SparseBlocks, block: &SparseBlock) -> f32 {
    match field.parts().values {
        SparseValues::Bits32(_) => 0.0,
        _ => 0.5 * block.step,
    }
}

/// The earlier field, its signs and the change.
pub(crate) struct KeptBlocks<'a> {
    pub(crate) field: &'a SparseBlocks,
    pub(crate) signs: SignsBefore<'a>,
    pub(crate) conservative: bool,
    pub(crate) changed: DAabb,
}

impl<'a> KeptBlocks<'a> {
    /// Returns whether blocks that the change does not affect would be the same in a new bake. They
    /// would not in a converted field, whose grid has cells beyond its bounds.
    pub(crate) fn can_stay(&self, plan: &SignPlan) -> bool {
        let is_whole = self.field.bounds() == self.field.layout().bounds();
        is_whole && self.signs.stay(plan)
    }

    /// Returns the values that the blocks refer to.
    pub(crate) fn values(&self) -> &'a SparseValues {
        &self.field.parts().values
    }

    /// Returns whether exactly the same coarse cells have blocks now, apart from those that the
    /// change affects. If not, the band had another width.
    pub(crate) fn is_as_wide(&self, near: &Near) -> bool {
        let cells = self.field.layout().cells();
        places(UVec3::ZERO, cells - 1).all(|cell| {
            self.was_near(cell) == near.number(cells, cell).is_some() || {
                let layout = self.field.layout();
                let [low, high] = [cell, cell + 1].map(|node| layout.node_position(node));
                let values = (0..8).map(|i| self.coarse_value(corner(cell, i)).abs());
                let farthest = values.fold(0.0, f32::max);
                let lowered = self.field.parts().plain_error;
                let everywhere = f64::from(farthest) + f64::from(lowered) + low.distance(high);
                !is_apart(self.changed, 0.5 * (low + high), everywhere)
            }
        })
    }

    fn was_near(&self, cell: UVec3) -> bool {
        let parts = self.field.parts();
        parts.cells[place_index(self.field.layout().cells(), cell)] != PLAIN
    }

    fn coarse_value(&self, node: UVec3) -> f32 {
        self.field.parts().nodes[self.field.layout().node_index(node)]
    }

    /// Returns the block of a coarse cell, if it has one that can be reused: it comes from a bake,
    /// and the change affects neither its nodes nor anything within a cell of them.
    pub(crate) fn block(
        &self,
        fine: &GridLayout,
        cell: UVec3,
        error: &BandError,
    ) -> Option<&'a SparseBlock> {
        let parts = self.field.parts();
        let number = parts.cells[place_index(self.field.layout().cells(), cell)];
        let block = parts.blocks.get(number as usize)?;
        let largest = self.largest_of(block);
        let is_as_it_was = self.is_of_exact_nodes(block, largest, error)
            && !self.is_concerned(fine, cell, block, largest);
        is_as_it_was.then_some(block)
    }

    /// Returns the largest magnitude of a distance that a block can hold \[m\].
    fn largest_of(&self, block: &SparseBlock) -> f32 {
        let steps = match self.values() {
            SparseValues::Bits8(_) => f32::from(u8::MAX),
            SparseValues::Bits16(_) => f32::from(u16::MAX),
            SparseValues::Bits32(_) => {
                let values = self.field.block_values(block);
                return values.into_iter().map(f32::abs).fold(0.0, f32::max);
            }
        };
        let highest = block.lowest + block.step * steps;
        block.lowest.abs().max(highest.abs())
    }

    /// Returns whether the change can affect a node of a block.
    fn is_concerned(
        &self,
        fine: &GridLayout,
        cell: UVec3,
        block: &SparseBlock,
        largest: f32,
    ) -> bool {
        if self.changed.is_empty() {
            return false;
        }
        let [first, last] = [cell * CELLS, (cell + 1) * CELLS];
        let [low, high] = [first, last].map(|node| fine.node_position(node));
        // The middle of a piece of nodes is at most half a diagonal from one of them, and so may be
        // farther from the surface and nearer to the change by that much.
        let error = f64::from(block.error) + 3f64.sqrt() * f64::from(fine.cell_size);
        let everywhere = f64::from(largest) + error + 0.5 * low.distance(high);
        if is_apart(self.changed, 0.5 * (low + high), everywhere) {
            return false;
        }
        let values = self.field.block_values(block);
        places(first, last).zip(values).any(|(node, value)| {
            let farthest = f64::from(value.abs()) + error;
            !is_apart(self.changed, fine.node_position(node), farthest)
        })
    }

    /// Returns whether the nodes of a block are searched in the same pieces as before. A piece ends
    /// at the next block, if there is one, and the blocks that follow provide its border.
    pub(crate) fn is_searched_alike(&self, near: &Near, cell: UVec3) -> bool {
        let cells = self.field.layout().cells();
        places(cell, (cell + 2).min(cells - 1))
            .all(|cell| self.was_near(cell) == near.number(cells, cell).is_some())
    }

    /// Returns whether the error of a block is that of exact node distances. The blocks of a
    /// converted field have another error.
    fn is_of_exact_nodes(&self, block: &SparseBlock, largest: f32, error: &BandError) -> bool {
        /// Relative margin: larger than the effect of decoding, and of lowering by the error, on
        /// the rounding of the largest value.
        const MARGIN: f64 = 1e-5;
        let lost = f64::from(lost_by_steps(self.field, block));
        let once = error.half_diagonal + lost + error.rounding + rounding_of(largest.into());
        let expected = if self.conservative { 2.0 * once } else { once };
        (f64::from(block.error) / expected - 1.0).abs() < MARGIN
    }
}
