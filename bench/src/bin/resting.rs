//! Measures a shell at rest on a plane, the cost and error of time budgets, and how cost grows.
//! Markdown to stdout, CSV and pictures to files.
//!
//! ```text
//! resting [--mesh FILE] [--queries N] [--poses N] [--only resting|budget|pair] [--csv FILE]
//!         [--pictures FOLDER]
//! ```
//!
//! Input: a closed mesh, by default the bunny of `TOUCHFIELD_MESHES`, or without it a knot of as
//! many faces.
//! Output: CPU microseconds per query, with all points and with the tree, over the size of the
//! shell; times and errors under budgets; the cost of a pair of bodies over shell points and over
//! resolution.
//! Cost: minutes.
//! Not for: comparison with other libraries (`bench/peers/contact_run`).
//!
//! Resting poses are turned at random, and lowered until the deepest point of the shell is 0.1 % of
//! the diagonal below the plane.

#![expect(clippy::print_stdout, reason = "a program: its result goes there")]

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use glam::Vec3;
use touchfield::bake::pointshell::{ShellDensity, ShellSettings, shell_of_mesh};
use touchfield::bake::{BakeSettings, Resolution, bake};
use touchfield::field::primitive::HalfSpace;
use touchfield::field::{DenseGrid, StoredField};
use touchfield::geom::Pose;
use touchfield::mesh::TriangleMesh;
use touchfield::narrow::{
    CollideSettings, ContactMethod, Contacts, Outcome, Pair, Scratch, collide,
};
use touchfield::pointshell::PointShell;
use touchfield::shape::Shape;
use touchfield_bench::models;
use touchfield_conformance::plot::{self, Panel, Series};
use touchfield_conformance::random::Random;

/// Numbers of shell points; the third is that of \[Sagardia2014\].
const POINTS: [u32; 5] = [1_000, 10_000, 35_000, 100_000, 1_000_000];
/// Points of the shell that budgets are measured on.
const BUDGET_POINTS: u32 = 35_000;
/// Time budgets \[µs\].
const BUDGETS: [u32; 7] = [5, 10, 20, 50, 100, 200, 500];
/// Nodes along the longest side.
const RESOLUTIONS: [u32; 4] = [32, 64, 128, 256];
/// Depth at rest, as a share of the diagonal of the mesh.
const DEPTH: f64 = 1e-3;
/// Merge radius of contacts, as a share of the diagonal of the mesh.
const DETAIL: f64 = 0.03;

type Problem = Box<dyn Error>;

struct Options {
    mesh: Option<PathBuf>,
    queries: usize,
    poses: usize,
    only: Option<String>,
    csv: Option<PathBuf>,
    pictures: Option<PathBuf>,
}

impl Options {
    fn read() -> Result<Options, Problem> {
        let mut options = Options {
            mesh: None,
            queries: 100_000,
            poses: 200,
            only: None,
            csv: None,
            pictures: None,
        };
        let mut words = std::env::args().skip(1);
        while let Some(option) = words.next() {
            let value = words.next().ok_or(format!("{option} needs a value"))?;
            match option.as_str() {
                "--mesh" => options.mesh = Some(value.into()),
                "--queries" => options.queries = value.parse()?,
                "--poses" => options.poses = value.parse()?,
                "--only" => options.only = Some(value),
                "--csv" => options.csv = Some(value.into()),
                "--pictures" => options.pictures = Some(value.into()),
                _ => return Err(format!("unknown option {option}").into()),
            }
        }
        if options.poses == 0 || options.queries == 0 {
            return Err("at least one pose and one query".into());
        }
        Ok(options)
    }

    /// Returns whether a part is to be measured.
    fn wants(&self, part: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only == part)
    }
}

/// Two bodies in a list of poses.
struct Scene<'a> {
    a: &'a Shape,
    b: &'a Shape,
    poses: Vec<Pose>,
}

fn main() -> Result<(), Problem> {
    let options = Options::read()?;
    // The clock measures one thread, so no other thread may share the work: methods that split
    // their work would seem faster than they are.
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    (alone.install(|| measure(&options).map_err(|problem| problem.to_string())))?;
    Ok(())
}

