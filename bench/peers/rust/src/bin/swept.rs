//! Segments and balls cast by parry3d and by Touchfield in one process: `swept [--resolution N] [--segments N] [--out FILE.csv] MESH`.
//!
//! Input: a closed mesh, scaled to a longest side of 2. Output: a table, CSV on demand. Cost: two bakes, then about a minute.
//! An error if a hit of one is farther than a cell from what the other calls the surface.
//!
//! A triangle mesh has no inside: a segment that begins there goes on for parry to where it leaves, and is in contact at once for us. So
//! there are figures for all segments, and for those alone that begin outside, where both do the same; only these are compared.

use std::error::Error;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

use cpu_time::ThreadTime;
use glam::{DVec3, Vec3};
use parry3d::math::{Pose, Vector};
use parry3d::query::{self, PointQuery, Ray, RayCast, ShapeCastOptions};
use parry3d::shape::{Ball, TriMesh};
use touchfield::bake::{BakeSettings, Resolution, SparseSettings, bake, bake_sparse};
use touchfield::field::{Field, FieldOctree, StoredField};
use touchfield::mesh::TriangleMesh;
use touchfield::mesh::read::{Limits, read_file};
use touchfield::narrow::swept_points::{SegmentSettings, SweptField, Wanted, cross_segment};

/// Of balls; 0 is a point, and a ray for parry.
const RADII: [f32; 4] = [0.0, 0.0001, 0.02, 0.1];
/// CPU seconds of one measurement; what is left is left out.
const ENOUGH: f64 = 5.0;
/// Segments between looks at the clock.
const RUN: usize = 100;

type Segment = [Vec3; 2];

