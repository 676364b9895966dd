//! `touchfield demo`: the whole pipeline on built-in shapes, and bodies that move by themselves.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use serde_json::{Value, json};
use touchfield::bake::FieldKind;
use touchfield::bake::{BakeSettings, Resolution};
use touchfield::field::{Field, file};
use touchfield::geom::Pose;
use touchfield::mesh::generate::{self, Model};
use touchfield::mesh::write;

use crate::args::Common;
use crate::commands::field::bake::voxels_per_second;
use crate::commands::field::render;
use crate::commands::scene::simulate;
use crate::failure::Failure;
use crate::files::output;
use crate::input::load::{self, Body, Parts};
use crate::picture::{
    self, Axis, Canvas, PALETTE, RenderSettings, SliceSettings, sheet, write_png,
};
use crate::report::{self, Answer, terminal};

/// One model of the demonstration: its name in the catalogue, the view, and the axis of the slice.
struct Exhibit {
    model: &'static str,
    /// Azimuth of the view [degrees].
    azimuth: f32,
    /// Elevation of the view [degrees].
    elevation: f32,
    axis: Axis,
}

const EXHIBITS: [Exhibit; 3] = [
    Exhibit {
        model: "mug",
        azimuth: -60.0,
        elevation: 28.0,
        axis: Axis::Y,
    },
    Exhibit {
        model: "torus_knot",
        azimuth: -55.0,
        elevation: 38.0,
        axis: Axis::Z,
    },
    Exhibit {
        model: "bolt_m16",
        azimuth: -50.0,
        elevation: 18.0,
        axis: Axis::Y,
    },
];

/// Columns and rows of each picture.
const PICTURE: (u32, u32) = (720, 600);

/// The ready scene at the end, and its simulated time \[s\].
const SCENE: &str = "dominoes";
const SCENE_SECONDS: f64 = 1.0;

const SLICE_CAPTION: &str = "signed distance: blue inside, orange outside";

/// Bake, render and slice three built-in models, and let dominoes fall; needs no input file
#[derive(Args)]
#[command(after_help = "\
Example:
  touchfield demo --out shown    then open shown/sheet.png and shown/dominoes/scene.glb")]
pub(crate) struct Arguments {
    /// Output folder; created if it does not exist
    #[arg(long, value_name = "DIR", default_value = "touchfield-demo")]
    out: PathBuf,
    /// Number of nodes along the longest side
    #[arg(long, value_name = "N", default_value_t = 160, hide = true)]
    resolution: u32,
}

