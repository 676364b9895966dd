//! Finds, of many planes, the one that a point is highest above.
//!
//! Input: a hull, once; then points.
//! Output: the face whose plane the point is highest above, bit for bit what a search over all
//! faces finds.
//! Cost: 75 bytes per face. A query descends the tree once and visits a few neighbouring branches,
//! unless many planes are at about the same height, as near the centre of a ball.
//! Not for: a hundred faces, which a linear search handles faster.
//!
//! The planes of a branch have normals within a cone, and are described relative to a point c:
//! `n · x − offset = n · (x − c) − (offset − n · c)`. The first term is largest at the rim of the
//! cone, or along x − c if that lies in the cone; the second is bounded by its minimum over the
//! planes. With c at the centre of the ball that approximates the planes, the second term hardly
//! varies between them, so that the bound is tight.

use glam::DVec3;

use super::{ConvexHull, HullFace};

/// A binary tree over the planes of faces; planes with similar normals are in one branch.
#[derive(Clone, Debug, Default)]
pub(super) struct PlaneTree {
    nodes: Vec<Node>,
    planes: Vec<Plane>,
    /// Largest absolute coordinate \[m\].
    extent: f64,
}

/// A node of the tree.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// Unit axis of the cone that contains the node's normals.
    axis: DVec3,
    cosine: f64,
    sine: f64,
    /// Reference point of the planes, c in the module documentation \[m\].
    middle: DVec3,
    /// Smallest height of a plane over `middle`, along its normal \[m\].
    above_middle: f64,
    /// Index of the node's first plane.
    first: u32,
    count: u32,
    /// Index of the second child; the first child is the next node. 0 for a leaf.
    second: u32,
}

#[derive(Clone, Copy, Debug)]
struct Plane {
    normal: DVec3,
    offset: f64,
    face: u32,
    /// A corner of the face \[m\].
    corner: DVec3,
}

/// Maximum number of planes in a leaf. Tuned: half as many cost a tenth more, twice as many are no
/// better.
const LEAF: usize = 32;
/// Maximum depth: halving the planes of the largest possible hull this often leaves single planes.
const MOST_LEVELS: usize = 32;
/// Generous bound on the rounding error of a height, as a fraction of the coordinates, and of a
/// cosine.
const ROUNDING: f64 = 1e-13;

impl PlaneTree {
    pub(super) fn new(hull: &ConvexHull) -> PlaneTree {
        let corner = |face: &HullFace| hull.half_edges()[face.first as usize].origin;
        let planes = (0..).zip(hull.faces()).map(|(face, own)| Plane {
            normal: own.normal,
            offset: own.offset,
            face,
            corner: hull.vertex(corner(own)),
        });
        PlaneTree::of(planes.collect(), f64::from(hull.extent()))
    }

    fn of(mut planes: Vec<Plane>, extent: f64) -> PlaneTree {
        let mut nodes = Vec::new();
        let count = planes.len();
        grow(&mut nodes, &mut planes, 0, count);
        PlaneTree {
            nodes,
            planes,
            extent,
        }
    }

    /// Returns the height of a point over the plane that it is highest above \[m\], and the index
    /// of that face; the lowest index on ties.
    pub(super) fn highest(&self, point: DVec3) -> (f64, u32) {
        let slack = ROUNDING * (point.abs().element_sum() + self.extent);
        let mut best = (f64::NEG_INFINITY, 0);
        // Start at the root, if there is one.
        let mut waiting = [0u32; MOST_LEVELS];
        let mut count = usize::from(!self.nodes.is_empty());
        while count > 0 {
            count -= 1;
            let mut index = waiting[count];
            let mut node = &self.nodes[index as usize];
            if node.most_above(point) + slack < best.0 {
                continue;
            }
            while node.second != 0 {
                let branches = [index + 1, node.second];
                let [left, right] =
                    branches.map(|branch| self.nodes[branch as usize].most_above(point));
                let near = usize::from(right > left);
                waiting[count] = branches[1 - near];
                count += 1;
                index = branches[near];
                node = &self.nodes[index as usize];
            }
            let planes = &self.planes[node.first as usize..][..node.count as usize];
            for plane in planes {
                let above = plane.normal.dot(point) - plane.offset;
                if above > best.0 || (above == best.0 && plane.face < best.1) {
                    best = (above, plane.face);
                }
            }
        }
        best
    }
}

