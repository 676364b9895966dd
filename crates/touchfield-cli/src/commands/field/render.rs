//! `touchfield render`: a lit picture of one or more bodies.

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

use clap::Args;
use glam::DVec3;
use serde_json::json;
use touchfield::contact::Contact;
use touchfield::geom::Pose;
use touchfield::mesh::TriangleMesh;
use touchfield::narrow::{CollideSettings, Contacts, Pair, Scratch, collide};
use touchfield::pipeline::relative_pose;
use touchfield::shape::Shape;

use crate::args::{Common, PictureSize, PlacedFile, placed_file_parser};
use crate::commands::pair::collide::keep;
use crate::device::{DeviceChoice, Ran};
use crate::failure::Failure;
use crate::files::output;
use crate::input::frames::Frames;
use crate::input::load::{self, Body};
use crate::input::pair::Shapes;
use crate::picture::{
    self, Canvas, ContactMark, PALETTE, RenderBody, RenderSettings, Rgb, write_png,
};
use crate::report::{self, Answer, terminal};

/// Maximum number of contacts that are drawn: a picture of more is no clearer.
const SHOWN: usize = 12;

/// Draw a lit picture of one or more bodies; for two bodies also where they touch
#[derive(Args)]
#[command(after_help = "\
Examples:
  touchfield render mug.tfs -o mug.png
  touchfield render bolt.tfs nut.tfs@0,0,0.02,0,0,0,1 --azimuth 30 -o pair.png

FILE@POSE puts a body elsewhere: TX,TY,TZ in metres, then the quaternion QX,QY,QZ,QW, which is normalised. z is up.")]
pub(crate) struct Arguments {
    /// Baked fields (.tfs) or meshes, which are baked in memory first; each may be followed by
    /// @TX,TY,TZ,QX,QY,QZ,QW
    #[arg(required = true, value_name = "FILE[@POSE]", value_parser = placed_file_parser())]
    files: Vec<PlacedFile>,
    /// Output picture
    #[arg(short, long, value_name = "OUT.png")]
    output: PathBuf,
    /// Columns and rows of the picture
    #[arg(long, value_name = "WxH", default_value_t = default_size())]
    size: PictureSize,
    /// Direction to look from, in degrees, measured from x towards y
    #[arg(long, value_name = "DEG", allow_negative_numbers = true, default_value_t = degrees(RenderSettings::default().azimuth))]
    azimuth: f32,
    /// Elevation of the camera over the horizon in degrees, from -90 to 90
    #[arg(long, value_name = "DEG", allow_negative_numbers = true, default_value_t = degrees(RenderSettings::default().elevation))]
    elevation: f32,
    #[command(flatten)]
    device: DeviceChoice,
}

fn default_size() -> PictureSize {
    let RenderSettings { width, height, .. } = RenderSettings::default();
    PictureSize { width, height }
}

