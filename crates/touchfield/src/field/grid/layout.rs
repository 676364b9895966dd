//! Where the nodes of a grid are, and why there can be none.

use crate::geom::{Aabb, place_index};
use glam::{UVec3, Vec3};

/// Where the nodes of a grid lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridLayout {
    /// Position of node (0, 0, 0) \[m\].
    pub origin: Vec3,
    /// Distance between neighbouring nodes, the same along every axis \[m\].
    pub cell_size: f32,
    /// Nodes along x, y and z; at least two each.
    pub nodes: UVec3,
}

/// Why a grid cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GridError {
    /// A side has fewer than two nodes.
    #[error("a grid of {nodes} nodes has no cell; every side needs at least 2")]
    TooFewNodes {
        /// Nodes along x, y and z.
        nodes: UVec3,
    },
    /// Values and layout disagree.
    #[error("a grid of {nodes} nodes holds {expected} values, but {found} were given")]
    WrongCount {
        /// Nodes along x, y and z.
        nodes: UVec3,
        /// Their product.
        expected: u64,
        /// Values given.
        found: usize,
    },
    /// The geometry is no number or beyond all measure, or `f32` cannot tell neighbouring nodes apart.
    #[error(
        "cell size {cell_size:?} m at {:?} is not usable: it must be positive, large enough that neighbouring nodes \
         differ in f32, and leave every node within {LARGEST:e} m (move the model towards the origin, or use other cells)",
        .origin.to_array()
    )]
    BadGeometry {
        /// Position of the first node.
        origin: Vec3,
        /// Distance between nodes.
        cell_size: f32,
    },
    /// A stored number is NaN, or so large that interpolating it would leave `f32`.
    #[error(
        "the value of node {node} is {value:?}; distances must be finite, at most {LARGEST:e} m and {LARGEST:e} cells"
    )]
    BadValue {
        /// Index of the node, x fastest.
        node: usize,
        /// What it holds.
        value: f32,
    },
    /// The error bound is NaN, negative or beyond all measure.
    #[error("an error bound of {0:?} m proves nothing; it must be from 0 to {LARGEST:e}")]
    BadErrorBound(f32),
    /// The box around the surface has no end, so that outside the grid nothing would be known.
    #[error(
        "the box around the surface goes from {:?} to {:?}; its corners must lie within {LARGEST:e} m",
        .0.min.to_array(), .0.max.to_array()
    )]
    BadSolid(Aabb),
}

impl GridLayout {
    /// Number of nodes. `u64`: the product of three counts from a file need not fit anything smaller.
    pub fn node_count(&self) -> u64 {
        // Saturating: three huge counts overflow even u64.
        self.nodes
            .to_array()
            .into_iter()
            .fold(1u64, |product, n| product.saturating_mul(n.into()))
    }

    /// Number of cells along each axis.
    pub fn cells(&self) -> UVec3 {
        self.nodes - UVec3::ONE
    }

    /// Position of a node \[m\], in `f64`: exact, so that baking and lookup agree on it.
    pub fn node_position(&self, node: UVec3) -> glam::DVec3 {
        self.origin.as_dvec3() + f64::from(self.cell_size) * node.as_dvec3()
    }

    /// Index of a node, x fastest.
    pub fn node_index(&self, node: UVec3) -> usize {
        place_index(self.nodes, node)
    }

    /// Index of a cell, x fastest; `None` past the last.
    #[cfg(feature = "bake")]
    pub(crate) fn cell_index(&self, cell: UVec3) -> Option<u32> {
        let cells = self.cells();
        cell.cmplt(cells)
            .all()
            .then(|| (cell.z * cells.y + cell.y) * cells.x + cell.x)
    }

    /// The box from the first node to the last.
    pub fn bounds(&self) -> Aabb {
        Aabb::new(
            self.origin,
            self.node_position(self.nodes - UVec3::ONE).as_vec3(),
        )
    }

    /// Whether the nodes can be told apart and counted.
    pub fn check(&self) -> Result<(), GridError> {
        if self.nodes.min_element() < 2 {
            return Err(GridError::TooFewNodes { nodes: self.nodes });
        }
        let bounds = self.bounds();
        let largest = bounds.min.abs().max(bounds.max.abs()).max_element();
        // At least one step of f32 a cell, or neighbouring nodes are one.
        let usable = self.origin.is_finite()
            && self.cell_size > 0.0
            && self.cell_size.is_normal()
            && largest <= LARGEST
            && self.cell_size >= f32::EPSILON * largest;
        if !usable {
            return Err(GridError::BadGeometry {
                origin: self.origin,
                cell_size: self.cell_size,
            });
        }
        Ok(())
    }
}

/// Largest coordinate, distance and error of a grid \[m\], and largest value in cells: what sums and differences of such
/// numbers give, and their slopes, stays finite in `f32`.
pub(crate) const LARGEST: f32 = 1e37;
