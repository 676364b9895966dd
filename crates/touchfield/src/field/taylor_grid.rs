//! Distances and gradients on a regular grid, four half floats a node, interpolated to second order.
//!
//! Input: node values and gradients, as [`crate::bake`] computes them from a mesh, or those of a [`DenseGrid`].
//! Output: value and the analytic gradient of the interpolant inside the grid; outside it a proven lower bound.
//! Cost: one lookup of eight neighbours a sample, and one in a coarse grid that stays in the cache; 8¼ bytes a node.
//! Not for: kinks, where a cell of any kind cuts the corner; fine resolutions over large volumes.
//!
//! After document 000 (docs/BIBLIOGRAPHY.md), §3.2: the Dutch Taylor expansion `fᵢ(x) = φᵢ + ½ ∇φᵢ·(x − xᵢ)` of the nodes,
//! interpolated trilinearly with weights `wᵢ(x)`, is exact for every quadratic function. In units of cells, with `a = ½∇φ`,
//! fractions `t` in the cell and bars for trilinear interpolation, the sum is
//!
//! ```text
//! f     = Σᵢ wᵢ (φᵢ + aᵢ·(x − xᵢ))  =  φ̄ − Σ_c t_c (1 − t_c) ∂_c ā_c
//! ∂_d f = ∂_d φ̄ − (1 − 2 t_d) ∂_d ā_d − Σ_{c≠d} t_c (1 − t_c) ∂_d ∂_c ā_c
//! ```
//!
//! because `w` runs from 1 − t to t along each axis, and `t (1 − t) (a|₀ − a|₁)` is what the two ends add up to.
//!
//! We differ in what the halves hold. A half has 11 bits, so `φ` itself, a hundred cells from the surface, would be off by 3 % of a
//! cell. Every [`BLOCK`]-th node is stored in `f32`; these are interpolated trilinearly, and the halves hold what is left. A
//! trilinear function of a block is one in each of its cells, so the sums above split: `φ̄` and `ā` are those of the coarse
//! grid plus those of the halves. Where the field is smooth, what is left shrinks with the square of the cell, and the rounding
//! of the halves with it.

use glam::{UVec3, Vec3, Vec4};

use super::grid_frame::{GridFrame, LARGEST, Place};
use super::packet::{self, Packets, Places};
use super::torn::is_torn_beyond;
use super::{Field, GridError, GridLayout, LowerPlane, Sample};
use crate::geom::lanes::{self, LANES, Lanes, Work};
use crate::geom::{Aabb, Interval, corner, place_index, places};

/// Cells along a side of a block, between nodes that are stored in full. The smaller, the less is left for the halves: with R the
/// radius of the surface and h the cell, about BLOCK²/4 · h/R cells. 4 costs 3 % of the memory, 2 would cost 25 %.
pub(super) const BLOCK: u32 = 4;

/// Half the gradient, and the distance in cells: what is stored of a node.
pub(super) type Expansion = Vec4;

/// A grid of distances and gradients. Node (i, j, k) lies at `origin + cell_size · (i, j, k)`.
#[derive(Clone, Debug, PartialEq)]
pub struct TaylorGrid {
    pub(super) frame: GridFrame,
    /// Every [`BLOCK`]-th node, x fastest, the last ones at or beyond the border: half the gradient, distance in cells.
    coarse: Vec<[f32; 4]>,
    /// Along x, y and z.
    coarse_nodes: UVec3,
    /// What is left at every node, as bits of half floats, x fastest.
    nodes: Vec<[u16; 4]>,
    /// The most that the gradients change the trilinear mean of the distances, anywhere \[m\].
    pub(super) correction: f32,
}

