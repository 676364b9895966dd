//! `touchfield cast`: when a moving body first touches another, with a proof that it did not
//! before.

use std::time::Instant;

use clap::{Args, ValueEnum};
use glam::{DVec3, Vec3};
use serde_json::{Value, json};
use touchfield::geom::{Motion, PairMotion};
use touchfield::narrow::{Cast, CastOutcome, CastScratch, CastSettings, StartingContact, cast};

use crate::args::{Common, Length, parse_pose, parse_vector, parse_wide_vector};
use crate::commands::motion::cast_swept;
use crate::failure::Failure;
use crate::input::frames::{Frames, MeshMotion, MeshPose};
use crate::input::pair::{Bodies, Shapes};
use crate::report::{self, Answer, Facts};

/// Find when a moving body first touches another
#[derive(Args)]
#[command(after_help = "\
Examples:
  touchfield cast bolt.tfs nut.tfs --from 0,0,0.1,0,0,0,1 --to 0,0,0,0,0,0,1
  touchfield cast bolt.tfs nut.tfs --from 0,0,0.1,0,0,0,1 --to 0,0,0,0,0,0,1 --turn 0,0,62.8       ten times around
  touchfield cast robot.tfs shelf.tfs --from 1,0,0,0,0,0,1 --to -1,0,0,0,0,0,1 --target 5mm --fail-on-contact && echo clear

B moves from one pose to the other while A stays: its origin moves in a straight line, and it turns
at a constant rate. Times are shares of that motion, from 0 to 1. Before `lower_bound` the bodies
are proven to be farther apart than the target; turning and the errors of the fields are included.
At `time` they are as near as the target, to within the tolerance and the errors of the fields: up
to twice those errors and a tolerance deeper, never more, at any speed. A finer field, or one baked
with --tolerance, narrows the gap between the two times. The outcome is hit, free (proven all the
way), unproven (free, but nearer than the errors of the fields) or gave-up.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    bodies: Bodies,
    #[command(flatten)]
    moving: Moving,
    #[command(flatten)]
    search: CastSearch,
    /// How touches are found
    #[arg(long, value_enum, default_value_t = CastMethod::Separation)]
    method: CastMethod,
    /// Exit with code 1 unless the bodies are proven to be apart during the whole motion
    #[arg(long)]
    fail_on_contact: bool,
}

/// Methods that find touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CastMethod {
    /// the first touch, with a proof that there was none before
    Separation,
    /// all contacts of the points of both shells with the other field. The surface between points
    /// is ignored, and nothing is proven
    SweptPoints,
}

/// The motion of B while A stays at rest.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Moving {
    /// Start pose of B in the frame of A: translation [m] and quaternion, which is normalised
    #[arg(long, value_name = "TX,TY,TZ,QX,QY,QZ,QW", allow_hyphen_values = true, value_parser = parse_pose)]
    from: MeshPose,
    /// End pose of B. B turns there the shorter way; for a half turn the sign of the quaternion
    /// decides, and --turn makes it explicit
    #[arg(long, value_name = "TX,TY,TZ,QX,QY,QZ,QW", allow_hyphen_values = true, value_parser = parse_pose)]
    to: MeshPose,
    /// Turn by this rotation vector instead: axis times angle [rad] in the frame of A, which may be
    /// several full turns. The rotation of --to is then ignored
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = parse_vector)]
    turn: Option<Vec3>,
    /// The point of B that moves in a straight line, in the frame of B [m]. Without --turn it ends
    /// where --to takes it [default: the origin of B; for a mesh too far out for f32, the origin
    /// that `inspect` names]
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = parse_wide_vector)]
    center: Option<DVec3>,
}

/// Options of a cast.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct CastSearch {
    /// Separation that counts as touching, such as 5mm for a safety distance, or -1mm for an
    /// overlap
    #[arg(
        long,
        value_name = "S",
        default_value = "0",
        allow_hyphen_values = true
    )]
    pub(crate) target: Length,
    /// How far above the target the search may end, such as 0.1mm [default: a thousandth of the
    /// smaller body's diagonal]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) tolerance: Option<Length>,
}

