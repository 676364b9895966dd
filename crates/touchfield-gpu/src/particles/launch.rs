//! Passes over the particles of one launch: count, prefix sum, fill, read back.
//!
//! Input: a range of pairs, and where their particles start.
//! Output: contacts appended to the answer.
//! Cost: one submission, and one more to read the contacts; a third if there was too little room.
//! Not for: where particles start (`seeds`), and which contacts stay (`reduce`).

use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use glam::Vec3;
use touchfield::Contact;
use touchfield::contact::ContactId;
use touchfield::narrow::Starts;

use super::tasks::{Arrival, CONTACT_WORDS, Launch, Tasks, most_particles};
use super::{FoundParticles, ParticleSettings};
use crate::device::Gpu;
use crate::error::GpuError;
use crate::kernel::Recorder;
use crate::memory::{Room, uniform};
use crate::scan::Scan;
use crate::upload::Shapes;

/// Where the particles of a launch start, by the numbers that the kernel knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum From {
    Uniform = 0,
    QuasiRandom,
    Cells,
    Places,
}

const FILL: u32 = 1;
const LITERAL: u32 = 2;
const BOTH_AT_ONCE: u32 = 4;
const STEPS: u32 = 8;

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Parameters {
    begin: u32,
    count: u32,
    pairs: u32,
    capacity: u32,
    starts: u32,
    max_steps: u32,
    flags: u32,
    relaxation: f32,
}

/// Buffers that are kept from call to call.
#[derive(Debug)]
pub(super) struct Buffers {
    pub(super) tasks: Room,
    /// Starts that are listed: cells of a subdivision, or places.
    pub(super) listed: Room,
    pub(super) other_listed: Room,
    pub(super) marks: Room,
    pub(super) offsets: Room,
    pub(super) tallies: Room,
    pub(super) first: Room,
    pub(super) contacts: Room,
    pub(super) kept: Room,
    pub(super) table: Room,
    pub(super) scan: Scan,
    pub(super) pair_scan: Scan,
    unused: [Room; 2],
    /// Contacts that `contacts` has room for.
    capacity: u64,
}

impl Default for Buffers {
    fn default() -> Buffers {
        Buffers {
            tasks: Room::new("pairs"),
            listed: Room::new("starts of particles"),
            other_listed: Room::new("starts of particles"),
            marks: Room::new("particles"),
            offsets: Room::new("offsets of contacts"),
            tallies: Room::new("counts of pairs"),
            first: Room::new("offsets of pairs"),
            contacts: Room::new("contacts"),
            kept: Room::new("contacts that stay"),
            table: Room::new("cells of contacts"),
            scan: Scan::default(),
            pair_scan: Scan::default(),
            unused: [Room::new("nothing"), Room::new("nothing")],
            capacity: 0,
        }
    }
}

/// What a launch works with.
pub(super) struct Work<'a> {
    pub(super) gpu: &'a Gpu,
    pub(super) shapes: &'a Shapes,
    pub(super) settings: &'a ParticleSettings,
    pub(super) buffers: &'a mut Buffers,
    pub(super) answer: &'a mut FoundParticles,
}

/// Bytes of a contact on the device.
const CONTACT_BYTES: u64 = 4 * CONTACT_WORDS;

/// Numbers per pair: particles that arrived, those in the band, steps, particles that started.
const TALLIES: u64 = 4;

/// Contacts that the first call has room for.
const FIRST_CAPACITY: u64 = 4096;

