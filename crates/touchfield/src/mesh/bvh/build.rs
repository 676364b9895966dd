//! Builds the eight-wide hierarchy of [`super::Bvh`]: a binary tree by surface-area splits, then
//! flattened.
//!
//! Cost: O(n log n), on all cores. The result depends on the triangles alone, never on the thread
//! count.

use crate::mesh::bvh::node::AREA_DEPTH;
use std::ops::Range;

use glam::{Vec2, Vec3};

use crate::geom::Aabb;
use crate::geom::lanes::LANES;
use crate::mesh::bvh::node::{Bounds, BoundsLane, LEAF_FLAG, Leaf, NO_CHILD, Node};
use crate::threads;

/// Candidate split planes per axis. A common choice; not tuned.
const BINS: usize = 16;

/// Below this many triangles a subtree is built on the current thread: smaller ones are not worth
/// handing to another. Not tuned.
const PARALLEL_ABOVE: usize = 4096;

type Corners = [Vec3; 3];

/// A binary subtree. Leaves are ranges of the reordered triangles.
enum Tree {
    Leaf {
        start: usize,
        count: usize,
        bounds: Aabb,
    },
    Branch {
        children: Box<[Tree; 2]>,
        bounds: Aabb,
        start: usize,
        count: usize,
    },
}

impl Tree {
    fn bounds(&self) -> Aabb {
        match self {
            Tree::Leaf { bounds, .. } | Tree::Branch { bounds, .. } => *bounds,
        }
    }

    fn range(&self) -> Range<usize> {
        match *self {
            Tree::Leaf { start, count, .. } | Tree::Branch { start, count, .. } => {
                start..start + count
            }
        }
    }
}

/// Input of the splits per triangle, 28 bytes.
#[derive(Clone, Copy)]
struct Item {
    face: u32,
    bounds: Aabb,
}

impl Item {
    fn center(self) -> Vec3 {
        self.bounds.center()
    }
}

/// Builds the tree over triangles given in local coordinates. Returns its nodes, root first, its
/// leaves, and the leaf of each face.
pub(super) fn build(triangles: Vec<Corners>) -> (Vec<Node>, Vec<Leaf>, Vec<u32>) {
    let mut items: Vec<Item> = triangles
        .iter()
        .enumerate()
        .map(|(face, &corners)| Item {
            face: face as u32,
            bounds: Aabb::of_points(corners),
        })
        .collect();
    let tree = split(&mut items, 0, 0);
    let order: Vec<u32> = items.iter().map(|item| item.face).collect();
    drop(items);
    let mut flat = Flat::default();
    flat.add_node(&tree);
    let patches = Patches { triangles, order };
    let (lanes, leaves) = threads::both(
        || {
            threads::map(flat.lanes.len(), |i| {
                patches.bounds_lane(flat.lanes[i].2.clone())
            })
        },
        || threads::map(flat.leaves.len(), |i| patches.leaf(flat.leaves[i].clone())),
    );
    for ((node, lane, _), bounds) in flat.lanes.into_iter().zip(lanes) {
        flat.nodes[node].bounds.set_lane(lane, bounds);
    }
    let mut leaf_of = vec![0; patches.order.len()];
    for (leaf, range) in (0u32..).zip(flat.leaves) {
        for &face in &patches.order[range] {
            leaf_of[face as usize] = leaf;
        }
    }
    (flat.nodes, leaves, leaf_of)
}

fn split(items: &mut [Item], start: usize, depth: usize) -> Tree {
    let bounds = items
        .iter()
        .fold(Aabb::EMPTY, |bounds, item| bounds.union(item.bounds));
    let count = items.len();
    if count <= LANES {
        return Tree::Leaf {
            start,
            count,
            bounds,
        };
    }
    let middle = (depth < AREA_DEPTH)
        .then(|| surface_area_split(items))
        .flatten()
        .unwrap_or_else(|| median_split(items));
    let (left, right) = items.split_at_mut(middle);
    let mut split_left = || split(left, start, depth + 1);
    let mut split_right = || split(right, start + middle, depth + 1);
    let (left, right) = if count > PARALLEL_ABOVE {
        threads::both(split_left, split_right)
    } else {
        (split_left(), split_right())
    };
    Tree::Branch {
        children: Box::new([left, right]),
        bounds,
        start,
        count,
    }
}

