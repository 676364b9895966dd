//! A band of blocks after its mesh changed within a box: the same bits as baking anew, for the work of the blocks that the change can concern.
//!
//! Input: the sparse field before, the mesh after, a box that holds every face that came, went or moved, whole.
//! Output: what [`bake_sparse_on`](super::bake_sparse_on) gives for the mesh after on the same grid.
//! Cost: the coarse nodes of a bake, and the blocks near the change; the others are copied.
//! Not for: fields made for a tolerance, whose proofs look at faces as far away as the medial axis.
//!
//! A node keeps its distance if that is less than the way to the box (`rebake.rs`). Stored values do not tell it exactly, but to the error of their block,
//! which is added to it. What is stored of a block follows from the distances of its nodes alone within the band. Beyond, whether `f32` or `f64` decides a distance, which are off by a rounding,
//! hangs on the piece of nodes it was searched in: on its extent, its middle and all of its nodes; and a block takes its border from the pieces of the blocks that follow it. So
//! a block is as it was, bit for bit, if the change concerns neither it nor those that follow it, and these are the same ones as before.

use std::ops::ControlFlow;

use glam::{DVec3, UVec3};

use super::bake::BakeError;
use super::convert::CONVERTED;
use super::rebake::{Moved, SignsBefore, check_change, is_apart};
use super::settings::{BakeSettings, Step};
use super::sign::SignPlan;
use super::sparse::{
    BakedSparse, Bits, SparseGoal, SparseSettings, bake_sparse_keeping, rounding_of,
};
use super::sparse_band::{BandError, CELLS, CELLS_LOG2, Near};
use crate::field::{Field, GridLayout, PLAIN, Provenance, SparseBlock, SparseBlocks, SparseValues};
use crate::geom::{DAabb, corner, place_index, places};
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
    /// Values of blocks that were made anew; those of the others were copied.
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
    if before.provenance.origin != DVec3::ZERO {
        let near = Moved::of(before.provenance, before.mesh, mesh, changed);
        let before = SparseBefore {
            field: before.field,
            provenance: &near.provenance,
            mesh: near.before.as_ref(),
        };
        let mut rebaked =
            rebake_sparse(&before, &near.mesh, near.changed, width, settings, progress)?;
        rebaked.baked.provenance.origin = near.origin;
        return Ok(rebaked);
    }
    check_change(before.mesh, mesh, changed, settings)?;
    if !is_baked_band(before.field, before.provenance) {
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

/// Whether a field is a band as it was baked: blocks of eight cells a side, without others in them, and their errors half a diagonal.
fn is_baked_band(field: &SparseBlocks, provenance: &Provenance) -> bool {
    let fine_cell = field.layout().cell_size / CELLS as f32;
    let half_diagonal = 0.5 * 3f32.sqrt() * fine_cell;
    let lowered = if provenance.conservative { 2.0 } else { 1.0 };
    let is_of_a_band = |block: &SparseBlock| {
        let ratio = block.error / (lowered * (half_diagonal + lost_by_steps(field, block)));
        let is_plain = block.cells_log2 == CELLS_LOG2 && block.children == PLAIN;
        is_plain && (0.99..1.1).contains(&ratio)
    };
    let blocks = &field.parts().blocks;
    let is_converted = |note: &String| note.starts_with(CONVERTED);
    !blocks.is_empty()
        && blocks.iter().all(is_of_a_band)
        && !provenance.notes.iter().any(is_converted)
}

/// What storing the values of a block in steps takes from them \[m\].
fn lost_by_steps(field: &SparseBlocks, block: &SparseBlock) -> f32 {
    match field.parts().values {
        SparseValues::Bits32(_) => 0.0,
        _ => 0.5 * block.step,
    }
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

    /// Whether coarse cells that the change does not concern have blocks now where they had them before: else the band was of another width.
    pub(super) fn is_as_wide(&self, near: &Near) -> bool {
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
    pub(super) fn block(
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
    pub(super) fn is_searched_alike(&self, near: &Near, cell: UVec3) -> bool {
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
