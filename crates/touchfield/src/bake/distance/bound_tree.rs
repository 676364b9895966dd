//! Exact distances by lower and upper bounds: a tree of boxes of nodes against a tree of clusters
//! of triangles.
//!
//! Input: the triangles in an order that keeps neighbours together, the grid.
//! Output: exactly the distances of brute force, with the same sign as every exact method.
//! Cost: two and four times that of `exact_bvh` in the two measured cases; about 70 bytes per
//! triangle. All cores.
//! Not for: speed. It is the plain form of the idea, in `f64` throughout, and shares no bound with
//! `exact_bvh`.
//!
//! After the lower-upper bound tree of \[Johnson1998\], here for all nodes of a box at once. Let c
//! be the centre of a box of nodes and r its radius. A cluster K has a lower bound for every node
//! of the box, d(c, K) − r, and one of its corners k gives an upper bound, |c − k| + r. Clusters
//! whose lower bound is above the least upper bound are dropped, for this box and all boxes within
//! it. Boxes are halved down to a block of nodes, clusters down to the size of the box. Each layer
//! of blocks starts at the root, on a thread of its own.

use glam::{DVec3, UVec3};

use crate::bake::blocks::{Piece, SIDE, for_each_layer};
use crate::bake::distance::nodes::{Found, NodeWriter, Wanted};
use crate::bake::progress::{Progress, Stage};
use crate::field::GridLayout;
use crate::geom::{DAabb, Triangle, places};
use crate::mesh::{Bvh, Nearest};

/// Largest number of triangles in a leaf cluster.
const LEAF: usize = 4;

/// Writes the distance of every node; returns `None` when cancelled.
pub(crate) fn fill(
    bvh: &Bvh,
    wanted: Wanted<'_>,
    layout: &GridLayout,
    values: &mut [f32],
    progress: Progress<'_>,
) -> Option<Found> {
    let clusters = Clusters::new(bvh, layout);
    let found = for_each_layer(layout, values, Stage::Distances, progress, |piece| {
        fill_layer(&clusters, wanted, piece)
    })?;
    Some(Found::join(found))
}

fn fill_layer(clusters: &Clusters<'_>, wanted: Wanted<'_>, layer: Piece<'_>) -> Found {
    let layout = layer.layout;
    let whole = NodeBox {
        first: layer.first,
        last: layer.first + layer.size - UVec3::ONE,
    };
    let mut descent = Descent {
        clusters,
        layout,
        writer: NodeWriter::new(wanted, layer),
    };
    descent.visit(whole, &[0]);
    descent.writer.finish()
}

/// A box of nodes from `first` to `last`, both inclusive.
#[derive(Clone, Copy)]
struct NodeBox {
    first: UVec3,
    last: UVec3,
}

impl NodeBox {
    fn ball(self, layout: &GridLayout) -> (DVec3, f64) {
        let (low, high) = (
            layout.node_position(self.first),
            layout.node_position(self.last),
        );
        (0.5 * (low + high), 0.5 * low.distance(high))
    }

    /// Returns two halves along the longest side, split at the border of a block; `None` for a
    /// single block.
    fn halves(self) -> Option<[NodeBox; 2]> {
        let blocks = self.last / SIDE - self.first / SIDE;
        let axis = (0..3)
            .max_by_key(|&axis| blocks[axis])
            .filter(|&axis| blocks[axis] > 0)?;
        let middle = (self.first[axis] / SIDE + blocks[axis].div_ceil(2)) * SIDE;
        let (mut low, mut high) = (self, self);
        low.last[axis] = middle - 1;
        high.first[axis] = middle;
        Some([low, high])
    }

    fn nodes(self) -> impl Iterator<Item = UVec3> {
        places(self.first, self.last)
    }
}

/// A group of neighbouring triangles.
struct Cluster {
    bounds: DAabb,
    /// Any corner of a triangle in the cluster.
    corner: DVec3,
    /// Half the diagonal of its box \[m\].
    radius: f64,
    /// Range of its faces in [`Clusters::order`].
    faces: [usize; 2],
    /// Indices of its halves; 0, which is never a half, for a leaf.
    halves: [u32; 2],
}

/// All clusters of a mesh; the first holds the whole mesh.
struct Clusters<'a> {
    triangles: &'a [Triangle],
    order: Vec<u32>,
    clusters: Vec<Cluster>,
    /// Largest rounding error of `f64` in a bound \[m\].
    rounding: f64,
}

impl<'a> Clusters<'a> {
    fn new(bvh: &'a Bvh, layout: &GridLayout) -> Clusters<'a> {
        let mut all = Clusters {
            triangles: bvh.triangles(),
            order: bvh.face_order(),
            clusters: Vec::new(),
            rounding: 0.0,
        };
        all.add(0, all.order.len());
        let extent = all.clusters[0].bounds;
        let grid = layout.bounds().as_daabb();
        let largest = [extent.min, extent.max, grid.min, grid.max]
            .map(|corner| corner.abs().max_element())
            .into_iter()
            .fold(0.0, f64::max);
        all.rounding = 64.0 * f64::EPSILON * largest;
        all
    }

    /// Adds the cluster of a range of faces with its subclusters, and returns its index.
    fn add(&mut self, start: usize, end: usize) -> u32 {
        let corners =
            (self.order[start..end].iter()).flat_map(|&f| self.triangles[f as usize].corners());
        let bounds = DAabb::of_points(corners);
        let number = self.clusters.len();
        let middle = self.order[(start + end) / 2] as usize;
        self.clusters.push(Cluster {
            bounds,
            corner: self.triangles[middle].a,
            radius: 0.5 * bounds.diagonal(),
            faces: [start, end],
            halves: [0; 2],
        });
        if end - start > LEAF {
            let middle = (start + end) / 2;
            let halves = [self.add(start, middle), self.add(middle, end)];
            self.clusters[number].halves = halves;
        }
        number as u32
    }

    /// Returns the faces of a leaf.
    fn faces(&self, cluster: u32) -> &[u32] {
        let [start, end] = self.clusters[cluster as usize].faces;
        &self.order[start..end]
    }
}

/// State of the descent through the tree of boxes.
struct Descent<'a> {
    clusters: &'a Clusters<'a>,
    layout: &'a GridLayout,
    writer: NodeWriter<'a>,
}

