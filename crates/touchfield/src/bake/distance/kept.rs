//! Distances of a dense grid that a local change of the mesh does not concern.

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

/// What is known from before.
pub(crate) struct Kept<'a> {
    pub(crate) grid: &'a DenseGrid,
    pub(crate) signs: SignsBefore<'a>,
    pub(crate) doubtful: Marks,
    pub(crate) changed: DAabb,
}

/// How signs were told before, and how they are to be told now.
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

    /// Whether they are the same outside a convex box that holds the change: if the surface is closed and clean before and after, for then they are the parity of crossings, or if
    /// they are winding numbers of faces that close up before and after, none of them turned around or left out, for reasons that may lie anywhere.
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

/// Whether what is no farther than this from a point is surely nearer than the change, and so is as it was. Below the least `f32` everything counts as touching.
pub(crate) fn is_apart(changed: DAabb, point: DVec3, distance: f64) -> bool {
    /// More than rounding to `f32` takes from a distance.
    const MARGIN: f64 = 1.0 + 1e-6;
    MARGIN * distance + f64::from(f32::MIN_POSITIVE) < changed.distance(point)
}

/// What of a node can be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reuse {
    /// Distance and sign.
    Signed,
    /// The distance; all signs are told anew.
    Magnitude,
}

impl Kept<'_> {
    /// What can be kept of nodes that the change does not concern, if anything.
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
    pub(crate) fn fill(
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
