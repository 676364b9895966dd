//! `touchfield sweep --segments`: when points that move along straight lines are in contact with
//! one body.
//!
//! Input: a body, a file of segments of six numbers each, in its frame. Output: one row per segment
//! with its first contact time, its number of spans and its time in contact.

use std::path::Path;
use std::time::Instant;

use glam::{DVec3, Vec3};
use serde_json::json;
use touchfield::field::FieldOctree;
use touchfield::narrow::swept_points::{SegmentSettings, SegmentSpans, SweptField, cross_segments};

use crate::args::Common;
use crate::failure::Failure;
use crate::files::points;
use crate::input::load;
use crate::report::{self, Answer, Facts};

/// Columns of the output.
const HEADING: [&str; 4] = ["first", "leave", "spans", "share"];

/// Reads the segments, sweeps them and writes the rows. For segments without contact, the first
/// time and the end are −1.
pub(crate) fn run(
    body: &Path,
    segments: &Path,
    level: f32,
    output: &Path,
    common: &Common,
) -> Result<(Answer, bool), Failure> {
    let segments = points::read_segments(segments, common.max_memory.0)?;
    let loaded = load::field(body, common.max_memory.0)?;
    let (field, origin) = (loaded.field, loaded.provenance.origin);
    // Segments are given in the frame of the mesh, which may be far from the field's own.
    let to_field = |ends: &[DVec3; 2]| ends.map(|end| (end - origin).as_vec3());
    let segments: Vec<[Vec3; 2]> = segments.iter().map(to_field).collect();
    let start = Instant::now();
    let octree = FieldOctree::build(&field);
    let built = start.elapsed().as_secs_f64();
    let settings = SegmentSettings {
        level,
        ..Default::default()
    };
    let mut found = SegmentSpans::default();
    let start = Instant::now();
    let target = SweptField::stored(&field, Some(&octree));
    cross_segments(&target, &segments, &settings, &mut found)
        .map_err(|error| Failure::in_file(body, error))?;
    let seconds = start.elapsed().as_secs_f64();
    let rows: Vec<[f32; HEADING.len()]> = (0..found.len()).map(|k| row(&found, k)).collect();
    points::write_rows(output, HEADING, &rows)?;
    let touching = rows.iter().filter(|row| row[2] > 0.0).count();
    let spans: usize = (0..found.len()).map(|k| found.of(k).len()).sum();
    let first = rows.iter().filter(|row| row[2] > 0.0).map(|row| row[0]);
    let earliest = first.reduce(f32::min);
    Ok((
        answer(
            &segments,
            touching,
            spans,
            earliest,
            [built, seconds],
            output,
        ),
        touching > 0,
    ))
}

fn row(found: &SegmentSpans, segment: usize) -> [f32; HEADING.len()] {
    let spans = found.of(segment);
    let (Some(first), Some(last)) = (spans.first(), spans.last()) else {
        return [-1.0, -1.0, 0.0, 0.0];
    };
    let share: f64 = spans.iter().map(|span| span.leave - span.enter).sum();
    [
        first.enter as f32,
        last.leave as f32,
        spans.len() as f32,
        share as f32,
    ]
}

fn answer(
    segments: &[[Vec3; 2]],
    touching: usize,
    spans: usize,
    earliest: Option<f32>,
    [built, seconds]: [f64; 2],
    output: &Path,
) -> Answer {
    let rate = segments.len() as f64 / seconds.max(1e-9);
    let mut facts = Facts::default();
    facts.add("segments", report::count_of(segments.len()));
    facts.add("touching", report::count_of(touching));
    facts.add("spans", report::count_of(spans));
    if let Some(earliest) = earliest {
        facts.add("earliest contact", format!("{earliest} of its segment"));
    }
    facts.add(
        "time",
        format!(
            "{}, {} segments/s, after {} for the octree",
            report::seconds(seconds),
            report::rounded(rate),
            report::seconds(built)
        ),
    );
    Answer {
        text: facts.text(),
        json: json!({
            "segments": segments.len(),
            "touching": touching,
            "spans": spans,
            "earliest": earliest.map(report::number),
            "seconds": seconds,
            "segments_per_second": rate,
            "output": output.to_string_lossy(),
        }),
    }
}
