//! Table 1 of \[XuCcd2014\] beside our results: time and memory of a field and the octree over it,
//! over the resolution.
//!
//! Input: a mesh, or a knot of about as many triangles as the paper's bunny.
//! Output: a table, JSON, and CSV on demand.
//! Cost: the bakes; a dense field of 1024³ takes minutes and gigabytes.
//! Not for: other libraries on this machine (`bench/peers`).

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use serde_json::{Value, json};
use touchfield::bake::{BakeSettings, Resolution, SparseSettings};
use touchfield::field::{LeafSide, MinMaxOctree, SparseOctree, StoredField};
use touchfield::mesh::TriangleMesh;

use crate::host::Host;
use crate::host::Stop;
use crate::model::Model;
use touchfield_report::Units;
use touchfield_report::{self as report, Answer, terminal};

pub(crate) const NAME: &str = "xu-table1";
pub(crate) const DESCRIPTION: &str =
    "[XuCcd2014], Table 1: time and memory of a field and its octree, 128³ to 1024³";

/// XuCcd2014, Table 1: time and memory of a field and its octree
#[derive(Args)]
#[command(after_help = "\
Example:
  touchfield bench xu-table1 --model bunny_777.obj --resolution 128,256,512 --max-memory 2G --out table.csv

A resolution that --max-memory forbids is left out, and the table says what it would take.")]
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
    /// Also write the rows to this file
    #[arg(long, value_name = "FILE.csv")]
    out: Option<PathBuf>,
}

/// One row of the table as the paper prints it: seconds and megabytes.
struct PaperRow {
    cells: u32,
    field_seconds: f64,
    field_megabytes: f64,
    octree_seconds: f64,
    octree_megabytes: f64,
}

const fn paper_row(cells: u32, field: [f64; 2], octree: [f64; 2]) -> PaperRow {
    PaperRow {
        cells,
        field_seconds: field[0],
        field_megabytes: field[1],
        octree_seconds: octree[0],
        octree_megabytes: octree[1],
    }
}

/// Table 1 of \[XuCcd2014\]. Its gigabytes are written here as a thousand megabytes.
const PAPER: [PaperRow; 4] = [
    paper_row(128, [1.9, 8.2], [0.01, 34.2]),
    paper_row(256, [6.8, 64.8], [0.09, 273.6]),
    paper_row(512, [45.6, 518.0], [0.65, 2140.0]),
    paper_row(1024, [347.0, 4100.0], [4.88, 17_100.0]),
];

/// The paper's mesh and hardware.
const PAPER_SETUP: &str =
    "bunny of 777 vertices, 8 threads of a Xeon of 2.9 GHz; octree down to single cells";

/// Measurements of one field.
struct Measured {
    /// Wall time \[s\].
    field_seconds: f64,
    field_bytes: u64,
    octree_seconds: f64,
    octree_bytes: u64,
}

struct Row {
    cells: u32,
    kind: &'static str,
    /// The measurements, or the reason why there are none.
    measured: Result<Measured, String>,
}

pub(crate) fn run(arguments: &Arguments, host: &dyn Host) -> Result<Answer, Stop> {
    if let Some(out) = &arguments.out {
        let inputs: Vec<&Path> = arguments.model.as_deref().into_iter().collect();
        host.check_text(out, "csv", &inputs)?;
    }
    let Model { path, mesh } = Model::load(arguments.model.as_deref(), arguments.units, host)?;
    let mut rows = Vec::new();
    for &cells in &arguments.resolution {
        for (kind, sparse) in [("dense", None), ("sparse", Some(SparseSettings::default()))] {
            let settings = BakeSettings {
                // The paper's megabytes are those of one node more than cells.
                resolution: Resolution::Nodes(cells + 1),
                max_memory: host.max_memory(),
                ..BakeSettings::default()
            };
            let measured = match measure(&path, &mesh, &settings, sparse.as_ref(), host) {
                Ok(measured) => Ok(measured),
                Err(Stop::Limit(why)) => Err(why),
                Err(failure) => return Err(failure),
            };
            rows.push(Row {
                cells,
                kind,
                measured,
            });
        }
    }
    if let Some(Err(why)) = rows.iter().map(|row| &row.measured).next_back()
        && rows.iter().all(|row| row.measured.is_err())
    {
        return Err(Stop::Limit(format!("no resolution fits; the last: {why}")));
    }
    if let Some(out) = &arguments.out {
        host.write_text(out, &csv(&rows))?;
    }
    Ok(Answer {
        text: text(&path, &mesh, &rows),
        json: as_json(&path, &mesh, &rows),
    })
}

