//! Touchfield's side of `bench/peers/contact_run`.
//!
//! ```text
//! contact FOLDER contacts|first|distance REGIME [--nodes N] [--points N] [--method NAME]
//!         [--detail SHARE] [--keep N]
//! ```
//!
//! Contacts are found with a detail, given as a share of the diagonal, and reduced to a manifold of
//! a few; `--keep 0` keeps them all.
//!
//! Input: the mesh and the poses written by `contact_poses`.
//! Output: `REGIME.TASK.touchfield.out` (an `f64` per pose: the number of contacts that touch, 1 or
//! 0, or the distance), and one line of JSON: CPU seconds, and for contacts the errors in cells.
//! Not for: interactive use (see `touchfield collide`).

#![expect(clippy::print_stdout, reason = "a program: its result goes there")]

use std::error::Error;
use std::fs;
use std::path::Path;

use glam::{DVec3, Vec3};
use touchfield::ShapeSettings;
use touchfield::bake::pointshell::{ShellDensity, ShellSettings};
use touchfield::bake::{ExactDistance, SignChoice};
use touchfield::contact::Contact;
use touchfield::geom::Pose;
use touchfield::manifold::{ReduceScratch, ReduceSettings, Reduced, reduce};
use touchfield::mesh::TriangleMesh;
use touchfield::mesh::read::{Limits, read_file};
use touchfield::narrow::{
    CollideError, CollideSettings, ContactMethod, Contacts, Pair, Scratch, SeparationOutcome,
    SeparationScratch, SeparationSettings, find_contacts, separation, sharpen, touching,
};
use touchfield::open::ShellChoice;
use touchfield::shape::Shape;
use touchfield_bench::clock;
use touchfield_bench::contact_poses::poses_from_csv;
use touchfield_bench::mesh_pair::ExactPose;

fn main() -> Result<(), Box<dyn Error>> {
    let (mut nodes, mut points, mut method) = (128, 35_000, ContactMethod::Auto);
    let (mut detail, mut keep) = (0.03, 8);
    let mut words = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--nodes" => nodes = arguments.next().ok_or("--nodes needs a number")?.parse()?,
            "--points" => points = arguments.next().ok_or("--points needs a number")?.parse()?,
            "--detail" => detail = arguments.next().ok_or("--detail needs a share")?.parse()?,
            "--keep" => keep = arguments.next().ok_or("--keep needs a number")?.parse()?,
            "--method" => method = method_named(&arguments.next().unwrap_or_default())?,
            _ => words.push(argument),
        }
    }
    let [folder, task, regime] = &words[..] else {
        return Err(
            "contact FOLDER contacts|first|distance REGIME [--nodes N] [--points N] [--method NAME] [--detail SHARE] [--keep N]".into(),
        );
    };
    // Bake the shape.
    let folder = Path::new(folder);
    let mesh = read_file(&folder.join("mesh.obj"), &Limits::default())?;
    let text = fs::read_to_string(folder.join(format!("{regime}.poses.csv")))?;
    let poses = poses_from_csv(&text)?;
    let (shape, prepare) = clock::timed(|| shape_of(&mesh, nodes, points));
    let shape = shape?;
    let diagonal = mesh.bounds().diagonal() as f32;
    let settings = Reduction {
        collide: CollideSettings {
            method,
            detail: detail * diagonal,
            ..Default::default()
        },
        keep,
    };
    // Run the task for all poses; the fastest run counts.
    let tolerance = 1e-3 * diagonal;
    let ((values, found), spent) = clock::least(|| -> (Vec<f64>, Result<(), Box<dyn Error>>) {
        let mut values = Vec::with_capacity(poses.len());
        let found = match task.as_str() {
            "contacts" => count_contacts(&shape, &poses, &settings, &mut values),
            "first" => are_touching(&shape, &poses, &mut values).map_err(Into::into),
            _ => distances(&shape, &poses, tolerance, &mut values).map_err(Into::into),
        };
        (values, found)
    });
    found?;
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    fs::write(
        folder.join(format!("{regime}.{task}.touchfield.out")),
        bytes,
    )?;
    // Compare with the truth.
    let truth = fs::read_to_string(folder.join(format!("{regime}.truth.csv")))?;
    let truth = truth_from_csv(&truth)?;
    let errors = match task.as_str() {
        "contacts" => errors(&mesh, &shape, &poses, &settings, &truth)?,
        "distance" => brackets(&shape, &poses, tolerance, &truth)?,
        _ => String::new(),
    };
    println!(
        r#"{{"peer": "touchfield", "task": "{task}", "regime": "{regime}", "version": "{}", "prepare": {}, "query": {}, "count": {}, "nodes": {nodes}, "cell_size": {}, "shell_points": {}{errors}}}"#,
        env!("CARGO_PKG_VERSION"),
        prepare.cpu,
        spent.cpu,
        poses.len(),
        shape.cell_size(),
        shape.shell().map_or(0, |shell| shell.points().len()),
    );
    Ok(())
}

