//! Plots of a simulation over time: energy, penetration, contacts.
//!
//! Input: the rows. Output: `energy.svg`, `penetration.svg`, `contacts.svg`.
//! Cost: one point per row, thinned to what a screen shows. Not for: single bodies.

use std::io::Write;
use std::path::Path;

use crate::commands::scene::trajectory::Trajectory;
use crate::failure::Failure;
use crate::files::output;
use crate::picture::{Chart, Curve, chart_svg};
use crate::report;

/// Most points of a curve.
const MOST_POINTS: usize = 4000;

pub(super) fn write(folder: &Path, rows: &Trajectory) -> Result<(), Failure> {
    let count = rows.rows();
    let curve = |name: &str, value: &dyn Fn(usize) -> f64| Curve {
        name: name.to_owned(),
        points: thinned(count, |row| [rows.time[row], value(row)]),
    };
    let chart = |title: String, curves| Chart {
        title,
        x: "time [s]".to_owned(),
        curves,
    };
    let (per_metre, unit) = report::length_unit(rows.deepest());
    let charts = [
        (
            "energy.svg",
            chart(
                "energy [J]".to_owned(),
                vec![
                    curve("kinetic", &|row| rows.energy(row)[0]),
                    curve("gravitational", &|row| rows.energy(row)[1]),
                    curve("sum", &|row| rows.energy(row)[2]),
                ],
            ),
        ),
        (
            "penetration.svg",
            chart(
                format!("greatest depth of any pair [{unit}]"),
                vec![curve("depth", &|row| rows.depth[row] * per_metre)],
            ),
        ),
        (
            "contacts.svg",
            chart(
                "contacts".to_owned(),
                vec![curve("contacts", &|row| rows.contacts[row] as f64)],
            ),
        ),
    ];
    for (name, chart) in charts {
        let text = chart_svg(&[chart]);
        output::write_whole(&folder.join(name), |out| out.write_all(text.as_bytes()))?;
    }
    Ok(())
}

/// Returns the points of all rows; of many rows, the least and the greatest of each group, so that
/// no peak is lost.
fn thinned(count: usize, point: impl Fn(usize) -> [f64; 2]) -> Vec<[f64; 2]> {
    let group = count.div_ceil(MOST_POINTS / 2).max(1);
    if group == 1 {
        return (0..count).map(point).collect();
    }
    let mut points = Vec::new();
    for start in (0..count).step_by(group) {
        let rows = start..(start + group).min(count);
        let by_value = |a: &usize, b: &usize| point(*a)[1].total_cmp(&point(*b)[1]);
        let (low, high) = (rows.clone().min_by(by_value), rows.max_by(by_value));
        let mut ends: Vec<usize> = low.into_iter().chain(high).collect();
        ends.sort_unstable();
        points.extend(ends.into_iter().map(&point));
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_peaks() {
        let peak = 77_777;
        let points = thinned(100_000, |row| {
            [row as f64, f64::from(u8::from(row == peak))]
        });
        assert!(points.len() <= MOST_POINTS + 2, "{}", points.len());
        assert!(points.contains(&[peak as f64, 1.0]));
        assert_eq!(thinned(3, |row| [row as f64, 0.0]).len(), 3);
    }
}
