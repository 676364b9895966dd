//! Depth of overlaps by exact distances to the faces, beside the same query by fields alone.
//!
//! ```text
//! overlap_depth [--poses N] [--nodes N]
//! ```
//!
//! Input: models of the catalogue, and the bunny where `TOUCHFIELD_MESHES` names its folder; every
//! model with itself and with the next one, in random poses that overlap.
//! Output: one line per pair and tolerance: microseconds by fields and by faces, mean and worst
//! ratio of the two, and the widest bracket of each over the tolerance.
//! Not for: bodies that are apart, which both answer by their triangles.

#![expect(clippy::print_stdout, reason = "a program: its result goes there")]

use std::error::Error;
use std::time::Instant;

use touchfield::ShapeSettings;
use touchfield::geom::{Pose, Random};
use touchfield::mesh::TriangleMesh;
use touchfield::narrow::{
    CollideError, Pair, Separation, SeparationScratch, SeparationSettings, separation,
};
use touchfield::open::ShellChoice;
use touchfield::shape::Shape;
use touchfield_conformance::meshes;

/// Tolerances, as fractions of the diagonal of 1 m.
const TOLERANCES: [f32; 3] = [1e-2, 1e-3, 1e-5];

fn main() -> Result<(), Box<dyn Error>> {
    let (mut poses, mut nodes) = (40usize, 64u32);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let number = arguments.next().ok_or("an option needs a number")?;
        match argument.as_str() {
            "--poses" => poses = number.parse()?,
            "--nodes" => nodes = number.parse()?,
            _ => return Err(format!("unknown option {argument}").into()),
        }
    }
    let names = [
        "box", "ball", "torus", "gear", "nut", "bowl", "mug", "plate", "knot", "pipe",
    ];
    let mut bodies = Vec::new();
    for model in meshes::models() {
        if names.iter().any(|name| model.name.contains(name)) {
            bodies.push((model.name.to_string(), shape_of(model.mesh, nodes)?));
        }
    }
    if let Some(bunny) = meshes::bunny() {
        bodies.push(("bunny".to_string(), shape_of(bunny, nodes)?));
    }
    println!(
        "{:34} {:>8} {:>5} {:>10} {:>10} {:>7} {:>7} {:>9} {:>9} {:>9}",
        "pair",
        "tol",
        "poses",
        "fields us",
        "faces us",
        "mean x",
        "worst x",
        "fields w",
        "faces w",
        "boxes"
    );
    for tolerance in TOLERANCES {
        let mut all = Row::default();
        for first in 0..bodies.len() {
            for second in [first, (first + 1) % bodies.len()] {
                let (a, b) = (&bodies[first], &bodies[second]);
                let row = row(&a.1, &b.1, tolerance, poses)?;
                row.print(&format!("{} / {}", a.0, b.0), tolerance);
                all.join(&row);
            }
        }
        all.print("all", tolerance);
    }
    Ok(())
}

/// Returns the shape of a mesh scaled to a diagonal of 1 m about the origin.
fn shape_of(mut mesh: TriangleMesh, nodes: u32) -> Result<Shape, Box<dyn Error>> {
    let bounds = mesh.bounds();
    for vertex in &mut mesh.vertices {
        *vertex = (*vertex - bounds.center()) / bounds.diagonal();
    }
    let settings = ShapeSettings {
        shell: ShellChoice::None,
        ..ShapeSettings::with_nodes(nodes)
    };
    Ok(Shape::from_mesh(&mesh, &settings)?)
}

/// Sums over poses.
#[derive(Default)]
struct Row {
    poses: usize,
    fields: f64,
    faces: f64,
    ratios: f64,
    worst: f64,
    fields_width: f32,
    faces_width: f32,
    boxes: f64,
}

impl Row {
    fn join(&mut self, other: &Row) {
        self.poses += other.poses;
        self.fields += other.fields;
        self.faces += other.faces;
        self.ratios += other.ratios;
        self.worst = self.worst.max(other.worst);
        self.boxes += other.boxes;
        self.fields_width = self.fields_width.max(other.fields_width);
        self.faces_width = self.faces_width.max(other.faces_width);
    }

    fn print(&self, name: &str, tolerance: f32) {
        let poses = self.poses.max(1) as f64;
        println!(
            "{name:34} {tolerance:8.0e} {:5} {:10.1} {:10.1} {:7.2} {:7.2} {:9.2} {:9.2} {:9.0}",
            self.poses,
            self.fields / poses,
            self.faces / poses,
            self.ratios / poses,
            self.worst,
            self.fields_width / tolerance,
            self.faces_width / tolerance,
            self.boxes / poses,
        );
    }
}

fn row(a: &Shape, b: &Shape, tolerance: f32, poses: usize) -> Result<Row, CollideError> {
    let without = [a.clone().without_surface(), b.clone().without_surface()];
    let settings = SeparationSettings::to_within(tolerance).exactly();
    let mut scratch = SeparationScratch::default();
    let mut random = Random::new(11);
    let mut row = Row::default();
    for _ in 0..poses {
        let offset = random.uniform(0.0, 0.4) * random.unit_vector();
        let a_from_b = Pose {
            rotation: random.quaternion().as_quat(),
            translation: offset.as_vec3(),
        };
        let by_fields = Pair {
            a: &without[0],
            b: &without[1],
            a_from_b,
        };
        let by_faces = Pair { a, b, a_from_b };
        let (found, faces) = timed(&by_faces, &settings, &mut scratch)?;
        if found.upper_bound > 0.0 {
            continue;
        }
        let (rough, fields) = timed(&by_fields, &settings, &mut scratch)?;
        let width = |found: &Separation| found.upper_bound - found.lower_bound;
        row.join(&Row {
            poses: 1,
            fields,
            faces,
            ratios: faces / fields,
            worst: faces / fields,
            fields_width: width(&rough),
            faces_width: width(&found),
            boxes: f64::from(found.boxes),
        });
    }
    Ok(row)
}

/// Returns the answer and the least time of three runs \[µs\].
fn timed(
    pair: &Pair<'_>,
    settings: &SeparationSettings,
    scratch: &mut SeparationScratch,
) -> Result<(Separation, f64), CollideError> {
    let mut least = f64::INFINITY;
    let mut found = separation(pair, settings, scratch)?;
    for _ in 0..3 {
        let start = Instant::now();
        found = separation(pair, settings, scratch)?;
        least = least.min(start.elapsed().as_secs_f64() * 1e6);
    }
    Ok((found, least))
}
