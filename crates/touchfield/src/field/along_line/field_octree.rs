//! The octree of a stored field of any kind: the blocks that a moving point may skip.
//!
//! Input: a [`StoredField`].
//! Output: ranges of its values over ever larger blocks of cells, and a bound on its slope.
//! Cost: every value is read once or twice, on all cores; for the memory see [`MinMaxOctree`] and
//! [`SparseOctree`].
//! Not for: other fields than the one it was built over.

use glam::{DVec3, UVec3};

use crate::field::along_line::block_planes::BlockPlanes;
use crate::field::along_line::min_max_octree::NOTHING;
use crate::field::along_line::min_max_octree::{CellRanges, Cells, LeafSide, MinMaxOctree};
use crate::field::along_line::sparse_octree::SparseOctree;
use crate::field::along_line::sparse_planes::SparsePlanes;
use crate::field::grid::dense_grid::DenseGrid;
use crate::field::grid::layered_voxmap::LayeredVoxmap;
use crate::field::grid::layout::GridLayout;
use crate::field::grid::taylor_grid::TaylorGrid;
use crate::field::stored::StoredField;
use crate::geom::{Interval, corner};
use crate::threads;

/// Ranges of values over blocks of the cells of a stored field.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldOctree {
    blocks: Blocks,
    steepest: f32,
}

#[derive(Clone, Debug, PartialEq)]
enum Blocks {
    Dense(MinMaxOctree, BlockPlanes),
    Cells(MinMaxOctree),
    Sparse(SparseOctree, SparsePlanes),
}

impl FieldOctree {
    /// Builds the octree over all cells of a field.
    pub fn build(field: &StoredField) -> FieldOctree {
        match field {
            StoredField::Dense(grid) => {
                let octree = MinMaxOctree::build(grid, LeafSide::Four);
                let steepest = steepest(grid);
                let planes = BlockPlanes::build(grid, &octree, steepest);
                FieldOctree {
                    blocks: Blocks::Dense(octree, planes),
                    steepest,
                }
            }
            StoredField::Sparse(blocks) => FieldOctree {
                blocks: Blocks::Sparse(SparseOctree::build(blocks), SparsePlanes::build(blocks)),
                steepest: f32::INFINITY,
            },
            StoredField::Taylor(grid) => FieldOctree {
                blocks: Blocks::Cells(MinMaxOctree::build(grid, LeafSide::Four)),
                steepest: f32::INFINITY,
            },
            StoredField::Voxmap(map) => FieldOctree {
                blocks: Blocks::Cells(MinMaxOctree::build(map, LeafSide::Four)),
                steepest: f32::INFINITY,
            },
        }
    }

    /// Returns a proven Lipschitz constant: within its box the field changes by no more than this
    /// times the distance of two points. Infinite where values may jump, or where no bound was
    /// computed.
    pub fn steepest(&self) -> f32 {
        self.steepest
    }

    /// Returns the size of all ranges and other data of blocks in bytes.
    pub fn bytes(&self) -> usize {
        match &self.blocks {
            Blocks::Dense(octree, planes) => octree.bytes() + planes.bytes(),
            Blocks::Cells(octree) => octree.bytes(),
            Blocks::Sparse(octree, planes) => octree.bytes() + planes.bytes(),
        }
    }

    /// Returns the octree over the cells of the field's layout.
    pub(crate) fn cells(&self) -> &MinMaxOctree {
        match &self.blocks {
            Blocks::Dense(octree, _) | Blocks::Cells(octree) => octree,
            Blocks::Sparse(octree, _) => octree.coarse(),
        }
    }

    /// Returns the octree and planes of a sparse field; `None` for other kinds.
    pub(crate) fn sparse(&self) -> Option<(&SparseOctree, &SparsePlanes)> {
        match &self.blocks {
            Blocks::Dense(..) | Blocks::Cells(_) => None,
            Blocks::Sparse(octree, planes) => Some((octree, planes)),
        }
    }

