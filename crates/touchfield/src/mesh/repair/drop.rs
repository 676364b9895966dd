//! Drops faces and vertices that carry no information: invalid, without area, or duplicate.
//!
//! Input: any mesh.
//! Output: the mesh without them, and their numbers.
//! Cost: linear.
//! Not for: closing the gaps that result; that is [`super::fill_holes`].

use std::collections::HashMap;

use crate::mesh::topology::{DisjointSets, NO_FACE, Topology, is_degenerate, sorted_corners};
use crate::mesh::triangle_mesh::TriangleMesh;
use crate::mesh::weld::welded_faces;

/// Removes the entries at the given indices, which are sorted.
pub(super) fn remove_numbers<T>(list: &mut Vec<T>, numbers: &[u32]) {
    let mut gone = numbers.iter().copied().peekable();
    let mut index = 0u32;
    list.retain(|_| {
        let keep = gone.next_if_eq(&index).is_none();
        index += 1;
        keep
    });
}

/// Drops faces with an index out of range or a vertex that is not finite. Returns their numbers.
pub fn drop_invalid(mesh: &mut TriangleMesh) -> Vec<u32> {
    let usable = |v: u32| mesh.vertices.get(v as usize).is_some_and(|p| p.is_finite());
    let dropped: Vec<u32> = (0u32..)
        .zip(&mesh.faces)
        .filter(|(_, face)| !face.iter().all(|&v| usable(v)))
        .map(|(index, _)| index)
        .collect();
    remove_numbers(&mut mesh.faces, &dropped);
    dropped
}

/// Removes vertices that no face uses, and renumbers the rest. Returns the old numbers of the
/// removed vertices.
pub fn remove_unreferenced(mesh: &mut TriangleMesh) -> Vec<u32> {
    let mut new_number = vec![u32::MAX; mesh.vertices.len()];
    for &v in mesh.faces.iter().flatten() {
        if let Some(number) = new_number.get_mut(v as usize) {
            *number = 0;
        }
    }
    let mut removed = Vec::new();
    let mut count = 0;
    for (vertex, number) in (0u32..).zip(&mut new_number) {
        if *number == u32::MAX {
            removed.push(vertex);
        } else {
            *number = count;
            count += 1;
        }
    }
    remove_numbers(&mut mesh.vertices, &removed);
    for v in mesh.faces.iter_mut().flatten() {
        // An index out of range stays out of range.
        *v = new_number.get(*v as usize).copied().unwrap_or(u32::MAX);
    }
    removed
}

/// Changes made by [`drop_degenerate`]; numbers are those before the call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DegenerateReport {
    /// Faces that were dropped, in order.
    pub dropped: Vec<u32>,
    /// `[face, neighbour]` pairs: the neighbour on the face's long side was cut in two at the
    /// face's middle corner, and the face became the second half. The surface stays closed.
    pub split: Vec<[u32; 2]>,
}

/// Largest number of rounds of splitting before the remaining flat faces are dropped; each round
/// can expose another face without area behind it. A border of 64 collinear points takes seven.
const SPLIT_ROUNDS: usize = 16;

/// Removes faces without area. Faces with two coincident corners are dropped. For faces with three
/// collinear corners, the neighbour on the long side is split at the middle corner, so that no
/// crack opens; where that is impossible they are dropped.
pub fn drop_degenerate(mesh: &mut TriangleMesh) -> DegenerateReport {
    let split = split_flat_faces(mesh, 0);
    let dropped = flat_faces(mesh, &welded_faces(mesh), 0);
    remove_numbers(&mut mesh.faces, &dropped);
    DegenerateReport { dropped, split }
}

/// Returns the faces without area, from number `first` on.
fn flat_faces(mesh: &TriangleMesh, welded: &[[u32; 3]], first: usize) -> Vec<u32> {
    (first..welded.len())
        .filter(|&face| welded[face] != NO_FACE && is_degenerate(mesh, face))
        .map(|face| face as u32)
        .collect()
}

