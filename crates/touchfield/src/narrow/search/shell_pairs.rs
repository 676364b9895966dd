//! Finds the least distance between the points of two shells by pairs of bounding spheres.
//!
//! Input: two shells, the pose of the second, and an upper bound of the distance.
//! Output: two points, and a lower bound of the distance of the *surfaces*.
//! Cost: best-first over pairs of spheres; no allocation once the heap has grown.
//! Not for: bodies that overlap, because shells describe surfaces, not insides.
//!
//! A surface lies within the covering radius of its points, so two surfaces are nearer than their
//! points by at most the sum of the two covering radii.

use glam::{Mat3, Vec3};

use crate::geom::Pose;
use crate::narrow::search::least_first::{LeastFirst, Open};
use crate::pointshell::{PointShell, SphereNode};

/// Maximum number of pairs that are opened, some milliseconds of work. Flat faces that face each
/// other have nearly as many nearest pairs as points. The pairs left over still bound the distance.
const MOST_PAIRS: usize = 1 << 14;

/// Two points, one of each shell, in frame A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NearestPoints {
    pub(crate) on_a: Vec3,
    pub(crate) on_b: Vec3,
    /// Proven lower bound of the distance between the surfaces \[m\].
    pub(crate) lower_bound: f32,
}

/// Indices of a sphere of A and one of B.
type SpherePair = [u32; 2];

/// Heap of pairs of spheres whose points may be nearest.
pub(crate) type OpenPairs = LeastFirst<SpherePair>;

fn open(lower: f32, [a, b]: SpherePair) -> Open<SpherePair> {
    Open {
        lower,
        number: u64::from(a) << 32 | u64::from(b),
        piece: [a, b],
    }
}

/// Finds the nearest points of two shells whose surfaces are at most `at_most` \[m\] apart.
/// `rounding` is the rounding error of points taken from B to A \[m\].
pub(crate) fn nearest_points(
    a: &PointShell,
    b: &PointShell,
    a_from_b: Pose,
    at_most: f32,
    rounding: f32,
    heap: &mut OpenPairs,
) -> NearestPoints {
    let search = Search {
        a,
        b,
        rotation: Mat3::from_quat(a_from_b.rotation),
        translation: a_from_b.translation,
    };
    let (nodes_a, nodes_b) = (a.tree().nodes(), b.tree().nodes());
    heap.clear();
    heap.push(open(search.apart(&nodes_a[0], &nodes_b[0]), [0, 0]));
    let covering = a.covering_radius() + b.covering_radius();
    // The surfaces are known only to within the covering radii; finer pairs would not add accuracy.
    let tolerance = 0.1 * covering;
    let mut best = search.representatives(&nodes_a[0], &nodes_b[0]);
    // A pair above this bound cannot hold the nearest points, whether or not they were found yet.
    let most = at_most + covering;
    let mut least_left = f32::INFINITY;
    let mut opened = 0;
    while let Some(next) = heap.pop() {
        opened += 1;
        if next.lower >= best.0.min(most) - tolerance || opened > MOST_PAIRS {
            least_left = least_left.min(next.lower);
            break;
        }
        let [a, b] = next.piece;
        let (node_a, node_b) = (&nodes_a[a as usize], &nodes_b[b as usize]);
        if node_a.child_count == 0 && node_b.child_count == 0 {
            search.points(node_a, node_b, &mut best);
            continue;
        }
        // The larger sphere is opened, unless it is a leaf.
        let opens_a =
            node_b.child_count == 0 || (node_a.child_count > 0 && node_a.radius >= node_b.radius);
        let opened = if opens_a { node_a } else { node_b };
        for child in opened.children() {
            let [a, b] = if opens_a { [child, b] } else { [a, child] };
            let (node_a, node_b) = (&nodes_a[a as usize], &nodes_b[b as usize]);
            let lower = search.apart(node_a, node_b);
            if lower < best.0.min(most) - tolerance {
                let standing = search.representatives(node_a, node_b);
                if standing.0 < best.0 {
                    best = standing;
                }
                heap.push(open(lower, [a, b]));
            } else {
                least_left = least_left.min(lower);
            }
        }
    }
    NearestPoints {
        on_a: best.1,
        on_b: best.2,
        lower_bound: best.0.min(least_left) - covering - rounding,
    }
}

struct Search<'a> {
    a: &'a PointShell,
    b: &'a PointShell,
    rotation: Mat3,
    translation: Vec3,
}

/// Distance, point of A, point of B.
type Found = (f32, Vec3, Vec3);

impl Search<'_> {
    fn to_a(&self, point_in_b: Vec3) -> Vec3 {
        self.rotation * point_in_b + self.translation
    }

    /// Returns a lower bound of the distance between the points of two spheres \[m\].
    fn apart(&self, a: &SphereNode, b: &SphereNode) -> f32 {
        a.center.distance(self.to_a(b.center)) - a.radius - b.radius
    }

    fn representatives(&self, a: &SphereNode, b: &SphereNode) -> Found {
        let on_a = self.a.points()[a.representative as usize];
        let on_b = self.to_a(self.b.points()[b.representative as usize]);
        (on_a.distance(on_b), on_a, on_b)
    }

    /// Compares all pairs of points of two leaves, and updates `best`.
    fn points(&self, a: &SphereNode, b: &SphereNode, best: &mut Found) {
        for in_b in b.points() {
            let on_b = self.to_a(self.b.points()[in_b as usize]);
            for in_a in a.points() {
                let on_a = self.a.points()[in_a as usize];
                let distance = on_a.distance(on_b);
                if distance < best.0 {
                    *best = (distance, on_a, on_b);
                }
            }
        }
    }
}
