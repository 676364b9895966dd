//! The entry: a mesh and settings in, a field and a report out.
//!
//! Input: any mesh whose faces name finite vertices; closed or not, clean or not.
//! Output: a dense grid with a proven error bound, a measured error, the sign method and what was wrong with the mesh.
//! Cost: see the file of each method; the memory is known before the work starts and refused above a limit.
//! Not for: run time; load the result with `field::file`.

use std::time::{Duration, Instant};

use glam::{DVec3, UVec3};

use super::band::{self, Band};
use super::blocks::{Piece, SIDE, block_index, for_each_layer, node_bit};
use super::check::Certainty;
use super::convert::ConvertError;
use super::exact_distance::ExactDistance;
use super::intake::Intake;
use super::nodes::{Found, Wanted};
use super::offset::OffsetWidth;
use super::patches::Patches;
use super::rebake::{Kept, Rebaked};
use super::settings::{BakeSettings, Method, Progress, Stage, Step, tell};
use super::settle_signs::settle_signs;
use super::sign::{Sign, SignChoice, SignPlan, Signs};
use super::{
    bound_tree, brute_force, chamfer, check, exact_bvh, fast_marching, offset, scan_conversion,
    vector_distance,
};
use crate::field::{DenseGrid, GridError, GridLayout, Provenance, SignMethod, torn_cells};
use crate::geom::lanes::room_for;
use crate::geom::{DAabb, place_at};
use crate::mesh::{Bvh, TriangleMesh};

/// A field and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Baked {
    /// The field.
    pub grid: DenseGrid,
    /// What is stored with it.
    pub provenance: Provenance,
    /// What is known only now.
    pub report: BakeReport,
}

/// What a bake took.
#[derive(Clone, Debug, PartialEq)]
pub struct BakeReport {
    /// From the call to the result.
    pub time: Duration,
    /// Nodes whose sign a second method was asked about.
    pub cross_checked: usize,
    /// Nodes where the second method disagreed.
    pub disagreements: usize,
}

