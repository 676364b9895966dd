//! Sparse bake of a band: blocks of eight cells per side wherever the surface is near.
//!
//! Input: the coarse grid, the width of the band.
//! Output: a block for every coarse cell that the band reaches. Its nodes are exact within the
//! band; beyond, they are off by the rounding of `f32`, which is part of their error.
//! Cost: a part of a microsecond per node; beside the field, memory for the nodes of two layers of
//! blocks.
//! Not for: a prescribed error; see `tolerance.rs`.
//!
//! Blocks share their borders, and nearly every node is searched once: a block owns all nodes but
//! the last of each row, which is the first of the next block and is copied from there. Where there
//! is no next block, it searches that node too, together with its own.

use crate::bake::packing::CELLS;
use crate::bake::packing::CELLS_LOG2;
use crate::bake::sparse::near::BandError;
use crate::bake::sparse::near::Near;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use glam::{DVec3, UVec3};

use crate::bake::blocks::Piece;
use crate::bake::check;
use crate::bake::distance::proposals::Filled;
use crate::bake::packing::{Built, lower_blocks, rounding_of};
use crate::bake::progress::{Progress, Stage, tell};
use crate::bake::sparse::builder::{Builder, Coarse, finer};
use crate::bake::sparse::cell_error::Cell;
use crate::bake::sparse::error::SparseBakeError;
use crate::field::{GridLayout, PLAIN, SparseBlock};
use crate::geom::{corner, place_index, places};
use crate::threads;

/// Number of nodes in a block.
const NODES: usize = ((CELLS + 1) * (CELLS + 1) * (CELLS + 1)) as usize;

/// Number of blocks that one thread assembles at a time.
const TOGETHER: usize = 16;

/// Decisions per block: whether it is kept, and whether its nodes are searched.
struct Fates<'a> {
    /// The old block, where it is kept.
    kept: Vec<Option<&'a SparseBlock>>,
    /// Whether its nodes are searched: for itself, or for neighbours that are not kept.
    searched: Vec<bool>,
}

/// The grid of the nodes of the blocks.
struct Fine {
    layout: GridLayout,
    /// Distance from the surface within which the nodes are exact \[m\].
    exact_within: f64,
}

/// Nodes searched by the blocks of one layer.
struct Layer {
    /// Index of its first block.
    first: usize,
    /// [`NODES`] entries for each block; those it [searched](Near::searched) are at the beginning.
    values: Vec<f32>,
}

impl Layer {
    /// Returns the nodes of a block, if it is in this layer.
    fn of(&self, number: u32) -> Option<&[f32]> {
        let start = (number as usize).checked_sub(self.first)? * NODES;
        self.values.get(start..start + NODES)
    }
}

