//! Commands about meshes.

pub(crate) mod inspect;
pub(crate) mod models;
