//! Distances on a coarse grid, with blocks of finer cells where they pay off.
//!
//! Input: coarse node values, and blocks of 2³, 4³ or 8³ cells that replace a cell; a cell of a
//! block may be replaced in turn.
//! Output: value and the analytic gradient of the interpolant, with an error bound for every block;
//! outside, a proven lower bound.
//! Cost: the coarse lookup, and one more for every level; 1, 2 or 4 bytes per value; no allocation.
//! Not for: small grids, where a dense one is faster.
//!
//! A block stores its own border, so that a lookup reads one block only. Values are stored as
//! multiples of a step from the lowest value of the block; this rounding is part of the block's
//! error.

use glam::{UVec3, Vec3};

use crate::field::field::{Field, Sample};
use crate::field::grid::frame::{AboutMiddle, GridFrame, Place};
use crate::field::grid::layout::LARGEST;
use crate::field::grid::layout::{GridError, GridLayout};
use crate::field::grid::packet;
use crate::field::grid::packet::{Packets, Places};
use crate::field::grid::trilinear;
#[cfg(feature = "bake")]
use crate::geom::corner;
use crate::geom::lanes::{Aligned, LANES, Lanes};
use crate::geom::{Aabb, Interval, place_index};

/// Marks a cell that no block replaces.
pub const PLAIN: u32 = u32::MAX;

/// Largest number of cells along a side of a block, as a power of two. Blocks have 2, 4 or 8.
const MOST_CELLS_LOG2: u8 = 3;

/// Maximum levels of nested blocks. At up to three halvings per level this reaches the resolution
/// of `f32`.
const MOST_LEVELS: u32 = 8;

/// A field made of a coarse grid and blocks of finer cells.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseBlocks {
    /// Frame of the coarse grid; its error is the largest of all cells.
    frame: GridFrame,
    parts: SparseParts,
    levels: u32,
}

/// The data of a [`SparseBlocks`].
#[derive(Clone, Debug, PartialEq)]
pub struct SparseParts {
    /// Distances at the coarse nodes, x fastest \[m\].
    pub nodes: Vec<f32>,
    /// The block that replaces each coarse cell, x fastest; [`PLAIN`] for none.
    pub cells: Vec<u32>,
    /// Largest error in any coarse cell that no block replaces \[m\].
    pub plain_error: f32,
    /// The blocks; each comes after the one whose cell it replaces.
    pub blocks: Vec<SparseBlock>,
    /// Blocks that replace cells of blocks; for each [`SparseBlock::children`], one entry per cell
    /// of that block.
    pub children: Vec<u32>,
    /// Values of all blocks, one block after the other, each x fastest.
    pub values: SparseValues,
    /// A box that contains the surface \[m\].
    pub solid: Aabb,
}

/// A block of finer cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SparseBlock {
    /// Number of cells along a side, as a power of two from 1 to 3.
    pub cells_log2: u8,
    /// Index in [`SparseParts::children`] where its child blocks begin; [`PLAIN`] if it has none.
    pub children: u32,
    /// Index of its first value.
    pub first_value: usize,
    /// Lowest value \[m\].
    pub lowest: f32,
    /// Distance per unit of a stored value \[m\].
    pub step: f32,
    /// Bound on |interpolated − true| in the cells that no block replaces \[m\].
    pub error: f32,
}

impl SparseBlock {
    /// Returns the number of cells along a side.
    pub fn side(&self) -> u32 {
        1 << self.cells_log2
    }

    /// Returns the number of values.
    pub fn value_count(&self) -> usize {
        (self.side() as usize + 1).pow(3)
    }

    /// Converts a stored value to a distance \[m\], except in 32 bits, where values are distances
    /// already. Monotonic: never falls where `stored` rises.
    #[inline(always)]
    pub(crate) fn distance(&self, stored: f32) -> f32 {
        self.lowest + self.step * stored
    }
}

/// Stored values in 8, 16 or 32 bits, as the required precision demands.
#[derive(Clone, Debug, PartialEq)]
pub enum SparseValues {
    /// Up to 255 steps from the lowest value of a block to its highest.
    Bits8(Vec<u8>),
    /// Up to 65,535 steps from the lowest value of a block to its highest.
    Bits16(Vec<u16>),
    /// Unquantised distances \[m\]; `lowest` is 0 and `step` is 1.
    Bits32(Vec<f32>),
}

