//! Samples of one field at many points.
//!
//! Input: points in the frame of a shape.
//! Output: distances and gradients.
//! Cost: two copies, and one thread per point.
//! Not for: a few points, which the CPU answers before a device has started.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;
use touchfield::Sample;

use crate::error::{FARTHEST, GpuError};
use crate::kernel::Recorder;
use crate::memory::{Room, uniform};
use crate::upload::Shapes;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Parameters {
    shape: u32,
    count: u32,
    spare: [u32; 2],
}

impl Shapes {
    /// Samples a shape at points of its own frame \[m\]. Batches that are too large for a binding
    /// are split.
    pub fn sample(&self, shape: usize, points: &[Vec3]) -> Result<Vec<Sample>, GpuError> {
        self.check_shape(shape)?;
        let is_near = |point: &Vec3| point.is_finite() && point.abs().max_element() <= FARTHEST;
        if let Some(index) = points.iter().position(|point| !is_near(point)) {
            return Err(GpuError::NotFinite {
                what: "point",
                index,
                limit: FARTHEST,
            });
        }
        let gpu = self.gpu();
        let (name, source) = self.source("sample", include_str!("shaders/sample.wgsl"));
        let kernel = gpu.kernel(&name, "sample_points", || source)?;
        let most = (gpu.adapter().max_binding_bytes / 16).min(1 << 24) as usize;
        let (mut input, mut output) = (Room::new("points"), Room::new("samples"));
        let mut samples = Vec::with_capacity(points.len());
        for points in points.chunks(most) {
            let parameters = Parameters {
                shape: shape as u32,
                count: points.len() as u32,
                spare: [0; 2],
            };
            let parameters = uniform(gpu, &parameters)?;
            let given = input.fill(gpu, bytemuck::cast_slice::<Vec3, f32>(points))?;
            let found = output.reserve(gpu, 16 * points.len() as u64)?;
            let mut recorder = Recorder::new(gpu)?;
            let buffers = [&parameters, given, found];
            recorder.run(&kernel, Some(self), &buffers, points.len() as u64);
            recorder.read::<[f32; 4]>(found, points.len() as u64)?;
            let found: Vec<[f32; 4]> = recorder.submit()?.next()?;
            samples.extend(found.iter().map(|&[distance, x, y, z]| Sample {
                distance,
                gradient: Vec3::new(x, y, z),
            }));
        }
        Ok(samples)
    }

    /// Returns an error if there is no shape of this number.
    pub(crate) fn check_shape(&self, index: usize) -> Result<(), GpuError> {
        if index < self.len() {
            return Ok(());
        }
        Err(GpuError::NoSuchShape {
            index,
            count: self.len(),
        })
    }
}
