//! Table 1, Figure 8 and Table 2 of document 003 beside ours: a bouncing ball, and a bunny that is
//! dropped onto a plane, in Rapier.
//!
//! Input: the mesh of a bunny, or a built-in knot. Output: a table, JSON, and CSV on demand. Cost:
//! seconds to a minute.
//! Not for: a command without physics (feature `physics`), which says so.
//!
//! The document's engine is Bullet, ours Rapier: its penalty, solver and sleeping differ. Its times
//! are those of the collision check; ours of a whole step, and for Table 2 of the check alone as
//! well.

#[cfg(feature = "physics")]
mod ball;
#[cfg(feature = "physics")]
mod bunny;

use std::path::PathBuf;

use clap::Args;

use crate::host::Host;
use crate::host::Stop;
use touchfield_report::Answer;
use touchfield_report::Units;

pub(crate) const TABLE1: &str = "sagardia-table1";
pub(crate) const TABLE1_DESCRIPTION: &str =
    "document 003, Table 1: how deep a bouncing ball gets, in Rapier (feature `physics`)";
pub(crate) const FIG8: &str = "sagardia-fig8";
pub(crate) const FIG8_DESCRIPTION: &str = "document 003, Figure 8: a bunny dropped onto a plane, time a step, in Rapier (feature `physics`)";
pub(crate) const TABLE2: &str = "sagardia-table2";
pub(crate) const TABLE2_DESCRIPTION: &str =
    "document 003, Table 2: a bunny on a plane, by the number of segments (feature `physics`)";

/// Document 003, Table 1: how deep a bouncing ball gets, in Rapier (feature `physics`)
#[derive(Args)]
pub(crate) struct Table1 {
    /// Heights over time, one row a step
    #[arg(long, value_name = "OUT.csv")]
    pub(crate) out: Option<PathBuf>,
}

/// Document 003, Figure 8: a bunny dropped onto a plane, time a step, in Rapier (feature `physics`)
#[derive(Args)]
pub(crate) struct Fig8 {
    #[command(flatten)]
    pub(crate) bunny: Bunny,
    /// Time and speed of each step
    #[arg(long, value_name = "OUT.csv")]
    pub(crate) out: Option<PathBuf>,
}

/// Document 003, Table 2: a bunny on a plane, by the number of segments (feature `physics`)
#[derive(Args)]
pub(crate) struct Table2 {
    #[command(flatten)]
    pub(crate) bunny: Bunny,
    /// Attitudes in which it is dropped
    #[arg(long, value_name = "COUNT", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) drops: u32,
}

/// What is dropped.
#[derive(Args)]
pub(crate) struct Bunny {
    /// A mesh; without one a knot falls, which is no more convex
    #[arg(long, value_name = "MESH")]
    pub(crate) model: Option<PathBuf>,
    /// Unit of the mesh; it is scaled to 0.2 m
    #[arg(long, value_enum, default_value_t = Units::M)]
    pub(crate) units: Units,
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

/// What was asked is not looked at.
#[cfg(not(feature = "physics"))]
pub(crate) fn without_physics<T>(name: &str, _asked: T) -> Stop {
    Stop::BadInput(format!(
        "bench {name} runs in Rapier, which this command was built without: cargo run --release --features physics -- bench {name}"
    ))
}
