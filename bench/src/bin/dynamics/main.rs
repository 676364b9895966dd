//! Tables about `touchfield-dynamics`: what integrators lose, what normals of points do to energy,
//! and what mechanisms cost. CSV to stdout.
//!
//! ```text
//! dynamics tops         free tops: drift of energy and of the orientation, per integrator and step
//! dynamics loops        work of penalty forces round closed paths, per direction of the forces
//! dynamics mechanisms [SCENE ...]
//!                       step time, depth and energy of ready scenes with impulses
//! ```
//!
//! Input: none; ready scenes of `touchfield simulate`.
//! Output: rows of CSV.
//! Cost: seconds; `mechanisms` minutes, most of it for measuring depths.
//! Not for: other simulators, see `simulators`.

#![expect(clippy::print_stdout, reason = "a program: its result goes there")]

use std::f64::consts::TAU;
use std::sync::Arc;

use cpu_time::ProcessTime;
use glam::{DQuat, DVec3, Vec3};
use touchfield::bake::pointshell::{ShellDensity, ShellSettings, shell_of_mesh};
use touchfield::bake::{BakeSettings, Resolution, bake};
use touchfield::field::StoredField;
use touchfield::field::primitive::HalfSpace;
use touchfield::geom::Pose;
use touchfield::mesh::generate;
use touchfield::narrow::{Pair, PenaltyNormals, Scratch, WrenchSettings, penalty_wrench};
use touchfield::shape::{Convex, Shape};
use touchfield_bench::scenes::{Problem, Ready, ready};
use touchfield_conformance::random::Random;
use touchfield_dynamics::{
    BodySettings, DepthSearch, Geometry, Integrator, Mass, World, WorldSettings,
};

/// Scenes that hold by contact alone, and degenerate ones.
const MECHANISMS: [&str; 20] = [
    "nut-on-bolt",
    "bolt-in-nut",
    "piston",
    "geneva",
    "chain",
    "arch",
    "turntable",
    "card-house",
    "gears",
    "peg-in-hole",
    "cliff",
    "internal-edges",
    "spike-slide",
    "wedge-slide",
    "spike-on-spike",
    "spike-on-wedge",
    "wedge-on-wedge",
    "spike-in-hole",
    "wedge-in-crack",
    "cube-between-walls",
];

fn main() -> Result<(), Problem> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    // One thread, so that CPU time is comparable.
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let outcome = alone.install(|| {
        let done = match words.as_slice() {
            ["tops"] => tops(),
            ["loops"] => loops(),
            ["mechanisms", scenes @ ..] => mechanisms(scenes),
            _ => Err("tops | loops | mechanisms: see the head of the source".into()),
        };
        done.map_err(|problem| problem.to_string())
    });
    Ok(outcome?)
}

/// Free tops over ten seconds.
fn tops() -> Result<(), Problem> {
    println!("top,integrator,step_ms,energy_drift,momentum_drift,angle_error_rad");
    let uneven = DVec3::new(1.0, 2.0, 3.0);
    let cases = [
        (
            "symmetric",
            DVec3::new(0.7, 0.7, 1.1),
            DVec3::new(2.0, -1.0, 4.0),
        ),
        ("about the longest axis", uneven, DVec3::new(5.0, 0.1, 0.1)),
        ("about the middle axis", uneven, DVec3::new(1e-3, 5.0, 0.0)),
    ];
    for (name, moments, spin) in cases {
        // A step so short that what it is off does not show.
        let (truth, ..) = top(moments, spin, Integrator::Rk4, 5e-5)?;
        for integrator in Integrator::ALL {
            for step in [1e-3, 1e-2] {
                let (turn, energy, momentum) = top(moments, spin, integrator, step)?;
                println!(
                    "{name},{},{},{energy:.3e},{momentum:.3e},{:.3e}",
                    integrator.name(),
                    1e3 * step,
                    turn.angle_between(truth)
                );
            }
        }
    }
    Ok(())
}

