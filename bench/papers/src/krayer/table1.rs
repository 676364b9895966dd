//! Table 1 of \[Krayer2020\] beside our results: particles on the intersections of all pairs of
//! three scenes, at N = 5, 10, 15, 20.
//!
//! Input: sizes only.
//! Output: a table, JSON, and CSV on demand.
//! Cost: seconds to set up the scenes, then the runs.
//! Not for: the broad phase, which both exclude from the times.
//!
//! *Literal* is the paper's Alg. 1 to 3 as they are written; *uniform* has its starts and our
//! steps, which also move the particles that start inside both bodies to the surface; *seeded* is
//! our own way, which starts only in cells that may hold a piece of an intersection surface.
//! Numbers are means over the moments of a scene in motion. *Covered* is the share of the true
//! surfaces that has a particle within two cells, at the first moment. The truth is a lattice over
//! the common box of a pair, of which the nodes next to the surface count; it involves no
//! projection.

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

use super::by_pairs::by_pairs;
use super::cost_model::{self, Counted};
use super::device::Device;
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
  touchfield bench krayer-table1 --device gpu --samples 100 --model predictions.csv
  touchfield bench krayer-table1 --physics --steps 1000

Times are means over --samples moments of a scene in motion; of each moment the least of --repeats
runs over all pairs, on all threads.")]
pub(crate) struct Arguments {
    /// N: about N³ particles per pair
    #[arg(long, value_name = "N,N,...", value_delimiter = ',', default_values_t = [5, 10, 15, 20],
        value_parser = clap::value_parser!(u32).range(1..=64))]
    resolution: Vec<u32>,
    /// Bodies in the heap, and balls in pipe and bowl [default: as many as make the paper's number
    /// of pairs]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=5000))]
    bodies: Option<u32>,
    /// Moments of the motion, of which the means are printed (the paper has 1000)
    #[arg(long, value_name = "COUNT", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    samples: u32,
    /// Where particles run; with `gpu` rows of a device are added (feature `gpu`)
    #[arg(long, value_enum, default_value = "cpu")]
    device: Where,
    /// Write bytes, operations and predicted times of the literal algorithms to this file
    #[arg(long, value_name = "FILE.csv", conflicts_with = "physics")]
    model: Option<PathBuf>,
    /// Write times over the number of pairs, at the first N, to this file
    #[arg(long, value_name = "FILE.csv", conflicts_with = "physics")]
    by_pairs: Option<PathBuf>,
    /// Write a chart of the times over the number of pairs to this file
    #[arg(long, value_name = "FILE.svg", conflicts_with = "physics")]
    plot: Option<PathBuf>,
    /// Number of runs of each moment; the fastest counts
    #[arg(long, value_name = "COUNT", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1000))]
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

/// Where particles run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Where {
    /// The CPU alone
    Cpu,
    /// A device too; an error if there is none
    Gpu,
    /// A device too, if there is one
    Auto,
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
    device: &'static str,
    collisions: f64,
    pairs: f64,
    /// Pairs with a contact.
    touching: f64,
    milliseconds: f64,
    /// CPU time for all pairs, without waiting, where the system reports it \[ms\]: of one thread;
    /// beside a device, of all threads of the process.
    cpu_milliseconds: Option<f64>,
    /// Time of the passes by the clock of the device \[ms\].
    device_milliseconds: Option<f64>,
    /// Shares of the true surfaces that are covered, and of the touching pairs that are found; the
    /// CPU's hold for a device too.
    covered: Option<f64>,
    found: Option<f64>,
}

