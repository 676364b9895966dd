//! Table 2 of \[XuCcd2014\] beside our results: random segments in the box of a field, traversed
//! cell by cell and over the blocks of an octree.
//!
//! Input: a mesh, or a generated knot.
//! Output: a table for points, one for balls, JSON, and CSV on demand. Both traversals must agree.
//! Cost: the bakes, then seconds per field.
//! Not for: other libraries (`bench/peers/swept_run`), or whole bodies (`xu-table3`).
//!
//! The paper stops at every crossing; *all* does that. *Onset* is the cost of a first hit. A ball
//! of radius r is a point against the level set r.

use std::path::{Path, PathBuf};

use clap::Args;
use glam::Vec3;
use serde_json::{Value, json};
use touchfield::field::{Field, FieldOctree, StoredField};
use touchfield::narrow::swept_points::{
    SegmentSettings, SegmentSpans, Span, SweptField, Wanted, cross_segment, cross_segments,
};

use crate::clock::{self, Part};
use crate::host::Host;
use crate::host::Stop;
use crate::model::{Kept, Kind, Model};
use crate::random::Random;
use touchfield_report::Units;
use touchfield_report::{self as report, Answer, terminal};

pub(crate) const NAME: &str = "xu-table2";
pub(crate) const DESCRIPTION: &str =
    "[XuCcd2014], Table 2: segments against a field, cell by cell and by octree; and balls";

/// XuCcd2014, Table 2: segments against a field, cell by cell and by octree; and balls
#[derive(Args)]
#[command(after_help = "\
Example:
  touchfield bench xu-table2 --model bunny_777.obj --resolution 128,512 --out table.csv

Times are CPU seconds of one thread. A resolution that --max-memory forbids is left out, and the table says what it would take.")]
pub(crate) struct Arguments {
    /// Closed mesh [default: a built-in knot of 1,560 triangles]
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Unit of the mesh
    #[arg(long, value_enum, default_value_t)]
    units: Units,
    /// Cells along the longest side
    #[arg(long, value_name = "N,N,...", value_delimiter = ',', default_values_t = PAPER.map(|row| row.cells),
        value_parser = clap::value_parser!(u32).range(8..=65_536))]
    resolution: Vec<u32>,
    /// How fields are stored
    #[arg(long, value_enum, value_name = "KIND,KIND", value_delimiter = ',', default_values_t = [Kind::Dense, Kind::Sparse])]
    field: Vec<Kind>,
    /// Number of segments between random points of the field's box
    #[arg(long, value_name = "COUNT", default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    segments: u32,
    /// CPU seconds for a traversal cell by cell; the time beyond them is estimated from what was
    /// done
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    seconds: u32,
    /// Also write the rows to this file
    #[arg(long, value_name = "FILE.csv")]
    out: Option<PathBuf>,
    #[command(flatten)]
    kept: Kept,
}

/// One row of the table as the paper prints it: seconds for a million segments.
struct PaperRow {
    cells: u32,
    cell_by_cell: f64,
    octree: f64,
}

const fn paper_row(cells: u32, cell_by_cell: f64, octree: f64) -> PaperRow {
    PaperRow {
        cells,
        cell_by_cell,
        octree,
    }
}

/// Table 2 of \[XuCcd2014\].
const PAPER: [PaperRow; 4] = [
    paper_row(128, 12.7, 12.0),
    paper_row(256, 38.8, 13.1),
    paper_row(512, 97.2, 15.4),
    paper_row(1024, 274.3, 21.4),
];
const PAPER_SEGMENTS: u32 = 1_000_000;

/// The paper's segments, mesh and hardware.
const PAPER_SETUP: &str =
    "a million segments, bunny of 777 vertices, Xeon of 2.9 GHz, octree down to single cells";

/// Radii of balls, as shares of half the model's longest side. The first is a point.
const RADII: [f32; 4] = [0.0, 0.0001, 0.02, 0.1];

/// Number of segments between two readings of the clock.
const RUN: usize = 1000;

/// What to find on a segment, and its name.
const WANTED: [(Wanted, &str); 2] = [(Wanted::All, "all"), (Wanted::Onset, "onset")];

struct Row {
    cells: u32,
    kind: &'static str,
    /// The measurements, or the reason why there are none.
    measured: Result<Vec<Crossing>, String>,
}