/// Partitions the items by the binned plane with the least expected cost and returns the size of
/// the first part; `None` when all centres coincide.
fn surface_area_split(items: &mut [Item]) -> Option<usize> {
    let centers = Aabb::of_points(items.iter().map(|item| item.center()));
    let extents = centers.extents();
    let axis = extents.max_position();
    let (low, extent) = (centers.min[axis], extents[axis]);
    if extent <= 0.0 {
        return None;
    }
    // Sort the items into bins along the longest axis of their centres.
    let to_bin = BINS as f32 / extent;
    let bin_of = |item: &Item| (((item.center()[axis] - low) * to_bin) as usize).min(BINS - 1);
    let mut bins = [(0usize, Aabb::EMPTY); BINS];
    for item in items.iter() {
        let bin = &mut bins[bin_of(item)];
        bin.0 += 1;
        bin.1 = bin.1.union(item.bounds);
    }
    let cost = |(count, bounds): (usize, Aabb)| {
        let e = bounds.extents();
        // The cost counts whole leaves.
        count.div_ceil(LANES) as f32 * (e.x * e.y + e.y * e.z + e.z * e.x)
    };
    let join = |a: (usize, Aabb), b: &(usize, Aabb)| (a.0 + b.0, a.1.union(b.1));
    // Cost of everything from each plane on, summed from the right.
    let mut right_costs = [0.0; BINS];
    let mut sum = (0, Aabb::EMPTY);
    for i in (1..BINS).rev() {
        sum = join(sum, &bins[i]);
        right_costs[i] = if sum.0 == 0 { f32::INFINITY } else { cost(sum) };
    }
    // Sweep from the left and keep the cheapest plane.
    let mut best = (f32::INFINITY, 0);
    sum = (0, Aabb::EMPTY);
    for i in 1..BINS {
        sum = join(sum, &bins[i - 1]);
        if sum.0 > 0 && cost(sum) + right_costs[i] < best.0 {
            best = (cost(sum) + right_costs[i], i);
        }
    }
    // Move the items left of the plane to the front.
    let (best_cost, plane) = best;
    best_cost.is_finite().then(|| {
        let mut middle = 0;
        for i in 0..items.len() {
            if bin_of(&items[i]) < plane {
                items.swap(i, middle);
                middle += 1;
            }
        }
        middle
    })
}

/// Halves the items along the longest axis of their centres and returns the size of the first half.
fn median_split(items: &mut [Item]) -> usize {
    let centers = Aabb::of_points(items.iter().map(|item| item.center()));
    let axis = centers.extents().max_position();
    let middle = items.len() / 2;
    items.select_nth_unstable_by(middle, |a, b| {
        (a.center()[axis].total_cmp(&b.center()[axis])).then(a.face.cmp(&b.face))
    });
    middle
}

/// The wide tree under construction. Boxes and leaves are filled in afterwards, on all cores.
#[derive(Default)]
struct Flat {
    nodes: Vec<Node>,
    /// Node, lane and faces of every child; the faces are a range of the tree order.
    lanes: Vec<(usize, usize, Range<usize>)>,
    /// Faces of every leaf, as a range of the tree order.
    leaves: Vec<Range<usize>>,
}

