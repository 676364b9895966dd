//! Distances and gradients on a regular grid, four half floats a node, interpolated to second order.
//!
//! Input: node values and gradients, as [`crate::bake`] computes them from a mesh, or those of a [`DenseGrid`].
//! Output: value and the analytic gradient of the interpolant inside the grid; outside it a proven lower bound.
//! Cost: one lookup of eight neighbours a sample, and one of the block they are in (`taylor_layout.rs`); 9¼ bytes a node.
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
//! of the halves with it. Slopes of the coarse nodes are multiples of 1/128: they only have to be near.

use glam::{UVec3, Vec3, Vec4};

use crate::field::field::{Field, LowerPlane, Sample};
use crate::field::grid::frame::{GridFrame, Place};
use crate::field::grid::layout::LARGEST;
use crate::field::grid::layout::{GridError, GridLayout};
use crate::field::grid::packet;
use crate::field::grid::packet::{Packets, Places};
use crate::field::grid::taylor_layout::{
    Bricks, Corners, SLOPE_STEPS, corners_of_blocks, stored_slope,
};
use crate::field::grid::torn::is_torn_beyond;
use crate::geom::lanes;
use crate::geom::lanes::{LANES, Lanes, Number, Work};
use crate::geom::{Aabb, Interval, corner, place_index, places};

/// Cells along a side of a block, between nodes that are stored in full. The smaller, the less is left for the halves: with R the
/// radius of the surface and h the cell, about BLOCK²/4 · h/R cells. 4 costs 3 % of the memory, 2 would cost 25 %.
pub(crate) const BLOCK: u32 = 4;

/// Half the gradient, and the distance in cells: what is stored of a node.
pub(crate) type Expansion = Vec4;

/// A grid of distances and gradients. Node (i, j, k) lies at `origin + cell_size · (i, j, k)`.
#[derive(Clone, Debug, PartialEq)]
pub struct TaylorGrid {
    pub(crate) frame: GridFrame,
    /// Every [`BLOCK`]-th node, x fastest, the last ones at or beyond the border: half the gradient, distance in cells.
    coarse: Vec<[f32; 4]>,
    /// The same as corners of the blocks between them, for samples.
    blocks: Vec<Corners>,
    /// Along x, y and z.
    block_count: UVec3,
    /// What is left at every node.
    nodes: Bricks,
    /// The most that the gradients change the trilinear mean of the distances, anywhere \[m\].
    pub(crate) correction: f32,
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
    /// A coarse node holds NaN, so large a number that interpolating it would leave `f32`, or a slope that is not a multiple of 1/128 below 1.
    #[error(
        "coarse node {node} holds {value:?}; distances in cells must be finite and leave room for sums, slopes must be multiples of 1/128 \
         between -1 and 1"
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
pub(crate) fn coarse_nodes(layout: &GridLayout) -> UVec3 {
    let cells = layout.cells().to_array().map(|n| n.div_ceil(BLOCK));
    UVec3::from(cells) + UVec3::ONE
}

impl TaylorGrid {
    /// A grid from what is stored of it: `coarse` holds half the gradient, in multiples of 1/128, and the distance in cells of every fourth
    /// node along each axis, up to the first at or beyond the border; `nodes` the bits of half floats that are added to what those
    /// interpolate to. x is fastest in both. `solid` and `error_bound` as in [`crate::field::grid::dense_grid::DenseGrid::new`].
    ///
    /// What is accepted gives finite distances and gradients at every finite point.
    pub fn new(
        layout: GridLayout,
        coarse: Vec<[f32; 4]>,
        nodes: Vec<[u16; 4]>,
        solid: Aabb,
        error_bound: f32,
    ) -> Result<TaylorGrid, TaylorError> {
        GridFrame::new(layout, solid, error_bound)?;
        if layout.node_count() != nodes.len() as u64 {
            return Err(TaylorError::Grid(GridError::WrongCount {
                nodes: layout.nodes,
                expected: layout.node_count(),
                found: nodes.len(),
            }));
        }
        let is_endless = |bits: &u16| bits & 0x7c00 == 0x7c00;
        if let Some(node) = nodes.iter().position(|node| node.iter().any(is_endless)) {
            return Err(TaylorError::BadNode { node });
        }
        let nodes = Bricks::of_rows(&layout, &nodes);
        TaylorGrid::of_bricks(layout, coarse, nodes, solid, error_bound)
    }

