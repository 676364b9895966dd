//! Figure 6 of \[XuCcd2014\] beside our results: the greatest stable step of continuous and of
//! discrete penalties, on a body dropped on the ground.
//!
//! Input: a mesh, or a generated knot.
//! Output: three ratios for each form of the force and each damping, as a table, JSON, CSV and a
//! plot.
//! Cost: a simulation of the given length for each step that is tried; minutes in all, seconds with
//! `--quick`.
//! Not for: friction, which the paper's forces do not have.
//!
//! A run is stable if kinetic plus gravitational energy never exceeds that of the start by more
//! than [`EXCESS`] of the energy of the drop. A step is stable if all drops are.
//!
//! The three ratios: greatest stable step of continuous over discrete, at one stiffness; depth of
//! discrete over continuous at the latter's greatest step, the discrete one softened until it is
//! stable there; and greatest stable steps again, the stiffness of the discrete one such that both
//! are equally deep at them. Damping stays the same share of the critical throughout.
//!
//! The paper does not give its damping. Ours is a share of the critical one of the body at rest,
//! whose frequency ω follows from the energy stored in its contacts: a spring under a weight that
//! sags by d stores half of weight times d, and ω² = g / d. Steps are printed as h ω, so stiffness
//! and size cancel but for the height of the drop over the sag.

use std::path::PathBuf;

use clap::Args;
use glam::DVec3;
use rayon::prelude::*;
use serde_json::{Value, json};
use touchfield_dynamics::{
    BodySettings, ContactFinder, Frame, Material, Normals, PenaltySettings, Response, WorldSettings,
};

use super::dropped::{self, Dropped};
use super::fig6_plot;
use super::swept_shell::Body;
use crate::host::{Host, Stop};
use crate::model::{Kept, Kind, Model};
use crate::random::Random;
use touchfield_report::{self as report, Answer, Units};

pub(crate) const NAME: &str = "xu-fig6";
pub(crate) const DESCRIPTION: &str =
    "[XuCcd2014], Figure 6: greatest stable step of continuous and discrete penalties";

/// XuCcd2014, Figure 6: greatest stable step of continuous and discrete penalties
#[derive(Args)]
#[command(after_help = "\
Example:
  touchfield bench xu-fig6 --model bunny_777.obj --out figure.csv --plot figure.svg")]
pub(crate) struct Arguments {
    /// Closed mesh [default: a built-in knot of 1,560 triangles]
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Unit of the mesh
    #[arg(long, value_enum, default_value_t)]
    units: Units,
    /// Damping of the body at rest, as shares of the critical [default: 0.1,0.25,0.5]
    #[arg(long, value_name = "SHARE,...", value_delimiter = ',', value_parser = share)]
    damping: Vec<f64>,
    /// Simulated seconds of a run [default: 10]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=1000))]
    seconds: Option<u32>,
    /// Number of drops, of other rotations and heights, that must all be stable [default: 3]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=100))]
    drops: Option<u32>,
    /// Drop the body on a fixed copy of itself that stands on the ground
    #[arg(long)]
    copy: bool,
    /// One damping, one drop, two seconds
    #[arg(long)]
    quick: bool,
    /// Also write the rows to this file
    #[arg(long, value_name = "FILE.csv")]
    out: Option<PathBuf>,
    /// Plot energy over time for the first damping, our form: both methods at their greatest steps,
    /// and at three times the discrete one's
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

fn share(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|error| format!("{error}"))?;
    match value > 0.0 && value <= 10.0 {
        true => Ok(value),
        false => Err("must be more than 0 and at most 10".to_owned()),
    }
}

/// Energy above that of the start at which a run is unstable, as a share of the drop's.
const EXCESS: f64 = 0.1;
/// Height of the lowest point at the start, in sides of the body.
const DROP: f64 = 1.0;
/// Cells along the longest side of the field.
const CELLS: u32 = 64;
/// Step that is tried first, as h ω.
const FIRST: f64 = 0.2;
/// Ratio of one tried step to the next.
const NEXT: f64 = 1.12;
/// Times that the span between a stable and an unstable value is halved.
const HALVINGS: u32 = 3;
/// Steps as h ω beyond which a method is not followed.
const RANGE: [f64; 2] = [0.01, 20.0];
/// Ratios of the paper: step at one stiffness, depth at that step, step at equal depth.
pub(super) const PAPER: [f64; 3] = [3.0, 2.75, 2.6];

