//! Ground truth for two triangle meshes in one pose, in `f64` and without any field: whether they
//! touch, and how far apart they are.
//!
//! Input: a [`Surface`] in frame A, and another placed in that frame.
//! Output: whether triangles cross; the exact distance between the surfaces.
//! Cost: milliseconds per pair of 70 thousand triangles each.
//! Not for: solids inside one another, whose surfaces are apart (see `contact_poses`), or run time.
//!
//! Crossings are decided by exact orientation signs \[Shewchuk1997\]; distances between triangles
//! come from their corners and edges \[Ericson2005\] §5.1.9.

use glam::{DQuat, DVec3};
use robust::{Coord3D, orient3d};
use touchfield::geom::DAabb;
use touchfield::mesh::TriangleMesh;
use touchfield_conformance::mesh_truth::{edge_distance_squared, triangle_distance_squared};

/// Pose of B in A in `f64`: takes coordinates in B to coordinates in A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExactPose {
    /// Rotation, applied first.
    pub rotation: DQuat,
    /// Translation, applied second \[m\].
    pub translation: DVec3,
}

impl ExactPose {
    /// Returns a point of B in frame A.
    pub fn transform_point(self, point_in_b: DVec3) -> DVec3 {
        self.rotation * point_in_b + self.translation
    }

    /// Returns the inverse, which takes coordinates in A to coordinates in B.
    pub fn inverse(self) -> ExactPose {
        let rotation = self.rotation.conjugate();
        ExactPose {
            rotation,
            translation: rotation * -self.translation,
        }
    }
}

/// Triangles under a BVH of axis-aligned boxes.
#[derive(Clone)]
pub struct Surface {
    triangles: Vec<[DVec3; 3]>,
    nodes: Vec<Node>,
}

#[derive(Clone, Copy)]
struct Node {
    bounds: DAabb,
    /// First triangle of a leaf, or second child of an inner node; the first child follows its
    /// parent.
    start: u32,
    /// Number of triangles of a leaf; 0 for an inner node.
    count: u32,
}

/// Most triangles per leaf: few, because box tests are cheaper than exact triangle tests.
const LEAF: usize = 2;

impl Surface {
    /// Builds the surface from the faces of a mesh, in its own frame.
    pub fn of(mesh: &TriangleMesh) -> Surface {
        let corners = |face: &[u32; 3]| face.map(|vertex| mesh.vertices[vertex as usize]);
        let mut surface = Surface {
            triangles: mesh.faces.iter().map(corners).collect(),
            nodes: Vec::new(),
        };
        surface.split(0, surface.triangles.len());
        surface
    }

    /// Builds the node over a range of triangles, and all nodes below it, splitting at the median
    /// along the longest axis.
    fn split(&mut self, first: usize, end: usize) {
        let part = &mut self.triangles[first..end];
        let node = self.nodes.len();
        self.nodes.push(Node {
            bounds: DAabb::of_points(part.iter().flatten().copied()),
            start: first as u32,
            count: part.len() as u32,
        });
        if part.len() <= LEAF {
            return;
        }
        let middle = |triangle: &[DVec3; 3]| triangle.iter().sum::<DVec3>();
        let axis = {
            let extents = DAabb::of_points(part.iter().map(middle)).extents();
            (0..3)
                .max_by(|&a, &b| extents[a].total_cmp(&extents[b]))
                .unwrap_or(0)
        };
        let half = part.len() / 2;
        part.select_nth_unstable_by(half, |a, b| middle(a)[axis].total_cmp(&middle(b)[axis]));
        self.split(first, first + half);
        self.nodes[node].start = self.nodes.len() as u32;
        self.nodes[node].count = 0;
        self.split(first + half, end);
    }

