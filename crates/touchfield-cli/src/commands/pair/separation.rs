//! `touchfield separation`: how far two bodies are apart, or how deep they overlap, with a proof.

use std::time::Instant;

use clap::{Args, ValueEnum};
use glam::DVec3;
use serde_json::json;
use touchfield::narrow::convex::{ConvexCache, ConvexPair, VClip, VClipOutcome, v_clip};
use touchfield::narrow::{
    Pair, Separation, SeparationOutcome, SeparationScratch, SeparationSettings, separation,
};

use crate::args::{Common, Length};
use crate::failure::Failure;
use crate::input::frames::Frames;
use crate::input::pair::{Bodies, Placed};
use crate::report::{self, Answer, Facts};

/// Compute how far two bodies are apart, with proven bounds
#[derive(Args)]
#[command(after_help = "\
Examples:
  touchfield separation bolt.tfs nut.tfs --b-in-a 0,0,0.02,0,0,0,1
  touchfield separation a.stl b.stl --b-in-a -0.1,0,0,0,0,0,1 --tolerance 0.1mm --json
  touchfield separation a.stl b.stl --b-in-a -0.1,0,0,0,0,0,1 --convex --method v-clip

The separation is the distance between bodies that are apart. For bodies that overlap it is minus
the diameter of the largest ball that fits in the overlap. The bounds are proven and include the
errors of the fields and rounding. For bodies that are apart, and are closed meshes or baked with
their faces, the bounds come from the triangles and are as narrow as --tolerance requests.
Otherwise a finer field, or one baked with --tolerance, narrows them, and so does --exact for
bodies that overlap and keep their faces. With --convex, the shortest
translation of B that separates the bodies is also reported; it is 0 for bodies that are apart.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    bodies: Bodies,
    #[command(flatten)]
    placed: Placed,
    /// Width of the bracket that the search may leave, such as 0.1mm; where fields are used, their
    /// errors come on top [default: a thousandth of the smaller body's diagonal]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    tolerance: Option<Length>,
    /// Decide how deep bodies overlap by exact distances to their faces: the bracket is then as
    /// narrow as --tolerance, which may take a hundred times as long
    #[arg(long)]
    exact: bool,
    /// How convex hulls are compared
    #[arg(long, value_enum, default_value_t = HullMethod::Gjk, requires_if("v-clip", "convex"))]
    method: HullMethod,
    /// Exit with code 1 if the bodies may touch, that is, if the lower bound is not above 0
    #[arg(long)]
    fail_on_contact: bool,
}

/// Methods that compare convex hulls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum HullMethod {
    /// GJK: proven bounds from support points, and a depth where the hulls overlap
    Gjk,
    /// V-Clip as well: reports which corners, edges and faces are nearest; both methods must agree
    VClip,
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Answer, Failure> {
    let shapes = arguments.bodies.load(common)?;
    let tolerance = shapes.tolerance(arguments.tolerance);
    let settings = SeparationSettings {
        exact_depth: arguments.exact,
        ..SeparationSettings::to_within(tolerance)
    };
    let pair = shapes.at(&arguments.placed.b_in_a);
    let mut scratch = SeparationScratch::default();
    let start = Instant::now();
    let found = separation(&pair, &settings, &mut scratch).map_err(|e| shapes.failure(&e))?;
    let microseconds = start.elapsed().as_secs_f64() * 1e6;
    let least = LeastTranslation::of(&pair);
    let mut answer = answer(
        &found,
        least.as_ref(),
        &shapes.frames,
        tolerance,
        microseconds,
    );
    if arguments.method == HullMethod::VClip {
        features(&pair, &found, &mut answer)?;
    }
    // A bound that is NaN proves nothing either.
    let apart = found.lower_bound > 0.0;
    if arguments.fail_on_contact && !apart {
        return Err(Failure::Contact(Box::new(answer)));
    }
    Ok(answer)
}