/// The results for one exhibit.
struct Shown {
    render: Canvas,
    slice: Canvas,
    row: Vec<String>,
    json: Value,
    caption: String,
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Answer, Failure> {
    let start = Instant::now();
    output::make_folder(&arguments.out)?;
    let catalogue = generate::catalogue();
    let mut shown = Vec::new();
    for (number, exhibit) in EXHIBITS.iter().enumerate() {
        let model = catalogue.iter().find(|model| model.name == exhibit.model);
        let model = model
            .ok_or_else(|| Failure::BadInput(format!("there is no model `{}`", exhibit.model)))?;
        shown.push(show(arguments, common, exhibit, model, number)?);
    }
    let renders = shown.iter().map(|s| (&s.render, s.caption.as_str()));
    let slices = shown.iter().map(|s| (&s.slice, SLICE_CAPTION));
    let pictures: Vec<(&Canvas, &str)> = renders.chain(slices).collect();
    write_png(
        &sheet(&pictures, EXHIBITS.len())?,
        &arguments.out.join("sheet.png"),
    )?;

    let moved =
        simulate::simulate_example(SCENE, &arguments.out.join(SCENE), SCENE_SECONDS, common)?;

    let rows: Vec<Vec<String>> = shown.iter().map(|s| s.row.clone()).collect();
    let headings = [
        "model",
        ">triangles",
        "grid",
        ">seconds",
        ">voxels/s",
        ">error bound",
        ">measured error",
        "sign",
        ">file",
    ];
    Ok(Answer {
        text: format!(
            "{}\n{}: meshes, fields and pictures in {} on {}\n\n{SCENE}:\n{}{}",
            report::table(&headings, &rows),
            terminal::path(&arguments.out),
            report::seconds(start.elapsed().as_secs_f64()),
            report::plural(rayon::current_num_threads(), "thread", "threads"),
            moved.text,
            next_steps(&arguments.out)
        ),
        json: json!({
            "directory": arguments.out.to_string_lossy(),
            "sheet": arguments.out.join("sheet.png").to_string_lossy(),
            "simulation": moved.json,
            "models": shown.into_iter().map(|s| s.json).collect::<Vec<_>>(),
            "seconds": start.elapsed().as_secs_f64(),
            "threads": rayon::current_num_threads(),
        }),
    })
}

/// Generates, bakes and draws one model.
fn show(
    arguments: &Arguments,
    common: &Common,
    exhibit: &Exhibit,
    model: &Model,
    number: usize,
) -> Result<Shown, Failure> {
    // Write the mesh, bake it, and write the field.
    let path = |ending: &str| arguments.out.join(format!("{}{ending}", model.name));
    let mesh = model
        .mesh()
        .map_err(|error| Failure::BadInput(error.to_string()))?;
    let mesh_path = path(".obj");
    write::write_file(&mesh_path, &mesh).map_err(|error| Failure::in_file(&mesh_path, error))?;
    let settings = BakeSettings {
        resolution: Resolution::Nodes(arguments.resolution),
        max_memory: common.max_memory.0,
        ..BakeSettings::default()
    };
    let baked = load::bake_mesh(
        &mesh_path,
        &mesh,
        &settings,
        &load::Storage::New(FieldKind::Dense),
    )?;
    let file_path = path(".tfs");
    let bytes = file::write_file(&file_path, &baked.field, &baked.provenance)
        .map_err(|error| Failure::of_baked_file(&error))?;
    // Collect its table row, its JSON and its caption.
    let row = table_row(model.name, mesh.faces.len(), &baked, bytes);
    let timing = json!({
        "model": model.name,
        "triangles": mesh.faces.len(),
        "seconds": baked.report.time.as_secs_f64(),
        "voxels_per_second": voxels_per_second(&baked),
        "file": file_path.to_string_lossy(),
    });
    let json = report::merged(
        report::field_json(&baked.field, &baked.provenance, bytes),
        timing,
    );
    let caption = format!(
        "{}: {} triangles, error ≤ {}",
        model.name.replace('_', " "),
        report::count_of(mesh.faces.len()),
        report::length(baked.field.error_bound())
    );

    // Draw the pictures.
    let body = Body {
        name: load::name_of(&file_path),
        field: Arc::new(baked.field),
        provenance: baked.provenance,
        parts: Parts::default(),
    };
    let render = draw_render(&body, exhibit, number)?;
    write_png(&render, &path(".render.png"))?;
    let slice = draw_slice(&body, exhibit)?;
    write_png(&slice, &path(".slice.png"))?;
    Ok(Shown {
        render,
        slice,
        row,
        json,
        caption,
    })
}

fn table_row(name: &str, triangles: usize, baked: &load::BakedField, bytes: u64) -> Vec<String> {
    let cell_size = baked.field.finest_cell_size();
    vec![
        name.to_owned(),
        report::count_of(triangles),
        report::nodes(&baked.field),
        format!("{:.2}", baked.report.time.as_secs_f64()),
        report::rounded(voxels_per_second(baked)),
        report::length_in_cells(baked.field.error_bound(), cell_size),
        report::length_in_cells(baked.provenance.measured_error, cell_size),
        baked.provenance.sign_method.name().to_owned(),
        report::bytes(bytes),
    ]
}

fn draw_render(body: &Body, exhibit: &Exhibit, number: usize) -> Result<Canvas, Failure> {
    let settings = RenderSettings {
        width: PICTURE.0,
        height: PICTURE.1,
        azimuth: exhibit.azimuth.to_radians(),
        elevation: exhibit.elevation.to_radians(),
        ..RenderSettings::default()
    };
    let colour = PALETTE[number % PALETTE.len()];
    render::draw(&[(body, Pose::IDENTITY, colour)], &settings)
}

/// Draws a slice on a white canvas of the size of a render, as wide as fits.
fn draw_slice(body: &Body, exhibit: &Exhibit) -> Result<Canvas, Failure> {
    let slice = |width: u32| {
        let settings = SliceSettings {
            axis: exhibit.axis,
            width,
            title: body.name.clone(),
            caption: report::caption(&body.field, &body.provenance),
            ..SliceSettings::default()
        };
        picture::slice(&body.field, &settings)
    };
    let mut width = PICTURE.0;
    let mut picture = slice(width)?;
    while picture.height() > PICTURE.1 {
        // Labels do not shrink with the map, so one pass may not be enough.
        width = (width * PICTURE.1 / picture.height()).min(width - 1);
        picture = slice(width)?;
    }
    let white = [255; 3];
    let mut canvas = Canvas::new(PICTURE.0, PICTURE.1, white)
        .map_err(|error| Failure::BadInput(error.to_string()))?;
    canvas.draw(
        &picture,
        (PICTURE.0 - picture.width()) / 2,
        (PICTURE.1 - picture.height()) / 2,
    );
    Ok(canvas)
}

fn next_steps(folder: &Path) -> String {
    let inside = |name: &str| terminal::path(&folder.join(name));
    let dominoes = inside(&format!("{SCENE}/scene.glb"));
    let (sheet, mug, bolt) = (
        inside("sheet.png"),
        inside("mug.tfs"),
        inside("bolt_m16.tfs"),
    );
    format!(
        "\nLook at {sheet}, and at {dominoes} in a viewer of glTF. Then try:\n\
         \x20 touchfield inspect {mug}\n\
         \x20 touchfield slice {mug} --axis z --at 20mm -o mug.png\n\
         \x20 touchfield render {bolt} {mug}@0.12,0,-0.01,0,0,0,1 -o pair.png\n\
         \x20 touchfield simulate --list\n\
         \x20 touchfield bake your_mesh.stl --units mm -o yours.tfs\n"
    )
}
