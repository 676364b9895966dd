//! Nearest faces of grid nodes, searched on the device.
//!
//! Input: the surface of a bake, and boxes of nodes.
//! Output: a face, a signed distance, and whether the side is sure, for every node.
//! Cost: one search per brick of 4 × 4 × 4 nodes, then one per node that starts from it.
//! Not for: proving anything: `touchfield::bake` checks each node.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use glam::UVec3;
use touchfield::bake::{FaceSearch, NodeBox, Proposal, Surface};
use touchfield::field::GridLayout;

use crate::bake::surface::DeviceSurface;
use crate::device::Gpu;
use crate::error::GpuError;
use crate::kernel::{PassTime, Recorder};
use crate::memory::{Room, uniform};

/// Nodes along a side of a brick: 64 nodes, one workgroup.
pub(crate) const BRICK: u32 = 4;

/// Most bricks of one dispatch. A million nodes take a small part of the seconds after which a
/// driver gives up.
const MOST_BRICKS: u64 = 1 << 14;

/// Flags beside the face of a proposal.
const TIED: u32 = 1 << 29;
const INSIDE: u32 = 1 << 30;
const UNSURE: u32 = 1 << 31;

/// A proposal that no check accepts.
const NOTHING: Proposal = Proposal {
    face: 0,
    distance: f32::NAN,
    is_sure: false,
    is_tied: true,
};

/// A search on a device.
pub(crate) struct DeviceSearch<'a> {
    gpu: &'a Gpu,
    state: Mutex<State>,
}

/// What a search did, and why it failed.
#[derive(Default)]
pub(crate) struct State {
    surface: Option<DeviceSurface>,
    pub(crate) failure: Option<GpuError>,
    /// Dispatches.
    pub(crate) passes: Vec<PassTime>,
    pub(crate) pass_count: u64,
    /// Time from an upload to the results of the last dispatch.
    pub(crate) time: Duration,
}

