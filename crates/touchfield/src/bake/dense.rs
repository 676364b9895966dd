//! Bakes a mesh into a dense grid, and reports how.
//!
//! Input: any mesh whose faces refer to finite vertices; closed or not, clean or not.
//! Output: a dense grid with a proven error bound, a measured error, the sign method and the
//! defects of the mesh.
//! Cost: see the file of each method. Memory is estimated before the work starts, and refused above
//! a limit.
//! Not for: run time; load the result with `field::file`.

use crate::bake::baked::Baked;
use crate::bake::baked::Outcome;
use crate::bake::distance::fill::Distances;
use crate::bake::error::BakeError;
use crate::bake::error::LayoutError;
use crate::bake::error::MemoryError;
use crate::bake::error::SignError;
use std::ops::ControlFlow;
use std::time::Instant;

use glam::{DVec3, UVec3};

use crate::bake::baked::assemble;
use crate::bake::blocks::{Piece, SIDE, block_index, for_each_layer, node_bit};
use crate::bake::check;
use crate::bake::check::Certainty;
use crate::bake::distance::fill::allocate;
use crate::bake::distance::kept::Kept;
use crate::bake::distance::nodes::Found;
use crate::bake::distance::proposals::{FaceSearch, Filled, ProposalReport, Proposals};
use crate::bake::distance::settle_signs::settle_signs;
use crate::bake::distance::{brute_force, fast_marching, vector_distance};
use crate::bake::exact_distance::ExactDistance;
use crate::bake::intake::Intake;
use crate::bake::offset::grid as offset;
use crate::bake::progress::{Progress, Stage, Step, tell};
use crate::bake::settings::SignChoice;
use crate::bake::settings::{BakeSettings, DistanceMethod};
use crate::bake::sign::plan::{Sign, SignPlan, Signs};
use crate::field::{GridLayout, SignMethod, torn_cells};
use crate::geom::{DAabb, place_at};
use crate::mesh::TriangleMesh;

