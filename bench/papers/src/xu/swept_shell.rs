//! Shared by Tables 3 and 4 of \[XuCcd2014\]: the vertices of a model move against the field of the
//! same model, tested point by point and by the sphere hierarchy.
//!
//! Input: models and their motions.
//! Output: CPU seconds of both methods, as a table, JSON and CSV. Both must find the same spans,
//! bit for bit.
//! Cost: one bake per model; then at most the seconds allowed point by point, and less by spheres.
//! Not for: creating motions, which each table does itself.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use touchfield::bake::pointshell::{ShellSampling, ShellSettings, shell_of_mesh};
use touchfield::field::{Field, FieldOctree, StoredField};
use touchfield::geom::Pose;
use touchfield::narrow::swept_points::{
    PointSpan, ShellPath, SweepScratch, SweepSettings, SweepWanted, SweptField, sweep_shell,
};
use touchfield::pointshell::PointShell;

use crate::clock::{self, Part};
use crate::host::Host;
use crate::host::Stop;
use crate::model::{Kept, Kind, Model};
use touchfield_report::Units;
use touchfield_report::{self as report, Answer};

/// Models, and how they are measured.
#[derive(Args)]
pub(crate) struct Bodies {
    /// Closed mesh; may be given several times [default: a built-in knot of 1,560 triangles]
    #[arg(long, value_name = "FILE")]
    model: Vec<PathBuf>,
    /// Unit of the meshes
    #[arg(long, value_enum, default_value_t)]
    units: Units,
    /// Cells along the longest side
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(8..=65_536))]
    resolution: u32,
    /// How the field is stored
    #[arg(long, value_enum, default_value_t = Kind::Sparse)]
    field: Kind,
    /// CPU seconds for all motions of a model point by point; the time beyond them is estimated
    /// from what was done
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    seconds: u32,
    /// Which spans to find [default: both]
    #[arg(long, value_enum)]
    spans: Option<Spans>,
    /// Also write the rows to this file
    #[arg(long, value_name = "FILE.csv")]
    out: Option<PathBuf>,
    #[command(flatten)]
    kept: Kept,
}

/// The field of a model, and its vertices.
pub(crate) struct Body {
    pub(crate) field: StoredField,
    pub(crate) octree: FieldOctree,
    pub(crate) shell: PointShell,
}

impl Body {
    /// Returns the field that the points move against.
    pub(crate) fn target(&self) -> SweptField<'_> {
        SweptField::stored(&self.field, Some(&self.octree))
    }
}

/// Start and end pose of the shell in the frame of the field.
pub(crate) type Motion = [Pose; 2];

/// One row of a table of the paper, in seconds.
pub(crate) struct PaperRow {
    pub(crate) model: &'static str,
    pub(crate) points: usize,
    pub(crate) motions: usize,
    pub(crate) linear: f64,
    pub(crate) hierarchy: f64,
}

/// The paper's hardware and field size.
const PAPER_SETUP: &str = "Xeon of 2.9 GHz, fields of 1024³";

/// Which spans of a motion to find.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Spans {
    /// every span of every point
    All,
    /// the first contact
    First,
}

impl Spans {
    fn wanted(self) -> SweepWanted {
        match self {
            Spans::All => SweepWanted::All,
            Spans::First => SweepWanted::First,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Spans::All => "all",
            Spans::First => "first",
        }
    }
}

/// Name of a table, and the published results it is compared with.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    /// Description of the motions, for the line above the table.
    pub(crate) about: &'static str,
    pub(crate) paper: &'static [PaperRow],
}

struct Row {
    model: String,
    points: usize,
    motions: usize,
    wanted: &'static str,
    linear: Part,
    /// CPU time of all motions \[s\].
    hierarchy: f64,
    /// CPU time of the motions that were also done point by point \[s\].
    hierarchy_of_part: f64,
    /// Number of motions in contact.
    hits: usize,
    /// Number of spans over all motions.
    spans: usize,
}

impl Row {
    fn linear_of_all(&self) -> f64 {
        self.linear.of_all(self.motions)
    }

    /// Returns the ratio of both times over the same motions.
    fn ratio(&self) -> f64 {
        self.linear.seconds / self.hierarchy_of_part
    }
}