impl<'a> DeviceSearch<'a> {
    pub(crate) fn new(gpu: &'a Gpu) -> DeviceSearch<'a> {
        DeviceSearch {
            gpu,
            state: Mutex::default(),
        }
    }

    pub(crate) fn into_state(self) -> State {
        (self.state.into_inner()).unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs work and keeps the time it took and the error it ends in.
    fn kept<T>(&self, work: impl FnOnce(&mut State) -> Result<T, GpuError>) -> Option<T> {
        let start = Instant::now();
        let mut state = self.state();
        let done = work(&mut state);
        state.time += start.elapsed();
        done.map_err(|error| state.failure.get_or_insert(error).clone())
            .ok()
    }

    fn run(
        &self,
        state: &mut State,
        layout: &GridLayout,
        boxes: &[NodeBox],
    ) -> Result<Vec<Proposal>, GpuError> {
        let gpu = self.gpu;
        let missing = || GpuError::Driver("no surface was prepared".to_owned());
        let surface = state.surface.take().ok_or_else(missing)?;
        let (name, source) = surface.source("seed bricks", include_str!("../shaders/seed.wgsl"));
        let seed = gpu.kernel(&name, "seed_bricks", || source)?;
        let (name, source) =
            surface.source("propose faces", include_str!("../shaders/propose.wgsl"));
        let propose = gpu.kernel(&name, "propose_faces", || source)?;
        let bricks = bricks_of(boxes);
        let mut found = vec![NOTHING; boxes.iter().map(NodeBox::count).sum()];
        let (mut given, mut seeds) = (Room::new("bricks"), Room::new("nearest triangles"));
        let mut results = Room::new("proposed faces");
        let most = (gpu.adapter().max_binding_bytes / (8 * 64)).clamp(1, MOST_BRICKS) as usize;
        for bricks in bricks.chunks(most) {
            let count = bricks.len() as u64;
            let records: Vec<[u32; 4]> = bricks.iter().map(Brick::record).collect();
            let parameters = uniform(gpu, &surface.parameters(layout, bricks.len()))?;
            let given = given.fill(gpu, &records)?;
            let seeds = seeds.reserve(gpu, 4 * count)?;
            let results = results.reserve(gpu, 8 * 64 * count)?;
            let mesh = [&surface.boxes, &surface.triangles, &surface.normals];
            let mut recorder = Recorder::new(gpu)?.timed();
            let buffers = [&parameters, mesh[0], mesh[1], mesh[2], given, seeds];
            recorder.run(&seed, None, &buffers, count);
            let buffers = [
                &parameters,
                mesh[0],
                mesh[1],
                mesh[2],
                given,
                seeds,
                results,
            ];
            recorder.run(&propose, None, &buffers, 64 * count);
            recorder.read::<[u32; 2]>(results, 64 * count)?;
            let mut done = recorder.submit()?;
            let words: Vec<[u32; 2]> = done.next()?;
            state.passes.extend(done.finish()?);
            state.pass_count += 2;
            for (brick, words) in bricks.iter().zip(words.chunks_exact(64)) {
                brick.write(words, surface.scale, &mut found);
            }
        }
        state.surface = Some(surface);
        Ok(found)
    }
}

impl FaceSearch for DeviceSearch<'_> {
    fn prepare(&self, surface: &Surface<'_>) -> Option<f64> {
        self.kept(|state| {
            let surface = DeviceSurface::upload(self.gpu, surface)?;
            let error = surface.error();
            state.surface = Some(surface);
            Ok(error)
        })
    }

    fn propose(&self, layout: &GridLayout, boxes: &[NodeBox]) -> Option<Vec<Proposal>> {
        self.kept(|state| self.run(state, layout, boxes))
    }
}

/// Up to 4 × 4 × 4 nodes of a box.
struct Brick {
    first: UVec3,
    size: UVec3,
    /// Index of its first node in the results of all boxes, and the steps to its next rows and
    /// layers there.
    place: usize,
    row: usize,
    layer: usize,
}

impl Brick {
    fn record(&self) -> [u32; 4] {
        let [x, y, z] = self.first.to_array();
        [x, y, z, self.size.x | self.size.y << 8 | self.size.z << 16]
    }

    /// Writes the results of its 64 threads to their nodes.
    fn write(&self, words: &[[u32; 2]], scale: f64, found: &mut [Proposal]) {
        for z in 0..self.size.z {
            for y in 0..self.size.y {
                let to = self.place + z as usize * self.layer + y as usize * self.row;
                let from = ((z * BRICK + y) * BRICK) as usize;
                for x in 0..self.size.x as usize {
                    let [face, distance] = words[from + x];
                    let distance = (f64::from(f32::from_bits(distance)) / scale) as f32;
                    found[to + x] = Proposal {
                        face: face & !(TIED | INSIDE | UNSURE),
                        distance: if face & INSIDE != 0 {
                            -distance
                        } else {
                            distance
                        },
                        is_sure: face & UNSURE == 0,
                        is_tied: face & TIED != 0,
                    };
                }
            }
        }
    }
}

fn bricks_of(boxes: &[NodeBox]) -> Vec<Brick> {
    let mut bricks = Vec::new();
    let mut place = 0;
    for nodes in boxes {
        let [nx, ny, nz] = nodes.size.to_array();
        let (row, layer) = (nx as usize, nx as usize * ny as usize);
        let step = BRICK as usize;
        for z in (0..nz).step_by(step) {
            for y in (0..ny).step_by(step) {
                for x in (0..nx).step_by(step) {
                    let at = UVec3::new(x, y, z);
                    bricks.push(Brick {
                        first: nodes.first + at,
                        size: (nodes.size - at).min(UVec3::splat(BRICK)),
                        place: place + z as usize * layer + y as usize * row + x as usize,
                        row,
                        layer,
                    });
                }
            }
        }
        place += nodes.count();
    }
    bricks
}
