//! A straight line through blocks of cells in `f32`: three coordinates per instruction, with a
//! bound on the error.
//!
//! Input: a line in units of cells, while it is in the box of all cells.
//! Output: blocks around its places, and where it leaves them.
//! Cost: a few dozen instructions per block, no branch.
//! Not for: the exact cell of a point; see `line`.
//!
//! Lengths along the line are in cells. **A place near a border counts to either side**: it may be
//! in a block next to the returned one, by as much as [`RoughLine::unsure`].

use glam::{UVec3, Vec3A};

use crate::field::along_line::line::{Line, Times};

/// A line in units of cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoughLine {
    origin: Vec3A,
    /// Unit vector, or zero if the line stands still.
    direction: Vec3A,
    /// Reciprocal of each component of the direction; 1 along axes on which the line does not move.
    inverse: Vec3A,
    /// Index offset to the plane through which the line leaves a block: 1, 0 if it moves down, very
    /// large if it does not move.
    ahead: Vec3A,
    /// Just below the end of the cells.
    last: Vec3A,
    length: f32,
    times: Times,
    time_per_cell: f64,
}

/// The block around a place of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoughBlock {
    /// Index of the block among those of its size.
    pub(crate) node: UVec3,
    /// Position of the line, from the block's corner nearest to the grid's origin \[cells\].
    pub(crate) place: Vec3A,
    /// Length along the line where it leaves the block or ends \[cells\].
    pub(crate) leaves: f32,
}

impl RoughLine {
    /// Builds the part of a line during `times`, in which it is within the box of all cells.
    #[inline(always)]
    pub(crate) fn new(cells: UVec3, line: &Line, times: Times) -> RoughLine {
        /// A number of blocks that no grid reaches.
        const NEVER: f32 = 1e30;
        let speed = line.direction().length();
        let time_per_cell = if speed > 0.0 { speed.recip() } else { 0.0 };
        let direction = (line.direction() * time_per_cell).as_vec3a();
        let still = direction.cmpeq(Vec3A::ZERO);
        let ahead = Vec3A::select(direction.cmpgt(Vec3A::ZERO), Vec3A::ONE, Vec3A::ZERO);
        RoughLine {
            origin: line.at(times[0]).as_vec3a(),
            direction,
            inverse: Vec3A::select(still, Vec3A::ONE, direction.recip()),
            ahead: Vec3A::select(still, Vec3A::splat(NEVER), ahead),
            last: Vec3A::from(cells.to_array().map(|n| (n as f32).next_down())),
            // Rounded up, so as not to end before the line does.
            length: (((times[1] - times[0]) * speed) as f32).next_up(),
            times,
            time_per_cell,
        }
    }

    #[inline(always)]
    pub(crate) fn direction(&self) -> Vec3A {
        self.direction
    }

    /// Returns the length of the line \[cells\].
    #[inline(always)]
    pub(crate) fn length(&self) -> f32 {
        self.length
    }

    /// Returns the time at `way` cells from the start.
    #[inline(always)]
    pub(crate) fn time(&self, way: f32) -> f64 {
        if way >= self.length {
            return self.times[1];
        }
        (self.times[0] + f64::from(way) * self.time_per_cell).min(self.times[1])
    }

    /// Returns the length along the line at a time, or slightly less \[cells\].
    #[inline(always)]
    pub(crate) fn way(&self, time: f64) -> f32 {
        if self.time_per_cell == 0.0 {
            return 0.0;
        }
        (((time - self.times[0]) / self.time_per_cell) as f32)
            .next_down()
            .max(0.0)
    }

    /// Returns a bound on the error of a coordinate of a place, also relative to its block and
    /// where the line leaves that \[cells\].
    ///
    /// With u half an ε, n cells along the longest side and a length of l: the origin is rounded by
    /// n u, the direction by l u, their sum by (n + l) u; where a plane is passed by 3 n u, seen
    /// along its axis; a length itself by l u. In all less than 8 (n + l) u.
    #[inline(always)]
    pub(crate) fn unsure(&self) -> f32 {
        4.0 * f32::EPSILON * (self.last.max_element() + self.length)
    }

