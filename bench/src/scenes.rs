//! Ready scenes for several simulators, and one judge of what they did.
//!
//! Input: names of ready scenes; the states that a simulator went through.
//! Output: worlds; energies, depths and bodies that went through others.
//! Cost: that of baking the meshes; a search of depths for each row that is judged.
//! Not for: simulating, which the programs do.

use std::error::Error;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use glam::{DMat3, DQuat, DVec3};
use touchfield::mesh::write::write_file;
use touchfield_dynamics::scene::{BodyShape, Built, Leave, Scene, examples};
use touchfield_dynamics::{Checkpoint, DepthSearch, Frame, Kept, Push, State};

/// What goes wrong in a bench.
pub type Problem = Box<dyn Error>;

/// A ready scene and its world.
pub struct Ready {
    /// What the file says.
    pub scene: Scene,
    /// World, names, meshes.
    pub built: Built,
    /// Folder with the mesh files.
    pub folder: PathBuf,
}

/// Builds a ready scene whose meshes are written to `folder`; `change` may edit the text.
pub fn ready(
    name: &str,
    folder: &Path,
    change: impl Fn(String) -> String,
) -> Result<Ready, Problem> {
    let example = examples().into_iter().find(|one| one.name == name);
    let files = example.ok_or(format!("no ready scene {name}"))?.files();
    std::fs::create_dir_all(folder)?;
    for (file, mesh) in &files.meshes {
        write_file(&folder.join(file), mesh)?;
    }
    let path = folder.join(format!("{name}.toml"));
    let scene = Scene::parse(&change(files.scene), &path, Leave::InFolder)?;
    let built = scene.build(&|_| ControlFlow::Continue(()))?;
    Ok(Ready {
        scene,
        built,
        folder: folder.to_owned(),
    })
}

/// How a body moves at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moving {
    /// `world_from_body`.
    pub pose: Frame,
    /// Velocity of the centre of mass \[m/s\].
    pub velocity: DVec3,
    /// Angular velocity, world axes \[rad/s\].
    pub spin: DVec3,
}

/// All bodies at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// Simulated time \[s\].
    pub time: f64,
    /// The bodies, in the order of the scene.
    pub bodies: Vec<Moving>,
}

/// Numbers of a body in a file of moments.
const EACH: usize = 13;

/// Returns the moment that a world is in.
pub fn moment_of(built: &Built) -> Moment {
    Moment {
        time: built.world.time(),
        bodies: (built.world.bodies().iter())
            .map(|body| Moving {
                pose: body.pose(),
                velocity: body.velocity(),
                spin: body.angular_velocity(),
            })
            .collect(),
    }
}

/// Writes moments as little-endian `f64`: time, then position, quaternion, velocity and angular
/// velocity of every body.
pub fn write_moments(path: &Path, moments: &[Moment]) -> Result<(), Problem> {
    let mut bytes = Vec::new();
    let mut put = |number: f64| bytes.extend_from_slice(&number.to_le_bytes());
    for moment in moments {
        put(moment.time);
        for body in &moment.bodies {
            body.pose
                .translation
                .to_array()
                .into_iter()
                .for_each(&mut put);
            body.pose.rotation.to_array().into_iter().for_each(&mut put);
            body.velocity.to_array().into_iter().for_each(&mut put);
            body.spin.to_array().into_iter().for_each(&mut put);
        }
    }
    Ok(std::fs::write(path, bytes)?)
}

/// Reads what [`write_moments`] or a peer wrote.
pub fn read_moments(path: &Path, bodies: usize) -> Result<Vec<Moment>, Problem> {
    let bytes = std::fs::read(path)?;
    let numbers: Vec<f64> = bytes
        .as_chunks::<8>()
        .0
        .iter()
        .map(|raw| f64::from_le_bytes(*raw))
        .collect();
    let width = 1 + EACH * bodies;
    if numbers.is_empty() || !numbers.len().is_multiple_of(width) {
        let count = numbers.len();
        return Err(format!("{}: {count} numbers for {bodies} bodies", path.display()).into());
    }
    let moment = |row: &[f64]| Moment {
        time: row[0],
        bodies: (row[1..].chunks_exact(EACH))
            .map(|n| Moving {
                pose: Frame {
                    translation: DVec3::new(n[0], n[1], n[2]),
                    rotation: DQuat::from_xyzw(n[3], n[4], n[5], n[6]).normalize(),
                },
                velocity: DVec3::new(n[7], n[8], n[9]),
                spin: DVec3::new(n[10], n[11], n[12]),
            })
            .collect(),
    };
    Ok(numbers.chunks_exact(width).map(moment).collect())
}

/// Puts the bodies of a world that forces move where they are at a moment.
fn put(built: &mut Built, moment: &Moment) -> Result<(), Problem> {
    let steps = (moment.time / built.world.settings().step).round() as u64;
    let bodies = built.world.bodies().iter().zip(&moment.bodies);
    let kept = bodies.map(|(body, moving)| {
        let mass = &body.settings().mass;
        let turn = DMat3::from_quat(moving.pose.rotation);
        let state = match body.is_free() {
            true => State {
                position: moving.pose.point(mass.center),
                orientation: moving.pose.rotation,
                momentum: mass.mass * moving.velocity,
                angular_momentum: turn * mass.inertia * turn.transpose() * moving.spin,
            },
            false => *body.state(),
        };
        Kept {
            state,
            still_for: 0.0,
            is_asleep: false,
            late: Push::default(),
        }
    });
    let checkpoint = Checkpoint {
        steps,
        bodies: kept.collect(),
    };
    Ok(built.world.restore(&checkpoint)?)
}

