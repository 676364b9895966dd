//! `touchfield models`: writes the procedural models as mesh files.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::json;
use touchfield::mesh::{generate, write};

use crate::failure::Failure;
use crate::files::output;
use crate::report::{self, Answer, terminal};

/// Write the built-in models as meshes: gear, nut and bolt, mug, torus knot, and more
#[derive(Args)]
#[command(after_help = "\
Example:
  touchfield models --out parts --format stl
  touchfield bake parts/gear.stl -o gear.tfs
  touchfield models --broken --out broken
  touchfield inspect broken/holes.obj

The models are closed, manifold and in metres. Those of --broken each have one fault that real files
have, to try `inspect` and `bake --repair` on.")]
pub(crate) struct Arguments {
    /// Output folder; created if it does not exist
    #[arg(long, value_name = "DIR", default_value = "touchfield-models")]
    out: PathBuf,
    /// Write broken models instead, one per kind of fault
    #[arg(long)]
    broken: bool,
    /// Format of the files
    #[arg(long, value_enum, default_value_t = MeshFormat::Obj)]
    format: MeshFormat,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MeshFormat {
    /// text, all digits kept
    Obj,
    /// binary, f32, vertices not shared
    Stl,
    /// binary, all digits kept
    Ply,
}

impl MeshFormat {
    fn extension(self) -> &'static str {
        match self {
            MeshFormat::Obj => "obj",
            MeshFormat::Stl => "stl",
            MeshFormat::Ply => "ply",
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    output::make_folder(&arguments.out)?;
    let mut rows = Vec::new();
    let mut models = Vec::new();
    let catalogue = match arguments.broken {
        true => generate::broken(),
        false => generate::catalogue(),
    };
    for model in catalogue {
        let mesh = model
            .mesh()
            .map_err(|error| Failure::BadInput(error.to_string()))?;
        let path = arguments
            .out
            .join(model.name)
            .with_extension(arguments.format.extension());
        write::write_file(&path, &mesh).map_err(|error| Failure::in_file(&path, error))?;
        rows.push(vec![
            model.name.to_owned(),
            report::count_of(mesh.faces.len()),
            report::size(mesh.bounds()),
            model.description.to_owned(),
        ]);
        models.push(json!({
            "name": model.name,
            "description": model.description,
            "vertices": mesh.vertices.len(),
            "faces": mesh.faces.len(),
            "file": path.to_string_lossy(),
        }));
    }
    let table = report::table(&["model", ">triangles", "size", "what it is"], &rows);
    Ok(Answer {
        text: format!(
            "{table}\n{} models written to {}\n",
            models.len(),
            terminal::path(&arguments.out)
        ),
        json: json!({ "directory": arguments.out.to_string_lossy(), "models": models }),
    })
}
