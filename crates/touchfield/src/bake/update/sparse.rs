//! Updates a band of blocks after its mesh changed within a box: the same bits as a new bake, for
//! the work of the blocks that the change can affect.
//!
//! Input: the sparse field before, the mesh after, a box that holds every added, removed or moved
//! face, whole.
//! Output: the result of [`bake_sparse_on`](crate::bake::sparse::bake::bake_sparse_on) for the new
//! mesh on the same grid.
//! Cost: the coarse nodes of a bake, and the blocks near the change; the others are copied.
//! Not for: fields baked to a tolerance, whose proofs use faces as far away as the medial axis.
//!
//! A node keeps its distance if that is less than the distance to the box (`dense.rs`). Stored
//! values give the distance only to the error of their block, which is added to it. Within the
//! band, the stored values of a block follow from the distances of its nodes alone. Beyond, the
//! nearest face is chosen in `f32` or in `f64`, which differ by a rounding. Which of the two
//! depends on the piece of nodes that was searched together: on its extent, its middle and all of
//! its nodes; and a block takes its border from the pieces of the blocks that follow it. So a block
//! is unchanged, bit for bit, if the change affects neither it nor those that follow it, and these
//! are the same ones as before.

use crate::bake::sparse::kept::KeptBlocks;
use crate::bake::sparse::kept::lost_by_steps;
use std::ops::ControlFlow;

use crate::bake::convert::settings::CONVERTED;
use crate::bake::distance::kept::SignsBefore;
use crate::bake::packing::Bits;
use crate::bake::packing::{CELLS, CELLS_LOG2};
use crate::bake::progress::Step;
use crate::bake::settings::BakeSettings;
use crate::bake::sparse::bake::{Source, SparseGoal, SparseSettings, bake_sparse_from};
use crate::bake::update::dense::{Moved, Rebaked, check_change};
use crate::bake::update::error::UpdateError;
use crate::field::{PLAIN, Provenance, SparseBlock, SparseBlocks, SparseValues};
use crate::geom::DAabb;
use crate::mesh::TriangleMesh;
use glam::DVec3;

/// A sparse field as it was before its mesh changed.
#[derive(Clone, Copy, Debug)]
pub struct SparseBefore<'a> {
    /// Band baked with the same [`BakeSettings::sign`] and the same width as are used now.
    pub field: &'a SparseBlocks,
    /// Provenance stored with the field.
    pub provenance: &'a Provenance,
    /// Mesh that the field was baked from. If given, the update checks that nothing else changed.
    /// If `None`, that is assumed, and nothing is reused for a mesh that crosses itself.
    pub mesh: Option<&'a TriangleMesh>,
}

impl SparseBefore<'_> {
    /// Returns the storage size of its values.
    fn bits(&self) -> Bits {
        match &self.field.parts().values {
            SparseValues::Bits8(_) => Bits::Eight,
            SparseValues::Bits16(_) => Bits::Sixteen,
            SparseValues::Bits32(_) => Bits::ThirtyTwo,
        }
    }
}

/// Bakes a mesh that differs from that of `before` only within `changed` into a band of `width`
/// cells, on the same grid.
///
/// Apart from the time it took, the result is bit for bit that of
/// [`bake_sparse_on`](crate::bake::sparse::bake::bake_sparse_on). [`BakeSettings::resolution`] and
/// [`BakeSettings::padding`] are not used.
///
/// `changed` must hold every added, removed or moved face, whole, as it was and as it is: see
/// [`changed_box`](crate::bake::update::dense::changed_box).
pub fn rebake_sparse(
    before: &SparseBefore<'_>,
    mesh: &TriangleMesh,
    changed: DAabb,
    width: f64,
    settings: &BakeSettings,
    progress: &(dyn Fn(Step) -> ControlFlow<()> + Sync),
) -> Result<Rebaked<SparseBlocks>, UpdateError> {
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
        return Err(UpdateError::NeedsBand);
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
    let (baked, computed) = bake_sparse_from(
        mesh,
        layout,
        settings,
        &sparse,
        Source::Kept(&kept),
        progress,
    )?;
    Ok(Rebaked {
        baked,
        recomputed: computed * (CELLS as usize + 1).pow(3),
    })
}

/// Returns whether a field is a band as it was baked: blocks of eight cells per side, without
/// nested blocks, and with errors of half a diagonal.
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
