//! The layout of a grid's nodes, and the errors of building a grid.

use crate::geom::{Aabb, place_index};
use glam::{UVec3, Vec3};

/// The positions of a grid's nodes.
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
        /// Expected number of values: the product of the node counts.
        expected: u64,
        /// Number of values given.
        found: usize,
    },
    /// The geometry is not a number, too large, or so fine that neighbouring nodes coincide in
    /// `f32`.
    #[error(
        "cell size {cell_size:?} m at {:?} is not usable: it must be positive, large enough that neighbouring nodes \
         differ in f32, and leave every node within {LARGEST:e} m (move the model towards the origin, or use other cells)",
        .origin.to_array()
    )]
    BadGeometry {
        /// Position of the first node \[m\].
        origin: Vec3,
        /// Distance between nodes \[m\].
        cell_size: f32,
    },
    /// A stored number is NaN, or so large that interpolating it would leave `f32`.
    #[error(
        "the value of node {node} is {value:?}; distances must be finite, at most {LARGEST:e} m and {LARGEST:e} cells"
    )]
    BadValue {
        /// Index of the node, x fastest.
        node: usize,
        /// The value it holds \[m\].
        value: f32,
    },
    /// The error bound is NaN, negative or too large.
    #[error("an error bound of {0:?} m proves nothing; it must be from 0 to {LARGEST:e}")]
    BadErrorBound(f32),
    /// The box around the surface is too large, so that nothing would be known outside the grid.
    #[error(
        "the box around the surface goes from {:?} to {:?}; its corners must lie within {LARGEST:e} m",
        .0.min.to_array(), .0.max.to_array()
    )]
    BadSolid(Aabb),
}

impl GridLayout {
    /// Returns the number of nodes. `u64`: the product of three counts from a file need not fit
    /// anything smaller.
    pub fn node_count(&self) -> u64 {
        // Saturating: three huge counts overflow even u64.
        self.nodes
            .to_array()
            .into_iter()
            .fold(1u64, |product, n| product.saturating_mul(n.into()))
    }

    /// Returns the number of cells along each axis.
    pub fn cells(&self) -> UVec3 {
        self.nodes - UVec3::ONE
    }

    /// Returns the position of a node \[m\], in `f64`: exact, so that baking and lookup agree on
    /// it.
    pub fn node_position(&self, node: UVec3) -> glam::DVec3 {
        self.origin.as_dvec3() + f64::from(self.cell_size) * node.as_dvec3()
    }

    /// Returns the index of a node, x fastest.
    pub fn node_index(&self, node: UVec3) -> usize {
        place_index(self.nodes, node)
    }

    /// Returns the index of a cell, x fastest; `None` beyond the last cell.
    #[cfg(feature = "bake")]
    pub(crate) fn cell_index(&self, cell: UVec3) -> Option<u32> {
        let cells = self.cells();
        cell.cmplt(cells)
            .all()
            .then(|| (cell.z * cells.y + cell.y) * cells.x + cell.x)
    }

    /// Returns the box from the first node to the last.
    pub fn bounds(&self) -> Aabb {
        Aabb::new(
            self.origin,
            self.node_position(self.nodes - UVec3::ONE).as_vec3(),
        )
    }

    /// Checks that there are cells and that the nodes are distinct in `f32` and within range.
    pub fn check(&self) -> Result<(), GridError> {
        if self.nodes.min_element() < 2 {
            return Err(GridError::TooFewNodes { nodes: self.nodes });
        }
        let bounds = self.bounds();
        let largest = bounds.min.abs().max(bounds.max.abs()).max_element();
        // At least one step of f32 per cell, or neighbouring nodes coincide.
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

/// Largest coordinate, distance and error of a grid \[m\], and largest value in cells. Sums,
/// differences and slopes of such numbers stay finite in `f32`.
pub(crate) const LARGEST: f32 = 1e37;
