//! A straight line through a box of cells: the cells it passes, and the time span in each.
//!
//! Input: a line in units of cells, a time span.
//! Output: cells in order, each with its own time span; the ends of consecutive spans are equal.
//! Cost: one addition and one multiplication per cell (3D DDA, after \[XuCcd2014\], section 3.1).
//! Not for: the content of the cells.

use std::ops::ControlFlow;

use glam::{DVec3, UVec3};

/// A point in linear motion from time 0 to time 1, in units of the cells it is used with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    origin: DVec3,
    direction: DVec3,
    /// Reciprocal of each component of the direction; infinite along axes on which it does not
    /// move.
    inverse: DVec3,
}

/// Start and end of a time span, as fractions of the whole motion.
pub(crate) type Times = [f64; 2];

impl Line {
    pub(crate) fn new(from: DVec3, to: DVec3) -> Line {
        let direction = to - from;
        Line {
            origin: from,
            direction,
            inverse: direction.recip(),
        }
    }

    #[inline(always)]
    pub(crate) fn at(&self, time: f64) -> DVec3 {
        self.origin + time * self.direction
    }

    #[inline(always)]
    pub(crate) fn direction(&self) -> DVec3 {
        self.direction
    }

    /// Returns the same line in units of the cells of a block that divides `cell` into `side` cells
    /// per side.
    pub(crate) fn within(&self, cell: UVec3, side: u32) -> Line {
        let side = f64::from(side);
        Line {
            origin: (self.origin - cell.as_dvec3()) * side,
            direction: self.direction * side,
            inverse: self.inverse / side,
        }
    }

    /// Returns the part of `times` in which the line is in a box, if there is one. A line along a
    /// side of the box counts as inside.
    pub(crate) fn clip(&self, min: DVec3, max: DVec3, times: Times) -> Option<Times> {
        let [mut from, mut to] = times;
        for axis in 0..3 {
            if self.direction[axis] == 0.0 {
                if !(min[axis] <= self.origin[axis] && self.origin[axis] <= max[axis]) {
                    return None;
                }
                continue;
            }
            let ends =
                [min[axis], max[axis]].map(|side| (side - self.origin[axis]) * self.inverse[axis]);
            from = from.max(ends[0].min(ends[1]));
            to = to.min(ends[0].max(ends[1]));
        }
        // Adding 0 turns −0 into 0.
        (from <= to).then_some([from + 0.0, to + 0.0])
    }
}

/// The state of a walk along a line from cell to cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walker {
    line: Line,
    /// Number of cells along each axis.
    cells: [i32; 3],
    cell: [i32; 3],
    /// Times at which it leaves the cell along each axis.
    leaves: [f64; 3],
    time: f64,
    end: f64,
}

impl Walker {
    /// Starts a walk at the start of `times`, which must lie within the box of all cells.
    #[inline(always)]
    pub(crate) fn new(cells: UVec3, line: &Line, [from, to]: Times) -> Walker {
        let cells = cells.as_ivec3().to_array();
        let mut walker = Walker {
            line: *line,
            cells,
            cell: [0; 3],
            leaves: [f64::INFINITY; 3],
            time: from,
            end: to,
        };
        walker.enter(from);
        walker
    }

    #[inline(always)]
    pub(crate) fn line(&self) -> &Line {
        &self.line
    }

    #[inline(always)]
    pub(crate) fn cell(&self) -> UVec3 {
        UVec3::from(self.cell.map(|place| place as u32))
    }

    #[inline(always)]
    pub(crate) fn time(&self) -> f64 {
        self.time
    }

    /// Returns when the walk leaves its cell or ends.
    #[inline(always)]
    pub(crate) fn leaves_cell(&self) -> f64 {
        let [x, y, z] = self.leaves;
        x.min(y).min(z).min(self.end).max(self.time)
    }

    /// Returns when the walk leaves the block of cells from `first` to `last`, which contains its
    /// own, or ends.
    #[inline(always)]
    pub(crate) fn leaves_block(&self, first: UVec3, last: UVec3) -> f64 {
        let mut leaves = self.end;
        for axis in 0..3 {
            let time = self.leaves_planes(axis, first[axis] as i32, last[axis] as i32);
            leaves = if time < leaves { time } else { leaves };
        }
        leaves.max(self.time)
    }

    /// Returns when the walk leaves the cells from `first` to `last` along an axis. Infinite at the
    /// border of all cells: by rounding the walk may end slightly beyond that, and the rest of it
    /// belongs to the last cell.
    #[inline(always)]
    fn leaves_planes(&self, axis: usize, first: i32, last: i32) -> f64 {
        let direction = self.line.direction[axis];
        let plane = if direction > 0.0 { last + 1 } else { first };
        let border = if direction > 0.0 { self.cells[axis] } else { 0 };
        if direction == 0.0 || plane == border {
            return f64::INFINITY;
        }
        (f64::from(plane) - self.line.origin[axis]) * self.line.inverse[axis]
    }

