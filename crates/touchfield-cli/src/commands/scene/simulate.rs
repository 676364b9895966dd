//! `touchfield simulate`: bodies of a scene file move, touch and come to rest.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};
use touchfield::mesh::write;
use touchfield_dynamics::scene::{Built, Example, Leave, Scene, SceneError, examples};
use touchfield_dynamics::{DepthSearch, Integrator, Moves, Response};

use crate::args::Common;
use crate::cancel;
use crate::commands::scene::trajectory::Trajectory;
use crate::commands::scene::{checkpoint, glb, plots, strip};
use crate::failure::Failure;
use crate::files::{arrays, output};
use crate::input::load;
use crate::report::progress::{BakeProgress, TimeProgress};
use crate::report::{self, Answer, terminal};

/// Simulate the rigid bodies of a scene file: trajectory, plots, pictures and an animation
#[derive(Args)]
#[command(after_help = "\
Examples:
  touchfield simulate --list                         ready scenes
  touchfield simulate --example stack -o scenes      writes scenes/stack.toml
  touchfield simulate scenes/stack.toml -o run       then open run/scene.glb in any viewer of glTF
  touchfield simulate scenes/stack.toml -o run --resume    goes on after Ctrl-C or a crash

DIR gets trajectory.npz, report.json, scene.glb (the animation), energy.svg, penetration.svg, contacts.svg and strip.png.
While a long simulation runs, DIR/checkpoint.npz holds what is recorded so far; Ctrl-C writes it, too. --resume starts from
the exact states in it, but not from the solver's impulses of the step before, so a resumed run follows the same laws and
not the same bits as one that was not interrupted. docs/DYNAMICS.md lists the keys of a scene file.")]
pub(crate) struct Arguments {
    /// Scene file
    #[arg(value_name = "SCENE.toml", required_unless_present_any = ["list", "example"])]
    scene: Option<PathBuf>,
    /// Output folder; created if it does not exist
    #[arg(short, long, value_name = "DIR", required_unless_present_any = ["list", "example"])]
    output: Option<PathBuf>,
    /// List the ready scenes
    #[arg(long, conflicts_with_all = ["scene", "example"])]
    list: bool,
    /// Write a ready scene and the meshes it needs to -o DIR, or else to the current folder
    #[arg(long, value_name = "NAME", conflicts_with = "scene")]
    example: Option<String>,
    /// Simulated time in seconds, instead of the scene's
    #[arg(long, value_name = "S", value_parser = parse_seconds)]
    seconds: Option<f64>,
    /// Length of a step in seconds, instead of the scene's
    #[arg(long, value_name = "S", value_parser = parse_seconds)]
    step: Option<f64>,
    /// Go on from the checkpoint in the output folder
    #[arg(long)]
    resume: bool,
    /// Let the scene name mesh files outside its folder
    #[arg(long)]
    allow_outside: bool,
    /// Leave strip.png out, which takes seconds
    #[arg(long)]
    no_strip: bool,
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err(format!("`{text}` is not a time in seconds above 0")),
    }
}

