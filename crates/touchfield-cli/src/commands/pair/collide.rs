//! `touchfield collide`: where two bodies touch, and how deep.

use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use glam::Vec3;
use serde_json::{Value, json};
use touchfield::contact::{Contact, PenaltyWrench, Wrench};
use touchfield::geom::Tolerance;
use touchfield::manifold::{ReduceScratch, ReduceSettings, Reduced, reduce};
use touchfield::narrow::{
    CollideSettings, ContactMethod, Contacts, FaceDescent, Outcome, Particles, Scratch,
    Subdivision, WrenchSettings, collide, sharpen,
};
use touchfield::open::mass_of_field;
use touchfield::shape::Shape;

use crate::args::{Common, Length};
use crate::failure::Failure;
use crate::input::frames::Frames;
use crate::input::pair::{Bodies, Placed};
use crate::report::{self, Answer, Facts};

/// Maximum number of contacts in the text; the JSON contains all of them.
const SHOWN: usize = 10;

/// Find where two bodies touch, and how deep
#[derive(Args)]
#[command(after_help = "\
Examples:
  touchfield collide bolt.tfs nut.tfs --b-in-a 0,0,0.02,0,0,0,1
  touchfield collide a.stl b.stl --b-in-a 0,0,0.05,0,0,0,1 --max-separation 1mm --json
  touchfield collide bolt.tfs nut.tfs --b-in-a 0,0,0.02,0,0,0,1 --keep 8
  touchfield collide a.stl b.stl --b-in-a 0,0,0.05,0,0,0,1 --convex
  touchfield collide part.tfs fixture.tfs --b-in-a 0,0,0,0,0,0,1 --fail-on-contact && echo free
  touchfield collide ball.tfs floor.tfs --b-in-a 0,0,-0.02,0,0,0,1 --stiffness 1e9

Contacts are in the frame of A, deepest first: a point midway between the two surfaces, a unit
normal from A to B, and the separation there, negative where the bodies overlap.

The wrench is the force and torque on B of a pressure that grows with depth: every point of either
surface that is inside the other body presses on the area that it represents, by --stiffness times
its depth, along the gradient of the other body's field. Where both bodies have points, each surface
counts half. The torque is about B's centre of mass. With shell-segments it is also given per
segment.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    bodies: Bodies,
    #[command(flatten)]
    placed: Placed,
    #[command(flatten)]
    search: Search,
    /// Keep at most this many contacts: those that together resist forces and torques best, always
    /// including the deepest
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    keep: Option<u16>,
    /// Stiffness of the wrench in Pa/m: pressure on the surface per depth
    #[arg(long, value_name = "K", default_value = "1", value_parser = parse_stiffness)]
    stiffness: f32,
    /// Exit with code 1 if there is a contact
    #[arg(long)]
    fail_on_contact: bool,
}

/// Options of the contact search.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Search {
    /// How contacts are found; auto chooses by kind and size of the bodies, and reports its choice
    #[arg(long, value_enum, value_name = "M", default_value_t)]
    method: MethodName,
    /// Also report places that are up to this far apart, such as 1mm, not only contacts
    #[arg(
        long,
        value_name = "D",
        default_value = "0",
        allow_hyphen_values = true
    )]
    max_separation: Length,
    /// Time budget in microseconds, after which a coarser answer is returned rather than a late one
    #[arg(long, value_name = "US", value_parser = clap::value_parser!(u64).range(1..))]
    budget: Option<u64>,
}

/// Names of contact methods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodName {
    /// chosen by kind and size of the bodies
    #[default]
    Auto,
    /// every point of one surface against the field of the other
    PointSamples,
    /// a sphere tree over the points of one surface against the field of the other
    ShellTraversal,
    /// the deepest point of each of 16 segments of one surface
    ShellSegments,
    /// the sphere tree of each shell against the field of the other
    BothShells,
    /// one contact, at the place that determines the separation
    Separation,
    /// boxes subdivided where both bodies may be
    OctreeSubdivision,
    /// particles projected onto the surface of the intersection
    ProjectionParticles,
    /// the deepest point of every face of a mesh, by descent; needs bodies given as meshes, or
    /// baked with their faces
    FaceDescent,
    /// the corners of the region where two convex bodies touch; needs --convex
    Convex,
}

