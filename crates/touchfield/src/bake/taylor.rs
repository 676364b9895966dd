//! Bakes a mesh into a Taylor grid: distance and gradient per node, from its exact nearest point.
//!
//! Input: a mesh and settings, as for [`crate::bake::dense`].
//! Output: a [`TaylorGrid`] with a proven error bound, and the same report as for a dense grid.
//! Cost: a dense bake, then one search per node for its gradient; 28 bytes per node at its peak, 9¼
//! kept.
//! Not for: dense grids that are there already; see [`TaylorGrid::from_dense`].
//!
//! After \[Krayer2020\], §4.3 (docs/BIBLIOGRAPHY.md): the gradient is the direction from the
//! nearest point, negated inside; at a node on the surface it is the surface normal. We differ at
//! edges and corners, where the normal is the pseudonormal, the weighted mean of the faces that
//! meet there, instead of the normal of any one of them.

use crate::field::TaylorError;
use std::time::Instant;

use glam::{DVec3, UVec3};

use crate::bake::baked::{BakeReport, Baked};
use crate::bake::check;
use crate::bake::dense::{Elsewhere, bake_elsewhere, bake_with};
use crate::bake::distance::fill::allocate;
use crate::bake::distance::proposals::{FaceSearch, ProposalReport};
use crate::bake::error::{BakeError, MemoryError, SignError};
use crate::bake::exact_distance::ExactDistance;
use crate::bake::intake::Intake;
use crate::bake::progress::Progress;
use crate::bake::settings::BakeSettings;
use crate::bake::sign::plan::Signs;
use crate::field::{
    Brick, Encoded, Field, GridLayout, Provenance, Sample, TaylorEncoder, TaylorGrid,
};
use crate::mesh::{Nearest, TriangleMesh};
use crate::threads;

