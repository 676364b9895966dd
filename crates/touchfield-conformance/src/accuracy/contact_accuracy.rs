//! Error of the deepest contact of every method against the closed form: the table of contacts in
//! docs/ACCURACY.md.
//!
//! Input: none; a ball against every solid with a closed form, in random poses from fixed seeds.
//! Output: Markdown.
//! Cost: seconds.
//! Not for: pairs without a closed form, which the tests of the methods search in `f64`.

use std::fmt::Write;
use std::sync::Arc;

use touchfield::bake::pointshell::{ShellDensity, ShellSettings, shell_of_field};
use touchfield::bake::surface_of_mesh;
use touchfield::contact::Contact;
use touchfield::field::primitive::Sphere;
use touchfield::mesh::generate::{Icosphere, icosphere};
use touchfield::narrow::{
    CollideSettings, ContactMethod, Contacts, FaceDescent, Pair, Particles, Scratch, Subdivision,
    collide,
};
use touchfield::shape::Shape;

use crate::contact_truth::{BallContact, Place, SOLIDS, Solid, ball_contact};
use crate::random::Random;

type Problem = Box<dyn std::error::Error>;

/// Radius of the ball, A \[m\].
const RADIUS: f64 = 0.5;
/// Number of poses per pair.
const POSES: usize = 100;
/// Separations to test \[m\].
const SEPARATIONS: [f64; 2] = [-0.15, 0.1];
/// Points of the ball's shell.
const POINTS: u32 = 20_000;

/// Returns the section of docs/ACCURACY.md.
pub fn section() -> Result<String, Problem> {
    let (rows, covering_radius) = measured()?;
    let covering = format!("{:.1} mm", 1e3 * covering_radius);
    let mut text = INTRODUCTION.replace("COVERING", &covering);
    text += "\n| model | method | separation error [m] | depth error [m] | normal error [degrees] | point error [m] | missed |\n|---|---|---|---|---|---|---|\n";
    for row in rows {
        let Row {
            pair,
            method,
            worst,
            missed,
        } = row;
        let written = |error: Option<f64>| error.map_or("–".to_owned(), |e| format!("{e:.1e}"));
        let [separation, depth, normal, point] = worst.map(written);
        writeln!(
            text,
            "| {pair} | {method} | {separation} | {depth} | {normal} | {point} | {missed} |"
        )?;
    }
    Ok(text)
}

const INTRODUCTION: &str = "
## Contacts

A ball of 0.5 m against bodies about a metre in size, in 100 random poses per pair, from 0.15 m deep
to 0.1 m apart. Errors are the worst of the deepest contact, compared with the closed form in `f64`.
*Separation* is the error for bodies that are apart, *depth* for bodies that overlap. Shell methods
use points on the ball with a covering radius of COVERING: point and normal can be off by that much,
and the depth by its square. Faces are those of an icosphere of 20,480. Boxes are halved a fixed
number of times; only `separation` continues until a tolerance is reached. At an edge of the box
either face may give the normal; the other one is 90 degrees off. Particles may arrive anywhere on
the intersection, so the deepest of them need not be the deepest contact. *Missed* counts poses
without a result, among those in contact or less than 0.1 m apart.
";

/// Result of one pair and method.
struct Row {
    pair: &'static str,
    method: &'static str,
    /// Worst errors of separation, depth, normal and point; `None` where no pose had such a
    /// contact.
    worst: [Option<f64>; 4],
    missed: usize,
}

/// Returns the measured rows and the covering radius of the ball's shell \[m\].
fn measured() -> Result<(Vec<Row>, f32), Problem> {
    let field = Sphere::new(RADIUS as f32)?;
    let settings = ShellSettings {
        density: ShellDensity::Points(POINTS),
        ..Default::default()
    };
    let shell = shell_of_field(&field, 0.02, &settings)?;
    let covering_radius = shell.covering_radius();
    let mesh = icosphere(Icosphere {
        radius: RADIUS,
        level: 5,
    })?;
    let ball = Shape::new(field)
        .with_shell(Arc::new(shell))
        .with_surface(Arc::new(surface_of_mesh(&mesh)?));
    let methods = [
        ContactMethod::PointSamples,
        ContactMethod::ShellTraversal,
        ContactMethod::ShellSegments(64),
        ContactMethod::Separation,
        ContactMethod::OctreeSubdivision(Subdivision::default()),
        ContactMethod::ProjectionParticles(Particles::default()),
        ContactMethod::FaceDescent(FaceDescent::default()),
    ];
    let (mut scratch, mut out) = (Scratch::default(), Contacts::default());
    let mut rows = Vec::new();
    for solid in SOLIDS {
        let other = solid.shape();
        let cases = cases(solid)?;
        for method in methods {
            let settings = CollideSettings {
                method,
                max_separation: SEPARATIONS[1] as f32,
                ..Default::default()
            };
            let mut row = Row {
                pair: name(solid),
                method: method.name(),
                worst: [None; 4],
                missed: 0,
            };
            for (place, truth) in &cases {
                let pair = Pair {
                    a: &ball,
                    b: &other,
                    a_from_b: place.pose(),
                };
                collide(&pair, &settings, &mut scratch, &mut out)?;
                match out.contacts.first() {
                    Some(&contact) => row.add(contact, truth),
                    None => row.missed += 1,
                }
            }
            rows.push(row);
        }
    }
    Ok((rows, covering_radius))
}

impl Row {
    fn add(&mut self, contact: Contact, truth: &BallContact) {
        let separation = (f64::from(contact.separation) - truth.separation).abs();
        let cosine = contact.normal.as_dvec3().dot(truth.normal);
        let sine = contact.normal.as_dvec3().cross(truth.normal).length();
        let normal = sine.atan2(cosine).to_degrees();
        let point = contact.point.as_dvec3().distance(truth.point);
        let which = if truth.separation > 0.0 { 0 } else { 1 };
        for (index, error) in [(which, separation), (2, normal), (3, point)] {
            let worst = self.worst[index].unwrap_or(0.0);
            self.worst[index] = Some(worst.max(error));
        }
    }
}

/// Returns poses with a contact that has a closed form.
fn cases(solid: Solid) -> Result<Vec<(Place, BallContact)>, Problem> {
    let mut random = Random::new(31);
    let ball = Solid::Ball { radius: RADIUS };
    let [deep, apart] = SEPARATIONS;
    // About one pose in five has such a contact.
    let places = (0..1000 * POSES).map(|_| Place::random(ball, solid, &mut random));
    let contacts = places.filter_map(|place| {
        let contact = ball_contact(RADIUS, solid, place)?;
        let wanted = deep < contact.separation && contact.separation < apart;
        wanted.then_some((place, contact))
    });
    let cases: Vec<_> = contacts.take(POSES).collect();
    match cases.len() {
        POSES => Ok(cases),
        few => Err(format!("{few} poses with a contact of {solid:?}, not {POSES}").into()),
    }
}

fn name(solid: Solid) -> &'static str {
    match solid {
        Solid::Ball { .. } => "ball",
        Solid::Box { .. } => "box",
        Solid::Capsule { .. } => "capsule",
        Solid::Ring { .. } => "ring",
        Solid::HalfSpace => "half-space",
    }
}
