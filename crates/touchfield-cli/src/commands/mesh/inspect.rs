//! `touchfield inspect`: a mesh's defects, or a baked file's contents.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use touchfield::field::Field;
use touchfield::geom::{DAabb, Triangle};
use touchfield::mesh::{Defect, SelfIntersectionList, TriangleMesh, Validation, validate};

use crate::args::{Common, Units};
use crate::failure::Failure;
use crate::input::load;
use crate::report::{self, Answer, Facts, terminal};

/// Number of indices listed for every kind of defect.
const FIRST: usize = 8;

/// Report what is wrong with a mesh, or what a baked file contains
#[derive(Args)]
#[command(after_help = "\
Examples:
  touchfield inspect part.stl                         size, volume, holes, crossing faces, …
  touchfield inspect part.tfs                         grid, error, how signs were found
  touchfield inspect part.stl --json | jq .defects    for scripts

Defects are an answer, not an error: the exit code is 0. Numbers of vertices and faces count from 0.")]
pub(crate) struct Arguments {
    /// A mesh (.obj, .stl, .ply, .off, .gltf, .glb) or a baked field (.tfs)
    file: PathBuf,
    /// Length unit of the numbers in a mesh
    #[arg(long, value_enum, default_value_t)]
    units: Units,
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Answer, Failure> {
    let path = &arguments.file;
    if load::is_baked(path) {
        return baked(path, common.max_memory.0);
    }
    let mesh = load::mesh(path, arguments.units, common.max_memory.0)?;
    let validation = validate(&mesh);
    Ok(Answer {
        text: mesh_text(path, &mesh, &validation),
        json: mesh_json(path, &mesh, &validation),
    })
}

fn baked(path: &Path, max_memory: u64) -> Result<Answer, Failure> {
    let stored = load::baked(path, max_memory)?;
    let (grid, provenance) = (&stored.field, &stored.provenance);
    let bytes = std::fs::metadata(path)
        .map_err(|error| Failure::in_file(path, error))?
        .len();
    let mut facts = Facts::default();
    report::field_facts(&mut facts, grid, provenance);
    let (bounds, solid) = (grid.bounds(), grid.solid());
    facts.add(
        "bounds",
        report::corners(report::in_mesh(bounds, provenance.origin)),
    );
    facts.add(
        "surface",
        format!(
            "within {}",
            report::corners(report::in_mesh(solid, provenance.origin))
        ),
    );
    facts.add(
        "file",
        format!(
            "{} ({} of values)",
            report::bytes(bytes),
            report::bytes(grid.bytes() as u64)
        ),
    );
    let notes = report::list("notes", &provenance.notes);
    let more = json!({ "file": path.to_string_lossy(), "surface_bounds": report::bounds_json(solid, provenance.origin) });
    Ok(Answer {
        text: format!(
            "{}: a baked field\n{}{notes}",
            terminal::path(path),
            facts.text()
        ),
        json: report::merged(report::field_json(grid, provenance, bytes), more),
    })
}

fn mesh_text(path: &Path, mesh: &TriangleMesh, validation: &Validation) -> String {
    let yes = |answer: bool| if answer { "yes" } else { "no" };
    let mut facts = Facts::default();
    facts.add("triangles", report::count_of(validation.faces));
    facts.add("vertices", report::count_of(validation.vertices));
    facts.add("size", report::size(validation.bounds));
    facts.add("bounds", report::corners(validation.bounds));
    facts.add("area", report::measure(area(mesh), 2));
    let doubt = if validation.watertight {
        ""
    } else {
        " (means little: not watertight)"
    };
    facts.add(
        "volume",
        format!("{}{doubt}", report::measure(validation.signed_volume, 3)),
    );
    facts.add("components", report::count_of(validation.components));
    facts.add("watertight", yes(validation.watertight));
    facts.add("manifold", yes(validation.manifold));
    let kinds = validation.by_kind();
    let mut text = format!("{}: a mesh\n{}", terminal::path(path), facts.text());
    let unsure = if misses_crossings(validation) {
        "\nself_intersection: none found so far; the search was given up, because too many faces lie close together\n"
    } else {
        ""
    };
    if kinds.is_empty() {
        let no_defects = if unsure.is_empty() {
            "\nno defects\n"
        } else {
            "\nno other defects\n"
        };
        return text + unsure + no_defects;
    }
    let rows: Vec<Vec<String>> = kinds
        .iter()
        .map(|&(kind, count, first)| {
            let more = if is_truncated(kind, validation) {
                "+"
            } else {
                ""
            };
            vec![
                kind.to_owned(),
                format!("{}{more}", report::count_of(count)),
                places(kind, validation),
                first.to_string(),
            ]
        })
        .collect();
    text += "\n";
    text += &report::table(
        &["defect", ">count", "first at", "the first in words"],
        &rows,
    );
    text += unsure;
    text += "\n`touchfield bake` copes with these and says how far its signs can be trusted; `--repair` mends what it can first.\n";
    text
}

fn mesh_json(path: &Path, mesh: &TriangleMesh, validation: &Validation) -> Value {
    let defects: Vec<Value> = validation
        .by_kind()
        .into_iter()
        .map(|(kind, count, first)| {
            json!({
                "kind": kind,
                "count": count,
                "complete": !is_truncated(kind, validation),
                "first": first_indices(kind, validation),
                "of": element(kind),
                "example": first.to_string(),
            })
        })
        .collect();
    let defects = if misses_crossings(validation) {
        let none_yet = json!({
            "kind": "self_intersection",
            "count": 0,
            "complete": false,
            "first": [],
            "of": element("self_intersection"),
            "example": null,
        });
        [defects, vec![none_yet]].concat()
    } else {
        defects
    };
    // An empty box has infinite corners, which become null.
    let DAabb { min, max } = validation.bounds;
    json!({
        "kind": "mesh",
        "file": path.to_string_lossy(),
        "vertices": validation.vertices,
        "faces": validation.faces,
        "components": validation.components,
        "watertight": validation.watertight,
        "manifold": validation.manifold,
        "volume": validation.signed_volume,
        "area": area(mesh),
        "bounds": { "min": min.to_array(), "max": max.to_array() },
        "defects": defects,
    })
}

/// Returns the area of the faces with a finite area \[m²\].
fn area(mesh: &TriangleMesh) -> f64 {
    mesh.triangles()
        .map(Triangle::area)
        .filter(|area| area.is_finite())
        .sum()
}

fn is_truncated(kind: &str, validation: &Validation) -> bool {
    kind == "self_intersection" && validation.self_intersections == SelfIntersectionList::Truncated
}

/// Returns whether the search for crossing faces was cut short before it found any.
fn misses_crossings(validation: &Validation) -> bool {
    let kind = "self_intersection";
    is_truncated(kind, validation) && validation.count(kind) == 0
}

/// Returns the kind of element that the indices of a defect refer to.
fn element(kind: &str) -> Option<&'static str> {
    match kind {
        "non_finite" | "unreferenced" | "bow_tie_vertex" => Some("vertex"),
        "disconnected_parts" | "suspicious_units" => None,
        _ => Some("face"),
    }
}

/// Returns the first indices of a kind of defect, each once.
fn first_indices(kind: &str, validation: &Validation) -> Vec<u32> {
    let mut first = Vec::with_capacity(FIRST);
    for index in validation.of_kind(kind).filter_map(Defect::first_index) {
        if first.len() == FIRST {
            break;
        }
        if !first.contains(&index) {
            first.push(index);
        }
    }
    first
}

fn places(kind: &str, validation: &Validation) -> String {
    let Some(element) = element(kind) else {
        return "the whole".to_owned();
    };
    let indices = first_indices(kind, validation);
    let shown: Vec<String> = indices.iter().take(3).map(u32::to_string).collect();
    let more = if indices.len() > shown.len() {
        ", …"
    } else {
        ""
    };
    format!("{element} {}{more}", shown.join(", "))
}
