//! Least distances of many pairs, from the shells of both bodies.
//!
//! Input: pairs, at least one shape of each with a shell.
//! Output: the shell point nearest to the other body, as a contact; how far it may be from the
//! truth.
//! Cost: one sample for each point of both shells, half a byte per 64 points.
//! Not for: a proven separation, which `separation` on the CPU computes.
//!
//! The distance is the least value that the field of one body has at the shell points of the other,
//! over both roles. For bodies that are apart it is an upper estimate of the gap: surface between
//! the points may be nearer by up to the covering radius, and values are off by the error of the
//! field. For bodies that overlap it is the depth of the deepest shell point, which is no bound of
//! `separation`: a thin plate deep inside a body has deep points and a small separation. A body
//! that encloses the other one completely is noticed by the shell of the inner one.

use bytemuck::{Pod, Zeroable};
use touchfield::Contact;

use super::contacts::{ContactWords, NONE, ShellQuery};
use super::probe::{Form, ProbeWords, both_probes};
use super::{RANGES, SHELL, kernel, most};
use crate::error::GpuError;
use crate::kernel::Recorder;
use crate::memory::uniform;
use crate::pairs::DevicePair;
use crate::upload::Shapes;

/// The least distance of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// The nearest shell point, as a contact in the frame of A; its separation is the distance.
    pub nearest: Contact,
    /// Error of the field at the nearest point \[m\]. Apart, the gap is at most the distance plus
    /// this.
    pub above: f32,
    /// Covering radius of the shell, plus the error of the field \[m\]. Apart, the gap is at least
    /// the distance less this.
    pub below: f32,
}

impl Gap {
    /// Returns the distance \[m\]; negative if a shell point is inside the other body.
    pub fn distance(&self) -> f32 {
        self.nearest.separation
    }

    /// Returns whether a shell point of one body is on or in the other. Bodies that cross only
    /// between their points are not noticed.
    pub fn is_touching(&self) -> bool {
        self.nearest.separation <= 0.0
    }
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Parameters {
    pairs: u32,
    blocks: u32,
    spare: [u32; 2],
}

/// Points of a block.
const BLOCK: u32 = 1024;

/// Most blocks of one batch: as many points as a batch of contacts has.
const MOST_BLOCKS: u64 = 1 << 14;

impl ShellQuery {
    /// Finds the least distance of each pair.
    pub fn gaps(&mut self, shapes: &Shapes, pairs: &[DevicePair]) -> Result<Vec<Gap>, GpuError> {
        shapes.gpu().check()?;
        let probes = both_probes(shapes, pairs)?;
        let most_pairs = (most(shapes, size_of::<ProbeWords>()) / 2).min(most(shapes, 64)) as usize;
        let most_blocks = most(shapes, 8).min(MOST_BLOCKS);
        let mut gaps = Vec::with_capacity(pairs.len());
        let both: Vec<&[ProbeWords]> = probes.chunks(2).collect();
        let mut start = 0;
        while start < both.len() {
            let (mut end, mut blocks) = (start, 0);
            while end < both.len() && end - start < most_pairs {
                let of_pair = both[end].iter().map(|probe| probe.points.div_ceil(BLOCK));
                blocks += u64::from(of_pair.sum::<u32>());
                if blocks > most_blocks && end > start {
                    break;
                }
                end += 1;
            }
            self.gaps_of(shapes, &probes[2 * start..2 * end], &mut gaps)?;
            start = end;
        }
        Ok(gaps)
    }

    fn gaps_of(
        &mut self,
        shapes: &Shapes,
        probes: &[ProbeWords],
        out: &mut Vec<Gap>,
    ) -> Result<(), GpuError> {
        let gpu = shapes.gpu();
        let pairs = probes.len() as u64 / 2;
        let ranges = blocks_of_probes(probes, BLOCK);
        let blocks = ranges[0][1];
        let parameters = Parameters {
            pairs: pairs as u32,
            blocks,
            spare: [0; 2],
        };
        let parameters = uniform(gpu, &parameters)?;
        let probe_words = self.probes.fill(gpu, probes)?.clone();
        let ranges = self.ranges.fill(gpu, &ranges)?.clone();
        let partials = self.partials.reserve(gpu, 8 * u64::from(blocks))?.clone();
        let results = self.results.reserve(gpu, 32 * pairs)?.clone();
        let shared = include_str!("../shaders/shell_least.wgsl");
        let of_blocks = include_str!("../shaders/shell_least_blocks.wgsl");
        let of_blocks = kernel(
            shapes,
            "least_of_blocks",
            &[SHELL, RANGES, shared, of_blocks],
        )?;
        let of_pairs = include_str!("../shaders/shell_least_pairs.wgsl");
        let of_pairs = kernel(shapes, "least_of_pairs", &[SHELL, shared, of_pairs])?;
        let mut recorder = Recorder::new(gpu)?;
        let buffers = [&parameters, &ranges, &probe_words, &partials];
        recorder.run(&of_blocks, Some(shapes), &buffers, 64 * u64::from(blocks));
        let buffers = [&parameters, &ranges, &probe_words, &partials, &results];
        recorder.run(&of_pairs, Some(shapes), &buffers, pairs);
        recorder.read::<ContactWords>(&results, pairs)?;
        let found: Vec<ContactWords> = recorder.submit()?.next()?;
        for (words, probes) in found.iter().zip(probes.chunks(2)) {
            if words.id == NONE {
                return Err(GpuError::Driver("a distance is not a number".to_owned()));
            }
            // The first probe is that of A's shell, which the identity marks.
            let probe = &probes[usize::from(words.id >> 31 == 0)];
            let error = Form::of(shapes, probe.field as usize).error_bound();
            let covering = Form::of(shapes, probe.shell as usize).covering_radius();
            out.push(Gap {
                nearest: words.contact(),
                above: error,
                below: covering + error,
            });
        }
        Ok(())
    }
}

/// Returns the blocks of each probe, behind their numbers.
pub(super) fn blocks_of_probes(probes: &[ProbeWords], points_per_block: u32) -> Vec<[u32; 4]> {
    let mut before = 0;
    let mut ranges = vec![[0; 4]];
    for (index, probe) in probes.iter().enumerate() {
        let blocks = probe.points.div_ceil(points_per_block);
        ranges.push([index as u32, 0, before, blocks]);
        before += blocks;
    }
    ranges[0] = [probes.len() as u32, before, 0, 0];
    ranges
}