    /// Returns the block of 2^`log2` cells per side around the place at `way` cells from the start.
    #[inline(always)]
    pub(crate) fn block(&self, way: f32, log2: u32) -> RoughBlock {
        /// 1.5 · 2²³: sums with this are rounded to whole numbers, which are in their lower bits.
        const WHOLE: f32 = 12_582_912.0;
        const LOWER: u32 = 0x3F_FFFF;
        // Powers of two, made from their exponents.
        let side = f32::from_bits((127 + log2) << 23);
        let per_side = f32::from_bits((127 - log2) << 23);
        let place = self.origin + way * self.direction;
        let place = place.max(Vec3A::ZERO).min(self.last);
        // Subtracting half a block and rounding to nearest rounds down. On a border either block
        // will do.
        let whole = (place * per_side - Vec3A::splat(0.5)) + Vec3A::splat(WHOLE);
        let node = whole - Vec3A::splat(WHOLE);
        let planes = (node + self.ahead) * side;
        let leaves = ((planes - self.origin) * self.inverse).min_element();
        RoughBlock {
            node: UVec3::from(whole.to_array().map(|bits| bits.to_bits() & LOWER)),
            place: place - node * side,
            leaves: leaves.min(self.length).max(way),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;
    use proptest::prelude::*;

    fn point() -> impl Strategy<Value = DVec3> {
        let place = prop_oneof![
            -300.0f64..1400.0,
            (-20i32..140).prop_map(|eighth| 8.0 * f64::from(eighth))
        ];
        prop::array::uniform3(place).prop_map(DVec3::from)
    }

    proptest! {
        #[test]
        fn a_place_is_in_its_block_until_it_leaves_it(from in point(), to in point(), share in 0.0f32..1.0, log2 in 2u32..11) {
            let cells = UVec3::new(1000, 1024, 700);
            let line = Line::new(from, to);
            let Some(times) = line.clip(DVec3::ZERO, cells.as_dvec3(), [0.0, 1.0]) else { return Ok(()) };
            let rough = RoughLine::new(cells, &line, times);
            let unsure = f64::from(rough.unsure());
            let way = share * rough.length();
            let block = rough.block(way, log2);
            let first = (block.node << log2).as_dvec3();
            let side = f64::from(1 << log2);
            prop_assert!((block.node << log2).cmplt(cells).all());
            prop_assert!((line.at(rough.time(way)) - first - block.place.as_dvec3()).abs().max_element() <= unsure);
            for share in [0.0, 0.5, 1.0] {
                let way = way + share * (block.leaves - way);
                let place = line.at(rough.time(way)) - first;
                prop_assert!(place.min_element() >= -unsure && place.max_element() <= side + unsure, "{place} of {side}");
            }
            // The line leaves the block where reported, or ends.
            let beyond = line.at(rough.time(block.leaves)) - first;
            let at_border = |axis: usize| {
                let plane = if line.direction()[axis] > 0.0 { side } else { 0.0 };
                (beyond[axis] - plane).abs() <= unsure
            };
            prop_assert!(block.leaves == rough.length() || (0..3).any(at_border), "{beyond} of {side}");
            // Back from a time: not later, and hardly before. Times of the whole line are rounded
            // as well, which alone matters where the line only touches the box.
            let time = rough.time(way);
            prop_assert!(rough.time(rough.way(time)) <= time);
            let rounding = 4.0 * f32::EPSILON * rough.length();
            let of_times = (4.0 * f64::EPSILON * line.direction().length()) as f32;
            prop_assert!(way - rough.way(time) <= rounding + of_times);
        }
    }

    #[test]
    fn what_stands_still_never_leaves() {
        let place = DVec3::new(16.0, 3.5, 8.0);
        let line = Line::new(place, place);
        let rough = RoughLine::new(UVec3::splat(32), &line, [0.0, 1.0]);
        let block = rough.block(0.0, 2);
        assert!(block.leaves == rough.length() && rough.length() < 1e-30);
        assert_eq!(rough.time(rough.length()), 1.0);
    }
}
