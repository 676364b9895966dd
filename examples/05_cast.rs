//! Continuous collision detection: the time of impact of a fast ball on a thin plate, of a nut
//! turning onto its bolt, and the least clearance of a near miss.
//!
//! Input: two shapes and the motion of B in the frame of A over one step.
//! Output: a time of impact with a proven lower bound, or the least separation on the way \[m\].
//!
//! `cargo run -p touchfield --example 05_cast`
#![allow(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;

use glam::Vec3;
use touchfield::field::primitive::{Cuboid, Sphere};
use touchfield::geom::{Motion, Pose};
use touchfield::mesh::TriangleMesh;
use touchfield::mesh::generate::{Bolt, Nut, bolt, nut};
use touchfield::narrow::{CastOutcome, CastSettings, ClearanceSettings};
use touchfield::open::ShellChoice;
use touchfield::{Query, Shape, ShapeSettings};

fn shape(mesh: &TriangleMesh) -> Result<Shape, Box<dyn Error>> {
    let settings = ShapeSettings {
        shell: ShellChoice::None,
        faces: false,
        ..ShapeSettings::with_nodes(64)
    };
    Ok(Shape::from_mesh(mesh, &settings)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    // A ball at 1,000 m/s meets a plate 1 mm thick. The step of 1/60 s would end 16 m beyond the
    // plate.
    let plate = Shape::new(Cuboid::new(Vec3::new(0.5, 0.5, 0.0005))?);
    let ball = Shape::new(Sphere::new(0.01)?);
    let start = Pose::from_translation(Vec3::new(0.1, 0.0, 1.0105));
    let flight = Motion::straight(start, Vec3::new(0.0, 0.0, -1000.0 / 60.0));
    let mut query = Query::default();
    let settings = CastSettings::to_within(1e-4);
    let found = query.cast_with(&plate, &ball, flight, &settings)?;
    println!(
        "{:?} at {:.6} of the step, proven free up to {:.6}, after {} states",
        found.outcome, found.impact.time, found.impact.lower_bound, found.steps
    );
    // The ball touches after 1 m of the 16.7 m.
    let exact = 0.06;
    assert!(found.is_hit() && found.impact.lower_bound <= exact);
    assert!((found.impact.time - exact).abs() < 1e-5);
    assert!(
        found.impact.normal.z > 0.99,
        "from the plate up to the ball"
    );

    // A nut approaches its bolt slightly off axis and turns ten times on the way. The proof covers
    // rotation too.
    let (bolt, nut) = (
        shape(&bolt(Bolt::default())?)?,
        shape(&nut(Nut::default())?)?,
    );
    let above = bolt.solid().max.z - nut.solid().min.z + 0.01;
    let onto = Motion {
        start: Pose::from_translation(Vec3::new(0.002, 0.0, above)),
        center: Vec3::ZERO,
        translation: Vec3::new(0.0, 0.0, -0.02),
        turn: Vec3::new(0.0, 0.0, 10.0 * std::f32::consts::TAU),
    };
    let settings = CastSettings::to_within(1e-5);
    let found = query.cast_with(&bolt, &nut, onto, &settings)?;
    println!(
        "the nut: {:?} at {:.3}, proven free up to {:.3}; the field is off by {:.1e} m at most",
        found.outcome,
        found.impact.time,
        found.impact.lower_bound,
        bolt.field().error_bound()
    );
    // The faces meet halfway. The proof ends where the errors of the fields begin.
    assert!(found.outcome == CastOutcome::Hit && found.impact.lower_bound <= 0.5);
    assert!(found.impact.time > 0.45 && found.impact.time < 0.6);

    // Least clearance of a near miss: the ball flies past the edge of the plate, 5 cm beside it.
    let start = Pose::from_translation(Vec3::new(0.56, 0.0, 1.0));
    let pass = Motion::straight(start, Vec3::new(0.0, 0.0, -2.0));
    let settings = ClearanceSettings::to_within(1e-4);
    let least = query.clearance_with(&plate, &ball, pass, &settings)?;
    println!(
        "the pass: {:.4} m at {:.3}, proven between {:.4} and {:.4} m",
        least.separation, least.time, least.lower_bound, least.upper_bound
    );
    assert!(least.lower_bound <= 0.05 && 0.05 <= least.upper_bound);
    assert!((least.time - 0.5).abs() < 0.01);
    Ok(())
}
