//! A lattice of nodes over a box, for algorithms that sample a field everywhere. Its cells are
//! grouped in blocks; blocks that the surface surely misses are found before any node is sampled.
//!
//! Input: a box, the number of cells along each axis, and a rule that returns the [`Side`] of a box
//! of any size.
//! Output: the side of every block; the values of a field at the nodes of one block.
//! Cost: the rule is evaluated top down, so that time grows with the surface; one byte per block is
//! kept.
//! Not for: storing values; grids do that.
//!
//! Every cell is cut into the same six tetrahedra around its diagonal \[Kuhn1960\]
//! (docs/BIBLIOGRAPHY.md), so that neighbouring cells cut their common face alike. A linear
//! function in each tetrahedron has a surface without cracks or ambiguities.

use glam::{UVec3, Vec3};

use crate::field::field::Field;
use crate::geom::{Aabb, corner, place_at, place_index, places};
use crate::threads;

/// Cells along a side of a block. A smaller block shares more of its nodes with its neighbours,
/// where they are sampled again. A larger block wastes more samples on a surface that crosses only
/// a corner.
pub(crate) const BLOCK_SIDE: u32 = 8;

/// Blocks along a side of the cube that one thread classifies, from the whole cube downward. A
/// power of two.
const CUBE_SIDE: u32 = 8;

/// The tetrahedra of a cell by their corners (bit 0 of a corner is x, bit 1 y, bit 2 z), each of
/// positive volume.
pub(crate) const TETRAHEDRA: [[usize; 4]; 6] = [
    [0, 1, 3, 7],
    [0, 2, 6, 7],
    [0, 4, 5, 7],
    [0, 5, 1, 7],
    [0, 3, 2, 7],
    [0, 6, 4, 7],
];

/// Where a box lies relative to the surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The whole box is inside.
    Inside,
    /// The whole box is outside.
    Outside,
    /// The surface may cross the box.
    Cut,
}

/// A range of nodes from `first` to `last`, both included, and the cells between them. Also used
/// for ranges of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeRange {
    pub(crate) first: UVec3,
    pub(crate) last: UVec3,
}

impl NodeRange {
    /// Returns the number of nodes along each axis.
    pub(crate) fn nodes(self) -> UVec3 {
        self.last - self.first + UVec3::ONE
    }

    /// Iterates over all nodes, x fastest.
    pub(crate) fn iter(self) -> impl Iterator<Item = UVec3> {
        places(self.first, self.last)
    }

    /// Iterates over the first node of every cell, x fastest.
    pub(crate) fn cells(self) -> impl Iterator<Item = UVec3> {
        let NodeRange { first, last } = self;
        (first.z..last.z).flat_map(move |z| {
            (first.y..last.y).flat_map(move |y| (first.x..last.x).map(move |x| UVec3::new(x, y, z)))
        })
    }

    /// Returns the position of a node in the order of [`Self::iter`].
    pub(crate) fn slot(self, node: UVec3) -> usize {
        place_index(self.nodes(), node - self.first)
    }
}

/// Returns the corners of a tetrahedron, those inside first, and the number of corners inside. The
/// permutation is even, so that volumes keep their sign.
pub(crate) fn inside_first(inside: [bool; 4]) -> ([usize; 4], usize) {
    let mut order = [0; 4];
    let mut count = 0;
    for wanted in [true, false] {
        for corner in (0..4).filter(|&corner| inside[corner] == wanted) {
            order[count] = corner;
            count += 1;
        }
    }
    let inside_count = inside.iter().filter(|&&inside| inside).count();
    let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
    let inversions = pairs.iter().filter(|&&(i, j)| order[i] > order[j]).count();
    if inversions % 2 == 1 {
        // Swap two corners on the same side to make the permutation even.
        let first = if inside_count >= 2 { 0 } else { 2 };
        order.swap(first, first + 1);
    }
    (order, inside_count)
}

/// Nodes at the crossings of three families of planes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lattice {
    /// Positions of the planes along each axis \[m\]. `f32`, so that a node's position is exactly
    /// the point at which the field is sampled.
    planes: [Vec<f32>; 3],
}

