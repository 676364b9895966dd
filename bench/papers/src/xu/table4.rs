//! Table 4 of \[XuCcd2014\] beside our results: a model dropped on a fixed copy of itself and on
//! the ground, simulated with continuous penalties.
//!
//! Input: meshes, or a generated knot.
//! Output: a table, JSON, and CSV on demand. Cost and checks: `swept_shell`; simulation: `falling`.
//! Not for: stability, see `fig6`.
//!
//! The simulation runs twice in step, point by point and by spheres, and all states must be equal
//! to the bit. What is timed is the continuous collision detection between both bodies in every
//! frame of that trajectory, each body in both roles, as in the paper.

use clap::Args;

use super::falling;
use super::swept_shell::{Bodies, PaperRow, Table};
use crate::host::Host;
use crate::host::Stop;
use touchfield_report::Answer;

pub(crate) const NAME: &str = "xu-table4";
pub(crate) const DESCRIPTION: &str =
    "[XuCcd2014], Table 4: a simulated body dropped on its copy, point by point and by spheres";

/// XuCcd2014, Table 4: a simulated body dropped on its copy, point by point and by spheres
#[derive(Args)]
#[command(after_help = "\
Example:
  touchfield bench xu-table4 --model bunny_777.obj --model dragon.ply --frames 2600,1160 --out table.csv")]
pub(crate) struct Arguments {
    #[command(flatten)]
    bodies: Bodies,
    /// Frames of half a millisecond, model by model; the last number applies to all that follow
    #[arg(long, value_name = "COUNT,...", value_delimiter = ',', default_values_t = [2600],
        value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    frames: Vec<u32>,
}

const fn paper(
    model: &'static str,
    points: usize,
    motions: usize,
    linear: f64,
    hierarchy: f64,
) -> PaperRow {
    PaperRow {
        model,
        points,
        motions,
        linear,
        hierarchy,
    }
}

/// Table 4 of \[XuCcd2014\].
const TABLE: Table = Table {
    name: NAME,
    about: "A body dropped on a fixed copy of itself and on the ground, both roles of every frame",
    paper: &[
        paper("bunny", 777, 2600, 8.0, 2.5),
        paper("china bowl", 2072, 2000, 20.3, 4.5),
        paper("dragon", 437_645, 1160, 671.6, 2.6),
    ],
};

pub(crate) fn run(arguments: &Arguments, host: &dyn Host) -> Result<Answer, Stop> {
    TABLE.run(&arguments.bodies, host, |index, body| {
        // Never empty: clap has a default.
        let given = arguments.frames.get(index).or(arguments.frames.last());
        let frames = given.copied().unwrap_or(1) as usize;
        falling::simulate(body, frames, arguments.bodies.seconds())
    })
}
