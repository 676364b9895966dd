//! Measures the cost of a tolerance and checks that it is kept: every closed model at several
//! tolerances, against the exact distance. Markdown to stdout.
//!
//! ```text
//! tolerance [--models FOLDER] [--without WORD] [--only WORD] [--shares 1e-2,1e-3] [--points N]
//!           [--surface N] [--max-memory BYTES] [--bake-limit SECONDS] [--csv FILE]
//!           [--seconds SECONDS]
//! ```
//!
//! Input: the generated models and all mesh files of the folder, except those whose path contains
//! the word of `--without`; meshes that are not closed are named and left out.
//! Output: a row for each model and tolerance, which is a share of the diagonal of the model's box;
//! and one for each in conservative mode.
//! Cost: a fine tolerance takes a minute and hundreds of megabytes for one model.
//! Not for: a quick look (`touchfield bake --tolerance`).
//!
//! With `--csv` rows are also kept in a file, and those already there are not measured again;
//! `--seconds` starts nothing new after that time. Together they allow a long table to be made in
//! pieces. A bake that takes more CPU seconds than `--bake-limit` is cancelled, and its row says
//! so.
//!
//! Half of the points lie within three of the finest cells from the surface. The exact distance
//! comes from the hierarchy; some of the points are also measured against every triangle, by other
//! formulas ([`MeshTruth`]), sign included.

#![expect(clippy::print_stdout, reason = "a program: its result goes there")]
#![expect(clippy::print_stderr, reason = "how far it is goes there")]

use std::error::Error;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use cpu_time::ProcessTime;
use glam::{DVec3, UVec3, Vec3};
use rayon::prelude::*;
use touchfield::bake::{
    BakeError, BakeSettings, Baked, Bits, ExactDistance, SignChoice, SparseBakeError, SparseGoal,
    SparseSettings, bake_sparse,
};
use touchfield::field::{Field, PLAIN, SparseBlocks, StoredField, file};
use touchfield::mesh::read::{Limits, read_file};
use touchfield::mesh::{TriangleMesh, generate};
use touchfield_bench::clock;
use touchfield_conformance::mesh_truth::MeshTruth;
use touchfield_conformance::random::Random;

/// Pairs of point and triangle that brute force may take for each field.
const BRUTE_FORCE: usize = 10_000_000;
/// Blocks that are examined one by one, and random points in each of their cells, in addition to
/// the cell centre.
const BLOCKS: usize = 200;
const POINTS_A_CELL: usize = 8;
/// Tolerance used in conservative mode, as a share of the diagonal.
const CONSERVATIVE: f64 = 1e-3;

struct Options {
    csv: Option<PathBuf>,
    seconds: f64,
    bake_limit: f64,
    models: Option<PathBuf>,
    without: Option<String>,
    only: String,
    shares: Vec<f64>,
    points: usize,
    surface: usize,
    max_memory: u64,
}

