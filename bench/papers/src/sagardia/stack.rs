//! §4.1 of \[Sagardia2014\]: a stack of balls over the resolution of their shells, in Touchfield's
//! own dynamics with discrete penalty forces.
//!
//! Input: nothing.
//! Output: a row for each structure and number of points: depth under the stack beside its closed
//! form, and when the stack falls; means over runs with balls in random attitudes.
//! Cost: seconds for each run.
//! Not for: sleeping bodies. A stack of balls is unstable: it stands until the noise of its
//! contacts has grown.

use touchfield::Shape;
use touchfield::bake::Resolution;
use touchfield::bake::pointshell::{ShellDensity, ShellSettings, shell_of_mesh};
use touchfield::glam::{DVec3, Vec3};
use touchfield::mesh::TriangleMesh;
use touchfield::mesh::generate::{Icosphere, icosphere};
use touchfield::shape::Convex;
use touchfield_dynamics::{
    BodySettings, Frame, Geometry, Mass, Material, Response, World, WorldSettings,
};
use touchfield_report::{self as report, Answer};

use std::sync::Arc;

use cpu_time::ThreadTime;
use serde_json::json;

use super::energy::{csv, objects, positive};
use super::structures::{Structure, bad};
use super::{STACK, Stack};
use crate::host::{Host, Stop};
use crate::random::Random;

/// Radius \[m\] and mass \[kg\] of a ball.
const RADIUS: f64 = 0.05;
const MASS: f64 = 1.0;
const GRAVITY: f64 = 9.81;
const BALLS: u32 = 3;
const RATE: f64 = 1000.0;
/// Moments between which the depth under the stack is averaged \[s\].
const RESTING: std::ops::Range<f64> = 0.2..0.3;
/// Distance that the top ball moves sideways when the stack has fallen \[m\].
const FALLEN: f64 = 0.5 * RADIUS;

const MATERIAL: Material = Material {
    friction: 0.5,
    restitution: 0.0,
    stiffness: 1e8,
    damping: 1e6,
    slip: 1e-3,
};

pub(crate) fn run(arguments: &Stack, host: &dyn Host) -> Result<Answer, Stop> {
    if !(arguments.seconds >= 0.5 && arguments.seconds <= 60.0) {
        let seconds = arguments.seconds;
        return Err(Stop::BadInput(format!(
            "--seconds is {seconds}; take from 0.5 to 60"
        )));
    }
    if let Some(out) = &arguments.out {
        host.check_text(out, "csv", &[])?;
    }
    let mesh = icosphere(Icosphere {
        radius: RADIUS,
        level: 6,
    });
    let mesh = mesh.map_err(|error| bad(&error))?;
    let mut rows = Vec::new();
    for structure in Structure::ALIKE {
        for &points in &arguments.points {
            let ball = match structure {
                Structure::Ours => exact_ball(&mesh, points)?,
                _ => structure.bake(&mesh, points, Resolution::Nodes(65))?,
            };
            let points = ball.shell().map_or(0, |shell| shell.points().len());
            let row = stacks(&ball, Response::Penalty, arguments)?;
            let head = [structure.name().to_owned(), "penalty".to_owned()];
            rows.push([head.to_vec(), vec![points.to_string()], row].concat());
        }
    }
    let ball = exact_ball(&mesh, 275)?;
    let row = stacks(&ball, Response::Impulse, arguments)?;
    let head = ["Touchfield", "impulses", ""].map(str::to_owned);
    rows.push([head.to_vec(), row].concat());
    if let Some(out) = &arguments.out {
        host.write_text(out, &csv(COLUMNS, &rows))?;
    }
    Ok(Answer {
        text: format!(
            "{BALLS} balls of {} on each other, {RATE} steps a second, {} of {}\n{}",
            report::length(RADIUS),
            report::plural(arguments.runs as usize, "run", "runs"),
            report::seconds(arguments.seconds),
            report::table(&HEADINGS, &rows)
        ),
        json: json!({ "bench": STACK, "rows": objects(COLUMNS, &rows) }),
    })
}

/// Returns a ball in closed form with a shell of `points`.
fn exact_ball(mesh: &TriangleMesh, points: u32) -> Result<Shape, Stop> {
    let convex = Convex::sphere(RADIUS as f32).map_err(|error| bad(&error))?;
    let shape = Shape::convex(convex).map_err(|error| bad(&error))?;
    let settings = ShellSettings {
        density: ShellDensity::Points(points),
        ..ShellSettings::default()
    };
    let shell = shell_of_mesh(mesh, shape.field(), &settings).map_err(|error| bad(&error))?;
    Ok(shape.with_shell(Arc::new(shell)))
}

