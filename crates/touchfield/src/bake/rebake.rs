//! A field after its mesh changed within a box: the same bits as baking anew, for the work of the box and what looks at it.
//!
//! Input: the field before, the mesh after, a box that holds every face that came, went or moved, whole.
//! Output: what [`bake_on`](super::bake_on) gives for the mesh after on the same grid.
//! Cost: preparation and checks as for a bake; distances only of blocks of nodes that the change can concern.
//! Not for: fields of approximate distances or by an offset, whose nodes depend on others far away.
//!
//! A node at distance b from the box keeps its distance d if d < b. Before, its nearest point p was nearer than the box, so every face at p reaches out of the
//! box and is there still, with all its neighbours at p; and what is new is at least b away. The sign of a surface that is closed before and after is the
//! parity of crossings or, if it crosses itself, the winding number. Outside the box it is the same too: what came and went closes up within the box, which
//! is convex, and does not wind around anything outside it. But where faces are turned around or left out to make sense of a mesh, the reasons may lie anywhere: there, and where the
//! mesh of before is not known, surfaces that are not clean are computed anew. Signs of open surfaces change everywhere; they are told anew, which costs little beside distances.

use std::ops::ControlFlow;

use glam::{DVec3, UVec3};

use super::bake::{BakeError, Baked, Distances, bake_keeping};
use super::blocks::{Block, Piece, SIDE, for_each_layer};
use super::check;
use super::exact_bvh::fill_piece;
use super::exact_distance::check_faces;
use super::intake::moved_mesh;
use super::marks::Marks;
use super::nodes::Found;
use super::settings::{BakeSettings, Method, Stage, Step};
use super::sign::{SignChoice, SignPlan, Signs, closes_as_given};
use crate::field::{DenseGrid, Field, GridLayout, Provenance, SignMethod};
use crate::geom::{DAabb, corner, place_at};
use crate::mesh::TriangleMesh;

/// A field as it was before its mesh changed.
#[derive(Clone, Copy, Debug)]
pub struct Before<'a> {
    /// Baked with the same [`BakeSettings::sign`] as is used now, and exactly.
    pub grid: &'a DenseGrid,
    /// What was stored with it.
    pub provenance: &'a Provenance,
    /// The mesh it was baked from. If given, it is checked that nothing else changed; else that is trusted, and nothing is kept of a mesh that crosses itself.
    pub mesh: Option<&'a TriangleMesh>,
}

/// A field after its mesh changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Rebaked {
    /// The field, and all that is known of it.
    pub baked: Baked,
    /// Nodes whose distance was computed; the others kept theirs.
    pub recomputed: usize,
}

