//! Fast marching: the eikonal equation |∇u| = 1 solved outward from the band, nearest node first.
//!
//! Input: exact magnitudes in the band, infinite beyond it.
//! Output: beyond the band, the first-order upwind solution, clamped to the bounds of chamfer
//! distances.
//! Cost: a heap of the front, one quadratic equation per neighbour, one core; a chamfer transform
//! for the proof; 9 bytes per node and the heap.
//! Not for: an a-priori error bound. The error is bounded afterwards, node by node, and mostly far
//! smaller.
//!
//! After \[Sethian1996\]. First order, and both sides at once: the band keeps them apart.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use crate::bake::distance::band::Band;
use crate::bake::distance::chamfer;
use crate::bake::progress::{Progress, Stage, Step};
use crate::field::GridLayout;

/// Nodes between two progress reports: some milliseconds.
const STRIDE: u64 = 1 << 15;

/// Memory per node besides its value: a chamfer distance, whether it is done, and at worst an entry
/// of the heap, which may grow by copying \[bytes\].
pub(crate) const BYTES_PER_NODE: u64 = 4 + 1 + 2 * 8;

/// Scratch buffers with one entry per node, allocated by the caller.
pub(crate) struct Scratch {
    /// Whether the value of a node is final.
    pub(crate) done: Vec<bool>,
    /// Chamfer distances for the proof \[m\].
    pub(crate) chamfer: Vec<f32>,
}

/// Writes the distances beyond the band and returns their largest error \[m\]; `None` when
/// cancelled.
pub(crate) fn fill(
    layout: &GridLayout,
    band: &Band,
    magnitudes: &mut [f32],
    scratch: &mut Scratch,
    progress: Progress<'_>,
) -> Option<f64> {
    let Scratch { done, chamfer } = scratch;
    chamfer.copy_from_slice(magnitudes);
    chamfer::transform(layout, chamfer, progress)?;
    for (done, magnitude) in done.iter_mut().zip(magnitudes.iter()) {
        *done = magnitude.is_finite();
    }
    march(layout, magnitudes, done, progress)?;
    Some(band.certify(magnitudes, chamfer))
}

/// Makes the nearest node of the front final, until the front is empty.
fn march(
    layout: &GridLayout,
    values: &mut [f32],
    done: &mut [bool],
    progress: Progress<'_>,
) -> Option<()> {
    let stencil = Stencil::of(layout);
    // Magnitudes are positive, so their bits sort like the values; ties are broken by index, for
    // determinism.
    let mut front: BinaryHeap<Reverse<(u32, u32)>> = BinaryHeap::new();
    for index in (0..values.len()).filter(|&index| !done[index]) {
        if stencil.neighbours(index).any(|next| done[next]) {
            values[index] = stencil.solve(index, values, done);
            front.push(Reverse((values[index].to_bits(), index as u32)));
        }
    }
    let total = done.iter().filter(|done| !**done).count() as u64;
    let mut count = 0;
    while let Some(Reverse((_, index))) = front.pop() {
        let index = index as usize;
        // A node is on the heap once for every time its value fell.
        if done[index] {
            continue;
        }
        done[index] = true;
        count += 1;
        for next in stencil.neighbours(index).filter(|&next| !done[next]) {
            let value = stencil.solve(next, values, done);
            if value < values[next] {
                values[next] = value;
                front.push(Reverse((value.to_bits(), next as u32)));
            }
        }
        if count % STRIDE == 0 || count == total {
            let step = Step {
                stage: Stage::Distances,
                done: count,
                total,
            };
            if progress(step) == ControlFlow::Break(()) {
                return None;
            }
        }
    }
    Some(())
}

/// The six neighbours of a node, by index.
struct Stencil {
    counts: [usize; 3],
    strides: [usize; 3],
    cell_size: f64,
}

impl Stencil {
    fn of(layout: &GridLayout) -> Stencil {
        let counts = layout.nodes.to_array().map(|n| n as usize);
        Stencil {
            counts,
            strides: [1, counts[0], counts[0] * counts[1]],
            cell_size: f64::from(layout.cell_size),
        }
    }

    /// Returns the neighbours along one axis that are in the grid.
    fn along(&self, index: usize, axis: usize) -> impl Iterator<Item = usize> + use<> {
        let (stride, count) = (self.strides[axis], self.counts[axis]);
        let place = index / stride % count;
        let before = (place > 0).then(|| index - stride);
        let after = (place + 1 < count).then(|| index + stride);
        before.into_iter().chain(after)
    }

    fn neighbours(&self, index: usize) -> impl Iterator<Item = usize> + use<'_> {
        (0..3).flat_map(move |axis| self.along(index, axis))
    }

    /// Solves `Σ max(u − uₐ, 0)² = h²` over the axes for u, with uₐ the smaller of the final
    /// neighbours along axis a.
    fn solve(&self, index: usize, values: &[f32], done: &[bool]) -> f32 {
        let mut upwind = [0, 1, 2].map(|axis| {
            let final_ones = self.along(index, axis).filter(|&next| done[next]);
            f64::from(
                final_ones
                    .map(|next| values[next])
                    .fold(f32::INFINITY, f32::min),
            )
        });
        upwind.sort_unstable_by(f64::total_cmp);
        solve_upwind(upwind, self.cell_size) as f32
    }
}

/// Returns the root u of `Σ max(u − a, 0)² = h²` for ascending a, of which the first is finite:
/// with one term, then two, then three, until u stays below the next.
fn solve_upwind([a, b, c]: [f64; 3], h: f64) -> f64 {
    let one = a + h;
    if one <= b {
        return one;
    }
    let two = 0.5 * (a + b + (2.0 * h * h - (a - b) * (a - b)).max(0.0).sqrt());
    if two <= c {
        return two;
    }
    let sum = a + b + c;
    let squares = a * a + b * b + c * c;
    (sum + (sum * sum - 3.0 * (squares - h * h)).max(0.0).sqrt()) / 3.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_upwind_root_solves_its_equation() {
        for i in 0..500u32 {
            let share = |k: u32| 1.7 * f64::from(i * k % 499) / 499.0;
            let mut upwind = [5.0 + share(3), 5.0 + share(71), 5.0 + share(263)];
            if i % 5 == 0 {
                upwind[2] = f64::INFINITY;
            }
            if i % 10 == 0 {
                upwind[1] = f64::INFINITY;
            }
            upwind.sort_unstable_by(f64::total_cmp);
            let u = solve_upwind(upwind, 0.8);
            let sum: f64 = upwind.iter().map(|a| (u - a).max(0.0).powi(2)).sum();
            assert!((sum - 0.64).abs() < 1e-9, "{upwind:?} gave {u}: {sum}");
        }
    }
}
