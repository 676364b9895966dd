//! `touchfield sweep`: separation and contacts of two bodies at many poses, or first touches of
//! many motions.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use clap::Args;
use rayon::prelude::*;
use serde_json::json;
use touchfield::Pose;
use touchfield::narrow::{
    CollideError, CollideSettings, Contacts, Outcome, Scratch, SeparationOutcome,
    SeparationScratch, SeparationSettings, collide, separation, touching,
};

use crate::args::{Common, Length};
use crate::commands::motion::cast::CastSearch;
use crate::commands::motion::sweep_motions;
use crate::commands::motion::sweep_segments;
use crate::commands::pair::collide::Search;
use crate::device::{DeviceChoice, Ran};
use crate::failure::Failure;
use crate::files::{output, points};
use crate::input::frames::MeshPose;
use crate::input::load;
use crate::input::pair::{Bodies, Shapes};
use crate::report::progress::CountProgress;
use crate::report::{self, Answer, Facts};

/// Poses per piece of work of a thread: its buffers grow once for all of them.
const PIECE: usize = 64;
/// Columns of the output.
const HEADING: [&str; 8] = ["separation", "nx", "ny", "nz", "px", "py", "pz", "contacts"];

type Row = [f32; HEADING.len()];

/// Compute separation and contacts at many poses, or the first touches of many motions
#[derive(Args)]
#[command(after_help = "\
Examples:
  touchfield sweep bolt.tfs nut.tfs --poses poses.npy -o rows.npy       (N, 7) in, (N, 8) out
  touchfield sweep bolt.tfs nut.tfs --poses poses.csv -o rows.csv --json
  touchfield sweep bolt.tfs nut.tfs --poses poses.csv -o rows.parquet
  touchfield sweep bolt.tfs nut.tfs --motions motions.npy -o rows.npy   (N, 14) in, (N, 11) out
  touchfield sweep bolt.tfs --segments ways.npy -o rows.npy             (N, 6) in, (N, 4) out

A pose is where B is in the frame of A: TX,TY,TZ,QX,QY,QZ,QW. A row is
separation,nx,ny,nz,px,py,pz,contacts: the result of `touchfield separation`, its normal from A to B
and its point, and the number of contacts that `touchfield collide` finds. With --device gpu the
contacts are found and counted on the GPU: all points of the finer shell that are in contact. Whether
the bodies touch, and the separation, stay the CPU's.

A motion is its start pose and its end pose, side by side. A row is
time,lower_bound,hit,px,py,pz,nx,ny,nz,separation,from: the result of `touchfield cast`; hit is 1 or
0. Between from and lower_bound a motion is proven free; from is 0 unless the bodies start in
contact and part.

