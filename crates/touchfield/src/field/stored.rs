//! One type for all fields that files hold, for callers that do not depend on how a field is
//! stored.

use glam::{DVec3, UVec3, Vec3};

use crate::field::field::{Field, LowerPlane, Meaning, Sample};
use crate::field::grid::dense_grid::DenseGrid;
use crate::field::grid::layered_voxmap::LayeredVoxmap;
use crate::field::grid::layout::GridLayout;
use crate::field::grid::taylor_grid::TaylorGrid;
use crate::field::sparse::sparse_blocks::SparseBlocks;
use crate::geom::{Aabb, Interval};

/// A field made of stored values.
#[derive(Clone, Debug, PartialEq)]
pub enum StoredField {
    /// A value at every node of a regular grid.
    Dense(DenseGrid),
    /// A coarse grid and blocks of finer cells.
    Sparse(SparseBlocks),
    /// A value and a gradient at every node, in half floats.
    Taylor(TaylorGrid),
    /// A number for every voxel.
    Voxmap(LayeredVoxmap),
}

impl StoredField {
    /// Returns the word used on the command line and in JSON.
    pub fn kind(&self) -> &'static str {
        match self {
            StoredField::Dense(_) => "dense",
            StoredField::Sparse(_) => "sparse",
            StoredField::Taylor(_) => "taylor",
            StoredField::Voxmap(_) => "voxmap",
        }
    }

    /// Returns where the nodes lie: the coarse nodes of a sparse field, the voxel corners of a
    /// voxmap.
    pub fn layout(&self) -> &GridLayout {
        match self {
            StoredField::Dense(grid) => grid.layout(),
            StoredField::Sparse(blocks) => blocks.layout(),
            StoredField::Taylor(grid) => grid.layout(),
            StoredField::Voxmap(map) => map.layout(),
        }
    }

    /// Returns the two corners of the region where the field is valid, in cells of its
    /// [`layout`](Self::layout). This is the whole layout, except for sparse fields restricted by
    /// [`within`](SparseBlocks::within).
    pub(crate) fn good_cells(&self) -> [DVec3; 2] {
        let (layout, bounds) = (self.layout(), self.bounds());
        let all = layout.cells().as_dvec3();
        if bounds == layout.bounds() {
            return [DVec3::ZERO, all];
        }
        [bounds.min, bounds.max].map(|point| {
            let place = (point.as_dvec3() - layout.origin.as_dvec3()) / f64::from(layout.cell_size);
            place.clamp(DVec3::ZERO, all)
        })
    }

    /// Returns the side of the smallest cells \[m\].
    pub fn finest_cell_size(&self) -> f32 {
        match self {
            StoredField::Dense(grid) => grid.layout().cell_size,
            StoredField::Sparse(blocks) => blocks.finest_cell_size(),
            StoredField::Taylor(grid) => grid.layout().cell_size,
            StoredField::Voxmap(map) => map.layout().cell_size,
        }
    }

    /// Returns a box that contains the surface \[m\].
    pub fn solid(&self) -> Aabb {
        match self {
            StoredField::Dense(grid) => grid.solid(),
            StoredField::Sparse(blocks) => blocks.solid(),
            StoredField::Taylor(grid) => grid.solid(),
            StoredField::Voxmap(map) => map.solid(),
        }
    }

    /// Returns the size of the stored values in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            StoredField::Dense(grid) => grid.bytes(),
            StoredField::Sparse(blocks) => blocks.bytes(),
            StoredField::Taylor(grid) => grid.bytes(),
            StoredField::Voxmap(map) => map.bytes(),
        }
    }

    /// Returns the number of stored values.
    pub fn value_count(&self) -> usize {
        match self {
            StoredField::Taylor(grid) => grid.layout().node_count() as usize,
            StoredField::Dense(grid) => grid.values().len(),
            StoredField::Voxmap(map) => map.values().len(),
            StoredField::Sparse(blocks) => blocks.parts().nodes.len() + blocks.parts().values.len(),
        }
    }

    /// Returns whether any stored value is negative. If none is, the field has no visible solid.
    pub fn has_inside(&self) -> bool {
        let negative = |value: &f32| *value < 0.0;
        match self {
            StoredField::Taylor(grid) => {
                let [nx, ny, nz] = grid.layout().nodes.to_array();
                (0..nz)
                    .flat_map(|z| {
                        (0..ny).flat_map(move |y| (0..nx).map(move |x| UVec3::new(x, y, z)))
                    })
                    .any(|node| grid.node(node).distance < 0.0)
            }
            StoredField::Dense(grid) => grid.values().iter().any(negative),
            StoredField::Sparse(blocks) => {
                let parts = blocks.parts();
                parts.nodes.iter().any(negative) || blocks.lowest_in_blocks() < 0.0
            }
            StoredField::Voxmap(map) => map.values().has_inside(),
        }
    }

    /// Returns the dense grid, if the field is one.
    pub fn as_dense(&self) -> Option<&DenseGrid> {
        match self {
            StoredField::Dense(grid) => Some(grid),
            StoredField::Sparse(_) | StoredField::Taylor(_) | StoredField::Voxmap(_) => None,
        }
    }
}

impl From<DenseGrid> for StoredField {
    fn from(grid: DenseGrid) -> StoredField {
        StoredField::Dense(grid)
    }
}

impl From<SparseBlocks> for StoredField {
    fn from(blocks: SparseBlocks) -> StoredField {
        StoredField::Sparse(blocks)
    }
}

impl From<TaylorGrid> for StoredField {
    fn from(grid: TaylorGrid) -> StoredField {
        StoredField::Taylor(grid)
    }
}

impl From<LayeredVoxmap> for StoredField {
    fn from(map: LayeredVoxmap) -> StoredField {
        StoredField::Voxmap(map)
    }
}

/// Forwards a call to the stored field, whatever its kind. Batches dispatch once for all points.
macro_rules! each {
    ($self:ident, $field:ident => $call:expr) => {
        match $self {
            StoredField::Dense($field) => $call,
            StoredField::Sparse($field) => $call,
            StoredField::Taylor($field) => $call,
            StoredField::Voxmap($field) => $call,
        }
    };
}

impl Field for StoredField {
    fn bounds(&self) -> Aabb {
        each!(self, field => field.bounds())
    }

    fn error_bound(&self) -> f32 {
        each!(self, field => field.error_bound())
    }

    fn meaning(&self) -> Meaning {
        each!(self, field => field.meaning())
    }

    fn distance(&self, point: Vec3) -> f32 {
        each!(self, field => field.distance(point))
    }

    fn sample(&self, point: Vec3) -> Sample {
        each!(self, field => field.sample(point))
    }

    fn distance_many(&self, points: &[Vec3], out: &mut Vec<f32>) {
        each!(self, field => field.distance_many(points, out));
    }

    fn sample_many(&self, points: &[Vec3], out: &mut Vec<Sample>) {
        each!(self, field => field.sample_many(points, out));
    }

    fn interval(&self, cell: Aabb) -> Interval {
        each!(self, field => field.interval(cell))
    }

    fn lower_plane(&self, cell: Aabb) -> Option<LowerPlane> {
        each!(self, field => field.lower_plane(cell))
    }
}
