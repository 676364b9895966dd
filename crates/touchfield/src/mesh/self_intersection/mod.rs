//! Pairs of faces that run into each other.
//!
//! Input: a mesh; faces with bad indices or without area take no part.
//! Output: every pair that meets anywhere but in the vertices and edges it shares, sorted; exact, no tolerance.
//! Cost: a box tree and about seven pair tests a face: the 70k-triangle bunny takes well under 100 ms of one core.
//! Not for: soups of long slivers whose boxes all overlap; those take time with the square of their number. A limit on
//! the pairs keeps meshes that really overlap everywhere in hand.
//!
//! Touching counts: a vertex that lies exactly on another face is a pair, because the solid is pinched there and rounding
//! decides on which side things fall. Vertices at bit-identical positions are shared, whatever their index.
//! Copies of a face are not listed; `validate` names them as duplicates.

mod triangle_pair;

use std::ops::ControlFlow;

use super::{TriangleMesh, box_tree::BoxTree, topology::NO_FACE, weld::welded_faces};
use crate::geom::DAabb;
use crate::threads;
use triangle_pair::{Face, faces_cross};

/// What [`self_intersections`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelfIntersections {
    /// Pairs of face numbers, the lower first; sorted.
    pub pairs: Vec<[u32; 2]>,
    /// Whether these are all; `false` when the search stopped at the limit.
    pub complete: bool,
}

/// All pairs of faces that meet beyond their shared vertices and edges; at most `limit` of them, if given.
///
/// Which pairs a limit leaves out depends on nothing but the mesh.
pub fn self_intersections(mesh: &TriangleMesh, limit: Option<usize>) -> SelfIntersections {
    let faces = welded_faces(mesh);
    let with_area: Vec<bool> = (0..faces.len())
        .map(|face| faces[face] != NO_FACE && !super::validate::is_degenerate(mesh, face))
        .collect();
    crossing_faces(mesh, &faces, &with_area, None, limit)
}

/// As [`self_intersections`], with `faces` over welded vertices; those without `with_area` take no part. `order` names all faces so
/// that neighbours in it are neighbours in space, where such an order is at hand.
pub(crate) fn crossing_faces(
    mesh: &TriangleMesh,
    faces: &[[u32; 3]],
    with_area: &[bool],
    order: Option<&[u32]>,
    limit: Option<usize>,
) -> SelfIntersections {
    let corners = |face: usize| faces[face].map(|v| mesh.vertices[v as usize]);
    let with_box = |face: u32| {
        let face_box = || (face, DAabb::of_points(corners(face as usize)));
        with_area[face as usize].then(face_box)
    };
    let tree = match order {
        Some(order) => BoxTree::in_order(order.iter().copied().filter_map(with_box)),
        None => BoxTree::new((0..faces.len() as u32).filter_map(with_box)),
    };
    // In the order of the tree: neighbours in space are neighbours in memory.
    let ordered: Vec<Face> = tree
        .items
        .iter()
        .map(|&face| Face::new(faces[face as usize], corners(face as usize)))
        .collect();
    let limit = limit.unwrap_or(usize::MAX);

    // Work goes in chunks, a round of them at a time, so that a limit ends it early at the same place whatever
    // the number of threads. Tuned: smaller rounds wait more, larger ones overshoot the limit further.
    const CHUNK: usize = 128;
    const CHUNKS_PER_ROUND: usize = 64;
    let search = |chunk: usize| {
        let end = ((chunk + 1) * CHUNK).min(ordered.len());
        let mut pairs = Vec::new();
        for position in chunk * CHUNK..end {
            pairs_from(&tree, &ordered, position, limit, &mut pairs);
        }
        pairs
    };
    let chunk_count = ordered.len().div_ceil(CHUNK);
    let mut pairs: Vec<[u32; 2]> = Vec::new();
    let mut complete = true;
    for round in (0..chunk_count).step_by(CHUNKS_PER_ROUND) {
        let chunks = round..(round + CHUNKS_PER_ROUND).min(chunk_count);
        let found = threads::map(chunks.len(), |chunk| search(chunks.start + chunk));
        pairs.extend(found.into_iter().flatten());
        if pairs.len() > limit {
            pairs.truncate(limit);
            complete = false;
            break;
        }
    }
    pairs.sort_unstable();
    SelfIntersections { pairs, complete }
}

