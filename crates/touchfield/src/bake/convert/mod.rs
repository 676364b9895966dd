//! Conversions: fields into other kinds of fields, fields into meshes, meshes into hulls and
//! surfaces.

pub(crate) mod convex_hull;
pub(crate) mod given;
pub(crate) mod isosurface;
pub(crate) mod settings;
pub(crate) mod stored;
pub(crate) mod surface;
pub(crate) mod to_dense;
pub(crate) mod to_sparse;

pub use convex_hull::hull_of_mesh;
pub use given::{Given, GivenError, Promise, given_grid};
pub use isosurface::{IsosurfaceError, IsosurfaceSettings, isosurface};
pub use settings::{ConvertError, ConvertSettings, Keep, Target};
pub use stored::{convert, converted_provenance};
pub use surface::surface_of_mesh;
