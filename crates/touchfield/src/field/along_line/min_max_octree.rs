//! Minimum and maximum of a grid over ever larger blocks of cells: finds a level, or skips blocks
//! that cannot contain it.
//!
//! Input: any type that returns the range of its values over a box of cells ([`CellRanges`]).
//! Output: ranges over boxes, the cells that contain a level, the largest block around a cell that
//! does not.
//! Cost: built bottom-up, each leaf once; 8 bytes per node and no pointers. With leaves of 4³ cells
//! that is 8/64 · 8/7 = 0.143 bytes per cell, 3.6 % of a dense `f32` grid and 7.1 % of a 16-bit
//! one; with leaves of 8³ it is 0.018 bytes, 1.8 % of an 8-bit one.
//! Not for: bounds of the true distance, which include the field's error (`Field::interval`);
//! sparse fields (`SparseOctree`).
//!
//! After \[XuCcd2014\], section 3.2 (docs/BIBLIOGRAPHY.md), whose octree goes down to single cells
//! and takes four times the memory of the field. We stop at leaves of many cells and sample the
//! field inside them. The paper skips a block if σ ≤ φmin or σ ≥ φmax; with equality, a surface
//! that only touches the block is lost. Here **ranges are closed**: a block is skipped only if σ <
//! φmin or σ > φmax. Every cell with σ at a corner is found, also where the field is flat at σ.

use glam::{DVec3, UVec3};

use crate::field::grid::dense_grid::DenseGrid;
use crate::field::grid::layout::GridLayout;
use crate::geom::{Aabb, Interval, place_index, places};
use crate::threads;

/// A box of cells, from `first` to `last`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cells {
    /// The cell nearest to the grid's origin.
    pub first: UVec3,
    /// The cell farthest from it.
    pub last: UVec3,
}

impl Cells {
    /// Returns whether `cell` is in the box.
    pub fn contains(self, cell: UVec3) -> bool {
        self.first.cmple(cell).all() && cell.cmple(self.last).all()
    }

    /// Returns whether the two boxes share a cell.
    fn meets(self, other: Cells) -> bool {
        self.first.cmple(other.last).all() && other.first.cmple(self.last).all()
    }

    /// Returns whether all cells of `other` are in the box.
    fn holds(self, other: Cells) -> bool {
        self.contains(other.first) && self.contains(other.last)
    }

    /// Iterates over all cells of the box, x fastest.
    pub fn iter(self) -> impl Iterator<Item = UVec3> {
        places(self.first, self.last)
    }
}

/// A grid that can compute the range of its values over a box of cells.
pub trait CellRanges {
    /// Returns where the cells lie.
    fn layout(&self) -> &GridLayout;

    /// Returns an interval that contains every stored value from which samples in these cells are
    /// made. A range that is NaN counts as everything.
    fn range(&self, cells: Cells) -> Interval;
}

impl CellRanges for DenseGrid {
    fn layout(&self) -> &GridLayout {
        DenseGrid::layout(self)
    }

    fn range(&self, cells: Cells) -> Interval {
        let Cells { first, last } = cells;
        let row = (last.x - first.x) as usize + 2;
        let mut range = NOTHING;
        for z in first.z..=last.z + 1 {
            for y in first.y..=last.y + 1 {
                let start = DenseGrid::layout(self).node_index(UVec3::new(first.x, y, z));
                for &value in &self.values()[start..start + row] {
                    // `if` rather than `f32::min`: no NaN is stored, and this compiles to one
                    // instruction.
                    range.lower = if value < range.lower {
                        value
                    } else {
                        range.lower
                    };
                    range.upper = if value > range.upper {
                        value
                    } else {
                        range.upper
                    };
                }
            }
        }
        range
    }
}

/// Number of cells along each side of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeafSide {
    /// Leaves of 64 cells: for dense grids, and values of 16 bits or more.
    Four,
    /// Leaves of 512 cells: for blocks of that size, and values of 8 bits.
    Eight,
}

impl LeafSide {
    fn cells(self) -> u32 {
        match self {
            LeafSide::Four => 4,
            LeafSide::Eight => 8,
        }
    }
}

/// An octree of value ranges. Level 0 holds the leaves; each node of a higher level covers 2 × 2 ×
/// 2 nodes of the level below; the last level is the root.
#[derive(Clone, Debug, PartialEq)]
pub struct MinMaxOctree {
    layout: GridLayout,
    leaf_side: u32,
    levels: Vec<Level>,
    /// Ranges level by level, x fastest within each: the place of a node determines those of its
    /// children.
    ranges: Vec<Interval>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Level {
    /// Number of nodes along x, y and z.
    size: UVec3,
    /// Index of the first node in the list of all ranges.
    start: usize,
}

impl Level {
    #[inline(always)]
    fn index(self, node: UVec3) -> usize {
        self.start + place_index(self.size, node)
    }

