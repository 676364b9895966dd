//! Bodies that move by themselves: a mug and a few balls fall on a slope and come to rest.
//!
//! `cargo run --release -p touchfield-dynamics --example 21_dynamics`
#![allow(clippy::print_stdout, reason = "an example talks")]

use std::ops::ControlFlow;

use touchfield::ShapeSettings;
use touchfield::glam::{DQuat, DVec3, Vec3};
use touchfield::mesh::generate::{Mug, mug};
use touchfield::open::MadeShape;
use touchfield::shape::Convex;
use touchfield_dynamics::{BodySettings, Frame, Geometry, Mass, World, WorldError, WorldSettings};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A concave body from a mesh; its mass follows from its triangles.
    let mesh = mug(Mug::default())?;
    let made = MadeShape::from_mesh(&mesh, &ShapeSettings::with_nodes(64), &|_| {
        ControlFlow::Continue(())
    })?;
    let clay = Mass::of(&made.mass()?, 2400.0);
    let mut world = World::new(WorldSettings::default())?;
    world.add(BodySettings {
        pose: Frame {
            rotation: DQuat::from_rotation_y(0.1),
            translation: DVec3::ZERO,
        },
        ..BodySettings::fixed(Geometry::half_space(Vec3::Z)?)
    })?;
    let mug = world.add(BodySettings {
        pose: Frame::at(DVec3::new(0.0, 0.0, 0.02)),
        ..BodySettings::new(made.shape.into(), clay)
    })?;
    // Balls that fall into it.
    for number in 0..3 {
        add_ball(
            &mut world,
            DVec3::new(0.0, 0.0, 0.15 + 0.05 * f64::from(number)),
        )?;
    }
    println!("time  height of the mug  energy   contacts  deepest");
    for _ in 0..8 {
        for _ in 0..250 {
            world.step()?;
        }
        println!(
            "{:.2} s  {:>10.2} mm  {:>9.2} mJ  {:>6}  {:>8.2} µm",
            world.time(),
            1e3 * world.bodies()[mug].pose().translation.z,
            1e3 * world.energy().total(),
            world.contact_count(),
            1e6 * world.take_deepest(),
        );
    }
    Ok(())
}

fn add_ball(world: &mut World, place: DVec3) -> Result<usize, Box<dyn std::error::Error>> {
    let glass = Geometry::convex(Convex::sphere(0.012)?)?;
    let added: Result<usize, WorldError> = world.add(BodySettings {
        pose: Frame::at(place),
        ..BodySettings::new(glass, Mass::ball(0.018, 0.012))
    });
    Ok(added?)
}
