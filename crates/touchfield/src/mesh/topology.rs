//! Mesh connectivity: which faces meet at which edges and vertices, and connected components.
//!
//! Input: faces as triples of vertex indices, preferably over welded vertices ([`super::weld`]).
//! Output: every edge with the faces that use it, sorted by its vertices; connected components.
//! Cost: a counting sort over half-edges; about a tenth of a second for a million faces, 60 bytes
//! per face.
//! Not for: editing. It is a snapshot of the mesh, in flat arrays.
//!
//! Any input is accepted: faces with a repeated vertex or an index out of range take no part.

use glam::DVec3;

use crate::mesh::triangle_mesh::TriangleMesh;

/// Placeholder for a face that takes no part, in lists that keep the numbering of the faces.
pub(super) const NO_FACE: [u32; 3] = [u32::MAX; 3];

/// One side of a face, from its corner `corner` to the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfEdge {
    /// Index of the face.
    pub face: u32,
    /// Corner of the face where the side starts, 0 to 2.
    pub corner: u8,
    /// Whether the side runs from the lower vertex index to the higher.
    pub forward: bool,
}

/// An edge and the faces that use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge<'a> {
    /// End vertices, lower index first.
    pub vertices: [u32; 2],
    /// Sides of faces that lie on the edge, by face index: one at a border, two inside a manifold.
    pub uses: &'a [HalfEdge],
}

impl Edge<'_> {
    /// Returns whether exactly two faces meet at the edge.
    pub fn is_manifold(&self) -> bool {
        self.uses.len() == 2
    }

    /// Returns whether exactly two faces meet at the edge and run along it in opposite directions,
    /// as consistently oriented neighbours do.
    pub fn is_consistent(&self) -> bool {
        matches!(self.uses, [a, b] if a.forward != b.forward)
    }
}

/// Edges of a mesh, and the faces at them.
#[derive(Clone, Debug)]
pub struct Topology {
    faces: Vec<[u32; 3]>,
    half_edges: Vec<HalfEdge>,
    /// Start of the half-edges of each edge: edge `e` has `edge_starts[e]..edge_starts[e + 1]`.
    edge_starts: Vec<usize>,
    edge_vertices: Vec<[u32; 2]>,
    /// Start of the edges by lower vertex: vertex `v` has `vertex_starts[v]..vertex_starts[v + 1]`.
    vertex_starts: Vec<usize>,
}

impl Topology {
    /// Builds the topology of `faces` over `vertex_count` vertices.
    pub fn new(vertex_count: usize, faces: &[[u32; 3]]) -> Topology {
        let faces: Vec<[u32; 3]> = faces
            .iter()
            .map(|&face| {
                let [a, b, c] = face;
                let in_range = face.iter().all(|&v| (v as usize) < vertex_count);
                if in_range && a != b && b != c && c != a {
                    face
                } else {
                    NO_FACE
                }
            })
            .collect();

        // Counting sort of the half-edges by their lower vertex; later, each small bucket is sorted
        // by the higher one.
        let mut bucket_starts = vec![0usize; vertex_count + 1];
        for (low, _, _) in half_edges(&faces) {
            bucket_starts[low as usize + 1] += 1;
        }
        for v in 0..vertex_count {
            bucket_starts[v + 1] += bucket_starts[v];
        }
        let placeholder = HalfEdge {
            face: 0,
            corner: 0,
            forward: false,
        };
        let mut sorted = vec![(0u32, placeholder); bucket_starts[vertex_count]];
        let mut next = bucket_starts.clone();
        for (low, high, half_edge) in half_edges(&faces) {
            sorted[next[low as usize]] = (high, half_edge);
            next[low as usize] += 1;
        }

        let mut topology = Topology {
            faces,
            half_edges: Vec::with_capacity(sorted.len()),
            edge_starts: Vec::with_capacity(sorted.len() / 2 + 2),
            edge_vertices: Vec::with_capacity(sorted.len() / 2 + 1),
            vertex_starts: Vec::with_capacity(vertex_count + 1),
        };
        for low in 0..vertex_count {
            topology.vertex_starts.push(topology.edge_vertices.len());
            let bucket = &mut sorted[bucket_starts[low]..bucket_starts[low + 1]];
            // The sort is stable and the bucket was filled in face order, so the uses of an edge
            // stay in that order.
            bucket.sort_by_key(|&(high, _)| high);
            let mut previous = None;
            for &(high, half_edge) in bucket.iter() {
                if previous != Some(high) {
                    previous = Some(high);
                    topology.edge_starts.push(topology.half_edges.len());
                    topology.edge_vertices.push([low as u32, high]);
                }
                topology.half_edges.push(half_edge);
            }
        }
        topology.vertex_starts.push(topology.edge_vertices.len());
        topology.edge_starts.push(topology.half_edges.len());
        topology
    }

