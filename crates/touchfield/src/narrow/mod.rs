//! Narrow phase: contacts, distance and motion queries for two shapes, one relative pose at a time.

pub(crate) mod auto;
pub(crate) mod contacts;
pub mod convex;
pub(crate) mod method;
pub(crate) mod motion;
#[expect(
    clippy::module_inception,
    reason = "the pair table is the module's subject"
)]
pub(crate) mod narrow;
pub(crate) mod pair;
pub(crate) mod scratch;
pub(crate) mod search;
pub(crate) mod separation;
pub(crate) mod touching;

pub use contacts::{
    Ahead, TriangleScratch, collide_triangles, penalty_points, penalty_wrench, place_of, revisit,
    settle, sharpen,
};
pub use method::{ContactMethod, Descent, FaceDescent, Features, Particles, Starts, Subdivision};
pub use motion::{
    Below, Cast, CastOutcome, CastScratch, CastSettings, Clearance, ClearanceOutcome,
    ClearanceScratch, ClearanceSettings, Level, MotionError, MovingShell, ShellSweepScratch,
    StartingContact, ball_stays_beyond, cast, cast_many, clearance, clearance_many, swept_points,
};
pub use narrow::{collide, collide_again, find_contacts, find_contacts_ahead};
pub use pair::{
    CollideError, CollideSettings, Contacts, Outcome, Pair, PenaltyNormals, Region, WrenchSettings,
};
pub use scratch::{PairMemory, Scratch, SeparationScratch};
pub use search::particle_region::ParticleRegion;
pub use search::penalty_point::PenaltyPoint;
pub use search::probe::Side;
pub use separation::{
    Separation, SeparationOutcome, SeparationSettings, separation, separation_again,
    separation_many,
};
pub use touching::{touching, touching_again};
