//! Mass properties: volume, centre of mass and inertia of the solids of fields and closed surfaces.

mod mass_properties;
mod moments;
mod of_field;
mod principal;

pub use mass_properties::{MassError, MassProperties};
pub use principal::PrincipalAxes;