/// Why a Taylor grid cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TaylorError {
    /// Not for any grid.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// Coarse nodes and layout disagree.
    #[error("a Taylor grid of {nodes} nodes has {expected} coarse nodes, but {found} were given")]
    WrongCoarseCount {
        /// Nodes along x, y and z.
        nodes: UVec3,
        /// How many belong to them.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// A coarse node holds NaN, or so large a number that interpolating it would leave `f32`.
    #[error(
        "coarse node {node} holds {value:?}; slopes and distances in cells must be finite and leave room for sums"
    )]
    BadCoarse {
        /// Index, x fastest.
        node: usize,
        /// The worst of its numbers.
        value: f32,
    },
    /// A node holds NaN or infinity.
    #[error("node {node} holds a half float that is no finite number")]
    BadNode {
        /// Index, x fastest.
        node: usize,
    },
    /// A node is too far from what its neighbours say for half floats.
    #[error(
        "node {node} differs from its surroundings by {cells:?} cells; half floats hold up to 65504 (use a dense grid, or \
         larger cells)"
    )]
    OutOfRange {
        /// Index, x fastest.
        node: usize,
        /// By how much.
        cells: f64,
    },
}

/// Coarse nodes along each axis: one cell for every [`BLOCK`] of the grid, or a part of so many.
pub(super) fn coarse_nodes(layout: &GridLayout) -> UVec3 {
    let cells = layout.cells().to_array().map(|n| n.div_ceil(BLOCK));
    UVec3::from(cells) + UVec3::ONE
}

impl TaylorGrid {
    /// A grid from what is stored of it: `coarse` holds half the gradient and the distance in cells of every fourth node along
    /// each axis, up to the first at or beyond the border; `nodes` the bits of half floats that are added to what those
    /// interpolate to. x is fastest in both. `solid` and `error_bound` as in [`super::DenseGrid::new`].
    ///
    /// What is accepted gives finite distances and gradients at every finite point.
    pub fn new(
        layout: GridLayout,
        coarse: Vec<[f32; 4]>,
        nodes: Vec<[u16; 4]>,
        solid: Aabb,
        error_bound: f32,
    ) -> Result<TaylorGrid, TaylorError> {
        let frame = GridFrame::new(layout, solid, error_bound)?;
        if layout.node_count() != nodes.len() as u64 {
            return Err(TaylorError::Grid(GridError::WrongCount {
                nodes: layout.nodes,
                expected: layout.node_count(),
                found: nodes.len(),
            }));
        }
        let coarse_nodes = coarse_nodes(&layout);
        let expected = coarse_nodes
            .to_array()
            .iter()
            .map(|&n| n as usize)
            .product();
        if coarse.len() != expected {
            return Err(TaylorError::WrongCoarseCount {
                nodes: layout.nodes,
                expected,
                found: coarse.len(),
            });
        }
        // An eighth: the longest sums above have eight terms.
        let most = 0.125 * LARGEST / layout.cell_size.max(1.0);
        for (node, values) in coarse.iter().enumerate() {
            if let Some(&value) = values.iter().find(|v| !(0.0..=most).contains(&v.abs())) {
                return Err(TaylorError::BadCoarse { node, value });
            }
        }
        let is_endless = |bits: &u16| bits & 0x7c00 == 0x7c00;
        if let Some(node) = nodes.iter().position(|node| node.iter().any(is_endless)) {
            return Err(TaylorError::BadNode { node });
        }
        let mut grid = TaylorGrid {
            frame,
            coarse,
            coarse_nodes,
            nodes,
            correction: 0.0,
        };
        let (torn, correction) = grid.survey();
        grid.correction = correction;
        // A continuous distance is off by at most half a diagonal and what gradients of at most 1 add, half as much again; a
        // grid that promises less may jump between nodes.
        grid.frame.torn = torn || error_bound > layout.cell_size + correction;
        Ok(grid)
    }

    /// Where the nodes lie.
    pub fn layout(&self) -> &GridLayout {
        &self.frame.layout
    }

    /// A box that holds the surface \[m\].
    pub fn solid(&self) -> Aabb {
        self.frame.solid
    }

    /// Whether neighbouring values may differ by more than their distance, as beside a hole.
    #[cfg(feature = "bake")]
    pub(crate) fn is_torn(&self) -> bool {
        self.frame.torn
    }

