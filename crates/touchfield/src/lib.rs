//! Touchfield: from any triangle mesh to a signed distance field you can trust.
#![doc = ""]

mod atomic_file;
pub mod contact;
pub mod field;
pub mod geom;

#[cfg(feature = "bake")]
pub mod mesh;

#[cfg(feature = "bake")]
pub mod bake;
