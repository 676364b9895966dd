//! Clusters from the leaves up: a chain of nearest neighbours, cut into clusters; what lies too far out is given to another.
//!
//! Input: points, the size of a cluster. Output: levels of clusters. Cost: the nearest few of the points left, for each cluster; one core.
//! Not for: clusters of equal size; most have the size asked for, some have fewer or more.
//!
//! After [Sagardia2014] §2.1.2: a cluster is a point and its nearest neighbours among those not yet taken, the next one after these
//! begins the next cluster, and the member nearest to the mean stands for all in the level above. The chain leaves gaps behind it,
//! and clusters that jump over them hold points far apart: those are taken out and given to the nearest cluster, or stay alone.
//! The paper does not say how far is too far; see [`OUTLIER`].

use glam::{DVec3, Vec3};

use super::cluster_spatial::nearest_to;
use super::nearest::{Found, PointTree};
use super::tree::Level;

/// Members farther than this from the one that stands for them, in medians of that distance over the level, are outliers. Tuned on the
/// bunny: at 1.5 a quarter of all points is moved and clusters grow uneven, at 4 spheres span the gaps.
const OUTLIER: f64 = 2.5;

/// Levels, the leaves first, up to one cluster.
pub(super) fn clusters(points: &[Vec3], cluster_size: u32) -> Vec<Level> {
    let size = cluster_size as usize;
    let mut levels = Vec::new();
    let mut standing: Vec<u32> = (0..points.len() as u32).collect();
    while levels.is_empty() || standing.len() > 1 {
        let level = one_level(points, &standing, size);
        standing.clone_from(&level.representatives);
        levels.push(level);
    }
    levels
}

/// Clusters of members, for each of which a point stands.
fn one_level(points: &[Vec3], standing: &[u32], size: usize) -> Level {
    let place = |member: u32| points[standing[member as usize] as usize];
    let chain = chain(
        &standing
            .iter()
            .map(|&p| points[p as usize])
            .collect::<Vec<_>>(),
        size,
    );
    let mut clusters: Vec<Cluster> = chain
        .into_iter()
        .map(|members| Cluster {
            parent: middle_member(&members, place),
            members,
        })
        .collect();
    let far = OUTLIER * median_distance(&clusters, place);
    let mut level = Level::default();
    let regrouped = regroup(clusters.clone(), far, place);
    // Members that are all far from each other stay alone; so would those above them, for ever.
    if 4 * regrouped.len() <= 3 * standing.len() {
        clusters = regrouped;
    }
    for cluster in &clusters {
        level.push(&cluster.members, standing[cluster.parent as usize]);
    }
    level
}

/// Members, and the one of them that stands for all.
#[derive(Clone)]
struct Cluster {
    members: Vec<u32>,
    parent: u32,
}

fn middle_member(members: &[u32], place: impl Fn(u32) -> Vec3) -> u32 {
    let places: Vec<Vec3> = members.iter().map(|&member| place(member)).collect();
    let sum: DVec3 = places.iter().map(|place| place.as_dvec3()).sum();
    let numbers: Vec<u32> = (0..members.len() as u32).collect();
    members[nearest_to(&places, &numbers, sum / places.len() as f64) as usize]
}

fn distance(a: Vec3, b: Vec3) -> f64 {
    a.as_dvec3().distance(b.as_dvec3())
}

/// Median of the distance of members, those that stand for others left out, to the one that stands for them \[m\].
fn median_distance(clusters: &[Cluster], place: impl Fn(u32) -> Vec3) -> f64 {
    let mut distances = Vec::new();
    for cluster in clusters {
        let parent = place(cluster.parent);
        for &member in cluster.members.iter().filter(|&&m| m != cluster.parent) {
            distances.push(distance(place(member), parent));
        }
    }
    let middle = distances.len() / 2;
    if distances.is_empty() {
        return 0.0;
    }
    *distances.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// Points cut into clusters along a chain of nearest neighbours.
fn chain(points: &[Vec3], size: usize) -> Vec<Vec<u32>> {
    let mut left = Left::new(points);
    let mut clusters = Vec::with_capacity(points.len().div_ceil(size));
    // The nearest of those left to where the chain is.
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

/// Points of which some are taken.
struct Left {
    tree: PointTree,
    is_taken: Vec<bool>,
    /// How many are left in each range of the tree, by its middle.
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

    /// Up to `count` of those left, the nearest first.
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

/// Takes members farther than `far` from the one that stands for them out of their clusters, and gives each to the cluster that is
/// nearest; to none, if that is too far as well.
fn regroup(mut clusters: Vec<Cluster>, far: f64, place: impl Fn(u32) -> Vec3) -> Vec<Cluster> {
    let mut outliers = Vec::new();
    for cluster in &mut clusters {
        loop {
            let parent = place(cluster.parent);
            let farthest = (0..cluster.members.len()).max_by(|&a, &b| {
                let of = |slot: usize| distance(place(cluster.members[slot]), parent);
                of(a).total_cmp(&of(b))
            });
            match farthest {
                Some(slot) if distance(place(cluster.members[slot]), parent) > far => {
                    outliers.push(cluster.members.remove(slot));
                    cluster.parent = middle_member(&cluster.members, &place);
                }
                _ => break,
            }
        }
    }
    let parents: Vec<Vec3> = clusters
        .iter()
        .map(|cluster| place(cluster.parent))
        .collect();
    let tree = PointTree::new(&parents);
    for outlier in outliers {
        let near = tree.nearest(place(outlier).as_dvec3(), &[]);
        match near {
            Some(found) if found.distance_squared <= far * far => {
                let cluster = tree.index(found.slot) as usize;
                clusters[cluster].members.push(outlier);
            }
            _ => clusters.push(Cluster {
                members: vec![outlier],
                parent: outlier,
            }),
        }
    }
    clusters
}