    /// Bytes of everything stored.
    pub fn bytes(&self) -> usize {
        size_of_val(self.nodes.as_slice()) + size_of_val(self.coarse.as_slice())
    }

    /// Every fourth node, x fastest: half the gradient, and the distance in cells.
    pub fn coarse(&self) -> &[[f32; 4]] {
        &self.coarse
    }

    /// Bits of half floats, x fastest: what is added to the coarse nodes' mean.
    pub fn nodes(&self) -> &[[u16; 4]] {
        &self.nodes
    }

    /// Distance and gradient stored at a node.
    pub fn node(&self, node: UVec3) -> Sample {
        let expansion = self.expansion(node);
        Sample {
            distance: expansion.w * self.frame.layout.cell_size,
            gradient: 2.0 * expansion.truncate(),
        }
    }

    pub(super) fn expansion(&self, node: UVec3) -> Expansion {
        let bits = self.nodes[self.frame.layout.node_index(node)];
        let left = bits.map(|bits| half::f16::from_bits(bits).to_f32());
        self.coarse_expansion(node) + Vec4::from(left)
    }

    /// What the coarse nodes say of a node.
    fn coarse_expansion(&self, node: UVec3) -> Expansion {
        let first = node / BLOCK;
        let fraction = (node % BLOCK).as_vec3() / BLOCK as f32;
        // A node on the last coarse one needs none behind it.
        let last = first.saturating_add(UVec3::ONE).min(self.coarse_nodes - 1);
        let at = |x: u32, y: u32, z: u32| {
            Vec4::from(self.coarse[self.coarse_index(UVec3::new(x, y, z))])
        };
        let row = |y, z| at(first.x, y, z).lerp(at(last.x, y, z), fraction.x);
        let plane = |z| row(first.y, z).lerp(row(last.y, z), fraction.y);
        plane(first.z).lerp(plane(last.z), fraction.z)
    }

    #[inline(always)]
    fn coarse_index(&self, node: UVec3) -> usize {
        place_index(self.coarse_nodes, node)
    }

    /// Whether node values are torn anywhere, and the largest correction of any cell \[m\]. Two planes of nodes at a time.
    fn survey(&self) -> (bool, f32) {
        let layout = self.frame.layout;
        let pair = GridLayout {
            nodes: layout.nodes.with_z(2),
            ..layout
        };
        let plane = |z: u32| {
            let row = move |y| (0..layout.nodes.x).map(move |x| UVec3::new(x, y, z));
            let nodes = (0..layout.nodes.y).flat_map(row);
            nodes.map(|node| self.expansion(node))
        };
        // Two nodes, each off by the rounding of its half float: 2⁻¹¹ of what is left there.
        let left = |bits: &[u16; 4]| half::f16::from_bits(bits[3]).to_f32().abs();
        let most_left = self.nodes.iter().map(left).fold(0.0, f32::max);
        let slack = 2.0 * layout.cell_size * most_left / 2048.0;
        let mut planes: Vec<Expansion> = plane(0).collect();
        let size = planes.len();
        let (mut torn, mut correction) = (false, 0.0f32);
        for z in 1..layout.nodes.z {
            planes.extend(plane(z));
            let values: Vec<f32> = planes.iter().map(|e| e.w * layout.cell_size).collect();
            torn = torn || is_torn_beyond(&pair, &values, slack);
            for y in 0..layout.nodes.y - 1 {
                for x in 0..layout.nodes.x - 1 {
                    let corner = pair.node_index(UVec3::new(x, y, 0));
                    let [row, plane] = [layout.nodes.x as usize, size];
                    let at =
                        |i: usize| planes[corner + (i & 1) + (i >> 1 & 1) * row + (i >> 2) * plane];
                    correction = correction.max(cell_correction(std::array::from_fn(at)));
                }
            }
            planes.drain(..size);
        }
        (torn, (correction * layout.cell_size).next_up())
    }
}