/// Bakes a mesh that differs from that of `before` only within `changed`, on the same grid. The result is, bit for bit, that of
/// [`bake_on`](super::bake_on), but for the time it took. [`BakeSettings::resolution`] and [`BakeSettings::padding`] are not used.
///
/// `changed` must hold every face that came, went or moved, whole, as it was and as it is: see [`changed_box`]. [`DAabb::EMPTY`] says that
/// nothing did.
pub fn rebake(
    before: &Before<'_>,
    mesh: &TriangleMesh,
    changed: DAabb,
    settings: &BakeSettings,
    progress: &(dyn Fn(Step) -> ControlFlow<()> + Sync),
) -> Result<Rebaked, BakeError> {
    if !matches!(settings.method, Method::Exact | Method::BoundTree) {
        return Err(BakeError::UpdateNeedsExact(settings.method.name()));
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
    bake_keeping(mesh, layout, settings, Some(&kept), progress)
}

/// A change to a mesh whose field is in a frame of its own, written in that frame.
pub(super) struct Moved {
    /// Origin of that frame, in the frame of the mesh \[m\].
    pub(super) origin: DVec3,
    /// As before, with its origin at zero.
    pub(super) provenance: Provenance,
    pub(super) before: Option<TriangleMesh>,
    pub(super) mesh: TriangleMesh,
    pub(super) changed: DAabb,
}

impl Moved {
    pub(super) fn of(
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

/// Refuses changes that are no box or not all in it, meshes without a distance, and signs that hang on everything.
pub(super) fn check_change(
    before: Option<&TriangleMesh>,
    mesh: &TriangleMesh,
    changed: DAabb,
    settings: &BakeSettings,
) -> Result<(), BakeError> {
    if settings.sign.offset().is_some() {
        return Err(BakeError::UpdateNeedsExact(SignMethod::Offset.name()));
    }
    if changed != DAabb::EMPTY && changed.is_empty() {
        return Err(BakeError::BadChangedBox { changed });
    }
    check_faces(mesh)?;
    let Some(before) = before else {
        return Ok(());
    };
    check_faces(before)?;
    let differing = differing_faces(before, mesh);
    let outside = |face: &&[DVec3; 3]| !face.iter().all(|&corner| changed.contains(corner));
    match differing.iter().find(outside) {
        Some(face) => Err(BakeError::ChangedOutside {
            faces: differing.iter().filter(outside).count(),
            at: face[0],
        }),
        None => Ok(()),
    }
}

/// The box around all faces that are in one mesh and not in the other. Faces are the same if their corners are, in the same order.
pub fn changed_box(before: &TriangleMesh, after: &TriangleMesh) -> DAabb {
    DAabb::of_points(differing_faces(before, after).into_iter().flatten())
}

/// Faces that only one of two meshes has, as often as it has them more often. Faces that name missing vertices do not count.
fn differing_faces(before: &TriangleMesh, after: &TriangleMesh) -> Vec<[DVec3; 3]> {
    let sorted = |mesh: &TriangleMesh| {
        let corners = |face: &[u32; 3]| -> Option<[[u64; 3]; 3]> {
            let mut bits = [[0; 3]; 3];
            for (bits, &vertex) in bits.iter_mut().zip(face) {
                // Adding turns −0 to 0.
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

/// Corners of cells whose sign is doubtful. They are asked again, so that the doubts of all others are known: there are none.
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

/// What is known from before.
pub(super) struct Kept<'a> {
    grid: &'a DenseGrid,
    signs: SignsBefore<'a>,
    doubtful: Marks,
    changed: DAabb,
}

/// How signs were told before, and how they are to be told now.
pub(super) struct SignsBefore<'a> {
    method: SignMethod,
    choice: SignChoice,
    mesh: Option<&'a TriangleMesh>,
}

impl<'a> SignsBefore<'a> {
    pub(super) fn new(
        method: SignMethod,
        choice: SignChoice,
        mesh: Option<&'a TriangleMesh>,
    ) -> SignsBefore<'a> {
        SignsBefore {
            method,
            choice,
            mesh,
        }
    }

    /// Whether they are the same outside a convex box that holds the change: if the surface is closed and clean before and after, for then they are the parity of crossings, or if
    /// they are winding numbers of faces that close up before and after, none of them turned around or left out, for reasons that may lie anywhere.
    pub(super) fn stay(&self, plan: &SignPlan) -> bool {
        let was_clean = self.method == SignMethod::Pseudonormal;
        let closed_before = || self.mesh.is_some_and(closes_as_given);
        let is_auto = self.choice == SignChoice::Auto;
        match &plan.signs {
            Signs::Pseudonormal(_) if is_auto && was_clean && plan.closed => true,
            Signs::Pseudonormal(_) if !is_auto => false,
            Signs::Pseudonormal(_) | Signs::ClosedWinding(_) => {
                let was_winding = was_clean || self.method == SignMethod::Winding;
                was_winding && plan.closed && plan.as_given && closed_before()
            }
            Signs::OpenWinding | Signs::Parity(_) | Signs::Unknown => false,
        }
    }
}

/// Whether what is no farther than this from a point is surely nearer than the change, and so is as it was. Below the least `f32` everything counts as touching.
pub(super) fn is_apart(changed: DAabb, point: DVec3, distance: f64) -> bool {
    /// More than rounding to `f32` takes from a distance.
    const MARGIN: f64 = 1.0 + 1e-6;
    MARGIN * distance + f64::from(f32::MIN_POSITIVE) < changed.distance(point)
}

/// What of a node can be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reuse {
    /// Distance and sign.
    Signed,
    /// The distance; all signs are told anew.
    Magnitude,
}

impl Kept<'_> {
    /// What can be kept of nodes that the change does not concern, if anything.
    pub(super) fn reuse(&self, plan: &SignPlan, far_error: f64) -> Option<Reuse> {
        if !self.is_exact(far_error) {
            return None;
        }
        match &plan.signs {
            Signs::Pseudonormal(_) | Signs::ClosedWinding(_) => {
                self.signs.stay(plan).then_some(Reuse::Signed)
            }
            Signs::OpenWinding | Signs::Parity(_) | Signs::Unknown => Some(Reuse::Magnitude),
        }
    }

    /// Whether its bound shows that all its values were found by the exact method: those of other methods, of soups and of conversions promise
    /// more or less, and so do those beside holes, of which that cannot be told.
    fn is_exact(&self, far_error: f64) -> bool {
        let told = !matches!(self.signs.method, SignMethod::Offset | SignMethod::Given);
        let layout = self.grid.layout();
        let largest = check::largest_of(self.grid.values());
        let bound = check::half_diagonal(layout) + far_error + check::rounding(layout, largest);
        told && self.grid.error_bound() == (bound as f32).next_up()
    }

    /// Writes the distances of all nodes, most of them as they were, and returns how many were computed.
    pub(super) fn fill(
        &self,
        distances: &Distances<'_>,
        reuse: Reuse,
        values: &mut [f32],
        settle: impl FnOnce(&mut [f32], &[UVec3]),
    ) -> Result<usize, BakeError> {
        for (value, &old) in values.iter_mut().zip(self.grid.values()) {
            *value = match reuse {
                Reuse::Signed => old,
                Reuse::Magnitude => old.abs(),
            };
        }
        let wanted = distances.wanted();
        let far_error = distances.far_error();
        let progress = distances.progress;
        // Whether `f32` decides a node hangs on the middle of its block and on seven others there, too; with blocks and a reach of exact nodes as small as they are, that of
        // a node in a block that is not concerned does not change. Larger ones would have to look at more, as bands do.
        let fill_layer = |mut layer: Piece<'_>| {
            let mut concerned: Vec<Block> = layer
                .blocks()
                .filter(|block| self.concerns(&layer, block, far_error))
                .collect();
            concerned.sort_by_key(|block| (block.first.y, block.first.x));
            let (mut all, mut count) = (Vec::new(), 0);
            // Neighbours along x share the beginning of a search.
            let is_next =
                |a: &Block, b: &Block| a.first.y == b.first.y && a.last.x + 1 == b.first.x;
            for run in concerned.chunk_by(is_next) {
                let (first, last) = (run[0].first, run[run.len() - 1].last);
                let size = last - first + UVec3::ONE;
                let mut values = vec![0.0; size.element_product() as usize];
                let mut piece = Piece {
                    layout: layer.layout,
                    first,
                    size,
                    side: SIDE,
                    values: &mut values,
                };
                all.push(fill_piece(distances.bvh, wanted, piece.reborrow(), &mut []));
                count += piece.values.len();
                layer.copy_from(&piece);
            }
            (Found::join(all), count)
        };
        let layers = for_each_layer(
            distances.layout,
            values,
            Stage::Distances,
            progress,
            fill_layer,
        );
        let (found, counts): (Vec<Found>, Vec<usize>) =
            layers.ok_or(BakeError::Cancelled)?.into_iter().unzip();
        settle(values, &Found::join(found).unclear);
        Ok(counts.into_iter().sum())
    }

    /// Whether the change can concern a node of a block; `layer` holds the distances before, off by up to `far_error`, as are those of the faces that changed.
    fn concerns(&self, layer: &Piece<'_>, block: &Block, far_error: f64) -> bool {
        if self.changed.is_empty() {
            return block.nodes().any(|node| self.is_doubtful(layer, node));
        }
        block.nodes().any(|node| {
            let before = f64::from(layer.values[layer.slot(node)].abs());
            let position = layer.layout.node_position(node);
            !is_apart(self.changed, position, before + 2.0 * far_error)
                || self.is_doubtful(layer, node)
        })
    }

    fn is_doubtful(&self, layer: &Piece<'_>, node: UVec3) -> bool {
        self.doubtful.has(layer.layout.node_index(node))
    }
}
