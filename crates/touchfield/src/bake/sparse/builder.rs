//! Shared parts of the sparse bakes: the coarse grid, values of nodes, and the memory limit.
//!
//! Input: a closed mesh with its exact distances, and the coarse grid.
//! Output: values and nearest faces at nodes, from which `band.rs` and `tolerance.rs` build blocks.
//! Cost: a few microseconds per stored value. No dense grid is ever made.
//! Not for: surfaces with holes, beside which the field is not a distance; see `bake.rs`.

use crate::bake::packing::Bits;
use std::sync::atomic::{AtomicU64, Ordering};

use glam::UVec3;

use crate::bake::blocks::{Piece, for_each_layer};
use crate::bake::distance::exact_bvh::fill_piece;
use crate::bake::distance::nodes::{Wanted, signed};
use crate::bake::distance::proposals::{Filled, Proposals};
use crate::bake::distance::settle_signs::settle_signs;
use crate::bake::error::BakeError;
use crate::bake::exact_distance::ExactDistance;
use crate::bake::progress::{Progress, Stage};
use crate::bake::sparse::cell_error::{Cell, CellProver};
use crate::bake::sparse::error::SparseBakeError;
use crate::bake::sparse::kept::KeptBlocks;
use crate::field::{GridLayout, SparseBlock};
use crate::geom::{corner, place_index};
use crate::threads;

/// State of a sparse bake.
pub(crate) struct Builder<'a> {
    pub(crate) exact: &'a ExactDistance,
    pub(crate) prover: CellProver<'a>,
    pub(crate) layout: GridLayout,
    pub(crate) bits: Bits,
    pub(crate) conservative: bool,
    /// Blocks of an earlier bake that may be reused.
    pub(crate) kept: Option<&'a KeptBlocks<'a>>,
    /// A search elsewhere for the nodes of bands.
    pub(crate) proposals: Option<Proposals<'a>>,
    /// Rounding error of the grid \[m\].
    pub(crate) rounding: f64,
    /// Memory limit \[bytes\].
    pub(crate) max_memory: u64,
    /// Memory of the coarse grid and all blocks so far \[bytes\].
    pub(crate) stored: AtomicU64,
    /// Rows of coarse cells finished so far.
    pub(crate) done: AtomicU64,
}

/// Values and nearest faces of the coarse nodes.
pub(crate) struct Coarse {
    pub(crate) values: Vec<f32>,
    pub(crate) faces: Vec<u32>,
}

