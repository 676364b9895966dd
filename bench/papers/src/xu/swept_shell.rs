//! Shared by Tables 3 and 4 of \[XuCcd2014\]: the vertices of a model move against the field of the
//! same model, tested point by point and by the sphere hierarchy.
//!
//! Input: models and their motions, in frames of one or more.
//! Output: CPU seconds of both methods, as a table, JSON and CSV. Both must find the same spans,
//! bit for bit.
//! Cost: one bake per model; then at most the seconds allowed point by point, and less by spheres.
//! Not for: creating motions, which each table does itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use touchfield::bake::pointshell::{ShellSampling, ShellSettings, shell_of_mesh};
use touchfield::field::{Field, FieldOctree, StoredField};
use touchfield::geom::Pose;
use touchfield::mass::{MassError, MassProperties};
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
    pub(crate) field: Arc<StoredField>,
    pub(crate) octree: Arc<FieldOctree>,
    pub(crate) shell: Arc<PointShell>,
    /// For unit density, from the triangles.
    pub(crate) mass: Result<MassProperties, MassError>,
}

impl Body {
    /// Returns the field that the points move against.
    pub(crate) fn target(&self) -> SweptField<'_> {
        SweptField::stored(&self.field, Some(&self.octree))
    }
}

/// Start and end pose of the shell in the frame of the field.
pub(crate) type Motion = [Pose; 2];

/// The motions of a body, in frames of equally many.
pub(crate) struct Motions {
    pub(crate) all: Vec<Motion>,
    /// Number of consecutive motions in a frame; at least 1.
    pub(crate) per_frame: usize,
    /// Result of the simulation that made the motions, if there was one.
    pub(crate) run: Option<Run>,
}

/// What is known of the simulation that made the motions.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    /// Number of frames whose states were compared, point by point and by spheres.
    pub(crate) compared: usize,
    /// Number of frames in which the body touched the ground.
    pub(crate) on_ground: usize,
    /// Greatest depth of a contact, in sides of the body.
    pub(crate) depth: f64,
}

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
    /// Number of frames; without a simulation, a frame is a motion.
    motions: usize,
    wanted: &'static str,
    linear: Part,
    /// CPU time of all frames \[s\].
    hierarchy: f64,
    /// CPU time of the frames that were also done point by point \[s\].
    hierarchy_of_part: f64,
    /// Number of frames in contact.
    hits: usize,
    /// Number of spans over all frames.
    spans: usize,
    run: Option<Run>,
}

impl Row {
    fn linear_of_all(&self) -> f64 {
        self.linear.of_all(self.motions)
    }

    /// Returns the ratio of both times over the same motions.
    fn ratio(&self) -> f64 {
        self.linear.seconds / self.hierarchy_of_part
    }

    fn share_in_contact(&self) -> f64 {
        self.hits as f64 / self.motions as f64
    }

    /// Returns a line about the simulation, if there was one; a model has one for all its rows.
    fn about_run(&self) -> Option<String> {
        let run = self.run?;
        let percent = |count: usize| format!("{:.1} %", 100.0 * count as f64 / self.motions as f64);
        Some(format!(
            "{}: bodies in contact in {} of the frames, on the ground in {}, {:.4} sides deep; states of {} frames equal to the bit",
            self.model,
            percent(self.hits),
            percent(run.on_ground),
            run.depth,
            report::count_of(run.compared),
        ))
    }
}

impl Table {
    /// Measures all models. `motions` makes the motions of a model, given its index in the list.
    pub(crate) fn run(
        &self,
        bodies: &Bodies,
        host: &dyn Host,
        motions: impl Fn(usize, &Body) -> Result<Motions, Stop>,
    ) -> Result<Answer, Stop> {
        if let Some(out) = &bodies.out {
            let inputs: Vec<&Path> = bodies.model.iter().map(PathBuf::as_path).collect();
            host.check_text(out, "csv", &inputs)?;
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
            host.write_text(out, &self.csv(&rows))?;
        }
        Ok(Answer {
            text: self.text(bodies, &rows),
            json: self.json(bodies, &rows),
        })
    }
}

impl Bodies {
    fn make(&self, model: &Model, host: &dyn Host) -> Result<Body, Stop> {
        Body::make(
            model,
            model.field(self.resolution, self.field, &self.kept, host)?,
        )
    }

    /// Returns the CPU seconds that a model may take point by point.
    pub(crate) fn seconds(&self) -> f64 {
        self.seconds.into()
    }
}

