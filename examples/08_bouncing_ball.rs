//! A bouncing ball, after \[Sagardia2014\] §4.1: radius 0.5 m, 1 kg, dropped onto a plane, 200
//! steps per second, g = 10 m/s².
//!
//! Output: the greatest penetration depth, beside the paper's figures and its measurements of
//! Bullet, and a table of heights over time. The paper drops the centre from 1 m, a fall of 0.5 m;
//! this ball falls 1 m, which is harder.
//!
//! `cargo run -p touchfield-rapier --example 08_bouncing_ball [-- --out FOLDER]`
#![allow(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;
use std::fmt::Write;

use glam::Vec3;
use touchfield::field::primitive::Cuboid;
use touchfield::mesh::generate::{Icosphere, icosphere};
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{FieldShape, Settings, install};

mod scene;

/// Restitution, then the penetration depths of the paper \[mm\]: 275 points, 25,880 points, Bullet.
const THEIRS: [[Real; 4]; 3] = [
    [0.1, 6.8, 3.5, 42.5],
    [0.5, 9.5, 4.0, 42.5],
    [0.9, 20.1, 19.2, 42.5],
];

/// Simulates one drop and returns the height of the centre at each step \[m\]. Writes a picture and
/// a chart of the run if `is_drawn`.
fn drop(
    ball_shape: &FieldShape,
    restitution: Real,
    is_drawn: bool,
) -> Result<Vec<Real>, Box<dyn Error>> {
    let mut world = PhysicsWorld::new();
    let fields = install(&mut world, 1.0);
    world.gravity = Vector::new(0.0, 0.0, -10.0);
    world.integration_parameters.dt = 1.0 / 200.0;
    let floor_shape =
        FieldShape::from_field(Cuboid::new(Vec3::new(2.0, 2.0, 0.25))?, Settings::default())?;
    let below = RigidBodyBuilder::fixed().translation(Vector::new(0.0, 0.0, -0.25));
    let (floor, _) = world.insert(
        below,
        ColliderBuilder::new(floor_shape.shared()).restitution(restitution),
    );
    let (ball, _) = world.insert(
        RigidBodyBuilder::dynamic().translation(Vector::new(0.0, 0.0, 1.5)),
        ColliderBuilder::new(ball_shape.shared())
            .mass(1.0)
            .restitution(restitution),
    );
    let (mut heights, mut record) = (Vec::new(), scene::Record::default());
    for _ in 0..1000 {
        world.step();
        record.note(&world);
        heights.push(world.bodies[ball].translation().z);
    }
    assert!(fields.take_counts().is_clean());
    if is_drawn {
        let mut picture = scene::Picture::new("08_bouncing_ball");
        picture.add("floor", &floor_shape, floor);
        picture.add("ball", ball_shape, ball);
        picture.write(&world)?;
        record.write("08_bouncing_ball", Vec::new())?;
    }
    Ok(heights)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mesh = icosphere(Icosphere {
        radius: 0.5,
        level: 5,
    })?;
    let settings = |points| Settings {
        resolution: 64,
        points,
        ..Default::default()
    };
    let coarse = FieldShape::from_mesh(&mesh, settings(275))?;
    let fine = FieldShape::from_mesh(&mesh, settings(25_880))?;

    println!("greatest depth [mm], theirs in brackets");
    println!("restitution     275 points       25,880 points  Bullet  rises to");
    let mut rows = "seconds,restitution,points,height\n".to_owned();
    for [restitution, low, high, bullet] in THEIRS {
        let (mut deepest, mut tops) = ([0.0; 2], [0.0; 2]);
        for (i, (ball, points)) in [(&coarse, 275), (&fine, 25_880)].into_iter().enumerate() {
            let is_drawn = points == 275 && restitution == 0.5;
            let heights = drop(ball, restitution, is_drawn)?;
            let depths = heights.iter().map(|height| 1e3 * (0.5 - height));
            deepest[i] = depths.fold(0.0, Real::max);
            let bounce = heights.windows(2).position(|pair| pair[1] > pair[0]);
            let after = &heights[bounce.ok_or("it never bounced")?..];
            tops[i] = after.iter().copied().fold(0.0, Real::max) - 0.5;
            for (step, height) in heights.iter().enumerate() {
                let seconds = (step + 1) as Real / 200.0;
                writeln!(rows, "{seconds:.3},{restitution},{points},{height}")?;
            }
        }
        println!(
            "{restitution:11}  {:9.2} ({low:4.1})  {:13.2} ({high:4.1})  ({bullet:4.1})  {:7.3}, {:.3} m of {:.3} m",
            deepest[0],
            deepest[1],
            tops[0],
            tops[1],
            restitution * restitution
        );
        assert!(deepest[0] < low && deepest[1] < high, "{deepest:?}");
        // The ball rises to c² of the metre, up to the 22 mm that the last step before impact can
        // add or remove.
        let off = tops.map(|top| (top - restitution * restitution).abs());
        assert!(off[0] < 0.025 && off[1] < 0.025, "{tops:?}");
    }
    scene::table("08_bouncing_ball.csv", &rows)
}
