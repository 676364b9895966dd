//! Triangles at run time: a surface in `f32` with a tree of boxes, for methods that look at edges and faces.
//!
//! Input: vertices and triangles. Output: the same, checked and in the order of the tree.
//! Cost: O(n log n) to build; 12 bytes a vertex, 12 a triangle, 36 a node; about as many nodes as triangles at most.
//! Not for: signs or distances; those are a field's.

use glam::Vec3;

use crate::geom::Aabb;

/// Triangles to a leaf. Tuned: from 2 to 8 it makes no difference that can be measured.
const LEAF_SIZE: usize = 4;

/// A node of the tree: a box, and the triangles in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceNode {
    /// Holds its triangles.
    pub bounds: Aabb,
    /// First triangle.
    pub first: u32,
    /// Number of triangles.
    pub count: u32,
    /// The second child, the first being the next node; 0 for a leaf.
    pub second: u32,
}

/// Triangles with a tree of boxes.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    nodes: Vec<SurfaceNode>,
}

/// Why triangles make no surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SurfaceError {
    /// There are no triangles.
    #[error("a surface needs at least one triangle")]
    Empty,
    /// A triangle names a vertex that is missing or not finite.
    #[error("triangle {triangle} has a vertex that is missing or not finite (see mesh::repair)")]
    BadTriangle {
        /// Which one.
        triangle: usize,
    },
    /// More than indices can name.
    #[error("{0} triangles are too many; a surface holds up to 2²⁹")]
    TooMany(usize),
}

impl Surface {
    /// Most triangles of a surface: contacts name them beside their corners and edges.
    pub const MOST: usize = 1 << 29;

    /// From vertices \[m\] and triangles, counter-clockwise seen from outside.
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
        let mut nodes = Vec::new();
        add_node(&mut entries, 0, &mut nodes);
        Ok(Surface {
            triangles: entries.into_iter().map(|(triangle, _)| triangle).collect(),
            vertices,
            nodes,
        })
    }

    /// Positions \[m\].
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// Three vertices a triangle, in the order of the tree.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The tree, the root first; children stand behind their parent.
    pub fn nodes(&self) -> &[SurfaceNode] {
        &self.nodes
    }

    /// The corners of a triangle \[m\].
    pub fn corners(&self, triangle: u32) -> [Vec3; 3] {
        self.triangles[triangle as usize].map(|vertex| self.vertices[vertex as usize])
    }

    /// Bytes that it keeps.
    pub fn bytes(&self) -> usize {
        size_of_val(self.vertices.as_slice())
            + size_of_val(self.triangles.as_slice())
            + size_of_val(self.nodes.as_slice())
    }
}

/// Adds the node over `entries`, which start at triangle `first`, and those below it. Halves by the median along the longest side: the
/// depth is at most 32.
fn add_node(entries: &mut [([u32; 3], Aabb)], first: u32, nodes: &mut Vec<SurfaceNode>) {
    let bounds = (entries.iter()).fold(Aabb::EMPTY, |bounds, (_, own)| bounds.union(*own));
    let index = nodes.len();
    nodes.push(SurfaceNode {
        bounds,
        first,
        count: entries.len() as u32,
        second: 0,
    });
    if entries.len() <= LEAF_SIZE {
        return;
    }
    let centers = Aabb::of_points(entries.iter().map(|(_, own)| own.center()));
    let axis = centers.half_extents().max_position();
    let middle = entries.len() / 2;
    // Ties by vertices: the same tree on every run.
    entries.select_nth_unstable_by(middle, |(a, box_a), (b, box_b)| {
        (box_a.center()[axis].total_cmp(&box_b.center()[axis])).then(a.cmp(b))
    });
    let (low, high) = entries.split_at_mut(middle);
    add_node(low, first, nodes);
    nodes[index].second = nodes.len() as u32;
    add_node(high, first + middle as u32, nodes);
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
    fn many_triangles_in_one_place_make_a_tree_all_the_same() {
        let surface = Surface::new(vec![Vec3::ZERO; 3], &vec![[0, 1, 2]; 10_000]).unwrap();
        assert!(surface.nodes().len() < 10_000);
    }
}
