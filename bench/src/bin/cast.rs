//! Measures the cost of a cast.
//!
//! ```text
//! cast [MESH] [--motions N] [--nodes N] [--truth N] [--csv FILE] [--picture FILE]
//! ```
//!
//! Input: a mesh, which flies at a copy of itself, both turning; by default the bunny.
//! Output: a table of medians over speed and over tolerance, in microseconds and as a multiple of
//! the separation queries of the same pair in the same run, beside brute-force sub-stepping of
//! equal safety. With `--truth N`, `N` casts are compared with the exact distance of the triangles
//! in `f64`.
//! Not for: other pairs, whose cost scales with that of their separation queries.

#![expect(clippy::print_stdout, reason = "a program: its result goes there")]

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use glam::{DVec3, Vec3};
use touchfield::ShapeSettings;
use touchfield::bake::pointshell::{ShellDensity, ShellSettings};
use touchfield::geom::{Motion, PairMotion, Pose};
use touchfield::mesh::TriangleMesh;
use touchfield::narrow::{
    CastOutcome, CastScratch, CastSettings, Pair, SeparationScratch, SeparationSettings, cast,
    separation,
};
use touchfield::open::ShellChoice;
use touchfield::shape::Shape;
use touchfield_bench::mesh_pair::{ExactPose, Surface, surface_distance};
use touchfield_bench::models;
use touchfield_conformance::plot::{Panel, Series, svg};
use touchfield_conformance::random::Random;

/// Lengths of the path, in diagonals.
const SPEEDS: [f64; 5] = [0.1, 0.3, 1.0, 3.0, 10.0];
/// Tolerances, in diagonals.
const TOLERANCES: [f64; 5] = [1e-2, 3e-3, 1e-3, 3e-4, 1e-4];
/// Speed and tolerance at which figures are quoted.
const USUAL: [f64; 2] = [1.0, 1e-3];

fn main() -> Result<(), Box<dyn Error>> {
    let (mut motions, mut nodes, mut truths) = (300, 128, 0);
    let (mut csv, mut picture, mut path) = (None, None, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--motions" => motions = value()?.parse()?,
            "--nodes" => nodes = value()?.parse()?,
            "--truth" => truths = value()?.parse()?,
            "--csv" => csv = Some(PathBuf::from(value()?)),
            "--picture" => picture = Some(PathBuf::from(value()?)),
            _ => path = Some(PathBuf::from(argument)),
        }
    }
    let reference = models::reference(path.as_deref())?;
    let mesh = centered(&reference.mesh);
    let shape = shape_of(&mesh, nodes)?;
    println!(
        "{}, {nodes} nodes, {motions} motions a row; medians",
        reference.name
    );
    let mut rows = Vec::new();
    for speed in SPEEDS {
        rows.push(measured(&shape, [speed, USUAL[1]], motions)?);
    }
    for tolerance in TOLERANCES {
        rows.push(measured(&shape, [USUAL[0], tolerance], motions)?);
    }
    let table = table(&rows);
    print!("{table}");
    if truths > 0 {
        println!("{}", held_against_truth(&shape, &mesh, truths)?);
    }
    if let Some(path) = csv {
        fs::write(path, &table)?;
    }
    if let Some(path) = picture {
        draw(&path, &rows)?;
    }
    Ok(())
}

/// Returns the mesh moved so that the centre of its box is the origin.
fn centered(mesh: &TriangleMesh) -> TriangleMesh {
    let center = mesh.bounds().center();
    TriangleMesh {
        vertices: mesh
            .vertices
            .iter()
            .map(|&vertex| vertex - center)
            .collect(),
        faces: mesh.faces.clone(),
    }
}

/// Builds a shape with a dense grid and points on its surface.
fn shape_of(mesh: &TriangleMesh, nodes: u32) -> Result<Shape, Box<dyn Error>> {
    let settings = ShapeSettings {
        shell: ShellChoice::Exactly(ShellSettings {
            density: ShellDensity::Points(35_000),
            ..Default::default()
        }),
        faces: false,
        ..ShapeSettings::with_nodes(nodes)
    };
    Ok(Shape::from_mesh(mesh, &settings)?)
}

