//! Contacts for solvers: which pairs may meet, where they touch, and which contact of the last
//! search each one continues.

mod candidates;
mod finder;
mod ground;
mod slots;

pub(crate) use candidates::Candidates;
pub use finder::ContactFinder;
pub(crate) use finder::{Lane, Search};
pub(crate) use slots::{Place, Slot, Slots};
