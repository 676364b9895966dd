//! Distances and gradients on a regular grid, four half floats per node, interpolated to second
//! order.
//!
//! Input: node values and gradients, as [`crate::bake`] computes them from a mesh, or those of a
//! [`DenseGrid`].
//! Output: value and the analytic gradient of the interpolant inside the grid; outside it a proven
//! lower bound.
//! Cost: one lookup of eight neighbours per sample, and one of the block that contains them
//! (`taylor_layout.rs`); 9¼ bytes per node.
//! Not for: kinks, where the interpolation in any grid cell cuts the corner; fine resolutions over
//! large volumes.
//!
//! After \[Krayer2020\] (docs/BIBLIOGRAPHY.md), §3.2: the Dutch Taylor expansion
//! `fᵢ(x) = φᵢ + ½ ∇φᵢ·(x − xᵢ)` of the nodes, interpolated trilinearly with weights `wᵢ(x)`, is
//! exact for every quadratic function. In units of cells, with `a = ½∇φ`, fractions `t` in the cell
//! and bars for trilinear interpolation, the sum is
//!
//! ```text
//! f     = Σᵢ wᵢ (φᵢ + aᵢ·(x − xᵢ))  =  φ̄ − Σ_c t_c (1 − t_c) ∂_c ā_c
//! ∂_d f = ∂_d φ̄ − (1 − 2 t_d) ∂_d ā_d − Σ_{c≠d} t_c (1 − t_c) ∂_d ∂_c ā_c
//! ```
//!
//! because `w` runs from 1 − t to t along each axis, and the two ends add up to
//! `t (1 − t) (a|₀ − a|₁)`.
//!
//! We differ in what the halves hold. A half has 11 bits, so `φ` itself, a hundred cells from the
//! surface, would be off by 3 % of a cell. Every [`BLOCK`]-th node is stored in `f32`; these are
//! interpolated trilinearly, and the halves hold the residuals. A trilinear function of a block is
//! trilinear in each of its cells, so the sums above split: `φ̄` and `ā` are those of the coarse
//! grid plus those of the halves. Where the field is smooth, the residuals shrink with the square
//! of the cell, and the rounding of the halves with them. Slopes of the coarse nodes are multiples
//! of 1/128; they only have to be near the true ones.

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

/// Cells along a side of a block, between nodes that are stored in full. A smaller block leaves
/// smaller residuals for the halves: with R the radius of the surface and h the cell, about
/// BLOCK²/4 · h/R cells. At this size the coarse nodes take 3 % of the memory; at half of it they
/// would take 25 %.
pub(crate) const BLOCK: u32 = 4;

/// The numbers stored per node: half the gradient, and the distance in cells.
pub(crate) type Expansion = Vec4;

/// A grid of distances and gradients. Node (i, j, k) lies at `origin + cell_size · (i, j, k)`.
#[derive(Clone, Debug, PartialEq)]
pub struct TaylorGrid {
    pub(crate) frame: GridFrame,
    /// Every [`BLOCK`]-th node, x fastest, the last ones at or beyond the border: half the
    /// gradient, distance in cells.
    coarse: Vec<[f32; 4]>,
    /// The coarse nodes arranged as corners of the blocks between them, for sampling.
    blocks: Vec<Corners>,
    /// Number of blocks along x, y and z.
    block_count: UVec3,
    /// Residuals at every node.
    nodes: Bricks,
    /// Largest change of the trilinear mean of the distances by the gradients, anywhere \[m\].
    pub(crate) correction: f32,
}

/// Why a Taylor grid cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TaylorError {
    /// The input does not make a valid grid of any kind.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// Coarse nodes and layout disagree.
    #[error("a Taylor grid of {nodes} nodes has {expected} coarse nodes, but {found} were given")]
    WrongCoarseCount {
        /// Nodes along x, y and z.
        nodes: UVec3,
        /// Number of coarse nodes that belong to them.
        expected: usize,
        /// Number of coarse nodes given.
        found: usize,
    },
    /// A coarse node holds NaN, a number so large that interpolating it would overflow `f32`, or a
    /// slope that is not a multiple of 1/128 below 1.
    #[error(
        "coarse node {node} holds {value:?}; distances in cells must be finite and leave room for sums, slopes must be multiples of 1/128 \
         between -1 and 1"
    )]
    BadCoarse {
        /// Index of the coarse node, x fastest.
        node: usize,
        /// The invalid number.
        value: f32,
    },
    /// A node holds NaN or infinity.
    #[error("node {node} holds a half float that is no finite number")]
    BadNode {
        /// Index of the node, x fastest.
        node: usize,
    },
    /// A node differs too much from the interpolated coarse nodes for half floats.
    #[error(
        "node {node} differs from its surroundings by {cells:?} cells; half floats hold up to 65504 (use a dense grid, or \
         larger cells)"
    )]
    OutOfRange {
        /// Index of the node, x fastest.
        node: usize,
        /// Largest difference \[cells\].
        cells: f64,
    },
}