/// Why there is no field.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BakeError {
    /// Nothing to measure to.
    #[error("the mesh has no faces; a field needs a surface")]
    NoFaces,
    /// A face names a vertex that does not exist.
    #[error(
        "face {face} uses vertex {vertex}, but there are only {vertices}; repair the mesh first"
    )]
    MissingVertex {
        /// The face.
        face: usize,
        /// The index it names.
        vertex: u32,
        /// How many there are.
        vertices: usize,
    },
    /// A vertex is NaN or infinite.
    #[error(
        "face {face} uses vertex {vertex} at {position}; repair the mesh first (it drops such faces)"
    )]
    NonFiniteVertex {
        /// The face.
        face: usize,
        /// Its vertex.
        vertex: u32,
        /// Where that is.
        position: DVec3,
    },
    /// The mesh is a single point, or larger than numbers go.
    #[error("the mesh measures {extents} m; a grid needs a finite, positive size")]
    NoExtent {
        /// Sides of its box.
        extents: DVec3,
    },
    /// Padding leaves no cell for the mesh.
    #[error(
        "{nodes} nodes along the longest side leave no cell for the mesh after {padding} cells of padding on both sides; \
         use at least {least}", least = 2 * u64::from(*padding) + 2
    )]
    TooCoarse {
        /// Asked for.
        nodes: u32,
        /// Asked for.
        padding: u32,
    },
    /// Not a length.
    #[error("a cell size of {cell_size:?} m is not usable; it must be positive and finite")]
    BadCellSize {
        /// Asked for \[m\].
        cell_size: f64,
    },
    /// A side would need more nodes than can be counted.
    #[error("{cells:.3e} cells along one side are too many to count; use a larger cell size")]
    TooManyNodes {
        /// Along the longest side.
        cells: f64,
    },
    /// The grid is impossible.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// More memory than allowed.
    #[error(
        "a grid of {nodes} nodes takes {needed} bytes with the mesh, more than the {allowed} allowed; \
         {way_out}", way_out = memory_way_out(*fitting)
    )]
    TooMuchMemory {
        /// Nodes along x, y and z.
        nodes: UVec3,
        /// What it would take.
        needed: u64,
        /// The limit.
        allowed: u64,
        /// Nodes along the longest side that fit.
        fitting: u32,
    },
    /// The machine has less memory than the limit allows.
    #[error(
        "no {bytes} bytes are to be had for the grid; lower the resolution, and the memory limit to what this machine has"
    )]
    OutOfMemory {
        /// Asked for.
        bytes: u64,
    },
    /// Pseudonormals were asked for.
    #[error("{open_edges} open edges; pseudonormal signs need a closed surface (try `winding`)")]
    OpenSurface {
        /// Edges with one face only.
        open_edges: usize,
    },
    /// Pseudonormals were asked for.
    #[error(
        "{faces} faces lie back to back on another; pseudonormal signs need a surface with two sides (try `winding`)"
    )]
    OppositePairs {
        /// Faces that have an opposite twin.
        faces: usize,
    },
    /// Signs were to be taken as given.
    #[error("a mesh gives no signs of its own; choose how to tell them (try `auto`)")]
    GivenSigns,
    /// Nodes that a method numbers by 32 bits.
    #[error(
        "{nodes} nodes are more than the 4294967295 that this method can number; lower the resolution, or use the exact method"
    )]
    TooManyToNumber {
        /// In all.
        nodes: u64,
    },
    /// The oracle knows one way only.
    #[error(
        "brute force tells inside by the winding number; it cannot use `{0}` (leave the choice open, or use the exact method)"
    )]
    BruteForceSign(&'static str),
    /// More cells than doubtful ones could be numbered.
    #[error(
        "{cells} cells are more than the 4294967295 that can be numbered; lower the resolution"
    )]
    TooManyCells {
        /// In all.
        cells: u64,
    },
    /// Signs by an offset were asked for where there is no grid to tell them.
    #[error(
        "signs by an offset surface are told on a dense grid; they are not to be had for single points, Taylor \
         grids or voxmaps (bake a dense grid, or choose another sign)"
    )]
    OffsetNeedsDense,
    /// No ball.
    #[error("an offset width of {width} is not usable; it must be positive and finite")]
    BadOffsetWidth {
        /// Asked for.
        width: OffsetWidth,
    },
    /// A ball that cannot roll around the mesh within the grid.
    #[error(
        "with an offset width of {width} on all sides, {nodes} nodes along the longest side leave no cell for the mesh; use a smaller width \
         or more nodes"
    )]
    OffsetTooWide {
        /// Asked for.
        width: OffsetWidth,
        /// Asked for.
        nodes: u32,
    },
    /// A grid was given that does not hold the mesh.
    #[error(
        "the mesh reaches from {:?} to {:?} m, beyond the grid from {:?} to {:?} m; bake it anew",
        mesh.min.to_array(), mesh.max.to_array(), grid.min.to_array(), grid.max.to_array()
    )]
    BeyondGrid {
        /// Box of the mesh.
        mesh: DAabb,
        /// Box of the grid.
        grid: DAabb,
    },
    /// A mesh is not what it was, outside the box that is said to hold all changes.
    #[error(
        "{faces} faces differ outside the box that is said to hold all changes, the first at {:?} m; the box must hold every face that \
         came, went or moved, whole", at.to_array()
    )]
    ChangedOutside {
        /// Before and after, together.
        faces: usize,
        /// A corner of the first.
        at: DVec3,
    },
    /// A box inside out, or of NaN.
    #[error(
        "the changes are said to lie between {:?} and {:?} m, which is no box; its smallest corner comes first",
        changed.min.to_array(), changed.max.to_array()
    )]
    BadChangedBox {
        /// Said to hold all changes.
        changed: DAabb,
    },
    /// A method that makes a node depend on others far away.
    #[error(
        "a field is updated by exact distances, not by `{0}`; use the exact method, or bake anew"
    )]
    UpdateNeedsExact(&'static str),
    /// Blocks that are not those of a band, as it was baked.
    #[error(
        "of sparse fields only a band around the surface is updated, as it was baked: a tolerance is proven from faces as far away as the \
         medial axis, and a conversion has other values; bake anew"
    )]
    UpdateNeedsBand,
    /// The nodes do not fit a Taylor grid.
    #[error(transparent)]
    Taylor(crate::field::TaylorError),
    /// A sparse field was asked for.
    #[error(
        "the surface is not closed, and beside a hole the field is no distance; a sparse field needs a closed surface \
         (repair the mesh, or bake a dense grid)"
    )]
    SparseNeedsClosed,
    /// A band of no width.
    #[error("a band of {width:?} cells is not usable; it must be positive and finite")]
    BadBand {
        /// Asked for.
        width: f64,
    },
    /// Not a length.
    #[error("a tolerance of {tolerance:?} m is not usable; it must be positive and finite")]
    BadTolerance {
        /// Asked for \[m\].
        tolerance: f64,
    },
    /// Cells would become smaller than `f32` can tell apart.
    #[error(
        "a tolerance of {tolerance:?} m is below what f32 can tell at this distance from the origin; use a larger one, or move \
         the model towards the origin"
    )]
    ToleranceBelowRounding {
        /// Asked for \[m\].
        tolerance: f64,
    },
    /// More memory than allowed.
    #[error(
        "the blocks would take about {needed} bytes, more than the {allowed} allowed; use a larger tolerance or cell size, \
         fewer bits, or raise the limit"
    )]
    SparseTooMuchMemory {
        /// Estimated from what was built so far.
        needed: u64,
        /// The limit.
        allowed: u64,
    },
    /// An error was asked for that only faces can prove.
    #[error(
        "the field of an offset surface is known at nodes only, so that no tolerance can be proven for it; give a resolution or a cell \
         size instead, half of whose diagonal is the error"
    )]
    OffsetHasNoTolerance,
    /// A dense grid was baked, and cannot be folded into blocks.
    #[error("a dense grid was baked, but: {0}")]
    Folding(Box<ConvertError>),
    /// The parts do not fit together; a fault of ours.
    #[error(transparent)]
    Sparse(crate::field::SparseError),
    /// The progress callback said stop.
    #[error("the bake was cancelled")]
    Cancelled,
}

