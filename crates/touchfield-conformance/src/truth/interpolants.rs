//! Values that stored fields interpolate to, in `f64` and from their public parts: the truth for
//! methods that follow a field along a path.
//!
//! Input: a stored field and a point of its box.
//! Output: the value, and the distance to the nearest side of the cell.
//! Not for: points outside.
//!
//! Written independently of the library: weighted sums over nodes, as in the papers.

use glam::{DVec3, UVec3};
use touchfield::field::{
    LayeredVoxmap, PLAIN, Sampling, SparseBlock, SparseBlocks, SparseValues, StoredField,
    TaylorGrid, VoxelValues,
};

/// The interpolant at a point.
#[derive(Clone, Copy, Debug)]
pub struct Interpolated {
    /// Interpolated value \[m\].
    pub value: f64,
    /// Side of the cell \[m\].
    pub cell_size: f64,
    /// Distance from the point to the nearest side of its cell \[cells\].
    pub to_side: f64,
}

/// Returns the interpolant of a stored field at a point of its box.
pub fn interpolate(field: &StoredField, point: DVec3) -> Interpolated {
    let layout = field.layout();
    let size = f64::from(layout.cell_size);
    let place = (point - layout.origin.as_dvec3()) / size;
    let (cell, t) = split(place, layout.cells());
    let nodes = layout.nodes;
    let plain = |value: f64| Interpolated {
        value,
        cell_size: size,
        to_side: to_side(t),
    };
    match field {
        StoredField::Dense(grid) => plain(weighted(t, |offset| {
            f64::from(grid.values()[index(nodes, cell + offset)])
        })),
        StoredField::Taylor(grid) => plain(taylor(grid, cell, t)),
        StoredField::Voxmap(map) => plain(voxmap(map, cell, t)),
        StoredField::Sparse(blocks) => match blocks.parts().cells[index(layout.cells(), cell)] {
            PLAIN => plain(weighted(t, |offset| {
                f64::from(blocks.parts().nodes[index(nodes, cell + offset)])
            })),
            block => in_block(blocks, block, t, size),
        },
    }
}

fn in_block(field: &SparseBlocks, block: u32, t: DVec3, size: f64) -> Interpolated {
    let parts = field.parts();
    let own = &parts.blocks[block as usize];
    let side = own.side();
    let size = size / f64::from(side);
    let (cell, t) = split(t * f64::from(side), UVec3::splat(side));
    if own.children != PLAIN {
        let child = parts.children[own.children as usize + index(UVec3::splat(side), cell)];
        if child != PLAIN {
            return in_block(field, child, t, size);
        }
    }
    Interpolated {
        value: weighted(t, |offset| {
            block_value(field, own, index(UVec3::splat(side + 1), cell + offset))
        }),
        cell_size: size,
        to_side: to_side(t),
    }
}

/// Returns a value as stored, computed in `f32`: the rounded sum is the value.
fn block_value(field: &SparseBlocks, block: &SparseBlock, index: usize) -> f64 {
    let index = block.first_value + index;
    let of = |stored: f32| f64::from(block.lowest + block.step * stored);
    match &field.parts().values {
        SparseValues::Bits8(values) => of(values[index].into()),
        SparseValues::Bits16(values) => of(values[index].into()),
        SparseValues::Bits32(values) => values[index].into(),
    }
}

/// Returns each node's expansion with half its gradient, weighted trilinearly (\[Krayer2020\]
/// §3.2).
fn taylor(grid: &TaylorGrid, cell: UVec3, t: DVec3) -> f64 {
    let size = f64::from(grid.layout().cell_size);
    weighted(t, |offset| {
        let node = grid.node(cell + offset);
        let from_node = size * (t - offset.as_dvec3());
        f64::from(node.distance) + 0.5 * node.gradient.as_dvec3().dot(from_node)
    })
}

/// Returns Eq. 4 and 5 of \[Sagardia2014\], with the sign changed to be negative inside.
fn voxmap(map: &LayeredVoxmap, voxel: UVec3, t: DVec3) -> f64 {
    let size = f64::from(map.layout().cell_size);
    let voxels = map.layout().cells();
    let penetration = |voxel: UVec3| {
        let index = index(voxels, voxel);
        match map.values() {
            VoxelValues::Layers(values) => f64::from(values[index]) * size,
            VoxelValues::Scaled { precision, values } => {
                f64::from(values[index]) * 10f64.powi(-i32::from(*precision))
            }
            VoxelValues::Support(values) => values[index],
        }
    };
    let mut slope = DVec3::ZERO;
    for axis in 0..3 {
        let (mut low, mut high) = (voxel, voxel);
        low[axis] = low[axis].saturating_sub(1);
        high[axis] = (high[axis] + 1).min(voxels[axis] - 1);
        let span = f64::from(high[axis] - low[axis]) * size;
        if span > 0.0 {
            slope[axis] = (penetration(high) - penetration(low)) / span;
        }
    }
    let slope = match map.sampling() {
        Sampling::LocalAndGlobal => slope.normalize_or_zero(),
        Sampling::Interpolated => slope / slope.length().max(1.0),
    };
    -(penetration(voxel) + size * slope.dot(t - 0.5))
}

/// Returns the cell and the position within it.
fn split(place: DVec3, cells: UVec3) -> (UVec3, DVec3) {
    let cell = place.max(DVec3::ZERO).as_uvec3().min(cells - 1);
    (cell, place - cell.as_dvec3())
}

fn index(size: UVec3, place: UVec3) -> usize {
    ((place.z * size.y + place.y) * size.x + place.x) as usize
}

fn to_side(t: DVec3) -> f64 {
    t.min(DVec3::ONE - t).min_element()
}

fn weighted(t: DVec3, value: impl Fn(UVec3) -> f64) -> f64 {
    let mut sum = 0.0;
    for z in 0..2 {
        for y in 0..2 {
            for x in 0..2 {
                let offset = UVec3::new(x, y, z);
                let weights = DVec3::ONE - (t - offset.as_dvec3()).abs();
                sum += weights.x * weights.y * weights.z * value(offset);
            }
        }
    }
    sum
}
