//! §4.1 of \[Sagardia2014\]: a stack of balls over the resolution of their shells, in Touchfield's
//! own dynamics with discrete penalty forces.
//!
//! Input: nothing.
//! Output: a row for each structure and number of points: depth under the stack beside its closed
//! form, and when the stack falls.
//! Cost: seconds.
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

/// Radius \[m\] and mass \[kg\] of a ball.
const RADIUS: f64 = 0.05;
const MASS: f64 = 1.0;
const GRAVITY: f64 = 9.81;
const BALLS: u32 = 3;
const RATE: f64 = 1000.0;
/// Moments between which the depth under the stack is averaged \[s\].
const RESTING: std::ops::Range<f64> = 0.3..0.4;
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
        host.check_csv(out, &[])?;
    }
    let mesh = icosphere(Icosphere {
        radius: RADIUS,
        level: 6,
    });
    let mesh = mesh.map_err(|error| bad(&error))?;
    let mut rows = Vec::new();
    for structure in Structure::ALL {
        for &points in &arguments.points {
            let ball = match structure {
                Structure::Ours => exact_ball(&mesh, points)?,
                _ => structure.bake(&mesh, points, Resolution::Nodes(65))?,
            };
            let points = ball.shell().map_or(0, |shell| shell.points().len());
            let row = stack(&ball, Response::Penalty, arguments.seconds)?;
            let head = [structure.name().to_owned(), "penalty".to_owned()];
            rows.push([head.to_vec(), vec![points.to_string()], row].concat());
        }
    }
    let ball = exact_ball(&mesh, 275)?;
    let row = stack(&ball, Response::Impulse, arguments.seconds)?;
    let head = ["Touchfield", "impulses", ""].map(str::to_owned);
    rows.push([head.to_vec(), row].concat());
    if let Some(out) = &arguments.out {
        host.write_csv(out, &csv(COLUMNS, &rows))?;
    }
    Ok(Answer {
        text: format!(
            "{BALLS} balls of {} on each other, {RATE} steps a second, for {}\n{}",
            report::length(RADIUS),
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

const HEADINGS: [&str; 8] = [
    "balls",
    "contact",
    ">points",
    ">depth below [mm]",
    ">closed form [mm]",
    ">scatter [mm]",
    ">falls at [s]",
    ">step [µs]",
];
const COLUMNS: &str = "balls,contact,points,depth_mm,closed_form_mm,scatter_mm,falls_s,step_us";

/// Simulates a stack and returns the cells of its row after the number of points.
fn stack(ball: &Shape, response: Response, seconds: f64) -> Result<Vec<String>, Stop> {
    let step = 1.0 / RATE;
    let mut world = World::new(WorldSettings {
        gravity: DVec3::new(0.0, 0.0, -GRAVITY),
        step,
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
    for level in 0..BALLS {
        let height = f64::from(2 * level + 1) * RADIUS;
        let body = BodySettings {
            material: MATERIAL,
            pose: Frame::at(DVec3::new(0.0, 0.0, height)),
            ..BodySettings::new(Geometry::from(ball.clone()), Mass::ball(MASS, RADIUS))
        };
        world.add(body).map_err(|error| bad(&error))?;
    }
    let top = BALLS as usize;
    let (mut depths, mut falls, mut cpu) = (Vec::new(), None, 0.0);
    let steps = (seconds * RATE).round() as u32;
    for _ in 0..steps {
        let clock = ThreadTime::now();
        world.step().map_err(|error| bad(&error))?;
        cpu += clock.elapsed().as_secs_f64() / f64::from(steps);
        let centers = [1, top].map(|body| world.bodies()[body].state().position);
        if RESTING.contains(&world.time()) {
            depths.push(1e3 * (RADIUS - centers[0].z));
        }
        if falls.is_none() && centers[1].truncate().length() > FALLEN {
            falls = Some(world.time());
        }
    }
    // A ball pressed into a half-space by d: π R k d² [Pa/m · m³].
    let weight = f64::from(BALLS) * MASS * GRAVITY;
    let closed = (weight / (std::f64::consts::PI * RADIUS * MATERIAL.stiffness)).sqrt();
    let closed = match response {
        Response::Impulse => 0.0,
        _ => 1e3 * closed,
    };
    let mean = depths.iter().sum::<f64>() / depths.len() as f64;
    let most = depths.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = depths.iter().copied().fold(f64::INFINITY, f64::min);
    Ok(vec![
        format!("{:.3}", positive(mean)),
        format!("{closed:.3}"),
        format!("{:.4}", most - least),
        falls.map_or(String::new(), |at| format!("{at:.2}")),
        format!("{:.1}", 1e6 * cpu),
    ])
}
