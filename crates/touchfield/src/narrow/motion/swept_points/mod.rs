//! Narrow phase: when moving points are at or below a level of a field.
//!
//! Input: a segment, or a shell of points and its motion; any field.
//! Output: spans of time in contact, or the first, or only whether there is one.
//! Cost: a few hundred nanoseconds per segment where an octree skips what is far; a shell tests few
//! of its points.
//! Not for: surfaces between points, which `cast` covers with a proof.
//!
//! After \[XuCcd2014\] (docs/BIBLIOGRAPHY.md), sections 3.1 to 3.3. **Touching counts**: a point at
//! the level is in contact. We differ in three ways. A cell is crossed by its exact polynomial
//! instead of two signs, so that a crossing into and out of one cell is not lost. Blocks are
//! skipped by their range *and* by the slope of the field. Nodes and points of a shell may move on
//! true paths, not only on straight ones.
//!
//! ```
//! use glam::Vec3;
//! use touchfield::field::primitive::Sphere;
//! use touchfield::narrow::swept_points::{SegmentSettings, SweptField, cross_segment};
//!
//! let ball = Sphere::new(1.0)?;
//! let mut spans = Vec::new();
//! let (from, to) = (Vec3::new(-4.0, 0.0, 0.0), Vec3::new(4.0, 0.0, 0.0));
//! cross_segment(&SweptField::new(&ball), from, to, &SegmentSettings::default(), &mut spans)?;
//! // In after three of eight metres, out after five.
//! assert!((spans[0].enter - 0.375).abs() < 1e-5 && (spans[0].leave - 0.625).abs() < 1e-5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod by_bisection;
mod many;
mod over_cells;
mod polynomial;
mod segment;
mod shell;
mod spans;
mod within;

pub use many::{SegmentSpans, cross_segments};
pub use segment::{SegmentSettings, SweptError, SweptField, cross_segment};
pub use shell::{PointSpan, ShellPath, SweepScratch, SweepSettings, SweepWanted, sweep_shell};
pub use spans::{Roots, Span, Wanted};
