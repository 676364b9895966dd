//! The entry: a mesh and settings in, a field and a report out.
//!
//! Input: any mesh whose faces name finite vertices; closed or not, clean or not.
//! Output: a dense grid with a proven error bound, a measured error, the sign method and what was wrong with the mesh.
//! Cost: see `exact_bvh`; the memory is known before the work starts and refused above a limit.
//! Not for: run time; load the result with `field::file`.

use std::time::{Duration, Instant};

use glam::{DVec3, UVec3};

use super::blocks::{block_index, for_each_layer, node_bit};
use super::check::Certainty;
use super::exact_distance::ExactDistance;
use super::node_data::NodeData;
use super::settings::{BakeSettings, Method, Progress, Stage, Step};
use super::sign::{Sign, SignChoice, SignPlan, Signs, by_winding};
use super::{brute_force, check, exact_bvh};
use crate::field::{
    DenseGrid, Field, GridError, GridLayout, Provenance, SignMethod, TaylorError, torn_cells,
};
use crate::geom::DAabb;
use crate::mesh::{TriangleMesh, Winding, WindingNumber};
use crate::threads;

/// A field and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Baked<G = DenseGrid> {
    /// The field.
    pub grid: G,
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
    #[error("a cell size of {cell_size} m is not usable; it must be positive and finite")]
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
    /// The distances do not fit half floats.
    #[error(transparent)]
    Taylor(#[from] TaylorError),
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
    /// A sparse field was asked for.
    #[error(
        "the surface is not closed, and beside a hole the field is no distance; a sparse field needs a closed surface \
         (repair the mesh, or bake a dense grid)"
    )]
    SparseNeedsClosed,
    /// A band of no width.
    #[error("a band of {width} cells is not usable; it must be positive and finite")]
    BadBand {
        /// Asked for.
        width: f64,
    },
    /// Not a length.
    #[error("a tolerance of {tolerance} m is not usable; it must be positive and finite")]
    BadTolerance {
        /// Asked for \[m\].
        tolerance: f64,
    },
    /// Cells would become smaller than `f32` can tell apart.
    #[error(
        "a tolerance of {tolerance} m is below what f32 can tell at this distance from the origin; use a larger one, or move \
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
    /// Whether a limit was hit, rather than the input being bad.
    pub fn is_limit(&self) -> bool {
        matches!(
            self,
            BakeError::TooMuchMemory { .. }
                | BakeError::OutOfMemory { .. }
                | BakeError::TooManyNodes { .. }
                | BakeError::TooManyCells { .. }
                | BakeError::SparseTooMuchMemory { .. }
        )
    }
}

/// Bytes that baking a mesh of so many faces on this grid takes at its peak, with so many for each node.
fn estimated_memory(layout: &GridLayout, node_bytes: u64, faces: usize) -> u64 {
    layout
        .node_count()
        .saturating_mul(node_bytes)
        .saturating_add(mesh_memory(faces))
}

/// Bytes of the search structures over so many faces.
fn mesh_memory(faces: usize) -> u64 {
    /// A rough figure for hierarchy, pseudonormals, a welded copy and the topology for validation; at its peak the bunny takes
    /// 932 (bench/results).
    const BYTES_PER_FACE: u64 = 600;
    faces as u64 * BYTES_PER_FACE
}

/// Bakes a mesh into a dense grid. `progress` is called from any thread and may cancel.
pub fn bake(
    mesh: &TriangleMesh,
    settings: &BakeSettings,
    progress: &(dyn Fn(Step) -> std::ops::ControlFlow<()> + Sync),
) -> Result<Baked, BakeError> {
    let start = Instant::now();
    let filled = Filled::<f32>::new(mesh, settings, size_of::<f32>() as u64, progress)?;
    let judgement = filled.judge(&filled.nodes);
    let solid = check::solid(mesh.bounds());
    let grid = DenseGrid::new(filled.layout, filled.nodes, solid, judgement.mean_error)?;
    Ok(report(grid, mesh, &filled.exact, judgement, start))
}

/// Grid and account of a bake that began at `start`.
pub(super) fn report<G: Field>(
    grid: G,
    mesh: &TriangleMesh,
    exact: &ExactDistance,
    judgement: Judgement,
    start: Instant,
) -> Baked<G> {
    let cell_size = judgement.cell_size;
    Baked {
        provenance: Provenance {
            sign_method: exact.sign_method(),
            measured_error: check::measured_error(&grid, cell_size, exact, mesh),
            doubtful_cells: judgement.doubtful_cells,
            notes: judgement.notes,
        },
        grid,
        report: BakeReport {
            time: start.elapsed(),
            cross_checked: judgement.cross_checked,
            disagreements: judgement.disagreements,
        },
    }
}