impl Options {
    fn read() -> Result<Options, Box<dyn Error>> {
        let mut options = Options {
            csv: None,
            seconds: f64::INFINITY,
            bake_limit: f64::INFINITY,
            models: None,
            without: None,
            only: String::new(),
            shares: vec![1e-2, 1e-3, 3e-4, 1e-4],
            points: 1_000_000,
            surface: 10_000_000,
            max_memory: 2 << 30,
        };
        let mut words = std::env::args().skip(1);
        while let Some(option) = words.next() {
            let value = words.next().ok_or(format!("{option} needs a value"))?;
            match option.as_str() {
                "--csv" => options.csv = Some(value.into()),
                "--seconds" => options.seconds = value.parse()?,
                "--bake-limit" => options.bake_limit = value.parse()?,
                "--models" => options.models = Some(value.into()),
                "--without" => options.without = Some(value),
                "--only" => options.only = value,
                "--shares" => {
                    let shares = value.split(',').map(str::parse);
                    options.shares = shares.collect::<Result<_, _>>()?;
                }
                "--points" => options.points = value.parse()?,
                "--surface" => options.surface = value.parse()?,
                "--max-memory" => options.max_memory = value.parse()?,
                _ => return Err(format!("unknown option {option}").into()),
            }
        }
        Ok(options)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let options = Options::read()?;
    let models = models(&options)?;
    let mut known = Known::read(options.csv.as_deref())?;
    let mut waiting = 0;
    // Coarse tolerances first: they cost least.
    for &share in &options.shares {
        for (name, mesh) in &models {
            if known.has(name, &format!("{share:e}")) || known.has(name, LEFT_OUT) {
                continue;
            }
            if start.elapsed().as_secs_f64() > options.seconds {
                waiting += 1;
                continue;
            }
            eprintln!("{name}, {share:e}");
            known.add(one_row(name, mesh, share, &options)?)?;
        }
    }
    for (name, mesh) in &models {
        if options.surface == 0 || known.has(name, CONSERVATIVELY) || known.has(name, LEFT_OUT) {
            continue;
        }
        if start.elapsed().as_secs_f64() > options.seconds {
            waiting += 1;
            continue;
        }
        eprintln!("{name}, conservative");
        known.add(conservative(name, mesh, &options)?)?;
    }
    print_tables(&models, &known, &options);
    if waiting > 0 {
        println!("\n{waiting} rows are still to be measured.");
    }
    Ok(())
}

/// Entries in the tolerance column: a model left out, and a result of conservative mode.
const LEFT_OUT: &str = "left out";
const CONSERVATIVELY: &str = "conservative";

/// Columns of the file. The note says why a row has no figures; only the note may contain commas.
const COLUMNS: [&str; 12] = [
    "model",
    "tolerance",
    "cpu_s",
    "file_bytes",
    "memory_bytes",
    "proven_error",
    "worst_error",
    "proven_over_measured",
    "broken",
    "brute_force_broken",
    "brute_force",
    "note",
];
/// Number of figures of a row: all columns except model, tolerance and note.
const FIGURES: usize = COLUMNS.len() - 3;

/// One row of the file. Figures are as printed; those that were not measured are empty.
#[derive(Clone, Default)]
struct Row {
    model: String,
    /// A share of the diagonal, [`LEFT_OUT`] or [`CONSERVATIVELY`].
    tolerance: String,
    figures: [String; FIGURES],
    note: String,
}

impl Row {
    fn from_line(line: &str) -> Option<Row> {
        let mut cells = line.splitn(COLUMNS.len(), ',').map(str::to_owned);
        let (model, tolerance) = (cells.next()?, cells.next()?);
        let mut figures = <[String; FIGURES]>::default();
        for figure in &mut figures {
            *figure = cells.next()?;
        }
        let note = cells.next()?.trim_matches('"').to_owned();
        Some(Row {
            model,
            tolerance,
            figures,
            note,
        })
    }

    fn line(&self) -> String {
        let figures = self.figures.join(",");
        // A comma in a name would shift all figures by a column.
        let model = self.model.replace(',', "_");
        let note = self.note.replace('"', "'");
        format!("{model},{},{figures},\"{note}\"", self.tolerance)
    }
}

/// Rows already measured, as they are in the file.
struct Known {
    path: Option<PathBuf>,
    rows: Vec<Row>,
}

impl Known {
    fn read(path: Option<&Path>) -> Result<Known, Box<dyn Error>> {
        let text = match path {
            Some(path) if path.exists() => std::fs::read_to_string(path)?,
            _ => String::new(),
        };
        let header = COLUMNS.join(",");
        let mut lines = text.lines();
        if let Some(first) = lines.next()
            && first != header
        {
            return Err(format!("the file begins with {first:?}, not with {header:?}").into());
        }
        let rows = lines.map(|line| Row::from_line(line).ok_or(format!("{line:?} is no row")));
        Ok(Known {
            path: path.map(Path::to_owned),
            rows: rows.collect::<Result<_, _>>()?,
        })
    }

    fn find(&self, model: &str, tolerance: &str) -> Option<&Row> {
        let model = model.replace(',', "_");
        let mut rows = self.rows.iter();
        rows.find(|row| row.model == model && row.tolerance == tolerance)
    }

    fn has(&self, model: &str, tolerance: &str) -> bool {
        self.find(model, tolerance).is_some()
    }

