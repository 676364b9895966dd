//! First contact of moving shells, for many pairs.
//!
//! Input: pairs with a pose at the start and at the end of a motion; a level.
//! Output: for each pair a time before which no point of its finer shell reaches the level, proven,
//! and a time at which one has.
//! Cost: some ten samples per point; many more for points that move along a surface.
//! Not for: surface between points, which `cast` on the CPU covers with a proof; curved paths,
//! which the caller cuts into pieces.
//!
//! Every point moves on a straight line, as in \[XuCcd2014\] and in `swept_points` of the library.
//! We differ from both in how the line is searched: by steps instead of cell by cell. A step is
//! proven to be free in one of two ways, whichever reaches farther: by the distance less the error
//! of the field, or by the value over the steepest slope of the field, which the host computes from
//! the values of dense grids and knows of closed forms. Where no proof reaches as far as the
//! tolerance, the search goes on in steps of the tolerance: from there on a contact that is shorter
//! than a step may be missed, and the proven time stays where it is. So the true time is in the
//! bracket, and a bracket without a contact is reported as such.

use bytemuck::{Pod, Zeroable};
use touchfield::Pose;

use super::contacts::ShellQuery;
use super::least::blocks_of_probes;
use super::probe::{ProbeWords, finer};
use super::{RANGES, SHELL, kernel, most};
use crate::error::GpuError;
use crate::kernel::Recorder;
use crate::memory::uniform;
use crate::pairs::{DevicePair, checked_pose};
use crate::upload::Shapes;

/// Two shapes that move relative to each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MovingPair {
    /// Number of A in [`Shapes`].
    pub a: usize,
    /// Number of B in [`Shapes`].
    pub b: usize,
    /// Pose of B in the frame of A at the start.
    pub start: Pose,
    /// Pose of B in the frame of A at the end.
    pub end: Pose,
}

/// Settings of a sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweepSettings {
    /// A point is in contact where the field is at or below this level \[m\].
    pub level: f32,
    /// Steps are no shorter than this \[m\].
    pub tolerance: f32,
    /// Most steps of one point. A point that needs more has no contact reported after the last, and
    /// its proven time stays where it is.
    pub most_steps: u32,
}

impl SweepSettings {
    /// Returns settings for contact with the surface, in steps of at least `tolerance` \[m\].
    pub fn to_within(tolerance: f32) -> SweepSettings {
        SweepSettings {
            level: 0.0,
            tolerance,
            most_steps: 1024,
        }
    }
}

/// First contact of a pair. Times are shares of the motion, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstTouch {
    /// Time before which no shell point is in contact, proven; `None` if none ever is.
    pub clear_until: Option<f32>,
    /// A time at which a point is in contact, and the index of that point in the shell.
    pub touch: Option<(f32, u32)>,
    /// Whether the shell is that of A.
    pub shell_of_a: bool,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Parameters {
    pairs: u32,
    blocks: u32,
    most_steps: u32,
    level: f32,
    tolerance: f32,
    spare: [u32; 3],
}

/// Points of a block.
const BLOCK: u32 = 64;

/// Most blocks of one batch: fewer than of other queries, as a point takes many samples.
const MOST_BLOCKS: u64 = 1 << 14;