impl Descent<'_> {
    /// Finds the clusters that can be nearest in a box, among those for the box around it, and
    /// continues with its halves.
    fn visit(&mut self, nodes: NodeBox, candidates: &[u32]) {
        let (center, radius) = nodes.ball(self.layout);
        match nodes.halves() {
            Some(halves) => {
                let kept = self.keep(center, radius, candidates, radius);
                let kept: Vec<u32> = kept.into_iter().map(|(_, cluster)| cluster).collect();
                for half in halves {
                    self.visit(half, &kept);
                }
            }
            None => {
                let mut leaves = self.keep(center, radius, candidates, 0.0);
                leaves.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                self.measure(nodes, center, &leaves);
            }
        }
    }

    /// Returns the clusters that can be nearest within `radius` of `center`, split until they are
    /// no larger than `size`, each with its distance from the centre.
    fn keep(&self, center: DVec3, radius: f64, candidates: &[u32], size: f64) -> Vec<(f64, u32)> {
        let Clusters { clusters, .. } = self.clusters;
        let mut least_upper = f64::INFINITY;
        let mut kept = Vec::with_capacity(candidates.len());
        let mut stack = candidates.to_vec();
        while let Some(number) = stack.pop() {
            let cluster = &clusters[number as usize];
            let distance = cluster.bounds.closest_point(center).distance(center);
            if self.is_beaten(distance, radius, least_upper) {
                continue;
            }
            least_upper = least_upper.min(cluster.corner.distance(center) + radius);
            if cluster.halves[0] == 0 || cluster.radius <= size {
                kept.push((distance, number));
            } else {
                // The half that looks nearer goes on top of the stack: its bound may rule out the
                // other.
                let [a, b] = cluster.halves;
                let near = |half: u32| clusters[half as usize].corner.distance_squared(center);
                stack.extend(if near(a) < near(b) { [b, a] } else { [a, b] });
            }
        }
        kept.retain(|&(distance, _)| !self.is_beaten(distance, radius, least_upper));
        kept
    }

    /// Returns whether something at this distance from a centre is farther than `upper` everywhere
    /// within `radius` of the centre.
    fn is_beaten(&self, distance: f64, radius: f64, upper: f64) -> bool {
        distance - radius > upper + self.clusters.rounding
    }

    /// Computes the distances of the nodes of a block in `f64`. `leaves` are in ascending order of
    /// distance from the centre.
    fn measure(&mut self, nodes: NodeBox, center: DVec3, leaves: &[(f64, u32)]) {
        let Clusters {
            triangles,
            rounding,
            ..
        } = self.clusters;
        for node in nodes.nodes() {
            let point = self.layout.node_position(node);
            let off = point.distance(center);
            let mut best: Option<Nearest> = None;
            for &(distance, leaf) in leaves {
                let reach = best.map_or(f64::INFINITY, |best| best.distance_squared.sqrt());
                // All that follow are farther still.
                if distance - off > reach + rounding {
                    break;
                }
                let bounds = self.clusters.clusters[leaf as usize].bounds;
                if bounds.closest_point(point).distance(point) > reach + rounding {
                    continue;
                }
                for &face in self.clusters.faces(leaf) {
                    let closest = triangles[face as usize].closest_point(point);
                    let found = Nearest {
                        distance_squared: closest.point.distance_squared(point),
                        face,
                        closest,
                    };
                    if best.is_none_or(|best| is_before(&found, &best)) {
                        best = Some(found);
                    }
                }
            }
            match best {
                Some(nearest) => self.writer.put(node, point, &nearest),
                // Only where coordinates overflow; the grid will be refused.
                None => self.writer.leave(node),
            }
        }
    }
}

/// Returns whether `a` is nearer than `b`, or as near with a smaller index.
fn is_before(a: &Nearest, b: &Nearest) -> bool {
    (a.distance_squared, a.face) < (b.distance_squared, b.face)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halving_reaches_every_node_once() {
        let mut left = vec![NodeBox {
            first: UVec3::new(0, 0, 4),
            last: UVec3::new(16, 9, 6),
        }];
        let mut seen = Vec::new();
        while let Some(nodes) = left.pop() {
            match nodes.halves() {
                Some(halves) => left.extend(halves),
                None => seen.extend(nodes.nodes().map(|n| n.to_array())),
            }
        }
        seen.sort_unstable();
        let before = seen.len();
        seen.dedup();
        assert_eq!((before, seen.len()), (17 * 10 * 3, 17 * 10 * 3));
    }
}
