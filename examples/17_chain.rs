//! A chain of fifty links hangs between two fixed ends: it starts as a catenary, settles, and stays
//! whole. Each link is one field, and only contact holds the links together.
//!
//! With `--start line` the chain starts as a straight line with one end fixed, swings down and
//! snaps taut, at 1200 steps per second: at 300 it tears. At every step, the centre lines of
//! neighbouring links decide whether they are still linked.
//!
//! Output: time per step, greatest depth, greatest stretch, whether the chain tore, a picture and a
//! chart.
//!
//! `cargo run --release -p touchfield-rapier --example 17_chain`
//!
//! Options, after `--`: `--start line`, `--iterations 8`, `--out FOLDER`.
#![allow(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;

use glam::{Mat3, Quat, Vec3};
use touchfield::mesh::generate::{ChainLink, chain_link};
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{FieldShape, Settings};

mod scene;

const LINKS: usize = 50;

/// Returns centres and directions of the links, `pitch` apart along the catenary between two points
/// six tenths of its length apart.
fn catenary(pitch: f32) -> Vec<(Vec3, Vec3)> {
    let length = pitch * (LINKS - 1) as f32;
    let span = 0.6 * length;
    // Solve 2 a sinh(span / 2a) = length for a, by bisection.
    let (mut low, mut high) = (0.05 * span, 10.0 * span);
    for _ in 0..60 {
        let a = 0.5 * (low + high);
        if 2.0 * a * (0.5 * span / a).sinh() > length {
            low = a;
        } else {
            high = a;
        }
    }
    let a = 0.5 * (low + high);
    let place = |index: usize| {
        let along = pitch * index as f32 - 0.5 * length;
        let x = a * (along / a).asinh();
        let middle = Vec3::new(x, 0.0, a * (x / a).cosh() - a);
        let direction = Vec3::new(1.0, 0.0, (x / a).sinh()).normalize();
        (middle, direction)
    };
    (0..LINKS).map(place).collect()
}

/// Returns centres and directions of the links along a straight line in x.
fn line(pitch: f32) -> Vec<(Vec3, Vec3)> {
    let place = |index: usize| (Vec3::X * pitch * index as f32, Vec3::X);
    (0..LINKS).map(place).collect()
}

/// Returns the signed number of times that the centre line of one link passes through the other: ±1
/// for linked links.
fn crossings(link: &ChainLink, first_from_second: &Pose) -> i32 {
    let (half, radius) = (0.5 * link.straight_length as f32, link.bend_radius as f32);
    let middle_line = |step: u32| {
        let share = step as f32 / 64.0;
        // Walk around the stadium by angle; the straight sides are at the quarter turns.
        let angle = std::f32::consts::TAU * share;
        let side = half * angle.cos().signum();
        first_from_second.transform_point(Vector::new(
            side + radius * angle.cos(),
            radius * angle.sin(),
            0.0,
        ))
    };
    let mut count = 0;
    for step in 0..64 {
        let (from, to) = (middle_line(step), middle_line(step + 1));
        if (from.z < 0.0) == (to.z < 0.0) {
            continue;
        }
        let at = from + (to - from) * (from.z / (from.z - to.z));
        let beyond = (at.x.abs() - half).max(0.0).hypot(at.y);
        if beyond < radius {
            count += if to.z > from.z { 1 } else { -1 };
        }
    }
    count
}

