//! Nearest faces that a search elsewhere proposes, such as one on a GPU: checked here node by node.
//!
//! Input: a [`FaceSearch`], and boxes of nodes.
//! Output: node values that are the `f64` distances to the proposed faces, and how many proposals
//! were refused.
//! Cost: one triangle per node; one search of our own per refused node, and for each
//! [`SAMPLED`]-th node.
//! Not for: our own searches, which find the nearest face themselves.
//!
//! What the proof of an error bound needs, and who checks it:
//!
//! - *No value is too small.* The value is the distance to a face of the mesh, measured here.
//! - *No value is too large by more than [`FaceSearch::prepare`] promises.* The search rejects a
//!   face only where a bound of its distance exceeds that of another by more than all roundings.
//!   The promise becomes a part of the error bound. It is tested here: the distance that the search
//!   reports must agree with the measured one, and every [`SAMPLED`]-th node is searched again. One
//!   node that breaks the promise, and all of them are searched again.
//! - *Signs follow the surface.* Where two faces that are equally near up to rounding disagree
//!   about the side, the search says so, and the node is searched again. Elsewhere the side follows
//!   from the nearest feature, here as there, and both must agree.

use std::sync::atomic::{AtomicU64, Ordering};

use glam::{DVec3, UVec3};

use crate::bake::blocks::Piece;
use crate::bake::distance::exact_bvh::fill_piece;
use crate::bake::distance::nodes::{Found, NodeWriter, Wanted};
use crate::bake::sign::patches::Patches;
use crate::bake::sign::plan::SignPlan;
use crate::field::GridLayout;
use crate::geom::{ClosestPoint, DAabb, Feature, Triangle, places};
use crate::mesh::{Bvh, Nearest};
use crate::threads;

/// One node of so many is searched again, at least: a fault in a thousandth of a small grid of 32³
/// nodes is hit, and the time is a few percent of searching all.
pub(crate) const SAMPLED: usize = 61;

/// A search for the nearest faces of grid nodes that runs elsewhere.
pub trait FaceSearch: Sync {
    /// Takes the surface to search on, once before all searches. Returns the promised error \[m\]:
    /// a proposed face is at most this much farther than the nearest one, and its reported distance
    /// is at most this far from the true one. `None` cancels the bake.
    fn prepare(&self, surface: &Surface<'_>) -> Option<f64>;

    /// Proposes a face for every node of some boxes: box after box, x fastest. `None` cancels the
    /// bake.
    fn propose(&self, layout: &GridLayout, boxes: &[NodeBox]) -> Option<Vec<Proposal>>;
}

/// A box of grid nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeBox {
    /// First node.
    pub first: UVec3,
    /// Nodes along x, y and z.
    pub size: UVec3,
}

impl NodeBox {
    /// Returns the number of nodes.
    pub fn count(&self) -> usize {
        let [x, y, z] = self.size.to_array().map(|n| n as usize);
        x * y * z
    }
}

/// The nearest face of a node, as a search elsewhere found it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proposal {
    /// The face.
    pub face: u32,
    /// Distance, negative inside \[m\].
    pub distance: f32,
    /// Whether all faces that may be the nearest agree about the side. Meaningless where nearest
    /// features do not determine sides.
    pub is_sure: bool,
    /// Whether a face that may be as near has its nearest point elsewhere. Needed only where
    /// [`Surface::wants_points`].
    pub is_tied: bool,
}

/// The surface that nodes are searched on.
pub struct Surface<'a> {
    pub(crate) plan: &'a SignPlan,
    pub(crate) around: DAabb,
    pub(crate) wants_points: bool,
}

/// How a face determines sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FaceSides {
    /// Normal of the face, of any length.
    pub face: DVec3,
    /// Pseudonormals of its edges, the first from corner 0 to 1; of any length.
    pub edges: [DVec3; 3],
    /// Pseudonormals of its corners, of any length.
    pub corners: [DVec3; 3],
    /// Winding number just outside. A point is inside where the number on its side of the face is
    /// positive; it is larger by one on the inner side.
    pub outside: i8,
}

