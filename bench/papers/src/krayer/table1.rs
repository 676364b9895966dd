//! Table 1 of \[Krayer2020\] beside our results: particles on the intersections of all pairs of
//! three scenes, at N = 5, 10, 15, 20.
//!
//! Input: sizes only.
//! Output: a table, JSON, and CSV on demand.
//! Cost: seconds to set up the scenes, then the runs.
//! Not for: the broad phase, which both exclude from the times.
//!
//! *Uniform* is the paper's Alg. 1 to 3 on the CPU; *seeded* starts only in cells that may hold a
//! piece of an intersection surface. *Covered* is the share of the true surfaces that has a
//! particle within two cells. The truth is a lattice over the common box of a pair, of which the
//! nodes next to the surface count; it involves no projection.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use glam::{UVec3, Vec3};
use rayon::prelude::*;
use serde_json::{Value, json};
use touchfield::geom::Aabb;
use touchfield::narrow::{
    CollideSettings, ContactMethod, Contacts, Pair, Particles, Scratch, Starts, collide,
};

use super::scenes::{self, Scene};
use crate::host::Host;
use crate::host::Stop;
use touchfield_report::{self as report, Answer};

pub(crate) const NAME: &str = "krayer-table1";
pub(crate) const DESCRIPTION: &str =
    "[Krayer2020], Table 1: particles on the intersections of three scenes, uniform and seeded";

/// Krayer2020, Table 1: particles on the intersections of three scenes
#[derive(Args)]
#[command(after_help = "\
Example:
  touchfield bench krayer-table1 --resolution 10,20 --threads 2 --out table.csv
  touchfield bench krayer-table1 --physics --steps 1000

Times are the least of --repeats runs over all pairs of a scene, on all threads.")]
pub(crate) struct Arguments {
    /// N: about N³ particles per pair
    #[arg(long, value_name = "N,N,...", value_delimiter = ',', default_values_t = [5, 10, 15, 20],
        value_parser = clap::value_parser!(u32).range(1..=64))]
    resolution: Vec<u32>,
    /// Bodies in the heap, and balls in pipe and bowl [default: as many as make the paper's number
    /// of pairs]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=5000))]
    bodies: Option<u32>,
    /// Number of runs; the fastest counts
    #[arg(long, value_name = "COUNT", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeats: u32,
    /// Also write the rows to this file
    #[arg(long, value_name = "FILE.csv", conflicts_with = "physics")]
    out: Option<PathBuf>,
    /// Simulate the scenes in Rapier instead, and report the cost of a step (feature `physics`)
    #[arg(long)]
    physics: bool,
    /// Number of simulation steps with --physics
    #[arg(long, value_name = "COUNT", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000), requires = "physics")]
    steps: u32,
}

/// One row of the table as the paper prints it.
pub(crate) struct PaperRow {
    pub(crate) resolution: u32,
    collisions: f64,
    pub(crate) pairs: f64,
    pub(crate) milliseconds: f64,
}

const fn paper(resolution: u32, collisions: f64, pairs: f64, milliseconds: f64) -> PaperRow {
    PaperRow {
        resolution,
        collisions,
        pairs,
        milliseconds,
    }
}

/// Table 1 of \[Krayer2020\]: averages over 1000 steps.
const TWO_MODELS: [PaperRow; 4] = [
    paper(5, 4.57, 3.0, 0.31),
    paper(10, 9.38, 3.0, 0.31),
    paper(15, 16.18, 3.0, 0.38),
    paper(20, 37.99, 3.0, 0.47),
];
const MANY_OBJECTS: [PaperRow; 4] = [
    paper(5, 14_704.20, 1209.40, 4.10),
    paper(10, 118_520.59, 1325.405, 15.27),
    paper(15, 354_805.26, 1204.096, 37.16),
    paper(20, 808_656.76, 1121.437, 69.97),
];
const PIPE: [PaperRow; 4] = [
    paper(5, 2015.98, 408.13, 1.72),
    paper(10, 65_590.03, 505.23, 5.01),
    paper(15, 288_067.48, 565.70, 17.15),
    paper(20, 705_999.38, 576.88, 41.21),
];

/// The paper's hardware and field format.
pub(crate) const PAPER_SETUP: &str = "GeForce GTX 1070, first-order fields in half floats";
/// Numbers of bodies that give about as many pairs as the paper has at N = 10.
const HEAP: u32 = 330;
const BALLS: u32 = 230;