/// Returns the peak memory of baking a mesh of `faces` faces on this grid \[bytes\].
pub(crate) fn estimated_memory(layout: &GridLayout, faces: usize, settings: &BakeSettings) -> u64 {
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

/// Returns the peak memory per node: its value, and what the method stores beside it \[bytes\].
fn bytes_per_node(method: DistanceMethod) -> u64 {
    const VALUE: u64 = size_of::<f32>() as u64;
    match method {
        DistanceMethod::Exact | DistanceMethod::BruteForce | DistanceMethod::BoundTree => VALUE,
        DistanceMethod::Chamfer => 2 * VALUE,
        DistanceMethod::ScanConversion | DistanceMethod::VectorDistance => {
            2 * VALUE + vector_distance::BYTES_PER_NODE
        }
        DistanceMethod::FastMarching => 2 * VALUE + fast_marching::BYTES_PER_NODE,
    }
}

/// Returns the memory of the search structures over `faces` faces \[bytes\].
fn mesh_memory(faces: usize) -> u64 {
    /// A rough figure for hierarchy, pseudonormals, a welded copy and the topology for validation;
    /// the bunny takes 932 bytes per face at its peak (bench/results).
    const BYTES_PER_FACE: u64 = 600;
    faces as u64 * BYTES_PER_FACE
}

/// Bakes a mesh into a dense grid.
///
/// A mesh that is too far from the origin for `f32` is moved, and the field is in a frame of its
/// own: see [`Provenance::origin`](crate::field::Provenance::origin).
pub fn bake(mesh: &TriangleMesh, settings: &BakeSettings) -> Result<Baked, BakeError> {
    bake_with(mesh, settings, &|_step| ControlFlow::Continue(()))
}

/// Bakes a mesh into a dense grid, like [`bake`]. `progress` is called from any thread and may
/// cancel.
pub fn bake_with(
    mesh: &TriangleMesh,
    settings: &BakeSettings,
    progress: &(dyn Fn(Step) -> ControlFlow<()> + Sync),
) -> Result<Baked, BakeError> {
    crate::bake::exact_distance::check_faces(mesh)?;
    let intake = Intake::of(mesh, settings.cell_size(mesh.bounds()));
    let layout = settings.layout(intake.mesh.bounds())?;
    let mut baked = bake_on(&intake.mesh, layout, settings, progress)?;
    intake.note(&mut baked.provenance);
    Ok(baked)
}

/// Bakes a mesh on a given grid, which replaces [`BakeSettings::resolution`] and
/// [`BakeSettings::padding`]; otherwise like [`bake_with`]. The mesh must lie within the grid.
pub fn bake_on(
    mesh: &TriangleMesh,
    layout: GridLayout,
    settings: &BakeSettings,
    progress: &(dyn Fn(Step) -> ControlFlow<()> + Sync),
) -> Result<Baked, BakeError> {
    match settings.sign.offset() {
        Some(width) => {
            check_grid(&layout, mesh, settings)?;
            offset::bake(mesh, layout, width, settings, progress)
        }
        None => bake_from(mesh, layout, settings, Source::Own, progress).map(|(baked, _)| baked),
    }
}

/// Refuses meshes without a distance, grids that do not hold them, and bakes that are too large,
/// before memory is allocated.
fn check_grid(
    layout: &GridLayout,
    mesh: &TriangleMesh,
    settings: &BakeSettings,
) -> Result<(), BakeError> {
    crate::bake::exact_distance::check_faces(mesh)?;
    layout.check()?;
    check_within(layout, mesh.bounds())?;
    check_memory(layout, mesh.faces.len(), settings)?;
    check_cells(layout, settings.method)
}

/// Source of the nearest faces of nodes.
pub(crate) enum Source<'a> {
    /// A search of our own.
    Own,
    /// An earlier bake, and a search of our own where it does not hold any more.
    Kept(&'a Kept<'a>),
    /// A search elsewhere, whose results are checked.
    Elsewhere(Elsewhere<'a>),
}

/// A search elsewhere, and where its results go.
pub(crate) struct Elsewhere<'a> {
    pub(crate) search: &'a dyn FaceSearch,
    /// Nearest faces of all nodes, if they are wanted.
    pub(crate) faces: Option<&'a mut Vec<u32>>,
    pub(crate) report: &'a mut ProposalReport,
}

/// Bakes a mesh into a dense grid, like [`bake_with`], by a search elsewhere. Signs by an
/// offset are refused.
pub(crate) fn bake_elsewhere(
    mesh: &TriangleMesh,
    settings: &BakeSettings,
    elsewhere: Elsewhere<'_>,
    progress: Progress<'_>,
) -> Result<Baked, BakeError> {
    crate::bake::exact_distance::check_faces(mesh)?;
    let settings = BakeSettings {
        method: DistanceMethod::Exact,
        ..*settings
    };
    let intake = Intake::of(mesh, settings.cell_size(mesh.bounds()));
    let layout = settings.layout(intake.mesh.bounds())?;
    let source = Source::Elsewhere(elsewhere);
    let (mut baked, _) = bake_from(&intake.mesh, layout, &settings, source, progress)?;
    intake.note(&mut baked.provenance);
    Ok(baked)
}