const HEADINGS: [&str; 9] = [
    "balls",
    "contact",
    ">points",
    ">depth below [mm]",
    ">closed form [mm]",
    ">scatter [mm]",
    ">falls at [s]",
    ">from, to [s]",
    ">step [µs]",
];
const COLUMNS: &str =
    "balls,contact,points,depth_mm,closed_form_mm,scatter_mm,falls_s,falls_from_to_s,step_us";

/// One stack.
struct Run {
    /// Mean, least and largest depth of the lowest ball while the stack stands \[mm\].
    depth: f64,
    least: f64,
    most: f64,
    falls: Option<f64>,
    step_us: f64,
}

/// Simulates stacks and returns the cells of their row after the number of points.
fn stacks(ball: &Shape, response: Response, arguments: &Stack) -> Result<Vec<String>, Stop> {
    let runs = (0..arguments.runs).map(|seed| stack(ball, response, arguments.seconds, seed));
    let runs: Vec<Run> = runs.collect::<Result<_, Stop>>()?;
    let each = 1.0 / runs.len() as f64;
    let mean = |of: fn(&Run) -> f64| runs.iter().map(of).sum::<f64>() * each;
    let most = (runs.iter().map(|run| run.most)).fold(f64::NEG_INFINITY, f64::max);
    let least = (runs.iter().map(|run| run.least)).fold(f64::INFINITY, f64::min);
    // A mean of the falls only if every stack falls.
    let falls: Option<Vec<f64>> = runs.iter().map(|run| run.falls).collect();
    let (fall, range) = match falls {
        Some(falls) => {
            let mean = falls.iter().sum::<f64>() * each;
            let first = falls.iter().copied().fold(f64::INFINITY, f64::min);
            let last = falls.iter().copied().fold(0.0, f64::max);
            (format!("{mean:.2}"), format!("{first:.2}–{last:.2}"))
        }
        None => (String::new(), String::new()),
    };
    // A ball pressed into a half-space by d: π R k d² [Pa/m · m³].
    let weight = f64::from(BALLS) * MASS * GRAVITY;
    let closed = (weight / (std::f64::consts::PI * RADIUS * MATERIAL.stiffness)).sqrt();
    let closed = match response {
        Response::Impulse => 0.0,
        _ => 1e3 * closed,
    };
    Ok(vec![
        format!("{:.3}", positive(mean(|run| run.depth))),
        format!("{closed:.3}"),
        format!("{:.4}", most - least),
        fall,
        range,
        format!("{:.1}", mean(|run| run.step_us)),
    ])
}

fn stack(ball: &Shape, response: Response, seconds: f64, seed: u32) -> Result<Run, Stop> {
    let mut world = World::new(WorldSettings {
        gravity: DVec3::new(0.0, 0.0, -GRAVITY),
        step: 1.0 / RATE,
        response,
        sleeping: false,
        ..WorldSettings::default()
    })
    .map_err(|error| bad(&error))?;
    let ground = Geometry::half_space(Vec3::Z).map_err(|error| bad(&error))?;
    let ground = BodySettings {
        material: MATERIAL,
        ..BodySettings::fixed(ground)
    };
    world.add(ground).map_err(|error| bad(&error))?;
    let mut random = Random::new(u64::from(seed));
    for level in 0..BALLS {
        let height = f64::from(2 * level + 1) * RADIUS;
        let body = BodySettings {
            material: MATERIAL,
            pose: Frame {
                rotation: random.rotation().as_dquat().normalize(),
                translation: DVec3::new(0.0, 0.0, height),
            },
            ..BodySettings::new(Geometry::from(ball.clone()), Mass::ball(MASS, RADIUS))
        };
        world.add(body).map_err(|error| bad(&error))?;
    }
    let top = BALLS as usize;
    let (mut depths, mut falls, mut cpu) = (Vec::new(), None, 0.0);
    // Nothing is simulated after a fall.
    while world.time() < seconds && falls.is_none() {
        let clock = ThreadTime::now();
        world.step().map_err(|error| bad(&error))?;
        cpu += clock.elapsed().as_secs_f64();
        let centers = [1, top].map(|body| world.bodies()[body].state().position);
        if RESTING.contains(&world.time()) {
            depths.push(1e3 * (RADIUS - centers[0].z));
        }
        if centers[1].truncate().length() > FALLEN {
            falls = Some(world.time());
        }
    }
    Ok(Run {
        depth: depths.iter().sum::<f64>() / depths.len() as f64,
        least: depths.iter().copied().fold(f64::INFINITY, f64::min),
        most: depths.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        falls,
        step_us: 1e6 * cpu / world.steps() as f64,
    })
}