pub(crate) fn run(arguments: &Arguments, host: &dyn Host) -> Result<Answer, Stop> {
    if arguments.physics {
        return physics(arguments);
    }
    for (out, extension) in [
        (&arguments.out, "csv"),
        (&arguments.model, "csv"),
        (&arguments.by_pairs, "csv"),
        (&arguments.plot, "svg"),
    ] {
        if let Some(out) = out {
            host.check_text(out, extension, &[])?;
        }
    }
    let mut device = match arguments.device {
        Where::Cpu => None,
        Where::Gpu => Some(Device::open()?),
        Where::Auto => Device::open().ok(),
    };
    let scenes = [
        ("two models on terrain", scenes::two_models()?),
        (
            "terrain with many objects",
            scenes::many_objects(arguments.bodies.unwrap_or(HEAP))?,
        ),
        (
            "pipe with balls and bowl",
            scenes::pipe_with_balls(arguments.bodies.unwrap_or(BALLS))?,
        ),
    ];
    let mut rows = Vec::new();
    let mut predictions = String::from(PREDICTION_HEADINGS);
    for (name, scene) in &scenes {
        let moments: Vec<Scene> = (0..arguments.samples)
            .map(|sample| scene.at(sample as f32 / arguments.samples as f32))
            .collect();
        if let Some(device) = &mut device {
            device.load(scene)?;
        }
        for &resolution in &arguments.resolution {
            let truth = Truth::of(scene, resolution);
            for (way, particles) in ways(resolution) {
                let mut row = measure(&moments, particles, arguments.repeats)?;
                let (covered, found) = truth.compare(scene, particles)?;
                (row.covered, row.found) = (Some(covered), Some(found));
                rows.push(Row {
                    scene: name,
                    way,
                    ..row
                });
                if let Some(device) = &mut device {
                    rows.push(Row {
                        scene: name,
                        way,
                        ..on_device(device, &moments, particles, arguments.repeats)?
                    });
                }
            }
            if arguments.model.is_some() {
                predictions += &prediction(name, scene, resolution)?;
            }
        }
    }
    predictions += &cost_model::nut_on_bolt();
    if let Some(out) = &arguments.out {
        host.write_text(out, &csv(&rows))?;
    }
    if let Some(out) = &arguments.model {
        host.write_text(out, &predictions)?;
    }
    if arguments.by_pairs.is_some() || arguments.plot.is_some() {
        let first = arguments.resolution.first().copied().unwrap_or(10);
        let (csv, svg) = by_pairs(&scenes[1].1, first, device.as_mut())?;
        for (out, text) in [(&arguments.by_pairs, csv), (&arguments.plot, svg)] {
            if let Some(out) = out {
                host.write_text(out, &text)?;
            }
        }
    }
    let on = device.map_or_else(String::new, |device| format!(", {}", device.name()));
    Ok(Answer {
        text: text(&rows, arguments.samples, &on),
        json: as_json(&rows, arguments.samples),
    })
}

