//! Narrow phase: every point of a shell tested against the field of the other shape.
//!
//! Input: a [`Pair`], at least one of whose shapes has a shell.
//! Output: one contact for each point closer than `max_separation`.
//! Cost: one field sample per point, on all cores if there are many points; no allocation once the
//! buffers have grown.
//! Not for: speed (see `shell_traversal`), or bodies that enclose the other one completely.
//!
//! The baseline: the lecture's proximity query with a signed distance map (SDM) \[Lecture06\].

use crate::narrow::scratch::PointPiece;

use crate::narrow::pair::{CollideError, CollideSettings, Contacts, Pair};
use crate::narrow::scratch::Scratch;
use crate::narrow::search::probe::Probe;
use crate::threads;

/// Number of points per thread task. Chosen, not tuned: sampling this many points takes far longer
/// than handing them to a thread.
const PIECE: usize = 4096;

/// Appends the contacts of all shell points.
pub(crate) fn collide(
    pair: &Pair<'_>,
    settings: &CollideSettings,
    scratch: &mut Scratch,
    out: &mut Contacts,
) -> Result<(), CollideError> {
    let probe = Probe::finer(pair, "point_samples")?;
    let count = probe.shell.points().len().div_ceil(PIECE);
    if scratch.pieces.len() < count {
        scratch.pieces.resize_with(count, PointPiece::default);
    }
    let pieces = &mut scratch.pieces[..count];
    for (number, piece) in pieces.iter_mut().enumerate() {
        piece.number = number;
    }
    match pieces {
        // Most shells: no thread is woken for them.
        [only] => only.look(&probe, settings),
        _ => threads::for_each(pieces, |piece| piece.look(&probe, settings)),
    }
    for piece in &scratch.pieces[..count] {
        out.distance = out.distance.min(piece.distance);
        out.contacts.extend_from_slice(&piece.contacts);
    }
    Ok(())
}

impl PointPiece {
    fn look(&mut self, probe: &Probe<'_>, settings: &CollideSettings) {
        let first = self.number * PIECE;
        let shell_points = probe.shell.points()[first..].iter().take(PIECE);
        self.points.clear();
        (self.points).extend(shell_points.map(|&point| probe.to_field(point)));
        probe.field.sample_many(&self.points, &mut self.samples);
        self.contacts.clear();
        self.distance = f32::INFINITY;
        for (index, (&point, &sample)) in self.points.iter().zip(&self.samples).enumerate() {
            self.distance = self.distance.min(sample.distance);
            if sample.distance <= settings.max_separation {
                let index = (first + index) as u32;
                self.contacts.push(probe.contact(index, point, sample));
            }
        }
    }
}
