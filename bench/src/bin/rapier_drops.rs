//! Bodies of 0.1 m dropped from 0.2 m in Rapier: energy, depth at rest, and the cost of sweeps. CSV
//! to stdout or a file.
//!
//! ```text
//! rapier_drops [--models SUBSTRING,…] [--poses N] [--seconds S] [--resolution N]
//!              [--floor plane|box|mesh] [--csv FILE] [--trace MODEL:POSE]
//! ```
//!
//! Input: the generated models of the library, and every closed mesh of `TOUCHFIELD_MESHES`, each
//! scaled to a longest side of 0.1 m. The world is set up as docs/RAPIER.md says, with no
//! restitution.
//! Output: one row per model: thickness, greatest gain of energy over the start and over the least
//! so far, depth at rest, CPU time with sweeps and without.
//! Cost: seconds per model.
//! Not for: heaps (`rapier_scenes`).
//!
//! Energy is kinetic plus `m g z` of the centre of mass; gains are shares of the energy at the
//! start.

#![expect(clippy::print_stdout, reason = "a program: its result goes there")]
#![expect(clippy::print_stderr, reason = "progress")]

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use cpu_time::ThreadTime;
use glam::{DVec3, Quat, Vec3};
use touchfield::mesh::TriangleMesh;
use touchfield_conformance::meshes;
use touchfield_conformance::random::Random;
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{FieldShape, Settings, activation, install, steps_per_second};

type Problem = Box<dyn Error>;

/// Longest side of a body, and the height of its lowest point at the start \[m\].
const SIZE: f32 = 0.1;
const HEIGHT: f32 = 0.2;
const GRAVITY: f32 = 9.81;

struct Options {
    models: Vec<String>,
    poses: u64,
    seconds: f32,
    resolution: u32,
    floor: String,
    csv: Option<PathBuf>,
    trace: Option<(String, u64)>,
}

impl Options {
    fn read() -> Result<Options, Problem> {
        let mut options = Options {
            models: Vec::new(),
            poses: 10,
            seconds: 3.0,
            resolution: Settings::default().resolution,
            floor: "plane".to_owned(),
            csv: None,
            trace: None,
        };
        let mut words = std::env::args().skip(1);
        while let Some(option) = words.next() {
            let value = words.next().ok_or(format!("{option} needs a value"))?;
            match option.as_str() {
                "--models" => options.models = value.split(',').map(str::to_owned).collect(),
                "--poses" => options.poses = value.parse()?,
                "--seconds" => options.seconds = value.parse()?,
                "--resolution" => options.resolution = value.parse()?,
                "--floor" => options.floor = value,
                "--csv" => options.csv = Some(value.into()),
                "--trace" => {
                    let (model, pose) = value.split_once(':').ok_or("--trace MODEL:POSE")?;
                    options.trace = Some((model.to_owned(), pose.parse()?));
                }
                _ => return Err(format!("unknown option {option}").into()),
            }
        }
        Ok(options)
    }

    fn wants(&self, name: &str) -> bool {
        self.models.is_empty() || self.models.iter().any(|part| name.contains(part.as_str()))
    }
}

/// Result of one drop.
#[derive(Clone, Copy, Default)]
struct Drop {
    /// Greatest energy gain over the start, and over the least energy so far \[share of the
    /// start\].
    gain: f32,
    rise: f32,
    /// Depth of the lowest corner at the end \[m\], and the final speed \[m/s\].
    depth: f32,
    speed: f32,
    /// CPU time \[s\].
    seconds: f64,
}

fn main() -> Result<(), Problem> {
    let options = Options::read()?;
    // The clock measures one thread, so no other thread may share the work.
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    (alone.install(|| measure(&options).map_err(|problem| problem.to_string())))?;
    Ok(())
}

