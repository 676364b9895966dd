//! What the kernels know about each pair, and how many pairs go in one launch.
//!
//! Input: shapes, pairs, settings.
//! Output: [`Tasks`], in the form that `shaders/particle_tasks.wgsl` reads.
//! Cost: the common box of each pair, on the CPU.
//! Not for: running anything.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use glam::{UVec3, Vec3};
use touchfield::Pose;
use touchfield::narrow::{CollideError, Pair, ParticleRegion, Starts};
use touchfield::shape::Shape;

use super::{FoundParticles, ParticleSettings};
use crate::device::Gpu;
use crate::error::GpuError;
use crate::pairs::DevicePair;

/// A pair as the kernels read it.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Task {
    turn: [[f32; 4]; 3],
    low: [f32; 4],
    extents: [f32; 4],
    pub(super) counts: [u32; 4],
    shapes: [u32; 4],
    pub(super) boxes: [u32; 4],
    limits: [f32; 4],
    errors: [f32; 4],
    pub(super) table: [u32; 4],
}

/// Words of a contact on the device: point, separation, normal, particle, place, pair.
pub(super) const CONTACT_WORDS: u64 = 12;

/// Maximum distance of seeded particles from their start, in half diagonals of a cell; see
/// `projection_particles.rs`.
const LEASH: f32 = 4.0;

/// Place in the frame of one body where a particle arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// In the frame of A \[m\].
    pub(super) in_a: Vec3,
}

/// All pairs of a call.
#[derive(Debug)]
pub(super) struct Tasks {
    pub(super) tasks: Vec<Task>,
    /// Levels of the subdivision of each pair.
    pub(super) levels: Vec<u32>,
    /// Whether each pair has a common box.
    is_near: Vec<bool>,
    /// Whether the search frame is that of A, and the pose of it in A.
    search_from_a: Vec<Pose>,
}

/// Returns the most particles of a launch.
pub(super) fn most_particles(gpu: &Gpu) -> u64 {
    (gpu.adapter().max_binding_bytes / (4 * CONTACT_WORDS)).min(1 << 24)
}

/// Returns the most pairs of a launch.
pub(super) fn most_pairs(gpu: &Gpu) -> usize {
    (gpu.adapter().max_binding_bytes / size_of::<Task>() as u64).min(1 << 20) as usize
}

impl Tasks {
    pub(super) fn new(
        bodies: &[&Shape],
        pairs: &[DevicePair],
        settings: &ParticleSettings,
    ) -> Result<Tasks, GpuError> {
        let mut all = Tasks {
            tasks: Vec::with_capacity(pairs.len()),
            levels: Vec::with_capacity(pairs.len()),
            is_near: Vec::with_capacity(pairs.len()),
            search_from_a: Vec::with_capacity(pairs.len()),
        };
        for (index, pair) in pairs.iter().enumerate() {
            let bodies_of_pair = Pair {
                a: bodies[pair.a],
                b: bodies[pair.b],
                a_from_b: pair.a_from_b,
            };
            let resolution = settings.particles.resolution;
            let region = if settings.particles.literal {
                ParticleRegion::literal(&bodies_of_pair, resolution)
            } else {
                ParticleRegion::new(&bodies_of_pair, resolution, settings.max_separation)
            };
            let region = region.map_err(|why| match why {
                CollideError::BadPose(_) => GpuError::BadPose { pair: index },
                why => GpuError::Pair { pair: index, why },
            })?;
            all.push(&bodies_of_pair, pair, region, settings);
        }
        Ok(all)
    }

    fn push(
        &mut self,
        bodies: &Pair<'_>,
        pair: &DevicePair,
        region: Option<ParticleRegion>,
        settings: &ParticleSettings,
    ) {
        self.is_near.push(region.is_some());
        let Some(region) = region else {
            self.tasks.push(Task::default());
            self.levels.push(0);
            self.search_from_a.push(Pose::IDENTITY);
            return;
        };
        let (first, second) = if region.first_is_a {
            (pair.a, pair.b)
        } else {
            (pair.b, pair.a)
        };
        self.search_from_a.push(if region.first_is_a {
            Pose::IDENTITY
        } else {
            region.second_from_first.inverse()
        });
        let turn = region.second_from_search();
        let moved = region.second_from_first.translation;
        let residual = match settings.particles.epsilon {
            Some(epsilon) if settings.particles.literal => epsilon,
            _ => region.residual,
        };
        // As `projection_particles.rs` subdivides.
        let levels = region.counts.max_element().ilog2().saturating_sub(1);
        let boxes = region.counts.map(|count| count.div_ceil(1 << levels));
        let half = half_after(region.bounds.extents(), boxes, levels);
        let leash = LEASH * half.length() * (1.0 + 4.0 * f32::EPSILON);
        let is_seeded = settings.particles.starts == Starts::Seeded;
        let longest = if is_seeded {
            leash
        } else {
            0.25 * region.bounds.diagonal()
        };
        // Both sides sample at points that differ by the rounding of a rotation, and distances
        // round by the last places of the larger body.
        let diagonals = [bodies.a, bodies.b].map(|shape| shape.solid().diagonal());
        let largest = diagonals.into_iter().filter(|length| length.is_finite());
        let rounding = 2.0 * f32::EPSILON * largest.fold(0.0, f32::max);
        let band = region.rounding.max(rounding);
        let [x, y, z] = region.counts.to_array();
        self.tasks.push(Task {
            turn: [
                turn.x_axis.extend(moved.x).to_array(),
                turn.y_axis.extend(moved.y).to_array(),
                turn.z_axis.extend(moved.z).to_array(),
            ],
            low: region.bounds.min.extend(residual).to_array(),
            extents: region.bounds.extents().extend(region.reach).to_array(),
            counts: [x, y, z, 0],
            shapes: [
                first as u32,
                second as u32,
                u32::from(region.first_is_a),
                levels,
            ],
            boxes: boxes.extend(0).to_array(),
            limits: [longest, leash * leash, band, 0.0],
            errors: [region.errors[0], region.errors[1], region.rounding, 0.0],
            table: [0; 4],
        });
        self.levels.push(levels);
    }