impl Lattice {
    /// Builds a lattice of `cells` cells over a finite box. The outermost nodes lie on its border.
    pub(crate) fn new(bounds: Aabb, cells: UVec3) -> Lattice {
        let planes = |axis: usize| {
            let (low, high) = (f64::from(bounds.min[axis]), f64::from(bounds.max[axis]));
            let count = cells[axis];
            (0..=count)
                .map(|i| {
                    let share = f64::from(i) / f64::from(count);
                    ((1.0 - share) * low + share * high) as f32
                })
                .collect()
        };
        Lattice {
            planes: [planes(0), planes(1), planes(2)],
        }
    }

    /// Returns the range of all nodes.
    pub(crate) fn all(&self) -> NodeRange {
        let last = |axis: usize| self.planes[axis].len() as u32 - 1;
        NodeRange {
            first: UVec3::ZERO,
            last: UVec3::new(last(0), last(1), last(2)),
        }
    }

    /// Returns the position of a node \[m\].
    pub(crate) fn node(&self, node: UVec3) -> Vec3 {
        Vec3::from_array([0, 1, 2].map(|axis| self.planes[axis][node[axis] as usize]))
    }

    /// Returns the box between the outermost nodes of a range.
    pub(crate) fn bounds(&self, range: NodeRange) -> Aabb {
        Aabb::new(self.node(range.first), self.node(range.last))
    }

    /// Returns the number of blocks along each axis.
    pub(crate) fn blocks(&self) -> UVec3 {
        let cells = self.all().last;
        UVec3::from_array(cells.to_array().map(|n| n.div_ceil(BLOCK_SIDE)))
    }

    /// Returns the index of the block at this place among the [`Self::blocks`], x fastest.
    pub(crate) fn block_index(&self, block: UVec3) -> usize {
        place_index(self.blocks(), block)
    }

    /// Returns the place of a block among the [`Self::blocks`].
    pub(crate) fn block_place(&self, index: usize) -> UVec3 {
        place_at(self.blocks(), index)
    }

    /// Returns the nodes of a block. It shares those on its border with its neighbours.
    pub(crate) fn block(&self, index: usize) -> NodeRange {
        self.cube(self.block_place(index), 1)
    }

    /// Returns the nodes of a cube of `side` blocks per side, cut off at the border.
    fn cube(&self, first_block: UVec3, side: u32) -> NodeRange {
        NodeRange {
            first: first_block * BLOCK_SIDE,
            last: ((first_block + side) * BLOCK_SIDE).min(self.all().last),
        }
    }

    /// Computes the side of every block on all cores. `decide` must be right for every box; it is
    /// called for large boxes first.
    pub(crate) fn sides(&self, decide: impl Fn(Aabb) -> Side + Sync + Send) -> Vec<Side> {
        let blocks = self.blocks();
        let cubes = UVec3::from_array(blocks.to_array().map(|n| n.div_ceil(CUBE_SIDE)));
        let count = cubes.to_array().iter().map(|&n| n as usize).product();
        let found = threads::map(count, |index| {
            let place = UVec3::new(
                (index % cubes.x as usize) as u32,
                (index / cubes.x as usize % cubes.y as usize) as u32,
                (index / cubes.x as usize / cubes.y as usize) as u32,
            );
            let mut sides = Vec::new();
            self.decide_cube(CUBE_SIDE * place, CUBE_SIDE, &decide, &mut sides);
            sides
        });
        let all = blocks.to_array().iter().map(|&n| n as usize).product();
        let mut sides = vec![Side::Cut; all];
        for (cube, side) in found.into_iter().flatten() {
            for block in cube.iter() {
                sides[self.block_index(block)] = side;
            }
        }
        sides
    }