    fn add(&mut self, row: Row) -> Result<(), Box<dyn Error>> {
        self.rows.push(row);
        if let Some(path) = &self.path {
            let lines = self.rows.iter().map(|row| row.line() + "\n");
            let text: String = lines.collect();
            std::fs::write(path, COLUMNS.join(",") + "\n" + &text)?;
        }
        Ok(())
    }
}

fn print_tables(models: &[(String, TriangleMesh)], known: &Known, options: &Options) {
    println!(
        "| model | faces | tolerance / diagonal | CPU [s] | file [bytes] | in memory [bytes] | proven error | worst of {} points | proven / measured, median block | broken | against all triangles |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
        thousands(options.points)
    );
    for (name, mesh) in models {
        for share in options.shares.iter().map(|share| format!("{share:e}")) {
            if let Some(row) = known.find(name, &share) {
                let faces = thousands(mesh.faces.len());
                let [cpu, figures @ .., broken, brute_force] = &row.figures;
                let cells = match row.note.as_str() {
                    "" => format!("{} | {broken} of {brute_force}", figures.join(" | ")),
                    note => format!("{note} |||||||"),
                };
                println!("| {name} | {faces} | {share} | {cpu} | {cells} |");
            }
        }
    }
    let of_kind = |kind: &str| -> Vec<(&str, &Row)> {
        let rows = models
            .iter()
            .filter_map(|(name, _)| Some((name.as_str(), known.find(name, kind)?)));
        rows.collect()
    };
    let conservative = of_kind(CONSERVATIVELY);
    if !conservative.is_empty() {
        println!("\nConservative, {CONSERVATIVE:e} of the diagonal:\n");
        for (name, row) in conservative {
            println!("- {name}: {}", row.note);
        }
    }
    let left_out = of_kind(LEFT_OUT);
    if !left_out.is_empty() {
        let reasons: Vec<String> = left_out
            .iter()
            .map(|(name, row)| format!("{name}: {}", row.note))
            .collect();
        println!("\nLeft out: {}.", reasons.join("; "));
    }
}

/// Returns the generated models, then those of the folder, by name.
fn models(options: &Options) -> Result<Vec<(String, TriangleMesh)>, Box<dyn Error>> {
    let mut models = Vec::new();
    for model in generate::catalogue() {
        models.push((model.name.to_owned(), model.mesh()?));
    }
    if let Some(folder) = &options.models {
        let mut paths = Vec::new();
        collect(folder, &mut paths)?;
        let is_without = |path: &PathBuf| {
            let path = path.to_string_lossy();
            options
                .without
                .as_ref()
                .is_some_and(|word| path.contains(word))
        };
        paths.retain(|path| !is_without(path));
        paths.sort();
        for path in paths {
            // Skip files that are not meshes, or are broken on purpose.
            if let Ok(mesh) = read_file(&path, &Limits::default()) {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                models.push((name.into_owned(), mesh));
            }
        }
    }
    models.retain(|(name, _)| name.contains(&options.only));
    Ok(models)
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, paths)?;
        } else {
            paths.push(path);
        }
    }
    Ok(())
}

fn baked(
    mesh: &TriangleMesh,
    share: f64,
    conservative: bool,
    options: &Options,
) -> Result<Baked<SparseBlocks>, SparseBakeError> {
    let settings = BakeSettings {
        max_memory: options.max_memory,
        ..BakeSettings::default()
    };
    let sparse = SparseSettings {
        goal: SparseGoal::Tolerance(share * mesh.bounds().diagonal()),
        bits: Bits::Sixteen,
        conservative,
    };
    let start = ProcessTime::now();
    bake_sparse(
        mesh,
        &settings,
        &sparse,
        &|_| match start.elapsed().as_secs_f64() > options.bake_limit {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        },
    )
}

/// Returns the row of a model at a tolerance, or the reason why it has none.
fn one_row(
    name: &str,
    mesh: &TriangleMesh,
    share: f64,
    options: &Options,
) -> Result<Row, Box<dyn Error>> {
    let without_figures = |key: &str, note: String| Row {
        model: name.to_owned(),
        tolerance: key.to_owned(),
        note,
        ..Row::default()
    };
    let exact = match ExactDistance::new(mesh, SignChoice::Auto) {
        Ok(exact) => exact,
        Err(error) => return Ok(without_figures(LEFT_OUT, error.to_string())),
    };
    let key = format!("{share:e}");
    let (result, spent) = clock::timed(|| baked(mesh, share, false, options));
    let given_up = |note: String| {
        let mut row = without_figures(&key, note);
        row.figures[0] = format!("{:.1}", spent.cpu);
        Ok(row)
    };
    let found = match result {
        Ok(found) => found,
        Err(SparseBakeError::Bake(BakeError::Cancelled)) => {
            return given_up(format!("given up after {} CPU s", options.bake_limit));
        }
        Err(error) if error.is_limit() => return given_up(format!("refused: {error}")),
        Err(error) => return Ok(without_figures(LEFT_OUT, error.to_string())),
    };
    let stored = StoredField::from(found.field);
    let file_bytes = file::to_bytes(&stored, &found.provenance).len();
    let StoredField::Sparse(field) = &stored else {
        return Err("a sparse bake gave another field".into());
    };
    let checked = check(mesh, &exact, field, options.points);
    let ratio = median_ratio(&exact, field);
    let diagonal = mesh.bounds().diagonal();
    Ok(Row {
        figures: [
            format!("{:.1}", spent.cpu),
            file_bytes.to_string(),
            field.bytes().to_string(),
            format!("{:.3e}", f64::from(field.error_bound()) / diagonal),
            format!("{:.3e}", checked.worst / diagonal),
            format!("{ratio:.1}"),
            checked.broken.to_string(),
            checked.brute_force_broken.to_string(),
            checked.brute_force.to_string(),
        ],
        ..without_figures(&key, String::new())
    })
}