/// Bakes a mesh on a given grid, like [`bake_on`]. Also returns the number of distances that an
/// earlier bake did not give.
pub(crate) fn bake_from(
    mesh: &TriangleMesh,
    layout: GridLayout,
    settings: &BakeSettings,
    source: Source<'_>,
    progress: Progress<'_>,
) -> Result<(Baked, usize), BakeError> {
    let start = Instant::now();
    check_grid(&layout, mesh, settings)?;
    let begin = |stage| tell(progress, stage, 0, 1);
    begin(Stage::Preparing)?;
    // Choose the sign method and build the search structures.
    let around = layout.bounds().as_daabb();
    let exact = ExactDistance::within(mesh, sign_choice(settings)?, around)?;
    let plan = exact.plan();
    let mut values = allocate(layout.node_count() as usize, 0.0)?;
    let mut doubts = Doubts::default();
    let mut recomputed = values.len();
    begin(Stage::Distances)?;
    // Distances, with their signs where the nearest feature determines them.
    let node_error = if settings.method == DistanceMethod::BruteForce {
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
        let proposals = match &source {
            Source::Elsewhere(elsewhere) => Some(
                Proposals::new(elsewhere.search, plan, around, elsewhere.faces.is_some())
                    .ok_or(BakeError::Cancelled)?,
            ),
            _ => None,
        };
        let promised = proposals.as_ref().map_or(0.0, |proposals| proposals.error);
        let error = distances.far_error().max(promised);
        let mut settle = |values: &mut [f32], unclear: &[UVec3]| {
            settle(plan, &layout, values, unclear, error, &mut doubts);
        };
        // Only the exact method reuses distances of an earlier bake.
        let reuse = match &source {
            Source::Kept(kept) if settings.method == DistanceMethod::Exact => {
                (kept.reuse(plan, distances.far_error())).map(|reuse| (*kept, reuse))
            }
            _ => None,
        };
        let error = match (reuse, proposals, source) {
            (Some((kept, reuse)), ..) => {
                recomputed = kept.fill(&distances, reuse, &mut values, settle)?;
                distances.far_error()
            }
            (_, Some(proposals), Source::Elsewhere(elsewhere)) => {
                let found = fill_proposed(&distances, &proposals, elsewhere.faces, &mut values)?;
                settle(&mut values, &found.unclear);
                *elsewhere.report = proposals.report();
                error
            }
            _ => distances.fill(settings.method, &mut values, settle)?,
        };
        fill_open_signs(plan, &layout, &mut values, &mut doubts, progress)?;
        error
    };
    begin(Stage::Checking)?;
    let sign_method = exact.sign_method();
    // Cross-check the signs, find torn cells, and bound the error.
    if settings.method != DistanceMethod::BruteForce && sign_method == SignMethod::Pseudonormal {
        cross_check(&exact, &layout, &values, &mut doubts);
    }
    let mut torn = torn_cells(&layout, &values);
    // Inexact magnitudes may differ by more than they should; only a wrong sign tears a field.
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
    let baked = assemble(mesh, layout, outcome, exact, start)?;
    Ok((baked, recomputed))
}

/// Writes the distances of all nodes from faces that a search elsewhere proposes, slab by slab.
fn fill_proposed(
    distances: &Distances<'_>,
    proposals: &Proposals<'_>,
    mut faces: Option<&mut Vec<u32>>,
    values: &mut [f32],
) -> Result<Found, BakeError> {
    /// Nodes of a slab, about: large enough for a device of a few thousand threads, and a few
    /// dozen megabytes of proposals.
    const SLAB: usize = 1 << 21;
    let layout = distances.layout;
    let [nx, ny, nz] = layout.nodes.to_array();
    let layer = nx as usize * ny as usize * SIDE as usize;
    let slab = (SLAB / layer).max(1) * layer;
    if let Some(faces) = &mut faces {
        **faces = allocate(values.len(), 0)?;
    }
    let mut found = Vec::new();
    let mut first = 0;
    for (index, values) in values.chunks_mut(slab).enumerate() {
        let begin = index * slab;
        let mut rest: &mut [u32] = match &mut faces {
            Some(faces) => &mut faces[begin..begin + values.len()],
            None => &mut [],
        };
        let mut pieces = Vec::new();
        for values in values.chunks_mut(layer) {
            let of_layer = rest.len().min(values.len());
            let (own, others) = std::mem::take(&mut rest).split_at_mut(of_layer);
            rest = others;
            pieces.push(Filled {
                piece: Piece {
                    layout,
                    first: UVec3::new(0, 0, first),
                    size: UVec3::new(nx, ny, SIDE.min(nz - first)),
                    side: SIDE,
                    values,
                },
                faces: own,
            });
            first += SIDE;
        }
        tell(
            distances.progress,
            Stage::Distances,
            first.min(nz).into(),
            nz.into(),
        )?;
        let slab = proposals.fill(layout, &mut pieces);
        found.extend(slab.ok_or(BakeError::Cancelled)?);
    }
    Ok(Found::join(found))
}

