//! Stored fields along a straight line: a polynomial in every cell that the line passes.
//!
//! Input: a cell, a line in units of cells, a level.
//! Output: for every piece of the line within the cell, whether the field stays above or below the
//! level, or its polynomial.
//! Cost: the corner values of the cell; a few dozen operations where the level may be crossed.
//! Not for: finding roots, or cells (`line`).
//!
//! In the cells of a dense or sparse grid the field is trilinear, so it is a cubic along a line;
//! that of a Taylor grid is a quartic; that of a voxmap is linear, and jumps from voxel to voxel.
//! Everything is computed in `f64`, from the exact positions of the nodes, without the rounding of
//! `f32` lookups.

use crate::field::along_line::piece::Piece;
use crate::field::along_line::piece::Polynomial;
use std::ops::ControlFlow;

use glam::{DVec3, UVec3};

use crate::field::along_line::line::{Line, Times, Walker, walk_cells};
use crate::field::along_line::sparse_octree::SparseOctree;
use crate::field::along_line::sparse_planes::{Near, NearPart, SparsePlanes};
use crate::field::grid::dense_grid::DenseGrid;
use crate::field::grid::layered_voxmap::LayeredVoxmap;
use crate::field::grid::layout::GridLayout;
use crate::field::grid::taylor_grid::TaylorGrid;
use crate::field::sparse::sparse_blocks::{PLAIN, SparseBlocks};
use crate::geom::{Interval, corner};

/// A field made of cells, in each of which it is a polynomial along a line.
pub(crate) trait LinePieces {
    /// Returns where the cells lie.
    fn layout(&self) -> &GridLayout;

    /// Visits the pieces of a line, in units of these cells, within a cell that it is in during
    /// `times`. The pieces come in order, and their ends meet.
    fn pieces(
        &self,
        cell: UVec3,
        line: &Line,
        times: Times,
        level: f32,
        visit: &mut impl FnMut(Times, Piece) -> ControlFlow<()>,
    ) -> ControlFlow<()>;
}

impl LinePieces for DenseGrid {
    fn layout(&self) -> &GridLayout {
        DenseGrid::layout(self)
    }

    #[inline(always)]
    fn pieces(
        &self,
        cell: UVec3,
        line: &Line,
        times: Times,
        level: f32,
        visit: &mut impl FnMut(Times, Piece) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        visit(
            times,
            trilinear_piece(self.corners(cell), cell, line, times, level),
        )
    }
}

/// A sparse field, with ranges and planes of its blocks if available.
pub(crate) struct SparseLine<'a> {
    pub(crate) field: &'a SparseBlocks,
    pub(crate) octree: Option<(&'a SparseOctree, &'a SparsePlanes)>,
}

impl LinePieces for SparseLine<'_> {
    fn layout(&self) -> &GridLayout {
        self.field.layout()
    }

    fn pieces(
        &self,
        cell: UVec3,
        line: &Line,
        times: Times,
        level: f32,
        visit: &mut impl FnMut(Times, Piece) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match self.field.block_of(cell) {
            PLAIN => {
                let corners = self.field.coarse_corners(cell);
                visit(times, trilinear_piece(corners, cell, line, times, level))
            }
            block => self.block_pieces(
                block,
                &line.within(cell, self.side(block)),
                times,
                level,
                visit,
            ),
        }
    }
}

