//! Distances on a coarse grid, with blocks of finer cells where those pay.
//!
//! Input: coarse node values, and blocks of 2³, 4³ or 8³ cells that replace a cell; a cell of a block may be replaced again.
//! Output: value and the analytic gradient of the interpolant, with an error bound for every block; outside, a proven lower bound.
//! Cost: the coarse lookup, and one more for every level; 1, 2 or 4 bytes a value; no allocation.
//! Not for: small grids, where a dense one is faster.
//!
//! A block keeps its own border, so that a lookup reads one block only. Values are stored as multiples of a step from the lowest
//! value of the block: what that rounds away is part of the block's error.

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

/// Cells of a block along a side, as powers of two: 2, 4 or 8.
const MOST_CELLS_LOG2: u8 = 3;

/// Levels of blocks within blocks; eight halvings each are more than `f32` can tell apart.
const MOST_LEVELS: u32 = 8;

/// A coarse grid and its blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseBlocks {
    /// Of the coarse grid; the error is the largest of all cells.
    frame: GridFrame,
    parts: SparseParts,
    levels: u32,
}

/// What a [`SparseBlocks`] is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseParts {
    /// Distances at the coarse nodes, x fastest \[m\].
    pub nodes: Vec<f32>,
    /// The block that replaces each coarse cell, x fastest; [`PLAIN`] for none.
    pub cells: Vec<u32>,
    /// Largest error in any coarse cell that no block replaces \[m\].
    pub plain_error: f32,
    /// Every block comes after the one whose cell it replaces.
    pub blocks: Vec<SparseBlock>,
    /// Blocks that replace cells of blocks, as many as a block has cells for each [`SparseBlock::children`].
    pub children: Vec<u32>,
    /// The values of all blocks, one after the other, each x fastest.
    pub values: SparseValues,
    /// A box that holds the surface \[m\].
    pub solid: Aabb,
}

/// A block of finer cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SparseBlock {
    /// Cells along a side are two to this power, from 1 to 3.
    pub cells_log2: u8,
    /// Where its blocks begin in [`SparseParts::children`]; [`PLAIN`] when it has none.
    pub children: u32,
    /// Where its values begin.
    pub first_value: usize,
    /// The lowest value \[m\].
    pub lowest: f32,
    /// What a stored value of 1 is worth \[m\].
    pub step: f32,
    /// |interpolated − true| at most, in the cells that no block replaces \[m\].
    pub error: f32,
}

impl SparseBlock {
    /// Cells along a side.
    pub fn side(&self) -> u32 {
        1 << self.cells_log2
    }

    /// Number of values.
    pub fn value_count(&self) -> usize {
        (self.side() as usize + 1).pow(3)
    }

    /// What a stored value is worth, except in 32 bits, where values are as they are \[m\]. Never falls where `stored` rises.
    #[inline(always)]
    pub(crate) fn distance(&self, stored: f32) -> f32 {
        self.lowest + self.step * stored
    }
}

/// Stored values, as fine as they have to be.
#[derive(Clone, Debug, PartialEq)]
pub enum SparseValues {
    /// 255 steps from the lowest value of a block to its highest.
    Bits8(Vec<u8>),
    /// 65,535 steps.
    Bits16(Vec<u16>),
    /// As they are; the lowest is 0 and the step 1.
    Bits32(Vec<f32>),
}

impl SparseValues {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            SparseValues::Bits8(values) => values.len(),
            SparseValues::Bits16(values) => values.len(),
            SparseValues::Bits32(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bits of a value.
    pub fn bits(&self) -> u32 {
        match self {
            SparseValues::Bits8(_) => 8,
            SparseValues::Bits16(_) => 16,
            SparseValues::Bits32(_) => 32,
        }
    }
}

/// Why there is no such field.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SparseError {
    /// The coarse grid is impossible.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// Lists that belong together differ in length.
    #[error("{what}: {found} given, {expected} needed")]
    WrongCount {
        /// Of what.
        what: &'static str,
        /// Given.
        found: usize,
        /// Needed.
        expected: u64,
    },
    /// A block that cannot be.
    #[error("block {block}: {why}")]
    BadBlock {
        /// Its number.
        block: usize,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Errors hold nowhere, or where there is no grid.
    #[error(
        "the field is to be good from {:?} to {:?}, which is nowhere or reaches out of the coarse grid",
        .0.min.to_array(), .0.max.to_array()
    )]
    BadBounds(Aabb),
    /// A cell names a block that it may not.
    #[error(
        "{place} is replaced by block {block}, which is not there, or replaces another cell too"
    )]
    BadReference {
        /// Which cell.
        place: String,
        /// The block.
        block: u32,
    },
}

/// A cell to interpolate in, and the place in it.
struct Interpolation {
    corners: [f32; 8],
    /// Within the cell, from 0 to 1.
    fraction: Vec3,
    /// Sides of the cell \[m\].
    cell_size: f32,
    /// Of the block, or the coarse grid \[m\].
    error: f32,
}