    /// Iterates over all nodes in the order of their indices.
    fn nodes(self) -> impl Iterator<Item = UVec3> {
        let last = self.size - UVec3::ONE;
        let first = UVec3::ZERO;
        Cells { first, last }.iter()
    }
}

/// The empty range, which contains no value.
pub(crate) const NOTHING: Interval = Interval {
    lower: f32::INFINITY,
    upper: f32::NEG_INFINITY,
};

impl MinMaxOctree {
    /// Builds the tree: computes the range of every leaf on all cores, then joins eight nodes at a
    /// time up to the root.
    pub fn build(source: &(impl CellRanges + Sync), leaf_side: LeafSide) -> MinMaxOctree {
        let layout = *source.layout();
        let mut tree = MinMaxOctree {
            layout,
            leaf_side: leaf_side.cells(),
            levels: levels_over(layout.cells(), leaf_side.cells()),
            ranges: Vec::new(),
        };
        let count = tree.levels.last().map_or(0, |root| root.start + 1);
        tree.ranges.reserve_exact(count);
        let leaves = tree.levels[0].size;
        let layer = |z: usize| -> Vec<Interval> {
            let first = UVec3::new(0, 0, z as u32);
            let last = UVec3::new(leaves.x - 1, leaves.y - 1, z as u32);
            let layer = Cells { first, last }.iter();
            layer
                .map(|leaf| known(source.range(tree.cells_of(0, leaf))))
                .collect()
        };
        let layers = threads::map(leaves.z as usize, layer);
        tree.ranges.extend(layers.into_iter().flatten());
        for level in 1..tree.levels.len() {
            for node in tree.levels[level].nodes() {
                let joined = tree.children(level, node).fold(NOTHING, |joined, child| {
                    let range = tree.node_range(level - 1, child);
                    Interval::new(joined.lower.min(range.lower), joined.upper.max(range.upper))
                });
                tree.ranges.push(joined);
            }
        }
        tree
    }

    /// Returns where the cells lie.
    pub fn layout(&self) -> &GridLayout {
        &self.layout
    }

    /// Returns the size of all ranges in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(self.ranges.as_slice())
    }

    /// Returns the range of values of the whole grid \[m\].
    pub fn whole(&self) -> Interval {
        self.ranges[self.ranges.len() - 1]
    }

    /// Returns an interval that contains every value that the grid gives for points of `region`
    /// inside its bounds, the rounding of `f32` included \[m\]; `None` when there are no such
    /// points. Tight up to whole leaves.
    pub fn range(&self, region: Aabb) -> Option<Interval> {
        let cells = self.cells_around(region)?;
        let range = self.range_below(self.levels.len() - 1, UVec3::ZERO, cells);
        // Interpolating eight values rounds ten times or fewer, each by half an ε of the largest of
        // them.
        let largest = range.lower.abs().max(range.upper.abs());
        Some(range.grown(8.0 * f32::EPSILON * largest + f32::MIN_POSITIVE))
    }

    /// Calls `visit` for every cell whose own range contains `level`, ends included. `source` is
    /// the grid that the tree was built over. The order is that of the tree, the same on every run.
    ///
    /// # Panics
    /// If `source` has another layout.
    pub fn visit_level(&self, source: &impl CellRanges, level: f32, mut visit: impl FnMut(UVec3)) {
        assert!(
            *source.layout() == self.layout,
            "the octree was built over another grid than this one"
        );
        self.visit_leaves(self.levels.len() - 1, UVec3::ZERO, level, &mut |cells| {
            for cell in cells.iter() {
                let own = source.range(Cells {
                    first: cell,
                    last: cell,
                });
                if known(own).contains(level) {
                    visit(cell);
                }
            }
        });
    }

    /// Returns the largest block of the tree around `cell` in which no value equals `level`, and
    /// which a traversal may skip. `None` when every block around the cell contains the level, or
    /// when there is no such cell.
    pub fn largest_without(&self, cell: UVec3, level: f32) -> Option<Cells> {
        if cell.cmpge(self.layout.cells()).any() {
            return None;
        }
        (0..self.levels.len()).rev().find_map(|height| {
            let range = self.range_around(height, cell);
            (!range.contains(level)).then(|| self.block_around(height, cell))
        })
    }

    /// Returns the range of the block around a cell that is `height` levels above the leaves.
    #[inline(always)]
    pub(crate) fn range_around(&self, height: usize, cell: UVec3) -> Interval {
        self.node_range(height, self.node_around(height, cell))
    }

    /// Returns the cells of the block around a cell that is `height` levels above the leaves.
    #[inline(always)]
    pub(crate) fn block_around(&self, height: usize, cell: UVec3) -> Cells {
        self.cells_of(height, self.node_around(height, cell))
    }

