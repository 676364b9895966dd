//! Writes search results into a box of nodes: the distance, with its sign where the nearest feature
//! determines it.

use glam::{DVec3, UVec3, Vec3};

use crate::bake::blocks::{Block, Piece};
use crate::bake::sign::patches::Patches;
use crate::mesh::Nearest;

/// Selects what a search writes.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// Source of the signs; without it all values are positive.
    pub(crate) patches: Option<&'a Patches>,
    /// Nodes farther than this from the surface are left open, as NaN \[m\].
    pub(crate) within: f64,
    /// Nodes farther than this may be off by [`Bvh::far_error`](crate::mesh::Bvh::far_error) \[m\].
    pub(crate) exact_within: f64,
    /// Error of nodes beyond `exact_within` \[m\].
    pub(crate) far_error: f64,
    /// Whether nearest points are stored.
    pub(crate) seeds: bool,
}

impl<'a> Wanted<'a> {
    /// Selects all nodes, with signs from `patches`.
    pub(crate) fn all(patches: Option<&'a Patches>) -> Wanted<'a> {
        Wanted {
            patches,
            within: f64::INFINITY,
            exact_within: f64::INFINITY,
            far_error: 0.0,
            seeds: false,
        }
    }
}

/// A node and the point of the surface nearest to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Seed {
    /// Index of the node, x fastest.
    pub(crate) node: u32,
    /// Nearest point, rounded because it is stored for many nodes \[m\].
    pub(crate) point: Vec3,
}

/// Results of a search besides the node values.
#[derive(Default)]
pub(crate) struct Found {
    /// Nodes whose sign the nearest feature does not determine.
    pub(crate) unclear: Vec<UVec3>,
    /// Nearest points of all written nodes, if [`Wanted::seeds`] is set.
    pub(crate) seeds: Vec<Seed>,
}

impl Found {
    /// Joins the results of all layers, in order.
    pub(crate) fn join(layers: Vec<Found>) -> Found {
        let mut all = Found {
            unclear: Vec::new(),
            seeds: Vec::with_capacity(layers.iter().map(|found| found.seeds.len()).sum()),
        };
        for found in layers {
            all.unclear.extend(found.unclear);
            all.seeds.extend(found.seeds);
        }
        all
    }
}

/// Returns a distance with its sign. Zero stays positive: on the surface itself the side depends on
/// rounding, and there are two zeros.
pub(crate) fn signed(distance: f32, inside: bool) -> f32 {
    if inside && distance > 0.0 {
        -distance
    } else {
        distance
    }
}

/// Relative margin, larger than the rounding of `f64`.
const MARGIN: f64 = 1.0 + 1e-9;

/// Writer for a box of nodes.
pub(crate) struct NodeWriter<'a> {
    wanted: Wanted<'a>,
    piece: Piece<'a>,
    /// Nearest face of every node, in the order of the values; may be empty.
    faces: &'a mut [u32],
    found: Found,
}

impl<'a> NodeWriter<'a> {
    pub(crate) fn new(wanted: Wanted<'a>, piece: Piece<'a>) -> NodeWriter<'a> {
        NodeWriter {
            wanted,
            piece,
            faces: &mut [],
            found: Found::default(),
        }
    }

    /// Also writes nearest faces into `faces`, unless it is empty.
    pub(crate) fn with_faces(self, faces: &'a mut [u32]) -> NodeWriter<'a> {
        NodeWriter { faces, ..self }
    }

    pub(crate) fn blocks(&self) -> impl Iterator<Item = Block> + use<> {
        self.piece.blocks()
    }

    /// Returns whether every node within `radius` of a point at this distance from the surface is
    /// farther than [`Wanted::within`].
    #[inline(always)]
    pub(crate) fn is_beyond(&self, distance: f64, radius: f64) -> bool {
        distance > MARGIN * (self.wanted.within + radius)
    }

    /// Writes one node, or leaves it open if it is too far.
    #[inline(always)]
    pub(crate) fn put(&mut self, node: UVec3, point: DVec3, nearest: &Nearest) {
        self.put_on(None, node, point, nearest);
    }

    /// Writes one node whose [`Self::side_of`] may be known; see [`Self::put`].
    #[inline(always)]
    pub(crate) fn put_on(
        &mut self,
        side: Option<bool>,
        node: UVec3,
        point: DVec3,
        nearest: &Nearest,
    ) {
        let distance = nearest.distance_squared.sqrt();
        if distance > self.wanted.within {
            return self.leave(node);
        }
        let inside = match (side, self.wanted.patches) {
            (Some(inside), _) => inside,
            (None, Some(patches)) => patches.inside(point, nearest).unwrap_or_else(|| {
                self.found.unclear.push(node);
                false
            }),
            (None, None) => false,
        };
        self.put_signed(node, distance, inside);
        let slot = self.piece.slot(node);
        if let Some(face) = self.faces.get_mut(slot) {
            *face = nearest.face;
        }
        if self.wanted.seeds {
            self.found.seeds.push(Seed {
                node: self.piece.layout.node_index(node) as u32,
                point: nearest.closest.point.as_vec3(),
            });
        }
    }

    /// Writes a node whose side is known.
    #[inline(always)]
    fn put_signed(&mut self, node: UVec3, distance: f64, inside: bool) {
        let slot = self.piece.slot(node);
        self.piece.values[slot] = signed(distance as f32, inside);
    }

    /// Returns whether a block is inside, if all of it is on one side: no surface lies between its
    /// centre and a node if the nearest point is farther than the nodes.
    #[inline(always)]
    pub(crate) fn side_of(&self, block: &Block, nearest: &Nearest) -> Option<bool> {
        let patches = self.wanted.patches?;
        let reach = MARGIN * block.radius;
        if !patches.change_at_surface() || nearest.distance_squared <= reach * reach {
            return None;
        }
        patches.inside(block.center, nearest)
    }

    /// Returns the distance beyond which nodes of a block need not be exact, and the side of such
    /// nodes, if it is known.
    ///
    /// The side is that of the nearest point of the block's centre, unless [`Self::side_of`] gave
    /// one for the whole block. The distance depends on where faces are, not on their signs.
    #[inline(always)]
    pub(crate) fn far_from(
        &self,
        block: &Block,
        nearest: &Nearest,
        side: Option<bool>,
    ) -> (f64, Option<bool>) {
        let exact_within = self.wanted.exact_within;
        if exact_within == f64::INFINITY {
            return (f64::INFINITY, None);
        }
        let Some(patches) = self.wanted.patches else {
            return (exact_within, Some(false));
        };
        let distance = nearest.distance_squared.sqrt();
        let same_side = if patches.change_at_surface() && distance > MARGIN * block.radius {
            0.0
        } else {
            // A surface does not come between two points whose distances to it add up to more than
            // their distance from each other.
            MARGIN * (block.radius - distance)
        };
        let far = exact_within.max(same_side + self.wanted.far_error);
        (far, side.or_else(|| patches.inside(block.center, nearest)))
    }

    /// Writes a node so far away that only its distance and possibly its side are known.
    #[inline(always)]
    pub(crate) fn put_far(&mut self, node: UVec3, distance: f64, inside: Option<bool>) {
        if inside.is_none() {
            self.found.unclear.push(node);
        }
        self.put_signed(node, distance, inside.unwrap_or(false));
    }

    /// Leaves a node open.
    #[inline(always)]
    pub(crate) fn leave(&mut self, node: UVec3) {
        self.piece.values[self.piece.slot(node)] = f32::NAN;
    }

    pub(crate) fn finish(self) -> Found {
        self.found
    }
}
