//! Signed distance fields and contacts on any GPU.
//!
//! [`Gpu::open`] chooses an adapter: Vulkan, Metal, DirectX 12 or WebGPU, and nothing that is
//! particular to one vendor. [`Shapes`] holds fields in device memory. Every answer is held against
//! the CPU's, which is the reference.
//!
//! ```no_run
//! use touchfield::{Pose, glam::Vec3, shape::Shape};
//! use touchfield::field::primitive::Sphere;
//! use touchfield_gpu::{Gpu, GpuSettings, Shapes};
//!
//! let gpu = Gpu::open(&GpuSettings::default())?;
//! let ball = Shape::new(Sphere::new(0.5)?);
//! let shapes = Shapes::upload(&gpu, &[&ball])?;
//! let samples = shapes.sample(0, &[Vec3::new(2.0, 0.0, 0.0)])?;
//! assert!((samples[0].distance - 1.5).abs() < 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`ShellQuery`] finds contacts, least distances and first contacts of many pairs at once,
//! [`Worlds`] those of many copies of a small scene, and [`GpuBackend`] is the narrow phase of a
//! [`Pipeline`](touchfield::pipeline::Pipeline).
//!
//! The same input gives the same bits on the same adapter. Bits may differ from the CPU's, because
//! a driver may fuse a multiplication and an addition; by how much is stated with every answer
//! (docs/GPU.md).

#[cfg(feature = "bake")]
mod bake;
mod device;
mod error;
mod filtered;
mod kernel;
mod layout;
mod memory;
mod pairs;
mod particles;
mod pipeline;
mod program;
mod render;
mod sample;
mod scan;
mod shells;
mod upload;
mod worlds;

#[cfg(feature = "bake")]
pub use bake::{GpuBakeError, GpuBakeReport, RayMaps, bake, ray_maps};
pub use device::{Adapter, AdapterKind, Gpu, GpuSettings, adapters};
pub use error::{FARTHEST, GpuError};
pub use filtered::FilteredTaylor;
pub use kernel::PassTime;
pub use layout::NoGpuForm;
pub use pairs::{DeviceContacts, DevicePair};
pub use particles::{FoundParticles, ParticleFinder, ParticleSettings};
pub use pipeline::GpuBackend;
pub use render::{View, ViewBody};
pub use shells::{
    FirstTouch, Gap, MovingPair, ShellContacts, ShellQuery, ShellSearch, ShellSettings,
    SweepSettings,
};
pub use upload::Shapes;
#[doc(hidden)]
pub use upload::{Present, source as source_with_fields};
pub use worlds::{WorldAnswers, Worlds};
