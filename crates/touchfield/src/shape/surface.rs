//! Triangles at run time: a surface in `f32` with a tree of boxes, for methods that use edges and
//! faces.
//!
//! Input: vertices and triangles.
//! Output: the same, validated and in the order of the tree; whether they are closed.
//! Cost: O(n log n) to build; 12 bytes per vertex, 12 per triangle, 36 per node (at most about as
//! many nodes as triangles), and about 60 per triangle for discs.
//! Not for: signs; a field provides those.

use glam::Vec3;

use super::disc::{Below, Disc, DiscBlock};
use super::surface_parts::{ClosedPart, closed_parts};
use crate::geom::box_tree::{self, BoxNode};
use crate::geom::lanes::LANES;
use crate::geom::{Aabb, Triangle};

/// Maximum number of triangles per leaf. Tuned: from 2 to 8 there is no measurable difference.
const LEAF_SIZE: usize = 4;

/// Maximum depth of the tree: every level halves up to [`Surface::MOST`] triangles.
pub(super) const MAX_DEPTH: usize = 32;

/// A node of the tree: a box, and the triangles in it.
pub type SurfaceNode = BoxNode<Aabb>;

/// A triangle surface with a tree of boxes.
#[derive(Clone, Debug)]
pub struct Surface {
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    nodes: Vec<SurfaceNode>,
    blocks: Vec<DiscBlock>,
    closed_parts: Option<Vec<ClosedPart>>,
}

impl PartialEq for Surface {
    /// Compares vertices and triangles; everything else follows from them.
    fn eq(&self, other: &Surface) -> bool {
        self.vertices == other.vertices && self.triangles == other.triangles
    }
}

/// Why triangles cannot form a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SurfaceError {
    /// There are no triangles.
    #[error("a surface needs at least one triangle")]
    Empty,
    /// A triangle has a vertex that is missing or not finite.
    #[error("triangle {triangle} has a vertex that is missing or not finite (see mesh::repair)")]
    BadTriangle {
        /// Index of the triangle.
        triangle: usize,
    },
    /// There are more triangles than indices can address.
    #[error("{0} triangles are too many; a surface holds up to 2²⁹")]
    TooMany(usize),
}

impl Surface {
    /// Maximum number of triangles: contact ids also encode their corners and edges.
    pub const MOST: usize = 1 << 29;

    /// Creates a surface from vertices \[m\] and triangles, counter-clockwise seen from outside.
    pub fn new(vertices: Vec<Vec3>, triangles: &[[u32; 3]]) -> Result<Surface, SurfaceError> {
        if triangles.is_empty() {
            return Err(SurfaceError::Empty);
        }
        if triangles.len() > Surface::MOST {
            return Err(SurfaceError::TooMany(triangles.len()));
        }
        let sound = |vertex: &u32| {
            vertices
                .get(*vertex as usize)
                .is_some_and(|v| v.is_finite())
        };
        if let Some(triangle) = triangles.iter().position(|t| !t.iter().all(sound)) {
            return Err(SurfaceError::BadTriangle { triangle });
        }
        let bounds = |t: &[u32; 3]| Aabb::of_points(t.map(|v| vertices[v as usize]));
        let mut entries: Vec<([u32; 3], Aabb)> =
            triangles.iter().map(|t| (*t, bounds(t))).collect();
        box_tree::sort(&mut entries, LEAF_SIZE);
        let boxes: Vec<Aabb> = entries.iter().map(|(_, own)| *own).collect();
        let nodes = box_tree::nodes_in_order(&boxes, LEAF_SIZE);
        // Leaves are sorted, so that the order does not depend on that of the input.
        for leaf in nodes.iter().filter(|node| node.second == 0) {
            let own = &mut entries[leaf.first as usize..][..leaf.count as usize];
            own.sort_unstable_by_key(|&(triangle, _)| triangle);
        }
        let ordered: Vec<[u32; 3]> = entries.into_iter().map(|(triangle, _)| triangle).collect();
        let corners = |triangle: &[u32; 3]| triangle.map(|vertex| vertices[vertex as usize]);
        let disc = |first: u32, count: u32| {
            let own = &ordered[first as usize..][..count as usize];
            Disc::around(own.iter().map(corners))
        };
        Ok(Surface {
            blocks: blocks(&nodes, disc),
            closed_parts: closed_parts(&vertices, &ordered),
            triangles: ordered,
            vertices,
            nodes,
        })
    }

