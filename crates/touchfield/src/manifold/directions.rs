//! Directions in wrench space, as bins: what a contact resists is how far it reaches along each.
//!
//! Input: a wrench of six numbers, force and torque over a length. Output: its reach along every direction.
//! Cost: six products a direction, vectorised by the compiler. Not for: proofs; a bin is a sample.

use std::sync::LazyLock;

use crate::geom::Random;

/// Lines through the origin; each is two bins, one for either end.
///
/// Tuned on the patches of the conformance suite: twice as many cost twice the time and lose a little less.
/// A multiple of 6, for whole frames, and of 8, for whole vectors.
pub(super) const LINES: usize = 72;

/// Lines at a time.
const LANES: usize = 8;

/// One number for each line.
pub(super) type PerLine = [f32; LINES];

/// Coordinates of unit vectors, coordinate by coordinate: random frames of six at right angles, which cover more evenly than single
/// random vectors. SplitMix64 [Steele2014] in a ball, then Gram and Schmidt: only operations that IEEE 754 rounds exactly, so the
/// same bits everywhere.
static DIRECTIONS: LazyLock<[PerLine; 6]> = LazyLock::new(|| {
    let mut random = Random::new(0);
    let mut uniform = || (random.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
    let mut directions = [[0.0; LINES]; 6];
    let mut frame: Vec<[f64; 6]> = Vec::with_capacity(6);
    let mut line = 0;
    while line < LINES {
        if frame.len() == 6 {
            frame.clear();
        }
        let mut vector: [f64; 6] = std::array::from_fn(|_| uniform());
        let squared = |vector: &[f64; 6]| vector.iter().map(|x| x * x).sum::<f64>();
        if squared(&vector) > 1.0 {
            continue;
        }
        for axis in &frame {
            let along: f64 = vector.iter().zip(axis).map(|(x, y)| x * y).sum();
            vector
                .iter_mut()
                .zip(axis)
                .for_each(|(x, y)| *x -= along * y);
        }
        let length = squared(&vector).sqrt();
        // What is left is mostly rounding.
        if length < 0.01 {
            continue;
        }
        let axis = vector.map(|x| x / length);
        for (row, x) in directions.iter_mut().zip(axis) {
            row[line] = x as f32;
        }
        frame.push(axis);
        line += 1;
    }
    directions
});

/// Reach of a wrench along every line; negative: along its other end.
pub(super) fn reaches(wrench: &[f32; 6]) -> PerLine {
    let directions = &*DIRECTIONS;
    let mut reaches = [0.0; LINES];
    // Eight lines at a time, so that sums stay in registers.
    for (chunk, reaches) in reaches.chunks_exact_mut(LANES).enumerate() {
        let mut sums = [0.0f32; LANES];
        for (row, &x) in directions.iter().zip(wrench) {
            let along = &row[chunk * LANES..][..LANES];
            for (sum, &along) in sums.iter_mut().zip(along) {
                *sum += x * along;
            }
        }
        reaches.copy_from_slice(&sums);
    }
    reaches
}

/// How far a set of contacts reaches along every bin, never less than 0: no contact is no force.
#[derive(Clone, Debug)]
pub(super) struct Support {
    forward: PerLine,
    backward: PerLine,
}

impl Support {
    pub(super) const NONE: Support = Support {
        forward: [0.0; LINES],
        backward: [0.0; LINES],
    };

    /// What the set would reach farther with one more contact, summed over the bins.
    pub(super) fn gain(&self, reaches: &PerLine) -> f32 {
        let mut sums = [0.0f32; LANES];
        let lines = reaches.chunks_exact(LANES);
        let known = (self.forward.chunks_exact(LANES)).zip(self.backward.chunks_exact(LANES));
        for (reach, (forward, backward)) in lines.zip(known) {
            for lane in 0..LANES {
                let (ahead, behind) = (reach[lane] - forward[lane], -reach[lane] - backward[lane]);
                // Not `max`, whose care for NaN triples the work; contacts are finite.
                sums[lane] += if ahead > 0.0 { ahead } else { 0.0 };
                sums[lane] += if behind > 0.0 { behind } else { 0.0 };
            }
        }
        sums.iter().sum()
    }

    /// One more contact.
    pub(super) fn add(&mut self, reaches: &PerLine) {
        let known = self.forward.iter_mut().zip(&mut self.backward);
        for ((forward, backward), &reach) in known.zip(reaches) {
            *forward = if reach > *forward { reach } else { *forward };
            *backward = if -reach > *backward {
                -reach
            } else {
                *backward
            };
        }
    }

    /// Sum over the bins.
    pub(super) fn total(&self) -> f32 {
        self.forward.iter().chain(&self.backward).sum()
    }
}
