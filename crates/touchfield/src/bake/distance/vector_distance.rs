//! Vector distance transform: every node beyond the band takes over the surface point of a
//! neighbour.
//!
//! Input: the seeds of the band, each with its nearest point; the magnitudes there.
//! Output: beyond the band, the distance to a point that lies on the surface: never too small,
//! rarely too large.
//! Cost: four passes, each with 13 neighbours per node, on one core, and a chamfer transform for
//! the proof; 12 bytes per node, 16 per seed.
//! Not for: a tight proof. The error is mostly far below the bound, which is that of chamfer
//! distances.
//!
//! After \[Danielsson1980\], in three dimensions as \[Satherley2001\], whose vectors also start at
//! the true surface. We propagate the point instead of the vector, so no error adds up along the
//! way.

use glam::{DVec3, UVec3};

use crate::bake::blocks::two_passes;
use crate::bake::distance::band::Band;
use crate::bake::distance::chamfer;
use crate::bake::distance::nodes::Seed;
use crate::bake::progress::Progress;
use crate::field::GridLayout;

/// Label of a node without a point.
const NONE: u32 = u32::MAX;

/// Number of rounds of a forward and a backward pass. Tuned: after one, a torus knot of 45 nodes
/// had an error of 0.50 cells; see docs/BENCHMARKS.md for two.
const ROUNDS: usize = 2;

/// Memory per node besides its value: a label and a chamfer distance, and at worst a seed in a list
/// that may grow by copying \[bytes\].
pub(crate) const BYTES_PER_NODE: u64 = 4 + 4 + 2 * size_of::<Seed>() as u64;

/// Scratch buffers with one entry per node, allocated by the caller.
pub(crate) struct Scratch {
    /// Index of the seed whose point is nearest so far.
    pub(crate) labels: Vec<u32>,
    /// Chamfer distances for the proof \[m\].
    pub(crate) chamfer: Vec<f32>,
}

/// Writes the distances beyond the band and returns their largest error \[m\]; `None` when
/// cancelled.
pub(crate) fn fill(
    layout: &GridLayout,
    band: &Band,
    seeds: &[Seed],
    magnitudes: &mut [f32],
    scratch: &mut Scratch,
    progress: Progress<'_>,
) -> Option<f64> {
    let Scratch { labels, chamfer } = scratch;
    chamfer.copy_from_slice(magnitudes);
    chamfer::transform(layout, chamfer, progress)?;
    labels.fill(NONE);
    for (number, seed) in seeds.iter().enumerate() {
        labels[seed.node as usize] = number as u32;
    }
    for _ in 0..ROUNDS {
        spread(layout, seeds, labels, magnitudes, progress)?;
    }
    // Points are rounded to `f32`. That is less than a hundredth of the uncertainty of the chamfer
    // distance, but not zero.
    let rounding = 2.0 * f64::from(f32::EPSILON) * farthest(seeds);
    Some(band.certify(magnitudes, chamfer) + rounding)
}

/// Propagates points from neighbour to neighbour, forward and back.
fn spread(
    layout: &GridLayout,
    seeds: &[Seed],
    labels: &mut [u32],
    magnitudes: &mut [f32],
    progress: Progress<'_>,
) -> Option<()> {
    let [nx, ny, nz] = layout.nodes.to_array().map(|n| n as i64);
    let behind = neighbours_behind();
    two_passes(nz as usize, progress, |forward, z| {
        let flip = if forward { 1 } else { -1 };
        let along = |count: i64| (0..count).map(move |i| if forward { i } else { count - 1 - i });
        let z = z as i64;
        for (y, x) in along(ny).flat_map(|y| along(nx).map(move |x| (y, x))) {
            let index = ((z * ny + y) * nx + x) as usize;
            // The band is exact already.
            if is_seed(seeds, labels[index], index) {
                continue;
            }
            let node = UVec3::new(x as u32, y as u32, z as u32);
            let point = layout.node_position(node);
            let mut best = (magnitudes[index], labels[index]);
            for [dx, dy, dz] in behind {
                let (x, y, z) = (x + flip * dx, y + flip * dy, z + flip * dz);
                let in_grid = (0..nx).contains(&x) && (0..ny).contains(&y) && (0..nz).contains(&z);
                if !in_grid {
                    continue;
                }
                let label = labels[((z * ny + y) * nx + x) as usize];
                if label == NONE || label == best.1 {
                    continue;
                }
                let distance = distance_to(seeds, label, point);
                if distance < best.0 {
                    best = (distance, label);
                }
            }
            (magnitudes[index], labels[index]) = best;
        }
    })
}

/// Returns whether a node still has the point that it started with.
fn is_seed(seeds: &[Seed], label: u32, index: usize) -> bool {
    (seeds.get(label as usize)).is_some_and(|seed| seed.node as usize == index)
}

fn distance_to(seeds: &[Seed], label: u32, point: DVec3) -> f32 {
    seeds[label as usize].point.as_dvec3().distance(point) as f32
}

/// Returns the largest coordinate of a point \[m\].
fn farthest(seeds: &[Seed]) -> f64 {
    let largest = |seed: &Seed| f64::from(seed.point.abs().max_element());
    seeds.iter().map(largest).fold(0.0, f64::max)
}

/// Returns the half of the 26 neighbours that comes first, x fastest.
fn neighbours_behind() -> [[i64; 3]; 13] {
    let mut behind = [[0; 3]; 13];
    for (i, offset) in behind.iter_mut().enumerate() {
        let i = i as i64;
        *offset = [i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1];
    }
    behind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_neighbours_comes_first() {
        let behind = neighbours_behind();
        for offset in behind {
            let [x, y, z] = offset;
            assert!((z, y, x) < (0, 0, 0), "{offset:?}");
            assert!(!behind.contains(&[-x, -y, -z]), "{offset:?}");
        }
    }
}
