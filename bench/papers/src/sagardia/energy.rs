//! Figure 10 and §4.2.2 of \[Sagardia2014\] in Touchfield's own dynamics: kinetic energy of a bunny
//! dropped onto a plane, and how few steps per second hold it up.
//!
//! Input: a mesh, scaled to 0.2 m, 1 kg, dropped from 0.5 m.
//! Output: a row for each structure and force of Figure 10, and one for each rate and solver.
//! Cost: a bake for each structure; seconds.
//! Not for: Bullet and convex parts; see `bunny` for Rapier.
//!
//! All rows of a table have the same step, stiffness, damping and friction. The paper's plane is a
//! voxmap with voxels of 5 mm; Touchfield's is a half-space.

use std::fmt::Write as _;

use cpu_time::ThreadTime;
use serde_json::{Value, json};
use touchfield::Shape;
use touchfield::bake::Resolution;
use touchfield::glam::{DQuat, DVec3, Vec3};
use touchfield::mass::MassProperties;
use touchfield::mesh::{TriangleMesh, generate};
use touchfield_dynamics::{
    BodySettings, ContactFinder, Frame, Geometry, Mass, Material, Normals, PenaltySettings,
    Response, World, WorldSettings,
};
use touchfield_report::{self as report, Answer};

use super::structures::{Structure, bad};
use super::{FIG10, Fig10};
use crate::host::{Host, Stop};
use crate::model::Model;

/// Longest side of the body \[m\], and the height of its middle at the start \[m\].
const SIZE: f64 = 0.2;
const HEIGHT: f64 = 0.5;
const MASS: f64 = 1.0;
const GRAVITY: f64 = 9.81;
/// Half the width of the paper's plane, its thickness and its voxels \[m\].
const PLANE: f64 = 0.6;
const THICKNESS: f64 = 0.1;
const VOXEL: f64 = 0.005;
/// Points of the coarse bunny.
const POINTS: u32 = 799;
/// Steps per second of Figure 10, and of the table of rates.
const RATE: f64 = 1000.0;
const RATES: [f64; 4] = [200.0, 50.0, 30.0, 10.0];
/// Numbers of segments: levels 1, 4 and 5 of the tree with four children.
const SEGMENTS: [u32; 3] = [1, 64, 256];
/// Kinetic energy below which a body counts as settled, as a share of that of the drop.
const SETTLED: f64 = 1e-4;
/// Energy from which a body counts as thrown up, as a multiple of that of the drop.
const MOST_ENERGY: f64 = 1.1;
/// Moments for which kinetic energies are tabled \[s\].
const MOMENTS: [f64; 4] = [0.5, 1.0, 1.5, 2.0];

const MATERIAL: Material = Material {
    friction: 0.3,
    restitution: 0.0,
    stiffness: 1e8,
    damping: 1e5,
    slip: 1e-3,
};

/// One drop, step by step.
#[derive(Default)]
struct Drop {
    seconds: Vec<f64>,
    kinetic: Vec<f64>,
    total: Vec<f64>,
    depths: Vec<f64>,
    /// CPU time of all steps \[s\].
    cpu: f64,
    /// How the drop failed, if it did. Nothing is simulated after that.
    failure: Option<&'static str>,
}

impl Drop {
    fn deepest(&self) -> f64 {
        self.depths.iter().copied().fold(0.0, f64::max)
    }

    /// Returns the kinetic energy at a moment, averaged over the tenth of a second before it.
    fn kinetic_at(&self, moment: f64) -> f64 {
        let near = |at: &f64| *at <= moment + 1e-9 && *at > moment - 0.1;
        let found = self.seconds.iter().zip(&self.kinetic);
        let found: Vec<f64> = found
            .filter(|pair| near(pair.0))
            .map(|pair| *pair.1)
            .collect();
        found.iter().sum::<f64>() / found.len().max(1) as f64
    }

    /// Returns the moment after which the kinetic energy stays below `limit` \[s\].
    fn settled(&self, limit: f64) -> Option<f64> {
        let last = self.kinetic.iter().rposition(|&energy| energy > limit)?;
        self.seconds.get(last + 1).copied()
    }
}

struct Body {
    structure: Structure,
    shape: Shape,
    floor: BodySettings,
    points: usize,
}