A segment is the path of a point past A: from X,Y,Z to X,Y,Z in the frame of A. A row is
first,leave,spans,share: the shares of the path at which contact first begins and last ends, or -1;
the number of spans in contact; and the share of the path in contact, where the field is at or below
--target.")]
pub(crate) struct Arguments {
    /// Body A: a baked field (.tfs), or a mesh, which is baked in memory first
    a: PathBuf,
    /// Body B: a baked field (.tfs) or a mesh; not given with --segments
    #[arg(required_unless_present = "segments", conflicts_with = "segments")]
    b: Option<PathBuf>,
    /// Replace both meshes by their convex hulls: exact answers, in microseconds, for bodies
    /// without hollows
    #[arg(long, conflicts_with = "segments")]
    convex: bool,
    /// Poses of B: .npy of shape (N, 7), f4 or f8, or .csv with seven columns and an optional
    /// heading
    #[arg(long, value_name = "P", required_unless_present_any = ["motions", "segments"])]
    poses: Option<PathBuf>,
    /// Motions of B: .npy of shape (N, 14), f4 or f8, or .csv with fourteen columns: the pose at
    /// the start, then the pose at the end
    #[arg(long, value_name = "P", conflicts_with_all = ["poses", "method", "max_separation", "budget"])]
    motions: Option<PathBuf>,
    /// Straight paths of points past A, in its frame: .npy of shape (N, 6), f4 or f8, or .csv with
    /// six columns: from X,Y,Z to X,Y,Z
    #[arg(long, value_name = "P", conflicts_with_all = ["poses", "motions", "method", "max_separation", "budget", "tolerance"])]
    segments: Option<PathBuf>,
    /// Output file: .npy (f4), .csv or .parquet, with one row per pose, shape (N, 8); or per
    /// motion, (N, 11); or per segment, (N, 4)
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Width of the bracket that the search for the separation may leave, or how far above the
    /// target a cast may end, such as 0.1mm [default: a thousandth of the smaller body's diagonal]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    tolerance: Option<Length>,
    /// Separation that counts as touching in a motion or on a segment, such as 5mm
    #[arg(
        long,
        value_name = "S",
        allow_hyphen_values = true,
        conflicts_with = "poses"
    )]
    target: Option<Length>,
    #[command(flatten)]
    search: Search,
    /// Exit with code 1 if there is a contact at any pose, or a motion that is not proven free
    #[arg(long)]
    fail_on_contact: bool,
    #[command(flatten)]
    device: DeviceChoice,
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Answer, Failure> {
    // Check the output file, and handle segments and motions, which have their own files.
    output::check(&arguments.output, &points::EXTENSIONS)?;
    let bodies = [&arguments.a].into_iter().chain(&arguments.b);
    let files = [&arguments.poses, &arguments.motions, &arguments.segments];
    for input in bodies.chain(files.into_iter().flatten()) {
        output::check_apart(&arguments.output, input)?;
    }
    if arguments.segments.is_some() || arguments.motions.is_some() {
        // A GPU that would do nothing is refused, not ignored.
        arguments.device.run(|_| -> Result<(), Failure> {
            Err(Failure::BadInput(
                "motions and segments run on the CPU; --device gpu goes with --poses".to_owned(),
            ))
        })?;
    }
    if let Some(segments) = &arguments.segments {
        let level = arguments.target.unwrap_or(Length(0.0)).0 as f32;
        let (answer, touches) =
            sweep_segments::run(&arguments.a, segments, level, &arguments.output, common)?;
        return match arguments.fail_on_contact && touches {
            true => Err(Failure::Contact(Box::new(answer))),
            false => Ok(answer),
        };
    }
    let bodies = arguments.bodies()?;
    let poses = match (&arguments.poses, &arguments.motions) {
        (Some(poses), _) => points::read_poses(poses, common.max_memory.0)?,
        (None, Some(motions)) => {
            let motions = sweep_motions::read(motions, common)?;
            let search = CastSearch {
                target: arguments.target.unwrap_or(Length(0.0)),
                tolerance: arguments.tolerance,
            };
            let (output, fail) = (&arguments.output, arguments.fail_on_contact);
            let shapes = bodies.load(common)?;
            return sweep_motions::run(&shapes, &motions, &search, output, fail);
        }
        (None, None) => {
            return Err(Failure::BadInput(
                "neither --poses nor --motions is given".to_owned(),
            ));
        }
    };
    let collide = arguments.search.settings();
    bodies.check(&collide)?;
    let shapes = bodies.load(common)?;
    let questions = Questions {
        shapes: &shapes,
        separation: SeparationSettings::to_within(shapes.tolerance(arguments.tolerance)),
        collide,
        incomplete: AtomicUsize::new(0),
        touching: AtomicUsize::new(0),
    };
    // Find the contacts on a GPU, if one is chosen.
    let start = Instant::now();
    let on_device = || -> Result<Ran<Vec<u32>>, Failure> {
        arguments.device.run(|gpu| {
            let a_from_b: Vec<Pose> = poses.iter().map(|pose| shapes.at(pose).a_from_b).collect();
            gpu.count_contacts([&shapes.a, &shapes.b], &a_from_b, collide.max_separation)
        })
    };
    let (counts, device) = match on_device()? {
        Ran::OnGpu(counts, name) => (Some(counts), Some(name)),
        Ran::LeftToCpu(why) => {
            if let Some(why) = why {
                load::note(&format!("contacts are found on the CPU: {why}"));
            }
            (None, None)
        }
    };
    // Query all poses in parallel, in pieces.
    let bar = CountProgress::new("poses", poses.len() as u64);
    let pieces: Result<Vec<Vec<Row>>, Failure> = poses
        .par_chunks(PIECE)
        .enumerate()
        .map(|(number, piece)| {
            let counts = counts.as_ref().map(|counts| &counts[number * PIECE..]);
            let rows = questions.rows(piece, counts);
            bar.add(piece.len() as u64)?;
            rows.map_err(|error| shapes.failure(&error))
        })
        .collect();
    let rows = pieces?.concat();
    let seconds = start.elapsed().as_secs_f64();
    drop(bar);
    // Write the rows and report.
    points::write_rows(&arguments.output, HEADING, &rows)?;
    let touching = questions.touching.load(Ordering::Relaxed);
    let incomplete = questions.incomplete.load(Ordering::Relaxed);
    let mut answer = answer(arguments, &rows, touching, incomplete, seconds);
    answer.json = report::merged(
        answer.json,
        json!({ "device": device.as_deref().unwrap_or("cpu") }),
    );
    shapes.frames.note_rows(&mut answer);
    if arguments.fail_on_contact && touching > 0 {
        return Err(Failure::Contact(Box::new(answer)));
    }
    if arguments.fail_on_contact && incomplete > 0 {
        return Err(Failure::Limit(format!(
            "the search was cut short at {incomplete} poses, which proves nothing; raise --budget or leave it out"
        )));
    }
    Ok(answer)
}