impl SparseValues {
    /// Returns the number of values.
    pub fn len(&self) -> usize {
        match self {
            SparseValues::Bits8(values) => values.len(),
            SparseValues::Bits16(values) => values.len(),
            SparseValues::Bits32(values) => values.len(),
        }
    }

    /// Returns whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of bits per value.
    pub fn bits(&self) -> u32 {
        match self {
            SparseValues::Bits8(_) => 8,
            SparseValues::Bits16(_) => 16,
            SparseValues::Bits32(_) => 32,
        }
    }
}

/// Why a sparse field cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SparseError {
    /// The coarse grid is invalid.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// Lists that belong together differ in length.
    #[error("{what}: {found} given, {expected} needed")]
    WrongCount {
        /// Name of the list.
        what: &'static str,
        /// Number of entries given.
        found: usize,
        /// Number of entries needed.
        expected: u64,
    },
    /// A block is invalid.
    #[error("block {block}: {why}")]
    BadBlock {
        /// Index of the block.
        block: usize,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The box in which the field is to be valid is empty or reaches out of the coarse grid.
    #[error(
        "the field is to be good from {:?} to {:?}, which is nowhere or reaches out of the coarse grid",
        .0.min.to_array(), .0.max.to_array()
    )]
    BadBounds(Aabb),
    /// A cell refers to a block that does not exist or is used already.
    #[error(
        "{place} is replaced by block {block}, which is not there, or replaces another cell too"
    )]
    BadReference {
        /// The cell.
        place: String,
        /// Index of the block.
        block: u32,
    },
}

/// A cell to interpolate in, and the position in it.
struct Interpolation {
    corners: [f32; 8],
    /// Position in the cell, from 0 to 1.
    fraction: Vec3,
    /// Side of the cell \[m\].
    cell_size: f32,
    /// Error of the block or of the coarse grid \[m\].
    error: f32,
}

impl SparseBlocks {
    /// Builds a field from its parts, all of which are checked.
    pub fn new(layout: GridLayout, parts: SparseParts) -> Result<SparseBlocks, SparseError> {
        // A grid replaces an empty box by its own; here it is an error.
        if parts.solid.is_empty() {
            return Err(GridError::BadSolid(parts.solid).into());
        }
        let mut frame = GridFrame::new(layout, parts.solid, parts.plain_error)?;
        let cells: u64 = layout.cells().to_array().map(u64::from).iter().product();
        expect_count("coarse nodes", parts.nodes.len(), layout.node_count())?;
        expect_count("coarse cells", parts.cells.len(), cells)?;
        let most = LARGEST * layout.cell_size.min(1.0);
        check_values(&parts.nodes, most)?;
        // Leave room for adding a step to the lowest value in `f32`.
        check_blocks(&parts, 1e-3 * most)?;
        let levels = check_references(&parts)?;
        // Slopes must be finite in the smallest cells too.
        check_blocks(&parts, 1e-3 * most * 0.125f32.powi(levels as i32))?;
        frame.error_bound = (parts.blocks.iter())
            .map(|block| block.error)
            .fold(parts.plain_error, f32::max);
        Ok(SparseBlocks {
            frame,
            parts,
            levels,
        })
    }

    /// Restricts the field to a part of the coarse grid: cells beyond `bounds` may hold any values,
    /// and their error is not bounded. Blocks built over a grid whose sides are not a whole number
    /// of blocks need this.
    pub fn within(mut self, bounds: Aabb) -> Result<SparseBlocks, SparseError> {
        let grid = self.frame.layout.bounds();
        if bounds.is_empty() || !grid.contains(bounds.min) || !grid.contains(bounds.max) {
            return Err(SparseError::BadBounds(bounds));
        }
        self.frame.bounds = bounds;
        Ok(self)
    }

    /// Returns where the coarse nodes lie.
    pub fn layout(&self) -> &GridLayout {
        &self.frame.layout
    }

    /// Returns the data of the field.
    pub fn parts(&self) -> &SparseParts {
        &self.parts
    }

    /// Returns a box that contains the surface \[m\].
    pub fn solid(&self) -> Aabb {
        self.parts.solid
    }

    /// Returns the number of levels of nested blocks.
    pub fn levels(&self) -> u32 {
        self.levels
    }