impl Body {
    fn new(structure: Structure, mesh: &TriangleMesh) -> Result<Body, Stop> {
        let shape = structure.bake(mesh, POINTS, Resolution::Nodes(129))?;
        let floor = match structure {
            Structure::Ours | Structure::Defaults => {
                let ground = Geometry::half_space(Vec3::Z).map_err(|error| bad(&error))?;
                BodySettings::fixed(ground)
            }
            _ => {
                let slab = generate::cuboid(generate::Cuboid {
                    half_extents: DVec3::new(PLANE, PLANE, 0.5 * THICKNESS),
                    subdivisions: [1; 3],
                });
                let slab = slab.map_err(|error| bad(&error))?;
                let slab = structure.bake(&slab, 0, Resolution::CellSize(VOXEL))?;
                BodySettings {
                    pose: Frame::at(DVec3::new(0.0, 0.0, -0.5 * THICKNESS)),
                    ..BodySettings::fixed(Geometry::from(slab))
                }
            }
        };
        let points = shape.shell().map_or(0, |shell| shell.points().len());
        Ok(Body {
            structure,
            shape,
            floor,
            points,
        })
    }
}

fn drop(
    body: &Body,
    mesh: &TriangleMesh,
    mass: &Mass,
    (settings, material): (WorldSettings, Material),
    seconds: f64,
) -> Result<Drop, Stop> {
    let mut world = World::new(WorldSettings {
        gravity: DVec3::new(0.0, 0.0, -GRAVITY),
        sleeping: false,
        ..settings
    })
    .map_err(|error| bad(&error))?;
    let mut floor = body.floor.clone();
    floor.material = material;
    world.add(floor).map_err(|error| bad(&error))?;
    let turned = DVec3::new(1.3_f64.sin(), 2.1_f64.cos(), 1.0_f64.sin()) * 2.0;
    let falling = BodySettings {
        material,
        pose: Frame {
            rotation: DQuat::from_scaled_axis(turned),
            translation: DVec3::new(0.0, 0.0, HEIGHT),
        },
        ..BodySettings::new(Geometry::from(body.shape.clone()), *mass)
    };
    let falling = world.add(falling).map_err(|error| bad(&error))?;
    let mut drop = Drop::default();
    let steps = (seconds / settings.step).round() as u32;
    for _ in 0..steps {
        let clock = ThreadTime::now();
        let stepped = world.step();
        drop.cpu += clock.elapsed().as_secs_f64();
        if stepped.is_err() {
            drop.failure = Some("not finite");
            break;
        }
        let energy = world.energy();
        drop.seconds.push(world.time());
        drop.kinetic.push(energy.kinetic);
        drop.total.push(energy.total());
        let pose = world.bodies()[falling].pose();
        let up = pose.rotation.conjugate() * DVec3::Z;
        let heights = mesh.vertices.iter().map(|vertex| vertex.dot(up));
        let lowest = heights.fold(f64::INFINITY, f64::min) + pose.translation.z;
        drop.depths.push(-lowest);
        // Through the plane, or away from it with more energy than it had.
        if -lowest > 0.5 * SIZE {
            drop.failure = Some("falls through");
            break;
        }
        if energy.total() > MOST_ENERGY * MASS * GRAVITY * HEIGHT {
            drop.failure = Some("thrown up");
            break;
        }
    }
    Ok(drop)
}

/// Returns a mesh of the size and place that is dropped, and its mass.
fn load(arguments: &Fig10, host: &dyn Host) -> Result<(Model, Mass), Stop> {
    let mut model = Model::load(
        arguments.bunny.model.as_deref(),
        arguments.bunny.units,
        host,
    )?;
    let bounds = model.mesh.bounds();
    let scale = SIZE / bounds.extents().max_element();
    let middle = bounds.center();
    for vertex in &mut model.mesh.vertices {
        *vertex = scale * (*vertex - middle);
    }
    let properties = MassProperties::of_triangles(model.mesh.triangles());
    let properties = properties.map_err(|error| bad(&error))?;
    let mass = Mass::of(&properties, MASS / properties.volume);
    Ok((model, mass))
}

