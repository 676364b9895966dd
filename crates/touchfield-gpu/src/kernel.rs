//! Kernels: compiled WGSL, and recorders that run several in one submission.
//!
//! Input: complete WGSL of one entry point; buffers.
//! Output: work on the queue of the device; the time that each pass took, where it can tell.
//! Cost: compilation, once for each kernel and device; little for each pass.
//! Not for: what is computed, which is in `shaders/`.
//!
//! Bind group 0 holds the words of the fields, if the kernel reads fields; bind group 1 holds the
//! kernel's own buffers, in the order in which they are given.

use std::time::Duration;

use bytemuck::Pod;

use crate::device::{Gpu, wait};
use crate::error::GpuError;
use crate::memory::Reading;
use crate::upload::Shapes;

/// Threads per workgroup of all kernels.
pub(crate) const GROUP: u32 = 64;

/// Most workgroups along one dimension of a dispatch: the floor of WebGPU.
const MOST_GROUPS: u32 = 65_535;

/// A compiled kernel.
#[derive(Debug)]
pub(crate) struct Kernel {
    name: String,
    pipeline: wgpu::ComputePipeline,
}

impl Kernel {
    pub(crate) fn compile(
        gpu: &Gpu,
        name: &str,
        entry: &str,
        source: &str,
    ) -> Result<Kernel, GpuError> {
        gpu.check()?;
        let device = &gpu.inner.device;
        let scope = device.push_error_scope(wgpu::ErrorFilter::Validation);
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(name),
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(name),
            layout: None,
            module: &module,
            entry_point: Some(entry),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        match wait(scope.pop()) {
            Some(error) => Err(GpuError::Driver(format!("{name}: {error}"))),
            None => Ok(Kernel {
                name: name.to_owned(),
                pipeline,
            }),
        }
    }
}

/// The part of all kernels that finds the index of a thread.
pub(crate) const INDEX: &str = include_str!("shaders/index.wgsl");

/// Time of one pass on the device.
#[derive(Clone, Debug, PartialEq)]
pub struct PassTime {
    /// Name of the kernel.
    pub kernel: String,
    /// Time between begin and end, as the device measured it.
    pub time: Duration,
}

/// Work that is submitted at once.
pub(crate) struct Recorder<'a> {
    gpu: &'a Gpu,
    encoder: wgpu::CommandEncoder,
    /// Buffers to read back after submission.
    readings: Vec<(wgpu::Buffer, u64)>,
    timed: Option<Timed>,
}

/// Timestamps of the passes of a recorder.
struct Timed {
    queries: wgpu::QuerySet,
    names: Vec<String>,
}

/// Most passes of a recorder that are timed.
const MOST_TIMED: u32 = 64;

impl<'a> Recorder<'a> {
    pub(crate) fn new(gpu: &'a Gpu) -> Result<Recorder<'a>, GpuError> {
        gpu.check()?;
        let device = &gpu.inner.device;
        Ok(Recorder {
            gpu,
            encoder: device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default()),
            readings: Vec::new(),
            timed: None,
        })
    }