/// Returns the settings whose rows are printed.
fn ways(resolution: u32) -> [(&'static str, Particles); 3] {
    let uniform = Particles {
        starts: Starts::Uniform,
        resolution,
        // Alg. 2 handles one body at a time.
        both_at_once: false,
        ..Default::default()
    };
    let seeded = Particles {
        resolution,
        ..Default::default()
    };
    [
        ("literal", Particles::literal(resolution)),
        ("uniform", uniform),
        ("seeded", seeded),
    ]
}

const PREDICTION_HEADINGS: &str = "scene,N,pairs,particles,steps per particle,hits,field,passes,bytes,operations,card,predicted ms,paper ms\n";

/// Returns rows of the cost model: the paper's textures with both passes as written, and our kernel
/// on a dense grid.
fn prediction(name: &str, scene: &Scene, resolution: u32) -> Result<String, Stop> {
    let counted = Counted::of(scene, resolution)?;
    let paper = paper_row(name, resolution);
    let paper = paper.map_or_else(String::new, |paper| paper.milliseconds.to_string());
    let mut text = String::new();
    for (layout, as_written) in [(cost_model::TEXTURE, true), (cost_model::DENSE, false)] {
        for card in [cost_model::GTX_1070, cost_model::LAPTOP] {
            let of_paper = if card.name == cost_model::GTX_1070.name {
                paper.as_str()
            } else {
                ""
            };
            text += &format!(
                "{name},{resolution},{},{},{:.3},{},\"{}\",{},{:.0},{:.0},{},{:.4},{of_paper}\n",
                counted.pairs,
                counted.particles,
                counted.steps / counted.particles.max(1.0),
                counted.hits,
                layout.name,
                if as_written {
                    "both in full"
                } else {
                    "second for hits"
                },
                counted.bytes(layout, as_written),
                counted.operations(layout, as_written),
                card.name,
                counted.predicted(card, layout, as_written),
            );
        }
    }
    Ok(text)
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

pub(crate) fn settings(particles: Particles) -> CollideSettings {
    CollideSettings {
        method: ContactMethod::ProjectionParticles(particles),
        ..Default::default()
    }
}

/// Measures all pairs at every moment; of each moment the fastest run counts.
fn measure(moments: &[Scene], particles: Particles, repeats: u32) -> Result<Row, Stop> {
    let settings = settings(particles);
    let mut row = Row::empty(particles.resolution, "cpu");
    let share = 1.0 / moments.len() as f64;
    for (index, scene) in moments.iter().enumerate() {
        let mut counts = Vec::new();
        let mut fastest = f64::INFINITY;
        // The first run of all fills caches and buffers.
        for _ in 0..repeats + u32::from(index == 0) {
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
        row.add(&counts, 1e3 * fastest, share);
    }
    row.cpu_milliseconds = cpu_milliseconds(moments, &settings)?;
    Ok(row)
}

/// Measures all pairs at every moment on a device.
fn on_device(
    device: &mut Device,
    moments: &[Scene],
    particles: Particles,
    repeats: u32,
) -> Result<Row, Stop> {
    let mut row = Row::empty(particles.resolution, "gpu");
    let share = 1.0 / moments.len() as f64;
    let (mut on_cpu, mut on_device) = (0.0, Some(0.0));
    for (index, scene) in moments.iter().enumerate() {
        if index == 0 {
            // The first run compiles the kernels and makes room.
            device.run(scene, particles)?;
        }
        let mut best = device.run(scene, particles)?;
        for _ in 1..repeats {
            let again = device.run(scene, particles)?;
            if again.milliseconds < best.milliseconds {
                best = again;
            }
        }
        row.add(&best.counts, best.milliseconds, share);
        on_cpu += share * best.cpu_milliseconds;
        on_device = on_device
            .zip(best.device_milliseconds)
            .map(|(sum, time)| sum + share * time);
    }
    row.cpu_milliseconds = Some(on_cpu);
    row.device_milliseconds = on_device;
    Ok(row)
}

impl Row {
    fn empty(resolution: u32, device: &'static str) -> Row {
        Row {
            scene: "",
            resolution,
            way: "",
            device,
            collisions: 0.0,
            pairs: 0.0,
            touching: 0.0,
            milliseconds: 0.0,
            cpu_milliseconds: None,
            device_milliseconds: None,
            covered: None,
            found: None,
        }
    }

    /// Adds a moment, as a share of all.
    fn add(&mut self, counts: &[u64], milliseconds: f64, share: f64) {
        self.collisions += share * counts.iter().sum::<u64>() as f64;
        self.pairs += share * counts.len() as f64;
        self.touching += share * counts.iter().filter(|&&count| count > 0).count() as f64;
        self.milliseconds += share * milliseconds;
    }
}

/// Returns the mean CPU time for all pairs on this thread \[ms\]. Other load on the machine hardly
/// disturbs it.
fn cpu_milliseconds(moments: &[Scene], settings: &CollideSettings) -> Result<Option<f64>, Stop> {
    let (mut scratch, mut out) = (Scratch::default(), Contacts::default());
    let Some(start) = thread_seconds() else {
        return Ok(None);
    };
    let began = Instant::now();
    let mut runs = 0;
    // The system counts in ticks of milliseconds.
    while runs == 0 || began.elapsed().as_secs_f64() < 0.2 {
        for scene in moments {
            for &pair in &scene.pairs {
                collide(&scene.pair(pair), settings, &mut scratch, &mut out)
                    .map_err(|error| Stop::BadInput(error.to_string()))?;
            }
        }
        runs += 1;
    }
    let runs = f64::from(runs) * moments.len() as f64;
    Ok(thread_seconds().map(|end| 1e3 * (end - start) / runs))
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

fn text(rows: &[Row], samples: u32, on: &str) -> String {
    let mut lines = Vec::new();
    let mut literal = f64::NAN;
    let time = |row: &Row| row.cpu_milliseconds.unwrap_or(row.milliseconds);
    let percent = |share: Option<f64>| {
        share.map_or_else(String::new, |share| format!("{:.1} %", 100.0 * share))
    };
    let two = |time: Option<f64>| time.map_or_else(String::new, |time| format!("{time:.2}"));
    for row in rows {
        if row.is_first() {
            literal = time(row);
            if let Some(paper) = paper_row(row.scene, row.resolution) {
                lines.push(vec![
                    row.scene.to_owned(),
                    row.resolution.to_string(),
                    "[Krayer2020]".to_owned(),
                    "gpu".to_owned(),
                    report::count(paper.collisions.round() as u64),
                    format!("{:.1}", paper.pairs),
                    format!("{:.2}", paper.milliseconds),
                    format!("{:.4}", paper.milliseconds / paper.pairs),
                ]);
            }
        }
        lines.push(vec![
            row.scene.to_owned(),
            row.resolution.to_string(),
            row.way.to_owned(),
            row.device.to_owned(),
            report::count(row.collisions.round() as u64),
            format!("{:.1}", row.pairs),
            format!("{:.2}", row.milliseconds),
            format!("{:.4}", row.milliseconds / row.pairs),
            two(row.cpu_milliseconds),
            two(row.device_milliseconds),
            format!("{:.1}", row.touching),
            percent(row.covered),
            percent(row.found),
            format!("{:.1}×", literal / time(row)),
        ]);
    }
    let headings = [
        "scene",
        ">N",
        "by",
        "on",
        ">collisions",
        ">pairs",
        ">ms",
        ">ms/pair",
        ">CPU ms",
        ">device ms",
        ">touching",
        ">covered",
        ">pairs found",
        ">speed",
    ];
    format!(
        "means over {}; {}{on}; [Krayer2020]: 1000 moments, {PAPER_SETUP}\n{}  ours: dense grids in 32 bits, closed forms for balls; covered: share of the true surfaces with a \
         particle within two cells; pairs found: share of the truly touching pairs with a contact; CPU: of one thread for all pairs, beside a device of the whole process; \
         device: by its own clock; speed: beside literal on the CPU, by CPU time\n",
        report::plural(samples as usize, "moment", "moments"),
        report::plural(rayon::current_num_threads(), "thread", "threads"),
        report::table(&headings, &lines),
    )
}

impl Row {
    /// Returns whether this is the first row of its scene and resolution.
    fn is_first(&self) -> bool {
        self.way == "literal" && self.device == "cpu"
    }
}

fn as_json(rows: &[Row], samples: u32) -> Value {
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "scene": row.scene,
                "resolution": row.resolution,
                "starts": row.way,
                "device": row.device,
                "collisions": row.collisions,
                "pairs": row.pairs,
                "touching": row.touching,
                "milliseconds": row.milliseconds,
                "cpu_milliseconds": row.cpu_milliseconds,
                "device_milliseconds": row.device_milliseconds,
                "milliseconds_per_pair": row.milliseconds / row.pairs,
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
        "samples": samples,
        "document_setup": PAPER_SETUP,
        "rows": rows,
    })
}

/// Returns one row for each method, including the paper's.
fn csv(rows: &[Row]) -> String {
    let mut text = String::from(
        "scene,N,by,device,collisions,pairs,ms,ms per pair,CPU ms,device ms,touching,covered,pairs found\n",
    );
    let four = |time: Option<f64>| time.map_or_else(String::new, |time| format!("{time:.4}"));
    for row in rows {
        if row.is_first()
            && let Some(paper) = paper_row(row.scene, row.resolution)
        {
            text += &format!(
                "{},{},paper,gpu,{},{},{},{:.4},,,,,\n",
                row.scene,
                row.resolution,
                paper.collisions,
                paper.pairs,
                paper.milliseconds,
                paper.milliseconds / paper.pairs,
            );
        }
        text += &format!(
            "{},{},{},{},{:.2},{:.2},{:.4},{:.4},{},{},{:.2},{},{}\n",
            row.scene,
            row.resolution,
            row.way,
            row.device,
            row.collisions,
            row.pairs,
            row.milliseconds,
            row.milliseconds / row.pairs,
            four(row.cpu_milliseconds),
            four(row.device_milliseconds),
            row.touching,
            four(row.covered),
            four(row.found)
        );
    }
    text
}
