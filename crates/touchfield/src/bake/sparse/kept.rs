//! Blocks of a band that a local change of the mesh does not concern.

use crate::bake::distance::kept::{SignsBefore, is_apart};
use crate::bake::packing::CELLS;
use crate::bake::packing::rounding_of;
use crate::bake::sign::plan::SignPlan;
use crate::bake::sparse::near::{BandError, Near};
use crate::field::{Field, GridLayout, PLAIN, SparseBlock, SparseBlocks, SparseValues};
use crate::geom::{DAabb, corner, place_index, places};
use glam::UVec3;

/// What storing the values of a block in steps takes from them \[m\].
pub(crate) fn lost_by_steps(field: &SparseBlocks, block: &SparseBlock) -> f32 {
    match field.parts().values {
        SparseValues::Bits32(_) => 0.0,
        _ => 0.5 * block.step,
    }
}

/// What is known from before.
pub(crate) struct KeptBlocks<'a> {
    pub(crate) field: &'a SparseBlocks,
    pub(crate) signs: SignsBefore<'a>,
    pub(crate) conservative: bool,
    pub(crate) changed: DAabb,
}

impl<'a> KeptBlocks<'a> {
    /// Whether blocks that the change does not concern are as they would be found now. Conversions have cells beyond their bounds.
    pub(crate) fn can_stay(&self, plan: &SignPlan) -> bool {
        let is_whole = self.field.bounds() == self.field.layout().bounds();
        is_whole && self.signs.stay(plan)
    }

    /// What blocks refer to.
    pub(crate) fn values(&self) -> &'a SparseValues {
        &self.field.parts().values
    }

    /// Whether coarse cells that the change does not concern have blocks now where they had them before: else the band was of another width.
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

    /// The block of a coarse cell, if there is one, it is one of a bake, and the change concerns neither its nodes nor anything within a cell of them.
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

    /// The largest distance that a block can hold, without its sign \[m\].
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

    /// Whether the change can concern a node of a block.
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
        // The middle of a piece of nodes lies between them, at most half a diagonal from one, and so may be as much farther from the surface and nearer to the change.
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

    /// Whether the nodes of a block are searched in the same pieces as before: these reach to the next block, if there is one, and what follows a block lends it its border.
    pub(crate) fn is_searched_alike(&self, near: &Near, cell: UVec3) -> bool {
        let cells = self.field.layout().cells();
        places(cell, (cell + 2).min(cells - 1))
            .all(|cell| self.was_near(cell) == near.number(cells, cell).is_some())
    }

    /// Whether its error is that of a block of exact distances: that of a block of a conversion is another.
    fn is_of_exact_nodes(&self, block: &SparseBlock, largest: f32, error: &BandError) -> bool {
        /// More than decoding, and lowering by the error, change what is rounded off the largest value.
        const MARGIN: f64 = 1e-5;
        let lost = f64::from(lost_by_steps(self.field, block));
        let once = error.half_diagonal + lost + error.rounding + rounding_of(largest.into());
        let expected = if self.conservative { 2.0 * once } else { once };
        (f64::from(block.error) / expected - 1.0).abs() < MARGIN
    }
}