impl From<SceneError> for Failure {
    fn from(error: SceneError) -> Failure {
        match (error.is_cancelled(), error.is_limit()) {
            (true, _) => Failure::Cancelled,
            (_, true) => Failure::Limit(error.to_string()),
            (_, false) => Failure::BadInput(error.to_string()),
        }
    }
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Answer, Failure> {
    if arguments.list {
        return Ok(list());
    }
    if let Some(name) = &arguments.example {
        let folder = arguments.output.as_deref().unwrap_or(Path::new("."));
        return write_example(name, folder);
    }
    // Both are there: clap requires them.
    let (Some(path), Some(folder)) = (&arguments.scene, &arguments.output) else {
        return Err(Failure::BadInput("give SCENE.toml and -o DIR".to_owned()));
    };
    let leave = match arguments.allow_outside {
        true => Leave::Anywhere,
        false => Leave::InFolder,
    };
    let mut scene = Scene::open(path, leave)?;
    override_times(&mut scene, arguments)?;
    let options = Options {
        resume: arguments.resume,
        no_strip: arguments.no_strip,
    };
    simulate(&scene, folder, options, common)
}

/// Applies `--seconds` and `--step`.
fn override_times(scene: &mut Scene, arguments: &Arguments) -> Result<(), Failure> {
    if let Some(seconds) = arguments.seconds {
        scene.seconds = seconds;
    }
    if let Some(step) = arguments.step {
        scene.world.step = step;
        scene.record_every = scene.record_every.max(step);
    }
    let (seconds, step) = (scene.seconds, scene.world.step);
    if step > seconds || seconds / step > Scene::MOST_STEPS {
        return Err(Failure::BadInput(format!(
            "{seconds} s in steps of {step} s (--seconds, --step): from 1 to {} steps are possible",
            Scene::MOST_STEPS
        )));
    }
    Ok(())
}

fn list() -> Answer {
    let all = examples();
    let row = |one: &Example| vec![one.name.to_owned(), one.description.to_owned()];
    let rows: Vec<Vec<String>> = all.iter().map(row).collect();
    let json = |one: &Example| json!({ "name": one.name, "description": one.description });
    Answer {
        text: format!(
            "{}\nWrite one with `touchfield simulate --example NAME -o DIR`.\n",
            report::table(&["scene", "what it shows"], &rows)
        ),
        json: json!({ "examples": all.iter().map(json).collect::<Vec<_>>() }),
    }
}

/// Writes the files of a ready scene and returns the path of its scene file.
pub(crate) fn example_files(name: &str, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let all = examples();
    let Some(example) = all.iter().find(|one| one.name == name) else {
        let names: Vec<&str> = all.iter().map(|one| one.name).collect();
        return Err(Failure::BadInput(format!(
            "there is no ready scene `{name}`; there are {} (--list describes them)",
            names.join(", ")
        )));
    };
    output::make_folder(folder)?;
    let files = example.files();
    let scene = folder.join(format!("{name}.toml"));
    output::write_whole(&scene, |out| {
        std::io::Write::write_all(out, files.scene.as_bytes())
    })?;
    let mut written = vec![scene];
    for (name, mesh) in &files.meshes {
        let path = folder.join(name);
        write::write_file(&path, mesh).map_err(|error| Failure::in_file(&path, error))?;
        written.push(path);
    }
    Ok(written)
}

fn write_example(name: &str, folder: &Path) -> Result<Answer, Failure> {
    let written = example_files(name, folder)?;
    let shown: Vec<String> = written.iter().map(|path| terminal::path(path)).collect();
    let files: Vec<_> = written.iter().map(|path| path.to_string_lossy()).collect();
    Ok(Answer {
        text: format!(
            "{} written. Run it with:\n  touchfield simulate {} -o {name}-run\n",
            shown.join(", "),
            shown[0]
        ),
        json: json!({ "example": name, "files": files }),
    })
}

/// Writes a ready scene to a folder and simulates it there.
pub(crate) fn simulate_example(
    name: &str,
    folder: &Path,
    seconds: f64,
    common: &Common,
) -> Result<Answer, Failure> {
    let written = example_files(name, folder)?;
    let mut scene = Scene::open(&written[0], Leave::InFolder)?;
    scene.seconds = seconds;
    let options = Options {
        resume: false,
        no_strip: false,
    };
    simulate(&scene, folder, options, common)
}

/// How a simulation runs.
#[derive(Clone, Copy, Debug)]
struct Options {
    resume: bool,
    no_strip: bool,
}

/// A simulation on its way.
struct Run<'s> {
    scene: &'s Scene,
    built: Built,
    trajectory: Trajectory,
    depth: DepthSearch,
    /// Time of stepping, and of measuring depths \[s\].
    spent: [f64; 2],
    /// Pairs whose contacts could not be searched.
    faults: BTreeMap<[usize; 2], String>,
}

/// Simulates a scene and writes all results.
fn simulate(
    scene: &Scene,
    folder: &Path,
    options: Options,
    common: &Common,
) -> Result<Answer, Failure> {
    output::make_folder(folder)?;
    let rows = (scene.seconds / scene.record_every) as u64 + 2;
    let needed = Trajectory::bytes(scene.bodies.len(), rows);
    if needed > common.max_memory.0 {
        return Err(Failure::Limit(format!(
            "{}: {rows} rows of {} take {}, more than the {} allowed; raise `record_every` or --max-memory",
            scene.file.display(),
            report::plural(scene.bodies.len(), "body", "bodies"),
            report::bytes(needed),
            report::bytes(common.max_memory.0)
        )));
    }
    let name = load::name_of(&scene.file);
    let built = {
        let bar = BakeProgress::new(&name);
        scene.build(&|step| bar.show(step))?
    };
    let text = fs::read(&scene.file).unwrap_or_default();
    let identity = checkpoint::Scene {
        checksum: checkpoint::checksum(&text),
        step: scene.world.step,
        bodies: scene.bodies.len(),
    };
    let saved = folder.join(checkpoint::NAME);
    let mut run = Run {
        scene,
        trajectory: Trajectory::new(scene.bodies.len()),
        built,
        depth: DepthSearch::default(),
        spent: [0.0; 2],
        faults: BTreeMap::new(),
    };
    if options.resume {
        let resumed = checkpoint::read(&saved, &identity)?;
        (run.built.world)
            .restore(&resumed.checkpoint)
            .map_err(|error| Failure::in_file(&saved, error))?;
        run.trajectory = resumed.trajectory;
        run.spent = resumed.spent;
    } else {
        run.record();
    }
    cancel::save_first(true);
    let ended = run.go(&name, &saved, &identity);
    cancel::save_first(false);
    if let Err(Failure::Cancelled) = ended {
        return Err(Failure::Cancelled);
    }
    let answer = run.write_results(folder, options)?;
    ended?;
    // Complete: there is nothing to resume.
    let _ = fs::remove_file(&saved);
    Ok(answer)
}

