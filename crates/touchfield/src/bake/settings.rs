//! What a bake is asked for.

use std::fmt;

use crate::field::{GridLayout, SignMethod};

/// How to bake. `BakeSettings { resolution: …, ..Default::default() }`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BakeSettings {
    /// How fine.
    pub resolution: Resolution,
    /// Empty cells between the mesh and the border of the grid; more of them if [`SignChoice::Offset`] needs more.
    pub padding: u32,
    /// How to tell inside from outside.
    pub sign: SignChoice,
    /// How to find distances.
    pub method: Method,
    /// A bake that would take more than this is refused before it starts \[bytes\].
    pub max_memory: u64,
}

impl Default for BakeSettings {
    fn default() -> BakeSettings {
        BakeSettings {
            resolution: Resolution::Nodes(128),
            padding: 2,
            sign: SignChoice::Auto,
            method: Method::Exact,
            max_memory: 8 << 30,
        }
    }
}

/// How fine a grid is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resolution {
    /// Nodes along the longest side, padding included.
    Nodes(u32),
    /// Distance between nodes \[m\].
    CellSize(f64),
}

/// How distances are found. Three give the same values; the others are exact within three cells of the surface and within a proven
/// bound beyond, which [`error_bound`](crate::field::Field::error_bound) includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Hierarchy and block coherence; exact to `f64` rounding.
    Exact,
    /// Every triangle for every node in `f64`, signs by the exact winding number: the oracle. Hours on large models.
    BruteForce,
    /// Boxes of nodes against clusters of triangles, pruned by lower and upper bounds; exact to `f64` rounding. After
    /// \[Johnson1998\].
    BoundTree,
    /// Characteristics of faces, edges and vertices, scan-converted; exact near the surface, then as
    /// [`Method::VectorDistance`]. After \[Mauch2000\].
    ScanConversion,
    /// Steps of a 5 × 5 × 5 neighbourhood added up; off by a proven 2.5 % of the distance and a quarter of a cell. After
    /// \[Borgefors1986\].
    Chamfer,
    /// The nearest surface point handed from node to node; never too small; proven to twice the chamfer bound, mostly far better. After
    /// \[Danielsson1980\].
    VectorDistance,
    /// The eikonal equation, upwind and of first order; proven afterwards, node by node, by chamfer distances. After
    /// \[Sethian1996\].
    FastMarching,
}

impl Method {
    /// Every method.
    pub const ALL: [Method; 7] = [
        Method::Exact,
        Method::BruteForce,
        Method::BoundTree,
        Method::ScanConversion,
        Method::Chamfer,
        Method::VectorDistance,
        Method::FastMarching,
    ];

    /// Whether node values are exact everywhere, rather than near the surface only.
    pub fn is_exact(self) -> bool {
        matches!(self, Method::Exact | Method::BruteForce | Method::BoundTree)
    }

    /// As the command line calls it.
    pub fn name(self) -> &'static str {
        match self {
            Method::Exact => "exact",
            Method::BruteForce => "brute-force",
            Method::BoundTree => "bound-tree",
            Method::ScanConversion => "scan",
            Method::Chamfer => "chamfer",
            Method::VectorDistance => "vector",
            Method::FastMarching => "fast-marching",
        }
    }
}

/// Radius of the ball: gaps up to twice as wide are closed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OffsetWidth {
    /// So many cells.
    Cells(f64),
    /// This length \[m\].
    Length(f64),
}

impl Default for OffsetWidth {
    /// One cell: closes what the grid can hardly show, and fills no groove that it could.
    fn default() -> OffsetWidth {
        OffsetWidth::Cells(1.0)
    }
}

impl OffsetWidth {
    /// Cells of padding that the ball needs to roll all around a mesh whose longest side has this length \[m\]: σ, and one more.
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

    /// σ \[cells\].
    pub(crate) fn in_cells(self, layout: &GridLayout) -> f64 {
        match self {
            OffsetWidth::Cells(cells) => cells,
            OffsetWidth::Length(length) => length / f64::from(layout.cell_size),
        }
    }
}

impl fmt::Display for OffsetWidth {
    /// The number and its unit.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OffsetWidth::Cells(cells) => write!(f, "{cells:?} cells"),
            OffsetWidth::Length(length) => write!(f, "{length:?} m"),
        }
    }
}

/// How to tell inside from outside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SignChoice {
    /// By the defects of the mesh: pseudonormals for clean ones, else winding numbers, else parity; cross-checked.
    Auto,
    /// This one, or an error when the mesh does not allow it. [`SignMethod::Offset`] means [`OffsetWidth::default`].
    Always(SignMethod),
    /// By what a ball from outside can reach, of this radius: [`SignMethod::Offset`]. Dense grids only.
    Offset(OffsetWidth),
}

impl SignChoice {
    /// The width of the offset, if signs are told by one.
    pub(crate) fn offset(self) -> Option<OffsetWidth> {
        match self {
            SignChoice::Offset(width) => Some(width),
            SignChoice::Always(SignMethod::Offset) => Some(OffsetWidth::default()),
            SignChoice::Auto | SignChoice::Always(_) => None,
        }
    }
}
