//! The plot of Figure 6: energy over time of both methods at their greatest stable steps, and at
//! the multiple of the discrete one's at which the paper runs its continuous method.
//!
//! Input: the experiment and both steps. Output: an SVG file.
//! Cost: four runs. Not for: more than one drop.

use touchfield_dynamics::Response;
use touchfield_picture::{Chart, Curve, chart_svg};

use super::fig6::{Bench, Form, Method, PAPER};
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
        (
            "continuous",
            Response::ContinuousPenalty,
            PAPER[0] * discrete,
        ),
        ("discrete", Response::Penalty, PAPER[0] * discrete),
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