    /// Measures the time of each pass, where the device can.
    pub(crate) fn timed(mut self) -> Recorder<'a> {
        if self.gpu.adapter().timestamps {
            let queries = (self.gpu.inner.device).create_query_set(&wgpu::QuerySetDescriptor {
                label: None,
                ty: wgpu::QueryType::Timestamp,
                count: 2 * MOST_TIMED,
            });
            self.timed = Some(Timed {
                queries,
                names: Vec::new(),
            });
        }
        self
    }

    /// Runs a kernel on `threads` threads. A kernel that reads fields needs `shapes`.
    pub(crate) fn run(
        &mut self,
        kernel: &Kernel,
        shapes: Option<&Shapes>,
        buffers: &[&wgpu::Buffer],
        threads: u64,
    ) {
        if threads == 0 {
            return;
        }
        let groups = threads.div_ceil(u64::from(GROUP));
        let x = groups.min(u64::from(MOST_GROUPS)) as u32;
        let y = groups.div_ceil(u64::from(x)) as u32;
        self.pass(kernel, shapes, buffers, |pass| {
            pass.dispatch_workgroups(x, y, 1);
        });
    }

    /// Runs a kernel that reads no fields on `threads` threads, with textures and samplers among
    /// its resources.
    pub(crate) fn run_bound(
        &mut self,
        kernel: &Kernel,
        resources: &[wgpu::BindingResource<'_>],
        threads: u64,
    ) {
        if threads == 0 {
            return;
        }
        let groups = threads.div_ceil(u64::from(GROUP));
        let x = groups.min(u64::from(MOST_GROUPS)) as u32;
        let y = groups.div_ceil(u64::from(x)) as u32;
        let entries: Vec<_> = (0u32..)
            .zip(resources)
            .map(|(binding, resource)| wgpu::BindGroupEntry {
                binding,
                resource: resource.clone(),
            })
            .collect();
        let own = (self.gpu.inner.device).create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(&kernel.name),
            layout: &kernel.pipeline.get_bind_group_layout(1),
            entries: &entries,
        });
        let mut pass = (self.encoder).begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some(&kernel.name),
            timestamp_writes: None,
        });
        pass.set_pipeline(&kernel.pipeline);
        pass.set_bind_group(1, &own, &[]);
        pass.dispatch_workgroups(x, y, 1);
    }

    fn pass(
        &mut self,
        kernel: &Kernel,
        shapes: Option<&Shapes>,
        buffers: &[&wgpu::Buffer],
        dispatch: impl FnOnce(&mut wgpu::ComputePass<'_>),
    ) {
        let device = &self.gpu.inner.device;
        let group = |index: u32, buffers: &mut dyn Iterator<Item = &wgpu::Buffer>| {
            let entries: Vec<_> = buffers
                .enumerate()
                .map(|(binding, buffer)| wgpu::BindGroupEntry {
                    binding: binding as u32,
                    resource: buffer.as_entire_binding(),
                })
                .collect();
            device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(&kernel.name),
                layout: &kernel.pipeline.get_bind_group_layout(index),
                entries: &entries,
            })
        };
        let fields = shapes.map(|shapes| group(0, &mut shapes.words().iter()));
        let own = group(1, &mut buffers.iter().copied());
        let timestamp_writes = match &mut self.timed {
            Some(timed) if (timed.names.len() as u32) < MOST_TIMED => {
                let first = 2 * timed.names.len() as u32;
                timed.names.push(kernel.name.clone());
                Some(wgpu::ComputePassTimestampWrites {
                    query_set: &timed.queries,
                    beginning_of_pass_write_index: Some(first),
                    end_of_pass_write_index: Some(first + 1),
                })
            }
            _ => None,
        };
        let mut pass = (self.encoder).begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some(&kernel.name),
            timestamp_writes,
        });
        pass.set_pipeline(&kernel.pipeline);
        if let Some(fields) = &fields {
            pass.set_bind_group(0, fields, &[]);
        }
        pass.set_bind_group(1, &own, &[]);
        dispatch(&mut pass);
    }

    /// Sets all bytes of a buffer to zero.
    pub(crate) fn clear(&mut self, buffer: &wgpu::Buffer) {
        self.encoder.clear_buffer(buffer, 0, None);
    }

    /// Copies bytes from one buffer to another; offsets and size are multiples of 4.
    pub(crate) fn copy(
        &mut self,
        from: (&wgpu::Buffer, u64),
        to: (&wgpu::Buffer, u64),
        bytes: u64,
    ) {
        (self.encoder).copy_buffer_to_buffer(from.0, from.1, to.0, to.1, bytes);
    }

    /// Reads `count` values from the start of a buffer once the work is done. [`Done`] returns them
    /// in the order in which they were asked for.
    pub(crate) fn read<T: Pod>(
        &mut self,
        buffer: &wgpu::Buffer,
        count: u64,
    ) -> Result<(), GpuError> {
        let bytes = count * size_of::<T>() as u64;
        let staging = Reading::staging(self.gpu, bytes)?;
        if bytes > 0 {
            self.copy((buffer, 0), (&staging, 0), bytes);
        }
        self.readings.push((staging, bytes));
        Ok(())
    }

    /// Submits the work; does not wait for it.
    pub(crate) fn submit(mut self) -> Result<Done, GpuError> {
        let mut names = Vec::new();
        let mut times = None;
        if let Some(Timed {
            queries,
            names: of_passes,
        }) = self.timed.take()
            && !of_passes.is_empty()
        {
            let count = 2 * of_passes.len() as u32;
            let bytes = 8 * u64::from(count);
            let usage = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
            let resolved = crate::memory::buffer(self.gpu, "timestamps", bytes, usage)?;
            (self.encoder).resolve_query_set(&queries, 0..count, &resolved, 0);
            let staging = Reading::staging(self.gpu, bytes)?;
            self.copy((&resolved, 0), (&staging, 0), bytes);
            times = Some((staging, bytes));
            names = of_passes;
        }
        self.gpu.inner.queue.submit([self.encoder.finish()]);
        let begin = |(staging, bytes)| Reading::begin(self.gpu, staging, bytes);
        Ok(Done {
            tick: self.gpu.inner.tick,
            gpu: self.gpu.clone(),
            names,
            times: times.map(begin),
            readings: self.readings.into_iter().map(begin).collect(),
        })
    }
}

/// Submitted work.
pub(crate) struct Done {
    gpu: Gpu,
    tick: f32,
    names: Vec<String>,
    times: Option<Reading>,
    readings: std::collections::VecDeque<Reading>,
}

impl Done {
    /// Waits for the next buffer that was asked for.
    pub(crate) fn next<T: Pod>(&mut self) -> Result<Vec<T>, GpuError> {
        match self.readings.pop_front() {
            Some(reading) => reading.wait(),
            None => Err(GpuError::Driver("nothing is left to read".to_owned())),
        }
    }

    /// Waits for all work, and returns the times of the passes that were timed.
    pub(crate) fn finish(self) -> Result<Vec<PassTime>, GpuError> {
        let polled = self
            .gpu
            .inner
            .device
            .poll(wgpu::PollType::wait_indefinitely());
        self.gpu.check()?;
        polled.map_err(|error| GpuError::Driver(error.to_string()))?;
        let Some(times) = self.times else {
            return Ok(Vec::new());
        };
        let ticks: Vec<u64> = times.wait()?;
        let times = ticks.chunks_exact(2).zip(self.names);
        Ok(times
            .map(|(ends, kernel)| PassTime {
                kernel,
                time: Duration::from_nanos(
                    (ends[1].wrapping_sub(ends[0]) as f64 * f64::from(self.tick)) as u64,
                ),
            })
            .collect())
    }
}