/// Result of all segments against one level of one field.
struct Crossing {
    wanted: &'static str,
    /// Radius, as a share of half the model's longest side.
    radius: f32,
    cell_by_cell: Part,
    /// CPU time of all segments by octree \[s\].
    octree: f64,
    /// Number of segments in contact.
    hits: usize,
}

pub(crate) fn run(arguments: &Arguments, host: &dyn Host) -> Result<Answer, Stop> {
    if let Some(out) = &arguments.out {
        let inputs: Vec<&Path> = arguments.model.as_deref().into_iter().collect();
        host.check_text(out, "csv", &inputs)?;
    }
    let model = Model::load(arguments.model.as_deref(), arguments.units, host)?;
    let mut rows = Vec::new();
    for &cells in &arguments.resolution {
        for &kind in &arguments.field {
            let measured = match model.field(cells, kind, &arguments.kept, host) {
                Ok(field) => Ok(measure(&model, &field, arguments)?),
                Err(Stop::Limit(why)) => Err(why),
                Err(failure) => return Err(failure),
            };
            rows.push(Row {
                cells,
                kind: kind.name(),
                measured,
            });
        }
    }
    if let Some(Err(why)) = rows.iter().map(|row| &row.measured).next_back()
        && rows.iter().all(|row| row.measured.is_err())
    {
        return Err(Stop::Limit(format!("no resolution fits; the last: {why}")));
    }
    let table = Table {
        model: &model,
        segments: arguments.segments as usize,
        rows: &rows,
    };
    if let Some(out) = &arguments.out {
        host.write_text(out, &table.csv())?;
    }
    Ok(Answer {
        text: table.text(),
        json: table.json(),
    })
}

fn measure(
    model: &Model,
    field: &StoredField,
    arguments: &Arguments,
) -> Result<Vec<Crossing>, Stop> {
    let octree = FieldOctree::build(field);
    let half_side = 0.5 * model.mesh.bounds().extents().max_element() as f32;
    let mut random = Random::new(2);
    let bench = Bench {
        cell_by_cell: SweptField::stored(field, None),
        by_octree: SweptField::stored(field, Some(&octree)),
        segments: (0..arguments.segments)
            .map(|_| [(); 2].map(|()| random.point(field.bounds())))
            .collect(),
        cell_size: field.finest_cell_size(),
    };
    let mut crossings = Vec::new();
    for radius in RADII {
        for (wanted, name) in WANTED {
            let settings = SegmentSettings {
                level: radius * half_side,
                wanted,
                ..SegmentSettings::default()
            };
            // For balls a part is enough: it serves only as a comparison.
            let seconds = if radius == 0.0 { arguments.seconds } else { 1 };
            let (cell_by_cell, octree, hits) = bench.run(&settings, seconds.into())?;
            crossings.push(Crossing {
                wanted: name,
                radius,
                cell_by_cell,
                octree,
                hits,
            });
        }
    }
    Ok(crossings)
}

/// Segments, and two ways to traverse a field along them.
struct Bench<'a> {
    cell_by_cell: SweptField<'a>,
    by_octree: SweptField<'a>,
    segments: Vec<[Vec3; 2]>,
    cell_size: f32,
}

/// The parts of a result that are compared.
#[derive(Clone, Copy, Default)]
struct Found {
    spans: usize,
    enter: f64,
    leave: f64,
}

impl Found {
    #[inline]
    fn of(spans: &[Span]) -> Found {
        let ends = spans.first().zip(spans.last());
        ends.map_or(Found::default(), |(first, last)| Found {
            spans: spans.len(),
            enter: first.enter,
            leave: last.leave,
        })
    }
}