/// Adds the pairs of the face at `position` with those behind it; one more than `limit` is enough.
fn pairs_from(
    tree: &BoxTree,
    ordered: &[Face],
    position: usize,
    limit: usize,
    pairs: &mut Vec<[u32; 2]>,
) {
    let own = tree.boxes[position];
    let overlaps = |other: &DAabb| own.min.cmple(other.max).all() && other.min.cmple(own.max).all();
    tree.visit(position + 1, overlaps, |other| {
        if pairs.len() > limit {
            return ControlFlow::Break(());
        }
        if faces_cross(&ordered[position], &ordered[other]) {
            let (a, b) = (tree.items[position], tree.items[other]);
            pairs.push([a.min(b), a.max(b)]);
        }
        ControlFlow::Continue(())
    });
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::super::test_meshes::*;
    use super::*;

    /// Segment against triangle by solving for the parameters; `None` when too close to call.
    fn clearly_pierces([p, q]: [DVec3; 2], [a, b, c]: [DVec3; 3]) -> Option<bool> {
        let matrix = glam::DMat3::from_cols(b - a, c - a, p - q);
        let x = matrix.inverse() * (p - a);
        let inside = [x.x, x.y, 1.0 - x.x - x.y, x.z, 1.0 - x.z];
        let worst = inside.into_iter().fold(f64::INFINITY, f64::min);
        (worst.abs() > 1e-7 && matrix.determinant().abs() > 1e-9).then_some(worst > 0.0)
    }

    #[test]
    fn agrees_with_brute_force_on_random_soups() {
        let mut random = Random(2);
        let mut compared = [0usize; 2];
        for size in [0.05, 0.3, 1.0] {
            let mut triangles = TriangleMesh::default();
            for face in 0..300u32 {
                let mut point =
                    |scale: f64| scale * DVec3::new(random.unit(), random.unit(), random.unit());
                let center = point(1.0);
                triangles.vertices.extend([
                    center + point(size),
                    center + point(size),
                    center + point(size),
                ]);
                triangles.faces.push([3 * face, 3 * face + 1, 3 * face + 2]);
            }
            let found = self_intersections(&triangles, None);
            assert!(found.complete && found.pairs.is_sorted());
            for a in 0..300u32 {
                for b in a + 1..300 {
                    let [s, t] = [a, b].map(|f| triangles.triangle(f as usize).corners());
                    let edges = (0..3).flat_map(|i| {
                        let j = (i + 1) % 3;
                        [
                            clearly_pierces([s[i], s[j]], t),
                            clearly_pierces([t[i], t[j]], s),
                        ]
                    });
                    let answers: Option<Vec<bool>> = edges.collect();
                    if let Some(answers) = answers {
                        let expected = answers.contains(&true);
                        let listed = found.pairs.binary_search(&[a, b]).is_ok();
                        assert_eq!(listed, expected, "faces {a} and {b} of size {size}");
                        compared[usize::from(expected)] += 1;
                    }
                }
            }
        }
        assert!(compared[0] > 100_000 && compared[1] > 2_000, "{compared:?}");
    }

    #[test]
    fn a_limit_is_kept_and_said() {
        let heap = merged(
            &(0..40)
                .map(|i| moved(icosphere(2, 1.0), [0.01 * f64::from(i), 0.0, 0.0]))
                .collect::<Vec<_>>(),
        );
        let all = self_intersections(&heap, None);
        assert!(all.complete && all.pairs.len() > 10_000);
        let some = self_intersections(&heap, Some(500));
        assert_eq!((some.pairs.len(), some.complete), (500, false));
        assert!(
            some.pairs.is_sorted()
                && some
                    .pairs
                    .iter()
                    .all(|pair| all.pairs.binary_search(pair).is_ok())
        );
        let exactly = self_intersections(&heap, Some(all.pairs.len()));
        assert_eq!(exactly, all);
    }

    #[cfg(feature = "parallel")]
    #[test]
    fn the_list_is_the_same_over_thread_counts() {
        let heap = merged(
            &(0..20)
                .map(|i| moved(icosphere(3, 1.0), [0.1 * f64::from(i), 0.0, 0.0]))
                .collect::<Vec<_>>(),
        );
        let with = |count| {
            threads::with(count, || {
                (
                    self_intersections(&heap, Some(1000)),
                    self_intersections(&heap, None),
                )
            })
        };
        let one = with(1);
        assert!([2, 3, 8].into_iter().all(|count| with(count) == one));
    }

    #[test]
    fn a_regular_grid_in_one_plane_and_a_sphere_do_not_touch_themselves() {
        let n = 40u32;
        let mut sheet = TriangleMesh::default();
        for y in 0..=n {
            for x in 0..=n {
                // In one plane that is not along the axes; exact in `f64`.
                sheet.vertices.push(DVec3::new(
                    f64::from(x),
                    f64::from(y),
                    f64::from(2 * x + 3 * y),
                ));
            }
        }
        for v in (0..n).flat_map(|y| (0..n).map(move |x| y * (n + 1) + x)) {
            sheet
                .faces
                .extend([[v, v + 1, v + n + 2], [v, v + n + 2, v + n + 1]]);
        }
        assert_eq!(
            self_intersections(&sheet, None).pairs,
            Vec::<[u32; 2]>::new()
        );
        // One vertex folded over its neighbour: only its six faces can be involved.
        let folded = (n + 1) * 20 + 20;
        sheet.vertices[folded as usize] += DVec3::new(1.5, 0.0, 3.0);
        let pairs = self_intersections(&sheet, None).pairs;
        assert!(!pairs.is_empty());
        let moved = |f: u32| sheet.faces[f as usize].contains(&folded);
        assert!(
            pairs.iter().all(|&[a, b]| moved(a) || moved(b)),
            "{pairs:?}"
        );
        assert!(
            self_intersections(&icosphere(5, 1.0), None)
                .pairs
                .is_empty()
        );
    }
}
