//! The result of every bake: a field, its provenance, and a report of the bake.

use crate::bake::check;
use crate::bake::error::BakeError;
use crate::field::{DenseGrid, GridLayout, Provenance, SignMethod};
use crate::mesh::TriangleMesh;
use glam::{DVec3, UVec3};
use std::time::{Duration, Instant};

/// A baked field, its provenance and the report of its bake.
#[derive(Clone, Debug, PartialEq)]
pub struct Baked<F = DenseGrid> {
    /// The field.
    pub field: F,
    /// Sign method, errors, origin and notes, which are stored with the field.
    pub provenance: Provenance,
    /// Time and cross-checks of this bake, which are not stored.
    pub report: BakeReport,
}

/// Time and cross-checks of a bake.
#[derive(Clone, Debug, PartialEq)]
pub struct BakeReport {
    /// Time from the call to the result.
    pub time: Duration,
    /// Number of nodes whose sign was cross-checked by a second method.
    pub cross_checked: usize,
    /// Number of nodes where the second method disagreed.
    pub disagreements: usize,
}

/// Signed distances of all nodes, their error bound, and doubts about them.
pub(crate) struct Outcome {
    pub(crate) values: Vec<f32>,
    pub(crate) error_bound: f32,
    pub(crate) sign_method: SignMethod,
    pub(crate) doubtful_nodes: Vec<UVec3>,
    pub(crate) torn: Vec<u32>,
    pub(crate) notes: Vec<String>,
    pub(crate) cross_checked: usize,
    pub(crate) disagreements: usize,
}

/// Assembles the baked grid, with its error measured against `exact`, which returns the exact
/// signed distances at many points.
pub(crate) fn assemble(
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
    let field = DenseGrid::new(layout, outcome.values, solid, outcome.error_bound)?;
    let measured_error = check::measured_error(&field, layout.cell_size, exact, mesh);
    Ok(Baked {
        field,
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
