//! Compares segment and ball casts in parry3d and in Touchfield in one process.
//!
//! ```text
//! swept [--resolution N] [--segments N] [--keep DIR] [--out FILE.csv] MESH
//! ```
//!
//! Input: a closed mesh, scaled to a longest side of 2.
//! Output: a table, CSV on demand.
//! Cost: two bakes, which a folder of `--keep` saves on the next run, then about a minute.
//!
//! It is an error if one of our hits is farther from the level set than the proven error of the
//! field, by exact distance to the triangles.
//!
//! A triangle mesh has no inside: parry follows a segment that begins there to where it leaves,
//! while ours is in contact at once. So there are figures for all segments, and for those that
//! begin outside, where both do the same; only these are compared.

use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;

use cpu_time::ThreadTime;
use glam::{DVec3, Vec3};
use parry3d::math::{Pose, Vector};
use parry3d::query::{self, PointQuery, Ray, RayCast, ShapeCastOptions};
use parry3d::shape::{Ball, TriMesh};
use touchfield::bake::{BakeSettings, Resolution, SparseSettings, bake_with, bake_sparse};
use touchfield::field::{Field, FieldOctree, Provenance, StoredField, file};
use touchfield::mesh::TriangleMesh;
use touchfield::mesh::read::{Limits, read_file};
use touchfield::narrow::swept_points::{
    SegmentSettings, SegmentSpans, SweptField, Wanted, cross_segments,
};

/// Radii of balls; 0 is a point, and a ray for parry.
const RADII: [f32; 4] = [0.0, 0.0001, 0.02, 0.1];
/// CPU time limit of one measurement \[s\]; segments beyond it are left out.
const ENOUGH: f64 = 5.0;
/// Number of segments between two readings of the clock.
const RUN: usize = 1000;

type Segment = [Vec3; 2];