    /// Returns the vertex positions \[m\].
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// Returns three vertex indices per triangle, in the order of the tree.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Returns the nodes of the tree, the root first; children follow their parent.
    pub fn nodes(&self) -> &[SurfaceNode] {
        &self.nodes
    }

    /// Returns the discs around the triangles, in blocks of eight. The first block has one disc
    /// around all.
    pub(crate) fn blocks(&self) -> &[DiscBlock] {
        &self.blocks
    }

    /// Returns the connected parts; `None` if the surface has a border, or triangles oriented
    /// against their neighbours.
    pub fn closed_parts(&self) -> Option<&[ClosedPart]> {
        self.closed_parts.as_deref()
    }

    /// Returns the corners of a triangle \[m\].
    pub fn corners(&self, triangle: u32) -> [Vec3; 3] {
        self.triangles[triangle as usize].map(|vertex| self.vertices[vertex as usize])
    }

    /// Returns the point nearest to `point` over all triangles \[m\]. Visits the nearer child first
    /// and skips boxes farther away than the best point so far.
    pub fn nearest_point(&self, point: Vec3) -> Vec3 {
        let mut best = (f32::INFINITY, point);
        let mut stack = [0u32; MAX_DEPTH + 1];
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let index = stack[top];
            let node = &self.nodes[index as usize];
            if node.bounds.distance_squared(point) >= best.0 {
                continue;
            }
            if node.second == 0 {
                for triangle in node.first..node.first + node.count {
                    let [a, b, c] = self.corners(triangle).map(|corner| corner.as_dvec3());
                    let nearest = Triangle { a, b, c }.closest_point(point.as_dvec3());
                    let nearest = nearest.point.as_vec3();
                    let distance_squared = nearest.distance_squared(point);
                    if distance_squared < best.0 {
                        best = (distance_squared, nearest);
                    }
                }
                continue;
            }
            let children = [index + 1, node.second];
            let [first, second] =
                children.map(|child| self.nodes[child as usize].bounds.distance_squared(point));
            let [near, far] = match first <= second {
                true => children,
                false => [children[1], children[0]],
            };
            (stack[top], stack[top + 1]) = (far, near);
            top += 2;
        }
        best.1
    }

    /// Returns the memory used \[bytes\].
    pub fn bytes(&self) -> usize {
        size_of_val(self.vertices.as_slice())
            + size_of_val(self.triangles.as_slice())
            + size_of_val(self.nodes.as_slice())
            + size_of_val(self.blocks.as_slice())
            + self.closed_parts().map_or(0, size_of_val)
    }
}

