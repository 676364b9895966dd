//! Settings and errors of the pointshell bake.

use crate::bake::convert::isosurface::IsosurfaceError;
use crate::geom::Aabb;
use crate::pointshell::ShellError;

/// Settings of a shell bake. Written as `ShellSettings { density: …, ..Default::default() }`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShellSettings {
    /// Source of the points.
    pub sampling: ShellSampling,
    /// Density of the points.
    pub density: ShellDensity,
    /// Whether points are added where the surface is farther than the spacing from all others.
    /// Without it, the shell has the sampled points only, and its covering radius shows how well
    /// they cover. [`ShellSampling::PoissonDisk`] always fills gaps.
    pub fill_gaps: bool,
    /// Construction of the tree of spheres.
    pub tree: TreeBuilder,
    /// Approximate number of points per leaf and of children per node: the K of \[Sagardia2014\].
    pub cluster_size: u32,
    /// Largest number of points. A shell that needs more is given up.
    pub max_points: u32,
}

impl Default for ShellSettings {
    fn default() -> ShellSettings {
        ShellSettings {
            sampling: ShellSampling::PoissonDisk,
            density: ShellDensity::Points(10_000),
            fill_gaps: true,
            tree: TreeBuilder::Spatial,
            cluster_size: 4,
            max_points: 1 << 22,
        }
    }
}

/// Source of the points of a shell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ShellSampling {
    /// Centres of surface voxels, projected onto the triangles \[Sagardia2014\]; the spacing is
    /// `alpha` voxels.
    Voxels {
        /// Spacing \[voxels\]; \[Sagardia2014\] takes about √2.
        alpha: f32,
    },
    /// All vertices of the mesh. The spacing is for the gaps only.
    Vertices,
    /// Random points of the surface, no two nearer than the spacing, until there is no room for
    /// another \[Cook1986\].
    PoissonDisk,
}

/// Density of the points of a shell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ShellDensity {
    /// Approximate distance between points \[m\].
    Spacing(f32),
    /// Approximate number of points that fit on the area, which determines the spacing; thin and
    /// sharp parts add more.
    Points(u32),
}

/// Construction of the tree of spheres over a shell. Compared in docs/BENCHMARKS.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeBuilder {
    /// Bottom up: a chain of nearest neighbours, cut into clusters; outliers are moved to another
    /// cluster \[Sagardia2014\].
    Chain,
    /// Top down: halves of equal numbers along the direction of largest spread.
    Spatial,
}

/// Why a shell cannot be baked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShellBakeError {
    /// The mesh has no faces.
    #[error("the mesh has no faces, and so no surface to put points on")]
    NoFaces,
    /// A face refers to a missing vertex, or to one that is not finite.
    #[error("face {face} has a missing or non-finite vertex (try `repair`)")]
    InvalidFace {
        /// First such face.
        face: usize,
    },
    /// Coordinates are too large for `f32`.
    #[error("coordinates of up to {largest:e} m are too large; scale the mesh down")]
    TooLarge {
        /// Largest coordinate \[m\].
        largest: f64,
    },
    /// The spacing is NaN, infinite, negative or 0; or the number of points is 0.
    #[error(
        "a density of {0:?} is not usable; the spacing must be finite and positive, the number of points not 0"
    )]
    BadDensity(ShellDensity),
    /// The factor between voxels and spacing is NaN, infinite, or out of range.
    #[error(
        "an alpha of {0} is not usable; take from 0.1 to 10, usually about the square root of 2"
    )]
    BadAlpha(f32),
    /// The cluster size is out of range, such as 1, with which levels would not shrink.
    #[error("clusters of {0}; take from 2 to 256")]
    BadClusterSize(u32),
    /// The cell size is NaN, infinite, negative or 0.
    #[error("cells of {0} m are not usable; they must be finite and positive")]
    BadCellSize(f32),
    /// The spacing is too small for `f32` to resolve.
    #[error(
        "a spacing of {spacing:e} m is too small for f32 at coordinates of {largest:e} m; take at least {least:e} m, or move the surface towards the origin"
    )]
    TooFine {
        /// Requested spacing \[m\].
        spacing: f64,
        /// Largest coordinate \[m\].
        largest: f64,
        /// Smallest usable spacing \[m\].
        least: f64,
    },
    /// The shell needs more points than the limit allows.
    #[error(
        "the shell needs more than the {limit} points allowed; take a larger spacing, or raise `max_points`"
    )]
    TooManyPoints {
        /// The limit.
        limit: usize,
    },
    /// The field is unbounded.
    #[error("the solid reaches from {:?} to {:?}: a surface without end has no shell (intersect it with a box)", .0.min.to_array(), .0.max.to_array())]
    Unbounded(Aabb),
    /// The field has no surface that cells of this size can resolve.
    #[error("no surface found: {0}")]
    Isosurface(#[from] IsosurfaceError),
    /// The parts do not fit together.
    #[error("the shell is not valid: {0}")]
    Shell(#[from] ShellError),
}

impl ShellBakeError {
    /// Returns whether a limit was hit, rather than the input being bad.
    pub fn is_limit(&self) -> bool {
        match self {
            ShellBakeError::TooManyPoints { .. } => true,
            ShellBakeError::Isosurface(error) => error.is_limit(),
            _ => false,
        }
    }
}

impl ShellSettings {
    pub(super) fn check(&self) -> Result<(), ShellBakeError> {
        let usable = match self.density {
            ShellDensity::Spacing(spacing) => spacing > 0.0 && spacing.is_finite(),
            ShellDensity::Points(points) => points > 0,
        };
        if !usable {
            return Err(ShellBakeError::BadDensity(self.density));
        }
        if let ShellSampling::Voxels { alpha } = self.sampling
            && !(0.1..=10.0).contains(&alpha)
        {
            return Err(ShellBakeError::BadAlpha(alpha));
        }
        if !(2..=256).contains(&self.cluster_size) {
            return Err(ShellBakeError::BadClusterSize(self.cluster_size));
        }
        Ok(())
    }
}
