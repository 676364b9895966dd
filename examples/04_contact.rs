//! From two shapes to contacts: where they touch, the few contacts that matter, and how far apart they are, with a proof.
//!
//! `cargo run -p touchfield --example 04_contact`
#![allow(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;
use std::sync::Arc;

use glam::Vec3;
use touchfield::bake::pointshell::{ShellDensity, ShellSettings, shell_of_mesh};
use touchfield::bake::{BakeSettings, Resolution, bake};
use touchfield::field::primitive::{Cuboid, Sphere};
use touchfield::geom::Pose;
use touchfield::manifold::{ReduceScratch, ReduceSettings, Reduced, reduce};
use touchfield::mesh::TriangleMesh;
use touchfield::mesh::generate::{Icosphere, icosphere};
use touchfield::narrow::{
    CollideSettings, Contacts, Pair, Scratch, SeparationScratch, SeparationSettings, collide,
    separation,
};
use touchfield::shape::Shape;

/// A field of the mesh, and points on its faces for the methods that want them.
fn shape(mesh: &TriangleMesh) -> Result<Shape, Box<dyn Error>> {
    let settings = BakeSettings {
        resolution: Resolution::Nodes(32),
        ..Default::default()
    };
    let grid = bake(mesh, &settings)?.field;
    let shell_settings = ShellSettings {
        density: ShellDensity::Spacing(grid.layout().cell_size),
        ..Default::default()
    };
    let shell = shell_of_mesh(mesh, &grid, &shell_settings)?;
    Ok(Shape::stored(Arc::new(grid.into())).with_shell(Arc::new(shell)))
}

fn main() -> Result<(), Box<dyn Error>> {
    // Two balls of 1 m whose centres are 1.9 m apart: 0.1 m deep.
    let ball = shape(&icosphere(Icosphere {
        radius: 1.0,
        level: 4,
    })?)?;
    let pair = Pair {
        a: &ball,
        b: &ball,
        a_from_b: Pose::from_translation(Vec3::new(1.9, 0.0, 0.0)),
    };

    // Buffers are yours, and reused from call to call.
    let (mut scratch, mut found) = (Scratch::default(), Contacts::default());
    collide(&pair, &CollideSettings::default(), &mut scratch, &mut found)?;
    let Some(deepest) = found.contacts.first() else {
        return Err("the balls overlap, so there are contacts".into());
    };
    println!(
        "{} contacts by {}, the deepest {:.4} m at {}",
        found.contacts.len(),
        found.method.name(),
        deepest.separation,
        deepest.point
    );
    // Normals go from A to B. A point of a shell is at most a cell from where the balls are deepest.
    assert!(deepest.normal.x > 0.99);
    assert!((deepest.separation - -0.1).abs() < 0.01);

    // A solver wants a few: those that together resist what all of them do.
    let (mut buffers, mut reduced) = (ReduceScratch::default(), Reduced::default());
    let few = ReduceSettings {
        max_contacts: 4,
        ..Default::default()
    };
    reduce(&found.contacts, &[], &few, &mut buffers, &mut reduced)?;
    println!("{} of them are enough", reduced.kept.len());
    assert!((1..=4).contains(&reduced.kept.len()));

    // One number for apart and overlapping, and bounds that hold whatever the errors of the fields.
    let settings = SeparationSettings::to_within(0.01);
    let apart = separation(&pair, &settings, &mut SeparationScratch::default())?;
    println!(
        "separation {:.4} m, proven between {:.4} and {:.4} m",
        apart.separation, apart.lower_bound, apart.upper_bound
    );
    assert!(apart.lower_bound <= -0.1 && -0.1 <= apart.upper_bound);

    // Closed forms need no mesh and no points, and their bracket is as narrow as you ask.
    let (floor, ball) = (
        Shape::new(Cuboid::new(Vec3::new(2.0, 2.0, 0.5))?),
        Shape::new(Sphere::new(0.25)?),
    );
    let pair = Pair {
        a: &floor,
        b: &ball,
        a_from_b: Pose::from_translation(Vec3::new(0.3, 0.2, 1.0)),
    };
    let settings = SeparationSettings::to_within(1e-3);
    let apart = separation(&pair, &settings, &mut SeparationScratch::default())?;
    println!(
        "a ball over a floor: {:.4} to {:.4} m, from {} to {}",
        apart.lower_bound, apart.upper_bound, apart.point_on_a, apart.point_on_b
    );
    assert!(apart.lower_bound <= 0.25 && 0.25 <= apart.upper_bound);
    assert!(apart.upper_bound - apart.lower_bound < 2e-3);
    assert!(apart.normal.z > 0.99, "from the floor up to the ball");
    assert!(ball.field().error_bound() < 1e-6);
    Ok(())
}