    /// Returns the side of the smallest cells \[m\].
    pub fn finest_cell_size(&self) -> f32 {
        let mut finest = self.frame.layout.cell_size;
        let mut sizes = vec![finest; self.parts.blocks.len()];
        let blocks = &self.parts.blocks;
        let mut visit = |list: &[u32], size: f32, sizes: &mut Vec<f32>| {
            for &child in list.iter().filter(|&&child| child != PLAIN) {
                let own = size / blocks[child as usize].side() as f32;
                sizes[child as usize] = own;
                finest = finest.min(own);
            }
        };
        visit(&self.parts.cells, self.frame.layout.cell_size, &mut sizes);
        for index in 0..blocks.len() {
            let size = sizes[index];
            visit(children_of(&self.parts, &blocks[index]), size, &mut sizes);
        }
        finest
    }

    /// Returns the size of all values, blocks and references in bytes.
    pub fn bytes(&self) -> usize {
        let SparseParts {
            nodes,
            cells,
            blocks,
            children,
            values,
            ..
        } = &self.parts;
        size_of_val(nodes.as_slice())
            + size_of_val(cells.as_slice())
            + size_of_val(blocks.as_slice())
            + size_of_val(children.as_slice())
            + values.len() * values.bits() as usize / 8
    }

    /// Returns the lowest value of any block \[m\]; infinite when there are no blocks.
    pub(crate) fn lowest_in_blocks(&self) -> f32 {
        match &self.parts.values {
            SparseValues::Bits32(values) => values.iter().copied().fold(f32::INFINITY, f32::min),
            _ => (self.parts.blocks.iter())
                .map(|block| block.lowest)
                .fold(f32::INFINITY, f32::min),
        }
    }

    /// Returns the bound on |returned − true| near `point`, which must lie within the bounds: the
    /// error of its block \[m\].
    pub fn error_near(&self, point: Vec3) -> f32 {
        self.locate(point).error
    }

    /// Returns the values at the corners of a cube of side `size` \[m\] around `middle`,
    /// interpolated in the finest cell at `middle`, and the error there \[m\]. Neighbouring cells
    /// may give other values at the same corners, because each block stores its own border.
    #[cfg(feature = "bake")]
    pub(crate) fn seen_from(&self, middle: Vec3, size: f32) -> ([f32; 8], f32) {
        let place = self.locate(middle);
        let reach = 0.5 * size / place.cell_size;
        let at = |index: usize| {
            let way = 2.0 * corner(UVec3::ZERO, index).as_vec3() - 1.0;
            let fraction = (place.fraction + reach * way).clamp(Vec3::ZERO, Vec3::ONE);
            trilinear::value(place.corners, fraction.to_array())
        };
        (std::array::from_fn(at), place.error)
    }

    /// Returns the values of a block \[m\], x fastest.
    #[cfg(feature = "bake")]
    pub(crate) fn block_values(&self, block: &SparseBlock) -> Vec<f32> {
        let range = block.first_value..block.first_value + block.value_count();
        match &self.parts.values {
            SparseValues::Bits8(values) => {
                let values = values[range].iter();
                values.map(|&value| block.distance(value.into())).collect()
            }
            SparseValues::Bits16(values) => {
                let values = values[range].iter();
                values.map(|&value| block.distance(value.into())).collect()
            }
            SparseValues::Bits32(values) => values[range].to_vec(),
        }
    }

    /// Returns the coarse cell of a point, where a lookup starts, and the position in it.
    pub(crate) fn place(&self, point: Vec3) -> Place {
        self.frame.locate(point)
    }

    /// Returns the block that replaces a coarse cell; [`PLAIN`] for none.
    #[inline(always)]
    pub(crate) fn block_of(&self, cell: UVec3) -> u32 {
        self.parts.cells[place_index(self.frame.layout.cells(), cell)]
    }

    /// Returns the block that replaces a cell of a block; [`PLAIN`] for none.
    pub(crate) fn block_within(&self, block: u32, cell: UVec3) -> u32 {
        let block = &self.parts.blocks[block as usize];
        let index = place_index(UVec3::splat(block.side()), cell);
        let children = self.children_of(block);
        children.get(index).copied().unwrap_or(PLAIN)
    }

    /// Returns the blocks that replace the cells of a block, x fastest; empty if it has none.
    pub(crate) fn children_of(&self, block: &SparseBlock) -> &[u32] {
        children_of(&self.parts, block)
    }

