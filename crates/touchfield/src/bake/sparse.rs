//! Sparse fields straight from the mesh: a band of fine blocks around the surface, or blocks wherever a tolerance asks for them.
//!
//! Input: a closed mesh; how fine, or how exact.
//! Output: a [`SparseBlocks`] whose error is proven for every block; no dense grid is ever made.
//! Cost: a few microseconds a stored value; the time and memory of a band grow with the square of the resolution.
//! Not for: surfaces with holes, whose field is no distance beside them.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use glam::{DVec3, UVec3};

use super::bake::{BakeError, BakeReport};
use super::blocks::Piece;
use super::cell_error::{Cell, CellProver};
use super::check;
use super::exact_bvh::fill_piece;
use super::exact_distance::{ExactDistance, check_faces};
use super::nodes::Wanted;
use super::settings::{BakeSettings, Progress, Stage, Step};
use super::sign::Signs;
use crate::field::{
    GridLayout, PLAIN, Provenance, SparseBlock, SparseBlocks, SparseError, SparseParts,
    SparseValues,
};
use crate::mesh::TriangleMesh;
use crate::threads;

/// How a sparse field is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SparseSettings {
    /// Where the blocks are.
    pub goal: SparseGoal,
    /// Of a stored value.
    pub bits: Bits,
    /// Lowers every value by its error: the solid then encloses the mesh, and no point of it is reported outside.
    pub conservative: bool,
}

/// What blocks are for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SparseGoal {
    /// Cells of the size that [`BakeSettings::resolution`] asks for, within so many of them from the surface.
    Band(f64),
    /// An error of at most this, everywhere within the grid \[m\].
    Tolerance(f64),
}

/// Bits of a stored value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bits {
    /// One byte.
    Eight,
    /// Two bytes.
    Sixteen,
    /// Four bytes: `f32`.
    ThirtyTwo,
}

impl Bits {
    fn steps(self) -> Option<f64> {
        match self {
            Bits::Eight => Some(255.0),
            Bits::Sixteen => Some(65_535.0),
            Bits::ThirtyTwo => None,
        }
    }

    fn bytes(self) -> u64 {
        match self {
            Bits::Eight => 1,
            Bits::Sixteen => 2,
            Bits::ThirtyTwo => 4,
        }
    }
}

impl Default for SparseSettings {
    fn default() -> SparseSettings {
        SparseSettings {
            goal: SparseGoal::Band(3.0),
            bits: Bits::Sixteen,
            conservative: false,
        }
    }
}

/// A sparse field and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct BakedSparse {
    /// The field.
    pub field: SparseBlocks,
    /// What is stored with it. Doubtful cells are those of the coarse grid.
    pub provenance: Provenance,
    /// What is known only now.
    pub report: BakeReport,
}

/// Cells of a block along a side in a band.
const BAND_CELLS: u32 = 8;

/// Bakes a closed mesh into a sparse field.
pub fn bake_sparse(
    mesh: &TriangleMesh,
    settings: &BakeSettings,
    sparse: &SparseSettings,
    progress: &(dyn Fn(Step) -> ControlFlow<()> + Sync),
) -> Result<BakedSparse, BakeError> {
    let start = Instant::now();
    check_faces(mesh)?;
    let layout = coarse_layout(mesh, settings, sparse)?;
    let bounds = mesh.bounds();
    report(progress, Stage::Preparing, 0, 1)?;
    let exact = ExactDistance::new(mesh, settings.sign)?;
    let patches = match &exact.plan().signs {
        Signs::Pseudonormal(patches) | Signs::ClosedWinding(patches) if exact.is_closed() => {
            patches
        }
        _ => return Err(BakeError::SparseNeedsClosed),
    };
    let builder = Builder {
        exact: &exact,
        prover: CellProver {
            bvh: &exact.plan().bvh,
            patches,
        },
        layout,
        bits: sparse.bits,
        rounding: check::rounding(&layout, 0.0),
        max_values: settings
            .max_memory
            .saturating_sub(layout.node_count().saturating_mul(9))
            / sparse.bits.bytes(),
        values: AtomicU64::new(0),
    };
    let coarse = builder.coarse(progress)?;
    let built = match sparse.goal {
        SparseGoal::Band(width) => builder.band(&coarse, width, progress)?,
        SparseGoal::Tolerance(tolerance) => builder.within(&coarse, tolerance, progress)?,
    };
    report(progress, Stage::Checking, 0, 1)?;
    let mut parts = SparseParts {
        nodes: coarse.values,
        cells: built.cells,
        plain_error: (built.plain_error as f32).next_up(),
        blocks: built.blocks,
        children: built.children,
        values: built.values,
        solid: check::solid(bounds),
    };
    if sparse.conservative {
        lower_by_errors(&mut parts);
    }
    let field = SparseBlocks::new(layout, parts).map_err(|error| match error {
        SparseError::Grid(error) => BakeError::Grid(error),
        error => BakeError::Sparse(error),
    })?;
    let measured_error = check::measured_error(&field, field.finest_cell_size(), &exact, mesh);
    Ok(BakedSparse {
        provenance: Provenance {
            sign_method: exact.sign_method(),
            measured_error,
            doubtful_cells: Vec::new(),
            notes: exact.notes().to_vec(),
        },
        field,
        report: BakeReport {
            time: start.elapsed(),
            cross_checked: 0,
            disagreements: 0,
        },
    })
}

