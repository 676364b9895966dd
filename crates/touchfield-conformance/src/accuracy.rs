//! What every kind of field promises and the worst that was measured: the tables of docs/ACCURACY.md.
//!
//! Input: none; shapes about a metre in size, fixed seeds. Output: Markdown, or the first promise that was broken.
//! Cost: seconds. Not for: the edge cases; `tests/fields/` tries sizes from a micrometre up, flat and empty solids.

use std::f64::consts::{FRAC_PI_2, TAU};
use std::fmt::Write;
use std::ops::ControlFlow;

use glam::{DQuat, DVec2, DVec3, Quat, Vec2, Vec3};
use touchfield::bake::{BakeSettings, Resolution, bake};
use touchfield::field::primitive::*;
use touchfield::field::*;
use touchfield::geom::{Aabb, Pose};
use touchfield::mesh::{TriangleMesh, generate, winding_number_brute_force};

use crate::closed_forms::{self, Piece};
use crate::field_suite::{FieldReport, check_field};
use crate::random::Random;

/// Random points for each field, besides those at kinks and extremes.
const POINTS: usize = 4000;
/// Random points for each grid; each is measured against all triangles.
const GRID_POINTS: usize = 4000;
/// Nodes along the longest side of the grids.
const RESOLUTIONS: [u32; 2] = [24, 48];

type Problem = Box<dyn std::error::Error>;
type Truth = Box<dyn Fn(DVec3) -> f64>;
/// Checks one field against its truth and keeps the report.
type Add<'a> = dyn FnMut(&str, &dyn Field, Truth) -> Result<(), Problem> + 'a;

/// The whole document.
pub fn document() -> Result<String, Problem> {
    let mut text = String::from(INTRODUCTION);
    text += "\n| field | meaning | promised [m] | worst error [m] | shortfall [m] |\n|---|---|---|---|---|\n";
    for report in analytic()? {
        // Two digits say all there is to say about rounding.
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
            row.worst / cell,
            row.worst_near_surface / cell,
        )?;
    }
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

/// A point away from the axis and a height, as profiles of turned bodies are drawn.
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

/// Every analytic field. Sizes are sums of powers of two, so that `f32` and `f64` mean the same shape.
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

/// What operations leave of distances: two unit balls about z = ±½, a cylinder grown, a ball made hollow.
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

/// Distance to all triangles, sign by the exact winding number: nothing shared with the baker but one triangle.
fn mesh_truth(mesh: &TriangleMesh) -> impl Fn(DVec3) -> f64 {
    move |point| {
        let distance = mesh
            .triangles()
            .map(|triangle| triangle.closest_point(point).point.distance(point))
            .fold(f64::INFINITY, f64::min);
        let inside = winding_number_brute_force(mesh.triangles(), point) > 0.5;
        if inside { -distance } else { distance }
    }
}

/// What was measured of one baked grid.
struct GridRow {
    name: &'static str,
    faces: usize,
    layout: GridLayout,
    error_bound: f64,
    /// Anywhere in the grid \[m\].
    worst: f64,
    /// Within one cell of the surface \[m\].
    worst_near_surface: f64,
}

/// Baked models of up to a few thousand faces.
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
            let grid = bake(&mesh, &settings, &|_| ControlFlow::Continue(()))?.grid;
            rows.push(measure(name, &mesh, &grid)?);
        }
    }
    Ok(rows)
}

/// The grid against the truth: in it, at its surface, and around it, where it must not say more than the distance.
fn measure(name: &'static str, mesh: &TriangleMesh, grid: &DenseGrid) -> Result<GridRow, Problem> {
    let mut random = Random::new(1);
    let layout = *grid.layout();
    let (bounds, cell) = (layout.bounds().as_daabb(), f64::from(layout.cell_size));
    let around = bounds.grown(bounds.diagonal());
    let truth = mesh_truth(mesh);
    let mut row = GridRow {
        name,
        faces: mesh.faces.len(),
        layout,
        error_bound: grid.error_bound().into(),
        worst: 0.0,
        worst_near_surface: 0.0,
    };
    for i in 0..GRID_POINTS {
        let point = match i % 5 {
            // Where the distance to a ball has its kink.
            _ if i == 0 => bounds.center(),
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
        let point = point.as_vec3();
        let (value, truth) = (f64::from(grid.distance(point)), truth(point.as_dvec3()));
        let inside = layout.bounds().contains(point);
        let error = if inside {
            (value - truth).abs()
        } else {
            value - truth
        };
        if error > if inside { row.error_bound } else { 0.0 } {
            return Err(format!("{name}: value {value:e}, truth {truth:e} at {point}").into());
        }
        if inside {
            row.worst = row.worst.max(error);
            if truth.abs() < cell {
                row.worst_near_surface = row.worst_near_surface.max(error);
            }
        }
    }
    Ok(row)
}