/// What a simulator did, as one judge sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Number of moments judged.
    pub moments: usize,
    /// Greatest depth of any pair \[m\].
    pub deepest: f64,
    /// Greatest depth of any pair at the last moment \[m\].
    pub deepest_at_end: f64,
    /// Most energy above that of the start \[J\].
    pub gained: f64,
    /// Largest kinetic energy \[J\].
    pub most_kinetic: f64,
    /// Energy lost from start to end \[J\].
    pub lost: f64,
    /// Bodies whose centre of mass went through the surface of another, or that fell out of the
    /// scene.
    pub through: usize,
    /// Largest speed of any centre of mass at the last moment \[m/s\].
    pub end_speed: f64,
}

/// Judges moments of a scene. States that are not finite end the moments: all their bodies count as
/// gone.
pub fn judge(ready: &mut Ready, moments: &[Moment]) -> Result<Verdict, Problem> {
    let mut depth = DepthSearch::default();
    let mut verdict = Verdict::default();
    let start_energy = {
        put(&mut ready.built, &moments[0])?;
        ready.built.world.energy().total()
    };
    let count = ready.built.world.bodies().len();
    let mut is_through = vec![false; count];
    let mut before: Option<&Moment> = None;
    for moment in moments {
        let is_finite = |moving: &Moving| {
            let pose = moving.pose;
            pose.translation.is_finite()
                && pose.rotation.is_finite()
                && pose.translation.length() < 1e6
                && moving.velocity.is_finite()
                && moving.spin.is_finite()
        };
        if !moment.bodies.iter().all(is_finite) {
            for (index, body) in ready.built.world.bodies().iter().enumerate() {
                is_through[index] |= body.is_free();
            }
            verdict.gained = f64::INFINITY;
            break;
        }
        put(&mut ready.built, moment)?;
        let world = &ready.built.world;
        let energy = world.energy();
        verdict.moments += 1;
        verdict.gained = verdict.gained.max(energy.total() - start_energy);
        verdict.lost = start_energy - energy.total();
        verdict.most_kinetic = verdict.most_kinetic.max(energy.kinetic);
        verdict.deepest_at_end = depth.deepest(world).map_or(0.0, |pair| pair.depth);
        verdict.deepest = verdict.deepest.max(verdict.deepest_at_end);
        let speeds = world.bodies().iter().filter(|body| body.is_free());
        verdict.end_speed = speeds.fold(0.0, |most, body| most.max(body.velocity().length()));
        mark_through(ready, before.unwrap_or(moment), moment, &mut is_through);
        before = Some(moment);
    }
    verdict.through = is_through.iter().filter(|&&is| is).count();
    Ok(verdict)
}

/// Marks bodies whose centre of mass is in the solid of another somewhere between two moments.
///
/// Bodies whose centre is outside their own solid, such as rings, may be pierced without a fault:
/// those are marked by what they fell through alone, a half-space.
fn mark_through(ready: &Ready, from: &Moment, to: &Moment, is_through: &mut [bool]) {
    const PARTS: usize = 16;
    let bodies = ready.built.world.bodies();
    for (index, body) in bodies.iter().enumerate() {
        if !body.is_free() {
            continue;
        }
        let center = body.settings().mass.center;
        let own = body.geometry().shape().field().distance(center.as_vec3());
        let shape = &ready.scene.bodies[index].shape;
        let is_small = matches!(shape, BodyShape::Sphere { .. } | BodyShape::Box { .. });
        for (other, obstacle) in bodies.iter().enumerate() {
            let is_ground = obstacle.geometry().as_half_space().is_some();
            let counts = is_ground || (is_small && own < 0.0);
            if other == index || !counts {
                continue;
            }
            for part in 0..=PARTS {
                let share = part as f64 / PARTS as f64;
                let at = |moment: &Moment| moment.bodies[index].pose.point(center);
                let obstacle_pose = |moment: &Moment| moment.bodies[other].pose;
                let place = at(from).lerp(at(to), share);
                let near = if share < 0.5 { from } else { to };
                let inner = match obstacle.is_free() {
                    true => obstacle_pose(near).to_inner(place),
                    false => obstacle.pose().to_inner(place),
                };
                let solid = obstacle.geometry().shape().solid();
                let inner = inner.as_vec3();
                let may = !solid.is_finite()
                    || (inner.cmpge(solid.min).all() && inner.cmple(solid.max).all());
                if may && obstacle.geometry().shape().field().distance(inner) < 0.0 {
                    is_through[index] = true;
                }
            }
        }
        // Where there is no ground: it fell.
        let fallen =
            from.bodies[index].pose.translation - bodies[index].settings().pose.translation;
        let size = f64::from(body.geometry().shape().solid().diagonal());
        let has_ground = (bodies.iter()).any(|other| other.geometry().as_half_space().is_some());
        is_through[index] |= !has_ground && -fallen.z > 10.0 * size;
    }
}
