//! `touchfield cast --method swept-points`: when shell points first touch, and for how long.
//!
//! Input: two shapes, the motion of B. Output: the first touch of a shell point of either body with
//! the other's field, and the intervals of time in which any point is in contact.
//! Not for: proofs. The surface between points is ignored, and the values of the fields are taken
//! as exact.

use std::time::Instant;

use serde_json::json;
use touchfield::geom::PairMotion;
use touchfield::narrow::swept_points::{
    PointSpan, ShellPath, Span, SweepScratch, SweepSettings, SweptField, sweep_shell,
};
use touchfield::shape::Shape;

use crate::failure::Failure;
use crate::input::pair::Shapes;
use crate::report::{self, Answer, Facts};

/// The contacts of one shell over a motion.
struct Swept {
    /// Name of the body that the shell belongs to.
    shell_of: &'static str,
    spans: Vec<PointSpan>,
}

/// The first point to touch.
struct First {
    shell_of: &'static str,
    point: u32,
    time: f64,
}

/// Sweeps both shells, each through the field of the other body.
pub(crate) fn run(
    shapes: &Shapes,
    motion: &PairMotion,
    level: f32,
    tolerance: f32,
) -> Result<Answer, Failure> {
    let start = Instant::now();
    let settings = SweepSettings {
        level,
        ..SweepSettings::to_within(tolerance)
    };
    let mut swept = Vec::new();
    let mut gap = f32::INFINITY;
    let ways = [
        ("B", &shapes.a, &shapes.b, *motion),
        ("A", &shapes.b, &shapes.a, motion.flipped()),
    ];
    for (shell_of, field, body, motion) in ways {
        if let Some((spans, covering)) = spans(shapes, field, body, motion, &settings)? {
            gap = gap.min(covering + field.field().error_bound());
            swept.push(Swept { shell_of, spans });
        }
    }
    if swept.is_empty() {
        return Err(shapes.failure(&"neither body has a shell; leave out --convex"));
    }
    let microseconds = start.elapsed().as_secs_f64() * 1e6;
    let first = first(&swept);
    Ok(answer(&swept, first.as_ref(), gap, level, microseconds))
}

fn spans(
    shapes: &Shapes,
    field: &Shape,
    body: &Shape,
    motion: PairMotion,
    settings: &SweepSettings,
) -> Result<Option<(Vec<PointSpan>, f32)>, Failure> {
    let Some(shell) = body.shell() else {
        return Ok(None);
    };
    let mut spans = Vec::new();
    sweep_shell(
        shell,
        &ShellPath::Rigid(motion),
        &SweptField::of(field),
        settings,
        &mut SweepScratch::default(),
        &mut spans,
    )
    .map_err(|error| shapes.failure(&error))?;
    Ok(Some((spans, shell.covering_radius())))
}

/// Returns the earliest touch; ties are resolved in favour of B's shell, then of the lowest point
/// index.
fn first(swept: &[Swept]) -> Option<First> {
    let all = swept.iter().flat_map(|swept| {
        swept.spans.iter().map(|span| First {
            shell_of: swept.shell_of,
            point: span.point,
            time: span.span.enter,
        })
    });
    all.reduce(|best, next| if next.time < best.time { next } else { best })
}

/// Returns the intervals in which any point is in contact, in order.
fn intervals(swept: &[Swept]) -> Vec<Span> {
    let mut all: Vec<Span> = (swept.iter())
        .flat_map(|swept| swept.spans.iter().map(|span| span.span))
        .collect();
    all.sort_unstable_by(|a, b| a.enter.total_cmp(&b.enter));
    all.dedup_by(|next, kept| {
        let meets = next.enter <= kept.leave;
        if meets {
            kept.leave = kept.leave.max(next.leave);
        }
        meets
    });
    all
}

fn answer(
    swept: &[Swept],
    first: Option<&First>,
    gap: f32,
    level: f32,
    microseconds: f64,
) -> Answer {
    /// Maximum number of intervals in the text; the JSON contains all of them.
    const LISTED: usize = 8;
    let intervals = intervals(swept);
    let mut facts = Facts::default();
    facts.add(
        "first touch",
        match first {
            Some(first) => format!(
                "at {:.6} of the motion, by point {} of {}",
                first.time, first.point, first.shell_of
            ),
            None => "no point of a shell touches".to_owned(),
        },
    );
    let mut listed: Vec<String> = (intervals.iter().take(LISTED))
        .map(|span| format!("{:.6} to {:.6}", span.enter, span.leave))
        .collect();
    if intervals.len() > LISTED {
        listed.push(format!("and {} more", intervals.len() - LISTED));
    }
    if !listed.is_empty() {
        facts.add("in contact", listed.join(", "));
    }
    let points: usize = swept.iter().map(|swept| touched(&swept.spans)).sum();
    facts.add("points that touch", report::count_of(points));
    facts.add(
        "not proven",
        format!(
            "surface between the points may be nearer by {}; `--method separation` proves",
            report::length(gap)
        ),
    );
    facts.add("time", format!("{microseconds:.0} µs"));
    let spans = intervals.iter().map(|span| json!([span.enter, span.leave]));
    Answer {
        text: facts.text(),
        json: json!({
            "method": "swept-points",
            "hit": first.is_some(),
            "time": first.map(|first| first.time),
            "shell_of": first.map(|first| first.shell_of),
            "point": first.map(|first| first.point),
            "spans": spans.collect::<Vec<_>>(),
            "points_in_contact": points,
            "proven": false,
            "may_be_nearer_by": report::number(gap),
            "target": report::number(level),
            "microseconds": microseconds,
        }),
    }
}

/// Returns the number of points with a span; spans of one point are adjacent.
fn touched(spans: &[PointSpan]) -> usize {
    spans.chunk_by(|a, b| a.point == b.point).count()
}