    /// Returns all faces; those that take no part are `[u32::MAX; 3]`.
    pub fn faces(&self) -> &[[u32; 3]] {
        &self.faces
    }

    /// Returns whether a face takes part.
    pub fn has_face(&self, face: usize) -> bool {
        self.faces[face] != NO_FACE
    }

    /// Returns the number of edges.
    pub fn edge_count(&self) -> usize {
        self.edge_vertices.len()
    }

    /// Returns the edge of the given number; edges are sorted by their vertices.
    pub fn edge(&self, edge: usize) -> Edge<'_> {
        Edge {
            vertices: self.edge_vertices[edge],
            uses: &self.half_edges[self.edge_starts[edge]..self.edge_starts[edge + 1]],
        }
    }

    /// Returns all edges, sorted by their vertices.
    pub fn edges(&self) -> impl ExactSizeIterator<Item = Edge<'_>> {
        (0..self.edge_count()).map(|edge| self.edge(edge))
    }

    /// Returns the edge between two vertices, if a face has it.
    pub fn edge_between(&self, a: u32, b: u32) -> Option<Edge<'_>> {
        let (low, high) = (a.min(b), a.max(b));
        let range =
            *self.vertex_starts.get(low as usize)?..*self.vertex_starts.get(low as usize + 1)?;
        let found = self.edge_vertices[range.clone()]
            .binary_search_by_key(&high, |edge| edge[1])
            .ok()?;
        Some(self.edge(range.start + found))
    }

    /// Returns the faces at every vertex, in order.
    pub fn faces_around_vertices(&self) -> FacesAroundVertices {
        let mut starts = vec![0usize; self.vertex_starts.len()];
        let used = || {
            self.faces
                .iter()
                .enumerate()
                .filter(|&(_, face)| *face != NO_FACE)
        };
        for &v in used().flat_map(|(_, face)| face) {
            starts[v as usize + 1] += 1;
        }
        for v in 1..starts.len() {
            starts[v] += starts[v - 1];
        }
        let mut faces = vec![0u32; starts.last().copied().unwrap_or(0)];
        let mut next = starts.clone();
        for (index, face) in used() {
            for &v in face {
                faces[next[v as usize]] = index as u32;
                next[v as usize] += 1;
            }
        }
        FacesAroundVertices { starts, faces }
    }

    /// Returns the components connected through edges where exactly two faces meet: the shells of
    /// the mesh.
    pub fn components_by_edges(&self) -> Components {
        self.components_where(|_| true)
    }

    /// Returns the components of [`Self::components_by_edges`] as if only the faces that are
    /// `wanted` existed.
    pub fn components_where(&self, wanted: impl Fn(u32) -> bool) -> Components {
        let mut sets = DisjointSets::new(self.faces.len());
        for edge in self.edges() {
            let mut uses = edge.uses.iter().filter(|side| wanted(side.face));
            if let (Some(a), Some(b), None) = (uses.next(), uses.next(), uses.next()) {
                sets.join(a.face, b.face);
            }
        }
        self.label(&mut sets, wanted)
    }

    /// Returns the components connected through shared vertices.
    pub fn components_by_vertices(&self) -> Components {
        let mut sets = DisjointSets::new(self.faces.len());
        let mut face_at = vec![u32::MAX; self.vertex_starts.len()];
        for (index, face) in self.faces.iter().enumerate() {
            if *face == NO_FACE {
                continue;
            }
            for &v in face {
                match face_at[v as usize] {
                    u32::MAX => face_at[v as usize] = index as u32,
                    other => sets.join(other, index as u32),
                }
            }
        }
        self.label(&mut sets, |_| true)
    }

    /// Returns the fans of faces around vertices: one set per fan, of corners numbered
    /// `3 · face + corner`. Two corners at a vertex are joined where an edge at that vertex joins
    /// their faces.
    pub(super) fn fans(&self) -> DisjointSets {
        let corner_of = |half_edge: &HalfEdge, at_low: bool| {
            let step = u32::from(half_edge.forward != at_low);
            3 * half_edge.face + (u32::from(half_edge.corner) + step) % 3
        };
        let mut fans = DisjointSets::new(3 * self.faces.len());
        for edge in self.edges() {
            for pair in edge.uses.windows(2) {
                for at_low in [true, false] {
                    fans.join(corner_of(&pair[0], at_low), corner_of(&pair[1], at_low));
                }
            }
        }
        fans
    }

    /// Returns, in order, the vertices whose faces form more than one fan; such fans touch only in
    /// that vertex.
    pub fn bow_tie_vertices(&self) -> Vec<u32> {
        let mut fans = self.fans();
        let mut fan_at = vec![u32::MAX; self.vertex_starts.len()];
        let mut bow_ties = Vec::new();
        for (index, face) in self.faces.iter().enumerate() {
            if *face == NO_FACE {
                continue;
            }
            for corner in 0..3 {
                let fan = fans.root((3 * index + corner) as u32);
                let known = &mut fan_at[face[corner] as usize];
                if *known == u32::MAX {
                    *known = fan;
                } else if *known != fan {
                    bow_ties.push(face[corner]);
                }
            }
        }
        bow_ties.sort_unstable();
        bow_ties.dedup();
        bow_ties
    }

    /// Numbers the sets of faces in the order of their first face.
    fn label(&self, sets: &mut DisjointSets, wanted: impl Fn(u32) -> bool) -> Components {
        let mut number_of_root = vec![Components::NONE; self.faces.len()];
        let mut count = 0u32;
        let of_face = (0..self.faces.len())
            .map(|face| {
                if !self.has_face(face) || !wanted(face as u32) {
                    return Components::NONE;
                }
                let number = &mut number_of_root[sets.root(face as u32) as usize];
                if *number == Components::NONE {
                    *number = count;
                    count += 1;
                }
                *number
            })
            .collect();
        Components {
            of_face,
            count: count as usize,
        }
    }
}

