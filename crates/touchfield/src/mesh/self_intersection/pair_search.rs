//! Search for pairs of faces that meet, through a tree of boxes.
//!
//! Input: a tree whose boxes overlap where faces can meet, and for each face the vertices whose
//! pairs are searched elsewhere.
//! Output: the pairs so far, and whether a limit ended the search.
//! Cost: one test for every two faces whose boxes overlap, up to [`Limits`].
//! Not for: choosing the boxes. In space they are those of the faces; around a vertex see `hub`.

use std::ops::{ControlFlow, Range};

use glam::DVec3;

use super::super::box_tree::BoxTree;
use super::triangle_pair::{Face, faces_cross};
use crate::geom::DAabb;
use crate::mesh::self_intersection::answer::SelfIntersections;
use crate::threads;

/// The faces of a mesh over welded vertices.
#[derive(Clone, Copy)]
pub(super) struct Surface<'a> {
    pub(super) vertices: &'a [DVec3],
    pub(super) faces: &'a [[u32; 3]],
}

impl Surface<'_> {
    pub(super) fn face(&self, face: u32) -> [u32; 3] {
        self.faces[face as usize]
    }

    pub(super) fn corners(&self, face: u32) -> [DVec3; 3] {
        self.face(face).map(|v| self.vertices[v as usize])
    }
}

/// Vertices of a face whose pairs another search finds, padded with [`NO_VERTEX`].
pub(super) type Elsewhere = [u32; 3];

/// Marks an empty entry of an [`Elsewhere`].
pub(super) const NO_VERTEX: u32 = u32::MAX;

/// Limits at which the search gives up.
#[derive(Clone, Copy)]
struct Limits {
    pairs: usize,
    /// Total number of pair tests.
    tests: u64,
    /// Number of pair tests per chunk of faces.
    tests_of_chunk: u64,
}

impl Limits {
    fn new(faces: usize, pairs: Option<usize>) -> Limits {
        let Some(pairs) = pairs else {
            return Limits {
                pairs: usize::MAX,
                tests: u64::MAX,
                tests_of_chunk: u64::MAX,
            };
        };
        // Tuned: ten times the number for scanned and designed parts, and a few seconds of one core
        // at worst.
        let tests = (1 << 24) + 64 * faces as u64;
        Limits {
            pairs,
            tests,
            // The chunks of a round do not share a count. The limit must allow a few faces as large
            // as the whole mesh.
            tests_of_chunk: tests / CHUNKS_PER_ROUND as u64 + 4 * faces as u64,
        }
    }
}

// Work is done in chunks, a round of them at a time, so that a limit ends the search at the same
// place whatever the number of threads. Tuned: smaller rounds spend more time waiting, larger ones
// overshoot the limit further. The first rounds are small, because a mesh full of crossings reaches
// its limit in them.
const CHUNK: usize = 128;
const CHUNKS_PER_ROUND: usize = 64;

/// Faces that share one tree traversal. Tuned on the bunny: of 2, 4, 8 and 16 this takes the fewest
/// instructions.
const GROUP: usize = 8;

/// Pairs that meet, collected over one or more searches.
pub(super) struct PairSearch {
    limits: Limits,
    found: Found,
}

#[derive(Default)]
struct Found {
    pairs: Vec<[u32; 2]>,
    tests: u64,
    gave_up: bool,
}

impl PairSearch {
    /// Starts a search over a mesh of `faces` faces, for at most `limit` pairs if given.
    pub(super) fn new(faces: usize, limit: Option<usize>) -> PairSearch {
        PairSearch {
            limits: Limits::new(faces, limit),
            found: Found::default(),
        }
    }

    /// Returns whether a limit was reached.
    pub(super) fn is_over(&self) -> bool {
        self.found.gave_up
    }

    /// Returns the number of pair tests so far.
    #[cfg(test)]
    pub(super) fn tests(&self) -> u64 {
        self.found.tests
    }

    pub(super) fn into_result(self) -> SelfIntersections {
        let mut pairs = self.found.pairs;
        pairs.sort_unstable();
        SelfIntersections {
            pairs,
            complete: !self.found.gave_up,
        }
    }

