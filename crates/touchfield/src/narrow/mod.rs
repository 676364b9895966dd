//! Narrow phase: contact between two shapes, one relative pose at a time. There is no world here.

mod auto;
mod both_shells;
mod boxes;
mod by_convex;
mod by_surfaces;
mod cast;
mod clearance;
pub mod convex;
mod exchange;
mod face_descent;
mod face_search;
mod least_first;
mod loose_triangles;
mod motion;
#[expect(
    clippy::module_inception,
    reason = "the pair table is the module's subject"
)]
mod narrow;
mod octree_subdivision;
mod overlap;
mod point_samples;
mod probe;
mod projection_particles;
mod separation;
mod settle;
mod sharpen;
mod shell_pairs;
mod shell_segments;
mod shell_traversal;
mod shell_walk;
mod surface_pairs;
pub mod swept_points;
mod touching;
mod travel;

pub use by_convex::PairMemory;
pub use cast::{Cast, CastOutcome, CastScratch, CastSettings, StartingContact, cast, cast_many};
pub use clearance::{
    Clearance, ClearanceOutcome, ClearanceScratch, ClearanceSettings, clearance, clearance_many,
};
pub use face_descent::{FaceDescent, Features};
pub use loose_triangles::{TriangleScratch, collide_triangles};
pub use motion::{Below, Level, MovingShell, ShellSweepScratch, ball_stays_beyond};
pub use narrow::{
    CollideError, CollideSettings, Contacts, Method, Outcome, Pair, Region, Scratch, collide,
    collide_again, find_contacts, find_contacts_ahead,
};
pub use octree_subdivision::{Descent, Subdivision};
pub use projection_particles::{Particles, Starts};
pub use separation::{
    Separation, SeparationOutcome, SeparationScratch, SeparationSettings, separation,
    separation_again, separation_many,
};
pub use settle::{place_of, revisit, settle};
pub use sharpen::sharpen;
pub use shell_walk::Ahead;
pub use touching::{touching, touching_again};
pub use travel::MotionError;