/// The grid whose cells blocks replace.
fn coarse_layout(
    mesh: &TriangleMesh,
    settings: &BakeSettings,
    sparse: &SparseSettings,
) -> Result<GridLayout, BakeError> {
    let bounds = mesh.bounds();
    match sparse.goal {
        SparseGoal::Band(width) => {
            if !(width > 0.0 && width.is_finite()) {
                return Err(BakeError::BadBand { width });
            }
            let fine = settings.layout(bounds)?;
            let cells = (fine.cells() + (BAND_CELLS - 1)) / BAND_CELLS;
            centered(bounds.center(), fine.cell_size * BAND_CELLS as f32, cells)
        }
        SparseGoal::Tolerance(tolerance) => {
            if !(tolerance > 0.0 && tolerance.is_finite()) {
                return Err(BakeError::BadTolerance { tolerance });
            }
            let extents = bounds.extents();
            let longest = extents.max_element();
            if !(longest > 0.0 && longest.is_finite()) {
                return Err(BakeError::NoExtent { extents });
            }
            // Where the surface has an edge, cells are as large as the tolerance, two levels of blocks down. Not tuned further.
            let size = (64.0 * tolerance).clamp(longest / 128.0, longest / 8.0) as f32;
            let padded = extents + 2.0 * f64::from(size);
            let cells = (padded / f64::from(size)).ceil().max(DVec3::ONE).as_uvec3();
            centered(bounds.center(), size, cells)
        }
    }
}

fn centered(center: DVec3, cell_size: f32, cells: UVec3) -> Result<GridLayout, BakeError> {
    let layout = GridLayout {
        origin: (center - 0.5 * f64::from(cell_size) * cells.as_dvec3()).as_vec3(),
        cell_size,
        nodes: cells + UVec3::ONE,
    };
    layout.check()?;
    Ok(layout)
}