impl CastSearch {
    pub(crate) fn settings(&self, shapes: &Shapes) -> CastSettings {
        CastSettings {
            target: self.target.0 as f32,
            ..CastSettings::to_within(shapes.tolerance(self.tolerance))
        }
    }
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Answer, Failure> {
    if arguments.method == CastMethod::SweptPoints && arguments.fail_on_contact {
        return Err(Failure::BadInput(
            "--method swept-points proves nothing free, as --fail-on-contact requires; leave out one of them"
                .to_owned(),
        ));
    }
    let shapes = arguments.bodies.load(common)?;
    let settings = arguments.search.settings(&shapes);
    let motion = PairMotion::of_b(arguments.moving.motion(&shapes.frames));
    if arguments.method == CastMethod::SweptPoints {
        return cast_swept::run(&shapes, &motion, settings.target, settings.tolerance);
    }
    let mut scratch = CastScratch::default();
    let start = Instant::now();
    let found = cast(&shapes.a, &shapes.b, &motion, &settings, &mut scratch)
        .map_err(|e| shapes.failure(&e))?;
    let microseconds = start.elapsed().as_secs_f64() * 1e6;
    let answer = answer(&found, &settings, &shapes.frames, microseconds);
    let proven_free = found.outcome == CastOutcome::Free && found.start.is_none();
    if arguments.fail_on_contact && found.outcome == CastOutcome::GaveUp {
        return Err(Failure::Limit(format!(
            "gave up after {} states, at {} of the motion, which proves nothing beyond; raise --tolerance, or cast a shorter motion",
            found.steps, found.impact.time
        )));
    }
    if arguments.fail_on_contact && !proven_free {
        return Err(Failure::Contact(Box::new(answer)));
    }
    Ok(answer)
}

impl Moving {
    /// Returns the motion of B's field in the frame of A's field.
    pub(crate) fn motion(&self, frames: &Frames) -> Motion {
        frames.own_motion(&MeshMotion {
            from: self.from,
            to: self.to,
            turn: self.turn,
            center: self.center,
        })
    }
}

/// Returns the word for an outcome, in JSON and in text.
pub(crate) fn outcome_name(outcome: CastOutcome) -> &'static str {
    match outcome {
        CastOutcome::Hit => "hit",
        CastOutcome::Free => "free",
        CastOutcome::Unproven => "unproven",
        CastOutcome::GaveUp => "gave-up",
    }
}

fn start_name(start: StartingContact) -> &'static str {
    match start {
        StartingContact::Separating => "separating",
        StartingContact::Sliding => "sliding",
        StartingContact::Deepening => "deepening",
    }
}

fn answer(found: &Cast, settings: &CastSettings, frames: &Frames, microseconds: f64) -> Answer {
    let Cast { impact, .. } = found;
    let mut facts = Facts::default();
    let what = match found.outcome {
        CastOutcome::Hit if impact.time == 0.0 => "in contact from the start".to_owned(),
        CastOutcome::Hit => format!("touch at {} of the motion", impact.time),
        CastOutcome::Free => "apart all the way, proven".to_owned(),
        CastOutcome::Unproven => "apart all the way, within the errors of the fields".to_owned(),
        CastOutcome::GaveUp => {
            // In contact at the start, and not proven apart since.
            let never_parted = found.start.is_some() && found.from == 0.0;
            format!(
                "{} up to {} of the motion; gave up after {} states",
                if never_parted { "in contact" } else { "apart" },
                impact.time,
                report::count(found.steps)
            )
        }
    };
    facts.add("bodies", what);
    if let Some(start) = found.start {
        let name = start_name(start);
        facts.add(
            "start",
            match found.from > 0.0 {
                true => format!("in contact, {name}; apart from {} on", found.from),
                false => format!("in contact, {name}"),
            },
        );
    }
    facts.add(
        "proven free",
        format!("{} to {}", found.from, impact.lower_bound),
    );
    facts.add("separation", report::length(found.separation));
    if found.tolerance > settings.tolerance {
        let (used, asked) = (found.tolerance, settings.tolerance);
        let [used, asked] = [used, asked].map(report::length);
        facts.add(
            "tolerance",
            format!("{used}; for {asked} the motion is too long, cut it into pieces"),
        );
    }
    facts.add("point", frames.point(impact.point));
    facts.add("normal", report::point(impact.normal));
    facts.add("time", report::search_time(microseconds, found.steps));
    let mut json = json!({
            "hit": found.is_hit(),
            "outcome": outcome_name(found.outcome),
            "start": found.start.map_or(Value::Null, |start| start_name(start).into()),
            "time": report::number(impact.time),
            "lower_bound": report::number(impact.lower_bound),
            "from": report::number(found.from),
            "point": frames.point_json(impact.point),
            "normal": report::numbers(impact.normal),
            "separation": report::number(found.separation),
            "target": report::number(settings.target),
            "tolerance": report::number(found.tolerance),
            "states": found.steps,
            "boxes": found.boxes,
            "complete": found.outcome != CastOutcome::GaveUp,
            "microseconds": microseconds,
    });
    frames.add_to(&mut json);
    Answer {
        text: facts.text(),
        json,
    }
}