fn memory_way_out(fitting: u32) -> String {
    if fitting < 2 {
        return "raise the limit: the mesh alone takes as much".to_owned();
    }
    format!(
        "lower the resolution (about {fitting} nodes along the longest side fit) or raise the limit"
    )
}

impl BakeError {
    /// Of a conversion on the way.
    pub(super) fn of_folding(error: ConvertError) -> BakeError {
        match error {
            ConvertError::Cancelled => BakeError::Cancelled,
            error => BakeError::Folding(Box::new(error)),
        }
    }

    /// Whether a limit was hit, rather than the input being bad.
    pub fn is_limit(&self) -> bool {
        if let BakeError::Folding(error) = self {
            return error.is_limit();
        }
        matches!(
            self,
            BakeError::TooMuchMemory { .. }
                | BakeError::OutOfMemory { .. }
                | BakeError::TooManyNodes { .. }
                | BakeError::TooManyCells { .. }
                | BakeError::SparseTooMuchMemory { .. }
                | BakeError::TooManyToNumber { .. }
        )
    }
}

/// Bytes that baking a mesh of so many faces on this grid takes at its peak.
pub(super) fn estimated_memory(layout: &GridLayout, faces: usize, settings: &BakeSettings) -> u64 {
    let for_distance = bytes_per_node(settings.method);
    let for_sign = match settings.sign.offset() {
        Some(_) => offset::BYTES_PER_NODE,
        None => 0,
    };
    layout
        .node_count()
        .saturating_mul(for_distance + for_sign)
        .saturating_add(mesh_memory(faces))
}

/// The value of a node, and what a method keeps beside it.
fn bytes_per_node(method: Method) -> u64 {
    const VALUE: u64 = size_of::<f32>() as u64;
    match method {
        Method::Exact | Method::BruteForce | Method::BoundTree => VALUE,
        Method::Chamfer => 2 * VALUE,
        Method::ScanConversion | Method::VectorDistance => {
            2 * VALUE + vector_distance::BYTES_PER_NODE
        }
        Method::FastMarching => 2 * VALUE + fast_marching::BYTES_PER_NODE,
    }
}

