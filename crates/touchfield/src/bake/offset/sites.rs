//! Computes the maximum of d(n) − |x − n| over the nodes n outside: the depth of x below all empty
//! balls around them.
//!
//! Input: nodes of a grid that are outside, with their distances d(n) to the mesh; any point x.
//! Output: the maximum to within a slack that the caller chooses, and the node that attains it.
//! Cost: microseconds per point; one float per node, and a tenth as much for the hierarchy.
//! Not for: finding which nodes are outside; see [`crate::bake::offset::grid`].
//!
//! Lengths are in cells and positions in nodes from here on, whatever the size of the mesh.
//!
//! Along the way to the surface all balls touch it at nearly the same place, so many nodes nearly
//! tie. A second-order bound separates them. Over a block with middle c, d(n) ≤ α + g·(n − c) for a
//! slope g, with the least α that makes it true; and |x − n| ≥ |x − c| + u·(n − c) with u the
//! direction from x to c, because a norm is convex. Together
//!
//! ```text
//! d(n) − |x − n| ≤ α − |x − c| + (g − u)·(n − c)
//! ```
//!
//! and where the block lies straight away from the surface, g − u is nearly zero.

use glam::{DVec3, UVec3, Vec3};

use crate::field::GridLayout;
use crate::geom::{corner, place_index, places};
use crate::threads;

/// Nodes along a side of the smallest blocks.
const SIDE: u32 = 4;

/// The nodes outside, with a hierarchy of blocks over them.
pub(crate) struct Sites {
    nodes: UVec3,
    /// Distance of each node to the mesh \[cells\]; −∞ for those that are not outside.
    radii: Vec<f32>,
    /// Levels from blocks of [`SIDE`] nodes to one block, each twice as wide as the one before.
    levels: Vec<Level>,
}

/// One level of the hierarchy.
struct Level {
    /// Nodes along a side of a block.
    side: u32,
    /// Number of blocks along x, y and z.
    count: UVec3,
    blocks: Vec<Block>,
}

/// Bound of all d(n) in a block: d(n) ≤ `height` + `slope` · (n − middle).
#[derive(Clone, Copy)]
struct Block {
    /// α \[cells\]; −∞ if no node of the block is outside.
    height: f64,
    /// g, of any length. Any value is valid; a good one makes the bound tight.
    slope: Vec3,
}

impl Block {
    const EMPTY: Block = Block {
        height: f64::NEG_INFINITY,
        slope: Vec3::ZERO,
    };
}

/// Result of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Best {
    /// d(n) − |x − n|, or the start value of the search \[cells\].
    pub(crate) value: f64,
    /// The node n.
    pub(crate) node: Option<UVec3>,
}

impl Level {
    fn index(&self, block: UVec3) -> usize {
        place_index(self.count, block)
    }

    /// Returns half the side of the box around the nodes of a block \[cells\].
    fn half(&self) -> f64 {
        0.5 * f64::from(self.side - 1)
    }

    fn middle(&self, block: UVec3) -> DVec3 {
        (block * self.side).as_dvec3() + self.half()
    }

    /// Returns an upper bound of d(n) − |x − n| over the nodes of a block \[cells\].
    #[inline]
    fn bound(&self, block: UVec3, point: DVec3) -> f64 {
        let Block { height, slope } = self.blocks[self.index(block)];
        let away = self.middle(block) - point;
        let distance = away.length();
        // At the exact middle, any u up to length 1 is valid.
        let direction = away.try_normalize().unwrap_or(DVec3::ZERO);
        let differ = (slope.as_dvec3() - direction).abs().element_sum();
        height - distance + self.half() * differ
    }
}

impl Sites {
    /// Builds the hierarchy for a grid whose nodes hold `radii` \[cells\], −∞ where they are not
    /// outside.
    pub(crate) fn new(layout: &GridLayout, radii: Vec<f32>) -> Sites {
        let mut sites = Sites {
            nodes: layout.nodes,
            radii,
            levels: Vec::new(),
        };
        let count = (layout.nodes + (SIDE - 1)) / SIDE;
        let layers = threads::map(count.z as usize, |z| {
            let first = UVec3::new(0, 0, z as u32);
            let last = UVec3::new(count.x - 1, count.y - 1, z as u32);
            let blocks = places(first, last).map(|block| sites.smallest_block(block));
            blocks.collect::<Vec<Block>>()
        });
        sites.levels.push(Level {
            side: SIDE,
            count,
            blocks: layers.concat(),
        });
        while let Some(below) = sites
            .levels
            .last()
            .filter(|level| level.count != UVec3::ONE)
        {
            let count = (below.count + 1) / 2;
            let joined = |block| join(below, block);
            let blocks = places(UVec3::ZERO, count - UVec3::ONE).map(joined);
            let level = Level {
                side: 2 * below.side,
                count,
                blocks: blocks.collect(),
            };
            sites.levels.push(level);
        }
        sites
    }