fn measure(
    path: &Path,
    mesh: &TriangleMesh,
    settings: &BakeSettings,
    sparse: Option<&SparseSettings>,
    host: &dyn Host,
) -> Result<Measured, Stop> {
    let start = Instant::now();
    let field = host.bake(path, mesh, settings, sparse)?.field;
    let field_seconds = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let octree_bytes = match &field {
        StoredField::Dense(grid) => MinMaxOctree::build(grid, LeafSide::Four).bytes(),
        StoredField::Sparse(sparse) => SparseOctree::build(sparse).bytes(),
        StoredField::Taylor(_) | StoredField::Voxmap(_) => 0,
    };
    Ok(Measured {
        field_seconds,
        field_bytes: field.bytes() as u64,
        octree_seconds: start.elapsed().as_secs_f64(),
        octree_bytes: octree_bytes as u64,
    })
}

fn paper(cells: u32) -> Option<&'static PaperRow> {
    PAPER.iter().find(|row| row.cells == cells)
}

/// Formats a size as the paper does: MB, or GB from a thousand on.
fn megabytes(number: f64) -> String {
    report::bytes((1e6 * number) as u64)
}

fn text(path: &Path, mesh: &TriangleMesh, rows: &[Row]) -> String {
    let mut lines = Vec::new();
    let mut left_out = Vec::new();
    let mut last = None;
    for row in rows {
        if last != Some(row.cells)
            && let Some(paper) = paper(row.cells)
        {
            lines.push(vec![
                format!("{}³", row.cells),
                "[XuCcd2014]".to_owned(),
                report::seconds(paper.field_seconds),
                megabytes(paper.field_megabytes),
                report::seconds(paper.octree_seconds),
                megabytes(paper.octree_megabytes),
            ]);
        }
        last = Some(row.cells);
        let figures = match &row.measured {
            Ok(found) => [
                report::seconds(found.field_seconds),
                report::bytes(found.field_bytes),
                report::seconds(found.octree_seconds),
                report::bytes(found.octree_bytes),
            ],
            Err(why) => {
                left_out.push(format!("{}³ {}: {why}", row.cells, row.kind));
                ["left out", "", "", ""].map(str::to_owned)
            }
        };
        let mut line = vec![format!("{}³", row.cells), row.kind.to_owned()];
        line.extend(figures);
        lines.push(line);
    }
    let headings = [
        ">resolution",
        "field",
        ">field time",
        ">memory",
        ">octree time",
        ">memory",
    ];
    format!(
        "{}, {}, {}; [XuCcd2014]: {PAPER_SETUP}\n{}{}  dense: every node in 32 bits, octree down to 4³ cells; \
         sparse: a band of ±3 cells in 16 bits, octree down to single cells\n",
        terminal::path(path),
        report::plural(mesh.faces.len(), "triangle", "triangles"),
        report::plural(rayon::current_num_threads(), "thread", "threads"),
        report::table(&headings, &lines),
        report::list("left out", &left_out),
    )
}

fn as_json(path: &Path, mesh: &TriangleMesh, rows: &[Row]) -> Value {
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            let found = row.measured.as_ref().ok();
            json!({
                "resolution": row.cells,
                "kind": row.kind,
                "field_seconds": found.map(|found| found.field_seconds),
                "field_bytes": found.map(|found| found.field_bytes),
                "octree_seconds": found.map(|found| found.octree_seconds),
                "octree_bytes": found.map(|found| found.octree_bytes),
                "left_out": row.measured.as_ref().err(),
                "document": paper(row.cells).map(|paper| json!({
                    "field_seconds": paper.field_seconds,
                    "field_megabytes": paper.field_megabytes,
                    "octree_seconds": paper.octree_seconds,
                    "octree_megabytes": paper.octree_megabytes,
                })),
            })
        })
        .collect();
    json!({
        "bench": NAME,
        "model": path.to_string_lossy(),
        "triangles": mesh.faces.len(),
        "threads": rayon::current_num_threads(),
        "document_setup": PAPER_SETUP,
        "rows": rows,
    })
}

/// Returns one row for each field, including the paper's; a field that was left out has no figures.
fn csv(rows: &[Row]) -> String {
    let mut text = String::from("resolution,field,field s,field bytes,octree s,octree bytes\n");
    let mut last = None;
    for row in rows {
        if last != Some(row.cells)
            && let Some(paper) = paper(row.cells)
        {
            let bytes = |megabytes: f64| (1e6 * megabytes).round();
            text += &format!(
                "{},paper,{},{},{},{}\n",
                row.cells,
                paper.field_seconds,
                bytes(paper.field_megabytes),
                paper.octree_seconds,
                bytes(paper.octree_megabytes)
            );
        }
        last = Some(row.cells);
        text += &match &row.measured {
            Ok(found) => format!(
                "{},{},{:.6},{},{:.6},{}\n",
                row.cells,
                row.kind,
                found.field_seconds,
                found.field_bytes,
                found.octree_seconds,
                found.octree_bytes
            ),
            Err(_) => format!("{},{},,,,\n", row.cells, row.kind),
        };
    }
    text
}
