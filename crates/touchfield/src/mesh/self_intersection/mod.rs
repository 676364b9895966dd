//! Self-intersections: pairs of faces that intersect.
//!
//! Input: a mesh; faces with bad indices or without area take no part.
//! Output: every pair that meets anywhere but in the vertices and edges it shares, sorted; exact,
//! without a tolerance.
//! Cost: a box tree and about seven pair tests per face; the bunny of 70k triangles takes well
//! under 100 ms on one core.
//! Not for: soups of long slivers whose boxes all overlap: their cost is quadratic. A limit on the
//! pairs implies one on the tests, which bounds the time.
//!
//! Touching counts: a vertex that lies exactly on another face is a pair, because the solid is
//! pinched there and rounding decides on which side points fall. Vertices at bit-identical
//! positions count as shared, whatever their index. Of faces over the same three corners only the
//! first takes part; `validate` reports the others as duplicates.
//!
//! Faces around one vertex or one edge have boxes that all overlap. Where there are many, the
//! search in space skips their pairs and a search by direction compares them instead ([`hub`]).

mod answer;
mod hub;
pub use answer::SelfIntersections;
mod pair_search;
mod triangle_pair;

use std::collections::HashSet;

use crate::geom::DAabb;
use crate::mesh::box_tree::BoxTree;
use crate::mesh::topology::{NO_FACE, sorted_corners};
use crate::mesh::triangle_mesh::TriangleMesh;
use crate::mesh::weld::welded_faces;
use hub::Hubs;
use pair_search::{PairSearch, Surface};

/// Finds all pairs of faces that meet beyond their shared vertices and edges; at most `limit` of
/// them, if given.
///
/// With a limit the work is limited too, and may end before `limit` pairs are found. Without one
/// the run time is not bounded. Which pairs a limit leaves out depends on the mesh alone.
pub fn self_intersections(mesh: &TriangleMesh, limit: Option<usize>) -> SelfIntersections {
    let faces = welded_faces(mesh);
    let take_part = first_with_area(mesh, &faces);
    crossing_faces(mesh, &faces, &take_part, None, limit)
}

/// Marks, among the faces over the same three corners, the first that has area.
fn first_with_area(mesh: &TriangleMesh, faces: &[[u32; 3]]) -> Vec<bool> {
    let mut seen = HashSet::with_capacity(faces.len());
    let is_first = |face: usize| {
        let has_area = faces[face] != NO_FACE && !super::topology::is_degenerate(mesh, face);
        has_area && seen.insert(sorted_corners(faces[face]).0)
    };
    (0..faces.len()).map(is_first).collect()
}

/// Computes [`self_intersections`] for `faces` over welded vertices. Faces that `take_part` must
/// have area, and no two of them the same corners. `order`, if available, lists all faces so that
/// neighbours in it are neighbours in space.
pub(crate) fn crossing_faces(
    mesh: &TriangleMesh,
    faces: &[[u32; 3]],
    take_part: &[bool],
    order: Option<&[u32]>,
    limit: Option<usize>,
) -> SelfIntersections {
    search(mesh, faces, take_part, order, limit).into_result()
}