impl SparseLine<'_> {
    fn side(&self, block: u32) -> u32 {
        self.field.parts().blocks[block as usize].side()
    }

    /// Visits the pieces within a block; the line is in units of its cells.
    fn block_pieces(
        &self,
        index: u32,
        line: &Line,
        times: Times,
        level: f32,
        // `dyn`, because recursion into nested blocks would create ever new closure types.
        visit: &mut dyn FnMut(Times, Piece) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if let Some((octree, planes)) = self.octree {
            if let Some(piece) = Piece::of_range(octree.block_range(index), level) {
                return visit(times, piece);
            }
            match planes.of(index).near(line, times, level) {
                Near::Nowhere(piece) => return visit(times, piece),
                Near::Within(near) if near.times[0] > times[0] || near.times[1] < times[1] => {
                    return self.near_pieces(index, line, times, level, &near, visit);
                }
                // The level may be met all along, or nothing is known.
                Near::Within(_) => {}
            }
        }
        let block = &self.field.parts().blocks[index as usize];
        walk_cells(
            UVec3::splat(block.side()),
            line,
            times,
            |cell, times| match self.field.block_within(index, cell) {
                PLAIN => {
                    let corners = self.field.block_corners(block, cell);
                    visit(times, trilinear_piece(corners, cell, line, times, level))
                }
                inner => {
                    let line = line.within(cell, self.side(inner));
                    self.block_pieces(inner, &line, times, level, visit)
                }
            },
        )
    }

    /// Visits the pieces within a block without child blocks, where the level may be met only
    /// during a part of the time.
    fn near_pieces(
        &self,
        index: u32,
        line: &Line,
        times: Times,
        level: f32,
        near: &NearPart,
        visit: &mut dyn FnMut(Times, Piece) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let block = &self.field.parts().blocks[index as usize];
        let mut walker = Walker::new(UVec3::splat(block.side()), line, times);
        let [first, last] = near.times;
        if first > times[0] {
            visit([times[0], first], near.before)?;
            walker.leap_into(first, times[0]);
        }
        loop {
            let cell = walker.cell();
            let within = [walker.time(), walker.leaves_cell()];
            let corners = self.field.block_corners(block, cell);
            visit(within, trilinear_piece(corners, cell, line, within, level))?;
            if !walker.step() {
                return ControlFlow::Continue(());
            }
            if walker.time() > last {
                return visit([walker.time(), times[1]], near.after);
            }
        }
    }
}

impl LinePieces for TaylorGrid {
    fn layout(&self) -> &GridLayout {
        TaylorGrid::layout(self)
    }

    fn pieces(
        &self,
        cell: UVec3,
        line: &Line,
        times: Times,
        level: f32,
        visit: &mut impl FnMut(Times, Piece) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let corners: [_; 8] = std::array::from_fn(|i| self.expansion(corner(cell, i)));
        let cell_size = TaylorGrid::layout(self).cell_size;
        let range = range_of(corners.map(|node| node.w * cell_size));
        let reach = self.correction + 4.0 * f32::EPSILON * range.lower.abs().max(range.upper.abs());
        if let Some(piece) = Piece::of_range(range.grown(reach), level) {
            return visit(times, piece);
        }
        let size = f64::from(cell_size);
        let at = |share: f64| {
            let time = times[0] + share * (times[1] - times[0]);
            let t = line.at(time) - cell.as_dvec3();
            // φ̄ − Σ t (1 − t) ∂ā from the head of `taylor_grid.rs`, as the sum of the nodes' own
            // expansions.
            let mut value = 0.0;
            for (i, node) in corners.iter().enumerate() {
                let from_node = t - corner(UVec3::ZERO, i).as_dvec3();
                let weight = DVec3::ONE - from_node.abs();
                let own = f64::from(node.w) + node.truncate().as_dvec3().dot(from_node);
                value += weight.x * weight.y * weight.z * own;
            }
            size * value
        };
        let values = [0.0, 0.25, 0.5, 0.75, 1.0].map(at);
        visit(times, Piece::Polynomial(through_five(values)))
    }
}

/// Returns the quartic with these values at 0, ¼, ½, ¾ and 1.
fn through_five([a, b, c, d, e]: [f64; 5]) -> Polynomial {
    let third = 1.0 / 3.0;
    [
        a,
        third * (-25.0 * a + 48.0 * b - 36.0 * c + 16.0 * d - 3.0 * e),
        third * (70.0 * a - 208.0 * b + 228.0 * c - 112.0 * d + 22.0 * e),
        third * (-80.0 * a + 288.0 * b - 384.0 * c + 224.0 * d - 48.0 * e),
        third * (32.0 * a - 128.0 * b + 192.0 * c - 128.0 * d + 32.0 * e),
    ]
}

impl LinePieces for LayeredVoxmap {
    fn layout(&self) -> &GridLayout {
        LayeredVoxmap::layout(self)
    }

    fn pieces(
        &self,
        cell: UVec3,
        line: &Line,
        times: Times,
        _level: f32,
        visit: &mut impl FnMut(Times, Piece) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (value, gradient) = self.plane(cell);
        let size = f64::from(LayeredVoxmap::layout(self).cell_size);
        let at = |time: f64| {
            value + size * gradient.dot(line.at(time) - cell.as_dvec3() - DVec3::splat(0.5))
        };
        let [first, last] = times.map(at);
        visit(
            times,
            Piece::Polynomial([first, last - first, 0.0, 0.0, 0.0]),
        )
    }
}