struct Arguments {
    resolution: u32,
    segments: usize,
    keep: Option<String>,
    out: Option<String>,
    mesh: String,
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    const USAGE: &str = "swept [--resolution N] [--segments N] [--keep DIR] [--out FILE.csv] MESH";
    let mut found = Arguments {
        resolution: 1024,
        segments: 1_000_000,
        keep: None,
        out: None,
        mesh: String::new(),
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut next = || words.next().ok_or(USAGE);
        match word.as_str() {
            "--resolution" => found.resolution = next()?.parse()?,
            "--segments" => found.segments = next()?.parse()?,
            "--keep" => found.keep = Some(next()?),
            "--out" => found.out = Some(next()?),
            _ if word.starts_with("--") || !found.mesh.is_empty() => return Err(USAGE.into()),
            _ => found.mesh = word,
        }
    }
    if found.mesh.is_empty() {
        return Err(USAGE.into());
    }
    Ok(found)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = arguments()?;
    let mesh = scaled(read_file(Path::new(&arguments.mesh), &Limits::default())?);
    let settings = BakeSettings {
        resolution: Resolution::Nodes(arguments.resolution + 1),
        ..Default::default()
    };
    // Fields and octrees, and parry's tree.
    let go_on = |_| ControlFlow::Continue(());
    let dense = || {
        let baked = bake_with(&mesh, &settings, &go_on)?;
        Ok((baked.field.into(), baked.provenance))
    };
    let sparse = || {
        let baked = bake_sparse(&mesh, &settings, &SparseSettings::default(), &go_on)?;
        Ok((baked.field.into(), baked.provenance))
    };
    let fields = [
        ("Touchfield, dense", kept(&arguments, "dense", dense)?),
        ("Touchfield, sparse", kept(&arguments, "sparse", sparse)?),
    ];
    let vector = |p: &DVec3| Vector::new(p.x as f32, p.y as f32, p.z as f32);
    let start = ThreadTime::now();
    let parry = TriMesh::new(
        mesh.vertices.iter().map(vector).collect(),
        mesh.faces.clone(),
    )?;
    eprintln!("== parry's tree: {:.2} s", start.elapsed().as_secs_f64());
    // Random segments in the box of the field.
    let bounds = fields[0].1.bounds();
    let mut random = Random(touchfield::geom::Random::new(2));
    let segments: Vec<Segment> = (0..arguments.segments)
        .map(|_| [(); 2].map(|()| bounds.min + random.point() * bounds.extents()))
        .collect();
    let octrees = fields
        .each_ref()
        .map(|(_, field)| FieldOctree::build(field));
    let stem = Path::new(&arguments.mesh).file_stem();
    println!(
        "{}, {} triangles, longest side 2; {} segments; fields of {}³; thousand a CPU second of one thread\n",
        stem.unwrap_or_default().to_string_lossy(),
        mesh.faces.len(),
        segments.len(),
        arguments.resolution
    );
    println!(
        "| radius | segments | who | done | thousand a CPU s | times parry | in contact | farthest hit from the level [cells] | within a cell of parry's |"
    );
    println!("|--:|---|---|--:|--:|--:|--:|--:|--:|");
    let mut csv = String::from(
        "radius,segments,who,done,cpu s,per cpu s,in contact,farthest hit in cells,hit by both,within a cell\n",
    );
    let cell = fields[0].1.finest_cell_size();
    let mut too_far = Vec::new();
    for radius in RADII {
        let outside: Vec<Segment> = (segments.iter().copied())
            .filter(|[from, _]| fields[0].1.distance(*from) > radius + fields[0].1.error_bound())
            .collect();
        for (which, segments) in [("all", &segments), ("outside", &outside)] {
            // Parry first: its speed is the unit of the table.
            let theirs = measure(segments, |run, times| {
                for &segment in run {
                    times.push(parry_onset(&parry, radius, segment)?);
                }
                Ok(())
            })?;
            let base = theirs.times.len() as f64 / theirs.seconds;
            let mut say = |who: &str, run: &Measured| {
                let done = run.times.len();
                let speed = done as f64 / run.seconds;
                let hits = run.times.iter().flatten().count();
                let share = 100.0 * hits as f64 / done as f64;
                let times = speed / base;
                // Inside, hits are where segments begin, or where they leave, so they are not
                // compared.
                let (mut off, mut shown, mut numbers) = (0.0, " | ".to_owned(), ",,".to_owned());
                if which == "outside" {
                    off = farthest(segments, &parry, radius, run);
                    let (both, near) = agreement(segments, cell, run, &theirs);
                    shown = format!("{:.2} | {near} of {both}", off / cell);
                    numbers = format!("{:.4},{both},{near}", off / cell);
                }
                let thousands = speed / 1e3;
                println!(
                    "| {radius} | {which} | {who} | {done} | {thousands:.1} | {times:.2} | {share:.1} % | {shown} |"
                );
                csv += &format!(
                    "{radius},{which},{},{done},{:.6},{speed:.0},{hits},{numbers}\n",
                    who.replace(',', ""),
                    run.seconds
                );
                off
            };
            let peer = match radius {
                0.0 => "parry3d, rays",
                _ => "parry3d, balls",
            };
            say(peer, &theirs);
            // Then our fields, with the same segments.
            for ((who, field), octree) in fields.iter().zip(&octrees) {
                let target = SweptField::stored(field, Some(octree));
                let mut spans = SegmentSpans::default();
                let settings = SegmentSettings {
                    level: radius,
                    wanted: Wanted::Onset,
                    ..Default::default()
                };
                let ours = measure(segments, |run, times| {
                    cross_segments(&target, run, &settings, &mut spans)?;
                    let onset = |index| spans.of(index).first().map(|span| span.enter);
                    times.extend((0..run.len()).map(onset));
                    Ok(())
                })?;
                let off = say(who, &ours);
                if off > field.error_bound() {
                    let cells = [off, field.error_bound()].map(|length| length / cell);
                    too_far.push(format!("{who}, radius {radius}: {cells:?} cells"));
                }
            }
        }
    }
    if let Some(out) = arguments.out {
        std::fs::write(out, csv)?;
    }
    if !too_far.is_empty() {
        let list = too_far.join("; ");
        return Err(format!("hits farther from the level than the field's error: {list}").into());
    }
    Ok(())
}

/// Returns the field that an earlier run left in the folder, or bakes a new one.
fn kept(
    arguments: &Arguments,
    kind: &str,
    bake: impl Fn() -> Result<(StoredField, Provenance), Box<dyn Error>>,
) -> Result<StoredField, Box<dyn Error>> {
    let stem = Path::new(&arguments.mesh).file_stem().unwrap_or_default();
    let name = format!("{}-{}-{kind}.tfs", stem.to_string_lossy(), arguments.resolution);
    let path = arguments.keep.as_ref().map(|folder| Path::new(folder).join(name));
    if let Some(path) = path.as_ref().filter(|path| path.is_file()) {
        return Ok(file::read_file(path, u64::MAX)?.field);
    }
    eprintln!("== baking {kind} at {}³", arguments.resolution);
    let (field, provenance) = bake()?;
    if let Some(path) = path {
        file::write_file(&path, &field, &provenance)?;
    }
    Ok(field)
}

