//! Chamfer distance transform: sums of steps within a 5 × 5 × 5 neighbourhood.
//!
//! Input: exact magnitudes in the band, infinite beyond it.
//! Output: values beyond the band within a proven share of the distance, either way.
//! Cost: two passes, each with 62 additions per node, on one core; no search. One more `f32` per
//! node.
//! Not for: accuracy far from the surface, where the error grows with the distance.
//!
//! After \[Borgefors1986\]. A step has the Euclidean length of its vector: (1,0,0), (1,1,0),
//! (1,1,1), (2,1,0), (2,1,1) or (2,2,1) in any order and with any signs. Paths along such steps are
//! never shorter than the straight distance, and longer by a factor of at most
//! [`MOST`](crate::bake::distance::band::MOST). We store the middle of the possible interval
//! ([`Band`]), which halves the error.

use crate::bake::blocks::two_passes;
use crate::bake::distance::band::Band;
use crate::bake::progress::Progress;
use crate::field::GridLayout;

/// Writes the distances beyond the band and returns their largest error \[m\]; `None` when
/// cancelled.
pub(crate) fn fill(
    layout: &GridLayout,
    band: &Band,
    magnitudes: &mut [f32],
    progress: Progress<'_>,
) -> Option<f64> {
    transform(layout, magnitudes, progress)?;
    let mut worst = 0.0f64;
    for value in magnitudes {
        if band.is_beyond(*value) {
            let [lower, upper] = band.bounds(*value);
            *value = (0.5 * (lower + upper)) as f32;
            worst = worst.max(0.5 * (upper - lower));
        }
    }
    Some(worst)
}

/// Lowers every value to the minimum of another node's value plus the chamfer distance to it.
/// Returns `None` when cancelled.
///
/// Two passes suffice: the steps of a shortest path all point into one octant, so those of the
/// first pass can be taken first without leaving the box of the path's ends.
pub(crate) fn transform(
    layout: &GridLayout,
    values: &mut [f32],
    progress: Progress<'_>,
) -> Option<()> {
    let [nx, ny, nz] = layout.nodes.to_array().map(|n| n as usize);
    let lengths = Lengths::of(layout);
    two_passes(nz, progress, |forward, z| {
        for turn in 0..ny {
            let y = if forward { turn } else { ny - 1 - turn };
            lower_row(values, [nx, ny, nz], [y, z], forward, &lengths);
        }
    })
}

/// Lengths of the steps to (0..=2, 0..=2, 0..=2) \[m\]; infinite where there is none.
struct Lengths([[[f32; 3]; 3]; 3]);

impl Lengths {
    fn of(layout: &GridLayout) -> Lengths {
        let mut lengths = [[[f32::INFINITY; 3]; 3]; 3];
        for (x, y, z) in (0..27).map(|i| (i % 3, i / 3 % 3, i / 9)) {
            let mut sorted = [x, y, z];
            sorted.sort_unstable();
            // All others are multiples of a step, or no shorter than two steps together.
            if matches!(
                sorted,
                [0, 0, 1] | [0, 1, 1] | [1, 1, 1] | [0, 1, 2] | [1, 1, 2] | [1, 2, 2]
            ) {
                let squared = (x * x + y * y + z * z) as f64;
                lengths[z][y][x] = (squared.sqrt() * f64::from(layout.cell_size)) as f32;
            }
        }
        Lengths(lengths)
    }
}

