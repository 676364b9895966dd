//! A tree of spheres over the points of a shell, stored level after level in one array.
//!
//! Input: nodes in breadth-first order.
//! Output: levels; for every node, a contiguous range of points and a contiguous range of children.
//! Cost: 36 bytes per node.
//! Not for: building a tree, which `bake::pointshell` does.
//!
//! After \[Sagardia2014\]: a sphere encloses all points below its node, not the spheres below it.
//! Each node has one of its points as representative, so that the representatives of a level are a
//! coarse sampling of the whole surface.

use std::ops::Range;

use glam::Vec3;

use super::ShellError;

/// A node of the sphere tree: a sphere, the points it encloses and its children.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct SphereNode {
    /// Centre of the sphere \[m\].
    pub center: Vec3,
    /// Radius \[m\]; every point of the node lies within it of the centre, rounding included.
    pub radius: f32,
    /// Index of the node's first point.
    pub first_point: u32,
    /// Number of points of the node, all levels below included.
    pub point_count: u32,
    /// Index of the first child.
    pub first_child: u32,
    /// Number of children; 0 for a leaf, whose points are tested one by one.
    pub child_count: u32,
    /// Index of the point that represents the node.
    pub representative: u32,
}

impl SphereNode {
    /// Returns the indices of the node's points, all levels below included.
    pub fn points(&self) -> Range<u32> {
        self.first_point..self.first_point + self.point_count
    }

    /// Returns the indices of the node's children; empty for a leaf.
    pub fn children(&self) -> Range<u32> {
        self.first_child..self.first_child + self.child_count
    }
}

/// A tree of spheres over points, stored breadth first.
#[derive(Clone, Debug, PartialEq)]
pub struct SphereTree {
    nodes: Vec<SphereNode>,
    /// Index of the first node of each level, and the number of nodes last.
    levels: Vec<u32>,
}

impl SphereTree {
    /// Creates a tree from its nodes in breadth-first order. `levels` contains the index of the
    /// first node of each level, and the number of nodes last. [`super::PointShell::new`] checks
    /// the tree against its points.
    pub fn new(nodes: Vec<SphereNode>, levels: Vec<u32>) -> SphereTree {
        SphereTree { nodes, levels }
    }

    /// Returns all nodes, the root first.
    pub fn nodes(&self) -> &[SphereNode] {
        &self.nodes
    }

    /// Returns the index of the first node of each level, and the number of nodes last.
    pub fn levels(&self) -> &[u32] {
        &self.levels
    }

    /// Returns the number of levels.
    pub fn level_count(&self) -> usize {
        self.levels.len().saturating_sub(1)
    }

    /// Returns the nodes of a level; level 0 is the root alone.
    pub fn level(&self, level: usize) -> &[SphereNode] {
        &self.nodes[self.levels[level] as usize..self.levels[level + 1] as usize]
    }

    /// Computes the covering radius of each level: how far a surface that the points cover can be
    /// from the nearest representative. The tree must have passed [`Self::check`].
    pub(super) fn level_radii(&self, points: &[Vec3], covering_radius: f32) -> Vec<f32> {
        let reach = |node: &SphereNode| {
            let from = points[node.representative as usize].as_dvec3();
            let own = &points[node.first_point as usize..][..node.point_count as usize];
            (own.iter()).fold(0.0, |reach: f64, p| reach.max(p.as_dvec3().distance(from)))
        };
        let mut radii: Vec<f32> = Vec::with_capacity(self.level_count());
        let (mut leaves_above, mut nested) = (0.0, true);
        for level in 0..self.level_count() {
            let mut farthest: f64 = leaves_above;
            for node in self.level(level) {
                let reach = reach(node);
                farthest = farthest.max(reach);
                if node.child_count == 0 {
                    leaves_above = f64::max(leaves_above, reach);
                }
            }
            // Two steps up for the rounding of the distance and the sum, one for the rounding to
            // `f32`.
            let sum = (farthest + f64::from(covering_radius)).next_up().next_up();
            let own = (sum as f32).next_up();
            // If all representatives of a level are also representatives in the next, the next
            // level covers no worse.
            let above = radii.last().copied().filter(|_| nested);
            radii.push(above.map_or(own, |above| above.min(own)));
            nested = self.level(level).iter().all(|node| {
                let children =
                    &self.nodes[node.first_child as usize..][..node.child_count as usize];
                let stands = |child: &SphereNode| child.representative == node.representative;
                children.is_empty() || children.iter().any(stands)
            });
        }
        radii
    }

    /// Checks that ranges nest, spheres enclose their points, and levels follow one another.
    pub(super) fn check(&self, points: &[Vec3]) -> Result<(), ShellError> {
        let bad = |node: usize, why: &'static str| Err(ShellError::BadTree { node, why });
        // Levels divide the nodes, the root alone in the first.
        let ordered = self.levels.windows(2).all(|pair| pair[0] < pair[1]);
        let whole = self.levels.first() == Some(&0)
            && self.levels.get(1) == Some(&1)
            && self.levels.last().map(|&last| last as usize) == Some(self.nodes.len());
        if !ordered || !whole {
            return bad(0, "its levels do not divide the nodes");
        }
        let root = &self.nodes[0];
        if root.first_point != 0 || root.point_count as usize != points.len() {
            return bad(0, "the root does not hold all points");
        }
        for level in 0..self.level_count() {
            let mut next_child = u64::from(self.levels[level + 1]);
            for index in self.levels[level]..self.levels[level + 1] {
                let node = &self.nodes[index as usize];
                let index = index as usize;
                // Points and representative exist, and the sphere encloses the points.
                let start = u64::from(node.first_point);
                let end = start + u64::from(node.point_count);
                if node.point_count == 0 || end > points.len() as u64 {
                    return bad(index, "its points are not there");
                }
                if !(start..end).contains(&u64::from(node.representative)) {
                    return bad(index, "its representative is not one of its points");
                }
                let sound =
                    node.center.is_finite() && node.radius >= 0.0 && node.radius.is_finite();
                let outside = |point: &Vec3| {
                    point.as_dvec3().distance(node.center.as_dvec3()) > f64::from(node.radius)
                };
                if !sound || points[start as usize..end as usize].iter().any(outside) {
                    return bad(index, "a point lies outside its sphere");
                }
                if node.child_count == 0 {
                    continue;
                }
                // Children follow those of the previous node, in the next level.
                if u64::from(node.first_child) != next_child
                    || level + 2 >= self.levels.len()
                    || next_child + u64::from(node.child_count) > u64::from(self.levels[level + 2])
                {
                    return bad(
                        index,
                        "its children are not the next nodes of the next level",
                    );
                }
                next_child += u64::from(node.child_count);
                // The points of the children partition those of the node.
                let mut next_point = start;
                let children =
                    &self.nodes[node.first_child as usize..][..node.child_count as usize];
                for child in children {
                    if u64::from(child.first_point) != next_point {
                        return bad(
                            index,
                            "the points of its children do not follow one another",
                        );
                    }
                    next_point += u64::from(child.point_count);
                }
                if next_point != end {
                    return bad(index, "its children do not hold all its points");
                }
            }
        }
        Ok(())
    }
}