    /// Adds the pairs that meet among the faces of a tree, except those that share an `elsewhere`
    /// vertex.
    pub(super) fn add_pairs_among(
        &mut self,
        tree: BoxTree,
        surface: Surface<'_>,
        elsewhere: impl Fn([u32; 3]) -> Elsewhere,
    ) {
        // In tree order: neighbours in space are neighbours in memory.
        let faces: Vec<Face> = (tree.items.iter())
            .map(|&face| Face::new(surface.face(face), surface.corners(face)))
            .collect();
        let elsewhere: Vec<Elsewhere> = (tree.items.iter())
            .map(|&face| elsewhere(surface.face(face)))
            .collect();
        let ordered = Ordered {
            common: tree.summed_up(|position| elsewhere[position], in_both),
            tree,
            faces,
            elsewhere,
        };
        let limits = self.limits;
        let chunk_count = ordered.faces.len().div_ceil(CHUNK);
        let (mut start, mut round) = (0, 2);
        while start < chunk_count && !self.is_over() {
            let chunks = round.min(chunk_count - start);
            let search = |chunk| ordered.pairs_of_chunk(start + chunk, limits);
            for of_chunk in threads::map(chunks, search) {
                self.take(of_chunk);
            }
            start += chunks;
            round = (2 * round).min(CHUNKS_PER_ROUND);
        }
    }

    fn take(&mut self, of_chunk: Found) {
        let Found {
            pairs,
            tests,
            gave_up,
        } = &mut self.found;
        pairs.extend(of_chunk.pairs);
        *tests += of_chunk.tests;
        *gave_up |=
            of_chunk.gave_up || pairs.len() > self.limits.pairs || *tests > self.limits.tests;
        pairs.truncate(self.limits.pairs);
    }
}

/// The faces of one search, in the order of their tree.
struct Ordered {
    tree: BoxTree,
    faces: Vec<Face>,
    elsewhere: Vec<Elsewhere>,
    /// Vertices that all faces below a node have in their `elsewhere`.
    common: Vec<Elsewhere>,
}

impl Ordered {
    fn pairs_of_chunk(&self, chunk: usize, limits: Limits) -> Found {
        let end = ((chunk + 1) * CHUNK).min(self.faces.len());
        let mut found = Found::default();
        for start in (chunk * CHUNK..end).step_by(GROUP) {
            self.add_pairs_of_group(start..(start + GROUP).min(end), limits, &mut found);
            if found.gave_up {
                break;
            }
        }
        found
    }

    /// Adds the pairs of each face of a group with the faces after it, up to one more than the
    /// limit. The tree traversal is shared, because it is almost the same for all of them.
    fn add_pairs_of_group(&self, group: Range<usize>, limits: Limits, found: &mut Found) {
        let boxes = &self.tree.boxes[group.clone()];
        let around = boxes.iter().fold(DAabb::EMPTY, |all, own| all.union(*own));
        let common = (self.elsewhere[group.clone()].iter().copied())
            .reduce(in_both)
            .unwrap_or([NO_VERTEX; 3]);
        let is_elsewhere = |node: usize| share_any(&common, &self.common[node]);
        let wanted = |other: &DAabb| overlap(&around, other);
        self.tree
            .visit_outside(group.start + 1, is_elsewhere, wanted, |other| {
                for position in group.start..group.end.min(other) {
                    if !overlap(&self.tree.boxes[position], &self.tree.boxes[other]) {
                        continue;
                    }
                    found.tests += 1;
                    if found.tests > limits.tests_of_chunk || found.pairs.len() > limits.pairs {
                        found.gave_up = true;
                        return ControlFlow::Break(());
                    }
                    if !share_any(&self.elsewhere[position], &self.elsewhere[other])
                        && faces_cross(&self.faces[position], &self.faces[other])
                    {
                        let [a, b] = [position, other].map(|position| self.tree.items[position]);
                        found.pairs.push([a.min(b), a.max(b)]);
                    }
                }
                ControlFlow::Continue(())
            });
    }
}

#[inline(always)]
fn overlap(a: &DAabb, b: &DAabb) -> bool {
    a.min.cmple(b.max).all() && b.min.cmple(a.max).all()
}

fn share_any(a: &Elsewhere, b: &Elsewhere) -> bool {
    a[0] != NO_VERTEX && b[0] != NO_VERTEX && a.iter().any(|v| *v != NO_VERTEX && b.contains(v))
}

fn in_both(a: Elsewhere, b: Elsewhere) -> Elsewhere {
    kept(a, |v| b.contains(&v))
}

/// Returns the vertices that are `wanted`, moved to the front.
pub(super) fn kept(vertices: [u32; 3], wanted: impl Fn(u32) -> bool) -> Elsewhere {
    let mut kept = [NO_VERTEX; 3];
    let wanted = (vertices.into_iter()).filter(|&v| v != NO_VERTEX && wanted(v));
    for (place, v) in kept.iter_mut().zip(wanted) {
        *place = v;
    }
    kept
}