fn measure(options: &Options) -> Result<(), Problem> {
    let reference = models::reference(options.mesh.as_deref())?;
    let mesh = &reference.mesh;
    println!("{}, {} faces.\n", reference.name, mesh.faces.len());
    let mut csv = String::from("scene,method,shell_points,nodes,budget_us,figure,value\n");
    // Bake all fields and shells once; the parts below combine them.
    let fields: Vec<DenseGrid> = (RESOLUTIONS.iter())
        .map(|&nodes| field_of(mesh, nodes))
        .collect::<Result<_, _>>()?;
    let shells: Vec<Arc<PointShell>> = (POINTS.iter())
        .map(|&points| shell_with(mesh, &fields[2], points).map(Arc::new))
        .collect::<Result<_, _>>()?;
    let plane = Shape::new(HalfSpace::new(Vec3::Z, 0.0)?);
    let with = |nodes: usize, points: usize| {
        let field = Arc::new(StoredField::from(fields[nodes].clone()));
        Shape::stored(field).with_shell(shells[points].clone())
    };
    let diagonal = mesh.bounds().diagonal();

    // Resting on a plane, over the number of points.
    if options.wants("resting") {
        println!(
            "| shell points | every point [µs] | tree [µs] | times as fast | contacts | with detail [µs] | contacts |\n|--:|--:|--:|--:|--:|--:|--:|"
        );
    }
    let mut resting_growth = Vec::new();
    let measured = shells
        .iter()
        .enumerate()
        .filter(|_| options.wants("resting"));
    for (index, shell) in measured {
        let shape = with(2, index);
        let scene = Scene {
            a: &plane,
            b: &shape,
            poses: resting(shell, DEPTH * diagonal, options.poses),
        };
        let count = shell.points().len();
        let every = cost(&scene, ContactMethod::PointSamples, 1)?;
        let tree = cost(&scene, ContactMethod::ShellTraversal, 20)?;
        let detail = (DETAIL * diagonal) as f32;
        let few = cost_to(&scene, ContactMethod::ShellTraversal, detail, 20)?;
        println!(
            "| {count} | {:.1} | {:.2} | {:.0} | {:.0} | {:.2} | {:.0} |",
            every.micros,
            tree.micros,
            every.micros / tree.micros,
            tree.contacts,
            few.micros,
            few.contacts
        );
        for (method, micros) in [
            ("point-samples", every.micros),
            ("shell-traversal", tree.micros),
            ("shell-traversal with detail", few.micros),
        ] {
            writeln!(csv, "resting,{method},{count},,,cpu_us,{micros:.3}")?;
        }
        resting_growth.push([count as f64, every.micros, tree.micros, few.micros]);
    }

    // Budgets, for a resting body and for a deep pair.
    let shape = with(2, 2);
    let rest = Scene {
        a: &plane,
        b: &shape,
        poses: resting(&shells[2], DEPTH * diagonal, options.poses),
    };
    let deep = Scene {
        a: &shape,
        b: &shape,
        poses: deep(mesh, options.poses),
    };
    let mut panels = Vec::new();
    let budgeted = [("resting", &rest), ("deep pair", &deep)].into_iter();
    for (name, scene) in budgeted.filter(|_| options.wants("budget")) {
        let rows = budgets(name, scene, options.queries, diagonal, &mut csv)?;
        panels.push(budget_panel(name, &rows));
    }
    // Growth with points and with resolution.
    let growth = match options.wants("pair") {
        true => growth(mesh, &shells, &with, options.poses, &mut csv)?,
        false => Growth::default(),
    };
    // Pictures and CSV.
    if let Some(folder) = &options.pictures {
        if options.wants("budget") {
            fs::write(folder.join("budget.svg"), plot::svg(&[panels]))?;
        }
        if options.only.is_none() {
            let picture = growth_picture(&resting_growth, &growth);
            fs::write(folder.join("contact_growth.svg"), picture)?;
        }
    }
    if let Some(path) = &options.csv {
        write_file(path, &csv)?;
    }
    Ok(())
}

fn write_file(path: &Path, text: &str) -> Result<(), Problem> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    Ok(fs::write(path, text)?)
}

fn field_of(mesh: &TriangleMesh, nodes: u32) -> Result<DenseGrid, Problem> {
    let settings = BakeSettings {
        resolution: Resolution::Nodes(nodes),
        ..Default::default()
    };
    Ok(bake(mesh, &settings)?.field)
}

fn shell_with(mesh: &TriangleMesh, field: &DenseGrid, points: u32) -> Result<PointShell, Problem> {
    let settings = ShellSettings {
        density: ShellDensity::Points(points),
        ..Default::default()
    };
    Ok(shell_of_mesh(mesh, field, &settings)?)
}

