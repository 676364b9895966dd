//! Updates a field after its mesh changed within a box: the same bits as a new bake, for the work
//! near the box only.
//!
//! Input: the field before, the mesh after, a box that holds every added, removed or moved face,
//! whole.
//! Output: the result of [`bake_on`](crate::bake::dense::bake_on) for the new mesh on the same
//! grid.
//! Cost: preparation and checks as for a bake; distances only of blocks of nodes that the change
//! can affect.
//! Not for: fields of approximate distances or by an offset, whose nodes depend on others far away.
//!
//! A node at distance b from the box keeps its distance d if d < b. Before the change, its nearest
//! point p was nearer than the box, so every face at p reaches out of the box and is still there,
//! with all its neighbours at p; and everything new is at least b away.
//!
//! The sign of a surface that is closed before and after is the parity of crossings or, if it
//! crosses itself, the winding number. Outside the box it is unchanged too: the added and removed
//! faces close up within the box, which is convex, and do not wind around anything outside it. But
//! where faces are flipped or removed to mend a mesh, the reasons may lie anywhere. There, and
//! where the old mesh is not known, surfaces that are not clean are computed again. Signs of open
//! surfaces change everywhere; they are computed again, which costs little beside distances.

use crate::bake::distance::kept::Kept;
use crate::bake::distance::kept::SignsBefore;
use std::ops::ControlFlow;

use glam::DVec3;

use crate::bake::baked::Baked;
use crate::bake::dense::{Source, bake_from};
use crate::bake::distance::marks::Marks;
use crate::bake::exact_distance::check_faces;
use crate::bake::intake::moved_mesh;
use crate::bake::progress::Step;
use crate::bake::settings::{BakeSettings, DistanceMethod};
use crate::bake::update::error::UpdateError;
use crate::field::{DenseGrid, GridLayout, Provenance, SignMethod};
use crate::geom::{DAabb, corner, place_at};
use crate::mesh::TriangleMesh;

/// A field as it was before its mesh changed.
#[derive(Clone, Copy, Debug)]
pub struct Before<'a> {
    /// Grid baked by an exact method, with the same [`BakeSettings::sign`] as is used now.
    pub grid: &'a DenseGrid,
    /// Provenance stored with the grid.
    pub provenance: &'a Provenance,
    /// Mesh that the grid was baked from. If given, the update checks that nothing else changed. If
    /// `None`, that is assumed, and nothing is reused for a mesh that crosses itself.
    pub mesh: Option<&'a TriangleMesh>,
}

/// A field after its mesh changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Rebaked<F = DenseGrid> {
    /// The field, its provenance and its report.
    pub baked: Baked<F>,
    /// Number of stored values that were computed; the others were reused.
    pub recomputed: usize,
}

/// Bakes a mesh that differs from that of `before` only within `changed`, on the same grid.
///
/// Apart from the time it took, the result is bit for bit that of
/// [`bake_on`](crate::bake::dense::bake_on). [`BakeSettings::resolution`] and
/// [`BakeSettings::padding`] are not used.
///
/// `changed` must hold every added, removed or moved face, whole, as it was and as it is: see
/// [`changed_box`]. [`DAabb::EMPTY`] means that nothing changed.
pub fn rebake(
    before: &Before<'_>,
    mesh: &TriangleMesh,
    changed: DAabb,
    settings: &BakeSettings,
    progress: &(dyn Fn(Step) -> ControlFlow<()> + Sync),
) -> Result<Rebaked, UpdateError> {
    if !matches!(
        settings.method,
        DistanceMethod::Exact | DistanceMethod::BoundTree
    ) {
        return Err(UpdateError::NeedsExact(settings.method.name()));
    }
    if before.provenance.origin != DVec3::ZERO {
        let near = Moved::of(before.provenance, before.mesh, mesh, changed);
        let before = Before {
            grid: before.grid,
            provenance: &near.provenance,
            mesh: near.before.as_ref(),
        };
        let mut rebaked = rebake(&before, &near.mesh, near.changed, settings, progress)?;
        rebaked.baked.provenance.origin = near.origin;
        return Ok(rebaked);
    }
    check_change(before.mesh, mesh, changed, settings)?;
    let layout = *before.grid.layout();
    let kept = Kept {
        grid: before.grid,
        signs: SignsBefore::new(before.provenance.sign_method, settings.sign, before.mesh),
        doubtful: doubtful_nodes(&layout, &before.provenance.doubtful_cells),
        changed,
    };
    let (baked, recomputed) = bake_from(mesh, layout, settings, Source::Kept(&kept), progress)?;
    Ok(Rebaked { baked, recomputed })
}