/// Splits the neighbours on the long sides of faces without area, from number `first` on. Returns
/// `[face, neighbour]` of each.
pub(super) fn split_flat_faces(mesh: &mut TriangleMesh, first: usize) -> Vec<[u32; 2]> {
    let mut all = Vec::new();
    for _ in 0..SPLIT_ROUNDS {
        let welded = welded_faces(mesh);
        let flat = flat_faces(mesh, &welded, first);
        if flat.is_empty() {
            break;
        }
        let topology = Topology::new(mesh.vertices.len(), &welded);
        let splits = split_long_sides(mesh, &topology, &flat);
        if splits.is_empty() {
            break;
        }
        all.extend(splits);
    }
    all
}

/// Splits the neighbours of flat faces where possible. Returns `[face, neighbour]` of each.
fn split_long_sides(mesh: &mut TriangleMesh, topology: &Topology, flat: &[u32]) -> Vec<[u32; 2]> {
    let mut splits = Vec::new();
    let mut touched = vec![false; mesh.faces.len()];
    for &face in flat {
        let corners = topology.faces()[face as usize];
        if corners == NO_FACE {
            continue;
        }
        // Find the longest side and the neighbour across it.
        let position = |v: u32| mesh.vertices[v as usize];
        let length =
            |i: usize| position(corners[i]).distance_squared(position(corners[(i + 1) % 3]));
        let longest = (0..3).fold(0, |best, i| if length(i) > length(best) { i } else { best });
        let [a, b, between] = [0, 1, 2].map(|i| corners[(longest + i) % 3]);
        let Some(edge) = topology.edge_between(a, b) else {
            continue;
        };
        let [first, second] = edge.uses else {
            continue;
        };
        let neighbour = if first.face == face {
            second.face
        } else {
            first.face
        };
        let across = topology.faces()[neighbour as usize];
        // The new edge must not exist yet, and both faces must be untouched in this round.
        let apex = across.iter().copied().find(|&v| v != a && v != b);
        let fits = apex
            .is_some_and(|apex| apex != between && topology.edge_between(apex, between).is_none());
        let is_flat = flat.binary_search(&neighbour).is_ok();
        if !fits || is_flat || touched[face as usize] || touched[neighbour as usize] {
            continue;
        }
        let with = |old: u32| across.map(|v| if v == old { between } else { v });
        mesh.faces[neighbour as usize] = with(b);
        mesh.faces[face as usize] = with(a);
        touched[face as usize] = true;
        touched[neighbour as usize] = true;
        splits.push([face, neighbour]);
    }
    splits
}

/// Changes made by [`drop_duplicates`]; numbers are those before the call, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DuplicateReport {
    /// Redundant copies that were dropped while one face over the same corners stays.
    pub copies: Vec<u32>,
    /// Faces dropped together with equally many copies facing the other way: they bound nothing.
    pub cancelled: Vec<u32>,
}