pub(crate) fn run(arguments: &Fig10, host: &dyn Host) -> Result<Answer, Stop> {
    if !(arguments.seconds >= 0.5 && arguments.seconds <= 60.0) {
        let seconds = arguments.seconds;
        return Err(Stop::BadInput(format!(
            "--seconds is {seconds}; take from 0.5 to 60"
        )));
    }
    let outs = [&arguments.out, &arguments.out_rates, &arguments.out_curves];
    for out in outs.into_iter().flatten() {
        host.check_text(out, "csv", &[])?;
    }
    let (model, mass) = load(arguments, host)?;
    let mesh = &model.mesh;
    let bodies: Vec<Body> = (Structure::ALL.into_iter())
        .map(|structure| Body::new(structure, mesh))
        .collect::<Result<_, Stop>>()?;
    let (rows, curves) = figure(&bodies, mesh, &mass, arguments.seconds)?;
    let rates = rates(&bodies, mesh, &mass, arguments.seconds)?;
    if let Some(out) = &arguments.out {
        host.write_text(out, &csv(FIGURE_COLUMNS, &rows))?;
    }
    if let Some(out) = &arguments.out_rates {
        host.write_text(out, &csv(RATE_COLUMNS, &rates))?;
    }
    if let Some(out) = &arguments.out_curves {
        host.write_text(out, &curves)?;
    }
    Ok(Answer {
        text: format!(
            "{}, dropped onto a plane, {} steps a second, Touchfield's own dynamics: kinetic energy [J], mean of the 0.1 s before\n{}\nThe same drop at fewer steps a second\n{}",
            model.name(),
            RATE,
            report::table(&FIGURE_HEADINGS, &rows),
            report::table(&RATE_HEADINGS, &rates),
        ),
        json: json!({
            "bench": FIG10,
            "model": model.name(),
            "triangles": mesh.faces.len(),
            "rows": objects(FIGURE_COLUMNS, &rows),
            "rates": objects(RATE_COLUMNS, &rates),
        }),
    })
}

const FIGURE_HEADINGS: [&str; 12] = [
    "body",
    "contact",
    ">points",
    ">0.5 s",
    ">1 s",
    ">1.5 s",
    ">2 s",
    ">settled [s]",
    ">gain [%]",
    ">deepest [mm]",
    ">at the end [mm]",
    ">step [µs]",
];
const FIGURE_COLUMNS: &str = "body,contact,points,kinetic_0.5_s_J,kinetic_1_s_J,kinetic_1.5_s_J,kinetic_2_s_J,settled_s,gain_pct,deepest_mm,end_mm,step_us";

/// Returns the rows of Figure 10, and its curves as CSV.
fn figure(
    bodies: &[Body],
    mesh: &TriangleMesh,
    mass: &Mass,
    seconds: f64,
) -> Result<(Vec<Vec<String>>, String), Stop> {
    let penalty = |normals| WorldSettings {
        step: 1.0 / RATE,
        response: Response::Penalty,
        penalty: PenaltySettings {
            normals,
            ..PenaltySettings::default()
        },
        ..WorldSettings::default()
    };
    let kinds = [
        ("penalty", penalty(Normals::Field)),
        ("penalty, normals of points", penalty(Normals::Point)),
        (
            "impulses",
            WorldSettings {
                step: 1.0 / RATE,
                ..WorldSettings::default()
            },
        ),
    ];
    let mut rows = Vec::new();
    let mut curves = "body,contact,seconds,kinetic_J,total_J,depth_mm\n".to_owned();
    for body in bodies {
        for (contact, settings) in kinds {
            let drop = drop(body, mesh, mass, (settings, MATERIAL), seconds)?;
            let name = body.structure.name();
            let steps = drop.seconds.iter().enumerate();
            for (step, seconds) in steps.filter(|(step, _)| step % 5 == 4) {
                let (kinetic, total) = (drop.kinetic[step], drop.total[step]);
                let depth = 1e3 * drop.depths[step];
                let _ = writeln!(
                    curves,
                    "\"{name}\",\"{contact}\",{seconds:.3},{kinetic:.3e},{total:.4},{depth:.4}"
                );
            }
            let start = MASS * GRAVITY * HEIGHT;
            let highest = drop.total.iter().copied().fold(0.0, f64::max);
            let mut row = vec![name.to_owned(), contact.to_owned(), body.points.to_string()];
            row.extend(MOMENTS.map(|moment| match moment <= seconds + 1e-9 {
                true => format!("{:.1e}", drop.kinetic_at(moment)),
                false => String::new(),
            }));
            let settled = drop.settled(SETTLED * start);
            row.extend([
                settled.map_or(String::new(), |at| format!("{at:.2}")),
                format!("{:.2}", (1e2 * (highest / start - 1.0)).max(0.0)),
                format!("{:.2}", 1e3 * drop.deepest()),
                format!(
                    "{:.3}",
                    positive(1e3 * drop.depths.last().copied().unwrap_or(0.0))
                ),
                format!("{:.1}", 1e6 * drop.cpu / drop.seconds.len() as f64),
            ]);
            rows.push(row);
        }
    }
    Ok((rows, curves))
}

