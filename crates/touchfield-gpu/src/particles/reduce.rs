//! Fewer contacts, on the device: the deepest of each cell, the deepest of each pair.
//!
//! Input: the contacts of a launch.
//! Output: those that stay, in the same order, and where those of each pair begin.
//! Cost: three passes over the contacts for the cells; up to 64 passes of one workgroup per pair
//! over its contacts for the deepest; a prefix sum and a copy after each.
//! Not for: manifolds.
//!
//! Cells are those of Alg. 1, as on the CPU; what lies farther out than one cell beyond the common
//! box counts as in that layer, whereas the CPU has cells there too. On ties the particle of lower
//! number stays.

use bytemuck::{Pod, Zeroable};

use super::launch::Work;
use super::tasks::{CONTACT_WORDS, Launch};
use crate::error::GpuError;
use crate::kernel::{GROUP, INDEX, Recorder};
use crate::memory::uniform;

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Parameters {
    count: u32,
    pairs: u32,
    capacity: u32,
    option: u32,
}

impl Work<'_> {
    /// Reduces contacts; returns the buffer that holds those that stay, and the first of each pair.
    pub(super) fn reduce(
        &mut self,
        launch: &Launch,
        contacts: wgpu::Buffer,
        count: u64,
        capacity: u64,
    ) -> Result<(wgpu::Buffer, Vec<u32>), GpuError> {
        let gpu = self.gpu;
        let pairs = launch.tasks.len() as u64;
        let wanted = self.settings.particles;
        let thin = gpu.kernel("thin cells", "thin_cells", || {
            let tasks = include_str!("../shaders/particle_tasks.wgsl");
            let kernel = include_str!("../shaders/particle_thin.wgsl");
            format!("{INDEX}{tasks}{kernel}")
        })?;
        let deepest = gpu.kernel("keep deepest", "keep_deepest", || {
            include_str!("../shaders/particle_deepest.wgsl").to_owned()
        })?;
        let gather = gpu.kernel("gather contacts", "gather_contacts", || {
            format!("{INDEX}{}", include_str!("../shaders/particle_gather.wgsl"))
        })?;
        let buffers = &mut *self.buffers;
        let tasks = buffers.tasks.get()?.clone();
        let first = buffers.first.get()?.clone();
        let keep = buffers.marks.reserve(gpu, 4 * count)?.clone();
        let offsets = buffers.offsets.reserve(gpu, 4 * (count + 1))?.clone();
        let kept = (buffers.kept.reserve(gpu, 4 * CONTACT_WORDS * capacity)?).clone();
        let parameters = |option| {
            let parameters = Parameters {
                count: count as u32,
                pairs: pairs as u32,
                capacity: capacity as u32,
                option,
            };
            uniform(gpu, &parameters)
        };
        let mut recorder = Recorder::new(gpu)?;
        if self.settings.timed {
            recorder = recorder.timed();
        }
        let (mut from, mut to) = (contacts, kept);
        if wanted.one_per_cell {
            let table = buffers.table.reserve(gpu, 8 * launch.entries)?.clone();
            recorder.clear(&table);
            recorder.clear(&keep);
            for phase in 0..3 {
                let own = parameters(phase)?;
                let bound = [&own, &tasks, &from, &table, &keep];
                recorder.run(&thin, None, &bound, count);
            }
            (buffers.scan).record(gpu, &mut recorder, &keep, count, &offsets)?;
            let own = parameters(0)?;
            let bound = [&own, &from, &first, &offsets, &to];
            recorder.run(&gather, None, &bound, count.max(pairs + 1));
            std::mem::swap(&mut from, &mut to);
        }
        if let Some(most) = wanted.deepest {
            // Behind the last that stays, no flag is set.
            recorder.clear(&keep);
            let own = parameters(most)?;
            let bound = [&own, &from, &first, &keep];
            recorder.run(&deepest, None, &bound, pairs * u64::from(GROUP));
            (buffers.pair_scan).record(gpu, &mut recorder, &keep, count, &offsets)?;
            let own = parameters(0)?;
            let bound = [&own, &from, &first, &offsets, &to];
            recorder.run(&gather, None, &bound, count.max(pairs + 1));
            std::mem::swap(&mut from, &mut to);
        }
        recorder.read::<u32>(&first, pairs + 1)?;
        let mut done = recorder.submit()?;
        let of_pairs = done.next()?;
        self.answer.found.times.extend(done.finish()?);
        Ok((from, of_pairs))
    }
}
