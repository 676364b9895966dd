//! Sparse fields straight from the mesh: a band of fine blocks around the surface, or blocks wherever a tolerance asks for them.
//!
//! Input: a closed mesh; how fine, or how exact.
//! Output: a [`SparseBlocks`] whose error is proven for every block; no dense grid is ever made.
//! Cost: a few microseconds a stored value; the time and memory of a band grow with the square of the resolution.
//! Not for: surfaces with holes, whose field is no distance beside them, unless an offset closes them: that takes a dense grid on the way.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use glam::{DVec3, UVec3};

use super::bake::{BakeError, BakeReport, Baked, bake, check_within};
use super::blocks::{Piece, for_each_layer};
use super::cell_error::{Cell, CellProver};
use super::check;
use super::convert::{ConvertSettings, Keep, Target, convert, converted_provenance};
use super::exact_bvh::fill_piece;
use super::exact_distance::{ExactDistance, check_faces};
use super::intake::Intake;
use super::nodes::{Wanted, signed};
use super::rebake_sparse::KeptBlocks;
use super::settings::{BakeSettings, Progress, Stage, Step, tell};
use super::settle_signs::settle_signs;
use super::sign::Signs;
use super::sparse_band;
use crate::field::{
    GridLayout, PLAIN, Provenance, SparseBlock, SparseBlocks, SparseError, SparseParts,
    SparseValues, StoredField,
};
use crate::geom::{corner, place_index};
use crate::mesh::TriangleMesh;

