//! From two meshes to contacts: where they touch, the few contacts that matter, and how far apart
//! they are, with a proof.
//!
//! `cargo run -p touchfield --example 04_contact`
#![allow(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;

use touchfield::field::primitive::{Cuboid, Sphere};
use touchfield::glam::Vec3;
use touchfield::manifold::{ManifoldSettings, ReduceSettings};
use touchfield::mesh::generate::{Icosphere, icosphere};
use touchfield::narrow::{CollideSettings, SeparationSettings};
use touchfield::{Pose, Query, Shape, ShapeSettings};

fn main() -> Result<(), Box<dyn Error>> {
    // Two balls of 1 m whose centres are 1.9 m apart: 0.1 m deep. `Shape::open` takes a file instead.
    let mesh = icosphere(Icosphere {
        radius: 1.0,
        level: 4,
    })?;
    let ball = Shape::from_mesh(&mesh, &ShapeSettings::with_nodes(32))?;
    let a_from_b = Pose::from_translation(Vec3::new(1.9, 0.0, 0.0));

    // Buffers are the query's, and reused from call to call.
    let mut query = Query::default();
    let settings = CollideSettings::default();
    let found = query.contacts_with(&ball, &ball, a_from_b, &settings)?;
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

    // A solver needs a few: those that together resist what all of them do.
    let few = ManifoldSettings {
        reduce: ReduceSettings {
            max_contacts: 4,
            ..Default::default()
        },
        ..Default::default()
    };
    let manifold = query.manifold_with(&ball, &ball, a_from_b, &settings, &few)?;
    println!("{} of them are enough", manifold.kept().len());
    assert!((1..=4).contains(&manifold.kept().len()));

    // One number for apart and overlapping, and bounds that hold whatever the errors of the fields.
    let to_within = SeparationSettings::to_within(0.01);
    let apart = query.separation_with(&ball, &ball, a_from_b, &to_within)?;
    println!(
        "separation {:.4} m, proven between {:.4} and {:.4} m",
        apart.separation, apart.lower_bound, apart.upper_bound
    );
    assert!(apart.lower_bound <= -0.1 && -0.1 <= apart.upper_bound);

    // Closed forms need no mesh and no points, and their bracket is as narrow as you ask.
    let floor = Shape::new(Cuboid::new(Vec3::new(2.0, 2.0, 0.5))?);
    let ball = Shape::new(Sphere::new(0.25)?);
    let a_from_b = Pose::from_translation(Vec3::new(0.3, 0.2, 1.0));
    let to_within = SeparationSettings::to_within(1e-3);
    let apart = query.separation_with(&floor, &ball, a_from_b, &to_within)?;
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
