//! Points on a surface with outward normals, in the order of their sphere tree.
//!
//! Input: points, normals, a proven covering radius, a sphere tree.
//! Output: the same data, validated.
//! Cost: 24 bytes per point, and the tree.
//! Not for: generating points, which `bake::pointshell` does.

use crate::pointshell::error::ShellError;
use glam::Vec3;

use super::SphereTree;

/// A sampling of a surface by points, with normals and a sphere tree.
#[derive(Clone, Debug, PartialEq)]
pub struct PointShell {
    points: Vec<Vec3>,
    normals: Vec<Vec3>,
    covering_radius: f32,
    level_radii: Vec<f32>,
    tree: SphereTree,
}

impl PointShell {
    /// Creates a shell from its parts. The caller guarantees that every point of the surface lies
    /// within `covering_radius` \[m\] of a shell point.
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

    /// Returns the points, in the order of the tree \[m\].
    pub fn points(&self) -> &[Vec3] {
        &self.points
    }

    /// Returns the outward unit normals, one per point.
    pub fn normals(&self) -> &[Vec3] {
        &self.normals
    }

    /// Returns the covering radius \[m\]: every point of the surface provably lies within it of a
    /// shell point.
    pub fn covering_radius(&self) -> f32 {
        self.covering_radius
    }

    /// Returns the covering radius of a level \[m\], or `None` beyond the last level.
    ///
    /// Every point of the surface provably lies within this distance of the representative of a
    /// node of the level, or of a leaf above it. The radius never grows from level to level.
    pub fn level_radius(&self, level: usize) -> Option<f32> {
        self.level_radii.get(level).copied()
    }

    /// Returns the sphere tree over the points.
    pub fn tree(&self) -> &SphereTree {
        &self.tree
    }

    /// Returns the memory used \[bytes\].
    pub fn bytes(&self) -> usize {
        2 * size_of_val(self.points.as_slice())
            + size_of_val(self.tree.nodes())
            + 2 * size_of_val(self.level_radii.as_slice())
    }
}