/// Returns the orientation after ten seconds, and the largest drifts of energy and of angular
/// momentum as shares.
fn top(
    moments: DVec3,
    spin: DVec3,
    integrator: Integrator,
    step: f64,
) -> Result<(DQuat, f64, f64), Problem> {
    let mut world = World::new(WorldSettings {
        gravity: DVec3::ZERO,
        step,
        integrator: Some(integrator),
        substeps: 1,
        ..WorldSettings::default()
    })?;
    let geometry = Geometry::convex(Convex::cuboid(Vec3::splat(0.1))?)?;
    world.add(BodySettings {
        angular_velocity: spin,
        ..BodySettings::new(geometry, Mass::about_origin(1.0, moments))
    })?;
    let start = world.energy().kinetic;
    let momentum = world.bodies()[0].state().angular_momentum;
    let (mut energy_off, mut momentum_off) = (0.0_f64, 0.0_f64);
    while world.time() < 10.0 - 0.5 * step {
        world.step()?;
        energy_off = energy_off.max((world.energy().kinetic / start - 1.0).abs());
        let now = world.bodies()[0].state().angular_momentum;
        momentum_off = momentum_off.max((now - momentum).length() / momentum.length());
    }
    Ok((world.bodies()[0].pose().rotation, energy_off, momentum_off))
}

/// Work of penalty forces round closed paths.
fn loops() -> Result<(), Problem> {
    const LOOPS: usize = 20;
    println!("pair,forces,loops,points_inside,work_mean_pct,work_most_pct,gained_most_pct");
    let stored = |mesh: &touchfield::mesh::TriangleMesh| -> Result<Shape, Problem> {
        let settings = BakeSettings {
            resolution: Resolution::Nodes(64),
            ..Default::default()
        };
        let field = Arc::new(StoredField::from(bake(mesh, &settings)?.field));
        let settings = ShellSettings {
            density: ShellDensity::Points(10_000),
            ..Default::default()
        };
        let shell = Arc::new(shell_of_mesh(mesh, &*field, &settings)?);
        Ok(Shape::stored(field).with_shell(shell))
    };
    let ring = stored(&generate::torus(generate::Torus::default())?)?;
    let gear = stored(&generate::gear(generate::Gear::default())?)?;
    let floor = Shape::new(HalfSpace::new(Vec3::Z, 0.0)?);
    let pairs = [
        ("ring on half-space", &floor, &ring),
        ("gear on half-space", &floor, &gear),
        ("ring on ring", &ring, &ring),
        ("gear on gear", &gear, &gear),
    ];
    for (name, a, b) in pairs {
        for (forces, normals) in [
            ("along the gradient", PenaltyNormals::Field),
            ("along normals of points", PenaltyNormals::Point),
        ] {
            let mut random = Random::new(31);
            let (mut sum, mut most, mut gained, mut inside, mut count) =
                (0.0, 0.0_f64, 0.0_f64, 0, 0);
            while count < LOOPS {
                let size = f64::from(b.solid().diagonal());
                let place = match a.solid().is_finite() {
                    true => 0.35 * size * random.unit_vector(),
                    false => DVec3::new(0.0, 0.0, 0.15 * size),
                };
                let path = Path {
                    place,
                    rotation: random.quaternion(),
                    sides: [0, 1].map(|_| 0.02 * size * random.unit_vector()),
                    turns: [0, 1].map(|_| 0.05 * random.unit_vector()),
                };
                let Some((work, gross, points)) = path.work(a, b, normals)? else {
                    continue;
                };
                sum += (work / gross).abs();
                most = most.max((work / gross).abs());
                gained = gained.max(work / gross);
                inside += points;
                count += 1;
            }
            println!(
                "{name},{forces},{LOOPS},{},{:.4},{:.4},{:.4}",
                inside / LOOPS as u32,
                100.0 * sum / LOOPS as f64,
                100.0 * most,
                100.0 * gained
            );
        }
    }
    Ok(())
}

/// A closed path of B.
struct Path {
    place: DVec3,
    rotation: DQuat,
    sides: [DVec3; 2],
    turns: [DVec3; 2],
}

impl Path {
    fn at(&self, share: f64) -> (DQuat, DVec3) {
        let (sin, cos) = (TAU * share).sin_cos();
        let turn = sin * self.turns[0] + cos * self.turns[1];
        let place = self.place + sin * self.sides[0] + cos * self.sides[1];
        (
            (DQuat::from_scaled_axis(turn) * self.rotation).normalize(),
            place,
        )
    }

