//! Sparse bake of a mesh: a band of fine blocks around the surface, or blocks wherever a tolerance
//! needs them.
//!
//! Input: a closed mesh; how fine, or how exact.
//! Output: a [`SparseBlocks`] whose error is proven for every block; no dense grid is ever made.
//! Cost: a few microseconds per stored value; the time and memory of a band grow with the square of
//! the resolution.
//! Not for: surfaces with holes, beside which the field is not a distance, unless an offset closes
//! them; that bakes a dense grid on the way.

use crate::bake::baked::{BakeReport, Baked};
use crate::bake::check;
use crate::bake::convert::settings::{ConvertSettings, Keep, Target};
use crate::bake::convert::stored::{convert, converted_provenance};
use crate::bake::dense::{bake_with, check_within};
use crate::bake::distance::proposals::{FaceSearch, ProposalReport, Proposals};
use crate::bake::error::{BakeError, MeshError, SignError};
use crate::bake::exact_distance::{ExactDistance, check_faces};
use crate::bake::intake::Intake;
use crate::bake::packing::Bits;
use crate::bake::packing::CELLS;
use crate::bake::packing::lower_nodes;
use crate::bake::progress::{Progress, Stage, Step, tell};
use crate::bake::settings::BakeSettings;
use crate::bake::sign::plan::Signs;
use crate::bake::sparse::builder::Builder;
use crate::bake::sparse::cell_error::CellProver;
use crate::bake::sparse::error::SparseBakeError;
use crate::bake::sparse::kept::KeptBlocks;
use crate::field::{GridLayout, Provenance, SparseBlocks, SparseError, SparseParts, StoredField};
use crate::mesh::TriangleMesh;
use glam::{DVec3, UVec3};
use std::ops::ControlFlow;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

/// Settings of a sparse bake.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SparseSettings {
    /// Goal that decides where blocks are placed.
    pub goal: SparseGoal,
    /// Storage size of a value.
    pub bits: Bits,
    /// Whether every value is lowered by its error. The solid then encloses the mesh, and no point
    /// of the mesh is reported outside. This doubles the error, so to keep a tolerance, half of it
    /// is proven.
    pub conservative: bool,
}

/// Width or tolerance that decides where blocks are placed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SparseGoal {
    /// A band around the surface of this width \[cells\], with cells of the size given by
    /// [`BakeSettings::resolution`].
    Band(f64),
    /// An error of at most this, everywhere within the grid \[m\].
    Tolerance(f64),
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
    /// Returns the goal to reach before values are lowered by their errors, which doubles them.
    fn proven_goal(&self) -> Result<SparseGoal, SparseBakeError> {
        let is_usable = |length: f64| length > 0.0 && length.is_finite();
        match self.goal {
            SparseGoal::Band(width) if !is_usable(width) => Err(SparseBakeError::BadBand { width }),
            SparseGoal::Tolerance(tolerance) if !is_usable(tolerance) => {
                Err(SparseBakeError::BadTolerance { tolerance })
            }
            SparseGoal::Tolerance(tolerance) if self.conservative => {
                Ok(SparseGoal::Tolerance(0.5 * tolerance))
            }
            goal => Ok(goal),
        }
    }
}

/// Memory per coarse node \[bytes\]: its value and nearest face, and the block of its cell.
pub(crate) const COARSE_BYTES: u64 = 12;

/// Bakes a closed mesh into a sparse field of a band, like [`bake_sparse`], by a search elsewhere.
/// Coarse nodes, and which cells get blocks, are computed here.
pub(crate) fn bake_sparse_elsewhere(
    mesh: &TriangleMesh,
    settings: &BakeSettings,
    sparse: &SparseSettings,
    search: &dyn FaceSearch,
    progress: Progress<'_>,
) -> Result<(Baked<SparseBlocks>, ProposalReport), SparseBakeError> {
    check_faces(mesh)?;
    let goal = sparse.proven_goal()?;
    let intake = Intake::of(mesh, settings.cell_size(mesh.bounds()));
    let mesh = &intake.mesh;
    let layout = coarse_layout(mesh, settings, goal)?;
    let mut report = ProposalReport::default();
    let source = Source::Elsewhere(search, &mut report);
    let (mut baked, _) = bake_sparse_from(mesh, layout, settings, sparse, source, progress)?;
    intake.note(&mut baked.provenance);
    Ok((baked, report))
}

