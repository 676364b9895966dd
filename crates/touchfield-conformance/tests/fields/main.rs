//! Every analytic field compared with its truth in `f64`; and broken fields, to test the suite
//! itself.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a failed unwrap is a failed test, and the rows are for the reader"
)]

mod balls;
mod closures;
mod csg;
mod level_sets;
mod primitives;
mod suite;
mod terrain;
mod transforms;

use glam::{DVec2, DVec3};
use touchfield::field::Field;
use touchfield_conformance::field_suite::{FieldReport, check_field};

const POINTS: usize = 4000;

#[track_caller]
fn passes(field: &dyn Field, truth: &dyn Fn(DVec3) -> f64, name: &str) -> FieldReport {
    let mut report = None;
    for seed in 1..=3 {
        match check_field(field, Some(truth), name, seed, POINTS) {
            Ok(found) => report = Some(found),
            Err(broken) => panic!("{broken}"),
        }
    }
    let report = report.unwrap();
    println!("{report}");
    report
}

fn polygon(corners: &[(f32, f32)]) -> Vec<DVec2> {
    corners
        .iter()
        .map(|&(x, y)| DVec2::new(x.into(), y.into()))
        .collect()
}
