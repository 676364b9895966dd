//! Shapes: what contact queries know of a body.

#[expect(clippy::module_inception, reason = "the type is the module's subject")]
mod shape;

pub use shape::Shape;