    /// Returns the planes of a dense field; `None` for other kinds.
    pub(crate) fn planes(&self) -> Option<&BlockPlanes> {
        match &self.blocks {
            Blocks::Dense(_, planes) => Some(planes),
            Blocks::Cells(_) | Blocks::Sparse(..) => None,
        }
    }
}

/// Returns the largest slope anywhere in a dense grid.
///
/// Within a cell the gradient is linear along each axis, so it is longest at a corner; there its
/// components are the differences along the three edges. Of the two edges of a node along an axis
/// we take the steeper, which holds for all eight cells around it.
fn steepest(grid: &DenseGrid) -> f32 {
    let layout = *grid.layout();
    let nodes = layout.nodes;
    let [row, plane] = [nodes.x as usize, nodes.x as usize * nodes.y as usize];
    let values = grid.values();
    let of_plane = |z: usize| {
        let mut most = 0.0f32;
        for y in 0..nodes.y as usize {
            let start = z * plane + y * row;
            let here = &values[start..start + row];
            // At a border without a neighbour, compare with the row itself, which has no slope.
            let beside = |inside: bool, offset: isize| match inside {
                true => &values[start.wrapping_add_signed(offset)..][..row],
                false => here,
            };
            let behind_y = beside(y > 0, -(row as isize));
            let ahead_y = beside(y + 1 < nodes.y as usize, row as isize);
            let behind_z = beside(z > 0, -(plane as isize));
            let ahead_z = beside(z + 1 < nodes.z as usize, plane as isize);
            for x in 0..row {
                let value = here[x];
                let along = |behind: f32, ahead: f32| {
                    let (back, forth) = (value - behind, ahead - value);
                    f32::max(back * back, forth * forth)
                };
                let along_x = along(here[x.saturating_sub(1)], here[(x + 1).min(row - 1)]);
                let square =
                    along_x + along(behind_y[x], ahead_y[x]) + along(behind_z[x], ahead_z[x]);
                most = if square > most { square } else { most };
            }
        }
        most
    };
    let planes = threads::map(nodes.z as usize, of_plane);
    let most = planes.into_iter().fold(0.0f32, f32::max);
    // Rounding of differences, squares and sums; mostly that of differences of large values.
    let largest = (values.iter()).fold(0.0f32, |most, value| most.max(value.abs()));
    let rounding = 4.0 * f32::EPSILON * largest / layout.cell_size;
    most.sqrt() / layout.cell_size * (1.0 + 8.0 * f32::EPSILON) + rounding
}

impl CellRanges for TaylorGrid {
    fn layout(&self) -> &GridLayout {
        TaylorGrid::layout(self)
    }

    /// Returns the range of the nodes' distances, which contains their mean, widened by the largest
    /// correction of the gradients.
    fn range(&self, cells: Cells) -> Interval {
        let nodes = Cells {
            first: cells.first,
            last: cells.last + UVec3::ONE,
        };
        let size = TaylorGrid::layout(self).cell_size;
        let range = nodes.iter().fold(NOTHING, |range, node| {
            let value = self.expansion(node).w * size;
            Interval::new(range.lower.min(value), range.upper.max(value))
        });
        let largest = range.lower.abs().max(range.upper.abs());
        range.grown(self.correction + 4.0 * f32::EPSILON * largest)
    }
}

impl CellRanges for LayeredVoxmap {
    fn layout(&self) -> &GridLayout {
        LayeredVoxmap::layout(self)
    }

    /// Returns the range of the corner values of the voxels, within each of which the field is
    /// linear.
    fn range(&self, cells: Cells) -> Interval {
        let size = f64::from(LayeredVoxmap::layout(self).cell_size);
        cells.iter().fold(NOTHING, |range, voxel| {
            let (value, gradient) = self.plane(voxel);
            (0..8).fold(range, |range, i| {
                let from_center = corner(UVec3::ZERO, i).as_dvec3() - DVec3::splat(0.5);
                let value = (value + size * gradient.dot(from_center)) as f32;
                Interval::new(
                    range.lower.min(value.next_down()),
                    range.upper.max(value.next_up()),
                )
            })
        })
    }
}
