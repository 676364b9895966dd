//! Walk down the sphere trees of many shells, all pairs and all spheres of a level at once.
//!
//! Input: probes.
//! Output: on the device, the points of all leaves that may be in contact, as ranges in the order
//! of the probes and points.
//! Cost: one sample per sphere; five small passes per level.
//! Not for: what is done with the points.
//!
//! After \[Sagardia2014\], Alg. 1, breadth first. Each level is a list; count, prefix sum and fill
//! make the next. A leaf stays in the list until the last level, in its place, so that the order
//! remains that of the points. A list that is too long for its buffer goes on being counted: the
//! host learns its length, grows the buffer, and runs the batch again.

use bytemuck::{Pod, Zeroable};

use super::probe::{Form, ProbeWords};
use super::{SHELL, kernel};
use crate::error::GpuError;
use crate::kernel::Recorder;
use crate::memory::{Room, uniform};
use crate::scan::Scan;
use crate::upload::Shapes;

/// Spheres per pair for which a list has room at first. Chosen, not tuned: what is too small is
/// grown once.
const FIRST_SPHERES: f64 = 8.0;

/// By how much longer than they were lists are made.
const SPARE: f64 = 1.25;

/// Share of a list's room that is kept for the next call although it was not needed. Chosen, not
/// tuned: room that is not needed costs a thread per element, room that is missing another run.
pub(super) const FADE: f64 = 0.75;

/// Lists of spheres, and how long they had to be.
#[derive(Debug)]
pub(super) struct Levels {
    lists: [Room; 2],
    counts: Room,
    offsets: Room,
    totals: Room,
    scan: Scan,
    /// Spheres per pair that were in each list.
    per_pair: Vec<f64>,
    /// Number of pairs, and the room of each list, in the last run.
    pairs: u64,
    rooms: Vec<u64>,
}

impl Default for Levels {
    fn default() -> Levels {
        Levels {
            lists: [Room::new("spheres"), Room::new("spheres")],
            counts: Room::new("counts of spheres"),
            offsets: Room::new("offsets of spheres"),
            totals: Room::new("lengths of lists"),
            scan: Scan::default(),
            per_pair: Vec::new(),
            pairs: 0,
            rooms: Vec::new(),
        }
    }
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Parameters {
    probes: u32,
    room: u32,
    next_room: u32,
    max_separation: f32,
}

impl Levels {
    /// Records the walk. `ranges` gets the points.
    pub(super) fn record(
        &mut self,
        shapes: &Shapes,
        recorder: &mut Recorder<'_>,
        probes: &[ProbeWords],
        probe_words: &wgpu::Buffer,
        max_separation: f32,
        ranges: &mut Room,
    ) -> Result<(), GpuError> {
        let gpu = shapes.gpu();
        let pairs = probes.len() as u64;
        let form = |probe: &ProbeWords| Form::of(shapes, probe.shell as usize);
        let levels = probes.iter().map(|probe| form(probe).levels());
        let levels = levels.max().unwrap_or(0) as usize;
        // A list has no more elements than there are points: every sphere has one of its own.
        let points: u64 = probes.iter().map(|probe| u64::from(probe.points)).sum();
        self.pairs = pairs;
        self.rooms.clear();
        for level in 0..=levels {
            let known = self.per_pair.get(level).copied().unwrap_or(FIRST_SPHERES);
            let room = (known * pairs as f64).ceil() as u64;
            self.rooms.push(room.clamp(pairs, points.max(pairs)));
        }
        let longest = self.rooms.iter().copied().max().unwrap_or(pairs);
        let [list, next] = &mut self.lists;
        // The roots of all trees are the first list.
        let mut roots = vec![[pairs as u32, 0]];
        roots.extend((0..pairs as u32).map(|probe| [probe, 0]));
        list.reserve(gpu, 8 * (longest + 1))?;
        let mut list = list.fill(gpu, &roots)?.clone();
        let mut next = next.reserve(gpu, 8 * (longest + 1))?.clone();
        let counts = self.counts.reserve(gpu, 4 * longest)?.clone();
        let offsets = self.offsets.reserve(gpu, 4 * (longest + 1))?.clone();
        let totals = self.totals.reserve(gpu, 4 * (levels as u64 + 1))?.clone();
        let shared = include_str!("../shaders/shell_tree.wgsl");
        let part = |entry, text| kernel(shapes, entry, &[SHELL, shared, text]);
        let visit = part("visit_spheres", include_str!("../shaders/shell_visit.wgsl"))?;
        let descend = part(
            "descend_spheres",
            include_str!("../shaders/shell_descend.wgsl"),
        )?;
        for level in 0..levels {
            let (room, next_room) = (self.rooms[level], self.rooms[level + 1]);
            let parameters = uniform(
                gpu,
                &Parameters {
                    probes: pairs as u32,
                    room: room as u32,
                    next_room: next_room as u32,
                    max_separation,
                },
            )?;
            let buffers = [&parameters, probe_words, &list, &counts];
            recorder.run(&visit, Some(shapes), &buffers, room);
            self.scan.record(gpu, recorder, &counts, room, &offsets)?;
            let buffers = [&parameters, probe_words, &list, &offsets, &next];
            recorder.run(&descend, Some(shapes), &buffers, room);
            recorder.copy((&offsets, 4 * room), (&totals, 4 * (level as u64 + 1)), 4);
            std::mem::swap(&mut list, &mut next);
        }
        // The last list holds leaves only.
        let room = self.rooms[levels];
        let parameters = uniform(
            gpu,
            &Parameters {
                probes: pairs as u32,
                room: room as u32,
                next_room: 0,
                max_separation,
            },
        )?;
        let measure = part(
            "measure_leaves",
            include_str!("../shaders/shell_measure.wgsl"),
        )?;
        let buffers = [&parameters, probe_words, &list, &counts];
        recorder.run(&measure, Some(shapes), &buffers, room);
        self.scan.record(gpu, recorder, &counts, room, &offsets)?;
        let collect = part("list_ranges", include_str!("../shaders/shell_ranges.wgsl"))?;
        let ranges = ranges.reserve(gpu, 16 * (room + 1))?.clone();
        let buffers = [&parameters, probe_words, &list, &offsets, &ranges];
        recorder.run(&collect, Some(shapes), &buffers, room);
        Ok(())
    }

    /// Records that the lengths of the lists are read.
    pub(super) fn read(&self, recorder: &mut Recorder<'_>) -> Result<(), GpuError> {
        recorder.read::<u32>(self.totals.get()?, self.rooms.len() as u64)
    }

    /// Returns whether all lists had room, and remembers how long they were.
    pub(super) fn suffice(&mut self, totals: Vec<u32>) -> bool {
        let pairs = self.pairs.max(1) as f64;
        self.per_pair
            .resize(self.rooms.len().max(self.per_pair.len()), 0.0);
        let mut short_by = 1.0f64;
        for (level, (&total, &room)) in totals.iter().zip(&self.rooms).enumerate().skip(1) {
            let known = &mut self.per_pair[level];
            if short_by > 1.0 {
                // Lists below one that was cut off are not known; they are longer by as much.
                *known = known.max(short_by * room as f64 / pairs);
                continue;
            }
            let needed = SPARE * f64::from(total) / pairs;
            *known = needed.max(FADE * *known);
            if u64::from(total) > room {
                short_by = f64::from(total) / room as f64;
            }
        }
        short_by == 1.0
    }
}