/// The most that the gradients change the trilinear mean in a cell of these corners \[cells\]; bit 0 of the index is x.
///
/// `Σ_c t_c (1 − t_c) |∂_c ā_c|`, where the slope of a mean is at most the largest difference along an edge; and no more than
/// `Σ wᵢ |aᵢ| |x − xᵢ| ≤ √3/2 · max |a|`, as in docs/METHODS.md.
fn cell_correction(corners: [Expansion; 8]) -> f32 {
    let along = |axis: usize| {
        let step = 1 << axis;
        let differences = (0..8usize)
            .filter(|i| i & step == 0)
            .map(|i| (corners[i | step][axis] - corners[i][axis]).abs());
        0.25 * differences.fold(0.0, f32::max)
    };
    let by_edges = along(0) + along(1) + along(2);
    let longest = (corners.iter()).fold(0.0f32, |most, a| most.max(a.truncate().length()));
    // Rounding of the differences, generously.
    by_edges.min(0.5 * 3f32.sqrt() * longest) * (1.0 + 16.0 * f32::EPSILON)
        + 4.0 * f32::EPSILON * longest
}

/// An interpolated number with its slopes; of nodes in lanes the lower half counts.
struct Mixed<L> {
    value: L,
    x: L,
    y: L,
    z: L,
    xy: L,
    xz: L,
    yz: L,
}

/// A number that is interpolated along y and z, with its slopes.
struct MixedYz<L> {
    value: L,
    y: L,
    z: L,
    yz: L,
}

/// Interpolates four rows: (y, z) = (0, 0), (1, 0), (0, 1), (1, 1).
#[inline(always)]
fn mix_yz<L: Lanes>([y0z0, y1z0, y0z1, y1z1]: [L; 4], v: L, w: L) -> MixedYz<L> {
    let (y_z0, y_z1) = (y1z0.sub(y0z0), y1z1.sub(y0z1));
    let (z0, z1) = (y0z0.add(y_z0.mul(v)), y0z1.add(y_z1.mul(v)));
    let (z, yz) = (z1.sub(z0), y_z1.sub(y_z0));
    MixedYz {
        value: z0.add(z.mul(w)),
        y: y_z0.add(yz.mul(w)),
        z,
        yz,
    }
}

/// Interpolates four rows of two nodes each, four numbers a node.
#[inline(always)]
fn mix<L: Lanes>(rows: [L; 4], fraction: Vec3) -> Mixed<L> {
    let [u, v, w] = lanes::splat3::<L>(fraction);
    let mixed = mix_yz(rows, v, w);
    let (value, x) = mix_halves(mixed.value, u);
    let (y, xy) = mix_halves(mixed.y, u);
    let (z, xz) = mix_halves(mixed.z, u);
    let (yz, _) = mix_halves(mixed.yz, u);
    Mixed {
        value,
        x,
        y,
        z,
        xy,
        xz,
        yz,
    }
}

/// The same for one number a node, of eight points: what is not used of it is not computed.
#[inline(always)]
fn mix_eight<L: Lanes>(low: [L; 4], high: [L; 4], [u, v, w]: [L; 3]) -> Mixed<L> {
    let (low, high) = (mix_yz(low, v, w), mix_yz(high, v, w));
    let (value, x) = mix_ends(low.value, high.value, u);
    let (y, xy) = mix_ends(low.y, high.y, u);
    let (z, xz) = mix_ends(low.z, high.z, u);
    let (yz, _) = mix_ends(low.yz, high.yz, u);
    Mixed {
        value,
        x,
        y,
        z,
        xy,
        xz,
        yz,
    }
}

/// Mean and difference.
#[inline(always)]
fn mix_ends<L: Lanes>(low: L, high: L, t: L) -> (L, L) {
    let slope = high.sub(low);
    (low.add(slope.mul(t)), slope)
}

