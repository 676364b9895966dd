//! Welding: vertices at the same position become one vertex.
//!
//! Input: a mesh, and the distance below which vertices on open edges are merged.
//! Output: faces that refer to the first vertex of each merged group; positions do not change.
//! Cost: one hash lookup per vertex, a few more per vertex on an open edge.
//! Not for: simplification. No face loses its area here, and closed walls stay apart however thin
//! they are.
//!
//! Deterministic: every vertex joins the nearest earlier vertex that was not merged itself, so the
//! result does not depend on hash order and chains of near vertices do not run together.

use std::collections::HashMap;

use glam::DVec3;

use super::{Topology, TriangleMesh, topology::NO_FACE};

/// Merges made by [`weld`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WeldReport {
    /// `[vertex, into]` pairs at bit-identical positions (−0 equals 0).
    pub identical: Vec<[u32; 2]>,
    /// `[vertex, into]` pairs on open edges, at most the weld distance apart.
    pub near: Vec<[u32; 2]>,
}

/// Returns, for every vertex, the first vertex at exactly its position; −0 equals 0. A vertex that
/// is not finite maps to itself.
pub(crate) fn first_at_same_position(vertices: &[DVec3]) -> Vec<u32> {
    // Capacity for the distinct vertices of a triangle soup, a sixth of all; a larger table would
    // only cause more cache misses.
    let mut first_at: HashMap<[u64; 3], u32> = HashMap::with_capacity(vertices.len() / 6);
    (0..vertices.len() as u32)
        .map(|index| {
            let vertex = vertices[index as usize];
            if !vertex.is_finite() {
                return index;
            }
            // Adding zero turns −0 into 0.
            let key = (vertex + DVec3::ZERO).to_array().map(f64::to_bits);
            *first_at.entry(key).or_insert(index)
        })
        .collect()
}

/// Returns the faces with each vertex replaced by the first vertex at its position, so that seams
/// of unshared vertices close. Face numbers are those of the mesh: faces with missing or non-finite
/// vertices become [`NO_FACE`].
pub(super) fn welded_faces(mesh: &TriangleMesh) -> Vec<[u32; 3]> {
    let first = first_at_same_position(&mesh.vertices);
    let usable = |v: u32| mesh.vertices.get(v as usize).is_some_and(|p| p.is_finite());
    mesh.faces
        .iter()
        .map(|face| {
            if face.iter().all(|&v| usable(v)) {
                face.map(|v| first[v as usize])
            } else {
                NO_FACE
            }
        })
        .collect()
}

/// Merges vertices at the same position, then vertices on open edges that are at most `distance`
/// \[m\] apart.
///
/// The second step considers only vertices on open edges: elsewhere the surface is already joined,
/// and merging could only flatten a thin wall. It never merges two corners of one face, so no face
/// collapses. Vertices are not removed (see [`super::remove_unreferenced`]).
pub fn weld(mesh: &mut TriangleMesh, distance: f64) -> WeldReport {
    let mut report = WeldReport::default();
    let first = first_at_same_position(&mesh.vertices);
    apply(mesh, &first);
    report.identical = changes(&first);
    if distance > 0.0 && distance.is_finite() {
        let into = near_on_open_edges(mesh, distance);
        apply(mesh, &into);
        report.near = changes(&into);
    }
    report
}

fn apply(mesh: &mut TriangleMesh, into: &[u32]) {
    for v in mesh.faces.iter_mut().flatten() {
        *v = into.get(*v as usize).copied().unwrap_or(*v);
    }
}

fn changes(into: &[u32]) -> Vec<[u32; 2]> {
    (0u32..)
        .zip(into)
        .filter(|&(vertex, &into)| vertex != into)
        .map(|(vertex, &into)| [vertex, into])
        .collect()
}

