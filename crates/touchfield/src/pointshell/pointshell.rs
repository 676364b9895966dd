//! Points on a surface with outward normals, in the order of their sphere tree.
//!
//! Input: points, normals, a proven covering radius, a tree. Output: the same, checked.
//! Cost: 24 bytes a point, and the tree. Not for: making points, which `bake::pointshell` does.

use crate::pointshell::error::ShellError;
use glam::Vec3;

use super::SphereTree;

/// Points that stand for a surface.
#[derive(Clone, Debug, PartialEq)]
pub struct PointShell {
    points: Vec<Vec3>,
    normals: Vec<Vec3>,
    covering_radius: f32,
    level_radii: Vec<f32>,
    tree: SphereTree,
}

impl PointShell {
    /// A shell from its parts. `covering_radius` promises that every point of the surface lies within it of a shell point \[m\].
    pub fn new(
        points: Vec<Vec3>,
        normals: Vec<Vec3>,
        covering_radius: f32,
        tree: SphereTree,
    ) -> Result<PointShell, ShellError> {
        if points.is_empty() {
            return Err(ShellError::Empty);
        }
        if points.len() != normals.len() {
            return Err(ShellError::WrongCount {
                points: points.len(),
                normals: normals.len(),
            });
        }
        let finite = |index: &usize| points[*index].is_finite() && normals[*index].is_finite();
        if let Some(index) = (0..points.len()).find(|index| !finite(index)) {
            return Err(ShellError::NotFinite { index });
        }
        if !(covering_radius >= 0.0 && covering_radius.is_finite()) {
            return Err(ShellError::BadRadius(covering_radius));
        }
        tree.check(&points)?;
        let level_radii = tree.level_radii(&points, covering_radius);
        Ok(PointShell {
            points,
            normals,
            covering_radius,
            level_radii,
            tree,
        })
    }

    /// The points, in the order of the tree \[m\].
    pub fn points(&self) -> &[Vec3] {
        &self.points
    }

    /// Outward unit normals, one a point.
    pub fn normals(&self) -> &[Vec3] {
        &self.normals
    }

    /// Proven: every point of the surface lies within this of a shell point \[m\].
    pub fn covering_radius(&self) -> f32 {
        self.covering_radius
    }

    /// Proven: every point of the surface lies within this of the representative of a node of the level, or of a leaf above
    /// it \[m\]. Shrinks from level to level; `None` beyond the last.
    pub fn level_radius(&self, level: usize) -> Option<f32> {
        self.level_radii.get(level).copied()
    }

    /// Spheres over the points.
    pub fn tree(&self) -> &SphereTree {
        &self.tree
    }

    /// Bytes that it keeps.
    pub fn bytes(&self) -> usize {
        2 * size_of_val(self.points.as_slice())
            + size_of_val(self.tree.nodes())
            + 2 * size_of_val(self.level_radii.as_slice())
    }
}