/// Returns the mesh centred at the origin and scaled to a longest side of 2.
fn scaled(mut mesh: TriangleMesh) -> TriangleMesh {
    let bounds = mesh.bounds();
    let factor = 2.0 / bounds.extents().max_element();
    for vertex in &mut mesh.vertices {
        *vertex = factor * (*vertex - bounds.center());
    }
    mesh
}

struct Measured {
    /// Time at which contact begins, for each segment that was done.
    times: Vec<Option<f64>>,
    seconds: f64,
}

/// Casts until the time limit or until all segments are done, up to three rounds over the same
/// segments, and returns the fastest. `onsets` appends the results of a batch.
fn measure(
    segments: &[Segment],
    mut onsets: impl FnMut(&[Segment], &mut Vec<Option<f64>>) -> Result<(), Box<dyn Error>>,
) -> Result<Measured, Box<dyn Error>> {
    let mut times = Vec::with_capacity(segments.len());
    let start = ThreadTime::now();
    let mut seconds = 0.0;
    for run in segments.chunks(RUN) {
        onsets(run, &mut times)?;
        seconds = start.elapsed().as_secs_f64();
        if seconds > ENOUGH {
            break;
        }
    }
    let done = times.len();
    for _ in 1..3 {
        times.clear();
        let start = ThreadTime::now();
        for run in segments[..done].chunks(RUN) {
            onsets(run, &mut times)?;
        }
        seconds = f64::min(seconds, start.elapsed().as_secs_f64());
    }
    Ok(Measured { times, seconds })
}

fn parry_onset(
    mesh: &TriMesh,
    radius: f32,
    [from, to]: Segment,
) -> Result<Option<f64>, Box<dyn Error>> {
    let vector = |p: Vec3| Vector::new(p.x, p.y, p.z);
    let (start, way) = (vector(from), vector(to - from));
    if radius == 0.0 {
        let time = mesh.cast_local_ray(&Ray::new(start, way), 1.0, false);
        return Ok(time.map(f64::from));
    }
    let options = ShapeCastOptions {
        max_time_of_impact: 1.0,
        target_distance: 0.0,
        stop_at_penetration: true,
        compute_impact_geometry_on_penetration: false,
    };
    let hit = query::cast_shapes(
        &Pose::IDENTITY,
        Vector::ZERO,
        mesh,
        &Pose::from_translation(start),
        way,
        &Ball::new(radius),
        options,
    )?;
    Ok(hit.map(|hit| hit.time_of_impact.into()))
}

/// Returns how many segments both hit, and how many of those hits are within a cell of each other.
fn agreement(
    segments: &[Segment],
    cell: f32,
    ours: &Measured,
    theirs: &Measured,
) -> (usize, usize) {
    let (mut both, mut near) = (0, 0);
    let times = ours.times.iter().zip(&theirs.times);
    for ((ours, theirs), [from, to]) in times.zip(segments) {
        if let (Some(ours), Some(theirs)) = (ours, theirs) {
            both += 1;
            near += usize::from((ours - theirs).abs() as f32 * from.distance(*to) <= cell);
        }
    }
    (both, near)
}

/// Returns the distance of the farthest hit from the level set, by exact distance to the triangles
/// \[m\].
fn farthest(segments: &[Segment], mesh: &TriMesh, radius: f32, run: &Measured) -> f32 {
    /// Hits to check, because exact distances are slow.
    const ASKED: usize = 20_000;
    let hits = run.times.iter().zip(segments).take(ASKED);
    hits.filter_map(|(time, [from, to])| Some(from.lerp(*to, (*time)? as f32)))
        .map(|place| {
            let point = Vector::new(place.x, place.y, place.z);
            (mesh.distance_to_local_point(point, false) - radius).abs()
        })
        .fold(0.0, f32::max)
}

/// Random points of the unit cube.
struct Random(touchfield::geom::Random);

impl Random {
    fn unit(&mut self) -> f32 {
        self.0.unit() as f32
    }

    fn point(&mut self) -> Vec3 {
        Vec3::new(self.unit(), self.unit(), self.unit())
    }
}
