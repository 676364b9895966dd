//! The same scenes in several simulators: ours, Rapier with fields, Rapier with convex parts; and
//! the judge of them and of MuJoCo (`bench/peers/simulators_run`).
//!
//! ```text
//! simulators scenes                            names of the scenes
//! simulators prepare FOLDER SCENE              writes SCENE.json and meshes for peers
//! simulators run FOLDER SCENE SIMULATOR STEP   simulates; writes SCENE.SIMULATOR.STEP.states
//! simulators judge FOLDER SCENE SIMULATOR STEP CPU_SECONDS
//!                                              prints a row of CSV; without arguments the heading
//! ```
//!
//! Input: ready scenes of `touchfield simulate`.
//! Output: states every 10 ms; CPU time of stepping as JSON; rows of CSV.
//! Cost: seconds to minutes for each run. Bakes and decompositions are not timed.
//! Not for: single pairs (`bench/peers/contact_run`).
//!
//! Bodies have the mass, the inertia and the friction of the scene in all simulators. Nothing
//! sleeps.

#![expect(clippy::print_stdout, reason = "a program: its result goes there")]

use std::path::{Path, PathBuf};

use cpu_time::ProcessTime;
use glam::DQuat;
use serde_json::{Value, json};
use touchfield::mesh::write::write_file;
use touchfield_bench::scenes::{
    Moment, Moving, Problem, Ready, judge, moment_of, read_moments, ready, write_moments,
};
use touchfield_dynamics::scene::{BodyShape, Scene};
use touchfield_dynamics::{Body, Frame};
use touchfield_rapier::rapier::glamx::Mat3;
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{FieldShape, Settings, install};

/// Scenes that have fixed and free bodies only, without locked directions.
const SCENES: [&str; 5] = ["stack", "arch", "pipe", "bowls", "knots"];

/// Simulated time between two recorded states \[s\].
const RECORD_EVERY: f64 = 0.01;

const HEADING: &str = "scene,simulator,step_ms,cpu_s_per_s,moments,deepest_mm,end_depth_mm,\
    gained_mJ,most_kinetic_mJ,lost_mJ,through,end_speed_mm_s";

fn main() -> Result<(), Problem> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    // One thread, so that CPU time is comparable.
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let outcome = alone.install(|| act(&words).map_err(|problem| problem.to_string()));
    Ok(outcome?)
}

fn act(words: &[&str]) -> Result<(), Problem> {
    match *words {
        ["scenes"] => println!("{}", SCENES.join("\n")),
        ["prepare", folder, scene] => prepare(Path::new(folder), scene)?,
        ["run", folder, scene, simulator, step] => {
            let folder = Path::new(folder);
            let seconds = run(folder, scene, simulator, step.parse()?)?;
            println!("{}", json!({ "cpu_s": seconds }));
        }
        ["judge"] => println!("{HEADING}"),
        ["judge", folder, scene, simulator, step, seconds] => {
            let row = judged(
                Path::new(folder),
                scene,
                simulator,
                step.parse()?,
                seconds.parse()?,
            )?;
            println!("{row}");
        }
        _ => return Err("scenes | prepare | run | judge: see the head of the source".into()),
    }
    Ok(())
}

/// Builds a scene in which nothing sleeps, with this step \[s\].
fn built(folder: &Path, scene: &str, step: f64) -> Result<Ready, Problem> {
    ready(scene, folder, |text| {
        let world = format!("[world]\nsleeping = false\nstep = {step}");
        // The ready scenes of this bench keep the default step.
        text.replacen("[world]", &world, 1)
    })
}

fn states_file(folder: &Path, scene: &str, simulator: &str, step: f64) -> PathBuf {
    folder.join(format!("{scene}.{simulator}.{step}.states"))
}

