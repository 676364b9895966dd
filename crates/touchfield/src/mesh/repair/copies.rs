//! Drops faces with many copies before anything is built over them.
//!
//! Input: a mesh.
//! Output: the mesh without surplus copies, or `None` where no face has many.
//! Cost: one pass over the faces; sorting only where there seem to be many copies.
//! Not for: judging copies. Two or three over the same corners may mean something for the surface;
//! [`super::drop_duplicates`] decides that, and its result is the same with or without this step.
//!
//! Copies tie for the nearest face everywhere: a thousand copies of one face make every search near
//! it a thousand times as long.

use glam::DVec3;

use crate::mesh::TriangleMesh;
use crate::mesh::repair::drop::{remove_numbers, remove_unreferenced};

/// Number of faces over the same corners that are left alone. Chosen so that a search takes at most
/// this many times as long, and a real surface that was written several times stays as it is.
const MOST_COPIES: usize = 8;

/// Corners of a face as bits, sorted, so that the orientation does not matter.
type Key = [[u64; 3]; 3];

/// Returns the mesh without surplus copies of faces that occur more than [`MOST_COPIES`] times, and
/// the number of dropped faces. `None` if there is no such face.
///
/// The first copy of the majority orientation stays; if both orientations are equally frequent, the
/// first of each stays.
pub(crate) fn without_copies(mesh: &TriangleMesh) -> Option<(TriangleMesh, usize)> {
    if mesh.first_invalid_face().is_some() || !may_have_many(mesh) {
        return None;
    }
    let mut faces: Vec<(Key, bool, u32)> = (0..mesh.faces.len())
        .map(|face| {
            let (key, is_even) = key_of(mesh, face);
            (key, is_even, face as u32)
        })
        .collect();
    faces.sort_unstable_by_key(|&(key, _, face)| (key, face));
    let mut dropped = Vec::new();
    for copies in faces.chunk_by(|a, b| a.0 == b.0) {
        if copies.len() > MOST_COPIES {
            let kept = kept_of(copies);
            let others = copies.iter().map(|copy| copy.2);
            dropped.extend(others.filter(|face| !kept.contains(&Some(*face))));
        }
    }
    if dropped.is_empty() {
        return None;
    }
    dropped.sort_unstable();
    let mut few = mesh.clone();
    remove_numbers(&mut few.faces, &dropped);
    remove_unreferenced(&mut few);
    Some((few, dropped.len()))
}

/// Returns the faces to keep among copies, which are given in the order of their numbers.
fn kept_of(copies: &[(Key, bool, u32)]) -> [Option<u32>; 2] {
    let [a, b, c] = copies[0].0;
    let first = |even: bool| copies.iter().find(|copy| copy.1 == even);
    let [even, odd] = [true, false].map(|turn| first(turn).map(|copy| copy.2));
    let evens = copies.iter().filter(|copy| copy.1).count();
    // Two corners coincide: the orientation is undefined.
    if a == b || b == c {
        return [Some(copies[0].2), None];
    }
    match (2 * evens).cmp(&copies.len()) {
        std::cmp::Ordering::Greater => [even, None],
        std::cmp::Ordering::Less => [odd, None],
        std::cmp::Ordering::Equal => [even, odd],
    }
}

/// Returns the bits of a position; −0 equals 0.
fn bits(position: DVec3) -> [u64; 3] {
    (position + DVec3::ZERO).to_array().map(f64::to_bits)
}

/// Returns the key that copies have in common, and whether the orientation is even.
fn key_of(mesh: &TriangleMesh, face: usize) -> (Key, bool) {
    let [a, b, c] = mesh.triangle(face).corners().map(bits);
    let mut key = [a, b, c];
    key.sort_unstable();
    (key, [[a, b, c], [b, c, a], [c, a, b]].contains(&key))
}

/// Returns whether some face may have many copies. Counts faces by a small hash, so false positives
/// are possible.
fn may_have_many(mesh: &TriangleMesh) -> bool {
    let size = (2 * mesh.faces.len()).next_power_of_two().max(1024);
    let mut counts = vec![0u8; size];
    for face in 0..mesh.faces.len() {
        let corners = mesh.triangle(face).corners().map(bits);
        // A sum is independent of the order of the corners.
        let hash = corners
            .map(mixed)
            .iter()
            .fold(0, |sum: u64, &h| sum.wrapping_add(h));
        let place = (hash >> 32) as usize & (size - 1);
        counts[place] = counts[place].saturating_add(1);
        if usize::from(counts[place]) > MOST_COPIES {
            return true;
        }
    }
    false
}

/// Returns a hash of a position.
fn mixed(position: [u64; 3]) -> u64 {
    position
        .iter()
        .fold(0x9e37_79b9_7f4a_7c15, |hash: u64, &word| {
            let hash = (hash ^ word).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            hash ^ hash >> 29
        })
}

#[cfg(test)]
mod tests {
    use super::super::drop_duplicates;
    use super::*;
    use crate::mesh::test_meshes::icosphere;

    fn repeated(mesh: &TriangleMesh, face: usize, forward: usize, backward: usize) -> TriangleMesh {
        let mut mesh = mesh.clone();
        let [a, b, c] = mesh.faces[face];
        mesh.faces.extend(std::iter::repeat_n([b, c, a], forward));
        mesh.faces.extend(std::iter::repeat_n([b, a, c], backward));
        mesh
    }

    #[test]
    fn what_is_left_after_dropping_all_duplicates_is_the_same() {
        let sphere = icosphere(2, 1.0);
        for (forward, backward) in [(20, 0), (20, 5), (0, 20), (10, 11), (10, 12)] {
            let mesh = repeated(&sphere, 7, forward, backward);
            let (few, dropped) = without_copies(&mesh).expect("there are many copies");
            let (mut all_gone, mut also_gone) = (mesh.clone(), few.clone());
            drop_duplicates(&mut all_gone);
            drop_duplicates(&mut also_gone);
            let corners = |mesh: &TriangleMesh| -> Vec<_> {
                (0..mesh.faces.len())
                    .map(|f| mesh.triangle(f).corners())
                    .collect()
            };
            assert_eq!(
                corners(&all_gone),
                corners(&also_gone),
                "{forward}, {backward}"
            );
            let stays = usize::from(1 + forward == backward);
            assert_eq!(dropped, forward + backward - stays, "{forward}, {backward}");
        }
    }

    #[test]
    fn a_mesh_without_many_copies_is_left_alone() {
        let sphere = icosphere(3, 1.0);
        assert!(without_copies(&sphere).is_none());
        assert!(without_copies(&repeated(&sphere, 7, 3, 4)).is_none());
        assert!(without_copies(&TriangleMesh::default()).is_none());
        let mut broken = repeated(&sphere, 7, 20, 0);
        broken.faces[3][1] = u32::MAX;
        assert!(without_copies(&broken).is_none(), "who uses it refuses it");
    }

    #[test]
    fn of_copies_without_shared_vertices_one_triangle_is_left() {
        let mut mesh = TriangleMesh::default();
        for copy in 0..1000u32 {
            mesh.vertices.extend([DVec3::ZERO, DVec3::X, DVec3::Y]);
            mesh.faces.push([3 * copy, 3 * copy + 1, 3 * copy + 2]);
        }
        let (few, dropped) = without_copies(&mesh).expect("there are many copies");
        assert_eq!((few.faces.len(), few.vertices.len(), dropped), (1, 3, 999));
    }
}