fn method_named(name: &str) -> Result<ContactMethod, String> {
    let segments = ContactMethod::ShellSegments(64);
    let all = [
        ContactMethod::Auto,
        ContactMethod::PointSamples,
        ContactMethod::ShellTraversal,
        segments,
    ];
    (all.into_iter().find(|method| method.name() == name))
        .ok_or_else(|| format!("no method named {name:?}"))
}

/// Builds a shape with a dense grid, points on its surface, and its triangles.
fn shape_of(mesh: &TriangleMesh, nodes: u32, points: u32) -> Result<Shape, Box<dyn Error>> {
    let settings = ShapeSettings {
        shell: ShellChoice::Exactly(ShellSettings {
            density: ShellDensity::Points(points),
            ..Default::default()
        }),
        ..ShapeSettings::with_nodes(nodes)
    };
    Ok(Shape::from_mesh(mesh, &settings)?)
}

fn pair_at(shape: &Shape, pose: ExactPose) -> Pair<'_> {
    Pair {
        a: shape,
        b: shape,
        a_from_b: Pose {
            rotation: pose.rotation.as_quat(),
            translation: pose.translation.as_vec3(),
        },
    }
}

/// How contacts are found, and how many are kept; 0 keeps all.
#[derive(Clone, Copy)]
struct Reduction {
    collide: CollideSettings,
    keep: usize,
}

/// Scratch buffers of a manifold.
#[derive(Default)]
struct Buffers {
    scratch: Scratch,
    reduce: ReduceScratch,
    reduced: Reduced,
    found: Contacts,
    kept: Vec<Contact>,
}

impl Reduction {
    /// Computes the manifold of a pose into `buffers.kept`.
    fn manifold(&self, pair: &Pair<'_>, buffers: &mut Buffers) -> Result<(), Box<dyn Error>> {
        find_contacts(
            pair,
            &self.collide,
            &mut buffers.scratch,
            &mut buffers.found,
        )?;
        let found = &buffers.found.contacts;
        buffers.kept.clear();
        if self.keep == 0 {
            buffers.kept.extend_from_slice(found);
            return Ok(());
        }
        let settings = ReduceSettings {
            max_contacts: self.keep,
            ..Default::default()
        };
        reduce(
            found,
            &[],
            &settings,
            &mut buffers.reduce,
            &mut buffers.reduced,
        )?;
        let kept = buffers.reduced.kept.iter();
        (buffers.kept).extend(kept.map(|&index| sharpen(pair, found[index as usize])));
        Ok(())
    }
}

fn count_contacts(
    shape: &Shape,
    poses: &[ExactPose],
    settings: &Reduction,
    values: &mut Vec<f64>,
) -> Result<(), Box<dyn Error>> {
    let mut buffers = Buffers::default();
    for &pose in poses {
        settings.manifold(&pair_at(shape, pose), &mut buffers)?;
        values.push(buffers.kept.len() as f64);
    }
    Ok(())
}

fn are_touching(
    shape: &Shape,
    poses: &[ExactPose],
    values: &mut Vec<f64>,
) -> Result<(), CollideError> {
    let mut scratch = Scratch::default();
    for &pose in poses {
        let found = touching(&pair_at(shape, pose), 0.0, &mut scratch)?;
        values.push(f64::from(u8::from(found)));
    }
    Ok(())
}

fn distances(
    shape: &Shape,
    poses: &[ExactPose],
    tolerance: f32,
    values: &mut Vec<f64>,
) -> Result<(), CollideError> {
    let settings = SeparationSettings::to_within(tolerance);
    let mut scratch = SeparationScratch::default();
    for &pose in poses {
        let found = separation(&pair_at(shape, pose), &settings, &mut scratch)?;
        values.push(f64::from(found.separation));
    }
    Ok(())
}

