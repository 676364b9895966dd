//! Projection particles of all pairs at once: Alg. 1 to 3 of \[Krayer2020\], and better ways beside
//! them.
//!
//! Input: shapes in device memory, pairs, [`ParticleSettings`].
//! Output: [`FoundParticles`]: contacts pair after pair, by ascending particle.
//! Cost: two samples per particle and step; particles that arrive are projected twice.
//! Not for: one pair with few particles, which the CPU answers before a device has started.
//!
//! As in Alg. 3, one launch has a thread for each particle of all pairs; a thread finds its pair by
//! a binary search of the accumulated counts (the first one that is greater). Hits are counted per
//! pair by atomics, a prefix sum turns counts into offsets, and a second pass fills. We differ:
//!
//! - in the slots: Alg. 3 takes the next free slot of the pair, in whatever order threads run. Here
//!   the slot is the number of hits before, by a prefix sum over the flags of all particles: the
//!   same input gives the same bits;
//! - in the second pass, which projects only the particles that arrive;
//! - in the memory: contacts are filled at once into the room that the last call left. If there
//!   are more, the room grows to their exact number and the second pass runs again.
//!
//! The CPU's methods (`projection_particles`, `literal_particles`) are the reference, but for the
//! fall-back of over-relaxation \[Keinert2014\], which only the device has. A particle may arrive
//! on one side only if a decision on its path was a matter of rounding; the device counts such
//! particles ([`FoundParticles::in_band`]).

mod launch;
mod reduce;
mod seeds;
mod tasks;

use std::collections::BTreeMap;
use std::ops::Range;

use touchfield::narrow::{Particles, Starts};
use touchfield::shape::Shape;

use crate::device::Gpu;
use crate::error::GpuError;
use crate::pairs::{DeviceContacts, DevicePair, pair_words};
use crate::upload::Shapes;
use launch::Buffers;
use tasks::Tasks;

/// Settings of particles on a device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ParticleSettings {
    /// Which particles, as on the CPU.
    pub particles: Particles,
    /// Maximum separation of contacts \[m\]; 0 with [`Particles::literal`].
    pub max_separation: f32,
    /// Whether to count the particles whose path or arrival is a matter of rounding. It makes
    /// particles of closed forms take up to three times as long.
    pub count_band: bool,
    /// Whether to count the steps of all particles.
    pub count_steps: bool,
    /// Whether to measure the time of each pass.
    pub timed: bool,
}

/// What particles found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundParticles {
    /// Contacts of each pair by ascending particle, whose number is the contact's id.
    pub found: DeviceContacts,
    /// Number of particles of each pair that arrived, as Alg. 3 counts them, before any reduction.
    pub arrived: Vec<u32>,
    /// Number of particles of each pair that started.
    pub started: Vec<u32>,
    /// Number of steps that all particles of each pair took; 0 unless
    /// [`ParticleSettings::count_steps`] is set.
    pub steps: Vec<u32>,
    /// Number of particles of each pair on whose way a decision was closer than rounding: two
    /// distances nearly equal, a border of a cell, or the iso value itself. Empty unless
    /// [`ParticleSettings::count_band`] is set.
    pub in_band: Vec<u32>,
    /// Number of launches, and of second passes that were repeated with more room.
    pub launches: u32,
    /// Number of second passes that were repeated because the contacts needed more room.
    pub repeated: u32,
}

impl FoundParticles {
    /// Returns the particles that started, over all pairs.
    pub fn all_started(&self) -> u64 {
        self.started.iter().copied().map(u64::from).sum()
    }

    /// Returns the steps of all particles.
    pub fn all_steps(&self) -> u64 {
        self.steps.iter().copied().map(u64::from).sum()
    }
}

/// Particles on a device, with the buffers that they reuse from call to call.
#[derive(Debug)]
pub struct ParticleFinder {
    gpu: Gpu,
    buffers: Buffers,
    arrivals: BTreeMap<u64, Vec<tasks::Arrival>>,
}

impl ParticleFinder {
    /// Makes a finder without any buffers.
    pub fn new(gpu: &Gpu) -> ParticleFinder {
        ParticleFinder {
            gpu: gpu.clone(),
            buffers: Buffers::default(),
            arrivals: BTreeMap::new(),
        }
    }

    /// Finds the contacts of all pairs. `bodies` are the shapes that were uploaded, in the same
    /// order.
    pub fn find(
        &mut self,
        shapes: &Shapes,
        bodies: &[&Shape],
        pairs: &[DevicePair],
        settings: &ParticleSettings,
    ) -> Result<FoundParticles, GpuError> {
        self.search(shapes, bodies, pairs, settings, None)
    }

    /// Finds the contacts of all pairs, and remembers where particles arrived: in the next call the
    /// particles of a pair with the same key start there, and at no other place. Pairs that are new
    /// or had no contact start as [`Particles::starts`] says.
    ///
    /// A contact that comes up far from all others of its pair is not seen before the memory is
    /// cleared ([`Self::forget`]); do so every few steps.
    pub fn find_again(
        &mut self,
        shapes: &Shapes,
        bodies: &[&Shape],
        pairs: &[DevicePair],
        keys: &[u64],
        settings: &ParticleSettings,
    ) -> Result<FoundParticles, GpuError> {
        if keys.len() != pairs.len() {
            return Err(GpuError::BadSetting {
                setting: "number of keys",
                value: keys.len().to_string(),
                wanted: "the number of pairs",
            });
        }
        if settings.particles.literal {
            return Err(GpuError::BadSetting {
                setting: "literal",
                value: "true".to_owned(),
                wanted: "false where particles start from earlier ones",
            });
        }
        self.search(shapes, bodies, pairs, settings, Some(keys))
    }