/// Bytes of the search structures over so many faces.
fn mesh_memory(faces: usize) -> u64 {
    /// A rough figure for hierarchy, pseudonormals, a welded copy and the topology for validation; at its peak the bunny takes
    /// 932 (bench/results).
    const BYTES_PER_FACE: u64 = 600;
    faces as u64 * BYTES_PER_FACE
}

/// Bakes a mesh into a dense grid. `progress` is called from any thread and may cancel.
///
/// A mesh that is too far from the origin for `f32` is moved, and the field is in a frame of its own:
/// see [`Provenance::origin`].
pub fn bake(
    mesh: &TriangleMesh,
    settings: &BakeSettings,
    progress: &(dyn Fn(Step) -> std::ops::ControlFlow<()> + Sync),
) -> Result<Baked, BakeError> {
    super::exact_distance::check_faces(mesh)?;
    let intake = Intake::of(mesh, settings.cell_size(mesh.bounds()));
    let layout = settings.layout(intake.mesh.bounds())?;
    let mut baked = bake_on(&intake.mesh, layout, settings, progress)?;
    intake.note(&mut baked.provenance);
    Ok(baked)
}

/// [`bake`] on a grid that is given instead of following from [`BakeSettings::resolution`] and [`BakeSettings::padding`]. The mesh must lie
/// within it.
pub fn bake_on(
    mesh: &TriangleMesh,
    layout: GridLayout,
    settings: &BakeSettings,
    progress: &(dyn Fn(Step) -> std::ops::ControlFlow<()> + Sync),
) -> Result<Baked, BakeError> {
    match settings.sign.offset() {
        Some(width) => {
            check_grid(&layout, mesh, settings)?;
            offset::bake(mesh, layout, width, settings, progress)
        }
        None => bake_keeping(mesh, layout, settings, None, progress).map(|rebaked| rebaked.baked),
    }
}

/// Refuses meshes without a distance, grids that do not hold them, and what is too large, before memory is taken.
fn check_grid(
    layout: &GridLayout,
    mesh: &TriangleMesh,
    settings: &BakeSettings,
) -> Result<(), BakeError> {
    super::exact_distance::check_faces(mesh)?;
    layout.check()?;
    check_within(layout, mesh.bounds())?;
    check_memory(layout, mesh.faces.len(), settings)?;
    check_cells(layout, settings.method)
}

/// [`bake_on`], with the distances that are known from before, if any.
pub(super) fn bake_keeping(
    mesh: &TriangleMesh,
    layout: GridLayout,
    settings: &BakeSettings,
    kept: Option<&Kept<'_>>,
    progress: Progress<'_>,
) -> Result<Rebaked, BakeError> {
    let start = Instant::now();
    check_grid(&layout, mesh, settings)?;
    let begin = |stage| tell(progress, stage, 0, 1);
    begin(Stage::Preparing)?;
    let around = layout.bounds().as_daabb();
    let exact = ExactDistance::within(mesh, sign_choice(settings)?, around)?;
    let plan = exact.plan();
    let mut values = allocate(layout.node_count() as usize, 0.0)?;
    let mut doubts = Doubts::default();
    let mut recomputed = values.len();
    begin(Stage::Distances)?;
    let node_error = if settings.method == Method::BruteForce {
        brute_force::fill(mesh, plan, &layout, &mut values, progress)
            .ok_or(BakeError::Cancelled)?;
        0.0
    } else {
        let distances = Distances {
            bvh: &plan.bvh,
            patches: plan.patches(),
            layout: &layout,
            bounds: mesh.bounds(),
            progress,
        };
        let error = distances.far_error();
        let settle = |values: &mut [f32], unclear: &[UVec3]| {
            settle(plan, &layout, values, unclear, error, &mut doubts);
        };
        let kept = kept
            .filter(|_| settings.method == Method::Exact)
            .and_then(|kept| Some((kept, kept.reuse(plan, distances.far_error())?)));
        let error = match kept {
            Some((kept, reuse)) => {
                recomputed = kept.fill(&distances, reuse, &mut values, settle)?;
                distances.far_error()
            }
            None => distances.fill(settings.method, &mut values, settle)?,
        };
        fill_open_signs(plan, &layout, &mut values, &mut doubts, progress)?;
        error
    };
    begin(Stage::Checking)?;
    let sign_method = exact.sign_method();
    if settings.method != Method::BruteForce && sign_method == SignMethod::Pseudonormal {
        cross_check(&exact, &layout, &values, &mut doubts);
    }
    let mut torn = torn_cells(&layout, &values);
    // Magnitudes that are not exact may differ by more than they should; what tears a field is a sign.
    torn.retain(|&cell| check::has_both_signs(&layout, &values, cell));
    let certainty = if exact.is_closed() {
        Certainty::Everywhere
    } else {
        doubts.certainty.unwrap_or(Certainty::Nowhere)
    };
    let mut notes = exact.notes().to_vec();
    if values.iter().all(|&value| value >= 0.0) {
        notes.push(
            "no node is inside: the surface is open, or everywhere thinner than a cell".to_owned(),
        );
    }
    let outcome = Outcome {
        error_bound: check::error_bound(&layout, &values, &torn, &certainty, node_error),
        values,
        sign_method,
        doubtful_nodes: doubts.nodes,
        torn,
        notes,
        cross_checked: doubts.cross_checked,
        disagreements: doubts.disagreements,
    };
    let exact = |points: &[DVec3]| exact.distance_many(points);
    Ok(Rebaked {
        baked: assemble(mesh, layout, outcome, exact, start)?,
        recomputed,
    })
}