    /// Returns a value of a block \[m\].
    pub(crate) fn block_value(&self, block: &SparseBlock, node: UVec3) -> f32 {
        let index = block.first_value + place_index(UVec3::splat(block.side() + 1), node);
        match &self.parts.values {
            SparseValues::Bits8(values) => block.distance(values[index].into()),
            SparseValues::Bits16(values) => block.distance(values[index].into()),
            SparseValues::Bits32(values) => values[index],
        }
    }

    /// Finds the finest cell that contains a point. Points outside are moved to the nearest border;
    /// NaN counts as the lower one.
    #[inline(always)]
    fn locate(&self, point: Vec3) -> Interpolation {
        let layout = &self.frame.layout;
        let Place { cell, mut fraction } = self.frame.locate(point);
        let mut next = self.block_of(cell);
        let mut cell_size = layout.cell_size;
        if next == PLAIN {
            return Interpolation {
                corners: self.coarse_corners(cell),
                fraction,
                cell_size,
                error: self.parts.plain_error,
            };
        }
        loop {
            let block = &self.parts.blocks[next as usize];
            let side = block.side();
            cell_size /= side as f32;
            let place = Place::among(UVec3::splat(side), fraction * side as f32);
            fraction = place.fraction;
            next = match block.children {
                PLAIN => PLAIN,
                first => {
                    let index = place_index(UVec3::splat(side), place.cell);
                    self.parts.children[first as usize + index]
                }
            };
            if next == PLAIN {
                return Interpolation {
                    corners: self.block_corners(block, place.cell),
                    fraction,
                    cell_size,
                    error: block.error,
                };
            }
        }
    }

    #[inline(always)]
    pub(crate) fn coarse_corners(&self, cell: UVec3) -> [f32; 8] {
        let layout = &self.frame.layout;
        let row = layout.nodes.x as usize;
        let plane = row * layout.nodes.y as usize;
        trilinear::corners(&self.parts.nodes, layout.node_index(cell), row, plane)
    }

    #[inline(always)]
    pub(crate) fn block_corners(&self, block: &SparseBlock, cell: UVec3) -> [f32; 8] {
        let row = block.side() + 1;
        self.corners_from(
            block,
            block.first_value + place_index(UVec3::splat(row), cell),
        )
    }

    /// Returns the corner values of a cell of a block, given the index of the lowest corner's
    /// value.
    #[inline(always)]
    fn corners_from(&self, block: &SparseBlock, first: usize) -> [f32; 8] {
        let row = block.side() as usize + 1;
        let plane = row * row;
        let stored = match &self.parts.values {
            SparseValues::Bits8(values) => {
                trilinear::corners(values, first, row, plane).map(f32::from)
            }
            SparseValues::Bits16(values) => {
                trilinear::corners(values, first, row, plane).map(f32::from)
            }
            SparseValues::Bits32(values) => return trilinear::corners(values, first, row, plane),
        };
        stored.map(|value| block.distance(value))
    }

    #[inline(always)]
    fn sample_inside(&self, point: Vec3) -> Sample {
        let place = self.locate(point);
        let fraction = place.fraction.to_array();
        let (distance, slope) = trilinear::value_and_slope(place.corners, fraction);
        Sample {
            distance,
            gradient: Vec3::from(slope) / place.cell_size,
        }
    }

    #[cold]
    #[inline(never)]
    fn lower_bound_outside(&self, point: Vec3) -> Sample {
        (self.frame).lower_bound_outside(point, |inside| self.sample_inside(inside))
    }
}

fn expect_count(what: &'static str, found: usize, expected: u64) -> Result<(), SparseError> {
    if found as u64 == expected {
        return Ok(());
    }
    Err(SparseError::WrongCount {
        what,
        found,
        expected,
    })
}

/// Rejects NaN, and magnitudes above `most`.
fn check_values(values: &[f32], most: f32) -> Result<(), GridError> {
    let is_usable = |value: &f32| (0.0..=most).contains(&value.abs());
    match values.iter().position(|value| !is_usable(value)) {
        Some(node) => Err(GridError::BadValue {
            node,
            value: values[node],
        }),
        None => Ok(()),
    }
}

fn children_of<'a>(parts: &'a SparseParts, block: &SparseBlock) -> &'a [u32] {
    match block.children {
        PLAIN => &[],
        first => {
            let first = first as usize;
            &parts.children[first..first + (block.side() as usize).pow(3)]
        }
    }
}

