//! Minimum and maximum of a sparse field over ever larger boxes, from single cells of its blocks to
//! all of it.
//!
//! Input: a [`SparseBlocks`].
//! Output: ranges over boxes, the cells that contain a level, the largest box around a point that
//! does not.
//! Cost: every value is read once, on all cores. 0.14 bytes per coarse cell, 4 bytes per block and
//! 16 more for one of 8³ cells: for a narrow band in 16 bits less than 2 % of the field's memory,
//! and for no field more than 10 %.
//! Not for: bounds of the true distance, which include the field's error (`Field::interval`).
//!
//! After \[XuCcd2014\], section 3.2 (docs/BIBLIOGRAPHY.md), like [`MinMaxOctree`] and with the same
//! closed ranges. One such tree covers the coarse cells. Below them every block is a small tree of
//! its own, halved down to its cells. The children of a node follow from the field. Only those
//! ranges are stored that would be slow to recompute: those of blocks as 16-bit steps inward from
//! the range of the whole field, those of the eighths of a block of 8³ cells as 8-bit steps inward
//! from that of the block. **Steps are rounded outward**: a stored range may be wider than the
//! values, never narrower.

use glam::{DVec3, UVec3, Vec3};

use crate::field::along_line::min_max_octree::NOTHING;
use crate::field::along_line::min_max_octree::{CellRanges, Cells, LeafSide, MinMaxOctree};
use crate::field::field::Field;
use crate::field::grid::frame::Place;
use crate::field::grid::layout::GridLayout;
use crate::field::sparse::sparse_blocks::{PLAIN, SparseBlock, SparseBlocks, SparseValues};
use crate::geom::{Aabb, DAabb, Interval};
use crate::threads;

/// Number of cells along a side of a leaf of the coarse tree, as a power of two; that of
/// [`LeafSide::Four`].
const COARSE_LEAF_LOG2: u32 = 2;

/// Number of cells along a side of a divided block, as a power of two. Divided blocks store the
/// ranges of their eighths.
const DIVIDED_LOG2: u8 = 3;

/// Number of values along a side of a divided block.
const ROW: usize = (1 << DIVIDED_LOG2) + 1;

/// Number of blocks that share one count of the divided blocks before them.
const COUNTED: usize = 64;

/// Ranges of the eighths of a block, x fastest, as steps inward from the block's range.
type Eighths = [[u8; 2]; 8];

/// An octree of value ranges over a sparse field.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseOctree {
    coarse: MinMaxOctree,
    /// Interval that contains every value; `blocks` counts from it \[m\].
    base: Interval,
    /// Range of each block including its nested blocks, as steps inward from `base`.
    blocks: Vec<[u16; 2]>,
    /// Ranges of the eighths of each divided block, in their order.
    eighths: Vec<Eighths>,
    /// Number of divided blocks before every [`COUNTED`]th block.
    divided_before: Vec<u32>,
}

/// A box of the tree, as passed to the closure of [`SparseOctree::descend`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SparseNode {
    /// Box of the node \[m\].
    pub region: Aabb,
    /// Interval that contains every value from which samples in the box are made \[m\].
    pub range: Interval,
    /// Whether the box is a single cell that no block replaces.
    pub is_finest: bool,
}

/// A box of cells of the coarse grid, or of a block.
#[derive(Clone, Copy)]
struct Node {
    /// Index of the block; `None` for the coarse grid.
    block: Option<u32>,
    /// Origin of the block \[coarse cells\].
    origin: DVec3,
    /// Side of its cells \[coarse cells\].
    cell_size: f64,
    /// Number of cells along a side of the node, as a power of two.
    log2: u32,
    /// Index of the node among those of its size.
    place: UVec3,
    /// Number of cells along each axis.
    cells: UVec3,
}

impl Node {
    fn cells(self) -> Cells {
        let at = |place: u32, offset: u64| ((u64::from(place) + offset) << self.log2) as u32;
        let end = |axis: usize| {
            let end = (u64::from(self.place[axis]) + 1) << self.log2;
            end.min(self.cells[axis].into()) as u32
        };
        Cells {
            first: UVec3::from(self.place.to_array().map(|place| at(place, 0))),
            last: UVec3::new(end(0), end(1), end(2)) - UVec3::ONE,
        }
    }