    /// Discards where particles arrived.
    pub fn forget(&mut self) {
        self.arrivals.clear();
    }

    fn search(
        &mut self,
        shapes: &Shapes,
        bodies: &[&Shape],
        pairs: &[DevicePair],
        settings: &ParticleSettings,
        keys: Option<&[u64]>,
    ) -> Result<FoundParticles, GpuError> {
        self.gpu.check()?;
        if bodies.len() != shapes.len() {
            return Err(GpuError::OtherShapes {
                given: bodies.len(),
                uploaded: shapes.len(),
            });
        }
        check(settings)?;
        pair_words(shapes, pairs)?;
        let tasks = Tasks::new(bodies, pairs, settings)?;
        let mut answer = FoundParticles::default();
        answer.found.first.push(0);
        let Some(keys) = keys else {
            self.stretch(shapes, &tasks, 0..pairs.len(), settings, &mut answer)?;
            return Ok(answer);
        };
        let mut before = std::mem::take(&mut self.arrivals);
        let mut places = Vec::new();
        // Runs of pairs that start alike go in one launch.
        let mut next = 0;
        while next < pairs.len() {
            let begin = next;
            let is_known = |index: usize| {
                let known = before.get(&keys[index]);
                known.is_some_and(|known| tasks.fits(index, known))
            };
            let known = is_known(begin);
            while next < pairs.len() && is_known(next) == known {
                next += 1;
            }
            if known {
                let starts: Vec<Vec<tasks::Arrival>> = (begin..next)
                    .map(|index| before.remove(&keys[index]).unwrap_or_default())
                    .collect();
                self.start_at_places(shapes, &tasks, begin..next, &starts, settings, &mut answer)?;
            } else {
                self.stretch(shapes, &tasks, begin..next, settings, &mut answer)?;
            }
            places.extend((begin..next).map(|index| tasks.arrivals(index, &answer)));
        }
        self.arrivals = keys.iter().copied().zip(places).collect();
        Ok(answer)
    }

    /// Runs pairs in as few launches as the device's bindings allow.
    fn stretch(
        &mut self,
        shapes: &Shapes,
        tasks: &Tasks,
        pairs: Range<usize>,
        settings: &ParticleSettings,
        answer: &mut FoundParticles,
    ) -> Result<(), GpuError> {
        let mut open = tasks.launches(pairs, &self.gpu, settings);
        open.reverse();
        while let Some(pairs) = open.pop() {
            let is_seeded = settings.particles.starts == Starts::Seeded;
            let mut work = launch::Work {
                gpu: &self.gpu,
                shapes,
                settings,
                buffers: &mut self.buffers,
                answer,
            };
            let (begin, end) = (pairs.start, pairs.end);
            let outcome = if is_seeded {
                work.seeded(tasks, pairs)
            } else {
                work.by_index(tasks, pairs)
            };
            match outcome {
                // Cells multiply by more than can be foreseen: in halves, then.
                Err(GpuError::TooLarge { .. }) if end - begin > 1 => {
                    let middle = begin + (end - begin) / 2;
                    open.push(middle..end);
                    open.push(begin..middle);
                }
                other => other?,
            }
        }
        Ok(())
    }

    fn start_at_places(
        &mut self,
        shapes: &Shapes,
        tasks: &Tasks,
        pairs: Range<usize>,
        starts: &[Vec<tasks::Arrival>],
        settings: &ParticleSettings,
        answer: &mut FoundParticles,
    ) -> Result<(), GpuError> {
        let begin = pairs.start;
        let most = tasks::most_particles(&self.gpu) as usize;
        let mut next = begin;
        while next < pairs.end {
            let first = next;
            let mut count = starts[next - begin].len();
            next += 1;
            while next < pairs.end
                && count + starts[next - begin].len() <= most
                && next - first < tasks::most_pairs(&self.gpu)
            {
                count += starts[next - begin].len();
                next += 1;
            }
            let mut work = launch::Work {
                gpu: &self.gpu,
                shapes,
                settings,
                buffers: &mut self.buffers,
                answer,
            };
            work.by_places(tasks, first..next, &starts[first - begin..next - begin])?;
        }
        Ok(())
    }
}

/// Returns an error if a setting is out of range; the same rules as on the CPU.
fn check(settings: &ParticleSettings) -> Result<(), GpuError> {
    let Particles {
        resolution,
        relaxation,
        epsilon,
        literal,
        max_steps,
        ..
    } = settings.particles;
    let wrong = |setting, value: String, wanted| {
        Err(GpuError::BadSetting {
            setting,
            value,
            wanted,
        })
    };
    if !(1..=Particles::FINEST).contains(&resolution) {
        let wanted = "from 1 to Particles::FINEST";
        return wrong("resolution of particles", resolution.to_string(), wanted);
    }
    if !(1.0..2.0).contains(&relaxation) {
        let wanted = "from 1 to less than 2";
        return wrong("relaxation of particles", relaxation.to_string(), wanted);
    }
    if let Some(epsilon) = epsilon.filter(|epsilon| !epsilon.is_finite()) {
        return wrong("epsilon of particles", epsilon.to_string(), "finite");
    }
    if !(settings.max_separation >= 0.0 && settings.max_separation.is_finite()) {
        let wanted = "finite and not negative";
        return wrong(
            "max_separation",
            settings.max_separation.to_string(),
            wanted,
        );
    }
    let plain = Particles {
        max_steps,
        epsilon,
        ..Particles::literal(resolution)
    };
    if literal && (settings.particles != plain || settings.max_separation != 0.0) {
        let wanted = "alone: Particles::literal with no other setting but max_steps and epsilon";
        return wrong("literal of particles", "true".to_owned(), wanted);
    }
    Ok(())
}
