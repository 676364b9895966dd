//! A band of blocks after its mesh changed within a box: the same bits as baking anew, for the work of the blocks that the change can concern.
//!
//! Input: the sparse field before, the mesh after, a box that holds every face that came, went or moved, whole.
//! Output: what [`bake_sparse_on`](super::bake_sparse_on) gives for the mesh after on the same grid.
//! Cost: the coarse nodes of a bake, and the blocks near the change; the others are copied.
//! Not for: fields made for a tolerance, whose proofs look at faces as far away as the medial axis.
//!
//! A node keeps its distance if that is less than the way to the box (`rebake.rs`). Stored values do not tell it exactly, but to the error of their block,
//! which is added to it. What is stored of a block follows from the distances of its nodes and, by how `f32` rounds, from which of the next coarse cells have blocks;
//! so a block for which neither changed is as it was, bit for bit.

use std::ops::ControlFlow;

use glam::UVec3;

use super::bake::BakeError;
use super::rebake::{SignsBefore, check_change, is_apart};
use super::settings::{BakeSettings, Step};
use super::sign::SignPlan;
use super::sparse::{
    BakedSparse, Bits, SparseGoal, SparseSettings, bake_sparse_keeping, rounding_of,
};
use super::sparse_band::{BandError, CELLS, CELLS_LOG2, Near};
use crate::field::{Field, GridLayout, PLAIN, Provenance, SparseBlock, SparseBlocks, SparseValues};
use crate::geom::{DAabb, place_index, places};
use crate::mesh::TriangleMesh;

/// A sparse field as it was before its mesh changed.
#[derive(Clone, Copy, Debug)]
pub struct SparseBefore<'a> {
    /// A band, baked with the same [`BakeSettings::sign`] and the same width as are used now.
    pub field: &'a SparseBlocks,
    /// What was stored with it.
    pub provenance: &'a Provenance,
    /// The mesh it was baked from. If given, it is checked that nothing else changed; else that is trusted, and nothing is kept of a mesh that crosses itself.
    pub mesh: Option<&'a TriangleMesh>,
}

impl SparseBefore<'_> {
    /// Bits of its values.
    fn bits(&self) -> Bits {
        match &self.field.parts().values {
            SparseValues::Bits8(_) => Bits::Eight,
            SparseValues::Bits16(_) => Bits::Sixteen,
            SparseValues::Bits32(_) => Bits::ThirtyTwo,
        }
    }
}

/// A sparse field after its mesh changed.
#[derive(Clone, Debug, PartialEq)]
pub struct RebakedSparse {
    /// The field, and all that is known of it.
    pub baked: BakedSparse,
    /// Values of blocks that were computed; those of the others were copied.
    pub recomputed: usize,
}

/// Bakes a mesh that differs from that of `before` only within `changed` into a band of `width` cells, on the same grid. The result is, bit for bit, that of
/// [`bake_sparse_on`](super::bake_sparse_on), but for the time it took. [`BakeSettings::resolution`] and [`BakeSettings::padding`] are not used.
///
/// `changed` must hold every face that came, went or moved, whole, as it was and as it is: see [`changed_box`](super::changed_box).
pub fn rebake_sparse(
    before: &SparseBefore<'_>,
    mesh: &TriangleMesh,
    changed: DAabb,
    width: f64,
    settings: &BakeSettings,
    progress: &(dyn Fn(Step) -> ControlFlow<()> + Sync),
) -> Result<RebakedSparse, BakeError> {
    check_change(before.mesh, mesh, changed, settings)?;
    let is_of_a_band =
        |block: &SparseBlock| block.cells_log2 == CELLS_LOG2 && block.children == PLAIN;
    if !before.field.parts().blocks.iter().all(is_of_a_band) {
        return Err(BakeError::UpdateNeedsBand);
    }
    let kept = KeptBlocks {
        field: before.field,
        signs: SignsBefore::new(before.provenance.sign_method, settings.sign, before.mesh),
        conservative: before.provenance.conservative,
        changed,
    };
    let sparse = SparseSettings {
        goal: SparseGoal::Band(width),
        bits: before.bits(),
        conservative: kept.conservative,
    };
    let layout = *before.field.layout();
    let (baked, computed) =
        bake_sparse_keeping(mesh, layout, settings, &sparse, Some(&kept), progress)?;
    Ok(RebakedSparse {
        baked,
        recomputed: computed * (CELLS as usize + 1).pow(3),
    })
}

/// What is known from before.
pub(super) struct KeptBlocks<'a> {
    field: &'a SparseBlocks,
    signs: SignsBefore<'a>,
    conservative: bool,
    changed: DAabb,
}

impl<'a> KeptBlocks<'a> {
    /// Whether blocks that the change does not concern are as they would be found now. Conversions have cells beyond their bounds.
    pub(super) fn can_stay(&self, plan: &SignPlan) -> bool {
        let is_whole = self.field.bounds() == self.field.layout().bounds();
        is_whole && self.signs.stay(plan)
    }

    /// What blocks refer to.
    pub(super) fn values(&self) -> &'a SparseValues {
        &self.field.parts().values
    }

    /// The block of a coarse cell, if there is one, it is one of a bake, and the change does not concern it.
    pub(super) fn block(
        &self,
        fine: &GridLayout,
        near: &Near,
        cell: UVec3,
        error: &BandError,
    ) -> Option<&'a SparseBlock> {
        if !self.is_searched_alike(near, cell) {
            return None;
        }
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
        let error = f64::from(block.error);
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

    /// Whether the nodes of a block are searched in the same pieces as before, which decide how `f32` rounds those beyond the band: pieces reach to the next block, if there is one,
    /// and what follows a block lends it its border.
    fn is_searched_alike(&self, near: &Near, cell: UVec3) -> bool {
        let (cells, before) = (self.field.layout().cells(), &self.field.parts().cells);
        places(cell, (cell + 2).min(cells - 1)).all(|cell| {
            let was_near = before[place_index(cells, cell)] != PLAIN;
            was_near == near.number(cells, cell).is_some()
        })
    }

    /// Whether its error is that of a block of exact distances: that of a block of a conversion is another.
    fn is_of_exact_nodes(&self, block: &SparseBlock, largest: f32, error: &BandError) -> bool {
        /// More than decoding, and lowering by the error, change what is rounded off the largest value.
        const MARGIN: f64 = 1e-5;
        let lost = match self.values() {
            SparseValues::Bits32(_) => 0.0,
            _ => 0.5 * f64::from(block.step),
        };
        let once = error.half_diagonal + lost + error.rounding + rounding_of(largest.into());
        let expected = if self.conservative { 2.0 * once } else { once };
        (f64::from(block.error) / expected - 1.0).abs() < MARGIN
    }
}
