//! Hubs: vertices and edges where very many faces meet, such as the centre of a disc of triangles.
//!
//! Input: the faces of a mesh, each with three distinct corners.
//! Output: the pairs that meet among faces that share a hub, added to a [`PairSearch`].
//! Cost: one tree per hub; pair tests for faces that are near each other *as seen from the hub*.
//! Not for: vertices with few faces; the search in space is quicker there.
//!
//! The boxes of all faces at a hub overlap, so a search in space would test all pairs. But two
//! faces that share a vertex meet beyond it if and only if they do so as seen from it: each face is
//! an arc on the sphere of directions, and only faces whose arcs meet matter. Two faces that share
//! an edge meet beyond it if and only if they leave it in the same direction: each face is a point
//! on a circle around the edge. The boxes of arcs and points are small where those of the faces are
//! not.
//!
//! A pair is found in one search only: at the edge it shares if that is a hub, else at the lowest
//! hub it shares, else in space.

use glam::DVec3;

use super::super::box_tree::BoxTree;
use super::pair_search::{Elsewhere, NO_VERTEX, PairSearch, Surface, kept};
use crate::geom::DAabb;

/// A vertex or edge with more faces than this is a hub. Tuned: 64 faces have 2,000 pairs, which
/// take as long to test as a tree takes to build.
const MANY: usize = 64;

/// Vertices and edges with many faces.
pub(super) struct Hubs {
    is_hub: Vec<bool>,
    /// Faces at each hub vertex.
    at_vertices: Vec<(u32, Vec<u32>)>,
    /// Faces at each hub edge, the lower vertex first; sorted.
    at_edges: Vec<([u32; 2], Vec<u32>)>,
}

impl Hubs {
    /// Finds the hubs among the faces that `take_part`.
    pub(super) fn new(surface: Surface<'_>, take_part: &[bool]) -> Hubs {
        let used = || (0u32..).zip(surface.faces).zip(take_part);
        let faces = || used().filter(|entry| *entry.1).map(|(face, _)| face);
        let mut count = vec![0u32; surface.vertices.len()];
        for &v in faces().flat_map(|(_, face)| face) {
            count[v as usize] += 1;
        }
        let is_hub: Vec<bool> = (count.iter()).map(|&count| count as usize > MANY).collect();
        let (mut at_vertices, mut at_edges) = (Vec::new(), Vec::new());
        if is_hub.contains(&true) {
            for (number, &face) in faces() {
                let hubs = face.into_iter().filter(|&v| is_hub[v as usize]);
                at_vertices.extend(hubs.map(|v| (v, number)));
                let edges = edges_of(face).into_iter();
                let edges = edges.filter(|edge| edge.iter().all(|&v| is_hub[v as usize]));
                at_edges.extend(edges.map(|edge| (edge, number)));
            }
        }
        Hubs {
            at_vertices: with_many(at_vertices),
            at_edges: with_many(at_edges),
            is_hub,
        }
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.at_vertices.is_empty()
    }

    /// Returns the vertices of a face that are hubs.
    pub(super) fn among(&self, face: [u32; 3]) -> Elsewhere {
        if self.at_vertices.is_empty() {
            return [NO_VERTEX; 3];
        }
        kept(face, |v| self.is_hub[v as usize])
    }

    fn is_edge(&self, a: u32, b: u32) -> bool {
        let edge = [a.min(b), a.max(b)];
        let found = self.at_edges.binary_search_by_key(&edge, |&(edge, _)| edge);
        found.is_ok()
    }