/// Why a mesh cannot be baked into a Taylor grid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TaylorBakeError {
    /// The mesh, the grid, its memory or its signs.
    #[error(transparent)]
    Bake(#[from] BakeError),
    /// The nodes do not fit a Taylor grid.
    #[error(transparent)]
    Taylor(#[from] TaylorError),
}

impl TaylorBakeError {
    /// Returns whether a limit was hit, rather than the input being bad.
    pub fn is_limit(&self) -> bool {
        matches!(self, TaylorBakeError::Bake(error) if error.is_limit())
    }
}

/// Peak bytes per node while baking: the dense value, the [`Sample`], and the half floats.
const NODE_BYTES: usize = size_of::<f32>() + size_of::<Sample>() + size_of::<[u16; 4]>();

/// Largest distance at which a node counts as on the surface, as a share of the largest coordinate:
/// 2⁻⁴⁴, about a hundred roundings of `f64`. The direction to a nearest point farther away than
/// that is right to a percent.
const ON_SURFACE: f64 = 1.0 / (1u64 << 44) as f64;

/// Bakes a mesh into a Taylor grid. `progress` is called from any thread and may cancel.
pub fn bake_taylor(
    mesh: &TriangleMesh,
    settings: &BakeSettings,
    progress: Progress<'_>,
) -> Result<Baked<TaylorGrid>, TaylorBakeError> {
    crate::bake::exact_distance::check_faces(mesh)?;
    let intake = Intake::of(mesh, settings.cell_size(mesh.bounds()));
    let (mut baked, _) = bake_near(&intake.mesh, settings, None, progress)?;
    intake.note(&mut baked.provenance);
    Ok(baked)
}

/// Bakes a mesh into a Taylor grid, like [`bake_taylor`], by a search elsewhere.
pub(crate) fn bake_taylor_elsewhere(
    mesh: &TriangleMesh,
    settings: &BakeSettings,
    search: &dyn FaceSearch,
    progress: Progress<'_>,
) -> Result<(Baked<TaylorGrid>, ProposalReport), TaylorBakeError> {
    crate::bake::exact_distance::check_faces(mesh)?;
    let intake = Intake::of(mesh, settings.cell_size(mesh.bounds()));
    let (mut baked, report) = bake_near(&intake.mesh, settings, Some(search), progress)?;
    intake.note(&mut baked.provenance);
    Ok((baked, report))
}

/// Bakes a mesh in the frame it is given in; see [`bake_taylor`].
fn bake_near(
    mesh: &TriangleMesh,
    settings: &BakeSettings,
    search: Option<&dyn FaceSearch>,
    progress: Progress<'_>,
) -> Result<(Baked<TaylorGrid>, ProposalReport), TaylorBakeError> {
    let start = Instant::now();
    if settings.sign.offset().is_some() {
        return Err(BakeError::from(SignError::OffsetNeedsDense).into());
    }
    // A dense grid takes four bytes per node, so its limit is that share of the whole.
    let share = (NODE_BYTES / size_of::<f32>()) as u64;
    let dense_settings = BakeSettings {
        max_memory: settings.max_memory / share,
        ..*settings
    };
    let mut faces = Vec::new();
    let mut report = ProposalReport::default();
    let dense = match search {
        None => bake_with(mesh, &dense_settings, progress),
        Some(search) => {
            let elsewhere = Elsewhere {
                search,
                faces: Some(&mut faces),
                report: &mut report,
            };
            bake_elsewhere(mesh, &dense_settings, elsewhere, progress)
        }
    };
    let dense = dense.map_err(|error| match error {
        BakeError::Memory(MemoryError::TooMuchMemory {
            nodes,
            needed,
            fitting,
            ..
        }) => BakeError::Memory(MemoryError::TooMuchMemory {
            nodes,
            needed: needed.saturating_mul(share),
            allowed: settings.max_memory,
            fitting,
        }),
        error => error,
    })?;
    // Gradients of the nodes, encoded brick by brick.
    let exact = ExactDistance::new(mesh, settings.sign)?;
    let layout = *dense.field.layout();
    let faces = search.map(|_| &faces[..]);
    let nodes = with_gradients(&layout, dense.field.values(), faces, &exact);
    let sample = |node: UVec3| nodes[layout.node_index(node)];
    let encoder = TaylorEncoder::new(layout, sample).map_err(BakeError::from)?;
    let [nx, ny, nz] = encoder.bricks().to_array().map(|n| n as usize);
    let mut bricks = allocate(nx * ny * nz, Brick::default())?;
    let layers = threads::map_pieces(&mut bricks, nx * ny, |z, layer| {
        encoder.encode_layer(z as u32, sample, layer)
    });
    let mut found = Encoded::default();
    for layer in layers {
        found = found.max(layer.map_err(TaylorBakeError::Taylor)?);
    }
    let error = dense.field.error_bound();
    let grid = encoder
        .finish(bricks, found, dense.field.solid(), error)
        .map_err(TaylorBakeError::Taylor)?;
    let measured_error = check::measured_error(
        &grid,
        layout.cell_size,
        |points| exact.distance_many(points),
        mesh,
    );
    let baked = Baked {
        field: grid,
        provenance: Provenance {
            measured_error,
            ..dense.provenance
        },
        report: BakeReport {
            time: start.elapsed(),
            ..dense.report
        },
    };
    Ok((baked, report))
}

/// Returns the distance and gradient of every node. The nearest faces are searched, unless they are
/// given.
fn with_gradients(
    layout: &GridLayout,
    values: &[f32],
    faces: Option<&[u32]>,
    exact: &ExactDistance,
) -> Vec<Sample> {
    let bounds = layout.bounds().as_daabb();
    let on_surface = ON_SURFACE * bounds.min.abs().max(bounds.max.abs()).max_element();
    let normal = |nearest: &Nearest| -> DVec3 {
        match &exact.plan().signs {
            Signs::Pseudonormal(patches) | Signs::ClosedWinding(patches) => patches.normal(nearest),
            _ => exact.plan().bvh.triangles()[nearest.face as usize].area_vector(),
        }
    };
    let row = layout.nodes.x as usize;
    let mut nodes = vec![Sample::default(); values.len()];
    threads::map_pieces(&mut nodes, row, |index, nodes| {
        let (y, z) = (index as u32 % layout.nodes.y, index as u32 / layout.nodes.y);
        let mut hint = 0;
        for (x, node) in (0u32..).zip(nodes) {
            let point = layout.node_position(UVec3::new(x, y, z));
            let index = layout.node_index(UVec3::new(x, y, z));
            let nearest = match faces {
                Some(faces) => exact.plan().bvh.measured(faces[index], point),
                None => exact.nearest(point, hint),
            };
            hint = nearest.face;
            let distance = nearest.distance_squared.sqrt();
            let stored = values[index];
            *node = if distance <= on_surface {
                Sample {
                    distance: 0.0,
                    gradient: normal(&nearest).normalize_or_zero().as_vec3(),
                }
            } else {
                let outward = (point - nearest.closest.point) / distance;
                Sample {
                    distance: stored,
                    gradient: (if stored < 0.0 { -outward } else { outward }).as_vec3(),
                }
            };
        }
    });
    nodes
}