/// Returns the number of coarse nodes along each axis: one coarse cell for every [`BLOCK`] cells of
/// the grid, rounded up, plus one.
pub(crate) fn coarse_nodes(layout: &GridLayout) -> UVec3 {
    let cells = layout.cells().to_array().map(|n| n.div_ceil(BLOCK));
    UVec3::from(cells) + UVec3::ONE
}

impl TaylorGrid {
    /// Builds a grid from its stored numbers. `coarse` holds half the gradient, in multiples of
    /// 1/128, and the distance in cells of every fourth node along each axis, up to the first at or
    /// beyond the border. `nodes` holds the bits of half floats that are added to the interpolated
    /// coarse nodes. x is fastest in both. `solid` and `error_bound` as in
    /// [`crate::field::grid::dense_grid::DenseGrid::new`].
    ///
    /// An accepted grid gives finite distances and gradients at every finite point.
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

    /// Builds a grid as [`Self::new`] does, from nodes that are finite and already in bricks.
    pub(crate) fn of_bricks(
        layout: GridLayout,
        coarse: Vec<[f32; 4]>,
        nodes: Bricks,
        solid: Aabb,
        error_bound: f32,
    ) -> Result<TaylorGrid, TaylorError> {
        let frame = GridFrame::new(layout, solid, error_bound)?;
        // Check the coarse nodes.
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
        // An eighth: the longest sums in a sample have eight terms.
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
        // Look for tears and the largest correction.
        let (torn, correction) = grid.survey();
        grid.correction = correction;
        // The interpolant of a continuous distance is off by at most half a diagonal, plus the
        // share of gradients of at most 1, half as much again. A grid with a larger error bound may
        // jump between nodes.
        grid.frame.torn = torn || error_bound > layout.cell_size + correction;
        Ok(grid)
    }

    /// Returns where the nodes lie.
    pub fn layout(&self) -> &GridLayout {
        &self.frame.layout
    }

    /// Returns a box that contains the surface \[m\].
    pub fn solid(&self) -> Aabb {
        self.frame.solid
    }

    /// Returns whether neighbouring values may differ by more than their distance, as beside a
    /// hole.
    #[cfg(feature = "bake")]
    pub(crate) fn is_torn(&self) -> bool {
        self.frame.torn
    }

    /// Returns the size of all stored values in bytes.
    pub fn bytes(&self) -> usize {
        let coarse = size_of_val(self.coarse.as_slice()) + size_of_val(self.blocks.as_slice());
        self.nodes.bytes() + coarse
    }

    /// Returns every fourth node along each axis, x fastest: half the gradient, and the distance in
    /// cells.
    pub fn coarse(&self) -> &[[f32; 4]] {
        &self.coarse
    }

    /// Iterates over the bits of half floats, x fastest, that are added to the interpolated coarse
    /// nodes.
    pub fn nodes(&self) -> impl Iterator<Item = [u16; 4]> {
        self.nodes.in_rows(&self.frame.layout)
    }

    /// Returns the distance and gradient stored at a node.
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

    /// Interpolates the coarse nodes at a node.
    fn coarse_expansion(&self, node: UVec3) -> Expansion {
        let first = node / BLOCK;
        let fraction = (node % BLOCK).as_vec3() / BLOCK as f32;
        // A node at the last coarse node needs none behind it.
        let last = first.saturating_add(UVec3::ONE).min(self.block_count);
        let at = |x: u32, y: u32, z: u32| Vec4::from(self.coarse_node(UVec3::new(x, y, z)));
        let row = |y, z| at(first.x, y, z).lerp(at(last.x, y, z), fraction.x);
        let plane = |z| row(first.y, z).lerp(row(last.y, z), fraction.y);
        plane(first.z).lerp(plane(last.z), fraction.z)
    }

    fn coarse_node(&self, node: UVec3) -> [f32; 4] {
        self.coarse[place_index(self.block_count + UVec3::ONE, node)]
    }

    /// Returns the index of the block that contains a cell.
    #[inline(always)]
    fn block_index(&self, [x, y, z]: [u32; 3]) -> u64 {
        let [nx, ny, _] = self.block_count.to_array().map(u64::from);
        let [x, y, z] = [x / BLOCK, y / BLOCK, z / BLOCK].map(u64::from);
        (z * ny + y) * nx + x
    }

    /// Returns whether node values are torn anywhere, and the largest correction of any cell \[m\].
    /// Visits two planes of nodes at a time.
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
        // Two nodes, each off by the rounding of its half float: 2⁻¹¹ of the residual there.
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

/// Returns the largest change of the trilinear mean by the gradients in a cell with these corners
/// \[cells\]; bit 0 of the index is x.
///
/// `Σ_c t_c (1 − t_c) |∂_c ā_c|`, where the slope of a mean is at most the largest difference along
/// an edge; and no more than `Σ wᵢ |aᵢ| |x − xᵢ| ≤ √3/2 · max |a|`, as in docs/METHODS.md.
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
    // A generous margin for the rounding of the differences.
    by_edges.min(0.5 * 3f32.sqrt() * longest) * (1.0 + 16.0 * f32::EPSILON)
        + 4.0 * f32::EPSILON * longest
}