/// [`mix_eight`] for the four numbers of nodes, which are given row by row, and in each point by point.
#[inline(always)]
fn mix_nodes<L: Lanes>(rows: [[L; LANES]; 4], fraction: [L; 3]) -> [Mixed<L>; 4] {
    let [a, b, c, d] = [
        L::transpose(rows[0]),
        L::transpose(rows[1]),
        L::transpose(rows[2]),
        L::transpose(rows[3]),
    ];
    [
        mix_eight([a[0], b[0], c[0], d[0]], [a[4], b[4], c[4], d[4]], fraction),
        mix_eight([a[1], b[1], c[1], d[1]], [a[5], b[5], c[5], d[5]], fraction),
        mix_eight([a[2], b[2], c[2], d[2]], [a[6], b[6], c[6], d[6]], fraction),
        mix_eight([a[3], b[3], c[3], d[3]], [a[7], b[7], c[7], d[7]], fraction),
    ]
}

/// Mean and difference of the lower half and the upper one.
#[inline(always)]
fn mix_halves<L: Lanes>(ends: L, t: L) -> (L, L) {
    mix_ends(ends, ends.swap_halves(), t)
}

/// `coarse` in units of cells, added to `fine`.
#[inline(always)]
fn joined<L: Lanes>(fine: Mixed<L>, coarse: Mixed<L>) -> Mixed<L> {
    let first = L::splat(1.0 / BLOCK as f32);
    let second = L::splat(1.0 / (BLOCK * BLOCK) as f32);
    Mixed {
        value: fine.value.add(coarse.value),
        x: fine.x.add(coarse.x.mul(first)),
        y: fine.y.add(coarse.y.mul(first)),
        z: fine.z.add(coarse.z.mul(first)),
        xy: fine.xy.add(coarse.xy.mul(second)),
        xz: fine.xz.add(coarse.xz.mul(second)),
        yz: fine.yz.add(coarse.yz.mul(second)),
    }
}

/// Two neighbouring nodes.
#[inline(always)]
fn pair<T>(nodes: &[[T; 4]], first: usize) -> &[T; LANES] {
    (nodes[first..first + 2].as_flattened())
        .try_into()
        .expect("two nodes hold eight numbers")
}

impl TaylorGrid {
    #[inline(always)]
    fn mixed<L: Lanes>(&self, place: &Place) -> Mixed<L> {
        let corner = self.frame.layout.node_index(place.cell);
        let row = self.frame.layout.nodes.x as usize;
        let plane = row * self.frame.layout.nodes.y as usize;
        let fine = mix(
            [
                L::load_halves(pair(&self.nodes, corner)),
                L::load_halves(pair(&self.nodes, corner + row)),
                L::load_halves(pair(&self.nodes, corner + plane)),
                L::load_halves(pair(&self.nodes, corner + plane + row)),
            ],
            place.fraction,
        );
        let corner = self.coarse_index(place.cell / BLOCK);
        let row = self.coarse_nodes.x as usize;
        let plane = row * self.coarse_nodes.y as usize;
        let coarse = mix(
            [
                L::load_plain(pair(&self.coarse, corner)),
                L::load_plain(pair(&self.coarse, corner + row)),
                L::load_plain(pair(&self.coarse, corner + plane)),
                L::load_plain(pair(&self.coarse, corner + plane + row)),
            ],
            ((place.cell % BLOCK).as_vec3() + place.fraction) * (1.0 / BLOCK as f32),
        );
        joined(fine, coarse)
    }

    /// Value and exact gradient of the interpolant; the formulas at the top of this file.
    #[inline(always)]
    fn interpolate<L: Lanes>(&self, place: &Place) -> Sample {
        const PHI: usize = 3;
        let mixed = self.mixed::<L>(place);
        // One by one: a closure over lanes would be a call through memory.
        let (x, y, z) = (mixed.x.store().0, mixed.y.store().0, mixed.z.store().0);
        let (xy, xz, yz) = (mixed.xy.store().0, mixed.xz.store().0, mixed.yz.store().0);
        let t = place.fraction;
        let bump = t * (1.0 - t);
        let bend = 1.0 - 2.0 * t;
        let value = mixed.value.store().0[PHI] - bump.x * x[0] - bump.y * y[1] - bump.z * z[2];
        let gradient = Vec3::new(
            x[PHI] - bend.x * x[0] - bump.y * xy[1] - bump.z * xz[2],
            y[PHI] - bend.y * y[1] - bump.x * xy[0] - bump.z * yz[2],
            z[PHI] - bend.z * z[2] - bump.x * xz[0] - bump.y * yz[1],
        );
        Sample {
            distance: value * self.frame.layout.cell_size,
            gradient,
        }
    }

