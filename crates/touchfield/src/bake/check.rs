//! What can be proven and what was measured about a baked grid.

use glam::{DVec3, UVec3, Vec3};

use super::blocks::{block_index, node_bit};
use super::exact_distance::ExactDistance;
use crate::field::{DenseGrid, Field, GridLayout};
use crate::geom::DAabb;
use crate::mesh::TriangleMesh;

/// How much a value may change from node to node beyond their distance: `f32` rounding of both.
fn slack(layout: &GridLayout, largest: f32) -> f32 {
    1e-5 * layout.cell_size + 4.0 * f32::EPSILON * largest
}

/// Cells with two neighbouring corners that differ by more than their distance, which no true distance does: the sign
/// changes there without a surface. Ascending, x fastest.
pub(super) fn torn_cells(layout: &GridLayout, values: &[f32]) -> Vec<u32> {
    let largest = values
        .iter()
        .fold(0.0f32, |largest, v| largest.max(v.abs()));
    let most = layout.cell_size + slack(layout, largest);
    let row_of = |y: u32, z: u32| {
        let start = layout.node_index(UVec3::new(0, y, z));
        &values[start..start + layout.nodes.x as usize]
    };
    let mut torn = Vec::new();
    for z in 0..layout.nodes.z {
        for y in 0..layout.nodes.y {
            let row = row_of(y, z);
            let mut compare = |axis: usize, row: &[f32], next: &[f32]| {
                if largest_step(row, next) <= most {
                    return;
                }
                for (x, (a, b)) in row.iter().zip(next).enumerate() {
                    if (a - b).abs() > most {
                        push_cells_around(layout, UVec3::new(x as u32, y, z), axis, &mut torn);
                    }
                }
            };
            compare(0, row, &row[1..]);
            if y + 1 < layout.nodes.y {
                compare(1, row, row_of(y + 1, z));
            }
            if z + 1 < layout.nodes.z {
                compare(2, row, row_of(y, z + 1));
            }
        }
    }
    torn.sort_unstable();
    torn.dedup();
    torn
}

/// Largest |a − b| over neighbours; plain enough for the compiler to take eight at a time.
fn largest_step(row: &[f32], next: &[f32]) -> f32 {
    let mut largest = [0.0f32; 8];
    let (rows, nexts) = (row.chunks_exact(8), next.chunks_exact(8));
    let shared = row.len().min(next.len());
    let rest = (row[shared / 8 * 8..shared].iter()).zip(&next[shared / 8 * 8..shared]);
    let tail = rest.fold(0.0f32, |largest, (a, b)| largest.max((a - b).abs()));
    for (a, b) in rows.zip(nexts) {
        for i in 0..8 {
            let step = (a[i] - b[i]).abs();
            largest[i] = if step > largest[i] { step } else { largest[i] };
        }
    }
    largest.into_iter().fold(tail, f32::max)
}

/// The up to four cells that share the edge from `node` along `axis`.
fn push_cells_around(layout: &GridLayout, node: UVec3, axis: usize, out: &mut Vec<u32>) {
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    for (back_u, back_v) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        if node[u] < back_u || node[v] < back_v {
            continue;
        }
        let mut cell = node;
        cell[u] -= back_u;
        cell[v] -= back_v;
        out.extend(cell_index(layout, cell));
    }
}

/// All cells that a node is a corner of.
pub(super) fn cells_of_node(layout: &GridLayout, node: UVec3) -> impl Iterator<Item = u32> + '_ {
    (0..8u32).filter_map(move |corner| {
        let back = UVec3::new(corner & 1, corner >> 1 & 1, corner >> 2 & 1);
        node.cmpge(back)
            .all()
            .then(|| cell_index(layout, node - back))
            .flatten()
    })
}

/// Index of a cell, x fastest; `None` past the last.
fn cell_index(layout: &GridLayout, cell: UVec3) -> Option<u32> {
    let cells = layout.cells();
    cell.cmplt(cells)
        .all()
        .then(|| (cell.z * cells.y + cell.y) * cells.x + cell.x)
}

/// Where the sign is known to follow the surface, and only it.
pub(super) enum Certainty {
    /// Everywhere: the surface is closed.
    Everywhere,
    /// In the cells at these nodes: a bit for each node of a block, the blocks x fastest.
    AtNodes(Vec<u64>),
    /// Nowhere.
    Nowhere,
}