impl Search {
    pub(crate) fn settings(&self) -> CollideSettings {
        CollideSettings {
            method: match self.method {
                MethodName::Auto => ContactMethod::Auto,
                MethodName::PointSamples => ContactMethod::PointSamples,
                MethodName::ShellTraversal => ContactMethod::ShellTraversal,
                MethodName::BothShells => ContactMethod::BothShells,
                MethodName::ShellSegments => ContactMethod::ShellSegments(16),
                MethodName::Separation => ContactMethod::Separation,
                MethodName::OctreeSubdivision => {
                    ContactMethod::OctreeSubdivision(Subdivision::default())
                }
                MethodName::ProjectionParticles => {
                    ContactMethod::ProjectionParticles(Particles::default())
                }
                MethodName::FaceDescent => ContactMethod::FaceDescent(FaceDescent::default()),
                MethodName::Convex => ContactMethod::Convex,
            },
            max_separation: self.max_separation.0 as f32,
            budget: self.budget.map(Duration::from_micros),
            ..CollideSettings::default()
        }
    }
}

/// Reduces contacts of bodies of this size \[m\] to at most `count`: those that together resist
/// forces and torques best, in their previous order (deepest first).
pub(crate) fn keep(count: usize, size: f32, contacts: &mut Vec<Contact>) -> Result<(), Failure> {
    let settings = ReduceSettings {
        max_contacts: count,
        tolerance: Tolerance::for_size(size),
        ..Default::default()
    };
    let (mut scratch, mut reduced) = (ReduceScratch::default(), Reduced::default());
    reduce(contacts, &[], &settings, &mut scratch, &mut reduced)
        .map_err(|error| Failure::BadInput(error.to_string()))?;
    reduced.kept.sort_unstable();
    let kept = reduced.kept.iter().map(|&index| contacts[index as usize]);
    *contacts = kept.collect();
    Ok(())
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Answer, Failure> {
    let mut settings = arguments.search.settings();
    arguments.bodies.check(&settings)?;
    let shapes = arguments.bodies.load(common)?;
    let pair = shapes.at(&arguments.placed.b_in_a);
    if pair.a.shell().is_some() || pair.b.shell().is_some() {
        settings.wrench = Some(WrenchSettings {
            stiffness: arguments.stiffness,
            about: center_of_mass(pair.b).map(|center| pair.a_from_b.transform_point(center)),
            ..WrenchSettings::default()
        });
    }
    let (mut scratch, mut found) = (Scratch::default(), Contacts::default());
    let start = Instant::now();
    collide(&pair, &settings, &mut scratch, &mut found).map_err(|e| shapes.failure(&e))?;
    if let Some(count) = arguments.keep {
        keep(count.into(), shapes.smaller_diagonal(), &mut found.contacts)?;
        if found.method.is_by_shell() {
            for contact in &mut found.contacts {
                *contact = sharpen(&pair, *contact);
            }
        }
    }
    let microseconds = start.elapsed().as_secs_f64() * 1e6;
    let answer = answer(&found, &shapes.frames, arguments.stiffness, microseconds);
    if arguments.fail_on_contact && !found.contacts.is_empty() {
        return Err(Failure::Contact(Box::new(answer)));
    }
    if arguments.fail_on_contact && found.outcome != Outcome::Complete {
        return Err(Failure::Limit(
            "the search was cut short before it found a contact, which proves nothing; raise --budget or leave it out"
                .to_owned(),
        ));
    }
    Ok(answer)
}

fn answer(found: &Contacts, frames: &Frames, stiffness: f32, microseconds: f64) -> Answer {
    let mut facts = Facts::default();
    facts.add("contacts", report::count_of(found.contacts.len()));
    if let Some(deepest) = found.contacts.first() {
        facts.add("deepest", report::length(deepest.separation));
    }
    if let Some(PenaltyWrench { wrench, .. }) = found.wrench.filter(|found| found.points > 0) {
        let at = format!("at {} Pa/m", report::digits(stiffness.into()));
        facts.add("force", format!("{} N {at}", vector(wrench.force)));
        let about = frames.point(wrench.about);
        facts.add(
            "torque",
            format!("{} N·m about {about} m", vector(wrench.torque)),
        );
    }
    facts.add("method", found.method.name());
    match found.outcome {
        Outcome::Complete => {}
        Outcome::OutOfTime { levels, of } => facts.add(
            "note",
            format!("out of time after {levels} of {of} levels of the tree"),
        ),
        Outcome::TooManyBoxes { levels, of } => facts.add(
            "note",
            format!("too many boxes after {levels} of {of} levels; the contacts are those of larger boxes"),
        ),
    }
    facts.add("time", format!("{microseconds:.0} µs"));
    let rows: Vec<Vec<String>> = (found.contacts.iter().take(SHOWN))
        .map(|contact| {
            vec![
                report::length(contact.separation),
                frames.point(contact.point),
                report::point(contact.normal),
                contact.id.0.to_string(),
            ]
        })
        .collect();
    let mut text = facts.text();
    if !rows.is_empty() {
        text += "\n";
        text += &report::table(&[">separation", "point [m]", "normal", ">id"], &rows);
    }
    let more = found.contacts.len().saturating_sub(SHOWN);
    if more > 0 {
        text += &format!("  and {} more; --json prints all\n", report::count_of(more));
    }
    let contacts: Vec<Value> = (found.contacts.iter())
        .map(|contact| contact_json(contact, frames))
        .collect();
    let mut json = json!({
        "contacts": contacts,
        "method": found.method.name(),
        "complete": found.outcome == Outcome::Complete,
        "microseconds": microseconds,
    });
    if let Some(penalty) = &found.wrench {
        json["wrench"] = wrench_json(&penalty.wrench, frames);
        json["stiffness"] = report::number(stiffness);
        json["energy"] = json!(penalty.energy);
    }
    if !found.segments.is_empty() {
        let segments = found.segments.iter().map(|segment| {
            let mut json = wrench_json(&segment.penalty.wrench, frames);
            json["depth"] = report::number(segment.penalty.depth);
            json["area"] = report::number(segment.penalty.area);
            json["id"] = json!(segment.deepest.0);
            json
        });
        json["segments"] = segments.collect();
    }
    frames.add_to(&mut json);
    Answer { text, json }
}

fn wrench_json(wrench: &Wrench, frames: &Frames) -> Value {
    json!({
        "force": report::numbers(wrench.force),
        "torque": report::numbers(wrench.torque),
        "about": frames.point_json(wrench.about),
    })
}

/// Formats a force or a torque with four significant digits.
fn vector(of: Vec3) -> String {
    let [x, y, z] = of.to_array().map(|x| report::significant(x.into(), 4));
    format!("({x}, {y}, {z})")
}

/// Returns the centre of mass of a shape in its frame; `None` if it has no volume that could be
/// found.
fn center_of_mass(shape: &Shape) -> Option<Vec3> {
    shape.center_of_mass().or_else(|| {
        let mass = mass_of_field(shape.field()).ok()?;
        Some(mass.center.as_vec3())
    })
}

/// Parses a stiffness in Pa/m.
fn parse_stiffness(text: &str) -> Result<f32, String> {
    match text.trim().parse::<f32>() {
        Ok(stiffness) if stiffness >= 0.0 && stiffness.is_finite() => Ok(stiffness),
        _ => Err(format!(
            "`{text}` is not a stiffness; write Pa/m, such as 1e9"
        )),
    }
}

fn contact_json(contact: &Contact, frames: &Frames) -> Value {
    json!({
        "point": frames.point_json(contact.point),
        "normal": report::numbers(contact.normal),
        "separation": report::number(contact.separation),
        "id": contact.id.0,
    })
}
