//! Taylor fields in textures, filtered by the device.
//!
//! Input: a [`TaylorGrid`].
//! Output: [`FilteredTaylor`], which samples it through the texture units.
//! Cost: 8 bytes per node, and half as much again for nodes that blocks share; one filtered fetch
//! per sample, where a grid in a buffer takes 16 reads.
//! Not for: results that must agree with the CPU's; see [`Shapes`](crate::Shapes).
//!
//! After \[Krayer2020\], §4.3 and Eq. 10–12 (docs/BIBLIOGRAPHY.md): a texel of four half floats
//! holds `a = ½∇f` and `b = f − a·x`, and the value at x is `x·ā + b̄`, with bars for the filtered
//! texel. We differ in what x counts from. From the origin of the model, `b` grows with the
//! distance from there, and so does its rounding. Here it counts in cells from the middle of a
//! block of [`BLOCK`]³ cells, whose nodes are stored together, borders twice.
//!
//! The gradient is `2 ā`, as in the document, rather than the slope of the interpolant.
//!
//! How far samples are from the CPU's depends on the device. Half floats have 11 bits, so a value
//! of n cells is off by up to n/2048 cells. Devices commonly filter with weights of 8 bits, which
//! adds up to 1/512 of the change across a cell; software adapters filter in full floats. The test
//! `tests/filtered.rs` measures it on the adapter at hand.

use bytemuck::{Pod, Zeroable};
use glam::{UVec3, Vec3};
use half::f16;
use touchfield::Sample;
use touchfield::field::TaylorGrid;

use crate::device::{Gpu, wait};
use crate::error::{FARTHEST, GpuError};
use crate::kernel::{INDEX, Recorder};
use crate::memory::{Room, uniform};

/// Cells along a side of a block. Within it `|x|` is at most 7 cells, so a node near the surface is
/// rounded by less than 1/512 of a cell.
const BLOCK: u32 = 8;