/// Refuses a mesh that reaches out of the grid. A grid that was made for it may miss a rounding of `f32` of it.
pub(super) fn check_within(layout: &GridLayout, mesh: DAabb) -> Result<(), BakeError> {
    let grid = layout.bounds().as_daabb();
    let far = grid.min.abs().max(grid.max.abs()).max_element();
    let rounding = 4.0 * f64::from(f32::EPSILON) * (far + grid.diagonal());
    let around = grid.grown(rounding);
    if around.contains(mesh.min) && around.contains(mesh.max) {
        return Ok(());
    }
    Err(BakeError::BeyondGrid { mesh, grid })
}

/// Signed distances of all nodes, and what is known of them.
pub(super) struct Outcome {
    pub(super) values: Vec<f32>,
    pub(super) error_bound: f32,
    pub(super) sign_method: SignMethod,
    pub(super) doubtful_nodes: Vec<UVec3>,
    pub(super) torn: Vec<u32>,
    pub(super) notes: Vec<String>,
    pub(super) cross_checked: usize,
    pub(super) disagreements: usize,
}

/// The grid, its error measured against `exact`, which answers for many points, and its account.
pub(super) fn assemble(
    mesh: &TriangleMesh,
    layout: GridLayout,
    outcome: Outcome,
    exact: impl Fn(&[DVec3]) -> Vec<f64>,
    start: Instant,
) -> Result<Baked, BakeError> {
    let mut doubtful_cells: Vec<u32> = outcome
        .doubtful_nodes
        .iter()
        .flat_map(|&node| check::cells_of_node(&layout, node))
        .chain(outcome.torn)
        .collect();
    doubtful_cells.sort_unstable();
    doubtful_cells.dedup();
    let solid = check::solid(mesh.bounds());
    let grid = DenseGrid::new(layout, outcome.values, solid, outcome.error_bound)?;
    let measured_error = check::measured_error(&grid, layout.cell_size, exact, mesh);
    Ok(Baked {
        grid,
        provenance: Provenance {
            sign_method: outcome.sign_method,
            measured_error,
            conservative: false,
            origin: DVec3::ZERO,
            doubtful_cells,
            notes: outcome.notes,
        },
        report: BakeReport {
            time: start.elapsed(),
            cross_checked: outcome.cross_checked,
            disagreements: outcome.disagreements,
        },
    })
}