fn check_blocks(parts: &SparseParts, most: f32) -> Result<(), SparseError> {
    let (mut values, mut children) = (0u64, 0u64);
    for (index, block) in parts.blocks.iter().enumerate() {
        let bad = |why| Err(SparseError::BadBlock { block: index, why });
        if !(1..=MOST_CELLS_LOG2).contains(&block.cells_log2) {
            return bad("a side has 2, 4 or 8 cells");
        }
        if block.first_value as u64 != values {
            return bad("its values do not follow those of the block before");
        }
        values += block.value_count() as u64;
        if block.children != PLAIN {
            if u64::from(block.children) != children {
                return bad("its blocks do not follow those of the block before");
            }
            children += u64::from(block.side()).pow(3);
        }
        let highest = f64::from(block.lowest) + f64::from(block.step) * 65_535.0;
        let in_range = block.lowest.abs() <= most && highest.abs() <= f64::from(most);
        if !in_range || !(0.0..=LARGEST).contains(&block.step) {
            return bad("its values are no finite distances");
        }
        if !(0.0..=LARGEST).contains(&block.error) {
            return bad("its error proves nothing; it must be finite and not negative");
        }
    }
    expect_count("values of blocks", parts.values.len(), values)?;
    expect_count("blocks in blocks", parts.children.len(), children)?;
    if let SparseValues::Bits32(values) = &parts.values {
        check_values(values, most)?;
    }
    Ok(())
}

/// Checks that every block replaces exactly one cell, of the coarse grid or of an earlier block.
/// Returns the number of levels.
fn check_references(parts: &SparseParts) -> Result<u32, SparseError> {
    const NOWHERE: u32 = 0;
    let mut level = vec![NOWHERE; parts.blocks.len()];
    let mut deepest = 0;
    // Marks the blocks of a list of references with their level; each may be marked once only.
    let mut refer = |list: &[u32], after: Option<usize>, own: u32, level: &mut Vec<u32>| {
        for (cell, &block) in list
            .iter()
            .enumerate()
            .filter(|(_, block)| **block != PLAIN)
        {
            let known = level.get_mut(block as usize);
            match known {
                Some(known)
                    if *known == NOWHERE
                        && after.is_none_or(|parent| block as usize > parent)
                        && own <= MOST_LEVELS =>
                {
                    *known = own;
                    deepest = deepest.max(own);
                }
                _ => {
                    let place = match after {
                        None => format!("coarse cell {cell}"),
                        Some(parent) => format!("cell {cell} of block {parent}"),
                    };
                    return Err(SparseError::BadReference { place, block });
                }
            }
        }
        Ok(())
    };
    // Coarse cells first, then block by block: every block must be marked before it is visited.
    refer(&parts.cells, None, 1, &mut level)?;
    for (index, block) in parts.blocks.iter().enumerate() {
        if level[index] == NOWHERE {
            let why = "no cell is replaced by it";
            return Err(SparseError::BadBlock { block: index, why });
        }
        let below = level[index] + 1;
        refer(children_of(parts, block), Some(index), below, &mut level)?;
    }
    Ok(deepest)
}

impl Packets for SparseBlocks {
    fn frame(&self) -> &GridFrame {
        &self.frame
    }