    /// Returns the surface in the target frame of `pose`: same tree, new boxes.
    pub fn placed(&self, pose: ExactPose) -> Surface {
        let mut moved = self.clone();
        for corner in moved.triangles.iter_mut().flatten() {
            *corner = pose.transform_point(*corner);
        }
        // Children come after their parents, so go backwards.
        for index in (0..moved.nodes.len()).rev() {
            let Node { start, count, .. } = moved.nodes[index];
            let start = start as usize;
            moved.nodes[index].bounds = if count == 0 {
                moved.nodes[index + 1]
                    .bounds
                    .union(moved.nodes[start].bounds)
            } else {
                let part = &moved.triangles[start..start + count as usize];
                DAabb::of_points(part.iter().flatten().copied())
            };
        }
        moved
    }

    /// Returns any point of the surface.
    pub fn any_point(&self) -> Option<DVec3> {
        self.triangles.first().map(|triangle| triangle[0])
    }
}

/// Returns whether a triangle of one surface crosses or touches a triangle of the other. Both are
/// in one frame.
pub fn surfaces_cross(a: &Surface, b: &Surface) -> bool {
    let mut stack = vec![(0, 0)];
    while let Some((node_a, node_b)) = stack.pop() {
        if box_distance_squared(a.nodes[node_a].bounds, b.nodes[node_b].bounds) > 0.0 {
            continue;
        }
        match children(a, b, node_a, node_b) {
            Some(pairs) => stack.extend(pairs),
            None => {
                let crossed = leaf_pairs(a, b, node_a, node_b)
                    .any(|(i, j)| triangles_cross(&a.triangles[i], &b.triangles[j]));
                if crossed {
                    return true;
                }
            }
        }
    }
    false
}

/// The nearest pair of triangles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearestTriangles {
    /// Distance between them \[m\]; 0 when the surfaces cross.
    pub distance: f64,
    /// Indices of the pair. Pass it as the hint for the next pose.
    pub pair: (usize, usize),
}

/// Returns the distance between two surfaces in one frame. `hint` is any pair of triangles; a near
/// pair makes the search faster.
pub fn surface_distance(a: &Surface, b: &Surface, hint: (usize, usize)) -> NearestTriangles {
    let between =
        |(i, j): (usize, usize)| triangle_pair_distance_squared(&a.triangles[i], &b.triangles[j]);
    let (mut best, mut pair) = (between(hint), hint);
    let mut stack = vec![(0.0, 0, 0)];
    while let Some((bound, node_a, node_b)) = stack.pop() {
        if bound >= best {
            continue;
        }
        match children(a, b, node_a, node_b) {
            Some(pairs) => {
                let bound = |(i, j): (usize, usize)| {
                    box_distance_squared(a.nodes[i].bounds, b.nodes[j].bounds)
                };
                let [near, far] = pairs.map(|(i, j)| (bound((i, j)), i, j));
                // The nearer pair goes on top of the stack and is visited first.
                stack.extend(if near.0 <= far.0 {
                    [far, near]
                } else {
                    [near, far]
                });
            }
            None => {
                for candidate in leaf_pairs(a, b, node_a, node_b) {
                    let distance = between(candidate);
                    if distance < best {
                        (best, pair) = (distance, candidate);
                    }
                }
            }
        }
    }
    NearestTriangles {
        distance: best.sqrt(),
        pair,
    }
}

/// Returns the two pairs after splitting the larger node, or `None` when both are leaves.
fn children(a: &Surface, b: &Surface, node_a: usize, node_b: usize) -> Option<[(usize, usize); 2]> {
    let (of_a, of_b) = (a.nodes[node_a], b.nodes[node_b]);
    let size = |node: Node| node.bounds.extents().length_squared();
    if of_a.count == 0 && (of_b.count != 0 || size(of_a) >= size(of_b)) {
        Some([(node_a + 1, node_b), (of_a.start as usize, node_b)])
    } else if of_b.count == 0 {
        Some([(node_a, node_b + 1), (node_a, of_b.start as usize)])
    } else {
        None
    }
}