/// A Taylor field in a texture that the device filters.
#[derive(Debug)]
pub struct FilteredTaylor {
    gpu: Gpu,
    texture: wgpu::Texture,
    sampler: wgpu::Sampler,
    origin: Vec3,
    cell_size: f32,
    cells: UVec3,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Parameters {
    origin: [f32; 3],
    cell_size: f32,
    cells: [u32; 3],
    count: u32,
    size: [f32; 3],
    spare: u32,
}

/// Complete WGSL.
pub(crate) fn source() -> String {
    let kernel = include_str!("shaders/filtered.wgsl");
    format!("{INDEX}const BLOCK: u32 = {BLOCK}u;\n{kernel}")
}

impl FilteredTaylor {
    /// Uploads a Taylor field as a texture.
    pub fn upload(gpu: &Gpu, grid: &TaylorGrid) -> Result<FilteredTaylor, GpuError> {
        gpu.check()?;
        if !gpu.adapter().filters_half_floats {
            return Err(GpuError::NoFilter);
        }
        let layout = grid.layout();
        let blocks = UVec3::from(layout.cells().to_array().map(|n| n.div_ceil(BLOCK)));
        let texels = blocks.as_u64vec3() * u64::from(BLOCK + 1);
        let limit = gpu.inner.device.limits().max_texture_dimension_3d;
        if texels.max_element() > u64::from(limit) {
            return Err(GpuError::TextureTooLarge {
                texels: texels.to_array(),
                limit,
            });
        }
        let bytes = 8 * texels.element_product();
        let size = texels.as_uvec3();
        let last = layout.nodes - UVec3::ONE;
        let mut data: Vec<[u16; 4]> = Vec::with_capacity(texels.element_product() as usize);
        for z in 0..size.z {
            for y in 0..size.y {
                for x in 0..size.x {
                    let texel = UVec3::new(x, y, z);
                    let block = texel / (BLOCK + 1);
                    // Blocks at the border repeat its nodes, at which no point samples.
                    let place = texel % (BLOCK + 1);
                    let node = (block * BLOCK + place).min(last);
                    let sample = grid.node(node);
                    let a = 0.5 * sample.gradient;
                    let from_middle = (node - block * BLOCK).as_vec3() - 0.5 * BLOCK as f32;
                    let b = sample.distance / layout.cell_size - a.dot(from_middle);
                    data.push([a.x, a.y, a.z, b].map(|number| f16::from_f32(number).to_bits()));
                }
            }
        }
        let device = &gpu.inner.device;
        let extent = wgpu::Extent3d {
            width: size.x,
            height: size.y,
            depth_or_array_layers: size.z,
        };
        let scope = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("Taylor field"),
            size: extent,
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D3,
            format: wgpu::TextureFormat::Rgba16Float,
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        });
        if wait(scope.pop()).is_some() {
            return Err(GpuError::OutOfMemory {
                what: "the texture of a field",
                bytes,
            });
        }
        gpu.inner.queue.write_texture(
            texture.as_image_copy(),
            bytemuck::cast_slice(&data),
            wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(8 * size.x),
                rows_per_image: Some(size.y),
            },
            extent,
        );
        let sampler = device.create_sampler(&wgpu::SamplerDescriptor {
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            ..Default::default()
        });
        gpu.inner.queue.submit([]);
        gpu.check()?;
        Ok(FilteredTaylor {
            gpu: gpu.clone(),
            texture,
            sampler,
            origin: layout.origin,
            cell_size: layout.cell_size,
            cells: layout.cells(),
        })
    }

    /// Samples the field at points of its frame \[m\]. Points outside the grid get the sample of
    /// the nearest point in it.
    pub fn sample(&self, points: &[Vec3]) -> Result<Vec<Sample>, GpuError> {
        let is_near = |point: &Vec3| point.is_finite() && point.abs().max_element() <= FARTHEST;
        if let Some(index) = points.iter().position(|point| !is_near(point)) {
            return Err(GpuError::NotFinite {
                what: "point",
                index,
                limit: FARTHEST,
            });
        }
        let gpu = &self.gpu;
        let kernel = gpu.kernel("sample filtered", "sample_filtered", source)?;
        let view = (self.texture).create_view(&wgpu::TextureViewDescriptor::default());
        let size = [
            self.texture.width(),
            self.texture.height(),
            self.texture.depth_or_array_layers(),
        ];
        let most = (gpu.adapter().max_binding_bytes / 16).min(1 << 24) as usize;
        let (mut input, mut output) = (Room::new("points"), Room::new("samples"));
        let mut samples = Vec::with_capacity(points.len());
        for points in points.chunks(most) {
            let count = points.len() as u64;
            let parameters = uniform(
                gpu,
                &Parameters {
                    origin: self.origin.to_array(),
                    cell_size: self.cell_size,
                    cells: self.cells.to_array(),
                    count: points.len() as u32,
                    size: size.map(|texels| texels as f32),
                    spare: 0,
                },
            )?;
            let given = input.fill(gpu, bytemuck::cast_slice::<Vec3, f32>(points))?;
            let found = output.reserve(gpu, 16 * count)?;
            let mut recorder = Recorder::new(gpu)?;
            let resources = [
                parameters.as_entire_binding(),
                given.as_entire_binding(),
                found.as_entire_binding(),
                wgpu::BindingResource::TextureView(&view),
                wgpu::BindingResource::Sampler(&self.sampler),
            ];
            recorder.run_bound(&kernel, &resources, count);
            recorder.read::<[f32; 4]>(found, count)?;
            let found: Vec<[f32; 4]> = recorder.submit()?.next()?;
            samples.extend(found.iter().map(|&[distance, x, y, z]| Sample {
                distance,
                gradient: Vec3::new(x, y, z),
            }));
        }
        Ok(samples)
    }

    /// Returns the size of the texture in bytes.
    pub fn bytes(&self) -> u64 {
        let texels = u64::from(self.texture.width()) * u64::from(self.texture.height());
        8 * texels * u64::from(self.texture.depth_or_array_layers())
    }
}
