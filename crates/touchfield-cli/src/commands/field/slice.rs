//! `touchfield slice`: a labelled map of signed distance in a plane.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use glam::{UVec3, Vec3};
use serde_json::json;
use touchfield::field::{Field, Provenance, StoredField};
use touchfield::geom::Aabb;

use crate::args::{Common, Length};
use crate::failure::Failure;
use crate::files::output;
use crate::input::load;
use crate::picture::{self, Axis, SliceSettings, write_png};
use crate::report::{self, Answer, terminal};

/// Draw a plane through a field: signed, labelled colours with the surface as a line
#[derive(Args)]
#[command(after_help = "\
Examples:
  touchfield slice mug.tfs --axis y -o mug.png                   through the middle
  touchfield slice mug.tfs --axis z --at 12mm -o base.png        at a height
  touchfield slice scan.ply --axis x --doubtful -o doubt.png     where signs are not to be trusted

Beyond the dashed border of the grid distances are lower bounds, drawn paler.")]
pub(crate) struct Arguments {
    /// A baked field (.tfs), or a mesh, which is baked in memory first
    file: PathBuf,
    /// Axis perpendicular to the plane
    #[arg(long, value_enum)]
    axis: AxisName,
    /// Position of the plane along the axis, such as 12mm; metres if no unit is given [default: the
    /// middle]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    at: Option<Length>,
    /// Output picture
    #[arg(short, long, value_name = "OUT.png")]
    output: PathBuf,
    /// Width of the picture in pixels; its height follows
    #[arg(long, value_name = "PX", default_value_t = SliceSettings::default().width)]
    width: u32,
    /// Hatch the cells whose sign is doubtful
    #[arg(long)]
    doubtful: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum AxisName {
    X,
    Y,
    Z,
}

impl AxisName {
    fn axis(self) -> Axis {
        match self {
            AxisName::X => Axis::X,
            AxisName::Y => Axis::Y,
            AxisName::Z => Axis::Z,
        }
    }
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Answer, Failure> {
    output::check(&arguments.output, &["png"])?;
    output::check_apart(&arguments.output, &arguments.file)?;
    let body = load::field(&arguments.file, common.max_memory.0)?;
    let axis = arguments.axis as usize;
    // The plane is given in the frame of the mesh.
    let origin = body.provenance.origin[axis];
    let at = match arguments.at {
        Some(Length(at)) => (at - origin) as f32,
        None => body.field.bounds().center()[axis],
    };
    let doubtful = match arguments.doubtful {
        true => doubtful_cells(&body.field, &body.provenance, axis, at),
        false => Vec::new(),
    };
    let settings = SliceSettings {
        axis: arguments.axis.axis(),
        at: Some(at),
        width: arguments.width,
        title: body.name.clone(),
        caption: report::caption(&body.field, &body.provenance),
        unit: None,
        doubtful: &doubtful,
    };
    let picture = picture::slice(&body.field, &settings)?;
    write_png(&picture, &arguments.output)?;
    let notes: Vec<String> = body.nothing_inside().into_iter().collect();
    notes.iter().for_each(|note| load::note(note));
    let hatched = match arguments.doubtful {
        true => format!(
            ", {} in the plane",
            report::plural(doubtful.len(), "doubtful cell", "doubtful cells")
        ),
        false => String::new(),
    };
    let name = ["x", "y", "z"][axis];
    Ok(Answer {
        text: format!(
            "{} at {name} = {}: {} × {} pixels in {}{hatched}\n",
            terminal::path(&arguments.file),
            report::length(f64::from(at) + origin),
            picture.width(),
            picture.height(),
            terminal::path(&arguments.output)
        ),
        json: json!({
            "file": arguments.file.to_string_lossy(),
            "output": arguments.output.to_string_lossy(),
            "axis": name,
            "at": match origin == 0.0 {
                true => report::number(at),
                false => json!(f64::from(at) + origin),
            },
            "origin": body.provenance.origin.to_array(),
            "width": picture.width(),
            "height": picture.height(),
            "doubtful_cells": body.provenance.doubtful_cells.len(),
            "doubtful_in_plane": arguments.doubtful.then_some(doubtful.len()),
            "notes": notes,
        }),
    })
}

/// Returns the boxes of the doubtful cells that a plane cuts.
fn doubtful_cells(grid: &StoredField, provenance: &Provenance, axis: usize, at: f32) -> Vec<Aabb> {
    let layout = grid.layout();
    let cells = layout.cells();
    let cell_box = |&index: &u32| {
        let (row, x) = (index / cells.x, index % cells.x);
        let first = UVec3::new(x, row % cells.y, row / cells.y);
        let min = layout.node_position(first).as_vec3();
        Aabb::new(min, min + Vec3::splat(layout.cell_size))
    };
    let boxes = provenance.doubtful_cells.iter().map(cell_box);
    boxes
        .filter(|cell| cell.min[axis] <= at && at <= cell.max[axis])
        .collect()
}
