//! The promised error of every kind of field and the worst error measured: the tables of
//! docs/ACCURACY.md.
//!
//! Input: none; shapes about a metre in size, fixed seeds.
//! Output: Markdown, or the first broken promise.
//! Cost: seconds.
//! Not for: edge cases; `tests/fields/` covers sizes from a micrometre up, flat and empty solids.

pub mod cast_accuracy;
pub mod contact_accuracy;
pub mod convergence;
pub mod convex_accuracy;
pub mod plot;
pub mod subdivision_cost;
pub mod wrench_loss;

use std::f64::consts::{FRAC_PI_2, TAU};
use std::fmt::Write;

use glam::{DQuat, DVec2, DVec3, Quat, Vec2, Vec3};
use touchfield::bake::{BakeSettings, Resolution, bake};
use touchfield::field::primitive::*;
use touchfield::field::*;
use touchfield::geom::{Aabb, Pose};
use touchfield::mesh::{TriangleMesh, generate};

use crate::closed_forms::{self, Piece};
use crate::field_suite::{FieldReport, check_field};
use crate::mesh_truth::{MeshTruth, in_parallel};
use crate::random::Random;
use crate::representations::{self, Representation};

/// Random points per field, in addition to those at kinks and extremes.
const POINTS: usize = 4000;
/// Random points per grid; each is measured against all triangles.
const GRID_POINTS: usize = 4000;
/// Nodes along the longest side of the grids.
const RESOLUTIONS: [u32; 2] = [24, 48];

type Problem = Box<dyn std::error::Error>;
type Truth = Box<dyn Fn(DVec3) -> f64>;
/// Checks one field against its truth and keeps the report.
type Add<'a> = dyn FnMut(&str, &dyn Field, Truth) -> Result<(), Problem> + 'a;

/// Returns the whole document.
pub fn document() -> Result<String, Problem> {
    let mut text = String::from(INTRODUCTION);
    text += "\n| field | meaning | promised [m] | worst error [m] | shortfall [m] |\n|---|---|---|---|---|\n";
    for report in analytic()? {
        // Two digits are enough for rounding errors.
        writeln!(
            text,
            "| {} | {} | {:.1e} | {:.1e} | {} |",
            report.name,
            format!("{:?}", report.meaning).to_lowercase(),
            report.error_bound,
            report.worst_error,
            match report.meaning {
                Meaning::Distance => "–".to_owned(),
                Meaning::Bound => format!("{:.2}", report.worst_shortfall),
            },
        )?;
    }
    text += GRIDS;
    text += "\n| model | faces | nodes | cell [m] | promised [cells] | worst error [cells] | worst error near the surface [cells] |\n|---|---|---|---|---|---|---|\n";
    for row in grids()? {
        let cell = f64::from(row.layout.cell_size);
        let [x, y, z] = row.layout.nodes.to_array();
        writeln!(
            text,
            "| {} | {} | {x} × {y} × {z} | {cell:.2e} | {:.3} | {:.2} | {:.2} |",
            row.name,
            row.faces,
            row.error_bound / cell,
            row.worst.anywhere / cell,
            row.worst.near_surface / cell,
        )?;
    }
    text += REPRESENTATIONS;
    text += "\n| field | promised [cells] | worst error [cells] | worst error near the surface [cells] | bytes |\n|---|---|---|---|---|\n";
    for row in representations()? {
        writeln!(
            text,
            "| {} | {:.3} | {:.3} | {:.3} | {} |",
            row.name, row.promised, row.worst.anywhere, row.worst.near_surface, row.bytes,
        )?;
    }
    text += &convergence::section()?;
    text += &contact_accuracy::section()?;
    text += &cast_accuracy::section()?;
    text += &convex_accuracy::section()?;
    Ok(text)
}

const INTRODUCTION: &str = "# Accuracy

Generated: `cargo run --release -p touchfield-conformance --example accuracy > docs/ACCURACY.md`. A test compares this file with
what the code gives.