    /// Appends to `found` the cubes of blocks that are not cut, as ranges of blocks with their
    /// side.
    fn decide_cube(
        &self,
        first: UVec3,
        side: u32,
        decide: &impl Fn(Aabb) -> Side,
        found: &mut Vec<(NodeRange, Side)>,
    ) {
        let blocks = self.blocks();
        if first.cmpge(blocks).any() {
            return;
        }
        match decide(self.bounds(self.cube(first, side))) {
            Side::Cut if side > 1 => {
                let half = side / 2;
                for octant in 0..8 {
                    let first = first + half * corner(UVec3::ZERO, octant);
                    self.decide_cube(first, half, decide, found);
                }
            }
            Side::Cut => {}
            decided => {
                let last = (first + side).min(blocks) - UVec3::ONE;
                found.push((NodeRange { first, last }, decided));
            }
        }
    }

    /// Computes the values of a field at the nodes of a range, in the order of [`NodeRange::iter`].
    /// Returns the first one that is not finite as an error.
    pub(crate) fn values(
        &self,
        field: &(impl Field + ?Sized),
        range: NodeRange,
    ) -> Result<Vec<f32>, NotFinite> {
        let points: Vec<Vec3> = range.iter().map(|node| self.node(node)).collect();
        let mut values = Vec::with_capacity(points.len());
        field.distance_many(&points, &mut values);
        match values.iter().position(|value| !value.is_finite()) {
            Some(at) => Err(NotFinite {
                point: points[at],
                value: values[at],
            }),
            None => Ok(values),
        }
    }
}

/// A field value that is NaN or infinite at a finite point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NotFinite {
    pub(crate) point: Vec3,
    pub(crate) value: f32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    #[test]
    fn tetrahedra_fill_the_cell_and_are_turned_alike() {
        let volume = |corners: [usize; 4]| {
            let [a, b, c, d] = corners.map(|i| corner(UVec3::ZERO, i).as_dvec3());
            (b - a).dot((c - a).cross(d - a)) / 6.0
        };
        assert_eq!(TETRAHEDRA.map(volume), [1.0 / 6.0; 6]);
    }

    #[test]
    fn putting_the_inside_first_keeps_volumes() {
        let places = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        for mask in 0..16 {
            let inside: [bool; 4] = std::array::from_fn(|i| mask >> i & 1 == 1);
            let (order, count) = inside_first(inside);
            assert_eq!(order.map(|i| inside[i]), std::array::from_fn(|i| i < count));
            let [a, b, c, d] = order.map(|i| places[i]);
            // The function is never called with all or no corners inside.
            if (1..4).contains(&count) {
                assert_eq!((b - a).dot((c - a).cross(d - a)), 1.0, "{inside:?}");
            }
        }
    }

    #[test]
    fn blocks_hold_every_cell_once() {
        let bounds = Aabb::new(Vec3::ZERO, Vec3::new(1.0, 2.0, 3.0));
        let lattice = Lattice::new(bounds, UVec3::new(3, 17, 80));
        let mut seen = vec![0; 3 * 17 * 80];
        let sides = lattice.sides(|_| Side::Cut);
        for index in 0..sides.len() {
            assert_eq!(lattice.block_index(lattice.block_place(index)), index);
            for cell in lattice.block(index).cells() {
                seen[((cell.z * 17 + cell.y) * 3 + cell.x) as usize] += 1;
            }
        }
        assert!(seen.iter().all(|&times| times == 1));
        assert_eq!(lattice.bounds(lattice.all()), bounds);
    }

    #[test]
    fn decided_blocks_are_those_the_rule_decides() {
        let bounds = Aabb::from_center(Vec3::ZERO, Vec3::splat(1.0));
        let lattice = Lattice::new(bounds, UVec3::new(100, 120, 90));
        let decide = |bounds: Aabb| match bounds {
            Aabb { min, .. } if min.x > 0.3 => Side::Outside,
            Aabb { max, .. } if max.x < 0.3 => Side::Inside,
            _ => Side::Cut,
        };
        for (index, side) in lattice.sides(decide).into_iter().enumerate() {
            assert_eq!(side, decide(lattice.bounds(lattice.block(index))));
        }
    }
}