impl Arguments {
    fn bodies(&self) -> Result<Bodies, Failure> {
        let missing = || Failure::BadInput("body B is missing".to_owned());
        Ok(Bodies {
            a: self.a.clone(),
            b: self.b.clone().ok_or_else(missing)?,
            convex: self.convex,
        })
    }
}

/// The queries made at every pose.
struct Questions<'a> {
    shapes: &'a Shapes,
    separation: SeparationSettings,
    collide: CollideSettings,
    /// Number of poses at which a search was cut short.
    incomplete: AtomicUsize,
    /// Number of poses at which the bodies touch.
    touching: AtomicUsize,
}

impl Questions<'_> {
    /// Returns the rows of some poses; `counts` are their numbers of contacts, if a device found
    /// them.
    fn rows(&self, poses: &[MeshPose], counts: Option<&[u32]>) -> Result<Vec<Row>, CollideError> {
        let mut heap = SeparationScratch::default();
        let (mut scratch, mut found) = (Scratch::default(), Contacts::default());
        poses
            .iter()
            .enumerate()
            .map(|(index, a_from_b)| {
                let pair = self.shapes.at(a_from_b);
                let apart = separation(&pair, &self.separation, &mut heap)?;
                let (contacts, touches) = match counts {
                    Some(counts) => {
                        let most = self.collide.max_separation;
                        (counts[index], touching(&pair, most, &mut scratch)?)
                    }
                    None => {
                        collide(&pair, &self.collide, &mut scratch, &mut found)?;
                        let count = found.contacts.len() as u32;
                        (count, count > 0)
                    }
                };
                self.touching
                    .fetch_add(usize::from(touches), Ordering::Relaxed);
                let whole = found.outcome == Outcome::Complete
                    && apart.outcome != SeparationOutcome::GaveUp;
                if !whole {
                    self.incomplete.fetch_add(1, Ordering::Relaxed);
                }
                let ([nx, ny, nz], [px, py, pz]) =
                    (apart.normal.to_array(), apart.point.to_array());
                Ok([apart.separation, nx, ny, nz, px, py, pz, contacts as f32])
            })
            .collect()
    }
}

fn answer(
    arguments: &Arguments,
    rows: &[Row],
    touching: usize,
    incomplete: usize,
    seconds: f64,
) -> Answer {
    let rate = rows.len() as f64 / seconds.max(1e-9);
    let least = rows.iter().map(|row| row[0]).reduce(f32::min);
    let mut facts = Facts::default();
    facts.add("poses", report::count_of(rows.len()));
    facts.add("touching", report::count_of(touching));
    if incomplete > 0 {
        facts.add("cut short", report::count_of(incomplete));
    }
    if let Some(least) = least {
        facts.add("least separation", report::length(least));
    }
    facts.add(
        "time",
        format!(
            "{}, {} poses/s",
            report::seconds(seconds),
            report::rounded(rate)
        ),
    );
    Answer {
        text: facts.text(),
        json: json!({
            "poses": rows.len(),
            "touching": touching,
            "incomplete": incomplete,
            "least_separation": least.map(report::number),
            "seconds": seconds,
            "poses_per_second": rate,
            "output": arguments.output.to_string_lossy(),
        }),
    }
}
