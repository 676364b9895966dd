//! Integer places, such as nodes and cells of a grid: the corners of a cell, all places of a box,
//! and their indices in it.

use glam::UVec3;

/// Returns corner `index` of the cell whose lowest corner is `cell`: bit 0 is x, bit 1 y, bit 2 z.
#[inline(always)]
pub(crate) fn corner(cell: UVec3, index: usize) -> UVec3 {
    let bit = |axis: usize| (index >> axis & 1) as u32;
    cell + UVec3::new(bit(0), bit(1), bit(2))
}

/// Returns the linear index of a place in a box of `size` places along each axis, x fastest.
#[inline(always)]
pub(crate) fn place_index(size: UVec3, place: UVec3) -> usize {
    let [nx, ny, _] = size.to_array().map(|n| n as usize);
    let [x, y, z] = place.to_array().map(|n| n as usize);
    (z * ny + y) * nx + x
}

/// Returns the place with this linear index; see [`place_index`]. An index past the last place
/// gives a place beyond the box along z.
#[inline(always)]
pub(crate) fn place_at(size: UVec3, index: usize) -> UVec3 {
    let [nx, ny, _] = size.to_array().map(|n| n as usize);
    UVec3::new(
        (index % nx) as u32,
        (index / nx % ny) as u32,
        (index / nx / ny) as u32,
    )
}

/// Iterates over all places from `first` to `last`, both included, x fastest.
pub(crate) fn places(first: UVec3, last: UVec3) -> impl Iterator<Item = UVec3> {
    (first.z..=last.z).flat_map(move |z| {
        (first.y..=last.y).flat_map(move |y| (first.x..=last.x).map(move |x| UVec3::new(x, y, z)))
    })
}
