//! Orientation: neighbours agree, solids face outward, cavities inward.
//!
//! Input: a mesh; vertices at one position count as shared.
//! Output: the same faces, some with two corners swapped, and a list of those.
//! Cost: linear, as `topology`; with several closed shells also a box tree.
//! Not for: one-sided surfaces; their conflicts are counted and stay.

use std::collections::VecDeque;

use super::super::{Components, Topology, TriangleMesh, shells::shells, weld::welded_faces};

/// Changes made by [`orient`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrientReport {
    /// Faces whose orientation was reversed, in order.
    pub flipped_faces: Vec<u32>,
    /// Closed components that were reversed as a whole because they were inside out.
    pub inside_out_components: usize,
    /// Components that no choice of orientation makes consistent (Möbius strips and the like).
    pub unorientable: usize,
    /// Number of components: faces connected through edges where exactly two meet.
    pub components: usize,
}

/// Reverses faces so that neighbours agree and closed components face outward.
///
/// Within a component, faces follow their neighbours across edges where exactly two meet; the
/// orientation that holds more of the area as given wins. Then closed components that are inside
/// out are reversed, with nesting taken into account: a cavity that was oriented as one stays one,
/// and an inverted solid with an inverted cavity is reversed with it. Open components keep the
/// winning orientation.
pub fn orient(mesh: &mut TriangleMesh) -> OrientReport {
    let topology = Topology::new(mesh.vertices.len(), &welded_faces(mesh));
    let components = topology.components_by_edges();
    let (mut flipped, unorientable) = agree_with_neighbours(&topology, &components);

    // Reverse the components in which most of the area was flipped.
    let mut balance = vec![0.0f64; components.count];
    for (face, &component) in components.of_face.iter().enumerate() {
        if component != Components::NONE {
            let area = mesh.triangle(face).area();
            balance[component as usize] += if flipped[face] { -area } else { area };
        }
    }
    let minority: Vec<bool> = balance.iter().map(|&balance| balance < 0.0).collect();
    turn(&components, &minority, &mut flipped);

    // Reverse the closed components that are inside out.
    let shells = shells(&mesh.vertices, &topology, &components, &flipped, &[]);
    let inside_out: Vec<bool> = shells.iter().map(|shell| shell.inside_out).collect();
    turn(&components, &inside_out, &mut flipped);

    let mut flipped_faces = Vec::new();
    for (face, corners) in mesh.faces.iter_mut().enumerate() {
        if flipped[face] {
            corners.swap(1, 2);
            flipped_faces.push(face as u32);
        }
    }
    OrientReport {
        flipped_faces,
        inside_out_components: inside_out.iter().filter(|&&turned| turned).count(),
        unorientable,
        components: components.count,
    }
}

/// Flips every face of the chosen components.
fn turn(components: &Components, chosen: &[bool], flipped: &mut [bool]) {
    for (flip, &component) in flipped.iter_mut().zip(&components.of_face) {
        if component != Components::NONE && chosen[component as usize] {
            *flip = !*flip;
        }
    }
}

/// Returns which faces to flip to agree with the first of their component, and the number of
/// components where that is impossible.
fn agree_with_neighbours(topology: &Topology, components: &Components) -> (Vec<bool>, usize) {
    const NOBODY: (u32, bool) = (u32::MAX, false);
    let count = topology.faces().len();
    // The neighbour across each side of a face, and whether the two disagree as given.
    let mut neighbours = vec![[NOBODY; 3]; count];
    for edge in topology.edges() {
        if let [a, b] = edge.uses {
            let disagree = a.forward == b.forward;
            neighbours[a.face as usize][a.corner as usize] = (b.face, disagree);
            neighbours[b.face as usize][b.corner as usize] = (a.face, disagree);
        }
    }
    let mut flipped = vec![false; count];
    let mut visited = vec![false; count];
    let mut conflict = vec![false; components.count];
    let mut queue = VecDeque::new();
    for seed in (0..count).filter(|&face| topology.has_face(face)) {
        if visited[seed] {
            continue;
        }
        visited[seed] = true;
        queue.push_back(seed);
        while let Some(face) = queue.pop_front() {
            for (neighbour, disagree) in neighbours[face] {
                let neighbour = neighbour as usize;
                if neighbour >= count {
                    continue;
                }
                let wanted = flipped[face] != disagree;
                if !visited[neighbour] {
                    visited[neighbour] = true;
                    flipped[neighbour] = wanted;
                    queue.push_back(neighbour);
                } else if flipped[neighbour] != wanted {
                    conflict[components.of_face[face] as usize] = true;
                }
            }
        }
    }
    (
        flipped,
        conflict.iter().filter(|&&conflict| conflict).count(),
    )
}
