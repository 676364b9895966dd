//! A coarse map of directions: where to begin when nothing is known.
//!
//! Input: how many entries a side of a cube, and what each direction leads to. Output: the entry of the cell that a direction points into.
//! Cost: a division and a few comparisons. Not for: answers; it is where a search for them begins.

use glam::DVec3;

/// Entries over the six sides of a cube around the origin.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Compass {
    side: usize,
    entries: Vec<u32>,
}

impl Compass {
    /// With `side` by `side` cells on each side of the cube; `find` is given the middle of a cell and the entry before it.
    pub(super) fn new(side: usize, mut find: impl FnMut(DVec3, Option<u32>) -> u32) -> Compass {
        let mut entries = Vec::with_capacity(6 * side * side);
        for index in 0..6 * side * side {
            let found = find(middle(side, index), entries.last().copied());
            entries.push(found);
        }
        Compass { side, entries }
    }

    /// Whether there is nothing to begin at.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry for a direction of any length; of one that is not finite, any.
    #[inline]
    pub(super) fn entry(&self, direction: DVec3) -> u32 {
        self.entries[cell(self.side, direction)]
    }

    /// Bytes that it keeps.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.entries.as_slice())
    }
}

/// The middle of a cell.
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

/// The cell that a direction points into.
#[inline]
fn cell(side: usize, direction: DVec3) -> usize {
    let axis = direction.abs().max_position();
    let scale = 0.5 * side as f64 / direction[axis].abs();
    let along = |x: f64| {
        // NaN goes to cell 0, as does what rounding puts below it.
        let share = x * scale + 0.5 * side as f64;
        (share as usize).min(side - 1)
    };
    let face = 2 * axis + usize::from(direction[axis] < 0.0);
    let (u, v) = (
        along(direction[(axis + 1) % 3]),
        along(direction[(axis + 2) % 3]),
    );
    (face * side + v) * side + u
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
    fn directions_without_a_direction_have_a_cell_too() {
        let compass = Compass::new(3, |_, before| before.map_or(0, |n| n + 1));
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0] {
            assert!(compass.entry(DVec3::splat(bad)) < 54);
            assert!(compass.entry(DVec3::new(1.0, bad, 0.0)) < 54);
        }
    }
}