fn leaf_pairs(
    a: &Surface,
    b: &Surface,
    node_a: usize,
    node_b: usize,
) -> impl Iterator<Item = (usize, usize)> {
    let range = |node: Node| node.start as usize..(node.start + node.count) as usize;
    let (of_a, of_b) = (range(a.nodes[node_a]), range(b.nodes[node_b]));
    of_a.flat_map(move |i| of_b.clone().map(move |j| (i, j)))
}

fn box_distance_squared(a: DAabb, b: DAabb) -> f64 {
    (a.min - b.max)
        .max(b.min - a.max)
        .max(DVec3::ZERO)
        .length_squared()
}

/// Returns whether two triangles have a point in common. Coplanar triangles count as apart, but the
/// distance between their edges is then 0.
pub fn triangles_cross(a: &[DVec3; 3], b: &[DVec3; 3]) -> bool {
    edges(a).any(|edge| crosses(edge, b)) || edges(b).any(|edge| crosses(edge, a))
}

fn edges(&[a, b, c]: &[DVec3; 3]) -> impl Iterator<Item = [DVec3; 2]> {
    [[a, b], [b, c], [c, a]].into_iter()
}

/// Returns whether an edge goes through a triangle, borders included.
fn crosses([p, q]: [DVec3; 2], &[a, b, c]: &[DVec3; 3]) -> bool {
    let (above, below) = (side(a, b, c, p), side(a, b, c, q));
    if above * below > 0.0 || (above == 0.0 && below == 0.0) {
        return false;
    }
    let sides = [side(p, q, a, b), side(p, q, b, c), side(p, q, c, a)];
    sides.iter().all(|&s| s >= 0.0) || sides.iter().all(|&s| s <= 0.0)
}