/// Writes what a peer needs to build the scene.
fn prepare(folder: &Path, name: &str) -> Result<(), Problem> {
    let ready = built(folder, name, 1e-3)?;
    let mut bodies = Vec::new();
    for (index, body) in ready.built.world.bodies().iter().enumerate() {
        let settings = body.settings();
        let inertia = settings.mass.inertia;
        let shape = match ready.scene.bodies[index].shape {
            BodyShape::Sphere { radius } => json!({ "kind": "sphere", "size": [radius] }),
            BodyShape::Box { half } => json!({ "kind": "box", "size": half.to_array() }),
            BodyShape::HalfSpace { normal } => {
                json!({ "kind": "half_space", "normal": normal.to_array() })
            }
            _ => {
                let drawn = ready.built.drawn[index].as_ref().ok_or("no mesh")?;
                let key = match &ready.scene.bodies[index].shape {
                    BodyShape::Mesh(mesh) => format!("{:?} {:?}", mesh.source, mesh.scale),
                    other => format!("{other:?}"),
                };
                // Bodies of one shape share a file.
                let first = (ready.scene.bodies.iter())
                    .position(|other| other.shape == ready.scene.bodies[index].shape);
                let file = format!("{name}-{}.obj", first.unwrap_or(index));
                write_file(&folder.join(&file), &drawn.mesh)?;
                json!({ "kind": "mesh", "file": file, "of": key })
            }
        };
        let pose = body.pose();
        let pose: Vec<f64> = (pose.translation.to_array().into_iter())
            .chain(pose.rotation.to_array())
            .collect();
        bodies.push(json!({
            "name": ready.built.names[index],
            "free": body.is_free(),
            "mass": settings.mass.mass,
            "center": settings.mass.center.to_array(),
            "inertia": [
                inertia.x_axis.x, inertia.y_axis.y, inertia.z_axis.z,
                inertia.y_axis.x, inertia.z_axis.x, inertia.z_axis.y,
            ],
            "pose": pose,
            "velocity": settings.velocity.to_array(),
            "angular_velocity": settings.angular_velocity.to_array(),
            "friction": settings.material.friction,
            "shape": shape,
        }));
    }
    let scene: Value = json!({
        "name": name,
        "seconds": ready.scene.seconds,
        "record_every": RECORD_EVERY,
        "gravity": ready.scene.world.gravity.to_array(),
        "bodies": bodies,
    });
    std::fs::write(folder.join(format!("{name}.json")), scene.to_string())?;
    Ok(())
}

/// Simulates a scene and returns the CPU time of all steps \[s\].
fn run(folder: &Path, scene: &str, simulator: &str, step: f64) -> Result<f64, Problem> {
    let ready = built(folder, scene, step)?;
    let (moments, seconds) = match simulator {
        "touchfield" => by_ours(ready)?,
        "rapier-fields" | "rapier-parts" => by_rapier(&ready, simulator, step)?,
        _ => return Err(format!("no simulator {simulator}").into()),
    };
    write_moments(&states_file(folder, scene, simulator, step), &moments)?;
    Ok(seconds)
}

/// Returns after how many steps a state is recorded.
fn stride(step: f64) -> u64 {
    (RECORD_EVERY / step).round().max(1.0) as u64
}

fn by_ours(mut ready: Ready) -> Result<(Vec<Moment>, f64), Problem> {
    let stride = stride(ready.scene.world.step);
    let mut moments = vec![moment_of(&ready.built)];
    let mut seconds = 0.0;
    for number in 1..=ready.scene.steps() {
        let start = ProcessTime::now();
        ready.built.world.step()?;
        seconds += start.elapsed().as_secs_f64();
        if number.is_multiple_of(stride) {
            moments.push(moment_of(&ready.built));
        }
    }
    Ok((moments, seconds))
}

/// Returns the size that Rapier's lengths are set for: the least diagonal of a free body \[m\].
fn least_size(bodies: &[Body]) -> f32 {
    let free = bodies.iter().filter(|body| body.is_free());
    free.map(|body| body.geometry().shape().solid().diagonal())
        .fold(f32::INFINITY, f32::min)
}

