//! Figure 8 and Table 2 of \[Sagardia2014\]: step time and penetration depth of a bunny dropped
//! onto a plane, in Rapier.
//!
//! Input: a mesh.
//! Output: Figure 8, over the kinds of collider; Table 2, over the number of segments.
//! Cost: a convex decomposition of the mesh, and some thousand steps.
//! Not for: sleeping bodies. Nothing sleeps here, so that every step counts.
//!
//! 1 kg, 0.2 m, from 0.5 m, 200 steps per second; the paper does not give its rate. Means are over
//! steps 200 to 600, as in the paper.

use std::fmt::Write as _;

use cpu_time::ThreadTime;
use serde_json::json;
use touchfield::field::primitive::HalfSpace;
use touchfield::geom::Pose as FieldPose;
use touchfield::mesh::TriangleMesh;
use touchfield::narrow::{CollideSettings, ContactMethod, Contacts, Pair, Scratch, collide};
use touchfield::shape::Shape as FieldsShape;
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{DispatcherSettings, FieldDispatcher, FieldShape, Settings, configure};

use super::{Bunny, FIG8, Fig8, TABLE2, Table2};
use crate::host::Host;
use crate::host::Stop;
use crate::model::Model;
use touchfield_report::{self as report, Answer};

const RATE: f32 = 200.0;
/// Longest side \[m\].
const SIZE: f64 = 0.2;
/// Steps over which means are taken; the last is the end of the drop.
const COUNTED: std::ops::Range<usize> = 200..600;
/// Numbers of points of the paper's coarse and fine bunny.
const POINTS: [(&str, u32); 2] = [("799 points", 799), ("35,596 points", 35_596)];

/// Table 2 of \[Sagardia2014\] \[µs\]: levels 1 to 5 of the coarse and of the fine bunny.
const PAPER_TABLE2: [[f64; 5]; 2] = [
    [102.2, 102.1, 104.2, 102.3, 102.8],
    [1387.9, 1477.5, 1407.4, 1449.6, 1494.3],
];

/// Figures of \[Sagardia2014\] \[µs\]. §4.2.1: 710, and factors of 137 longer for GImpact and 339
/// shorter for GJK; §4.2.3: about 100 and 30.
const PAPER_FIG8: [(&str, &str); 5] = [
    ("field, 799 points", "~100 (Fig. 10)"),
    ("field, 35,596 points", "710"),
    ("convex parts", "~30 (Fig. 10)"),
    ("triangles", "~97,000 (GImpact)"),
    ("convex hull", "~2.1 (GJK)"),
];

fn bad(error: &dyn std::fmt::Display) -> Stop {
    Stop::BadInput(error.to_string())
}

/// Loads the mesh and scales it to the size that is dropped.
fn load(bunny: &Bunny, host: &dyn Host) -> Result<Model, Stop> {
    let mut model = Model::load(bunny.model.as_deref(), bunny.units, host)?;
    let bounds = model.mesh.bounds();
    let scale = SIZE / bounds.extents().max_element();
    let middle = bounds.center();
    for vertex in &mut model.mesh.vertices {
        *vertex = scale * (*vertex - middle);
    }
    Ok(model)
}

fn field(mesh: &TriangleMesh, points: u32) -> Result<FieldShape, Stop> {
    let settings = Settings {
        points,
        ..Default::default()
    };
    FieldShape::from_mesh(mesh, settings).map_err(|error| bad(&error))
}

/// One drop, step by step: CPU time \[µs\], speed \[m/s\], depth \[mm\], the pose.
#[derive(Default)]
struct Drop {
    micros: Vec<f64>,
    speeds: Vec<f32>,
    depths: Vec<f32>,
    poses: Vec<Pose>,
}

impl Drop {
    fn mean_micros(&self) -> f64 {
        self.micros[COUNTED].iter().sum::<f64>() / COUNTED.len() as f64
    }

    fn deepest(&self) -> f32 {
        self.depths.iter().copied().fold(0.0, f32::max)
    }
}

/// Returns the penetration depth of the vertices of the mesh itself, whatever the collider is.
fn depth(mesh: &TriangleMesh, pose: &Pose) -> f32 {
    let corners = mesh.vertices.iter();
    let heights = corners.map(|corner| pose.transform_point(corner.as_vec3()).z);
    -1e3 * heights.fold(f32::INFINITY, f32::min)
}