impl Table {
    /// Measures all models. `motions` makes the motions of a model, given its index in the list.
    pub(crate) fn run(
        &self,
        bodies: &Bodies,
        host: &dyn Host,
        motions: impl Fn(usize, &Body) -> Result<Vec<Motion>, Stop>,
    ) -> Result<Answer, Stop> {
        if let Some(out) = &bodies.out {
            let inputs: Vec<&Path> = bodies.model.iter().map(PathBuf::as_path).collect();
            host.check_csv(out, &inputs)?;
        }
        let load =
            |path: Option<&PathBuf>| Model::load(path.map(PathBuf::as_path), bodies.units, host);
        let models: Vec<Model> = match bodies.model.is_empty() {
            true => vec![load(None)?],
            false => (bodies.model.iter().map(Some).map(load)).collect::<Result<_, _>>()?,
        };
        let mut rows = Vec::new();
        for (index, model) in models.iter().enumerate() {
            let body = bodies.make(model, host)?;
            let motions = motions(index, &body)?;
            for spans in [Spans::All, Spans::First] {
                if bodies.spans.is_some_and(|only| only != spans) {
                    continue;
                }
                let bench = Bench {
                    body: &body,
                    motions: &motions,
                    wanted: spans.wanted(),
                };
                rows.push(bench.run(model.name(), spans.name(), bodies.seconds.into())?);
            }
        }
        if let Some(out) = &bodies.out {
            host.write_csv(out, &self.csv(&rows))?;
        }
        Ok(Answer {
            text: self.text(bodies, &rows),
            json: self.json(bodies, &rows),
        })
    }
}

impl Bodies {
    fn make(&self, model: &Model, host: &dyn Host) -> Result<Body, Stop> {
        let field = model.field(self.resolution, self.field, &self.kept, host)?;
        let settings = ShellSettings {
            sampling: ShellSampling::Vertices,
            fill_gaps: false,
            ..ShellSettings::default()
        };
        let shell = shell_of_mesh(&model.mesh, &field, &settings).map_err(|error| {
            let path = model.path.display();
            let message = format!("{path}: its pointshell cannot be made: {error}");
            match error.is_limit() {
                true => Stop::Limit(message),
                false => Stop::BadInput(message),
            }
        })?;
        Ok(Body {
            octree: FieldOctree::build(&field),
            field,
            shell,
        })
    }
}

/// The motions of one body, and which spans to find.
struct Bench<'a> {
    body: &'a Body,
    motions: &'a [Motion],
    wanted: SweepWanted,
}

/// Digest of the spans of a motion: their number and a hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Digest {
    spans: usize,
    number: u64,
}

impl Digest {
    fn of(found: &[PointSpan]) -> Digest {
        let mut number = 0u64;
        for span in found {
            let words = [
                span.point.into(),
                span.span.enter.to_bits(),
                span.span.leave.to_bits(),
            ];
            for word in words {
                // Multiplying by an odd number loses no bits.
                number = (number.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            }
        }
        Digest {
            spans: found.len(),
            number,
        }
    }
}

impl Bench<'_> {
    fn run(&self, model: String, wanted: &'static str, limit: f64) -> Result<Row, Stop> {
        let mut scratch = SweepScratch::default();
        let mut found = Vec::new();
        let order = spread(self.motions.len());
        let mut one_by_one = vec![Digest::default(); order.len()];
        let linear = clock::up_to(limit, order.len(), 1, |index| {
            self.sweep(order[index], false, &mut scratch, &mut found)?;
            one_by_one[index] = Digest::of(&found);
            Ok(())
        })?;
        let mut by_spheres = |order: &[usize]| {
            clock::least(|| {
                for &motion in order {
                    self.sweep(motion, true, &mut scratch, &mut found)?;
                }
                Ok(())
            })
        };
        let hierarchy = by_spheres(&order)?;
        let hierarchy_of_part = match linear.done < order.len() {
            true => by_spheres(&order[..linear.done])?,
            false => hierarchy,
        };
        let (mut hits, mut spans) = (0, 0);
        for (index, &motion) in order.iter().enumerate() {
            self.sweep(motion, true, &mut scratch, &mut found)?;
            let digest = Digest::of(&found);
            if index < linear.done && digest != one_by_one[index] {
                return Err(Stop::Disagreement(format!(
                    "{model}, motion {motion} {:?}, {wanted}: point by point {:?}, by spheres {digest:?}",
                    self.motions[motion], one_by_one[index]
                )));
            }
            hits += usize::from(digest.spans > 0);
            spans += digest.spans;
        }
        Ok(Row {
            model,
            points: self.body.shell.points().len(),
            motions: order.len(),
            wanted,
            linear,
            hierarchy,
            hierarchy_of_part,
            hits,
            spans,
        })
    }

    fn sweep(
        &self,
        motion: usize,
        by_spheres: bool,
        scratch: &mut SweepScratch,
        found: &mut Vec<PointSpan>,
    ) -> Result<(), Stop> {
        let [from, to] = self.motions[motion];
        let settings = SweepSettings {
            wanted: self.wanted,
            by_spheres,
            // Straight paths are exact.
            ..SweepSettings::to_within(self.body.field.error_bound())
        };
        let path = ShellPath::Straight { from, to };
        sweep_shell(
            &self.body.shell,
            &path,
            &self.body.target(),
            &settings,
            scratch,
            found,
        )
        .map_err(|error| Stop::BadInput(error.to_string()))
    }
}