    /// [`Self::new`] from nodes that are finite and in bricks already.
    pub(crate) fn of_bricks(
        layout: GridLayout,
        coarse: Vec<[f32; 4]>,
        nodes: Bricks,
        solid: Aabb,
        error_bound: f32,
    ) -> Result<TaylorGrid, TaylorError> {
        let frame = GridFrame::new(layout, solid, error_bound)?;
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
        for (node, &[x, y, z, distance]) in coarse.iter().enumerate() {
            let is_slope = |slope: f32| stored_slope(slope.into()) == slope;
            let bad = [x, y, z].into_iter().find(|&slope| !is_slope(slope));
            let far = !(0.0..=most).contains(&distance.abs());
            if let Some(value) = bad.or(far.then_some(distance)) {
                return Err(TaylorError::BadCoarse { node, value });
            }
        }
        let mut grid = TaylorGrid {
            frame,
            blocks: corners_of_blocks(coarse_nodes, &coarse),
            coarse,
            block_count: coarse_nodes - UVec3::ONE,
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
        let coarse = size_of_val(self.coarse.as_slice()) + size_of_val(self.blocks.as_slice());
        self.nodes.bytes() + coarse
    }

    /// Every fourth node, x fastest: half the gradient, and the distance in cells.
    pub fn coarse(&self) -> &[[f32; 4]] {
        &self.coarse
    }

    /// Bits of half floats, x fastest: what is added to the coarse nodes' mean.
    pub fn nodes(&self) -> impl Iterator<Item = [u16; 4]> {
        self.nodes.in_rows(&self.frame.layout)
    }

    /// Distance and gradient stored at a node.
    pub fn node(&self, node: UVec3) -> Sample {
        let expansion = self.expansion(node);
        Sample {
            distance: expansion.w * self.frame.layout.cell_size,
            gradient: 2.0 * expansion.truncate(),
        }
    }

    pub(crate) fn expansion(&self, node: UVec3) -> Expansion {
        let bits = self.nodes.node(node);
        let left = bits.map(|bits| half::f16::from_bits(bits).to_f32());
        self.coarse_expansion(node) + Vec4::from(left)
    }

    /// What the coarse nodes say of a node.
    fn coarse_expansion(&self, node: UVec3) -> Expansion {
        let first = node / BLOCK;
        let fraction = (node % BLOCK).as_vec3() / BLOCK as f32;
        // A node on the last coarse one needs none behind it.
        let last = first.saturating_add(UVec3::ONE).min(self.block_count);
        let at = |x: u32, y: u32, z: u32| Vec4::from(self.coarse_node(UVec3::new(x, y, z)));
        let row = |y, z| at(first.x, y, z).lerp(at(last.x, y, z), fraction.x);
        let plane = |z| row(first.y, z).lerp(row(last.y, z), fraction.y);
        plane(first.z).lerp(plane(last.z), fraction.z)
    }

    fn coarse_node(&self, node: UVec3) -> [f32; 4] {
        self.coarse[place_index(self.block_count + UVec3::ONE, node)]
    }

    /// Which block a cell is in.
    #[inline(always)]
    fn block_index(&self, [x, y, z]: [u32; 3]) -> u64 {
        let [nx, ny, _] = self.block_count.to_array().map(u64::from);
        let [x, y, z] = [x / BLOCK, y / BLOCK, z / BLOCK].map(u64::from);
        (z * ny + y) * nx + x
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
        let left = |bits: [u16; 4]| half::f16::from_bits(bits[3]).to_f32().abs();
        let most_left = self.nodes().map(left).fold(0.0, f32::max);
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

/// An interpolated number with its slopes.
struct Mixed<N> {
    value: N,
    x: N,
    y: N,
    z: N,
}

/// A number that is interpolated in a square, with its slopes along the two sides.
struct Square<N> {
    value: N,
    first: N,
    second: N,
}

/// Mean and difference.
#[inline(always)]
fn mix_ends<N: Number>(low: N, high: N, t: N) -> (N, N) {
    let slope = high.sub(low);
    (low.add(slope.mul(t)), slope)
}

/// Of the corners (0, 0), (1, 0), (0, 1), (1, 1).
#[inline(always)]
fn mix_square<N: Number>([a, b, c, d]: [N; 4], p: N, q: N) -> Square<N> {
    let (low, along_low) = mix_ends(a, b, p);
    let (high, along_high) = mix_ends(c, d, p);
    let (value, second) = mix_ends(low, high, q);
    let (first, _) = mix_ends(along_low, along_high, q);
    Square {
        value,
        first,
        second,
    }
}

/// Of eight corners, those at the lower x and those at the upper.
#[inline(always)]
fn mix_cube<N: Number>(low: [N; 4], high: [N; 4], [u, v, w]: [N; 3]) -> Mixed<N> {
    let (low, high) = (mix_square(low, v, w), mix_square(high, v, w));
    let (value, x) = mix_ends(low.value, high.value, u);
    let (y, _) = mix_ends(low.first, high.first, u);
    let (z, _) = mix_ends(low.second, high.second, u);
    Mixed { value, x, y, z }
}

/// What is known around one point, or around [`LANES`] of them.
struct Around<N> {
    /// Nodes, row by row: those at (y, z) = (0, 0), (1, 0), (0, 1), (1, 1); in each the four numbers of the one at the lower x, and of the one at the upper.
    rows: [[N; 8]; 4],
    /// See [`Corners`].
    distances: [N; 8],
    bends: [[N; 8]; 2],
    /// In the cell, and in the block, from 0 to 1.
    fraction: [N; 3],
    in_block: [N; 3],
}

impl<N: Number> Around<N> {
    /// Value \[cells\] and exact gradient of the interpolant; the formulas at the top of this file. Of the gradients only `∂_c ā_c` matters: the differences along the edges
    /// that run along c, interpolated across them.
    #[inline(always)]
    fn sample(&self) -> (N, [N; 3]) {
        let [r, s, t, u] = &self.rows;
        let fine = mix_cube(
            [r[3], s[3], t[3], u[3]],
            [r[7], s[7], t[7], u[7]],
            self.fraction,
        );
        let [a, b, c, d, e, f, g, h] = self.distances;
        let coarse = mix_cube([a, c, e, g], [b, d, f, h], self.in_block);
        let first = N::splat(1.0 / BLOCK as f32);
        let phi = Mixed {
            value: fine.value.add(coarse.value),
            x: fine.x.add(coarse.x.mul(first)),
            y: fine.y.add(coarse.y.mul(first)),
            z: fine.z.add(coarse.z.mul(first)),
        };
        let along_x = [
            r[4].sub(r[0]),
            s[4].sub(s[0]),
            t[4].sub(t[0]),
            u[4].sub(u[0]),
        ];
        let along_y = [
            s[1].sub(r[1]),
            s[5].sub(r[5]),
            u[1].sub(t[1]),
            u[5].sub(t[5]),
        ];
        let along_z = [
            t[2].sub(r[2]),
            t[6].sub(r[6]),
            u[2].sub(s[2]),
            u[6].sub(s[6]),
        ];
        let [xy, z] = &self.bends;
        let ax = self.bend(along_x, [xy[0], xy[1], xy[2], xy[3]], [1, 2]);
        let ay = self.bend(along_y, [xy[4], xy[5], xy[6], xy[7]], [0, 2]);
        let az = self.bend(along_z, [z[0], z[1], z[2], z[3]], [0, 1]);
        let [t_x, t_y, t_z] = self.fraction;
        let (one, two) = (N::splat(1.0), N::splat(2.0));
        let [bump_x, bump_y, bump_z] = [
            t_x.mul(one.sub(t_x)),
            t_y.mul(one.sub(t_y)),
            t_z.mul(one.sub(t_z)),
        ];
        let [bend_x, bend_y, bend_z] = [
            one.sub(two.mul(t_x)),
            one.sub(two.mul(t_y)),
            one.sub(two.mul(t_z)),
        ];
        let value = less(
            phi.value,
            [(bump_x, ax.value), (bump_y, ay.value), (bump_z, az.value)],
        );
        let gradient = [
            less(
                phi.x,
                [(bend_x, ax.value), (bump_y, ay.first), (bump_z, az.first)],
            ),
            less(
                phi.y,
                [(bend_y, ay.value), (bump_x, ax.first), (bump_z, az.second)],
            ),
            less(
                phi.z,
                [(bend_z, az.value), (bump_x, ax.second), (bump_y, ay.second)],
            ),
        ];
        (value, gradient)
    }

    /// `∂_c ā_c` and its slopes along the two `other` axes, from the differences along the edges of the cell and of the block.
    #[inline(always)]
    fn bend(&self, fine: [N; 4], coarse: [N; 4], [p, q]: [usize; 2]) -> Square<N> {
        /// What a step of a slope is worth per cell where it changes from corner to corner of a block. Powers of two: nothing is rounded.
        const STEP: f32 = 1.0 / (SLOPE_STEPS * BLOCK as f32);
        let (step, smaller) = (N::splat(STEP), N::splat(STEP / BLOCK as f32));
        let fine = mix_square(fine, self.fraction[p], self.fraction[q]);
        let coarse = mix_square(coarse, self.in_block[p], self.in_block[q]);
        Square {
            value: fine.value.add(coarse.value.mul(step)),
            first: fine.first.add(coarse.first.mul(smaller)),
            second: fine.second.add(coarse.second.mul(smaller)),
        }
    }
}

/// What is left of a sum after three products, in this order.
#[inline(always)]
fn less<N: Number>(sum: N, [a, b, c]: [(N, N); 3]) -> N {
    sum.sub(a.0.mul(a.1)).sub(b.0.mul(b.1)).sub(c.0.mul(c.1))
}

impl TaylorGrid {
    /// A node of [`Bricks::rows`] and the next along x, as numbers.
    #[inline(always)]
    fn pair<L: Lanes>(&self, first: u64) -> L {
        let [low, high] = self.nodes.pair(first);
        L::load_two_halves(low, high)
    }

    #[inline(always)]
    fn interpolate<L: Lanes>(&self, place: &Place) -> Sample {
        let [a, b, c, d] = self.nodes.rows(place.cell.to_array());
        let block = &self.blocks[self.block_index(place.cell.to_array()) as usize];
        let [e, f] = &block.bends;
        let in_block = ((place.cell % BLOCK).as_vec3() + place.fraction) * (1.0 / BLOCK as f32);
        // One by one: a closure over lanes would be a call through memory.
        let around = Around {
            rows: [
                self.pair::<L>(a).store().0,
                self.pair::<L>(b).store().0,
                self.pair::<L>(c).store().0,
                self.pair::<L>(d).store().0,
            ],
            distances: block.distances,
            bends: [L::load_shorts(e).store().0, L::load_shorts(f).store().0],
            fraction: place.fraction.to_array(),
            in_block: in_block.to_array(),
        };
        let (value, gradient) = around.sample();
        Sample {
            distance: value * self.frame.layout.cell_size,
            gradient: gradient.into(),
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
        let cells = places.whole_cells();
        let mut rows = [[L::splat(0.0); LANES]; 4];
        for (row, firsts) in rows.iter_mut().zip(self.nodes.rows_of_eight(&cells)) {
            for (pair, first) in row.iter_mut().zip(firsts) {
                *pair = self.pair(first);
            }
        }
        let part = L::splat(1.0 / BLOCK as f32);
        let mut in_block = places.fraction;
        for (fraction, &cell) in in_block.iter_mut().zip(&places.cell) {
            // The cell's place in the block: powers of two, so nothing is rounded.
            let whole = cell.mul(part).truncate().mul(L::splat(BLOCK as f32));
            *fraction = cell.sub(whole).add(*fraction).mul(part);
        }
        let mut corners = [[L::splat(0.0); LANES]; 3];
        let mut blocks = [0; LANES];
        for (i, block) in blocks.iter_mut().enumerate() {
            *block = self.block_index([cells[0][i], cells[1][i], cells[2][i]]);
        }
        for (i, block) in blocks.into_iter().enumerate() {
            let block = &self.blocks[block as usize];
            corners[0][i] = L::load_plain(&block.distances);
            corners[1][i] = L::load_shorts(&block.bends[0]);
            corners[2][i] = L::load_shorts(&block.bends[1]);
        }
        let around = Around {
            rows: [
                L::transpose(rows[0]),
                L::transpose(rows[1]),
                L::transpose(rows[2]),
                L::transpose(rows[3]),
            ],
            distances: L::transpose(corners[0]),
            bends: [L::transpose(corners[1]), L::transpose(corners[2])],
            fraction: places.fraction,
            in_block,
        };
        let (value, gradient) = around.sample();
        (value.mul(L::splat(self.frame.layout.cell_size)), gradient)
    }

    fn sample_beyond(&self, point: Vec3) -> Sample {
        self.sample_outside(point)
    }
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