/// A change to a mesh whose field is in a frame of its own, transformed to that frame.
pub(crate) struct Moved {
    /// Origin of that frame, in the frame of the mesh \[m\].
    pub(crate) origin: DVec3,
    /// Provenance of the field before, with its origin at zero.
    pub(crate) provenance: Provenance,
    pub(crate) before: Option<TriangleMesh>,
    pub(crate) mesh: TriangleMesh,
    pub(crate) changed: DAabb,
}

impl Moved {
    pub(crate) fn of(
        provenance: &Provenance,
        before: Option<&TriangleMesh>,
        mesh: &TriangleMesh,
        changed: DAabb,
    ) -> Moved {
        let origin = provenance.origin;
        Moved {
            origin,
            provenance: Provenance {
                origin: DVec3::ZERO,
                ..provenance.clone()
            },
            before: before.map(|before| moved_mesh(before, origin)),
            mesh: moved_mesh(mesh, origin),
            // Without changes the box is empty, and stays so.
            changed: DAabb::new(changed.min - origin, changed.max - origin),
        }
    }
}

/// Refuses changes that are not a valid box or not all within it, meshes without a distance, and
/// signs that depend on all nodes.
pub(crate) fn check_change(
    before: Option<&TriangleMesh>,
    mesh: &TriangleMesh,
    changed: DAabb,
    settings: &BakeSettings,
) -> Result<(), UpdateError> {
    if settings.sign.offset().is_some() {
        return Err(UpdateError::NeedsExact(SignMethod::Offset.name()));
    }
    if changed != DAabb::EMPTY && changed.is_empty() {
        return Err(UpdateError::BadChangedBox { changed });
    }
    check_faces(mesh)?;
    let Some(before) = before else {
        return Ok(());
    };
    check_faces(before)?;
    let differing = differing_faces(before, mesh);
    let outside = |face: &&[DVec3; 3]| !face.iter().all(|&corner| changed.contains(corner));
    match differing.iter().find(outside) {
        Some(face) => Err(UpdateError::ChangedOutside {
            faces: differing.iter().filter(outside).count(),
            at: face[0],
        }),
        None => Ok(()),
    }
}

/// Returns the AABB of all faces that are in one mesh and not in the other. Faces are the same if
/// their corners are, in the same order.
pub fn changed_box(before: &TriangleMesh, after: &TriangleMesh) -> DAabb {
    DAabb::of_points(differing_faces(before, after).into_iter().flatten())
}

/// Returns the faces that only one of two meshes has; a face that one mesh has n times more often
/// is returned n times. Faces that refer to missing vertices do not count.
fn differing_faces(before: &TriangleMesh, after: &TriangleMesh) -> Vec<[DVec3; 3]> {
    let sorted = |mesh: &TriangleMesh| {
        let corners = |face: &[u32; 3]| -> Option<[[u64; 3]; 3]> {
            let mut bits = [[0; 3]; 3];
            for (bits, &vertex) in bits.iter_mut().zip(face) {
                // Adding 0 turns −0 into 0.
                let position = *mesh.vertices.get(vertex as usize)? + DVec3::ZERO;
                *bits = position.to_array().map(f64::to_bits);
            }
            Some(bits)
        };
        let mut faces: Vec<_> = mesh.faces.iter().filter_map(corners).collect();
        faces.sort_unstable();
        faces
    };
    let (before, after) = (sorted(before), sorted(after));
    let mut differing = Vec::new();
    let (mut i, mut j) = (0, 0);
    loop {
        let face = match (before.get(i), after.get(j)) {
            (Some(a), Some(b)) if a == b => {
                (i, j) = (i + 1, j + 1);
                continue;
            }
            (Some(a), Some(b)) if a < b => (a, &mut i),
            (Some(a), None) => (a, &mut i),
            (_, Some(b)) => (b, &mut j),
            (None, None) => return differing,
        };
        *face.1 += 1;
        differing.push(face.0.map(|corner| DVec3::from(corner.map(f64::from_bits))));
    }
}

/// Marks the corners of cells whose sign is doubtful. They are computed again; all other nodes are
/// free of doubt.
fn doubtful_nodes(layout: &GridLayout, cells: &[u32]) -> Marks {
    let mut marks = Marks::new(layout.node_count() as usize);
    let count = layout.cells();
    for &cell in cells {
        let place = place_at(count, cell as usize);
        if place.cmplt(count).all() {
            for index in 0..8 {
                marks.set(layout.node_index(corner(place, index)));
            }
        }
    }
    marks
}