fn report(progress: Progress<'_>, stage: Stage, done: u64, total: u64) -> Result<(), BakeError> {
    match progress(Step { stage, done, total }) {
        ControlFlow::Break(()) => Err(BakeError::Cancelled),
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// Moves every value down by what it can be too high, and says how far it can be off then.
fn lower_by_errors(parts: &mut SparseParts) {
    // Twice over in f32: the sum is rounded, and so is every sample.
    let down = |value: f32, error: f32| (value - error.next_up()).next_down();
    for value in &mut parts.nodes {
        *value = down(*value, parts.plain_error);
    }
    parts.plain_error = (2.0 * parts.plain_error).next_up();
    for block in &mut parts.blocks {
        if let SparseValues::Bits32(values) = &mut parts.values {
            let count = block.value_count();
            for value in &mut values[block.first_value..block.first_value + count] {
                *value = down(*value, block.error);
            }
        } else {
            block.lowest = down(block.lowest, block.error);
        }
        block.error = (2.0 * block.error).next_up().next_up();
    }
}

struct Builder<'a> {
    exact: &'a ExactDistance,
    prover: CellProver<'a>,
    layout: GridLayout,
    bits: Bits,
    rounding: f64,
    max_values: u64,
    /// Stored so far.
    values: AtomicU64,
}

/// The coarse nodes.
struct Coarse {
    values: Vec<f32>,
    faces: Vec<u32>,
}

/// Blocks as they grow.
struct Built {
    cells: Vec<u32>,
    plain_error: f64,
    blocks: Vec<SparseBlock>,
    children: Vec<u32>,
    values: SparseValues,
}

impl Built {
    fn new(bits: Bits) -> Built {
        Built {
            cells: Vec::new(),
            plain_error: 0.0,
            blocks: Vec::new(),
            children: Vec::new(),
            values: match bits {
                Bits::Eight => SparseValues::Bits8(Vec::new()),
                Bits::Sixteen => SparseValues::Bits16(Vec::new()),
                Bits::ThirtyTwo => SparseValues::Bits32(Vec::new()),
            },
        }
    }

    /// Adds another's blocks behind its own.
    fn append(&mut self, other: Built) {
        let moved = |list: Vec<u32>, by: usize| {
            list.into_iter().map(move |index| {
                if index == PLAIN {
                    PLAIN
                } else {
                    index + by as u32
                }
            })
        };
        let (blocks, children, values) =
            (self.blocks.len(), self.children.len(), self.values.len());
        self.cells.extend(moved(other.cells, blocks));
        self.children.extend(moved(other.children, blocks));
        self.blocks
            .extend(other.blocks.into_iter().map(|mut block| {
                block.first_value += values;
                if block.children != PLAIN {
                    block.children += children as u32;
                }
                block
            }));
        self.plain_error = self.plain_error.max(other.plain_error);
        match (&mut self.values, other.values) {
            (SparseValues::Bits8(own), SparseValues::Bits8(more)) => own.extend(more),
            (SparseValues::Bits16(own), SparseValues::Bits16(more)) => own.extend(more),
            (SparseValues::Bits32(own), SparseValues::Bits32(more)) => own.extend(more),
            _ => unreachable!("one bake stores one kind of values"),
        }
    }

    /// Stores a block of values; `error` is that of interpolating them as they are. Returns its number.
    fn push(&mut self, cells_log2: u8, values: &[f32], error: f64, rounding: f64) -> u32 {
        let low = values.iter().copied().fold(f32::INFINITY, f32::min);
        let high = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let largest = f64::from(low.abs().max(high.abs()));
        let first_value = self.values.len();
        let steps = self.values.bits().min(16);
        let step = match self.values {
            SparseValues::Bits32(_) => 0.0,
            _ => (high - low) / ((1u32 << steps) - 1) as f32,
        };
        // A step too small to count with is none.
        let step = if step.is_normal() { step } else { 0.0 };
        let stored = |value: f32| match step {
            0.0 => 0.0,
            step => ((value - low) / step).round(),
        };
        match &mut self.values {
            SparseValues::Bits8(own) => own.extend(values.iter().map(|&v| stored(v) as u8)),
            SparseValues::Bits16(own) => own.extend(values.iter().map(|&v| stored(v) as u16)),
            SparseValues::Bits32(own) => own.extend_from_slice(values),
        }
        let (lowest, lost) = match self.values {
            SparseValues::Bits32(_) => (0.0, 0.0),
            // Without steps every value is the lowest.
            _ if step == 0.0 => (low, high - low),
            _ => (low, 0.5 * step),
        };
        // Decoding multiplies and adds in f32.
        let rounding = rounding + 16.0 * f64::from(f32::EPSILON) * largest;
        self.blocks.push(SparseBlock {
            cells_log2,
            children: PLAIN,
            first_value,
            lowest,
            step,
            error: ((error + f64::from(lost) + rounding) as f32).next_up(),
        });
        self.blocks.len() as u32 - 1
    }
}

impl Builder<'_> {
    /// Exact distances and nearest faces of the coarse nodes.
    fn coarse(&self, progress: Progress<'_>) -> Result<Coarse, BakeError> {
        let layout = &self.layout;
        let count = usize::try_from(layout.node_count()).unwrap_or(usize::MAX);
        let needed = layout.node_count().saturating_mul(12);
        if needed > self.max_values.saturating_mul(self.bits.bytes()) {
            return Err(self.too_much(needed));
        }
        let plane = (layout.nodes.x * layout.nodes.y) as usize;
        let layers = layout.nodes.z.div_ceil(4) as usize;
        let done = AtomicU64::new(0);
        let cancelled = AtomicBool::new(false);
        let parts = threads::map(layers, |layer| {
            let z = 4 * layer as u32;
            let size = UVec3::new(layout.nodes.x, layout.nodes.y, 4.min(layout.nodes.z - z));
            let mut values = vec![0.0; plane * size.z as usize];
            let mut faces = vec![0; values.len()];
            if !cancelled.load(Ordering::Relaxed) {
                self.fill(layout, UVec3::new(0, 0, z), size, &mut values, &mut faces);
                let done = 1 + done.fetch_add(1, Ordering::Relaxed);
                let step = Step {
                    stage: Stage::Preparing,
                    done,
                    total: layers as u64,
                };
                if progress(step).is_break() {
                    cancelled.store(true, Ordering::Relaxed);
                }
            }
            (values, faces)
        });
        if cancelled.load(Ordering::Relaxed) {
            return Err(BakeError::Cancelled);
        }
        let mut coarse = Coarse {
            values: Vec::with_capacity(count),
            faces: Vec::with_capacity(count),
        };
        for (values, faces) in parts {
            coarse.values.extend(values);
            coarse.faces.extend(faces);
        }
        Ok(coarse)
    }

    /// Exact signed distances and nearest faces of a box of nodes.
    fn fill(
        &self,
        layout: &GridLayout,
        first: UVec3,
        size: UVec3,
        values: &mut [f32],
        faces: &mut [u32],
    ) {
        let room = [size.x as usize, size.y as usize];
        self.fill_part(layout, first, size, room, values, faces);
    }

    /// [`Self::fill`], of part of a larger box.
    fn fill_part(
        &self,
        layout: &GridLayout,
        first: UVec3,
        size: UVec3,
        room: [usize; 2],
        values: &mut [f32],
        faces: &mut [u32],
    ) {
        let piece = Piece {
            layout,
            first,
            size,
            // Nine nodes as five and four, not four, four and one.
            side: if size.max_element() > 9 { 4 } else { 5 },
            room,
            values: &mut *values,
        };
        let wanted = Wanted::all(Some(self.prover.patches));
        let found = fill_piece(self.prover.bvh, wanted, piece, faces);
        for node in found.unclear {
            let [x, y, z] = (node - first).to_array().map(|n| n as usize);
            let value = &mut values[(z * room[1] + y) * room[0] + x];
            let inside = self
                .exact
                .plan()
                .by_winding(layout.node_position(node))
                .inside;
            *value = if inside { -value.abs() } else { value.abs() };
        }
    }

    /// A cell of a box of nodes, `node` being its lowest.
    fn cell(
        layout: &GridLayout,
        first: UVec3,
        node: UVec3,
        room: [usize; 2],
        values: &[f32],
        faces: &[u32],
    ) -> Cell {
        let slot = |i: usize| {
            let i = i as u32;
            let offset = UVec3::new(i & 1, i >> 1 & 1, i >> 2 & 1);
            let [x, y, z] = (node + offset).to_array().map(|n| n as usize);
            (z * room[1] + y) * room[0] + x
        };
        Cell {
            low: layout.node_position(first + node),
            size: layout.cell_size.into(),
            values: std::array::from_fn(|i| values[slot(i)].into()),
            faces: std::array::from_fn(|i| faces[slot(i)]),
        }
    }

    fn coarse_cell(&self, coarse: &Coarse, node: UVec3) -> Cell {
        let room = [self.layout.nodes.x as usize, self.layout.nodes.y as usize];
        let first = UVec3::ZERO;
        Self::cell(
            &self.layout,
            first,
            node,
            room,
            &coarse.values,
            &coarse.faces,
        )
    }

    /// `work` on every row of coarse cells, and the results put together in order.
    fn rows(
        &self,
        progress: Progress<'_>,
        work: impl Fn(u32, u32, &mut Built) -> Result<(), BakeError> + Sync + Send,
    ) -> Result<Built, BakeError> {
        let cells = self.layout.cells();
        let rows = (cells.y * cells.z) as usize;
        let done = AtomicU64::new(0);
        let stop = AtomicBool::new(false);
        let parts = threads::map(rows, |row| {
            let mut built = Built::new(self.bits);
            if stop.load(Ordering::Relaxed) {
                return Err(BakeError::Cancelled);
            }
            let mut result = work(row as u32 % cells.y, row as u32 / cells.y, &mut built);
            let done = 1 + done.fetch_add(1, Ordering::Relaxed);
            if result.is_ok() {
                let stored = self
                    .values
                    .fetch_add(built.values.len() as u64, Ordering::Relaxed)
                    + built.values.len() as u64;
                if stored > self.max_values {
                    // What is still to come is likely as much for every row.
                    let needed = stored as f64 * rows as f64 / done as f64;
                    result = Err(self.too_much(needed as u64 * self.bits.bytes()));
                }
            }
            let total = rows as u64;
            if result.is_ok() {
                result = report(progress, Stage::Distances, done, total);
            }
            if result.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            result.map(|()| built)
        });
        // The reason, rather than that others were stopped for it.
        let mut failure = None;
        let mut built = Built::new(self.bits);
        for part in parts {
            match part {
                Ok(part) => built.append(part),
                Err(BakeError::Cancelled) if failure.is_some() => {}
                Err(error) => {
                    if failure.is_none() || failure == Some(BakeError::Cancelled) {
                        failure = Some(error);
                    }
                }
            }
        }
        failure.map_or(Ok(built), Err)
    }

    fn too_much(&self, needed: u64) -> BakeError {
        BakeError::SparseTooMuchMemory {
            needed,
            allowed: self.max_values.saturating_mul(self.bits.bytes()),
        }
    }

    /// Blocks of [`BAND_CELLS`] wherever the surface is within `width` of their cells.
    fn band(
        &self,
        coarse: &Coarse,
        width: f64,
        progress: Progress<'_>,
    ) -> Result<Built, BakeError> {
        let fine = GridLayout {
            cell_size: self.layout.cell_size / BAND_CELLS as f32,
            nodes: self.layout.cells() * BAND_CELLS + UVec3::ONE,
            ..self.layout
        };
        let width = width * f64::from(fine.cell_size);
        let half_diagonal = 0.5 * 3f64.sqrt() * f64::from(fine.cell_size);
        let side = BAND_CELLS + 1;
        let room = [side as usize; 2];
        self.rows(progress, |y, z, built| {
            let mut values = vec![0.0; (side as usize).pow(3)];
            for x in 0..self.layout.cells().x {
                let node = UVec3::new(x, y, z);
                let cell = self.coarse_cell(coarse, node);
                if !self.is_near(&cell, width) {
                    let error = self.prover.error(&cell, 0.0);
                    let largest = cell.values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
                    let rounding = self.rounding + 16.0 * f64::from(f32::EPSILON) * largest;
                    built.plain_error = built.plain_error.max(error + rounding);
                    built.cells.push(PLAIN);
                    continue;
                }
                let first = node * BAND_CELLS;
                let size = UVec3::splat(side);
                self.fill_part(&fine, first, size, room, &mut values, &mut []);
                let block = built.push(
                    BAND_CELLS.trailing_zeros() as u8,
                    &values,
                    half_diagonal,
                    self.rounding,
                );
                built.cells.push(block);
            }
            Ok(())
        })
    }

    /// Whether the surface comes within `width` of a coarse cell; now and then also when it does not quite.
    fn is_near(&self, cell: &Cell, width: f64) -> bool {
        let diagonal = 3f64.sqrt() * cell.size;
        let nearest = cell
            .values
            .iter()
            .fold(f64::INFINITY, |m, v| m.min(v.abs()));
        if nearest <= width {
            return true;
        }
        if nearest > width + diagonal {
            return false;
        }
        // The middles of its eight parts, each a quarter of the diagonal from the farthest point of its part.
        let mut hint = cell.faces[0];
        (0..8u32).any(|i| {
            let offset = UVec3::new(i & 1, i >> 1 & 1, i >> 2 & 1).as_dvec3();
            let middle = cell.low + cell.size * (0.25 + 0.5 * offset);
            let nearest = self.exact.nearest(middle, hint);
            hint = nearest.face;
            nearest.distance_squared.sqrt() <= width + 0.25 * diagonal
        })
    }

    /// Blocks wherever interpolation is not proven to be within `tolerance`, and blocks in them.
    fn within(
        &self,
        coarse: &Coarse,
        tolerance: f64,
        progress: Progress<'_>,
    ) -> Result<Built, BakeError> {
        let asked = tolerance;
        // Room for the last rounding of an error to f32.
        let tolerance = asked * (1.0 - 1e-6);
        self.rows(progress, |y, z, built| {
            for x in 0..self.layout.cells().x {
                let node = UVec3::new(x, y, z);
                let cell = self.coarse_cell(coarse, node);
                let rounding = self.rounding_in(&cell);
                let error = self.prover.error(&cell, tolerance - rounding) + rounding;
                if error <= tolerance {
                    built.plain_error = built.plain_error.max(error);
                    built.cells.push(PLAIN);
                    continue;
                }
                let ratio = error / tolerance;
                // Smooth parts need the square root of it; the next level looks after the others.
                let block = self
                    .refine(&self.layout, node, ratio.sqrt(), tolerance, built)
                    .ok_or(BakeError::ToleranceBelowRounding { tolerance: asked })?;
                built.cells.push(block);
            }
            Ok(())
        })
    }

    fn rounding_in(&self, cell: &Cell) -> f64 {
        let largest = cell.values.iter().fold(0.0f64, |m, v| m.max(v.abs())) + 2.0 * cell.size;
        // What `Built::push` and storing it will add.
        let lost = (self.bits.steps()).map_or(0.0, |steps| 0.5 * 3f64.sqrt() * cell.size / steps);
        self.rounding + 16.0 * f64::from(f32::EPSILON) * largest + 1.01 * lost
    }

    /// A block for a cell of `layout`, at least `ratio` times as fine, and blocks for its own cells where that is not enough; `None`
    /// where cells would become too small for `f32`.
    fn refine(
        &self,
        layout: &GridLayout,
        cell: UVec3,
        ratio: f64,
        tolerance: f64,
        built: &mut Built,
    ) -> Option<u32> {
        let cells_log2 = (ratio.log2().ceil() as i32).clamp(1, 3) as u8;
        let cells = 1u32 << cells_log2;
        let fine = GridLayout {
            cell_size: layout.cell_size / cells as f32,
            nodes: layout.cells() * cells + UVec3::ONE,
            ..*layout
        };
        fine.check().ok()?;
        let first = cell * cells;
        let size = UVec3::splat(cells + 1);
        let room = [cells as usize + 1; 2];
        let mut values = vec![0.0; room[0].pow(3)];
        let mut faces = vec![0; values.len()];
        self.fill(&fine, first, size, &mut values, &mut faces);
        let mut worst: f64 = 0.0;
        let mut failing = Vec::new();
        for z in 0..cells {
            for y in 0..cells {
                for x in 0..cells {
                    let node = UVec3::new(x, y, z);
                    let sub = Self::cell(&fine, first, node, room, &values, &faces);
                    // The step of the values is that of the whole block.
                    let whole = Cell {
                        size: layout.cell_size.into(),
                        ..sub
                    };
                    let rounding = self.rounding_in(&whole);
                    let error = self.prover.error(&sub, tolerance - rounding);
                    if error + rounding <= tolerance {
                        worst = worst.max(error);
                    } else {
                        failing.push((node, error + rounding));
                    }
                }
            }
        }
        let block = built.push(cells_log2, &values, worst, self.rounding);
        drop(values);
        if failing.is_empty() {
            return Some(block);
        }
        let children = built.children.len();
        built
            .children
            .resize(children + (cells as usize).pow(3), PLAIN);
        built.blocks[block as usize].children = children as u32;
        for (node, error) in failing {
            let ratio = error / tolerance;
            let child = self.refine(&fine, first + node, ratio.sqrt(), tolerance, built)?;
            let place = (node.z * cells + node.y) * cells + node.x;
            built.children[children + place as usize] = child;
        }
        Some(block)
    }
}