#[inline(always)]
fn range_of(corners: [f32; 8]) -> Interval {
    // `if` rather than `f32::min`: no NaN is stored, and this compiles to one instruction.
    let lesser = |a: f32, b: f32| if b < a { b } else { a };
    let larger = |a: f32, b: f32| if b > a { b } else { a };
    Interval::new(
        corners.into_iter().fold(f32::INFINITY, lesser),
        corners.into_iter().fold(f32::NEG_INFINITY, larger),
    )
}

/// Returns the piece in a cell with these corner values; bit 0 of their index is x, bit 1 y, bit 2
/// z.
#[inline(always)]
pub(crate) fn trilinear_piece(
    c: [f32; 8],
    cell: UVec3,
    line: &Line,
    times: Times,
    level: f32,
) -> Piece {
    if let Some(piece) = Piece::of_range(range_of(c), level) {
        return piece;
    }
    Piece::Polynomial(cubic(c.map(f64::from), cell, line, times))
}

/// Computes the trilinear function of a cell along a line. With
/// `f = k₀ + k·(x, y, z) + k·(xy, xz, yz) + k xyz` and the line at `e + s g`, collect the powers of
/// s.
fn cubic(c: [f64; 8], cell: UVec3, line: &Line, times: Times) -> Polynomial {
    let e = line.at(times[0]) - cell.as_dvec3();
    let g = (times[1] - times[0]) * line.direction();
    let [kx, ky, kz] = [c[1] - c[0], c[2] - c[0], c[4] - c[0]];
    let kxy = c[3] - c[2] - kx;
    let kxz = c[5] - c[4] - kx;
    let kyz = c[6] - c[4] - ky;
    let kxyz = c[7] - c[6] - c[5] + c[4] - kxy;
    let constant = c[0]
        + kx * e.x
        + ky * e.y
        + kz * e.z
        + kxy * e.x * e.y
        + kxz * e.x * e.z
        + kyz * e.y * e.z
        + kxyz * e.x * e.y * e.z;
    let first = g.x * (kx + kxy * e.y + kxz * e.z + kxyz * e.y * e.z)
        + g.y * (ky + kxy * e.x + kyz * e.z + kxyz * e.x * e.z)
        + g.z * (kz + kxz * e.x + kyz * e.y + kxyz * e.x * e.y);
    let second = g.x * g.y * (kxy + kxyz * e.z)
        + g.x * g.z * (kxz + kxyz * e.y)
        + g.y * g.z * (kyz + kxyz * e.x);
    [constant, first, second, kxyz * g.x * g.y * g.z, 0.0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_cubic_is_the_trilinear_function_along_the_line(
            corners in prop::array::uniform8(-2.0f64..2.0), from in prop::array::uniform3(0.0f64..1.0), to in prop::array::uniform3(0.0f64..1.0),
            share in 0.0f64..1.0,
        ) {
            let cell = UVec3::new(3, 0, 7);
            let line = Line::new(cell.as_dvec3() + DVec3::from(from), cell.as_dvec3() + DVec3::from(to));
            let cubic = cubic(corners, cell, &line, [0.25, 0.75]);
            let place = line.at(0.25 + 0.5 * share) - cell.as_dvec3();
            let mut expected = 0.0;
            for (i, corner_value) in corners.iter().enumerate() {
                let weight = |axis: usize| if i >> axis & 1 == 1 { place[axis] } else { 1.0 - place[axis] };
                expected += weight(0) * weight(1) * weight(2) * corner_value;
            }
            let value = cubic.iter().rev().fold(0.0, |sum, k| sum * share + k);
            prop_assert!((value - expected).abs() < 1e-12);
        }

        #[test]
        fn five_values_give_their_quartic(k in prop::array::uniform5(-2.0f64..2.0)) {
            let at = |s: f64| k.iter().rev().fold(0.0, |sum, k| sum * s + k);
            let found = through_five([0.0, 0.25, 0.5, 0.75, 1.0].map(at));
            for (found, k) in found.iter().zip(k) {
                prop_assert!((found - k).abs() < 1e-12);
            }
        }
    }
}
