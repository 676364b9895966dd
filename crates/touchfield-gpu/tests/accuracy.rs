//! How far samples on a device are from the CPU's: the last section of docs/ACCURACY.md.
//!
//! `TOUCHFIELD_WRITE_ACCURACY=1 cargo test -p touchfield-gpu --test accuracy` writes it.
#![allow(
    clippy::panic,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a panic is a failed test; figures are printed for people"
)]

mod common;

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use glam::Vec3;
use touchfield::field::primitive::{Cone, Cuboid, Ellipsoid, Torus};
use touchfield::field::{Difference, Wall};
use touchfield::geom::Aabb;
use touchfield::shape::Shape;
use touchfield_conformance::meshes;
use touchfield_conformance::random::Random;
use touchfield_conformance::representations::{ALL, Representation};
use touchfield_gpu::{Gpu, Shapes};

/// What every field promises, as a share of the diagonal of its box.
const PROMISED: f64 = 1e-6;

/// Begin of the section.
const BEGIN: &str = "<!-- gpu: begin -->";

/// Largest difference of a value inside the box, as a share of the diagonal; a point within
/// rounding of a border of cells is compared with both sides.
fn worst(gpu: &Gpu, shape: &Shape) -> f64 {
    let field = shape.field();
    let bounds = field.bounds();
    let mut random = Random::new(11);
    let mut unit = || 2.0 * random.unit() as f32 - 1.0;
    let points: Vec<Vec3> = (0..200_000)
        .map(|_| bounds.center() + bounds.half_extents() * Vec3::new(unit(), unit(), unit()))
        .collect();
    let shapes = Shapes::upload(gpu, &[shape]).unwrap_or_else(|error| panic!("{error}"));
    let samples = shapes
        .sample(0, &points)
        .unwrap_or_else(|error| panic!("{error}"));
    let off = |at: Vec3, value: f32| f64::from((field.distance(at) - value).abs());
    let diagonal = f64::from(bounds.diagonal());
    let pairs = points.iter().zip(&samples);
    let differences = pairs.map(|(&point, sample)| {
        let found = off(point, sample.distance);
        match found <= PROMISED * diagonal {
            true => found,
            false => beside(point, bounds)
                .map(|at| off(at, sample.distance))
                .fold(found, f64::min),
        }
    });
    differences.fold(0.0, f64::max) / diagonal
}

/// The corners of a cube around a point that rounding may move it to.
fn beside(point: Vec3, bounds: Aabb) -> impl Iterator<Item = Vec3> {
    let nudge = 4.0 * f32::EPSILON * (point.abs().max_element() + bounds.diagonal());
    (0..8u32).map(move |corner| {
        let sign = |bit: u32| {
            if corner >> bit & 1 == 1 {
                nudge
            } else {
                -nudge
            }
        };
        point + Vec3::new(sign(0), sign(1), sign(2))
    })
}

fn shapes() -> Vec<(String, Shape)> {
    let mut all = Vec::new();
    for representation in ALL {
        if matches!(representation, Representation::Voxmap(..)) {
            continue;
        }
        let field = representation.bake(&meshes::model("gear"), 64);
        let field = field.unwrap_or_else(|error| panic!("{error}"));
        all.push((representation.name(), Shape::stored(Arc::new(field))));
    }
    let fail = |error: touchfield::field::ParameterError| -> ! { panic!("{error}") };
    let cuboid = Cuboid::new(Vec3::new(0.5, 0.3, 0.9)).unwrap_or_else(|e| fail(e));
    let torus = Torus::new(0.7, 0.2).unwrap_or_else(|e| fail(e));
    let ellipsoid = Ellipsoid::new(Vec3::new(0.9, 0.5, 0.3)).unwrap_or_else(|e| fail(e));
    let cone = Cone::frustum(0.6, 0.5, 0.2).unwrap_or_else(|e| fail(e));
    let hollow = Wall::new(
        Difference {
            first: cuboid,
            second: torus,
        },
        0.05,
    );
    all.push(("cuboid".to_owned(), Shape::new(cuboid)));
    all.push(("frustum".to_owned(), Shape::new(cone)));
    all.push(("torus".to_owned(), Shape::new(torus)));
    all.push(("ellipsoid".to_owned(), Shape::new(ellipsoid)));
    let hollow = hollow.unwrap_or_else(|e| fail(e));
    all.push(("wall of a difference".to_owned(), Shape::new(hollow)));
    all
}

fn section(gpu: &Gpu, rows: &[(String, f64)]) -> String {
    let mut text = format!(
        "{BEGIN}\n\n## On a GPU\n\nSamples on a device beside those of the CPU, as a share of the diagonal of the\n\
         field's box. Gears of 64 nodes, and closed forms, at 200,000 random points each. A point\n\
         within rounding of a border of cells is compared with both sides. *Worst found* is that of\n\
         `{}`; a test compares what every adapter finds with the promise.\n\n\
         | field | promised | worst found |\n|---|---|---|\n",
        gpu.adapter().name
    );
    for (name, worst) in rows {
        let _ = writeln!(text, "| {name} | {PROMISED:.0e} | {worst:.1e} |");
    }
    text
}

#[test]
fn the_document_has_what_devices_promise_and_keep() {
    let Some(gpu) = common::gpu() else { return };
    let rows: Vec<(String, f64)> = (shapes().into_iter())
        .map(|(name, shape)| (name, worst(&gpu, &shape)))
        .collect();
    for (name, worst) in &rows {
        assert!(*worst <= PROMISED, "{name}: {worst:e}");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ACCURACY.md");
    let document = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{error}"));
    let begin = document.find(BEGIN).unwrap_or(document.len());
    if std::env::var_os("TOUCHFIELD_WRITE_ACCURACY").is_some() {
        let whole = format!("{}{}", &document[..begin], section(&gpu, &rows));
        std::fs::write(&path, whole).unwrap_or_else(|error| panic!("{error}"));
        return;
    }
    let written = &document[begin..];
    for (name, _) in &rows {
        let row = format!("| {name} | {PROMISED:.0e} |");
        assert!(written.contains(&row), "docs/ACCURACY.md lacks `{row}`");
    }
}