    /// Returns the box of the node \[coarse cells\].
    fn region(self) -> DAabb {
        let Cells { first, last } = self.cells();
        let at = |cell: UVec3| self.origin + self.cell_size * cell.as_dvec3();
        DAabb {
            min: at(first),
            max: at(last + UVec3::ONE),
        }
    }

    /// Iterates over the up to eight children of a node of more than one cell, each of half its
    /// side.
    fn halves(self) -> impl Iterator<Item = Node> {
        let log2 = self.log2 - 1;
        let last = self.cells().last;
        let most = UVec3::from(
            last.to_array()
                .map(|cell| cell.checked_shr(log2).unwrap_or(0)),
        );
        let first = 2 * self.place;
        let last = (first + UVec3::ONE).min(most);
        Cells { first, last }.iter().map(move |place| Node {
            log2,
            place,
            ..self
        })
    }
}

/// The coarse grid as a source of ranges, with the ranges of blocks in place of the cells they
/// replace.
struct CoarseCells<'a> {
    field: &'a SparseBlocks,
    block_range: &'a (dyn Fn(u32) -> Interval + Sync),
}

impl CellRanges for CoarseCells<'_> {
    fn layout(&self) -> &GridLayout {
        self.field.layout()
    }

    fn range(&self, cells: Cells) -> Interval {
        let Cells { first, last } = cells;
        let is_plain = |cell: UVec3| self.field.block_of(cell) == PLAIN;
        let rows = |end: UVec3| {
            (first.z..=end.z).flat_map(move |z| (first.y..=end.y).map(move |y| (y, z)))
        };
        let row_of = |y, z| (first.x..=last.x).map(move |x| UVec3::new(x, y, z));
        if rows(last).all(|(y, z)| row_of(y, z).all(is_plain)) {
            // Most of the grid is plain: read each node once, not for each of its cells.
            let length = (last.x - first.x) as usize + 2;
            return rows(last + UVec3::ONE).fold(NOTHING, |joined, (y, z)| {
                let start = self.field.layout().node_index(UVec3::new(first.x, y, z));
                join(
                    joined,
                    range_of(&self.field.parts().nodes[start..start + length]),
                )
            });
        }
        cells.iter().fold(NOTHING, |joined, cell| {
            let own = match self.field.block_of(cell) {
                PLAIN => range_of(&self.field.coarse_corners(cell)),
                block => (self.block_range)(block),
            };
            join(joined, own)
        })
    }
}

impl SparseOctree {
    /// Builds the tree: first the ranges of blocks, nested ones before those that contain them;
    /// then the tree over the coarse cells.
    pub fn build(field: &SparseBlocks) -> SparseOctree {
        let blocks = &field.parts().blocks;
        let base = base_of(field);
        let without_children = |index: usize| {
            let block = &blocks[index];
            match block.children {
                PLAIN => Own::of(field, block).coded(base),
                // Computed later: it needs the ranges of its child blocks.
                _ => ([0; 2], None),
            }
        };
        // Ranges of blocks without children, on all cores.
        let found = threads::map(blocks.len(), without_children);
        let (mut codes, mut eighths, mut divided_before) = (Vec::new(), Vec::new(), Vec::new());
        codes.reserve_exact(found.len());
        let divided = blocks.iter().filter(|block| is_divided(block)).count();
        eighths.reserve_exact(divided);
        for (index, (block, (code, own))) in blocks.iter().zip(found).enumerate() {
            if index.is_multiple_of(COUNTED) {
                divided_before.push(eighths.len() as u32);
            }
            codes.push(code);
            if is_divided(block) {
                eighths.push(own.unwrap_or_default());
            }
        }
        // Blocks with children. A block comes after the one whose cell it replaces, so backwards
        // its range is computed before it is needed.
        let mut next_divided = divided;
        for (index, block) in blocks.iter().enumerate().rev() {
            next_divided -= usize::from(is_divided(block));
            if block.children != PLAIN {
                let mut own = Own::of(field, block);
                own.add_children(field, block, |child| {
                    outward(base, codes[child as usize], u16::MAX)
                });
                let (code, parts) = own.coded(base);
                codes[index] = code;
                if let Some(parts) = parts {
                    eighths[next_divided] = parts;
                }
            }
        }
        // The tree over the coarse cells.
        let block_range = |block: u32| outward(base, codes[block as usize], u16::MAX);
        let source = CoarseCells {
            field,
            block_range: &block_range,
        };
        SparseOctree {
            coarse: MinMaxOctree::build(&source, LeafSide::Four),
            base,
            blocks: codes,
            eighths,
            divided_before,
        }
    }