fn main() -> Result<(), Box<dyn Error>> {
    // One field, shared by all links.
    let link = ChainLink::default();
    let settings = Settings {
        resolution: scene::argument("--resolution", 64),
        points: scene::argument("--points", 2_000),
        ..Default::default()
    };
    let shape = FieldShape::from_mesh(&chain_link(link)?, settings)?;
    // Centre distance of two links when taut.
    let pitch = (link.straight_length + 2.0 * (link.bend_radius - link.wire_radius)) as f32;
    let is_line = scene::argument("--start", String::new()) == "line";
    let places = if is_line {
        line(pitch)
    } else {
        catenary(pitch)
    };

    let (mut world, fields) = scene::world(0.04);
    // The end of a falling chain cracks like a whip: at the usual rate two links pass each other
    // within a step, and no number of solver iterations helps.
    let usual = if is_line {
        1200.0
    } else {
        1.0 / world.integration_parameters.dt
    };
    let rate = scene::argument("--rate", usual);
    world.integration_parameters.dt = 1.0 / rate;
    world.integration_parameters.num_solver_iterations = scene::argument("--iterations", 8);
    let name = if is_line { "17_chain_line" } else { "17_chain" };
    let mut picture = scene::Picture::new(name).seen_from(-90, 10);
    let mut links = Vec::new();
    for (index, (middle, along)) in places.into_iter().enumerate() {
        // Every other link is turned by a quarter about the chain.
        let across = Vec3::Y;
        let frame = Mat3::from_cols(along, across, along.cross(across));
        let turn = Quat::from_mat3(&frame)
            * Quat::from_rotation_x(std::f32::consts::FRAC_PI_2 * (index % 2) as f32);
        // The first link is fixed, and the last as well unless the chain swings.
        let is_held = index == 0 || (index == LINKS - 1 && !is_line);
        let body = if is_held {
            RigidBodyBuilder::fixed()
        } else {
            RigidBodyBuilder::dynamic()
        };
        let pose = Pose::from_parts(middle, turn);
        let collider = ColliderBuilder::new(shape.shared())
            .density(7850.0)
            .friction(0.3);
        let body = body
            .pose(pose)
            .soft_ccd_prediction(scene::argument("--foreseen", 0.0));
        let (body, _) = world.insert(body, collider);
        picture.add(
            if is_held {
                "held"
            } else if index % 2 == 0 {
                "even"
            } else {
                "odd"
            },
            &shape,
            body,
        );
        links.push(body);
    }

    let begin = std::time::Instant::now();
    let steps = scene::steps(&world, scene::argument("--seconds", 3.0));
    let (mut record, mut torn, mut longest) = (scene::Record::default(), None, 0.0f32);
    let mut stretch = Vec::new();
    // After each step, measure the stretch and check that neighbours are still linked.
    for step in 0..steps {
        world.step();
        record.note(&world);
        let mut now = 0.0f32;
        for pair in links.windows(2) {
            let [first, second] = [pair[0], pair[1]].map(|body| *world.bodies[body].position());
            now = now.max(first.translation.distance(second.translation) - pitch);
            if torn.is_none() && crossings(&link, &(first.inverse() * second)).abs() != 1 {
                torn = Some(step);
            }
        }
        longest = longest.max(now);
        let seconds = f64::from(world.integration_parameters.dt) * (step + 1) as f64;
        stretch.push([seconds, 1e3 * f64::from(now)]);
    }
    let fastest = (links.iter())
        .map(|&body| world.bodies[body].linvel().length())
        .fold(0.0, Real::max);
    let lowest = (links.iter())
        .map(|&body| world.bodies[body].translation().z)
        .fold(Real::INFINITY, Real::min);
    println!(
        "{LINKS} links, {steps} steps of {:.2} ms each: at most {:.2} mm deep, {:.2} mm at the end; two links at most {:.2} mm too far apart; lowest at {:.1} mm, the fastest moves at {:.1} mm/s; {}",
        1e3 * begin.elapsed().as_secs_f64() / steps as f64,
        1e3 * record.deepest(),
        1e3 * scene::deepest(&world),
        1e3 * longest,
        1e3 * lowest,
        1e3 * fastest,
        torn.map_or("whole".to_owned(), |step| format!(
            "torn after {step} steps"
        ))
    );
    let title = "farthest that two links are apart beyond touching [mm]";
    let apart = scene::over_time(title, vec![("apart".into(), stretch)]);
    record.write(name, vec![apart])?;
    picture.write(&world)?;
    assert!(torn.is_none(), "no link leaves the next");
    assert!(
        longest < link.wire_radius as f32,
        "nor comes halfway through it"
    );
    assert!(fields.take_counts().is_clean());
    Ok(())
}
