//! Assembles the flat sphere tree over a shell from levels of clusters, however they were found.
//!
//! Input: points, and clusters level by level from the leaves up.
//! Output: the order of the points, and the [`SphereTree`] over it.
//! Cost: a smallest enclosing ball per node, around its points; all cores.
//! Not for: choosing clusters; see `cluster_chain`, `cluster_spatial`.

use glam::Vec3;

use crate::bake::pointshell::enclosing_ball::enclosing_ball;
use crate::pointshell::{SphereNode, SphereTree};
use crate::threads;

/// Clusters of one level. The members of a leaf are points; those of any other are clusters of the
/// level below.
#[derive(Clone, Debug, Default)]
pub(super) struct Level {
    /// All members, cluster after cluster.
    pub(super) members: Vec<u32>,
    /// End of the members of each cluster.
    pub(super) ends: Vec<u32>,
    /// Representative point of each cluster.
    pub(super) representatives: Vec<u32>,
}

impl Level {
    /// Adds a cluster.
    pub(super) fn push(&mut self, members: &[u32], representative: u32) {
        self.members.extend_from_slice(members);
        self.ends.push(self.members.len() as u32);
        self.representatives.push(representative);
    }

    /// Returns the members of a cluster.
    pub(super) fn members_of(&self, cluster: u32) -> &[u32] {
        let cluster = cluster as usize;
        let start = if cluster == 0 {
            0
        } else {
            self.ends[cluster - 1]
        };
        &self.members[start as usize..self.ends[cluster] as usize]
    }
}

/// A tree and the order of its points.
pub(super) struct Built {
    pub(super) order: Vec<u32>,
    pub(super) tree: SphereTree,
}

/// Joins levels into a tree: the leaves first, the last with one cluster.
pub(super) fn assemble(points: &[Vec3], levels: &[Level]) -> Built {
    // Clusters of the current level, in the order of the tree; from the root down.
    let mut sequence = vec![0];
    let mut starts = vec![0u32];
    let mut nodes = Vec::new();
    for (height, level) in levels.iter().enumerate().rev() {
        let end = (nodes.len() + sequence.len()) as u32;
        let mut below = Vec::new();
        for &cluster in &sequence {
            let members = level.members_of(cluster);
            let (first_child, child_count) = match height {
                0 => (0, 0),
                _ => (end + below.len() as u32, members.len() as u32),
            };
            nodes.push(SphereNode {
                center: Vec3::ZERO,
                radius: 0.0,
                // Final for a leaf; for others, set below once their children are known.
                first_point: below.len() as u32,
                point_count: members.len() as u32,
                first_child,
                child_count,
                representative: level.representatives[cluster as usize],
            });
            below.extend_from_slice(members);
        }
        starts.push(end);
        sequence = below;
    }
    let order = sequence;
    // Set the point ranges of inner nodes, from the leaves up.
    for index in (0..nodes.len()).rev() {
        let SphereNode {
            first_child,
            child_count,
            ..
        } = nodes[index];
        if child_count > 0 {
            let children = &nodes[first_child as usize..][..child_count as usize];
            let first_point = children[0].first_point;
            let point_count = children.iter().map(|child| child.point_count).sum();
            nodes[index].first_point = first_point;
            nodes[index].point_count = point_count;
        }
    }
    // Enclose the points of every node in a ball, and renumber representatives in the new order.
    let mut place = vec![0; order.len()];
    for (new, &old) in order.iter().enumerate() {
        place[old as usize] = new as u32;
    }
    let sorted: Vec<Vec3> = order.iter().map(|&old| points[old as usize]).collect();
    let spheres = threads::map(nodes.len(), |index| {
        let node = &nodes[index];
        sphere(&sorted[node.first_point as usize..][..node.point_count as usize])
    });
    for (node, (center, radius)) in nodes.iter_mut().zip(spheres) {
        (node.center, node.radius) = (center, radius);
        node.representative = place[node.representative as usize];
    }
    Built {
        order,
        tree: SphereTree::new(nodes, starts),
    }
}

/// Returns the smallest ball, with its centre rounded to `f32` and a radius that still holds all
/// points.
fn sphere(points: &[Vec3]) -> (Vec3, f32) {
    let center = enclosing_ball(points).center.as_vec3();
    let reach = |point: &Vec3| point.as_dvec3().distance(center.as_dvec3());
    let radius = points.iter().map(reach).fold(0.0, f64::max);
    (center, rounded_up(radius))
}

/// Returns the smallest `f32` that is not less than `value`.
pub(super) fn rounded_up(value: f64) -> f32 {
    let rounded = value as f32;
    if f64::from(rounded) < value {
        rounded.next_up()
    } else {
        rounded
    }
}