    #[inline(always)]
    fn interpolate_eight<L: Lanes>(&self, places: &Places<L>) -> (L, [L; 3]) {
        // Load the corners of coarse cells that no block replaces.
        let mut rows = [L::splat(0.0); LANES];
        let mut next = [PLAIN; LANES];
        // A cell that no block replaces counts as a block of one cell from then on, which changes
        // nothing.
        let mut sides = Aligned([1.0; LANES]);
        let mut replaced = false;
        for (i, cell) in places.cells().into_iter().enumerate() {
            next[i] = self.block_of(cell);
            if next[i] == PLAIN {
                rows[i] = L::load_plain(&self.coarse_corners(cell));
            } else {
                sides.0[i] = self.parts.blocks[next[i] as usize].side() as f32;
                replaced = true;
            }
        }
        // Descend one level per pass, until no lane is in a block with a replaced cell.
        let mut fraction = places.fraction;
        let mut cell_size = L::splat(self.frame.layout.cell_size);
        while replaced {
            replaced = false;
            let side = L::load(&sides);
            cell_size = cell_size.div(side);
            let last = side.sub(L::splat(1.0));
            let scaled = [
                fraction[0].mul(side),
                fraction[1].mul(side),
                fraction[2].mul(side),
            ];
            let places = Places::among([last; 3], scaled);
            fraction = places.fraction;
            let children = index_among(places.cell, side);
            let corners = index_among(places.cell, side.add(L::splat(1.0)));
            for i in 0..LANES {
                if next[i] == PLAIN {
                    continue;
                }
                let block = &self.parts.blocks[next[i] as usize];
                next[i] = match block.children {
                    PLAIN => PLAIN,
                    first => self.parts.children[first as usize + children[i] as usize],
                };
                if next[i] == PLAIN {
                    rows[i] = self.load_block_corners(block, corners[i]);
                    sides.0[i] = 1.0;
                } else {
                    sides.0[i] = self.parts.blocks[next[i] as usize].side() as f32;
                    replaced = true;
                }
            }
        }
        let (distance, slope) = trilinear::value_and_slope(L::transpose(rows), fraction);
        let [x, y, z] = slope;
        let gradient = [x.div(cell_size), y.div(cell_size), z.div(cell_size)];
        (distance, gradient)
    }

    fn sample_beyond(&self, point: Vec3) -> Sample {
        self.lower_bound_outside(point)
    }
}

impl SparseBlocks {
    /// Loads the [`Self::block_corners`] of a cell in lanes, given the index within the block of
    /// the lowest corner's value.
    #[inline(always)]
    fn load_block_corners<L: Lanes>(&self, block: &SparseBlock, corner: u32) -> L {
        /// Nearly all blocks have the largest side. A constant lets the compiler use one bounds
        /// check for all corners.
        const ROW: usize = 9;
        const SPAN: usize = ROW * ROW + ROW + 2;
        let row = block.side() as usize + 1;
        let first = block.first_value + corner as usize;
        let SparseValues::Bits16(values) = &self.parts.values else {
            return L::load_plain(&self.corners_from(block, first));
        };
        let stored = L::load_word_pairs(if row == ROW {
            trilinear::corner_pairs(&values[first..first + SPAN], 0, ROW, ROW * ROW)
        } else {
            trilinear::corner_pairs(values, first, row, row * row)
        });
        L::splat(block.lowest).add(L::splat(block.step).mul(stored))
    }
}

/// Computes [`place_index`] lane by lane for `along` places per axis, x fastest. Sizes of blocks
/// are small, so nothing is rounded.
#[inline(always)]
fn index_among<L: Lanes>([x, y, z]: [L; 3], along: L) -> [u32; LANES] {
    z.mul(along).add(y).mul(along).add(x).to_whole()
}

impl Field for SparseBlocks {
    fn bounds(&self) -> Aabb {
        self.frame.bounds
    }

    fn error_bound(&self) -> f32 {
        self.frame.error_bound
    }

    #[inline]
    fn distance(&self, point: Vec3) -> f32 {
        if self.frame.bounds.contains(point) {
            let place = self.locate(point);
            trilinear::value(place.corners, place.fraction.to_array())
        } else {
            (self.frame).distance_outside(point, |inside| {
                let place = self.locate(inside);
                trilinear::value(place.corners, place.fraction.to_array())
            })
        }
    }

    #[inline]
    fn sample(&self, point: Vec3) -> Sample {
        if self.frame.bounds.contains(point) {
            self.sample_inside(point)
        } else {
            self.lower_bound_outside(point)
        }
    }

    fn distance_many(&self, points: &[Vec3], out: &mut Vec<f32>) {
        packet::distance_many(self, points, out);
    }

    fn sample_many(&self, points: &[Vec3], out: &mut Vec<Sample>) {
        packet::sample_many(self, points, out);
    }

    /// Returns the Lipschitz bound about the centre of the cell, with the error of the block there,
    /// not of the whole field.
    fn interval(&self, cell: Aabb) -> Interval {
        let known = |point| {
            let place = self.locate(point);
            let value = trilinear::value(place.corners, place.fraction.to_array());
            (value, place.error)
        };
        let outside = |point| self.lower_bound_outside(point).distance;
        AboutMiddle::of(cell, self.frame.bounds, false, 0.0, known, outside)
            .map_or(Interval::EVERYTHING, |about| about.interval)
    }
}