/// Returns `(lower vertex, higher vertex, half-edge)` of every side of every face that takes part.
fn half_edges(faces: &[[u32; 3]]) -> impl Iterator<Item = (u32, u32, HalfEdge)> {
    faces
        .iter()
        .enumerate()
        .filter(|&(_, face)| *face != NO_FACE)
        .flat_map(|(index, face)| {
            (0..3u8).map(move |corner| {
                let (start, end) = (face[corner as usize], face[(corner as usize + 1) % 3]);
                let half_edge = HalfEdge {
                    face: index as u32,
                    corner,
                    forward: start < end,
                };
                (start.min(end), start.max(end), half_edge)
            })
        })
}

/// Faces at every vertex, in one flat list.
#[derive(Clone, Debug)]
pub struct FacesAroundVertices {
    starts: Vec<usize>,
    faces: Vec<u32>,
}

impl FacesAroundVertices {
    /// Returns the faces at a vertex, in order.
    pub fn of(&self, vertex: u32) -> &[u32] {
        let vertex = vertex as usize;
        &self.faces[self.starts[vertex]..self.starts[vertex + 1]]
    }
}

/// A partition of the faces into components.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Components {
    /// Component of every face, [`Self::NONE`] for faces that take no part. Numbered by first face.
    pub of_face: Vec<u32>,
    /// Number of components.
    pub count: usize,
}

impl Components {
    /// Component of a face that takes no part.
    pub const NONE: u32 = u32::MAX;
}

/// Union–find with path halving; the lower index stays root, so the order of joins does not matter.
pub(super) struct DisjointSets {
    parent: Vec<u32>,
}

impl DisjointSets {
    pub(super) fn new(count: usize) -> DisjointSets {
        DisjointSets {
            parent: (0..count as u32).collect(),
        }
    }

    pub(super) fn root(&mut self, mut item: u32) -> u32 {
        while self.parent[item as usize] != item {
            let grandparent = self.parent[self.parent[item as usize] as usize];
            self.parent[item as usize] = grandparent;
            item = grandparent;
        }
        item
    }

    pub(super) fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }
}