impl Bench<'_> {
    /// Runs both traversals and returns the part done cell by cell, the seconds by octree, and the
    /// number of segments in contact.
    fn run(&self, settings: &SegmentSettings, limit: f64) -> Result<(Part, f64, usize), Stop> {
        let count = self.segments.len();
        let mut spans = Vec::new();
        let mut slow = vec![Found::default(); count];
        let part = clock::up_to(limit, count, RUN, |index| {
            slow[index] = self.cross(&self.cell_by_cell, index, settings, &mut spans)?;
            Ok(())
        })?;
        let mut quick = vec![Found::default(); count];
        let mut many = SegmentSpans::default();
        let seconds = clock::least(|| {
            for (segments, found) in self.segments.chunks(RUN).zip(quick.chunks_mut(RUN)) {
                cross_segments(&self.by_octree, segments, settings, &mut many)
                    .map_err(|error| Stop::BadInput(error.to_string()))?;
                for (index, found) in found.iter_mut().enumerate() {
                    *found = Found::of(many.of(index));
                }
            }
            Ok(())
        })?;
        for (index, (slow, quick)) in slow[..part.done].iter().zip(&quick).enumerate() {
            self.compare(index, settings, slow, quick)?;
        }
        let hits = quick.iter().filter(|found| found.spans > 0).count();
        Ok((part, seconds, hits))
    }

    #[inline]
    fn cross(
        &self,
        target: &SweptField<'_>,
        index: usize,
        settings: &SegmentSettings,
        spans: &mut Vec<Span>,
    ) -> Result<Found, Stop> {
        let [from, to] = self.segments[index];
        cross_segment(target, from, to, settings, spans)
            .map_err(|error| Stop::BadInput(error.to_string()))?;
        Ok(Found::of(spans))
    }

    fn compare(
        &self,
        index: usize,
        settings: &SegmentSettings,
        slow: &Found,
        quick: &Found,
    ) -> Result<(), Stop> {
        /// Times agree to within this share of a cell: they are roots of one polynomial, approached
        /// from different ends.
        const NEAR: f64 = 1e-5;
        let [from, to] = self.segments[index];
        let cells = f64::from(from.distance(to) / self.cell_size);
        let near = |a: f64, b: f64| (a - b).abs() * cells <= NEAR;
        let ends_near = settings.wanted != Wanted::All || near(slow.leave, quick.leave);
        if slow.spans == quick.spans && near(slow.enter, quick.enter) && ends_near {
            return Ok(());
        }
        Err(Stop::Disagreement(format!(
            "segment {index} from {from:?} to {to:?} at level {:?}: cell by cell {} spans from {} to {}, by octree {} from {} to {}",
            settings.level,
            slow.spans,
            slow.enter,
            slow.leave,
            quick.spans,
            quick.enter,
            quick.leave,
        )))
    }
}

fn paper(cells: u32) -> Option<&'static PaperRow> {
    PAPER.iter().find(|row| row.cells == cells)
}

/// The results to print.
struct Table<'a> {
    model: &'a Model,
    segments: usize,
    rows: &'a [Row],
}

