//! Moving bodies: first touch, least clearance over a motion, and points that move past a field.

pub(crate) mod cast;
pub(crate) mod clearance;
pub(crate) mod shell_front;
pub(crate) mod shell_sweep;
pub mod swept_points;
pub(crate) mod travel;

pub use cast::{Cast, CastOutcome, CastScratch, CastSettings, StartingContact, cast, cast_many};
pub use clearance::{
    Clearance, ClearanceOutcome, ClearanceScratch, ClearanceSettings, clearance, clearance_many,
};
pub use shell_sweep::{Below, Level, MovingShell, ShellSweepScratch, ball_stays_beyond};
pub use travel::MotionError;
