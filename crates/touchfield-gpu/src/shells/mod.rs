//! Contact by shells for many pairs at once: contacts, least distances, sweeps, reduction.
//!
//! Input: uploaded shapes of which at least one of each pair has a point shell; relative poses.
//! Output: contacts in the order of the pairs and of the points; least distances; first contacts.
//! Cost: one thread per shell point, or per sphere near the other body. Buffers are kept from call
//! to call; a call whose buffers suffice is one submission.
//! Not for: a single pair, which the CPU answers before a device has started.
//!
//! After \[Krayer2020\], Alg. 3: count, prefix sum, exact allocation, fill. We differ in that the
//! order is fixed: a contact's place follows from the points before it, not from a counter. Every
//! method is held against its counterpart of the same name in the narrow phase of the library.

mod contacts;
mod least;
mod levels;
mod probe;
mod reduce;
mod sweep;

pub use contacts::{ShellContacts, ShellQuery, ShellSearch, ShellSettings};
pub use least::Gap;
pub use sweep::{FirstTouch, MovingPair, SweepSettings};

use crate::error::GpuError;
use crate::kernel::Kernel;
use crate::upload::Shapes;
use std::sync::Arc;

/// Returns a kernel that reads fields, from parts of WGSL.
fn kernel(shapes: &Shapes, entry: &str, parts: &[&str]) -> Result<Arc<Kernel>, GpuError> {
    let text = parts.concat();
    let (name, source) = shapes.source(entry, &text);
    shapes.gpu().kernel(&name, entry, || source)
}

/// What all kernels over shell points share.
const SHELL: &str = include_str!("../shaders/shell.wgsl");

/// The search for the range of an index.
const RANGES: &str = include_str!("../shaders/ranges.wgsl");

/// Returns the larger part of a number of bytes that may be read, in units of four bytes.
fn most(shapes: &Shapes, size: usize) -> u64 {
    shapes.gpu().adapter().max_binding_bytes / size as u64
}
