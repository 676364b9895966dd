//! Contacts of the shell points of many pairs.
//!
//! Input: pairs, a maximum separation.
//! Output: one contact for each point closer than that, in the order of the pairs and points.
//! Cost: one sample per point, or with spheres one per sphere and point near the other body; one
//! more per contact, three where the gradient mixes directions. 0.25 bytes per point, 32 per
//! contact.
//! Not for: bodies that enclose the other one completely.
//!
//! The set of contacts equals that of `point_samples` on the CPU outside the *rounding band*:
//! points whose distance is within 1.5e-6 of the size of the fields and poses of `max_separation`,
//! or within rounding of a border of cells across which the values are on different sides of it.
//! Points in the band are counted for each pair. Spheres are pruned by a proof, so both searches
//! find the same.
//!
//! Three passes: test and mark, one bit per point; prefix sums over blocks of 64 points; fill, each
//! contact at the place that follows from the bits before it.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;
use touchfield::Contact;
use touchfield::contact::ContactId;

use super::levels::{FADE, Levels};
use super::probe::{ProbeWords, finer_probes};
use super::reduce::{self, MOST_KEPT};
use super::{RANGES, SHELL, kernel, most};
use crate::error::GpuError;
use crate::kernel::{PassTime, Recorder};
use crate::memory::{Room, uniform};
use crate::pairs::{DeviceContacts, DevicePair};
use crate::scan::Scan;
use crate::upload::Shapes;

/// How contacts are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShellSearch {
    /// Every point is tested.
    Points,
    /// Spheres are tested before the points in them \[Sagardia2014\].
    #[default]
    Spheres,
}

/// Settings of a contact query.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ShellSettings {
    /// Maximum separation of reported contacts \[m\].
    pub max_separation: f32,
    /// How contacts are searched; both find the same.
    pub search: ShellSearch,
    /// Keeps at most this many contacts of each pair, chosen for spread: 1 to 16. `None` keeps all.
    pub keep: Option<u32>,
    /// Whether to measure the time of each pass, where the device can.
    pub timed: bool,
}

/// Contacts of many pairs, and how certain their number is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShellContacts {
    /// The contacts, or those that were kept.
    pub found: DeviceContacts,
    /// Points of each pair in the rounding band: on the CPU they may or may not be contacts.
    pub in_band: Vec<u32>,
    /// Number of contacts before the reduction.
    pub total: u64,
    /// Number of submissions: one, and one more for each time that a buffer was too small.
    pub submissions: u32,
}

/// Contact queries of many pairs. Buffers are kept from call to call, and so is how large they had
/// to be.
#[derive(Debug)]
pub struct ShellQuery {
    pub(super) probes: Room,
    pub(super) ranges: Room,
    marks: Room,
    counts: Room,
    offsets: Room,
    firsts: Room,
    contacts: Room,
    kept: Room,
    pub(super) partials: Room,
    pub(super) results: Room,
    scan: Scan,
    levels: Levels,
    /// Contacts for which there is room.
    contact_room: u64,
    /// Points per pair for which there is room, if spheres are tested first.
    points_per_pair: f64,
}

impl Default for ShellQuery {
    fn default() -> ShellQuery {
        ShellQuery {
            probes: Room::new("pairs"),
            ranges: Room::new("ranges of points"),
            marks: Room::new("marks of points"),
            counts: Room::new("counts of contacts"),
            offsets: Room::new("offsets of contacts"),
            firsts: Room::new("first contacts of pairs"),
            contacts: Room::new("contacts"),
            kept: Room::new("contacts that are kept"),
            partials: Room::new("results of blocks"),
            results: Room::new("results of pairs"),
            scan: Scan::default(),
            levels: Levels::default(),
            contact_room: 0,
            points_per_pair: 0.0,
        }
    }
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Parameters {
    probes: u32,
    points: u32,
    blocks: u32,
    first: u32,
    room: u32,
    max_separation: f32,
    spare: [u32; 2],
}

/// A contact as kernels write it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(super) struct ContactWords {
    pub(super) point: [f32; 3],
    pub(super) separation: f32,
    pub(super) normal: [f32; 3],
    pub(super) id: u32,
}