    /// Returns the tree over the coarse cells, blocks included.
    pub(crate) fn coarse(&self) -> &MinMaxOctree {
        &self.coarse
    }

    /// Returns the size of all ranges in bytes.
    pub fn bytes(&self) -> usize {
        self.coarse.bytes()
            + size_of_val(self.blocks.as_slice())
            + size_of_val(self.eighths.as_slice())
            + size_of_val(self.divided_before.as_slice())
    }

    /// Returns the range of values of the whole field \[m\].
    pub fn whole(&self) -> Interval {
        self.coarse.whole()
    }

    /// Returns an interval that contains every value that `field`, which the tree was built over,
    /// gives for points of `region` inside its bounds, the rounding of `f32` included \[m\]; `None`
    /// when there are no such points. Tight up to whole cells and the steps of stored ranges.
    ///
    /// # Panics
    /// If `field` is another one.
    pub fn range(&self, field: &SparseBlocks, region: Aabb) -> Option<Interval> {
        self.check(field);
        let layout = field.layout();
        let shared = region.intersection(field.bounds());
        if region.is_empty() || shared.is_empty() {
            return None;
        }
        let place = |point: Vec3| {
            (point.as_dvec3() - layout.origin.as_dvec3()) / f64::from(layout.cell_size)
        };
        // Rounding error of an `f32` lookup \[coarse cells\].
        let unsure = 4.0 * f64::from(f32::EPSILON) * (f64::from(layout.nodes.max_element()) + 1.0);
        let wanted = DAabb {
            min: place(shared.min) - unsure,
            max: place(shared.max) + unsure,
        };
        let mut joined = NOTHING;
        self.join_below(field, self.root(field), wanted, &mut joined);
        // Interpolating eight values rounds ten times or fewer, each by half an ε of the largest of
        // them.
        let largest = joined.lower.abs().max(joined.upper.abs());
        Some(joined.grown(8.0 * f32::EPSILON * largest + f32::MIN_POSITIVE))
    }

    /// Calls `visit` with the box of every finest cell whose own range contains `level`, ends
    /// included \[m\]. `field` is the one that the tree was built over. The order is that of the
    /// tree, the same on every run.
    ///
    /// # Panics
    /// If `field` is another one.
    pub fn visit_level(&self, field: &SparseBlocks, level: f32, mut visit: impl FnMut(Aabb)) {
        self.descend(field, |node| {
            let holds = node.range.contains(level);
            if holds && node.is_finest {
                visit(node.region);
            }
            holds
        });
    }

    /// Calls `enter` with the whole field and, wherever it returns `true`, with the children of
    /// that node. `field` is the one that the tree was built over.
    ///
    /// # Panics
    /// If `field` is another one.
    pub fn descend(&self, field: &SparseBlocks, mut enter: impl FnMut(SparseNode) -> bool) {
        self.check(field);
        self.enter_below(field, self.root(field), &mut enter);
    }

    /// Returns the largest box of the tree around `point` in which no value equals `level`, and
    /// which a traversal may skip \[m\]. `None` when the finest cell contains the level, or the
    /// point is outside. Within `f32` rounding of the sides of the box, a sample may already use
    /// the neighbouring cell.
    ///
    /// # Panics
    /// If `field` is not the one that the tree was built over.
    pub fn largest_without(&self, field: &SparseBlocks, point: Vec3, level: f32) -> Option<Aabb> {
        self.check(field);
        let layout = field.layout();
        if !field.bounds().contains(point) {
            return None;
        }
        let mut node = self.root(field);
        let Place {
            mut cell,
            mut fraction,
        } = field.place(point);
        loop {
            for log2 in (0..=node.log2).rev() {
                let own = cell.to_array().map(|cell| cell.checked_shr(log2));
                let place = UVec3::from(own.map(|place| place.unwrap_or(0)));
                let around = Node {
                    log2,
                    place,
                    ..node
                };
                if !self.node_range(field, around).contains(level) {
                    return Some(in_metres(layout, around.region()));
                }
            }
            let single = Node {
                log2: 0,
                place: cell,
                ..node
            };
            node = self.within(field, single)?;
            let inner = Place::among(node.cells, fraction * node.cells.x as f32);
            (cell, fraction) = (inner.cell, inner.fraction);
        }
    }