/// All nodes of a grid, signs included.
pub(super) struct Filled<T> {
    pub(super) exact: ExactDistance,
    pub(super) layout: GridLayout,
    pub(super) nodes: Vec<T>,
    doubts: Doubts,
}

/// What is known of the node values.
pub(super) struct Judgement {
    /// Proven: the trilinear mean of the values is off by no more \[m\].
    pub(super) mean_error: f32,
    cell_size: f32,
    doubtful_cells: Vec<u32>,
    notes: Vec<String>,
    cross_checked: usize,
    disagreements: usize,
}

impl<T: NodeData> Filled<T> {
    /// Refuses what cannot be baked, chooses signs and fills the grid; `node_bytes` is what a node takes in all.
    pub(super) fn new(
        mesh: &TriangleMesh,
        settings: &BakeSettings,
        node_bytes: u64,
        progress: Progress<'_>,
    ) -> Result<Filled<T>, BakeError> {
        let begin = |stage| match progress(Step {
            stage,
            done: 0,
            total: 1,
        }) {
            std::ops::ControlFlow::Break(()) => Err(BakeError::Cancelled),
            std::ops::ControlFlow::Continue(()) => Ok(()),
        };
        super::exact_distance::check_faces(mesh)?;
        let layout = settings.layout(mesh.bounds())?;
        check_memory(&layout, node_bytes, mesh.faces.len(), settings.max_memory)?;
        check_cells(&layout)?;
        begin(Stage::Preparing)?;
        let exact = ExactDistance::new(mesh, sign_choice(settings)?)?;
        let mut nodes: Vec<T> = allocate(&layout)?;
        let mut doubts = Doubts::default();
        begin(Stage::Distances)?;
        match settings.method {
            Method::Exact => {
                fill_exact(&exact, &layout, &mut nodes, &mut doubts, progress)?;
            }
            Method::BruteForce => {
                brute_force::fill(mesh, exact.plan(), &layout, &mut nodes, progress)
                    .ok_or(BakeError::Cancelled)?;
            }
        }
        begin(Stage::Checking)?;
        if settings.method == Method::Exact && exact.sign_method() == SignMethod::Pseudonormal {
            cross_check(&exact, &layout, &nodes, &mut doubts);
        }
        Ok(Filled {
            exact,
            layout,
            nodes,
            doubts,
        })
    }

    /// Proves the error of the trilinear mean of `values`, the distances of the nodes, and collects doubts.
    pub(super) fn judge(&self, values: &[f32]) -> Judgement {
        let (layout, doubts) = (&self.layout, &self.doubts);
        let torn = torn_cells(layout, values);
        let certainty = if self.exact.is_closed() {
            &Certainty::Everywhere
        } else {
            doubts.certainty.as_ref().unwrap_or(&Certainty::Nowhere)
        };
        let mean_error = check::error_bound(layout, values, &torn, certainty);
        let mut doubtful_cells: Vec<u32> = doubts
            .nodes
            .iter()
            .flat_map(|&node| check::cells_of_node(layout, node))
            .chain(torn)
            .collect();
        doubtful_cells.sort_unstable();
        doubtful_cells.dedup();
        let mut notes = self.exact.notes().to_vec();
        if values.iter().all(|&value| value >= 0.0) {
            notes.push(
                "no node is inside: the surface is open, or everywhere thinner than a cell"
                    .to_owned(),
            );
        }
        Judgement {
            mean_error,
            cell_size: layout.cell_size,
            doubtful_cells,
            notes,
            cross_checked: doubts.cross_checked,
            disagreements: doubts.disagreements,
        }
    }
}

/// Brute force is an oracle of its own, and signs by the winding number alone.
fn sign_choice(settings: &BakeSettings) -> Result<SignChoice, BakeError> {
    match (settings.method, settings.sign) {
        (Method::Exact, choice) => Ok(choice),
        (Method::BruteForce, SignChoice::Auto | SignChoice::Always(SignMethod::Winding)) => {
            Ok(SignChoice::Always(SignMethod::Winding))
        }
        (Method::BruteForce, SignChoice::Always(method)) => {
            Err(BakeError::BruteForceSign(method.name()))
        }
    }
}

/// Doubtful cells are numbered by 32 bits, here and in the file.
fn check_cells(layout: &GridLayout) -> Result<(), BakeError> {
    let [x, y, z] = layout.cells().to_array().map(u64::from);
    let cells = x.saturating_mul(y).saturating_mul(z);
    if cells > u64::from(u32::MAX) {
        return Err(BakeError::TooManyCells { cells });
    }
    Ok(())
}

/// Room for something of each node; the limit may allow more than the machine has.
pub(super) fn allocate<T: Clone + Default>(layout: &GridLayout) -> Result<Vec<T>, BakeError> {
    let count = layout.node_count() as usize;
    let mut values = Vec::new();
    values
        .try_reserve_exact(count)
        .map_err(|_| BakeError::OutOfMemory {
            bytes: (size_of::<T>() * count) as u64,
        })?;
    values.resize(count, T::default());
    Ok(values)
}

