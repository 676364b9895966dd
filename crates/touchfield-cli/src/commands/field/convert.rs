//! `touchfield convert`: stores a field another way, as arrays for other programs, or as a mesh;
//! and reads arrays as a field.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use serde_json::{Value, json};
use touchfield::bake::{
    Bits, ConvertSettings, IsosurfaceSettings, Keep, Promise, Target, convert,
    converted_provenance, isosurface,
};
use touchfield::field::{DenseGrid, Field, Provenance, Sampling, StoredField};
use touchfield::mesh::write;
use touchfield::shape::file as shape_file;

use crate::args::{Common, Length};
use crate::failure::Failure;
use crate::files::{npz, output, vti};
use crate::input::load::{self, Body, Parts};
use crate::input::storage::{Kind, ValueBits, VoxelNumbers};
use crate::report::progress::BakeProgress;
use crate::report::{self, Answer, Facts, terminal};

/// Extensions that can be written.
const EXTENSIONS: [&str; 6] = ["tfs", "npz", "vti", "obj", "stl", "ply"];

/// Store a field another way: as another kind, as arrays for NumPy or ParaView, or as a mesh
#[derive(Args)]
#[command(after_help = "\
Examples:
  touchfield convert mug.tfs --field sparse --tolerance 0.1mm -o small.tfs   drop blocks that cost less than that
  touchfield convert mug.tfs -o mug.npz                         distance, origin, cell_size, … for numpy.load
  touchfield convert grid.npz --node-error 0 -o grid.tfs        your own distances become a field
  touchfield convert mug.tfs -o mug.vti                         opens in ParaView and PyVista
  touchfield convert mug.tfs --level 2mm -o thicker.stl         the surface 2 mm outside, as a mesh

What conversion loses is in the error bound that is printed; points and faces of the surface that a .tfs file holds for contact stay. A mesh is baked in memory first; `touchfield bake` does better.
In a .npz file, distance[i, j, k] is the distance at origin + cell_size · (i, j, k), negative inside.")]
pub(crate) struct Arguments {
    /// A baked field (.tfs), arrays (.npz), or a mesh
    input: PathBuf,
    /// Output file: .tfs, .npz, .vti, .obj, .stl or .ply; it appears only when complete
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// How a .tfs file stores the field [default: unchanged]
    #[arg(long, value_enum)]
    field: Option<Kind>,
    /// Distance between nodes, such as 0.2mm [default: unchanged]
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    cell_size: Option<Length>,
    /// Bits per stored value of a sparse field [default: unchanged, or 16]
    #[arg(long, value_enum)]
    bits: Option<ValueBits>,
    /// Distance from the surface, in cells, up to which a sparse field keeps fine cells [default:
    /// 3, or all blocks of a sparse field]
    #[arg(
        long,
        value_name = "CELLS",
        allow_hyphen_values = true,
        conflicts_with = "tolerance"
    )]
    band: Option<f64>,
    /// Drop fine cells of a sparse field where that adds less than this to the error, such as 0.1mm
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    tolerance: Option<Length>,
    /// Number format of a voxmap [default: full]
    #[arg(long, value_enum)]
    voxels: Option<VoxelNumbers>,
    /// For a .npz input: largest error of its values. The error of what lies between them is proven
    /// from it
    #[arg(
        long,
        value_name = "E",
        allow_hyphen_values = true,
        conflicts_with = "error_bound"
    )]
    node_error: Option<Length>,
    /// For a .npz input: largest error of what is interpolated between its values
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    error_bound: Option<Length>,
    /// Signed distance at which the surface is extracted as a mesh, such as 2mm outside or -2mm
    /// inside [default: 0]
    #[arg(long, value_name = "L", allow_hyphen_values = true)]
    level: Option<Length>,
    /// Cells along the longest side of the grid that the mesh is extracted from [default: as fine
    /// as the field]
    #[arg(long, value_name = "N")]
    cells: Option<u32>,
}