    /// Returns the work round the path, the sum of its parts without their signs, and how many
    /// points were inside at the start; `None` where there were hardly any.
    fn work(
        &self,
        a: &Shape,
        b: &Shape,
        normals: PenaltyNormals,
    ) -> Result<Option<(f64, f64, u32)>, Problem> {
        const STEPS: usize = 400;
        let mut scratch = Scratch::default();
        let (mut work, mut gross, mut points) = (0.0, 0.0, 0);
        for step in 0..STEPS {
            let share = |offset: f64| (step as f64 + offset) / STEPS as f64;
            let [from, middle, to] = [0.0, 0.5, 1.0].map(|offset| self.at(share(offset)));
            let a_from_b = Pose {
                rotation: middle.0.as_quat().normalize(),
                translation: middle.1.as_vec3(),
            };
            let settings = WrenchSettings {
                stiffness: 1e9,
                about: Some(a_from_b.translation),
                normals,
                ..WrenchSettings::default()
            };
            let found = penalty_wrench(&Pair { a, b, a_from_b }, &settings, &mut scratch)?;
            if step == 0 {
                points = found.points;
                if points < 50 {
                    return Ok(None);
                }
            }
            let turn = to.0 * from.0.conjugate();
            let turn = if turn.w < 0.0 { -turn } else { turn };
            let part = found.wrench.force.as_dvec3().dot(to.1 - from.1)
                + found.wrench.torque.as_dvec3().dot(turn.to_scaled_axis());
            work += part;
            gross += part.abs();
        }
        Ok(Some((work, gross, points)))
    }
}

/// Ready scenes with impulses: times, depths, energies.
fn mechanisms(scenes: &[&str]) -> Result<(), Problem> {
    println!(
        "scene,bodies,step_ms,steps,step_us,worst_step_us,real_time,deepest_mm,deepest_pct,\
         gained_pct,end_contacts"
    );
    let folder = std::env::temp_dir().join(format!("touchfield-mechanisms-{}", std::process::id()));
    let wanted = if scenes.is_empty() {
        &MECHANISMS[..]
    } else {
        scenes
    };
    for name in wanted {
        println!("{}", mechanism(name, ready(name, &folder, |text| text)?)?);
    }
    Ok(std::fs::remove_dir_all(&folder)?)
}

fn mechanism(name: &str, ready: Ready) -> Result<String, Problem> {
    let Ready { scene, built, .. } = ready;
    let mut world = built.world;
    let mut search = DepthSearch::default();
    let step = scene.world.step;
    let every = (scene.record_every / step).round().max(1.0) as u64;
    let start = world.energy().total();
    let (mut spent, mut worst, mut deepest) = (0.0, 0.0_f64, 0.0_f64);
    let (mut gained, mut kinetic) = (0.0_f64, world.energy().kinetic);
    for number in 1..=scene.steps() {
        let begin = ProcessTime::now();
        world.step()?;
        let took = begin.elapsed().as_secs_f64();
        spent += took;
        worst = worst.max(took);
        let energy = world.energy();
        gained = gained.max(energy.total() - start);
        kinetic = kinetic.max(energy.kinetic);
        deepest = deepest.max(world.take_deepest());
        if number.is_multiple_of(every) {
            let found = search.deepest_beyond(&world, deepest);
            deepest = found.map_or(deepest, |pair| deepest.max(pair.depth));
        }
    }
    let sizes = world.bodies().iter().filter(|body| body.is_free());
    let sizes = sizes.map(|body| f64::from(body.geometry().shape().solid().diagonal()));
    let smallest = sizes.fold(f64::INFINITY, f64::min);
    // Energy that a drive brings in is no gain, and where nothing moves there is nothing to compare
    // with.
    const LEAST_KINETIC: f64 = 1e-6;
    let is_driven = (scene.bodies.iter())
        .any(|body| matches!(body.moves, touchfield_dynamics::Moves::Driven(_)));
    let gained = match is_driven || kinetic < LEAST_KINETIC {
        true => String::new(),
        false => format!("{:.4}", 100.0 * gained / kinetic),
    };
    let steps = scene.steps() as f64;
    Ok(format!(
        "{name},{},{},{},{:.1},{:.1},{:.2},{:.5},{:.4},{gained},{}",
        scene.bodies.len(),
        1e3 * step,
        scene.steps(),
        1e6 * spent / steps,
        1e6 * worst,
        scene.steps() as f64 * step / spent,
        1e3 * deepest,
        100.0 * deepest / smallest,
        world.contact_count()
    ))
}