fn measure(options: &Options) -> Result<(), Problem> {
    let mut csv = String::from(
        "model,triangles,thickness_mm,gain_share,rise_share,rise_share_without,depth_mm,depth_mm_without,fastest_at_end,ms_with,ms_without,cost_share\n",
    );
    print!("{csv}");
    let (mut with_all, mut without_all) = (0.0, 0.0);
    for model in meshes::models().into_iter().chain(meshes::real()) {
        let is_solid = || meshes::is_closed(&model.mesh) && model.mesh.signed_volume() > 0.0;
        if !options.wants(&model.name) || !is_solid() {
            continue;
        }
        let mesh = scaled_to(model.mesh, f64::from(SIZE));
        let settings = Settings {
            resolution: options.resolution,
            ..Default::default()
        };
        let shape = match FieldShape::from_mesh(&mesh, settings) {
            Ok(shape) => shape,
            Err(error) => {
                eprintln!("{}: {error}", model.name);
                continue;
            }
        };
        if let Some((name, pose)) = &options.trace {
            if model.name.contains(name.as_str()) {
                dropped(&shape, &mesh, *pose, 1, options, true);
            }
            continue;
        }
        let (mut worst, mut worst_without) = (Drop::default(), Drop::default());
        for pose in 0..options.poses {
            // Taken in turns, so that a busy machine slows both alike.
            let with = dropped(&shape, &mesh, pose, 1, options, false);
            let without = dropped(&shape, &mesh, pose, 0, options, false);
            worst.join(with);
            worst_without.join(without);
        }
        with_all += worst.seconds;
        without_all += worst_without.seconds;
        let line = format!(
            "{},{},{:.4},{:.5},{:.5},{:.5},{:.4},{:.4},{:.4},{:.1},{:.1},{:.3}\n",
            model.name,
            mesh.faces.len(),
            1e3 * shape.thickness(),
            worst.gain,
            worst.rise,
            worst_without.rise,
            1e3 * worst.depth,
            1e3 * worst_without.depth,
            worst.speed,
            1e3 * worst.seconds,
            1e3 * worst_without.seconds,
            worst.seconds / worst_without.seconds - 1.0,
        );
        print!("{line}");
        csv.push_str(&line);
    }
    if options.trace.is_none() {
        let line = format!(
            "all,,,,,,,,,{:.1},{:.1},{:.3}\n",
            1e3 * with_all,
            1e3 * without_all,
            with_all / without_all - 1.0
        );
        print!("{line}");
        write!(csv, "{line}")?;
    }
    if let Some(path) = &options.csv {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, csv)?;
    }
    Ok(())
}

impl Drop {
    fn join(&mut self, other: Drop) {
        self.gain = self.gain.max(other.gain);
        self.rise = self.rise.max(other.rise);
        self.depth = self.depth.max(other.depth);
        self.speed = self.speed.max(other.speed);
        self.seconds += other.seconds;
    }
}

/// Returns the mesh centred at the origin and scaled to a longest side \[m\].
fn scaled_to(mut mesh: TriangleMesh, side: f64) -> TriangleMesh {
    let bounds = mesh.bounds();
    let (middle, factor) = (bounds.center(), side / bounds.extents().max_element());
    for vertex in &mut mesh.vertices {
        *vertex = factor * (*vertex - middle);
    }
    mesh
}

/// Returns a fixed floor whose top is z = 0.
fn floor_of(kind: &str) -> (Vector, SharedShape) {
    let half = 10.0;
    match kind {
        "box" => (-0.1 * Vector::Z, SharedShape::cuboid(half, half, 0.1)),
        "mesh" => {
            let corner = |x: f32, y: f32| half * Vector::new(x, y, 0.0);
            let corners = vec![
                corner(-1.0, -1.0),
                corner(1.0, -1.0),
                corner(1.0, 1.0),
                corner(-1.0, 1.0),
            ];
            let faces = vec![[0, 1, 2], [0, 2, 3]];
            let mesh = SharedShape::trimesh(corners, faces);
            (
                Vector::ZERO,
                mesh.unwrap_or_else(|_| SharedShape::halfspace(Vector::Z)),
            )
        }
        _ => (Vector::ZERO, SharedShape::halfspace(Vector::Z)),
    }
}

