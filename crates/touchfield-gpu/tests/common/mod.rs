//! What all tests on a device share.
#![allow(dead_code, reason = "no test file uses all of it")]
#![allow(clippy::print_stderr, reason = "a skip must be seen")]

pub mod bodies;

use touchfield_gpu::{Gpu, GpuError, GpuSettings};

/// Opens the device of tests. Without an adapter the test is skipped aloud, unless
/// `TOUCHFIELD_GPU=required` makes that a failure.
pub fn gpu() -> Option<Gpu> {
    gpu_with(&GpuSettings::default())
}

/// Opens the device of tests with settings.
pub fn gpu_with(settings: &GpuSettings) -> Option<Gpu> {
    match Gpu::open(settings) {
        Ok(gpu) => Some(gpu),
        Err(GpuError::NoAdapter) => {
            let required = std::env::var_os("TOUCHFIELD_GPU").is_some_and(|v| v == "required");
            assert!(
                !required,
                "TOUCHFIELD_GPU=required, but there is no adapter"
            );
            eprintln!("SKIPPED: no GPU adapter; install mesa-vulkan-drivers to run this test");
            None
        }
        Err(other) => panic!("{other}"),
    }
}