/// Time between two checkpoints. The first is written after the first step, so that a run that is
/// killed at any time leaves one.
const SAVE_EVERY: Duration = Duration::from_secs(5);

/// Share of the time that writing checkpoints may take.
const SAVE_SHARE: f64 = 0.02;

impl Run<'_> {
    /// Adds a row for the current time.
    fn record(&mut self) {
        let start = Instant::now();
        let world = &mut self.built.world;
        let by_contacts = world.take_deepest();
        let by_search = match self.scene.measure_depth {
            true => (self.depth.deepest_beyond(world, by_contacts)).map_or(0.0, |pair| pair.depth),
            false => 0.0,
        };
        self.spent[1] += start.elapsed().as_secs_f64();
        self.trajectory
            .push(&self.built, by_contacts.max(by_search));
    }

    /// Returns the step after which the row of this number is due.
    fn step_of_row(&self, row: usize) -> u64 {
        let time = row as f64 * self.scene.record_every;
        // A share of a step is rounding, more is a step.
        let step = (time / self.scene.world.step - 1e-6).ceil();
        (step as u64).min(self.scene.steps())
    }

    /// Steps to the end of the simulation.
    fn go(&mut self, name: &str, saved: &Path, scene: &checkpoint::Scene) -> Result<(), Failure> {
        let steps = self.scene.steps();
        let bar = TimeProgress::new(name);
        let mut last_saved = Instant::now();
        let mut wait = Duration::ZERO;
        while self.built.world.steps() < steps {
            let due = self.step_of_row(self.trajectory.rows()).max(1);
            while self.built.world.steps() < due {
                let start = Instant::now();
                let stepped = self.built.world.step();
                self.spent[0] += start.elapsed().as_secs_f64();
                stepped.map_err(|error| Failure::in_file(&self.scene.file, error))?;
                let is_cancelled = cancel::is_wanted();
                if is_cancelled || last_saved.elapsed() >= wait {
                    let start = Instant::now();
                    let world = &self.built.world;
                    checkpoint::write(
                        saved,
                        scene,
                        &world.checkpoint(),
                        &self.trajectory,
                        self.spent,
                    )?;
                    wait = SAVE_EVERY.max(start.elapsed().div_f64(SAVE_SHARE));
                    last_saved = Instant::now();
                }
                if is_cancelled {
                    load::note(&format!(
                        "{} of {} s are in {}; go on with --resume",
                        self.built.world.time(),
                        self.scene.seconds,
                        saved.display()
                    ));
                    return Err(Failure::Cancelled);
                }
                bar.show(self.built.world.time(), self.scene.seconds);
            }
            for (bodies, fault) in self.built.world.faults() {
                (self.faults.entry(bodies)).or_insert_with(|| fault.to_owned());
            }
            self.record();
        }
        Ok(())
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings = self.built.warnings.clone();
        let names = &self.built.names;
        warnings.extend(self.faults.iter().take(20).map(|([a, b], fault)| {
            format!(
                "contacts of `{}` and `{}` were not found at some time: {fault}",
                names[*a], names[*b]
            )
        }));
        warnings.extend(self.energy_from_nowhere());
        let end = self.scene.steps() as f64 * self.scene.world.step;
        if (end - self.scene.seconds).abs() > 1e-6 * self.scene.world.step {
            warnings.push(format!(
                "{} s are no multiple of the step of {} s; the last row is at {end} s",
                self.scene.seconds, self.scene.world.step
            ));
        }
        warnings
    }

    /// Returns a warning if the bodies have more energy than they began with although nothing but
    /// gravity and contacts acts on them: the step is too long.
    fn energy_from_nowhere(&self) -> Option<String> {
        /// Share of the largest kinetic energy that may appear.
        const MOST_GAIN: f64 = 0.1;
        let is_driven = (self.scene.bodies.iter()).any(|body| {
            matches!(body.moves, Moves::Driven(_))
                || body.force.length() > 0.0
                || body.torque.length() > 0.0
        });
        // Bodies that begin in each other are pushed apart.
        let is_pushed = !self.built.warnings.is_empty();
        if is_driven || is_pushed {
            return None;
        }
        let energies = || (0..self.trajectory.rows()).map(|row| self.trajectory.energy(row));
        let start = energies().next()?[2];
        let most = energies().map(|[.., total]| total - start);
        let most = most.fold(0.0, f64::max);
        let kinetic = energies().map(|[kinetic, ..]| kinetic).fold(0.0, f64::max);
        (most > MOST_GAIN * kinetic).then(|| {
            format!(
                "the energy rose by {most:.3e} J above that of the start, of at most {kinetic:.3e} J in motion: \
                 the step of {} s is too long{} (docs/DYNAMICS.md, Stiffness and step)",
                self.scene.world.step,
                match self.scene.world.response {
                    Response::Impulse => "",
                    _ => " for the stiffness and the damping",
                }
            )
        })
    }

    fn report(&self) -> Value {
        let world = &self.built.world;
        let bodies = (self.built.names.iter().zip(world.bodies())).enumerate();
        let bodies = bodies.map(|(index, (name, body))| {
            let settings = body.settings();
            let pose = self.built.pose(index);
            let numbers: Vec<f64> = (pose.translation.to_array().into_iter())
                .chain(pose.rotation.to_array())
                .collect();
            json!({
                "name": name,
                "moves": match settings.moves {
                    Moves::Freely => "freely",
                    Moves::Never => "never",
                    Moves::Driven(_) => "driven",
                },
                "mass": if body.is_free() { json!(settings.mass.mass) } else { Value::Null },
                "center_of_mass": (settings.mass.center + self.built.origins[index]).to_array(),
                "convex": settings.geometry.shape().as_convex().is_some(),
                "pose": numbers,
                "asleep": body.is_asleep(),
            })
        });
        let energy: Vec<f64> = (0..self.trajectory.rows())
            .map(|row| self.trajectory.energy(row)[2])
            .collect();
        let settings = world.settings();
        json!({
            "scene": self.scene.file.to_string_lossy(),
            "bodies": bodies.collect::<Vec<_>>(),
            "steps": world.steps(),
            "step": settings.step,
            "seconds": world.time(),
            "rows": self.trajectory.rows(),
            "integrator": Integrator::name(settings.integrator()),
            "response": settings.response.name(),
            "contacts": settings.contacts.name(),
            "wall_seconds": self.spent[0],
            "measure_seconds": self.spent[1],
            "deepest": self.trajectory.deepest(),
            "energy": {
                "start": energy.first(),
                "end": energy.last(),
                "max": energy.iter().copied().reduce(f64::max),
            },
            "threads": rayon::current_num_threads(),
            "warnings": self.warnings(),
        })
    }

    /// Writes all files.
    fn write_results(&self, folder: &Path, options: Options) -> Result<Answer, Failure> {
        let json = self.report();
        arrays::write(&folder.join("trajectory.npz"), &self.trajectory.arrays())?;
        output::write_whole(&folder.join("report.json"), |out| {
            serde_json::to_writer_pretty(&mut *out, &json)?;
            std::io::Write::write_all(out, b"\n")
        })?;
        plots::write(folder, &self.trajectory)?;
        glb::write(&folder.join("scene.glb"), &self.built, &self.trajectory)?;
        if !options.no_strip {
            cancel::check()?;
            if let Err(failure) =
                strip::write(&folder.join("strip.png"), &self.built, &self.trajectory)
            {
                load::note(&format!("strip.png is not drawn: {}", failure.message()));
            }
        }
        let warnings = self.warnings();
        let mut facts = report::Facts::default();
        facts.add("bodies", report::count_of(self.built.names.len()));
        facts.add(
            "simulated",
            format!(
                "{} s in {} of {} s, {}",
                report::significant(self.built.world.time(), 4),
                report::plural(self.built.world.steps() as usize, "step", "steps"),
                report::significant(self.scene.world.step, 3),
                self.scene.world.integrator().name(),
            ),
        );
        facts.add("wall time", report::seconds(self.spent[0]));
        facts.add("measuring depth", report::seconds(self.spent[1]));
        facts.add("deepest", report::length(self.trajectory.deepest()));
        Ok(Answer {
            text: format!(
                "{}{}\nIn {}: trajectory.npz, report.json, scene.glb, energy.svg, penetration.svg, contacts.svg{}\n",
                facts.text(),
                report::list(
                    "warnings",
                    &warnings
                        .iter()
                        .map(|text| terminal::line(text).into_owned())
                        .collect::<Vec<_>>()
                ),
                terminal::path(folder),
                if options.no_strip { "" } else { ", strip.png" }
            ),
            json,
        })
    }
}