/// Brute force is an oracle of its own, and signs by the winding number alone.
fn sign_choice(settings: &BakeSettings) -> Result<SignChoice, BakeError> {
    match (settings.method, settings.sign) {
        (Method::BruteForce, SignChoice::Auto | SignChoice::Always(SignMethod::Winding)) => {
            Ok(SignChoice::Always(SignMethod::Winding))
        }
        (Method::BruteForce, SignChoice::Always(method)) => {
            Err(BakeError::BruteForceSign(method.name()))
        }
        (Method::BruteForce, SignChoice::Offset(_)) => {
            Err(BakeError::BruteForceSign(SignMethod::Offset.name()))
        }
        (_, choice) => Ok(choice),
    }
}

/// Doubtful cells are numbered by 32 bits, here and in the file; so are the nodes of methods that keep lists of them.
fn check_cells(layout: &GridLayout, method: Method) -> Result<(), BakeError> {
    let [x, y, z] = layout.cells().to_array().map(u64::from);
    let cells = x.saturating_mul(y).saturating_mul(z);
    if cells > u64::from(u32::MAX) {
        return Err(BakeError::TooManyCells { cells });
    }
    let nodes = layout.node_count();
    if !method.is_exact() && nodes > u64::from(u32::MAX) {
        return Err(BakeError::TooManyToNumber { nodes });
    }
    Ok(())
}

/// Room for something at all nodes; the limit may allow more than the machine has.
pub(super) fn allocate<T: Clone>(count: usize, value: T) -> Result<Vec<T>, BakeError> {
    let mut values = room_for(count).map_err(|_| BakeError::OutOfMemory {
        bytes: (size_of::<T>() as u64).saturating_mul(count as u64),
    })?;
    values.resize(count, value);
    Ok(values)
}

fn check_memory(
    layout: &GridLayout,
    faces: usize,
    settings: &BakeSettings,
) -> Result<(), BakeError> {
    let allowed = settings.max_memory;
    let needed = estimated_memory(layout, faces, settings);
    if needed <= allowed {
        return Ok(());
    }
    let mesh = mesh_memory(faces);
    let for_nodes = allowed.saturating_sub(mesh) as f64;
    let shrink = (for_nodes / (needed - mesh.min(needed)).max(1) as f64).cbrt();
    Err(BakeError::TooMuchMemory {
        nodes: layout.nodes,
        needed,
        allowed,
        fitting: (shrink * f64::from(layout.nodes.max_element())) as u32,
    })
}

/// Nodes whose sign is not to be trusted, and how the second opinion went.
#[derive(Default)]
struct Doubts {
    nodes: Vec<UVec3>,
    /// Where the sign is known to follow the surface; `None` when the method does not say.
    certainty: Option<Certainty>,
    cross_checked: usize,
    disagreements: usize,
}

/// How to find the distances of all nodes.
pub(super) struct Distances<'a> {
    pub(super) bvh: &'a Bvh,
    /// Tell the sign; without them all values are positive.
    pub(super) patches: Option<&'a Patches>,
    pub(super) layout: &'a GridLayout,
    /// Of the mesh.
    pub(super) bounds: DAabb,
    pub(super) progress: Progress<'a>,
}