impl Surface<'_> {
    /// Returns the triangles, in the order of the faces.
    pub fn triangles(&self) -> &[Triangle] {
        self.plan.bvh.triangles()
    }

    /// Returns the hierarchy over the triangles.
    pub fn bvh(&self) -> &Bvh {
        &self.plan.bvh
    }

    /// Returns a box that holds all nodes that will be searched \[m\].
    pub fn around(&self) -> DAabb {
        self.around
    }

    /// Returns whether the nearest points matter, as for gradients, and not only the distances.
    pub fn wants_points(&self) -> bool {
        self.wants_points
    }

    /// Returns whether nearest features determine sides. If not, reported distances are positive.
    pub fn has_sides(&self) -> bool {
        self.plan.patches().is_some()
    }

    /// Returns how a face determines sides; `None` if it does not.
    pub fn sides(&self, face: u32) -> Option<FaceSides> {
        let patches = self.plan.patches()?;
        let outside = patches.outside(face)?;
        let normal = |feature| {
            patches.normal(&Nearest {
                distance_squared: 0.0,
                face,
                closest: ClosestPoint {
                    point: DVec3::ZERO,
                    feature,
                },
            })
        };
        Some(FaceSides {
            face: normal(Feature::Face),
            edges: [0, 1, 2].map(|edge| normal(Feature::Edge(edge))),
            corners: [0, 1, 2].map(|corner| normal(Feature::Vertex(corner))),
            outside,
        })
    }
}

/// What became of the proposals of a search elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProposalReport {
    /// Nodes that were proposed a face.
    pub nodes: u64,
    /// Nodes where faces that may be the nearest disagree about the side; searched again.
    pub unsure: u64,
    /// Nodes where faces that may be the nearest have nearest points apart, and points matter;
    /// searched again, so that the choice is the same as that of our own search.
    pub tied: u64,
    /// Nodes whose reported distance or side is not the measured one; searched again.
    pub corrected: u64,
    /// Nodes that were searched again as a sample.
    pub sampled: u64,
    /// Nodes of the sample with a nearer face than promised. All nodes of their boxes were searched
    /// again.
    pub refuted: u64,
}

/// A search elsewhere with the surface it searches on.
pub(crate) struct Proposals<'a> {
    search: &'a dyn FaceSearch,
    plan: &'a SignPlan,
    /// Promised error \[m\].
    pub(crate) error: f64,
    wants_points: bool,
    counts: [AtomicU64; 6],
}

/// A piece of nodes to fill, and where its nearest faces are written, unless that is empty.
pub(crate) struct Filled<'a> {
    pub(crate) piece: Piece<'a>,
    pub(crate) faces: &'a mut [u32],
}