impl Work<'_> {
    /// Runs particles that start in the cells of Alg. 1, or by the additive recurrence.
    pub(super) fn by_index(&mut self, tasks: &Tasks, pairs: Range<usize>) -> Result<(), GpuError> {
        let launch = tasks.of(pairs);
        let from = match self.settings.particles.starts {
            Starts::QuasiRandom => From::QuasiRandom,
            _ => From::Uniform,
        };
        self.buffers.tasks.fill(self.gpu, &launch.tasks)?;
        self.in_pieces(&launch, launch.particles, from)
    }

    /// Runs particles that start at the centres of the cells that a subdivision leaves.
    pub(super) fn seeded(&mut self, tasks: &Tasks, pairs: Range<usize>) -> Result<(), GpuError> {
        let launch = tasks.of(pairs);
        self.buffers.tasks.fill(self.gpu, &launch.tasks)?;
        let cells = self.subdivide(&launch)?;
        let limit = most_particles(self.gpu);
        if cells > limit {
            return Err(GpuError::TooLarge {
                what: "particles",
                bytes: CONTACT_BYTES * cells,
                limit: CONTACT_BYTES * limit,
            });
        }
        self.piece(&launch, 0..cells, From::Cells)?.append(self);
        Ok(())
    }

    /// Runs particles that start at given places.
    pub(super) fn by_places(
        &mut self,
        tasks: &Tasks,
        pairs: Range<usize>,
        starts: &[Vec<Arrival>],
    ) -> Result<(), GpuError> {
        let launch = tasks.of(pairs.clone());
        self.buffers.tasks.fill(self.gpu, &launch.tasks)?;
        let mut listed: Vec<[u32; 4]> = Vec::new();
        for (index, (pair, starts)) in pairs.zip(starts).enumerate() {
            listed.extend(starts.iter().map(|&start| {
                let [x, y, z] = tasks.to_search(pair, start).to_array().map(f32::to_bits);
                [index as u32, x, y, z]
            }));
        }
        self.buffers.listed.fill(self.gpu, &listed)?;
        let count = listed.len() as u64;
        self.piece(&launch, 0..count, From::Places)?.append(self);
        Ok(())
    }

    /// Runs all particles; in pieces if a single pair has more than a launch can hold.
    fn in_pieces(&mut self, launch: &Launch, count: u64, from: From) -> Result<(), GpuError> {
        let most = most_particles(self.gpu);
        if count <= most {
            self.piece(launch, 0..count, from)?.append(self);
            return Ok(());
        }
        if self.settings.particles.one_per_cell {
            // The deepest of a cell may be in any piece.
            return Err(GpuError::TooLarge {
                what: "particles of a pair, one per cell",
                bytes: CONTACT_BYTES * count,
                limit: CONTACT_BYTES * most,
            });
        }
        let mut whole = Piece::default();
        let mut begin = 0;
        while begin < count {
            let end = count.min(begin + most);
            whole.join(self.piece(launch, begin..end, from)?);
            begin = end;
        }
        if let Some(wanted) = self.settings.particles.deepest {
            whole.keep_deepest(wanted as usize);
        }
        whole.append(self);
        Ok(())
    }

    fn piece(
        &mut self,
        launch: &Launch,
        particles: Range<u64>,
        from: From,
    ) -> Result<Piece, GpuError> {
        let gpu = self.gpu;
        let pairs = launch.tasks.len() as u64;
        let count = particles.end - particles.start;
        self.answer.launches += 1;
        if count == 0 || pairs == 0 {
            return Ok(Piece::nothing(pairs as usize));
        }
        let settings = self.settings;
        let wanted = &settings.particles;
        let set = |flag: u32, is_set: bool| if is_set { flag } else { 0 };
        let flags = set(LITERAL, wanted.literal)
            | set(BOTH_AT_ONCE, wanted.both_at_once)
            | set(STEPS, settings.count_steps);
        // Two kernels, because the one that looks for the band takes a driver longer to compile.
        let (kernel_name, text) = if settings.count_band {
            let band = format!("const COUNTS_BAND: bool = true;\n{PROJECT}");
            ("particles and band", band)
        } else {
            let plain = format!("const COUNTS_BAND: bool = false;\n{PROJECT}");
            ("particles", plain)
        };
        let (name, source) = self.shapes.source(kernel_name, &text);
        let kernel = gpu.kernel(&name, "project_particles", || source)?;
        let buffers = &mut *self.buffers;
        // Marks: a flag per particle, then four numbers per pair.
        let marks = (buffers.marks.reserve(gpu, 4 * (count + TALLIES * pairs))?).clone();
        let offsets = buffers.offsets.reserve(gpu, 4 * (count + 1))?.clone();
        let tallies = buffers.tallies.reserve(gpu, 4 * TALLIES * pairs)?.clone();
        let first = buffers.first.reserve(gpu, 4 * (pairs + 1))?.clone();
        let tasks = buffers.tasks.get()?.clone();
        let [unused, other_unused] = &mut buffers.unused;
        let unused = unused.reserve(gpu, 16)?.clone();
        let listed = match from {
            From::Uniform | From::QuasiRandom => other_unused.reserve(gpu, 16)?.clone(),
            From::Cells | From::Places => buffers.listed.get()?.clone(),
        };
        let limit = gpu.adapter().max_binding_bytes / CONTACT_BYTES;
        buffers.capacity = buffers.capacity.max(FIRST_CAPACITY.min(limit));
        let mut contacts = (buffers.contacts).reserve(gpu, CONTACT_BYTES * buffers.capacity)?;
        let parameters = |flags, capacity: u64| Parameters {
            begin: particles.start as u32,
            count: count as u32,
            pairs: pairs as u32,
            capacity: capacity as u32,
            starts: from as u32,
            max_steps: wanted.max_steps,
            flags,
            relaxation: wanted.relaxation,
        };
        // Count; prefix sums over the particles and over the pairs; fill.
        let mut recorder = Recorder::new(gpu)?;
        if settings.timed {
            recorder = recorder.timed();
        }
        recorder.clear(&marks);
        let to_count = uniform(gpu, &parameters(flags, 0))?;
        let bound = [&to_count, &tasks, &marks, &unused, &listed];
        recorder.run(&kernel, Some(self.shapes), &bound, count);
        (buffers.scan).record(gpu, &mut recorder, &marks, count, &offsets)?;
        recorder.copy((&marks, 4 * count), (&tallies, 0), 4 * TALLIES * pairs);
        (buffers.pair_scan).record(gpu, &mut recorder, &tallies, pairs, &first)?;
        let to_fill = uniform(gpu, &parameters(flags | FILL, buffers.capacity))?;
        let bound = [&to_fill, &tasks, &offsets, contacts, &listed];
        recorder.run(&kernel, Some(self.shapes), &bound, count);
        recorder.read::<u32>(&tallies, TALLIES * pairs)?;
        recorder.read::<u32>(&first, pairs + 1)?;
        let mut done = recorder.submit()?;
        let numbers: Vec<u32> = done.next()?;
        let mut of_pairs: Vec<u32> = done.next()?;
        self.answer.found.times.extend(done.finish()?);
        let mut total = u64::from(of_pairs.last().copied().unwrap_or(0));
        if total > buffers.capacity {
            // Room for exactly as many as there are, and once more.
            contacts = buffers.contacts.reserve(gpu, CONTACT_BYTES * total)?;
            buffers.capacity = total;
            self.answer.repeated += 1;
            let mut recorder = Recorder::new(gpu)?;
            if settings.timed {
                recorder = recorder.timed();
            }
            let to_fill = uniform(gpu, &parameters(flags | FILL, total))?;
            let bound = [&to_fill, &tasks, &offsets, contacts, &listed];
            recorder.run(&kernel, Some(self.shapes), &bound, count);
            self.answer.found.times.extend(recorder.submit()?.finish()?);
        }
        let capacity = buffers.capacity;
        let mut contacts = contacts.clone();
        if total > 0 && (wanted.one_per_cell || wanted.deepest.is_some()) {
            (contacts, of_pairs) = self.reduce(launch, contacts, total, capacity)?;
            total = u64::from(of_pairs.last().copied().unwrap_or(0));
        }
        let mut recorder = Recorder::new(gpu)?;
        recorder.read::<[f32; 8]>(&contacts, total)?;
        let found: Vec<[f32; 8]> = recorder.submit()?.next()?;
        let pairs = pairs as usize;
        let tally = |number: usize| numbers[number * pairs..(number + 1) * pairs].to_vec();
        Ok(Piece {
            contacts: found.into_iter().map(decoded).collect(),
            first: of_pairs,
            arrived: tally(0),
            in_band: tally(1),
            steps: tally(2),
            started: match from {
                From::Uniform | From::QuasiRandom => started(launch, particles),
                From::Cells | From::Places => tally(3),
            },
        })
    }
}

