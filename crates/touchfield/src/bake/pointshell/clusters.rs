//! Forms one level of clusters: chooses representatives, and moves outliers.
//!
//! Input: members, each with its representative point, and their grouping.
//! Output: a [`Level`], with outliers moved to the cluster nearest to them.
//! Cost: a nearest-point search per outlier.
//! Not for: the first grouping; see `cluster_chain`, `cluster_spatial`.

use glam::{DVec3, Vec3};

use crate::bake::pointshell::nearest::PointTree;
use crate::bake::pointshell::tree::Level;

/// Distance from the representative beyond which a member is an outlier, in medians of that
/// distance over the level. In an even cluster the farthest member is less than two medians away; a
/// jump over a gap is several.
const OUTLIER: f64 = 2.5;

/// Treatment of an outlier that is far from every cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outliers {
    /// It forms a cluster of its own, as in \[Sagardia2014\].
    Alone,
    /// It joins the nearest cluster all the same: the number of clusters stays.
    Nearest,
}

/// Members of a cluster, and the one that represents them.
#[derive(Clone)]
pub(super) struct Cluster {
    members: Vec<u32>,
    parent: u32,
}

/// Members of a level: the points, or the clusters of the level below.
pub(super) struct Members<'a> {
    points: &'a [Vec3],
    /// Representative point of each member.
    standing: Vec<u32>,
}

impl<'a> Members<'a> {
    /// Returns the members of the level above the given one; the points themselves if there is none
    /// yet.
    pub(super) fn above(points: &'a [Vec3], below: Option<&Level>) -> Members<'a> {
        let standing = match below {
            Some(level) => level.representatives.clone(),
            None => (0..points.len() as u32).collect(),
        };
        Members { points, standing }
    }

    pub(super) fn len(&self) -> usize {
        self.standing.len()
    }

    pub(super) fn places(&self) -> Vec<Vec3> {
        (0..self.len() as u32).map(|m| self.place(m)).collect()
    }

    fn place(&self, member: u32) -> Vec3 {
        self.points[self.standing[member as usize] as usize]
    }

    fn distance(&self, a: u32, b: u32) -> f64 {
        self.place(a).as_dvec3().distance(self.place(b).as_dvec3())
    }

    /// Builds clusters from groups, none of them empty, each represented by the member nearest to
    /// its mean.
    pub(super) fn clusters(&self, groups: Vec<Vec<u32>>) -> Vec<Cluster> {
        let cluster = |members: Vec<u32>| Cluster {
            parent: self.nearest_to_mean(&members),
            members,
        };
        groups.into_iter().map(cluster).collect()
    }

    pub(super) fn level(&self, clusters: &[Cluster]) -> Level {
        let mut level = Level::default();
        for cluster in clusters {
            level.push(&cluster.members, self.standing[cluster.parent as usize]);
        }
        level
    }

    /// Returns the member nearest to the mean; the first one of equals.
    fn nearest_to_mean(&self, members: &[u32]) -> u32 {
        let place = |member: u32| self.place(member).as_dvec3();
        let sum: DVec3 = members.iter().map(|&member| place(member)).sum();
        let mean = sum / members.len() as f64;
        let (mut best, mut least) = (members[0], f64::INFINITY);
        for &member in members {
            let distance = place(member).distance_squared(mean);
            if distance < least {
                (best, least) = (member, distance);
            }
        }
        best
    }

    /// Returns the median distance of members to their representative, without the representatives
    /// themselves \[m\].
    fn median_distance(&self, clusters: &[Cluster]) -> f64 {
        let mut distances = Vec::with_capacity(self.len());
        for cluster in clusters {
            let others = cluster.members.iter().filter(|&&m| m != cluster.parent);
            distances.extend(others.map(|&member| self.distance(member, cluster.parent)));
        }
        let middle = distances.len() / 2;
        if distances.is_empty() {
            return 0.0;
        }
        *distances.select_nth_unstable_by(middle, f64::total_cmp).1
    }

    /// Removes outliers from their clusters, one by one, as the mean of the others moves; then adds
    /// each to the nearest cluster.
    pub(super) fn regrouped(&self, mut clusters: Vec<Cluster>, outliers: Outliers) -> Vec<Cluster> {
        let far = OUTLIER * self.median_distance(&clusters);
        let mut taken_out = Vec::new();
        for cluster in &mut clusters {
            loop {
                let of = |slot: usize| self.distance(cluster.members[slot], cluster.parent);
                let slots = 0..cluster.members.len();
                let farthest = slots.max_by(|&a, &b| of(a).total_cmp(&of(b)));
                let Some(slot) = farthest.filter(|&slot| of(slot) > far) else {
                    break;
                };
                taken_out.push(cluster.members.remove(slot));
                cluster.parent = self.nearest_to_mean(&cluster.members);
            }
        }
        let parents: Vec<Vec3> = clusters.iter().map(|c| self.place(c.parent)).collect();
        let tree = PointTree::new(&parents);
        for member in taken_out {
            let near = tree.nearest(self.place(member).as_dvec3(), &[]);
            let is_near = |squared: f64| outliers == Outliers::Nearest || squared <= far * far;
            match near.filter(|found| is_near(found.distance_squared)) {
                Some(found) => clusters[tree.index(found.slot) as usize]
                    .members
                    .push(member),
                None => clusters.push(Cluster {
                    members: vec![member],
                    parent: member,
                }),
            }
        }
        clusters
    }
}