/// One row of the table.
struct Row {
    speed: f64,
    tolerance: f64,
    hits: usize,
    free: usize,
    steps: f64,
    /// Median time of a cast \[µs\].
    cast: f64,
    /// Median time of a cast that hits \[µs\].
    cast_of_hits: f64,
    separation: f64,
    /// Number of separation queries that keep the motion between two of them below the tolerance.
    sub_steps: f64,
}

fn measured(
    shape: &Shape,
    [speed, tolerance]: [f64; 2],
    motions: usize,
) -> Result<Row, Box<dyn Error>> {
    let diagonal = f64::from(shape.solid().diagonal());
    let settings = CastSettings::to_within((tolerance * diagonal) as f32);
    let asked = SeparationSettings::to_within((tolerance * diagonal) as f32);
    let mut random = Random::new(7);
    let (mut scratch, mut heap) = (CastScratch::default(), SeparationScratch::default());
    let (mut casts, mut of_hits, mut separations) = (Vec::new(), Vec::new(), Vec::new());
    let (mut steps, mut ways) = (Vec::new(), Vec::new());
    let (mut hits, mut free) = (0, 0);
    for _ in 0..motions {
        let motion = flight(diagonal, speed, &mut random);
        let start = Instant::now();
        let found = cast(shape, shape, &motion, &settings, &mut scratch)?;
        let spent = start.elapsed().as_secs_f64() * 1e6;
        casts.push(spent);
        if found.is_hit() {
            hits += 1;
            of_hits.push(spent);
        }
        free += usize::from(found.outcome == CastOutcome::Free);
        steps.push(f64::from(found.steps));
        // A random time before the impact, without a warm start.
        let time = found.impact.time * random.uniform(0.0, 1.0) as f32;
        let pair = Pair {
            a: shape,
            b: shape,
            a_from_b: motion.at(time),
        };
        let start = Instant::now();
        separation(&pair, &asked, &mut heap)?;
        separations.push(start.elapsed().as_secs_f64() * 1e6);
        let far = 0.5 * shape.solid().diagonal();
        let way = motion.speed_bound(Vec3::ZERO, far, [0.0, 1.0]) * found.impact.time;
        ways.push(f64::from(way));
    }
    let separation = median(&mut separations);
    Ok(Row {
        speed,
        tolerance,
        hits,
        free,
        steps: median(&mut steps),
        cast: median(&mut casts),
        cast_of_hits: median(&mut of_hits),
        separation,
        sub_steps: separation * median(&mut ways) / (tolerance * diagonal),
    })
}

/// Returns a motion in which B flies at A, aimed so that it may touch, on a path of `speed`
/// diagonals; both turn by up to half a radian.
fn flight(diagonal: f64, speed: f64, random: &mut Random) -> PairMotion {
    let direction = random.unit_vector();
    let aim = 0.3 * diagonal * random.uniform(0.0, 1.0) * random.unit_vector();
    // A body one diagonal long is mostly half as thick: touches happen about this far from the
    // centre.
    let back = diagonal * (0.55 + speed * random.uniform(0.2, 0.9));
    let mut motion = |translation: DVec3, path: DVec3| Motion {
        start: Pose {
            rotation: random.quaternion().as_quat().normalize(),
            translation: translation.as_vec3(),
        },
        center: Vec3::ZERO,
        translation: path.as_vec3(),
        turn: (random.unit_vector() * random.uniform(0.0, 0.5)).as_vec3(),
    };
    let a = motion(DVec3::ZERO, DVec3::ZERO);
    let b = motion(aim - back * direction, speed * diagonal * direction);
    PairMotion::new(a, b)
}