const RATE_HEADINGS: [&str; 7] = [
    ">steps a second",
    "body",
    "contact",
    "held",
    ">fails at [s]",
    ">deepest [mm]",
    ">at the end [mm]",
];
const RATE_COLUMNS: &str = "rate,body,contact,held,fails_s,deepest_mm,end_mm";

/// Returns what becomes of the body at few steps a second.
fn rates(
    bodies: &[Body],
    mesh: &TriangleMesh,
    mass: &Mass,
    seconds: f64,
) -> Result<Vec<Vec<String>>, Stop> {
    let mut rows = Vec::new();
    for rate in RATES {
        for body in bodies {
            for (contact, settings, material) in kinds(rate) {
                let drop = drop(body, mesh, mass, (settings, material), seconds)?;
                let mut row = vec![
                    format!("{rate}"),
                    body.structure.name().to_owned(),
                    contact,
                    drop.failure.unwrap_or("yes").to_owned(),
                ];
                let end = drop.depths.last().copied().unwrap_or(0.0);
                row.extend(match drop.failure {
                    Some(_) => {
                        let time = drop.seconds.last().copied().unwrap_or(0.0);
                        [format!("{time:.2}"), String::new(), String::new()]
                    }
                    None => [
                        String::new(),
                        format!("{:.2}", 1e3 * drop.deepest()),
                        format!("{:.2}", positive(1e3 * end)),
                    ],
                });
                rows.push(row);
            }
        }
    }
    Ok(rows)
}

/// Returns what may hold the body up at a rate: impulses at the deepest points of segments, those
/// at Touchfield's contacts, and penalty forces.
fn kinds(rate: f64) -> Vec<(String, WorldSettings, Material)> {
    let settings = WorldSettings {
        step: 1.0 / rate,
        ..WorldSettings::default()
    };
    let segments = SEGMENTS.map(|count| {
        let name = report::plural(count as usize, "segment", "segments");
        let contacts = ContactFinder::Segments(count);
        let settings = WorldSettings {
            contacts,
            ..settings
        };
        (name, settings, MATERIAL)
    });
    let mut kinds = segments.to_vec();
    kinds.push(("default contacts".to_owned(), settings, MATERIAL));
    // As stiff as at the rate of Figure 10, and so soft that a step is the same share of a period.
    let share = rate / RATE;
    let soft = Material {
        stiffness: share * share * MATERIAL.stiffness,
        damping: share * MATERIAL.damping,
        ..MATERIAL
    };
    for response in [Response::Penalty, Response::ContinuousPenalty] {
        let settings = WorldSettings {
            response,
            ..settings
        };
        kinds.push((response.name().to_owned(), settings, MATERIAL));
        kinds.push((format!("{}, soft", response.name()), settings, soft));
    }
    kinds
}

/// Returns the number, or 0 for one that would be printed as minus zero.
pub(super) fn positive(number: f64) -> f64 {
    if number > -5e-4 {
        number.max(0.0)
    } else {
        number
    }
}

/// Returns rows as CSV, cells with commas in quotes.
pub(super) fn csv(columns: &str, rows: &[Vec<String>]) -> String {
    let mut csv = format!("{columns}\n");
    for row in rows {
        let cells = row.iter().map(|cell| match cell.contains(',') {
            true => format!("\"{cell}\""),
            false => cell.clone(),
        });
        let cells: Vec<String> = cells.collect();
        let _ = writeln!(csv, "{}", cells.join(","));
    }
    csv
}

/// Returns rows as JSON objects; cells that are numbers become numbers, empty ones null.
pub(super) fn objects(columns: &str, rows: &[Vec<String>]) -> Vec<Value> {
    let value = |cell: &String| match cell.parse::<f64>() {
        Ok(number) => json!(number),
        Err(_) if cell.is_empty() => Value::Null,
        Err(_) => json!(cell),
    };
    let object = |row: &Vec<String>| {
        let cells = columns.split(',').zip(row);
        cells
            .map(|(name, cell)| (name.to_owned(), value(cell)))
            .collect()
    };
    rows.iter().map(object).map(Value::Object).collect()
}