/// Source of the nodes of blocks.
pub(crate) enum Source<'a> {
    /// A search of our own.
    Own,
    /// An earlier bake, and a search of our own where it does not hold any more.
    Kept(&'a KeptBlocks<'a>),
    /// A search elsewhere, whose results are checked, and what became of them.
    Elsewhere(&'a dyn FaceSearch, &'a mut ProposalReport),
}

/// Bakes a closed mesh into a sparse field. Distances are always computed by
/// [`Exact`](crate::bake::settings::DistanceMethod::Exact), whatever `settings` say.
pub fn bake_sparse(
    mesh: &TriangleMesh,
    settings: &BakeSettings,
    sparse: &SparseSettings,
    progress: &(dyn Fn(Step) -> ControlFlow<()> + Sync),
) -> Result<Baked<SparseBlocks>, SparseBakeError> {
    check_faces(mesh)?;
    if settings.sign.offset().is_some() {
        return by_offset(mesh, settings, sparse, progress);
    }
    let goal = sparse.proven_goal()?;
    let resolved = match goal {
        SparseGoal::Band(_) => settings.cell_size(mesh.bounds()),
        // A step of `f32` beyond the tolerance would use it up; [`Intake`] allows a sixteenth of
        // this length.
        SparseGoal::Tolerance(tolerance) => Some(16.0 * tolerance),
    };
    let intake = Intake::of(mesh, resolved);
    let mesh = &intake.mesh;
    let layout = coarse_layout(mesh, settings, goal)?;
    let (mut baked, _) = bake_sparse_from(mesh, layout, settings, sparse, Source::Own, progress)?;
    intake.note(&mut baked.provenance);
    Ok(baked)
}

/// Bakes a closed mesh on a given coarse grid, such as that of another sparse field; otherwise like
/// [`bake_sparse`]. [`BakeSettings::resolution`] and [`BakeSettings::padding`] are not used.
pub fn bake_sparse_on(
    mesh: &TriangleMesh,
    coarse: GridLayout,
    settings: &BakeSettings,
    sparse: &SparseSettings,
    progress: &(dyn Fn(Step) -> ControlFlow<()> + Sync),
) -> Result<Baked<SparseBlocks>, SparseBakeError> {
    check_faces(mesh)?;
    if settings.sign.offset().is_some() {
        return Err(BakeError::from(SignError::OffsetNeedsDense).into());
    }
    bake_sparse_from(mesh, coarse, settings, sparse, Source::Own, progress).map(|(baked, _)| baked)
}