/// Form of the force.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Normals of the points and damping of the whole velocity, as \[XuCcd2014\], §4, writes them.
    Written,
    /// Gradient of the field and damping of the normal velocity.
    Ours,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Form::Written => "as written",
            Form::Ours => "ours",
        }
    }

    fn settings(self) -> PenaltySettings {
        match self {
            Form::Written => PenaltySettings {
                normals: Normals::Point,
                damping_as_written: true,
                ..PenaltySettings::default()
            },
            Form::Ours => PenaltySettings::default(),
        }
    }
}

/// A method with its numbers.
#[derive(Clone, Copy)]
pub(super) struct Method {
    pub(super) form: Form,
    pub(super) response: Response,
    /// Damping as a share of the critical.
    pub(super) damping: f64,
    /// Stiffness as a share of the reference.
    pub(super) stiffness: f64,
    /// Step as h ω, with ω at the reference stiffness.
    pub(super) step: f64,
}

/// The experiment: body, length, drops.
pub(super) struct Bench {
    dropped: Dropped,
    seconds: f64,
    drops: u64,
    /// Whether a fixed copy stands on the ground.
    has_copy: bool,
    /// Frequency of the body at rest at the reference stiffness \[rad/s\].
    omega: f64,
}

/// Results of one form and one damping.
struct Row {
    form: Form,
    damping: f64,
    /// Greatest stable step as h ω, discrete and continuous.
    steps: [f64; 2],
    /// Share of the stiffness at which the discrete method is stable at the continuous one's step.
    softened: f64,
    /// Greatest depths of both at that step, in sides.
    depths: [f64; 2],
    /// Greatest stable step of the discrete method as h ω, at the stiffness at which it is as deep
    /// as the continuous one at its own; that stiffness as a share; the depth in sides.
    at_depth: Option<[f64; 3]>,
}

impl Row {
    fn ratios(&self) -> [f64; 3] {
        [
            self.steps[1] / self.steps[0],
            self.depths[0] / self.depths[1],
            self.steps[1] / self.at_depth.map_or(f64::NAN, |[step, ..]| step),
        ]
    }

    /// Returns the greatest stable h ω of a lasting contact, discrete and late.
    ///
    /// Discrete: `a + 2 h γ < 4`. Late: `a / 2 < h γ < 2`. Here `a = (h ω)²` and `γ = 2 ζ ω`.
    fn linear(&self) -> [f64; 2] {
        let ratio = self.damping;
        [
            2.0 * ((ratio * ratio + 1.0).sqrt() - ratio),
            (4.0 * ratio).min(1.0 / ratio),
        ]
    }
}

pub(crate) fn run(arguments: &Arguments, host: &dyn Host) -> Result<Answer, Stop> {
    let inputs: Vec<_> = arguments.model.iter().map(PathBuf::as_path).collect();
    for (out, extension) in [(&arguments.out, "csv"), (&arguments.plot, "svg")] {
        if let Some(out) = out {
            host.check_text(out, extension, &inputs)?;
        }
    }
    let model = Model::load(arguments.model.as_deref(), arguments.units, host)?;
    let field = model.field(CELLS, Kind::Dense, &Kept::default(), host)?;
    let dropped = Dropped::new(&Body::make(&model, field)?)?;
    let quick = arguments.quick;
    let mut bench = Bench {
        dropped,
        seconds: f64::from(arguments.seconds.unwrap_or(if quick { 2 } else { 10 })),
        drops: u64::from(arguments.drops.unwrap_or(if quick { 1 } else { 3 })),
        omega: Dropped::reference_frequency(),
        has_copy: arguments.copy,
    };
    bench.omega = bench.frequency_at_rest()?;
    let dampings = match (arguments.damping.as_slice(), quick) {
        ([], true) => &[0.5][..],
        ([], false) => &[0.1, 0.25, 0.5],
        (given, _) => given,
    };
    let forms = [Form::Written, Form::Ours];
    let cases: Vec<(Form, f64)> = (forms.iter())
        .flat_map(|&form| dampings.iter().map(move |&damping| (form, damping)))
        .collect();
    let rows: Vec<Row> = (cases.par_iter())
        .map(|&(form, damping)| bench.row(form, damping))
        .collect::<Result<_, _>>()?;
    if let Some(out) = &arguments.out {
        host.write_text(out, &csv(&model, &bench, &rows))?;
    }
    if let Some(out) = &arguments.plot
        && let Some(row) = rows.iter().find(|row| row.form == Form::Ours)
    {
        host.write_text(out, &fig6_plot::plot(&bench, row.damping, row.steps)?)?;
    }
    Ok(Answer {
        text: text(&model, &bench, &rows),
        json: json(&model, &bench, &rows),
    })
}