    fn check(&self, field: &SparseBlocks) {
        assert!(
            self.coarse.layout() == field.layout()
                && self.blocks.len() == field.parts().blocks.len(),
            "the octree was built over another field than this one"
        );
    }

    fn root(&self, field: &SparseBlocks) -> Node {
        Node {
            block: None,
            origin: DVec3::ZERO,
            cell_size: 1.0,
            log2: COARSE_LEAF_LOG2 + self.coarse.height() as u32,
            place: UVec3::ZERO,
            cells: field.layout().cells(),
        }
    }

    /// Returns the whole block that replaces a single cell, if there is one.
    fn within(&self, field: &SparseBlocks, cell: Node) -> Option<Node> {
        let next = match cell.block {
            None => field.block_of(cell.place),
            Some(block) => field.block_within(block, cell.place),
        };
        let block = field.parts().blocks.get(next as usize)?;
        Some(Node {
            block: Some(next),
            origin: cell.region().min,
            cell_size: cell.cell_size / f64::from(block.side()),
            log2: block.cells_log2.into(),
            place: UVec3::ZERO,
            cells: UVec3::splat(block.side()),
        })
    }

    pub(crate) fn block_range(&self, block: u32) -> Interval {
        outward(self.base, self.blocks[block as usize], u16::MAX)
    }

    /// Returns the range of a node, stored or recomputed from the values of a few cells.
    fn node_range(&self, field: &SparseBlocks, node: Node) -> Interval {
        let Some(index) = node.block else {
            return match node.log2.checked_sub(COARSE_LEAF_LOG2) {
                Some(height) => self.coarse.node_range(height as usize, node.place),
                None => CoarseCells {
                    field,
                    block_range: &|block| self.block_range(block),
                }
                .range(node.cells()),
            };
        };
        let block = &field.parts().blocks[index as usize];
        let cells_log2 = u32::from(block.cells_log2);
        if node.log2 == cells_log2 {
            return self.block_range(index);
        }
        if is_divided(block) && node.log2 + 1 == cells_log2 {
            let UVec3 { x, y, z } = node.place;
            let parts = self.eighths[self.divided_index(field, index)];
            let [lower, upper] = parts[(4 * z + 2 * y + x) as usize].map(u16::from);
            return outward(self.block_range(index), [lower, upper], u8::MAX.into());
        }
        let cells = node.cells();
        let mut range = NOTHING;
        for corner in (Cells {
            first: cells.first,
            last: cells.last + UVec3::ONE,
        })
        .iter()
        {
            let value = field.block_value(block, corner);
            range = join(range, Interval::new(value, value));
        }
        if block.children != PLAIN {
            for cell in cells.iter() {
                let child = field.block_within(index, cell);
                if child != PLAIN {
                    range = join(range, self.block_range(child));
                }
            }
        }
        range
    }

    fn divided_index(&self, field: &SparseBlocks, block: u32) -> usize {
        let group = block as usize / COUNTED;
        let before = &field.parts().blocks[group * COUNTED..block as usize];
        self.divided_before[group] as usize + before.iter().filter(|b| is_divided(b)).count()
    }

    fn join_below(&self, field: &SparseBlocks, node: Node, wanted: DAabb, joined: &mut Interval) {
        let region = node.region();
        let apart = region.min.cmpgt(wanted.max).any() || wanted.min.cmpgt(region.max).any();
        if apart {
            return;
        }
        let range = self.node_range(field, node);
        if joined.lower <= range.lower && range.upper <= joined.upper {
            return;
        }
        let all = wanted.min.cmple(region.min).all() && region.max.cmple(wanted.max).all();
        if all {
            *joined = join(*joined, range);
        } else if node.log2 > 0 {
            for half in node.halves() {
                self.join_below(field, half, wanted, joined);
            }
        } else if let Some(inner) = self.within(field, node) {
            self.join_below(field, inner, wanted, joined);
        } else {
            *joined = join(*joined, range);
        }
    }

    fn enter_below(
        &self,
        field: &SparseBlocks,
        node: Node,
        enter: &mut impl FnMut(SparseNode) -> bool,
    ) {
        let inner = match node.log2 {
            0 => self.within(field, node),
            _ => None,
        };
        let is_finest = node.log2 == 0 && inner.is_none();
        let region = in_metres(field.layout(), node.region());
        // Cells beyond the bounds may hold anything.
        if region.intersection(field.bounds()).is_empty() {
            return;
        }
        let seen = SparseNode {
            region,
            range: self.node_range(field, node),
            is_finest,
        };
        if !enter(seen) || is_finest {
            return;
        }
        match inner {
            Some(inner) => self.enter_below(field, inner, enter),
            None => {
                for half in node.halves() {
                    self.enter_below(field, half, enter);
                }
            }
        }
    }
}