/// Returns the number of particles of each pair among those of a range.
fn started(launch: &Launch, range: Range<u64>) -> Vec<u32> {
    let mut before = 0;
    let counts = launch.tasks.iter().map(|task| {
        let end = u64::from(task.counts[3]);
        let begin = std::mem::replace(&mut before, end);
        end.min(range.end).saturating_sub(begin.max(range.start)) as u32
    });
    counts.collect()
}

/// The kernel of all particles.
const PROJECT: &str = concat!(
    include_str!("../shaders/particle_tasks.wgsl"),
    include_str!("../shaders/particles.wgsl")
);

fn decoded([x, y, z, separation, nx, ny, nz, particle]: [f32; 8]) -> Contact {
    Contact {
        point: Vec3::new(x, y, z),
        normal: Vec3::new(nx, ny, nz),
        separation,
        id: ContactId(particle.to_bits()),
    }
}

/// Result of one launch, or of a part of one.
#[derive(Debug, Default)]
struct Piece {
    contacts: Vec<Contact>,
    first: Vec<u32>,
    arrived: Vec<u32>,
    in_band: Vec<u32>,
    steps: Vec<u32>,
    started: Vec<u32>,
}

impl Piece {
    fn nothing(pairs: usize) -> Piece {
        Piece {
            contacts: Vec::new(),
            first: vec![0; pairs + 1],
            arrived: vec![0; pairs],
            in_band: vec![0; pairs],
            steps: vec![0; pairs],
            started: vec![0; pairs],
        }
    }

