//! `touchfield clash`: which parts of an assembly touch, and how deep.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use glam::{DVec3, Vec3};
use serde_json::{Value, json};
use touchfield::geom::Pose;
use touchfield::narrow::{CollideSettings, Outcome};
use touchfield::pipeline::{
    Answer as Found, Body, PairContacts, Pipeline, PipelineError, PipelineSettings, Timings,
};

use crate::args::{Common, Length, PlacedFile, placed_file_parser};
use crate::failure::Failure;
use crate::input::frames::Frames;
use crate::input::load::{self, LoadedShape};
use crate::report::{self, Answer};

/// Report which parts of an assembly touch, and how deep
#[derive(Args)]
#[command(after_help = "\
Examples:
  touchfield clash bolt.tfs nut.tfs@0,0,0.02,0,0,0,1 plate.tfs@0,0,-0.01,0,0,0,1
  touchfield clash housing.stl gear.stl@0.1,0,0,0,0,0,1 gear.stl@0.2,0,0,0,0,0,1 --clearance 1mm --json
  touchfield clash *.tfs --fail-on-contact && echo 'no clashes'

A file may be given many times, each time with another pose; it is read once. Pairs whose boxes are
farther apart than the clearance are skipped. A pair is listed if a point of one part's surface is
within the clearance of the other part, by the values of the fields. Parts that touch only between
the points of their shells, or that are nearer than the errors of the fields, need
`touchfield separation`, whose bounds are proven.")]
pub(crate) struct Arguments {
    /// Parts: baked fields (.tfs) or meshes. Each may have a pose TX,TY,TZ,QX,QY,QZ,QW in the frame
    /// of the assembly; without one it is at its origin
    #[arg(required = true, num_args = 2.., value_name = "FILE[@POSE]", value_parser = placed_file_parser())]
    parts: Vec<PlacedFile>,
    /// Also list pairs that are nearer than this, such as 1mm
    #[arg(
        long,
        value_name = "D",
        default_value = "0",
        allow_hyphen_values = true
    )]
    clearance: Length,
    /// Exit with code 1 if a pair is listed
    #[arg(long)]
    fail_on_contact: bool,
}

