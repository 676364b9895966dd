//! Measures what a shell saves a cast:
//! `first_touch [MESH..] [--motions N] [--nodes N] [--csv FILE]`.
//!
//! Input: meshes, each of which flies at a copy of itself; by default a torus knot, a gear and a
//! mug.
//! Output: per mesh, motion and distance, the mean and the worst time of a cast by separation
//! queries alone and with shells, the share of motions that are slower with shells, and the time of
//! `sweep_shell` (with its octree) for the proof that the shell gives.
//! Not for: accuracy, which the tests compare with closed forms and triangles.

#![expect(clippy::print_stdout, reason = "a program: its result goes there")]

use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use glam::{DVec3, Vec3};
use touchfield::bake::pointshell::{ShellDensity, ShellSettings, shell_of_mesh};
use touchfield::bake::{BakeSettings, Resolution, bake, surface_of_mesh};
use touchfield::field::{FieldOctree, StoredField};
use touchfield::geom::{Motion, PairMotion, Pose};
use touchfield::mesh::TriangleMesh;
use touchfield::mesh::generate::{self, Bolt, Mug};
use touchfield::mesh::read::{Limits, read_file};
use touchfield::narrow::swept_points::{
    ShellPath, SweepScratch, SweepSettings, SweepWanted, SweptField, sweep_shell,
};
use touchfield::narrow::{CastScratch, CastSettings, cast};
use touchfield::shape::Shape;
use touchfield_bench::models;
use touchfield_conformance::random::Random;

fn main() -> Result<(), Box<dyn Error>> {
    let (mut motions, mut nodes, mut csv) = (100, 96, None);
    let mut bodies = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--motions" => motions = value()?.parse()?,
            "--nodes" => nodes = value()?.parse()?,
            "--csv" => csv = Some(PathBuf::from(value()?)),
            path => {
                let path = PathBuf::from(path);
                let name = path.file_stem().unwrap_or_default().to_string_lossy();
                bodies.push((name.into_owned(), read_file(&path, &Limits::default())?));
            }
        }
    }
    if bodies.is_empty() {
        bodies.push(("knot".to_owned(), models::knot(20_000)?));
        bodies.push(("bolt".to_owned(), generate::bolt(Bolt::default())?));
        bodies.push(("mug".to_owned(), generate::mug(Mug::default())?));
    }
    let mut table = String::from(
        "body,faces,motion,aim,hits,separations_mean_us,shells_mean_us,separations_worst_us,shells_worst_us,\
         slower_share,states,states_with_shells,lower_bound,lower_bound_with_shells,sweep_shell_mean_us\n",
    );
    print!("{table}");
    for (name, mesh) in &bodies {
        for faces in [false, true] {
            let shape = shape_of(mesh, nodes, faces)?;
            for turns in [0.0, 0.5, 3.0] {
                for (aim, aside) in [("hit", 0.0), ("beside", 0.45), ("miss", 1.2)] {
                    let row = measured(&shape, turns, aside, motions)?;
                    let line = format!("{name},{faces},turn {turns},{aim},{row}\n");
                    print!("{line}");
                    let _ = write!(table, "{line}");
                }
            }
        }
    }
    if let Some(path) = csv {
        std::fs::write(path, &table)?;
    }
    Ok(())
}

fn shape_of(mesh: &TriangleMesh, nodes: u32, faces: bool) -> Result<Shape, Box<dyn Error>> {
    let center = mesh.bounds().center();
    let mesh = TriangleMesh {
        vertices: mesh.vertices.iter().map(|&v| v - center).collect(),
        faces: mesh.faces.clone(),
    };
    let settings = BakeSettings {
        resolution: Resolution::Nodes(nodes),
        ..Default::default()
    };
    let field = Arc::new(StoredField::from(bake(&mesh, &settings)?.field));
    let settings = ShellSettings {
        density: ShellDensity::Spacing(field.finest_cell_size()),
        ..Default::default()
    };
    let shell = shell_of_mesh(&mesh, &*field, &settings)?;
    let octree = FieldOctree::build(&field);
    let shape = Shape::stored(field)
        .with_shell(Arc::new(shell))
        .with_octree(Arc::new(octree));
    Ok(match faces {
        true => shape.with_exact_surface(Arc::new(surface_of_mesh(&mesh)?)),
        false => shape,
    })
}

