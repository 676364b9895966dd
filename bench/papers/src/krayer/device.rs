//! The particles of a scene on a device.
//!
//! Input: a scene and particles.
//! Output: collisions and times: of the device, by its own clock, and of the CPU.
//! Cost: one upload of the fields per scene.
//! Not for: choosing a device, which `touchfield devices` lists.

use touchfield::narrow::Particles;

use super::scenes::Scene;
use crate::host::Stop;

/// What all pairs of a scene took on a device.
#[derive(Clone, Debug, Default)]
pub(crate) struct OnDevice {
    /// Contacts of each pair.
    pub(crate) counts: Vec<u64>,
    /// From call to answer \[ms\].
    pub(crate) milliseconds: f64,
    /// CPU time of all threads of the process \[ms\]: with a software adapter, the work itself.
    pub(crate) cpu_milliseconds: f64,
    /// Sum over all passes, by the device's clock \[ms\].
    pub(crate) device_milliseconds: Option<f64>,
}

#[cfg(feature = "gpu")]
pub(crate) use with_gpu::Device;

#[cfg(feature = "gpu")]
mod with_gpu {
    use super::*;
    use std::time::Instant;

    use cpu_time::ProcessTime;
    use touchfield::shape::Shape;
    use touchfield_gpu::{DevicePair, Gpu, GpuSettings, ParticleFinder, ParticleSettings, Shapes};

    /// An open device with the fields of one scene.
    pub(crate) struct Device {
        gpu: Gpu,
        finder: ParticleFinder,
        loaded: Option<Loaded>,
    }

    struct Loaded {
        shapes: Shapes,
        bodies: Vec<Shape>,
        /// Shape of each body of the scene.
        of_body: Vec<usize>,
    }

    fn bad(error: impl std::fmt::Display) -> Stop {
        Stop::BadInput(error.to_string())
    }

    impl Device {
        pub(crate) fn open() -> Result<Device, Stop> {
            let gpu = Gpu::open(&GpuSettings::default()).map_err(bad)?;
            Ok(Device {
                finder: ParticleFinder::new(&gpu),
                gpu,
                loaded: None,
            })
        }

        pub(crate) fn name(&self) -> String {
            self.gpu.adapter().name.clone()
        }

        /// Uploads the fields of a scene; bodies with the same field share it.
        pub(crate) fn load(&mut self, scene: &Scene) -> Result<(), Stop> {
            let mut bodies: Vec<Shape> = Vec::new();
            let mut of_body = Vec::new();
            for body in &scene.bodies {
                let field: *const () = std::ptr::from_ref(body.shape.field()).cast();
                let known = bodies.iter().position(|shape| {
                    let other: *const () = std::ptr::from_ref(shape.field()).cast();
                    std::ptr::addr_eq(field, other)
                });
                of_body.push(known.unwrap_or_else(|| {
                    bodies.push(body.shape.clone());
                    bodies.len() - 1
                }));
            }
            let all: Vec<&Shape> = bodies.iter().collect();
            let shapes = Shapes::upload(&self.gpu, &all).map_err(bad)?;
            self.loaded = Some(Loaded {
                shapes,
                bodies,
                of_body,
            });
            Ok(())
        }

        /// Runs all pairs of the loaded scene, which may have moved since.
        pub(crate) fn run(
            &mut self,
            scene: &Scene,
            particles: Particles,
        ) -> Result<OnDevice, Stop> {
            let loaded = self.loaded.as_ref();
            let loaded = loaded.ok_or_else(|| bad("no scene was uploaded"))?;
            let settings = ParticleSettings {
                particles,
                timed: true,
                ..Default::default()
            };
            let bodies: Vec<&Shape> = loaded.bodies.iter().collect();
            let pairs = scene.pairs.iter().map(|&pair| DevicePair {
                a: loaded.of_body[pair[0] as usize],
                b: loaded.of_body[pair[1] as usize],
                a_from_b: scene.pair(pair).a_from_b,
            });
            let pairs: Vec<DevicePair> = pairs.collect();
            let (start, on_cpu) = (Instant::now(), ProcessTime::now());
            let found = self
                .finder
                .find(&loaded.shapes, &bodies, &pairs, &settings)
                .map_err(bad)?;
            let milliseconds = 1e3 * start.elapsed().as_secs_f64();
            let cpu_milliseconds = 1e3 * on_cpu.elapsed().as_secs_f64();
            let times = &found.found.times;
            let passes = times.iter().map(|pass| 1e3 * pass.time.as_secs_f64());
            Ok(OnDevice {
                counts: (0..pairs.len())
                    .map(|pair| found.found.of(pair).len() as u64)
                    .collect(),
                milliseconds,
                cpu_milliseconds,
                device_milliseconds: (!times.is_empty()).then(|| passes.sum()),
            })
        }
    }
}

/// Stands in for a device in a binary without the feature `gpu`.
#[cfg(not(feature = "gpu"))]
pub(crate) struct Device;

#[cfg(not(feature = "gpu"))]
impl Device {
    pub(crate) fn open() -> Result<Device, Stop> {
        Err(Stop::BadInput(
            "this binary was built without the feature `gpu` (cargo build -p touchfield-cli --features gpu)"
                .to_owned(),
        ))
    }

    pub(crate) fn name(&self) -> String {
        String::new()
    }

    pub(crate) fn load(&mut self, _scene: &Scene) -> Result<(), Stop> {
        Ok(())
    }

    pub(crate) fn run(&mut self, _scene: &Scene, _particles: Particles) -> Result<OnDevice, Stop> {
        Ok(OnDevice::default())
    }
}