/// Format of the output.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Tfs,
    Npz,
    Vti,
    Mesh,
}

impl Form {
    fn of(path: &Path) -> Form {
        let extension = path
            .extension()
            .and_then(|e| e.to_str())
            .unwrap_or_default();
        match extension.to_ascii_lowercase().as_str() {
            "tfs" => Form::Tfs,
            "npz" => Form::Npz,
            "vti" => Form::Vti,
            _ => Form::Mesh,
        }
    }
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Answer, Failure> {
    // Check the arguments and load the field.
    output::check(&arguments.output, &EXTENSIONS)?;
    output::check_apart(&arguments.output, &arguments.input)?;
    let form = Form::of(&arguments.output);
    arguments.check(form)?;
    let body = arguments.load(form, common)?;
    // Extract a mesh, or convert the field.
    let start = Instant::now();
    if form == Form::Mesh {
        return mesh(arguments, &body, common);
    }
    let target = arguments.target(form, &body.field)?;
    let settings = ConvertSettings {
        target,
        cell_size: arguments.cell_size.map(|Length(size)| size),
        conservative: body.provenance.conservative,
        max_memory: common.max_memory.0,
    };
    let bar = BakeProgress::new(&body.name);
    let converted = convert(&body.field, &settings, &|step| bar.show(step))
        .map_err(|error| Failure::of_convert(&arguments.input, &error))?;
    drop(bar);
    // Write the result.
    let provenance = converted_provenance(&body.field, &body.provenance, &converted, &settings);
    let bytes = match form {
        Form::Tfs => {
            let Parts { shell, surface } = &body.parts;
            let (shell, surface) = (shell.as_deref(), surface.as_deref());
            shape_file::write_file(&arguments.output, &converted, &provenance, shell, surface)
                .map_err(|error| Failure::of_baked_file(&error))?
        }
        Form::Npz => npz::write(&arguments.output, dense(&converted)?, provenance.origin)?,
        _ => vti::write(&arguments.output, dense(&converted)?, provenance.origin)?,
    };
    let seconds = start.elapsed().as_secs_f64();
    Ok(field_answer(
        arguments,
        &body,
        &converted,
        &provenance,
        bytes,
        seconds,
    ))
}

impl Arguments {
    /// Refuses options that have no meaning for this output or input.
    fn check(&self, form: Form) -> Result<(), Failure> {
        let refuse =
            |options: &[(bool, &str)], why: &str| match options.iter().find(|(given, _)| *given) {
                Some((_, option)) => Err(Failure::BadInput(format!("{option} {why}"))),
                None => Ok(()),
            };
        if form != Form::Tfs {
            let of_tfs = [
                (self.field.is_some(), "--field"),
                (self.bits.is_some(), "--bits"),
                (self.band.is_some(), "--band"),
                (self.tolerance.is_some(), "--tolerance"),
                (self.voxels.is_some(), "--voxels"),
            ];
            refuse(
                &of_tfs,
                "is for .tfs files; arrays are a dense grid, and meshes a surface",
            )?;
        }
        if form != Form::Mesh {
            let of_mesh = [
                (self.level.is_some(), "--level"),
                (self.cells.is_some(), "--cells"),
            ];
            refuse(&of_mesh, "is for meshes: .obj, .stl or .ply")?;
        } else {
            let of_grid = [(self.cell_size.is_some(), "--cell-size")];
            refuse(&of_grid, "is for grids; a mesh is made over --cells")?;
        }
        if !npz::is_npz(&self.input) {
            let of_arrays = [
                (self.node_error.is_some(), "--node-error"),
                (self.error_bound.is_some(), "--error-bound"),
            ];
            refuse(
                &of_arrays,
                "is for .npz files; a baked field and a mesh know their own",
            )?;
        }
        Ok(())
    }