impl Certainty {
    /// Whether the sign changes in a cell only across the surface.
    fn holds_in(&self, layout: &GridLayout, cell: UVec3) -> bool {
        match self {
            Certainty::Everywhere => true,
            Certainty::Nowhere => false,
            Certainty::AtNodes(certain) => (0..8u32).any(|corner| {
                let node = cell + UVec3::new(corner & 1, corner >> 1 & 1, corner >> 2 & 1);
                certain[block_index(layout, node)] & node_bit(node) != 0
            }),
        }
    }
}

/// Proven: |interpolated − true| inside the grid never exceeds this \[m\].
///
/// The interpolant is a mean of the corner values with weights wᵢ, and a true distance changes by at most |x − xᵢ| on the way to
/// corner i, so the error is at most Σ wᵢ |x − xᵢ| ≤ √(Σ wᵢ |x − xᵢ|²) = h √(Σ t(1−t)) ≤ h √3/2, half a cell's diagonal.
/// Where the sign can change without a surface, beside a hole, the field is no distance: there the error is at most
/// |interpolated| + |true|.
pub(super) fn error_bound(
    layout: &GridLayout,
    values: &[f32],
    torn: &[u32],
    certainty: &Certainty,
) -> f32 {
    let half_diagonal = 0.5 * 3f64.sqrt() * f64::from(layout.cell_size);
    let cells = layout.cells();
    let largest = values
        .iter()
        .fold(0.0f32, |largest, v| largest.max(v.abs()));
    let uncertain_error = |corner: UVec3| {
        let magnitudes = (0..8u32).map(|i| {
            let node = corner + UVec3::new(i & 1, i >> 1 & 1, i >> 2 & 1);
            values[layout.node_index(node)].abs()
        });
        2.0 * f64::from(magnitudes.fold(0.0, f32::max)) + half_diagonal
    };
    let place = |cell: u32| {
        UVec3::new(
            cell % cells.x,
            cell / cells.x % cells.y,
            cell / cells.x / cells.y,
        )
    };
    let mut bound = (torn.iter())
        .map(|&cell| uncertain_error(place(cell)))
        .fold(half_diagonal, f64::max);
    if !matches!(certainty, Certainty::Everywhere) {
        for cell in (0..cells.element_product()).map(place) {
            if !certainty.holds_in(layout, cell) {
                bound = bound.max(uncertain_error(cell));
            }
        }
    }
    // Node values and interpolation are rounded to f32, and so is a point's place among the nodes.
    let extent = layout.bounds().as_daabb().diagonal();
    let far = layout
        .bounds()
        .min
        .abs()
        .max(layout.bounds().max.abs())
        .max_element();
    let rounding =
        f64::from(f32::EPSILON) * (16.0 * (f64::from(largest) + extent) + 2.0 * f64::from(far));
    ((bound + rounding) as f32).next_up()
}

/// Largest |interpolated − exact| over random points of the grid, half of them near the surface \[m\].
pub(super) fn measured_error(grid: &DenseGrid, exact: &ExactDistance, mesh: &TriangleMesh) -> f32 {
    /// Of each half. Few enough to cost little beside a bake.
    const SAMPLES: usize = 2048;
    let layout = grid.layout();
    let bounds = layout.bounds();
    let mut random = Random(0x7075_6d70_6b69_6e21);
    let mut points = Vec::with_capacity(2 * SAMPLES);
    for _ in 0..SAMPLES {
        points.push(bounds.min + bounds.extents() * random.unit_cube().as_vec3());
        let triangle = mesh.triangle(random.below(mesh.faces.len()));
        let mut weights = random.unit_cube();
        weights /= weights.element_sum();
        let on_surface = weights.x * triangle.a + weights.y * triangle.b + weights.z * triangle.c;
        let off = (2.0 * random.unit_cube() - DVec3::ONE) * f64::from(2.0 * layout.cell_size);
        points.push((on_surface + off).as_vec3());
    }
    points.retain(|&point| bounds.contains(point));
    let exact = exact.distance_many(&points.iter().map(|p| p.as_dvec3()).collect::<Vec<_>>());
    let error = |(&point, &exact): (&Vec3, &f64)| (f64::from(grid.distance(point)) - exact).abs();
    let worst = points.iter().zip(&exact).map(error).fold(0.0, f64::max);
    (worst as f32).next_up()
}

/// The box that holds the surface, rounded outward.
pub(super) fn solid(bounds: DAabb) -> crate::geom::Aabb {
    let low = bounds.min.to_array().map(|v| (v as f32).next_down());
    let high = bounds.max.to_array().map(|v| (v as f32).next_up());
    crate::geom::Aabb::new(low.into(), high.into())
}

/// A small fixed sequence (SplitMix64), so that a bake gives the same bits every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn unit_cube(&mut self) -> DVec3 {
        DVec3::new(self.unit(), self.unit(), self.unit())
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }
}