/// Result of one method in one scene.
struct Row {
    scene: &'static str,
    resolution: u32,
    way: &'static str,
    collisions: u64,
    pairs: usize,
    /// Pairs with a contact.
    touching: usize,
    milliseconds: f64,
    /// CPU time of one thread for all pairs, without waiting, where the system reports it \[ms\].
    cpu_milliseconds: Option<f64>,
    covered: f64,
    found: f64,
}

pub(crate) fn run(arguments: &Arguments, host: &dyn Host) -> Result<Answer, Stop> {
    if arguments.physics {
        return physics(arguments);
    }
    if let Some(out) = &arguments.out {
        host.check_text(out, "csv", &[])?;
    }
    let scenes = [
        ("two models on terrain", &TWO_MODELS, scenes::two_models()?),
        (
            "terrain with many objects",
            &MANY_OBJECTS,
            scenes::many_objects(arguments.bodies.unwrap_or(HEAP))?,
        ),
        (
            "pipe with balls and bowl",
            &PIPE,
            scenes::pipe_with_balls(arguments.bodies.unwrap_or(BALLS))?,
        ),
    ];
    let mut rows = Vec::new();
    for (name, _, scene) in &scenes {
        for &resolution in &arguments.resolution {
            let truth = Truth::of(scene, resolution);
            for (way, starts) in [("uniform", Starts::Uniform), ("seeded", Starts::Seeded)] {
                let particles = Particles {
                    starts,
                    resolution,
                    // Alg. 2 handles one body at a time.
                    both_at_once: starts == Starts::Seeded,
                    ..Default::default()
                };
                let mut row = measure(scene, particles, arguments.repeats)?;
                (row.covered, row.found) = truth.compare(scene, particles)?;
                rows.push(Row {
                    scene: name,
                    way,
                    ..row
                });
            }
        }
    }
    if let Some(out) = &arguments.out {
        host.write_text(out, &csv(&rows))?;
    }
    Ok(Answer {
        text: text(&rows),
        json: as_json(&rows),
    })
}

fn physics(arguments: &Arguments) -> Result<Answer, Stop> {
    #[cfg(feature = "physics")]
    return super::physics::run(
        arguments.bodies.unwrap_or(HEAP),
        arguments.bodies.unwrap_or(BALLS),
        arguments.steps,
    );
    #[cfg(not(feature = "physics"))]
    Err(crate::sagardia::without_physics(NAME, arguments.steps))
}

fn settings(particles: Particles) -> CollideSettings {
    CollideSettings {
        method: ContactMethod::ProjectionParticles(particles),
        ..Default::default()
    }
}

/// Measures all pairs several times; the fastest run counts.
fn measure(scene: &Scene, particles: Particles, repeats: u32) -> Result<Row, Stop> {
    let settings = settings(particles);
    let mut counts = Vec::new();
    let mut fastest = f64::INFINITY;
    for _ in 0..=repeats {
        let start = Instant::now();
        let work = scene.pairs.par_iter().map_init(
            || (Scratch::default(), Contacts::default()),
            |(scratch, out), &pair| {
                collide(&scene.pair(pair), &settings, scratch, out)?;
                Ok(out.contacts.len() as u64)
            },
        );
        counts = work
            .collect::<Result<Vec<u64>, touchfield::narrow::CollideError>>()
            .map_err(|error| Stop::BadInput(error.to_string()))?;
        fastest = fastest.min(start.elapsed().as_secs_f64());
    }
    let cpu_milliseconds = cpu_milliseconds(scene, &settings, repeats)?;
    Ok(Row {
        scene: "",
        resolution: particles.resolution,
        way: "",
        collisions: counts.iter().sum(),
        pairs: scene.pairs.len(),
        touching: counts.iter().filter(|&&count| count > 0).count(),
        milliseconds: 1e3 * fastest,
        cpu_milliseconds,
        covered: 0.0,
        found: 0.0,
    })
}