/// Builds the blocks of discs over the same triangles as the nodes, down to single triangles. The
/// largest disc of a block is opened repeatedly until the block is full. `disc` computes the disc
/// around a range of triangles.
fn blocks(nodes: &[SurfaceNode], disc: impl Fn(u32, u32) -> Disc) -> Vec<DiscBlock> {
    /// A disc of a block under construction.
    #[derive(Clone, Copy)]
    struct Part {
        disc: Disc,
        /// Node of the disc; `None` for a single triangle.
        node: Option<u32>,
        first: u32,
    }
    let of_node = |index: u32| {
        let node = &nodes[index as usize];
        Part {
            disc: disc(node.first, node.count),
            node: (node.count > 1).then_some(index),
            first: node.first,
        }
    };
    // Content of a node: its two child nodes, or the triangles of a leaf.
    let opened = |index: u32| -> Vec<Part> {
        let node = &nodes[index as usize];
        if node.second != 0 {
            return vec![of_node(index + 1), of_node(node.second)];
        }
        (node.first..node.first + node.count)
            .map(|first| Part {
                disc: disc(first, 1),
                node: None,
                first,
            })
            .collect()
    };
    let root = of_node(0);
    let below = |part: &Part| (part.disc, Below::Triangle(part.first));
    let mut blocks = vec![DiscBlock::of(&[below(&root)])];
    // Nodes whose blocks are still to be built, with the block and lane that refer to each.
    let mut open: Vec<(u32, usize, usize)> =
        root.node.map(|node| (node, 0, 0)).into_iter().collect();
    while let Some((node, block, lane)) = open.pop() {
        // Open the largest disc while its content fits in the block.
        let mut parts = opened(node);
        loop {
            let room = LANES - parts.len();
            let fits = |part: &Part| {
                part.node.is_some_and(|index| {
                    let node = &nodes[index as usize];
                    (node.second != 0 && room >= 1) || node.count as usize <= room + 1
                })
            };
            let largest = (0..parts.len())
                .filter(|&part| fits(&parts[part]))
                .max_by(|&a, &b| parts[a].disc.radius.total_cmp(&parts[b].disc.radius));
            let Some((largest, index)) = largest.and_then(|at| Some((at, parts[at].node?))) else {
                break;
            };
            parts.swap_remove(largest);
            parts.extend(opened(index));
        }
        let number = blocks.len();
        blocks[block].set_below(lane, Below::Block(number as u32));
        blocks.push(DiscBlock::of(&parts.iter().map(below).collect::<Vec<_>>()));
        for (lane, part) in parts.iter().enumerate() {
            open.extend(part.node.map(|node| (node, number, lane)));
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_surface_is_refused() {
        let points = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::NAN];
        assert_eq!(Surface::new(points.clone(), &[]), Err(SurfaceError::Empty));
        let bad = |triangle| SurfaceError::BadTriangle { triangle };
        assert_eq!(
            Surface::new(points.clone(), &[[0, 1, 2], [0, 1, 3]]),
            Err(bad(1))
        );
        assert_eq!(Surface::new(points, &[[0, 1, 4]]), Err(bad(0)));
    }

    #[test]
    fn every_triangle_lies_in_the_boxes_above_it_and_in_one_leaf() {
        let side = 20u32;
        let at = |x: u32, y: u32| Vec3::new(x as f32, y as f32, ((x * 7 + y * 3) % 5) as f32);
        let vertices = (0..side * side).map(|i| at(i % side, i / side)).collect();
        let mut triangles = Vec::new();
        for corner in (0..side * (side - 1)).filter(|c| c % side != side - 1) {
            triangles.push([corner, corner + 1, corner + side]);
            triangles.push([corner + 1, corner + side + 1, corner + side]);
        }
        let surface = Surface::new(vertices, &triangles).unwrap();
        let mut given = triangles;
        let mut kept = surface.triangles().to_vec();
        given.sort_unstable();
        kept.sort_unstable();
        assert_eq!(given, kept);
        let mut in_leaves = vec![0; kept.len()];
        for node in surface.nodes() {
            for triangle in node.first..node.first + node.count {
                assert!(
                    surface
                        .corners(triangle)
                        .iter()
                        .all(|&p| node.bounds.contains(p))
                );
                in_leaves[triangle as usize] += u32::from(node.second == 0);
            }
        }
        assert!(in_leaves.iter().all(|&count| count == 1));
    }

    #[test]
    fn every_triangle_is_below_one_disc_that_holds_it() {
        for count in [1, 2, 3, 7, 100] {
            let at = |i: usize| Vec3::new((i % 7) as f32, (i / 7) as f32, (i % 3) as f32);
            let vertices: Vec<Vec3> = (0..count + 2).map(at).collect();
            let triangles: Vec<[u32; 3]> = (0..count as u32).map(|i| [i, i + 1, i + 2]).collect();
            let surface = Surface::new(vertices, &triangles).unwrap();
            let mut seen = vec![0; count];
            let mut open = vec![(0, Vec::new())];
            while let Some((block, above)) = open.pop() {
                let block: &DiscBlock = &surface.blocks()[block as usize];
                for lane in 0..block.count() {
                    let discs: Vec<Disc> = [above.clone(), vec![block.disc(lane)]].concat();
                    match block.below(lane) {
                        Below::Block(block) => open.push((block, discs)),
                        Below::Triangle(triangle) => {
                            seen[triangle as usize] += 1;
                            let corners = surface.corners(triangle);
                            let holds = |disc: &Disc| {
                                corners.iter().all(|corner| {
                                    corner.distance(disc.center) <= 1.000_001 * disc.radius
                                })
                            };
                            assert!(discs.iter().all(holds));
                        }
                    }
                }
            }
            assert!(seen.iter().all(|&times| times == 1), "{count}: {seen:?}");
        }
    }

    #[test]
    fn many_triangles_in_one_place_make_a_tree_all_the_same() {
        let surface = Surface::new(vec![Vec3::ZERO; 3], &vec![[0, 1, 2]; 10_000]).unwrap();
        assert!(surface.nodes().len() < 10_000);
    }
}
