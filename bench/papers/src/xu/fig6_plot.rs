//! The plot of Figure 6: energy over time of a continuous run at its greatest stable step, of a
//! discrete one at its own, and of a discrete one at the continuous one's step.
//!
//! Input: the experiment and both steps. Output: an SVG file.
//! Cost: three runs. Not for: more than one drop.

use touchfield_dynamics::Response;
use touchfield_picture::{Chart, Curve, chart_svg};

use super::fig6::{Bench, Form, Method};
use crate::host::Stop;

/// Seconds that are shown.
const SHOWN: f64 = 2.0;
/// Energy above the start at which a curve ends, as a share of the drop's.
const MOST: f64 = 1.0;

/// Draws the runs of our form.
pub(super) fn plot(bench: &Bench, damping: f64, steps: [f64; 2]) -> Result<String, Stop> {
    let [discrete, continuous] = steps;
    let runs = [
        ("continuous", Response::ContinuousPenalty, continuous),
        ("discrete", Response::Penalty, discrete),
        ("discrete", Response::Penalty, continuous),
    ];
    let mut curves = Vec::new();
    for (name, response, step) in runs.into_iter().filter(|run| run.2.is_finite()) {
        let method = Method {
            form: Form::Ours,
            response,
            damping,
            stiffness: 1.0,
            step,
        };
        let mut points = vec![[0.0, 1.0]];
        bench.drop(&method, 0, SHOWN, |time, excess, _| {
            points.push([time, 1.0 + excess]);
            excess < MOST
        })?;
        curves.push(Curve {
            name: format!("{name}, hω = {step:.2}"),
            points,
        });
    }
    Ok(chart_svg(&[Chart {
        title: format!("energy, as a share of the drop's; damping {damping} of the critical"),
        x: "time [s]".to_owned(),
        curves,
    }]))
}