/// Leaves at most one face over any three corners.
///
/// Copies count 1 or −1 by orientation, as they do in the winding number. When the sum is not zero,
/// the first face of the majority stays. When it is zero, the faces may be a wall between two glued
/// solids (all go) or a surface that was written twice (one stays). Patches of such faces are
/// judged by their rim: if one face per group there closes the rest of the mesh, the first stays,
/// else all go. A part of the mesh made only of such faces, a sheet of zero thickness, keeps one
/// face each, because otherwise it would vanish.
pub fn drop_duplicates(mesh: &mut TriangleMesh) -> DuplicateReport {
    let welded = welded_faces(mesh);
    // Group the faces by corners, and sum their orientations.
    let mut group_over: HashMap<[u32; 3], usize> = HashMap::with_capacity(welded.len());
    let mut groups: Vec<Group> = Vec::new();
    let mut group_of = vec![usize::MAX; welded.len()];
    for (face, &corners) in welded.iter().enumerate() {
        let [a, b, c] = corners;
        if a == b || b == c || c == a {
            continue;
        }
        let (sorted, even) = sorted_corners(corners);
        let group = *group_over.entry(sorted).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Group {
                first: [usize::MAX; 2],
                sum: 0,
            });
        }
        groups[group].sum += if even { 1 } else { -1 };
        let first = &mut groups[group].first[usize::from(!even)];
        *first = face.min(*first);
        group_of[face] = group;
    }
    let keeps_one = undecided_that_stay(&welded, &groups, &group_of, mesh.vertices.len());

    // Decide for each group which face stays.
    let mut report = DuplicateReport::default();
    for (face, &group) in group_of.iter().enumerate() {
        let Some(&Group { first, sum }) = groups.get(group) else {
            continue;
        };
        let kept = match sum {
            0 if keeps_one[group] => first[0].min(first[1]),
            0 => {
                report.cancelled.push(face as u32);
                continue;
            }
            sum => first[usize::from(sum < 0)],
        };
        if face != kept {
            report.copies.push(face as u32);
        }
    }
    let mut dropped = [&report.copies[..], &report.cancelled].concat();
    dropped.sort_unstable();
    remove_numbers(&mut mesh.faces, &dropped);
    report
}

/// Faces over the same corners.
#[derive(Clone, Copy)]
struct Group {
    /// First face of even and of odd orientation.
    first: [usize; 2],
    /// Number of even faces minus number of odd ones.
    sum: i64,
}

/// Returns, for every group that cancels, whether one of its faces stays.
fn undecided_that_stay(
    welded: &[[u32; 3]],
    groups: &[Group],
    group_of: &[usize],
    vertex_count: usize,
) -> Vec<bool> {
    let mut stays = vec![false; groups.len()];
    if groups.iter().all(|group| group.sum != 0) {
        return stays;
    }
    let topology = Topology::new(vertex_count, welded);
    // One entry per group and edge.
    let groups_at = |edge: &super::super::Edge<'_>| {
        let mut at: Vec<usize> = edge
            .uses
            .iter()
            .map(|h| group_of[h.face as usize])
            .collect();
        at.sort_unstable();
        at.dedup();
        at
    };
    let cancels = |group: &usize| groups[*group].sum == 0;

    // Patches: groups that cancel, joined across edges where there is nothing else.
    let mut patches = DisjointSets::new(groups.len());
    for edge in topology.edges() {
        if let [a, b] = groups_at(&edge)[..]
            && cancels(&a)
            && cancels(&b)
        {
            patches.join(a as u32, b as u32);
        }
    }
    // At the rim, an odd number of other faces needs one more, an even number none.
    let mut votes = vec![0i64; groups.len()];
    for edge in topology.edges() {
        let at = groups_at(&edge);
        let others = at.iter().filter(|group| !cancels(group)).count();
        let undecided: Vec<usize> = at.into_iter().filter(cancels).collect();
        if others > 0 || undecided.len() == 1 {
            for group in undecided {
                votes[patches.root(group as u32) as usize] += if others % 2 == 1 { 1 } else { -1 };
            }
        }
    }
    // A part that consists only of such faces would vanish.
    let parts = topology.components_by_vertices();
    let mut survives = vec![false; parts.count];
    for (face, &part) in parts.of_face.iter().enumerate() {
        let group = group_of[face];
        if group < groups.len() {
            let wanted = !cancels(&group) || votes[patches.root(group as u32) as usize] > 0;
            survives[part as usize] |= wanted;
        }
    }
    for (face, &part) in parts.of_face.iter().enumerate() {
        let group = group_of[face];
        if group < groups.len() && cancels(&group) {
            let wanted = votes[patches.root(group as u32) as usize] > 0;
            stays[group] = wanted || !survives[part as usize];
        }
    }
    stays
}