/// Returns a value whose sign is exact and gives the side of the plane `abc` on which `d` lies.
fn side(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> f64 {
    let coord = |p: DVec3| Coord3D {
        x: p.x,
        y: p.y,
        z: p.z,
    };
    orient3d(coord(a), coord(b), coord(c), coord(d))
}

/// Returns the squared distance between two triangles; 0 when they cross.
pub fn triangle_pair_distance_squared(a: &[DVec3; 3], b: &[DVec3; 3]) -> f64 {
    if triangles_cross(a, b) {
        return 0.0;
    }
    let corners = (a.iter().map(|&p| triangle_distance_squared(b, p)))
        .chain(b.iter().map(|&p| triangle_distance_squared(a, p)));
    let sides = edges(a).flat_map(|e| edges(b).map(move |f| edge_distance_squared(e, f)));
    corners.chain(sides).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use touchfield::mesh::generate::{Icosphere, icosphere};
    use touchfield_conformance::random::Random;

    use super::*;
    use crate::models;

    fn random_pose(random: &mut Random, reach: f64) -> ExactPose {
        ExactPose {
            rotation: random.quaternion(),
            translation: random.unit_vector() * random.uniform(0.0, reach),
        }
    }

    #[test]
    fn trees_find_what_all_pairs_find() {
        let knot = models::knot(400).unwrap();
        let (a, extent) = (Surface::of(&knot), knot.bounds().diagonal());
        let mut random = Random::new(11);
        let mut crossing = 0;
        for _ in 0..60 {
            let b = a.placed(random_pose(&mut random, 1.2 * extent));
            let pairs =
                || (a.triangles.iter()).flat_map(|t| b.triangles.iter().map(move |s| (t, s)));
            let cross = pairs().any(|(t, s)| triangles_cross(t, s));
            let nearest = pairs()
                .map(|(t, s)| triangle_pair_distance_squared(t, s))
                .fold(f64::INFINITY, f64::min)
                .sqrt();
            assert_eq!(surfaces_cross(&a, &b), cross);
            assert_eq!(surface_distance(&a, &b, (0, 0)).distance, nearest);
            assert_eq!(cross, nearest == 0.0);
            crossing += usize::from(cross);
        }
        assert!((10..50).contains(&crossing), "{crossing} of 60 cross");
    }

    #[test]
    fn distance_of_triangles_is_that_of_dense_samples() {
        let mut random = Random::new(12);
        let triangle =
            |random: &mut Random| [0; 3].map(|_| random.in_box(DVec3::NEG_ONE, DVec3::ONE));
        for _ in 0..300 {
            let (a, b) = (triangle(&mut random), triangle(&mut random));
            let found = triangle_pair_distance_squared(&a, &b).sqrt();
            const STEPS: u32 = 40;
            let place = |i: u32, j: u32| {
                let (s, t) = (
                    f64::from(i) / f64::from(STEPS),
                    f64::from(j) / f64::from(STEPS),
                );
                a[0] + s * (a[1] - a[0]) + t * (a[2] - a[0])
            };
            let sampled = (0..=STEPS)
                .flat_map(|i| (0..=STEPS - i).map(move |j| (i, j)))
                .map(|(i, j)| triangle_distance_squared(&b, place(i, j)))
                .fold(f64::INFINITY, f64::min)
                .sqrt();
            // Some sample lies within two thirds of a step of every point of the triangle.
            let step =
                edges(&a).map(|[p, q]| (q - p).length()).fold(0.0, f64::max) / f64::from(STEPS);
            assert!(found <= sampled + 1e-12, "{found} > {sampled}");
            assert!(sampled <= found + step, "{sampled} > {found} + {step}");
        }
    }

    #[test]
    fn spheres_are_as_far_apart_as_their_centres_tell() {
        let sphere = icosphere(Icosphere {
            level: 4,
            ..Default::default()
        })
        .unwrap();
        let radius = sphere.vertices[0].length();
        let a = Surface::of(&sphere);
        let mut random = Random::new(13);
        let mut hint = (0, 0);
        for _ in 0..100 {
            let pose = random_pose(&mut random, 4.0 * radius);
            let b = a.placed(pose);
            let apart = pose.translation.length() - 2.0 * radius;
            // Flat faces lie inside the ball by up to this share of its radius at level 4.
            let sagitta = 0.003 * radius;
            let nearest = surface_distance(&a, &b, hint);
            hint = nearest.pair;
            if apart > 0.0 {
                assert!((apart..apart + 2.0 * sagitta).contains(&nearest.distance));
                assert!(!surfaces_cross(&a, &b));
            } else if apart < -2.0 * sagitta && pose.translation.length() > 2.0 * sagitta {
                assert!(surfaces_cross(&a, &b), "{pose:?}");
                assert_eq!(nearest.distance, 0.0);
            }
        }
    }

    #[test]
    fn edges_that_are_parallel_or_points_have_a_distance() {
        let x = |from: f64, to: f64, y: f64| [DVec3::new(from, y, 0.0), DVec3::new(to, y, 0.0)];
        assert_eq!(
            edge_distance_squared(x(0.0, 1.0, 0.0), x(0.2, 0.4, 2.0)),
            4.0
        );
        assert_eq!(
            edge_distance_squared(x(0.0, 1.0, 0.0), x(3.0, 5.0, 0.0)),
            4.0
        );
        assert_eq!(
            edge_distance_squared(x(5.0, 3.0, 0.0), x(0.0, 1.0, 0.0)),
            4.0
        );
        assert_eq!(
            edge_distance_squared(x(0.5, 0.5, 1.0), x(0.0, 1.0, 0.0)),
            1.0
        );
    }

    #[test]
    fn triangles_in_one_plane_touch_by_their_distance() {
        let flat = |x: f64| {
            [
                DVec3::new(x, 0.0, 0.0),
                DVec3::new(x + 1.0, 0.0, 0.0),
                DVec3::new(x, 1.0, 0.0),
            ]
        };
        assert_eq!(triangle_pair_distance_squared(&flat(0.0), &flat(0.25)), 0.0);
        assert_eq!(triangle_pair_distance_squared(&flat(0.0), &flat(3.0)), 4.0);
    }
}
