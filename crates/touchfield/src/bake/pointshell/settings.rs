//! How to make a shell, and why there may be none.

use crate::bake::convert::isosurface::IsosurfaceError;
use crate::geom::Aabb;
use crate::pointshell::ShellError;

/// How to make a shell. `ShellSettings { density: …, ..Default::default() }`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShellSettings {
    /// Where the points come from.
    pub sampling: ShellSampling,
    /// How dense they are.
    pub density: ShellDensity,
    /// Whether points are added where the surface is farther than the spacing from all others. Without it the shell is what the
    /// sampling gives, and its covering radius says how far to trust it. [`ShellSampling::PoissonDisk`] always does.
    pub fill_gaps: bool,
    /// How the tree of spheres is built.
    pub tree: TreeBuilder,
    /// Points of a leaf, and children of a node, about: the K of document 003.
    pub cluster_size: u32,
    /// A shell that needs more is given up.
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

/// Where the points of a shell come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ShellSampling {
    /// Centres of surface voxels, projected onto the triangles \[Sagardia2014\]; the spacing is `alpha` voxels.
    Voxels {
        /// Spacing in voxels; document 003 takes about √2.
        alpha: f32,
    },
    /// The vertices of the mesh, all of them. The spacing is for the gaps only.
    Vertices,
    /// Random points of the surface, no two nearer than the spacing, until there is room for none \[Cook1986\].
    PoissonDisk,
}

/// How dense the points of a shell are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ShellDensity {
    /// Points are about this far apart \[m\].
    Spacing(f32),
    /// The spacing at which about so many points fit on the area; thin and sharp parts make it more.
    Points(u32),
}

/// How the tree of spheres over a shell is built. Compared in docs/BENCHMARKS.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeBuilder {
    /// Bottom up: a chain of nearest neighbours, cut into clusters; those too far out are given to another \[Sagardia2014\].
    Chain,
    /// Top down: halves along the direction of largest spread, of equal numbers.
    Spatial,
}

/// Why there is no shell.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShellBakeError {
    /// There are no faces.
    #[error("the mesh has no faces, and so no surface to put points on")]
    NoFaces,
    /// A face names a missing vertex, or one that is not finite.
    #[error("face {face} has a missing or non-finite vertex (try `repair`)")]
    InvalidFace {
        /// The first such face.
        face: usize,
    },
    /// Coordinates that `f32` does not hold.
    #[error("coordinates of up to {largest:e} m are too large; scale the mesh down")]
    TooLarge {
        /// The largest \[m\].
        largest: f64,
    },
    /// A spacing that is NaN, infinite, negative or 0; or no points.
    #[error(
        "a density of {0:?} is not usable; the spacing must be finite and positive, the number of points not 0"
    )]
    BadDensity(ShellDensity),
    /// A factor between voxels and spacing that is NaN, infinite, negative or 0.
    #[error(
        "an alpha of {0} is not usable; take from 0.1 to 10, usually about the square root of 2"
    )]
    BadAlpha(f32),
    /// Clusters that do not shrink a level.
    #[error("clusters of {0}; take from 2 to 256")]
    BadClusterSize(u32),
    /// Cells that are NaN, infinite, negative or 0.
    #[error("cells of {0} m are not usable; they must be finite and positive")]
    BadCellSize(f32),
    /// Points that `f32` does not tell apart.
    #[error(
        "a spacing of {spacing:e} m is too small for f32 at coordinates of {largest:e} m; take at least {least:e} m, or move the surface towards the origin"
    )]
    TooFine {
        /// Asked for \[m\].
        spacing: f64,
        /// Largest coordinate \[m\].
        largest: f64,
        /// What would do \[m\].
        least: f64,
    },
    /// More points than allowed.
    #[error(
        "the shell needs more than the {limit} points allowed; take a larger spacing, or raise `max_points`"
    )]
    TooManyPoints {
        /// The limit.
        limit: usize,
    },
    /// A field without end.
    #[error("the solid reaches from {:?} to {:?}: a surface without end has no shell (intersect it with a box)", .0.min.to_array(), .0.max.to_array())]
    Unbounded(Aabb),
    /// The field has no surface that cells of this size see.
    #[error("no surface found: {0}")]
    Isosurface(#[from] IsosurfaceError),
    /// The parts do not fit together.
    #[error("the shell is not valid: {0}")]
    Shell(#[from] ShellError),
}

impl ShellBakeError {
    /// Whether a limit was hit, rather than the input being bad.
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
