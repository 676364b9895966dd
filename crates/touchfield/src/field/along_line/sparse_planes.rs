//! Linear approximations of the blocks of a sparse field: one linear function each, and a bound on
//! the deviation of the values from it.
//!
//! Input: a [`SparseBlocks`].
//! Output: when a line that passes a block may meet a level, and when it surely does not.
//! Cost: every value is read twice; 20 bytes per block, 1.4 % of one of 8³ cells in 16 bits. A
//! query takes two dot products.
//! Not for: blocks with child blocks, which have no approximation.
//!
//! As in [`block_planes`](crate::field::along_line::block_planes) for dense grids, the difference
//! of the interpolant and the linear function is trilinear in every cell, so it is largest at a
//! node. A line that passes a block of 8³ cells reads one or two of them instead of ten.

use glam::{DVec3, UVec3};

use crate::field::along_line::line::{Line, Times};
use crate::field::along_line::min_max_octree::Cells;
use crate::field::along_line::piece::Piece;
use crate::field::sparse::sparse_blocks::{PLAIN, SparseBlock, SparseBlocks};
use crate::threads;

/// Linear approximations of all blocks, one per block.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SparsePlanes {
    planes: Vec<BlockPlane>,
}

/// The linear approximation of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BlockPlane {
    /// Slope along each axis \[m per cell of the block\].
    slope: [f32; 3],
    /// Value at the block's corner nearest to the grid's origin \[m\].
    value: f32,
    /// Largest deviation of any value within the block \[m\]; infinite where nothing is known.
    strays: f32,
}

/// Where a line that passes a block may meet a level.
pub(crate) enum Near {
    /// The line does not meet the level. The gap is that at the end of the block.
    Nowhere(Piece),
    /// The line may meet the level during a part of the time.
    Within(NearPart),
}

/// The time span in which a line may meet a level.
pub(crate) struct NearPart {
    pub(crate) times: Times,
    /// Side of the level before the span, if the span does not start with the block.
    pub(crate) before: Piece,
    /// Side of the level after the span, if the span does not end with the block. The gap is that
    /// at the end of the block.
    pub(crate) after: Piece,
}

impl SparsePlanes {
    pub(crate) fn build(field: &SparseBlocks) -> SparsePlanes {
        let blocks = &field.parts().blocks;
        SparsePlanes {
            planes: threads::map(blocks.len(), |index| BlockPlane::of(field, &blocks[index])),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.planes.as_slice())
    }

    #[inline(always)]
    pub(crate) fn of(&self, block: u32) -> &BlockPlane {
        &self.planes[block as usize]
    }
}

impl BlockPlane {
    /// Fits a linear function to a block: the slopes by least squares, the value in the middle of
    /// the residuals.
    fn of(field: &SparseBlocks, block: &SparseBlock) -> BlockPlane {
        const UNKNOWN: BlockPlane = BlockPlane {
            slope: [0.0; 3],
            value: 0.0,
            strays: f32::INFINITY,
        };
        if block.children != PLAIN {
            return UNKNOWN;
        }
        let nodes = Cells {
            first: UVec3::ZERO,
            last: UVec3::splat(block.side()),
        };
        // Least squares about the middle, where the coordinates are uncorrelated.
        let middle = 0.5 * block.side() as f32;
        let (mut moments, mut spread, mut largest) = ([0.0f32; 3], 0.0, 0.0f32);
        for node in nodes.iter() {
            let value = field.block_value(block, node);
            let off = node.as_vec3() - middle;
            for axis in 0..3 {
                moments[axis] += off[axis] * value;
            }
            spread += off.x * off.x;
            largest = largest.max(value.abs());
        }
        let slope = moments.map(|moment| moment / spread);
        // The residuals of all nodes give the constant and the deviation.
        let (mut least, mut most) = (f32::INFINITY, f32::NEG_INFINITY);
        for node in nodes.iter() {
            let place = node.as_vec3();
            let linear = slope[0] * place.x + slope[1] * place.y + slope[2] * place.z;
            let left = field.block_value(block, node) - linear;
            (least, most) = (least.min(left), most.max(left));
        }
        let value = 0.5 * (least + most);
        // A dozen roundings of products and sums no larger than these.
        let across = slope.iter().map(|slope| slope.abs()).sum::<f32>() * block.side() as f32;
        let rounding = 8.0 * f32::EPSILON * (largest + value.abs() + across);
        let strays = (most - value).max(value - least) + rounding + f32::MIN_POSITIVE;
        match strays.is_finite() && across.is_finite() {
            true => BlockPlane {
                slope,
                value,
                strays,
            },
            false => UNKNOWN,
        }
    }

