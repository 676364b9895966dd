//! Reuse of distances of a dense grid that a local change of the mesh does not affect.

use crate::bake::blocks::{Block, Piece, SIDE, for_each_layer};
use crate::bake::check;
use crate::bake::distance::exact_bvh::fill_piece;
use crate::bake::distance::fill::Distances;
use crate::bake::distance::marks::Marks;
use crate::bake::distance::nodes::Found;
use crate::bake::error::BakeError;
use crate::bake::progress::Stage;
use crate::bake::settings::SignChoice;
use crate::bake::sign::plan::{SignPlan, Signs, closes_as_given};
use crate::field::{DenseGrid, Field, SignMethod};
use crate::geom::DAabb;
use crate::mesh::TriangleMesh;
use glam::{DVec3, UVec3};

/// Data of an earlier bake.
pub(crate) struct Kept<'a> {
    pub(crate) grid: &'a DenseGrid,
    pub(crate) signs: SignsBefore<'a>,
    pub(crate) doubtful: Marks,
    pub(crate) changed: DAabb,
}

/// Sign method and mesh of the earlier bake, and the sign choice of the new one.
pub(crate) struct SignsBefore<'a> {
    pub(crate) method: SignMethod,
    pub(crate) choice: SignChoice,
    pub(crate) mesh: Option<&'a TriangleMesh>,
}

impl<'a> SignsBefore<'a> {
    pub(crate) fn new(
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

    /// Returns whether signs are unchanged outside a convex box that holds the change.
    ///
    /// They are if the surface is closed and clean before and after, because then signs are the
    /// parity of crossings. They also are if signs are winding numbers of faces that are closed
    /// before and after, with none flipped or removed; the reason for a flip may lie anywhere in
    /// the mesh.
    pub(crate) fn stay(&self, plan: &SignPlan) -> bool {
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

/// Returns whether everything within `distance` of a point is nearer than the change, and so is
/// unchanged. A change nearer than the smallest normal `f32` counts as touching.
pub(crate) fn is_apart(changed: DAabb, point: DVec3, distance: f64) -> bool {
    /// Larger than the relative rounding of a distance to `f32`.
    const MARGIN: f64 = 1.0 + 1e-6;
    MARGIN * distance + f64::from(f32::MIN_POSITIVE) < changed.distance(point)
}

/// Part of a node's value that can be reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reuse {
    /// Distance and sign.
    Signed,
    /// The distance only; all signs are computed again.
    Magnitude,
}

impl Kept<'_> {
    /// Returns what can be reused of nodes that the change does not affect, if anything.
    pub(crate) fn reuse(&self, plan: &SignPlan, far_error: f64) -> Option<Reuse> {
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

    /// Returns whether the error bound shows that all values come from the exact method. Other
    /// methods, soups and conversions have other bounds. So do values beside holes, where the bound
    /// does not show the method.
    fn is_exact(&self, far_error: f64) -> bool {
        let told = !matches!(self.signs.method, SignMethod::Offset | SignMethod::Given);
        let layout = self.grid.layout();
        let largest = check::largest_of(self.grid.values());
        let bound = check::half_diagonal(layout) + far_error + check::rounding(layout, largest);
        told && self.grid.error_bound() == (bound as f32).next_up()
    }

    /// Writes the distances of all nodes, most of them reused, and returns the number that was
    /// computed.
    pub(crate) fn fill(
        &self,
        distances: &Distances<'_>,
        reuse: Reuse,
        values: &mut [f32],
        settle: impl FnOnce(&mut [f32], &[UVec3]),
    ) -> Result<usize, BakeError> {
        // Start from the old values.
        for (value, &old) in values.iter_mut().zip(self.grid.values()) {
            *value = match reuse {
                Reuse::Signed => old,
                Reuse::Magnitude => old.abs(),
            };
        }
        let wanted = distances.wanted();
        let far_error = distances.far_error();
        let progress = distances.progress;
        // Whether `f32` chooses the face of a node depends on the middle of its block and on the
        // seven other nodes of its packet. Blocks and the reach of exact nodes are small enough
        // that this choice does not change for a node in an unaffected block. Larger ones would
        // have to check more nodes, as bands do.
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

    /// Returns whether the change can affect a node of a block. `layer` holds the old distances,
    /// which are off by up to `far_error`, as are those to the changed faces.
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
