//! Reduction of the contacts of each pair to a few, on the device.
//!
//! Input: contacts of many pairs, and where those of each begin.
//! Output: up to a given number of contacts per pair: the deepest, then the others in the order in
//! which they were chosen.
//! Cost: one workgroup per pair; contacts times the square of the number kept.
//! Not for: contacts that are matched from step to step, which `manifold` does.
//!
//! A contact at p with normal n resists the wrench \[n, (p − c) × n / L\], as in
//! `manifold/reduce.rs` of the library. There the contacts are chosen that add most to the support
//! function over fixed directions; here the next contact is the one whose wrench is farthest from
//! those of all that are kept \[Gonzalez1985\]. It needs no table of directions, and loses more:
//! `tests/contacts_shells.rs` measures how much.

use bytemuck::{Pod, Zeroable};

use crate::device::Gpu;
use crate::error::GpuError;
use crate::kernel::{GROUP, INDEX, Recorder};
use crate::memory::uniform;

/// Most contacts that are kept of a pair: as many as the kernel has places for.
pub(super) const MOST_KEPT: u32 = 16;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Parameters {
    pairs: u32,
    keep: u32,
    spare: [u32; 2],
}

/// Records the reduction. The buffers are: first contacts, contacts, and the places of those kept.
pub(super) fn record(
    gpu: &Gpu,
    recorder: &mut Recorder<'_>,
    [firsts, contacts, kept]: [&wgpu::Buffer; 3],
    pairs: u64,
    keep: u32,
) -> Result<(), GpuError> {
    let parameters = Parameters {
        pairs: pairs as u32,
        keep,
        spare: [0; 2],
    };
    let parameters = uniform(gpu, &parameters)?;
    let reduce = gpu.kernel("reduce_contacts", "reduce_contacts", || {
        [INDEX, include_str!("../shaders/shell_reduce.wgsl")].concat()
    })?;
    let buffers = [&parameters, firsts, contacts, kept];
    recorder.run(&reduce, None, &buffers, pairs * u64::from(GROUP));
    Ok(())
}