/// A pair that is listed.
struct Clash {
    parts: [usize; 2],
    separation: f32,
    contacts: usize,
    /// Contact point relative to [`middle`] \[m\].
    point: Vec3,
    normal_in_world: Vec3,
    is_whole: bool,
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Answer, Failure> {
    let clearance = arguments.clearance.0 as f32;
    let settings = PipelineSettings {
        collide: CollideSettings {
            max_separation: clearance,
            ..Default::default()
        },
        // Nothing moves.
        box_margin: 0.0,
        ..Default::default()
    };
    let mut pipeline = Pipeline::new(settings)
        .map_err(|error| Failure::BadInput(format!("--clearance: {error}")))?;
    let shapes = shapes(arguments, common)?;
    let middle = middle(arguments, &shapes);
    let mut poses = Vec::new();
    for (part, loaded) in arguments.parts.iter().zip(shapes) {
        let pose = &part.world_from_field;
        let translation = match (middle, loaded.origin) {
            (DVec3::ZERO, DVec3::ZERO) => pose.pose.translation,
            (middle, origin) => (pose.transform_point(origin) - middle).as_vec3(),
        };
        let world_from_body = Pose {
            translation,
            ..pose.pose
        };
        poses.push(world_from_body);
        let body = Body {
            shape: loaded.shape,
            world_from_body,
            fixed: false,
        };
        pipeline
            .insert(body)
            .map_err(|error: PipelineError| Failure::in_file(&part.path, error))?;
    }
    let start = Instant::now();
    pipeline.step();
    let microseconds = start.elapsed().as_secs_f64() * 1e6;
    let mut clashes = Vec::new();
    for pair in pipeline.pairs() {
        if let Some(clash) = clash_of(&pair, &poses, arguments)? {
            clashes.push(clash);
        }
    }
    // Deepest first; ties are ordered by part numbers.
    clashes.sort_by(|x, y| (x.separation.total_cmp(&y.separation)).then(x.parts.cmp(&y.parts)));
    let frames = Frames {
        a: middle,
        ..Frames::default()
    };
    let answer = answer(
        arguments,
        &frames,
        &clashes,
        pipeline.timings(),
        microseconds,
    );
    if arguments.fail_on_contact && !clashes.is_empty() {
        return Err(Failure::Contact(Box::new(answer)));
    }
    Ok(answer)
}

/// Returns a point of the world near which `f32` resolves the parts: the world's origin, unless a
/// part is too far away for that.
fn middle(arguments: &Arguments, shapes: &[LoadedShape]) -> DVec3 {
    let far = (arguments.parts.iter().zip(shapes)).find(|(_, loaded)| loaded.origin != DVec3::ZERO);
    far.map_or(DVec3::ZERO, |(part, loaded)| {
        part.world_from_field.transform_point(loaded.origin)
    })
}

/// Returns one shape per part; a file that is named again is not read again.
fn shapes(arguments: &Arguments, common: &Common) -> Result<Vec<LoadedShape>, Failure> {
    let mut read: Vec<(&PathBuf, LoadedShape)> = Vec::new();
    let mut left = common.max_memory.0;
    let mut shapes = Vec::new();
    for part in &arguments.parts {
        let known = read.iter().find(|(path, _)| *path == &part.path);
        let shape = match known {
            Some((_, shape)) => shape.clone(),
            None => {
                let loaded = load::shape(&part.path, left)?;
                left = left.saturating_sub(loaded.bytes);
                read.push((&part.path, loaded.clone()));
                loaded
            }
        };
        shapes.push(shape);
    }
    Ok(shapes)
}

fn clash_of(
    pair: &PairContacts<'_>,
    poses: &[Pose],
    arguments: &Arguments,
) -> Result<Option<Clash>, Failure> {
    // Ids are assigned in order, from 0.
    let parts = [pair.a.0 as usize, pair.b.0 as usize];
    let [a, b] = parts.map(|part| &arguments.parts[part]);
    let found = pair.answer.as_ref().map_err(|error| {
        let (a, b) = (a.path.display(), b.path.display());
        Failure::BadInput(format!("{a} and {b}: {error}"))
    })?;
    let is_whole = match found {
        Found::Apart => true,
        Found::Asked { outcome, .. } => *outcome == Outcome::Complete,
    };
    Ok(pair.found.first().map(|deepest| Clash {
        parts,
        separation: deepest.separation,
        contacts: pair.found.len(),
        point: poses[parts[0]].transform_point(deepest.point),
        normal_in_world: poses[parts[0]].transform_vector(deepest.normal),
        is_whole,
    }))
}

/// Returns a name that distinguishes a part from its copies: its number, from 1, and its file.
fn name(arguments: &Arguments, part: usize) -> String {
    format!(
        "{} {}",
        part + 1,
        load::name_of(&arguments.parts[part].path)
    )
}

fn answer(
    arguments: &Arguments,
    frames: &Frames,
    clashes: &[Clash],
    timings: Timings,
    microseconds: f64,
) -> Answer {
    let parts = arguments.parts.len();
    let rows: Vec<Vec<String>> = (clashes.iter())
        .map(|clash| {
            let [a, b] = clash.parts.map(|part| name(arguments, part));
            vec![
                a,
                b,
                report::length(clash.separation),
                report::count_of(clash.contacts),
                frames.point(clash.point),
            ]
        })
        .collect();
    let summary = format!(
        "{} of {} parts within {}; {} pairs of boxes compared, {microseconds:.0} µs\n",
        report::plural(clashes.len(), "pair", "pairs"),
        report::count_of(parts),
        report::length(arguments.clearance.0),
        report::count_of(timings.pairs),
    );
    let text = match rows.is_empty() {
        true => summary,
        false => {
            let headings = ["part", "part", ">separation", ">contacts", "deepest at"];
            format!("{}{summary}", report::table(&headings, &rows))
        }
    };
    let list: Vec<Value> = (clashes.iter())
        .map(|clash| {
            let [a, b] = clash.parts;
            json!({
                "a": a,
                "b": b,
                "file_a": arguments.parts[a].path.to_string_lossy(),
                "file_b": arguments.parts[b].path.to_string_lossy(),
                "separation": report::number(clash.separation),
                "contacts": clash.contacts,
                "point": frames.point_json(clash.point),
                "normal": report::numbers(clash.normal_in_world),
                "complete": clash.is_whole,
            })
        })
        .collect();
    Answer {
        text,
        json: json!({
            "parts": parts,
            "clearance": report::number(arguments.clearance.0 as f32),
            "clashes": list,
            "pairs_compared": timings.pairs,
            "pairs_rejected_by_spheres": timings.apart,
            "broad_microseconds": timings.broad.as_secs_f64() * 1e6,
            "narrow_microseconds": timings.narrow.as_secs_f64() * 1e6,
            "microseconds": microseconds,
        }),
    }
}