impl<'a> Proposals<'a> {
    /// Prepares the search; `None` when it cancels. All nodes lie within `around`.
    pub(crate) fn new(
        search: &'a dyn FaceSearch,
        plan: &'a SignPlan,
        around: DAabb,
        wants_points: bool,
    ) -> Option<Proposals<'a>> {
        let surface = Surface {
            plan,
            around,
            wants_points,
        };
        let error = search.prepare(&surface)?;
        Some(Proposals {
            search,
            plan,
            error: error.max(0.0),
            wants_points,
            counts: Default::default(),
        })
    }

    pub(crate) fn report(&self) -> ProposalReport {
        let [nodes, unsure, corrected, sampled, refuted, tied] =
            [0, 1, 2, 3, 4, 5].map(|i: usize| self.counts[i].load(Ordering::Relaxed));
        ProposalReport {
            nodes,
            unsure,
            tied,
            corrected,
            sampled,
            refuted,
        }
    }

    /// Fills pieces of nodes, and returns the nodes of each whose side no feature determines;
    /// `None` when cancelled.
    pub(crate) fn fill(
        &self,
        layout: &GridLayout,
        pieces: &mut [Filled<'_>],
    ) -> Option<Vec<Found>> {
        let boxes: Vec<NodeBox> = (pieces.iter())
            .map(|filled| NodeBox {
                first: filled.piece.first,
                size: filled.piece.size,
            })
            .collect();
        let proposals = self.search.propose(layout, &boxes)?;
        let mut starts = vec![0];
        for part in &boxes {
            starts.push(starts[starts.len() - 1] + part.count());
        }
        // Too few proposals, as from a broken search, and every node is searched here.
        let is_complete = proposals.len() == starts[boxes.len()];
        let checked = threads::map_pieces(pieces, 1, |index, filled| {
            let range = starts[index]..starts[index + 1];
            match (is_complete, filled) {
                (true, [filled]) => self.check(filled, &proposals[range]),
                _ => (Found::default(), false),
            }
        });
        if checked.iter().all(|(_, is_kept)| *is_kept) {
            return Some(checked.into_iter().map(|(found, _)| found).collect());
        }
        // The promise is broken: trust none of them.
        let wanted = Wanted::all(self.plan.patches());
        Some(threads::map_pieces(pieces, 1, |_, filled| match filled {
            [filled] => fill_piece(
                &self.plan.bvh,
                wanted,
                filled.piece.reborrow(),
                filled.faces,
            ),
            _ => Found::default(),
        }))
    }

    /// Writes the nodes of one piece, and returns whether its sample keeps the promise.
    fn check(&self, filled: &mut Filled<'_>, proposals: &[Proposal]) -> (Found, bool) {
        let bvh = &self.plan.bvh;
        let patches: Option<&Patches> = self.plan.patches();
        let (first, last) = (
            filled.piece.first,
            filled.piece.first + filled.piece.size - UVec3::ONE,
        );
        let layout = *filled.piece.layout;
        let mut writer =
            NodeWriter::new(Wanted::all(patches), filled.piece.reborrow()).with_faces(filled.faces);
        let mut counts = [0u64; 6];
        for (index, (node, proposal)) in places(first, last).zip(proposals).enumerate() {
            let point = layout.node_position(node);
            let face = proposal.face.min(bvh.triangles().len() as u32 - 1);
            let mut nearest = bvh.measured(face, point);
            let measured = nearest.distance_squared.sqrt();
            // The side that the feature determines must be that of the search.
            let is_sure = patches.is_none() || proposal.is_sure;
            let side = patches.map(|patches| patches.inside(point, &nearest));
            let inside = proposal.distance < 0.0;
            let off = (f64::from(proposal.distance.abs()) - measured).abs();
            let agrees = off <= self.error && side.is_none_or(|side| side == Some(inside));
            let is_sampled = index % SAMPLED == 0;
            counts[0] += 1;
            counts[1] += u64::from(!is_sure);
            counts[2] += u64::from(is_sure && !agrees);
            let is_tied = self.wants_points && proposal.is_tied;
            counts[5] += u64::from(is_tied && is_sure && agrees);
            if is_sampled || is_tied || !is_sure || !agrees {
                nearest = self.searched(point, face);
            }
            if is_sampled {
                counts[3] += 1;
                let nearer = measured - nearest.distance_squared.sqrt();
                // NaN breaks it too.
                let is_kept = nearer <= self.error;
                counts[4] += u64::from(agrees && is_sure && !is_kept);
            }
            writer.put(node, point, &nearest);
        }
        for (sum, count) in self.counts.iter().zip(counts) {
            sum.fetch_add(count, Ordering::Relaxed);
        }
        (writer.finish(), counts[4] == 0)
    }

    fn searched(&self, point: DVec3, hint: u32) -> Nearest {
        let bvh = &self.plan.bvh;
        let nearest = bvh.nearest(point, hint);
        nearest.unwrap_or_else(|| bvh.measured(hint, point))
    }
}