    /// At a point of the grid.
    fn sample_inside(&self, point: Vec3) -> Sample {
        let place = self.frame.locate(point);
        lanes::run(InterpolateOne { grid: self, place })
    }

    #[cold]
    #[inline(never)]
    fn sample_outside(&self, point: Vec3) -> Sample {
        (self.frame).lower_bound_outside(point, |inside| self.sample_inside(inside))
    }

    /// Holds every interpolated value from one node to another: node values, and what the gradients can add.
    fn range(&self, first: UVec3, last: UVec3) -> Interval {
        let cell_size = self.frame.layout.cell_size;
        let mut range = Interval::new(f32::INFINITY, f32::NEG_INFINITY);
        let mut correction = 0.0f32;
        for z in first.z..=last.z {
            for y in first.y..=last.y {
                for x in first.x..=last.x {
                    let node = UVec3::new(x, y, z);
                    let value = self.expansion(node).w * cell_size;
                    range.lower = range.lower.min(value);
                    range.upper = range.upper.max(value);
                    // A flat box has its nodes in one plane, but lies in cells all the same.
                    let cell = node.min(self.frame.layout.cells() - 1);
                    let corners = std::array::from_fn(|i| self.expansion(corner(cell, i)));
                    correction = correction.max(cell_correction(corners));
                }
            }
        }
        let rounding = 16.0 * f32::EPSILON * range.lower.abs().max(range.upper.abs());
        range.grown(correction * cell_size + rounding)
    }
}

struct InterpolateOne<'a> {
    grid: &'a TaylorGrid,
    place: Place,
}

impl Work for InterpolateOne<'_> {
    type Output = Sample;

    #[inline(always)]
    fn run<L: Lanes>(self) -> Sample {
        self.grid.interpolate::<L>(&self.place)
    }
}

impl Packets for TaylorGrid {
    fn frame(&self) -> &GridFrame {
        &self.frame
    }

    #[inline(always)]
    fn interpolate_eight<L: Lanes>(&self, places: &Places<L>) -> (L, [L; 3]) {
        let cells = places.cells();
        let row = self.frame.layout.nodes.x as usize;
        let plane = row * self.frame.layout.nodes.y as usize;
        let mut rows = [[L::splat(0.0); LANES]; 4];
        for (i, &cell) in cells.iter().enumerate() {
            let corner = self.frame.layout.node_index(cell);
            rows[0][i] = L::load_halves(pair(&self.nodes, corner));
            rows[1][i] = L::load_halves(pair(&self.nodes, corner + row));
            rows[2][i] = L::load_halves(pair(&self.nodes, corner + plane));
            rows[3][i] = L::load_halves(pair(&self.nodes, corner + plane + row));
        }
        let [fx, fy, fz, fphi] = mix_nodes(rows, places.fraction);
        let row = self.coarse_nodes.x as usize;
        let plane = row * self.coarse_nodes.y as usize;
        for (i, &cell) in cells.iter().enumerate() {
            let corner = self.coarse_index(cell / BLOCK);
            rows[0][i] = L::load_plain(pair(&self.coarse, corner));
            rows[1][i] = L::load_plain(pair(&self.coarse, corner + row));
            rows[2][i] = L::load_plain(pair(&self.coarse, corner + plane));
            rows[3][i] = L::load_plain(pair(&self.coarse, corner + plane + row));
        }
        let part = L::splat(1.0 / BLOCK as f32);
        let mut in_block = places.fraction;
        for (fraction, &cell) in in_block.iter_mut().zip(&places.cell) {
            // The cell's place in the block: powers of two, so nothing is rounded.
            let whole = cell.mul(part).truncate().mul(L::splat(BLOCK as f32));
            *fraction = cell.sub(whole).add(*fraction).mul(part);
        }
        let [cx, cy, cz, cphi] = mix_nodes(rows, in_block);
        let (ax, ay, az) = (joined(fx, cx), joined(fy, cy), joined(fz, cz));
        let phi = joined(fphi, cphi);
        let one = L::splat(1.0);
        let [t_x, t_y, t_z] = places.fraction;
        let [bump_x, bump_y, bump_z] = [
            t_x.mul(one.sub(t_x)),
            t_y.mul(one.sub(t_y)),
            t_z.mul(one.sub(t_z)),
        ];
        let two = L::splat(2.0);
        let [bend_x, bend_y, bend_z] = [
            one.sub(two.mul(t_x)),
            one.sub(two.mul(t_y)),
            one.sub(two.mul(t_z)),
        ];
        let value = less(phi.value, [(bump_x, ax.x), (bump_y, ay.y), (bump_z, az.z)]);
        let gradient = [
            less(phi.x, [(bend_x, ax.x), (bump_y, ay.xy), (bump_z, az.xz)]),
            less(phi.y, [(bend_y, ay.y), (bump_x, ax.xy), (bump_z, az.yz)]),
            less(phi.z, [(bend_z, az.z), (bump_x, ax.xz), (bump_y, ay.yz)]),
        ];
        (value.mul(L::splat(self.frame.layout.cell_size)), gradient)
    }