impl Builder<'_> {
    /// Builds a block for every coarse cell that is within `width` fine cells of the surface.
    pub(crate) fn band(
        &self,
        coarse: &Coarse,
        width: f64,
        progress: Progress<'_>,
    ) -> Result<Built, SparseBakeError> {
        let layout = finer(&self.layout, CELLS);
        let cell_size = f64::from(layout.cell_size);
        let half_diagonal = check::half_diagonal(&layout);
        let far_error = self.node_error();
        let rounding = self.rounding + far_error;
        // Choose the coarse cells that get a block, and the blocks that stay.
        let near = self.near(coarse, width * cell_size);
        let fine = Fine {
            layout,
            exact_within: width * cell_size + far_error,
        };
        let error = BandError {
            half_diagonal,
            rounding,
        };
        let fates = self.fates(&fine, &near, &error);
        let mut built = Built::new(self.bits);
        built.plain_error = near.plain_error;
        // Refuse early what takes too much memory: the blocks, and two layers at work.
        let layers = self.layout.cells().z;
        let largest_layer = (0..layers).map(|z| near.layer(z).len()).max().unwrap_or(0);
        let at_work = 2 * largest_layer * NODES * size_of::<f32>();
        let stored = near.cells.len() as u64 * self.block_bytes(CELLS);
        self.count(stored + at_work as u64, 1.0)?;
        // Assemble the blocks layer by layer, from the searched nodes of this layer and the next.
        let mut this = self.search(&fine, &near, &fates, 0)?;
        for z in 0..layers {
            tell(progress, Stage::Distances, z.into(), layers.into())?;
            let next = self.search(&fine, &near, &fates, z + 1)?;
            let count = this.values.len() / NODES;
            let parts = threads::map(count.div_ceil(TOGETHER), |part| {
                let mut built = Built::new(self.bits);
                let mut values = vec![0.0; NODES];
                for index in part * TOGETHER..count.min((part + 1) * TOGETHER) {
                    let number = this.first + index;
                    if let (Some(before), Some(block)) = (self.kept, fates.kept[number]) {
                        built.copy(block, before.values());
                        built.kept += 1;
                        continue;
                    }
                    let cell = near.cells[number];
                    self.all_nodes(&fine, &near, cell, [&this, &next], &mut values);
                    let block = built.push(CELLS_LOG2, &values, half_diagonal, rounding);
                    if self.conservative {
                        lower_blocks(&mut built.blocks[block as usize..], &mut built.values);
                    }
                }
                built
            });
            parts.into_iter().for_each(|part| built.append(part));
            this = next;
        }
        built.cells = near.numbers;
        Ok(built)
    }

    fn fates(&self, fine: &Fine, near: &Near, error: &BandError) -> Fates<'_> {
        let Some(before) = self.kept.filter(|before| before.is_as_wide(near)) else {
            return Fates {
                kept: vec![None; near.cells.len()],
                searched: vec![true; near.cells.len()],
            };
        };
        // A block takes its borders from the blocks that follow.
        let following = |cell: UVec3| {
            let cells = self.layout.cells();
            (1..8).filter_map(move |i| near.number(cells, corner(cell, i)))
        };
        let unconcerned = threads::map(near.cells.len(), |number| {
            before.block(&fine.layout, near.cells[number], error)
        });
        let kept: Vec<Option<&SparseBlock>> = (near.cells.iter().zip(&unconcerned))
            .map(|(&cell, block)| {
                let stays = before.is_searched_alike(near, cell)
                    && following(cell).all(|number| unconcerned[number as usize].is_some());
                block.filter(|_| stays)
            })
            .collect();
        let mut searched: Vec<bool> = kept.iter().map(Option::is_none).collect();
        for (&cell, _) in (near.cells.iter().zip(&kept)).filter(|(_, kept)| kept.is_none()) {
            following(cell).for_each(|number| searched[number as usize] = true);
        }
        Fates { kept, searched }
    }

    fn near(&self, coarse: &Coarse, width: f64) -> Near {
        let cells = self.layout.cells();
        // The bits of an `f64`, which sort like the numbers where these are not negative.
        let plain_error = AtomicU64::new(0);
        let rows = threads::map((cells.y * cells.z) as usize, |row| {
            let (y, z) = (row as u32 % cells.y, row as u32 / cells.y);
            let mut near = Vec::new();
            for x in 0..cells.x {
                let cell = self.coarse_cell(coarse, UVec3::new(x, y, z));
                if self.is_near(&cell, width) {
                    near.push(UVec3::new(x, y, z));
                } else {
                    // Only the largest error counts, so none has to be proven smaller than one
                    // already found.
                    let enough = f64::from_bits(plain_error.load(Ordering::Relaxed));
                    let rounding = self.rounding + rounding_of(cell.farthest());
                    let error = self.prover.prove_whole(&cell, enough - rounding) + rounding;
                    plain_error.fetch_max(error.to_bits(), Ordering::Relaxed);
                }
            }
            near
        });
        let near = rows.concat();
        let mut numbers = vec![PLAIN; cells.element_product() as usize];
        for (number, &cell) in near.iter().enumerate() {
            numbers[place_index(cells, cell)] = number as u32;
        }
        Near {
            cells: near,
            numbers,
            plain_error: f64::from_bits(plain_error.into_inner()),
        }
    }

    /// Returns whether the surface comes within `width` of a coarse cell. May return `true` when it
    /// narrowly misses that.
    fn is_near(&self, cell: &Cell, width: f64) -> bool {
        let nearest = cell.nearest();
        let diagonal = 3f64.sqrt() * cell.size;
        nearest <= width
            || nearest <= width + diagonal && {
                let middle = cell.low + DVec3::splat(0.5 * cell.size);
                self.is_part_near(middle, cell.size, width, &mut cell.faces[0].clone())
            }
    }

    /// Returns whether the surface comes within `width` of a cube around `middle`, which is a
    /// coarse cell or a part of one; see [`Self::is_near`]. `hint` is a face, ideally one that is
    /// near.
    fn is_part_near(&self, middle: DVec3, size: f64, width: f64, hint: &mut u32) -> bool {
        let nearest = self.exact.nearest(middle, *hint);
        *hint = nearest.face;
        let half_diagonal = 0.5 * 3f64.sqrt() * size;
        if nearest.distance_squared.sqrt() > width + half_diagonal {
            return false;
        }
        // Nearest to the middle, not to the cube; but mostly near enough.
        let beside = (nearest.closest.point - middle).abs() - DVec3::splat(0.5 * size);
        if beside.max(DVec3::ZERO).length() <= width {
            return true;
        }
        // Parts of one fine cell need no closer look.
        let smallest = 1.25 / f64::from(CELLS) * f64::from(self.layout.cell_size);
        size <= smallest
            || (0..8).any(|i| {
                let offset = corner(UVec3::ZERO, i).as_dvec3() - 0.5;
                self.is_part_near(middle + 0.5 * size * offset, 0.5 * size, width, hint)
            })
    }

    /// Searches the nodes that the blocks of a layer own, and those beside them that no block owns.
    /// Empty beyond the last layer.
    fn search(
        &self,
        fine: &Fine,
        near: &Near,
        fates: &Fates<'_>,
        z: u32,
    ) -> Result<Layer, SparseBakeError> {
        let Range { start: first, end } = near.layer(z);
        let mut values = vec![0.0; (end - first) * NODES];
        let is_searched = |index: usize| fates.searched[first + index];
        if let Some(proposals) = &self.proposals {
            let parts = values.chunks_mut(NODES).enumerate();
            let mut pieces: Vec<Filled<'_>> = parts
                .filter(|(index, _)| is_searched(*index))
                .map(|(index, values)| Filled {
                    piece: self.piece(fine, near, first + index, values),
                    faces: &mut [],
                })
                .collect();
            self.fill_proposed(proposals, &fine.layout, &mut pieces)?;
        } else {
            threads::map_pieces(&mut values, NODES, |index, values| {
                if is_searched(index) {
                    self.fill(
                        self.piece(fine, near, first + index, values),
                        fine.exact_within,
                        &mut [],
                    );
                }
            });
        }
        Ok(Layer { first, values })
    }

    /// Returns the nodes that a block searches, as a piece.
    fn piece<'a>(
        &self,
        fine: &'a Fine,
        near: &Near,
        number: usize,
        values: &'a mut [f32],
    ) -> Piece<'a> {
        let cell = near.cells[number];
        let size = near.searched(self.layout.cells(), cell);
        Piece {
            layout: &fine.layout,
            first: cell * CELLS,
            size,
            // One search for the whole piece.
            side: CELLS + 1,
            values: &mut values[..size.element_product() as usize],
        }
    }

    /// Writes all nodes of the block of a cell: its own, those of its neighbours, and those that no
    /// block owns.
    fn all_nodes(
        &self,
        fine: &Fine,
        near: &Near,
        cell: UVec3,
        layers: [&Layer; 2],
        all: &mut [f32],
    ) {
        let cells = self.layout.cells();
        let of_block = |cell: UVec3| {
            let number = near.number(cells, cell)?;
            let values = layers.into_iter().find_map(|layer| layer.of(number))?;
            Some((values, near.searched(cells, cell)))
        };
        for i in 0..8 {
            let offset = corner(UVec3::ZERO, i);
            // Of a neighbour, only the first nodes along the axis that leads there.
            let size = UVec3::select(offset.cmpeq(UVec3::ZERO), UVec3::splat(CELLS), UVec3::ONE);
            let mut beside = Vec::new();
            let of_neighbour =
                of_block(cell + offset).map(|(from, stored)| (from, stored, UVec3::ZERO));
            let own = of_block(cell)
                .filter(|(_, stored)| (offset * CELLS).cmplt(*stored).all())
                .map(|(from, stored)| (from, stored, offset * CELLS));
            let (from, stored, start) = match of_neighbour.or(own) {
                Some(known) => known,
                None => {
                    beside.resize(size.element_product() as usize, 0.0);
                    let piece = Piece {
                        layout: &fine.layout,
                        first: (cell + offset) * CELLS,
                        size,
                        // The piece is flat: one search for all of it.
                        side: CELLS,
                        values: &mut beside,
                    };
                    self.fill(piece, fine.exact_within, &mut []);
                    (&beside[..], size, UVec3::ZERO)
                }
            };
            for node in places(UVec3::ZERO, (size - 1).with_x(0)) {
                let to = place_index(UVec3::splat(CELLS + 1), offset * CELLS + node);
                let from_place = place_index(stored, start + node);
                let length = size.x as usize;
                all[to..to + length].copy_from_slice(&from[from_place..from_place + length]);
            }
        }
    }
}