/// Returns the mean CPU time for all pairs on this thread, over several runs \[ms\]. Other load on
/// the machine hardly disturbs it.
fn cpu_milliseconds(
    scene: &Scene,
    settings: &CollideSettings,
    repeats: u32,
) -> Result<Option<f64>, Stop> {
    let (mut scratch, mut out) = (Scratch::default(), Contacts::default());
    let Some(start) = thread_seconds() else {
        return Ok(None);
    };
    let began = Instant::now();
    let mut runs = 0;
    // The system counts in ticks of milliseconds.
    while runs < repeats || began.elapsed().as_secs_f64() < 0.2 {
        for &pair in &scene.pairs {
            collide(&scene.pair(pair), settings, &mut scratch, &mut out)
                .map_err(|error| Stop::BadInput(error.to_string()))?;
        }
        runs += 1;
    }
    Ok(thread_seconds().map(|end| 1e3 * (end - start) / f64::from(runs)))
}

/// Returns the CPU time of this thread \[s\]; Linux only.
fn thread_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(1e-9 * nanoseconds)
}

/// Points on the true intersection surfaces of some pairs.
struct Truth {
    pairs: Vec<TruePair>,
}

struct TruePair {
    index: usize,
    points: Vec<Vec3>,
    /// Distance that counts as near: two cells of the start grid \[m\].
    near: f32,
}

/// Number of pairs examined, nodes along a side, and points kept per pair.
const TRUE_PAIRS: usize = 150;
const TRUE_NODES: u32 = 48;
const TRUE_POINTS: usize = 200;

impl Truth {
    fn of(scene: &Scene, resolution: u32) -> Truth {
        let step = scene.pairs.len().div_ceil(TRUE_PAIRS).max(1);
        let indices: Vec<usize> = (0..scene.pairs.len()).step_by(step).collect();
        let found = indices.par_iter().map(|&index| {
            let pair = scene.pair(scene.pairs[index]);
            TruePair::of(&pair, index, resolution)
        });
        Truth {
            pairs: found.collect(),
        }
    }

    /// Returns the share of true points with a particle nearby, and the share of touching pairs
    /// with a contact.
    fn compare(&self, scene: &Scene, particles: Particles) -> Result<(f64, f64), Stop> {
        let settings = settings(particles);
        let (mut covered, mut all, mut found, mut touching) = (0, 0, 0, 0);
        let (mut scratch, mut out) = (Scratch::default(), Contacts::default());
        for pair in self.pairs.iter().filter(|pair| !pair.points.is_empty()) {
            let bodies = scene.pair(scene.pairs[pair.index]);
            collide(&bodies, &settings, &mut scratch, &mut out)
                .map_err(|error| Stop::BadInput(error.to_string()))?;
            touching += 1;
            found += u32::from(!out.contacts.is_empty());
            all += pair.points.len();
            let near = |point: &&Vec3| {
                (out.region.points.iter()).any(|particle| particle.distance(**point) < pair.near)
            };
            covered += pair.points.iter().filter(near).count();
        }
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 1.0 };
        Ok((
            share(covered as f64, all as f64),
            share(f64::from(found), f64::from(touching)),
        ))
    }
}

impl TruePair {
    fn of(pair: &Pair<'_>, index: usize, resolution: u32) -> TruePair {
        let corners = pair
            .b
            .solid()
            .corners()
            .map(|p| pair.a_from_b.transform_point(p));
        let bounds = pair.a.solid().intersection(Aabb::of_points(corners));
        let mut points = Vec::new();
        let sides = bounds.extents();
        let near = 2.0 * sides.element_product().max(0.0).cbrt() / resolution as f32;
        if !bounds.is_empty() {
            let step = sides / TRUE_NODES as f32;
            let b_from_a = pair.a_from_b.inverse();
            for n in 0..TRUE_NODES.pow(3) {
                let place = UVec3::new(n, n / TRUE_NODES, n / TRUE_NODES.pow(2)) % TRUE_NODES;
                let point = bounds.min + (place.as_vec3() + 0.5) * step;
                let value = pair.a.field().distance(point);
                // Keep nodes inside by no more than a step: they are next to the surface, and
                // certainly in the intersection.
                if value > 0.0 {
                    continue;
                }
                let value = value.max(pair.b.field().distance(b_from_a.transform_point(point)));
                if value <= 0.0 && value >= -step.max_element() {
                    points.push(point);
                }
            }
        }
        let stride = points.len().div_ceil(TRUE_POINTS).max(1);
        TruePair {
            index,
            points: points.into_iter().step_by(stride).collect(),
            near,
        }
    }
}