Every field says how far its values can be off: `error_bound`. The conformance suite tries to prove it wrong: at random
points inside, near the surface and outside, at kinks, and at coordinates from 1e-40 to 1e30. Truth is computed in `f64` by
other means than the library's formulas. The tables give the promise and the worst that was found. A field that breaks its promise
fails the suite, and this file cannot be made.

## Closed forms and what is made of them

Shapes about a metre in size. A *distance* is off by at most the promise. A *bound* has the right sign and is too
large by at most the promise; how much smaller than the true distance it can be is the shortfall, which nothing limits.
";

const GRIDS: &str = "
The half-space has no end. Its promise holds for values up to `HalfSpace::REACH`; the worst error was found farther out, where
an `f32` cannot say it better.

## Dense grids

Baked from closed meshes, each grid measured at 4000 random points against all triangles in `f64`, signs by the exact winding number.
The promise is half the diagonal of a cell, √3/2 = 0.866 cells, plus rounding. The worst is found where the distance has a kink: at the medial
axis, such as the centre of a ball, and at sharp edges; there interpolation cuts the corner. *Near the surface* is within one cell of it.
Around the grid the value was never more than the distance.
";

const REPRESENTATIONS: &str = "
## Every way to store a field

A box, a ball of 320 faces and a ring of 576, each turned and moved at random, baked with 40 nodes along the longest side, or to a tolerance of half such a
cell, and measured as above. Cells are those of the dense grid; each figure is the worst of the three shapes, bytes are added up.
A band promises for its coarse cells, eight times as large, and is finer only near the surface.
";

/// Returns a point of a profile: distance from the axis, and height.
fn at(radius: f64, height: f64) -> DVec2 {
    DVec2::new(radius, height)
}

fn arc(center: DVec2, radius: f64, from: f64, to: f64) -> Piece {
    Piece::Arc {
        center,
        radius,
        from,
        to,
    }
}

fn turned(pieces: Vec<Piece>, inside: impl Fn(DVec2) -> bool + 'static) -> Truth {
    Box::new(closed_forms::revolved(pieces, inside))
}

fn turned_polygon(corners: &[(f64, f64)]) -> Truth {
    let corners = corners.iter().map(|&(r, z)| at(r, z)).collect();
    Box::new(closed_forms::revolved_polygon(corners))
}

