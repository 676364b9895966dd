//! Points on a surface with outward normals, in the order of their sphere tree.
//!
//! Input: points, normals, a proven covering radius, a sphere tree; triangles or areas.
//! Output: the same data, validated, with the area that each point represents.
//! Cost: 28 bytes per point, and the tree.
//! Not for: generating points, which `bake::pointshell` does.

use glam::Vec3;

use super::SphereTree;
use super::areas::Cells;
use crate::geom::Triangle;
use crate::pointshell::error::ShellError;

/// Number of points of a maximal random set of points a spacing apart, on an area of one squared
/// spacing \[Feder1980\]: see `bake::pointshell::sample`.
const DENSITY: f32 = 0.7;

/// A sampling of a surface by points, with normals and a sphere tree.
#[derive(Clone, Debug, PartialEq)]
pub struct PointShell {
    points: Vec<Vec3>,
    normals: Vec<Vec3>,
    areas: Vec<f32>,
    /// Area of the points of each node of the tree.
    node_areas: Vec<f32>,
    covering_radius: f32,
    level_radii: Vec<f32>,
    tree: SphereTree,
}

impl PointShell {
    /// Creates a shell from its parts. The caller guarantees that every point of the surface lies
    /// within `covering_radius` \[m\] of a shell point.
    ///
    /// Every point gets the mean area of points spread as far apart as the covering radius, which
    /// is only a rough estimate. [`PointShell::with_areas_of`] computes the areas from triangles.
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
        let areas = vec![covering_radius * covering_radius / DENSITY; points.len()];
        Ok(PointShell {
            points,
            normals,
            node_areas: node_areas(&tree, &areas),
            areas,
            covering_radius,
            level_radii,
            tree,
        })
    }

    /// Returns the shell with these areas, one per point in the order of [`PointShell::points`]
    /// \[m²\].
    pub fn with_areas(self, areas: Vec<f32>) -> Result<PointShell, ShellError> {
        if areas.len() != self.points.len() {
            return Err(ShellError::WrongAreaCount {
                points: self.points.len(),
                areas: areas.len(),
            });
        }
        let is_area = |area: &f32| *area >= 0.0 && area.is_finite();
        if let Some(index) = areas.iter().position(|area| !is_area(area)) {
            return Err(ShellError::BadArea {
                index,
                area: areas[index],
            });
        }
        Ok(PointShell {
            node_areas: node_areas(&self.tree, &areas),
            areas,
            ..self
        })
    }

    /// Returns the shell with the areas that its points represent of the triangles of its surface:
    /// every piece of surface counts for the nearest point on the same side of it.
    pub fn with_areas_of(self, triangles: &[Triangle]) -> PointShell {
        self.with_areas_of_each(triangles.len(), |index| triangles[index])
    }

    /// Returns the shell with the areas that its points represent of `count` triangles.
    pub(crate) fn with_areas_of_each(
        self,
        count: usize,
        triangle: impl Fn(usize) -> Triangle + Sync + Send,
    ) -> PointShell {
        let cells = Cells {
            points: &self.points,
            normals: &self.normals,
            tree: &self.tree,
        };
        let areas = cells.areas(count, triangle);
        PointShell {
            node_areas: node_areas(&self.tree, &areas),
            areas,
            ..self
        }
    }

    /// Returns the points, in the order of the tree \[m\].
    pub fn points(&self) -> &[Vec3] {
        &self.points
    }

    /// Returns the outward unit normals, one per point.
    pub fn normals(&self) -> &[Vec3] {
        &self.normals
    }

    /// Returns the areas that the points represent \[m²\], one per point. Their sum is the area of
    /// the surface.
    pub fn areas(&self) -> &[f32] {
        &self.areas
    }

    /// Returns the area that the points of each node of the tree represent \[m²\], in the order of
    /// [`SphereTree::nodes`].
    pub fn node_areas(&self) -> &[f32] {
        &self.node_areas
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
            + size_of_val(self.areas.as_slice())
            + size_of_val(self.node_areas.as_slice())
            + size_of_val(self.tree.nodes())
            + 2 * size_of_val(self.level_radii.as_slice())
    }
}

/// Returns the area of the points of each node.
fn node_areas(tree: &SphereTree, areas: &[f32]) -> Vec<f32> {
    let mut sum = 0.0;
    let mut before = Vec::with_capacity(areas.len() + 1);
    before.push(sum);
    before.extend(areas.iter().map(|&area| {
        sum += f64::from(area);
        sum
    }));
    let area = |first: u32, count: u32| before[(first + count) as usize] - before[first as usize];
    (tree.nodes().iter())
        .map(|node| area(node.first_point, node.point_count) as f32)
        .collect()
}