impl Flat {
    /// Adds a subtree as a wide node and returns its index.
    fn add_node(&mut self, tree: &Tree) -> u32 {
        let index = self.nodes.len();
        self.nodes.push(Node {
            bounds: Bounds::NOWHERE,
            children: [NO_CHILD; LANES],
        });
        for (lane, child) in widen(tree).into_iter().enumerate() {
            let range = child.range();
            self.lanes.push((index, lane, range.clone()));
            self.nodes[index].children[lane] = match child {
                Tree::Leaf { .. } => {
                    self.leaves.push(range);
                    LEAF_FLAG | (self.leaves.len() as u32 - 1)
                }
                Tree::Branch { .. } => self.add_node(child),
            };
        }
        index as u32
    }
}

/// The triangles, and the order of the faces in the tree.
struct Patches {
    triangles: Vec<Corners>,
    order: Vec<u32>,
}

impl Patches {
    fn leaf(&self, range: Range<usize>) -> Leaf {
        let mut leaf = Leaf::NOWHERE;
        for (lane, &face) in self.order[range].iter().enumerate() {
            leaf.set_lane(lane, face, self.triangles[face as usize]);
        }
        leaf
    }

    /// Computes an oriented box, aligned with the mean normal and the direction in which the patch
    /// is longest.
    fn bounds_lane(&self, range: Range<usize>) -> BoundsLane {
        let corners = |face: &u32| self.triangles[*face as usize];
        let faces = &self.order[range];
        let normal = faces
            .iter()
            .map(|face| {
                let [a, b, c] = corners(face);
                (b - a).cross(c - a)
            })
            .sum::<Vec3>()
            // In f64: squares of tiny areas vanish in f32, and the bounds are only proven for unit
            // axes.
            .as_dvec3()
            .try_normalize()
            .map_or(Vec3::Z, |normal| normal.as_vec3());
        let axes = longest_tangents(normal, || faces.iter().flat_map(corners));
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for corner in faces.iter().flat_map(corners) {
            let along = Vec3::from(axes.map(|axis| axis.dot(corner)));
            low = low.min(along);
            high = high.max(along);
        }
        BoundsLane {
            axes,
            offset: 0.5 * (low + high),
            half: 0.5 * (high - low),
        }
    }
}

/// Returns two tangents, the first in the direction of largest spread, and the normal.
fn longest_tangents<P: Iterator<Item = Vec3>>(normal: Vec3, points: impl Fn() -> P) -> [Vec3; 3] {
    let (u, v) = normal.any_orthonormal_pair();
    let (mut count, mut sum) = (0.0, Vec2::ZERO);
    let (mut uu, mut uv, mut vv) = (0.0, 0.0, 0.0);
    for point in points() {
        let p = Vec2::new(u.dot(point), v.dot(point));
        count += 1.0;
        sum += p;
        uu += p.x * p.x;
        uv += p.x * p.y;
        vv += p.y * p.y;
    }
    // Angle of the principal axis of the 2 × 2 covariance.
    let mean = sum / count;
    let (uu, uv, vv) = (
        uu / count - mean.x * mean.x,
        uv / count - mean.x * mean.y,
        vv / count - mean.y * mean.y,
    );
    let angle = 0.5 * (2.0 * uv).atan2(uu - vv);
    let (sin, cos) = angle.sin_cos();
    [cos * u + sin * v, cos * v - sin * u, normal]
}

/// Replaces the branch of largest surface area by its two children until there are [`LANES`]
/// children.
fn widen(tree: &Tree) -> Vec<&Tree> {
    let mut children = vec![tree];
    while children.len() < LANES {
        let area = |tree: &Tree| {
            let e = tree.bounds().extents();
            e.x * e.y + e.y * e.z + e.z * e.x
        };
        let largest = (0..children.len())
            .filter(|&i| matches!(children[i], Tree::Branch { .. }))
            .max_by(|&i, &j| area(children[i]).total_cmp(&area(children[j])));
        let Some(largest) = largest else { break };
        if let Tree::Branch {
            children: grandchildren,
            ..
        } = children[largest]
        {
            children[largest] = &grandchildren[0];
            children.insert(largest + 1, &grandchildren[1]);
        }
    }
    children
}