/// Checks every analytic field. Sizes are sums of powers of two, so that `f32` and `f64` describe
/// the same shape.
fn analytic() -> Result<Vec<FieldReport>, Problem> {
    let mut reports = Vec::new();
    let mut add = |name: &str, field: &dyn Field, truth: Truth| -> Result<(), Problem> {
        reports.push(check_field(field, Some(&*truth), name, 1, POINTS)?);
        Ok(())
    };
    let ball = Sphere::new(1.0)?;
    let ball_truth = || {
        let circle = arc(DVec2::ZERO, 1.0, -FRAC_PI_2, FRAC_PI_2);
        turned(vec![circle], |p| p.length() < 1.0)
    };
    add("sphere", &ball, ball_truth())?;

    let half = DVec3::new(1.0, 0.5, 0.75);
    let block = Cuboid::new(half.as_vec3())?;
    add("cuboid", &block, Box::new(closed_forms::cuboid(half)))?;

    let core = half - 0.25;
    let sharp = closed_forms::cuboid(core);
    add(
        "rounded cuboid",
        &RoundedCuboid::new(half.as_vec3(), 0.25)?,
        Box::new(move |p: DVec3| sharp(p) - 0.25),
    )?;

    let sides = vec![
        arc(at(0.0, -1.0), 0.5, -FRAC_PI_2, 0.0),
        Piece::Segment(at(0.5, -1.0), at(0.5, 1.0)),
        arc(at(0.0, 1.0), 0.5, 0.0, FRAC_PI_2),
    ];
    let inside = |p: DVec2| p.distance(at(0.0, p.y.clamp(-1.0, 1.0))) < 0.5;
    add("capsule", &Capsule::new(1.0, 0.5)?, turned(sides, inside))?;

    let profile = [(0.0, -1.0), (0.5, -1.0), (0.5, 1.0), (0.0, 1.0)];
    let cylinder = Cylinder::new(1.0, 0.5)?;
    add("cylinder", &cylinder, turned_polygon(&profile))?;

    let profile = [(0.0, -1.0), (0.75, -1.0), (0.0, 1.0)];
    add("cone", &Cone::new(1.0, 0.75)?, turned_polygon(&profile))?;
    let profile = [(0.0, -0.5), (1.0, -0.5), (0.25, 0.5), (0.0, 0.5)];
    let frustum = Cone::frustum(0.5, 1.0, 0.25)?;
    add("frustum", &frustum, turned_polygon(&profile))?;

    let ring = vec![arc(at(1.0, 0.0), 0.25, 0.0, TAU)];
    let inside = |p: DVec2| p.distance(at(1.0, 0.0)) < 0.25;
    add("torus", &Torus::new(1.0, 0.25)?, turned(ring, inside))?;

    let axes = DVec3::new(1.0, 0.25, 0.5);
    let body = Ellipsoid::new(axes.as_vec3())?;
    add("ellipsoid", &body, Box::new(closed_forms::ellipsoid(axes)))?;

    let normal = Vec3::new(1.0, -2.0, 0.5);
    let unit = normal.as_dvec3().normalize();
    add(
        "half-space",
        &HalfSpace::new(normal, -0.5)?,
        Box::new(move |p: DVec3| p.dot(unit) + 0.5),
    )?;

    // Hills by a formula whose values are multiples of 1/8.
    let (columns, rows) = (9, 7);
    let height = |c: usize, r: usize| ((3 * c * c + 5 * r * c + 2 * r) % 8) as f64 / 8.0 + 0.25;
    let heights = (0..columns * rows).map(|i| height(i % columns, i / columns) as f32);
    let ground = HeightField::new(heights.collect(), columns, Vec2::splat(0.5), -0.5)?;
    let truth = closed_forms::terrain(height, columns, rows, DVec2::splat(0.5), -0.5);
    add("height field", &ground, Box::new(truth))?;

    let pose = Pose {
        rotation: Quat::from_xyzw(0.5, -0.5, 0.5, 0.5),
        translation: Vec3::new(1.0, -2.0, 3.0),
    };
    let turn: DQuat = pose.rotation.as_dquat();
    let own = closed_forms::cuboid(half);
    add(
        "transformed cuboid",
        &Transformed::new(block, pose, 2.0)?,
        Box::new(move |p| 2.0 * own(turn.inverse() * (p - pose.translation.as_dvec3()) / 2.0)),
    )?;

    let declared = Declared {
        bounds: Aabb::from_center(Vec3::ZERO, Vec3::splat(1.5)),
        lipschitz: 1.0,
        meaning: Meaning::Distance,
        error_bound: 2e-6,
    };
    let closure = Closure::new(|p: Vec3| p.length() - 1.0, declared)?;
    add("closure (a ball)", &closure, ball_truth())?;

    bounds_of(&mut add, cylinder)?;
    Ok(reports)
}