/// Returns all numbers below `count`, in an order in which every prefix is spread over all of them.
fn spread(count: usize) -> Vec<usize> {
    let divides = |a: usize, b: usize| {
        let (mut a, mut b) = (a, b);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a > 1
    };
    // Multiples of the golden section spread best.
    let golden = (0.618 * count as f64) as usize;
    let step = (golden.max(1)..).find(|&step| !divides(step, count));
    (0..count).map(|i| i * step.unwrap_or(1) % count).collect()
}

impl Table {
    fn text(&self, bodies: &Bodies, rows: &[Row]) -> String {
        let mut lines: Vec<Vec<String>> = (self.paper.iter())
            .map(|row| {
                vec![
                    format!("[XuCcd2014]: {}", row.model),
                    report::count_of(row.points),
                    report::count_of(row.motions),
                    "all".to_owned(),
                    report::seconds(row.linear),
                    report::seconds(row.hierarchy),
                    format!("{:.1}", row.linear / row.hierarchy),
                ]
            })
            .collect();
        for row in rows {
            let mark = match row.linear.done < row.motions {
                true => "about ",
                false => "",
            };
            lines.push(vec![
                row.model.clone(),
                report::count_of(row.points),
                report::count_of(row.motions),
                row.wanted.to_owned(),
                format!("{mark}{}", report::seconds(row.linear_of_all())),
                report::seconds(row.hierarchy),
                format!("{:.1}", row.ratio()),
                report::count_of(row.hits),
                report::rounded(row.spans as f64 / row.motions as f64),
            ]);
        }
        let headings = [
            "model",
            ">points",
            ">motions",
            "spans",
            ">point by point",
            ">by spheres",
            ">ratio",
            ">in contact",
            ">spans a motion",
        ];
        let cut_short = rows.iter().filter(|row| row.linear.done < row.motions);
        let parts: Vec<String> = cut_short
            .map(|row| {
                let done = report::count_of(row.linear.done);
                format!("{}, {}: from {done} motions", row.model, row.wanted)
            })
            .collect();
        format!(
            "{}; {} fields of {}³, CPU time of one thread\n  [XuCcd2014]: {PAPER_SETUP}\n{}{}",
            self.about,
            bodies.field.name(),
            bodies.resolution,
            report::table(&headings, &lines),
            report::list("about; the ratio is that over these motions", &parts),
        )
    }

    fn json(&self, bodies: &Bodies, rows: &[Row]) -> Value {
        let row = |row: &Row| {
            json!({
                "model": row.model,
                "points": row.points,
                "motions": row.motions,
                "wanted": row.wanted,
                "linear_seconds": row.linear_of_all(),
                "linear_motions": row.linear.done,
                "hierarchy_seconds": row.hierarchy,
                "ratio": row.ratio(),
                "in_contact": row.hits,
                "spans": row.spans,
            })
        };
        let paper = |row: &PaperRow| {
            json!({
                "model": row.model,
                "points": row.points,
                "motions": row.motions,
                "linear_seconds": row.linear,
                "hierarchy_seconds": row.hierarchy,
            })
        };
        json!({
            "bench": self.name,
            "resolution": bodies.resolution,
            "field": bodies.field.name(),
            "rows": rows.iter().map(row).collect::<Vec<_>>(),
            "document": self.paper.iter().map(paper).collect::<Vec<_>>(),
            "document_setup": PAPER_SETUP,
        })
    }

    /// Returns the table as CSV, the paper's rows first.
    fn csv(&self, rows: &[Row]) -> String {
        let mut text = String::from(
            "model,points,motions,spans,linear s,of motions,hierarchy s,ratio,in contact,spans found\n",
        );
        for row in self.paper {
            text += &format!(
                "paper: {},{},{},all,{},{},{},{:.1},,\n",
                row.model,
                row.points,
                row.motions,
                row.linear,
                row.motions,
                row.hierarchy,
                row.linear / row.hierarchy
            );
        }
        for row in rows {
            text += &format!(
                "{},{},{},{},{:.6},{},{:.6},{:.1},{},{}\n",
                // A comma in a name would shift the columns.
                row.model.replace([',', '"', '\n'], " "),
                row.points,
                row.motions,
                row.wanted,
                row.linear_of_all(),
                row.linear.done,
                row.hierarchy,
                row.ratio(),
                row.hits,
                row.spans
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once_and_beginnings_are_spread() {
        for count in [0, 1, 2, 3, 10, 618, 1000, 2600] {
            let mut order = spread(count);
            if count >= 1000 {
                let tenth = &order[..count / 10];
                let halves = tenth.iter().filter(|&&i| i < count / 2).count();
                assert!(halves.abs_diff(count / 20) < 5, "{halves} of {count}");
            }
            order.sort_unstable();
            assert!(order.into_iter().eq(0..count), "{count}");
        }
    }
}
