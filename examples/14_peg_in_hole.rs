//! A peg of 19.9 mm diameter in a hole of 20 mm: it slides down under its weight, tilts no more
//! than the play allows, and stands on the ground.
//!
//! Output: steps until arrival, final height, greatest depth, sideways offset and tilt, a picture
//! and a chart.
//!
//! `cargo run -p touchfield-rapier --example 14_peg_in_hole [-- --out FOLDER]`
#![allow(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;

use glam::Vec3;
use touchfield::field::Difference;
use touchfield::field::primitive::{Cuboid, Cylinder};
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{FieldShape, Settings};

mod scene;

/// Radius of the hole, and the difference between it and the radius of the peg \[m\].
const HOLE: f32 = 0.010;
const PLAY: f32 = 0.000_05;
/// Half-height of the block and of the peg \[m\].
const HALF: f32 = 0.02;

fn main() -> Result<(), Box<dyn Error>> {
    // Analytic fields: a grid would need cells as fine as the play.
    let block = Difference {
        first: Cuboid::new(Vec3::new(0.02, 0.02, HALF))?,
        second: Cylinder::new(2.0 * HALF, HOLE)?,
    };
    let block_shape = FieldShape::from_field(block, Settings::default())?;
    let peg_shape = FieldShape::from_field(Cylinder::new(HALF, HOLE - PLAY)?, Settings::default())?;

    // Steps as for bodies half as large: the play is a four-hundredth of the hole.
    let (mut world, fields) = scene::world(0.01);
    // The block stands on the floor, fixed.
    let floor = SharedShape::halfspace(Vector::Z);
    world.insert(RigidBodyBuilder::fixed(), ColliderBuilder::new(floor));
    let standing = RigidBodyBuilder::fixed().translation(Vector::Z * HALF);
    let (block, _) = world.insert(
        standing,
        ColliderBuilder::new(block_shape.shared()).friction(0.1),
    );
    // The tip starts 5 mm inside the hole, offset by half the play and tilted as far as fits.
    let start = Vector::new(0.5 * PLAY, 0.0, 3.0 * HALF - 0.005);
    let peg_at = RigidBodyBuilder::dynamic()
        .translation(start)
        .rotation(Vector::Y * 0.001);
    let (peg, _) = world.insert(
        peg_at,
        ColliderBuilder::new(peg_shape.shared())
            .density(7800.0)
            .friction(0.1),
    );

    // Let the peg slide down, and record how far it shifts and tilts in the hole.
    let (begin, mut record) = (std::time::Instant::now(), scene::Record::default());
    let (mut aside, mut askew) = (0.0, 0.0);
    let steps = scene::steps(&world, 0.5);
    let mut arrived = None;
    for step in 0..steps {
        world.step();
        let at = world.bodies[peg].position();
        record.note(&world);
        let axis = at.rotation * Vector::Z;
        // Measured once the peg is halfway in.
        if at.translation.z < 2.0 * HALF {
            askew = Real::max(askew, axis.x.hypot(axis.y));
            aside = Real::max(aside, at.translation.x.hypot(at.translation.y));
        }
        if arrived.is_none() && at.translation.z < HALF + 0.0001 {
            arrived = Some(step);
        }
    }
    let height = world.bodies[peg].translation().z;
    println!(
        "{steps} steps, {:.2} ms each: arrives after {:?} steps, stands {:+.3} mm off the ground; at most {:.3} mm deep, {:.3} mm aside (play 0.05), {:.4} rad askew",
        1e3 * begin.elapsed().as_secs_f64() / steps as f64,
        arrived,
        1e3 * (height - HALF),
        1e3 * record.deepest(),
        1e3 * aside,
        askew
    );
    assert!((height - HALF).abs() < 0.000_1, "it stands on the ground");
    assert!(aside < 2.0 * PLAY, "it never leaves the hole sideways");
    assert!(askew < 0.02, "nor jams");
    assert!(fields.take_counts().is_clean());

    let mut picture = scene::Picture::new("14_peg_in_hole").seen_from(-60, 45);
    picture.add("block", &block_shape, block);
    picture.add("peg", &peg_shape, peg);
    record.write("14_peg_in_hole", Vec::new())?;
    picture.write(&world)
}