/// An interpolated number with its slopes along x, y and z.
struct Mixed<N> {
    value: N,
    x: N,
    y: N,
    z: N,
}

/// A number interpolated in a square, with its slopes along the two sides.
struct Square<N> {
    value: N,
    first: N,
    second: N,
}

/// Interpolates between two ends; returns the value and the difference.
#[inline(always)]
fn mix_ends<N: Number>(low: N, high: N, t: N) -> (N, N) {
    let slope = high.sub(low);
    (low.add(slope.mul(t)), slope)
}

/// Interpolates between the corners (0, 0), (1, 0), (0, 1), (1, 1).
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

/// Interpolates between eight corners: four at the lower x and four at the upper.
#[inline(always)]
fn mix_cube<N: Number>(low: [N; 4], high: [N; 4], [u, v, w]: [N; 3]) -> Mixed<N> {
    let (low, high) = (mix_square(low, v, w), mix_square(high, v, w));
    let (value, x) = mix_ends(low.value, high.value, u);
    let (y, _) = mix_ends(low.first, high.first, u);
    let (z, _) = mix_ends(low.second, high.second, u);
    Mixed { value, x, y, z }
}

/// The data needed to sample at one point, or at [`LANES`] points.
struct Around<N> {
    /// Residuals row by row along x, at (y, z) = (0, 0), (1, 0), (0, 1), (1, 1): in each the four
    /// numbers of the node at the lower x, then those at the upper.
    rows: [[N; 8]; 4],
    /// Corner distances and bends of the block, see [`Corners`].
    distances: [N; 8],
    bends: [[N; 8]; 2],
    /// Position in the cell, from 0 to 1.
    fraction: [N; 3],
    in_block: [N; 3],
}

impl<N: Number> Around<N> {
    /// Returns value \[cells\] and exact gradient of the interpolant by the formulas at the top of
    /// this file. Of the gradients only `∂_c ā_c` enters: the differences along the edges that run
    /// along c, interpolated across them.
    #[inline(always)]
    fn sample(&self) -> (N, [N; 3]) {
        // φ̄ and its slopes: residuals interpolated in the cell, plus coarse distances in the
        // block.
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
        // Differences of the residual gradients along the four edges of each axis.
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
        // ∂_c ā_c with its slopes, residuals and coarse nodes together.
        let [xy, z] = &self.bends;
        let ax = self.bend(along_x, [xy[0], xy[1], xy[2], xy[3]], [1, 2]);
        let ay = self.bend(along_y, [xy[4], xy[5], xy[6], xy[7]], [0, 2]);
        let az = self.bend(along_z, [z[0], z[1], z[2], z[3]], [0, 1]);
        // t_c (1 − t_c) and its slope 1 − 2 t_c, then the two formulas.
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

    /// Computes `∂_c ā_c` and its slopes along the axes p and q, from the differences along the
    /// edges of the cell and of the block.
    #[inline(always)]
    fn bend(&self, fine: [N; 4], coarse: [N; 4], [p, q]: [usize; 2]) -> Square<N> {
        /// Value per cell of one step of a slope's change over a block. Powers of two: nothing is
        /// rounded.
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

/// Subtracts three products from a number, in this order.
#[inline(always)]
fn less<N: Number>(sum: N, [a, b, c]: [(N, N); 3]) -> N {
    sum.sub(a.0.mul(a.1)).sub(b.0.mul(b.1)).sub(c.0.mul(c.1))
}

impl TaylorGrid {
    /// Loads a node of [`Bricks::rows`] and the next along x as numbers.
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

    /// Samples a point inside the grid.
    fn sample_inside(&self, point: Vec3) -> Sample {
        let place = self.frame.locate(point);
        lanes::run(InterpolateOne { grid: self, place })
    }

    #[cold]
    #[inline(never)]
    fn sample_outside(&self, point: Vec3) -> Sample {
        (self.frame).lower_bound_outside(point, |inside| self.sample_inside(inside))
    }

    /// Returns an interval that contains every interpolated value from one node to another: the
    /// node values, widened by what the gradients can add.
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
                    // A flat box has its nodes in one plane, but still lies in cells.
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
        // Load the residuals at the cells' corners, eight points at a time.
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
            // The cell's position in the block: powers of two, so nothing is rounded.
            let whole = cell.mul(part).truncate().mul(L::splat(BLOCK as f32));
            *fraction = cell.sub(whole).add(*fraction).mul(part);
        }
        // Load the coarse data of the blocks.
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

    /// The interpolant is a mean of the nodes' expansions, and half of any slope s cancels in it:
    /// `Σ wᵢ ½s·(x − xᵢ) = 0`. Minus a plane of slope s through the centre c it is therefore the
    /// mean of `φᵢ − s·(xᵢ − c) + (aᵢ − ½s)·(x − xᵢ)`, and x is within a cell of `xᵢ` along each
    /// axis.
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