impl Table<'_> {
    fn text(&self) -> String {
        let mut left_out = Vec::new();
        for row in self.rows {
            if let Err(why) = &row.measured {
                left_out.push(format!("{}³ {}: {why}", row.cells, row.kind));
            }
        }
        format!(
            "{}, {}, {} between random points of the field's box; CPU time of one thread\n  [XuCcd2014]: {PAPER_SETUP}\n{}{}{}\
             \nBalls against {}³, radius as a part of half the longest side\n{}",
            terminal::path(&self.model.path),
            report::plural(self.model.mesh.faces.len(), "triangle", "triangles"),
            report::plural(self.segments, "segment", "segments"),
            self.points(),
            self.cut_short(),
            report::list("left out", &left_out),
            self.finest().map_or(0, |row| row.cells),
            self.balls(),
        )
    }

    fn points(&self) -> String {
        let mut lines = Vec::new();
        let mut last = None;
        for row in self.rows {
            if last != Some(row.cells)
                && let Some(paper) = paper(row.cells)
            {
                lines.push(vec![
                    format!("{}³", row.cells),
                    "[XuCcd2014]".to_owned(),
                    "all".to_owned(),
                    report::seconds(paper.cell_by_cell),
                    report::seconds(paper.octree),
                    format!("{:.1}", paper.cell_by_cell / paper.octree),
                    String::new(),
                    report::rounded(f64::from(PAPER_SEGMENTS) / paper.octree),
                ]);
            }
            last = Some(row.cells);
            let crossings = row.measured.as_deref().unwrap_or_default();
            for found in crossings.iter().filter(|found| found.radius == 0.0) {
                let slow = found.cell_by_cell.of_all(self.segments);
                let mark = match found.cell_by_cell.done < self.segments {
                    true => "about ",
                    false => "",
                };
                lines.push(vec![
                    format!("{}³", row.cells),
                    row.kind.to_owned(),
                    found.wanted.to_owned(),
                    format!("{mark}{}", report::seconds(slow)),
                    report::seconds(found.octree),
                    format!("{:.1}", slow / found.octree),
                    report::count_of(found.hits),
                    report::rounded(self.segments as f64 / found.octree),
                ]);
            }
        }
        let headings = [
            ">resolution",
            "field",
            "spans",
            ">cell by cell",
            ">by octree",
            ">ratio",
            ">in contact",
            ">a CPU second",
        ];
        report::table(&headings, &lines)
    }

    /// Returns a sentence that explains *about*, if the table uses it.
    fn cut_short(&self) -> String {
        let crossings = (self.rows.iter()).flat_map(|row| row.measured.iter().flatten());
        let parts = crossings
            .filter(|found| found.radius == 0.0)
            .map(|found| found.cell_by_cell.done);
        match parts.min() {
            Some(least) if least < self.segments => format!(
                "  about: from {} of the segments or more; those were compared\n",
                report::count_of(least)
            ),
            _ => String::new(),
        }
    }

    /// Returns the largest resolution that was measured.
    fn finest(&self) -> Option<&Row> {
        let measured = self.rows.iter().filter(|row| row.measured.is_ok());
        measured.max_by_key(|row| row.cells)
    }

    fn balls(&self) -> String {
        let finest = self.finest().map(|row| row.cells);
        let rows = self.rows.iter().filter(|row| Some(row.cells) == finest);
        let mut lines = Vec::new();
        for row in rows {
            let crossings = row.measured.as_deref().unwrap_or_default();
            for (_, wanted) in WANTED {
                let of_wanted = || crossings.iter().filter(|found| found.wanted == wanted);
                let point = of_wanted().next().map_or(f64::NAN, |found| found.octree);
                lines.extend(of_wanted().map(|found| {
                    vec![
                        row.kind.to_owned(),
                        found.wanted.to_owned(),
                        found.radius.to_string(),
                        report::seconds(found.octree),
                        format!("{:.2}", found.octree / point),
                        report::count_of(found.hits),
                        report::rounded(self.segments as f64 / found.octree),
                    ]
                }));
            }
        }
        let headings = [
            "field",
            "spans",
            ">radius",
            ">by octree",
            ">times a point",
            ">in contact",
            ">a CPU second",
        ];
        report::table(&headings, &lines)
    }

    fn json(&self) -> Value {
        let crossing = |found: &Crossing| {
            json!({
                "wanted": found.wanted,
                "radius": found.radius,
                "cell_by_cell_seconds": found.cell_by_cell.of_all(self.segments),
                "cell_by_cell_segments": found.cell_by_cell.done,
                "octree_seconds": found.octree,
                "in_contact": found.hits,
                "segments_per_cpu_second": self.segments as f64 / found.octree,
            })
        };
        let row = |row: &Row| {
            let crossings = row.measured.as_ref().ok();
            json!({
                "resolution": row.cells,
                "kind": row.kind,
                "crossings": crossings.map(|found| found.iter().map(crossing).collect::<Vec<_>>()),
                "left_out": row.measured.as_ref().err(),
                "document": paper(row.cells).map(|paper| json!({
                    "cell_by_cell_seconds": paper.cell_by_cell,
                    "octree_seconds": paper.octree,
                })),
            })
        };
        json!({
            "bench": NAME,
            "model": self.model.path.to_string_lossy(),
            "triangles": self.model.mesh.faces.len(),
            "segments": self.segments,
            "document_setup": PAPER_SETUP,
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
        })
    }

    /// Returns one row for each method and radius, including the paper's; what was left out has no
    /// figures.
    fn csv(&self) -> String {
        let mut text = String::from(
            "resolution,field,spans,radius,segments,cell by cell s,of segments,octree s,in contact\n",
        );
        let mut last = None;
        for row in self.rows {
            let cells = row.cells;
            if last != Some(cells)
                && let Some(paper) = paper(cells)
            {
                text += &format!(
                    "{cells},paper,all,0,{PAPER_SEGMENTS},{},{PAPER_SEGMENTS},{},\n",
                    paper.cell_by_cell, paper.octree
                );
            }
            last = Some(cells);
            match &row.measured {
                Ok(crossings) => {
                    for found in crossings {
                        text += &format!(
                            "{cells},{},{},{},{},{:.6},{},{:.6},{}\n",
                            row.kind,
                            found.wanted,
                            found.radius,
                            self.segments,
                            found.cell_by_cell.of_all(self.segments),
                            found.cell_by_cell.done,
                            found.octree,
                            found.hits
                        );
                    }
                }
                Err(_) => text += &format!("{cells},{},,,,,,,\n", row.kind),
            }
        }
        text
    }
}