    fn sample_beyond(&self, point: Vec3) -> Sample {
        self.sample_outside(point)
    }
}

/// What is left of a sum after three products, in this order.
#[inline(always)]
fn less<L: Lanes>(sum: L, [a, b, c]: [(L, L); 3]) -> L {
    sum.sub(a.0.mul(a.1)).sub(b.0.mul(b.1)).sub(c.0.mul(c.1))
}

impl Field for TaylorGrid {
    fn bounds(&self) -> Aabb {
        self.frame.bounds
    }

    fn error_bound(&self) -> f32 {
        self.frame.error_bound
    }

    fn distance(&self, point: Vec3) -> f32 {
        self.sample(point).distance
    }

    fn sample(&self, point: Vec3) -> Sample {
        if self.frame.bounds.contains(point) {
            self.sample_inside(point)
        } else {
            self.sample_outside(point)
        }
    }

    fn distance_many(&self, points: &[Vec3], out: &mut Vec<f32>) {
        packet::distance_many(self, points, out);
    }

    fn sample_many(&self, points: &[Vec3], out: &mut Vec<Sample>) {
        packet::sample_many(self, points, out);
    }

    fn interval(&self, cell: Aabb) -> Interval {
        self.frame.interval(
            cell,
            |point| self.sample_inside(point),
            |first, last| self.range(first, last),
        )
    }

    /// The interpolant is a mean of what the nodes say, and half of any slope s cancels in it: `Σ wᵢ ½s·(x − xᵢ) = 0`. So less a plane of slope s through the
    /// centre c it is the mean of `φᵢ − s·(xᵢ − c) + (aᵢ − ½s)·(x − xᵢ)`, and x is within a cell of `xᵢ` along each axis.
    fn lower_plane(&self, cell: Aabb) -> Option<LowerPlane> {
        let [first, last] = self.frame.nodes_of(cell)?;
        let place = self.frame.locate(cell.center());
        let center = place.cell.as_vec3() + place.fraction;
        let count = (last - first + UVec3::ONE).element_product() as f32;
        let halves = places(first, last).map(|node| self.expansion(node).truncate());
        let half_slope = halves.sum::<Vec3>() / count;
        let below = places(first, last).map(|node| {
            let expansion = self.expansion(node);
            let along = node.as_vec3() - center;
            let bend = (expansion.truncate() - half_slope).abs().element_sum();
            expansion.w - 2.0 * half_slope.dot(along) - bend
        });
        let value = below.fold(f32::INFINITY, f32::min) * self.frame.layout.cell_size;
        Some(LowerPlane {
            value: value - self.frame.plane_margin(cell, value),
            gradient: 2.0 * half_slope,
        })
    }
}