fn by_rapier(ready: &Ready, kind: &str, step: f64) -> Result<(Vec<Moment>, f64), Problem> {
    let mut world = PhysicsWorld::new();
    let bodies = ready.built.world.bodies();
    let size = least_size(bodies);
    let fields = (kind == "rapier-fields").then(|| install(&mut world, size));
    // Convex parts: Rapier's defaults at the length of the bodies.
    world.integration_parameters.length_unit = size;
    world.integration_parameters.dt = step as f32;
    world.gravity = ready.scene.world.gravity.as_vec3();
    let mut shapes: Vec<(BodyShape, SharedShape)> = Vec::new();
    let mut handles = Vec::new();
    for (index, body) in bodies.iter().enumerate() {
        let settings = body.settings();
        let of = &ready.scene.bodies[index].shape;
        let known = shapes.iter().find(|(shape, _)| shape == of);
        let shape = match known {
            Some((_, shape)) => shape.clone(),
            None => rapier_shape(ready, index, fields.is_some())?,
        };
        shapes.push((of.clone(), shape.clone()));
        let pose = body.pose();
        let builder = match body.is_free() {
            true => RigidBodyBuilder::dynamic(),
            false => RigidBodyBuilder::fixed(),
        };
        let (axis, angle) = pose.rotation.to_axis_angle();
        let builder = builder
            .translation(pose.translation.as_vec3())
            .rotation((axis * angle).as_vec3())
            .linvel(settings.velocity.as_vec3())
            .angvel(settings.angular_velocity.as_vec3())
            .can_sleep(false);
        let mass = &settings.mass;
        let inertia = Mat3::from_cols(
            mass.inertia.x_axis.as_vec3(),
            mass.inertia.y_axis.as_vec3(),
            mass.inertia.z_axis.as_vec3(),
        );
        let properties =
            MassProperties::with_inertia_matrix(mass.center.as_vec3(), mass.mass as f32, inertia);
        let mut collider = ColliderBuilder::new(shape)
            .friction(settings.material.friction as f32)
            .restitution(settings.material.restitution as f32);
        if body.is_free() {
            collider = collider.mass_properties(properties);
        }
        handles.push(world.insert(builder, collider).0);
    }
    let moment = |world: &PhysicsWorld, time: f64| Moment {
        time,
        bodies: (handles.iter())
            .map(|&handle| {
                let body = &world.bodies[handle];
                let place = body.position();
                Moving {
                    pose: Frame {
                        rotation: DQuat::from_array(place.rotation.to_array().map(f64::from))
                            .normalize(),
                        translation: place.translation.as_dvec3(),
                    },
                    velocity: body.linvel().as_dvec3(),
                    spin: body.angvel().as_dvec3(),
                }
            })
            .collect(),
    };
    let stride = stride(step);
    let mut moments = vec![moment(&world, 0.0)];
    let mut seconds = 0.0;
    for number in 1..=steps(&ready.scene) {
        let start = ProcessTime::now();
        match &fields {
            Some(fields) => touchfield_rapier::step(&mut world, fields),
            None => world.step(),
        }
        seconds += start.elapsed().as_secs_f64();
        if number.is_multiple_of(stride) {
            moments.push(moment(&world, number as f64 * step));
        }
    }
    Ok((moments, seconds))
}

fn steps(scene: &Scene) -> u64 {
    scene.steps()
}

fn rapier_shape(ready: &Ready, index: usize, by_fields: bool) -> Result<SharedShape, Problem> {
    Ok(match ready.scene.bodies[index].shape {
        BodyShape::Sphere { radius } => SharedShape::ball(radius as f32),
        BodyShape::Box { half } => {
            let half = half.as_vec3();
            SharedShape::cuboid(half.x, half.y, half.z)
        }
        BodyShape::HalfSpace { normal } => SharedShape::halfspace(normal.normalize().as_vec3()),
        BodyShape::Mesh(ref shape) => {
            let drawn = ready.built.drawn[index].as_ref().ok_or("no mesh")?;
            if by_fields {
                let settings = Settings {
                    resolution: shape.resolution.unwrap_or(128),
                    ..Settings::default()
                };
                return Ok(FieldShape::from_mesh(&drawn.mesh, settings)?.shared());
            }
            let vertices: Vec<Vector> = (drawn.mesh.vertices.iter())
                .map(|vertex| vertex.as_vec3())
                .collect();
            SharedShape::convex_decomposition(&vertices, &drawn.mesh.faces)
        }
        _ => return Err("a shape that this bench does not know".into()),
    })
}

fn judged(
    folder: &Path,
    scene: &str,
    simulator: &str,
    step: f64,
    seconds: f64,
) -> Result<String, Problem> {
    let mut ready = built(folder, scene, step)?;
    let count = ready.built.world.bodies().len();
    let moments = read_moments(&states_file(folder, scene, simulator, step), count)?;
    let verdict = judge(&mut ready, &moments)?;
    let milli = |value: f64| format!("{:.4}", 1e3 * value);
    Ok(format!(
        "{scene},{simulator},{},{:.4},{},{},{},{},{},{},{},{}",
        1e3 * step,
        seconds / ready.scene.seconds,
        verdict.moments,
        milli(verdict.deepest),
        milli(verdict.deepest_at_end),
        milli(verdict.gained),
        milli(verdict.most_kinetic),
        milli(verdict.lost),
        verdict.through,
        milli(verdict.end_speed),
    ))
}