struct Checked {
    /// Largest error \[m\].
    worst: f64,
    /// Points whose error exceeds the bound of their block.
    broken: usize,
    /// Points measured against every triangle, and how many of those exceed the bound.
    brute_force: usize,
    brute_force_broken: usize,
}

fn check(
    mesh: &TriangleMesh,
    exact: &ExactDistance,
    field: &SparseBlocks,
    count: usize,
) -> Checked {
    let mut random = Random::new(7);
    let bounds = field.bounds();
    let (whole, reach) = (bounds.as_daabb(), 3.0 * f64::from(field.finest_cell_size()));
    let mut points: Vec<Vec3> = Vec::with_capacity(count);
    while points.len() < count {
        let point = if points.len().is_multiple_of(2) {
            random.in_box(whole.min, whole.max)
        } else {
            let off = random.uniform(0.0, reach) * random.unit_vector();
            on_surface(mesh, &mut random) + off
        };
        if bounds.contains(point.as_vec3()) {
            points.push(point.as_vec3());
        }
    }
    let exactly: Vec<DVec3> = points.iter().map(|point| point.as_dvec3()).collect();
    let truths = exact.distance_many(&exactly);
    let error = |point: Vec3, truth: f64| (f64::from(field.distance(point)) - truth).abs();
    let is_broken = |point: Vec3, error: f64| error > f64::from(field.error_near(point));
    let errors: Vec<f64> = (points.par_iter().zip(&truths))
        .map(|(&point, &truth)| error(point, truth))
        .collect();
    let broken = (points.iter().zip(&errors)).filter(|&(&point, &error)| is_broken(point, error));
    let truth = MeshTruth::of(mesh);
    let brute_force = (BRUTE_FORCE / mesh.faces.len().max(1)).clamp(200, 20_000);
    let some = &points[..brute_force.min(points.len())];
    let brute_force_broken = some
        .par_iter()
        .filter(|&&point| {
            let slow = truth.signed_distance(point.as_dvec3());
            is_broken(point, error(point, slow))
        })
        .count();
    Checked {
        worst: errors.iter().copied().fold(0.0, f64::max),
        broken: broken.count(),
        brute_force: some.len(),
        brute_force_broken,
    }
}

fn on_surface(mesh: &TriangleMesh, random: &mut Random) -> DVec3 {
    let [a, b, c] = mesh.triangle(random.below(mesh.faces.len())).corners();
    let weights = random.in_box(DVec3::ZERO, DVec3::ONE);
    (weights.x * a + weights.y * b + weights.z * c) / weights.element_sum()
}

/// Origin of a block, and the side of its cells \[m\].
struct Placed {
    block: u32,
    origin: DVec3,
    cell_size: f64,
}