    /// Moves the time back to where the walk entered its cell, not before `not_before`. The border
    /// of all cells does not count: by rounding the walk may begin slightly before it, and that
    /// part belongs to the first cell.
    #[inline(always)]
    fn back_to_entry(&mut self, not_before: f64) {
        let mut entered = not_before;
        for axis in 0..3 {
            let direction = self.line.direction[axis];
            let plane = self.cell[axis] + i32::from(direction < 0.0);
            let border = if direction < 0.0 { self.cells[axis] } else { 0 };
            if direction != 0.0 && plane != border {
                let time = (f64::from(plane) - self.line.origin[axis]) * self.line.inverse[axis];
                entered = if time > entered { time } else { entered };
            }
        }
        // Slightly beyond the border, due to rounding, the plane is still ahead.
        self.time = entered.min(self.time);
    }

    /// Steps to the next cell; returns `false` at the end.
    #[inline(always)]
    pub(crate) fn step(&mut self) -> bool {
        let axis = self.first_left();
        let leaves = self.leaves[axis];
        if leaves >= self.end {
            return false;
        }
        self.time = leaves.max(self.time);
        let step = if self.line.direction[axis] > 0.0 {
            1
        } else {
            -1
        };
        self.cell[axis] += step;
        if self.cell[axis] < 0 || self.cell[axis] >= self.cells[axis] {
            return false;
        }
        self.leaves[axis] = self.leaving(axis);
        true
    }

    /// Steps to the first cell behind a block of cells that contains its own; returns `false` at
    /// the end.
    #[inline(always)]
    pub(crate) fn step_out_of(&mut self, first: UVec3, last: UVec3) -> bool {
        let time = self.leaves_block(first, last);
        if time >= self.end {
            return false;
        }
        let point = self.line.at(time);
        self.time = time;
        let mut left = false;
        for axis in 0..3 {
            let [low, high] = [first[axis] as i32, last[axis] as i32];
            // The axis along which it leaves is known, so rounding does not decide it.
            self.cell[axis] = if self.leaves_planes(axis, low, high) <= time {
                left = true;
                if self.line.direction[axis] > 0.0 {
                    high + 1
                } else {
                    low - 1
                }
            } else {
                (point[axis] as i32).clamp(low, high)
            };
            if self.cell[axis] < 0 || self.cell[axis] >= self.cells[axis] {
                return false;
            }
            self.leaves[axis] = self.leaving(axis);
        }
        left
    }

    /// Moves to the cell at `time`, or at the end of the walk if that is earlier. The time becomes
    /// that of entering the cell, but not before `from`, so that the pieces of a cell are the same
    /// to the bit from wherever the walk leapt into it. Never moves back: at a border, rounding may
    /// place a time in the previous cell.
    #[inline(always)]
    pub(crate) fn leap_into(&mut self, time: f64, from: f64) {
        let before = *self;
        self.enter(time.min(self.end));
        self.back_to_entry(from);
        if self.time <= before.time {
            *self = before;
        }
    }

    #[inline(always)]
    fn enter(&mut self, time: f64) {
        self.time = time;
        let point = self.line.at(time);
        for axis in 0..3 {
            self.cell[axis] = (point[axis] as i32).clamp(0, self.cells[axis] - 1);
            self.leaves[axis] = self.leaving(axis);
        }
    }

    /// Returns when the walk leaves its cell along an axis. Computed from the position of the
    /// plane, so that errors do not accumulate.
    #[inline(always)]
    fn leaving(&self, axis: usize) -> f64 {
        self.leaves_planes(axis, self.cell[axis], self.cell[axis])
    }

    #[inline(always)]
    fn first_left(&self) -> usize {
        let [x, y, z] = self.leaves;
        if x <= y && x <= z {
            0
        } else if y <= z {
            1
        } else {
            2
        }
    }
}