impl Builder<'_> {
    /// Computes exact distances and nearest faces of the coarse nodes.
    pub(crate) fn coarse(&self, progress: Progress<'_>) -> Result<Coarse, SparseBakeError> {
        let layout = &self.layout;
        self.count(0, 1.0)?;
        let mut values = vec![0.0; layout.node_count() as usize];
        let layers = for_each_layer(layout, &mut values, Stage::Preparing, progress, |piece| {
            let mut faces = vec![0; piece.values.len()];
            self.fill(piece, f64::INFINITY, &mut faces);
            faces
        });
        let faces = layers.ok_or(BakeError::Cancelled)?.concat();
        Ok(Coarse { values, faces })
    }

    /// Computes signed distances of a box of nodes, and their nearest faces unless `faces` is
    /// empty. Exact within `exact_within` of the surface.
    pub(crate) fn fill(&self, mut piece: Piece<'_>, exact_within: f64, faces: &mut [u32]) {
        let unclear = self.fill_distances(piece.reborrow(), exact_within, faces);
        self.settle(piece, &unclear);
    }

    /// Computes signed distances of pieces of nodes by the search elsewhere.
    pub(crate) fn fill_proposed(
        &self,
        proposals: &Proposals<'_>,
        layout: &GridLayout,
        pieces: &mut [Filled<'_>],
    ) -> Result<(), BakeError> {
        let found = proposals.fill(layout, pieces).ok_or(BakeError::Cancelled)?;
        let mut both: Vec<_> = pieces.iter_mut().zip(found).collect();
        threads::map_pieces(&mut both, 1, |_, both| {
            for (filled, found) in both {
                self.settle(filled.piece.reborrow(), &found.unclear);
            }
        });
        Ok(())
    }

    /// Computes signed distances of the nodes of a cell that is refined, like [`Self::fill`]. The
    /// corners of the cell are known, and give most other nodes their sign where no face determines
    /// it.
    pub(crate) fn fill_cell(&self, mut piece: Piece<'_>, cell: &Cell, faces: &mut [u32]) {
        let mut unclear = self.fill_distances(piece.reborrow(), f64::INFINITY, faces);
        let last = piece.size - UVec3::ONE;
        unclear.retain(|&node| {
            let is_last = (node - piece.first).cmpeq(last);
            let is_corner = (is_last | node.cmpeq(piece.first)).all();
            if is_corner {
                let value = &mut piece.values[piece.slot(node)];
                *value = signed(value.abs(), cell.values[is_last.bitmask() as usize] < 0.0);
            }
            !is_corner
        });
        self.settle(piece, &unclear);
    }

    /// Computes distances, and returns the nodes whose sign is not known yet.
    fn fill_distances(&self, piece: Piece<'_>, exact_within: f64, faces: &mut [u32]) -> Vec<UVec3> {
        let wanted = Wanted {
            exact_within,
            far_error: self.far_error(),
            ..Wanted::all(Some(self.prover.patches))
        };
        fill_piece(self.prover.bvh, wanted, piece, faces).unclear
    }

    pub(crate) fn settle(&self, mut piece: Piece<'_>, unclear: &[UVec3]) {
        if unclear.is_empty() {
            return;
        }
        let layout = piece.layout;
        let ask = |node| self.exact.plan().by_winding(layout.node_position(node));
        let (error, bvh) = (self.node_error(), self.prover.bvh);
        settle_signs(&mut piece, unclear, error, bvh, ask, |sign| sign.inside);
    }

    pub(crate) fn coarse_cell(&self, coarse: &Coarse, node: UVec3) -> Cell {
        let nodes = Nodes {
            layout: &self.layout,
            first: UVec3::ZERO,
            size: self.layout.nodes,
            values: &coarse.values,
            faces: &coarse.faces,
        };
        nodes.cell(node)
    }

    /// Counts bytes that blocks take from now on. `share` is the part of all blocks counted so far,
    /// for the estimate in the error.
    pub(crate) fn count(&self, bytes: u64, share: f64) -> Result<(), SparseBakeError> {
        let stored = bytes + self.stored.fetch_add(bytes, Ordering::Relaxed);
        if stored <= self.max_memory {
            return Ok(());
        }
        Err(SparseBakeError::TooMuchMemory {
            needed: (stored as f64 / share.min(1.0)) as u64,
            allowed: self.max_memory,
        })
    }

    /// Returns the error of nodes that need not be exact \[m\].
    pub(crate) fn far_error(&self) -> f64 {
        let extent = self.layout.bounds().extents().length();
        self.prover.bvh.far_error(extent.into())
    }

    /// Returns the error of the nodes of a band \[m\].
    pub(crate) fn node_error(&self) -> f64 {
        let promised = self
            .proposals
            .as_ref()
            .map_or(0.0, |proposals| proposals.error);
        self.far_error().max(promised)
    }

    /// Returns the memory of a block with `cells` cells per side \[bytes\].
    pub(crate) fn block_bytes(&self, cells: u32) -> u64 {
        size_of::<SparseBlock>() as u64 + u64::from(cells + 1).pow(3) * self.bits.bytes()
    }
}

/// Returns a grid over the same cells, each split `cells` times along each axis.
pub(crate) fn finer(layout: &GridLayout, cells: u32) -> GridLayout {
    GridLayout {
        cell_size: layout.cell_size / cells as f32,
        nodes: layout.cells() * cells + UVec3::ONE,
        ..*layout
    }
}

/// A box of filled nodes, x fastest.
pub(crate) struct Nodes<'a> {
    pub(crate) layout: &'a GridLayout,
    pub(crate) first: UVec3,
    pub(crate) size: UVec3,
    pub(crate) values: &'a [f32],
    pub(crate) faces: &'a [u32],
}

impl Nodes<'_> {
    /// Returns the cell whose lowest corner is `node`, counted from the first node of the box.
    pub(crate) fn cell(&self, node: UVec3) -> Cell {
        let slots: [usize; 8] = std::array::from_fn(|i| place_index(self.size, corner(node, i)));
        Cell {
            low: self.layout.node_position(self.first + node),
            size: self.layout.cell_size.into(),
            values: slots.map(|slot| self.values[slot].into()),
            faces: slots.map(|slot| self.faces[slot]),
        }
    }
}