/// Bakes a mesh of valid faces on a given coarse grid, like [`bake_sparse_on`]. Also returns the
/// number of blocks that an earlier bake did not give.
pub(crate) fn bake_sparse_from(
    mesh: &TriangleMesh,
    layout: GridLayout,
    settings: &BakeSettings,
    sparse: &SparseSettings,
    source: Source<'_>,
    progress: Progress<'_>,
) -> Result<(Baked<SparseBlocks>, usize), SparseBakeError> {
    let start = Instant::now();
    let goal = sparse.proven_goal()?;
    let bounds = mesh.bounds();
    layout.check()?;
    check_within(&layout, bounds)?;
    // Choose the sign method; only closed surfaces are accepted.
    tell(progress, Stage::Preparing, 0, 1)?;
    let exact = ExactDistance::within(mesh, settings.sign, layout.bounds().as_daabb())?;
    let patches = match &exact.plan().signs {
        Signs::Pseudonormal(patches) | Signs::ClosedWinding(patches) if exact.is_closed() => {
            patches
        }
        _ => return Err(SparseBakeError::NeedsClosed),
    };
    let (kept, search) = match source {
        Source::Own => (None, None),
        Source::Kept(kept) => (Some(kept), None),
        Source::Elsewhere(search, report) => (None, Some((search, report))),
    };
    let around = layout.bounds().as_daabb();
    let proposals = match &search {
        Some((search, _)) => {
            Some(Proposals::new(*search, exact.plan(), around, false).ok_or(BakeError::Cancelled)?)
        }
        None => None,
    };
    // Build the coarse grid, then the blocks.
    let builder = Builder {
        exact: &exact,
        prover: CellProver::new(&exact.plan().bvh, patches),
        layout,
        bits: sparse.bits,
        conservative: sparse.conservative,
        kept: kept.filter(|kept| kept.can_stay(exact.plan())),
        proposals,
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
    if let (Some((_, report)), Some(proposals)) = (search, &builder.proposals) {
        *report = proposals.report();
    }
    // Assemble the field and measure its error.
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
        SparseError::Grid(error) => error.into(),
        error => SparseBakeError::Blocks(error),
    })?;
    let measured_error = check::measured_error(
        &field,
        field.finest_cell_size(),
        |points| exact.distance_many(points),
        mesh,
    );
    let baked = Baked {
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

/// Bakes a dense grid and converts it, because signs by an offset depend on all nodes of a grid.
pub(crate) fn by_offset(
    mesh: &TriangleMesh,
    settings: &BakeSettings,
    sparse: &SparseSettings,
    progress: Progress<'_>,
) -> Result<Baked<SparseBlocks>, SparseBakeError> {
    let SparseGoal::Band(width) = sparse.goal else {
        return Err(SparseBakeError::OffsetHasNoTolerance);
    };
    let Baked {
        field: grid,
        provenance,
        report,
    } = bake_with(mesh, settings, progress)?;
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
    let converted = convert(&dense, &settings, progress).map_err(SparseBakeError::of_folding)?;
    let provenance = converted_provenance(&dense, &provenance, &converted, &settings);
    match converted {
        StoredField::Sparse(field) => Ok(Baked {
            field,
            provenance,
            report,
        }),
        _ => unreachable!("a conversion to blocks gives blocks"),
    }
}

/// Returns the coarse grid, whose cells are replaced by blocks.
pub(crate) fn coarse_layout(
    mesh: &TriangleMesh,
    settings: &BakeSettings,
    goal: SparseGoal,
) -> Result<GridLayout, SparseBakeError> {
    let bounds = mesh.bounds();
    match goal {
        SparseGoal::Band(_) => {
            let fine = settings.layout(bounds)?;
            let cells = (fine.cells() + (CELLS - 1)) / CELLS;
            centered(bounds.center(), fine.cell_size * CELLS as f32, cells)
        }
        SparseGoal::Tolerance(tolerance) => {
            let extents = bounds.extents();
            let longest = extents.max_element();
            if !(longest > 0.0 && longest.is_finite()) {
                return Err(BakeError::from(MeshError::NoExtent { extents }).into());
            }
            // At an edge of the surface, cells two levels of blocks down are as large as the
            // tolerance. Not tuned further.
            let size = (64.0 * tolerance).clamp(longest / 128.0, longest / 8.0) as f32;
            let padded = extents + 2.0 * f64::from(size);
            let cells = (padded / f64::from(size)).ceil().max(DVec3::ONE).as_uvec3();
            centered(bounds.center(), size, cells)
        }
    }
}

/// Returns a grid of `cells` cells around `center`.
pub(crate) fn centered(
    center: DVec3,
    cell_size: f32,
    cells: UVec3,
) -> Result<GridLayout, SparseBakeError> {
    let layout = GridLayout {
        origin: (center - 0.5 * f64::from(cell_size) * cells.as_dvec3()).as_vec3(),
        cell_size,
        nodes: cells + UVec3::ONE,
    };
    layout.check()?;
    Ok(layout)
}