/// Visits all cells that a line passes during `times`, which must lie within the box of all cells.
pub(crate) fn walk_cells(
    cells: UVec3,
    line: &Line,
    times: Times,
    mut visit: impl FnMut(UVec3, Times) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut walker = Walker::new(cells, line, times);
    loop {
        visit(walker.cell(), [walker.time(), walker.leaves_cell()])?;
        if !walker.step() {
            return ControlFlow::Continue(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn visited(cells: UVec3, line: &Line) -> Vec<(UVec3, Times)> {
        let mut all = Vec::new();
        if let Some(times) = line.clip(DVec3::ZERO, cells.as_dvec3(), [0.0, 1.0]) {
            let _ = walk_cells(cells, line, times, |cell, times| {
                all.push((cell, times));
                ControlFlow::Continue(())
            });
        }
        all
    }

    /// Generates points with many whole and half coordinates: lines through corners, along edges
    /// and in faces.
    fn point() -> impl Strategy<Value = DVec3> {
        let place = prop_oneof![
            -3.0f64..9.0,
            (-6i32..18).prop_map(|half| 0.5 * f64::from(half))
        ];
        prop::array::uniform3(place).prop_map(DVec3::from)
    }

    proptest! {
        #[test]
        fn every_point_of_a_line_lies_in_the_cell_of_its_time(from in point(), to in point()) {
            let cells = UVec3::new(6, 5, 4);
            let line = Line::new(from, to);
            let visited = visited(cells, &line);
            let Some(times) = line.clip(DVec3::ZERO, cells.as_dvec3(), [0.0, 1.0]) else {
                for k in 0..=200 {
                    let point = line.at(f64::from(k) / 200.0);
                    let inside = point.cmpgt(DVec3::splat(1e-12)).all() && point.cmplt(cells.as_dvec3() - 1e-12).all();
                    prop_assert!(!inside);
                }
                return Ok(());
            };
            prop_assert_eq!(visited[0].1[0], times[0]);
            prop_assert!((visited[visited.len() - 1].1[1] - times[1]).abs() < 1e-12);
            prop_assert!(visited.len() <= 16);
            for pair in visited.windows(2) {
                prop_assert_eq!(pair[0].1[1], pair[1].1[0]);
            }
            for (cell, [enter, leave]) in visited {
                for share in [0.0, 0.3, 1.0] {
                    let point = line.at(enter + share * (leave - enter)) - cell.as_dvec3();
                    prop_assert!(point.cmpge(DVec3::splat(-1e-9)).all() && point.cmple(DVec3::splat(1.0 + 1e-9)).all());
                }
            }
        }

        /// Regression: a walk over blocks that leapt back by rounding, visited the cell and leapt
        /// back again, never ended.
        #[test]
        fn a_leap_never_leads_back(from in point(), to in point(), scale in 1.0f64..1e5) {
            let cells = UVec3::new(6, 5, 4);
            let line = Line::new(from / 3.0 + 1.0 / scale, to / 3.0 - 1.0 / scale);
            let Some(times) = line.clip(DVec3::ZERO, cells.as_dvec3(), [0.0, 1.0]) else { return Ok(()) };
            let mut walker = Walker::new(cells, &line, times);
            let mut steps = 0;
            loop {
                let (time, cell) = (walker.time(), walker.cell());
                let mut leaping = walker;
                leaping.leap_into(time.next_up(), times[0]);
                prop_assert!(leaping.time() >= time);
                prop_assert!(leaping.time() > time || leaping.cell() == cell, "{cell} to {}", leaping.cell());
                steps += 1;
                prop_assert!(steps <= 16);
                if !walker.step() {
                    break;
                }
            }
        }

        #[test]
        fn stepping_over_blocks_leads_to_the_same_cells(from in point(), to in point(), block in 1u32..5) {
            let cells = UVec3::new(6, 5, 4);
            let line = Line::new(from, to);
            let Some(times) = line.clip(DVec3::ZERO, cells.as_dvec3(), [0.0, 1.0]) else { return Ok(()) };
            let mut walker = Walker::new(cells, &line, times);
            let mut blocks = 0;
            loop {
                let first = walker.cell() / block * block;
                let last = (first + block - 1).min(cells - 1);
                let (enter, leave) = (walker.time(), walker.leaves_block(first, last));
                for share in [0.0, 0.5, 1.0] {
                    let point = line.at(enter + share * (leave - enter));
                    prop_assert!(point.cmpge(first.as_dvec3() - 1e-9).all() && point.cmple(last.as_dvec3() + 1.0 + 1e-9).all());
                }
                blocks += 1;
                prop_assert!(blocks <= 16);
                if !walker.step_out_of(first, last) {
                    prop_assert!((leave - times[1]).abs() < 1e-12);
                    break;
                }
                prop_assert_eq!(walker.time(), leave);
            }
        }
    }

    #[test]
    fn a_walk_that_ends_a_rounding_beyond_the_border_is_told_to_its_end() {
        let cells = UVec3::new(40, 37, 6);
        let line = Line::new(
            DVec3::new(38.1, 0.0, 2.0),
            DVec3::new(40.000_001, 37.0, -1e-6),
        );
        let mut last = None;
        let _ = walk_cells(cells, &line, [0.0, 1.0], |cell, times| {
            last = Some((cell, times[1]));
            ControlFlow::Continue(())
        });
        assert_eq!(last, Some((UVec3::new(39, 36, 0), 1.0)));
    }

    #[test]
    fn a_leap_into_the_first_cell_of_a_walk_from_beyond_the_border_comes_back_to_its_start() {
        let cells = UVec3::new(40, 37, 6);
        for (from, to) in [
            (DVec3::new(-1e-6, 3.2, 2.5), DVec3::new(9.0, 3.7, 2.1)),
            (DVec3::new(40.000_001, 3.2, 2.5), DVec3::new(31.0, 3.7, 2.1)),
        ] {
            let line = Line::new(from, to);
            let first = Walker::new(cells, &line, [0.0, 1.0]);
            let mut leapt = first;
            leapt.leap_into(0.05, 0.0);
            assert_eq!((leapt.cell(), leapt.time()), (first.cell(), 0.0));
            assert_eq!(leapt.leaves_cell(), first.leaves_cell());
        }
    }

    #[test]
    fn a_point_that_stands_still_stays_in_its_cell() {
        let point = DVec3::new(2.0, 1.5, 4.0);
        let visited = visited(UVec3::splat(4), &Line::new(point, point));
        assert_eq!(visited, [(UVec3::new(2, 1, 3), [0.0, 1.0])]);
    }
}