fn search(
    mesh: &TriangleMesh,
    faces: &[[u32; 3]],
    take_part: &[bool],
    order: Option<&[u32]>,
    limit: Option<usize>,
) -> PairSearch {
    let surface = Surface {
        vertices: &mesh.vertices,
        faces,
    };
    let with_box = |face: u32| {
        let face_box = || (face, DAabb::of_points(surface.corners(face)));
        take_part[face as usize].then(face_box)
    };
    let tree = match order {
        Some(order) => BoxTree::in_order(order.iter().copied().filter_map(with_box)),
        None => BoxTree::new((0..faces.len() as u32).filter_map(with_box)),
    };
    let hubs = Hubs::new(surface, take_part);
    let mut search = PairSearch::new(tree.items.len(), limit);
    search.add_pairs_among(tree, surface, |face| hubs.among(face));
    hubs.search(surface, &mut search);
    search
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::super::test_meshes::*;
    use super::triangle_pair::{Face, faces_cross};
    use super::*;

    /// Tests a segment against a triangle by solving for the parameters; `None` when too close to
    /// decide.
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

    /// Finds the pairs by testing every two faces.
    fn brute_force(mesh: &TriangleMesh) -> Vec<[u32; 2]> {
        let surface = Surface {
            vertices: &mesh.vertices,
            faces: &welded_faces(mesh),
        };
        let take_part = first_with_area(mesh, surface.faces);
        let used = (0..mesh.faces.len() as u32).filter(|&face| take_part[face as usize]);
        let faces: Vec<(u32, Face)> = used
            .map(|face| (face, Face::new(surface.face(face), surface.corners(face))))
            .collect();
        let mut pairs = Vec::new();
        for (i, (a, face)) in faces.iter().enumerate() {
            let crossing = faces[i + 1..]
                .iter()
                .filter(|(_, other)| faces_cross(face, other));
            pairs.extend(crossing.map(|(b, _)| [*a, *b]));
        }
        pairs
    }

    fn has_hubs(mesh: &TriangleMesh) -> bool {
        let faces = &welded_faces(mesh);
        let surface = Surface {
            vertices: &mesh.vertices,
            faces,
        };
        !Hubs::new(surface, &first_with_area(mesh, faces)).is_empty()
    }

    fn tests_for(mesh: &TriangleMesh, limit: Option<usize>) -> (SelfIntersections, u64) {
        let faces = welded_faces(mesh);
        let search = search(mesh, &faces, &first_with_area(mesh, &faces), None, limit);
        let tests = search.tests();
        (search.into_result(), tests)
    }

    /// Rotates a mesh so that its directions are away from the axes.
    fn tilted(mut mesh: TriangleMesh) -> TriangleMesh {
        let turn = glam::DQuat::from_euler(glam::EulerRot::XYZ, 0.7, 0.5, 0.3);
        for vertex in &mut mesh.vertices {
            *vertex = turn * *vertex;
        }
        mesh
    }

    fn rim(n: u32) -> impl Iterator<Item = [f64; 3]> {
        let angle = move |i| std::f64::consts::TAU * f64::from(i) / f64::from(n);
        (0..n).map(move |i| [angle(i).cos(), angle(i).sin(), 0.5])
    }

    /// Returns faces around the edge between vertices 0 and 1.
    fn edge_fan(apexes: impl IntoIterator<Item = [f64; 3]>) -> TriangleMesh {
        let vertices: Vec<_> = [[0.0; 3], [0.0, 0.0, 1.0]]
            .into_iter()
            .chain(apexes)
            .collect();
        let faces: Vec<_> = (2..vertices.len() as u32)
            .map(|apex| [0, 1, apex])
            .collect();
        mesh(&vertices, &faces)
    }

    /// Returns a disc of triangles around its centre.
    fn disc(n: u32) -> TriangleMesh {
        let vertices: Vec<_> = [[0.0, 0.0, 0.5]].into_iter().chain(rim(n)).collect();
        let faces: Vec<_> = (0..n).map(|i| [0, 1 + i, 1 + (i + 1) % n]).collect();
        mesh(&vertices, &faces)
    }

    /// Returns faces from the origin to segments at random places.
    fn spikes(n: u32, width: f64, random: &mut Random) -> TriangleMesh {
        let mut spikes = TriangleMesh::default();
        spikes.vertices.push(DVec3::ZERO);
        for i in 0..n {
            let mut point = || 2.0 * DVec3::new(random.unit(), random.unit(), random.unit()) - 1.0;
            let (out, aside) = (point(), point());
            spikes.vertices.extend([out, out + width * aside]);
            spikes.faces.push([0, 2 * i + 1, 2 * i + 2]);
        }
        spikes
    }

    /// Returns a tilted stack of parallel faces whose boxes all overlap.
    fn stack(n: u32) -> TriangleMesh {
        let layer = |i| {
            moved(
                mesh(&[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], &[[0, 1, 2]]),
                [0.0, 0.0, 1e-6 * f64::from(i)],
            )
        };
        tilted(merged(&(0..n).map(layer).collect::<Vec<_>>()))
    }

    #[test]
    fn agrees_with_brute_force_around_vertices_and_edges_with_many_faces() {
        let mut random = Random(7);
        let mut lattice = |n: usize, size: usize| -> Vec<[f64; 3]> {
            let mut point = || [0; 3].map(|_: i32| random.below(size) as f64 - (size / 2) as f64);
            (0..n).map(|_| point()).collect()
        };
        let all_faces = |n: u32| -> Vec<[u32; 3]> {
            let pairs = (0..n).flat_map(move |a| (a + 1..n).map(move |b| [a, b]));
            pairs
                .flat_map(|[a, b]| (b + 1..n).map(move |c| [a, b, c]))
                .collect()
        };
        // The three edges of a triangle, each with many faces.
        let mut three_fans = mesh(&lattice(150, 9), &[]);
        three_fans.vertices[..3].copy_from_slice(&[DVec3::ZERO, DVec3::X, DVec3::Y]);
        for (edge, apexes) in [([0, 1], 3..100), ([1, 2], 50..150), ([0, 2], 3..150)] {
            three_fans
                .faces
                .extend(apexes.map(|apex| [edge[0], edge[1], apex]));
        }
        let (folded, corners) = (lattice(200, 7), lattice(20, 6));
        let slab: Vec<[f64; 3]> = lattice(20, 9)
            .into_iter()
            .map(|[x, y, _]| [x, y, 2.0 * x - y])
            .collect();
        let mut random = Random(8);
        let cases = [
            ("edge fan", edge_fan(rim(150))),
            ("edge fan, folded", edge_fan(folded)),
            ("three edge fans", three_fans),
            ("disc", tilted(disc(200))),
            ("two discs", merged(&[disc(150), tilted(disc(150))])),
            (
                "disc with a disc turned in it",
                merged(&[disc(150), disc(149)]),
            ),
            ("narrow spikes", spikes(200, 0.05, &mut random)),
            ("wide spikes", spikes(200, 3.0, &mut random)),
            ("all faces over 20 corners", mesh(&corners, &all_faces(20))),
            (
                "all faces over 20 corners in a plane",
                mesh(&slab, &all_faces(20)),
            ),
        ];
        let mut crossing = 0;
        for (name, mesh) in cases {
            assert!(has_hubs(&mesh), "{name}");
            let (found, expected) = (self_intersections(&mesh, None), brute_force(&mesh));
            assert!(found.complete, "{name}");
            assert_eq!(found.pairs, expected, "{name}");
            crossing += usize::from(!expected.is_empty());
        }
        assert!(crossing >= 6, "{crossing} cases cross");
    }

    #[test]
    fn many_faces_at_one_place_take_few_tests() {
        let n = 20_000;
        let mut wheel = merged(&[disc(n), disc(n)]);
        for vertex in &mut wheel.vertices[n as usize + 1..] {
            vertex.z += 1.0;
        }
        let copies = mesh(
            &[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            &vec![[0, 1, 2]; n as usize],
        );
        for (name, mesh, most) in [
            ("edge fan", edge_fan(rim(n)), 8.0),
            ("edge fan, tilted", tilted(edge_fan(rim(n))), 8.0),
            ("disc", disc(n), 8.0),
            ("disc, tilted", tilted(disc(n)), 8.0),
            ("two discs", wheel, 8.0),
            ("copies of a face", copies, 0.0),
        ] {
            let (found, tests) = tests_for(&mesh, None);
            assert_eq!(
                found,
                SelfIntersections {
                    pairs: vec![],
                    complete: true
                },
                "{name}"
            );
            let a_face = tests as f64 / mesh.faces.len() as f64;
            assert!(a_face <= most, "{name}: {a_face} tests a face");
        }
    }

    #[test]
    fn of_copies_only_the_first_is_listed() {
        let wall = mesh(
            &[
                [-1.0, -1.0, 0.0],
                [1.0, -1.0, 0.0],
                [0.0, 1.0, 0.0],
                [0.0, 0.0, -1.0],
                [0.0, 0.0, 1.0],
                [5.0, 0.0, 0.0],
            ],
            &[[0, 1, 2], [2, 1, 0], [3, 4, 5], [0, 1, 2], [5, 3, 4]],
        );
        assert_eq!(self_intersections(&wall, None).pairs, [[0, 2]]);
    }

    #[test]
    fn with_a_limit_the_work_is_limited_and_it_is_said() {
        let stack = stack(10_000);
        let (found, tests) = tests_for(&stack, Some(10));
        assert_eq!(
            found,
            SelfIntersections {
                pairs: vec![],
                complete: false
            }
        );
        assert!(tests < 40_000_000, "{tests}");
        // A face as large as the whole mesh must not exhaust the limit.
        let mut sphere = icosphere(4, 1.0);
        let first = sphere.vertices.len() as u32;
        sphere
            .vertices
            .extend([[-9.0, -9.0, -2.0], [9.0, -9.0, -2.0], [0.0, 9.0, 5.0]].map(DVec3::from));
        sphere.faces.push([first, first + 1, first + 2]);
        let found = self_intersections(&sphere, Some(100_000));
        assert!(found.complete);
        assert_eq!(found, self_intersections(&sphere, None));
    }

    #[cfg(feature = "parallel")]
    #[test]
    fn the_list_is_the_same_over_thread_counts() {
        let heap = merged(
            &(0..20)
                .map(|i| moved(icosphere(3, 1.0), [0.1 * f64::from(i), 0.0, 0.0]))
                .collect::<Vec<_>>(),
        );
        let spikes = spikes(1000, 0.5, &mut Random(3));
        let too_much = merged(&[icosphere(2, 0.3), stack(9_000)]);
        let with = |count| {
            crate::threads::with(count, || {
                (
                    self_intersections(&heap, Some(1000)),
                    self_intersections(&heap, None),
                    self_intersections(&spikes, None),
                    self_intersections(&spikes, Some(300)),
                )
            })
        };
        let one = with(1);
        assert!(!one.3.complete);
        assert!([2, 3, 8].into_iter().all(|count| with(count) == one));

        let given_up = |count| crate::threads::with(count, || tests_for(&too_much, Some(1000)));
        let one = given_up(1);
        assert!(!one.0.complete && !one.0.pairs.is_empty());
        assert_eq!(given_up(3), one);
    }

    #[test]
    fn a_regular_grid_in_one_plane_and_a_sphere_do_not_touch_themselves() {
        let n = 40u32;
        let mut sheet = TriangleMesh::default();
        for y in 0..=n {
            for x in 0..=n {
                // In one plane that is not aligned with the axes; exact in `f64`.
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
