//! Fields in device memory.
//!
//! Input: shapes, with their point shells.
//! Output: [`Shapes`], which kernels read and the CPU samples through.
//! Cost: one copy of all values; none afterwards.
//! Not for: poses, which change with every step.
//!
//! All shapes lie in one list of words: headers first, then the data of each. Where a binding is
//! too small for the list, it is split into up to [`MOST_CHUNKS`] equal chunks; a kernel finds the
//! chunk of a word from its index.

use std::fmt::Write;

use touchfield::shape::Shape;

use crate::device::Gpu;
use crate::error::GpuError;
use crate::kernel::INDEX;
use crate::layout::{HEADER, Kind, Packed, place};
use crate::memory::buffer;

/// Most chunks: with them, four of the eight storage buffers of WebGPU's floor are left.
const MOST_CHUNKS: u64 = 4;

/// Fields in device memory.
#[derive(Debug)]
pub struct Shapes {
    gpu: Gpu,
    /// The header of each shape, as it was uploaded.
    headers: Vec<[u32; HEADER]>,
    chunks: Vec<wgpu::Buffer>,
    /// Words of a chunk, as a power of two; only the last chunk may be smaller.
    chunk_log2: u32,
    bytes: u64,
    /// What kernels must know of the shapes.
    present: Present,
}

/// What there is among shapes: kernels compile nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Present {
    /// Kinds of fields, a bit for each: dense, Taylor, sparse, closed forms.
    pub kinds: u32,
    /// Operations of the programs of closed forms, a bit for each.
    pub operations: u32,
}

impl Shapes {
    /// Uploads shapes; they are numbered in this order.
    pub fn upload(gpu: &Gpu, shapes: &[&Shape]) -> Result<Shapes, GpuError> {
        let packed: Result<Vec<Packed>, GpuError> = shapes
            .iter()
            .enumerate()
            .map(|(shape, field)| Packed::new(field).map_err(|why| GpuError::NoForm { shape, why }))
            .collect();
        Shapes::from_packed(gpu, packed?)
    }

    pub(crate) fn from_packed(gpu: &Gpu, packed: Vec<Packed>) -> Result<Shapes, GpuError> {
        let count = packed.len();
        let header_words = HEADER * count;
        let total = header_words as u64 + packed.iter().map(|p| p.words.len() as u64).sum::<u64>();
        let bytes = 4 * total.max(1);
        let limit = gpu.adapter().max_binding_bytes;
        // The largest power of two of words that a binding holds.
        let chunk_log2 = (limit / 4).ilog2().min(31);
        let room = (MOST_CHUNKS * 4) << chunk_log2;
        if bytes > room || total > u64::from(u32::MAX) {
            return Err(GpuError::TooLarge {
                what: "fields",
                bytes,
                limit: room.min(4 * u64::from(u32::MAX)),
            });
        }
        let mut present = Present::default();
        for shape in &packed {
            present.kinds |= 1 << shape.header[place::KIND];
            present.operations |= shape.operations;
        }
        let mut words = Vec::with_capacity(total.max(1) as usize);
        let mut first = header_words as u32;
        let mut headers = Vec::with_capacity(count);
        for shape in &packed {
            let mut header = shape.header;
            for offset in place::offsets() {
                header[offset] += first;
            }
            words.extend(header);
            headers.push(header);
            first += shape.words.len() as u32;
        }
        for shape in packed {
            words.extend(shape.words);
        }
        if words.is_empty() {
            words.push(0);
        }
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let chunks = words.chunks(1 << chunk_log2).map(|words| {
            let chunk = buffer(gpu, "fields", 4 * words.len() as u64, usage)?;
            (gpu.inner.queue).write_buffer(&chunk, 0, bytemuck::cast_slice(words));
            Ok(chunk)
        });
        let chunks: Result<Vec<_>, GpuError> = chunks.collect();
        let chunks = chunks?;
        // So that a large upload does not wait, as a second copy, for the first kernel.
        gpu.inner.queue.submit([]);
        gpu.check()?;
        Ok(Shapes {
            gpu: gpu.clone(),
            headers,
            chunks,
            chunk_log2,
            bytes,
            present,
        })
    }

    /// Returns the device that holds the fields.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Returns the number of shapes.
    pub fn len(&self) -> usize {
        self.headers.len()
    }

    /// Returns whether there are no shapes.
    pub fn is_empty(&self) -> bool {
        self.headers.is_empty()
    }

    /// Returns the size of all fields on the device in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the headers of all shapes.
    pub(crate) fn headers(&self) -> &[[u32; HEADER]] {
        &self.headers
    }

    /// Returns the buffers of bind group 0.
    pub(crate) fn words(&self) -> &[wgpu::Buffer] {
        &self.chunks
    }

    /// Returns a name for a kernel that reads these fields, and its complete WGSL. The number of
    /// chunks and the kinds of fields are part of both.
    pub(crate) fn source(&self, name: &str, kernel: &str) -> (String, String) {
        let count = self.chunks.len() as u32;
        let (chunk_log2, present) = (self.chunk_log2, self.present);
        let name = format!("{name} ({count} chunks of 2^{chunk_log2}, {present:?})");
        (name, source(count, chunk_log2, present, kernel))
    }
}

/// Returns complete WGSL for a kernel that reads fields: in so many chunks, each of a power of two
/// of words, and of what is present. For tests without an adapter.
#[doc(hidden)]
pub fn source(chunks: u32, chunk_log2: u32, present: Present, kernel: &str) -> String {
    let mut text = String::from(INDEX);
    let names = [
        ("HAS_DENSE", Kind::Dense),
        ("HAS_TAYLOR", Kind::Taylor),
        ("HAS_SPARSE", Kind::Sparse),
        ("HAS_PROGRAM", Kind::Program),
    ];
    for (name, kind) in names {
        let is_there = present.kinds >> kind as u32 & 1 == 1;
        let _ = writeln!(text, "const {name}: bool = {is_there};");
    }
    let _ = writeln!(text, "const OPERATIONS: u32 = {}u;", present.operations);
    text.push_str("const HAS_STORED: bool = HAS_DENSE || HAS_TAYLOR || HAS_SPARSE;\n");
    for chunk in 0..chunks {
        let _ = writeln!(
            text,
            "@group(0) @binding({chunk}) var<storage, read> words_{chunk}: array<u32>;"
        );
    }
    text.push_str("fn word(index: u32) -> u32 {\n");
    if chunks == 1 {
        text.push_str("    return words_0[index];\n}\n");
    } else {
        let _ = writeln!(text, "    let at = index & {}u;", (1u64 << chunk_log2) - 1);
        let _ = writeln!(text, "    switch index >> {chunk_log2}u {{");
        for chunk in 1..chunks {
            let _ = writeln!(
                text,
                "        case {chunk}u: {{ return words_{chunk}[at]; }}"
            );
        }
        text.push_str("        default: { return words_0[at]; }\n    }\n}\n");
    }
    text.push_str(include_str!("shaders/program.wgsl"));
    text.push_str(include_str!("shaders/fields.wgsl"));
    text.push_str(kernel);
    text
}
