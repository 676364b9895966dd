//! `touchfield sweep --motions`: first touches of many motions.
//!
//! Input: two shapes, a file of motions, each from one pose to another. Output: one row per motion,
//! with the values that `touchfield cast` reports.

use std::path::Path;
use std::time::Instant;

use rayon::prelude::*;
use serde_json::json;
use touchfield::geom::PairMotion;
use touchfield::narrow::{Cast, CastOutcome, CastScratch, MotionError, cast};

use crate::args::Common;
use crate::commands::motion::cast::CastSearch;
use crate::failure::Failure;
use crate::files::points;
use crate::input::frames::MeshMotion;
use crate::input::pair::Shapes;
use crate::report::progress::CountProgress;
use crate::report::{self, Answer, Facts};

/// Motions per piece of work of a thread: its buffers grow once for all of them.
const PIECE: usize = 16;
/// Columns of the output.
const HEADING: [&str; 11] = [
    "time",
    "lower_bound",
    "hit",
    "px",
    "py",
    "pz",
    "nx",
    "ny",
    "nz",
    "separation",
    "from",
];

/// Reads the motions, before any body is baked for them.
pub(crate) fn read(path: &Path, common: &Common) -> Result<Vec<MeshMotion>, Failure> {
    points::read_motions(path, common.max_memory.0)
}

/// Casts all motions and writes the rows.
pub(crate) fn run(
    shapes: &Shapes,
    motions: &[MeshMotion],
    search: &CastSearch,
    output: &Path,
    fail_on_contact: bool,
) -> Result<Answer, Failure> {
    let settings = search.settings(shapes);
    let bar = CountProgress::new("motions", motions.len() as u64);
    let start = Instant::now();
    let pieces: Result<Vec<Vec<Cast>>, Failure> = motions
        .par_chunks(PIECE)
        .enumerate()
        .map(|(number, piece)| {
            let mut scratch = CastScratch::default();
            let casts = piece.iter().enumerate().map(|(index, motion)| {
                let motion = PairMotion::of_b(shapes.frames.own_motion(motion));
                cast(&shapes.a, &shapes.b, &motion, &settings, &mut scratch)
                    .map_err(|error| (number * PIECE + index + 1, error))
            });
            let casts: Result<Vec<Cast>, (usize, MotionError)> = casts.collect();
            bar.add(piece.len() as u64)?;
            casts.map_err(|(row, error)| shapes.failure(&format!("motion {row}: {error}")))
        })
        .collect();
    let casts = pieces?.concat();
    let seconds = start.elapsed().as_secs_f64();
    drop(bar);
    let rows: Vec<_> = casts.iter().map(row).collect();
    points::write_rows(output, HEADING, &rows)?;
    let mut answer = answer(&casts, output, seconds);
    shapes.frames.note_rows(&mut answer);
    let count = |outcome| count_of(&casts, outcome);
    let free = casts
        .iter()
        .all(|cast| cast.outcome == CastOutcome::Free && cast.start.is_none());
    let gave_up = count(CastOutcome::GaveUp);
    if fail_on_contact && count(CastOutcome::Hit) == 0 && gave_up > 0 {
        return Err(Failure::Limit(format!(
            "the search was cut short in {gave_up} motions, which proves nothing; raise --tolerance or cut them into shorter ones"
        )));
    }
    if fail_on_contact && !free {
        return Err(Failure::Contact(Box::new(answer)));
    }
    Ok(answer)
}

fn row(cast: &Cast) -> [f32; HEADING.len()] {
    let impact = &cast.impact;
    let ([px, py, pz], [nx, ny, nz]) = (impact.point.to_array(), impact.normal.to_array());
    let hit = if cast.is_hit() { 1.0 } else { 0.0 };
    let (time, lower_bound) = (impact.time, impact.lower_bound);
    [
        time,
        lower_bound,
        hit,
        px,
        py,
        pz,
        nx,
        ny,
        nz,
        cast.separation,
        cast.from,
    ]
}

fn count_of(casts: &[Cast], outcome: CastOutcome) -> usize {
    casts.iter().filter(|cast| cast.outcome == outcome).count()
}

fn answer(casts: &[Cast], output: &Path, seconds: f64) -> Answer {
    let rate = casts.len() as f64 / seconds.max(1e-9);
    let [hits, free, unproven, gave_up] = [
        CastOutcome::Hit,
        CastOutcome::Free,
        CastOutcome::Unproven,
        CastOutcome::GaveUp,
    ]
    .map(|outcome| count_of(casts, outcome));
    let mut facts = Facts::default();
    facts.add("motions", report::count_of(casts.len()));
    facts.add("touching", report::count_of(hits));
    let starting = casts.iter().filter(|cast| cast.start.is_some()).count();
    if starting > 0 {
        facts.add("in contact at the start", report::count_of(starting));
    }
    facts.add("proven free", report::count_of(free));
    if unproven > 0 {
        facts.add("free, unproven", report::count_of(unproven));
    }
    if gave_up > 0 {
        facts.add("cut short", report::count_of(gave_up));
    }
    facts.add(
        "time",
        format!(
            "{}, {} motions/s",
            report::seconds(seconds),
            report::rounded(rate)
        ),
    );
    Answer {
        text: facts.text(),
        json: json!({
            "motions": casts.len(),
            "hits": hits,
            "free": free,
            "unproven": unproven,
            "incomplete": gave_up,
            "starting_in_contact": starting,
            "seconds": seconds,
            "motions_per_second": rate,
            "output": output.to_string_lossy(),
        }),
    }
}