fn degrees(radians: f32) -> f32 {
    radians.to_degrees().round()
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Answer, Failure> {
    output::check(&arguments.output, &["png"])?;
    for file in &arguments.files {
        output::check_apart(&arguments.output, &file.path)?;
    }
    if !(-90.0..=90.0).contains(&arguments.elevation) || !arguments.azimuth.is_finite() {
        return Err(Failure::BadInput(format!(
            "--azimuth {:?} --elevation {:?}: no such view; the elevation goes from -90 to 90 degrees",
            arguments.azimuth, arguments.elevation
        )));
    }
    let bodies = bodies(&arguments.files, common.max_memory.0)?;
    let mut notes: Vec<String> = (bodies.iter())
        .filter_map(|loaded| loaded.body.nothing_inside())
        .collect();
    let middle = middle(&arguments.files, &bodies);
    let contacts = match (&*arguments.files, &*bodies) {
        // A picture without contacts is better than none.
        ([a, b], [body_a, body_b]) => {
            contacts([(a, body_a), (b, body_b)], middle).unwrap_or_else(|failure| {
                notes.push(format!("no contacts are drawn: {}", failure.message()));
                Vec::new()
            })
        }
        _ => Vec::new(),
    };
    let colours = PALETTE.into_iter().cycle();
    let placed: Vec<(&Body, Pose, Rgb)> = bodies
        .iter()
        .zip(&arguments.files)
        .zip(colours)
        .map(|((loaded, file), colour)| (&loaded.body, own_pose(loaded, file, middle), colour))
        .collect();
    let settings = RenderSettings {
        width: arguments.size.width,
        height: arguments.size.height,
        azimuth: arguments.azimuth.to_radians(),
        elevation: arguments.elevation.to_radians(),
        ..RenderSettings::default()
    };
    let start = Instant::now();
    let shapes: Vec<Shape> = (placed.iter())
        .map(|(body, ..)| Shape::stored(body.field.clone()))
        .collect();
    let rendered = render_bodies(&placed);
    let ran = (arguments.device).run(|gpu| gpu.render(&rendered, &shapes, &contacts, &settings))?;
    let (picture, device) = match ran {
        Ran::OnGpu(picture, name) => (picture, Some(name)),
        Ran::LeftToCpu(why) => {
            notes.extend(why.map(|why| format!("drawn on the CPU: {why}")));
            (picture::render(&rendered, &contacts, &settings)?, None)
        }
    };
    let seconds = start.elapsed().as_secs_f64();
    write_png(&picture, &arguments.output)?;
    notes.iter().for_each(|note| load::note(note));
    let names: Vec<_> = arguments
        .files
        .iter()
        .map(|file| file.path.to_string_lossy())
        .collect();
    Ok(Answer {
        text: format!(
            "{}: {} × {} pixels in {}, {}{}\n",
            terminal::line(&names.join(", ")),
            picture.width(),
            picture.height(),
            terminal::path(&arguments.output),
            report::seconds(seconds),
            match contacts.len() {
                0 => String::new(),
                drawn => format!(", {} drawn", report::plural(drawn, "contact", "contacts")),
            }
        ),
        json: json!({
            "files": names,
            "output": arguments.output.to_string_lossy(),
            "width": picture.width(),
            "height": picture.height(),
            "contacts": contacts.len(),
            "seconds": seconds,
            "device": device.as_deref().unwrap_or("cpu"),
            "notes": notes,
        }),
    })
}

/// A body, and its mesh if it was given as one.
struct Loaded {
    body: Body,
    mesh: Option<TriangleMesh>,
}

/// Loads all bodies, which together take at most `max_memory` bytes. A file named twice is read
/// once.
fn bodies(files: &[PlacedFile], max_memory: u64) -> Result<Vec<Rc<Loaded>>, Failure> {
    let mut taken = 0;
    let mut bodies: Vec<Rc<Loaded>> = Vec::with_capacity(files.len());
    for (index, file) in files.iter().enumerate() {
        let before = files[..index].iter().position(|one| one.path == file.path);
        if let Some(before) = before {
            bodies.push(Rc::clone(&bodies[before]));
            continue;
        }
        let left = max_memory.saturating_sub(taken);
        // Contacts are drawn only for two bodies; otherwise the field is enough.
        let loaded = match files.len() {
            2 => load::body(&file.path, left),
            _ => load::field(&file.path, left).map(|body| (body, None)),
        };
        let (body, mesh) = loaded.map_err(|failure| match failure {
            Failure::Limit(message) if taken > 0 => Failure::Limit(format!(
                "{message}; the bodies before it take {} of the {} allowed",
                report::bytes(taken),
                report::bytes(max_memory)
            )),
            failure => failure,
        })?;
        taken += body.bytes();
        bodies.push(Rc::new(Loaded { body, mesh }));
    }
    Ok(bodies)
}

/// Returns the point of the world that the picture is drawn around: the origin of the first field
/// in a frame of its own, or else the origin of the world.
fn middle(files: &[PlacedFile], bodies: &[Rc<Loaded>]) -> DVec3 {
    let origin = |loaded: &Loaded| loaded.body.provenance.origin;
    (files.iter().zip(bodies))
        .find(|(_, loaded)| origin(loaded) != DVec3::ZERO)
        .map_or(DVec3::ZERO, |(file, loaded)| {
            file.world_from_field.transform_point(origin(loaded))
        })
}

/// Returns the pose of a body's field relative to `middle`.
fn own_pose(loaded: &Loaded, file: &PlacedFile, middle: DVec3) -> Pose {
    let frames = Frames {
        a: middle,
        b: loaded.body.provenance.origin,
    };
    frames.own_pose(&file.world_from_field)
}

/// Finds where two bodies touch, in the world, reduced to as few contacts as show it.
fn contacts(
    [(a, loaded_a), (b, loaded_b)]: [(&PlacedFile, &Rc<Loaded>); 2],
    middle: DVec3,
) -> Result<Vec<ContactMark>, Failure> {
    let shape = |file: &PlacedFile, loaded: &Loaded| {
        load::shape_of(&file.path, &loaded.body, loaded.mesh.as_ref())
    };
    let shape_a = shape(a, loaded_a)?;
    let shape_b = match Rc::ptr_eq(loaded_a, loaded_b) {
        true => shape_a.clone(),
        false => shape(b, loaded_b)?,
    };
    let shapes = Shapes::new([(&a.path, shape_a), (&b.path, shape_b)]);
    let world_from_a = own_pose(loaded_a, a, middle);
    let a_from_b = relative_pose(world_from_a, own_pose(loaded_b, b, middle));
    let mut found = Contacts::default();
    let settings = CollideSettings::default();
    collide(
        &Pair {
            a: &shapes.a,
            b: &shapes.b,
            a_from_b,
        },
        &settings,
        &mut Scratch::default(),
        &mut found,
    )
    .map_err(|error| shapes.failure(&error))?;
    keep(SHOWN, shapes.smaller_diagonal(), &mut found.contacts)?;
    let mark = |contact: &Contact| ContactMark {
        point: world_from_a.transform_point(contact.point),
        normal: world_from_a.transform_vector(contact.normal),
    };
    Ok(found.contacts.iter().map(mark).collect())
}

/// Draws bodies, with the facets of their grids smoothed.
pub(crate) fn draw(
    placed: &[(&Body, Pose, Rgb)],
    settings: &RenderSettings,
) -> Result<Canvas, Failure> {
    Ok(picture::render(&render_bodies(placed), &[], settings)?)
}

fn render_bodies<'a>(placed: &'a [(&Body, Pose, Rgb)]) -> Vec<RenderBody<'a>> {
    let bodies = placed
        .iter()
        .map(|&(body, world_from_field, colour)| RenderBody {
            field: &*body.field,
            world_from_field,
            colour,
            smoothing: body.field.finest_cell_size(),
        });
    bodies.collect()
}