pub(crate) fn paper_row(scene: &str, resolution: u32) -> Option<&'static PaperRow> {
    let rows = match scene {
        "two models on terrain" => &TWO_MODELS,
        "terrain with many objects" => &MANY_OBJECTS,
        _ => &PIPE,
    };
    rows.iter().find(|row| row.resolution == resolution)
}

fn text(rows: &[Row]) -> String {
    let mut lines = Vec::new();
    let mut uniform = f64::NAN;
    let time = |row: &Row| row.cpu_milliseconds.unwrap_or(row.milliseconds);
    for row in rows {
        if row.way == "uniform" {
            uniform = time(row);
            if let Some(paper) = paper_row(row.scene, row.resolution) {
                lines.push(vec![
                    row.scene.to_owned(),
                    row.resolution.to_string(),
                    "[Krayer2020]".to_owned(),
                    report::count(paper.collisions.round() as u64),
                    report::count(paper.pairs.round() as u64),
                    format!("{:.2}", paper.milliseconds),
                    format!("{:.4}", paper.milliseconds / paper.pairs),
                ]);
            }
        }
        lines.push(vec![
            row.scene.to_owned(),
            row.resolution.to_string(),
            row.way.to_owned(),
            report::count(row.collisions),
            report::count(row.pairs as u64),
            format!("{:.2}", row.milliseconds),
            format!("{:.4}", row.milliseconds / row.pairs as f64),
            (row.cpu_milliseconds).map_or_else(String::new, |time| format!("{time:.2}")),
            report::count(row.touching as u64),
            format!("{:.1} %", 100.0 * row.covered),
            format!("{:.1} %", 100.0 * row.found),
            format!("{:.1}×", uniform / time(row)),
        ]);
    }
    let headings = [
        "scene",
        ">N",
        "by",
        ">collisions",
        ">pairs",
        ">ms",
        ">ms/pair",
        ">CPU ms",
        ">touching",
        ">covered",
        ">pairs found",
        ">speed",
    ];
    format!(
        "{}; [Krayer2020]: {PAPER_SETUP}\n{}  ours: dense grids in 32 bits, closed forms for balls; covered: share of the true surfaces with a \
         particle within two cells; pairs found: share of the truly touching pairs with a contact; CPU: of one thread for all pairs; speed: beside uniform, by CPU\n",
        report::plural(rayon::current_num_threads(), "thread", "threads"),
        report::table(&headings, &lines),
    )
}

fn as_json(rows: &[Row]) -> Value {
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "scene": row.scene,
                "resolution": row.resolution,
                "starts": row.way,
                "collisions": row.collisions,
                "pairs": row.pairs,
                "touching": row.touching,
                "milliseconds": row.milliseconds,
                "cpu_milliseconds": row.cpu_milliseconds,
                "milliseconds_per_pair": row.milliseconds / row.pairs as f64,
                "covered": row.covered,
                "pairs_found": row.found,
                "document": paper_row(row.scene, row.resolution).map(|paper| json!({
                    "collisions": paper.collisions,
                    "pairs": paper.pairs,
                    "milliseconds": paper.milliseconds,
                })),
            })
        })
        .collect();
    json!({
        "bench": NAME,
        "threads": rayon::current_num_threads(),
        "document_setup": PAPER_SETUP,
        "rows": rows,
    })
}

/// Returns one row for each method, including the paper's.
fn csv(rows: &[Row]) -> String {
    let mut text =
        String::from("scene,N,by,collisions,pairs,ms,CPU ms,touching,covered,pairs found\n");
    for row in rows {
        if row.way == "uniform"
            && let Some(paper) = paper_row(row.scene, row.resolution)
        {
            text += &format!(
                "{},{},paper,{},{},{},,,,\n",
                row.scene, row.resolution, paper.collisions, paper.pairs, paper.milliseconds
            );
        }
        text += &format!(
            "{},{},{},{},{},{:.4},{},{},{:.4},{:.4}\n",
            row.scene,
            row.resolution,
            row.way,
            row.collisions,
            row.pairs,
            row.milliseconds,
            (row.cpu_milliseconds).map_or_else(String::new, |time| format!("{time:.4}")),
            row.touching,
            row.covered,
            row.found
        );
    }
    text
}