fn in_metres(layout: &GridLayout, region: DAabb) -> Aabb {
    let at =
        |place: DVec3| (layout.origin.as_dvec3() + f64::from(layout.cell_size) * place).as_vec3();
    Aabb::new(at(region.min), at(region.max))
}

fn is_divided(block: &SparseBlock) -> bool {
    block.cells_log2 == DIVIDED_LOG2
}

fn join(a: Interval, b: Interval) -> Interval {
    Interval::new(a.lower.min(b.lower), a.upper.max(b.upper))
}

fn range_of(values: &[f32]) -> Interval {
    let [lower, upper] = ends(values.iter().copied()).unwrap_or([NOTHING.lower, NOTHING.upper]);
    Interval::new(lower, upper)
}

/// Returns the least and the largest key; `None` if there are none.
fn ends<K: Copy + PartialOrd>(mut keys: impl Iterator<Item = K>) -> Option<[K; 2]> {
    let first = keys.next()?;
    Some(keys.fold([first; 2], |[low, high], key| {
        [least(low, key), largest(high, key)]
    }))
}

// `if` rather than `Ord`: no NaN is stored, and this compiles to one instruction.
#[inline(always)]
fn least<K: PartialOrd>(a: K, b: K) -> K {
    if b < a { b } else { a }
}

#[inline(always)]
fn largest<K: PartialOrd>(a: K, b: K) -> K {
    if b > a { b } else { a }
}

/// Returns an interval that contains every value. For quantised blocks it spans all storable
/// values, which are the actual ones if a block uses all its steps.
fn base_of(field: &SparseBlocks) -> Interval {
    let parts = field.parts();
    let most = match &parts.values {
        SparseValues::Bits8(_) => f32::from(u8::MAX),
        SparseValues::Bits16(_) => f32::from(u16::MAX),
        SparseValues::Bits32(values) => return join(range_of(&parts.nodes), range_of(values)),
    };
    (parts.blocks.iter()).fold(range_of(&parts.nodes), |joined, block| {
        let ends = [0.0, most].map(|stored| block.distance(stored));
        join(joined, Interval::new(ends[0], ends[1]))
    })
}

/// The ranges of a block's own values, and then of its child blocks too.
struct Own {
    all: Interval,
    eighths: Option<[Interval; 8]>,
}

impl Own {
    fn of(field: &SparseBlocks, block: &SparseBlock) -> Own {
        let values = block.first_value..block.first_value + block.value_count();
        let scaled = |stored: f32| block.distance(stored);
        /// Maps unsigned to signed keys: processors compare eight signed 16-bit numbers at a time,
        /// but unsigned ones one by one.
        const BIAS: u16 = 1 << 15;
        match &field.parts().values {
            SparseValues::Bits8(all) => {
                let distance = |key: u8| scaled(key.into());
                Own::of_values(block, &all[values], |stored| stored, distance)
            }
            SparseValues::Bits16(all) => {
                let distance = |key: i16| scaled((key as u16 ^ BIAS).into());
                let key = |stored: u16| (stored ^ BIAS) as i16;
                Own::of_values(block, &all[values], key, distance)
            }
            SparseValues::Bits32(all) => {
                Own::of_values(block, &all[values], |value| value, |key: f32| key)
            }
        }
    }

    /// Computes the ranges of a block's own values. `key`, which is compared, and `distance` of it
    /// must both be monotonic in the stored value, so that the extremes of the keys are those of
    /// the distances.
    fn of_values<T: Copy, K: Copy + PartialOrd>(
        block: &SparseBlock,
        values: &[T],
        key: impl Fn(T) -> K + Copy,
        distance: impl Fn(K) -> f32,
    ) -> Own {
        let to_range = |[least, largest]: [K; 2]| Interval::new(distance(least), distance(largest));
        if !is_divided(block) {
            let all = ends(values.iter().map(|&value| key(value))).map_or(NOTHING, to_range);
            return Own { all, eighths: None };
        }
        let eighths = ends_of_eighths(values, key).map(to_range);
        Own {
            all: eighths.into_iter().fold(NOTHING, join),
            eighths: Some(eighths),
        }
    }

