//! Bodies over time.

mod shell_sweep;

pub use shell_sweep::{Below, Level, MovingShell, ShellSweepScratch, ball_stays_beyond};