/// Adds the nearest features to an answer, and compares the distances of both methods.
fn features(pair: &Pair<'_>, found: &Separation, answer: &mut Answer) -> Result<(), Failure> {
    let hulls = [pair.a, pair.b].map(|shape| shape.as_convex().and_then(|body| body.as_hull()));
    let [Some(a), Some(b)] = hulls else {
        return Err(Failure::BadInput(
            "--method v-clip is for hulls; --convex takes both meshes as their hulls".to_owned(),
        ));
    };
    let mut features = None;
    let start = Instant::now();
    let VClip { outcome, steps, .. } = v_clip(a, b, pair.a_from_b, &mut features);
    let microseconds = start.elapsed().as_secs_f64() * 1e6;
    let told = match outcome {
        VClipOutcome::Apart { distance, .. } => Some(distance),
        VClipOutcome::Overlapping => Some(0.0),
        VClipOutcome::GaveUp => None,
    };
    // Bounds are rounded outwards to `f32`; a few roundings of a coordinate come on top.
    let slack = 1e-6 * f64::from(pair.a.solid().diagonal().max(pair.b.solid().diagonal()));
    let bounds = [found.lower_bound, found.upper_bound].map(|bound| f64::from(bound).max(0.0));
    let disagrees = |distance: &f64| *distance < bounds[0] - slack || *distance > bounds[1] + slack;
    if let Some(distance) = told.filter(disagrees) {
        return Err(Failure::Disagreement(format!(
            "V-Clip finds the hulls {distance} m apart, GJK between {} and {} m",
            bounds[0], bounds[1]
        )));
    }
    let nearest = features.map(|pair| format!("{:?} of A, {:?} of B", pair.on_a, pair.on_b));
    let line = match (told, &nearest) {
        (Some(distance), Some(nearest)) if distance > 0.0 => {
            format!("{distance:.9} m by {nearest}, {steps} pairs of features, {microseconds:.1} µs")
        }
        (Some(_), _) => "hulls have a point in common".to_owned(),
        _ => "gave up; the bounds above hold".to_owned(),
    };
    answer.text.push_str(&format!("  V-Clip        {line}\n"));
    answer.json["v_clip"] = json!({
        "distance": told,
        "features": nearest,
        "steps": steps,
        "microseconds": microseconds,
    });
    Ok(())
}

/// The minimum translation of B that separates two convex bodies, in frame A.
struct LeastTranslation {
    depth: f64,
    way: DVec3,
}

impl LeastTranslation {
    /// Computes the minimum translation; `None` if the bodies are not both convex.
    fn of(pair: &Pair<'_>) -> Option<LeastTranslation> {
        let (a, b) = (pair.a.as_convex()?, pair.b.as_convex()?);
        let touch = ConvexPair::new(a, b, pair.a_from_b).touch(0.0, &mut ConvexCache::default());
        let depth = (-touch.separation).max(0.0);
        Some(LeastTranslation {
            depth,
            way: match depth > 0.0 {
                true => depth * touch.normal,
                false => DVec3::ZERO,
            },
        })
    }

    fn told(&self) -> String {
        let direction = self.way.normalize_or_zero().as_vec3();
        let length = report::length(self.depth as f32);
        format!("{length} along {}", report::point(direction))
    }
}

fn answer(
    found: &Separation,
    least: Option<&LeastTranslation>,
    frames: &Frames,
    tolerance: f32,
    microseconds: f64,
) -> Answer {
    let mut facts = Facts::default();
    let what = match (found.lower_bound > 0.0, found.upper_bound < 0.0) {
        (true, _) => "apart",
        (_, true) => "overlapping",
        _ => "touching, within the errors of the fields",
    };
    facts.add("bodies", what);
    facts.add("separation", report::length(found.separation));
    facts.add(
        "proven",
        format!(
            "{} to {}",
            report::length(found.lower_bound),
            report::length(found.upper_bound)
        ),
    );
    if found.outcome == SeparationOutcome::GaveUp {
        facts.add(
            "note",
            format!(
                "gave up after {} boxes; the bounds hold, but are wider than {}",
                report::count(found.boxes),
                report::length(tolerance)
            ),
        );
    }
    if let Some(least) = least.filter(|least| least.depth > 0.0) {
        facts.add("to part", least.told());
    }
    facts.add("point on A", frames.point(found.point_on_a));
    facts.add("point on B", frames.point(found.point_on_b));
    facts.add("normal", report::point(found.normal));
    facts.add(
        "time",
        format!("{microseconds:.0} µs, {} boxes", report::count(found.boxes)),
    );
    let mut json = json!({
            "separation": report::number(found.separation),
            "lower_bound": report::number(found.lower_bound),
            "upper_bound": report::number(found.upper_bound),
            "point": frames.point_json(found.point),
            "point_on_a": frames.point_json(found.point_on_a),
            "point_on_b": frames.point_json(found.point_on_b),
            "normal": report::numbers(found.normal),
            "tolerance": report::number(tolerance),
            "boxes": found.boxes,
            "complete": found.outcome == SeparationOutcome::Converged,
            "microseconds": microseconds,
    });
    frames.add_to(&mut json);
    if let Some(least) = least {
        json["penetration_depth"] = report::number(least.depth as f32);
        json["least_translation"] = report::numbers(least.way.as_vec3());
    }
    Answer {
        text: facts.text(),
        json,
    }
}