    #[inline(always)]
    fn index(&self, node: UVec3) -> usize {
        place_index(self.nodes, node)
    }

    /// Returns whether a node is outside.
    pub(crate) fn has(&self, node: UVec3) -> bool {
        self.radii[self.index(node)] > f32::NEG_INFINITY
    }

    /// Returns the value given by the ball around one node that is outside.
    pub(crate) fn about(&self, node: UVec3, point: DVec3) -> Best {
        Best {
            value: f64::from(self.radii[self.index(node)]) - node.as_dvec3().distance(point),
            node: Some(node),
        }
    }

    fn smallest_block(&self, block: UVec3) -> Block {
        let first = block * SIDE;
        let last = (first + SIDE).min(self.nodes) - UVec3::ONE;
        let radius = |node: UVec3| f64::from(self.radii[self.index(node)]);
        // The mean step between neighbours along each axis.
        let (mut steps, mut counts) = (DVec3::ZERO, DVec3::ZERO);
        for node in places(first, last).filter(|&node| self.has(node)) {
            for axis in 0..3 {
                let next = node + UVec3::AXES[axis];
                if next[axis] <= last[axis] && self.has(next) {
                    steps[axis] += radius(next) - radius(node);
                    counts[axis] += 1.0;
                }
            }
        }
        let slope = (steps / counts.max(DVec3::ONE)).as_vec3();
        let middle = first.as_dvec3() + 0.5 * f64::from(SIDE - 1);
        let height = places(first, last)
            .map(|node| radius(node) - slope.as_dvec3().dot(node.as_dvec3() - middle))
            .fold(f64::NEG_INFINITY, f64::max);
        Block { height, slope }
    }

    /// Returns the maximum of d(n) − |x − n|, or `start` if none exceeds it by `slack`. The result
    /// is never too large, and too small by at most `slack`.
    pub(crate) fn best(
        &self,
        point: DVec3,
        start: Best,
        slack: f64,
        stack: &mut Vec<(f64, u32, UVec3)>,
    ) -> Best {
        let mut best = start;
        stack.clear();
        let top = self.levels.len() - 1;
        stack.push((
            self.levels[top].bound(UVec3::ZERO, point),
            top as u32,
            UVec3::ZERO,
        ));
        while let Some((bound, level, block)) = stack.pop() {
            if bound <= best.value + slack {
                continue;
            }
            let Some(below) = level.checked_sub(1) else {
                self.search_nodes(block, point, &mut best);
                continue;
            };
            let children = &self.levels[below as usize];
            let begin = stack.len();
            for child in (0..8).map(|i| corner(2 * block, i)) {
                if child.cmplt(children.count).all() {
                    let bound = children.bound(child, point);
                    if bound > best.value + slack {
                        stack.push((bound, below, child));
                    }
                }
            }
            // The most promising child goes on top of the stack.
            stack[begin..].sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        best
    }

    /// Searches every node of a smallest block.
    fn search_nodes(&self, block: UVec3, point: DVec3, best: &mut Best) {
        let first = block * SIDE;
        let last = (first + SIDE).min(self.nodes) - UVec3::ONE;
        for z in first.z..=last.z {
            for y in first.y..=last.y {
                let start = UVec3::new(first.x, y, z);
                let row = self.index(start);
                let [_, dy, dz] = (start.as_dvec3() - point).to_array();
                let beside = dy * dy + dz * dz;
                for x in first.x..=last.x {
                    let radius = f64::from(self.radii[row + (x - first.x) as usize]);
                    let dx = f64::from(x) - point.x;
                    let value = radius - (dx * dx + beside).sqrt();
                    if value > best.value {
                        *best = Best {
                            value,
                            node: Some(UVec3::new(x, y, z)),
                        };
                    }
                }
            }
        }
    }
}

/// Returns the block over up to eight blocks of the level below.
fn join(below: &Level, block: UVec3) -> Block {
    let children = || {
        let inside = |child: &UVec3| child.cmplt(below.count).all();
        let known = |child: UVec3| (child, below.blocks[below.index(child)]);
        (0..8)
            .map(|i| corner(2 * block, i))
            .filter(inside)
            .map(known)
            .filter(|(_, child)| child.height > f64::NEG_INFINITY)
    };
    let count = children().count();
    if count == 0 {
        return Block::EMPTY;
    }
    let slope = children().map(|(_, child)| child.slope).sum::<Vec3>() / count as f32;
    let middle = (block * 2 * below.side).as_dvec3() + 0.5 * f64::from(2 * below.side - 1);
    let height = children()
        .map(|(place, child)| {
            // d(n) ≤ α' + g'·(n − c') = α' + g·(n − c) + g·(c − c') + (g' − g)·(n − c')
            let differ = (child.slope.as_dvec3() - slope.as_dvec3())
                .abs()
                .element_sum();
            child.height
                + slope.as_dvec3().dot(middle - below.middle(place))
                + below.half() * differ
        })
        .fold(f64::NEG_INFINITY, f64::max);
    Block { height, slope }
}
