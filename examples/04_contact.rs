//! Contact between two shapes: the contact points, a reduced manifold for a solver, and the
//! separation with proven bounds.
//!
//! Input: two meshes and their relative pose `a_from_b`; then two analytic shapes.
//! Output: contacts sorted by depth, the contacts worth keeping, and a bracketed separation \[m\].
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
    // Two balls of radius 1 m, centres 1.9 m apart: 0.1 m deep. `Shape::open` reads a file instead.
    let mesh = icosphere(Icosphere {
        radius: 1.0,
        level: 4,
    })?;
    let ball = Shape::from_mesh(&mesh, &ShapeSettings::with_nodes(32))?;
    let a_from_b = Pose::from_translation(Vec3::new(1.9, 0.0, 0.0));

    // The query owns its buffers and reuses them from call to call.
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
    // Normals point from A to B. The shell point found is at most one cell from the deepest point.
    assert!(deepest.normal.x > 0.99);
    assert!((deepest.separation - -0.1).abs() < 0.01);

    // A solver needs only the few contacts that together resist the same wrenches as all of them.
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

    // One signed value for separated and overlapping bodies, with bounds that include the errors of
    // the fields.
    let to_within = SeparationSettings::to_within(0.01);
    let apart = query.separation_with(&ball, &ball, a_from_b, &to_within)?;
    println!(
        "separation {:.4} m, proven between {:.4} and {:.4} m",
        apart.separation, apart.lower_bound, apart.upper_bound
    );
    assert!(apart.lower_bound <= -0.1 && -0.1 <= apart.upper_bound);

    // Analytic shapes need no mesh and no shell points; the bracket narrows to the tolerance given.
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