impl Distances<'_> {
    /// Writes the distances of all nodes and returns the largest error of one \[m\]. `settle` gives nodes their sign whose nearest feature
    /// does not tell it.
    pub(super) fn fill(
        &self,
        method: Method,
        values: &mut [f32],
        settle: impl FnOnce(&mut [f32], &[UVec3]),
    ) -> Result<f64, BakeError> {
        if !method.is_exact() {
            return self.fill_from_band(method, values, settle);
        }
        let (layout, progress) = (self.layout, self.progress);
        let (found, error) = match method {
            Method::BoundTree => {
                let wanted = Wanted::all(self.patches);
                let found = bound_tree::fill(self.bvh, wanted, layout, values, progress);
                (found, 0.0)
            }
            _ => {
                let found = exact_bvh::fill(self.bvh, self.wanted(), layout, values, progress);
                (found, self.far_error())
            }
        };
        settle(values, &found.ok_or(BakeError::Cancelled)?.unclear);
        Ok(error)
    }

    /// What the exact method writes: to the bit what brute force finds near the surface, and within [`Self::far_error`] of it beyond.
    pub(super) fn wanted(&self) -> Wanted<'_> {
        /// Cells beyond which `f32` decides. Deciding in `f64` among faces that tie takes a fifth of the time, everywhere.
        const EXACT_CELLS: f64 = 2.0;
        let exact_cells = match self.patches {
            Some(_) => EXACT_CELLS,
            None => f64::INFINITY,
        };
        Wanted {
            exact_within: exact_cells * f64::from(self.layout.cell_size),
            far_error: self.far_error(),
            ..Wanted::all(self.patches)
        }
    }

    /// How far nodes are off that `f32` decides: none, where no patches tell which side they are on \[m\].
    pub(super) fn far_error(&self) -> f64 {
        if self.patches.is_none() {
            return 0.0;
        }
        let radius = 0.5 * self.layout.bounds().as_daabb().diagonal();
        self.bvh.far_error(radius)
    }

    /// Exact distances in a band, and by `method` beyond it.
    fn fill_from_band(
        &self,
        method: Method,
        values: &mut [f32],
        settle: impl FnOnce(&mut [f32], &[UVec3]),
    ) -> Result<f64, BakeError> {
        let layout = self.layout;
        let band = Band::of(layout, self.bounds);
        let wanted = Wanted {
            within: band.width,
            seeds: matches!(method, Method::ScanConversion | Method::VectorDistance),
            ..Wanted::all(self.patches)
        };
        let fill = match method {
            Method::ScanConversion => scan_conversion::fill,
            _ => exact_bvh::fill,
        };
        let found =
            fill(self.bvh, wanted, layout, values, self.progress).ok_or(BakeError::Cancelled)?;
        settle(values, &found.unclear);
        if self.patches.is_some() {
            band::flood_signs(layout, values);
        }
        let mut magnitudes = allocate(values.len(), 0.0f32)?;
        band::write_magnitudes(values, &mut magnitudes);
        let error = fill_beyond(
            method,
            layout,
            &band,
            &found,
            &mut magnitudes,
            self.progress,
        )?;
        band::join(values, &magnitudes);
        Ok(error)
    }
}

/// Magnitudes beyond the band, and their largest error \[m\].
fn fill_beyond(
    method: Method,
    layout: &GridLayout,
    band: &Band,
    found: &Found,
    magnitudes: &mut [f32],
    progress: Progress<'_>,
) -> Result<f64, BakeError> {
    let count = magnitudes.len();
    let error = match method {
        Method::Chamfer => chamfer::fill(layout, band, magnitudes, progress),
        Method::FastMarching => {
            let mut scratch = fast_marching::Scratch {
                done: allocate(count, false)?,
                chamfer: allocate(count, 0.0)?,
            };
            fast_marching::fill(layout, band, magnitudes, &mut scratch, progress)
        }
        _ => {
            let mut scratch = vector_distance::Scratch {
                labels: allocate(count, 0)?,
                chamfer: allocate(count, 0.0)?,
            };
            let seeds = &found.seeds;
            vector_distance::fill(layout, band, seeds, magnitudes, &mut scratch, progress)
        }
    };
    error.ok_or(BakeError::Cancelled)
}

/// Gives distances to a surface that may be open their signs.
fn fill_open_signs(
    plan: &SignPlan,
    layout: &GridLayout,
    values: &mut [f32],
    doubts: &mut Doubts,
    progress: Progress<'_>,
) -> Result<(), BakeError> {
    match &plan.signs {
        Signs::Pseudonormal(_) | Signs::ClosedWinding(_) => {}
        Signs::OpenWinding => {
            let around = 3f64.sqrt() * f64::from(layout.cell_size);
            let block = |center, radius| plan.by_winding_within(center, radius);
            let node = |point| plan.by_winding_around(point, around);
            fill_signs(layout, values, progress, block, node, doubts)?;
        }
        Signs::Parity(parity) => {
            let node = |point| (plan.by_parity(parity, point), false);
            fill_signs(layout, values, progress, |_, _| None, node, doubts)?;
            // Votes prove nothing about the points between.
            doubts.certainty = None;
        }
        Signs::Unknown => {
            let around = plan.bounds.grown(f64::from(layout.cell_size));
            // Every cell has one corner at three odd places.
            let odd = |node: &UVec3| node.to_array().iter().all(|place| place % 2 == 1);
            let all = (0..layout.node_count() as usize).map(|index| place_at(layout.nodes, index));
            let within = |node: &UVec3| around.contains(layout.node_position(*node));
            doubts.nodes.extend(all.filter(odd).filter(within));
        }
    }
    Ok(())
}