/// Drops a body in the given attitude.
fn dropped(
    shape: &FieldShape,
    mesh: &TriangleMesh,
    pose: u64,
    sweeps: usize,
    options: &Options,
    is_told: bool,
) -> Drop {
    let mut world = PhysicsWorld::new();
    let fields = install(&mut world, SIZE);
    world.integration_parameters.dt = 1.0 / steps_per_second(SIZE);
    world.integration_parameters.max_ccd_substeps = sweeps;
    world.gravity = -GRAVITY * Vector::Z;
    // A floor, and the body with its lowest corner at the start height.
    let (place, floor) = floor_of(&options.floor);
    world.insert(
        RigidBodyBuilder::fixed().translation(place),
        ColliderBuilder::new(floor),
    );
    let rotation = Random::new(pose).quaternion().as_quat();
    let start = HEIGHT - lowest(mesh, rotation);
    let (body, _) = world.insert(
        RigidBodyBuilder::dynamic()
            .translation(start * Vector::Z)
            .rotation(rotation.to_scaled_axis()),
        ColliderBuilder::new(shape.shared()).density(1000.0),
    );
    *world.bodies[body].activation_mut() = activation(SIZE);
    let energy = |world: &PhysicsWorld| {
        let body = &world.bodies[body];
        body.kinetic_energy() + body.mass() * GRAVITY * body.center_of_mass().z
    };
    // Step, and track the energy against its start and its least value so far.
    let first = energy(&world);
    let mut least = first;
    let mut result = Drop::default();
    let steps = (options.seconds / world.integration_parameters.dt) as usize;
    for step in 0..steps {
        let clock = ThreadTime::now();
        world.step();
        result.seconds += clock.elapsed().as_secs_f64();
        let now = energy(&world);
        result.gain = result.gain.max((now - first) / first);
        result.rise = result.rise.max((now - least) / first);
        least = least.min(now);
        if is_told {
            let body = &world.bodies[body];
            println!(
                "{step} swept {} z {:.6} v {:.4} w {:.3} energy {:.5} low {:.6} contacts {}",
                body.is_ccd_active(),
                body.center_of_mass().z,
                body.linvel().length(),
                body.angvel().length(),
                now / first,
                body.translation().z + lowest(mesh, *body.rotation()),
                told(&world),
            );
        }
    }
    // The state at the end.
    let body = &world.bodies[body];
    result.depth = -(body.translation().z + lowest(mesh, *body.rotation()));
    result.speed = body.linvel().length() + SIZE * body.angvel().length();
    let counts = fields.take_counts();
    if is_told || !counts.is_clean() {
        eprintln!("pose {pose}: {counts:?}");
    }
    result
}

/// Returns the separations of all contacts as text \[mm\].
fn told(world: &PhysicsWorld) -> String {
    let mut text = String::new();
    for pair in world.contact_pairs() {
        for manifold in pair.manifolds() {
            for point in &manifold.points {
                let _ = write!(text, "{:.3}/{:.4} ", 1e3 * point.dist, point.data.impulse);
            }
        }
    }
    text
}

/// Returns the z coordinate of the lowest corner of a turned mesh, relative to its origin \[m\].
fn lowest(mesh: &TriangleMesh, rotation: Quat) -> f32 {
    let down: DVec3 = (rotation.inverse() * Vec3::Z).as_dvec3();
    // Only vertices of faces: some files contain stray ones.
    let corners = mesh.faces.iter().flatten();
    let heights = corners.map(|&vertex| mesh.vertices[vertex as usize].dot(down));
    heights.fold(f64::INFINITY, f64::min) as f32
}
