//! Buffers that are reused from call to call, so that nothing is allocated once they have grown.

use crate::contact::Contact;
use crate::field::Sample;
use crate::narrow::convex::ConvexCache;
use crate::narrow::convex::ConvexMemory;
use crate::narrow::convex::RegionScratch;
use crate::narrow::search::boxes::Boxes;
use crate::narrow::search::corner_game::MOST;
use crate::narrow::search::exact_body::Minorants;
use crate::narrow::search::least_first::LeastFirst;
use crate::narrow::search::overlap::OverlapBuffers;
use crate::narrow::search::penalty_point::PenaltySum;
use crate::narrow::search::shell_pairs::OpenPairs;
use crate::narrow::search::surface_pairs::OpenDiscs;
use glam::{DVec3, Vec3};

/// Scratch buffers of the contact methods, reused from call to call.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(crate) points: Vec<Vec3>,
    pub(crate) distances: Vec<f32>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) pieces: Vec<PointPiece>,
    /// Spheres of the current level.
    pub(crate) front: Vec<u32>,
    /// Spheres of the next level.
    pub(crate) next_front: Vec<u32>,
    /// Points of leaves near the other body, and representatives of covered spheres.
    pub(crate) near_points: Vec<u32>,
    /// Representatives of the spheres of a coarser copy of the surface.
    pub(crate) standing: Vec<u32>,
    /// Spheres that one point represents, each with a lower bound of its points' distances \[m\].
    pub(crate) covered: Vec<(f32, u32)>,
    /// Spheres at the border of a contact patch, each with a lower bound of its points' distances
    /// \[m\].
    pub(crate) rims: Vec<(f32, u32)>,
    /// Spheres that remain to be opened below spheres at a border, each with its lower bound \[m\].
    pub(crate) below: Vec<(f32, u32)>,
    /// Children of a sphere, each with the distance at its centre \[m\].
    pub(crate) children: Vec<(f32, u32)>,
    /// Contacts of the first of two walks.
    pub(crate) contacts: Vec<Contact>,
    pub(crate) penalty: PenaltyBuffers,
    /// Sums of the segments of both shells.
    pub(crate) segments: Vec<PenaltySum>,
    pub(crate) separation: SeparationScratch,
    pub(crate) overlap: OverlapBuffers,
    pub(crate) boxes: Boxes,
    pub(crate) particles: ParticleBuffers,
    pub(crate) faces: FaceBuffers,
    pub(crate) convex: ConvexBuffers,
}

/// Buffers of the penalty forces.
#[derive(Debug, Default)]
pub(crate) struct PenaltyBuffers {
    /// Spheres of the current level.
    pub(crate) front: Vec<u32>,
    /// Spheres of the next level.
    pub(crate) next_front: Vec<u32>,
    /// Points near the other body, with the areas that they count for \[m²\].
    pub(crate) near: Vec<(u32, f32)>,
    pub(crate) places: Vec<Vec3>,
    pub(crate) distances: Vec<f32>,
    pub(crate) samples: Vec<Sample>,
}

/// Buffers of particles that have not arrived yet.
#[derive(Debug, Default)]
pub(crate) struct ParticleBuffers {
    pub(crate) places: Vec<Vec3>,
    pub(crate) ids: Vec<u32>,
    /// Cell of each contact, with the index of the contact.
    pub(crate) cells: Vec<(u64, u32)>,
    pub(crate) kept: Vec<bool>,
}

/// Buffers for faces near the other body and the lowest points found on them.
#[derive(Debug, Default)]
pub(crate) struct FaceBuffers {
    pub(crate) stack: Vec<u32>,
    pub(crate) found: Vec<FaceFound>,
}

/// The deepest point of a face or an edge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FaceFound {
    /// The vertices that the point lies between, sorted; `u32::MAX` for those of weight 0.
    pub(crate) between: [u32; 3],
    pub(crate) triangle: u32,
    pub(crate) point_in_field: Vec3,
    pub(crate) sample: Sample,
}

/// Work of one thread on a run of consecutive shell points.
#[derive(Debug, Default)]
pub(crate) struct PointPiece {
    pub(crate) number: usize,
    pub(crate) points: Vec<Vec3>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) contacts: Vec<Contact>,
    pub(crate) distance: f32,
}

/// Buffers of the convex methods.
#[derive(Debug, Default)]
pub(crate) struct ConvexBuffers {
    pub(crate) cache: ConvexCache,
    pub(crate) region: RegionScratch,
}

/// State of one pair that is kept from pose to pose, for warm starts. It must not be shared between
/// pairs. Methods that have no use for it ignore it.
#[derive(Debug, Default)]
pub struct PairMemory {
    /// State of two convex bodies, allocated at first use because most pairs are of fields.
    pub(crate) convex: Option<Box<ConvexMemory>>,
}

impl PairMemory {
    /// Discards the state of the pair and keeps the buffers.
    pub fn clear(&mut self) {
        if let Some(convex) = &mut self.convex {
            convex.clear();
        }
    }

    /// Returns the state of two convex bodies, allocated at first use.
    pub(crate) fn convex(&mut self) -> &mut ConvexMemory {
        self.convex.get_or_insert_default()
    }
}

/// Scratch buffers of a separation search, reused from call to call.
#[derive(Debug, Default)]
pub struct SeparationScratch {
    pub(crate) heap: LeastFirst<BoxPiece>,
    pub(crate) centers: Vec<Vec3>,
    pub(crate) distances: Vec<f32>,
    pub(crate) pairs: OpenPairs,
    pub(crate) discs: OpenDiscs,
    pub(crate) convex: ConvexCache,
    /// Boxes of a search by exact distances.
    pub(crate) bounded: LeastFirst<BoundedBox>,
    pub(crate) minorants: Minorants,
}

/// A box of a search by exact distances, and the minorants that bound it best.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundedBox {
    pub(crate) center: DVec3,
    pub(crate) half: DVec3,
    /// Numbers of the minorants.
    pub(crate) minorants: [u32; MOST],
    pub(crate) count: usize,
}

impl SeparationScratch {
    /// Returns the heap for pairs of discs.
    pub(crate) fn discs(&mut self) -> &mut OpenDiscs {
        &mut self.discs
    }
}

/// A box that may hold the minimiser.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoxPiece {
    pub(crate) center: Vec3,
    pub(crate) half: Vec3,
}
