//! Hubs: vertices and edges where very many faces meet, such as the middle of a disc cut like a cake.
//!
//! Input: the faces of a mesh, each over three corners of its own.
//! Output: the pairs that meet among faces that share a hub, added to a [`PairSearch`].
//! Cost: a tree a hub; tests for faces that are near each other *as seen from the hub*.
//! Not for: vertices with few faces; the search in space is quicker there.
//!
//! The boxes of all faces at a hub overlap, and would be tested two by two. But two faces that share a vertex meet beyond it
//! if and only if they do so as seen from it: each face is an arc on the sphere of directions, and only arcs that meet
//! matter. Two that share an edge meet beyond it if and only if they leave it in the same direction: points on
//! a circle around the edge. The boxes of arcs and points are small where those of the faces are not.
//!
//! A pair is found at one place only: at the edge it shares if that is a hub, else at the lowest hub it shares,
//! else in space.

use glam::DVec3;

use super::super::box_tree::BoxTree;
use super::pair_search::{Elsewhere, NO_VERTEX, PairSearch, Surface, kept};
use crate::geom::DAabb;

/// More faces than this make a hub. Tuned: 64 faces have 2,000 pairs, as quick to test as to build a tree for.
const MANY: usize = 64;

/// Vertices and edges with many faces.
pub(super) struct Hubs {
    is_hub: Vec<bool>,
    /// Faces at hubs, by vertex.
    at_vertices: Vec<(u32, Vec<u32>)>,
    /// Faces at hubs, by edge, the lower vertex first; sorted.
    at_edges: Vec<([u32; 2], Vec<u32>)>,
}

impl Hubs {
    /// The hubs among those faces that `take_part`.
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

    /// Those of a face's vertices that are hubs.
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

/// The keys with many values, in order, with their values in order.
fn with_many<K: Copy + Ord>(mut entries: Vec<(K, u32)>) -> Vec<(K, Vec<u32>)> {
    entries.sort_unstable();
    entries
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|group| group.len() > MANY)
        .map(|group| (group[0].0, group.iter().map(|entry| entry.1).collect()))
        .collect()
}

/// Roundings of a direction: one a difference, product, root and quotient, each of 1.1e-16; with room to spare.
const ROUNDING: f64 = 1e-14;

/// A box around all directions.
const ALL_DIRECTIONS: DAabb = DAabb {
    min: DVec3::splat(-2.0),
    max: DVec3::splat(2.0),
};

/// Around the directions from the hub to the points of the face: an arc.
fn arc_bounds(surface: Surface<'_>, face: u32, hub: u32) -> DAabb {
    let corners = surface.corners(face);
    let place = place_of(surface.face(face), |v| v == hub);
    let [from, a, b] = [0, 1, 2].map(|i| corners[(place + i) % 3]);
    let (Some(a), Some(b)) = (direction(from, a), direction(from, b)) else {
        return ALL_DIRECTIONS;
    };
    // An arc of half a turn or less is nowhere farther from its chord than in its middle. Where that is nearly half a turn,
    // the root takes away half the digits.
    let half_chord_squared = 0.25 * a.distance_squared(b);
    let height = 1.0 - (1.0 - half_chord_squared).max(0.0).sqrt();
    DAabb::of_points([a, b]).grown(height * (1.0 + ROUNDING.sqrt()) + ROUNDING)
}

/// Around the direction in which the face leaves the edge, at right angles to it: a point.
fn side_bounds(surface: Surface<'_>, face: u32, edge: [u32; 2]) -> DAabb {
    let [from, to] = edge.map(|end| surface.vertices[end as usize]);
    let place = place_of(surface.face(face), |v| !edge.contains(&v));
    let apex = surface.corners(face)[place];
    let (Some(along), Some(out)) = (direction(from, to), direction(from, apex)) else {
        return ALL_DIRECTIONS;
    };
    let side = out - out.dot(along) * along;
    // The sine of the angle at the edge's start; the smaller it is, the more its rounding counts.
    let sine = side.length();
    if sine <= ROUNDING {
        return ALL_DIRECTIONS;
    }
    let point = side / sine;
    DAabb::of_points([point]).grown(ROUNDING / sine)
}

/// Which corner is wanted.
fn place_of(face: [u32; 3], wanted: impl Fn(u32) -> bool) -> usize {
    let place = face.iter().position(|&v| wanted(v));
    place.unwrap_or(0)
}

/// A unit vector to within [`ROUNDING`]; `None` when the range of `f64` does not hold it.
fn direction(from: DVec3, to: DVec3) -> Option<DVec3> {
    let way = to - from;
    let size = way.abs().max_element();
    (size.is_finite() && size >= f64::MIN_POSITIVE).then(|| (way / size).normalize())
}