fn drop(
    shape: &SharedShape,
    mesh: &TriangleMesh,
    fields: Option<FieldDispatcher>,
    attitude: u32,
) -> Drop {
    let mut world = PhysicsWorld::new();
    match fields {
        Some(fields) => {
            world.narrow_phase.set_query_dispatcher(fields);
            configure(&mut world.integration_parameters, SIZE as Real);
        }
        // A world with Rapier's defaults, made for bodies of a metre; only the unit of length is
        // that of the body.
        None => world.integration_parameters.length_unit = SIZE as Real,
    }
    world.gravity = Vector::new(0.0, 0.0, -9.81);
    world.integration_parameters.dt = 1.0 / RATE;
    let floor = ColliderBuilder::new(SharedShape::halfspace(Vector::Z));
    world.insert(RigidBodyBuilder::fixed(), floor);
    let angle = attitude as Real;
    let turned = Vector::new((1.3 * angle).sin(), (2.1 * angle).cos(), angle.sin()) * 2.0;
    let body = RigidBodyBuilder::dynamic()
        .translation(Vector::new(0.0, 0.0, 0.5))
        .rotation(turned)
        .can_sleep(false);
    let (body, collider) = world.insert(body, ColliderBuilder::new(shape.clone()).mass(1.0));
    let mut drop = Drop::default();
    for _ in 0..COUNTED.end {
        let start = ThreadTime::now();
        world.step();
        drop.micros.push(1e6 * start.elapsed().as_secs_f64());
        drop.speeds.push(world.bodies[body].linvel().length());
        let pose = *world.colliders[collider].position();
        drop.depths.push(depth(mesh, &pose));
        drop.poses.push(pose);
    }
    drop
}

/// Runs the work on a single thread: the clock measures one thread, so no other thread may share
/// it.
fn alone<T: Send>(work: impl FnOnce() -> Result<T, Stop> + Send) -> Result<T, Stop> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    pool.map_err(|error| bad(&error))?.install(work)
}

pub(crate) fn figure(arguments: &Fig8, host: &dyn Host) -> Result<Answer, Stop> {
    if let Some(out) = &arguments.out {
        host.check_text(out, "csv", &[])?;
    }
    let model = load(&arguments.bunny, host)?;
    alone(|| figure_of(arguments, &model, host))
}

fn figure_of(arguments: &Fig8, model: &Model, host: &dyn Host) -> Result<Answer, Stop> {
    let mesh = &model.mesh;
    let vertices: Vec<Vector> = mesh.vertices.iter().map(|v| v.as_vec3()).collect();
    let [coarse, fine] = [field(mesh, POINTS[0].1)?, field(mesh, POINTS[1].1)?];
    let triangles = SharedShape::trimesh(vertices.clone(), mesh.faces.clone());
    let hull = SharedShape::convex_hull(&vertices)
        .ok_or_else(|| Stop::BadInput("the model has no hull: is it flat?".to_owned()))?;
    let fields = || Some(FieldDispatcher::default());
    let kinds = [
        (coarse.shared(), fields()),
        (fine.shared(), fields()),
        (
            SharedShape::convex_decomposition(&vertices, &mesh.faces),
            None,
        ),
        (triangles.map_err(|error| bad(&error))?, None),
        (hull, None),
    ];
    let mut csv = "collider,step,cpu_us,speed\n".to_owned();
    let (mut rows, mut objects) = (Vec::new(), Vec::new());
    for ((name, paper), (shape, fields)) in PAPER_FIG8.into_iter().zip(kinds) {
        let drop = drop(&shape, mesh, fields, 1);
        for (step, (micros, speed)) in drop.micros.iter().zip(&drop.speeds).enumerate() {
            let _ = writeln!(csv, "\"{name}\",{step},{micros:.2},{speed}");
        }
        let (mean, deepest) = (drop.mean_micros(), drop.deepest());
        let rest = drop.depths[COUNTED.end - 1];
        rows.push(vec![
            name.to_owned(),
            paper.to_owned(),
            format!("{mean:.1}"),
            format!("{deepest:.2}"),
            format!("{rest:.2}"),
        ]);
        objects.push(json!({
            "collider": name, "document_us": paper, "step_us": mean, "deepest_mm": deepest, "depth_at_end_mm": rest,
        }));
    }
    if let Some(out) = &arguments.out {
        host.write_text(out, &csv)?;
    }
    let headings = [
        "collider",
        ">[Sagardia2014] [µs a check]",
        ">ours [µs a step]",
        ">deepest [mm]",
        ">at the end [mm]",
    ];
    Ok(Answer {
        text: format!(
            "{}, {}, dropped onto a plane: CPU time, mean of the steps 200 to 600; depth of the mesh's lowest corner\n{}",
            model.name(),
            report::plural(mesh.faces.len(), "triangle", "triangles"),
            report::table(&headings, &rows)
        ),
        json: json!({ "bench": FIG8, "model": model.name(), "triangles": mesh.faces.len(), "rows": objects }),
    })
}

