//! Buffers that are reused from call to call: no allocation once they have grown.

use crate::contact::Contact;
use crate::field::Sample;
use crate::narrow::convex::ConvexCache;
use crate::narrow::convex::ConvexMemory;
use crate::narrow::convex::RegionScratch;
use crate::narrow::search::boxes::Boxes;
use crate::narrow::search::least_first::LeastFirst;
use crate::narrow::search::overlap::OverlapBuffers;
use crate::narrow::search::shell_pairs::OpenPairs;
use crate::narrow::search::surface_pairs::OpenDiscs;
use glam::Vec3;

/// Buffers that are reused from call to call.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(crate) points: Vec<Vec3>,
    pub(crate) distances: Vec<f32>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) pieces: Vec<PointPiece>,
    /// Spheres of a level, and of the next.
    pub(crate) front: Vec<u32>,
    pub(crate) next_front: Vec<u32>,
    /// Points of leaves that come near, and points that stand for spheres.
    pub(crate) near_points: Vec<u32>,
    pub(crate) standing: Vec<u32>,
    /// Spheres whose points one stands for, with the least that their points may have.
    pub(crate) covered: Vec<(f32, u32)>,
    /// Spheres at the border of a patch of contact, likewise.
    pub(crate) rims: Vec<(f32, u32)>,
    /// Spheres below one of them.
    pub(crate) below: Vec<(f32, u32)>,
    /// Children of a sphere with their distances.
    pub(crate) children: Vec<(f32, u32)>,
    /// Contacts of the shell that was walked first.
    pub(crate) contacts: Vec<Contact>,
    pub(crate) separation: SeparationScratch,
    pub(crate) overlap: OverlapBuffers,
    pub(crate) boxes: Boxes,
    pub(crate) particles: ParticleBuffers,
    pub(crate) faces: FaceBuffers,
    pub(crate) convex: ConvexBuffers,
}

/// Buffers of particles that are under way.
#[derive(Debug, Default)]
pub(crate) struct ParticleBuffers {
    pub(crate) places: Vec<Vec3>,
    pub(crate) ids: Vec<u32>,
    /// Cell of each contact, its place among the contacts.
    pub(crate) cells: Vec<(u64, u32)>,
    pub(crate) kept: Vec<bool>,
}

/// Faces near the other body, and the contacts found on them.
#[derive(Debug, Default)]
pub(crate) struct FaceBuffers {
    pub(crate) stack: Vec<u32>,
    pub(crate) found: Vec<FaceFound>,
}

/// The deepest point of a face or an edge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FaceFound {
    /// The vertices it lies between, in order; `u32::MAX` for those that do not count.
    pub(crate) between: [u32; 3],
    pub(crate) triangle: u32,
    pub(crate) point_in_field: Vec3,
    pub(crate) sample: Sample,
}

/// What is known of some points that follow one another.
#[derive(Debug, Default)]
pub(crate) struct PointPiece {
    pub(crate) number: usize,
    pub(crate) points: Vec<Vec3>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) contacts: Vec<Contact>,
    pub(crate) distance: f32,
}

/// Buffers that are reused from call to call.
#[derive(Debug, Default)]
pub(crate) struct ConvexBuffers {
    pub(crate) cache: ConvexCache,
    pub(crate) region: RegionScratch,
}

/// What is kept of a pair from pose to pose, so that the next answer begins with the last one. Of that pair only; without effect on methods that have no use for
/// it.
#[derive(Debug, Default)]
pub struct PairMemory {
    /// There once it is asked for: most pairs are of fields.
    pub(crate) convex: Option<Box<ConvexMemory>>,
}

impl PairMemory {
    /// Forgets the pair and keeps the buffers.
    pub fn clear(&mut self) {
        if let Some(convex) = &mut self.convex {
            convex.clear();
        }
    }

    /// What is known of two convex bodies.
    pub(crate) fn convex(&mut self) -> &mut ConvexMemory {
        self.convex.get_or_insert_default()
    }
}

/// The heap of a search, reused from call to call.
#[derive(Debug, Default)]
pub struct SeparationScratch {
    pub(crate) heap: LeastFirst<BoxPiece>,
    pub(crate) centers: Vec<Vec3>,
    pub(crate) distances: Vec<f32>,
    pub(crate) pairs: OpenPairs,
    pub(crate) discs: OpenDiscs,
    pub(crate) convex: ConvexCache,
}

impl SeparationScratch {
    /// The heap for pairs of discs.
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