/// Returns the ratio of the proven bound of a block to the worst error found in it: the median over
/// random blocks.
fn median_ratio(exact: &ExactDistance, field: &SparseBlocks) -> f64 {
    let placed = placed_blocks(field);
    let mut random = Random::new(8);
    let parts = field.parts();
    let mut ratios = Vec::new();
    for _ in 0..BLOCKS.min(4 * placed.len()) {
        let Placed {
            block,
            origin,
            cell_size,
        } = placed[random.below(placed.len())];
        let own = &parts.blocks[block as usize];
        let side = own.side();
        let mut points = Vec::new();
        for index in 0..side.pow(3) {
            if own.children == PLAIN || parts.children[(own.children + index) as usize] == PLAIN {
                let cell = UVec3::new(index % side, index / side % side, index / side / side);
                // Interpolation is most often worst in the centre of a cell.
                let middle = cell.as_dvec3() + 0.5;
                let mut places = vec![middle];
                for _ in 0..POINTS_A_CELL {
                    places.push(cell.as_dvec3() + random.in_box(DVec3::ZERO, DVec3::ONE));
                }
                points.extend(
                    places
                        .iter()
                        .map(|place| (origin + cell_size * place).as_vec3()),
                );
            }
        }
        // All cells of the block are replaced by finer ones, so its error is irrelevant.
        if points.is_empty() {
            continue;
        }
        let exactly: Vec<DVec3> = points.iter().map(|point| point.as_dvec3()).collect();
        let worst = (points.iter().zip(exact.distance_many(&exactly)))
            .map(|(&point, truth)| (f64::from(field.distance(point)) - truth).abs())
            .fold(0.0, f64::max);
        ratios.push(f64::from(own.error) / worst);
    }
    ratios.sort_by(f64::total_cmp);
    ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN)
}

fn placed_blocks(field: &SparseBlocks) -> Vec<Placed> {
    let (layout, parts) = (field.layout(), field.parts());
    let size = f64::from(layout.cell_size);
    let mut placed: Vec<Placed> = Vec::with_capacity(parts.blocks.len());
    let place_in = |list: &[u32], sides: UVec3, origin: DVec3, size: f64, out: &mut Vec<Placed>| {
        for (index, &block) in list.iter().enumerate().filter(|(_, b)| **b != PLAIN) {
            let index = index as u32;
            let (x, y, z) = (
                index % sides.x,
                index / sides.x % sides.y,
                index / sides.x / sides.y,
            );
            out.push(Placed {
                block,
                origin: origin + size * UVec3::new(x, y, z).as_dvec3(),
                cell_size: size / f64::from(parts.blocks[block as usize].side()),
            });
        }
    };
    let origin = layout.origin.as_dvec3();
    place_in(&parts.cells, layout.cells(), origin, size, &mut placed);
    let mut next = 0;
    while next < placed.len() {
        let Placed {
            block,
            origin,
            cell_size,
        } = placed[next];
        let own = &parts.blocks[block as usize];
        if own.children != PLAIN {
            let first = own.children as usize;
            let list = &parts.children[first..first + (own.side() as usize).pow(3)];
            place_in(
                list,
                UVec3::splat(own.side()),
                origin,
                cell_size,
                &mut placed,
            );
        }
        next += 1;
    }
    placed
}

fn conservative(name: &str, mesh: &TriangleMesh, options: &Options) -> Result<Row, Box<dyn Error>> {
    let row = |note: String| {
        Ok(Row {
            model: name.to_owned(),
            tolerance: CONSERVATIVELY.to_owned(),
            note,
            ..Row::default()
        })
    };
    let field = match baked(mesh, CONSERVATIVE, true, options) {
        Ok(found) => found.field,
        Err(SparseBakeError::Bake(BakeError::Cancelled)) => return row("given up".to_owned()),
        Err(error) if error.is_limit() => return row(format!("refused: {error}")),
        Err(error) => return Err(error.into()),
    };
    const CHUNK: usize = 100_000;
    let chunks = options.surface.div_ceil(CHUNK);
    let found: Vec<(usize, f32)> = (0..chunks)
        .into_par_iter()
        .map(|chunk| {
            let mut random = Random::new(chunk as u64);
            let (mut outside, mut highest) = (0, f32::NEG_INFINITY);
            for _ in 0..CHUNK.min(options.surface - chunk * CHUNK) {
                let value = field.distance(on_surface(mesh, &mut random).as_vec3());
                outside += usize::from(value > 0.0);
                highest = highest.max(value);
            }
            (outside, highest)
        })
        .collect();
    let outside: usize = found.iter().map(|(outside, _)| outside).sum();
    let highest = found
        .iter()
        .map(|&(_, highest)| highest)
        .fold(f32::NEG_INFINITY, f32::max);
    row(format!(
        "{} points of the surface, {outside} of them reported outside; the highest value is {:.2e} of the tolerance",
        thousands(options.surface),
        f64::from(highest) / (CONSERVATIVE * mesh.bounds().diagonal())
    ))
}

fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