    /// Returns the number of cells of a pair, which is that of its particles unless they are
    /// seeded.
    pub(super) fn cells(&self, pair: usize) -> u64 {
        product(self.tasks[pair].counts)
    }

    /// Returns the number of boxes that the subdivision of a pair begins with.
    fn boxes(&self, pair: usize) -> u64 {
        product(self.tasks[pair].boxes)
    }

    /// Returns the entries of a pair in the table of cells, which has a layer more on each side.
    fn entries(&self, pair: usize) -> u64 {
        let [x, y, z, _] = self.tasks[pair].counts.map(|count| u64::from(count) + 2);
        x * y * z
    }

    /// Splits pairs into launches that fit into the bindings of the device. A pair that is too
    /// large on its own is alone.
    pub(super) fn launches(
        &self,
        pairs: Range<usize>,
        gpu: &Gpu,
        settings: &ParticleSettings,
    ) -> Vec<Range<usize>> {
        let most = most_particles(gpu);
        let most_entries = gpu.adapter().max_binding_bytes / 8;
        let is_seeded = settings.particles.starts == Starts::Seeded;
        let mut launches = Vec::new();
        let mut begin = pairs.start;
        let (mut particles, mut entries) = (0, 0);
        for pair in pairs.clone() {
            let own = if is_seeded {
                self.boxes(pair)
            } else {
                self.cells(pair)
            };
            let own_entries = match settings.particles.one_per_cell {
                true => self.entries(pair),
                false => 0,
            };
            let is_full = particles + own > most
                || entries + own_entries > most_entries
                || pair - begin >= most_pairs(gpu);
            if is_full && pair > begin {
                launches.push(begin..pair);
                (begin, particles, entries) = (pair, 0, 0);
            }
            particles += own;
            entries += own_entries;
        }
        if begin < pairs.end {
            launches.push(begin..pairs.end);
        }
        launches
    }

    /// Returns the tasks of a launch, with accumulated counts.
    pub(super) fn of(&self, pairs: Range<usize>) -> Launch {
        let mut launch = Launch::default();
        for pair in pairs {
            let mut task = self.tasks[pair];
            launch.particles += self.cells(pair);
            launch.boxes += self.boxes(pair);
            task.counts[3] = launch.particles as u32;
            task.boxes[3] = launch.boxes as u32;
            task.table[0] = launch.entries as u32;
            launch.entries += self.entries(pair);
            launch.levels = launch.levels.max(self.levels[pair]);
            launch.tasks.push(task);
        }
        launch
    }

    /// Returns whether earlier arrivals of a pair can be starts.
    pub(super) fn fits(&self, pair: usize, before: &[Arrival]) -> bool {
        self.is_near[pair] && !before.is_empty()
    }

    /// Returns a place of frame A in the search frame of a pair.
    pub(super) fn to_search(&self, pair: usize, arrival: Arrival) -> Vec3 {
        self.search_from_a[pair].transform_point(arrival.in_a)
    }

    /// Returns where particles of a pair arrived.
    pub(super) fn arrivals(&self, pair: usize, answer: &FoundParticles) -> Vec<Arrival> {
        let contacts = answer.found.of(pair).iter();
        contacts
            .map(|contact| Arrival {
                in_a: contact.point,
            })
            .collect()
    }
}

/// Tasks of one launch.
#[derive(Debug, Default)]
pub(super) struct Launch {
    pub(super) tasks: Vec<Task>,
    pub(super) particles: u64,
    pub(super) boxes: u64,
    pub(super) entries: u64,
    /// Most levels of a subdivision.
    pub(super) levels: u32,
}

fn product([x, y, z, _]: [u32; 4]) -> u64 {
    u64::from(x) * u64::from(y) * u64::from(z)
}

/// Returns half the sides of a box after so many halvings, as `shaders/particle_tasks.wgsl` and
/// `boxes.rs` halve them.
fn half_after(extents: Vec3, boxes: UVec3, levels: u32) -> Vec3 {
    let mut half = 0.5 * extents / boxes.as_vec3();
    for _ in 0..levels {
        let longest = half.max_element();
        half = half.map(|side| {
            if side > 0.5 * longest {
                0.5 * side
            } else {
                side
            }
        });
    }
    half
}
