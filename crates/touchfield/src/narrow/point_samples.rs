//! Narrow phase: every point of a shell tested against the field of the other shape.
//!
//! Input: a [`Pair`], at least one of whose shapes has a shell. Output: one contact for each point closer than
//! `max_separation`. Cost: one field sample a point; no allocation once the buffers have grown.
//! Not for: speed (see `shell_traversal`); bodies that hold the other one whole.
//!
//! The baseline: the lecture's proximity query with a signed distance map [Lecture, SDM].

use super::probe::Probe;
use super::{CollideError, CollideSettings, Contacts, Pair, Scratch};

/// Appends the contacts of all shell points.
pub(super) fn collide(
    pair: &Pair<'_>,
    settings: &CollideSettings,
    scratch: &mut Scratch,
    out: &mut Contacts,
) -> Result<(), CollideError> {
    let probe = Probe::finer(pair, "point_samples")?;
    scratch.points.clear();
    let shell_points = probe.shell.points().iter();
    (scratch.points).extend(shell_points.map(|&point| probe.to_field(point)));
    probe
        .field
        .sample_many(&scratch.points, &mut scratch.samples);
    for (index, (&point, &sample)) in scratch.points.iter().zip(&scratch.samples).enumerate() {
        out.distance = out.distance.min(sample.distance);
        if sample.distance <= settings.max_separation {
            out.contacts
                .push(probe.contact(index as u32, point, sample));
        }
    }
    Ok(())
}
