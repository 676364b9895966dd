//! Clusters from the leaves up: a chain of nearest neighbours, cut into clusters; outliers are
//! moved to another.
//!
//! Input: points, the size of a cluster.
//! Output: levels of clusters.
//! Cost: per cluster, a search for the nearest few of the remaining points; one core.
//! Not for: clusters of equal size; most have the requested size, some have fewer or more.
//!
//! After \[Sagardia2014\] §2.1.2: a cluster is a point and its nearest neighbours among those not
//! yet taken, the next point after these begins the next cluster, and the member nearest to the
//! mean represents all in the level above. The chain leaves gaps behind it, and clusters that jump
//! over them hold points far apart: these points are removed and added to the nearest cluster, or
//! stay alone. The paper does not define how far is too far; see `clusters`.

use glam::{DVec3, Vec3};

use crate::bake::pointshell::clusters::{Members, Outliers};
use crate::bake::pointshell::nearest::{Found, PointTree};
use crate::bake::pointshell::tree::Level;

/// Returns the levels of clusters, from the leaves up to a single cluster.
pub(super) fn clusters(points: &[Vec3], cluster_size: u32) -> Vec<Level> {
    let size = cluster_size as usize;
    let mut levels: Vec<Level> = Vec::new();
    loop {
        let members = Members::above(points, levels.last());
        let clusters = members.clusters(chain(&members.places(), size));
        let regrouped = members.regrouped(clusters.clone(), Outliers::Alone);
        // Members that are all far from each other stay alone; so would those above them, without
        // end.
        let level = if 4 * regrouped.len() <= 3 * members.len() {
            members.level(&regrouped)
        } else {
            members.level(&clusters)
        };
        let done = level.representatives.len() == 1;
        levels.push(level);
        if done {
            return levels;
        }
    }
}

/// Cuts points into clusters along a chain of nearest neighbours.
fn chain(points: &[Vec3], size: usize) -> Vec<Vec<u32>> {
    let mut left = Left::new(points);
    let mut clusters = Vec::with_capacity(points.len().div_ceil(size));
    // The remaining point nearest to the end of the chain.
    let mut seed = left.tree.slots().next().map(|slot| slot as u32);
    let mut near = Vec::with_capacity(size + 1);
    while let Some(first) = seed {
        left.take(first);
        left.nearest(left.tree.point(first), size, &mut near);
        let others = near.len().min(size - 1);
        let mut cluster = vec![left.tree.index(first)];
        for found in &near[..others] {
            left.take(found.slot);
            cluster.push(left.tree.index(found.slot));
        }
        clusters.push(cluster);
        seed = near.get(others).map(|found| found.slot);
    }
    clusters
}

/// Points with a mark on those already taken.
struct Left {
    tree: PointTree,
    is_taken: Vec<bool>,
    /// Number of remaining points in each range of the tree, by the median of the range.
    counts: Vec<u32>,
}

impl Left {
    fn new(points: &[Vec3]) -> Left {
        let tree = PointTree::new(points);
        let mut counts = vec![0; points.len()];
        tree.for_ranges(&mut |middle, count| counts[middle] = count as u32);
        Left {
            is_taken: vec![false; points.len()],
            tree,
            counts,
        }
    }

    fn take(&mut self, slot: u32) {
        self.is_taken[slot as usize] = true;
        for middle in self.tree.ranges_of(slot) {
            self.counts[middle] -= 1;
        }
    }

    /// Finds up to `count` of the remaining points, the nearest first.
    fn nearest(&self, place: DVec3, count: usize, near: &mut Vec<Found>) {
        near.clear();
        let skip = |middle: usize| self.counts[middle] == 0;
        let mut bound = f64::INFINITY;
        self.tree
            .visit(place, &mut bound, &skip, &mut |found, bound| {
                if self.is_taken[found.slot as usize] {
                    return;
                }
                let after = near.partition_point(|n| n.distance_squared <= found.distance_squared);
                if after < count {
                    near.truncate(count - 1);
                    near.insert(after, found);
                }
                if near.len() == count {
                    *bound = near[count - 1].distance_squared;
                }
            });
    }
}
