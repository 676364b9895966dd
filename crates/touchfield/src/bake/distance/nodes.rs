//! Writes what a search found into a box of nodes: the distance, with its sign where the nearest feature tells it.

use glam::{DVec3, UVec3, Vec3};

use crate::bake::blocks::{Block, Piece};
use crate::bake::sign::patches::Patches;
use crate::mesh::Nearest;

/// What to write.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// Tell the sign; without them all values are positive.
    pub(crate) patches: Option<&'a Patches>,
    /// Nodes farther than this are left open, as NaN \[m\].
    pub(crate) within: f64,
    /// Nodes farther than this may be off by [`Bvh::far_error`](crate::mesh::Bvh::far_error) \[m\].
    pub(crate) exact_within: f64,
    /// That error \[m\].
    pub(crate) far_error: f64,
    /// Whether nearest points are kept.
    pub(crate) seeds: bool,
}

impl<'a> Wanted<'a> {
    /// All nodes, with the sign that patches tell.
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
    /// Rounded, as it is kept for many nodes \[m\].
    pub(crate) point: Vec3,
}

/// What a search leaves to others.
#[derive(Default)]
pub(crate) struct Found {
    /// Nodes whose sign the nearest feature does not tell.
    pub(crate) unclear: Vec<UVec3>,
    /// Of all nodes that were written, if wanted.
    pub(crate) seeds: Vec<Seed>,
}

impl Found {
    /// The findings of all layers, in order.
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

/// A distance with its sign. None on the surface itself: which side that is hangs on rounding, and there are two zeros.
pub(crate) fn signed(distance: f32, inside: bool) -> f32 {
    if inside && distance > 0.0 {
        -distance
    } else {
        distance
    }
}

/// More than `f64` rounds.
const MARGIN: f64 = 1.0 + 1e-9;

/// A box of nodes, while they are written.
pub(crate) struct NodeWriter<'a> {
    wanted: Wanted<'a>,
    piece: Piece<'a>,
    /// The nearest face of every node, beside its value; may be empty.
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

    /// Also writes nearest faces, if there is room for them.
    pub(crate) fn with_faces(self, faces: &'a mut [u32]) -> NodeWriter<'a> {
        NodeWriter { faces, ..self }
    }

    pub(crate) fn blocks(&self) -> impl Iterator<Item = Block> + use<> {
        self.piece.blocks()
    }

    /// Whether no node within `radius` of a place so far from the surface is wanted.
    #[inline(always)]
    pub(crate) fn is_beyond(&self, distance: f64, radius: f64) -> bool {
        distance > MARGIN * (self.wanted.within + radius)
    }

    /// Writes one node, or leaves it open if it is too far.
    #[inline(always)]
    pub(crate) fn put(&mut self, node: UVec3, point: DVec3, nearest: &Nearest) {
        self.put_on(None, node, point, nearest);
    }

    /// [`Self::put`] of a node whose [`Self::side_of`] may be known.
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

    /// Whether a block is inside, if all of it is on one side: nothing comes between its centre and a node if the nearest point is farther.
    #[inline(always)]
    pub(crate) fn side_of(&self, block: &Block, nearest: &Nearest) -> Option<bool> {
        let patches = self.wanted.patches?;
        let reach = MARGIN * block.radius;
        if !patches.change_at_surface() || nearest.distance_squared <= reach * reach {
            return None;
        }
        patches.inside(block.center, nearest)
    }

    /// The distance beyond which nodes of a block need not be exact, and their side, if it is known; the nearest point of its centre tells, unless the
    /// [`Self::side_of`] all of it is known. The distance hangs on where faces are, not on what they tell.
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
            // No surface is crossed between two points that together are farther from it than from each other.
            MARGIN * (block.radius - distance)
        };
        let far = exact_within.max(same_side + self.wanted.far_error);
        (far, side.or_else(|| patches.inside(block.center, nearest)))
    }

    /// Writes a node so far away that nothing is known of it but its distance and, maybe, its side.
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
