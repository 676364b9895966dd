//! Whole-numbered places, such as nodes and cells of a grid: the corners of a cell, all places of a box, and their numbers in it.

use glam::UVec3;

/// Corner `index` of the cell that begins at `cell`: bit 0 is x, bit 1 y, bit 2 z.
#[inline(always)]
pub(crate) fn corner(cell: UVec3, index: usize) -> UVec3 {
    let bit = |axis: usize| (index >> axis & 1) as u32;
    cell + UVec3::new(bit(0), bit(1), bit(2))
}

/// Number of a place in a box of so many along each axis, x fastest.
#[inline(always)]
pub(crate) fn place_index(size: UVec3, place: UVec3) -> usize {
    let [nx, ny, _] = size.to_array().map(|n| n as usize);
    let [x, y, z] = place.to_array().map(|n| n as usize);
    (z * ny + y) * nx + x
}

/// The place of this number; see [`place_index`]. Past the last it lies beyond the box along z.
#[inline(always)]
pub(crate) fn place_at(size: UVec3, index: usize) -> UVec3 {
    let [nx, ny, _] = size.to_array().map(|n| n as usize);
    UVec3::new(
        (index % nx) as u32,
        (index / nx % ny) as u32,
        (index / nx / ny) as u32,
    )
}

/// All places from `first` to `last`, both included, x fastest.
pub(crate) fn places(first: UVec3, last: UVec3) -> impl Iterator<Item = UVec3> {
    (first.z..=last.z).flat_map(move |z| {
        (first.y..=last.y).flat_map(move |y| (first.x..=last.x).map(move |x| UVec3::new(x, y, z)))
    })
}
