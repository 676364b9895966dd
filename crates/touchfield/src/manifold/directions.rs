//! Sampled directions in wrench space, called bins. The extent of a contact's wrench along each bin
//! measures what the contact resists.
//!
//! Input: a wrench of six numbers, the force and the torque divided by a length.
//! Output: its reach along every direction.
//! Cost: six multiplications per direction, vectorised by the compiler.
//! Not for: proofs; bins are samples.

use std::sync::LazyLock;

use crate::geom::Random;

/// Number of lines through the origin. Each line gives two bins, one per direction.
///
/// Tuned on the patches of the conformance suite: twice as many cost twice the time and lose a
/// little less. A multiple of 6, for whole frames, and of 8, for whole vectors.
pub(super) const LINES: usize = 72;

/// Number of lines processed together.
const LANES: usize = 8;

/// One number per line.
pub(super) type PerLine = [f32; LINES];

/// Unit vectors along the lines, stored coordinate by coordinate.
///
/// They are random frames of six orthogonal vectors, which cover the sphere more evenly than
/// independent random vectors. SplitMix64 \[Steele2014\] samples a ball, and Gram–Schmidt
/// orthonormalises; only operations that IEEE 754 rounds exactly are used, so the bits are the same
/// everywhere.
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
        // The remainder is mostly rounding error.
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

/// Computes the reach of a wrench along every line; a negative value is a reach in the line's
/// opposite direction.
pub(super) fn reaches(wrench: &[f32; 6]) -> PerLine {
    let directions = &*DIRECTIONS;
    let mut reaches = [0.0; LINES];
    // Eight lines at a time, so that the sums stay in registers.
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

/// Reach of a set of contacts along every bin, never below 0 because a contact may carry no force.
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

    /// Returns the sum over all bins of the additional reach that one more contact gives.
    pub(super) fn gain(&self, reaches: &PerLine) -> f32 {
        let mut sums = [0.0f32; LANES];
        let lines = reaches.chunks_exact(LANES);
        let known = (self.forward.chunks_exact(LANES)).zip(self.backward.chunks_exact(LANES));
        for (reach, (forward, backward)) in lines.zip(known) {
            for lane in 0..LANES {
                let (ahead, behind) = (reach[lane] - forward[lane], -reach[lane] - backward[lane]);
                // Not `max`, whose NaN handling triples the work; contacts are finite.
                sums[lane] += if ahead > 0.0 { ahead } else { 0.0 };
                sums[lane] += if behind > 0.0 { behind } else { 0.0 };
            }
        }
        sums.iter().sum()
    }

    /// Adds a contact to the set.
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

    /// Returns the sum of the reaches over all bins.
    pub(super) fn total(&self) -> f32 {
        self.forward.iter().chain(&self.backward).sum()
    }
}
