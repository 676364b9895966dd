//! Tests whether triangles are closed, and finds their connected parts.
//!
//! Input: vertices and triangles.
//! Output: a [`ClosedPart`] for every connected part, or `None` if there is a border.
//! Cost: O(n log n).
//! Not for: repair; vertices are merged only if their positions are equal to the bit.
//!
//! A surface is closed if along every edge as many triangles run in one direction as in the other.
//! Then the winding number is an integer, and constant wherever there is no triangle, so that the
//! triangles bound a solid.

use glam::Vec3;

/// A connected part of a closed surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosedPart {
    /// Extreme points along −x, +x, −y, +y, −z, +z \[m\].
    pub extremes: [Vec3; 6],
}

/// Returns the parts of a surface in the order of their first vertices, or `None` if it is not
/// closed.
pub(super) fn closed_parts(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Option<Vec<ClosedPart>> {
    let places = places(vertices);
    let placed = |triangle: &[u32; 3]| triangle.map(|vertex| places[vertex as usize]);
    let mut edges = Vec::with_capacity(3 * triangles.len());
    let mut parts = Groups::new(vertices.len());
    for [a, b, c] in triangles.iter().map(placed) {
        for [from, to] in [[a, b], [b, c], [c, a]] {
            parts.join(from, to);
            // An edge without length has no direction.
            if from != to {
                edges.push((from.min(to), from.max(to), if from < to { 1 } else { -1 }));
            }
        }
    }
    edges.sort_unstable();
    let is_one = |a: &(u32, u32, i32), b: &(u32, u32, i32)| (a.0, a.1) == (b.0, b.1);
    let is_balanced =
        |edge: &[(u32, u32, i32)]| edge.iter().map(|&(_, _, way)| way).sum::<i32>() == 0;
    if !edges.chunk_by(is_one).all(is_balanced) {
        return None;
    }
    let mut found: Vec<(u32, ClosedPart)> = Vec::new();
    let mut number_of = vec![u32::MAX; vertices.len()];
    for vertex in triangles.iter().flatten() {
        let point = vertices[*vertex as usize];
        let root = parts.root(places[*vertex as usize]);
        let number = &mut number_of[root as usize];
        if *number == u32::MAX {
            *number = found.len() as u32;
            let extremes = [point; 6];
            found.push((root, ClosedPart { extremes }));
        }
        let extremes = &mut found[*number as usize].1.extremes;
        for axis in 0..3 {
            if point[axis] < extremes[2 * axis][axis] {
                extremes[2 * axis] = point;
            }
            if point[axis] > extremes[2 * axis + 1][axis] {
                extremes[2 * axis + 1] = point;
            }
        }
    }
    Some(found.into_iter().map(|(_, part)| part).collect())
}

/// Returns, for every vertex, the lowest-numbered vertex at the same position.
fn places(vertices: &[Vec3]) -> Vec<u32> {
    // Adding 0 turns −0 into 0.
    let key = |vertex: u32| {
        (vertices[vertex as usize] + Vec3::ZERO)
            .to_array()
            .map(f32::to_bits)
    };
    let mut order: Vec<u32> = (0..vertices.len() as u32).collect();
    order.sort_unstable_by_key(|&vertex| (key(vertex), vertex));
    let mut places = vec![0; vertices.len()];
    for same in order.chunk_by(|&a, &b| key(a) == key(b)) {
        for &vertex in same {
            places[vertex as usize] = same[0];
        }
    }
    places
}

/// Disjoint sets of vertices (union-find).
struct Groups {
    above: Vec<u32>,
}

impl Groups {
    fn new(count: usize) -> Groups {
        Groups {
            above: (0..count as u32).collect(),
        }
    }

    fn root(&mut self, mut vertex: u32) -> u32 {
        while self.above[vertex as usize] != vertex {
            let above = self.above[vertex as usize];
            // Path halving shortens later searches.
            self.above[vertex as usize] = self.above[above as usize];
            vertex = above;
        }
        vertex
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.above[a.max(b) as usize] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACES: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];

    fn tetrahedron(at: Vec3) -> Vec<Vec3> {
        [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z]
            .map(|corner| at + corner)
            .to_vec()
    }

    #[test]
    fn two_tetrahedra_are_two_parts_and_an_open_one_is_none() {
        let both = [tetrahedron(Vec3::ZERO), tetrahedron(Vec3::splat(5.0))].concat();
        let faces: Vec<[u32; 3]> = (FACES.iter().copied())
            .chain(FACES.iter().map(|face| face.map(|vertex| vertex + 4)))
            .collect();
        let parts = closed_parts(&both, &faces).unwrap();
        assert_eq!(parts.len(), 2);
        assert_eq!(parts[0].extremes[1], Vec3::X);
        assert_eq!(parts[1].extremes[5], Vec3::splat(5.0) + Vec3::Z);
        assert_eq!(closed_parts(&both, &faces[1..]), None);
    }

    #[test]
    fn corners_of_a_soup_are_one_by_their_place_and_a_flipped_face_opens_it() {
        let corners = tetrahedron(Vec3::ZERO);
        let soup: Vec<Vec3> = FACES
            .iter()
            .flatten()
            .map(|&v| corners[v as usize])
            .collect();
        let mut faces: Vec<[u32; 3]> = (0..4)
            .map(|face| [3 * face, 3 * face + 1, 3 * face + 2])
            .collect();
        assert_eq!(closed_parts(&soup, &faces).unwrap().len(), 1);
        faces[2].swap(0, 1);
        assert_eq!(closed_parts(&soup, &faces), None);
    }
}