/// Identity of a place that holds no contact.
pub(super) const NONE: u32 = u32::MAX;

impl ContactWords {
    pub(super) fn contact(self) -> Contact {
        Contact {
            point: Vec3::from(self.point),
            normal: Vec3::from(self.normal),
            separation: self.separation,
            id: ContactId(self.id),
        }
    }
}

/// Most points of one batch: some hundred milliseconds of work for a slow device, so that drivers
/// do not take it for lost. Chosen, not tuned.
const MOST_POINTS: u64 = 1 << 24;

/// Points per pair for which there is room at first, if spheres are tested before them. Chosen, not
/// tuned: what is too small is grown once.
const FIRST_POINTS: f64 = 64.0;

/// By how much more than was needed buffers are made, so that slow growth does not run every call
/// twice.
const SPARE: f64 = 1.25;

/// A batch of pairs that ran.
struct Batch {
    contacts: Vec<ContactWords>,
    /// First contact of each pair, and the number of all.
    firsts: Vec<u32>,
    in_band: Vec<u32>,
    total: u64,
}

/// What a submission was short of.
enum Ran {
    Done(Batch),
    TooSmall,
}

impl ShellQuery {
    /// Finds the contacts of all pairs, the pairs in their order, the points of each in the order
    /// of its finer shell.
    pub fn contacts(
        &mut self,
        shapes: &Shapes,
        pairs: &[DevicePair],
        settings: &ShellSettings,
    ) -> Result<ShellContacts, GpuError> {
        check(settings)?;
        shapes.gpu().check()?;
        let probes = finer_probes(shapes, pairs)?;
        let mut out = ShellContacts::default();
        out.found.first.push(0);
        // As many pairs at once as points and buffers allow.
        let most_probes = most(shapes, size_of::<ProbeWords>()).min(most(shapes, 24)) as usize;
        let mut start = 0;
        while start < probes.len() {
            let (mut end, mut points) = (start, 0);
            while end < probes.len() && end - start < most_probes {
                points += u64::from(probes[end].points);
                if points > MOST_POINTS && end > start {
                    break;
                }
                end += 1;
            }
            self.batch(shapes, &probes[start..end], settings, &mut out)?;
            start = end;
        }
        Ok(out)
    }

