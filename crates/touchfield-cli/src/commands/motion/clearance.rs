//! `touchfield clearance`: how near a moving body comes to another, with a proven bracket.

use std::time::Instant;

use clap::Args;
use serde_json::json;
use touchfield::geom::PairMotion;
use touchfield::narrow::{
    Clearance, ClearanceOutcome, ClearanceScratch, ClearanceSettings, clearance,
};

use crate::args::{Common, Length};
use crate::commands::motion::cast::Moving;
use crate::failure::Failure;
use crate::input::frames::Frames;
use crate::input::pair::Bodies;
use crate::report::{self, Answer, Facts};

/// Find how near a moving body comes to another
#[derive(Args)]
#[command(after_help = "\
Examples:
  touchfield clearance bolt.tfs nut.tfs --from 0.02,0,0.1,0,0,0,1 --to 0.02,0,-0.1,0,0,0,1
  touchfield clearance robot.tfs shelf.tfs --from 1,0,0,0,0,0,1 --to -1,0,0,0,0,0,1 --at-least 5mm --fail-on-contact && echo clear
  touchfield clearance peg.tfs hole.tfs --from 0,0,0.1,0,0,0,1 --to 0,0,0,0,0,0,1 --floor -5mm       how deep, down to 5 mm

B moves as in `touchfield cast`. The least separation over the whole motion lies between
`lower_bound` and `upper_bound`; turning and the errors of the fields are included. `time` is the
share of the motion, from 0 to 1, at which the bodies are as near as `separation`. The search ends
where the bodies are proven to be as near as the floor: bodies that overlap have no clearance. The
outcome is converged, below-floor or gave-up, which leaves a wider bracket.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    bodies: Bodies,
    #[command(flatten)]
    moving: Moving,
    /// Width of the bracket that the search may leave, such as 0.1mm; the errors of the fields come
    /// on top [default: a thousandth of the smaller body's diagonal]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    tolerance: Option<Length>,
    /// End the search once the bodies are proven to be as near as this; below 0, to measure how
    /// deep they overlap
    #[arg(
        long,
        value_name = "S",
        default_value = "0",
        allow_hyphen_values = true
    )]
    floor: Length,
    /// Clearance that --fail-on-contact requires
    #[arg(
        long,
        value_name = "S",
        default_value = "0",
        allow_hyphen_values = true
    )]
    at_least: Length,
    /// Exit with code 1 unless the bodies are proven to stay farther apart than --at-least
    #[arg(long)]
    fail_on_contact: bool,
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Answer, Failure> {
    let shapes = arguments.bodies.load(common)?;
    let settings = ClearanceSettings {
        floor: arguments.floor.0 as f32,
        ..ClearanceSettings::to_within(shapes.tolerance(arguments.tolerance))
    };
    let motion = PairMotion::of_b(arguments.moving.motion(&shapes.frames));
    let mut scratch = ClearanceScratch::default();
    let start = Instant::now();
    let found = clearance(&shapes.a, &shapes.b, &motion, &settings, &mut scratch)
        .map_err(|error| shapes.failure(&error))?;
    let microseconds = start.elapsed().as_secs_f64() * 1e6;
    let answer = answer(&found, &shapes.frames, microseconds);
    let at_least = arguments.at_least.0 as f32;
    if !arguments.fail_on_contact || found.lower_bound > at_least {
        return Ok(answer);
    }
    if found.outcome == ClearanceOutcome::GaveUp && found.upper_bound > at_least {
        return Err(Failure::Limit(format!(
            "gave up after {} states with a clearance between {} and {}, which proves nothing; raise --tolerance, or split the motion",
            found.steps,
            report::length(found.lower_bound),
            report::length(found.upper_bound)
        )));
    }
    Err(Failure::Contact(Box::new(answer)))
}

fn outcome_name(outcome: ClearanceOutcome) -> &'static str {
    match outcome {
        ClearanceOutcome::Converged => "converged",
        ClearanceOutcome::BelowFloor => "below-floor",
        ClearanceOutcome::GaveUp => "gave-up",
    }
}

fn answer(found: &Clearance, frames: &Frames, microseconds: f64) -> Answer {
    let mut facts = Facts::default();
    let what = match found.outcome {
        ClearanceOutcome::Converged => report::length(found.separation),
        ClearanceOutcome::BelowFloor => {
            format!("{} or less", report::length(found.upper_bound))
        }
        ClearanceOutcome::GaveUp => format!(
            "about {}; gave up after {} states",
            report::length(found.separation),
            report::count(found.steps)
        ),
    };
    facts.add("clearance", what);
    facts.add(
        "proven",
        format!(
            "{} to {}",
            report::length(found.lower_bound),
            report::length(found.upper_bound)
        ),
    );
    facts.add("at", format!("{} of the motion", found.time));
    facts.add("point", frames.point(found.point));
    facts.add("normal", report::point(found.normal));
    facts.add("time", report::search_time(microseconds, found.steps));
    let mut json = json!({
            "separation": report::number(found.separation),
            "lower_bound": report::number(found.lower_bound),
            "upper_bound": report::number(found.upper_bound),
            "time": report::number(found.time),
            "point": frames.point_json(found.point),
            "normal": report::numbers(found.normal),
            "outcome": outcome_name(found.outcome),
            "tolerance": report::number(found.tolerance),
            "states": found.steps,
            "boxes": found.boxes,
            "complete": found.outcome != ClearanceOutcome::GaveUp,
            "microseconds": microseconds,
    });
    frames.add_to(&mut json);
    Answer {
        text: facts.text(),
        json,
    }
}