    #[inline(always)]
    pub(crate) fn node_around(&self, height: usize, cell: UVec3) -> UVec3 {
        // In 64 bits: the root of a large grid may be 32 or more bits up.
        let log2 = self.leaf_side.trailing_zeros() + height as u32;
        let place = |cell: u32| (u64::from(cell) >> log2) as u32;
        UVec3::new(place(cell.x), place(cell.y), place(cell.z))
    }

    /// Returns the index of a node among those of all levels.
    #[inline(always)]
    pub(crate) fn index(&self, level: usize, node: UVec3) -> usize {
        self.levels[level].index(node)
    }

    /// Returns the number of nodes of all levels.
    pub(crate) fn count(&self) -> usize {
        self.ranges.len()
    }

    /// Returns the number of nodes of a level along x, y and z.
    pub(crate) fn size(&self, level: usize) -> UVec3 {
        self.levels[level].size
    }

    /// Returns the number of levels above the leaves.
    pub(crate) fn height(&self) -> usize {
        self.levels.len() - 1
    }

    #[inline(always)]
    pub(crate) fn node_range(&self, level: usize, node: UVec3) -> Interval {
        self.ranges[self.index(level, node)]
    }

    /// Iterates over the up to eight nodes of the level below that a node covers.
    pub(crate) fn children(
        &self,
        level: usize,
        node: UVec3,
    ) -> impl Iterator<Item = UVec3> + use<> {
        let first = 2 * node;
        let last = (first + UVec3::ONE).min(self.levels[level - 1].size - UVec3::ONE);
        Cells { first, last }.iter()
    }

    /// Returns the cells that a node covers.
    #[inline(always)]
    pub(crate) fn cells_of(&self, level: usize, node: UVec3) -> Cells {
        let side = u64::from(self.leaf_side) << level;
        let cells = self.layout.cells();
        let first = |n: u32| (u64::from(n) * side) as u32;
        let end = |n: u32, cells: u32| ((u64::from(n) + 1) * side).min(cells.into()) as u32;
        Cells {
            first: UVec3::new(first(node.x), first(node.y), first(node.z)),
            last: UVec3::new(
                end(node.x, cells.x) - 1,
                end(node.y, cells.y) - 1,
                end(node.z, cells.z) - 1,
            ),
        }
    }

    /// Returns the cells in which points of `region` may be looked up, rounding included.
    fn cells_around(&self, region: Aabb) -> Option<Cells> {
        let shared = region.intersection(self.layout.bounds());
        if region.is_empty() || shared.is_empty() {
            return None;
        }
        let size = f64::from(self.layout.cell_size);
        let place = |point: glam::Vec3| (point.as_dvec3() - self.layout.origin.as_dvec3()) / size;
        // Rounding error of an `f32` lookup \[cells\].
        let last = self.layout.cells() - UVec3::ONE;
        let unsure = 4.0 * f64::from(f32::EPSILON) * (f64::from(last.max_element()) + 2.0);
        Some(Cells {
            first: (place(shared.min) - unsure)
                .max(DVec3::ZERO)
                .as_uvec3()
                .min(last),
            last: (place(shared.max) + unsure)
                .max(DVec3::ZERO)
                .as_uvec3()
                .min(last),
        })
    }

    fn range_below(&self, level: usize, node: UVec3, cells: Cells) -> Interval {
        let covered = self.cells_of(level, node);
        if !covered.meets(cells) {
            return NOTHING;
        }
        if level == 0 || cells.holds(covered) {
            return self.node_range(level, node);
        }
        self.children(level, node).fold(NOTHING, |joined, child| {
            let range = self.range_below(level - 1, child, cells);
            Interval::new(joined.lower.min(range.lower), joined.upper.max(range.upper))
        })
    }

    fn visit_leaves(&self, height: usize, node: UVec3, level: f32, visit: &mut impl FnMut(Cells)) {
        if !self.node_range(height, node).contains(level) {
            return;
        }
        if height == 0 {
            visit(self.cells_of(0, node));
            return;
        }
        for child in self.children(height, node) {
            self.visit_leaves(height - 1, child, level, visit);
        }
    }
}

/// Replaces a range that is NaN or inverted by everything: skipping less is always right.
fn known(range: Interval) -> Interval {
    if range.lower <= range.upper {
        range
    } else {
        Interval::EVERYTHING
    }
}

/// Computes the levels from the leaves up to a single root.
fn levels_over(cells: UVec3, leaf_side: u32) -> Vec<Level> {
    let halved = |size: UVec3, by: u32| UVec3::from(size.to_array().map(|n| n.div_ceil(by)));
    let mut level = Level {
        size: halved(cells, leaf_side),
        start: 0,
    };
    let mut levels = vec![level];
    while level.size != UVec3::ONE {
        let nodes: usize = level.size.to_array().iter().map(|&n| n as usize).product();
        level = Level {
            size: halved(level.size, 2),
            start: level.start + nodes,
        };
        levels.push(level);
    }
    levels
}
