//! Fields without a mesh: analytic solids, CSG operations on them, and the guarantees of each.
//!
//! Output: distances at a few points, and a proof that a box in space is free of the solid.
//!
//! `cargo run -p touchfield --example 02_analytic_and_csg`
#![allow(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;

use glam::{Quat, Vec3};
use touchfield::field::primitive::{Cuboid, Cylinder, Sphere};
use touchfield::field::{Difference, Field, Transformed, Union, Wall};
use touchfield::geom::{Aabb, Pose};

fn main() -> Result<(), Box<dyn Error>> {
    // A block with a cylindrical hole through it, and a hollow ball on top.
    let block = Cuboid::new(Vec3::new(0.5, 0.5, 0.2))?;
    let block_from_drill = Pose {
        rotation: Quat::from_rotation_x(std::f32::consts::FRAC_PI_2),
        translation: Vec3::ZERO,
    };
    let drill = Transformed::new(Cylinder::new(1.0, 0.1)?, block_from_drill, 1.0)?;
    let ball = Wall::new(Sphere::new(0.2)?, 0.02)?;
    let block_from_ball = Pose::from_translation(Vec3::new(0.0, 0.0, 0.4));
    let solid = Union {
        first: Difference {
            first: block,
            second: drill,
        },
        second: Transformed::new(ball, block_from_ball, 1.0)?,
    };

    // A CSG result is a bound, not a distance: its sign is right and its magnitude never exceeds
    // the true distance.
    println!(
        "block: {:?}, error at most {:.1e} m",
        block.meaning(),
        block.error_bound()
    );
    println!(
        "solid: {:?}, error at most {:.1e} m",
        solid.meaning(),
        solid.error_bound()
    );
    let points = [
        ("in the hole", Vec3::ZERO),
        ("in the block", Vec3::new(0.3, 0.3, 0.0)),
        ("in the hollow", Vec3::new(0.0, 0.0, 0.4)),
        ("far away", Vec3::new(5.0, 0.0, 0.0)),
    ];
    for (place, point) in points {
        println!("{place}: {:+.4} m", solid.distance(point));
    }

    // An interval bounds the field over a whole cell: a positive lower end proves that the cell is
    // free.
    let cell = Aabb::from_center(Vec3::new(0.8, 0.0, 0.0), Vec3::splat(0.1));
    let interval = solid.interval(cell);
    println!(
        "over {cell:?}: from {:.4} to {:.4} m",
        interval.lower, interval.upper
    );
    assert!(interval.lower > 0.0, "the cell is free");
    Ok(())
}