    /// Adds the pairs that share a hub.
    pub(super) fn search(&self, surface: Surface<'_>, search: &mut PairSearch) {
        for (hub, around) in &self.at_vertices {
            let arc = |&face: &u32| (face, arc_bounds(surface, face, *hub));
            let elsewhere = |face| {
                kept(face, |v| {
                    let is_other_hub = v != *hub && self.is_hub[v as usize];
                    is_other_hub && (v < *hub || self.is_edge(v, *hub))
                })
            };
            search.add_pairs_among(BoxTree::new(around.iter().map(arc)), surface, elsewhere);
        }
        for (edge, around) in &self.at_edges {
            let side = |&face: &u32| (face, side_bounds(surface, face, *edge));
            let tree = BoxTree::new(around.iter().map(side));
            search.add_pairs_among(tree, surface, |_| [NO_VERTEX; 3]);
        }
    }
}

fn edges_of([a, b, c]: [u32; 3]) -> [[u32; 2]; 3] {
    [[a, b], [b, c], [c, a]].map(|[a, b]| [a.min(b), a.max(b)])
}

/// Groups entries by key, and returns the keys with more than [`MANY`] values; keys and values are
/// sorted.
fn with_many<K: Copy + Ord>(mut entries: Vec<(K, u32)>) -> Vec<(K, Vec<u32>)> {
    entries.sort_unstable();
    entries
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|group| group.len() > MANY)
        .map(|group| (group[0].0, group.iter().map(|entry| entry.1).collect()))
        .collect()
}

/// Bound of the rounding error of a direction: one rounding each in difference, product, root and
/// quotient, of 1.1e-16 each, with ample margin.
const ROUNDING: f64 = 1e-14;

/// A box around all directions.
const ALL_DIRECTIONS: DAabb = DAabb {
    min: DVec3::splat(-2.0),
    max: DVec3::splat(2.0),
};

/// Computes the box around the directions from the hub to the points of the face: an arc.
fn arc_bounds(surface: Surface<'_>, face: u32, hub: u32) -> DAabb {
    let corners = surface.corners(face);
    let place = place_of(surface.face(face), |v| v == hub);
    let [from, a, b] = [0, 1, 2].map(|i| corners[(place + i) % 3]);
    let (Some(a), Some(b)) = (direction(from, a), direction(from, b)) else {
        return ALL_DIRECTIONS;
    };
    // An arc of at most half a turn is farthest from its chord at its middle. Near half a turn the
    // root loses half its digits, hence the larger margin.
    let half_chord_squared = 0.25 * a.distance_squared(b);
    let height = 1.0 - (1.0 - half_chord_squared).max(0.0).sqrt();
    DAabb::of_points([a, b]).grown(height * (1.0 + ROUNDING.sqrt()) + ROUNDING)
}

/// Computes the box around the direction in which the face leaves the edge, perpendicular to it: a
/// point.
fn side_bounds(surface: Surface<'_>, face: u32, edge: [u32; 2]) -> DAabb {
    let [from, to] = edge.map(|end| surface.vertices[end as usize]);
    let place = place_of(surface.face(face), |v| !edge.contains(&v));
    let apex = surface.corners(face)[place];
    let (Some(along), Some(out)) = (direction(from, to), direction(from, apex)) else {
        return ALL_DIRECTIONS;
    };
    let side = out - out.dot(along) * along;
    // The sine of the face's angle at the start of the edge; the rounding error grows as it
    // shrinks.
    let sine = side.length();
    if sine <= ROUNDING {
        return ALL_DIRECTIONS;
    }
    let point = side / sine;
    DAabb::of_points([point]).grown(ROUNDING / sine)
}

/// Returns the index of the first corner that is `wanted`.
fn place_of(face: [u32; 3], wanted: impl Fn(u32) -> bool) -> usize {
    let place = face.iter().position(|&v| wanted(v));
    place.unwrap_or(0)
}

/// Returns the unit vector from `from` to `to`, within [`ROUNDING`]; `None` when it is outside the
/// range of `f64`.
fn direction(from: DVec3, to: DVec3) -> Option<DVec3> {
    let way = to - from;
    let size = way.abs().max_element();
    (size.is_finite() && size >= f64::MIN_POSITIVE).then(|| (way / size).normalize())
}