#[derive(Default)]
struct Times {
    sum: f64,
    worst: f64,
}

impl Times {
    fn add(&mut self, microseconds: f64) {
        self.sum += microseconds;
        self.worst = self.worst.max(microseconds);
    }
}

/// Runs the closure twice and returns the shorter time \[µs\]: other load on the machine only adds
/// time.
fn least<T>(mut run: impl FnMut() -> T) -> (f64, T) {
    let mut once = || {
        let start = Instant::now();
        let found = run();
        (start.elapsed().as_secs_f64() * 1e6, found)
    };
    let (first, _) = once();
    let (second, found) = once();
    (first.min(second), found)
}

fn measured(
    shape: &Shape,
    turns: f64,
    aside: f64,
    motions: usize,
) -> Result<String, Box<dyn Error>> {
    let diagonal = f64::from(shape.solid().diagonal());
    let tolerance = (1e-3 * diagonal) as f32;
    let shell = shape.shell().ok_or("no shell")?;
    let with = CastSettings::to_within(tolerance);
    let without = CastSettings {
        by_shells: false,
        ..with
    };
    let sweep = SweepSettings {
        level: shell.covering_radius() + shape.field().error_bound(),
        wanted: SweepWanted::First,
        ..SweepSettings::to_within(0.25 * shell.covering_radius())
    };
    let mut random = Random::new(7);
    let (mut scratch, mut points) = (CastScratch::default(), SweepScratch::default());
    let (mut spans, target) = (Vec::new(), SweptField::of(shape));
    let [mut alone, mut shells, mut swept] = [(); 3].map(|()| Times::default());
    let (mut hits, mut slower) = (0, 0);
    let (mut states, mut bounds) = ([0u32; 2], [0f64; 2]);
    for _ in 0..motions {
        let motion = flight(diagonal, turns, aside, &mut random);
        let (first, a) = least(|| cast(shape, shape, &motion, &without, &mut scratch));
        let (second, b) = least(|| cast(shape, shape, &motion, &with, &mut scratch));
        let (a, b) = (a?, b?);
        hits += usize::from(b.is_hit());
        slower += usize::from(second > 1.1 * first);
        alone.add(first);
        shells.add(second);
        states = [states[0] + a.steps, states[1] + b.steps];
        bounds[0] += f64::from(a.impact.lower_bound);
        bounds[1] += f64::from(b.impact.lower_bound);
        let path = ShellPath::Rigid(motion);
        let (time, _) =
            least(|| sweep_shell(shell, &path, &target, &sweep, &mut points, &mut spans));
        swept.add(time);
    }
    let count = motions as f64;
    Ok(format!(
        "{hits},{:.0},{:.0},{:.0},{:.0},{:.2},{:.1},{:.1},{:.4},{:.4},{:.0}",
        alone.sum / count,
        shells.sum / count,
        alone.worst,
        shells.worst,
        slower as f64 / count,
        f64::from(states[0]) / count,
        f64::from(states[1]) / count,
        bounds[0] / count,
        bounds[1] / count,
        swept.sum / count,
    ))
}

/// Returns a motion in which B flies at A, or past it by `aside` diagonals; both turn by up to
/// `turns` radians.
fn flight(diagonal: f64, turns: f64, aside: f64, random: &mut Random) -> PairMotion {
    let direction = random.unit_vector();
    let across = direction.cross(random.unit_vector()).normalize_or_zero();
    let back = diagonal * random.uniform(1.0, 1.5);
    let mut motion = |translation: DVec3, path: DVec3| Motion {
        start: Pose {
            rotation: random.quaternion().as_quat().normalize(),
            translation: translation.as_vec3(),
        },
        center: Vec3::ZERO,
        translation: path.as_vec3(),
        turn: (random.unit_vector() * turns * random.uniform(0.5, 1.0)).as_vec3(),
    };
    let a = motion(DVec3::ZERO, DVec3::ZERO);
    let from = aside * diagonal * across - back * direction;
    PairMotion::new(a, motion(from, 2.0 * back * direction))
}