/// Refuses a mesh that reaches beyond the grid. A grid that was made for a mesh may miss it by a
/// rounding of `f32`.
pub(crate) fn check_within(layout: &GridLayout, mesh: DAabb) -> Result<(), BakeError> {
    let grid = layout.bounds().as_daabb();
    let far = grid.min.abs().max(grid.max.abs()).max_element();
    let rounding = 4.0 * f64::from(f32::EPSILON) * (far + grid.diagonal());
    let around = grid.grown(rounding);
    if around.contains(mesh.min) && around.contains(mesh.max) {
        return Ok(());
    }
    Err(LayoutError::BeyondGrid { mesh, grid }.into())
}

/// Returns the sign choice for the method. Brute force is a reference of its own, and supports
/// signs by the winding number only.
fn sign_choice(settings: &BakeSettings) -> Result<SignChoice, BakeError> {
    match (settings.method, settings.sign) {
        (
            DistanceMethod::BruteForce,
            SignChoice::Auto | SignChoice::Always(SignMethod::Winding),
        ) => Ok(SignChoice::Always(SignMethod::Winding)),
        (DistanceMethod::BruteForce, SignChoice::Always(method)) => {
            Err(SignError::BruteForceSign(method.name()).into())
        }
        (DistanceMethod::BruteForce, SignChoice::Offset(_)) => {
            Err(SignError::BruteForceSign(SignMethod::Offset.name()).into())
        }
        (_, choice) => Ok(choice),
    }
}

/// Refuses grids with more cells than 32 bits can number, because doubtful cells are numbered by 32
/// bits, here and in the file. The same holds for the nodes of methods that keep lists of them.
fn check_cells(layout: &GridLayout, method: DistanceMethod) -> Result<(), BakeError> {
    let [x, y, z] = layout.cells().to_array().map(u64::from);
    let cells = x.saturating_mul(y).saturating_mul(z);
    if cells > u64::from(u32::MAX) {
        return Err(LayoutError::TooManyCells { cells }.into());
    }
    let nodes = layout.node_count();
    if !method.is_exact() && nodes > u64::from(u32::MAX) {
        return Err(LayoutError::TooManyToNumber { nodes }.into());
    }
    Ok(())
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
    Err(MemoryError::TooMuchMemory {
        nodes: layout.nodes,
        needed,
        allowed,
        fitting: (shrink * f64::from(layout.nodes.max_element())) as u32,
    }
    .into())
}

/// Nodes whose sign is doubtful, and the result of the cross-check.
#[derive(Default)]
struct Doubts {
    nodes: Vec<UVec3>,
    /// Region where the sign is proven to follow the surface; `None` when the method does not
    /// report it.
    certainty: Option<Certainty>,
    cross_checked: usize,
    disagreements: usize,
}

/// Sets the signs of distances to a surface that may be open.
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
            // Votes prove nothing about the points between nodes.
            doubts.certainty = None;
        }
        Signs::Unknown => {
            let around = plan.bounds.grown(f64::from(layout.cell_size));
            // Every cell has exactly one corner with three odd indices.
            let odd = |node: &UVec3| node.to_array().iter().all(|place| place % 2 == 1);
            let all = (0..layout.node_count() as usize).map(|index| place_at(layout.nodes, index));
            let within = |node: &UVec3| around.contains(layout.node_position(*node));
            doubts.nodes.extend(all.filter(odd).filter(within));
        }
    }
    Ok(())
}

/// Sets the sign of every distance: for a whole block at once where `block_sign` is sure of it,
/// including the cells around it; else node by node, where `node_sign` also returns whether the
/// sign holds in the cells around.
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
                // On the surface itself, either sign is right.
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

/// Settles the signs of nodes whose nearest feature does not determine them. `error` is the error
/// of their distances \[m\].
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
    /// Number of nodes, spread evenly over all near nodes: a fault in a thousandth of the surface
    /// is hit twice.
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
