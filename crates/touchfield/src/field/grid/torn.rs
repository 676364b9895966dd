//! Detection of torn grids of distances: neighbouring nodes differ by more than their distance. No
//! true distance does that, so the sign changes there without a surface.

use glam::UVec3;

use crate::field::grid::layout::GridLayout;

/// Returns whether a grid is torn anywhere.
pub(crate) fn is_torn(layout: &GridLayout, values: &[f32]) -> bool {
    is_torn_beyond(layout, values, 0.0)
}

/// Returns whether a grid is torn anywhere, allowing for rounding of up to `slack` \[m\] between
/// neighbours from storing the values.
pub(crate) fn is_torn_beyond(layout: &GridLayout, values: &[f32], slack: f32) -> bool {
    let mut torn = false;
    for_each_row(layout, values, slack, |_, _, _, _| torn = true);
    torn
}

/// Returns the cells at torn edges, x fastest, ascending.
#[cfg(feature = "bake")]
pub(crate) fn torn_cells(layout: &GridLayout, values: &[f32]) -> Vec<u32> {
    let mut torn = Vec::new();
    for_each_row(layout, values, 0.0, |start, axis, row, next| {
        let most = most_step(layout, row, next);
        for (x, (a, b)) in row.iter().zip(next).enumerate() {
            if (a - b).abs() > most {
                let node = start + UVec3::new(x as u32, 0, 0);
                push_cells_around(layout, node, axis, &mut torn);
            }
        }
    });
    torn.sort_unstable();
    torn.dedup();
    torn
}

/// Calls `found(first node, axis, row, next)` for every row of nodes that differs from the next row
/// along `axis` by more than is allowed plus `slack`.
fn for_each_row(
    layout: &GridLayout,
    values: &[f32],
    slack: f32,
    mut found: impl FnMut(UVec3, usize, &[f32], &[f32]),
) {
    let row_of = |y: u32, z: u32| {
        let start = layout.node_index(UVec3::new(0, y, z));
        &values[start..start + layout.nodes.x as usize]
    };
    for z in 0..layout.nodes.z {
        for y in 0..layout.nodes.y {
            let row = row_of(y, z);
            let mut compare = |axis: usize, row: &[f32], next: &[f32]| {
                // Early-out: almost all rows are well below the limit without slack.
                if largest_step(row, next) > layout.cell_size
                    && largest_step(row, next) > most_step(layout, row, next) + slack
                {
                    found(UVec3::new(0, y, z), axis, row, next);
                }
            };
            compare(0, &row[..row.len() - 1], &row[1..]);
            if y + 1 < layout.nodes.y {
                compare(1, row, row_of(y + 1, z));
            }
            if z + 1 < layout.nodes.z {
                compare(2, row, row_of(y, z + 1));
            }
        }
    }
}

/// Returns how far neighbours in two rows may differ: their distance, and the rounding of both to
/// `f32`.
fn most_step(layout: &GridLayout, row: &[f32], next: &[f32]) -> f32 {
    let largest = (row.iter().chain(next)).fold(0.0f32, |largest, v| largest.max(v.abs()));
    layout.cell_size + 1e-5 * layout.cell_size + 4.0 * f32::EPSILON * largest
}

/// Returns the largest |a − b| over neighbours, written so that the compiler vectorises it.
fn largest_step(row: &[f32], next: &[f32]) -> f32 {
    const WIDTH: usize = 8;
    let step = |a: f32, b: f32| (a - b).abs();
    let mut largest = [0.0f32; WIDTH];
    let (rows, nexts) = (row.chunks_exact(WIDTH), next.chunks_exact(WIDTH));
    let rest = rows.remainder().iter().zip(nexts.remainder());
    let tail = rest.fold(0.0f32, |largest, (&a, &b)| largest.max(step(a, b)));
    for (a, b) in rows.zip(nexts) {
        for i in 0..WIDTH {
            let step = step(a[i], b[i]);
            largest[i] = if step > largest[i] { step } else { largest[i] };
        }
    }
    largest.into_iter().fold(tail, f32::max)
}

/// Appends the up to four cells that share the edge from `node` along `axis`.
#[cfg(feature = "bake")]
fn push_cells_around(layout: &GridLayout, node: UVec3, axis: usize, out: &mut Vec<u32>) {
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    for (back_u, back_v) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        if node[u] < back_u || node[v] < back_v {
            continue;
        }
        let mut cell = node;
        cell[u] -= back_u;
        cell[v] -= back_v;
        out.extend(layout.cell_index(cell));
    }
}