impl SparseBlocks {
    /// From its parts, all of which are checked.
    pub fn new(layout: GridLayout, parts: SparseParts) -> Result<SparseBlocks, SparseError> {
        // To a grid an empty box is its own; here it is a fault.
        if parts.solid.is_empty() {
            return Err(GridError::BadSolid(parts.solid).into());
        }
        let mut frame = GridFrame::new(layout, parts.solid, parts.plain_error)?;
        let cells: u64 = layout.cells().to_array().map(u64::from).iter().product();
        expect_count("coarse nodes", parts.nodes.len(), layout.node_count())?;
        expect_count("coarse cells", parts.cells.len(), cells)?;
        let most = LARGEST * layout.cell_size.min(1.0);
        check_values(&parts.nodes, most)?;
        // Room for a step to be added to the lowest value in `f32`.
        check_blocks(&parts, 1e-3 * most)?;
        let levels = check_references(&parts)?;
        // Slopes are finite in the smallest cells too.
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

    /// The same, good within a part of the coarse grid only: cells beyond `bounds` hold any values, and no error is promised for them. Blocks over a grid whose sides are no whole number of them are made so.
    pub fn within(mut self, bounds: Aabb) -> Result<SparseBlocks, SparseError> {
        let grid = self.frame.layout.bounds();
        if bounds.is_empty() || !grid.contains(bounds.min) || !grid.contains(bounds.max) {
            return Err(SparseError::BadBounds(bounds));
        }
        self.frame.bounds = bounds;
        Ok(self)
    }

    /// Where the coarse nodes lie.
    pub fn layout(&self) -> &GridLayout {
        &self.frame.layout
    }

    /// What it is made of.
    pub fn parts(&self) -> &SparseParts {
        &self.parts
    }

    /// A box that holds the surface \[m\].
    pub fn solid(&self) -> Aabb {
        self.parts.solid
    }

    /// Levels of blocks within blocks.
    pub fn levels(&self) -> u32 {
        self.levels
    }

    /// Sides of the smallest cells \[m\].
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

    /// Bytes of all values, blocks and references.
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

    /// The lowest value of any block \[m\]; infinite when there are none.
    pub fn lowest_in_blocks(&self) -> f32 {
        match &self.parts.values {
            SparseValues::Bits32(values) => values.iter().copied().fold(f32::INFINITY, f32::min),
            _ => (self.parts.blocks.iter())
                .map(|block| block.lowest)
                .fold(f32::INFINITY, f32::min),
        }
    }

    /// |returned − true| at most near `point`, which lies within the bounds: that of its block \[m\].
    pub fn error_near(&self, point: Vec3) -> f32 {
        self.locate(point).error
    }

    /// What the finest cell around `middle` gives at the corners of a cube of side `size` \[m\] about it, and the error there \[m\].
    /// Neighbours may give others at the same corners: each block keeps its own border.
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

    /// The values of a block \[m\], x fastest.
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

    /// The coarse cell that samples at a point begin in, and the place in it.
    pub(crate) fn place(&self, point: Vec3) -> Place {
        self.frame.locate(point)
    }

    /// The block that replaces a coarse cell; [`PLAIN`] for none.
    #[inline(always)]
    pub(crate) fn block_of(&self, cell: UVec3) -> u32 {
        self.parts.cells[place_index(self.frame.layout.cells(), cell)]
    }

    /// The block that replaces a cell of a block; [`PLAIN`] for none.
    pub(crate) fn block_within(&self, block: u32, cell: UVec3) -> u32 {
        let block = &self.parts.blocks[block as usize];
        let index = place_index(UVec3::splat(block.side()), cell);
        let children = self.children_of(block);
        children.get(index).copied().unwrap_or(PLAIN)
    }

    /// The blocks that replace its cells, x fastest; none when it has none.
    pub(crate) fn children_of(&self, block: &SparseBlock) -> &[u32] {
        children_of(&self.parts, block)
    }

    /// A value of a block \[m\].
    pub(crate) fn block_value(&self, block: &SparseBlock, node: UVec3) -> f32 {
        let index = block.first_value + place_index(UVec3::splat(block.side() + 1), node);
        match &self.parts.values {
            SparseValues::Bits8(values) => block.distance(values[index].into()),
            SparseValues::Bits16(values) => block.distance(values[index].into()),
            SparseValues::Bits32(values) => values[index],
        }
    }

    /// The finest cell that holds a point. Points outside are taken at the nearest border; NaN counts as the lower one.
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

    /// The corners of a cell of a block, the lowest of which is this value.
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

/// Refuses NaN, and magnitudes above `most`.
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

/// Every block replaces one cell, of the coarse grid or of a block before it. Returns the levels.
fn check_references(parts: &SparseParts) -> Result<u32, SparseError> {
    const NOWHERE: u32 = 0;
    let mut level = vec![NOWHERE; parts.blocks.len()];
    let mut deepest = 0;
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
        let mut rows = [L::splat(0.0); LANES];
        let mut next = [PLAIN; LANES];
        // A cell that no block replaces counts as one of a single cell from then on, which changes nothing.
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
    /// [`Self::block_corners`] in lanes, given which value of the block is the first of them.
    #[inline(always)]
    fn load_block_corners<L: Lanes>(&self, block: &SparseBlock, corner: u32) -> L {
        /// Nearly all blocks have the largest side: where the compiler knows it, one check does for all corners.
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

/// Which of so many along each axis, x fastest: [`place_index`] lane by lane. Of blocks, whose numbers are small: nothing is rounded.
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

    /// The Lipschitz bound about the middle, from what is known there: the error of that block, not of the whole field.
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