/// Returns poses turned at random, with the lowest point `depth` below z = 0.
fn resting(shell: &PointShell, depth: f64, count: usize) -> Vec<Pose> {
    let mut random = Random::new(1);
    let pose = |_| {
        let rotation = random.quaternion().as_quat().normalize();
        let heights = shell.points().iter().map(|&point| (rotation * point).z);
        let lowest = heights.fold(f32::INFINITY, f32::min);
        Pose {
            rotation,
            translation: Vec3::Z * (-lowest - depth as f32),
        }
    };
    (0..count).map(pose).collect()
}

/// Returns poses turned at random, with centres a fifth of the diagonal apart.
fn deep(mesh: &TriangleMesh, count: usize) -> Vec<Pose> {
    let mut random = Random::new(2);
    let middle = mesh.bounds().center().as_vec3();
    let apart = 0.2 * mesh.bounds().diagonal();
    let pose = |_| {
        let rotation = random.quaternion().as_quat().normalize();
        let offset = apart * random.unit_vector();
        Pose {
            rotation,
            translation: middle - rotation * middle + offset.as_vec3(),
        }
    };
    (0..count).map(pose).collect()
}

/// Returns poses approached from afar until the deepest shell point is `depth` inside.
fn shallow(shape: &Shape, depth: f32, count: usize) -> Vec<Pose> {
    let points = shape.shell().map_or(&[][..], PointShell::points);
    let middle = shape.solid().center();
    let far = 2.0 * shape.solid().diagonal();
    let mut random = Random::new(3);
    let pose = |_| {
        let rotation = random.quaternion().as_quat().normalize();
        let direction = random.unit_vector().as_vec3();
        let at = |distance: f32| Pose {
            rotation,
            translation: middle - rotation * middle + distance * direction,
        };
        let deepest = |pose: Pose| {
            let distances = points
                .iter()
                .map(|&point| shape.field().distance(pose.transform_point(point)));
            distances.fold(f32::INFINITY, f32::min)
        };
        let (mut inside, mut free) = (0.0, far);
        for _ in 0..20 {
            let between = 0.5 * (inside + free);
            if deepest(at(between)) < -depth {
                inside = between;
            } else {
                free = between;
            }
        }
        at(inside)
    };
    (0..count).map(pose).collect()
}

/// Mean cost of a query.
struct Cost {
    micros: f64,
    contacts: f64,
}

/// Measures the CPU time of one thread over all poses: the least of three rounds after one warm-up
/// round.
fn cost(scene: &Scene<'_>, method: ContactMethod, repeats: usize) -> Result<Cost, Problem> {
    cost_to(scene, method, 0.0, repeats)
}

/// Measures the cost as [`cost`] does, with contacts merged within `detail` \[m\].
fn cost_to(
    scene: &Scene<'_>,
    method: ContactMethod,
    detail: f32,
    repeats: usize,
) -> Result<Cost, Problem> {
    let settings = CollideSettings {
        method,
        detail,
        ..Default::default()
    };
    let (mut scratch, mut out) = (Scratch::default(), Contacts::default());
    let mut best = f64::INFINITY;
    let mut contacts = 0;
    for round in 0..4 {
        contacts = 0;
        let start = ThreadTime::now();
        for &a_from_b in scene.poses.iter().cycle().take(repeats * scene.poses.len()) {
            let pair = Pair {
                a: scene.a,
                b: scene.b,
                a_from_b,
            };
            collide(&pair, &settings, &mut scratch, &mut out)?;
            contacts += out.contacts.len();
        }
        if round > 0 {
            best = best.min(start.elapsed().as_secs_f64());
        }
    }
    let queries = (repeats * scene.poses.len()) as f64;
    Ok(Cost {
        micros: 1e6 * best / queries,
        contacts: contacts as f64 / queries,
    })
}

/// Cost and result of one budget; errors are shares of the diagonal.
struct BudgetRow {
    micros: u32,
    mean_error: f64,
    worst_error: f64,
}

