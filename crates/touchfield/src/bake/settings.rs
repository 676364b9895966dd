//! What a bake is asked for, and the grid that follows from it.

use std::ops::ControlFlow;

use glam::{DVec3, UVec3};

use super::SignChoice;
use super::bake::BakeError;
use crate::field::GridLayout;
use crate::geom::DAabb;

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

/// What a bake is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Looking for defects and building the search structures.
    Preparing,
    /// Distances of all nodes.
    Distances,
    /// Inside or outside, where distances do not tell.
    Signs,
    /// Cross-checks and sampled error.
    Checking,
}

/// Progress of a bake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What is being done.
    pub stage: Stage,
    /// Parts of the stage that are done.
    pub done: u64,
    /// Parts of the stage in all.
    pub total: u64,
}

/// Called from any thread; [`ControlFlow::Break`] cancels.
pub(super) type Progress<'a> = &'a (dyn Fn(Step) -> ControlFlow<()> + Sync);

/// Tells how far a stage is, and stops if that is asked for.
pub(super) fn tell(
    progress: Progress<'_>,
    stage: Stage,
    done: u64,
    total: u64,
) -> Result<(), BakeError> {
    match progress(Step { stage, done, total }) {
        ControlFlow::Break(()) => Err(BakeError::Cancelled),
        ControlFlow::Continue(()) => Ok(()),
    }
}

impl BakeSettings {
    /// Cells between a mesh whose longest side has this length \[m\] and the border: those asked for, and as many as an offset needs.
    fn padding_around(&self, longest: f64) -> Result<u32, BakeError> {
        let Some(width) = self.sign.offset() else {
            return Ok(self.padding);
        };
        let cells = width.checked()?.padding(self.resolution, longest);
        if cells >= f64::from(u32::MAX) {
            return Err(BakeError::TooManyNodes { cells });
        }
        // A cast takes NaN, of a cell size that will be refused, to 0.
        Ok(self.padding.max(cells as u32))
    }

    /// The cell size of the grid for a mesh of these bounds, wherever they lie \[m\]; `None` where there is no grid.
    pub(super) fn cell_size(&self, bounds: DAabb) -> Option<f64> {
        let around_origin = DAabb::new(-bounds.half_extents(), bounds.half_extents());
        let layout = self.layout(around_origin).ok()?;
        Some(layout.cell_size.into())
    }

    /// The grid for a mesh of these bounds: cubic cells, the mesh in the middle.
    pub fn layout(&self, bounds: DAabb) -> Result<GridLayout, BakeError> {
        let extents = bounds.extents();
        let longest = extents.max_element();
        if !(longest > 0.0 && longest.is_finite()) {
            return Err(BakeError::NoExtent { extents });
        }
        let padding = self.padding_around(longest)?;
        let cell_size = match self.resolution {
            Resolution::Nodes(nodes) => {
                let cells = u64::from(nodes).saturating_sub(2 * u64::from(padding) + 1);
                if cells < 1 {
                    return Err(match self.sign.offset() {
                        Some(width) if padding > self.padding => {
                            BakeError::OffsetTooWide { width, nodes }
                        }
                        _ => BakeError::TooCoarse { nodes, padding },
                    });
                }
                longest / cells as f64
            }
            Resolution::CellSize(size) => size,
        };
        if !(cell_size > 0.0 && cell_size.is_finite()) {
            return Err(BakeError::BadCellSize { cell_size });
        }
        let cell_size = match self.resolution {
            // Rounded up, so that the nodes asked for still span the mesh.
            Resolution::Nodes(_) => (cell_size as f32).next_up(),
            Resolution::CellSize(_) => cell_size as f32,
        };
        let step = f64::from(cell_size);
        let cells = (extents / step).ceil() + 2.0 * f64::from(padding);
        // One cell at least, for flat meshes without padding.
        let cells = cells.max(DVec3::ONE);
        if cells.max_element() >= f64::from(u32::MAX) {
            return Err(BakeError::TooManyNodes {
                cells: cells.max_element(),
            });
        }
        let origin = (bounds.center() - 0.5 * step * cells).as_vec3();
        let layout = GridLayout {
            origin,
            cell_size,
            nodes: cells.as_uvec3() + UVec3::ONE,
        };
        layout.check().map_err(BakeError::Grid)?;
        Ok(layout)
    }
}
