//! Settings of a bake.

use std::fmt;

use crate::field::{GridLayout, SignMethod};

/// Settings of a bake. Written as `BakeSettings { resolution: …, ..Default::default() }`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BakeSettings {
    /// Resolution of the grid.
    pub resolution: Resolution,
    /// Empty cells between the mesh and the border of the grid; more if [`SignChoice::Offset`]
    /// needs more.
    pub padding: u32,
    /// Choice of the sign method.
    pub sign: SignChoice,
    /// Distance method.
    pub method: DistanceMethod,
    /// Memory limit \[bytes\]. A bake that would take more is refused before it starts.
    pub max_memory: u64,
}

impl Default for BakeSettings {
    fn default() -> BakeSettings {
        BakeSettings {
            resolution: Resolution::Nodes(128),
            padding: 2,
            sign: SignChoice::Auto,
            method: DistanceMethod::Exact,
            max_memory: 8 << 30,
        }
    }
}

/// Resolution of a grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resolution {
    /// Nodes along the longest side, padding included.
    Nodes(u32),
    /// Distance between nodes \[m\].
    CellSize(f64),
}

/// Distance method. The three exact ones give the same values. The others are exact within three
/// cells of the surface, and within a proven bound beyond, which
/// [`error_bound`](crate::field::Field::error_bound) includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DistanceMethod {
    /// BVH search shared by blocks of nodes; exact to `f64` rounding.
    Exact,
    /// Every triangle for every node in `f64`, with signs by the exact winding number. The
    /// reference for the other methods; takes hours on large models.
    BruteForce,
    /// Boxes of nodes against clusters of triangles, pruned by lower and upper bounds; exact to
    /// `f64` rounding. After \[Johnson1998\].
    BoundTree,
    /// Characteristics of faces, edges and vertices, scan-converted; exact near the surface, and as
    /// [`DistanceMethod::VectorDistance`] beyond. After \[Mauch2000\].
    ScanConversion,
    /// Chamfer distances: sums of steps within a 5 × 5 × 5 neighbourhood. Off by at most a proven
    /// 2.5 % of the distance plus a quarter of a cell. After \[Borgefors1986\].
    Chamfer,
    /// Vector distance transform: the nearest surface point is propagated from node to node. Never
    /// too small; the error is proven to twice the chamfer bound, and mostly far smaller. After
    /// \[Danielsson1980\].
    VectorDistance,
    /// Upwind, first-order solution of the eikonal equation, then bounded node by node by chamfer
    /// distances. After \[Sethian1996\].
    FastMarching,
}

impl DistanceMethod {
    /// Every method.
    pub const ALL: [DistanceMethod; 7] = [
        DistanceMethod::Exact,
        DistanceMethod::BruteForce,
        DistanceMethod::BoundTree,
        DistanceMethod::ScanConversion,
        DistanceMethod::Chamfer,
        DistanceMethod::VectorDistance,
        DistanceMethod::FastMarching,
    ];

    /// Returns whether node values are exact everywhere, rather than near the surface only.
    pub fn is_exact(self) -> bool {
        matches!(
            self,
            DistanceMethod::Exact | DistanceMethod::BruteForce | DistanceMethod::BoundTree
        )
    }

    /// Returns the name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            DistanceMethod::Exact => "exact",
            DistanceMethod::BruteForce => "brute-force",
            DistanceMethod::BoundTree => "bound-tree",
            DistanceMethod::ScanConversion => "scan",
            DistanceMethod::Chamfer => "chamfer",
            DistanceMethod::VectorDistance => "vector",
            DistanceMethod::FastMarching => "fast-marching",
        }
    }
}

/// Radius of the ball that [`SignChoice::Offset`] rolls around the mesh; gaps up to twice as wide
/// are closed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OffsetWidth {
    /// Radius \[cells\].
    Cells(f64),
    /// Radius \[m\].
    Length(f64),
}

impl Default for OffsetWidth {
    /// Returns one cell, which closes gaps that the grid can hardly represent, and fills no groove
    /// that it could.
    fn default() -> OffsetWidth {
        OffsetWidth::Cells(1.0)
    }
}

impl OffsetWidth {
    /// Returns the padding \[cells\] that the ball needs to roll all around a mesh whose longest
    /// side has this length \[m\]: σ plus one cell.
    pub(crate) fn padding(self, resolution: Resolution, longest: f64) -> f64 {
        match (self, resolution) {
            (OffsetWidth::Cells(cells), _) => cells + 1.0,
            (OffsetWidth::Length(length), Resolution::CellSize(size)) => length / size + 1.0,
            // p cells of h = L / (n − 1 − 2p): p h ≥ σ + h.
            (OffsetWidth::Length(length), Resolution::Nodes(nodes)) => {
                let ratio = longest / length;
                (f64::from(nodes) - 1.0 + ratio) / (ratio + 2.0)
            }
        }
        .ceil()
    }

    /// Returns σ \[cells\].
    pub(crate) fn in_cells(self, layout: &GridLayout) -> f64 {
        match self {
            OffsetWidth::Cells(cells) => cells,
            OffsetWidth::Length(length) => length / f64::from(layout.cell_size),
        }
    }
}

impl fmt::Display for OffsetWidth {
    /// Writes the number and its unit.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OffsetWidth::Cells(cells) => write!(f, "{cells:?} cells"),
            OffsetWidth::Length(length) => write!(f, "{length:?} m"),
        }
    }
}

/// Choice of the sign method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SignChoice {
    /// Chosen from the defects of the mesh: pseudonormals for clean ones, else winding numbers,
    /// else parity; cross-checked.
    Auto,
    /// Always this method; an error if the mesh does not allow it. [`SignMethod::Offset`] means
    /// [`OffsetWidth::default`].
    Always(SignMethod),
    /// Signs by the region that a ball of this radius can reach from outside:
    /// [`SignMethod::Offset`]. Dense grids only.
    Offset(OffsetWidth),
}

impl SignChoice {
    /// Returns the width of the offset, if this choice is [`SignMethod::Offset`].
    pub(crate) fn offset(self) -> Option<OffsetWidth> {
        match self {
            SignChoice::Offset(width) => Some(width),
            SignChoice::Always(SignMethod::Offset) => Some(OffsetWidth::default()),
            SignChoice::Auto | SignChoice::Always(_) => None,
        }
    }
}
