//! Table 3 of \[XuCcd2014\] beside our results: the vertices of a model move between random poses,
//! against the field of the same model.
//!
//! Input: meshes, or a generated knot.
//! Output: a table, JSON, and CSV on demand. Cost and checks: `swept_shell`.
//! Not for: the motions of simulated bodies, which are shorter and stay apart (`xu-table4`).

use clap::Args;
use touchfield::field::Field;
use touchfield::geom::{Aabb, Pose};

use super::swept_shell::{Bodies, Body, Motions, PaperRow, Table};
use crate::host::Host;
use crate::host::Stop;
use crate::random::Random;
use touchfield_report::Answer;

pub(crate) const NAME: &str = "xu-table3";
pub(crate) const DESCRIPTION: &str =
    "[XuCcd2014], Table 3: a shell between random poses, point by point and by spheres";

/// XuCcd2014, Table 3: a shell between random poses, point by point and by spheres
#[derive(Args)]
#[command(after_help = "\
Example:
  touchfield bench xu-table3 --model bunny_777.obj --model dragon.ply --seconds 60 --out table.csv")]
pub(crate) struct Arguments {
    #[command(flatten)]
    bodies: Bodies,
    /// Number of pairs of random poses
    #[arg(long, value_name = "COUNT", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    motions: u32,
}

const fn paper(model: &'static str, points: usize, linear: f64, hierarchy: f64) -> PaperRow {
    PaperRow {
        model,
        points,
        motions: 1000,
        linear,
        hierarchy,
    }
}

/// Table 3 of \[XuCcd2014\].
const TABLE: Table = Table {
    name: NAME,
    about: "Vertices between random poses in three times the field's box",
    paper: &[
        paper("bunny", 777, 1.8, 0.7),
        paper("china bowl", 2072, 3.4, 0.3),
        paper("dragon", 437_645, 761.2, 9.9),
    ],
};

pub(crate) fn run(arguments: &Arguments, host: &dyn Host) -> Result<Answer, Stop> {
    TABLE.run(&arguments.bodies, host, |_, body| {
        Ok(motions(body, arguments.motions))
    })
}

fn motions(body: &Body, count: u32) -> Motions {
    let bounds = body.field.bounds();
    let room = Aabb::from_center(bounds.center(), 1.5 * bounds.extents());
    let middle = body.field.solid().center();
    let mut random = Random::new(3);
    let mut pose = || {
        let rotation = random.rotation();
        Pose {
            rotation,
            // The centre of the body is anywhere in the room.
            translation: random.point(room) - rotation * middle,
        }
    };
    Motions {
        all: (0..count).map(|_| [pose(), pose()]).collect(),
        per_frame: 1,
        run: None,
    }
}
