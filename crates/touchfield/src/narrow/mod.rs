//! Narrow phase: contact between two shapes, one relative pose at a time. There is no world here.

#[expect(
    clippy::module_inception,
    reason = "the pair table is the module's subject"
)]
mod narrow;
mod point_samples;
mod probe;
mod separation;
mod shell_pairs;
mod shell_segments;
mod shell_traversal;
mod shell_walk;
mod touching;

pub use narrow::{
    CollideError, CollideSettings, Contacts, Method, Outcome, Pair, Scratch, collide,
};
pub use separation::{
    Separation, SeparationOutcome, SeparationScratch, SeparationSettings, separation,
    separation_many,
};
pub use touching::touching;