    /// Returns where a line may meet the level. The line is in units of the block's cells and is in
    /// the block during `times`.
    #[inline(always)]
    pub(crate) fn near(&self, line: &Line, times: Times, level: f32) -> Near {
        let slope = DVec3::from(self.slope.map(f64::from));
        let length = times[1] - times[0];
        let above = f64::from(self.value) - f64::from(level) + slope.dot(line.at(times[0]));
        let grows = length * slope.dot(line.direction());
        let end = above + grows;
        let strays = f64::from(self.strays);
        let side = |above: f64| Piece::Clear {
            is_below: above < 0.0,
            gap: (above.abs() - strays) as f32,
        };
        if (above > strays && end > strays) || (above < -strays && end < -strays) {
            return Near::Nowhere(side(end));
        }
        // From both ends towards the level, until the deviation may reach it.
        let until = |above: f64| {
            let free = above.abs() - strays;
            // The condition is also false for NaN.
            if free > 0.0 { free / grows.abs() } else { 0.0 }
        };
        Near::Within(NearPart {
            times: [
                times[0] + until(above) * length,
                times[1] - until(end) * length,
            ],
            before: side(above),
            after: side(end),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::field::Field;
    use crate::field::grid::layout::GridLayout;
    use crate::field::sparse::sparse_blocks::{SparseParts, SparseValues};
    use crate::geom::Aabb;
    use glam::Vec3;
    use proptest::prelude::*;

    /// Builds one coarse cell of 8 m, replaced by a block of 8³ cells with these values in steps of
    /// a thousandth.
    fn block(values: Vec<u16>) -> SparseBlocks {
        let layout = GridLayout {
            origin: Vec3::ZERO,
            cell_size: 8.0,
            nodes: UVec3::splat(2),
        };
        let parts = SparseParts {
            nodes: vec![0.0; 8],
            cells: vec![0],
            plain_error: 0.1,
            blocks: vec![SparseBlock {
                cells_log2: 3,
                children: PLAIN,
                first_value: 0,
                lowest: -5.0,
                step: 1e-3,
                error: 0.1,
            }],
            children: Vec::new(),
            values: SparseValues::Bits16(values),
            solid: Aabb::new(Vec3::ZERO, Vec3::splat(8.0)),
        };
        SparseBlocks::new(layout, parts).unwrap()
    }

    proptest! {
        #[test]
        fn a_line_meets_the_level_at_no_other_time(
            slope in prop::array::uniform3(0.0f32..400.0), noise in prop::collection::vec(0u16..600, 729), level in -5.0f32..5.0,
            from in prop::array::uniform3(0.0f64..8.0), to in prop::array::uniform3(0.0f64..8.0),
        ) {
            let nodes = Cells { first: UVec3::ZERO, last: UVec3::splat(8) };
            let linear = |node: UVec3| Vec3::from(slope).dot(node.as_vec3()) as u16;
            let field = block(nodes.iter().zip(&noise).map(|(node, noise)| linear(node) + noise).collect());
            let planes = SparsePlanes::build(&field);
            let line = Line::new(DVec3::from(from), DVec3::from(to));
            let near = planes.of(0).near(&line, [0.0, 1.0], level);
            let (times, before, after) = match near {
                Near::Nowhere(piece) => ([1.0, 1.0], piece, piece),
                Near::Within(NearPart { times, before, after }) => (times, before, after),
            };
            prop_assert!(0.0 <= times[0] && times[0] <= times[1] + 1e-9 && times[1] <= 1.0);
            for k in 0..=64 {
                let time = f64::from(k) / 64.0;
                let above = field.distance(line.at(time).as_vec3()) - level;
                let piece = match time {
                    time if time < times[0] => before,
                    time if time > times[1] => after,
                    _ => continue,
                };
                let Piece::Clear { is_below, .. } = piece else { panic!("no side") };
                prop_assert!(if is_below { above < 1e-4 } else { above > -1e-4 }, "{above} at {time} of {times:?}");
            }
            let above = field.distance(line.at(1.0).as_vec3()) - level;
            prop_assert!(above.abs() >= after.gap().max(0.0) - 1e-4);
        }
    }
}