/// How a sparse field is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SparseSettings {
    /// Where the blocks are.
    pub goal: SparseGoal,
    /// Of a stored value.
    pub bits: Bits,
    /// Lowers every value by its error: the solid then encloses the mesh, and no point of it is reported outside. That doubles the error, so a
    /// tolerance is kept by proving half of it.
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
    pub(super) fn steps(self) -> Option<f64> {
        match self {
            Bits::Eight => Some(255.0),
            Bits::Sixteen => Some(65_535.0),
            Bits::ThirtyTwo => None,
        }
    }

    pub(super) fn bytes(self) -> u64 {
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

impl SparseSettings {
    /// What has to be reached before values are lowered by their errors, which doubles these.
    fn proven_goal(&self) -> Result<SparseGoal, BakeError> {
        let is_usable = |length: f64| length > 0.0 && length.is_finite();
        match self.goal {
            SparseGoal::Band(width) if !is_usable(width) => Err(BakeError::BadBand { width }),
            SparseGoal::Tolerance(tolerance) if !is_usable(tolerance) => {
                Err(BakeError::BadTolerance { tolerance })
            }
            SparseGoal::Tolerance(tolerance) if self.conservative => {
                Ok(SparseGoal::Tolerance(0.5 * tolerance))
            }
            goal => Ok(goal),
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

/// Of a coarse node: its value and nearest face, and the block of its cell.
const COARSE_BYTES: u64 = 12;

/// Bakes a closed mesh into a sparse field. Distances are always found by [`Method::Exact`](super::Method::Exact), whatever `settings` say.
pub fn bake_sparse(
    mesh: &TriangleMesh,
    settings: &BakeSettings,
    sparse: &SparseSettings,
    progress: &(dyn Fn(Step) -> ControlFlow<()> + Sync),
) -> Result<BakedSparse, BakeError> {
    check_faces(mesh)?;
    if settings.sign.offset().is_some() {
        return by_offset(mesh, settings, sparse, progress);
    }
    let goal = sparse.proven_goal()?;
    let resolved = match goal {
        SparseGoal::Band(_) => settings.cell_size(mesh.bounds()),
        // A step of `f32` more than the tolerance leaves none of it.
        SparseGoal::Tolerance(tolerance) => Some(16.0 * tolerance),
    };
    let intake = Intake::of(mesh, resolved);
    let mesh = &intake.mesh;
    let layout = coarse_layout(mesh, settings, goal)?;
    let (mut baked, _) = bake_sparse_keeping(mesh, layout, settings, sparse, None, progress)?;
    intake.note(&mut baked.provenance);
    Ok(baked)
}

/// [`bake_sparse`] on a given coarse grid, such as that of another sparse field. [`BakeSettings::resolution`] and [`BakeSettings::padding`] are not used.
pub fn bake_sparse_on(
    mesh: &TriangleMesh,
    coarse: GridLayout,
    settings: &BakeSettings,
    sparse: &SparseSettings,
    progress: &(dyn Fn(Step) -> ControlFlow<()> + Sync),
) -> Result<BakedSparse, BakeError> {
    check_faces(mesh)?;
    if settings.sign.offset().is_some() {
        return Err(BakeError::OffsetNeedsDense);
    }
    bake_sparse_keeping(mesh, coarse, settings, sparse, None, progress).map(|(baked, _)| baked)
}

/// The same for a mesh of valid faces, with the blocks that are known from before, if any. Returns also how many blocks were computed.
pub(super) fn bake_sparse_keeping(
    mesh: &TriangleMesh,
    layout: GridLayout,
    settings: &BakeSettings,
    sparse: &SparseSettings,
    kept: Option<&KeptBlocks<'_>>,
    progress: Progress<'_>,
) -> Result<(BakedSparse, usize), BakeError> {
    let start = Instant::now();
    let goal = sparse.proven_goal()?;
    let bounds = mesh.bounds();
    layout.check()?;
    check_within(&layout, bounds)?;
    tell(progress, Stage::Preparing, 0, 1)?;
    let exact = ExactDistance::within(mesh, settings.sign, layout.bounds().as_daabb())?;
    let patches = match &exact.plan().signs {
        Signs::Pseudonormal(patches) | Signs::ClosedWinding(patches) if exact.is_closed() => {
            patches
        }
        _ => return Err(BakeError::SparseNeedsClosed),
    };
    let builder = Builder {
        exact: &exact,
        prover: CellProver::new(&exact.plan().bvh, patches),
        layout,
        bits: sparse.bits,
        conservative: sparse.conservative,
        kept: kept.filter(|kept| kept.can_stay(exact.plan())),
        rounding: check::rounding(&layout, 0.0),
        max_memory: settings.max_memory,
        stored: AtomicU64::new(layout.node_count().saturating_mul(COARSE_BYTES)),
        done: AtomicU64::new(0),
    };
    let coarse = builder.coarse(progress)?;
    let built = match goal {
        SparseGoal::Band(width) => builder.band(&coarse, width, progress)?,
        SparseGoal::Tolerance(tolerance) => builder.within(&coarse, tolerance, progress)?,
    };
    tell(progress, Stage::Checking, 0, 1)?;
    let computed = built.blocks.len() - built.kept;
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
        lower_nodes(&mut parts);
    }
    let field = SparseBlocks::new(layout, parts).map_err(|error| match error {
        SparseError::Grid(error) => BakeError::Grid(error),
        error => BakeError::Sparse(error),
    })?;
    let measured_error = check::measured_error(
        &field,
        field.finest_cell_size(),
        |points| exact.distance_many(points),
        mesh,
    );
    let baked = BakedSparse {
        provenance: Provenance {
            sign_method: exact.sign_method(),
            measured_error,
            conservative: sparse.conservative,
            origin: DVec3::ZERO,
            doubtful_cells: Vec::new(),
            notes: exact.notes().to_vec(),
        },
        field,
        report: BakeReport {
            time: start.elapsed(),
            cross_checked: 0,
            disagreements: 0,
        },
    };
    Ok((baked, computed))
}

/// Signs by an offset hang on all nodes of a grid, so a dense grid is baked and folded.
fn by_offset(
    mesh: &TriangleMesh,
    settings: &BakeSettings,
    sparse: &SparseSettings,
    progress: Progress<'_>,
) -> Result<BakedSparse, BakeError> {
    let SparseGoal::Band(width) = sparse.goal else {
        return Err(BakeError::OffsetHasNoTolerance);
    };
    let Baked {
        grid,
        provenance,
        report,
    } = bake(mesh, settings, progress)?;
    let settings = ConvertSettings {
        target: Target::Sparse {
            keep: Keep::Band(width),
            bits: sparse.bits,
        },
        cell_size: None,
        conservative: sparse.conservative,
        max_memory: settings.max_memory,
    };
    let dense = StoredField::from(grid);
    let converted = convert(&dense, &settings, progress).map_err(BakeError::of_folding)?;
    let provenance = converted_provenance(&dense, &provenance, &converted, &settings);
    match converted {
        StoredField::Sparse(field) => Ok(BakedSparse {
            field,
            provenance,
            report,
        }),
        _ => unreachable!("a conversion to blocks gives blocks"),
    }
}

/// The grid whose cells blocks replace.
fn coarse_layout(
    mesh: &TriangleMesh,
    settings: &BakeSettings,
    goal: SparseGoal,
) -> Result<GridLayout, BakeError> {
    let bounds = mesh.bounds();
    match goal {
        SparseGoal::Band(_) => {
            let fine = settings.layout(bounds)?;
            let cells = (fine.cells() + (sparse_band::CELLS - 1)) / sparse_band::CELLS;
            centered(
                bounds.center(),
                fine.cell_size * sparse_band::CELLS as f32,
                cells,
            )
        }
        SparseGoal::Tolerance(tolerance) => {
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

/// A value less what it can be too high. Twice over in `f32`: the sum is rounded, and so is every sample.
pub(super) fn lowered(value: f32, error: f32) -> f32 {
    (value - error.next_up()).next_down()
}

/// Moves every value down by what it can be too high, and says how far it can be off then.
pub(super) fn lower_by_errors(parts: &mut SparseParts) {
    lower_nodes(parts);
    lower_blocks(&mut parts.blocks, &mut parts.values);
}

/// The same for coarse nodes alone.
fn lower_nodes(parts: &mut SparseParts) {
    for value in &mut parts.nodes {
        *value = lowered(*value, parts.plain_error);
    }
    parts.plain_error = (2.0 * parts.plain_error).next_up();
}

/// The same for blocks alone.
pub(super) fn lower_blocks(blocks: &mut [SparseBlock], values: &mut SparseValues) {
    for block in blocks {
        if let SparseValues::Bits32(values) = values {
            let count = block.value_count();
            for value in &mut values[block.first_value..block.first_value + count] {
                *value = lowered(*value, block.error);
            }
        } else {
            block.lowest = lowered(block.lowest, block.error);
        }
        block.error = (2.0 * block.error).next_up().next_up();
    }
}

pub(super) struct Builder<'a> {
    pub(super) exact: &'a ExactDistance,
    pub(super) prover: CellProver<'a>,
    pub(super) layout: GridLayout,
    pub(super) bits: Bits,
    pub(super) conservative: bool,
    /// Blocks of before that may stay as they are.
    pub(super) kept: Option<&'a KeptBlocks<'a>>,
    pub(super) rounding: f64,
    pub(super) max_memory: u64,
    /// Bytes of the coarse grid and all blocks so far.
    pub(super) stored: AtomicU64,
    /// Rows of coarse cells so far.
    pub(super) done: AtomicU64,
}

/// The coarse nodes.
pub(super) struct Coarse {
    pub(super) values: Vec<f32>,
    pub(super) faces: Vec<u32>,
}

/// Blocks as they grow.
pub(super) struct Built {
    pub(super) cells: Vec<u32>,
    pub(super) plain_error: f64,
    pub(super) blocks: Vec<SparseBlock>,
    pub(super) children: Vec<u32>,
    pub(super) values: SparseValues,
    /// Blocks that were taken over from before.
    pub(super) kept: usize,
}

impl Built {
    pub(super) fn new(bits: Bits) -> Built {
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
            kept: 0,
        }
    }

    /// Adds another's blocks behind its own.
    pub(super) fn append(&mut self, other: Built) {
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
        self.append_values(&other.values, 0..other.values.len());
        self.kept += other.kept;
    }

    /// Adds a block without children as it stands among other values.
    pub(super) fn copy(&mut self, block: &SparseBlock, values: &SparseValues) {
        self.blocks.push(SparseBlock {
            first_value: self.values.len(),
            ..*block
        });
        let range = block.first_value..block.first_value + block.value_count();
        self.append_values(values, range);
    }

    fn append_values(&mut self, from: &SparseValues, range: Range<usize>) {
        match (&mut self.values, from) {
            (SparseValues::Bits8(own), SparseValues::Bits8(more)) => {
                own.extend_from_slice(&more[range]);
            }
            (SparseValues::Bits16(own), SparseValues::Bits16(more)) => {
                own.extend_from_slice(&more[range]);
            }
            (SparseValues::Bits32(own), SparseValues::Bits32(more)) => {
                own.extend_from_slice(&more[range]);
            }
            _ => unreachable!("one bake stores one kind of values"),
        }
    }

    /// Stores a block of values; `error` is that of interpolating them as they are. Returns its number.
    pub(super) fn push(
        &mut self,
        cells_log2: u8,
        values: &[f32],
        error: f64,
        rounding: f64,
    ) -> u32 {
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
        // To the nearest step: the conversion to an integer cuts, and saturates.
        let stored = |value: f32| match step {
            0.0 => 0.0,
            step => (value - low) / step + 0.5,
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
        let rounding = rounding + rounding_of(largest);
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

    /// Signed distances of a box of nodes, and their nearest faces if there is room for them. Exact within `exact_within` of the surface.
    pub(super) fn fill(&self, mut piece: Piece<'_>, exact_within: f64, faces: &mut [u32]) {
        let unclear = self.fill_distances(piece.reborrow(), exact_within, faces);
        self.settle(piece, &unclear);
    }

    /// The same for the nodes of a cell that is made finer. Its corners are known, and tell most of the others their sign where no face does.
    pub(super) fn fill_cell(&self, mut piece: Piece<'_>, cell: &Cell, faces: &mut [u32]) {
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

    /// Returns the nodes whose sign is not known yet.
    fn fill_distances(&self, piece: Piece<'_>, exact_within: f64, faces: &mut [u32]) -> Vec<UVec3> {
        let wanted = Wanted {
            exact_within,
            far_error: self.far_error(),
            ..Wanted::all(Some(self.prover.patches))
        };
        fill_piece(self.prover.bvh, wanted, piece, faces).unclear
    }

    fn settle(&self, mut piece: Piece<'_>, unclear: &[UVec3]) {
        if unclear.is_empty() {
            return;
        }
        let layout = piece.layout;
        let ask = |node| self.exact.plan().by_winding(layout.node_position(node));
        let (error, bvh) = (self.far_error(), self.prover.bvh);
        settle_signs(&mut piece, unclear, error, bvh, ask, |sign| sign.inside);
    }

    pub(super) fn coarse_cell(&self, coarse: &Coarse, node: UVec3) -> Cell {
        let nodes = Nodes {
            layout: &self.layout,
            first: UVec3::ZERO,
            size: self.layout.nodes,
            values: &coarse.values,
            faces: &coarse.faces,
        };
        nodes.cell(node)
    }

    /// Counts bytes that blocks take from now on, when `share` of all blocks are counted.
    pub(super) fn count(&self, bytes: u64, share: f64) -> Result<(), BakeError> {
        let stored = bytes + self.stored.fetch_add(bytes, Ordering::Relaxed);
        if stored <= self.max_memory {
            return Ok(());
        }
        Err(BakeError::SparseTooMuchMemory {
            needed: (stored as f64 / share.min(1.0)) as u64,
            allowed: self.max_memory,
        })
    }

    /// How far nodes are off that need not be exact \[m\].
    pub(super) fn far_error(&self) -> f64 {
        let extent = self.layout.bounds().extents().length();
        self.prover.bvh.far_error(extent.into())
    }

    /// Bytes of a block of so many cells a side.
    pub(super) fn block_bytes(&self, cells: u32) -> u64 {
        size_of::<SparseBlock>() as u64 + u64::from(cells + 1).pow(3) * self.bits.bytes()
    }
}

/// What interpolating values up to this, decoded in `f32`, rounds \[m\].
pub(super) fn rounding_of(largest: f64) -> f64 {
    16.0 * f64::from(f32::EPSILON) * largest
}

/// A grid of cells so many times as fine.
pub(super) fn finer(layout: &GridLayout, cells: u32) -> GridLayout {
    GridLayout {
        cell_size: layout.cell_size / cells as f32,
        nodes: layout.cells() * cells + UVec3::ONE,
        ..*layout
    }
}

/// A box of nodes that were filled, x fastest.
pub(super) struct Nodes<'a> {
    pub(super) layout: &'a GridLayout,
    pub(super) first: UVec3,
    pub(super) size: UVec3,
    pub(super) values: &'a [f32],
    pub(super) faces: &'a [u32],
}

impl Nodes<'_> {
    /// The cell whose lowest corner is `node`, counted from the first.
    pub(super) fn cell(&self, node: UVec3) -> Cell {
        let slots: [usize; 8] = std::array::from_fn(|i| place_index(self.size, corner(node, i)));
        Cell {
            low: self.layout.node_position(self.first + node),
            size: self.layout.cell_size.into(),
            values: slots.map(|slot| self.values[slot].into()),
            faces: slots.map(|slot| self.faces[slot]),
        }
    }
}