impl Node {
    /// Returns an upper bound on the height of a point over the node's planes \[m\], up to
    /// rounding.
    #[inline]
    fn most_above(&self, point: DVec3) -> f64 {
        let way = point - self.middle;
        let squared = way.length_squared();
        let along = self.axis.dot(way);
        let length = squared.sqrt();
        let most = match along >= length * self.cosine {
            true => length,
            false => along * self.cosine + (squared - along * along).max(0.0).sqrt() * self.sine,
        };
        most - self.above_middle
    }
}

/// Returns a point at about the same distance below all planes: where they surround a ball, its
/// centre.
fn middle_of(planes: &[Plane], axis: DVec3) -> DVec3 {
    /// A patch whose normals vary by less than this is treated as flat; any point far below it will
    /// do.
    const FLAT: f64 = 0.01;
    let count = planes.len() as f64;
    let (mut corner, mut width, mut bend) = (DVec3::ZERO, 0.0, 0.0);
    for plane in planes {
        corner += plane.corner / count;
    }
    for plane in planes {
        width += plane.corner.distance_squared(corner) / count;
        bend += plane.normal.distance_squared(axis) / count;
    }
    corner - width.sqrt() / bend.sqrt().max(FLAT) * axis
}

/// Appends a node for the `count` planes from `first` on, followed by its children.
fn grow(nodes: &mut Vec<Node>, planes: &mut [Plane], first: usize, count: usize) {
    let own = &mut planes[first..first + count];
    let axis: DVec3 = own.iter().map(|plane| plane.normal).sum();
    let axis = axis.normalize_or(DVec3::Z);
    let middle = middle_of(own, axis);
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let (mut cosine, mut above_middle) = (1f64, f64::INFINITY);
    for plane in &*own {
        (low, high) = (low.min(plane.normal), high.max(plane.normal));
        cosine = cosine.min(axis.dot(plane.normal));
        above_middle = above_middle.min(plane.offset - plane.normal.dot(middle));
    }
    let cosine = (cosine - ROUNDING).max(-1.0);
    let index = nodes.len();
    nodes.push(Node {
        axis,
        cosine,
        sine: (1.0 - cosine * cosine).max(0.0).sqrt(),
        middle,
        above_middle,
        first: first as u32,
        count: count as u32,
        second: 0,
    });
    if count <= LEAF {
        return;
    }
    let part = (high - low).max_position();
    let half = count / 2;
    own.select_nth_unstable_by(half, |p, q| {
        (p.normal[part].total_cmp(&q.normal[part])).then(p.face.cmp(&q.face))
    });
    grow(nodes, planes, first, half);
    nodes[index].second = nodes.len() as u32;
    grow(nodes, planes, first + half, count - half);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Finds the highest plane by searching all of them.
    fn highest_of_all(planes: &[Plane], point: DVec3) -> (f64, u32) {
        let mut best = (f64::NEG_INFINITY, 0);
        for plane in planes {
            let above = plane.normal.dot(point) - plane.offset;
            if above > best.0 {
                best = (above, plane.face);
            }
        }
        best
    }

    proptest! {
        #[test]
        fn the_highest_is_the_first_of_all_that_none_exceeds(
            seeds in prop::collection::vec(prop::array::uniform3(-1.0f64..1.0), 0..600), stretch in prop::array::uniform3(0.01f64..1.0),
            points in prop::collection::vec(prop::array::uniform3(-1.5f64..1.5), 20), lattice in prop::option::of(1i32..4),
            scale in prop::sample::select(vec![1e-6, 1.0, 1e5]), far in prop::sample::select(vec![0.0, 1e5]),
        ) {
            // Planes around an ellipsoid; on a lattice many are at equal height.
            let snapped = |x: f64| lattice.map_or(x, |n| (x * f64::from(n)).round());
            let planes: Vec<Plane> = (0..).zip(&seeds).map(|(face, &seed)| {
                let normal = DVec3::from(seed).map(snapped).normalize_or(DVec3::Z);
                let corner = scale * DVec3::from(stretch) * normal + far;
                Plane { normal, offset: normal.dot(corner), face, corner }
            }).collect();
            let extent = planes.iter().fold(0.0, |most: f64, plane| most.max(plane.corner.abs().max_element()));
            let tree = PlaneTree::of(planes.clone(), extent);
            let bad = [f64::NAN, f64::INFINITY].map(DVec3::splat);
            for point in points.into_iter().map(DVec3::from).chain([DVec3::ZERO]) {
                let point = scale * point.map(snapped) + far;
                prop_assert_eq!(tree.highest(point), highest_of_all(&planes, point));
            }
            for point in bad {
                prop_assert_eq!(tree.highest(point).1, highest_of_all(&planes, point).1);
            }
        }
    }
}
