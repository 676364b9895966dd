//! `touchfield devices`: the GPUs that can be used.

use clap::Args;

use crate::device;
use crate::report::Answer;

/// List the GPUs that can be used
#[derive(Args)]
#[command(after_help = "\
Examples:
  touchfield devices
  touchfield sample mug.tfs --points p.npy --device gpu
  touchfield sweep bolt.tfs nut.tfs --poses poses.npy --device gpu --adapter radeon -o rows.npy

GPUs need a binary that was built with `cargo build --release -p touchfield-cli --features gpu`. Vulkan, Metal and
DirectX 12 are used, whatever the vendor. Where there is no GPU, Debian's package mesa-vulkan-drivers has a driver
that runs the same programs on the CPU. With --json an array is printed.")]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments) -> Answer {
    device::answer()
}