fn check_memory(
    layout: &GridLayout,
    node_bytes: u64,
    faces: usize,
    allowed: u64,
) -> Result<(), BakeError> {
    let needed = estimated_memory(layout, node_bytes, faces);
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

fn fill_exact<T: NodeData>(
    exact: &ExactDistance,
    layout: &GridLayout,
    values: &mut [T],
    doubts: &mut Doubts,
    progress: Progress<'_>,
) -> Result<(), BakeError> {
    let plan = exact.plan();
    let patches = match &plan.signs {
        Signs::Pseudonormal(patches) | Signs::ClosedWinding(patches) => Some(patches),
        Signs::OpenWinding | Signs::Parity(_) => None,
    };
    let unclear = exact_bvh::fill(&plan.bvh, patches, layout, values, progress)
        .ok_or(BakeError::Cancelled)?;
    match &plan.signs {
        Signs::Pseudonormal(_) | Signs::ClosedWinding(_) => {
            settle(plan, layout, values, &unclear, doubts);
        }
        Signs::OpenWinding => {
            let winding = plan.winding();
            // Whether all of a ball has one sign; inside ends at the box of the mesh.
            let sure = |center: DVec3, radius: f64, within: Winding| {
                let margin = within.change + 2.0 * WindingNumber::ACCURACY;
                let ball = DAabb::from_center(center, DVec3::splat(radius));
                let in_box = plan.bounds.contains(ball.min) && plan.bounds.contains(ball.max);
                (within.number - 0.5).abs() > margin && (in_box || within.number < 0.5)
            };
            let block = |center, radius| {
                let within = winding.within(center, radius);
                sure(center, radius, within).then(|| by_winding(within.number))
            };
            // Around a node, its cells: none of them can be settled when the surface passes through the ball.
            let around = 3f64.sqrt() * f64::from(layout.cell_size);
            let node = |point, distance| {
                if !plan.bounds.contains(point) || distance <= around {
                    return (plan.by_winding(point), false);
                }
                let within = winding.within(point, around);
                (by_winding(within.number), sure(point, around, within))
            };
            fill_signs(layout, values, progress, block, node, doubts)?;
        }
        Signs::Parity(parity) => {
            let node = |point, _| (plan.by_parity(parity, point), false);
            fill_signs(layout, values, progress, |_, _| None, node, doubts)?;
            // Votes prove nothing about the points between.
            doubts.certainty = None;
        }
    }
    Ok(())
}

/// Gives every distance its sign: a whole block at once where `block_sign` is sure of it, with the cells around it, else node by node,
/// where `node_sign` also says whether it holds in the cells around.
fn fill_signs<T: NodeData>(
    layout: &GridLayout,
    values: &mut [T],
    progress: Progress<'_>,
    block_sign: impl Fn(DVec3, f64) -> Option<Sign> + Sync,
    node_sign: impl Fn(DVec3, f64) -> (Sign, bool) + Sync,
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
                    None => node_sign(layout.node_position(node), f64::from(value.distance())),
                };
                if is_certain {
                    certain_nodes |= node_bit(node);
                }
                if sign.inside {
                    *value = value.flipped();
                }
                // On the surface itself every sign is right.
                if sign.doubtful && value.distance().abs() > layout.cell_size {
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

/// Asks the winding number about nodes that their nearest feature tells nothing about.
fn settle<T: NodeData>(
    plan: &SignPlan,
    layout: &GridLayout,
    values: &mut [T],
    unclear: &[UVec3],
    doubts: &mut Doubts,
) {
    let signs = threads::map(unclear.len(), |i| {
        plan.by_winding(layout.node_position(unclear[i]))
    });
    for (&node, sign) in unclear.iter().zip(signs) {
        let value = &mut values[layout.node_index(node)];
        // Unclear ones were left outside.
        if sign.inside {
            *value = value.flipped();
        }
        if sign.doubtful && value.distance().abs() > layout.cell_size {
            doubts.nodes.push(node);
        }
    }
}

/// Compares the signs of nodes near the surface with winding numbers.
fn cross_check<T: NodeData>(
    exact: &ExactDistance,
    layout: &GridLayout,
    values: &[T],
    doubts: &mut Doubts,
) {
    /// Spread evenly over all that are near: a fault that concerns a thousandth of the surface is hit twice.
    const NODES: usize = 2048;
    let near = |&index: &usize| {
        let distance = values[index].distance().abs();
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
        if sign.inside != (values[index].distance() < 0.0) {
            doubts.disagreements += 1;
            doubts.nodes.push(node);
        }
    }
}
