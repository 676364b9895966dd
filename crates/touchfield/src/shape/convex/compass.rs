//! A map of directions: for each of many cells, the corners that are farthest along some direction
//! in it.
//!
//! Input: the number of cells per side of a cube, and a function that finds the corners of a cell.
//! Output: the few corners of a direction's cell, or a corner at which to start a climb.
//! Cost: a division and a few comparisons.
//! Not for: finding those corners, which `hull` does once.

use glam::{DVec3, Vec3};

use super::corner_block::CornerBlock;

/// Cells on the six faces of a cube around the origin.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Compass {
    side: usize,
    /// Start of the blocks of cell `c`, which extend from `first[c]` to `first[c + 1]`; the range
    /// is empty where they would be too many.
    first: Vec<u32>,
    blocks: Vec<CornerBlock>,
    /// For each cell, a corner that is farthest along its middle direction.
    middles: Vec<u32>,
}

/// All directions that pass through a square on a face of the cube.
pub(super) struct Cell {
    pub(super) middle: DVec3,
    /// Inward unit normals of the four planes through the origin that enclose the cell.
    sides: [DVec3; 4],
}

impl Cell {
    fn new(side: usize, index: usize) -> Cell {
        let half = 1.0 / side as f64;
        let axis = index / (side * side) / 2;
        let middle = middle(side, index);
        let enclosing = |along: usize, sign: f64| {
            // The plane through the origin and this edge of the square: its normal is perpendicular
            // to the edge and lies in the plane of the two axes.
            let edge = middle[along] + sign * half;
            let mut inward = DVec3::ZERO;
            inward[along] = -sign;
            inward[axis] = sign * edge * middle[axis];
            inward.normalize_or_zero()
        };
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        Cell {
            middle,
            sides: [
                enclosing(u, -1.0),
                enclosing(u, 1.0),
                enclosing(v, -1.0),
                enclosing(v, 1.0),
            ],
        }
    }

    /// Returns whether some direction between `from` and `to` lies in the cell, to within `margin`,
    /// the sine of an angle.
    pub(super) fn meets(&self, from: DVec3, to: DVec3, margin: f64) -> bool {
        let (mut low, mut high) = (0f64, 1f64);
        for side in self.sides {
            let (at_from, at_to) = (side.dot(from) + margin, side.dot(to) + margin);
            match (at_from < 0.0, at_to < 0.0) {
                (true, true) => return false,
                (true, false) => low = low.max(at_from / (at_from - at_to)),
                (false, true) => high = high.min(at_from / (at_from - at_to)),
                (false, false) => {}
            }
        }
        low <= high
    }
}

impl Compass {
    /// Creates a compass with `side` by `side` cells on each face of the cube.
    ///
    /// `find` receives a cell and the middle corner of the previous cell. It returns the middle
    /// corner of this cell, and fills in all corners of the cell, none if they are too many.
    pub(super) fn new(
        side: usize,
        corners: &[Vec3],
        mut find: impl FnMut(&Cell, Option<u32>, &mut Vec<u32>) -> u32,
    ) -> Compass {
        let cells = 6 * side * side;
        let mut compass = Compass {
            side,
            first: Vec::with_capacity(cells + 1),
            blocks: Vec::new(),
            middles: Vec::with_capacity(cells),
        };
        let mut numbers = Vec::new();
        for index in 0..cells {
            numbers.clear();
            compass.first.push(compass.blocks.len() as u32);
            let before = compass.middles.last().copied();
            let found = find(&Cell::new(side, index), before, &mut numbers);
            compass.middles.push(found);
            numbers.sort_unstable();
            compass.blocks.extend(numbers.chunks(4).map(|four| {
                let at = |k: usize| four[k.min(four.len() - 1)];
                CornerBlock::of(&[0, 1, 2, 3].map(|k| (at(k), corners[at(k) as usize])))
            }));
        }
        compass.first.push(compass.blocks.len() as u32);
        compass.blocks.shrink_to_fit();
        compass
    }

    /// Returns whether the compass has no cells.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.side == 0
    }

    /// Returns the cell of a direction of any length; any cell if the direction is not finite.
    #[inline(always)]
    pub(super) fn cell(&self, direction: DVec3) -> usize {
        cell(self.side, direction)
    }

    /// Returns the corners of a cell, none where they are too many.
    #[inline(always)]
    pub(super) fn corners(&self, cell: usize) -> &[CornerBlock] {
        &self.blocks[self.first[cell] as usize..self.first[cell + 1] as usize]
    }

    /// Returns a corner near the farthest along a direction of any length.
    #[inline]
    pub(super) fn middle(&self, direction: DVec3) -> u32 {
        self.middles[cell(self.side, direction)]
    }

    /// Returns the memory used \[bytes\].
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.blocks.as_slice())
            + size_of_val(self.first.as_slice())
            + size_of_val(self.middles.as_slice())
    }
}

/// Returns the middle direction of a cell.
fn middle(side: usize, index: usize) -> DVec3 {
    let along = |k: usize| (2 * k + 1) as f64 / side as f64 - 1.0;
    let (face, v, u) = (index / (side * side), index / side % side, index % side);
    let axis = face / 2;
    let mut direction = DVec3::ZERO;
    direction[axis] = if face % 2 == 0 { 1.0 } else { -1.0 };
    direction[(axis + 1) % 3] = along(u);
    direction[(axis + 2) % 3] = along(v);
    direction
}

/// Returns the cell that a direction points into.
#[inline(always)]
fn cell(side: usize, direction: DVec3) -> usize {
    // Branchless, because which axis is longest is unpredictable.
    let [x, y, z] = direction.to_array();
    let is_y = y.abs() > x.abs();
    let is_z = z.abs() > if is_y { y.abs() } else { x.abs() };
    let axis = [0, 1, 2, 2][usize::from(is_y) | usize::from(is_z) << 1];
    let turned = [x, y, z, x, y];
    let (w, u, v) = (turned[axis], turned[axis + 1], turned[axis + 2]);
    let half = 0.5 * side as f64;
    let scale = half / w.abs();
    // NaN goes to cell 0, as does a value that rounding puts below it.
    let along = |x: f64| ((x * scale + half) as i32).clamp(0, side as i32 - 1) as usize;
    let face = 2 * axis + usize::from(w < 0.0);
    (face * side + along(v)) * side + along(u)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_direction_lies_in_its_own_cell() {
        for side in [1, 2, 4, 9] {
            for index in 0..6 * side * side {
                assert_eq!(cell(side, 1e-7 * middle(side, index)), index);
            }
        }
    }

    #[test]
    fn cells_meet_what_goes_through_them() {
        for side in [1, 2, 5] {
            for index in 0..6 * side * side {
                let own = Cell::new(side, index);
                for other in 0..6 * side * side {
                    let towards = middle(side, other).normalize();
                    assert_eq!(own.meets(towards, towards, 1e-9), index == other);
                    // From the cell's middle to any direction, and past the middle.
                    let from = own.middle.normalize();
                    assert!(own.meets(from, towards, 0.0));
                    let (past, back) = (from + 0.1 * towards, from - 0.1 * towards);
                    assert!(own.meets(past, back, 0.0));
                }
            }
        }
    }

    #[test]
    fn directions_without_a_direction_have_a_cell_too() {
        let compass = Compass::new(3, &[Vec3::X], |_, _, out| {
            out.push(0);
            0
        });
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0] {
            for direction in [DVec3::splat(bad), DVec3::new(1.0, bad, 0.0)] {
                assert_eq!(compass.middle(direction), 0);
                assert_eq!(compass.corners(compass.cell(direction)).len(), 1);
            }
        }
    }
}
