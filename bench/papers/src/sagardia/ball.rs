//! Table 1 of \[Sagardia2014\]: the penetration depth of a ball that bounces on a floor, in Rapier.
//!
//! Input: nothing.
//! Output: the greatest depth for three restitutions, for a coarse and a fine ball made of fields
//! and for Rapier's own ball.
//! Cost: seconds.
//! Not for: other engines.
//!
//! Radius 0.5 m, 1 kg, dropped from 1 m above the floor, 200 steps per second, g = 10 m/s², as in
//! §4.1.

use std::fmt::Write as _;

use glam::Vec3;
use serde_json::json;
use touchfield::field::primitive::Cuboid;
use touchfield::mesh::generate::{Icosphere, icosphere};
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{FieldShape, Settings, install};

use super::{TABLE1, Table1};
use crate::host::Host;
use crate::host::Stop;
use touchfield_report::{self as report, Answer};

/// Restitution, then the paper's figures \[mm\]: Bullet, 275 points, 25,880 points.
const PAPER: [[f32; 4]; 3] = [
    [0.1, 42.5, 6.8, 3.5],
    [0.5, 42.5, 9.5, 4.0],
    [0.9, 42.5, 20.1, 19.2],
];
const RATE: f32 = 200.0;
const STEPS: usize = 1000;
const RADIUS: f32 = 0.5;

pub(crate) fn run(arguments: &Table1, host: &dyn Host) -> Result<Answer, Stop> {
    if let Some(out) = &arguments.out {
        host.check_text(out, "csv", &[])?;
    }
    let bad = |error: &dyn std::fmt::Display| Stop::BadInput(error.to_string());
    let ball = Icosphere {
        radius: f64::from(RADIUS),
        level: 5,
    };
    let mesh = icosphere(ball).map_err(|error| bad(&error))?;
    let of_points = |points| {
        let settings = Settings {
            resolution: 64,
            points,
            ..Default::default()
        };
        FieldShape::from_mesh(&mesh, settings).map_err(|error| bad(&error))
    };
    let floor = Cuboid::new(Vec3::new(2.0, 2.0, 0.25)).map_err(|error| bad(&error))?;
    let floor = FieldShape::from_field(floor, Settings::default()).map_err(|error| bad(&error))?;
    let balls = [
        ("275 points", of_points(275)?.shared()),
        ("25,880 points", of_points(25_880)?.shared()),
        ("Rapier's own", SharedShape::ball(RADIUS)),
    ];
    let mut csv = "restitution,ball,seconds,height\n".to_owned();
    let (mut rows, mut objects) = (Vec::new(), Vec::new());
    for [restitution, bullet, low, high] in PAPER {
        let mut depths = Vec::new();
        for (name, ball) in &balls {
            let heights = drop(ball, &floor, restitution);
            for (step, height) in heights.iter().enumerate() {
                let seconds = (step + 1) as f32 / RATE;
                let _ = writeln!(csv, "{restitution},\"{name}\",{seconds:.3},{height}");
            }
            let deepest = heights.iter().map(|height| 1e3 * (RADIUS - height));
            depths.push(deepest.fold(0.0, f32::max));
        }
        let mut row = vec![format!("{restitution}")];
        row.extend([bullet, low, high].map(|depth| format!("{depth:.1}")));
        row.extend(depths.iter().map(|depth| format!("{depth:.2}")));
        rows.push(row);
        objects.push(json!({
            "restitution": restitution,
            "document_mm": { "bullet": bullet, "low": low, "high": high },
            "ours_mm": { "low": depths[0], "high": depths[1], "rapier_ball": depths[2] },
        }));
    }
    if let Some(out) = &arguments.out {
        host.write_text(out, &csv)?;
    }
    let headings = [
        ">restitution",
        ">003: Bullet",
        ">003: 275 points",
        ">003: 25,880 points",
        ">275 points",
        ">25,880 points",
        ">Rapier's own ball",
    ];
    Ok(Answer {
        text: format!(
            "Greatest depth of a bouncing ball of 1 m [mm], 200 steps a second\n{}",
            report::table(&headings, &rows)
        ),
        json: json!({ "bench": TABLE1, "rows": objects }),
    })
}

/// Simulates a drop and returns the height of the centre at each step \[m\].
fn drop(ball: &SharedShape, floor: &FieldShape, restitution: f32) -> Vec<f32> {
    let mut world = PhysicsWorld::new();
    install(&mut world, 1.0);
    world.gravity = Vector::new(0.0, 0.0, -10.0);
    world.integration_parameters.dt = 1.0 / RATE;
    let below = RigidBodyBuilder::fixed().translation(Vector::new(0.0, 0.0, -0.25));
    let floor = ColliderBuilder::new(floor.shared()).restitution(restitution);
    world.insert(below, floor);
    let above = RigidBodyBuilder::dynamic().translation(Vector::new(0.0, 0.0, 1.0 + RADIUS));
    let collider = ColliderBuilder::new(ball.clone())
        .mass(1.0)
        .restitution(restitution);
    let (body, _) = world.insert(above, collider);
    let mut heights = Vec::with_capacity(STEPS);
    for _ in 0..STEPS {
        world.step();
        heights.push(world.bodies[body].translation().z);
    }
    heights
}
