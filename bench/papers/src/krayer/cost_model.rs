//! What the literal algorithms must read and compute, counted, and the times that follow from
//! published bandwidths: predictions, not measurements.
//!
//! Input: a scene and N.
//! Output: particles, steps and hits; bytes and operations; predicted times.
//! Cost: one projection of all particles on the CPU.
//! Not for: devices at hand, which are measured.
//!
//! A time is the larger of bytes over bandwidth and operations over peak rate. Every corner of a
//! cell counts as read from memory: caches make it less. Launches, binary searches and read-back
//! are left out: they make it more, most of all where there are few particles.

use glam::Vec3;
use rayon::prelude::*;
use touchfield::narrow::{ParticleRegion, Particles};

use super::scenes::Scene;
use crate::host::Stop;

/// A card by its published figures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Card {
    pub(crate) name: &'static str,
    /// Memory bandwidth \[byte/s\].
    bandwidth: f64,
    /// Peak rate in `f32` \[operations/s\].
    rate: f64,
}

/// The paper's card: 256 GB/s, 6.5 TFLOP/s.
pub(crate) const GTX_1070: Card = Card {
    name: "GeForce GTX 1070",
    bandwidth: 256e9,
    rate: 6.5e12,
};

/// A current laptop card: 128 bits of GDDR6 at 16 Gbit/s, 3072 lanes at up to 2.37 GHz.
pub(crate) const LAPTOP: Card = Card {
    name: "GeForce RTX 4060 Laptop",
    bandwidth: 256e9,
    rate: 14.6e12,
};

/// How a field is stored and read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) name: &'static str,
    /// Bytes of a sample: eight corners.
    pub(crate) bytes: f64,
    /// Operations of a sample in `f32`, counted in the kernel.
    pub(crate) operations: f64,
}

/// Our kernel on a dense grid: 24 operations to find the cell (difference, quotient, limits and
/// fraction on three axes), 12 comparisons with the box, 40 for the value and the slopes, and 3
/// quotients.
pub(crate) const DENSE: Layout = Layout {
    name: "dense, 32 bits",
    bytes: 8.0 * 4.0,
    operations: 24.0 + 12.0 + 40.0 + 3.0,
};

/// The paper's textures: four half floats per node, interpolated by the texture units; what
/// remains is Eq. 11 and the coordinates.
pub(crate) const TEXTURE: Layout = Layout {
    name: "first-order textures in half floats",
    bytes: 8.0 * 8.0,
    operations: 7.0 + 6.0,
};

/// Operations of a step beside its two samples: 18 to transform the point, 15 to turn the gradient
/// back, 3 comparisons, 6 to move.
const STEP_OPERATIONS: f64 = 18.0 + 15.0 + 3.0 + 6.0;
/// Bytes of a particle in both passes: its flag, written, summed twice and read, and its offset,
/// written and read.
const PARTICLE_BYTES: f64 = 4.0 * 4.0 + 2.0 * 4.0;
/// Bytes of a pair: its task, and its counts.
const PAIR_BYTES: f64 = 176.0 + 20.0;
/// Bytes of a contact.
const CONTACT_BYTES: f64 = 48.0;

/// What the literal algorithms did in a scene.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    pub(crate) pairs: f64,
    pub(crate) particles: f64,
    pub(crate) steps: f64,
    /// Steps of the particles that arrived, which alone are projected again.
    pub(crate) steps_of_hits: f64,
    pub(crate) hits: f64,
}

impl Counted {
    /// Runs Alg. 2 on all particles of a scene and counts.
    pub(crate) fn of(scene: &Scene, resolution: u32) -> Result<Counted, Stop> {
        let max_steps = Particles::literal(resolution).max_steps;
        let of_pairs = scene.pairs.par_iter().map(|&pair| {
            let pair = scene.pair(pair);
            let region = ParticleRegion::literal(&pair, resolution);
            let Some(region) = region.map_err(|error| Stop::BadInput(error.to_string()))? else {
                return Ok(Counted::default());
            };
            let b_from_a = pair.a_from_b.inverse();
            let mut counted = Counted::default();
            let cell = region.bounds.extents() / region.counts.as_vec3();
            for n in 0..region.cells() as u32 {
                let [nx, ny, _] = region.counts.to_array();
                let place = [n % nx, n / nx % ny, n / (nx * ny)].map(|index| index as f32 + 0.5);
                let mut point = region.bounds.min + Vec3::from(place) * cell;
                counted.particles += 1.0;
                for step in 1..=max_steps {
                    let a = pair.a.field().sample(point);
                    let b = pair.b.field().sample(b_from_a.transform_point(point));
                    let most = a.distance.max(b.distance);
                    counted.steps += 1.0;
                    if most < region.residual {
                        counted.hits += 1.0;
                        counted.steps_of_hits += f64::from(step);
                        break;
                    }
                    let gradient = if a.distance >= b.distance {
                        a.gradient
                    } else {
                        pair.a_from_b.transform_vector(b.gradient)
                    };
                    point -= most * gradient;
                }
            }
            Ok(counted)
        });
        let of_pairs: Vec<Counted> = of_pairs.collect::<Result<_, Stop>>()?;
        let mut sum = Counted {
            pairs: scene.pairs.len() as f64,
            ..Default::default()
        };
        for counted in of_pairs {
            sum.particles += counted.particles;
            sum.steps += counted.steps;
            sum.steps_of_hits += counted.steps_of_hits;
            sum.hits += counted.hits;
        }
        Ok(sum)
    }

    /// Returns steps in both passes: in Alg. 3 every particle is projected twice, in our kernel
    /// those that arrive.
    fn steps_in_both(&self, as_written: bool) -> f64 {
        self.steps
            + if as_written {
                self.steps
            } else {
                self.steps_of_hits
            }
    }

    /// Returns the bytes read and written.
    pub(crate) fn bytes(&self, layout: Layout, as_written: bool) -> f64 {
        2.0 * layout.bytes * self.steps_in_both(as_written)
            + PARTICLE_BYTES * self.particles
            + PAIR_BYTES * self.pairs
            + CONTACT_BYTES * self.hits
    }

    /// Returns the operations in `f32`.
    pub(crate) fn operations(&self, layout: Layout, as_written: bool) -> f64 {
        (2.0 * layout.operations + STEP_OPERATIONS) * self.steps_in_both(as_written)
    }

    /// Returns the predicted time \[ms\].
    pub(crate) fn predicted(&self, card: Card, layout: Layout, as_written: bool) -> f64 {
        let by_memory = self.bytes(layout, as_written) / card.bandwidth;
        let by_rate = self.operations(layout, as_written) / card.rate;
        1e3 * by_memory.max(by_rate)
    }
}

/// Returns a row of the model for shell points instead of particles: a nut of 20,000 points against
/// the dense field of its bolt at 256 nodes along the longest side, one sample per point. A point
/// is 12 bytes, a contact 32, and every point is taken to be in contact.
pub(crate) fn nut_on_bolt() -> String {
    const POINTS: f64 = 20_000.0;
    let bytes = POINTS * (12.0 + DENSE.bytes + 32.0);
    let operations = POINTS * (18.0 + DENSE.operations);
    let time = 1e3 * (bytes / LAPTOP.bandwidth).max(operations / LAPTOP.rate);
    format!(
        "nut of 20000 shell points on a bolt of 256 nodes,,1,{POINTS},1,{POINTS},\"{}\",one,{bytes:.0},{operations:.0},{},{time:.5},\n",
        DENSE.name, LAPTOP.name,
    )
}
