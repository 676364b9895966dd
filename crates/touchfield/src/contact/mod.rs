//! Results of contact queries: types only, no algorithms.

#[expect(clippy::module_inception, reason = "the type is the module's subject")]
mod contact;
mod impact;
mod wrench;

pub use contact::{Contact, ContactId};
pub use impact::Impact;
pub use wrench::{PenaltyWrench, SegmentWrench, Wrench};