impl Bench {
    /// Returns the name of what the body is dropped on.
    fn onto(&self) -> &'static str {
        match self.has_copy {
            true => "copy",
            false => "ground",
        }
    }

    /// Returns the material of a method.
    fn material(&self, method: &Method) -> Material {
        let stiffness = method.stiffness * self.dropped.stiffness();
        let omega = method.stiffness.sqrt() * self.omega;
        Material {
            friction: 0.0,
            stiffness,
            damping: 2.0 * method.damping * stiffness / omega,
            ..Material::default()
        }
    }

    /// Simulates a drop. `see` gets time, energy above that of the start as a share of the drop's,
    /// and the depth \[sides\], and returns whether to go on. Returns the mean energy that contacts
    /// stored over the last fifth of the time \[J\].
    pub(super) fn drop(
        &self,
        method: &Method,
        number: u64,
        seconds: f64,
        mut see: impl FnMut(f64, f64, f64) -> bool,
    ) -> Result<f64, Stop> {
        let dropped = &self.dropped;
        let material = self.material(method);
        let mut random = Random::new(6 + number);
        let rotation = random.rotation().as_dquat().normalize();
        // Another height meets the ground in another part of a step.
        let mut height = (DROP + 0.1 * random.unit()) * dropped.side;
        if self.has_copy {
            height += dropped.solid[1].y - dropped.solid[0].y;
        }
        let place = DVec3::new(0.0, height + dropped.foot(rotation), 0.0);
        let settings = WorldSettings {
            gravity: DVec3::new(0.0, -dropped.gravity(), 0.0),
            step: method.step / self.omega,
            response: method.response,
            contacts: match method.response {
                Response::ContinuousPenalty => ContactFinder::SweptTree,
                _ => ContactFinder::Auto,
            },
            penalty: method.form.settings(),
            ..WorldSettings::default()
        };
        let mut bodies = vec![
            dropped::ground(material, 0.0)?,
            dropped.free(material, dropped.pose(rotation, place)),
        ];
        if self.has_copy {
            let [low, high] = dropped.solid;
            let middle = 0.5 * (low + high);
            bodies.push(BodySettings {
                pose: Frame::at(-middle.with_y(low.y)),
                ..dropped.fixed(material)
            });
        }
        let mut world = dropped::world(settings, bodies)?;
        let energy_of_drop = dropped.weight() * height;
        let start = world.energy().total();
        let (mut stored, mut count) = (0.0, 0.0);
        while world.time() < seconds {
            // A state that is not finite is the end of an explosion.
            let excess = match world.step() {
                Ok(()) => (world.energy().total() - start) / energy_of_drop,
                Err(_) => f64::INFINITY,
            };
            if let Some((_, fault)) = world.faults().next() {
                return Err(Stop::BadInput(fault.to_owned()));
            }
            if world.time() > 0.8 * seconds {
                stored += world.stored_energy();
                count += 1.0;
            }
            let depth = world.take_deepest() / dropped.side;
            if !see(world.time(), excess, depth) {
                break;
            }
        }
        Ok(stored / count)
    }

    /// Returns the frequency of the body at rest at the reference stiffness \[rad/s\].
    fn frequency_at_rest(&self) -> Result<f64, Stop> {
        let method = Method {
            form: Form::Ours,
            response: Response::Penalty,
            damping: 0.5,
            stiffness: 1.0,
            step: FIRST,
        };
        let stored = self.drop(&method, 0, 5.0, |_, _, _| true)?;
        let sag = 2.0 * stored / self.dropped.weight();
        Ok((self.dropped.gravity() / sag).sqrt())
    }

    /// Returns the greatest depth of all drops \[sides\]; `None` if one is unstable.
    fn depth(&self, method: &Method) -> Result<Option<f64>, Stop> {
        let mut deepest = 0.0_f64;
        for number in 0..self.drops {
            let mut is_stable = true;
            self.drop(method, number, self.seconds, |_, excess, depth| {
                is_stable = excess <= EXCESS;
                deepest = deepest.max(depth);
                is_stable
            })?;
            if !is_stable {
                return Ok(None);
            }
        }
        Ok(Some(deepest))
    }

    /// Returns the greatest step below the first that is unstable, and its depth.
    fn greatest_step(&self, method: &Method) -> Result<[f64; 2], Stop> {
        let at = |step: f64| self.depth(&Method { step, ..*method });
        let first = method.step;
        let (mut good, mut depth, mut bad) = (first, f64::NAN, f64::NAN);
        match at(first)? {
            Some(found) => {
                depth = found;
                while bad.is_nan() && good < RANGE[1] {
                    match at(good * NEXT)? {
                        Some(found) => (good, depth) = (good * NEXT, found),
                        None => bad = good * NEXT,
                    }
                }
            }
            None => {
                bad = first;
                while depth.is_nan() && bad > RANGE[0] {
                    match at(bad / NEXT)? {
                        Some(found) => (good, depth) = (bad / NEXT, found),
                        None => bad /= NEXT,
                    }
                }
                if depth.is_nan() {
                    return Ok([f64::NAN; 2]);
                }
            }
        }
        for _ in 0..HALVINGS {
            let middle = 0.5 * (good + bad);
            match at(middle)? {
                Some(found) => (good, depth) = (middle, found),
                None => bad = middle,
            }
        }
        Ok([good, depth])
    }

    /// Returns the greatest share of the stiffness at which a method is stable, and its depth.
    fn softest(&self, method: &Method) -> Result<[f64; 2], Stop> {
        let at = |stiffness: f64| {
            let method = Method {
                stiffness,
                ..*method
            };
            self.depth(&method)
        };
        if let Some(depth) = at(1.0)? {
            return Ok([1.0, depth]);
        }
        let mut bad = 1.0;
        let (mut good, mut depth) = loop {
            let next = bad / NEXT;
            if next < 1e-4 {
                return Ok([f64::NAN; 2]);
            }
            match at(next)? {
                Some(depth) => break (next, depth),
                None => bad = next,
            }
        };
        for _ in 0..HALVINGS {
            let middle = 0.5 * (good + bad);
            match at(middle)? {
                Some(found) => (good, depth) = (middle, found),
                None => bad = middle,
            }
        }
        Ok([good, depth])
    }

    /// Returns the greatest stable step of a method at the stiffness at which it is this deep
    /// there, that stiffness, and the depth; `None` if they are not found.
    fn step_at_depth(&self, method: &Method, wanted: f64) -> Result<Option<[f64; 3]>, Stop> {
        /// Share of the depth to which it is met.
        const NEAR: f64 = 0.03;
        const TRIES: u32 = 6;
        let mut method = *method;
        let mut best: Option<[f64; 3]> = None;
        for _ in 0..TRIES {
            let [step, depth] = self.greatest_step(&method)?;
            if step.is_nan() {
                break;
            }
            let off = |depth: f64| (depth / wanted).ln().abs();
            if best.is_none_or(|[.., other]| off(depth) < off(other)) {
                best = Some([step, method.stiffness, depth]);
            }
            if off(depth) < NEAR {
                break;
            }
            // The depth of an impact falls with the root of the stiffness.
            let stiffer = (depth / wanted).powi(2).clamp(0.2, 5.0);
            method.stiffness *= stiffer;
            // Steps are h times the frequency at the reference stiffness.
            method.step = (step / stiffer.sqrt()).min(0.8 * step);
        }
        Ok(best)
    }

    fn row(&self, form: Form, damping: f64) -> Result<Row, Stop> {
        let methods = [Response::Penalty, Response::ContinuousPenalty].map(|response| Method {
            form,
            response,
            damping,
            stiffness: 1.0,
            step: FIRST,
        });
        let [discrete, continuous] = methods.map(|method| self.greatest_step(&method));
        let greatest = [discrete?, continuous?];
        let steps = greatest.map(|[step, _]| step);
        let softened = self.softest(&Method {
            step: steps[1],
            ..methods[0]
        })?;
        let at_depth = self.step_at_depth(&methods[0], greatest[1][1])?;
        Ok(Row {
            form,
            damping,
            steps,
            softened: softened[0],
            depths: [softened[1], greatest[1][1]],
            at_depth,
        })
    }
}