struct Arguments {
    resolution: u32,
    segments: usize,
    out: Option<String>,
    mesh: String,
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    const USAGE: &str = "swept [--resolution N] [--segments N] [--out FILE.csv] MESH";
    let mut found = Arguments {
        resolution: 1024,
        segments: 1_000_000,
        out: None,
        mesh: String::new(),
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut next = || words.next().ok_or(USAGE);
        match word.as_str() {
            "--resolution" => found.resolution = next()?.parse()?,
            "--segments" => found.segments = next()?.parse()?,
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
    let go_on = |_| ControlFlow::Continue(());
    eprintln!("== baking at {}³", arguments.resolution);
    let fields = [
        (
            "Touchfield, dense",
            StoredField::from(bake(&mesh, &settings, &go_on)?.grid),
        ),
        (
            "Touchfield, sparse",
            bake_sparse(&mesh, &settings, &SparseSettings::default(), &go_on)?
                .field
                .into(),
        ),
    ];
    let vector = |p: &DVec3| Vector::new(p.x as f32, p.y as f32, p.z as f32);
    let start = ThreadTime::now();
    let parry = TriMesh::new(
        mesh.vertices.iter().map(vector).collect(),
        mesh.faces.clone(),
    )?;
    eprintln!("== parry's tree: {:.2} s", start.elapsed().as_secs_f64());
    let bounds = fields[0].1.bounds();
    let mut random = Random(2);
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
        "| radius | segments | who | done | thousand a CPU s | times parry | in contact | times within a cell of parry's |"
    );
    println!("|--:|---|---|--:|--:|--:|--:|--:|");
    let mut csv = String::from(
        "radius,segments,who,done,cpu s,per cpu s,in contact,compared,within a cell\n",
    );
    let mut worst = 0.0f32;
    for radius in RADII {
        let outside: Vec<Segment> = (segments.iter().copied())
            .filter(|[from, _]| fields[0].1.distance(*from) > radius + fields[0].1.error_bound())
            .collect();
        for (which, segments) in [("all", &segments), ("outside", &outside)] {
            let theirs = measure(segments, |segment| parry_onset(&parry, radius, segment))?;
            let mut say = |who: &str, run: &Measured, compared: Option<Compared>| {
                let speed = run.times.len() as f64 / run.seconds;
                let base = theirs.times.len() as f64 / theirs.seconds;
                let hits = run.times.iter().flatten().count();
                let share = 100.0 * hits as f64 / run.times.len() as f64;
                let near = compared.as_ref().map_or(String::new(), |compared| {
                    format!("{} of {}", compared.near, compared.both)
                });
                println!(
                    "| {radius} | {which} | {who} | {} | {:.1} | {:.2} | {share:.1} % | {near} |",
                    run.times.len(),
                    speed / 1e3,
                    speed / base
                );
                let numbers = compared.map_or(",".to_owned(), |compared| {
                    format!("{},{}", compared.both, compared.near)
                });
                let _ = writeln!(
                    csv,
                    "{radius},{which},{who},{},{:.6},{speed:.0},{hits},{numbers}",
                    run.times.len(),
                    run.seconds
                );
            };
            say(
                if radius == 0.0 {
                    "parry3d, rays"
                } else {
                    "parry3d, balls"
                },
                &theirs,
                None,
            );
            for ((who, field), octree) in fields.iter().zip(&octrees) {
                let target = SweptField::stored(field, Some(octree));
                let mut spans = Vec::new();
                let settings = SegmentSettings {
                    level: radius,
                    wanted: Wanted::Onset,
                    ..Default::default()
                };
                let ours = measure(segments, |[from, to]| {
                    cross_segment(&target, from, to, &settings, &mut spans)?;
                    Ok(spans.first().map(|span| span.enter))
                })?;
                let compared = (which == "outside").then(|| {
                    let compared = compare(segments, field, &parry, radius, &ours, &theirs);
                    worst = worst.max(compared.farthest);
                    compared
                });
                say(who, &ours, compared);
            }
        }
    }
    println!("\nFarthest that a hit of one is from the other's surface: {worst:.3} cells.");
    if let Some(out) = arguments.out {
        std::fs::write(out, csv)?;
    }
    if worst > 1.0 {
        return Err("a hit is farther than a cell from what the other calls the surface".into());
    }
    Ok(())
}

/// To a longest side of 2 about the origin.
fn scaled(mut mesh: TriangleMesh) -> TriangleMesh {
    let bounds = mesh.bounds();
    let factor = 2.0 / bounds.extents().max_element();
    for vertex in &mut mesh.vertices {
        *vertex = factor * (*vertex - bounds.center());
    }
    mesh
}

struct Measured {
    /// When contact begins, of the segments that were done.
    times: Vec<Option<f64>>,
    seconds: f64,
}

/// Until it is enough, or all are done; of up to three rounds over the same segments the fastest.
fn measure(
    segments: &[Segment],
    mut onset: impl FnMut(Segment) -> Result<Option<f64>, Box<dyn Error>>,
) -> Result<Measured, Box<dyn Error>> {
    let mut times = Vec::with_capacity(segments.len());
    let start = ThreadTime::now();
    let mut seconds = 0.0;
    for run in segments.chunks(RUN) {
        for &segment in run {
            times.push(onset(segment)?);
        }
        seconds = start.elapsed().as_secs_f64();
        if seconds > ENOUGH {
            break;
        }
    }
    for _ in 1..3 {
        let start = ThreadTime::now();
        for (&segment, time) in segments.iter().zip(&mut times) {
            *time = onset(segment)?;
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

struct Compared {
    /// Segments that both hit.
    both: usize,
    /// Of them, those whose places are within a cell of each other.
    near: usize,
    /// A hit of one from the other's surface \[cells\].
    farthest: f32,
}

fn compare(
    segments: &[Segment],
    field: &StoredField,
    mesh: &TriMesh,
    radius: f32,
    ours: &Measured,
    theirs: &Measured,
) -> Compared {
    /// Exact distances take a while.
    const ASKED: usize = 20_000;
    let cell = field.finest_cell_size();
    let mut compared = Compared {
        both: 0,
        near: 0,
        farthest: 0.0,
    };
    let times = ours.times.iter().zip(&theirs.times);
    for (index, ((ours, theirs), [from, to])) in times.zip(segments).enumerate() {
        if let (Some(ours), Some(theirs)) = (ours, theirs) {
            let apart = (ours - theirs).abs() as f32 * from.distance(*to);
            compared.both += 1;
            compared.near += usize::from(apart <= cell);
        }
        if let Some(ours) = ours.filter(|_| index < ASKED) {
            let place = from.lerp(*to, ours as f32);
            let point = Vector::new(place.x, place.y, place.z);
            let distance = mesh.distance_to_local_point(point, false);
            compared.farthest = compared.farthest.max((distance - radius).abs() / cell);
        }
        if let Some(theirs) = theirs {
            let distance = field.distance(from.lerp(*to, *theirs as f32));
            compared.farthest = compared.farthest.max((distance - radius) / cell);
        }
    }
    compared
}

/// SplitMix64 \[Steele2014\].
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (((z ^ z >> 31) >> 11) as f64 / (1u64 << 53) as f64) as f32
    }

    fn point(&mut self) -> Vec3 {
        Vec3::new(self.unit(), self.unit(), self.unit())
    }
}