/// Returns the errors of contacts over all poses, in cells, as JSON keys.
///
/// `surface_error`: distance from the points that a contact names on A and on B to those surfaces.
/// `depth_error`: difference between its separation and the signed distance at one of these points
/// to the other surface, whichever is nearer. `deepest_error`: difference between the deepest
/// contact of a pose and the deepest sample of B in A, or of A in B, whichever is nearer. Each with
/// its maximum and its 99th percentile.
fn errors(
    mesh: &TriangleMesh,
    shape: &Shape,
    poses: &[ExactPose],
    settings: &Reduction,
    truth: &[TruthRow],
) -> Result<String, Box<dyn Error>> {
    let exact = ExactDistance::new(mesh, SignChoice::Auto)?;
    let mut buffers = Buffers::default();
    let (mut surface, mut depth, mut deepest) = (Vec::new(), Vec::new(), Vec::new());
    for (&pose, truth) in poses.iter().zip(truth) {
        settings.manifold(&pair_at(shape, pose), &mut buffers)?;
        let depths = buffers.kept.iter().map(|c| -f64::from(c.separation));
        let most = depths.fold(0.0, f64::max);
        deepest.push(
            (most - truth.depth_of_b)
                .abs()
                .min((most - truth.depth_of_a).abs()),
        );
        let places = |place: fn(Contact) -> Vec3| -> Vec<DVec3> {
            let contacts = buffers.kept.iter();
            contacts.map(|&contact| place(contact).as_dvec3()).collect()
        };
        let (on_a, on_b) = (places(Contact::point_on_a), places(Contact::point_on_b));
        let b_from_a = pose.inverse();
        let in_b = |points: &[DVec3]| -> Vec<DVec3> {
            (points.iter().map(|&p| b_from_a.transform_point(p))).collect()
        };
        let (a_of_a, b_of_b) = (
            exact.distance_many(&on_a),
            exact.distance_many(&in_b(&on_b)),
        );
        let (a_in_b, b_in_a) = (
            exact.distance_many(&in_b(&on_a)),
            exact.distance_many(&on_b),
        );
        for (index, contact) in buffers.kept.iter().enumerate() {
            let found = f64::from(contact.separation);
            surface.push(a_of_a[index].abs().max(b_of_b[index].abs()));
            depth.push(
                (found - a_in_b[index])
                    .abs()
                    .min((found - b_in_a[index]).abs()),
            );
        }
    }
    let cell = f64::from(shape.cell_size());
    let of = |errors: &mut Vec<f64>| {
        errors.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| errors.get((share * errors.len() as f64) as usize);
        let largest = errors.last().copied().unwrap_or(0.0);
        (largest / cell, at(0.99).copied().unwrap_or(largest) / cell)
    };
    let ((surface_most, surface_99), (depth_most, depth_99)) = (of(&mut surface), of(&mut depth));
    let (deepest_most, deepest_99) = of(&mut deepest);
    Ok(format!(
        r#", "surface_error": {surface_most:.4}, "surface_error_99": {surface_99:.4}, "depth_error": {depth_most:.4}, "depth_error_99": {depth_99:.4}, "deepest_error": {deepest_most:.4}, "deepest_error_99": {deepest_99:.4}"#
    ))
}

/// Returns whether brackets hold the true distance, and how wide they are, as JSON keys; lengths in
/// \[m\].
fn brackets(
    shape: &Shape,
    poses: &[ExactPose],
    tolerance: f32,
    truth: &[TruthRow],
) -> Result<String, CollideError> {
    let settings = SeparationSettings::to_within(tolerance);
    let mut scratch = SeparationScratch::default();
    let (mut broken, mut wider, mut gave_up, mut widest) = (0, 0, 0, 0.0_f32);
    for (&pose, truth) in poses.iter().zip(truth) {
        let found = separation(&pair_at(shape, pose), &settings, &mut scratch)?;
        let bracket = f64::from(found.lower_bound)..=f64::from(found.upper_bound);
        let width = found.upper_bound - found.lower_bound;
        broken += u32::from(!bracket.contains(&truth.distance));
        wider += u32::from(width > tolerance);
        gave_up += u32::from(found.outcome == SeparationOutcome::GaveUp);
        widest = widest.max(width);
    }
    Ok(format!(
        r#", "broken_brackets": {broken}, "brackets_wider_than_asked": {wider}, "gave_up": {gave_up}, "widest_bracket": {widest}"#
    ))
}

/// Columns read from a truth file.
struct TruthRow {
    distance: f64,
    depth_of_b: f64,
    depth_of_a: f64,
}

fn truth_from_csv(text: &str) -> Result<Vec<TruthRow>, Box<dyn Error>> {
    let mut rows = Vec::new();
    for line in text.lines().skip(1) {
        let numbers: Vec<f64> = line.split(',').map(str::parse).collect::<Result<_, _>>()?;
        let [_, distance, depth_of_b, depth_of_a] = numbers[..] else {
            return Err(format!("not a row of truth: {line}").into());
        };
        rows.push(TruthRow {
            distance,
            depth_of_b,
            depth_of_a,
        });
    }
    Ok(rows)
}