/// Gives every distance its sign: a whole block at once where `block_sign` is sure of it, with the cells around it, else node by node,
/// where `node_sign` also says whether it holds in the cells around.
fn fill_signs(
    layout: &GridLayout,
    values: &mut [f32],
    progress: Progress<'_>,
    block_sign: impl Fn(DVec3, f64) -> Option<Sign> + Sync,
    node_sign: impl Fn(DVec3) -> (Sign, bool) + Sync,
    doubts: &mut Doubts,
) -> Result<(), BakeError> {
    let around = 3f64.sqrt() * f64::from(layout.cell_size);
    let layers = for_each_layer(layout, values, Stage::Signs, progress, |layer| {
        let (mut doubtful, mut certain) = (Vec::new(), Vec::new());
        for block in layer.blocks() {
            let whole = block_sign(block.center, block.radius + around);
            let mut certain_nodes = 0;
            for node in block.nodes() {
                let value = &mut layer.values[layer.slot(node)];
                let (sign, is_certain) = match whole {
                    Some(sign) => (sign, true),
                    None => node_sign(layout.node_position(node)),
                };
                if is_certain {
                    certain_nodes |= node_bit(node);
                }
                if sign.inside {
                    *value = -*value;
                }
                // On the surface itself every sign is right.
                if sign.doubtful && value.abs() > layout.cell_size {
                    doubtful.push(node);
                }
            }
            certain.push((block_index(layout, block.first), certain_nodes));
        }
        (doubtful, certain)
    })
    .ok_or(BakeError::Cancelled)?;
    let last = layout.nodes - UVec3::ONE;
    let mut certain = vec![0; block_index(layout, last) + 1];
    for (doubtful, blocks) in layers {
        doubts.nodes.extend(doubtful);
        for (block, nodes) in blocks {
            certain[block] = nodes;
        }
    }
    doubts.certainty = Some(Certainty::AtNodes(certain));
    Ok(())
}

/// Signs of nodes whose nearest feature does not tell. `error` is that of their distances \[m\].
fn settle(
    plan: &SignPlan,
    layout: &GridLayout,
    values: &mut [f32],
    unclear: &[UVec3],
    error: f64,
    doubts: &mut Doubts,
) {
    let mut all = Piece {
        layout,
        first: UVec3::ZERO,
        size: layout.nodes,
        side: SIDE,
        values,
    };
    let ask = |node| plan.by_winding(layout.node_position(node));
    let asked = settle_signs(&mut all, unclear, error, &plan.bvh, ask, |sign| sign.inside);
    for (node, sign) in asked {
        if sign.doubtful && values[layout.node_index(node)].abs() > layout.cell_size {
            doubts.nodes.push(node);
        }
    }
}

/// Compares the signs of nodes near the surface with winding numbers.
fn cross_check(exact: &ExactDistance, layout: &GridLayout, values: &[f32], doubts: &mut Doubts) {
    /// Spread evenly over all that are near: a fault that concerns a thousandth of the surface is hit twice.
    const NODES: usize = 2048;
    let near = |&index: &usize| {
        let distance = values[index].abs();
        distance < layout.cell_size && distance > 1e-3 * layout.cell_size
    };
    let near_surface: Vec<usize> = (0..values.len()).filter(near).collect();
    let [nx, ny, _] = layout.nodes.to_array().map(|n| n as usize);
    for &index in near_surface
        .iter()
        .step_by(near_surface.len().div_ceil(NODES).max(1))
    {
        let node = UVec3::new(
            (index % nx) as u32,
            (index / nx % ny) as u32,
            (index / nx / ny) as u32,
        );
        let sign = exact.plan().by_winding(layout.node_position(node));
        doubts.cross_checked += 1;
        if sign.inside != (values[index] < 0.0) {
            doubts.disagreements += 1;
            doubts.nodes.push(node);
        }
    }
}
