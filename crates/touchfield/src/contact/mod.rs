//! Results of contact queries: types only, no algorithms.

mod contact;
mod impact;

pub use contact::{Contact, ContactId};
pub use impact::Impact;