impl Body {
    /// Makes the body of a model whose field is baked.
    pub(crate) fn make(model: &Model, field: StoredField) -> Result<Body, Stop> {
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
            octree: Arc::new(FieldOctree::build(&field)),
            field: Arc::new(field),
            shell: Arc::new(shell),
            mass: MassProperties::of_triangles(model.mesh.triangles()),
        })
    }
}

/// The motions of one body, and which spans to find.
struct Bench<'a> {
    body: &'a Body,
    motions: &'a Motions,
    wanted: SweepWanted,
}

/// Digest of the spans of a motion: their number and a hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Digest {
    spans: usize,
    number: u64,
}

impl Digest {
    fn add(&mut self, found: &[PointSpan]) {
        for span in found {
            let words = [
                span.point.into(),
                span.span.enter.to_bits(),
                span.span.leave.to_bits(),
            ];
            for word in words {
                // Multiplying by an odd number loses no bits.
                self.number =
                    (self.number.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            }
        }
        self.spans += found.len();
    }
}

impl Bench<'_> {
    fn run(&self, model: String, wanted: &'static str, limit: f64) -> Result<Row, Stop> {
        let mut buffers = Buffers::default();
        let order = spread(self.motions.all.len() / self.motions.per_frame);
        let mut one_by_one = vec![Digest::default(); order.len()];
        let linear = clock::up_to(limit, order.len(), 1, |index| {
            one_by_one[index] = self.sweep(order[index], false, &mut buffers)?;
            Ok(())
        })?;
        let mut by_spheres = |order: &[usize]| {
            clock::least(|| {
                for &frame in order {
                    self.sweep(frame, true, &mut buffers)?;
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
        for (index, &frame) in order.iter().enumerate() {
            let digest = self.sweep(frame, true, &mut buffers)?;
            if index < linear.done && digest != one_by_one[index] {
                let first = frame * self.motions.per_frame;
                return Err(Stop::Disagreement(format!(
                    "{model}, motion {frame} {:?}, {wanted}: point by point {:?}, by spheres {digest:?}",
                    self.motions.all[first], one_by_one[index]
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
            run: self.motions.run,
        })
    }

    /// Finds the spans of all motions of a frame.
    fn sweep(&self, frame: usize, by_spheres: bool, buffers: &mut Buffers) -> Result<Digest, Stop> {
        let settings = SweepSettings {
            wanted: self.wanted,
            by_spheres,
            // Straight paths are exact.
            ..SweepSettings::to_within(self.body.field.error_bound())
        };
        let mut digest = Digest::default();
        let count = self.motions.per_frame;
        for &[from, to] in &self.motions.all[frame * count..][..count] {
            sweep_shell(
                &self.body.shell,
                &ShellPath::Straight { from, to },
                &self.body.target(),
                &settings,
                &mut buffers.scratch,
                &mut buffers.found,
            )
            .map_err(|error| Stop::BadInput(error.to_string()))?;
            digest.add(&buffers.found);
        }
        Ok(digest)
    }
}

/// Buffers that are reused from motion to motion.
#[derive(Default)]
struct Buffers {
    scratch: SweepScratch,
    found: Vec<PointSpan>,
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

/// Returns a cell of a CSV file, empty without a number.
fn cell(number: Option<usize>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
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
        let mut runs: Vec<String> = rows.iter().filter_map(Row::about_run).collect();
        runs.dedup();
        format!(
            "{}; {} fields of {}³, CPU time of one thread\n  [XuCcd2014]: {PAPER_SETUP}\n{}{}{}",
            self.about,
            bodies.field.name(),
            bodies.resolution,
            report::table(&headings, &lines),
            report::list("about; the ratio is that over these motions", &parts),
            report::list("simulations", &runs),
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
                "share_in_contact": row.share_in_contact(),
                "spans": row.spans,
                "states_compared": row.run.map(|run| run.compared),
                "on_ground": row.run.map(|run| run.on_ground),
                "depth_in_sides": row.run.map(|run| run.depth),
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
            "model,points,motions,spans,linear s,of motions,hierarchy s,ratio,in contact,spans found,on ground,states compared\n",
        );
        for row in self.paper {
            text += &format!(
                "paper: {},{},{},all,{},{},{},{:.1},,,,\n",
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
                "{},{},{},{},{:.6},{},{:.6},{:.1},{},{},{},{}\n",
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
                row.spans,
                cell(row.run.map(|run| run.on_ground)),
                cell(row.run.map(|run| run.compared)),
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
