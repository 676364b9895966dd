//! Mass properties: volume, centre and inertia of what fields and closed surfaces hold.

mod mass_properties;
mod moments;
mod of_field;
mod principal;

pub use mass_properties::{MassError, MassProperties};
pub use principal::PrincipalAxes;
