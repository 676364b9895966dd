//! Table 1, Figure 8 and Table 2 of \[Sagardia2014\] beside our results: a bouncing ball, and a
//! bunny dropped onto a plane, in Rapier. Figure 10, low rates and stacks of balls in Touchfield's
//! own dynamics.
//!
//! Input: the mesh of a bunny, or a generated knot.
//! Output: a table, JSON, and CSV on demand.
//! Cost: seconds to a minute.
//! Not for: Rapier in a command built without the feature `physics`, which reports that it is
//! missing.
//!
//! The paper's engine is Bullet, ours is Rapier: contact penalty, solver and sleeping differ. The
//! paper's times are those of the collision check; ours are those of a whole step, and in Table 2
//! also of the check alone.

#[cfg(feature = "physics")]
mod ball;
#[cfg(feature = "physics")]
mod bunny;
mod energy;
mod stack;
mod structures;

use std::path::PathBuf;

use clap::Args;

use crate::host::Host;
use crate::host::Stop;
use touchfield_report::Answer;
use touchfield_report::Units;

pub(crate) const TABLE1: &str = "sagardia-table1";
pub(crate) const TABLE1_DESCRIPTION: &str =
    "[Sagardia2014], Table 1: how deep a bouncing ball gets, in Rapier (feature `physics`)";
pub(crate) const FIG8: &str = "sagardia-fig8";
pub(crate) const FIG8_DESCRIPTION: &str = "[Sagardia2014], Figure 8: a bunny dropped onto a plane, time a step, in Rapier (feature `physics`)";
pub(crate) const TABLE2: &str = "sagardia-table2";
pub(crate) const TABLE2_DESCRIPTION: &str =
    "[Sagardia2014], Table 2: a bunny on a plane, by the number of segments (feature `physics`)";
pub(crate) const FIG10: &str = "sagardia-fig10";
pub(crate) const FIG10_DESCRIPTION: &str = "[Sagardia2014], Figure 10: kinetic energy of a bunny dropped onto a plane, and low rates, in Touchfield's own dynamics";
pub(crate) const STACK: &str = "sagardia-stack";
pub(crate) const STACK_DESCRIPTION: &str =
    "[Sagardia2014], §4.1: a stack of balls by shell resolution, in Touchfield's own dynamics";

/// Sagardia2014, Table 1: penetration depth of a bouncing ball, in Rapier (feature `physics`)
#[derive(Args)]
pub(crate) struct Table1 {
    /// Write heights over time to this file, one row per step
    #[arg(long, value_name = "OUT.csv")]
    pub(crate) out: Option<PathBuf>,
}

/// Sagardia2014, Figure 8: step time of a bunny dropped onto a plane, in Rapier (feature `physics`)
#[derive(Args)]
pub(crate) struct Fig8 {
    #[command(flatten)]
    pub(crate) bunny: Bunny,
    /// Write time and speed of each step to this file
    #[arg(long, value_name = "OUT.csv")]
    pub(crate) out: Option<PathBuf>,
}

/// Sagardia2014, Table 2: a bunny on a plane, by the number of segments (feature `physics`)
#[derive(Args)]
pub(crate) struct Table2 {
    #[command(flatten)]
    pub(crate) bunny: Bunny,
    /// Number of attitudes in which it is dropped
    #[arg(long, value_name = "COUNT", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) drops: u32,
}

/// Sagardia2014, Figure 10: kinetic energy of a bunny dropped onto a plane, and what holds it up at
/// few steps a second, in Touchfield's own dynamics
#[derive(Args)]
pub(crate) struct Fig10 {
    #[command(flatten)]
    pub(crate) bunny: Bunny,
    /// Simulated time \[s\]
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0)]
    pub(crate) seconds: f64,
    /// Write the table of Figure 10 to this file
    #[arg(long, value_name = "OUT.csv")]
    pub(crate) out: Option<PathBuf>,
    /// Write the table of rates to this file
    #[arg(long, value_name = "OUT.csv")]
    pub(crate) out_rates: Option<PathBuf>,
    /// Write energies and depths over time to this file
    #[arg(long, value_name = "OUT.csv")]
    pub(crate) out_curves: Option<PathBuf>,
}

/// Sagardia2014, §4.1: a stack of balls by shell resolution, in Touchfield's own dynamics
#[derive(Args)]
pub(crate) struct Stack {
    /// Approximate numbers of shell points; those of the paper's balls are the first and the last
    #[arg(long, value_name = "COUNT,...", value_delimiter = ',', default_values_t = [275, 2_700, 25_880],
        value_parser = clap::value_parser!(u32).range(20..=1_000_000))]
    pub(crate) points: Vec<u32>,
    /// Number of stacks, with balls in random attitudes
    #[arg(long, value_name = "COUNT", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) runs: u32,
    /// Simulated time \[s\]
    #[arg(long, value_name = "SECONDS", default_value_t = 3.0)]
    pub(crate) seconds: f64,
    /// Write the table to this file
    #[arg(long, value_name = "OUT.csv")]
    pub(crate) out: Option<PathBuf>,
}

/// The body that is dropped.
#[derive(Args)]
pub(crate) struct Bunny {
    /// Mesh to drop; without one a torus knot, also concave
    #[arg(long, value_name = "MESH")]
    pub(crate) model: Option<PathBuf>,
    /// Unit of the mesh; it is scaled to 0.2 m
    #[arg(long, value_enum, default_value_t = Units::M)]
    pub(crate) units: Units,
}

pub(crate) fn fig10(arguments: &Fig10, host: &dyn Host) -> Result<Answer, Stop> {
    energy::run(arguments, host)
}

pub(crate) fn stack(arguments: &Stack, host: &dyn Host) -> Result<Answer, Stop> {
    stack::run(arguments, host)
}

pub(crate) fn table1(arguments: &Table1, host: &dyn Host) -> Result<Answer, Stop> {
    #[cfg(feature = "physics")]
    return ball::run(arguments, host);
    #[cfg(not(feature = "physics"))]
    Err(without_physics(TABLE1, (&arguments.out, host)))
}

pub(crate) fn fig8(arguments: &Fig8, host: &dyn Host) -> Result<Answer, Stop> {
    #[cfg(feature = "physics")]
    return bunny::figure(arguments, host);
    #[cfg(not(feature = "physics"))]
    Err(without_physics(
        FIG8,
        (
            &arguments.out,
            &arguments.bunny.model,
            arguments.bunny.units,
            host,
        ),
    ))
}

pub(crate) fn table2(arguments: &Table2, host: &dyn Host) -> Result<Answer, Stop> {
    #[cfg(feature = "physics")]
    return bunny::table(arguments, host);
    #[cfg(not(feature = "physics"))]
    Err(without_physics(
        TABLE2,
        (
            arguments.drops,
            &arguments.bunny.model,
            arguments.bunny.units,
            host,
        ),
    ))
}

/// Returns the error of a command built without physics. Its arguments are ignored.
#[cfg(not(feature = "physics"))]
pub(crate) fn without_physics<T>(name: &str, _asked: T) -> Stop {
    Stop::BadInput(format!(
        "bench {name} runs in Rapier, which this command was built without: cargo run --release --features physics -- bench {name}"
    ))
}