impl ShellQuery {
    /// Finds the first contact of the finer shell of each pair.
    pub fn sweep(
        &mut self,
        shapes: &Shapes,
        pairs: &[MovingPair],
        settings: &SweepSettings,
    ) -> Result<Vec<FirstTouch>, GpuError> {
        check(settings)?;
        shapes.gpu().check()?;
        let mut probes = Vec::with_capacity(2 * pairs.len());
        for (index, pair) in pairs.iter().enumerate() {
            let at = |a_from_b: Pose| DevicePair {
                a: pair.a,
                b: pair.b,
                a_from_b,
            };
            let start = checked_pose(shapes, index, &at(pair.start))?;
            let end = checked_pose(shapes, index, &at(pair.end))?;
            let side = finer(shapes, &at(start), start);
            let side = side.ok_or(GpuError::NoShell { pair: index })?;
            let [first, last] = [start, end].map(|pose| {
                ProbeWords::of(shapes, &at(pose), pose, side).for_sweep(shapes, settings.level)
            });
            // On the way, rounding is at most that of the farther end.
            let [mut first, mut last] = [first, last];
            first.rounding[0] = first.rounding[0].max(last.rounding[0]);
            last.rounding[0] = first.rounding[0];
            probes.extend([first, last]);
        }
        let most_pairs = (most(shapes, size_of::<ProbeWords>()) / 2).min(most(shapes, 32)) as usize;
        let most_blocks = most(shapes, 16).min(MOST_BLOCKS);
        let mut touches = Vec::with_capacity(pairs.len());
        let mut start = 0;
        while start < pairs.len() {
            let (mut end, mut blocks) = (start, 0);
            while end < pairs.len() && end - start < most_pairs {
                blocks += u64::from(probes[2 * end].points.div_ceil(BLOCK));
                if blocks > most_blocks && end > start {
                    break;
                }
                end += 1;
            }
            self.sweep_of(shapes, &probes[2 * start..2 * end], settings, &mut touches)?;
            start = end;
        }
        Ok(touches)
    }

    fn sweep_of(
        &mut self,
        shapes: &Shapes,
        probes: &[ProbeWords],
        settings: &SweepSettings,
        out: &mut Vec<FirstTouch>,
    ) -> Result<(), GpuError> {
        let gpu = shapes.gpu();
        let starts: Vec<ProbeWords> = probes.iter().step_by(2).copied().collect();
        let pairs = starts.len() as u64;
        let ranges = blocks_of_probes(&starts, BLOCK);
        let blocks = ranges[0][1];
        let parameters = Parameters {
            pairs: pairs as u32,
            blocks,
            most_steps: settings.most_steps,
            level: settings.level,
            tolerance: settings.tolerance,
            spare: [0; 3],
        };
        let parameters = uniform(gpu, &parameters)?;
        let probe_words = self.probes.fill(gpu, probes)?.clone();
        let ranges = self.ranges.fill(gpu, &ranges)?.clone();
        let partials = (self.partials.reserve(gpu, 16 * u64::from(blocks))?).clone();
        let results = self.results.reserve(gpu, 16 * pairs)?.clone();
        let shared = include_str!("../shaders/shell_sweep.wgsl");
        let of_blocks = include_str!("../shaders/shell_sweep_blocks.wgsl");
        let of_blocks = kernel(shapes, "sweep_blocks", &[SHELL, RANGES, shared, of_blocks])?;
        let of_pairs = gpu.kernel("sweep_pairs", "sweep_pairs", || {
            let of_pairs = include_str!("../shaders/shell_sweep_pairs.wgsl");
            [crate::kernel::INDEX, shared, of_pairs].concat()
        })?;
        let mut recorder = Recorder::new(gpu)?;
        let buffers = [&parameters, &ranges, &probe_words, &partials];
        recorder.run(&of_blocks, Some(shapes), &buffers, 64 * u64::from(blocks));
        let buffers = [&parameters, &ranges, &partials, &results];
        recorder.run(&of_pairs, None, &buffers, pairs);
        recorder.read::<[u32; 4]>(&results, pairs)?;
        let found: Vec<[u32; 4]> = recorder.submit()?.next()?;
        for ([clear, touch, point, _], probe) in found.into_iter().zip(&starts) {
            let time = |bits: u32| Some(f32::from_bits(bits)).filter(|&time| time <= 1.0);
            out.push(FirstTouch {
                clear_until: time(clear),
                touch: time(touch).map(|time| (time, point)),
                shell_of_a: probe.side == 1,
            });
        }
        Ok(())
    }
}

fn check(settings: &SweepSettings) -> Result<(), GpuError> {
    let wrong = |setting, value: f32, wanted| {
        Err(GpuError::BadSetting {
            setting,
            value: format!("{value} m"),
            wanted,
        })
    };
    if !settings.level.is_finite() {
        return wrong("level", settings.level, "finite");
    }
    if !(settings.tolerance > 0.0 && settings.tolerance.is_finite()) {
        return wrong("tolerance", settings.tolerance, "finite and more than 0");
    }
    Ok(())
}