    /// Loads the field, with what its file holds for contact queries if the output can store that.
    fn load(&self, form: Form, common: &Common) -> Result<Body, Failure> {
        let max_memory = common.max_memory.0;
        load::check_input(&self.input)?;
        if load::is_baked(&self.input) && form == Form::Tfs {
            return load::body(&self.input, max_memory).map(|(body, _)| body);
        }
        if load::is_baked(&self.input) || !npz::is_npz(&self.input) {
            return load::field(&self.input, max_memory);
        }
        let promise = match (self.node_error, self.error_bound) {
            (Some(Length(error)), _) => Some(Promise::NodeError(error)),
            (None, Some(Length(bound))) => Some(Promise::ErrorBound(bound)),
            (None, None) => None,
        };
        let (grid, provenance) = npz::read(&self.input, promise, max_memory)?;
        Ok(Body {
            name: load::name_of(&self.input),
            field: Arc::new(grid.into()),
            provenance,
            parts: Parts::default(),
        })
    }

    /// Returns how the field is to be stored.
    fn target(&self, form: Form, field: &StoredField) -> Result<Target, Failure> {
        if form != Form::Tfs {
            return Ok(Target::Dense);
        }
        let kind = self.field.unwrap_or(Kind::named(field.kind()));
        let needs =
            |given: bool, option: &str, wanted: Kind, word: &str| match given && kind != wanted {
                true => Err(Failure::BadInput(format!("{option} needs --field {word}"))),
                false => Ok(()),
            };
        needs(self.bits.is_some(), "--bits", Kind::Sparse, "sparse")?;
        needs(self.band.is_some(), "--band", Kind::Sparse, "sparse")?;
        needs(
            self.tolerance.is_some(),
            "--tolerance",
            Kind::Sparse,
            "sparse",
        )?;
        needs(self.voxels.is_some(), "--voxels", Kind::Voxmap, "voxmap")?;
        Ok(match kind {
            Kind::Dense => Target::Dense,
            Kind::Taylor => Target::Taylor,
            Kind::Sparse => Target::Sparse {
                keep: match (self.band, self.tolerance) {
                    (Some(width), _) => Keep::Band(width),
                    (None, Some(Length(tolerance))) => Keep::Tolerance(tolerance),
                    (None, None)
                        if matches!(field, StoredField::Sparse(_)) && self.cell_size.is_none() =>
                    {
                        Keep::All
                    }
                    (None, None) => Keep::Band(3.0),
                },
                bits: match (self.bits, field) {
                    (Some(bits), _) => bits.bits(),
                    (None, StoredField::Sparse(blocks)) => match blocks.parts().values.bits() {
                        8 => Bits::Eight,
                        16 => Bits::Sixteen,
                        _ => Bits::ThirtyTwo,
                    },
                    (None, _) => ValueBits::default().bits(),
                },
            },
            Kind::Voxmap => {
                let (encoding, sampling) = match (self.voxels, field) {
                    (None, StoredField::Voxmap(map)) => (map.values().encoding(), map.sampling()),
                    (voxels, _) => {
                        let largest = field.bounds().as_daabb().diagonal();
                        (
                            voxels.unwrap_or_default().encoding(largest),
                            Sampling::Interpolated,
                        )
                    }
                };
                Target::Voxmap { encoding, sampling }
            }
        })
    }
}

/// Returns the field as a dense grid, the only kind that is written as arrays.
fn dense(field: &StoredField) -> Result<&DenseGrid, Failure> {
    field
        .as_dense()
        .ok_or_else(|| Failure::BadInput("the field was not converted to a dense grid".to_owned()))
}

fn field_answer(
    arguments: &Arguments,
    body: &Body,
    converted: &StoredField,
    provenance: &Provenance,
    bytes: u64,
    seconds: f64,
) -> Answer {
    let mut facts = Facts::default();
    facts.add(
        "from",
        format!(
            "{}, error at most {}",
            body.field.kind(),
            report::length(body.field.error_bound())
        ),
    );
    report::field_facts(&mut facts, converted, provenance);
    facts.add("time", report::seconds(seconds));
    facts.add("file", report::bytes(bytes));
    let more = json!({
        "file": arguments.output.to_string_lossy(),
        "input": arguments.input.to_string_lossy(),
        "from_kind": body.field.kind(),
        "from_error_bound": report::number(body.field.error_bound()),
        "seconds": seconds,
        "threads": rayon::current_num_threads(),
    });
    Answer {
        text: format!(
            "{} → {}\n{}{}",
            terminal::path(&arguments.input),
            terminal::path(&arguments.output),
            facts.text(),
            report::list("notes", &provenance.notes)
        ),
        json: report::merged(report::field_json(converted, provenance, bytes), more),
    }
}

/// Extracts the surface at a level as a mesh, and writes it.
fn mesh(arguments: &Arguments, body: &Body, common: &Common) -> Result<Answer, Failure> {
    let start = Instant::now();
    let field = &body.field;
    let level = arguments.level.map_or(0.0, |Length(level)| level as f32);
    let settings = IsosurfaceSettings {
        cells: arguments.cells.unwrap_or_else(|| cells_of(field)),
        max_memory: common.max_memory.0,
        ..IsosurfaceSettings::default()
    };
    let mut mesh = isosurface(field, level, &settings).map_err(|error| {
        let message = format!(
            "{}: {error} (--level, --cells, --max-memory)",
            arguments.input.display()
        );
        match error.is_limit() {
            true => Failure::Limit(message),
            false => Failure::BadInput(message),
        }
    })?;
    // Back to the frame of the mesh that the field was baked from.
    mesh.move_to_frame_at(-body.provenance.origin);
    write::write_file(&arguments.output, &mesh)
        .map_err(|error| Failure::in_file(&arguments.output, error))?;
    let bytes = (arguments.output.metadata())
        .map_err(|error| Failure::in_file(&arguments.output, error))?
        .len();
    let seconds = start.elapsed().as_secs_f64();
    let mut facts = Facts::default();
    facts.add(
        "from",
        format!(
            "{}, error at most {}",
            field.kind(),
            report::length(field.error_bound())
        ),
    );
    facts.add("level", report::length(level));
    facts.add(
        "cells",
        format!("{} along the longest side", settings.cells),
    );
    facts.add(
        "mesh",
        format!(
            "{}, {}, closed, {}",
            report::plural(mesh.faces.len(), "triangle", "triangles"),
            report::plural(mesh.vertices.len(), "vertex", "vertices"),
            report::size(mesh.bounds())
        ),
    );
    facts.add("time", report::seconds(seconds));
    facts.add("file", report::bytes(bytes));
    Ok(Answer {
        text: format!(
            "{} → {}\n{}",
            terminal::path(&arguments.input),
            terminal::path(&arguments.output),
            facts.text()
        ),
        json: mesh_json(
            arguments,
            field,
            &mesh,
            level,
            settings.cells,
            bytes,
            seconds,
        ),
    })
}

fn mesh_json(
    arguments: &Arguments,
    field: &StoredField,
    mesh: &touchfield::mesh::TriangleMesh,
    level: f32,
    cells: u32,
    bytes: u64,
    seconds: f64,
) -> Value {
    json!({
        "kind": "mesh",
        "file": arguments.output.to_string_lossy(),
        "input": arguments.input.to_string_lossy(),
        "from_kind": field.kind(),
        "from_error_bound": report::number(field.error_bound()),
        "level": report::number(level),
        "cells": cells,
        "vertices": mesh.vertices.len(),
        "faces": mesh.faces.len(),
        "bytes": bytes,
        "seconds": seconds,
        "threads": rayon::current_num_threads(),
    })
}

/// Returns the number of cells along the longest side that is as fine as the field, within the
/// limits of an isosurface.
fn cells_of(field: &StoredField) -> u32 {
    let longest = field.bounds().extents().max_element();
    // The cast saturates at the largest number.
    let cells = (longest / field.finest_cell_size()).round() as u32;
    cells.clamp(8, 1024)
}