/// Lowers one row by the rows that come before it in its pass, then along itself.
fn lower_row(
    values: &mut [f32],
    [nx, ny, nz]: [usize; 3],
    [y, z]: [usize; 2],
    forward: bool,
    lengths: &Lengths,
) {
    let start = (z * ny + y) * nx;
    // The row, and the values that come before it in this pass.
    let (row, others, first) = if forward {
        let (before, from) = values.split_at_mut(start);
        (&mut from[..nx], &*before, 0)
    } else {
        let (up_to, after) = values.split_at_mut(start + nx);
        (&mut up_to[start..], &*after, start + nx)
    };
    // Steps from other rows: all that lie behind in a forward pass; mirrored in a backward pass.
    for (dy, dz) in [
        (-2, 0),
        (-1, 0),
        (-2, -1),
        (-1, -1),
        (0, -1),
        (1, -1),
        (2, -1),
        (-2, -2),
        (-1, -2),
        (0, -2),
        (1, -2),
        (2, -2),
    ] {
        let flip = if forward { 1 } else { -1 };
        let place = |at: usize, off: isize, count: usize| {
            at.checked_add_signed(flip * off).filter(|&at| at < count)
        };
        let (Some(y), Some(z)) = (place(y, dy, ny), place(z, dz, nz)) else {
            continue;
        };
        let other = &others[(z * ny + y) * nx - first..][..nx];
        let along = &lengths.0[dz.unsigned_abs()][dy.unsigned_abs()];
        lower_by(row, other, along[0]);
        for shift in 1..usize::min(3, nx) {
            lower_by(&mut row[shift..], &other[..nx - shift], along[shift]);
            lower_by(&mut row[..nx - shift], &other[shift..], along[shift]);
        }
    }
    // Steps along the row itself.
    let step = lengths.0[0][0][1];
    if forward {
        for x in 1..nx {
            row[x] = row[x].min(row[x - 1] + step);
        }
    } else {
        for x in (1..nx).rev() {
            row[x - 1] = row[x - 1].min(row[x] + step);
        }
    }
}

/// Lowers a row by another row at a step of this length. Simple enough for the compiler to
/// vectorise.
#[inline]
fn lower_by(row: &mut [f32], other: &[f32], length: f32) {
    if length.is_finite() {
        for (value, &other) in row.iter_mut().zip(other) {
            let through = other + length;
            *value = if through < *value { through } else { *value };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use glam::{DVec3, UVec3, Vec3};

    use super::*;
    use crate::bake::distance::band::MOST;

    fn from_one(nodes: UVec3, seed: UVec3) -> (GridLayout, Vec<f32>) {
        let layout = GridLayout {
            origin: Vec3::ZERO,
            cell_size: 1.0,
            nodes,
        };
        let mut values = vec![f32::INFINITY; layout.node_count() as usize];
        values[layout.node_index(seed)] = 0.0;
        transform(&layout, &mut values, &|_| ControlFlow::Continue(())).unwrap();
        (layout, values)
    }

    #[test]
    fn ways_are_never_shorter_than_straight_and_longer_by_kappa_at_most() {
        let (layout, values) = from_one(UVec3::splat(41), UVec3::new(20, 19, 0));
        let mut worst = 0.0f64;
        for (index, &value) in values.iter().enumerate() {
            let node = UVec3::new(
                index as u32 % 41,
                index as u32 / 41 % 41,
                index as u32 / 1681,
            );
            let straight = (layout.node_position(node) - DVec3::new(20.0, 19.0, 0.0)).length();
            let share = f64::from(value) / straight;
            assert!(
                straight == 0.0 || (1.0 - 1e-5..=MOST + 1e-5).contains(&share),
                "{node}: {value} for {straight}"
            );
            worst = worst.max(share);
        }
        // The bound is reached, or nearly.
        assert!(worst > 1.0 + 0.99 * (MOST - 1.0), "{worst}");
    }

    /// Two passes reach every node by a shortest path, in every direction and in the thinnest
    /// grids.
    #[test]
    fn two_passes_find_what_any_number_would() {
        for (nodes, seed) in [
            (UVec3::new(9, 7, 8), UVec3::new(8, 0, 5)),
            (UVec3::new(2, 2, 2), UVec3::new(1, 0, 1)),
            (UVec3::new(2, 30, 2), UVec3::new(0, 29, 1)),
            (UVec3::new(30, 3, 2), UVec3::new(15, 2, 0)),
        ] {
            let (layout, values) = from_one(nodes, seed);
            let mut again = values.clone();
            for _ in 0..3 {
                transform(&layout, &mut again, &|_| ControlFlow::Continue(())).unwrap();
            }
            for (once, more) in values.iter().zip(&again) {
                assert!((once - more).abs() <= 1e-5 * once, "{once} then {more}");
            }
        }
    }
}