/// Checks operations whose result is a bound: two unit balls at z = ±½, a cylinder grown, a ball
/// made hollow.
fn bounds_of(add: &mut Add<'_>, cylinder: Cylinder) -> Result<(), Problem> {
    let ball =
        |z: f32| Transformed::new(Sphere::new(1.0)?, Pose::from_translation(z * Vec3::Z), 1.0);
    let (first, second) = (ball(0.5)?, ball(-0.5)?);
    let (up, down) = (at(0.0, 0.5), at(0.0, -0.5));
    // Where the circles cross, as an angle above the horizontal.
    let cut = 0.5f64.asin();
    let (upper_outer, lower_outer) = (
        arc(up, 1.0, -cut, FRAC_PI_2),
        arc(down, 1.0, -FRAC_PI_2, cut),
    );
    let (upper_inner, lower_inner) = (
        arc(up, 1.0, -FRAC_PI_2, -cut),
        arc(down, 1.0, cut, FRAC_PI_2),
    );
    let in_up = move |p: DVec2| p.distance(up) < 1.0;
    let in_down = move |p: DVec2| p.distance(down) < 1.0;
    add(
        "union of balls",
        &Union { first, second },
        turned(vec![upper_outer, lower_outer], move |p| {
            in_up(p) || in_down(p)
        }),
    )?;
    add(
        "intersection of balls",
        &Intersection { first, second },
        turned(vec![upper_inner, lower_inner], move |p| {
            in_up(p) && in_down(p)
        }),
    )?;
    add(
        "difference of balls",
        &Difference { first, second },
        turned(vec![upper_outer, lower_inner], move |p| {
            in_up(p) && !in_down(p)
        }),
    )?;
    let grown = vec![
        Piece::Segment(at(0.0, -1.25), at(0.5, -1.25)),
        arc(at(0.5, -1.0), 0.25, -FRAC_PI_2, 0.0),
        Piece::Segment(at(0.75, -1.0), at(0.75, 1.0)),
        arc(at(0.5, 1.0), 0.25, 0.0, FRAC_PI_2),
        Piece::Segment(at(0.0, 1.25), at(0.5, 1.25)),
    ];
    add(
        "offset of a cylinder",
        &Offset::new(cylinder, 0.25)?,
        turned(grown, |p| {
            p.distance(at(p.x.min(0.5), p.y.clamp(-1.0, 1.0))) < 0.25
        }),
    )?;
    add(
        "shell of a ball",
        &Shell::new(Sphere::new(1.0)?, 0.25)?,
        Box::new(|p| (p.length() - 1.0).abs() - 0.125),
    )
}

/// Measurements of one baked grid.
struct GridRow {
    name: &'static str,
    faces: usize,
    layout: GridLayout,
    error_bound: f64,
    worst: Worst,
}

/// The largest errors found.
#[derive(Clone, Copy, Default)]
struct Worst {
    /// Largest error anywhere in the grid \[m\].
    anywhere: f64,
    /// Largest error within one cell of the surface \[m\].
    near_surface: f64,
}

/// Bakes and measures models of up to a few thousand faces.
fn grids() -> Result<Vec<GridRow>, Problem> {
    let tetrahedron = TriangleMesh {
        vertices: vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z],
        faces: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
    };
    let icosphere = generate::Icosphere {
        level: 3,
        ..Default::default()
    };
    let torus = generate::Torus {
        major_segments: 48,
        minor_segments: 24,
        ..Default::default()
    };
    let bowl = generate::Bowl {
        segments: 32,
        rows: 12,
        ..Default::default()
    };
    let models = [
        ("tetrahedron", tetrahedron),
        ("box", generate::cuboid(Default::default())?),
        ("thin plate", generate::thin_plate(Default::default())?),
        ("icosphere", generate::icosphere(icosphere)?),
        ("torus", generate::torus(torus)?),
        ("bowl", generate::bowl(bowl)?),
    ];
    let mut rows = Vec::new();
    for (name, mesh) in models {
        for nodes in RESOLUTIONS {
            let settings = BakeSettings {
                resolution: Resolution::Nodes(nodes),
                ..BakeSettings::default()
            };
            let grid = bake(&mesh, &settings)?.field;
            let layout = *grid.layout();
            rows.push(GridRow {
                name,
                faces: mesh.faces.len(),
                layout,
                error_bound: grid.error_bound().into(),
                worst: measure(name, &mesh, &grid, layout.cell_size.into())?,
            });
        }
    }
    Ok(rows)
}

