//! Prefix sums on the device: where each list begins, given how long each is.
//!
//! Input: a buffer of counts.
//! Output: a buffer with the sum of all counts before each, and the sum of all behind the last.
//! Cost: three passes over the counts for up to a million of them, two more for each factor of a
//! thousand.
//! Not for: floats, whose sums would depend on the order.
//!
//! Reduce, then scan, in dispatches of their own: nothing relies on workgroups that run at the same
//! time. The first pass adds up blocks of [`BLOCK`] counts, the second scans these sums (the same
//! way, if they are many), the third scans within each block from the sum before it.

use bytemuck::{Pod, Zeroable};

use crate::device::Gpu;
use crate::error::GpuError;
use crate::kernel::{INDEX, Recorder};
use crate::memory::{Room, uniform};

/// Counts of a block: 64 threads with 16 each.
const BLOCK: u64 = 1024;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Parameters {
    count: u32,
    spare: [u32; 3],
}

/// Buffers of a prefix sum.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    sums: Room,
    offsets: Room,
}

impl Scan {
    /// Records the prefix sum of `count` words of `counts`. `offsets` gets `count + 1` words.
    pub(crate) fn record(
        &mut self,
        gpu: &Gpu,
        recorder: &mut Recorder<'_>,
        counts: &wgpu::Buffer,
        count: u64,
        offsets: &wgpu::Buffer,
    ) -> Result<(), GpuError> {
        self.level(gpu, recorder, 0, counts, count, offsets)
    }

    fn level(
        &mut self,
        gpu: &Gpu,
        recorder: &mut Recorder<'_>,
        level: usize,
        counts: &wgpu::Buffer,
        count: u64,
        offsets: &wgpu::Buffer,
    ) -> Result<(), GpuError> {
        let source = || format!("{INDEX}{}", include_str!("shaders/scan.wgsl"));
        let parameters = uniform(
            gpu,
            &Parameters {
                count: count as u32,
                spare: [0; 3],
            },
        )?;
        let blocks = count.div_ceil(BLOCK);
        let threads = blocks.max(1) * 64;
        if blocks <= 1 {
            let scan = gpu.kernel("scan one block", "scan_one_block", source)?;
            recorder.run(&scan, None, &[&parameters, counts, offsets], threads);
            return Ok(());
        }
        if self.levels.len() <= level {
            self.levels.push(Level {
                sums: Room::new("sums of blocks"),
                offsets: Room::new("offsets of blocks"),
            });
        }
        let own = &mut self.levels[level];
        let sums = own.sums.reserve(gpu, 4 * blocks)?.clone();
        let before = own.offsets.reserve(gpu, 4 * (blocks + 1))?.clone();
        let add = gpu.kernel("add blocks", "add_blocks", source)?;
        recorder.run(&add, None, &[&parameters, counts, &sums], threads);
        self.level(gpu, recorder, level + 1, &sums, blocks, &before)?;
        let scan = gpu.kernel("scan blocks", "scan_blocks", source)?;
        let buffers = [&parameters, counts, offsets, &before];
        recorder.run(&scan, None, &buffers, threads);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::GpuSettings;
    use crate::memory::Room;

    fn scanned(gpu: &Gpu, counts: &[u32]) -> Result<Vec<u32>, GpuError> {
        let (mut input, mut output) = (Room::new("counts"), Room::new("offsets"));
        let input = input.fill(gpu, counts)?;
        let offsets = output.reserve(gpu, 4 * (counts.len() as u64 + 1))?;
        let mut recorder = Recorder::new(gpu)?;
        let count = counts.len() as u64;
        Scan::default().record(gpu, &mut recorder, input, count, offsets)?;
        recorder.read::<u32>(offsets, count + 1)?;
        recorder.submit()?.next()
    }

    #[test]
    fn sums_before_each_count_are_those_of_a_loop() {
        let gpu = match Gpu::open(&GpuSettings::default()) {
            Ok(gpu) => gpu,
            Err(GpuError::NoAdapter) => return,
            Err(error) => panic!("{error}"),
        };
        let mut random = touchfield::geom::Random::new(5);
        for count in [
            0,
            1,
            2,
            63,
            64,
            1023,
            1024,
            1025,
            5000,
            1 << 20,
            (1 << 20) + 7,
            3_000_000,
        ] {
            let counts: Vec<u32> = (0..count).map(|_| (random.unit() * 9.0) as u32).collect();
            let mut sum = 0;
            let mut expected = vec![0];
            expected.extend(counts.iter().map(|count| {
                sum += count;
                sum
            }));
            let found = scanned(&gpu, &counts);
            assert!(found.as_ref() == Ok(&expected), "{count} counts");
        }
    }
}