/// Compares casts of the usual row with the exact first touch: what is proven, what is missed, and
/// how far apart the surfaces are when a touch is reported.
fn held_against_truth(
    shape: &Shape,
    mesh: &TriangleMesh,
    motions: usize,
) -> Result<String, Box<dyn Error>> {
    let diagonal = f64::from(shape.solid().diagonal());
    let surface = Surface::of(mesh);
    let settings = CastSettings::to_within((USUAL[1] * diagonal) as f32);
    let mut random = Random::new(7);
    let mut scratch = CastScratch::default();
    let (mut touching, mut hits, mut broken, mut missed) = (0, 0, 0, 0);
    let (mut gaps, mut late, mut early) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..motions {
        let motion = flight(diagonal, USUAL[0], &mut random);
        let found = cast(shape, shape, &motion, &settings, &mut scratch)?;
        // Draw as `measured` does.
        random.uniform(0.0, 1.0);
        let truth = first_touch(&surface, &motion, diagonal);
        let (time, lower) = (
            f64::from(found.impact.time),
            f64::from(found.impact.lower_bound),
        );
        hits += usize::from(found.is_hit());
        if let Some(first) = truth {
            touching += 1;
            broken += usize::from(lower > first + 1e-6);
            missed += usize::from(!found.is_hit());
            late.push((time - first).max(0.0));
            early.push(first - lower);
        }
        if found.is_hit() {
            gaps.push(apart(&surface, &motion, found.impact.time) / diagonal);
        }
    }
    let most = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    Ok(format!(
        "truth of {motions}: {touching} touch, {hits} hits, {missed} missed, {broken} proofs too long; late by {:.1e} of the motion (most {:.1e}), \
         proofs end {:.1e} before (most {:.1e}); surfaces apart at a hit {:.1e} diagonals (most {:.1e}); the field is off by {:.1e} at most",
        median(&mut late),
        most(&late),
        median(&mut early),
        most(&early),
        median(&mut gaps),
        most(&gaps),
        f64::from(shape.field().error_bound()) / diagonal
    ))
}

/// Returns the distance between the surfaces at a time \[m\].
fn apart(surface: &Surface, motion: &PairMotion, time: f32) -> f64 {
    let pose = motion.at(time);
    let placed = surface.placed(ExactPose {
        rotation: pose.rotation.as_dquat().normalize(),
        translation: pose.translation.as_dvec3(),
    });
    surface_distance(surface, &placed, (0, 0)).distance
}

/// Returns the first time at which the surfaces are within a millionth of the diagonal of each
/// other.
fn first_touch(surface: &Surface, motion: &PairMotion, diagonal: f64) -> Option<f64> {
    let radius = (0.5 * diagonal) as f32;
    let speed = f64::from(motion.speed_bound(Vec3::ZERO, radius, [0.0, 1.0]));
    let mut time = 0.0;
    while time <= 1.0 {
        let gap = apart(surface, motion, time as f32);
        if gap <= 1e-6 * diagonal {
            return Some(time);
        }
        time += gap / speed;
    }
    None
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn table(rows: &[Row]) -> String {
    let mut out = String::from(
        "speed_diagonals,tolerance_diagonals,hits,free,steps,cast_us,cast_of_hits_us,separation_us,cast_in_separations,sub_stepping_us\n",
    );
    for row in rows {
        let _ = writeln!(
            out,
            "{},{},{},{},{},{:.0},{:.0},{:.0},{:.2},{:.0}",
            row.speed,
            row.tolerance,
            row.hits,
            row.free,
            row.steps,
            row.cast,
            row.cast_of_hits,
            row.separation,
            row.cast / row.separation,
            row.sub_steps
        );
    }
    out
}

fn draw(path: &Path, rows: &[Row]) -> Result<(), Box<dyn Error>> {
    let (over_speed, over_tolerance) = rows.split_at(SPEEDS.len());
    let panel = |title: &str, x: &str, rows: &[Row], at: fn(&Row) -> f64| {
        let series = |name: &str, value: fn(&Row) -> f64| Series {
            name: name.to_owned(),
            points: rows.iter().map(|row| [at(row), value(row)]).collect(),
        };
        Panel {
            title: title.to_owned(),
            x: x.to_owned(),
            y: "median time [µs]".to_owned(),
            series: vec![
                series("sub-stepping of equal safety", |row| row.sub_steps),
                series("cast", |row| row.cast),
                series("cast that hits", |row| row.cast_of_hits),
                series("one separation", |row| row.separation),
            ],
            slope: None,
        }
    };
    let panels = vec![
        panel(
            "over speed, to 1e-3 of the diagonal",
            "way [diagonals]",
            over_speed,
            |row| row.speed,
        ),
        panel(
            "over tolerance, on a way of one diagonal",
            "tolerance [diagonals]",
            over_tolerance,
            |row| row.tolerance,
        ),
    ];
    fs::write(path, svg(&[panels]))?;
    Ok(())
}