    /// Appends a later part of the same launch, which has a single pair.
    fn join(&mut self, other: Piece) {
        if self.first.is_empty() {
            *self = other;
            return;
        }
        self.contacts.extend(other.contacts);
        let all = self.contacts.len() as u32;
        if let Some(last) = self.first.last_mut() {
            *last = all;
        }
        for (sum, more) in [
            (&mut self.arrived, &other.arrived),
            (&mut self.in_band, &other.in_band),
            (&mut self.steps, &other.steps),
            (&mut self.started, &other.started),
        ] {
            for (sum, more) in sum.iter_mut().zip(more) {
                *sum = sum.saturating_add(*more);
            }
        }
    }

    /// Keeps the deepest contacts of a single pair, by ascending particle.
    fn keep_deepest(&mut self, count: usize) {
        (self.contacts)
            .sort_by(|a, b| (a.separation.total_cmp(&b.separation)).then(a.id.cmp(&b.id)));
        self.contacts.truncate(count);
        self.contacts.sort_by_key(|contact| contact.id);
        let all = self.contacts.len() as u32;
        if let Some(last) = self.first.last_mut() {
            *last = all;
        }
    }

    fn append(self, work: &mut Work<'_>) {
        let answer = &mut *work.answer;
        let before = answer.found.contacts.len() as u32;
        let ends = self.first.iter().skip(1).map(|end| before + end);
        answer.found.first.extend(ends);
        answer.found.contacts.extend(self.contacts);
        answer.arrived.extend(self.arrived);
        answer.steps.extend(self.steps);
        answer.started.extend(self.started);
        if work.settings.count_band {
            answer.in_band.extend(self.in_band);
        }
    }
}