/// Returns, for every vertex, the vertex that it merges into (itself if none).
fn near_on_open_edges(mesh: &TriangleMesh, distance: f64) -> Vec<u32> {
    // Collect the vertices on open edges, each once.
    let topology = Topology::new(mesh.vertices.len(), &mesh.faces);
    let mut border: Vec<u32> = topology
        .edges()
        .filter(|edge| edge.uses.len() == 1)
        .flat_map(|edge| edge.vertices)
        .filter(|&v| mesh.vertices[v as usize].is_finite())
        .collect();
    border.sort_unstable();
    border.dedup();

    let mut into: Vec<u32> = (0..mesh.vertices.len() as u32).collect();
    // Merge each with the nearest earlier vertex in a hash grid, or store it there. Tuned: with
    // cells of eight distances a vertex looks into two cells on average instead of 27; larger cells
    // would hold more vertices each. Stored vertices are more than `distance` apart, so their
    // number per cell is bounded.
    let cell_size = 8.0 * distance;
    let cell_of = |point: DVec3| (point / cell_size).floor().to_array().map(|x| x as i64);
    let mut cells: HashMap<[i64; 3], Vec<u32>> = HashMap::with_capacity(border.len());
    for &vertex in &border {
        let point = mesh.vertices[vertex as usize];
        let (low, high) = (cell_of(point - distance), cell_of(point + distance));
        let mut nearest = None;
        for x in low[0]..=high[0] {
            for y in low[1]..=high[1] {
                for z in low[2]..=high[2] {
                    for &other in cells.get(&[x, y, z]).into_iter().flatten() {
                        let candidate = (point.distance(mesh.vertices[other as usize]), other);
                        if candidate.0 <= distance && nearest.is_none_or(|best| candidate < best) {
                            nearest = Some(candidate);
                        }
                    }
                }
            }
        }
        match nearest {
            Some((_, other)) => into[vertex as usize] = other,
            None => cells.entry(cell_of(point)).or_default().push(vertex),
        }
    }

    // Keep the corners of each face distinct: of two that would merge, the later one stays itself.
    for face in topology.faces().iter().filter(|face| **face != NO_FACE) {
        let mut corners = *face;
        corners.sort_unstable();
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            if into[corners[i] as usize] == into[corners[j] as usize] {
                into[corners[j] as usize] = corners[j];
            }
        }
    }
    into
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mesh(vertices: &[[f64; 3]], faces: &[[u32; 3]]) -> TriangleMesh {
        TriangleMesh {
            vertices: vertices.iter().copied().map(DVec3::from).collect(),
            faces: faces.to_vec(),
        }
    }

    #[test]
    fn minus_zero_is_zero_and_nan_is_only_itself() {
        let nan = DVec3::splat(f64::NAN);
        let vertices = [DVec3::ZERO, nan, -DVec3::ZERO, nan, DVec3::X];
        assert_eq!(first_at_same_position(&vertices), [0, 1, 0, 3, 4]);
    }

    #[test]
    fn a_crack_closes_and_far_vertices_stay() {
        let crack = 1e-7;
        let mut cracked = mesh(
            &[
                [0.0, 0.0, 0.0],
                [1.0, 0.0, 0.0],
                [0.0, 1.0, 0.0],
                [1.0, crack, 0.0],
                [-crack, 1.0, 0.0],
                [1.0, 1.0, 0.0],
            ],
            &[[0, 1, 2], [3, 5, 4]],
        );
        let report = weld(&mut cracked, 1e-6);
        assert_eq!(cracked.faces, [[0, 1, 2], [1, 5, 2]]);
        assert_eq!(report.near, [[3, 1], [4, 2]]);
        assert!(report.identical.is_empty());
    }

    #[test]
    fn small_faces_survive_a_large_distance() {
        let mut small = mesh(
            &[[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0]],
            &[[0, 1, 2]],
        );
        weld(&mut small, 1.0);
        assert_eq!(small.faces, [[0, 1, 2]]);
    }

    #[test]
    fn thin_closed_walls_do_not_flatten() {
        // A closed tetrahedron lower than the weld distance.
        let mut flat = mesh(
            &[
                [0.0, 0.0, 0.0],
                [1.0, 0.0, 0.0],
                [0.0, 1.0, 0.0],
                [0.0, 0.0, 1e-9],
            ],
            &[[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]],
        );
        let before = flat.clone();
        assert_eq!(weld(&mut flat, 1e-6), WeldReport::default());
        assert_eq!(flat, before);
    }

    #[test]
    fn odd_distances_and_places_do_no_harm() {
        for distance in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300, 1e300] {
            let mut odd = mesh(
                &[
                    [0.0, 0.0, 0.0],
                    [1e300, 0.0, 0.0],
                    [0.0, 1e-300, 0.0],
                    [f64::NAN, 0.0, 0.0],
                ],
                &[[0, 1, 2], [0, 1, 3], [7, 8, 9]],
            );
            let before = odd.clone();
            weld(&mut odd, distance);
            assert_eq!(odd.faces, before.faces, "distance {distance}");
        }
    }
}