/// Returns whether a valid face has no area: two corners coincide, or its height is within the
/// rounding of its corners.
pub(crate) fn is_degenerate(mesh: &TriangleMesh, face: usize) -> bool {
    let corners = mesh.triangle(face).corners();
    let size = corners
        .iter()
        .fold(0.0f64, |size, p| size.max(p.abs().max_element()));
    if size == 0.0 {
        return true;
    }
    // Scaled by the largest coordinate so that nothing overflows; halved first so that not even the
    // differences do.
    let [a, b, c] = corners.map(|p| (0.5 * p) / size);
    let edges: [DVec3; 3] = [b - a, c - b, a - c];
    let longest = edges
        .iter()
        .fold(0.0f64, |longest, edge| longest.max(edge.length()));
    // Each coordinate is rounded to half an epsilon of `size`; four together can tilt a flat face
    // by about this much. Points meant to be collinear, such as (0.1, 0.2, 0.3), deviate by as
    // much.
    let height_of_rounding = 2.0 * f64::EPSILON;
    longest == 0.0 || edges[0].cross(edges[1]).length() <= height_of_rounding * longest
}

/// Returns the corners in ascending order, and whether sorting kept the orientation.
pub(super) fn sorted_corners([a, b, c]: [u32; 3]) -> ([u32; 3], bool) {
    let mut sorted = [a, b, c];
    sorted.sort_unstable();
    let rotations = [[a, b, c], [b, c, a], [c, a, b]];
    (sorted, rotations.contains(&sorted))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TETRAHEDRON: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];

    #[test]
    fn a_tetrahedron_has_six_consistent_edges_in_order() {
        let topology = Topology::new(4, &TETRAHEDRON);
        let vertices: Vec<_> = topology.edges().map(|edge| edge.vertices).collect();
        assert_eq!(vertices, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
        assert!(topology.edges().all(|edge| edge.is_consistent()));
        assert_eq!(topology.faces_around_vertices().of(3), [1, 2, 3]);
        assert_eq!(topology.edge_between(3, 1).unwrap().uses.len(), 2);
        assert_eq!(topology.edge_between(1, 1), None);
        assert_eq!(topology.edge_between(9, 1), None);
        assert_eq!(topology.components_by_edges().count, 1);
        assert!(topology.bow_tie_vertices().is_empty());
    }

    #[test]
    fn faces_with_bad_indices_take_no_part() {
        let topology = Topology::new(3, &[[0, 1, 2], [0, 1, 9], [1, 1, 2], [u32::MAX; 3]]);
        assert_eq!(topology.edge_count(), 3);
        assert_eq!(
            topology.components_by_edges().of_face,
            [0, u32::MAX, u32::MAX, u32::MAX]
        );
        assert_eq!(Topology::new(0, &[]).edge_count(), 0);
        assert_eq!(
            Topology::new(0, &[[0, 1, 2]])
                .components_by_vertices()
                .count,
            0
        );
    }

    #[test]
    fn components_depend_on_what_may_join() {
        // Two triangles that share a vertex, and one apart.
        let topology = Topology::new(8, &[[0, 1, 2], [2, 3, 4], [5, 6, 7]]);
        assert_eq!(topology.components_by_edges().of_face, [0, 1, 2]);
        assert_eq!(topology.components_by_vertices().of_face, [0, 0, 1]);
        assert_eq!(topology.bow_tie_vertices(), [2]);
        // Three at an edge: not joined by a manifold edge, yet not a bow tie.
        let topology = Topology::new(5, &[[0, 1, 2], [0, 1, 3], [0, 1, 4]]);
        assert_eq!(topology.components_by_edges().count, 3);
        assert!(topology.bow_tie_vertices().is_empty());
    }

    #[test]
    fn a_large_grid_has_as_many_edges_as_euler_says() {
        let n = 100u32;
        let mut faces = Vec::new();
        for y in 0..n {
            for x in 0..n {
                let v = y * (n + 1) + x;
                faces.push([v, v + 1, v + n + 2]);
                faces.push([v, v + n + 2, v + n + 1]);
            }
        }
        let vertex_count = ((n + 1) * (n + 1)) as usize;
        let topology = Topology::new(vertex_count, &faces);
        assert_eq!(topology.edge_count(), vertex_count + faces.len() - 1);
        let open = topology.edges().filter(|edge| edge.uses.len() == 1).count();
        assert_eq!(open, 4 * n as usize);
    }
}
