//! A straight line through a box of cells: which cells it passes, from when to when.
//!
//! Input: a line in units of cells, a span of time. Output: cells in order, each with its own span; ends meet exactly.
//! Cost: an addition and a multiplication a cell (3D DDA, after document 002, section 3.1). Not for: what is in the cells.

use std::ops::ControlFlow;

use glam::{DVec3, UVec3};

/// A point that moves: where it is at time 0, and how it moves until time 1. In units of the cells it is used with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    origin: DVec3,
    direction: DVec3,
    /// One over each component; infinite along axes that it does not move along.
    inverse: DVec3,
}

/// From when to when, a share of the whole motion each.
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

    /// The same line among the cells that one cell is divided into, so many along each side.
    pub(crate) fn within(&self, cell: UVec3, side: u32) -> Line {
        let side = f64::from(side);
        Line {
            origin: (self.origin - cell.as_dvec3()) * side,
            direction: self.direction * side,
            inverse: self.inverse / side,
        }
    }

    /// When it is in a box, if it ever is: what is left of `times`. A line along a side of the box is in it.
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
        // No time is −0.
        (from <= to).then_some([from + 0.0, to + 0.0])
    }
}

/// Where a walk along a line is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walker {
    line: Line,
    /// Along each axis.
    cells: [i32; 3],
    cell: [i32; 3],
    /// When it leaves the cell along each axis.
    leaves: [f64; 3],
    time: f64,
    end: f64,
}

impl Walker {
    /// At the start of `times`, which lie within the box of all cells.
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

    /// When it leaves its cell, or the walk ends.
    #[inline(always)]
    pub(crate) fn leaves_cell(&self) -> f64 {
        let [x, y, z] = self.leaves;
        x.min(y).min(z).min(self.end).max(self.time)
    }

    /// When it leaves a block of cells around its own, from `first` to `last`, or the walk ends.
    #[inline(always)]
    pub(crate) fn leaves_block(&self, first: UVec3, last: UVec3) -> f64 {
        let mut leaves = self.end;
        for axis in 0..3 {
            let time = self.leaves_planes(axis, first[axis] as i32, last[axis] as i32);
            leaves = if time < leaves { time } else { leaves };
        }
        leaves.max(self.time)
    }

    /// When it leaves the cells from `first` to `last` along an axis. Never through the border of all cells: by rounding the walk may end a little beyond that, and what is
    /// left of it belongs to the last cell.
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

    /// To where it entered its cell. Never through the border of all cells: by rounding the walk may begin a little before that, and what is there belongs to the first cell.
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
        // Beyond the border, by its rounding, the plane is still ahead.
        self.time = entered.min(self.time);
    }

    /// On to the next cell; `false` at the end.
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

    /// On to the cell behind a block of cells around its own; `false` at the end.
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
            // The axis it leaves along is known; rounding has no say in it.
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

    /// On to where it is in the cell of a time, or of its end if that is before: it comes to where it entered that cell, but not before the time `from`. So pieces of
    /// a cell are the same bits from wherever it was leapt into. Never back: at a border, rounding may place a time in the cell before.
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

    /// When it leaves its cell along an axis. From the plane's own place, so that nothing adds up along the way.
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

/// All cells that a line passes during `times`, which lie within the box of all cells.
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

    /// Whole and half numbers are likely: lines through corners, along edges and in faces.
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

        /// A walk over blocks that leapt back by rounding, looked at the cell and leapt back again, never ended.
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