fn budgets(
    name: &str,
    scene: &Scene<'_>,
    queries: usize,
    diagonal: f64,
    csv: &mut String,
) -> Result<Vec<BudgetRow>, Problem> {
    let full = cost(scene, ContactMethod::ShellTraversal, 1)?;
    println!(
        "\n{name}, {BUDGET_POINTS} points, {:.0} contacts: {:.1} µs without a budget.\n",
        full.contacts, full.micros
    );
    println!(
        "| budget [µs] | median [µs] | 99 % | 99.9 % | overrun at 99.9 % | of a loop that only looks at the clock | slowest pose, median [µs] | whole answers | mean error / diagonal | worst |\n|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    );
    let (mut scratch, mut out) = (Scratch::default(), Contacts::default());
    let mut settings = CollideSettings {
        method: ContactMethod::ShellTraversal,
        ..Default::default()
    };
    // Reference: the deepest contact of every pose, without a budget.
    let mut truth = Vec::new();
    for &a_from_b in &scene.poses {
        let pair = Pair {
            a: scene.a,
            b: scene.b,
            a_from_b,
        };
        collide(&pair, &settings, &mut scratch, &mut out)?;
        truth.push(
            out.contacts
                .first()
                .map_or(0.0, |contact| f64::from(contact.separation)),
        );
    }
    // Queries under each budget, cycling through the poses.
    let mut rows = Vec::new();
    for micros in BUDGETS {
        settings.budget = Some(Duration::from_micros(micros.into()));
        let mut times = Vec::with_capacity(queries);
        let (mut sum, mut worst, mut whole) = (0.0, 0.0f64, 0usize);
        for query in 0..queries {
            let index = query % scene.poses.len();
            let pair = Pair {
                a: scene.a,
                b: scene.b,
                a_from_b: scene.poses[index],
            };
            let start = ThreadTime::now();
            collide(&pair, &settings, &mut scratch, &mut out)?;
            times.push(1e6 * start.elapsed().as_secs_f64());
            let deepest = out
                .contacts
                .first()
                .map_or(0.0, |contact| f64::from(contact.separation));
            let error = (deepest - truth[index]).abs() / diagonal;
            sum += error;
            worst = worst.max(error);
            whole += usize::from(out.outcome == Outcome::Complete);
        }
        // Percentiles, and the control that only reads the clock.
        let slowest = slowest_pose(&times, scene.poses.len());
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times[((share * queries as f64) as usize).min(queries - 1)];
        let row = BudgetRow {
            micros,
            mean_error: sum / queries as f64,
            worst_error: worst,
        };
        let whole = whole as f64 / queries as f64;
        let control = clock_loop(micros, queries);
        println!(
            "| {micros} | {:.1} | {:.1} | {:.1} | {:+.0} % | {:+.0} % | {slowest:.1} | {:.0} % | {:.1e} | {:.1e} |",
            at(0.5),
            at(0.99),
            at(0.999),
            100.0 * (at(0.999) / f64::from(micros) - 1.0),
            100.0 * (control / f64::from(micros) - 1.0),
            100.0 * whole,
            row.mean_error,
            row.worst_error
        );
        let figures = [
            ("p50_us", at(0.5)),
            ("p99_us", at(0.99)),
            ("p999_us", at(0.999)),
            ("clock_loop_p999_us", control),
            ("slowest_pose_p50_us", slowest),
            ("whole", whole),
            ("mean_error_of_diagonal", row.mean_error),
            ("worst_error_of_diagonal", row.worst_error),
        ];
        for (figure, value) in figures {
            writeln!(
                csv,
                "{name},shell-traversal,{BUDGET_POINTS},,{micros},{figure},{value:.4e}"
            )?;
        }
        rows.push(row);
    }
    Ok(rows)
}

/// Returns the median time of the slowest pose: the cost of the queries themselves, without what
/// the machine adds to some of them. `times` cycles through the poses.
fn slowest_pose(times: &[f64], poses: usize) -> f64 {
    let median = |pose: usize| {
        let mut own: Vec<f64> = times.iter().skip(pose).step_by(poses).copied().collect();
        own.sort_by(f64::total_cmp);
        own.get(own.len() / 2).copied().unwrap_or(0.0)
    };
    (0..poses).map(median).fold(0.0, f64::max)
}

/// Returns the 99.9th percentile of the CPU time of a loop that stops after `micros` by the wall
/// clock \[µs\]: what the machine adds.
fn clock_loop(micros: u32, queries: usize) -> f64 {
    let budget = Duration::from_micros(micros.into());
    let mut times: Vec<f64> = (0..queries)
        .map(|_| {
            let start = ThreadTime::now();
            let deadline = Instant::now() + budget;
            while Instant::now() < deadline {}
            1e6 * start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[(999 * queries / 1000).min(queries - 1)]
}

fn budget_panel(name: &str, rows: &[BudgetRow]) -> Panel {
    let curve = |label: &str, error: fn(&BudgetRow) -> f64| Series {
        name: label.to_owned(),
        points: rows
            .iter()
            .map(|row| [f64::from(row.micros), error(row)])
            .collect(),
    };
    Panel {
        title: name.to_owned(),
        x: "budget [µs]".to_owned(),
        y: "error of the depth / diagonal".to_owned(),
        series: vec![
            curve("mean", |row| row.mean_error),
            curve("worst", |row| row.worst_error),
        ],
        slope: None,
    }
}

/// Cost of a shallow pair, over shell points and over nodes per side.
#[derive(Default)]
struct Growth {
    points: Vec<[f64; 3]>,
    nodes: Vec<[f64; 3]>,
}

fn growth(
    mesh: &TriangleMesh,
    shells: &[Arc<PointShell>],
    with: &dyn Fn(usize, usize) -> Shape,
    poses: usize,
    csv: &mut String,
) -> Result<Growth, Problem> {
    let poses = shallow(
        &with(2, 1),
        (5e-3 * mesh.bounds().diagonal()) as f32,
        poses.min(100),
    );
    let mut growth = Growth {
        points: Vec::new(),
        nodes: Vec::new(),
    };
    println!(
        "\n| shallow pair: shell points | nodes a side | tree [µs] | contacts | with detail [µs] | contacts |\n|--:|--:|--:|--:|--:|--:|"
    );
    let over_points = (0..POINTS.len()).map(|points| (2, points));
    let over_nodes = (0..RESOLUTIONS.len()).map(|nodes| (nodes, 2));
    for (run, (nodes, points)) in over_points.chain(over_nodes).enumerate() {
        let shape = with(nodes, points);
        let scene = Scene {
            a: &shape,
            b: &shape,
            poses: poses.clone(),
        };
        let cost = cost(&scene, ContactMethod::ShellTraversal, 3)?;
        let detail = (DETAIL * mesh.bounds().diagonal()) as f32;
        let few = cost_to(&scene, ContactMethod::ShellTraversal, detail, 3)?;
        let (count, nodes) = (shells[points].points().len(), RESOLUTIONS[nodes]);
        println!(
            "| {count} | {nodes} | {:.1} | {:.0} | {:.1} | {:.0} |",
            cost.micros, cost.contacts, few.micros, few.contacts
        );
        writeln!(
            csv,
            "shallow pair,shell-traversal,{count},{nodes},,cpu_us,{:.3}",
            cost.micros
        )?;
        writeln!(
            csv,
            "shallow pair,shell-traversal with detail,{count},{nodes},,cpu_us,{:.3}",
            few.micros
        )?;
        if run < POINTS.len() {
            (growth.points).push([count as f64, cost.micros, few.micros]);
        } else {
            (growth.nodes).push([f64::from(nodes), cost.micros, few.micros]);
        }
    }
    Ok(growth)
}

fn growth_picture(resting: &[[f64; 4]], growth: &Growth) -> String {
    let curve = |name: &str, points: Vec<[f64; 2]>| Series {
        name: name.to_owned(),
        points,
    };
    let panel = |title: &str, x: &str, series| Panel {
        title: title.to_owned(),
        x: x.to_owned(),
        y: "CPU time [µs]".to_owned(),
        series,
        slope: Some(1.0),
    };
    let at_rest = |column: usize| -> Vec<[f64; 2]> {
        resting.iter().map(|row| [row[0], row[column]]).collect()
    };
    let pair = |rows: &[[f64; 3]]| -> Vec<Series> {
        let column = |column: usize| rows.iter().map(|row| [row[0], row[column]]).collect();
        vec![curve("tree", column(1)), curve("with detail", column(2))]
    };
    plot::svg(&[vec![
        panel(
            "at rest on a plane",
            "shell points",
            vec![
                curve("every point", at_rest(1)),
                curve("tree", at_rest(2)),
                curve("with detail", at_rest(3)),
            ],
        ),
        panel("shallow pair", "shell points", pair(&growth.points)),
        panel("shallow pair", "nodes along a side", pair(&growth.nodes)),
    ]])
}