pub(crate) fn table(arguments: &Table2, host: &dyn Host) -> Result<Answer, Stop> {
    let model = load(&arguments.bunny, host)?;
    alone(|| table_of(arguments, &model))
}

fn table_of(arguments: &Table2, model: &Model) -> Result<Answer, Stop> {
    let mesh = &model.mesh;
    let plane = HalfSpace::new(glam::Vec3::Z, 0.0).map_err(|error| bad(&error))?;
    let plane = FieldsShape::new(plane);
    let (mut rows, mut objects) = (Vec::new(), Vec::new());
    for ((name, points), paper) in POINTS.into_iter().zip(PAPER_TABLE2) {
        let shape = field(mesh, points)?;
        for (level, paper) in (1..).zip(paper) {
            // Clusters have four children: budgets of one segment, four, sixteen, up to as many as
            // a pair keeps.
            let segments = 4usize.pow(level - 1);
            let (mut step, mut check, mut deepest) = (0.0, 0.0, 0.0f32);
            for attitude in 0..arguments.drops {
                let fields = FieldDispatcher::new(DispatcherSettings {
                    max_contacts: segments,
                    ..Default::default()
                });
                let drop = drop(&shape.shared(), mesh, Some(fields), attitude);
                step += drop.mean_micros() / f64::from(arguments.drops);
                check += check_micros(&shape, &plane, segments as u32, &drop.poses[COUNTED])?
                    / f64::from(arguments.drops);
                deepest = deepest.max(drop.deepest());
            }
            rows.push(vec![
                name.to_owned(),
                format!("{level}"),
                format!("{segments}"),
                format!("{paper:.1}"),
                format!("{check:.1}"),
                format!("{step:.1}"),
                format!("{deepest:.2}"),
            ]);
            objects.push(json!({
                "points": points, "level": level, "segments": segments, "document_us": paper,
                "check_us": check, "step_us": step, "deepest_mm": deepest,
            }));
        }
    }
    let headings = [
        "shell",
        ">level",
        ">segments",
        ">[Sagardia2014] [µs]",
        ">check [µs]",
        ">step [µs]",
        ">deepest [mm]",
    ];
    Ok(Answer {
        text: format!(
            "{}, {}, {} onto a plane, CPU time, mean of the steps 200 to 600: the check by segments alone, and a step of Rapier with as many contacts kept\n{}",
            model.name(),
            report::plural(mesh.faces.len(), "triangle", "triangles"),
            report::plural(arguments.drops as usize, "drop", "drops"),
            report::table(&headings, &rows)
        ),
        json: json!({ "bench": TABLE2, "model": model.name(), "triangles": mesh.faces.len(), "drops": arguments.drops, "rows": objects }),
    })
}

/// Returns the mean time of the paper's own method at the poses of a drop \[µs\].
fn check_micros(
    shape: &FieldShape,
    plane: &FieldsShape,
    segments: u32,
    poses: &[Pose],
) -> Result<f64, Stop> {
    let settings = CollideSettings {
        method: ContactMethod::ShellSegments(segments),
        ..Default::default()
    };
    let (mut scratch, mut out) = (Scratch::default(), Contacts::default());
    let start = ThreadTime::now();
    for pose in poses {
        let pair = Pair {
            a: plane,
            b: shape.shape(),
            a_from_b: FieldPose {
                rotation: pose.rotation,
                translation: pose.translation,
            },
        };
        collide(&pair, &settings, &mut scratch, &mut out).map_err(|error| bad(&error))?;
    }
    Ok(1e6 * start.elapsed().as_secs_f64() / poses.len() as f64)
}