/// Measures the field against all triangles in `f64`: inside the grid, near its surface, and around
/// the grid, where values must not exceed the distance.
fn measure(
    name: &str,
    mesh: &TriangleMesh,
    field: &dyn Field,
    cell: f64,
) -> Result<Worst, Problem> {
    let mut random = Random::new(1);
    let bounds = field.bounds().as_daabb();
    let around = bounds.grown(bounds.diagonal());
    let error_bound = f64::from(field.error_bound());
    let mut points = Vec::new();
    for i in 0..GRID_POINTS {
        let point = match i % 5 {
            // Where the distance to a ball has its kink.
            _ if i == 0 => mesh.bounds().center(),
            0 | 1 => random.in_box(bounds.min, bounds.max),
            2 | 3 => {
                let triangle = mesh.triangle(random.below(mesh.faces.len()));
                let weights = random.in_box(DVec3::ZERO, DVec3::ONE);
                let [a, b, c] = triangle.corners();
                let place = (weights.x * a + weights.y * b + weights.z * c) / weights.element_sum();
                place + random.uniform(0.0, cell) * random.unit_vector()
            }
            _ => random.in_box(around.min, around.max),
        };
        points.push(point.as_vec3());
    }
    let truth = MeshTruth::of(mesh);
    let truths = in_parallel(&points, |point| truth.signed_distance(point.as_dvec3()));
    let mut worst = Worst::default();
    for (point, truth) in points.into_iter().zip(truths) {
        let value = f64::from(field.distance(point));
        let inside = field.bounds().contains(point);
        let error = if inside {
            (value - truth).abs()
        } else {
            value - truth
        };
        if error > if inside { error_bound } else { 0.0 } {
            return Err(format!("{name}: value {value:e}, truth {truth:e} at {point}").into());
        }
        if inside {
            worst.anywhere = worst.anywhere.max(error);
            if truth.abs() < cell {
                worst.near_surface = worst.near_surface.max(error);
            }
        }
    }
    Ok(worst)
}

/// One representation, over all shapes; lengths in cells.
struct RepresentationRow {
    name: String,
    promised: f64,
    worst: Worst,
    bytes: usize,
}

/// Nodes along the longest side of the models stored in every representation.
const REPRESENTATION_NODES: u32 = 40;

fn representations() -> Result<Vec<RepresentationRow>, Problem> {
    let ring = generate::Torus {
        major_segments: 24,
        minor_segments: 12,
        ..Default::default()
    };
    let mut meshes = [
        generate::cuboid(Default::default())?,
        crate::meshes::icosphere(0.05, 2),
        generate::torus(ring)?,
    ];
    let mut random = Random::new(3);
    for mesh in &mut meshes {
        let rotation = random.quaternion();
        let offset = random.in_box(DVec3::splat(-0.1), DVec3::splat(0.1));
        for vertex in &mut mesh.vertices {
            *vertex = rotation * *vertex + offset;
        }
    }
    let cells = meshes
        .iter()
        .map(|mesh| Representation::Dense.bake(mesh, REPRESENTATION_NODES))
        .map(|dense| Ok(f64::from(dense?.finest_cell_size())))
        .collect::<Result<Vec<f64>, Problem>>()?;
    let mut rows = Vec::new();
    for representation in representations::ALL {
        let mut row = RepresentationRow {
            name: representation.name(),
            promised: 0.0,
            worst: Worst::default(),
            bytes: 0,
        };
        for (mesh, &cell) in meshes.iter().zip(&cells) {
            let stored = representation.bake(mesh, REPRESENTATION_NODES)?;
            let worst = measure(&row.name, mesh, &stored, cell)?;
            let promised = f64::from(stored.error_bound());
            row.promised = row.promised.max(promised / cell);
            row.worst.anywhere = row.worst.anywhere.max(worst.anywhere / cell);
            row.worst.near_surface = row.worst.near_surface.max(worst.near_surface / cell);
            row.bytes += stored.bytes();
        }
        rows.push(row);
    }
    Ok(rows)
}