    /// Runs a batch; halves it while it needs more than the device can bind.
    fn batch(
        &mut self,
        shapes: &Shapes,
        probes: &[ProbeWords],
        settings: &ShellSettings,
        out: &mut ShellContacts,
    ) -> Result<(), GpuError> {
        let mut search = settings.search;
        loop {
            match self.attempt(shapes, probes, settings, search, out) {
                Ok(Ran::TooSmall) => {}
                Ok(Ran::Done(batch)) => {
                    out.append(batch, settings.keep);
                    return Ok(());
                }
                Err(GpuError::TooLarge { .. }) if probes.len() > 1 => {
                    let (first, second) = probes.split_at(probes.len() / 2);
                    self.batch(shapes, first, settings, out)?;
                    return self.batch(shapes, second, settings, out);
                }
                // The list of spheres of a single pair may be too long where that of its points is
                // not, which is one range.
                Err(GpuError::TooLarge { .. }) if search == ShellSearch::Spheres => {
                    search = ShellSearch::Points;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Runs a batch once: in one submission if the buffers suffice.
    fn attempt(
        &mut self,
        shapes: &Shapes,
        probes: &[ProbeWords],
        settings: &ShellSettings,
        search: ShellSearch,
        out: &mut ShellContacts,
    ) -> Result<Ran, GpuError> {
        let gpu = shapes.gpu();
        let count = probes.len() as u64;
        let all_points: u64 = probes.iter().map(|probe| u64::from(probe.points)).sum();
        out.submissions += 1;
        let probe_words = self.probes.fill(gpu, probes)?.clone();
        let mut recorder = Recorder::new(gpu)?;
        if settings.timed {
            recorder = recorder.timed();
        }
        // Which points are tested: all, or those of the leaves that the spheres lead to.
        let points = match search {
            ShellSearch::Points => {
                self.ranges.fill(gpu, &whole_shells(probes))?;
                all_points
            }
            ShellSearch::Spheres => {
                let max_separation = settings.max_separation;
                let ranges = &mut self.ranges;
                (self.levels).record(
                    shapes,
                    &mut recorder,
                    probes,
                    &probe_words,
                    max_separation,
                    ranges,
                )?;
                let guess = self.points_per_pair.max(FIRST_POINTS) * count as f64;
                (guess.ceil() as u64).min(all_points)
            }
        };
        let ranges = self.ranges.get()?.clone();
        let blocks = points.div_ceil(64).max(1);
        let parameters = |first: u64, room: u64| Parameters {
            probes: count as u32,
            points: points as u32,
            blocks: blocks as u32,
            first: first as u32,
            room: room as u32,
            max_separation: settings.max_separation,
            spare: [0; 2],
        };
        // First pass: test and mark.
        let common = uniform(gpu, &parameters(0, 0))?;
        let marks = self.marks.reserve(gpu, 4 * (3 * blocks + 1))?.clone();
        let counts = self.counts.reserve(gpu, 4 * (blocks + count))?.clone();
        let offsets = self.offsets.reserve(gpu, 4 * (blocks + 1))?.clone();
        let firsts = self.firsts.reserve(gpu, 4 * (2 * count + 2))?.clone();
        recorder.clear(&counts);
        let shared = include_str!("../shaders/shell_points.wgsl");
        let test = include_str!("../shaders/shell_test.wgsl");
        let test = kernel(shapes, "test_points", &[SHELL, RANGES, shared, test])?;
        let buffers = [&common, &ranges, &marks, &probe_words, &counts];
        recorder.run(&test, Some(shapes), &buffers, 64 * blocks);
        // Prefix sums, from which the place of every contact follows.
        self.scan
            .record(gpu, &mut recorder, &counts, blocks, &offsets)?;
        recorder.copy((&offsets, 0), (&marks, 8 * blocks), 4 * (blocks + 1));
        let find = gpu.kernel("find_firsts", "find_firsts", || {
            [
                crate::kernel::INDEX,
                shared,
                include_str!("../shaders/shell_firsts.wgsl"),
            ]
            .concat()
        })?;
        let buffers = [&common, &ranges, &marks, &counts, &firsts];
        recorder.run(&find, None, &buffers, count + 1);
        recorder.read::<u32>(&firsts, 2 * count + 2)?;
        // Second pass: fill, as much as there is room for.
        let most_contacts = most(shapes, size_of::<ContactWords>());
        let room = (self.contact_room)
            .clamp(1, most_contacts)
            .min(points.max(1));
        let contacts = (self.contacts.reserve(gpu, 32 * room)?).clone();
        let fill = include_str!("../shaders/shell_fill.wgsl");
        let fill = kernel(shapes, "fill_contacts", &[SHELL, RANGES, shared, fill])?;
        let record_fill =
            |recorder: &mut Recorder<'_>, first: u64, contacts: &wgpu::Buffer, room| {
                let parameters = uniform(gpu, &parameters(first, room))?;
                let buffers = [&parameters, &ranges, &marks, &probe_words, contacts];
                recorder.run(&fill, Some(shapes), &buffers, points);
                Ok::<(), GpuError>(())
            };
        record_fill(&mut recorder, 0, &contacts, room)?;
        let kept_bytes = settings.keep.map(|keep| 32 * count * u64::from(keep));
        match (settings.keep, kept_bytes) {
            (Some(keep), Some(bytes)) => {
                let kept = self.kept.reserve(gpu, bytes)?;
                reduce::record(gpu, &mut recorder, [&firsts, &contacts, kept], count, keep)?;
                recorder.read::<ContactWords>(kept, bytes / 32)?;
            }
            _ => recorder.read::<ContactWords>(&contacts, room)?,
        }
        let is_by_spheres = search == ShellSearch::Spheres;
        if is_by_spheres {
            self.levels.read(&mut recorder)?;
        }
        // Was everything large enough?
        let mut done = recorder.submit()?;
        let firsts_read: Vec<u32> = done.next()?;
        let mut found: Vec<ContactWords> = done.next()?;
        if is_by_spheres && !self.levels.suffice(done.next()?) {
            out.times(done.finish()?);
            return Ok(Ran::TooSmall);
        }
        out.times(done.finish()?);
        let tested = u64::from(firsts_read[2 * count as usize + 1]);
        if is_by_spheres {
            let needed = SPARE * tested as f64 / count as f64;
            self.points_per_pair = needed.max(FADE * self.points_per_pair);
            if tested > points {
                return Ok(Ran::TooSmall);
            }
        }
        let total = u64::from(firsts_read[count as usize]);
        if total > room {
            self.contact_room = ((SPARE * total as f64) as u64).min(most_contacts);
            if settings.keep.is_some() {
                if total > most_contacts {
                    return Err(GpuError::TooLarge {
                        what: "contacts of one reduction",
                        bytes: 32 * total,
                        limit: 32 * most_contacts,
                    });
                }
                return Ok(Ran::TooSmall);
            }
            // All passes but the last hold: fill again, in windows if a binding is too small.
            found.clear();
            let room = self.contact_room;
            let contacts = self.contacts.reserve(gpu, 32 * room)?.clone();
            for first in (0..total).step_by(room as usize) {
                let mut recorder = Recorder::new(gpu)?;
                if settings.timed {
                    recorder = recorder.timed();
                }
                record_fill(&mut recorder, first, &contacts, room)?;
                recorder.read::<ContactWords>(&contacts, room.min(total - first))?;
                let mut done = recorder.submit()?;
                found.extend(done.next::<ContactWords>()?);
                out.times(done.finish()?);
                out.submissions += 1;
            }
        } else {
            let needed = (SPARE * total as f64).max(FADE * self.contact_room as f64);
            self.contact_room = needed as u64;
            if settings.keep.is_none() {
                found.truncate(total as usize);
            }
        }
        let mut firsts = firsts_read;
        let in_band = firsts[count as usize + 1..][..count as usize].to_vec();
        firsts.truncate(count as usize + 1);
        Ok(Ran::Done(Batch {
            contacts: found,
            firsts,
            in_band,
            total,
        }))
    }
}

impl ShellContacts {
    fn append(&mut self, batch: Batch, keep: Option<u32>) {
        self.total += batch.total;
        self.in_band.extend(batch.in_band);
        let found = &mut self.found;
        if let Some(keep) = keep {
            for places in batch.contacts.chunks(keep as usize) {
                let kept = places.iter().filter(|contact| contact.id != NONE);
                found.contacts.extend(kept.map(|contact| contact.contact()));
                found.first.push(found.contacts.len() as u32);
            }
            return;
        }
        let before = found.contacts.len() as u32;
        let contacts = batch.contacts.iter().map(|contact| contact.contact());
        found.contacts.extend(contacts);
        (found.first).extend(batch.firsts[1..].iter().map(|first| before + first));
    }

    fn times(&mut self, times: Vec<PassTime>) {
        self.found.times.extend(times);
    }
}

/// Returns one range for the whole shell of each probe, behind their numbers.
fn whole_shells(probes: &[ProbeWords]) -> Vec<[u32; 4]> {
    let mut before = 0;
    let mut ranges = vec![[0; 4]];
    for (index, probe) in probes.iter().enumerate() {
        ranges.push([index as u32, 0, before, probe.points]);
        before += probe.points;
    }
    ranges[0] = [probes.len() as u32, before, 0, 0];
    ranges
}

fn check(settings: &ShellSettings) -> Result<(), GpuError> {
    let max_separation = settings.max_separation;
    if !(max_separation >= 0.0 && max_separation.is_finite()) {
        return Err(GpuError::BadSetting {
            setting: "max_separation",
            value: format!("{max_separation} m"),
            wanted: "finite and not negative",
        });
    }
    match settings.keep {
        Some(keep) if !(1..=MOST_KEPT).contains(&keep) => Err(GpuError::BadSetting {
            setting: "keep",
            value: keep.to_string(),
            wanted: "1 to 16",
        }),
        _ => Ok(()),
    }
}
