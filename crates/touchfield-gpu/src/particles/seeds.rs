//! Starts of particles by subdivision on the device: the cells that may hold a piece of the
//! intersection's surface, level by level.
//!
//! Input: the tasks of a launch.
//! Output: a list of cells in device memory, pair after pair.
//! Cost: per level two samples per box, a prefix sum, and one number read back.
//! Not for: projecting.
//!
//! A box with centre c and half diagonal r holds no surface of the intersection if
//! `|max(φA(c), φB(c)) − reach| > r` by more than the errors of the fields. The boxes, their order
//! and the test are those of the CPU (`narrow/search/boxes.rs`).

use bytemuck::{Pod, Zeroable};

use super::launch::Work;
use super::tasks::Launch;
use crate::error::GpuError;
use crate::kernel::{INDEX, Recorder};
use crate::memory::uniform;

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Parameters {
    count: u32,
    pairs: u32,
    level: u32,
    spare: u32,
}

/// Bytes of a listed cell.
const CELL_BYTES: u64 = 16;

impl Work<'_> {
    /// Fills `listed` with the cells in which particles start, and returns their number.
    pub(super) fn subdivide(&mut self, launch: &Launch) -> Result<u64, GpuError> {
        let gpu = self.gpu;
        let pairs = launch.tasks.len() as u32;
        let mut count = launch.boxes;
        if count == 0 {
            self.buffers.listed.reserve(gpu, CELL_BYTES)?;
            return Ok(0);
        }
        let (name, source) = self.shapes.source("particle cells", LOOK);
        let look = gpu.kernel(&name, "look_at_cells", || source)?;
        let begin = gpu.kernel("begin cells", "begin_cells", || split(BEGIN))?;
        let split = gpu.kernel("split cells", "split_cells", || split(SPLIT))?;
        let parameters = |count: u64, level| Parameters {
            count: count as u32,
            pairs,
            level,
            spare: 0,
        };
        let buffers = &mut *self.buffers;
        let tasks = buffers.tasks.get()?.clone();
        let mut cells = buffers.listed.reserve(gpu, CELL_BYTES * count)?.clone();
        let mut recorder = Recorder::new(gpu)?;
        let own = uniform(gpu, &parameters(count, 0))?;
        recorder.run(&begin, None, &[&own, &tasks, &cells], count);
        recorder.submit()?;
        for level in 0..=launch.levels {
            let own = uniform(gpu, &parameters(count, level))?;
            let parts = buffers.marks.reserve(gpu, 4 * count)?.clone();
            let offsets = buffers.offsets.reserve(gpu, 4 * (count + 1))?.clone();
            let total = buffers.tallies.reserve(gpu, 4)?.clone();
            let mut recorder = Recorder::new(gpu)?;
            if self.settings.timed {
                recorder = recorder.timed();
            }
            let bound = [&own, &tasks, &cells, &parts];
            recorder.run(&look, Some(self.shapes), &bound, count);
            (buffers.scan).record(gpu, &mut recorder, &parts, count, &offsets)?;
            recorder.copy((&offsets, 4 * count), (&total, 0), 4);
            recorder.read::<u32>(&total, 1)?;
            let mut done = recorder.submit()?;
            let read: Vec<u32> = done.next()?;
            self.answer.found.times.extend(done.finish()?);
            let next_count = u64::from(read.first().copied().unwrap_or(0));
            let next = (buffers.other_listed)
                .reserve(gpu, CELL_BYTES * next_count.max(1))?
                .clone();
            let mut recorder = Recorder::new(gpu)?;
            let bound = [&own, &tasks, &next, &cells, &offsets];
            recorder.run(&split, None, &bound, count);
            recorder.submit()?;
            std::mem::swap(&mut buffers.listed, &mut buffers.other_listed);
            cells = next;
            count = next_count;
            if count == 0 {
                break;
            }
        }
        Ok(count)
    }
}

const LOOK: &str = concat!(
    include_str!("../shaders/particle_tasks.wgsl"),
    include_str!("../shaders/particle_cells.wgsl")
);

/// The entry points have the bindings that they use, and no more.
const BEGIN: &str = include_str!("../shaders/particle_begin.wgsl");
const SPLIT: &str = include_str!("../shaders/particle_split.wgsl");

fn split(kernel: &str) -> String {
    let tasks = include_str!("../shaders/particle_tasks.wgsl");
    format!("{INDEX}{tasks}{kernel}")
}
