//! Prepares a mesh for a bake: moves it near the origin of its frame, and drops repeated faces.
//!
//! Input: a mesh of valid faces, and the length that `f32` has to resolve.
//! Output: the mesh, moved and thinned where that is needed, and notes of both for the
//! [`Provenance`].
//! Cost: one pass over the faces; a copy of the mesh only where it is changed.
//! Not for: repair. The surface stays what it is; only the frame of its coordinates changes.
//!
//! Fields are `f32`, and far from the origin `f32` is coarse: at 10⁵ m it has steps of 8 mm. A mesh
//! that is too far out for its cells is therefore baked in a frame of its own. That is the frame of
//! the mesh moved by [`Provenance::origin`]: a point of the mesh at x is at x − origin there.

use std::borrow::Cow;

use glam::DVec3;

use crate::field::Provenance;
use crate::geom::DAabb;
use crate::mesh::{TriangleMesh, without_copies};

/// Largest step of `f32` where the mesh lies \[cells\]. Chosen: at a sixteenth, nodes are displaced
/// by at most 6 % of a cell. With more, a field far out is visibly worse than the same field at the
/// origin. With less, meshes would be moved that bake well where they are.
const STEP_IN_CELLS: f64 = 1.0 / 16.0;

/// A mesh prepared for a bake.
pub(crate) struct Intake<'a> {
    pub(crate) mesh: Cow<'a, TriangleMesh>,
    origin: DVec3,
    notes: Vec<String>,
}

impl<'a> Intake<'a> {
    /// Prepares a mesh of valid faces. `cell_size` is the length \[m\] that `f32` has to resolve;
    /// `None` leaves the mesh where it is.
    pub(crate) fn of(mesh: &'a TriangleMesh, cell_size: Option<f64>) -> Intake<'a> {
        let mut intake = Intake {
            mesh: Cow::Borrowed(mesh),
            origin: DVec3::ZERO,
            notes: Vec::new(),
        };
        if let Some((few, dropped)) = without_copies(mesh) {
            intake.notes.push(format!(
                "duplicate: {dropped} of {} faces repeat others that are there many times; they were dropped before the bake",
                mesh.faces.len(),
            ));
            intake.mesh = Cow::Owned(few);
        }
        let bounds = intake.mesh.bounds();
        if let Some(origin) = cell_size.and_then(|size| needed_origin(bounds, size)) {
            intake.mesh = Cow::Owned(moved_mesh(&intake.mesh, origin));
            intake.origin = origin;
            intake.notes.push(format!(
                "the mesh is too far from the origin for f32: the field is in a frame of its own, whose origin is at {:?} m of the mesh",
                origin.to_array()
            ));
        }
        intake
    }

    /// Adds the origin and the notes to the provenance of the field.
    pub(crate) fn note(self, provenance: &mut Provenance) {
        provenance.origin += self.origin;
        provenance.notes.splice(0..0, self.notes);
    }
}

/// Returns the origin of the frame that a mesh with these bounds is baked in, for cells of this
/// size \[m\]. Zero where `f32` is fine enough for them. See [`Provenance::origin`].
pub fn frame_origin(bounds: DAabb, cell_size: f64) -> DVec3 {
    needed_origin(bounds, cell_size).unwrap_or(DVec3::ZERO)
}

/// Returns the origin of a better frame for a mesh with these bounds, if one step of `f32` at its
/// distance from the origin is too large a part of a cell of this size \[m\].
fn needed_origin(bounds: DAabb, cell_size: f64) -> Option<DVec3> {
    let farthest = bounds.min.abs().max(bounds.max.abs()).max_element();
    let step = f64::from(f32::EPSILON) * farthest;
    if step <= STEP_IN_CELLS * cell_size {
        return None;
    }
    let origin = near_origin(bounds)?;
    // A grid that is too fine for `f32` wherever it lies is refused by the code that makes it.
    (origin != DVec3::ZERO).then_some(origin)
}

/// Returns a round point near the middle of a box: a multiple of the largest power of two that is
/// at most its diagonal, so that subtracting it from the coordinates of the mesh is exact.
fn near_origin(bounds: DAabb) -> Option<DVec3> {
    let diagonal = bounds.diagonal();
    let center = bounds.center();
    if !(diagonal > 0.0 && diagonal.is_finite() && center.is_finite()) {
        return None;
    }
    let unit = diagonal.log2().floor().exp2();
    let origin = (center / unit).round() * unit;
    origin.is_finite().then_some(origin)
}

/// Returns the mesh in the frame whose origin is at `origin`.
pub(crate) fn moved_mesh(mesh: &TriangleMesh, origin: DVec3) -> TriangleMesh {
    let mut moved = mesh.clone();
    moved.move_to_frame_at(origin);
    moved
}