    fn add_children(
        &mut self,
        field: &SparseBlocks,
        block: &SparseBlock,
        block_range: impl Fn(u32) -> Interval,
    ) {
        let side = block.side();
        let last = UVec3::splat(side - 1);
        let first = UVec3::ZERO;
        let children = field.children_of(block);
        for (cell, &child) in (Cells { first, last }).iter().zip(children) {
            if child == PLAIN {
                continue;
            }
            let range = block_range(child);
            self.all = join(self.all, range);
            if let Some(eighths) = &mut self.eighths {
                let half = cell / (side / 2);
                let eighth = &mut eighths[(4 * half.z + 2 * half.y + half.x) as usize];
                *eighth = join(*eighth, range);
            }
        }
    }

    fn coded(&self, base: Interval) -> ([u16; 2], Option<Eighths>) {
        let code = inward(base, self.all, u16::MAX);
        let kept = outward(base, code, u16::MAX);
        let eighths = (self.eighths).map(|eighths| {
            eighths.map(|eighth| inward(kept, eighth, u8::MAX.into()).map(|steps| steps as u8))
        });
        (code, eighths)
    }
}

/// Returns the least and largest key in each eighth of a block of 9³ values. The middle planes
/// count to both sides.
///
/// Compares row by row, eight values at a time, and the ninth apart; across a row only at the end.
fn ends_of_eighths<T: Copy, K: Copy + PartialOrd>(
    values: &[T],
    key: impl Fn(T) -> K + Copy,
) -> [[K; 2]; 8] {
    const MIDDLE: usize = ROW / 2;
    const WIDE: usize = ROW - 1;
    let start = |y: usize, z: usize| (z * ROW + y) * ROW;
    let quarter = |y: usize, z: usize| {
        let first = &values[start(y, z)..][..ROW];
        let mut low: [K; WIDE] = std::array::from_fn(|x| key(first[x]));
        let mut high = low;
        let mut end = [key(first[WIDE]); 2];
        for z in z..=z + MIDDLE {
            let plane = &values[start(y, z)..start(y + MIDDLE + 1, z)];
            for row in plane.chunks_exact(ROW) {
                for x in 0..WIDE {
                    let value = key(row[x]);
                    low[x] = least(low[x], value);
                    high[x] = largest(high[x], value);
                }
                let value = key(row[WIDE]);
                end = [least(end[0], value), largest(end[1], value)];
            }
        }
        let half = |from: usize, to: [K; 2]| {
            (from..from + MIDDLE).fold(to, |[lower, upper], x| {
                [least(lower, low[x]), largest(upper, high[x])]
            })
        };
        [half(0, [low[MIDDLE], high[MIDDLE]]), half(MIDDLE, end)]
    };
    let [a, b] = quarter(0, 0);
    let [c, d] = quarter(MIDDLE, 0);
    let [e, f] = quarter(0, MIDDLE);
    let [g, h] = quarter(MIDDLE, MIDDLE);
    [a, b, c, d, e, f, g, h]
}

/// Returns how far the ends of `inner` lie inside those of `outer`, in units of 1/`steps` of the
/// width of `outer`, rounded so that [`outward`] returns an interval that contains `inner`.
fn inward(outer: Interval, inner: Interval, steps: u16) -> [u16; 2] {
    let width = outer.width();
    let code = |inside: f32, holds: &dyn Fn(u16) -> bool| {
        // A width of zero gives NaN or infinity; the cast makes a number of either, and the test
        // below decides.
        let guess = (inside / width * f32::from(steps)) as u16;
        let guess = guess.min(steps);
        // One less where rounding went inward; none at all where the ends are too close for `f32`
        // to divide.
        let near = [guess, guess.saturating_sub(1)];
        near.into_iter().find(|&code| holds(code)).unwrap_or(0)
    };
    let lower = code(inner.lower - outer.lower, &|code| {
        outward(outer, [code, 0], steps).lower <= inner.lower
    });
    let upper = code(outer.upper - inner.upper, &|code| {
        outward(outer, [0, code], steps).upper >= inner.upper
    });
    [lower, upper]
}

/// Returns the interval that [`inward`] encoded.
fn outward(outer: Interval, code: [u16; 2], steps: u16) -> Interval {
    let step = outer.width() / f32::from(steps);
    Interval::new(
        outer.lower + f32::from(code[0]) * step,
        outer.upper - f32::from(code[1]) * step,
    )
}
