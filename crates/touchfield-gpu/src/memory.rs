//! Buffers on the device that grow and are kept, and reading them back.
//!
//! Input: sizes in bytes; values that are plain data.
//! Output: buffers; values.
//! Cost: an allocation when a buffer grows, to at least twice its size.
//! Not for: what kernels do with buffers.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};

use bytemuck::Pod;

use crate::device::{Gpu, wait};
use crate::error::GpuError;

/// A storage buffer that grows.
#[derive(Debug)]
pub(crate) struct Room {
    what: &'static str,
    buffer: Option<wgpu::Buffer>,
}

impl Room {
    pub(crate) const fn new(what: &'static str) -> Room {
        Room { what, buffer: None }
    }

    /// Makes the buffer hold at least so many bytes. Its contents are lost if it grows.
    pub(crate) fn reserve(&mut self, gpu: &Gpu, bytes: u64) -> Result<&wgpu::Buffer, GpuError> {
        let limit = gpu.adapter().max_binding_bytes / 4 * 4;
        if bytes > limit {
            return Err(GpuError::TooLarge {
                what: self.what,
                bytes,
                limit,
            });
        }
        let present = self.buffer.as_ref().map_or(0, wgpu::Buffer::size);
        let buffer = match self.buffer.take() {
            Some(buffer) if present >= bytes => buffer,
            _ => {
                let size = bytes.max(2 * present).clamp(256, limit).next_multiple_of(4);
                let usage = wgpu::BufferUsages::STORAGE
                    | wgpu::BufferUsages::COPY_SRC
                    | wgpu::BufferUsages::COPY_DST
                    | wgpu::BufferUsages::INDIRECT;
                buffer(gpu, self.what, size, usage)?
            }
        };
        Ok(self.buffer.insert(buffer))
    }

    /// Makes the buffer hold these values.
    pub(crate) fn fill<T: Pod>(
        &mut self,
        gpu: &Gpu,
        values: &[T],
    ) -> Result<&wgpu::Buffer, GpuError> {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        let buffer = self.reserve(gpu, bytes.len() as u64)?;
        gpu.inner.queue.write_buffer(buffer, 0, bytes);
        Ok(buffer)
    }

    /// Returns the buffer; it must have been reserved.
    pub(crate) fn get(&self) -> Result<&wgpu::Buffer, GpuError> {
        let missing = || GpuError::Driver(format!("{} were not reserved", self.what));
        self.buffer.as_ref().ok_or_else(missing)
    }
}

/// Creates a buffer, or returns an error if there is no memory.
pub(crate) fn buffer(
    gpu: &Gpu,
    what: &'static str,
    size: u64,
    usage: wgpu::BufferUsages,
) -> Result<wgpu::Buffer, GpuError> {
    gpu.check()?;
    let scope = (gpu.inner.device).push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    let buffer = gpu.inner.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(what),
        size,
        usage,
        mapped_at_creation: false,
    });
    match wait(scope.pop()) {
        Some(_) => Err(GpuError::OutOfMemory { what, bytes: size }),
        None => Ok(buffer),
    }
}

/// Creates a uniform buffer that holds `value`, whose size is a multiple of 16 bytes.
pub(crate) fn uniform<T: Pod>(gpu: &Gpu, value: &T) -> Result<wgpu::Buffer, GpuError> {
    let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
    let buffer = buffer(gpu, "parameters", size_of::<T>() as u64, usage)?;
    (gpu.inner.queue).write_buffer(&buffer, 0, bytemuck::bytes_of(value));
    Ok(buffer)
}

/// Values on their way back from the device.
#[derive(Debug)]
pub(crate) struct Reading {
    gpu: Gpu,
    staging: wgpu::Buffer,
    bytes: u64,
    ready: Mutex<Receiver<Result<(), wgpu::BufferAsyncError>>>,
}

impl Reading {
    /// Creates the buffer that the values are copied to.
    pub(crate) fn staging(gpu: &Gpu, bytes: u64) -> Result<wgpu::Buffer, GpuError> {
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        buffer(gpu, "values on their way back", bytes.max(4), usage)
    }

    /// Begins to read a buffer made by [`Self::staging`], after the copy to it was submitted.
    pub(crate) fn begin(gpu: &Gpu, staging: wgpu::Buffer, bytes: u64) -> Reading {
        let (sender, ready) = channel();
        staging.map_async(wgpu::MapMode::Read, .., move |result| {
            // The receiver is gone if nobody waits for the values any more.
            let _ = sender.send(result);
        });
        Reading {
            gpu: gpu.clone(),
            staging,
            bytes,
            ready: Mutex::new(ready),
        }
    }

    /// Waits for the values.
    pub(crate) fn wait<T: Pod>(self) -> Result<Vec<T>, GpuError> {
        let gpu = &self.gpu;
        let polled = gpu.inner.device.poll(wgpu::PollType::wait_indefinitely());
        gpu.check()?;
        polled.map_err(|error| GpuError::Driver(error.to_string()))?;
        let ready = self.ready.lock().map(|ready| ready.try_recv());
        match ready {
            Ok(Ok(Ok(()))) => {}
            Ok(Ok(Err(error))) => return Err(GpuError::Driver(error.to_string())),
            _ => return Err(GpuError::Driver("a buffer was not mapped".to_owned())),
        }
        let range = self.staging.get_mapped_range(..self.bytes.max(4));
        let bytes = range.map_err(|error| GpuError::Driver(error.to_string()))?;
        let values = bytemuck::pod_collect_to_vec(&bytes[..self.bytes as usize]);
        drop(bytes);
        self.staging.unmap();
        Ok(values)
    }
}