fn text(model: &Model, bench: &Bench, rows: &[Row]) -> String {
    let number = |value: f64| format!("{value:.2}");
    let mut lines = vec![
        [
            "[XuCcd2014]",
            "",
            "",
            "",
            "",
            "",
            "",
            "3.00",
            "2.75",
            "2.60",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    for row in rows {
        let mut line = vec![row.form.name().to_owned(), row.damping.to_string()];
        let numbers = [row.steps, row.linear()].into_iter().flatten();
        line.extend(numbers.map(number));
        line.push(format!("{:.3}", row.softened));
        line.extend(row.ratios().map(number));
        lines.push(line);
    }
    let headings = [
        "form",
        ">damping",
        ">discrete",
        ">continuous",
        ">linear: discrete",
        ">late",
        ">softened to",
        ">step ratio",
        ">depth ratio",
        ">ratio at equal depth",
    ];
    format!(
        "{}, {} dropped by a side on the {}, {} s each; at rest ω = {:.0} rad/s\n\
         Greatest stable steps as h ω; damping as a share of the critical, which the paper does not give\n{}",
        model.name(),
        report::plural(bench.drops as usize, "time", "times"),
        bench.onto(),
        bench.seconds,
        bench.omega,
        report::table(&headings, &lines),
    )
}

fn json(model: &Model, bench: &Bench, rows: &[Row]) -> Value {
    let row = |row: &Row| {
        json!({
            "form": row.form.name(),
            "damping": row.damping,
            "step": { "discrete": row.steps[0], "continuous": row.steps[1] },
            "linear_step": { "discrete": row.linear()[0], "continuous": row.linear()[1] },
            "softened_to": row.softened,
            "depth_in_sides": { "discrete": row.depths[0], "continuous": row.depths[1] },
            "discrete_at_depth": row.at_depth.map(|[step, stiffness, depth]| json!({
                "step": step,
                "stiffness": stiffness,
                "depth_in_sides": depth,
            })),
            "ratios": row.ratios(),
        })
    };
    json!({
        "bench": NAME,
        "model": model.name(),
        "seconds": bench.seconds,
        "drops": bench.drops,
        "onto": bench.onto(),
        "frequency_at_rest": bench.omega,
        "rows": rows.iter().map(row).collect::<Vec<_>>(),
        "document": { "ratios": PAPER },
    })
}

/// Returns the paper's ratios, then a row for each form and damping.
fn csv(model: &Model, bench: &Bench, rows: &[Row]) -> String {
    // A comma in a name would shift the columns.
    let model = model.name().replace([',', '"', '\n'], " ");
    let mut text = String::from(
        "model,onto,frequency,form,damping,discrete_step,continuous_step,linear_discrete,linear_continuous,softened_to,\
         discrete_depth,continuous_depth,discrete_step_at_depth,stiffness_at_depth,depth_met,\
         step_ratio,depth_ratio,step_ratio_at_depth\n",
    );
    text += &format!(
        ",,,paper,,,,,,,,,,,,{},{},{}\n",
        PAPER[0], PAPER[1], PAPER[2]
    );
    for row in rows {
        let numbers = [row.steps, row.linear()].into_iter().flatten();
        let numbers = numbers.chain([row.softened]).chain(row.depths);
        let numbers = numbers
            .chain(row.at_depth.unwrap_or([f64::NAN; 3]))
            .chain(row.ratios());
        // What was not found leaves an empty cell.
        let cells: Vec<String> = numbers
            .map(|number| match number.is_finite() {
                true => report::significant(number, 4),
                false => String::new(),
            })
            .collect();
        text += &format!(
            "{model},{},{:.1},{},{},{}\n",
            bench.onto(),
            bench.omega,
            row.form.name(),
            row.damping,
            cells.join(",")
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At half the critical damping both late limits meet: no damping allows a greater step.
    #[test]
    fn the_late_limit_is_greatest_at_half_the_critical_damping() {
        let late = |damping| {
            let row = Row {
                form: Form::Ours,
                damping,
                steps: [1.0; 2],
                softened: 1.0,
                depths: [1.0; 2],
                at_depth: None,
            };
            row.linear()
        };
        assert_eq!(late(0.5)[1], 2.0);
        assert!(late(0.4)[1] < 2.0 && late(0.6)[1] < 2.0);
        // Without damping the discrete limit is 2.
        assert!((late(1e-9)[0] - 2.0).abs() < 1e-6);
    }
}
